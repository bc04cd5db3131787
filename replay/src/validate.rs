//! A campaign: many points, each simulated and replayed several times, and how far apart both are.
//!
//! ```text
//!  CAMPAIGN.toml ── Campaign ── points ─┬─ simulate ─┐
//!                      │                └─ replay ×n ┴─> points/NAME/result.json ──> validation.md
//!                      └─ profile (measured first) ──> profile-*.toml                validation.csv
//! ```
//!
//! A finished point is not run again: its result carries the hash of all that it depends on. So a
//! campaign can be stopped, continued, and run in parts.

mod campaign;
mod capacity;
mod outcome;
mod point;
mod report;
mod rows;
mod store;
mod verdict;

pub use campaign::{Campaign, CampaignFile, Grid, Targets};
pub use capacity::{capacity_per_s, time_of_one};
pub use outcome::{Band, PointResult, Repetition};
pub use point::{Point, points};
pub use report::{Context, markdown};
pub use rows::{has_gpu_run, to_csv};
pub use store::Store;
pub use verdict::{Differences, Verdict, verdict};

use crate::compare::{Comparison, Side, Tail};
use crate::driver::{Options, Verdict as HostVerdict};
use crate::error::Error;
use crate::host::Host;
use crate::prediction::Prediction;
use crate::profile::{ProfileFile, profile};
use crate::record::{self, Head, RunRecord};
use crate::runner::{self, Mode, Ran, Run};
use orrery_scenario::{Scenario, Setup};
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How much of a campaign is run, and what is said meanwhile.
pub struct Effort<'a> {
    /// The k-th of n parts, k from 1.
    pub part: (usize, usize),
    /// No further point begins when it would end after this.
    pub limit: Option<Duration>,
    /// Keep every run's folder.
    pub keep_logs: bool,
    /// For the record.
    pub date: String,
    /// For the record.
    pub command: String,
    /// Told a line for each step.
    pub say: &'a mut dyn FnMut(&str),
}

/// Where a campaign stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its points, with the results of those that are finished.
    pub points: Vec<(Point, Option<PointResult>)>,
    /// The profiles that predictions were made with, by file name.
    pub profiles: BTreeMap<String, ProfileFile>,
}

/// Runs what is not finished of a campaign.
///
/// # Errors
/// When the device is not there, an input is wrong, or a result cannot be written. A device that
/// fails in mid-run makes that repetition invalid.
pub fn run(campaign: &Campaign, store: &Store, effort: &mut Effort<'_>) -> Result<Standing, Error> {
    let began = Instant::now();
    let profiles = profiles(campaign, store, effort)?;
    let points = points(campaign, &profiles)?;
    let mut standing = Standing { points: Vec::new(), profiles: profiles.clone() };
    let count = points.len();
    for (i, point) in points.into_iter().enumerate() {
        let found = store.read(&point)?;
        let (part, parts) = effort.part;
        let mine = i % parts == part - 1;
        let takes = point.takes(campaign);
        let fits = effort.limit.is_none_or(|limit| began.elapsed() + takes <= limit);
        let result = match found {
            Some(result) => Some(result),
            None if mine && fits => {
                let result = run_point(campaign, &point, &profiles[&point.profile], store, effort)?;
                store.write(&point, &result)?;
                (effort.say)(&format!("[{}/{count}] {}", i + 1, result.line(&point.name)));
                Some(result)
            }
            None => None,
        };
        standing.points.push((point, result));
    }
    Ok(standing)
}

/// The profile of each execution time: the one that the campaign names, or one that is measured now
/// and kept.
fn profiles(
    campaign: &Campaign,
    store: &Store,
    effort: &mut Effort<'_>,
) -> Result<BTreeMap<String, ProfileFile>, Error> {
    let mut profiles = BTreeMap::new();
    for (exec, cv) in campaign.executions() {
        let scenario = campaign.base_at(exec, cv)?;
        let name = campaign.profile_name(&scenario, exec);
        if profiles.contains_key(&name) {
            continue;
        }
        if let Some(file) = campaign.named_profile() {
            profiles.insert(name, ProfileFile::read(&file)?);
            continue;
        }
        if let Some(found) = store.profile(&name)? {
            profiles.insert(name, found);
            continue;
        }
        (effort.say)(&format!("profiling {} for {name}", campaign.device.target));
        let mut open = || campaign.device.open(&scenario, 0);
        let mut made = profile(&scenario, &campaign.file.profiling, campaign.clocks(), &mut open)?;
        made.date.clone_from(&effort.date);
        made.command.clone_from(&effort.command);
        store.write_profile(&name, &made)?;
        profiles.insert(name, made);
    }
    Ok(profiles)
}

fn run_point(
    campaign: &Campaign,
    point: &Point,
    profile: &ProfileFile,
    store: &Store,
    effort: &Effort<'_>,
) -> Result<PointResult, Error> {
    let scenario: &Scenario = &point.scenario;
    let seed = campaign.file.seed;
    let prediction = Prediction::of(scenario, seed, Some(profile), campaign.file.overhead)?;
    let simulated = prediction.simulate(&point.policy, seed)?;
    let warm_up = prediction.setup.window.from.ns();
    let predicted = Side::of(simulated, None, warm_up);
    let options = Options {
        placement: campaign.placement(),
        max_lateness: Span::from_ms_f64(campaign.file.max_lateness_ms),
        ..Options::default()
    };
    let mut result = PointResult::new(point, &effort.date);
    for repetition in 1..=campaign.file.repetitions {
        let run = Run {
            scenario,
            prediction: &prediction,
            seed,
            noise: u64::from(repetition),
            device: &campaign.device,
            clocks: campaign.clocks(),
            options,
        };
        let host = Host::here();
        let ran = runner::run(&run, Mode::Live(&point.policy))?;
        let comparison = Comparison::of(&predicted, &ran.side, false);
        if effort.keep_logs {
            keep(store, point, repetition, &prediction.setup, &predicted, &ran, effort)?;
        }
        result.add(repetition_of(&ran, comparison, host)?, &predicted, warm_up);
    }
    Ok(result)
}

/// The figures of a run. One that ended early has other arrivals than were predicted; any other
/// difference of arrivals is a fault.
fn repetition_of(
    ran: &Ran,
    comparison: Result<Comparison, Error>,
    host: Host,
) -> Result<Repetition, Error> {
    let late = match &ran.lateness.verdict {
        HostVerdict::Valid => None,
        HostVerdict::Invalid(why) => Some(why.clone()),
    };
    let failed = ran.failed.as_ref().map(ToString::to_string);
    let invalid = failed.or(late);
    let base = Repetition {
        invalid,
        lateness: ran.lateness.clone(),
        controller_busy_per_request_ns: ran.controller_busy.ns() / ran.requests().max(1),
        load_average: host.load_average,
        device: ran.devices.first().cloned().unwrap_or_default(),
        ..Repetition::default()
    };
    let c = match comparison {
        Ok(c) => c,
        Err(_) if base.invalid.is_some() => return Ok(base),
        Err(e) => return Err(e),
    };
    let tail = |ns: &[u64]| Tail::of(ns.to_vec());
    Ok(Repetition {
        measured: c.measured,
        duration_over: tail(&c.errors.duration.over),
        duration_under: tail(&c.errors.duration.under),
        duration_under_ppm: tail(&c.errors.duration_ppm.under),
        completion_over: tail(&c.errors.completion.over),
        completion_under: tail(&c.errors.completion.under),
        ..base
    })
}

fn keep(
    store: &Store,
    point: &Point,
    repetition: u32,
    setup: &Setup,
    predicted: &Side,
    ran: &Ran,
    effort: &Effort<'_>,
) -> Result<(), Error> {
    let folder = store.run_folder(point, repetition)?;
    let record = RunRecord {
        date: effort.date.clone(),
        command: effort.command.clone(),
        ..RunRecord::of(&point.scenario, point.policy.text(), point.scenario.seed)
    };
    let head = Head::of(&point.scenario, setup, point.policy.to_string());
    record::write(&folder, &head, &predicted.records, &ran.side, &record.with(ran))?;
    folder.finish()
}
