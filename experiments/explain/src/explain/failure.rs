//! Why there is no explanation.

use orrery_sim::log::LogError;

/// Why there is no explanation.
#[derive(Debug)]
pub enum Failure {
    /// The log cannot be read.
    Log(LogError),
    /// There is no such request in the log; its requests are numbered from 0, so many of them.
    Unknown {
        /// How many requests the log has.
        requests: u64,
    },
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        Failure::Log(error)
    }
}
