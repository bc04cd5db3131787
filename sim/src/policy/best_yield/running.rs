//! Batches that were sent.

use super::model::{Batch, Waiting};
use crate::policy::TimerKey;
use crate::request::{ActionId, DeviceId};
use crate::time::Time;

/// A batch under way.
pub(super) struct Running {
    pub device: DeviceId,
    pub action: ActionId,
    pub issued: Time,
    /// When it is expected to start on the device.
    pub start: Time,
    pub model: usize,
    pub batch: Batch,
    /// The stop that it runs until, and the number of those within its earliest deadline.
    pub stop: usize,
    pub within: usize,
    pub due: Time,
    /// It has run for its time.
    pub is_over: bool,
    pub is_stopped: bool,
    /// With these it begins anew.
    pub joining: Vec<Waiting>,
}

pub(super) fn timer(device: DeviceId) -> TimerKey {
    TimerKey(u64::from(device.0))
}
