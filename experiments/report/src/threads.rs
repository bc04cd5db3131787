//! Threads for runs.

use orrery_run::SpecError;

/// A pool of so many threads; one for each core when 0.
///
/// # Errors
/// When the threads cannot be started.
pub fn pool(jobs: usize) -> Result<rayon::ThreadPool, SpecError> {
    rayon::ThreadPoolBuilder::new().num_threads(jobs).build().map_err(|e| {
        SpecError::value("--jobs", e, "threads that can be started", "use a smaller number")
    })
}
