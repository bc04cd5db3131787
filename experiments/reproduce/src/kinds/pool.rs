//! Pools of several instance types under a budget: Kairos's figures. It is not `orrery plan`, which
//! answers for a load of the user's.

pub mod conditions;
pub mod evaluate;
pub mod kind;
mod oracle;
pub mod scheme;
pub mod searches;
pub mod select;
mod text;
pub mod world;

use crate::experiment::{Experiment, System};
use crate::runner::{Cell, KindDocument, Runner, within};
use crate::searching::Searching;
use conditions::Conditions;
use evaluate::{Evaluator, Known, Value};
use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_scenario::kairos::model_names;
use orrery_scenario::scenario::with_keys;
use orrery_solvers::Pool;
use orrery_sweep::grid::{combinations, word};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::{Measure, Replication};
use orrery_sweep::seeds::Seeds;
use rayon::prelude::*;
use scheme::Scheme;
use select::{Selector, dashed};
use world::World;

/// The axis whose values are Kairos's models.
const MODEL: &str = "model";
/// The name that bounds go by where systems have theirs.
const KAIROS: &str = "kairos";
/// Pools in a figure of no data.
const DRAWN: [&str; 2] = ["1-0-0-0", "0-1-0-0"];

/// A model under the conditions of a point, and its axes.
struct Place {
    axes: String,
    world: World,
}

/// The worlds of all combinations, in their order.
fn places(e: &Experiment) -> Result<Vec<Place>, SpecError> {
    let models: Vec<&str> = model_names().collect();
    let place = |c: orrery_sweep::grid::Combination| {
        let mut model = None;
        let mut own: Vec<(String, toml::Value)> = Vec::new();
        for (key, value) in c.changes {
            match key.as_str() {
                MODEL => model = Some(word(&value)),
                _ => own.push((key, value)),
            }
        }
        let none = || {
            let remedy = "add an `[[axis]]` with `key = \"model\"` and `values`";
            SpecError::value("axis", "no `model`", "an axis of models", remedy)
        };
        let model = model.ok_or_else(none)?;
        known("axis", &model, &models)?;
        let conditions = conditions(e, &own)?;
        let world = World::new(&model, &conditions).map_err(|error| of_key(e, &own, error))?;
        Ok(Place { axes: c.axes.join(";"), world })
    };
    let all: Vec<_> = combinations(&e.point, &e.axis, e.sample).collect();
    all.into_par_iter().with_max_len(1).map(place).collect()
}

/// The conditions of a point: the defaults, `set`, and what the point sets.
fn conditions(e: &Experiment, own: &[(String, toml::Value)]) -> Result<Conditions, SpecError> {
    let fixed = e.set.iter().map(|(key, value)| (key.clone(), value.clone()));
    let changes: Vec<(String, toml::Value)> = fixed.chain(own.iter().cloned()).collect();
    with_keys(&Conditions::default(), &changes, "the conditions of a pool (docs/kairos.md)")
}

/// An error about a condition, at the key that sets it.
fn of_key(e: &Experiment, own: &[(String, toml::Value)], error: SpecError) -> SpecError {
    let Some(key) = error.key().map(str::to_string) else { return error };
    let of_point = |p: &orrery_sweep::grid::Point| {
        p.set.get(&key) == own.iter().find(|o| o.0 == key).map(|o| &o.1)
    };
    match e.point.iter().position(|p| p.set.contains_key(&key) && of_point(p)) {
        Some(at) => error.at(format!("point[{at}].set.{key}")),
        None if e.set.contains_key(&key) => error.at(format!("set.{key}")),
        None => error,
    }
}

/// Schemes on pools, and searches for the best one.
pub struct Pools<'a> {
    experiment: &'a Experiment,
    places: Vec<Place>,
    known: Known,
}

impl<'a> Pools<'a> {
    /// Sets up every world.
    ///
    /// # Errors
    /// When a condition, a model, a scheme or a pool's name is wrong.
    pub fn new(experiment: &'a Experiment) -> Result<Pools<'a>, SpecError> {
        for (i, s) in experiment.system.iter().enumerate() {
            let key = |part: &str| format!("system[{i}].{part}");
            Scheme::parse(&s.policy).map_err(|e| e.at(key("policy")))?;
            match (&s.pool, &s.search) {
                (Some(pool), None) => {
                    Selector::parse(pool).map_err(|e| e.at(key("pool")))?;
                }
                (None, Some(search)) => {
                    search.check().map_err(|e| e.in_table(&key("search")))?;
                }
                (both, _) => {
                    let found = if both.is_some() { "both" } else { "neither" };
                    let allowed = "one of `pool` and `search`";
                    let remedy = "say which pools, or how the best is looked for";
                    return Err(SpecError::value(key("pool"), found, allowed, remedy));
                }
            }
        }
        Ok(Pools { experiment, places: places(experiment)?, known: Known::default() })
    }

    fn place(&self, place: &Place, axes: &str, system: &System) -> Row {
        Row {
            axes: format!("{}{axes}", place.axes),
            warm_up: "none".to_string(),
            ..system.row(&self.experiment.place())
        }
    }

    /// The systems of a place.
    fn systems(&self, place: &Place) -> impl Iterator<Item = (usize, &'a System)> {
        let row = Row { axes: place.axes.clone(), ..Row::default() };
        self.experiment.system.iter().enumerate().filter(move |(_, s)| s.is_run_at(&row))
    }

    fn cell(
        &self,
        evaluator: &Evaluator<'_>,
        place: &Place,
        system: &System,
        pool: &Pool,
        value: &Value,
    ) -> Result<Cell, SpecError> {
        let (world, scheme) = (&place.world, Scheme::parse(&system.policy)?);
        let bound_only = matches!(scheme, Scheme::UpperBound);
        let seeds: &[u64] = if bound_only { &[0] } else { evaluator.seeds() };
        let at = Row {
            spec_sha256: evaluator.hash(world, pool, &scheme),
            policy: scheme.text().to_string(),
            ..self.place(place, &format!(";pool={}", dashed(pool)), system)
        };
        let fixed = [
            (metric::COST_PER_HOUR, Some(pool.cost(world.space.catalogue()).as_usd_per_hour())),
            (metric::UPPER_BOUND, Some(world.bound_per_s(pool))),
            (metric::BOUND_RANK, world.rank(pool).map(|r| r as f64)),
            (metric::DRS_THRESHOLD, value.threshold.map(f64::from)),
        ];
        let queries = if bound_only { 0 } else { world.conditions.queries };
        let of = |(&seed, &rate): (&u64, &f64)| Replication {
            seed,
            measures: vec![Measure::of("all", ALLOWABLE, rate, queries)],
            ..Default::default()
        };
        let runs: Vec<Replication> = seeds.iter().zip(&value.by_seed_per_s).map(of).collect();
        let list: Vec<u64> = runs.iter().map(|r| r.seed).collect();
        let row = |(metric, value): (&str, Option<f64>)| {
            let seeds = orrery_results::seed_list(&list);
            value.map(|value| Row { seeds, ..at.of_all(metric, value) })
        };
        let more = fixed.into_iter().filter_map(row).collect();
        let seeds = Some(Seeds { first: 1, count: runs.len() as u32, until_ci: None });
        Ok(Cell { place: at, seeds, runs, more })
    }

    fn search(
        &self,
        evaluator: &Evaluator<'_>,
        place: &Place,
        system: &System,
        search: &Searching,
        until: Option<f64>,
    ) -> Result<Vec<Cell>, SpecError> {
        let (world, scheme) = (&place.world, Scheme::parse(&system.policy)?);
        let ran = searches::run(search, &scheme, evaluator, world, until)?;
        let at = Row {
            spec_sha256: spec_sha256(&[
                "pool search",
                &format!("{} {} {search:?}", system.name, system.policy),
                &world.model,
                &format!("{:?} {:?}", world.conditions, evaluator.seeds()),
            ]),
            ..self.place(place, "", system)
        };
        let runs = ran.replications();
        let seeds = |n: usize| Some(Seeds { first: 1, count: n as u32, until_ci: None });
        let mut out =
            vec![Cell { place: at.clone(), seeds: seeds(runs.len()), runs, more: Vec::new() }];
        for (i, trial) in ran.found[0].trials.iter().take(search.trajectory).enumerate() {
            let axes = format!("{};evaluation={}", at.axes, i + 1);
            let mut one = Replication { seed: 1, ..Replication::default() };
            one.push("all", ALLOWABLE, trial.allowable_per_s, 1);
            one.push("all", metric::BEST_SO_FAR, trial.best_per_s, 1);
            let place = Row { axes, ..at.clone() };
            out.push(Cell { place, seeds: seeds(1), runs: vec![one], more: Vec::new() });
        }
        Ok(out)
    }
}

impl Runner for Pools<'_> {
    fn parts(&self) -> Vec<String> {
        self.places.iter().map(|p| p.axes.clone()).collect()
    }

    fn drawn(&self, _: &[String]) -> Vec<Row> {
        let of = |p| self.systems(p).flat_map(|(_, s)| drawn(self.place(p, "", s), s));
        self.places.iter().flat_map(of).collect()
    }

    /// A part is a world: its evaluations are shared by the systems, and kept one by one.
    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let place = &self.places[part];
        let seeds = (1..=u64::from(self.experiment.seeds)).collect();
        let evaluator = Evaluator::new(seeds, &self.known, kept);
        let placed = |i: usize, e: SpecError| match e.key() {
            Some("pool") => self.experiment.origin.placed(e.at(format!("system[{i}].pool"))),
            _ => self.experiment.origin.placed(e),
        };
        let columns: Vec<(usize, &System)> =
            self.systems(place).filter(|(_, s)| s.search.is_none()).collect();
        let values: Vec<(&System, Vec<(Pool, Value)>)> = columns
            .into_par_iter()
            .with_max_len(1)
            .map(|(i, system)| {
                let scheme = Scheme::parse(&system.policy)?;
                let pools = Selector::parse(system.pool.as_deref().unwrap_or_default())?;
                let values = pools.values(&evaluator, &place.world, &scheme);
                Ok((system, values.map_err(|e| placed(i, e))?))
            })
            .collect::<Result<_, SpecError>>()?;
        let until = |name: &str| {
            let values = values.iter().find(|(s, _)| s.name == name).map(|(_, v)| v);
            values.and_then(|v| v.first()).map(|(_, v)| v.mean())
        };
        let mut out = Vec::new();
        for (system, pools) in &values {
            for (pool, value) in pools {
                out.push(self.cell(&evaluator, place, system, pool, value)?);
            }
        }
        for (i, system) in self.systems(place) {
            let Some(search) = &system.search else { continue };
            let cells = self.search(&evaluator, place, system, search, until(&search.until));
            out.extend(cells.map_err(|e| placed(i, e))?);
        }
        Ok(out)
    }

    fn document(&self, _: &[Cell], rows: &[Row]) -> KindDocument {
        let mut settings: Vec<(&str, String)> = Vec::new();
        for place in &self.places {
            let setting = text::setting(self.experiment, &place.axes);
            if !settings.iter().any(|(s, _)| *s == setting) {
                settings.push((setting, text::conditions(&place.world.conditions)));
            }
        }
        KindDocument {
            results: Some(text::parts(self.experiment, &settings, rows)),
            ..KindDocument::default()
        }
    }
}

/// A system's pools, and the steps of its search, as far as a figure needs them.
fn drawn(own: Row, s: &System) -> Vec<Row> {
    if let Some(search) = &s.search {
        let steps =
            (1..=search.trajectory.min(3)).map(|i| within(&own, &format!("evaluation={i}")));
        return std::iter::once(own.clone()).chain(steps).collect();
    }
    let text = s.pool.as_deref().unwrap_or_default();
    let is_listed = text.contains(',') || text.starts_with("top:");
    let first = text.split(',').next().unwrap_or_default();
    let is_counts = first.contains('-') && first.chars().all(|c| c.is_ascii_digit() || c == '-');
    let pools: Vec<&str> = match (is_counts, is_listed) {
        (true, _) => text.split(',').map(str::trim).collect(),
        (false, true) => DRAWN.to_vec(),
        (false, false) => DRAWN[..1].to_vec(),
    };
    pools.iter().map(|p| within(&own, &format!("pool={p}"))).collect()
}

/// `kairos-upper-bounds`: every pool under the budget by its upper bound, and the one that is picked.
pub struct Bounds<'a> {
    experiment: &'a Experiment,
    places: Vec<Place>,
}

impl<'a> Bounds<'a> {
    /// Computes every bound.
    ///
    /// # Errors
    /// When a condition or a model is wrong.
    pub fn new(experiment: &'a Experiment) -> Result<Bounds<'a>, SpecError> {
        Ok(Bounds { experiment, places: places(experiment)? })
    }
}

impl Runner for Bounds<'_> {
    fn parts(&self) -> Vec<String> {
        self.places.iter().map(|p| p.axes.clone()).collect()
    }

    fn drawn(&self, _: &[String]) -> Vec<Row> {
        let place = |p: &Place| Row {
            axes: p.axes.clone(),
            system: KAIROS.to_string(),
            ..self.experiment.place()
        };
        let of = |p| DRAWN.map(|pool| within(&place(p), &format!("pool={pool}")));
        self.places.iter().flat_map(of).collect()
    }

    fn run(&self, part: usize, _: &Kept) -> Result<Vec<Cell>, SpecError> {
        let Place { axes, world } = &self.places[part];
        let (picked, _) = world.ranking.pick(&world.space);
        let pools = world.space.pools();
        let conditions = format!("{:?}", world.conditions);
        let hash = spec_sha256(&["pool bounds", &world.model, &conditions]);
        let mut more = Vec::new();
        for (rank, &i) in (1..).zip(world.ranking.order()) {
            let place = Row {
                axes: format!("{axes};pool={}", dashed(&pools[i])),
                system: KAIROS.to_string(),
                spec_sha256: hash.clone(),
                ..self.experiment.place()
            };
            more.push(place.of_all(metric::UPPER_BOUND, world.ranking.bounds_per_s()[i]));
            more.push(place.of_all(metric::BOUND_RANK, f64::from(rank)));
            more.push(place.of_all(metric::PICKED, f64::from(u8::from(i == picked))));
        }
        Ok(vec![Cell { more, ..Cell::default() }])
    }

    fn document(&self, _: &[Cell], _: &[Row]) -> KindDocument {
        let results = self.places.iter().filter_map(|p| text::bounds(&p.world)).collect();
        KindDocument { results: Some(results), ..KindDocument::default() }
    }
}
