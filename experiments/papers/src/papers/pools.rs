//! `orrery reproduce` for Kairos's figures: pools of several instance types under a budget, which of
//! them carries most under which scheme, and how many evaluations it takes to find that out.
//!
//! ```text
//!  file ──▶ settings × models ──▶ World (pools, bounds, what is simulated)
//!                                   │
//!             columns: Selector ────┼──▶ Evaluator ──▶ allowable throughputs
//!             searches: planner ────┘                        │
//!                                           claims ◀── rows ◀┘
//! ```
//!
//! It is not `orrery plan`, which answers for a load of the user's.

mod bounds;
mod claims;
mod conditions;
mod evaluate;
mod file;
mod oracle;
mod report;
mod scheme;
mod searches;
mod select;
mod world;

pub use conditions::Conditions;
pub use file::{Algorithm, Claim, Column, Figure, Search, Setting};
pub use scheme::Scheme;
pub use select::Selector;

use crate::cells::cell::{Measure, Replication, Seeds, rows};
use crate::cli::Reproduce;
use crate::output::{Forms, Progress, say_more};
use crate::cells::Store;
use evaluate::{Evaluator, Value};
use orrery_planner::Pool;
use orrery_results::{RESULT_VERSION, Row, to_json};
use orrery_scenario::{SpecError, read_text};
use rayon::prelude::*;
use select::dashed;
use world::World;

/// The metric of columns, and of what searches find.
const ALLOWABLE: &str = "allowable_throughput_per_s";

/// In the order of `orrery list`.
const FIGURES: &[&str] = &[
    include_str!("../pools/kairos-upper-bounds.toml"),
    include_str!("../pools/kairos-upper-bounds-samples.toml"),
    include_str!("../pools/kairos-fig-1.toml"),
    include_str!("../pools/kairos-fig-2.toml"),
    include_str!("../pools/kairos-fig-3.toml"),
    include_str!("../pools/kairos-fig-8.toml"),
    include_str!("../pools/kairos-fig-8-sensitivity.toml"),
    include_str!("../pools/kairos-fig-9.toml"),
    include_str!("../pools/kairos-fig-10.toml"),
    include_str!("../pools/kairos-fig-11.toml"),
    include_str!("../pools/kairos-fig-12.toml"),
    include_str!("../pools/kairos-fig-13.toml"),
    include_str!("../pools/kairos-fig-14.toml"),
    include_str!("../pools/kairos-fig-15.toml"),
    include_str!("../pools/kairos-fig-16.toml"),
];

impl Figure {
    /// The ids of the shipped figures.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        let id = |text: &'static str| {
            let line = text.lines().find_map(|l| l.strip_prefix("id = \""));
            line.and_then(|l| l.strip_suffix('"')).unwrap_or_default()
        };
        FIGURES.iter().map(move |text| id(text))
    }

    /// All shipped figures.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn shipped() -> Result<Vec<Figure>, SpecError> {
        Figure::ids().zip(FIGURES).map(|(id, text)| Figure::from_text(id, text)).collect()
    }

    /// The shipped figure of an id, or the one in a file (`.toml`, with the key `models` beside
    /// `column`, `search` or `bounds`), if there is one.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn find(id: &str) -> Result<Option<Figure>, SpecError> {
        if id.ends_with(".toml") {
            let text = read_text(id)?;
            let is_one = text.parse::<toml::Table>().is_ok_and(|t| {
                let any = ["column", "search", "bounds", "conditions"];
                t.contains_key("models") && any.iter().any(|k| t.contains_key(*k))
            });
            return is_one.then(|| Figure::from_text(id, &text)).transpose();
        }
        let at = Figure::ids().position(|known| known == id);
        at.map(|at| Figure::from_text(id, FIGURES[at])).transpose()
    }

    /// Runs it: `--case` chooses models. With `--out`, evaluations that are finished are kept there,
    /// and found again by any figure that needs them.
    ///
    /// # Errors
    /// When a part of it is wrong, or `--out` cannot be written.
    pub fn reproduce(&self, args: &Reproduce) -> Result<Forms, SpecError> {
        let mut figure = self.clone();
        if let Some(seeds) = args.seeds {
            figure.seeds = seeds;
        }
        let known: Vec<&str> = self.models.iter().map(String::as_str).collect();
        args.cases.iter().try_for_each(|case| file::known("--case", case, &known))?;
        if !args.cases.is_empty() {
            figure.models.retain(|m| args.cases.contains(m));
        }
        let store = args.output.out.as_ref().map(|folder| Store::open(folder)).transpose()?;
        figure.run(store).map_err(|e| figure.origin.placed(e))
    }

    fn run(&self, store: Option<Store>) -> Result<Forms, SpecError> {
        if self.bounds {
            return bounds::forms(self);
        }
        let evaluator = Evaluator::new((1..=u64::from(self.seeds)).collect(), store);
        let mut places = Vec::new();
        for setting in &self.setting {
            let conditions = self.conditions_of(setting)?;
            places.extend(self.models.iter().map(|m| (setting, m, conditions.clone())));
        }
        let worlds: Vec<(&Setting, World)> = places
            .into_par_iter()
            .map(|(setting, model, c)| {
                let world = World::new(&setting.name, model, &c);
                world.map(|w| (setting, w)).map_err(|e| self.of_conditions(setting, e))
            })
            .collect::<Result<_, _>>()?;
        let progress = Progress::new(worlds.len() as u64, "models");
        let all = |(setting, world): &(&Setting, World)| {
            let own = self.rows_of(&evaluator, setting, world);
            progress.step();
            own
        };
        let all: Vec<Vec<Row>> =
            worlds.par_iter().with_max_len(1).map(all).collect::<Result<_, _>>()?;
        drop(progress);
        say_more(&format!("{} evaluations were made", evaluator.evaluations()));
        let all: Vec<Row> = all.into_iter().flatten().collect();
        Ok(Forms {
            table: report::text(self, &all),
            wide: orrery_results::wide(&all),
            json: to_json(&all, &[("figure", self.id.clone().into())]),
            rows: all,
        })
    }

    /// What is told of a model under a setting.
    fn rows_of(
        &self,
        evaluator: &Evaluator,
        setting: &Setting,
        world: &World,
    ) -> Result<Vec<Row>, SpecError> {
        let asked = |c: &&Column| setting.columns.is_empty() || setting.columns.contains(&c.name);
        let columns: Vec<&Column> = self.column.iter().filter(asked).collect();
        let columns: Vec<(&Column, Vec<(Pool, Value)>)> = columns
            .into_par_iter()
            .with_max_len(1)
            .map(|column| {
                let scheme = Scheme::parse(&column.scheme)?;
                let values = Selector::parse(&column.pool)?.values(evaluator, world, &scheme);
                Ok((column, values.map_err(|e| self.of_column(column, e))?))
            })
            .collect::<Result<_, SpecError>>()?;
        let mut out = Vec::new();
        for (column, values) in &columns {
            for (pool, value) in values {
                out.extend(self.rows_of_cell(evaluator, world, column, pool, value)?);
            }
        }
        let until = |name: &str| {
            let values = columns.iter().find(|(c, _)| c.name == name).map(|(_, v)| v);
            values.and_then(|v| v.first()).map(|(_, v)| v.mean())
        };
        for search in &self.search {
            out.extend(self.rows_of_search(evaluator, world, search, until(&search.until))?);
        }
        Ok(out)
    }

    /// An error about a condition, at the key that sets it.
    fn of_conditions(&self, setting: &Setting, error: SpecError) -> SpecError {
        let Some(key) = error.key().map(str::to_string) else { return error };
        let at = self.setting.iter().position(|s| s.name == setting.name).unwrap_or(0);
        if setting.set.contains_key(&key) {
            error.at(format!("setting[{at}].set.{key}"))
        } else if self.conditions.contains_key(&key) {
            error.at(format!("conditions.{key}"))
        } else {
            error
        }
    }

    /// An error about a column's pool, at its key.
    fn of_column(&self, column: &Column, error: SpecError) -> SpecError {
        match self.column.iter().position(|c| c.name == column.name) {
            Some(i) if error.key() == Some("pool") => error.at(format!("column[{i}].pool")),
            _ => error,
        }
    }

    fn place(&self, world: &World, axes: &str, system: &str, scheme: &str) -> Row {
        let setting = match world.setting.as_str() {
            "" => String::new(),
            name => format!("setting={name};"),
        };
        Row {
            experiment: self.id.clone(),
            axes: format!("{setting}model={}{axes}", world.model),
            system: system.to_string(),
            policy: scheme.to_string(),
            warm_up: "none".to_string(),
            result_version: RESULT_VERSION,
            ..Row::default()
        }
    }

    fn rows_of_cell(
        &self,
        evaluator: &Evaluator,
        world: &World,
        column: &Column,
        pool: &Pool,
        value: &Value,
    ) -> Result<Vec<Row>, SpecError> {
        let scheme = Scheme::parse(&column.scheme)?;
        let bound_only = matches!(scheme, Scheme::UpperBound);
        let seeds: &[u64] = if bound_only { &[0] } else { evaluator.seeds() };
        let axes = format!(";pool={}", dashed(pool));
        let mut place = self.place(world, &axes, &column.name, scheme.text());
        place.preset.clone_from(&column.preset);
        place.spec_sha256 = evaluator.hash(world, pool, &scheme);
        let fixed = [
            ("cost_usd_per_hour", Some(pool.cost(world.space.catalogue()).as_usd_per_hour())),
            ("upper_bound_per_s", Some(world.bound_per_s(pool))),
            ("bound_rank", world.rank(pool).map(|r| r as f64)),
            ("drs_threshold", value.threshold.map(f64::from)),
        ];
        let queries = if bound_only { 0 } else { world.conditions.queries };
        let of = |(&seed, &rate): (&u64, &f64)| Replication {
            seed,
            measures: vec![measure(ALLOWABLE, rate, queries)],
            ..Default::default()
        };
        let runs: Vec<Replication> = seeds.iter().zip(&value.by_seed_per_s).map(of).collect();
        let count = Seeds { first: 1, count: runs.len() as u32, until_ci: None };
        let mut out = rows(&place, &count, &runs);
        let row = |(metric, value): (&str, Option<f64>)| {
            value.map(|value| Row {
                scope: "all".to_string(),
                metric: metric.to_string(),
                unit: orrery_results::unit(metric).to_string(),
                value: Some(value),
                seeds: out[0].seeds.clone(),
                ..place.clone()
            })
        };
        let more: Vec<Row> = fixed.into_iter().filter_map(row).collect();
        out.extend(more);
        Ok(out)
    }

    fn rows_of_search(
        &self,
        evaluator: &Evaluator,
        world: &World,
        search: &Search,
        until: Option<f64>,
    ) -> Result<Vec<Row>, SpecError> {
        let ran = searches::run(search, evaluator, world, until)?;
        let mut place = self.place(world, "", &search.name, &search.scheme);
        place.spec_sha256 = crate::cells::cell::spec_sha256(&[
            "pool search",
            &format!("{search:?}"),
            &world.model,
            &format!("{:?} {:?}", world.conditions, evaluator.seeds()),
        ]);
        let runs = ran.replications();
        let seeds = Seeds { first: 1, count: runs.len() as u32, until_ci: None };
        let mut out = rows(&place, &seeds, &runs);
        for (i, trial) in ran.found[0].trials.iter().take(search.trajectory).enumerate() {
            let axes = format!("{};evaluation={}", place.axes, i + 1);
            let place = Row { axes, ..place.clone() };
            let one = Replication {
                seed: 1,
                measures: vec![
                    measure(ALLOWABLE, trial.allowable_per_s, 1),
                    measure("best_so_far_per_s", trial.best_per_s, 1),
                ],
                ..Replication::default()
            };
            out.extend(rows(&place, &Seeds { first: 1, count: 1, until_ci: None }, &[one]));
        }
        Ok(out)
    }
}

fn measure(metric: &str, value: f64, samples: u64) -> Measure {
    Measure::of("all", metric, value, samples)
}

#[cfg(test)]
mod tests;
