//! The tables of pool experiments. It formats; nothing is computed but ratios.

use super::conditions::Conditions;
use super::select::dashed;
use super::world::World;
use crate::experiment::{Experiment, System};
use orrery_report::page::{Field, Part, Table, with_interval};
use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
use orrery_results::{Row, distinct, metric, pair};

/// How many pools of each model are printed of a list of bounds.
const SHOWN: usize = 10;

/// The metrics of a search, as columns: heading, metric, as a percentage.
fn of_search() -> [(&'static str, String, bool); 13] {
    let number = |heading, metric: &str| (heading, metric.to_string(), false);
    let percent = |heading, metric: &str| (heading, metric.to_string(), true);
    [
        number("pools", metric::POOLS),
        number("found q/s", ALLOWABLE),
        number("evaluations", metric::EVALUATIONS),
        percent("% of pools", metric::EVALUATIONS_SHARE),
        number("to its best", metric::EVALUATIONS_TO_BEST),
        percent("% to its best", metric::EVALUATIONS_TO_BEST_SHARE),
        percent("% of optimum", metric::BEST_OVER_OPTIMUM),
        number("to optimum", &metric::EVALUATIONS_TO.name(&["optimum"])),
        number("to within 1 %", &metric::EVALUATIONS_TO.name(&["near_optimum"])),
        percent("% of runs there", &metric::REACHED.name(&["near_optimum"])),
        percent("% worse than homog.", metric::BELOW_UNSCALED_HOMOGENEOUS),
        percent("than scaled", metric::BELOW_HOMOGENEOUS),
        number("until reached", metric::EVALUATIONS_UNTIL_REACHED),
    ]
}

/// The setting that axes name; empty where there is one only.
pub fn setting<'a>(e: &Experiment, axes: &'a str) -> &'a str {
    pair(axes, &e.point_axis).unwrap_or_default()
}

/// The conditions in a line.
pub fn conditions(c: &Conditions) -> String {
    format!(
        "budget {} $/h, QoS x {}, sizes {}, arrivals {}; {} queries a run, found to {} %",
        c.budget_usd_per_hour,
        c.qos_factor,
        format!("{:?}", c.sizes).to_lowercase(),
        format!("{:?}", c.arrivals).to_lowercase(),
        c.queries,
        100.0 * c.precision
    )
}

/// The tables of every setting, each with its conditions.
pub fn parts(e: &Experiment, settings: &[(&str, String)], rows: &[Row]) -> Vec<Part> {
    let mut out = Vec::new();
    for (name, conditions) in settings {
        let own: Vec<&Row> = rows.iter().filter(|r| setting(e, &r.axes) == *name).collect();
        if own.is_empty() {
            continue;
        }
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        out.push(Part::Text(format!("{name}{conditions}")));
        let block = Block { e, models: models(&own), rows: &own };
        let tables =
            block.columns().into_iter().chain(block.searches()).chain(block.trajectories());
        out.extend(tables.filter_map(Table::part));
    }
    out
}

/// The start of a model's list of bounds, and the pool that is picked.
pub fn bounds(world: &World) -> Option<Part> {
    let (picked, why) = world.ranking.pick(&world.space);
    let pools = world.space.pools();
    let caption = format!(
        "{}: {} pools ({}); picked {}, by {}",
        world.model,
        pools.len(),
        world.conditions.types.join("-"),
        dashed(&pools[picked]),
        format!("{why:?}").to_lowercase()
    );
    let mut table = Table::new(caption, &["rank", "pool", "$/h", "bound q/s", ""]);
    for (place, &i) in world.ranking.order().iter().enumerate() {
        if place < SHOWN || i == picked {
            let line = [
                (place + 1).to_string(),
                dashed(&pools[i]),
                world.space.costs()[i].to_string(),
                format!("{:.2}", world.ranking.bounds_per_s()[i]),
                if i == picked { "picked".to_string() } else { String::new() },
            ];
            table.rows.push(line.map(Field::text).to_vec());
        }
    }
    table.part()
}

/// The models of rows, in their order.
fn models(rows: &[&Row]) -> Vec<String> {
    distinct(rows.iter().filter_map(|r| r.axis("model"))).into_iter().map(String::from).collect()
}

/// What is printed of one setting.
struct Block<'a> {
    e: &'a Experiment,
    models: Vec<String>,
    rows: &'a [&'a Row],
}

impl Block<'_> {
    /// The columns: for each model a line where a column has one pool, a line for each pool where it has
    /// several.
    fn columns(&self) -> Vec<Table> {
        let columns = self.e.system.iter().filter(|s| s.search.is_none());
        let names = columns.map(|c| c.name.as_str()).filter(|n| self.of(n).next().is_some());
        let several = |name: &&str| {
            let mut models = self.of(name).map(|r| r.axis("model"));
            models.any(|model| self.of(name).filter(|o| o.axis("model") == model).count() > 1)
        };
        let (many, single): (Vec<&str>, Vec<&str>) = names.partition(several);
        let single = (!single.is_empty()).then(|| self.by_model(&single));
        single.into_iter().chain((!many.is_empty()).then(|| self.by_pool(&many))).collect()
    }

    /// What columns carry.
    fn of(&self, name: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().copied().filter(move |r| r.system == name && r.metric == ALLOWABLE)
    }

    /// A line for each model: columns with one pool.
    fn by_model(&self, single: &[&str]) -> Table {
        let Block { e, rows, .. } = self;
        let what = match e.relative_to.as_str() {
            "" => String::new(),
            name => format!(" (times {name})"),
        };
        let caption = format!("allowable throughput in queries/s{what} @pool");
        let mut table = table(caption, &["model"], single);
        for model in &self.models {
            let is_here = |r: &&Row| r.axis("model") == Some(model);
            let cell = |name: &&str| {
                let row = self.of(name).find(is_here);
                row.map_or("-".to_string(), |r| {
                    let is_base = |b: &&&Row| {
                        b.system == e.relative_to && b.metric == ALLOWABLE && is_here(b)
                    };
                    let base = rows.iter().find(is_base).filter(|b| b.system != r.system);
                    let base = base.and_then(|b| b.value).filter(|b| *b > 0.0);
                    let ratio = r.value.zip(base);
                    let ratio = ratio.map(|(own, base)| format!(" ({:.2}x)", own / base));
                    let pool = r.axis("pool").unwrap_or_default();
                    format!("{}{} @{pool}", value(r), ratio.unwrap_or_default())
                })
            };
            let mut line = vec![model.to_string()];
            line.extend(single.iter().map(cell));
            table.rows.push(line.into_iter().map(Field::text).collect());
        }
        table
    }

    /// A line for each pool of each model: columns with several.
    fn by_pool(&self, many: &[&str]) -> Table {
        let caption = "allowable throughput in queries/s, by pool".to_string();
        let mut table = table(caption, &["model pool", "bound rank"], many);
        for model in &self.models {
            let own =
                many.iter().flat_map(|n| self.of(n)).filter(|r| r.axis("model") == Some(model));
            for pool in distinct(own.map(|r| r.axis("pool").unwrap_or_default())) {
                let here = |r: &Row| r.axis("model") == Some(model) && r.axis("pool") == Some(pool);
                let rank = self.rows.iter().find(|r| here(r) && r.metric == metric::BOUND_RANK);
                let mut line = vec![format!("{model} {pool}")];
                let rank = rank.and_then(|r| r.value);
                line.push(rank.map_or("-".to_string(), |rank| format!("{rank:.0}")));
                for name in many {
                    let row = self.of(name).find(|r| here(r));
                    line.push(row.map_or("-".to_string(), value));
                }
                table.rows.push(line.into_iter().map(Field::text).collect());
            }
        }
        table
    }

    fn searches(&self) -> Option<Table> {
        let rows = self.rows;
        let systems: Vec<&System> = self.e.system.iter().filter(|s| s.search.is_some()).collect();
        let mut metrics = of_search().to_vec();
        let names: Vec<&str> = systems.iter().map(|s| s.name.as_str()).collect();
        let own = |r: &&&Row| names.contains(&r.system.as_str()) && r.axis("evaluation").is_none();
        let has = |metric: &str| rows.iter().filter(own).any(|r| r.metric == metric);
        metrics.retain(|m| has(&m.1));
        let heads: Vec<&str> = metrics.iter().map(|m| m.0).collect();
        let caption = "searches (means over runs)".to_string();
        let mut table = table(caption, &["model", "search", "runs"], &heads);
        for model in &self.models {
            for system in &systems {
                let Some(search) = &system.search else { continue };
                let row = |metric: &str| {
                    rows.iter().filter(own).find(|r| {
                        r.system == system.name
                            && r.axis("model") == Some(model)
                            && r.metric == metric
                    })
                };
                let Some(first) = row(metric::POOLS) else { continue };
                let runs = first.seeds.split('-').next_back().unwrap_or_default().to_string();
                let mut line = vec![model.clone(), system.name.clone(), runs];
                for (_, metric, percent) in &metrics {
                    let asked = match metric.as_str() {
                        m if m.contains("optimum") => search.optimum,
                        metric::EVALUATIONS_UNTIL_REACHED => !search.until.is_empty(),
                        _ => true,
                    };
                    let none = if asked { "never" } else { "-" };
                    line.push(row(metric).and_then(|r| r.value).map_or(none.to_string(), |x| {
                        if *percent {
                            format!("{:.1}", 100.0 * x)
                        } else {
                            format!("{x:.1}").trim_end_matches(".0").to_string()
                        }
                    }));
                }
                table.rows.push(line.into_iter().map(Field::text).collect());
            }
        }
        (!metrics.is_empty()).then_some(table)
    }

    /// The best so far, evaluation by evaluation.
    fn trajectories(&self) -> Vec<Table> {
        let rows = self.rows;
        let steps_of = |s: &System| s.search.as_ref().map_or(0, |s| s.trajectory);
        let steps = self.e.system.iter().map(steps_of).max().unwrap_or(0);
        let names: Vec<&str> =
            self.e.system.iter().filter(|s| steps_of(s) > 0).map(|s| s.name.as_str()).collect();
        let mut tables = Vec::new();
        for model in self.models.iter().filter(|_| steps > 0) {
            let caption =
                format!("{model}: rates that the evaluated pools sustain, in queries/s (run 1)");
            let mut table = table(caption, &["evaluation"], &names);
            for step in 1..=steps {
                let mut line = vec![step.to_string()];
                for name in &names {
                    let find = |metric: &str| {
                        rows.iter().find(|r| {
                            r.system == *name
                                && r.metric == metric
                                && r.axis("model") == Some(model)
                                && r.axis("evaluation") == Some(&step.to_string())
                        })
                    };
                    let number = |metric: &str| find(metric).and_then(|r| r.value);
                    let cell = number(ALLOWABLE).zip(number(metric::BEST_SO_FAR));
                    line.push(cell.map_or("-".to_string(), |(own, best)| {
                        format!("{own:.1} (best {best:.1})")
                    }));
                }
                table.rows.push(line.into_iter().map(Field::text).collect());
            }
            tables.push(table);
        }
        tables
    }
}

/// A value with its interval: `57.9 ±1.2`.
fn value(row: &Row) -> String {
    row.value.map_or("-".to_string(), |x| with_interval(x, row.ci95(), 1))
}

fn table(caption: String, keys: &[&str], names: &[&str]) -> Table {
    let columns: Vec<&str> = keys.iter().chain(names).copied().collect();
    Table { keys: keys.len(), ..Table::new(caption, &columns) }
}
