//! Heterogeneous pools: a model on instances of several types (Kairos, HPDC 2023).
//!
//! ```text
//! goal:    by rising cost, leave out what the bound says is too small, and what one seed at the load
//!          says for sure; the others are verified with all seeds, until the answer and its runners-up
//!          are found
//! budget:  by falling bound; a pool must hold above what the last of the best so far carries, and then its
//!          edge is looked for with one seed; the finalists' edges are found with all seeds
//! ```
//!
//! No pool is left out because of one seed that is not sure: all seeds are asked then ([`Bench::carries`]).
//!
//! Over a trace's day one pool has to carry each step; how much it carries is looked for in the one in which it does worst.
//! Pools that follow a day are found for each level of its load by itself (`over_day`): what a machine that starts early
//! for one step costs in another is no part of that search.
//!
//! The bound is Eq. 9 to 15, with some slack because it is not strict. Pools are tried in chunks of a fixed
//! size, so that neither threads nor time decide what is tried.

mod asked;
mod over_day;

use crate::input::problem::{Group, Problem};
use crate::search::after_loss;
use crate::search::answer::{Answer, Choice, Point, significant};
use crate::search::candidates::Candidates;
use crate::search::finish::finish;
use crate::search::runs::{PROBES, Runs};
use crate::search::trial::{Bench, Check};
use asked::Asked;
use orrery_run::{PolicySpec, SpecError};
use over_day::{Carried, over_day};
use rayon::prelude::*;

/// Pools tried at a time.
const CHUNK: usize = 8;
/// Pools that are verified beyond the answer and its runners-up, because one seed may err.
const RESERVE: usize = 2;
/// Points of the frontier are so much apart.
const APART: f64 = 0.02;

/// About how many simulations a group takes, before any is made: finalists and the base type alone; of the
/// screening, the searches of the first pools.
pub fn expected(problem: &Problem, frontier: bool) -> u64 {
    let reserve = if problem.budget.is_some() { RESERVE } else { 0 };
    let finalists = (problem.plan.runners_up + 1 + reserve) as u64;
    let first = if problem.budget.is_some() { CHUNK as u64 * PROBES } else { 0 };
    let frontier = if frontier { CHUNK as u64 * PROBES } else { 0 };
    let levels = problem.day.levels.len() as u64 - 1;
    let lower = if problem.day.follows() { levels * u64::from(problem.plan.seeds) } else { 0 };
    let of_policy = finalists * Choice::runs(problem) + first + frontier + lower;
    problem.policies.len() as u64 * of_policy + Choice::runs(problem)
}

/// The best pools of a group, with each policy, and the frontier if it is wanted.
///
/// # Errors
/// When the catalogue is wrong or a pool cannot be simulated.
pub fn search(
    problem: &Problem,
    group: &Group,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<Answer, SpecError> {
    let candidates = Candidates::new(problem, group)?;
    let most = candidates.ranking.bounds_per_s().iter().copied().reduce(f64::max);
    let mut answer = Answer::of(group);
    answer.searched.pools = candidates.space.pools().len();
    answer.bound_max_per_s = most;
    for policy in &problem.policies {
        let bench = Bench::new(problem, group, policy, runs);
        let one = OfPolicy { bench: &bench, candidates: &candidates, runs, is_base_alone: false };
        match problem.budget {
            None => one.cheapest(&mut answer)?,
            Some(_) => one.best(&mut answer)?,
        }
    }
    match problem.budget {
        None => answer.choices.sort_by_key(|c| c.cost),
        Some(_) => answer.choices.sort_by(|a, b| {
            b.edge.rate_per_s.total_cmp(&a.edge.rate_per_s).then(a.cost.cmp(&b.cost))
        }),
    }
    if frontier {
        for policy in &problem.policies {
            // In the level in which the answer under it is judged.
            let own = answer.choices.iter().find(|c| c.policy == policy.text());
            let level = own.or(answer.best()).map_or(0, |choice| choice.hardest);
            let bench = Bench::new(problem, group, policy, runs).at(level);
            let one =
                OfPolicy { bench: &bench, candidates: &candidates, runs, is_base_alone: false };
            answer.frontier.extend(one.frontier()?);
        }
        answer.agree();
    }
    if problem.day.follows() {
        // Their cost over the day is not known: only their peak was looked at.
        answer.close.clear();
    }
    answer.homogeneous = homogeneous(problem, group, &candidates, &answer, runs)?;
    finish(answer, problem, group, runs)
}

/// The largest pool of base instances under the budget, or the smallest that carries the load.
fn homogeneous(
    problem: &Problem,
    group: &Group,
    candidates: &Candidates,
    answer: &Answer,
    runs: &Runs<'_>,
) -> Result<Option<Choice>, SpecError> {
    let best = answer.best().map(|c| c.policy.as_str());
    let Some(policy) = problem.policies.iter().find(|p| Some(p.text()) == best) else {
        return Ok(None);
    };
    let bench = Bench::new(problem, group, policy, runs);
    if problem.budget.is_some() {
        let largest = candidates.space.homogeneous();
        let of = |largest| Choice::of(&bench, candidates.counts(largest), None);
        return largest.map(of).transpose();
    }
    let mut about = Answer::of(group);
    OfPolicy { bench: &bench, candidates, runs, is_base_alone: true }.cheapest(&mut about)?;
    Ok(about.choices.into_iter().next())
}

/// The levels of a day that pools follow, but for the peak's.
fn lower_levels(problem: &Problem) -> std::ops::Range<usize> {
    if problem.day.follows() { 1..problem.day.levels.len() } else { 0..0 }
}

struct OfPolicy<'a> {
    bench: &'a Bench<'a>,
    candidates: &'a Candidates,
    runs: &'a Runs<'a>,
    /// Only pools of base instances are looked at, and the first is enough.
    is_base_alone: bool,
}

impl OfPolicy<'_> {
    /// The cheapest pools that carry the load, and what takes their place over a day that is followed.
    fn cheapest(&self, answer: &mut Answer) -> Result<(), SpecError> {
        let problem = self.bench.problem;
        let asked = Asked::first(self.bench);
        let wanted = if self.is_base_alone { 1 } else { problem.plan.runners_up + 1 };
        let met = self.carrying(&asked, wanted, answer)?;
        if met.is_empty() {
            return Ok(());
        }
        let mut lower: Vec<Option<Carried>> = Vec::new();
        for level in lower_levels(problem) {
            let higher = lower.iter().flatten().last().unwrap_or(&met[0]);
            let found = self.at_level(level, higher, &mut answer.unknown)?;
            if found.is_none() && problem.day.levels[level] > 0.0 {
                answer.unknown.push(format!(
                    "no pool within the limits surely sustains the step from {} with {}",
                    problem.day.begins(level),
                    self.bench.policy.text()
                ));
                return Ok(());
            }
            lower.push(found);
        }
        for peak in &met {
            answer.choices.push(over_day(self.bench, peak, &lower)?);
        }
        Ok(())
    }

    /// The cheapest pool that carries a level of the day: none where nothing is needed, or no pool is enough. What carries
    /// a higher one is, but for the steps of a trace, whose bursts are their own.
    fn at_level(
        &self,
        level: usize,
        higher: &Carried,
        unknown: &mut Vec<String>,
    ) -> Result<Option<Carried>, SpecError> {
        let problem = self.bench.problem;
        if problem.day.levels[level] == 0.0 {
            return Ok(None);
        }
        let mut about = Answer::of(self.bench.group);
        let asked = Asked::at(self.bench, level);
        let found = self.carrying(&asked, 1, &mut about)?.pop();
        // A search that was cut off may have missed a cheaper pool.
        let cut = not_converged(problem.plan.evaluations_max(), self.bench.policy);
        if about.unknown.contains(&cut) && !unknown.contains(&cut) {
            unknown.push(cut);
        }
        if problem.day.own.is_some() {
            return Ok(found);
        }
        let cheaper = found.filter(|f| problem.cost(&f.counts) < problem.cost(&higher.counts));
        let same = || Carried { counts: higher.counts.clone(), level, check: None };
        Ok(Some(cheaper.unwrap_or_else(same)))
    }

    /// So many of the cheapest pools that carry what is asked for, by rising cost.
    fn carrying(
        &self,
        asked: &Asked<'_>,
        wanted: usize,
        answer: &mut Answer,
    ) -> Result<Vec<Carried>, SpecError> {
        let (problem, c) = (self.bench.problem, self.candidates);
        let (load, plan) = (asked.load_per_s, &problem.plan);
        let (costs, order) = (c.space.costs(), self.may_carry(asked)?);
        answer.searched.skipped_by_bound = c.space.pools().len() - order.len();
        if order.is_empty() {
            answer.unknown.push(format!(
                "the goal is outside what was simulated: {} requests/s, and no pool within the limits \
                 has an upper bound above {} (slack {} %); raise `count_max`",
                significant(load),
                answer.bound_max_per_s.map_or("-".to_string(), significant),
                plan.bound_slack() * 100.0
            ));
            return Ok(Vec::new());
        }
        let mut met: Vec<Carried> = Vec::new();
        let mut tried = 0;
        // One for each pool, until enough are found.
        let most = order.len().min(plan.evaluations_max()) as u64;
        self.runs.expect(most);
        'search: for chunk in order.chunks(CHUNK) {
            if tried + chunk.len() > plan.evaluations_max() {
                answer.unknown.push(not_converged(plan.evaluations_max(), self.bench.policy));
                break;
            }
            tried += chunk.len();
            let holds = |i: &usize| asked.may_survive(problem, c.counts(*i));
            let held: Vec<bool> = chunk.par_iter().map(holds).collect::<Result<_, _>>()?;
            for (&i, _) in chunk.iter().zip(held).filter(|(_, held)| *held) {
                let pool = &c.space.pools()[i];
                // More of what is enough is enough, and no other idea.
                let more = |m: &Carried| orrery_solvers::Pool(m.counts.clone()).is_sub_of(pool);
                if met.iter().any(more) {
                    continue;
                }
                let (bench, check) = asked.in_each_step(&pool.0)?;
                if check.is_sure(plan.target()) && asked.survives(problem, &pool.0)? {
                    let (counts, level) = (pool.0.clone(), bench.level());
                    met.push(Carried { counts, level, check: Some(check) });
                } else if met.is_empty()
                    && let Some(close) = close(&bench, &pool.0, check, load)?
                {
                    answer.close.push((pool.0.clone(), costs[i], close));
                }
                if met.len() >= wanted {
                    break 'search;
                }
            }
        }
        self.runs.spare(most.saturating_sub(tried as u64));
        answer.searched.simulated += tried;
        answer.searched.left += order.len().saturating_sub(tried);
        if met.is_empty() && tried >= order.len() {
            answer.unknown.push(format!(
                "no pool within the limits surely sustains {} requests/s; the largest upper bound is \
                 {}; raise `count_max` or lower the goal",
                significant(load),
                answer.bound_max_per_s.map_or("-".to_string(), significant)
            ));
        }
        Ok(met)
    }

    /// The pools that no bound excludes, by rising cost.
    fn may_carry(&self, asked: &Asked<'_>) -> Result<Vec<usize>, SpecError> {
        let (problem, group, c) = (self.bench.problem, self.bench.group, self.candidates);
        let (plan, costs) = (&problem.plan, c.space.costs());
        let mut order: Vec<usize> = (0..c.space.pools().len()).collect();
        order.sort_by(|&a, &b| costs[a].cmp(&costs[b]).then(c.bound(b).total_cmp(&c.bound(a))));
        let least = asked.least_per_s()?;
        order.retain(|&i| c.bound(i) * (1.0 + plan.bound_slack()) >= least);
        let base = group.base.unwrap_or(0);
        // Without a base instance a pool carries nothing.
        order.retain(|&i| c.counts(i)[base] > u32::from(plan.may_lose(base)));
        let is_other = |i: usize| c.counts(i).iter().sum::<u32>() > c.counts(i)[base];
        order.retain(|&i| !self.is_base_alone || !is_other(i));
        Ok(order)
    }

    /// The pools that carry most.
    fn best(&self, answer: &mut Answer) -> Result<(), SpecError> {
        let (problem, c) = (self.bench.problem, self.candidates);
        let plan = &problem.plan;
        let keep = plan.runners_up + 1 + RESERVE;
        let mut top: Vec<(f64, usize)> = Vec::new();
        let (mut tried, mut skipped) = (0, 0);
        let order = c.ranking.order();
        let mut ahead = order.len().min(plan.evaluations_max());
        self.runs.expect(ahead as u64);
        for (k, chunk) in order.chunks(CHUNK).enumerate() {
            let least = if top.len() < keep { 0.0 } else { top[keep - 1].0 };
            let open: Vec<usize> = chunk
                .iter()
                .copied()
                .filter(|&i| c.bound(i) * (1.0 + plan.bound_slack()) > least)
                .collect();
            let may = |i: &&usize| c.bound(**i) * (1.0 + plan.bound_slack()) > least;
            let still = order[k * CHUNK..].iter().filter(may).count();
            let still = still.min(plan.evaluations_max().saturating_sub(tried));
            self.runs.spare(ahead.saturating_sub(still) as u64);
            ahead = still.saturating_sub(open.len());
            if open.is_empty() {
                skipped += order.len() - k * CHUNK;
                break;
            }
            if tried + open.len() > plan.evaluations_max() {
                answer.unknown.push(not_converged(plan.evaluations_max(), self.bench.policy));
                answer.searched.left += order.len() - k * CHUNK;
                break;
            }
            skipped += chunk.len() - open.len();
            tried += open.len();
            let rate = |&i: &usize| self.rate_above(i, least * (1.0 + plan.precision));
            let found: Vec<(f64, usize)> = open.par_iter().map(rate).collect::<Result<_, _>>()?;
            top.extend(found.into_iter().filter(|f| f.0 > 0.0));
            let costs = c.space.costs();
            top.sort_by(|a, b| {
                b.0.total_cmp(&a.0).then(costs[a.1].cmp(&costs[b.1])).then(a.1.cmp(&b.1))
            });
        }
        answer.searched.simulated += tried;
        answer.searched.skipped_by_bound = answer.searched.skipped_by_bound.max(skipped);
        self.keep_the_best(&mut top, keep)?;
        let of = |&(_, i): &(f64, usize)| Choice::of(self.bench, c.counts(i), None);
        let all: Vec<Choice> = top.par_iter().map(of).collect::<Result<_, _>>()?;
        if all.is_empty() {
            answer
                .unknown
                .push("no pool within the budget sustains any load within the target".into());
        }
        answer.choices.extend(all);
        Ok(())
    }

    /// What the first seed finds that a pool carries, with its number; 0 where that is not at least so much.
    fn rate_above(&self, i: usize, least: f64) -> Result<(f64, usize), SpecError> {
        let counts = self.candidates.counts(i);
        if least == 0.0 {
            return Ok((self.bench.roughly(counts, self.candidates.bound(i) * 0.8)?, i));
        }
        if !self.bench.carries(counts, least)? {
            return Ok((0.0, i));
        }
        Ok((self.bench.roughly(counts, least)?.max(least), i))
    }

    /// Of pools by falling rate with the first seed, the first, and the others that may carry more than the last of
    /// these.
    fn keep_the_best(&self, top: &mut Vec<(f64, usize)>, keep: usize) -> Result<(), SpecError> {
        let beaten = top.split_off(keep.min(top.len()));
        let Some(&(least, _)) = top.last() else { return Ok(()) };
        let challenge = least * (1.0 + self.bench.problem.plan.precision);
        let may = |&(rate, i): &(f64, usize)| -> Result<_, SpecError> {
            Ok(self.bench.carries(self.candidates.counts(i), challenge)?.then_some((rate, i)))
        };
        let still: Vec<Option<_>> = beaten.par_iter().map(may).collect::<Result<_, _>>()?;
        top.extend(still.into_iter().flatten());
        Ok(())
    }

    /// The most that each amount of money buys, with the first seed: by rising cost, a pool that carries
    /// 2 % more than all cheaper ones.
    fn frontier(&self) -> Result<Vec<Point>, SpecError> {
        let c = self.candidates;
        let costs = c.space.costs();
        self.runs.expect(costs.len() as u64);
        let slack = 1.0 + self.bench.problem.plan.bound_slack();
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|&a, &b| costs[a].cmp(&costs[b]).then(c.bound(b).total_cmp(&c.bound(a))));
        let mut points: Vec<Point> = Vec::new();
        for chunk in order.chunks(CHUNK) {
            let least = points.last().map_or(0.0, |p| p.rate_per_s) * (1.0 + APART);
            let open: Vec<usize> =
                chunk.iter().copied().filter(|&i| c.bound(i) * slack > least).collect();
            self.runs.spare((chunk.len() - open.len()) as u64);
            let rate = |&i: &usize| self.rate_above(i, least);
            let found: Vec<(f64, usize)> =
                open.par_iter().map(rate).collect::<Result<_, SpecError>>()?;
            for (rate_per_s, i) in found {
                let least = points.last().map_or(0.0, |p: &Point| p.rate_per_s) * (1.0 + APART);
                if rate_per_s == 0.0 || rate_per_s < least {
                    continue;
                }
                if points.last().is_some_and(|p| p.cost == costs[i]) {
                    points.pop();
                }
                let (counts, policy) = (c.counts(i).to_vec(), self.bench.policy.text().to_string());
                points.push(Point { counts, policy, cost: costs[i], rate_per_s });
            }
        }
        Ok(points)
    }
}

/// The verdict of a pool that may be enough and is not sure to be; where machines may be lost, of the worst that is left
/// of it.
fn close(
    bench: &Bench<'_>,
    counts: &[u32],
    own: Check,
    load: f64,
) -> Result<Option<Check>, SpecError> {
    let target = bench.target();
    let mut check = own;
    if bench.problem.plan.is_to_survive() {
        check = after_loss::worst_left(bench, counts, load)?;
        // The whole pool was not sure, or it is the loss in mid-run that it does not survive.
        check.lost_for_good = check.is_sure(target);
    }
    Ok(Some(check).filter(|check| check.meets(target)))
}

/// That a search was cut off.
pub fn not_converged(most: usize, policy: &PolicySpec) -> String {
    format!(
        "the search with {} did not converge: it was cut off at {most} pools; raise \
         `evaluations_max`",
        policy.text()
    )
}

#[cfg(test)]
mod tests;
