//! `kairos-upper-bounds`: every pool under the budget by its upper bound, and the one that is picked.

use super::file::Figure;
use super::select::dashed;
use super::world::World;
use crate::output::Forms;
use orrery_planner::{Ranking, write_table};
use orrery_results::{RESULT_VERSION, Row, to_json};
use orrery_scenario::SpecError;
use std::fmt::Write;

/// How many of each model are printed.
const SHOWN: usize = 10;

/// The table: its wide form is the CSV `model,n_g4dn,...,rank,picked`.
pub fn forms(figure: &Figure) -> Result<Forms, SpecError> {
    let mut table = format!("{}: {}\nsource: {}\n", figure.id, figure.title, figure.source);
    let (mut csv, mut rows) = (Vec::new(), Vec::new());
    for setting in &figure.setting {
        let conditions = figure.conditions_of(setting)?;
        let world = |m: &String| World::new(&setting.name, m, &conditions);
        let worlds: Vec<World> = figure.models.iter().map(world).collect::<Result<_, _>>()?;
        let rankings: Vec<(&str, &Ranking)> =
            worlds.iter().map(|w| (w.model.as_str(), &w.ranking)).collect();
        let Some(first) = worlds.first() else { continue };
        write_table(&first.space, &rankings, &mut csv).map_err(|e| {
            SpecError::value("bounds", e, "a table that can be written", "report this")
        })?;
        for world in &worlds {
            of_model(figure, world, &mut table, &mut rows);
        }
    }
    if !figure.assumption.is_empty() {
        table.push_str("\nassumed, where the paper is silent:\n");
        figure.assumption.iter().for_each(|a| _ = writeln!(table, "- {a}"));
    }
    let json = to_json(&rows, &[("figure", figure.id.clone().into())]);
    Ok(Forms { table, wide: String::from_utf8_lossy(&csv).into_owned(), json, rows })
}

fn of_model(figure: &Figure, world: &World, table: &mut String, rows: &mut Vec<Row>) {
    let (picked, why) = world.ranking.pick(&world.space);
    let pools = world.space.pools();
    let _ = writeln!(
        table,
        "\n{}: {} pools ({}); picked {}, by {}",
        world.model,
        pools.len(),
        world.conditions.types.join("-"),
        dashed(&pools[picked]),
        format!("{why:?}").to_lowercase()
    );
    let _ = writeln!(table, "rank  pool        $/h      bound q/s");
    for (place, &i) in world.ranking.order().iter().enumerate() {
        let bound = world.ranking.bounds_per_s()[i];
        let mark = if i == picked { "  picked" } else { "" };
        if place < SHOWN || i == picked {
            let (pool, cost) = (dashed(&pools[i]), world.space.costs()[i].to_string());
            let _ = writeln!(table, "{:>4}  {pool:<10}  {cost:<7}  {bound:>9.2}{mark}", place + 1);
        }
        let row = |metric: &str, value: f64| Row {
            experiment: figure.id.clone(),
            axes: format!("model={};pool={}", world.model, dashed(&pools[i])),
            system: "kairos".to_string(),
            scope: "all".to_string(),
            metric: metric.to_string(),
            unit: orrery_results::unit(metric).to_string(),
            value: Some(value),
            spec_sha256: crate::cells::cell::spec_sha256(&[
                "pool bounds",
                &world.model,
                &format!("{:?}", world.conditions),
            ]),
            result_version: RESULT_VERSION,
            ..Row::default()
        };
        rows.push(row("upper_bound_per_s", bound));
        rows.push(row("bound_rank", (place + 1) as f64));
        rows.push(row("picked", f64::from(u8::from(i == picked))));
    }
}
