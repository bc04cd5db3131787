//! Waiting for the device: sleep while it is certainly busy, then ask it again and again.
//!
//! Asking takes about a microsecond and sees the end when it happens; the driver's own blocking wait is
//! woken by an interrupt, tens of microseconds later.

use super::driver::Gpu;
use crate::device::{DeviceError, Place};
use cudarc::driver::CudaEvent;
use orrery_sim::time::Span;
use std::time::{Duration, Instant};

/// A thread may sleep until this long before an end that it knows.
const AWAKE: Span = Span::from_us(500);

/// Waits until `event` has happened. `expected` is a time that it will surely take from now, or zero;
/// it is slept through, on the clock of `place`.
pub fn wait(
    gpu: &Gpu,
    event: &CudaEvent,
    doing: &str,
    expected: Span,
    place: Option<&Place<'_>>,
) -> Result<(), DeviceError> {
    let asked = Instant::now();
    // Ten times what was known on top, for a device that something else holds up.
    let limit = gpu.patience() + 10 * Duration::from_nanos(expected.ns());
    if let Some(place) = place
        && expected > AWAKE
    {
        place.clock.wait(place.me, place.clock.now() + expected.minus(AWAKE));
    }
    loop {
        if gpu.check(doing, event.try_is_complete())? {
            return Ok(());
        }
        if asked.elapsed() > limit {
            gpu.give_up();
            let said = format!("no end after {:.1} s", limit.as_secs_f64());
            let remedy = "the device hangs: look for Xid lines in `dmesg`; raise `patience_s` if it does not";
            return Err(DeviceError::new(gpu.device(), doing, said, remedy));
        }
        std::hint::spin_loop();
    }
}
