//! What is due at an instant of the virtual time.

use crate::core::{self, DeviceChange, Wake};
use crate::request::{ActionId, DeviceId};
use crate::time::Span;

#[derive(Clone, Debug)]
pub(super) enum Due {
    Ended(ActionId, DeviceId, Span),
    Wake(Wake),
    /// Rare, and large.
    Change(Box<DeviceChange>),
}

impl Due {
    /// [`Input::rank`](core::Input::rank) of the input that it is.
    pub fn rank(&self) -> u64 {
        match self {
            Due::Ended(action, ..) => core::rank_of_result(*action),
            Due::Wake(wake) => wake.rank(),
            Due::Change(_) => core::rank_of_device_change(0),
        }
    }
}
