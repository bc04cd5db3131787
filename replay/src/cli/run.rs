//! `orrery-replay run`.

use super::interrupt;
use super::shared::{Answer, ClockArgs, DeviceArgs, check_profile};
use crate::compare::{Comparison, Side, read_log_file, report, same_workload};
use crate::device::worker::stop_preparing;
use crate::driver::Options;
use crate::driver::planned::Plan;
use crate::error::Error;
use crate::folder::{Unfinished, sha256};
use crate::host;
use crate::prediction::{ModeName, OverheadAs, Prediction, check_mode, of_kind};
use crate::profile::{Clocks, ProfileFile};
use crate::record::{self, Head, RunRecord};
use crate::runner::{self, Mode, Ran};
use crate::target::Choice;
use crate::threads::Placement;
use crate::validate::{Limits, beyond, limits};
use clap::Args;
use orrery_report::say;
use orrery_run::PolicySpec;
use orrery_scenario::{Scenario, read_text};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::log::Record;
use orrery_sim::request::{ActionId, Request, RequestId, SourceId};
use orrery_sim::time::Span;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// `orrery-replay run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  orrery-replay run scenarios/one-gpu-bert.toml --policy orloj --out run
  orrery-replay run scenarios/one-gpu-bert.toml --mode schedule --schedule orloj.log --out run")]
pub struct Run {
    /// The scenario.
    scenario: PathBuf,
    /// The policy; optional if the scenario has only one.
    #[arg(long)]
    policy: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    /// Who decides about batches.
    #[arg(long, value_enum, default_value = "live")]
    mode: ModeName,
    /// The log to follow.
    #[arg(long, value_name = "LOG", required_if_eq("mode", "schedule"))]
    schedule: Option<PathBuf>,
    /// A profile of the device from `orrery-replay profile`, one for each kind of device; by default the
    /// scenario's own latencies.
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,
    /// Use a profile that is not fit to predict with, or of another device or clock; the result says so.
    #[arg(long)]
    any_profile: bool,
    /// How the prediction includes the profile's launch and result overheads.
    #[arg(long, value_enum, default_value_t = OverheadAs::Busy)]
    overhead: OverheadAs,
    /// Seed of the workload; by default the scenario's.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    clock: ClockArgs,
    #[command(flatten)]
    placement: Placement,
    /// Declare a run invalid if more than 1 % of its arrivals, decisions or launches are later than this.
    #[arg(long, value_name = "MS", default_value_t = 1.0)]
    max_lateness_ms: f64,
    /// The folder to write.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Overwrite an existing folder.
    #[arg(long)]
    force: bool,
}

impl Run {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        self.check_options()?;
        let scenario = Scenario::load(&self.scenario)?;
        check_mode(self.mode, &scenario)?;
        scenario.notes().iter().for_each(|note| say(note));
        let seed = self.seed.unwrap_or(scenario.seed);
        let profiles = self.profile.iter().map(|file| ProfileFile::read(file));
        let profiles = profiles.collect::<Result<Vec<_>, _>>()?;
        let prediction = Prediction::of(&scenario, seed, &profiles, self.overhead)?;
        let choice = self.device.choice()?;
        let choice = profiles.iter().fold(choice, |choice, profile| choice.as_profiled(profile));
        let (limits, mut notes) = self.look(&scenario, &choice, &profiles)?;
        if profiles.is_empty() && self.mode == ModeName::Schedule {
            let what = "no `--profile`: the plan is by the scenario's own latency models, not by this device's";
            notes.push(what.to_string());
        }
        let folder = Unfinished::begin(&self.out, self.force)?;
        interrupt::catch("stopping with what was measured", stop_preparing);
        let run = runner::Run {
            scenario: &scenario,
            prediction: &prediction,
            seed,
            noise: 0,
            device: &choice,
            clocks: self.clock.clocks(),
            options: self.options()?,
        };
        let warm_up = prediction.setup.window.from.ns();
        let (policy, predicted, naive, ran) = match self.mode {
            ModeName::Live => {
                let policy = self.policy(&scenario)?;
                if let Some(beyond) = beyond(&prediction.setup, &policy, &limits) {
                    let [found, allowed, remedy] = beyond.told(&policy, &scenario.model_names());
                    return Err(Error::value("--policy", found, allowed, remedy));
                }
                let predicted = prediction.simulate(Mode::Live(&policy), seed, 0)?;
                say(&format!("running {policy} on {}", choice.target));
                let ran = runner::run(&run, Mode::Live(&policy))?;
                let naive = prediction.naive(&policy, seed)?;
                (policy.to_string(), predicted, Some(naive), ran)
            }
            ModeName::Schedule => {
                let (policy, predicted) = self.scheduled(&prediction, seed)?;
                let plan = Plan::from_records(&predicted);
                check_plan(&plan, &limits, &scenario, &prediction.world.core.devices)?;
                say(&format!("following a {policy} on {}", choice.target));
                let ran = runner::run(&run, Mode::Schedule(&plan))?;
                (policy, predicted, None, ran)
            }
        };
        let record = self.record(&scenario, &policy, seed)?;
        let record = RunRecord { naive, notes, ..record }.with(&ran);
        let head = Head::of(&scenario, &prediction.setup, policy);
        if let Err(error) = record::write(&folder, &head, &predicted, &ran, &record) {
            let kept = folder.keep();
            say(&format!("what could be written is in {}", kept.display()));
            return Err(error);
        }
        folder.finish()?;
        say(&format!("wrote {}", self.out.display()));
        self.answer_of(&Side::of(predicted, None, warm_up), &ran, &record)
    }

    /// Opens every device once, to see that it is there and the one of its profile: how large its batches may be, and
    /// what speaks against the profiles where any will do.
    fn look(
        &self,
        scenario: &Scenario,
        choice: &Choice,
        profiles: &[ProfileFile],
    ) -> Result<(Limits, Vec<String>), Error> {
        let (mut most, mut notes) = (Limits::new(), BTreeSet::new());
        let devices = scenario.file.device.iter();
        let devices = devices.flat_map(|d| std::iter::repeat_n(&d.kind, d.count as usize));
        for (n, kind) in devices.enumerate() {
            let device = choice.nth(n, scenario).open(scenario, 0)?;
            most = limits(device.as_ref(), scenario);
            if !profiles.is_empty() {
                let profile = of_kind(profiles, kind, scenario)?;
                let clocks = self.clock.clocks();
                notes.extend(check_profile(profile, clocks, &device.describe(), self.any_profile)?);
            }
        }
        Ok((most, notes.into_iter().collect()))
    }

    fn answer_of(&self, predicted: &Side, ran: &Ran, record: &RunRecord) -> Result<Answer, Error> {
        let mut text = String::new();
        // A run that a device ended has fewer arrivals than were predicted.
        if ran.failed.is_none() {
            let compared = Comparison::of(predicted, &ran.side, true)?;
            text += &report(&Comparison { naive: record.naive.clone(), ..compared });
        }
        text += &ran.retraced.line();
        let l = &record.lateness;
        for (what, q) in
            [("arrivals", l.arrivals), ("decisions", l.decisions), ("launches", l.launches)]
        {
            let us = |ns: u64| ns as f64 / 1e3;
            let (p50, p99, max) = (us(q.p50_ns), us(q.p99_ns), us(q.max_ns));
            text += &format!(
                "lateness of {what:<22} {:>8} {p50:>12.3} {p99:>12.3} {max:>12.3}  us\n",
                q.count
            );
        }
        let busy = record.controller_busy_per_request_ns as f64 / 1e3;
        text += &format!("the controller worked {busy:.3} us for each request\n");
        for note in &record.notes {
            text += &format!("note: {note}\n");
        }
        if let Some(why) = record.invalid() {
            text += &format!("INVALID: {why}\n");
        }
        Ok(Answer { text, passed: record.invalid().is_none() })
    }

    /// Refuses an option that the mode would ignore.
    fn check_options(&self) -> Result<(), Error> {
        let (option, is_given, [mode, reads_it]) = match self.mode {
            ModeName::Live => ("--schedule", self.schedule.is_some(), ["live", "schedule"]),
            ModeName::Schedule => ("--policy", self.policy.is_some(), ["schedule", "live"]),
        };
        if !is_given {
            return Ok(());
        }
        let (found, allowed) = (format!("`--mode {mode}`"), format!("`--mode {reads_it}` with it"));
        Err(Error::value(option, found, allowed, "leave it out, or change the mode"))
    }

    fn options(&self) -> Result<Options, Error> {
        if !(self.max_lateness_ms > 0.0 && self.max_lateness_ms <= 1e6) {
            let allowed = "a time above 0 ms";
            let found = self.max_lateness_ms;
            return Err(Error::value("--max-lateness-ms", found, allowed, "change it"));
        }
        Ok(Options {
            placement: self.placement,
            max_lateness: Span::from_ms_f64(self.max_lateness_ms),
            // A virtual clock does not wait.
            stop: matches!(self.clock.clocks(), Clocks::Wall(_)).then_some(interrupt::is_asked),
            ..Options::default()
        })
    }

    fn policy(&self, scenario: &Scenario) -> Result<PolicySpec, Error> {
        if let Some(name) = &self.policy {
            return Ok(PolicySpec::parse(name)?);
        }
        let mut policies = scenario.policies()?;
        if let (Some(one), 1) = (policies.pop(), scenario.file.policies.len()) {
            return Ok(one);
        }
        let (found, allowed) = ("none, and the scenario has several", "one policy");
        Err(Error::value("--policy", found, allowed, "choose one of the scenario's"))
    }

    /// The schedule to follow. It must be one of this scenario's workload.
    fn scheduled(
        &self,
        prediction: &Prediction,
        seed: u64,
    ) -> Result<(String, Vec<Record>), Error> {
        let file = self.schedule.clone().unwrap_or_default();
        let (names, records) = read_log_file(&file)?;
        let ours = Side { file: self.scenario.clone(), ..workload(prediction, seed)? };
        let theirs = Side { file, ..Side::of(records, None, 0) };
        same_workload(&ours, &theirs)?;
        Ok((format!("schedule of {}", names.policy), theirs.records))
    }

    fn record(&self, scenario: &Scenario, policy: &str, seed: u64) -> Result<RunRecord, Error> {
        let profiles = self.profile.iter().map(read_text);
        let profiles = profiles.collect::<Result<Vec<String>, _>>()?;
        Ok(RunRecord {
            mode: self.mode,
            overhead: self.overhead,
            profile_sha256: (!profiles.is_empty()).then(|| sha256(profiles.concat())),
            clock: self.clock.clocks(),
            date: host::today(),
            command: host::command(),
            ..RunRecord::of(scenario, policy, seed)
        })
    }
}

/// Refuses a plan with a batch for which there is no device or lane, or that the device cannot take.
fn check_plan(
    plan: &Plan,
    limits: &Limits,
    scenario: &Scenario,
    devices: &[DeviceSpec],
) -> Result<(), Error> {
    if let Some((ActionId(action), device, lane)) = plan.misplaced(devices) {
        let found = format!("batch {action} of the plan, on lane {lane} of {device}");
        let allowed = "the devices and lanes of the scenario";
        let remedy = "follow a log of this very scenario";
        return Err(Error::value("--schedule", found, allowed, remedy));
    }
    if let Some((ActionId(action), units, model, limit)) = plan.beyond(limits) {
        let name = &scenario.model_names()[model.index()];
        let found = format!("batch {action} of the plan, with {units} items of `{name}`");
        let allowed = format!("batches of at most {limit}: `max_batch` of `{name}` on the device");
        let remedy = "raise `max_batch` in the device's configuration, or make the plan with \
                      `max_batch` of the policy";
        return Err(Error::value("--schedule", found, allowed, remedy));
    }
    Ok(())
}

/// The arrivals of an open-loop workload, as records, with ids in the order of arrival.
fn workload(prediction: &Prediction, seed: u64) -> Result<Side, Error> {
    let mut sources = prediction.setup.sources(seed)?;
    if sources.iter().any(|s| s.is_closed_loop()) {
        let (found, allowed) = ("clients that react to replies", "an open-loop workload");
        return Err(Error::value("--mode", found, allowed, "use `--mode live`"));
    }
    let (mut records, mut id) = (Vec::new(), 0);
    loop {
        let nexts = sources.iter_mut().enumerate().filter_map(|(i, s)| Some((s.peek()?, i)));
        let Some((_, i)) = nexts.min() else { break };
        let Some(a) = sources[i].pop() else { break };
        let request = Request {
            id: RequestId(id),
            app: a.app,
            model: a.model,
            size: a.size,
            source: SourceId(i as u32),
            arrival: a.at,
            deadline: a.at + a.slo,
        };
        records.push(Record::Arrive { time: a.at, request });
        id += 1;
    }
    Ok(Side::of(records, None, 0))
}
