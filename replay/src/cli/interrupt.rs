//! Ctrl-C and SIGTERM: what runs is ended and what was measured is kept.

use crate::device::worker::kill_all;
use crate::folder::remove_unfinished;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on both are only noted, with `then` on stderr, and `at_first` is called; a second one, and without `then`
/// the first, ends the process and its workers at once.
pub fn catch(then: &'static str, at_first: fn()) {
    let handler = move || {
        if ASKED.swap(true, Ordering::SeqCst) || then.is_empty() {
            kill_all();
            remove_unfinished();
            std::process::exit(130);
        }
        at_first();
        let _ = writeln!(std::io::stderr(), "{then}; again stops at once");
    };
    // Only the first of a process can install it, and one is enough.
    let _ = ctrlc::set_handler(handler);
}

/// Whether one came.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
