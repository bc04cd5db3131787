//! The change-over from one size of a pool to the next: what becomes of the requests while machines come and go.
//!
//! ```text
//!  load      of a step ──────────┐ of the next ─────────
//!  machines  as many ────────────┤ as the next has ─────   the new ones are up when their step begins, those that go
//!            settles, not judged │ judged                  finish what they have
//! ```
//!
//! A new machine has no weights in its memory where the scenario counts pages. It is not simulated how it starts.

use crate::input::day::Machines;
use crate::input::trace_step::{HashedArrivals, Load as Arriving, between, later, put};
use crate::search::size::Sized;
use crate::search::trial::{Bench, Check, types_of};
use crate::search::variants::{Tried, Variant};
use orrery_run::search::{Criterion, Load, REQUESTS_ENDLESS, Rule, Seen, Stop};
use orrery_run::{Setup, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::search::longest_slo;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::DeviceChange;
use orrery_sim::request::{Arrival, DeviceId};
use orrery_sim::stats;
use orrery_sim::time::{Span, Time};
use rayon::prelude::*;

/// A step of the day with its machines.
#[derive(Clone, Copy)]
struct Part<'a> {
    step: usize,
    level: usize,
    counts: &'a [u32],
}

impl Part<'_> {
    fn is_empty(&self) -> bool {
        self.counts.iter().all(|n| *n == 0)
    }
}

/// Each change of the size of a pool over the day, once, with the size of each level; none of a day with one size, or
/// where no request has an SLO.
///
/// # Errors
/// When a change cannot be simulated.
pub fn change_over(bench: &Bench<'_>, sizes: &[Sized]) -> Result<Vec<Tried>, SpecError> {
    let day = &bench.problem.day;
    // A trace that is simulated whole at each level has no step.
    let has_steps = day.follows() && (day.own.is_some() || !bench.group.is_trace);
    if !has_steps {
        return Ok(Vec::new());
    }
    let part = |step: usize| {
        let level = day.steps[step].level;
        Part { step, level, counts: &sizes[level].counts }
    };
    let mut all: Vec<(Part<'_>, Part<'_>)> = Vec::new();
    for to in 0..day.steps.len() {
        let before = (to + day.steps.len() - 1) % day.steps.len();
        let (from, to) = (part(before), part(to));
        let alike = |(a, b): &(Part<'_>, Part<'_>)| (a.level, b.level) == (from.level, to.level);
        let is_known = day.own.is_none() && all.iter().any(alike);
        if from.counts != to.counts && !to.is_empty() && day.levels[to.level] > 0.0 && !is_known {
            all.push((from, to));
        }
    }
    let seeds = bench.problem.seeds();
    bench.expect((all.len() * seeds.len()) as u64);
    let of = |(from, to): &(Part<'_>, Part<'_>)| changed(bench, (*from, *to), &seeds);
    let found: Vec<Option<Tried>> =
        all.par_iter().with_max_len(1).map(of).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// One change, with all seeds; none where no request has an SLO: a change is as long as some of them.
fn changed(
    bench: &Bench<'_>,
    (from, to): (Part<'_>, Part<'_>),
    seeds: &[u64],
) -> Result<Option<Tried>, SpecError> {
    let (mut bad, mut seen) = (Vec::new(), Seen::default());
    for seed in seeds {
        let Some(over) = set_up(bench, (from, to), *seed)? else { return Ok(None) };
        seen.requests += over.judged;
        if over.judged > 0 {
            bad.push(bad_rate(bench, &over, *seed)?);
        }
    }
    let at_ms = bench.problem.day.steps[to.step].from_ms;
    let changed = |bad_rate: f64| Tried {
        variant: Variant::Transition { at_ms, from: from.counts.to_vec() },
        group: bench.group.name.clone(),
        counts: to.counts.to_vec(),
        check: Ok(Check { bad_rate, bad_by_seed: bad.clone(), seen, ..Check::default() }),
        next: None,
    };
    Ok(stats::mean(&bad).map(changed))
}

/// A run over a scaling transition.
struct Transition {
    scenario: Scenario,
    setup: Setup,
    own: HashedArrivals,
    /// How long the queues settle before the transition.
    settles: Span,
    /// How many requests are judged.
    judged: u64,
}

fn set_up(
    bench: &Bench<'_>,
    (from, to): (Part<'_>, Part<'_>),
    seed: u64,
) -> Result<Option<Transition>, SpecError> {
    // Where there was no machine before, all are new.
    let first = if from.is_empty() { to } else { from };
    // Of each type what either has, so that the setup knows it.
    let both = first.counts.to_vec().together(&to.counts.to_vec());
    let scenario = scenario_at(bench, (&both, to.level))?;
    let mut setup = scenario.setup(seed)?;
    if longest_slo(&setup) == Span::MAX {
        return Ok(None);
    }
    let mut lasts = bench.settles(&setup);
    let day = &bench.problem.day;
    let mean_per_s = bench.mean_per_s(bench.load_at(to.level));
    let step = day.own.as_ref().map(|own| own.window(0, mean_per_s));
    lasts = step.map_or(lasts, |(begin, end)| lasts.min(end.since(begin)));
    let before = match from.is_empty() || day.levels[from.level] == 0.0 {
        true => Vec::new(),
        false => arrivals(bench, (from, lasts, true), seed)?,
    };
    let settles = if from.is_empty() { Span::ZERO } else { lasts };
    let after = arrivals(bench, (to, lasts, false), seed)?;
    let judged = after.len() as u64;
    let own = HashedArrivals::new(before.into_iter().chain(later(after, settles)).collect());
    put(&mut setup, own.all.clone());
    let types = types_of(bench.problem, &scenario, &setup);
    let devices = &mut setup.world.core.devices;
    let changes = exchange(devices, &types, (first.counts, to.counts));
    let at = Time::ZERO + settles;
    setup.world.changes.extend(changes.into_iter().map(|change| (at, change)));
    Ok(Some(Transition { scenario, setup, own, settles, judged }))
}

/// The worst model's share of bad requests, of those after it settled.
fn bad_rate(bench: &Bench<'_>, over: &Transition, seed: u64) -> Result<f64, SpecError> {
    let plan = &bench.problem.plan;
    bench.begins()?;
    let rule = Rule {
        criterion: Criterion::BadRate,
        target: plan.target(),
        tolerance: plan.precision,
        requests_per_model: plan.requests_per_model,
        warm_up: over.settles,
        least: Span::ZERO,
        exactly: None,
        stop: Stop::AtEnd,
        load: Load::Finite { bad_max: Vec::new() },
        moves: None,
        by_flow: false,
    };
    let Transition { scenario, setup, own, .. } = over;
    Ok(bench.simulate_once(scenario, setup, Some(own), (seed, rule), None)?.probe.bad_rate)
}

/// Of devices, as many of each type as there are at some time, leaves those that are there at first; and what comes and
/// goes then.
fn exchange(
    devices: &mut Vec<DeviceSpec>,
    types: &[usize],
    (first, then): (&[u32], &[u32]),
) -> Vec<DeviceChange> {
    let (mut kept, mut added, mut drained) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = vec![0; first.len()];
    for (device, kind) in devices.drain(..).zip(types) {
        let n = seen[*kind];
        seen[*kind] += 1;
        if n >= first[*kind] {
            added.push(DeviceChange::Added(device));
            continue;
        }
        if n >= then[*kind] {
            drained.push(DeviceChange::Drain(DeviceId(kept.len() as u32)));
        }
        kept.push(device);
    }
    *devices = kept;
    // Of one type the last ones go first.
    added.into_iter().chain(drained.into_iter().rev()).collect()
}

/// These machines at the load of a level.
fn scenario_at(bench: &Bench<'_>, (counts, level): (&[u32], usize)) -> Result<Scenario, SpecError> {
    let (problem, group) = (bench.problem, bench.group);
    let mut scenario = group.scenario(problem, counts, bench.load_at(level))?;
    if let Some(arrivals) = &mut scenario.file.arrivals {
        arrivals.requests = (!arrivals.is_finite()).then_some(REQUESTS_ENDLESS);
        arrivals.duration_s = None;
    }
    Ok(scenario)
}

/// The arrivals of so much of a step, at its end or at its begin, counted from the first.
fn arrivals(
    bench: &Bench<'_>,
    (part, length, is_end): (Part<'_>, Span, bool),
    seed: u64,
) -> Result<Vec<Arrival>, SpecError> {
    let day = &bench.problem.day;
    let load = scenario_at(bench, (part.counts, part.level))?.setup(seed)?;
    let Some(own) = &day.own else {
        return between(&[Arriving::whole(&load)], seed, (Time::ZERO, Time::ZERO + length));
    };
    let rate_per_s = bench.load_at(part.level);
    let (begin, end) = own.window(part.step as u32, bench.mean_per_s(rate_per_s));
    let window = if is_end { (end.minus(length), end) } else { (begin, begin + length) };
    between(&bench.loads(&load, rate_per_s, seed)?, seed, window)
}
