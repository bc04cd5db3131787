//! Ctrl-C and SIGTERM: what runs is ended and what was measured is kept.

use crate::device::worker::kill_all;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on both are only noted, with `then` on stderr; a second one, and without `then` the first, ends the process
/// and its workers at once.
pub fn catch(then: &'static str) {
    let handler = move || {
        if ASKED.swap(true, Ordering::SeqCst) || then.is_empty() {
            kill_all();
            std::process::exit(130);
        }
        let _ = writeln!(std::io::stderr(), "{then}; again stops at once");
    };
    // Only the first of a process can install it, and one is enough.
    let _ = ctrlc::set_handler(handler);
}

/// Whether one came.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
