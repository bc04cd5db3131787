//! How results leave: the forms of a result, files written whole or not at all, progress.

use crate::cli::{Answer, Format, Output};
use crate::whole_file::write_atomically;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// A result in its forms.
pub struct Forms {
    /// For reading.
    pub table: String,
    /// One row for each cell, with a column for each metric.
    pub wide: String,
    /// Rows and what belongs to them.
    pub json: String,
    /// The rows themselves.
    pub rows: Vec<Row>,
}

impl Forms {
    /// Writes all forms into `--out` and picks the one for stdout.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn answer(self, id: &str, output: &Output) -> Result<Answer, SpecError> {
        let csv = orrery_results::to_csv(&self.rows);
        if let Some(folder) = &output.out {
            for (ending, text) in [
                ("txt", &self.table),
                ("csv", &csv),
                ("wide.csv", &self.wide),
                ("json", &self.json),
            ] {
                write_atomically(&folder.join(format!("{id}.{ending}")), text.as_bytes())?;
            }
            #[cfg(feature = "parquet")]
            crate::parquet::table_from_rows(&self.rows, &folder.join(format!("{id}.parquet")))?;
        }
        Ok(Answer::of(match output.format {
            Format::Table => self.table,
            Format::Csv => csv,
            Format::Wide => self.wide,
            Format::Json => self.json,
        }))
    }
}

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

/// Says a line on stderr, come what may. A reader that went away is no reason to stop.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
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

impl crate::runs::Progress for Progress {
    fn step(&self) {
        Progress::step(self);
    }
}

impl std::ops::Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
