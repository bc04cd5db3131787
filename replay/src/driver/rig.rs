//! Where devices come from.

use crate::device::{Device, DeviceError};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::request::DeviceId;

/// Opens the device for an id, or says why it cannot: asked once for each device that the world has at its start, and for
/// each that is added later.
pub type Rig<'a> = dyn FnMut(DeviceId, &DeviceSpec) -> Result<Box<dyn Device>, DeviceError> + 'a;
