//! Homogeneous clusters: all models on instances of one type, by type and policy.
//!
//! ```text
//! goal:    the fewest instances: double from what a closed bound says is needed, then halve, with one
//!          seed; verified with all seeds, and one more instance at a time until that is sure
//! budget:  as many instances as the budget pays for, and the rate that they carry
//! ```
//!
//! The bound is that of batches that fit the SLO on instances that are never idle; it is strict.

use crate::input::problem::{Group, Problem};
use crate::search::answer::{Answer, Choice, Point, money, percent, significant};
use crate::search::break_even::turns;
use crate::search::finish::finish;
use crate::search::levels::{self, largest};
use crate::search::runs::{PROBES, Runs};
use crate::search::size::{MORE_MAX, Sized, Sizer, counts, over_the_day};
use crate::search::trial::Bench;
use crate::search::variants::Enough;
use orrery_report::say;
use orrery_run::{PolicySpec, SpecError};
use rayon::prelude::*;

/// A search of more simulations says its first answer before its last.
const RUNS_OF_A_WHILE: u64 = 1_000;
/// Sizes of a cluster on the frontier.
const POINTS: u32 = 6;

/// What was found for a type and a policy.
#[derive(Default)]
struct Found {
    choice: Option<Choice>,
    close: Option<(u32, crate::search::trial::Check)>,
    unknown: Option<String>,
    /// Unless the type was left out: what one instance serves at most, where that is known.
    one: Option<Option<f64>>,
    simulated: usize,
    skipped: usize,
    pools: usize,
}

/// About how many simulations a group takes, before any is made.
pub fn expected(problem: &Problem, frontier: bool) -> u64 {
    let frontier = if frontier { u64::from(POINTS) * PROBES } else { 0 };
    let chains = problem.policies.len() * problem.counts_max.iter().filter(|n| **n > 0).count();
    let levels = problem.day.levels.len() as u64;
    let sizes = (levels - 1) * (PROBES + u64::from(problem.plan.seeds));
    chains as u64 * (PROBES + Choice::runs(problem) + sizes + frontier)
}

/// The best cluster of each type and policy, and the frontier if it is wanted.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn search(
    problem: &Problem,
    group: &Group,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<Answer, SpecError> {
    let chains = chains(problem, &problem.policies);
    let of = |&(kind, policy): &(usize, &PolicySpec)| {
        let bench = Bench::new(problem, group, policy, runs);
        Chain { bench: &bench, kind }.search()
    };
    let found: Vec<Found> = chains.par_iter().with_max_len(1).map(of).collect::<Result<_, _>>()?;
    let mut answer = Answer::of(group);
    let mut curves = Vec::new();
    for (found, (kind, policy)) in found.into_iter().zip(&chains) {
        let own = found.choice.as_ref().map(|choice| (choice.hardest, choice.counts[*kind]));
        curves.extend(found.one.map(|one| Curve { kind: *kind, policy, one, own }));
        let searched = &mut answer.searched;
        searched.pools += found.pools;
        searched.simulated += found.simulated;
        searched.skipped_by_bound += found.skipped;
        answer.choices.extend(found.choice);
        // Its cost over a day is not known: only its peak was looked at.
        if let Some((n, check)) = found.close.filter(|_| problem.day.levels.len() == 1) {
            let counts = counts(problem, *kind, n);
            let cost = problem.cost(&counts);
            answer.close.push((counts, cost, check));
        }
        answer.unknown.extend(found.unknown.filter(|u| !answer.unknown.contains(u)));
    }
    let s = &mut answer.searched;
    s.left = s.pools.saturating_sub(s.simulated + s.skipped_by_bound);
    match problem.budget {
        None => answer.choices.sort_by(|a, b| {
            a.cost.cmp(&b.cost).then(b.edge.rate_per_s.total_cmp(&a.edge.rate_per_s))
        }),
        Some(_) => answer.choices.sort_by(|a, b| {
            b.edge.rate_per_s.total_cmp(&a.edge.rate_per_s).then(a.cost.cmp(&b.cost))
        }),
    }
    if frontier {
        answer.frontier = drawn(problem, group, &curves, answer.best(), runs)?;
        answer.agree();
    }
    if problem.budget.is_none() {
        answer.turns = turns(problem, &answer.choices);
    }
    // Dearer than the answer, a close call is of no interest.
    let cost = answer.best().map(|c| c.cost);
    answer.close.retain(|c| cost.is_none_or(|cost| c.1 < cost));
    finish(answer, problem, group, runs)
}

/// The cheapest cluster of any type under some policies that carries the load: the answer of [`search`], without
/// its edge, which takes most of the simulations.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn cheapest(
    problem: &Problem,
    group: &Group,
    policies: &[PolicySpec],
    runs: &Runs<'_>,
) -> Result<Option<Enough>, SpecError> {
    let all = chains(problem, policies);
    let first = |&(kind, policy): &(usize, &PolicySpec)| {
        let bench = Bench::new(problem, group, policy, runs);
        let chain = Chain { bench: &bench, kind };
        let mut found = Found::default();
        let Some(one) = chain.bound(&mut found)? else { return Ok(None) };
        let high = chain.first(one, &mut found)?;
        Ok(high.map(|high| (one, high)))
    };
    let first = all.par_iter().with_max_len(1).map(first).collect::<Result<Vec<_>, SpecError>>()?;
    let of = |((kind, policy), found): (&(usize, _), Option<(Option<f64>, u32)>)| {
        found.map(|(one, high)| (*kind, *policy, one, high))
    };
    let mut first: Vec<(usize, &PolicySpec, Option<f64>, u32)> =
        all.iter().zip(first).filter_map(of).collect();
    // All seeds may find one machine fewer to be enough.
    let least = |kind: usize, high: u32| problem.cost_of_kind(kind, high.saturating_sub(1).max(1));
    first.sort_by_key(|(kind, _, _, high)| least(*kind, *high));
    let mut best: Option<Enough> = None;
    for (kind, policy, one, high) in first {
        let cannot = |best: &Enough| least(kind, high) >= best.cost && !problem.day.follows();
        if best.as_ref().is_some_and(cannot) {
            break;
        }
        let bench = Bench::new(problem, group, policy, runs);
        let chain = Chain { bench: &bench, kind };
        let sized = chain.verified(one, high, &mut Found::default())?;
        let Some(sizes) = sized else { continue };
        let pools = vec![sizes[largest(&sizes)].counts.clone()];
        let (cost, policy) = (over_the_day(problem, &sizes), policy.text().to_string());
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            best = Some(Enough { pools, policy, cost });
        }
    }
    Ok(best)
}

/// Every type that may be bought under every policy.
fn chains<'a>(problem: &Problem, policies: &'a [PolicySpec]) -> Vec<(usize, &'a PolicySpec)> {
    let kinds = (0..problem.sales.len()).filter(|k| problem.counts_max[*k] > 0);
    kinds.flat_map(|k| policies.iter().map(move |p| (k, p))).collect()
}

/// Clusters of one type under one policy, by size.
struct Chain<'a> {
    bench: &'a Bench<'a>,
    kind: usize,
}

impl Chain<'_> {
    fn search(&self) -> Result<Found, SpecError> {
        let problem = self.bench.problem;
        let most = problem.counts_max[self.kind];
        let mut found = Found { pools: most as usize, ..Found::default() };
        let Some(one) = self.bound(&mut found)? else { return Ok(found) };
        found.one = Some(one);
        match problem.budget {
            Some(_) => {
                found.choice = Some(Choice::of(self.bench, &self.counts(most), None)?);
                found.simulated = 1;
            }
            None => {
                if let Some(sizes) = self.fewest(one, &mut found)? {
                    found.choice = Some(Choice::over_day(self.bench, largest(&sizes), sizes)?);
                }
            }
        }
        Ok(found)
    }

    /// Says on stderr that so many instances carry the load, at its peak, where none as cheap were said to.
    fn say_first(&self, n: u32) {
        let (bench, problem) = (self.bench, self.bench.problem);
        let cost = problem.cost(&self.counts(n));
        let takes_long = bench.runs.done_of().1 > RUNS_OF_A_WHILE;
        if takes_long && bench.runs.is_cheapest(cost) {
            let (kind, policy, cost) = (problem.kind(self.kind), bench.policy.text(), money(cost));
            let peak = if problem.day.levels.len() > 1 { " at the peak" } else { "" };
            say(&format!(
                "first answer (one seed, not yet verified): {n} {kind} with {policy} for {cost} $/h{peak}"
            ));
        }
    }

    fn counts(&self, n: u32) -> Vec<u32> {
        counts(self.bench.problem, self.kind, n)
    }

    /// What one instance serves at most, where that is known; none where the type is left out, and why.
    fn bound(&self, found: &mut Found) -> Result<Option<Option<f64>>, SpecError> {
        let (problem, group) = (self.bench.problem, self.bench.group);
        let one = group.bound_of_one_per_s(problem, self.kind, self.bench.policy)?;
        let kind = problem.kind(self.kind);
        let lacking = group.lacking(&problem.plan.instance[self.kind]);
        if !lacking.is_empty() {
            let models = lacking.join(" and ");
            found.unknown = Some(format!(
                "the capacity of {kind}: it was left out, because the latencies of {models} on it are not given"
            ));
        } else if one == Some(0.0) {
            found.unknown =
                Some(format!("{kind} was left out: for some model no batch fits its SLO there"));
        } else {
            return Ok(Some(one));
        }
        found.skipped = problem.counts_max[self.kind] as usize;
        Ok(None)
    }

    /// The fewest instances that carry the load, verified with all seeds, and those for the lower levels of the day.
    fn fewest(&self, one: Option<f64>, found: &mut Found) -> Result<Option<Vec<Sized>>, SpecError> {
        let most = self.bench.problem.counts_max[self.kind];
        if let Some(high) = self.first(one, found)? {
            self.say_first(high);
            return self.verified(one, high, found);
        }
        if found.unknown.is_none() {
            let (kind, policy) = (self.bench.problem.kind(self.kind), self.bench.policy.text());
            let used = self.used(most)?;
            found.unknown = Some(format!(
                "not even {most} {kind}, its `count_max`, sustain the load with {policy}: {used}"
            ));
        }
        Ok(None)
    }

    /// The fewest instances that carry the load by the first seed.
    fn first(&self, one: Option<f64>, found: &mut Found) -> Result<Option<u32>, SpecError> {
        let (problem, group) = (self.bench.problem, self.bench.group);
        let (load, target) = (group.load_per_s, problem.plan.target());
        let most = problem.counts_max[self.kind];
        let kind = problem.kind(self.kind);
        // A share of the requests may be bad, and needs no capacity.
        let needed = one.map_or(1.0, |one| (load * (1.0 - target) / one).ceil().max(1.0));
        // A step of a trace is judged by its own arrivals, to which the bound does not apply strictly.
        let is_own = problem.day.own.is_some();
        if needed > f64::from(most) && !is_own {
            found.skipped = most as usize;
            found.unknown = Some(format!(
                "the goal is outside what was simulated on {kind}: {} requests/s need at least \
                 {needed:.0} instances by the bound, and `count_max` is {most}",
                significant(load)
            ));
            return Ok(None);
        }
        let likely = (needed as u32).saturating_add(problem.lost(self.kind)).min(most);
        let start = if is_own { 1 } else { likely };
        found.skipped = start as usize - 1;
        let sizer = Sizer { bench: self.bench, kind: self.kind };
        // Where no bound holds, the search begins where it would be without noise.
        let without_noise = match one {
            Some(_) => None,
            None => group.likely_of_one_per_s(problem, self.kind, self.bench.policy)?,
        };
        let begin =
            without_noise.map_or(likely, |one| (load / one).ceil().min(f64::from(most)) as u32);
        sizer.first(load, (start, most), begin, &mut found.simulated)
    }

    /// From what the first seed says on, the fewest that all seeds are sure of.
    fn verified(
        &self,
        one: Option<f64>,
        high: u32,
        found: &mut Found,
    ) -> Result<Option<Vec<Sized>>, SpecError> {
        let problem = self.bench.problem;
        let most = problem.counts_max[self.kind];
        let (kind, policy) = (problem.kind(self.kind), self.bench.policy.text());
        let start = |level, peak| self.start(level, peak, one);
        let into = (&mut found.close, &mut found.simulated);
        let sizes = levels::sizes(self.bench, self.kind, high, start, into)?;
        found.unknown = match &sizes {
            Ok(_) => None,
            Err(0) if high == most => Some(format!(
                "whether {most} {kind}, its `count_max`, sustain the load with {policy}"
            )),
            Err(0) => Some(format!(
                "the search on {kind} with {policy} did not converge: {high} instances sustain the load with \
                 the first seed; with all seeds, up to {MORE_MAX} more are inconclusive"
            )),
            Err(level) => Some(format!(
                "not even {most} {kind} (`count_max`) surely sustain the step from {} with {policy}",
                problem.day.begins(*level)
            )),
        };
        Ok(sizes.ok())
    }

    /// From how many machines on the size for a level is looked for.
    fn start(&self, level: usize, peak: u32, one: Option<f64>) -> u32 {
        let problem = self.bench.problem;
        let levels = &problem.day.levels;
        let served = self.bench.group.load_per_s * (1.0 - problem.plan.target());
        let likely = match (&problem.day.own, one) {
            (Some(_), one) => {
                let share = levels[level] / levels[0];
                one.map_or(f64::from(peak) * share, |one| served * share / one).ceil()
            }
            (None, one) => one.map_or(1.0, |one| (served * levels[level] / one).ceil().max(1.0)),
        };
        (likely as u32).saturating_add(problem.lost(self.kind))
    }

    /// How a cluster that does not carry the load was used, with the first seed: a policy that leaves
    /// most of it idle has another fault than a cluster that is too small.
    fn used(&self, n: u32) -> Result<String, SpecError> {
        let group = self.bench.group;
        let (seen, untrusted) = self.bench.seen(&self.counts(n), group.load_per_s)?;
        let in_spite = untrusted.filter(|_| seen.bad_rate <= self.bench.target());
        let in_spite = in_spite.map_or(String::new(), |why| format!(", but {}", why.words()));
        let model = group.models.get(seen.worst_model).filter(|_| group.models.len() > 1);
        let of = model.map_or(String::new(), |model| format!(" of {model}"));
        let busy = seen.busy.get(self.kind).copied().unwrap_or(0.0);
        let used = format!(
            "{} % SLO violations{of}{in_spite}, {} % busy",
            percent(seen.bad_rate),
            percent(busy)
        );
        Ok(match seen.idle.get(self.kind) {
            Some(idle) if *idle > 0 => {
                format!("{used}, and {idle} of them never computed anything")
            }
            _ => used,
        })
    }
}

/// The frontier of a type under a policy.
struct Curve<'a> {
    kind: usize,
    policy: &'a PolicySpec,
    /// What one instance serves at most, where that is known.
    one: Option<f64>,
    /// The level in which its own choice is judged, and the size of that.
    own: Option<(usize, u32)>,
}

/// What sizes of all clusters carry: each in the level in which its choice is judged, or where it has none in that of the
/// answer.
fn drawn(
    problem: &Problem,
    group: &Group,
    curves: &[Curve<'_>],
    best: Option<&Choice>,
    runs: &Runs<'_>,
) -> Result<Vec<Point>, SpecError> {
    let hardest = best.map_or(0, |best| best.hardest);
    let of = |curve: &Curve<'_>| {
        let most = problem.counts_max[curve.kind];
        let (level, top) = curve.own.unwrap_or((hardest, most));
        let bench = Bench::new(problem, group, curve.policy, runs).at(level);
        points(&bench, curve.kind, curve.one, top.saturating_mul(2).min(most))
    };
    let all: Vec<Vec<Point>> =
        curves.par_iter().with_max_len(1).map(of).collect::<Result<_, SpecError>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// What some sizes of a cluster carry, with the first seed.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn points(
    bench: &Bench<'_>,
    kind: usize,
    one: Option<f64>,
    top: u32,
) -> Result<Vec<Point>, SpecError> {
    let problem = bench.problem;
    let at = |i: u32| problem.bought(kind, (top * i).div_ceil(POINTS));
    let mut sizes: Vec<u32> = (1..=POINTS).map(at).collect();
    sizes.dedup();
    let of = |&n: &u32| {
        let counts = counts(problem, kind, n);
        let from = one.map_or(bench.group.load_per_s, |one| one * f64::from(n) * 0.7);
        let rate_per_s = bench.highest(&counts, from)?;
        let (cost, policy) = (problem.cost(&counts), bench.policy.text().to_string());
        Ok(Point { counts, policy, cost, rate_per_s })
    };
    let points: Vec<Point> = sizes.par_iter().map(of).collect::<Result<_, SpecError>>()?;
    Ok(points.into_iter().filter(|p| p.rate_per_s > 0.0).collect())
}
