//! What is due at an instant of the virtual time.

use crate::core::{DeviceChange, Wake};
use crate::request::{ActionId, DeviceId};
use crate::time::Span;

#[derive(Clone, Debug)]
pub(super) enum Due {
    Ended(ActionId, DeviceId, Span),
    Wake(Wake),
    /// Rare, and large.
    Change(Box<DeviceChange>),
}
