//! `orrery-replay validate`.

use super::interrupt;
use super::shared::Answer;
use crate::error::Error;
use crate::host;
use crate::validate::{self, Campaign, Effort, Store, markdown, to_csv, verdict};
use clap::Args;
use orrery_report::say;
use orrery_report::whole_file::write_atomically;
use std::path::PathBuf;
use std::time::Duration;

/// `orrery-replay validate`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  orrery-replay validate replay/campaigns/emulated.toml --out replay/validated/emulated
  orrery-replay validate replay/campaigns/gpu-timed.toml --max-minutes 10 --out replay/validated/gpu-timed

A stopped campaign resumes: finished points are not run again.")]
pub struct Validate {
    /// The campaign.
    campaign: PathBuf,
    /// The folder for its results; by default `validation-NAME`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only the K-th of N parts.
    #[arg(long, value_name = "K/N")]
    part: Option<String>,
    /// Start no point that would end after this many minutes.
    #[arg(long, value_name = "MIN")]
    max_minutes: Option<f64>,
    /// The device, instead of the campaign's.
    #[arg(long)]
    device: Option<String>,
    /// Run the short form that the campaign's `[quick]` describes: it validates nothing.
    #[arg(long)]
    quick: bool,
    /// Before each point, wait until the machine does nothing else.
    #[arg(long)]
    when_quiet: bool,
    /// Use profiles that are not fit to predict with; the report says so.
    #[arg(long)]
    any_profile: bool,
    /// Write into a folder that holds something else.
    #[arg(long)]
    force: bool,
    /// Keep the logs and actions of every run.
    #[arg(long)]
    keep_logs: bool,
    /// Predict finished points again, a priori and re-simulated, from what `--keep-logs` left of their runs.
    #[arg(long)]
    predict_again: bool,
    /// Only measure, and keep every run: the same command without this predicts, on any machine.
    #[arg(long, conflicts_with = "predict_again")]
    measure_only: bool,
}

impl Validate {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        let campaign = Campaign::load(&self.campaign, self.device.as_deref(), self.quick)?;
        let part = self.part()?;
        let limit = self.limit()?;
        // A device that is not there is told before anything is written; no time, no run, no device.
        let limits = match limit {
            Some(Duration::ZERO) => Vec::new(),
            _ => campaign.probe()?,
        };
        let quick = if self.quick { "-quick" } else { "" };
        let name = format!("validation-{}{quick}", campaign.file.name);
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from(name));
        let store = Store::new(&out);
        if !self.force {
            store.check(&campaign.title())?;
        }
        interrupt::catch("stopping after this run", || {});
        let mut told = |line: &str| say(line);
        let mut effort = Effort {
            part,
            limit,
            keep_logs: self.keep_logs,
            predict_again: self.predict_again,
            measure_only: self.measure_only,
            // A quick run shows that everything works, also on a busy machine.
            any_profile: self.any_profile || self.quick,
            when_quiet: self.when_quiet,
            limits,
            stop: &interrupt::is_asked,
            date: host::today(),
            command: host::command(),
            say: &mut told,
        };
        let standing = validate::run(&campaign, &store, &mut effort)?;
        if self.measure_only {
            let measured = standing.points.iter().filter(|p| p.1.is_some()).count();
            let text = format!(
                "{measured} of {} points are measured in {}; not predicted: the same command without \
                 `--measure-only`, with `--max-minutes 0` where the device is not there\n",
                standing.points.len(),
                out.display()
            );
            return Ok(Answer::of(text));
        }
        let figures = validate::figures(&campaign, &standing);
        for (name, _, figure) in &figures {
            write_atomically(&out.join(name), figure.to_svg().as_ref())?;
        }
        let text = markdown(&campaign, &standing, &figures);
        write_atomically(&out.join("validation.md"), text.as_ref())?;
        write_atomically(&out.join("validation.csv"), to_csv(&campaign, &standing).as_ref())?;
        let v = verdict(&campaign, &standing);
        if v.finished < v.planned {
            let left = v.planned - v.finished;
            let why = if standing.stopped { "stopped: " } else { "" };
            say(&format!("{why}{left} points are left: run the same command again"));
        }
        let is_cut = standing.stopped && v.finished < v.planned;
        let passed = !is_cut && (v.within_targets || v.finished == 0 || self.quick);
        Ok(Answer { text, passed })
    }

    fn part(&self) -> Result<(usize, usize), Error> {
        let Some(text) = &self.part else { return Ok((1, 1)) };
        let parts =
            text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        parts.filter(|(k, n)| (1..=*n).contains(k)).ok_or_else(|| {
            Error::value("--part", text, "`K/N` with K from 1 to N", "write, say, `1/3`")
        })
    }

    fn limit(&self) -> Result<Option<Duration>, Error> {
        let Some(minutes) = self.max_minutes else { return Ok(None) };
        if (0.0..=1e6).contains(&minutes) {
            return Ok(Some(Duration::from_secs_f64(60.0 * minutes)));
        }
        Err(Error::value("--max-minutes", minutes, "a number of minutes from 0", "change it"))
    }
}

/// `orrery-replay validated`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  orrery-replay validated replay/validated
  orrery-replay validated replay/validated/cpu-small replay/validated/cpu-medium replay/validated/cpu-large")]
pub struct Validated {
    /// Folders of campaigns, or folders that hold such.
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

impl Validated {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        Ok(Answer::of(validate::table(&validate::finished(&self.folders)?)))
    }
}
