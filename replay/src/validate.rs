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
mod errors;
mod figures;
mod outcome;
mod point;
mod remarks;
mod report;
mod rows;
mod store;
mod summed;
mod twins;
mod verdict;

pub use campaign::{Campaign, CampaignFile, Grid, Limits, Quick, Slo, Targets, limits};
pub use capacity::{Beyond, beyond, load_of_one_per_s, time_of_one};
pub use figures::figures;
pub use outcome::{Differences, PointResult, Repetition, SENSITIVE_POINTS, Sensitive, TwinOf};
pub use point::{Point, points};
pub use report::markdown;
pub use rows::to_csv;
pub use store::Store;
pub use summed::{Finished, finished, table};
pub use twins::Judgement;
pub use verdict::{Verdict, verdict};

use crate::compare::{Comparison, Side, Summary, read_log_file};
use crate::device::Description;
use crate::driver::Options;
use crate::driver::planned::Plan;
use crate::error::Error;
use crate::folder::Unfinished;
use crate::host::Host;
use crate::prediction::{Mode, ModeName, Prediction};
use crate::profile::{self, Clocks, ProfileFile};
use crate::quantiles::Quantiles;
use crate::quiet;
use crate::record::{self, Head, RunRecord};
use crate::retrace::read_inputs;
use crate::runner::{self, Ran, Run};
use crate::threads::cores;
use crate::twin::{Knowledge, Twin};
use orrery_report::whole_file::write_atomically;
use orrery_scenario::Scenario;
use orrery_sim::log::Record;
use orrery_sim::time::{Span, Time};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much of a campaign is run, and what is said meanwhile.
pub struct Effort<'a> {
    /// The k-th of n parts, k from 1.
    pub part: (usize, usize),
    /// No further point begins when it would end after this.
    pub limit: Option<Duration>,
    /// Keep every run's folder.
    pub keep_logs: bool,
    /// Predict finished points again, from the folders of their runs.
    pub predict_again: bool,
    /// Predict nothing: a later session without it does.
    pub measure_only: bool,
    /// Use profiles that are not fit to predict with.
    pub any_profile: bool,
    /// Wait before each point until the machine does nothing else.
    pub when_quiet: bool,
    /// How large the device's batches may be, as [`Campaign::probe`] says; empty without limits.
    pub limits: Limits,
    /// Asked before each run: whether to end, with what there is.
    pub stop: &'a dyn Fn() -> bool,
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
    /// It was told to stop.
    pub stopped: bool,
}

impl Standing {
    /// The results of the points that are finished.
    pub fn finished(&self) -> impl Iterator<Item = &PointResult> {
        self.points.iter().filter_map(|p| p.1.as_ref())
    }
}

/// Runs what is not finished of a campaign.
///
/// # Errors
/// When the device is not there, an input is wrong, or a result cannot be written. A device that
/// fails in mid-run makes that repetition invalid.
pub fn run(campaign: &Campaign, store: &Store, effort: &mut Effort<'_>) -> Result<Standing, Error> {
    let began = Instant::now();
    let (when_quiet, stop) = (effort.when_quiet, effort.stop);
    let quiet = |say: &mut dyn FnMut(&str)| {
        if when_quiet {
            quiet::wait(stop, || say("waiting until the machine is quiet"));
        }
    };
    quiet(effort.say);
    let profiles = profiles(campaign, store, effort)?;
    let points = points(campaign, &profiles)?;
    // A device without limits takes what any policy makes.
    for point in points.iter().filter(|_| effort.limits.iter().any(Option::is_some)) {
        let setup = prediction_of(campaign, &point.scenario, &profiles[&point.profile])?.setup;
        campaign.check_batches(&setup, &point.policy, &effort.limits)?;
    }
    let count = points.len();
    let mut done = Vec::new();
    let mut fresh: Vec<usize> = Vec::new();
    for (i, point) in points.into_iter().enumerate() {
        let found = store.read(&point)?;
        let (part, parts) = effort.part;
        let mine = i % parts == part - 1;
        let takes = point.takes(campaign);
        let fits = effort.limit.is_none_or(|limit| began.elapsed() + takes <= limit);
        let result = match found {
            Some(mut result) => {
                let law = &profiles[&point.profile];
                if !effort.measure_only
                    && catch_up(campaign, &point, law, store, effort, &mut result)?
                {
                    (effort.say)(&format!("[{}/{count}] {}", i + 1, result.line(&point.name)));
                }
                // A session that was killed did not come to measure its device again.
                fresh.extend(result.drift_percent.is_none().then_some(i));
                Some(result)
            }
            None if mine && fits && !(effort.stop)() => {
                quiet(effort.say);
                let profile = &profiles[&point.profile];
                let result = run_point(campaign, &point, profile, store, effort)?;
                if let Some(result) = &result {
                    store.write(&point, result)?;
                    (effort.say)(&format!("[{}/{count}] {}", i + 1, result.line(&point.name)));
                    fresh.push(i);
                }
                result
            }
            None => None,
        };
        done.push((point, result));
    }
    check_drift(campaign, store, &profiles, &mut done, &fresh, effort)?;
    let stopped = (effort.stop)();
    Ok(Standing { points: done, profiles, stopped })
}

/// Predicts what is missing of a finished point, or all of it where that is asked for: whether it did.
fn catch_up(
    campaign: &Campaign,
    point: &Point,
    law: &ProfileFile,
    store: &Store,
    effort: &Effort<'_>,
    result: &mut PointResult,
) -> Result<bool, Error> {
    let again = effort.predict_again || result.draws.is_empty();
    if again {
        predict_again(campaign, point, law, store, result)?;
    } else if result.naive.is_none() {
        let prediction = prediction_of(campaign, &point.scenario, law)?;
        result.naive = Some(prediction.naive(&point.policy, campaign.file.seed)?);
    } else {
        return Ok(false);
    }
    store.write(point, result)?;
    Ok(again)
}

/// Measures whether the device is still what its profiles say, and writes it to the points since.
fn check_drift(
    campaign: &Campaign,
    store: &Store,
    profiles: &BTreeMap<String, ProfileFile>,
    points: &mut [(Point, Option<PointResult>)],
    fresh: &[usize],
    effort: &mut Effort<'_>,
) -> Result<(), Error> {
    for (name, profile) in profiles {
        let of = |i: &&usize| points[**i].0.profile == *name;
        let since: Vec<usize> = fresh.iter().filter(of).copied().collect();
        let Some(first) = since.first() else { continue };
        let scenario = points[*first].0.scenario.clone();
        (effort.say)(&format!("measuring again what {name} says"));
        let device = campaign.device.clone().as_profiled(profile);
        let mut open = || device.open(&scenario, 0);
        let (settings, clocks) = (&campaign.file.profiling, campaign.clocks());
        let placement = campaign.placement();
        let drift = profile::drift(profile, &scenario, settings, clocks, placement, &mut open)?;
        for i in since {
            let (point, Some(result)) = &mut points[i] else { continue };
            result.drift_percent = drift.map(|d| d.median_percent);
            store.write(point, result)?;
        }
    }
    Ok(())
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
        let named = campaign.named_profile();
        let file = named.clone().unwrap_or_else(|| store.profile_file(&name));
        let (mut device, clocks) = (None, campaign.clocks());
        let mut open = || campaign.device.open(&scenario, 0);
        let profile = if named.is_some() || file.is_file() {
            let found = ProfileFile::read(&file)?;
            if named.is_some() && !effort.any_profile {
                device = Some(open()?.describe());
            }
            found
        } else {
            (effort.say)(&format!("profiling {} for {name}", campaign.device.target));
            let (settings, placement) = (&campaign.file.profiling, campaign.placement());
            let mut made = profile::profile(&scenario, settings, clocks, placement, &mut open)?;
            made.date.clone_from(&effort.date);
            made.command.clone_from(&effort.command);
            write_atomically(&file, made.to_toml().as_ref())?;
            made
        };
        fit(&profile, &file, clocks, device.as_ref(), effort)?;
        profiles.insert(name, profile);
    }
    Ok(profiles)
}

/// Refuses a profile that is not fit to predict with, unless any will do.
fn fit(
    profile: &ProfileFile,
    file: &Path,
    clocks: Clocks,
    device: Option<&Description>,
    effort: &mut Effort<'_>,
) -> Result<(), Error> {
    let mut against = profile.against(clocks, device).into_iter();
    let Some((key, why, allowed)) = against.next() else { return Ok(()) };
    if effort.any_profile {
        (effort.say)(&format!("{} is not fit to predict with: {why}", file.display()));
        return Ok(());
    }
    let remedy = "remove it and measure again when the machine is quiet (`--when-quiet`), or use it all \
                  the same with `--any-profile`";
    Err(Error::in_file(file, key, why, allowed, remedy))
}

/// A point's result; none when it was told to stop before the last run.
fn run_point(
    campaign: &Campaign,
    point: &Point,
    profile: &ProfileFile,
    store: &Store,
    effort: &Effort<'_>,
) -> Result<Option<PointResult>, Error> {
    let scenario: &Scenario = &point.scenario;
    let seed = campaign.file.seed;
    let prediction = prediction_of(campaign, &point.scenario, profile)?;
    let mut result = PointResult::new(point, &effort.date);
    let count = if effort.measure_only { 0 } else { draws(campaign, &prediction) };
    let records = prediction.simulate(Mode::Live(&point.policy), seed, 0)?;
    let plan = plan_of(campaign, &records);
    let mode = plan.as_ref().map_or(Mode::Live(&point.policy), Mode::Schedule);
    let predicted = Side::of(records, None, prediction.setup.window.from.ns());
    predict(campaign, (point, mode), profile, &prediction, &predicted.records, &mut result, count)?;
    let slo_share = Span::from_ms_f64(point.slo_ms).scale(LATENESS_OF_SLO);
    let options = Options {
        placement: campaign.placement(),
        max_lateness: Span::from_ms_f64(campaign.file.max_lateness_ms).min(slo_share),
        ..Options::default()
    };
    let device = campaign.device.clone().as_profiled(profile);
    for repetition in 1..=campaign.file.repetitions {
        if (effort.stop)() {
            return Ok(None);
        }
        let run = Run {
            scenario,
            prediction: &prediction,
            seed,
            noise: u64::from(repetition),
            device: &device,
            clocks: campaign.clocks(),
            options,
        };
        let host = Host::here();
        let ran = runner::run(&run, mode)?;
        let comparison = Comparison::of(&predicted, &ran.side, false);
        if effort.keep_logs || effort.measure_only {
            keep(store, (campaign, point), repetition, &prediction, &predicted, &ran, effort)?;
        }
        let stalls = !prediction.setup.world.stalls.is_none();
        let wall = matches!(campaign.clocks(), Clocks::Wall(_));
        let loads = [host.load(), Host::here().load()];
        let mut figures = repetition_of(&ran, comparison, host)?;
        if wall && figures.invalid.is_none() {
            figures.invalid = disturbed(&figures, stalls, loads);
        }
        if count > 0 {
            figures.twin = Some(twin_of(campaign, (point, mode), profile, count, ran.twin())?);
        }
        result.runs.push(figures);
    }
    Ok(Some(result))
}

/// What a point's runs follow, of the records that were predicted; nothing where its policy decides.
fn plan_of(campaign: &Campaign, predicted: &[Record]) -> Option<Plan> {
    (campaign.file.mode == ModeName::Schedule).then(|| Plan::from_records(predicted))
}

fn prediction_of(c: &Campaign, at: &Scenario, law: &ProfileFile) -> Result<Prediction, Error> {
    Prediction::of(at, c.file.seed, std::slice::from_ref(law), c.file.overhead)
}

/// Without noise and stalls they are all the same.
fn draws(campaign: &Campaign, prediction: &Prediction) -> u32 {
    if prediction.varies() { campaign.file.draws } else { 1 }
}

/// A point, and what decides in its runs.
type Decided<'a> = (&'a Point, Mode<'a>);

/// Draws the prediction of a point, whose first draw is `predicted`, and predicts it naively.
fn predict(
    campaign: &Campaign,
    (point, mode): Decided<'_>,
    law: &ProfileFile,
    prediction: &Prediction,
    predicted: &[Record],
    result: &mut PointResult,
    count: u32,
) -> Result<(), Error> {
    result.simulated = Summary::of(predicted, prediction.setup.window.from.ns());
    result.draws = drawn(campaign, point, law, count, |prediction, draw| {
        prediction.simulate(mode, campaign.file.seed, draw)
    })?;
    if count > 0 {
        result.naive = Some(prediction.naive(&point.policy, campaign.file.seed)?);
    }
    Ok(())
}

/// So many draws of the prediction on the machine as it was in a run.
fn twin_of(
    campaign: &Campaign,
    (point, mode): Decided<'_>,
    law: &ProfileFile,
    count: u32,
    (twin, knowledge): (Arc<Twin>, Knowledge),
) -> Result<TwinOf, Error> {
    let draws = drawn(campaign, point, law, count, |prediction, draw| {
        prediction.simulate_on(&twin, mode, campaign.file.seed, draw)
    })?;
    Ok(TwinOf { knowledge, draws })
}

/// Draws for which a prediction is made once.
const TOGETHER: usize = 4;

/// The finish rates of so many draws of a point. They are drawn side by side: no run goes on meanwhile.
fn drawn(
    campaign: &Campaign,
    point: &Point,
    law: &ProfileFile,
    count: u32,
    simulate: impl Fn(&Prediction, u32) -> Result<Vec<Record>, Error> + Sync,
) -> Result<Vec<f64>, Error> {
    let numbers: Vec<u32> = (0..count).collect();
    // A prediction stays on its thread.
    let some = |numbers: &[u32]| -> Result<Vec<f64>, Error> {
        let prediction = prediction_of(campaign, &point.scenario, law)?;
        let warm_up = prediction.setup.window.from.ns();
        let rate = |draw| Ok(Summary::of(&simulate(&prediction, draw)?, warm_up).finish_rate);
        numbers.iter().copied().map(rate).collect()
    };
    let rates: Result<Vec<_>, Error> = numbers.par_chunks(TOGETHER).map(some).collect();
    Ok(rates?.concat())
}

/// Predicts a finished point again, a priori and re-simulated, from what was kept of its runs.
fn predict_again(
    campaign: &Campaign,
    point: &Point,
    profile: &ProfileFile,
    store: &Store,
    result: &mut PointResult,
) -> Result<(), Error> {
    let prediction = prediction_of(campaign, &point.scenario, profile)?;
    let count = draws(campaign, &prediction);
    let kept = store.run_path(point, 1).join("predicted.log");
    let records = match campaign.file.mode {
        ModeName::Live => prediction.simulate(Mode::Live(&point.policy), campaign.file.seed, 0)?,
        // The plan is what the runs followed.
        ModeName::Schedule => read_log_file(&kept)?.1,
    };
    let plan = plan_of(campaign, &records);
    let mode = plan.as_ref().map_or(Mode::Live(&point.policy), Mode::Schedule);
    predict(campaign, (point, mode), profile, &prediction, &records, result, count)?;
    let is_timed = runner::is_timed(&campaign.device, campaign.clocks());
    for (run, number) in result.runs.iter_mut().zip(1..) {
        let folder = store.run_path(point, number);
        if !folder.is_dir() {
            let found = format!("no {}", folder.display());
            let remedy = "bring the folders back, or run the campaign again with `--keep-logs`";
            return Err(Error::value("--out", found, "runs that were kept", remedy));
        }
        let side = Side::read(&folder)?;
        let inputs = read_inputs(&folder.join("inputs.csv"))?;
        let end = inputs.last().map_or(Time::ZERO, |last| last.at);
        let twin = Twin::of(&side, &inputs, is_timed, end);
        run.twin = Some(twin_of(campaign, (point, mode), profile, count, twin)?);
    }
    Ok(())
}

/// Lateness that a run may have, as a share of the SLO.
const LATENESS_OF_SLO: f64 = 0.02;
/// A batch that begins so soon after it was due is on time.
const ON_TIME: Span = Span::from_us(100);
/// The share of the busy time that the host may take away without a law of stalls in the prediction.
const AWAY_MAX: f64 = 0.01;

/// Why the machine was too busy for a run to count, if it was.
fn disturbed(run: &Repetition, stalls: bool, loads: [Option<f64>; 2]) -> Option<String> {
    let cores = cores().len() as f64;
    if run.away_share > AWAY_MAX && !stalls {
        return Some(format!(
            "the host took the device's cores away for {:.2} % of the busy time, and the prediction \
             has no stalls (at most {} %)",
            100.0 * run.away_share,
            100.0 * AWAY_MAX
        ));
    }
    let most = loads.into_iter().flatten().find(|load| *load > cores)?;
    Some(format!("the load average was {most}, more than the {cores} cores"))
}

/// The figures of a run. One that ended early has other arrivals than were predicted; any other
/// difference of arrivals is a fault.
fn repetition_of(
    ran: &Ran,
    comparison: Result<Comparison, Error>,
    host: Host,
) -> Result<Repetition, Error> {
    let failed = ran.failed.as_ref().map(ToString::to_string);
    let invalid = failed.clone().or(ran.lateness.invalid());
    let actions = ran.side.actions.iter().flatten();
    let (mut busy, mut away, mut away_max_ns) = (0, 0, 0);
    for action in actions {
        busy += action.device_ns + action.away_ns;
        away += action.away_ns;
        away_max_ns = away_max_ns.max(action.away_ns);
    }
    let base = Repetition {
        invalid,
        failed,
        away_share: away as f64 / u64::max(busy, 1) as f64,
        away_max_ns,
        notes: ran.notes.clone(),
        retraced: ran.retraced.clone(),
        lateness: ran.lateness.clone(),
        controller_busy_per_request_ns: ran.controller_busy.ns() / ran.requests().max(1),
        load_average: host.load_average,
        device: ran.devices.first().cloned().unwrap_or_default(),
        card: ran.card.clone(),
        ..Repetition::default()
    };
    let c = match comparison {
        Ok(c) => c,
        Err(_) if base.invalid.is_some() => return Ok(base),
        Err(e) => return Err(e),
    };
    let tail = |ns: &[u64]| Quantiles::of(ns.to_vec());
    let on_time = c.errors.after_due.iter().filter(|late| **late <= ON_TIME.ns()).count();
    let batches = c.errors.after_due.len();
    Ok(Repetition {
        measured: c.measured,
        on_time_percent: (batches > 0).then(|| 100.0 * on_time as f64 / batches as f64),
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
    (campaign, point): (&Campaign, &Point),
    repetition: u32,
    prediction: &Prediction,
    predicted: &Side,
    ran: &Ran,
    effort: &Effort<'_>,
) -> Result<(), Error> {
    // It takes the place of an older one.
    let folder = Unfinished::begin(&store.run_path(point, repetition), true)?;
    let record = RunRecord {
        date: effort.date.clone(),
        command: effort.command.clone(),
        overhead: prediction.overhead,
        mode: campaign.file.mode,
        clock: campaign.clocks(),
        ..RunRecord::of(&point.scenario, point.policy.text(), point.scenario.seed)
    };
    let head = Head::of(&point.scenario, &prediction.setup, point.policy.to_string());
    record::write(&folder, &head, &predicted.records, ran, &record.with(ran))?;
    folder.finish()
}
