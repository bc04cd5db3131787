//! Who waits for an answer: is told how far it is, and can end it.

use orrery_run::SpecError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Called after each simulation with how many are done, and of how many at the moment.
type Tell = dyn Fn(u64, u64) + Send + Sync;

/// Somebody who waits.
#[derive(Clone)]
pub struct Watcher {
    /// Set to end the search before its next simulation.
    pub told_to_end: Arc<AtomicBool>,
    /// How far it is.
    pub tell: Arc<Tell>,
}

impl Watcher {
    /// # Errors
    /// When nobody waits any more.
    pub fn go_on(&self) -> Result<(), SpecError> {
        match self.told_to_end.load(Ordering::Relaxed) {
            true => Err(SpecError::value("plan", "a newer question", "to go on", "ask again")),
            false => Ok(()),
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}
