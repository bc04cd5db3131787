//! Parts that are run in parallel, until they are done or Ctrl-C stops them.

use orrery_report::threads::pool;
use orrery_report::{Progress, say};
use orrery_run::SpecError;
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);
static IS_GUEST: AtomicBool = AtomicBool::new(false);

/// Whether signals are left to the program that this one is part of; it may [`stop`].
pub fn be_guest(is_guest: bool) {
    IS_GUEST.store(is_guest, Ordering::SeqCst);
}

/// Says that it is time to stop, or that it is so no more.
pub fn stop(is_time: bool) {
    STOP.store(is_time, Ordering::SeqCst);
}

/// # Errors
/// When it is time to stop.
pub fn go_on() -> Result<(), SpecError> {
    match is_stopped() {
        true => Err(SpecError::value("run", "Ctrl-C", "to go on", "run it again")),
        false => Ok(()),
    }
}

/// Parts that have not ended so long after the first signal are given up.
const GRACE: Duration = Duration::from_millis(1_500);

/// Listens for Ctrl-C and SIGTERM: the first is told by [`is_stopped`], and ends the process if its running parts
/// have not ended soon after. The second ends it at once. Finished parts are kept already.
fn listen() {
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        say("stopping: cells that end within 1.5 s are kept; press Ctrl-C again to stop at once");
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            if is_stopped() {
                say("stopped; the running cells were given up, finished ones are kept");
                std::process::exit(130);
            }
        });
    };
    // Only the first of a process can install it, and one is enough.
    if !IS_GUEST.load(Ordering::SeqCst) {
        install(handler);
    }
}

#[cfg(not(target_family = "wasm"))]
fn install(handler: impl FnMut() + Send + 'static) {
    let _ = ctrlc::set_handler(handler);
}

/// A machine without signals is stopped from outside.
#[cfg(target_family = "wasm")]
fn install(_: impl FnMut() + Send + 'static) {}

/// Whether it is time to stop.
pub fn is_stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// What came of the parts.
pub enum Ran<T> {
    /// All of them, in their order.
    All(Vec<T>),
    /// Ctrl-C stopped it; parts that had begun and ended soon after were finished.
    Stopped,
}

/// Runs parts on so many threads (one for each core when 0), in any order; what comes of them is in their
/// order. Parts that have begun are finished, and the error of the first part that failed is returned.
///
/// # Errors
/// The error of the first part that failed, or when threads cannot be started.
pub fn run_parts<T: Send>(
    parts: &[usize],
    jobs: usize,
    run: impl Fn(usize) -> Result<T, SpecError> + Sync,
) -> Result<Ran<T>, SpecError> {
    listen();
    let progress = Progress::new(parts.len() as u64, "cells");
    let failed: Mutex<Option<(usize, SpecError)>> = Mutex::new(None);
    let one = |&i: &usize| -> Option<T> {
        if is_stopped() || failed.lock().is_ok_and(|f| f.is_some()) {
            return None;
        }
        match run(i) {
            Ok(done) => {
                progress.step();
                Some(done)
            }
            Err(e) => {
                if let Ok(mut first) = failed.lock()
                    && first.as_ref().is_none_or(|(at, _)| i < *at)
                {
                    *first = Some((i, e));
                }
                None
            }
        }
    };
    let done: Vec<Option<T>> =
        pool(jobs)?.install(|| parts.par_iter().with_max_len(1).map(one).collect());
    drop(progress);
    match failed.into_inner() {
        Ok(Some((_, e))) => Err(e),
        _ => Ok(done.into_iter().collect::<Option<Vec<T>>>().map_or(Ran::Stopped, Ran::All)),
    }
}
