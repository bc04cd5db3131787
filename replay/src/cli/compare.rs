//! `orrery-replay compare`.

use super::shared::Answer;
use crate::compare::{Comparison, Side, figure, first_difference, report};
use crate::error::Error;
use clap::Args;
use orrery_report::figure::bytes;
use orrery_report::say;
use orrery_report::whole_file::{check_place, write_atomically};
use std::path::PathBuf;

/// `orrery-replay compare`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  orrery-replay compare run/predicted.log run
  orrery-replay compare run/predicted.log run --first-difference
  orrery-replay compare run/predicted.log run --plot errors.svg")]
pub struct Compare {
    /// The prediction: a schedule log, or a run's folder.
    predicted: PathBuf,
    /// The measurement: a run's folder, or a schedule log.
    measured: PathBuf,
    /// Print the first decision that differs, and what each side knew.
    #[arg(long)]
    first_difference: bool,
    /// Draw the prediction errors: `.svg`, `.png` or `.pdf`.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Overwrite a file that orrery did not write.
    #[arg(long)]
    force: bool,
    /// Accept different arrivals, because clients reacted to replies.
    #[arg(long)]
    closed_loop: bool,
    /// Ignore requests that arrive before this, or before the end of the run's own warm-up if that is
    /// later.
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    warm_up_s: f64,
}

impl Compare {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        let is_figure = |p: &&PathBuf| {
            matches!(p.extension().and_then(|e| e.to_str()), Some("svg" | "png" | "pdf"))
        };
        if let Some(path) = self.plot.as_ref().filter(|p| !is_figure(p)) {
            let allowed = "a name that ends in .svg, .png or .pdf";
            return Err(Error::value("--plot", path.display(), allowed, "rename it"));
        }
        if let Some(path) = self.plot.as_ref().filter(|_| !self.force) {
            check_place("--plot", path)?;
        }
        if !(0.0..=1e9).contains(&self.warm_up_s) {
            return Err(Error::value(
                "--warm-up-s",
                self.warm_up_s,
                "a time from 0 s",
                "change it",
            ));
        }
        let mut predicted = Side::read(&self.predicted)?;
        let measured = Side::read(&self.measured)?;
        predicted.warm_up_ns = predicted.warm_up_ns.max((self.warm_up_s * 1e9) as u64);
        let comparison = Comparison::of(&predicted, &measured, self.closed_loop)?;
        if self.warm_up_s > 0.0 && comparison.predicted.requests == 0 {
            let (allowed, remedy) =
                ("less than the time of the last arrival", "lower it: no request counts");
            return Err(Error::value("--warm-up-s", self.warm_up_s, allowed, remedy));
        }
        let mut text = report(&comparison);
        if self.first_difference {
            text.push('\n');
            let told = first_difference(&predicted, &measured);
            text += &told.unwrap_or_else(|| "the decisions are the same\n".to_string());
        }
        if let Some(path) = &self.plot {
            let title = match measured.names.policy.as_str() {
                "" => "replay".to_string(),
                policy => policy.to_string(),
            };
            let figure = figure(&title, &comparison.errors)?;
            write_atomically(path, &bytes(&figure, path)?)?;
            say(&format!("wrote {}", path.display()));
        }
        let sides = [&predicted, &measured];
        for note in sides.iter().flat_map(|side| &side.notes) {
            text += &format!("note: {note}\n");
        }
        for why in sides.iter().flat_map(|side| &side.invalid) {
            text += &format!("INVALID: {why}\n");
        }
        Ok(Answer { text, passed: sides.iter().all(|side| side.invalid.is_none()) })
    }
}
