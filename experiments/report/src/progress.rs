//! Progress on stderr.

use super::voice::{say, verbosity};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Progress on stderr: a bar on a terminal, now and then a plain line elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    /// The total is an estimate, which changes.
    estimated: bool,
    state: Mutex<Lines>,
}

struct Lines {
    done: u64,
    total: u64,
    began: Instant,
    said: Instant,
}

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    /// Progress over so many of something, such as `cells`.
    pub fn new(total: u64, what: &'static str) -> Progress {
        Progress::of(total, what, false)
    }

    /// Progress over an unknown number of something: [`Progress::expect`] and [`Progress::spare`] say what
    /// is known of it.
    pub fn estimated(what: &'static str) -> Progress {
        Progress::of(0, what, true)
    }

    fn of(total: u64, what: &'static str, estimated: bool) -> Progress {
        let on_terminal = std::io::stderr().is_terminal() && verbosity() > 0;
        let bar = on_terminal.then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total), target);
            let (of, about) = if estimated { (" of about ", "about ") } else { ("/", "") };
            let template =
                format!("{{bar:40}} {{pos}}{of}{{len}} {what}, {{per_sec}}, {about}{{eta}} left");
            match ProgressStyle::with_template(&template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let now = Instant::now();
        let state = Mutex::new(Lines { done: 0, total, began: now, said: now });
        Progress { bar, what, estimated, state }
    }

    /// So many more are expected.
    pub fn expect(&self, more: u64) {
        self.total(|total| total + more);
    }

    /// So many fewer are expected.
    pub fn spare(&self, fewer: u64) {
        self.total(|total| total.saturating_sub(fewer));
    }

    fn total(&self, change: impl Fn(u64) -> u64) {
        let Ok(mut s) = self.state.lock() else { return };
        s.total = change(s.total);
        self.bar.iter().for_each(|bar| bar.set_length(s.total.max(s.done)));
    }

    /// How many are done, and of how many.
    pub fn done_of(&self) -> (u64, u64) {
        self.state.lock().map_or((0, 0), |s| (s.done, s.total))
    }

    /// One more is done.
    pub fn step(&self) {
        let Ok(mut s) = self.state.lock() else { return };
        s.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            return;
        }
        if s.said.elapsed() < LINE_EVERY || (s.done == s.total && !self.estimated) {
            return;
        }
        s.said = Instant::now();
        say(&line((s.done, s.total), self.what, s.began.elapsed(), self.estimated));
    }
}

/// What is said: how much of what is done, how fast, and how long the rest takes at that rate.
fn line((done, total): (u64, u64), what: &str, time: Duration, estimated: bool) -> String {
    let total = total.max(done);
    let rate = done as f64 / time.as_secs_f64();
    let left = (total - done) as f64 / rate;
    match estimated {
        true => format!("{done} of about {total} {what}, {rate:.1}/s, about {left:.0} s left"),
        false => format!("{done}/{total} {what}, {rate:.1}/s, {left:.0} s left"),
    }
}

impl std::ops::Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_much_is_done_and_how_long_the_rest_takes() {
        let time = Duration::from_secs(10);
        assert_eq!(line((20, 60), "cells", time, false), "20/60 cells, 2.0/s, 20 s left");
        let about = "20 of about 60 simulations, 2.0/s, about 20 s left";
        assert_eq!(line((20, 60), "simulations", time, true), about);
        let more = "20 of about 20 simulations, 2.0/s, about 0 s left";
        assert_eq!(line((20, 15), "simulations", time, true), more, "more than expected");
    }
}
