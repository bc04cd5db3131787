//! What batches that share a device got of it: rule 11.

use super::{Auditor, Fault};
use crate::cluster::Sharing;
use crate::log::Closed;
use crate::request::{ActionId, DeviceId};
use crate::time::{Span, Time};
use std::collections::BTreeMap;

/// Binary digits of a nanosecond of service: the engine counts in them, and rounds down.
const DIGITS: u32 = 32;

/// What a batch got that was always there.
#[derive(Debug, Default)]
pub(super) struct Served {
    sum: u128,
    counted: Time,
    /// Of each batch that runs: the sum when it began.
    since: BTreeMap<ActionId, u128>,
}

impl Served {
    fn count(&mut self, now: Time) {
        if !self.since.is_empty() {
            let passed = u128::from(now.since(self.counted).ns()) << DIGITS;
            self.sum += passed / self.since.len() as u128;
        }
        self.counted = now;
    }
}

impl Auditor {
    /// A batch begins; whether it shares its device is in the terms.
    pub(super) fn begins_to_share(&mut self, action: ActionId, device: DeviceId) {
        let terms = self.terms.device(device.index());
        if terms.is_some_and(|terms| terms.sharing == Sharing::Processor) {
            let served = self.served.entry(device).or_default();
            served.count(self.now);
            served.since.insert(action, served.sum);
        }
    }

    /// A batch that began closes.
    pub(super) fn ends_to_share(&mut self, action: ActionId, device: DeviceId, outcome: Closed) {
        let Some(served) = self.served.get_mut(&device) else { return };
        served.count(self.now);
        let Some(since) = served.since.remove(&action) else { return };
        let got = served.sum - since;
        if let Closed::Done(device_time) = outcome
            && got < u128::from(device_time.ns()) << DIGITS
        {
            let got = Span::from_ns((got >> DIGITS) as u64);
            self.fault(Fault::ClosesBeforeItsShare { action, device_time, got });
        }
    }
}
