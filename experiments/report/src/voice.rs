//! What is said on stderr.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is said on stderr: 0 nothing but errors, 1 progress, 2 more.
static VERBOSITY: AtomicU8 = AtomicU8::new(1);

/// Sets how much is said on stderr.
pub fn set_verbosity(level: u8) {
    VERBOSITY.store(level, Ordering::Relaxed);
}

/// How much is said on stderr.
pub fn verbosity() -> u8 {
    VERBOSITY.load(Ordering::Relaxed)
}

/// Who says lines in place of stderr.
static SPEAKER: OnceLock<fn(&str)> = OnceLock::new();

/// Lines go to `speaker` from now on, for a program that is not the command line. The first one stays.
pub fn set_speaker(speaker: fn(&str)) {
    let _ = SPEAKER.set(speaker);
}

/// Says a line on stderr, come what may. A reader that went away is no reason to stop.
pub fn tell(line: &str) {
    match SPEAKER.get() {
        Some(speaker) => speaker(line),
        None => {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

/// Says a line on stderr, unless `--quiet`.
pub fn say(line: &str) {
    if verbosity() > 0 {
        tell(line);
    }
}

/// Says a line on stderr, with `--verbose` only.
pub fn say_more(line: &str) {
    if verbosity() > 1 {
        tell(line);
    }
}
