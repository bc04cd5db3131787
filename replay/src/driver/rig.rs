//! Where devices come from.

use crate::device::{Device, DeviceError};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::request::DeviceId;

/// Where devices come from.
pub trait Rig {
    /// Opens the device for `id`. Called once for each device that the world has at its start, and
    /// for each that is added later.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    fn open(&mut self, id: DeviceId, spec: &DeviceSpec) -> Result<Box<dyn Device>, DeviceError>;
}

impl<F> Rig for F
where
    F: FnMut(DeviceId, &DeviceSpec) -> Result<Box<dyn Device>, DeviceError>,
{
    fn open(&mut self, id: DeviceId, spec: &DeviceSpec) -> Result<Box<dyn Device>, DeviceError> {
        self(id, spec)
    }
}
