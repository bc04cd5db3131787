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
    total: u64,
    state: Mutex<Lines>,
}

struct Lines {
    done: u64,
    began: Instant,
    said: Instant,
}

/// Between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    /// Progress over so many of something, such as `cells`.
    pub fn new(total: u64, what: &'static str) -> Progress {
        let on_terminal = std::io::stderr().is_terminal() && verbosity() > 0;
        let bar = on_terminal.then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total), target);
            let template = format!("{{bar:40}} {{pos}}/{{len}} {what}, {{per_sec}}, {{eta}} left");
            match ProgressStyle::with_template(&template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let now = Instant::now();
        let state = Mutex::new(Lines { done: 0, began: now, said: now });
        Progress { bar, what, total, state }
    }

    /// One more is done.
    pub fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
            return;
        }
        let Ok(mut s) = self.state.lock() else { return };
        s.done += 1;
        if s.said.elapsed() < LINE_EVERY || s.done == self.total {
            return;
        }
        s.said = Instant::now();
        let seconds = s.began.elapsed().as_secs_f64();
        let rate = s.done as f64 / seconds;
        let left = (self.total - s.done.min(self.total)) as f64 / rate;
        let Progress { what, total, .. } = self;
        say(&format!("{}/{total} {what}, {rate:.1}/s, {left:.0} s left", s.done));
    }
}

impl std::ops::Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
