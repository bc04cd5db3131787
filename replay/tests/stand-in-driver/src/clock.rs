//! The clock of the stand-in.

use std::sync::OnceLock;
use std::time::Instant;

/// The device's clock: the host's, from the first call on.
pub fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}
