//! Simulations of a pool: one run, the verdict of several seeds, and the highest rate that a pool
//! carries.
//!
//! A run is a probe of the one search: as long as its verdict needs, at most the plan's requests where
//! that is enough; of a trace it is all. Seeds are replications, and all pools meet the same requests at
//! the same rate and seed.

use crate::input::problem::{Group, Problem};
use crate::input::simulation_cache::Simulated;
use crate::input::trace_step::{self, HashedArrivals, Load as Arriving};
use crate::search::runs::Runs;
use orrery_run::search::{
    self, Bracket, Doubt, Found, HELD, How, Load, Probe, REQUESTS_ENDLESS, Rule, Seen, Share, Stop,
    Terms, Watch, disturbed, worst,
};
use orrery_run::{PolicySpec, Setup, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::search::{capacity_per_s, longest_slo, subject};
use orrery_sim::core::DeviceChange;
use orrery_sim::request::DeviceId;
use orrery_sim::stats::{Interval, replications};
use orrery_sim::time::{Span, Time};
use orrery_sweep::goodput::Search;
use orrery_sweep::parts::go_on;
use rayon::prelude::*;
use std::sync::Arc;

/// After so many of the longest SLOs the queues of a loss are served, where they are ever.
const SETTLING_SLOS: u64 = 20;

/// Why a number of bad requests is not to be trusted: more of them were still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// The backlog grew.
    Backlog,
    /// The run was too short to see whether it does.
    Short,
}

impl Untrusted {
    /// As what follows `but`.
    pub fn words(self) -> &'static str {
        match self {
            Untrusted::Backlog => "its backlog grows, and more will be late",
            Untrusted::Short => "its runs were too short to see whether its backlog grows",
        }
    }

    /// What there is against a probe's number.
    fn of(probe: &Probe) -> Option<Untrusted> {
        match probe.doubt {
            _ if probe.diverging => Some(Untrusted::Backlog),
            Some(Doubt::TooLong | Doubt::Short) => Some(Untrusted::Short),
            _ => None,
        }
    }
}

/// A pool at a rate, over all seeds.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// The worst model's share of bad requests, by seed; empty where it was known as too small without a simulation.
    pub bad_by_seed: Vec<f64>,
    /// That of the worst model by all seeds together.
    pub bad_rate: f64,
    /// Its 95 % interval: over the seeds, and at least as wide as each run shows by itself.
    pub interval: Option<Interval>,
    /// The share of all requests that were good.
    pub good_share: f64,
    /// Why the numbers of some seed are not to be trusted; none where they are.
    pub untrusted: Option<Untrusted>,
    /// It does not come back from a burst.
    pub metastable: bool,
    /// It does not come back from the loss of a machine in mid-run.
    pub lost_for_good: bool,
    /// Of the first seed.
    pub seen: Seen,
}

impl Check {
    /// Whether the mean is within the target.
    pub fn meets(&self, target: f64) -> bool {
        self.bad_rate <= target && self.untrusted.is_none()
    }

    /// Whether all of the interval is, and stays so after a burst.
    pub fn is_sure(&self, target: f64) -> bool {
        let stays = !self.metastable && !self.lost_for_good;
        self.meets(target) && stays && self.interval.is_some_and(|i| i.high <= target)
    }

    /// Why a pool does not hold, or is not sure to, in spite of a share of bad requests within the target.
    pub fn in_spite(&self, target: f64) -> Option<&'static str> {
        (self.bad_rate <= target && !self.is_sure(target)).then(|| self.why_not_sure())
    }

    /// Why it is undecided whether a pool holds, and by about how many times as many requests that would be decided, if it
    /// is: its interval holds the target, or there is more against it than its share.
    pub fn undecided(&self, target: f64) -> Option<(&'static str, f64)> {
        let (low, high) = self.interval.map(|i| (i.low, i.high))?;
        let spans = low <= target && target < high;
        let is_open = spans || (self.bad_rate <= target && self.untrusted.is_some());
        let off = (self.bad_rate - target).abs().max(0.01 * target);
        let half = if self.bad_rate <= target { high - self.bad_rate } else { self.bad_rate - low };
        let why = match self.bad_rate <= target {
            true => self.why_not_sure(),
            false => "its interval reaches below the target",
        };
        is_open.then_some((why, (half / off) * (half / off)))
    }

    /// Why a pool whose mean is within the target is not sure.
    pub fn why_not_sure(&self) -> &'static str {
        if let Some(why) = self.untrusted {
            why.words()
        } else if self.metastable {
            "it does not recover from a burst (twice the load for one SLO, at most 5 s)"
        } else if self.lost_for_good {
            "it does not recover from the loss of a machine in mid-run"
        } else {
            "its interval reaches above the target"
        }
    }
}

/// The highest rate that a pool carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edge {
    /// By seed, in requests/s; 0 where none is carried.
    pub by_seed_per_s: Vec<f64>,
    /// Their mean.
    pub rate_per_s: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// A lower rate was not carried.
    pub not_monotone: bool,
    /// With 1.5 % less it does not recover from a burst.
    pub metastable: bool,
    /// The search gave up: any rate was carried.
    pub unbounded: bool,
    /// About how many requests of each model would decide it, where some seed's search is undecided.
    pub undecided: Option<u64>,
}

/// Where pools of a group are simulated.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// What is searched.
    pub problem: &'a Problem,
    /// The models and their load.
    pub group: &'a Group,
    /// Who schedules.
    pub policy: &'a PolicySpec,
    /// Of a trace whose own arrivals are simulated: in the step of this level. Rates are those that the peak's step has
    /// then.
    level: Option<usize>,
    /// Counts simulations.
    pub(crate) runs: &'a Runs<'a>,
}

impl<'a> Bench<'a> {
    /// A bench that counts its runs, at the day's peak.
    pub fn new(
        problem: &'a Problem,
        group: &'a Group,
        policy: &'a PolicySpec,
        runs: &'a Runs<'a>,
    ) -> Bench<'a> {
        let level = problem.day.own.as_ref().map(|_| 0);
        Bench { problem, group, policy, level, runs }
    }

    /// The same in the step of another level, where the own arrivals of a trace are simulated.
    pub fn at(&self, level: usize) -> Bench<'a> {
        Bench { level: self.level.map(|_| level), ..*self }
    }

    /// The level of the day that is simulated.
    pub fn level(&self) -> usize {
        self.level.unwrap_or(0)
    }

    /// The same in each step of the day that has a load, where the own arrivals of a trace are simulated; otherwise this.
    pub fn steps(&self) -> Vec<Bench<'a>> {
        let levels = &self.problem.day.levels;
        match self.level {
            None => vec![*self],
            Some(_) => (0..levels.len()).filter(|l| levels[*l] > 0.0).map(|l| self.at(l)).collect(),
        }
    }

    /// The rate to be asked about for the load of a level of the day.
    pub fn load_at(&self, level: usize) -> f64 {
        let share = if self.level.is_some() { 1.0 } else { self.problem.day.levels[level] };
        self.group.load_per_s * share
    }

    pub(crate) fn target(&self) -> f64 {
        self.problem.plan.target()
    }

    fn first_seed(&self) -> u64 {
        self.problem.plan.seed
    }

    /// Whether a pool carries a rate, with the first seed alone.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn holds(&self, counts: &[u32], rate_per_s: f64) -> Result<bool, SpecError> {
        Ok(self.probe(counts, rate_per_s)?.good)
    }

    /// Whether a pool carries a rate: what the first seed says for sure, or else what all seeds say together.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn carries(&self, counts: &[u32], rate_per_s: f64) -> Result<bool, SpecError> {
        let probe = self.probe(counts, rate_per_s)?;
        match probe.is_sure() {
            true => Ok(probe.good),
            false => Ok(self.check(counts, rate_per_s)?.meets(self.target())),
        }
    }

    /// Whether the first seed leaves it open that a pool carries a rate: all seeds together say more.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn may_hold(&self, counts: &[u32], rate_per_s: f64) -> Result<bool, SpecError> {
        let probe = self.probe(counts, rate_per_s)?;
        Ok(probe.good || !probe.is_sure())
    }

    /// Whether a pool that loses a machine of a kind in mid-run does not carry a rate from some time after that on,
    /// with the first seed. A trace is judged whole: its machines are not lost in it.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn is_lost(&self, counts: &[u32], kind: usize, rate_per_s: f64) -> Result<bool, SpecError> {
        if self.group.is_trace {
            return Ok(false);
        }
        let stop = (Stop::Clear, How::USUAL);
        let probe = self.run(counts, rate_per_s, self.first_seed(), stop, Some(kind))?.0;
        Ok(!probe.good && probe.is_sure())
    }

    /// The same, with what else the probe says.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn probe(&self, counts: &[u32], rate_per_s: f64) -> Result<Probe, SpecError> {
        let stop = (Stop::Clear, How::USUAL);
        Ok(self.run(counts, rate_per_s, self.first_seed(), stop, None)?.0)
    }

    /// A probe, and what else its run showed; of one kind a machine may be lost in mid-run.
    fn run(
        &self,
        counts: &[u32],
        rate_per_s: f64,
        seed: u64,
        (stop, how): (Stop, How),
        lost: Option<usize>,
    ) -> Result<(Probe, Seen), SpecError> {
        self.begins()?;
        let group = self.group;
        let mut scenario = group.scenario(self.problem, counts, rate_per_s)?;
        self.lift_limits(&mut scenario);
        let mut setup = scenario.setup(seed)?;
        let own = self.own_arrivals(&setup, counts, rate_per_s, seed)?;
        let from = Time::ZERO + Span::from_secs_f64(scenario.file.warm_up_s);
        let is_empty = own.as_ref().is_some_and(|own| own.all.iter().all(|a| a.at < from));
        if let Some(own) = &own {
            trace_step::put(&mut setup, own.all.clone());
        }
        let mut rule = self.rule(&scenario, (&setup, seed), rate_per_s, how)?;
        if stop != Stop::Clear {
            rule.stop = stop;
        }
        let types_of = types_of(self.problem, &scenario, &setup);
        if let Some(kind) = lost {
            let at = rule.warm_up + self.settles(&setup);
            // What was bought together is lost together.
            let together = self.problem.machine(kind, counts[kind]).0 as usize;
            let own = (0..types_of.len()).rev().filter(|device| types_of[*device] == kind);
            let fail = |device: usize| DeviceChange::Fail(DeviceId(device as u32));
            let at_once = own.take(together).map(|device| (Time::ZERO + at, fail(device)));
            setup.world.changes.extend(at_once);
            rule.warm_up = at + self.settles(&setup);
        }
        let watch = Watch::new(types_of, self.problem.sales.len(), group.models.len());
        if is_empty {
            // A step without a request of these models is carried by any machines.
            let probe = nothing(group.models.len());
            let seen = watch.seen(&probe);
            return Ok((probe, seen));
        }
        let simulated =
            self.simulate_once(&scenario, &setup, own.as_deref(), (seed, rule), Some(watch))?;
        Ok((simulated.probe, simulated.seen))
    }

    /// Simulates a setup of a scenario, with the trace's own arrivals if there are any, unless the cache has it. Without a
    /// watch the verdict is all that is seen.
    ///
    /// # Errors
    /// When it cannot be simulated.
    pub fn simulate_once(
        &self,
        scenario: &Scenario,
        setup: &Setup,
        own: Option<&HashedArrivals>,
        (seed, rule): (u64, Rule),
        watch: Option<Watch>,
    ) -> Result<Simulated, SpecError> {
        let more = format!("{seed} {rule:?} {watch:?} {:?}", setup.world.changes);
        let more = [self.policy.text(), &more, own.map_or("", |own| &own.sha256)];
        self.problem.plan.cache.once(scenario, &more, || {
            let Some(watch) = watch else {
                let probe = search::probe(setup, self.policy, seed, rule)?;
                return Ok(Simulated { probe, seen: Seen::default() });
            };
            let (probe, watch) = search::watched(setup, self.policy, seed, rule, watch)?;
            let seen = watch.seen(&probe);
            Ok(Simulated { probe, seen })
        })
    }

    /// One more simulation begins.
    ///
    /// # Errors
    /// When whoever waits for the answer does not any more.
    pub fn begins(&self) -> Result<(), SpecError> {
        go_on()?;
        self.runs.made();
        if let Some(watcher) = &self.problem.plan.watcher {
            let (done, of) = self.runs.done_of();
            (watcher.tell)(done, of.max(done));
            watcher.go_on()?;
        }
        Ok(())
    }

    /// So many more simulations are expected.
    pub fn expect(&self, more: u64) {
        self.runs.expect(more);
    }

    /// What is simulated ends by its verdict, or with the window of its step; only a whole trace has limits of its own.
    fn lift_limits(&self, scenario: &mut Scenario) {
        let Some(arrivals) = &mut scenario.file.arrivals else { return };
        if !arrivals.is_finite() {
            arrivals.requests = Some(REQUESTS_ENDLESS);
        } else if self.level.is_some() {
            (arrivals.requests, arrivals.duration_s) = (None, None);
        }
    }

    /// Where a pool's requests come from at a rate: what its own scenario says, or its part of the trace of all models.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn loads<'s>(
        &self,
        own: &'s Setup,
        rate_per_s: f64,
        seed: u64,
    ) -> Result<Vec<Arriving<'s>>, SpecError> {
        match &self.problem.trace {
            None => Ok(vec![Arriving::whole(own)]),
            Some(trace) => self.group.loads(trace, rate_per_s / self.group.load_per_s, seed),
        }
    }

    /// The mean rate of the trace at a rate of the pool's peak.
    pub fn mean_per_s(&self, rate_per_s: f64) -> f64 {
        match &self.problem.trace {
            None => self.problem.day.mean_per_s(rate_per_s),
            Some(trace) => trace.mean_per_s(rate_per_s / self.group.load_per_s),
        }
    }

    /// The trace's own arrivals in the step of this level, where they are simulated.
    fn own_arrivals(
        &self,
        setup: &Setup,
        counts: &[u32],
        rate_per_s: f64,
        seed: u64,
    ) -> Result<Option<Arc<HashedArrivals>>, SpecError> {
        let place = self.level.and_then(|level| {
            let own = self.problem.day.own.as_ref()?;
            Some((own, *own.of_level.get(level)?))
        });
        let Some((own, step)) = place else { return Ok(None) };
        let models = self.group.models.len() as u64;
        let least = self.problem.plan.requests_per_model.saturating_mul(models);
        let kinds = counts.iter().map(|n| *n > 0).collect();
        let read = || {
            let loads = self.loads(setup, rate_per_s, seed)?;
            own.arrivals(&loads, step, (self.mean_per_s(rate_per_s), least), seed)
        };
        self.group.steps.once((kinds, step, rate_per_s.to_bits(), seed), read).map(Some)
    }

    /// The highest mean rate that the pool's own requests have in some levels of the day, with the first seed; where they
    /// are not counted from a trace of all models, that of the load.
    ///
    /// # Errors
    /// When the trace cannot be read.
    pub fn busiest_per_s(&self, levels: &[usize]) -> Result<f64, SpecError> {
        let day = &self.problem.day;
        let mut most = 0.0_f64;
        let (Some(own), Some(trace)) = (&day.own, &self.problem.trace) else {
            levels.iter().for_each(|level| most = most.max(day.levels[*level]));
            return Ok(self.group.load_per_s * most);
        };
        let loads = self.group.loads(trace, 1.0, self.first_seed())?;
        for level in levels {
            let window = own.window(own.of_level[*level], trace.mean_per_s(1.0));
            let all = trace_step::between(&loads, self.first_seed(), window)?;
            most = most.max(all.len() as f64 / window.1.since(window.0).as_secs_f64());
        }
        Ok(most)
    }

    /// How long a pool is left alone before and after it loses a machine.
    pub fn settles(&self, setup: &Setup) -> Span {
        disturbed(longest_slo(setup)) * SETTLING_SLOS
            + self.policy.epoch().unwrap_or(Span::ZERO) * 2
    }

    fn rule(
        &self,
        scenario: &Scenario,
        (setup, seed): (&Setup, u64),
        rate_per_s: f64,
        how: How,
    ) -> Result<Rule, SpecError> {
        let group = self.group;
        let warm_up = Span::from_secs_f64(scenario.file.warm_up_s);
        let load = if group.is_trace && scenario.file.closed_loop.is_some() {
            // How many the clients will send is not known.
            Load::Finite { bad_max: Vec::new() }
        } else if group.is_trace {
            // Counted anew at each rate: a list that is faster has as many requests at any.
            let all = trace_step::each(setup, seed)?;
            let counts = trace_step::counted(all, Time::ZERO + warm_up, group.models.len());
            Load::Finite { bad_max: counts.into_iter().map(|n| n * self.target()).collect() }
        } else {
            let shares = Some(group.expected.as_slice());
            let capacity_per_s = capacity_per_s(scenario, setup, Some(self.policy), shares);
            Load::Steady { rate_per_s, capacity_per_s }
        };
        Ok(self.terms().rule(subject(scenario, setup, self.policy, load), how))
    }

    /// What is asked of a load: as `orrery goodput` asks it.
    fn terms(&self) -> Terms {
        let plan = &self.problem.plan;
        Search {
            target: plan.target(),
            tolerance: plan.precision,
            requests_per_model: plan.requests_per_model,
            ..Search::default()
        }
        .terms()
    }

    /// A pool at a rate, over all seeds.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn check(&self, counts: &[u32], rate_per_s: f64) -> Result<Check, SpecError> {
        let stop = (Stop::AtEnd, How::USUAL);
        let one = |seed: &u64| self.run(counts, rate_per_s, *seed, stop, None);
        let seeds = self.problem.seeds();
        let all: Vec<(Probe, Seen)> =
            seeds.par_iter().map(one).collect::<Result<_, SpecError>>()?;
        let bad_by_seed: Vec<f64> = all.iter().map(|(_, s)| s.bad_rate).collect();
        let n = all.len() as f64;
        let probes: Vec<&Probe> = all.iter().map(|(p, _)| p).collect();
        let bad_rate = bad_rate(&probes, !self.group.is_trace);
        Ok(Check {
            bad_rate,
            interval: replications(&bad_by_seed).map(|i| wide_enough(i, bad_rate, &probes)),
            good_share: all.iter().map(|(_, s)| s.good_share).sum::<f64>() / n,
            metastable: self.is_metastable(counts, rate_per_s)?,
            lost_for_good: false,
            untrusted: all.iter().find_map(|(p, _)| Untrusted::of(p)),
            seen: all.into_iter().next().map(|(_, seen)| seen).unwrap_or_default(),
            bad_by_seed,
        })
    }

    /// Whether a pool does not come back from a burst at a little less than a rate; where machines may be lost,
    /// at the rate itself: that is a burst that does not end.
    fn is_metastable(&self, counts: &[u32], rate_per_s: f64) -> Result<bool, SpecError> {
        if self.group.is_trace {
            return Ok(false);
        }
        let rate_per_s =
            if self.problem.plan.may_lose_of(counts) { rate_per_s } else { rate_per_s * HELD };
        let how = How { burst: true, ..How::USUAL };
        let stop = (Stop::Clear, how);
        let probe = self.run(counts, rate_per_s, self.first_seed(), stop, None)?.0;
        Ok(!probe.good && probe.is_sure())
    }

    /// A pool at a rate with the first seed, whatever becomes of it, and why its numbers are not to be trusted.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn seen(
        &self,
        counts: &[u32],
        rate_per_s: f64,
    ) -> Result<(Seen, Option<Untrusted>), SpecError> {
        let stop = (Stop::AtEnd, How::USUAL);
        let (probe, seen) = self.run(counts, rate_per_s, self.first_seed(), stop, None)?;
        Ok((seen, Untrusted::of(&probe)))
    }

    /// The highest rate with a seed, by the search of `orrery goodput`, from the same place; or from a hint, and without a
    /// look around.
    fn search(
        &self,
        counts: &[u32],
        seed: u64,
        (hint, is_glance): (Option<f64>, bool),
    ) -> Result<Found, SpecError> {
        let load_per_s = self.group.load_per_s;
        let scenario = self.group.scenario(self.problem, counts, load_per_s)?;
        let is_trace = self.group.is_trace;
        let capacity = if is_trace {
            None
        } else {
            capacity_per_s(&scenario, &scenario.setup(seed)?, Some(self.policy), None)
        };
        let search = Bracket::new(&self.terms(), load_per_s, capacity, is_trace);
        let search = match hint {
            None => search,
            Some(hint) => search.from_hint(hint),
        };
        let glance = is_glance && !is_trace;
        let how = |how: How| How { glance: how.glance || glance, ..how };
        search.highest(|rate, of| Ok(self.run(counts, rate, seed, (Stop::Clear, how(of)), None)?.0))
    }

    /// The same as [`Bench::highest`] by short probes: to see which of many pools may be among the best.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn roughly(&self, counts: &[u32], from_per_s: f64) -> Result<f64, SpecError> {
        let found = self.search(counts, self.first_seed(), (Some(from_per_s), true))?;
        Ok(found.value.or(found.good_up_to).unwrap_or(0.0))
    }

    /// The highest rate that a pool carries with the first seed, looked for from a rate on; 0 where none
    /// is carried.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn highest(&self, counts: &[u32], from_per_s: f64) -> Result<f64, SpecError> {
        let found = self.search(counts, self.first_seed(), (Some(from_per_s), false))?;
        Ok(found.value.or(found.good_up_to).unwrap_or(0.0))
    }

    /// The highest rate with each seed.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn edge(&self, counts: &[u32]) -> Result<Edge, SpecError> {
        let seeds = self.problem.seeds();
        let of = |seed: &u64| self.search(counts, *seed, (None, false));
        let found: Vec<Found> = seeds.par_iter().map(of).collect::<Result<_, _>>()?;
        let rate = |f: &Found| f.value.or(f.good_up_to).unwrap_or(0.0);
        let by_seed_per_s: Vec<f64> = found.iter().map(rate).collect();
        let within: Vec<Option<(f64, f64)>> = found.iter().map(|f| f.within).collect();
        // Seeds that agree do not show how far they may be off.
        let interval = search::interval(&by_seed_per_s, &within).filter(|i| i.width() > 0.0);
        let open = found.len() == 1 || search::are_undecided(interval, self.terms().tolerance);
        Ok(Edge {
            rate_per_s: by_seed_per_s.iter().sum::<f64>() / by_seed_per_s.len() as f64,
            interval,
            not_monotone: found.iter().any(|f| f.worse_below.is_some()),
            metastable: found.iter().any(|f| f.metastable.is_some()),
            unbounded: found.iter().any(|f| f.good_up_to.is_some()),
            undecided: found.iter().filter_map(|f| f.undecided).max().filter(|_| open),
            by_seed_per_s,
        })
    }
}

/// Of which of the plan's types each device is.
pub fn types_of(problem: &Problem, scenario: &Scenario, setup: &Setup) -> Vec<usize> {
    let types = &problem.plan.instance;
    let kinds = scenario.file.device.iter();
    let kinds: Vec<usize> =
        kinds.map(|d| types.iter().position(|t| t.kind == d.kind).unwrap_or(0)).collect();
    setup.world.core.devices.iter().map(|device| kinds[device.kind as usize]).collect()
}

/// What is said of a run without requests.
fn nothing(models: usize) -> Probe {
    Probe {
        good: true,
        shares: vec![Share::default(); models],
        good_share: 1.0,
        ..Probe::default()
    }
}

/// Each model's share of bad requests in all runs together.
fn by_model<'a>(probes: &'a [&Probe]) -> impl Iterator<Item = Share> + 'a {
    let models = probes.first().map_or(0, |p| p.shares.len());
    (0..models).map(move |m| Share::mean(probes.iter().map(move |p| p.shares[m])))
}

/// The worst model's share of bad requests: of all runs together, but of traces, which are judged whole, the mean
/// of the worst in each.
fn bad_rate(probes: &[&Probe], by_chance: bool) -> f64 {
    let mean = |of: &dyn Fn(&Probe) -> f64| {
        probes.iter().map(|p| of(p)).sum::<f64>() / probes.len() as f64
    };
    let shares: Vec<Share> = by_model(probes).collect();
    if shares.len() < 2 || !by_chance {
        return mean(&|p| p.bad_rate);
    }
    worst(&shares, mean(&|p| 1.0 - p.good_share), true).1
}

/// An interval over seeds, with what each model's runs show themselves: two seeds may agree by chance, and of
/// several models each has to be below the target.
fn wide_enough(interval: Interval, mean: f64, probes: &[&Probe]) -> Interval {
    let ends: Vec<(f64, f64)> = by_model(probes).map(|s| s.ends()).collect();
    let highest = ends.iter().map(|e| e.1).fold(mean, f64::max);
    let lowest = ends.iter().map(|e| e.0).fold(0.0, f64::max);
    let (low, high) = (interval.low.min(lowest).min(mean), interval.high.max(highest));
    Interval { mean, low, high }.within(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::file::PlanFile;

    /// A plan with an SLO of a minute is made of runs that are not as much longer as its SLO.
    #[test]
    fn a_burst_and_a_loss_do_not_last_longer_for_a_longer_slo() {
        let of = |slo_ms: u32| {
            let text = format!(
                "pools = \"homogeneous\"\ngoal = \"carry-load\"\npolicies = [\"clockwork\"]\n\
                 [[instance]]\nkind = \"k\"\nprice_usd_per_hour = 1.0\ncount_max = 9\n\
                 [scenario]\narrivals = {{ poisson = {{ rate_per_s = 200.0 }} }}\n\
                 [[scenario.model]]\nname = \"m\"\nslo_ms = {slo_ms}.0\n\
                 latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 5.0 }} }}\n\
                 [[scenario.app]]\nname = \"a\"\nmodel = \"m\"\n"
            );
            let (plan, source) = PlanFile::from_text("plan.toml", &text).unwrap();
            let (problem, runs) = (Problem::new(&plan, &source).unwrap(), Runs::new(None));
            let bench = Bench::new(&problem, &problem.groups[0], &problem.policies[0], &runs);
            let stop = (Stop::Clear, How { burst: true, ..How::USUAL });
            let probe = bench.run(&[3], 200.0, 1, stop, None).unwrap().0;
            let setup = bench.group.scenario(&problem, &[3], 200.0).unwrap().setup(1).unwrap();
            assert!(probe.good && probe.is_sure(), "{probe:?}");
            (probe.requests, bench.settles(&setup))
        };
        let [short, seconds, minute] = [60, 5_000, 60_000].map(of);
        assert!(short.0 < seconds.0 && short.1 < seconds.1, "short ones as before");
        assert!(minute.0 < 2 * seconds.0, "{} and {} requests", minute.0, seconds.0);
        assert_eq!(minute.1, seconds.1);
    }
}
