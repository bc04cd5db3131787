//! The tables of pool experiments as text. It formats; nothing is computed but ratios.

use super::conditions::Conditions;
use super::select::dashed;
use super::world::World;
use crate::experiment::{Experiment, System};
use orrery_report::tables::Text;
use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
use orrery_results::{Row, metric};
use std::fmt::Write;

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
    let prefix = format!("{}=", e.point_axis);
    axes.split(';').find_map(|a| a.strip_prefix(prefix.as_str())).unwrap_or_default()
}

/// The conditions in a line.
pub fn conditions(c: &Conditions) -> String {
    format!(
        "budget {} $/h, QoS x {}, sizes {}, arrivals {}; {} queries a run, found to {} %",
        c.budget_usd_per_hour,
        c.qos_factor,
        word(&format!("{:?}", c.sizes)),
        word(&format!("{:?}", c.arrivals)),
        c.queries,
        100.0 * c.precision
    )
}

/// The tables of every setting, each with its conditions.
pub fn blocks(e: &Experiment, settings: &[(&str, String)], rows: &[Row]) -> String {
    let mut out = String::new();
    for (name, conditions) in settings {
        let own: Vec<&Row> = rows.iter().filter(|r| setting(e, &r.axes) == *name).collect();
        if own.is_empty() {
            continue;
        }
        out.push('\n');
        if !name.is_empty() {
            let _ = writeln!(out, "== {name}");
        }
        let _ = writeln!(out, "{conditions}");
        let block = Block { e, models: models(&own), rows: &own };
        block.columns(&mut out);
        block.searches(&mut out);
        block.trajectories(&mut out);
    }
    out
}

/// The start of a model's list of bounds, and the pool that is picked.
pub fn bounds(world: &World) -> String {
    let (picked, why) = world.ranking.pick(&world.space);
    let pools = world.space.pools();
    let mut out = format!(
        "\n{}: {} pools ({}); picked {}, by {}\n",
        world.model,
        pools.len(),
        world.conditions.types.join("-"),
        dashed(&pools[picked]),
        format!("{why:?}").to_lowercase()
    );
    let mut table = Text::new(&["rank", "pool", "$/h", "bound q/s", ""]);
    for (place, &i) in world.ranking.order().iter().enumerate() {
        if place < SHOWN || i == picked {
            table.line(vec![
                (place + 1).to_string(),
                dashed(&pools[i]),
                world.space.costs()[i].to_string(),
                format!("{:.2}", world.ranking.bounds_per_s()[i]),
                if i == picked { "picked".to_string() } else { String::new() },
            ]);
        }
    }
    out.push_str(&table.left(&["pool", "$/h", ""]).text());
    out
}

/// The models of rows, in their order.
fn models(rows: &[&Row]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for model in rows.iter().filter_map(|r| r.axis("model")) {
        if !all.iter().any(|m| m == model) {
            all.push(model.to_string());
        }
    }
    all
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
    fn columns(&self, out: &mut String) {
        let columns = self.e.system.iter().filter(|s| s.search.is_none());
        let names = columns.map(|c| c.name.as_str()).filter(|n| self.of(n).next().is_some());
        let several = |name: &&str| {
            let mut models = self.of(name).map(|r| r.axis("model"));
            models.any(|model| self.of(name).filter(|o| o.axis("model") == model).count() > 1)
        };
        let (many, single): (Vec<&str>, Vec<&str>) = names.partition(several);
        if !single.is_empty() {
            self.by_model(&single, out);
        }
        if !many.is_empty() {
            self.by_pool(&many, out);
        }
    }

    /// What columns carry.
    fn of(&self, name: &str) -> impl Iterator<Item = &Row> {
        self.rows.iter().copied().filter(move |r| r.system == name && r.metric == ALLOWABLE)
    }

    /// A line for each model: columns with one pool.
    fn by_model(&self, single: &[&str], out: &mut String) {
        let Block { e, rows, .. } = self;
        let mut table = vec![header("model", single)];
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
            table.push(line);
        }
        let what = match e.relative_to.as_str() {
            "" => String::new(),
            name => format!(" (times {name})"),
        };
        let _ = writeln!(out, "\nallowable throughput in queries/s{what} @pool");
        out.push_str(&aligned(&table));
    }

    /// A line for each pool of each model: columns with several.
    fn by_pool(&self, many: &[&str], out: &mut String) {
        let mut table = vec![header("model pool", many)];
        table[0].insert(1, "bound rank".to_string());
        for model in &self.models {
            let mut pools: Vec<&str> = Vec::new();
            for row in many.iter().flat_map(|n| self.of(n)) {
                let pool = row.axis("pool").unwrap_or_default();
                if row.axis("model") == Some(model) && !pools.contains(&pool) {
                    pools.push(pool);
                }
            }
            for pool in pools {
                let here = |r: &Row| r.axis("model") == Some(model) && r.axis("pool") == Some(pool);
                let rank = self.rows.iter().find(|r| here(r) && r.metric == metric::BOUND_RANK);
                let mut line = vec![format!("{model} {pool}")];
                let rank = rank.and_then(|r| r.value);
                line.push(rank.map_or("-".to_string(), |rank| format!("{rank:.0}")));
                for name in many {
                    let row = self.of(name).find(|r| here(r));
                    line.push(row.map_or("-".to_string(), value));
                }
                table.push(line);
            }
        }
        let _ = writeln!(out, "\nallowable throughput in queries/s, by pool");
        out.push_str(&aligned(&table));
    }

    fn searches(&self, out: &mut String) {
        let rows = self.rows;
        let systems: Vec<&System> = self.e.system.iter().filter(|s| s.search.is_some()).collect();
        let mut metrics = of_search().to_vec();
        let names: Vec<&str> = systems.iter().map(|s| s.name.as_str()).collect();
        let own = |r: &&&Row| names.contains(&r.system.as_str()) && r.axis("evaluation").is_none();
        let has = |metric: &str| rows.iter().filter(own).any(|r| r.metric == metric);
        metrics.retain(|m| has(&m.1));
        if metrics.is_empty() {
            return;
        }
        let mut table = vec![header("model", &["search", "runs"])];
        table[0].extend(metrics.iter().map(|m| m.0.to_string()));
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
                table.push(line);
            }
        }
        let _ = writeln!(out, "\nsearches (means over runs)");
        out.push_str(&aligned(&table));
    }

    /// The best so far, evaluation by evaluation.
    fn trajectories(&self, out: &mut String) {
        let rows = self.rows;
        let steps_of = |s: &System| s.search.as_ref().map_or(0, |s| s.trajectory);
        let steps = self.e.system.iter().map(steps_of).max().unwrap_or(0);
        if steps == 0 {
            return;
        }
        for model in &self.models {
            let names: Vec<&str> =
                self.e.system.iter().filter(|s| steps_of(s) > 0).map(|s| s.name.as_str()).collect();
            let mut table = vec![header("evaluation", &names)];
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
                table.push(line);
            }
            let _ =
                writeln!(out, "\n{model}: capacity of the evaluated pools, in queries/s (run 1)");
            out.push_str(&aligned(&table));
        }
    }
}

/// `Normal { mean: 250.0, sd: 100.0 }` in small letters.
fn word(debug: &str) -> String {
    debug.to_lowercase()
}

/// A value with half its interval: `57.9 ±1.2`.
fn value(row: &Row) -> String {
    let half = row.ci95().map(|(low, high)| format!(" ±{:.1}", (high - low) / 2.0));
    let value = row.value.map_or("-".to_string(), |x| format!("{x:.1}"));
    format!("{value}{}", half.unwrap_or_default())
}

fn header(first: &str, names: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(names.iter().copied()).map(String::from).collect()
}

fn aligned(table: &[Vec<String>]) -> String {
    let (head, lines) = table.split_first().expect("it has a header");
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut text = Text::new(&head);
    lines.iter().for_each(|line| text.line(line.clone()));
    text.left(&head).text()
}
