//! One assumption alone: its value by a search on the fitted rows, its interval, and what it leaves on the others.

use crate::assumption::{Assumption, Changes, Objective, Range, World};
use crate::case::Case;
use crate::value::{Values, What, mean_of};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Points of the first look over a range.
const GRID: usize = 13;
/// Steps of the search between two of them: each leaves 62 % of the width.
const STEPS: usize = 16;
/// Values whose fitted quantities are as near as this to the best are not told apart by one row.
const NEAR: f64 = 0.01;

/// An assumption that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What it is called.
    pub name: &'static str,
    /// The key that it sets.
    pub key: &'static str,
    /// The unit of its value.
    pub unit: &'static str,
    /// What came of it; why it could not be tried.
    pub fitted: Result<Fitted, String>,
}

/// A fitted value.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The value.
    pub value: f64,
    /// Values that fit within 1 %, and those that each fitted row less would give.
    pub interval: (f64, f64),
    /// The keys that it sets.
    pub changes: Changes,
    /// Ours with it, by case.
    pub ours: Vec<Values>,
}

impl Tried {
    /// The assumption with its value: `reply delay 2.11 ms`.
    pub fn words(&self) -> String {
        match &self.fitted {
            Ok(f) => format!("{} {} {}", self.name, f.value, self.unit).trim_end().to_string(),
            Err(_) => self.name.to_string(),
        }
    }
}

/// Ours of some cases with keys changed.
///
/// # Errors
/// When a run has no answer.
pub fn run(
    cases: &[Case],
    which: &[usize],
    changes: &[(String, toml::Value)],
    seed: u64,
) -> Result<Vec<Values>, SpecError> {
    which.iter().map(|&i| cases[i].run(changes, seed)).collect()
}

/// How far ours is from theirs in what an assumption is fitted to. Where runs differ by their seed, what differs much
/// counts less, and a tail is fitted together with the rest.
fn distance(to: Objective, theirs: &Values, ours: &Values, weights: Option<&[f64; 7]>) -> f64 {
    let ratio = |what: What| Some(ours.of(what)? / theirs.of(what)?);
    let usual = || [What::P50, What::Mean, What::P99, What::Rate].iter().find_map(|w| ratio(*w));
    let middle = usual().unwrap_or(1.0);
    let (mut sum, mut weight, mut n) = (0.0, 0.0, 0.0);
    let of = match (to, weights) {
        (Objective::Tail, Some(_)) => &[What::Mean, What::P50, What::P90, What::P99],
        _ => to.what(),
    };
    for &what in of {
        let ratio = match (ratio(what), to, what) {
            (Some(r), Objective::Tail, _) if weights.is_none() => r / middle,
            (Some(r), ..) => r,
            (None, _, What::P50) => middle,
            (None, ..) => continue,
        };
        let own = weights.map_or(1.0, |weights| weights[what as usize]);
        sum += own * libm::fabs(libm::log(ratio.max(1e-9)));
        (weight, n) = (weight + own, n + 1.0);
    }
    if weight > 0.0 { sum * n / weight } else { 0.0 }
}

/// The search of one assumption.
struct Search<'a> {
    a: &'a Assumption,
    world: World<'a>,
    cases: &'a [Case],
    seeds: &'a [u64],
    /// How much each quantity of each case counts, where runs differ by their seed.
    weights: Option<&'a [[f64; 7]]>,
    /// The distances that are known, by case and value: the same values are tried for other rows again.
    known: RefCell<BTreeMap<(usize, u64), f64>>,
}

impl Search<'_> {
    /// The distance of some cases with a value.
    fn at(&self, which: &[usize], value: f64) -> Result<f64, SpecError> {
        let changes = (self.a.changes)(&self.world, value);
        let of = |&i: &usize| {
            let key = (i, value.to_bits());
            let known = self.known.borrow().get(&key).copied();
            known.map_or_else(|| self.with(i, &changes), Ok).inspect(|&d| {
                self.known.borrow_mut().insert(key, d);
            })
        };
        which.iter().map(of).sum()
    }

    /// The distance of a case with keys changed.
    fn with(&self, case: usize, changes: &[(String, toml::Value)]) -> Result<f64, SpecError> {
        let runs = self.seeds.iter().map(|&seed| run(self.cases, &[case], changes, seed));
        let ours = mean_of(&runs.collect::<Result<Vec<_>, _>>()?);
        let weights = self.weights.map(|weights| &weights[case]);
        Ok(distance(self.a.to, &self.cases[case].theirs, &ours[0], weights))
    }

    /// The best value on some cases and its distance; `None` where no value changes anything.
    fn best(&self, which: &[usize], range: &Range) -> Result<Option<(f64, f64)>, SpecError> {
        let grid: Vec<f64> = match range {
            Range::Whole(all) => all.iter().map(|n| f64::from(*n)).collect(),
            Range::Between(low, high, dense) => {
                let share = |i: usize| i as f64 / (GRID - 1) as f64;
                let share = |i| if *dense { share(i) * share(i) } else { share(i) };
                (0..GRID).map(|i| low + (high - low) * share(i)).collect()
            }
        };
        let each = grid.iter().map(|&x| Ok((self.at(which, x)?, x)));
        let each: Vec<(f64, f64)> = each.collect::<Result<_, SpecError>>()?;
        let farthest = each.iter().map(|e| e.0).fold(0.0, f64::max);
        let best = (0..each.len()).min_by(|a, b| each[*a].0.total_cmp(&each[*b].0)).unwrap_or(0);
        if farthest - each[best].0 < NEAR * which.len() as f64 {
            return Ok(None);
        }
        let (mut distance, mut value) = each[best];
        if let Range::Between(..) = range {
            let low = grid[best.saturating_sub(1)];
            let high = grid[(best + 1).min(grid.len() - 1)];
            let found = self.golden(which, low, high)?;
            if found.0 < distance {
                (distance, value) = found;
            }
            value = libm::round(value * 1e4) / 1e4;
        }
        Ok(Some((value, distance)))
    }

    /// The least distance between two values, by golden sections.
    fn golden(
        &self,
        which: &[usize],
        mut low: f64,
        mut high: f64,
    ) -> Result<(f64, f64), SpecError> {
        const SECTION: f64 = 0.618_033_988_749_894_8;
        let (mut a, mut b) = (high - SECTION * (high - low), low + SECTION * (high - low));
        let (mut at_a, mut at_b) = (self.at(which, a)?, self.at(which, b)?);
        for _ in 0..STEPS {
            if at_a <= at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - SECTION * (high - low);
                at_a = self.at(which, a)?;
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + SECTION * (high - low);
                at_b = self.at(which, b)?;
            }
        }
        Ok(if at_a <= at_b { (at_a, a) } else { (at_b, b) })
    }

    /// The interval of a value: what fits within 1 %, and what each row less would give.
    fn interval(
        &self,
        which: &[usize],
        range: &Range,
        best: (f64, f64),
    ) -> Result<(f64, f64), SpecError> {
        let near = |value: f64| Ok::<bool, SpecError>(self.at(which, value)? <= best.1 + NEAR);
        let mut values = vec![best.0];
        match range {
            Range::Whole(all) => {
                for &n in all {
                    values.extend(near(f64::from(n))?.then_some(f64::from(n)));
                }
            }
            Range::Between(low, high, _) => {
                values.push(self.edge(which, best, *low)?);
                values.push(self.edge(which, best, *high)?);
            }
        }
        for left_out in which.iter().filter(|_| which.len() > 1) {
            let others: Vec<usize> = which.iter().copied().filter(|i| i != left_out).collect();
            // Rows that a value does not matter to say nothing against it.
            if let Some((value, least)) = self.best(&others, range)?
                && self.at(&others, best.0)? > least + NEAR
            {
                values.push(value);
            }
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Ok((low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max)))
    }

    /// The farthest value towards `end` that fits as well, within 1 %.
    fn edge(&self, which: &[usize], best: (f64, f64), end: f64) -> Result<f64, SpecError> {
        let (mut inside, mut outside) = (best.0, end);
        if self.at(which, end)? <= best.1 + NEAR {
            return Ok(end);
        }
        for _ in 0..STEPS {
            let middle = 0.5 * (inside + outside);
            match self.at(which, middle)? <= best.1 + NEAR {
                true => inside = middle,
                false => outside = middle,
            }
        }
        Ok(libm::round(inside * 1e4) / 1e4)
    }
}

/// An assumption, tried alone.
///
/// # Errors
/// When a run has no answer.
pub fn tried(
    a: &Assumption,
    scenario: &Scenario,
    policy: &PolicySpec,
    cases: &[Case],
    seeds: &[u64],
    weights: &[[f64; 7]],
) -> Result<Tried, SpecError> {
    let which: Vec<usize> = (0..cases.len()).filter(|&i| cases[i].is_fitted).collect();
    let fitted: Vec<&Case> = which.iter().map(|&i| &cases[i]).collect();
    let world = World { scenario, policy, fitted: &fitted };
    let answer = |fitted| Tried { name: a.name, key: a.key, unit: (a.unit)(policy), fitted };
    let range = match (a.range)(&world) {
        Ok(range) => range,
        Err(why) => return Ok(answer(Err(why))),
    };
    let is_steady = seeds.len() == 1;
    let weights = Some(weights).filter(|_| !is_steady);
    let search = Search { a, world, cases, seeds, weights, known: RefCell::default() };
    let Some(best) = search.best(&which, &range)? else {
        let none = "no value changes what it is fitted to, on these rows".to_string();
        return Ok(answer(Err(none)));
    };
    let as_it_is = which.iter().map(|&i| search.with(i, &[]));
    if best.1 >= as_it_is.sum::<Result<f64, _>>()? {
        return Ok(answer(Err("no value fits better than the scenario as it is".to_string())));
    }
    // It is a rough thing: one seed tells enough, about its own best.
    let known = if is_steady { search.known } else { RefCell::default() };
    let one = Search { seeds: &seeds[..1], known, ..search };
    let own = if is_steady { Some(best) } else { one.best(&which, &range)? };
    let interval = one.interval(&which, &range, own.unwrap_or(best))?;
    let interval = (interval.0.min(best.0), interval.1.max(best.0));
    let changes = (a.changes)(&one.world, best.0);
    let all: Vec<usize> = (0..cases.len()).collect();
    let ours = run(cases, &all, &changes, seeds[0])?;
    Ok(answer(Ok(Fitted { value: best.0, interval, changes, ours })))
}
