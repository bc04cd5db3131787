//! Models with copies on two kinds: part of a model's load goes to a second kind where that costs less.
//!
//! ```text
//!   a 1, b 1 on A    c 1 on B      1/4, 1/2, 3/4 of b      a 1, b 3/4 on A    c 1, b 1/4 on B
//!      3 machines    4 machines  ────────────────────▶         2 machines       5 machines
//! ```
//!
//! A local step, from the fleet with each model on one kind: one model after the other, the dearest first, to each other
//! kind, used already or not. What costs less by the first seed is verified as every cluster is, and kept where it still
//! does. Two copies of a model have processes of the same kind at their parts of its rate: of Poisson arrivals that is a
//! split by chance, of others it is said to be none.

use super::homes::Homes;
use super::known::{Knowledge, SLACK, Under};
use crate::problem::{Group, Problem};
use crate::size::{Sized, Sizer, Verdict};
use crate::solved::{Fleet, Split};
use crate::trial::{Bench, Check};
use orrery_planner::Price;
use orrery_planner::fleet::Assigned;
use orrery_scenario::{PolicySpec, SpecError};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The parts of a load that are tried on the second kind.
const PARTS: [f64; 3] = [0.25, 0.5, 0.75];

/// By model, the part of its load that a cluster has.
type Shares = Vec<f64>;
/// A kind, what it has of each model, and the machines that this takes at least.
type Asked = (usize, Shares, u32);
/// A part of a model's load on another kind: the place of that kind's cluster where there is one, and both clusters then.
type Way = (Option<usize>, Asked, Asked);

/// A cluster of the answer.
#[derive(Clone)]
pub struct Settled<'a> {
    /// Its kind.
    pub kind: usize,
    shares: Shares,
    /// Its models with their loads.
    pub group: Group,
    /// Who schedules.
    pub policy: &'a PolicySpec,
    /// Verified, by level of the day; none before that.
    pub sizes: Vec<Sized>,
    /// What it costs.
    pub cost: Price,
    /// A smaller size that may be enough.
    pub close: Option<(u32, Check)>,
    /// The machines by the first seed.
    first: u32,
}

/// A model's part on another kind, by the first seed.
struct Moved<'a> {
    cost: Price,
    less: Settled<'a>,
    more: Settled<'a>,
}

/// The clusters of a fleet in which each model is on one kind.
pub fn settled<'a>(known: &Knowledge<'a>, best: &Assigned) -> Vec<Settled<'a>> {
    let of = |(kind, set): (usize, u64)| {
        let (policy, under) = known.best((kind, set))?;
        let Under::Sizes { verified, cost, .. } = under else { return None };
        let shares = (0..known.homes.needs.len()).map(|m| f64::from(set >> m & 1 == 1)).collect();
        Some(Settled {
            kind,
            shares,
            group: known.group(set)?.clone(),
            policy,
            sizes: verified.clone(),
            cost: *cost,
            close: known.close.get(&(kind, set)).cloned(),
            first: 0,
        })
    };
    best.clusters(known.problem.sales.len()).into_iter().filter_map(of).collect()
}

/// Splits loads where that costs less, and says so of the fleet.
///
/// # Errors
/// When a cluster cannot be simulated.
pub fn split<'a>(
    known: &Knowledge<'a>,
    mut clusters: Vec<Settled<'a>>,
    fleet: &mut Fleet,
) -> Result<Vec<Settled<'a>>, SpecError> {
    let mut split = Split { whole: total(&clusters), simulated: 0, by_bound: 0 };
    for model in dearest_first(known.problem, known.homes, &clusters) {
        let Some(from) = clusters.iter().position(|c| c.shares[model] == 1.0) else { continue };
        let ways = ways(known, &clusters, (model, from), &mut split);
        let first = |(to, less, more): &Way| -> Result<_, SpecError> {
            let pair = (sized(known, less)?, sized(known, more)?);
            let (Some(less), Some(more)) = pair else { return Ok(None) };
            Ok(Some((*to, Moved { cost: less.cost + more.cost, less, more })))
        };
        let tried: Vec<Option<(Option<usize>, Moved<'a>)>> =
            ways.par_iter().with_max_len(1).map(first).collect::<Result<_, SpecError>>()?;
        let mut tried: Vec<(Option<usize>, Moved<'a>)> = tried.into_iter().flatten().collect();
        // What saves most first: the clusters that are not touched cost what they did.
        let more = |to: Option<usize>, cost: Price| {
            cost.as_micro_usd_per_hour() as i128
                - now(&clusters, (from, to)).as_micro_usd_per_hour() as i128
        };
        tried.sort_by_key(|(to, way)| more(*to, way.cost));
        for (to, way) in tried {
            let now = now(&clusters, (from, to));
            if way.cost >= now {
                break;
            }
            let (less, more) = (verified(known, way.less)?, verified(known, way.more)?);
            let (Some(less), Some(more)) = (less, more) else { continue };
            if less.cost + more.cost < now {
                fleet.copies.push((model, more.kind, more.shares[model]));
                clusters[from] = less;
                match to {
                    Some(to) => clusters[to] = more,
                    None => clusters.push(more),
                }
                break;
            }
        }
    }
    clusters.sort_by_key(|cluster| cluster.kind);
    fleet.split = Some(split);
    Ok(clusters)
}

/// The parts of a model's load on each other kind that may save money.
fn ways(
    known: &Knowledge<'_>,
    clusters: &[Settled<'_>],
    (model, from): (usize, usize),
    split: &mut Split,
) -> Vec<Way> {
    let mut ways = Vec::new();
    let own = clusters[from].kind;
    let others = (0..known.problem.sales.len()).filter(|kind| *kind != own);
    for kind in others.filter(|kind| known.homes.needs[model][*kind].is_some()) {
        let to = clusters.iter().position(|c| c.kind == kind);
        let now = now(clusters, (from, to));
        for part in PARTS {
            let (less, more) = moved(clusters, (from, to), (model, part));
            let least = |kind, shares| least(known.problem, known.homes, kind, shares);
            match least(own, &less).zip(least(kind, &more)).filter(|(a, b)| a.1 + b.1 < now) {
                Some((a, b)) => ways.push((to, (own, less, a.0), (kind, more, b.0))),
                None => split.by_bound += 1,
            }
        }
    }
    split.simulated += ways.len();
    ways
}

fn total(clusters: &[Settled<'_>]) -> Price {
    clusters.iter().map(|cluster| cluster.cost).sum()
}

/// What the cluster that a part is taken from and the one that gets it cost.
fn now(clusters: &[Settled<'_>], (from, to): (usize, Option<usize>)) -> Price {
    clusters[from].cost + to.map_or(Price::ZERO, |to| clusters[to].cost)
}

/// The parts of both after a part of a model's load was moved.
fn moved(
    clusters: &[Settled<'_>],
    (from, to): (usize, Option<usize>),
    (model, part): (usize, f64),
) -> (Shares, Shares) {
    let mut less = clusters[from].shares.clone();
    less[model] = 1.0 - part;
    let mut more = to.map_or_else(|| vec![0.0; less.len()], |to| clusters[to].shares.clone());
    more[model] = part;
    (less, more)
}

/// The models by what they need where they are, falling; where no bound is known, by what their clusters cost.
fn dearest_first(problem: &Problem, homes: &Homes, clusters: &[Settled<'_>]) -> Vec<usize> {
    let usd = |model: usize| {
        let home = clusters.iter().find(|cluster| cluster.shares[model] > 0.0)?;
        Some(match homes.needs[model][home.kind] {
            Some(need) if need > 0.0 => need * problem.least_usd(home.kind),
            _ => home.cost.as_usd_per_hour(),
        })
    };
    let all = (0..homes.needs.len()).filter_map(|model| Some((model, usd(model)?)));
    let mut all: Vec<(usize, f64)> = all.collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.into_iter().map(|(model, _)| model).collect()
}

/// The machines that a cluster takes at least, with what they cost; none where there are not so many.
fn least(problem: &Problem, homes: &Homes, kind: usize, shares: &Shares) -> Option<(u32, Price)> {
    let need = shares.iter().zip(&homes.needs).filter(|(share, _)| **share > 0.0);
    let need: Option<f64> = need.map(|(share, needs)| Some(needs[kind]? * share)).sum();
    let n = (need? * (1.0 - SLACK)).ceil().max(1.0) + f64::from(problem.lost(kind));
    let fits = n <= f64::from(problem.counts_max[kind]);
    fits.then(|| (n as u32, problem.cost_of_kind(kind, n as u32)))
}

/// A cluster by the first seed, under the policy with which it costs least; none where none carries its load.
fn sized<'a>(
    known: &Knowledge<'a>,
    (kind, shares, least): &Asked,
) -> Result<Option<Settled<'a>>, SpecError> {
    let (problem, kind) = (known.problem, *kind);
    let here = known.whole.models.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let here: BTreeMap<&str, f64> = here.map(|(model, share)| (model.as_str(), *share)).collect();
    let Some(group) = known.whole.of_parts("cluster", &here) else { return Ok(None) };
    let group = problem.finished(group, kind)?;
    let most = problem.counts_max[kind];
    let mut best: Option<Settled<'a>> = None;
    for policy in &problem.policies {
        let bench = Bench::new(problem, &group, policy, known.runs);
        let sizer = Sizer { bench: &bench, kind };
        let first = sizer.first(group.load_per_s, (*least, most), *least, &mut 0)?;
        let Some(first) = first else { continue };
        let cost = problem.cost_of_kind(kind, first);
        if best.as_ref().is_none_or(|best| cost < best.cost) {
            let (shares, group) = (shares.clone(), group.clone());
            let (sizes, close) = (Vec::new(), None);
            best = Some(Settled { kind, shares, group, policy, sizes, cost, close, first });
        }
    }
    Ok(best)
}

/// The same with all seeds; none where it is not sure to carry its load.
fn verified<'a>(
    known: &Knowledge<'a>,
    cluster: Settled<'a>,
) -> Result<Option<Settled<'a>>, SpecError> {
    let (problem, kind) = (known.problem, cluster.kind);
    let bench = Bench::new(problem, &cluster.group, cluster.policy, known.runs);
    let (mut close, most) = (None, problem.counts_max[kind]);
    let sizer = Sizer { bench: &bench, kind };
    let load = cluster.group.load_per_s;
    let Verdict::Size(size) = sizer.sure(load, (cluster.first, most), &mut close)? else {
        return Ok(None);
    };
    let cost = problem.cost(&size.counts);
    Ok(Some(Settled { sizes: vec![*size], cost, close, ..cluster }))
}
