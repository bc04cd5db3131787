//! The highest rates: a table, and what to know of it.

use crate::fight::Fought;
use crate::league::League;
use crate::rates::{MODELS_MOST, Rates, SEEDS, rate, search};
use crate::words::short;
use orrery_report::page::{Field, Table};
use orrery_sim::stats::mean;
use orrery_sweep::goodput::Search;

/// A line for each policy: what part of the best rate it carries.
pub fn table(rates: &Rates, league: &League) -> Table {
    let caption = "The highest rate with at most 1 % late or dropped, as part of the best policy's in each scenario";
    let columns = ["policy", "ran", "mean", "least", "best in", "never good"];
    let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
    let bests = rates.bests(&league.board.beside);
    for (p, name) in league.names.iter().enumerate() {
        let of = |(row, best): (&Vec<Fought>, &f64)| {
            let part = rate(&row[p])? / best;
            (*best > 0.0).then_some(part)
        };
        let parts: Vec<f64> = rates.cells.iter().zip(&bests).filter_map(of).collect();
        let Some(whole) = mean(&parts) else { continue };
        let count = |is: &dyn Fn(f64) -> bool| {
            let n = parts.iter().filter(|part| is(**part)).count();
            Field::number(n as f64, n.to_string())
        };
        let share = |x: f64| Field::number(x, if x >= 1.0 { format!("{x:.2}") } else { short(x) });
        table.rows.push(vec![
            Field::text(name),
            count(&|_| true),
            share(whole),
            share(parts.iter().copied().fold(f64::INFINITY, f64::min)),
            if league.board.beside[p] { Field::none() } else { count(&|part| part >= 1.0) },
            count(&|part| part == 0.0),
        ]);
    }
    table
}

/// In how many scenarios nobody carries any rate, and how sure the answers are.
pub fn notes(rates: &Rates, league: &League) -> Vec<String> {
    let Search { requests_per_model, tolerance, .. } = search();
    let nobody = rates.bests(&league.board.beside).iter().filter(|best| **best == 0.0).count();
    let cells = rates.cells.iter().flatten().filter(|c| rate(c).is_some()).count();
    let none = rates.cells.iter().flatten().filter(|c| !c.runs.is_empty()).count() - cells;
    let mut out = vec![format!(
        "Rates are those of `orrery goodput` with {SEEDS} seeds, probes of up to {requests_per_model} requests a \
         model, and a tolerance of {} %; asked where at most {MODELS_MOST} models' requests come by a process. How \
         sure each is stands in the flags of its row (`--format csv`).",
        100.0 * tolerance
    )];
    if nobody > 0 {
        out.push(format!("In {nobody} of these scenarios no policy of the league sustains any rate; they count nowhere."));
    }
    if none > 0 {
        out.push(format!("{none} searches have no answer, with the reason in their rows."));
    }
    out
}
