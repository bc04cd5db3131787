//! What this device tells when something goes wrong.

use crate::device::DeviceError;

pub(super) fn own_error(
    device: &str,
    doing: &str,
    said: impl Into<String>,
    remedy: &str,
) -> DeviceError {
    DeviceError {
        device: device.to_string(),
        doing: doing.to_string(),
        said: said.into(),
        remedy: remedy.to_string(),
    }
}
