//! Devices whose batches share them: of k batches, each runs at 1/k of the speed, so that their ends move when
//! one begins or ends. It begins and ends nothing itself.
//!
//! ```text
//! served(t)   what a batch that is always there has got by t: grows by dt / k
//! a batch that begins at t with work w ends when served = served(t) + w
//! ```
//!
//! `served` is counted in 2^-32 ns and rounded down at each change of k, so that no division leaves whole
//! numbers; a batch ends at the first whole nanosecond at which it has got its work. An end that a change leaves
//! where it is keeps its place in the order of its instant.

use super::due::Due;
use crate::core::{self, Begin};
use crate::event_queue::{EventQueue, Handle};
use crate::request::{ActionId, DeviceId};
use crate::time::{Span, Time};

/// Binary digits of a nanosecond of service.
const DIGITS: u32 = 32;

/// All such devices, by number.
#[derive(Default)]
pub(super) struct Shared {
    devices: Vec<Device>,
}

#[derive(Default)]
struct Device {
    /// Of a batch that is always there, at `counted`.
    served: u128,
    counted: Time,
    running: Vec<Running>,
}

struct Running {
    action: ActionId,
    /// It ends when `served` is this.
    until: u128,
    at: Time,
    end: Handle,
}

impl Device {
    /// Counts what was served since the last change.
    fn count(&mut self, now: Time) {
        let sharers = self.running.len().max(1) as u128;
        self.served += (u128::from((now - self.counted).ns()) << DIGITS) / sharers;
        self.counted = now;
    }

    /// When a batch ends if nothing changes.
    fn end_of(&self, until: u128, sharers: usize) -> Time {
        let left = until.saturating_sub(self.served) * sharers as u128;
        let ns = left.div_ceil(1 << DIGITS);
        self.counted + Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Moves the ends after a change.
    fn move_ends(&mut self, queue: &mut EventQueue<Due>) {
        for i in 0..self.running.len() {
            let at = self.end_of(self.running[i].until, self.running.len());
            let Running { action, end, at: before, .. } = self.running[i];
            if at != before {
                queue.reschedule(end, at, core::rank_of_result(action));
                self.running[i].at = at;
            }
        }
    }

    fn leave(&mut self, now: Time, action: ActionId, queue: &mut EventQueue<Due>) -> bool {
        let place = self.running.iter().position(|r| r.action == action);
        if let Some(place) = place {
            self.count(now);
            queue.cancel(self.running.swap_remove(place).end);
            self.move_ends(queue);
        }
        place.is_some()
    }
}

impl Shared {
    /// A batch begins that takes `work` alone.
    pub fn begin(
        &mut self,
        now: Time,
        begin: &Begin,
        work: Span,
        due: Due,
        queue: &mut EventQueue<Due>,
    ) {
        let number = begin.device.index();
        if self.devices.len() <= number {
            self.devices.resize_with(number + 1, Device::default);
        }
        let device = &mut self.devices[number];
        device.count(now);
        let until = device.served + (u128::from(work.ns()) << DIGITS);
        let at = device.end_of(until, device.running.len() + 1);
        let end = queue.schedule(at, core::rank_of_result(begin.action), due);
        device.running.push(Running { action: begin.action, until, at, end });
        device.move_ends(queue);
    }

    /// A batch has ended or was stopped: the others are faster, if it shared its device. Says whether it did.
    #[inline]
    pub fn leave(
        &mut self,
        now: Time,
        action: ActionId,
        device: DeviceId,
        queue: &mut EventQueue<Due>,
    ) -> bool {
        self.devices.get_mut(device.index()).is_some_and(|d| d.leave(now, action, queue))
    }
}
