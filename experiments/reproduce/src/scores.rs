//! How far a table is off the paper's: errors, skill, agreement on order.
//!
//! Everything here is computed from our rows and the paper's numbers; nothing feeds back into a run.

use super::experiment::{Experiment, System};
use super::groups::{self, Group};
use super::numbers::axes;
use super::runner::Cell;
use orrery_report::page::{Field, Part, Table, reading};
use orrery_results::{Row, UNITLESS, distinct, metric, unit};
use orrery_sim::stats::{self, mean};
use orrery_sweep::replication::Replication;
use serde::Serialize;

/// Two systems of the paper are in an order when they are further apart than this, of the larger one where errors are
/// relative.
const APART: f64 = 0.05;

/// Whether errors of the main metric are shares of the paper's numbers: all but those of what is a share itself.
pub fn is_relative(e: &Experiment) -> bool {
    unit(e.main()) != UNITLESS
}

/// A system's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemScore {
    /// The system.
    pub system: String,
    /// Its preset.
    pub preset: String,
    /// Cells with a number of the paper.
    pub cells: usize,
    /// Whether errors are shares of the paper's numbers.
    pub relative: bool,
    /// Mean absolute error over them.
    #[serde(rename = "mean_abs_error")]
    pub mae: f64,
    /// The mean absolute error of predicting each cell by the median of the paper's other cases at the
    /// same place; `None` when there is no other case.
    #[serde(rename = "median_mean_abs_error")]
    pub median_mae: Option<f64>,
    /// 1 - error / that error. Negative when the median is better.
    pub skill: Option<f64>,
}

/// Two counts: how often something was so, out of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How often.
    pub hits: usize,
    /// Out of.
    pub of: usize,
}

/// All scores of one group of systems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// By system, in the file's order.
    pub systems: Vec<SystemScore>,
    /// Pairs of systems that the paper separates by more than 0.05 (5 %), in one cell, that come out in the
    /// paper's order.
    pub order: Share,
    /// Places where the paper has another system above the one that all are compared with, and so have
    /// we.
    pub beats_base: Share,
    /// Places where we have another system above it and the paper has not.
    pub wrongly_beaten: usize,
    /// The row with the largest error.
    pub worst: Option<Row>,
}

/// A number of ours with the paper's.
#[derive(Clone, Copy)]
struct Pair<'a> {
    row: &'a Row,
    ours: f64,
    paper: f64,
    /// What an error is divided by: the paper's number where errors are relative, else 1.
    scale: f64,
}

impl Pair<'_> {
    fn error(&self) -> f64 {
        self.error_of(self.ours)
    }

    fn error_of(&self, predicted: f64) -> f64 {
        (predicted - self.paper) / self.scale
    }

    /// The axes but for the case.
    fn place(&self) -> &str {
        &self.row.axes
    }
}

/// The rows of the main metric that belong to whole cells.
fn main_rows<'a>(e: &'a Experiment, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    let is = |r: &&Row| r.metric == e.main() && r.scope == "all" && r.versus.is_empty();
    rows.iter().filter(is)
}

fn is_of(row: &Row, group: &Group<'_>) -> bool {
    group.systems.iter().any(|s| s.name == row.system && s.preset.word() == row.preset)
}

/// The errors of each system against the paper, where it has numbers of the main metric.
pub fn of(e: &Experiment, rows: &[Row]) -> Vec<SystemScore> {
    groups::of(e).iter().flat_map(|g| score(e, g, rows).systems).collect()
}

/// The mean error of the naive baseline over the systems of a preset, or of all; none where it has no other case.
pub fn naive(e: &Experiment, rows: &[Row], preset: &str) -> Option<f64> {
    let own = of(e, rows).into_iter().filter(|s| preset.is_empty() || s.preset == preset);
    let all: Option<Vec<(f64, f64)>> =
        own.map(|s| Some((s.median_mae? * s.cells as f64, s.cells as f64))).collect();
    let all = all?;
    let numbers = all.iter().map(|s| s.1).sum::<f64>();
    (numbers > 0.0).then(|| all.iter().map(|s| s.0).sum::<f64>() / numbers)
}

/// Scores a group of systems.
pub fn score(e: &Experiment, group: &Group<'_>, rows: &[Row]) -> Scores {
    let is_relative = is_relative(e);
    let pair = |row| {
        let row: &Row = row;
        let paper = row.paper?;
        let scale = if is_relative { paper.abs() } else { 1.0 };
        (scale > 0.0).then_some(())?;
        Some(Pair { row, ours: row.value?, paper, scale })
    };
    let all: Vec<Pair<'_>> =
        main_rows(e, rows).filter(|r| is_of(r, group)).filter_map(pair).collect();
    let mut scores = Scores::default();
    for s in &group.systems {
        let own = |p: &&Pair<'_>| p.row.system == s.name && p.row.preset == s.preset.word();
        let own: Vec<Pair<'_>> = all.iter().filter(own).copied().collect();
        scores.systems.extend(system_score(&own, is_relative));
    }
    let worst = all.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    scores.worst = worst.map(|p| p.row.clone());
    let same = |a: &Pair<'_>, b: &Pair<'_>| a.row.case == b.row.case && a.place() == b.place();
    for cell in all.chunk_by(same) {
        compare_within(e, cell, &mut scores);
    }
    scores
}

/// The score of a system; none without a number of the paper.
fn system_score(pairs: &[Pair<'_>], relative: bool) -> Option<SystemScore> {
    let mae = mean(&pairs.iter().map(|p| p.error().abs()).collect::<Vec<_>>())?;
    let predicted = |p: &Pair<'_>| {
        let is = |o: &&Pair<'_>| o.row.case != p.row.case && o.place() == p.place();
        median(pairs.iter().filter(is).map(|o| o.paper).collect())
    };
    let errors: Option<Vec<f64>> =
        pairs.iter().map(|p| Some(p.error_of(predicted(p)?).abs())).collect();
    let median_mae = errors.and_then(|e| mean(&e));
    let skill = median_mae.filter(|m| *m > 0.0).map(|m| 1.0 - mae / m);
    let Row { system, preset, .. } = pairs[0].row.clone();
    Some(SystemScore { system, preset, cells: pairs.len(), relative, mae, median_mae, skill })
}

/// Orders within one cell.
fn compare_within(e: &Experiment, cell: &[Pair<'_>], scores: &mut Scores) {
    for (i, a) in cell.iter().enumerate() {
        for b in &cell[i + 1..] {
            if (a.paper - b.paper).abs() > (APART + 1e-9) * a.scale.max(b.scale) {
                scores.order.of += 1;
                let same = (a.paper > b.paper) == (a.ours > b.ours);
                scores.order.hits += usize::from(same);
            }
        }
    }
    let base = e.compare_to.as_deref();
    let Some(base) = cell.iter().find(|p| Some(p.row.system.as_str()) == base) else { return };
    for other in cell.iter().filter(|p| p.row.system != base.row.system) {
        let above = other.ours > base.ours;
        if other.paper > base.paper {
            scores.beats_base.of += 1;
            scores.beats_base.hits += usize::from(above);
        } else {
            scores.wrongly_beaten += usize::from(above);
        }
    }
}

/// The median; none of nothing.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    stats::median(&values)
}

impl Scores {
    /// How orders agree, and where ours is furthest off.
    pub fn lines(&self, e: &Experiment) -> Vec<String> {
        let mut out = Vec::new();
        // One system is in no order.
        if self.systems.len() > 1 {
            let apart = match is_relative(e) {
                true => format!("{} %", 100.0 * APART),
                false => APART.to_string(),
            };
            out.push(format!(
                "order of two systems that the paper separates by more than {apart}: right in {} of {}",
                self.order.hits, self.order.of
            ));
        }
        if let Some(base) = e.compare_to.as_ref().filter(|_| self.systems.len() > 1) {
            out.push(format!(
                "another system above {base}: reproduced in {} of the paper's {} cells, and in {} more cells \
                 only here",
                self.beats_base.hits, self.beats_base.of, self.wrongly_beaten
            ));
        }
        out.extend(self.worst.as_ref().map(|row| {
            let at = axes(row)
                .map(|(n, v)| if n == "case" { v.to_string() } else { format!("{n}={v}") });
            let words = |x: Option<f64>| match (is_relative(e), x.unwrap_or(f64::NAN)) {
                (true, x) => format!("{} {}", reading(e.main(), x), metric::reading(e.main()).unit),
                (false, x) => format!("{x:.2}"),
            };
            format!(
                "worst cell: {}, {}: {}, paper {}",
                at.collect::<Vec<_>>().join(" "),
                row.system,
                words(row.value),
                words(row.paper)
            )
        }));
        out
    }
}

/// Each system against the one that all are compared with, seed by seed, over all cells of its group.
pub fn paired(e: &Experiment, cells: &[Cell]) -> Option<Part> {
    let name = e.compare_to.as_ref()?;
    let by_seed = |s: &System| -> Vec<f64> {
        let is = |c: &&Cell| c.place.system == s.name && c.place.preset == s.preset.word();
        let of_cell = |c: &Cell| -> Option<Vec<f64>> {
            c.runs.iter().map(Replication::finish_rate).collect()
        };
        let rates: Option<Vec<Vec<f64>>> = cells.iter().filter(is).map(of_cell).collect();
        // Without one of them the others are of other cells than the base's.
        let rates = rates.unwrap_or_default();
        let seeds = rates.iter().map(Vec::len).min().unwrap_or(0);
        let of = |i: usize| mean(&rates.iter().map(|c| c[i]).collect::<Vec<f64>>());
        (0..seeds).map_while(of).collect()
    };
    let caption =
        format!("finish rate minus that of {name}, mean over cells (95 %, paired by seed)");
    let mut table =
        Table { keys: 2, ..Table::new(caption, &["system", "preset", "difference", "±"]) };
    for group in groups::of(e) {
        let Some(base) = group.systems.iter().find(|s| s.name == *name) else { continue };
        let of_base = by_seed(base);
        for s in group.systems.iter().filter(|s| s.name != base.name) {
            let Some(i) = stats::paired(&by_seed(s), &of_base) else { continue };
            let half = 0.5 * i.width();
            table.rows.push(vec![
                Field::text(&*s.name),
                Field::text(s.preset.word()),
                Field::number(i.mean, format!("{:+.3}", i.mean)),
                Field::number(half, format!("{half:.3}")),
            ]);
        }
    }
    table.part()
}

/// The paper's claim about improvements, and beside it the ratio of means over the paper's cases, ours and
/// the paper's, less 1.
pub fn improvements(e: &Experiment, claim: &str, rows: &[Row]) -> Option<Part> {
    let base = e.compare_to.as_deref().filter(|_| !claim.is_empty())?;
    let groups = groups::of(e);
    let group = groups.first()?;
    let own: Vec<&Row> =
        main_rows(e, rows).filter(|r| is_of(r, group) && r.paper.is_some()).collect();
    let places = distinct(own.iter().map(|r| r.axes.as_str()));
    let means = |system: &str, at: &str| {
        let own: Vec<&&Row> = own.iter().filter(|r| r.system == system && r.axes == at).collect();
        let of =
            |f: fn(&Row) -> Option<f64>| mean(&own.iter().filter_map(|r| f(r)).collect::<Vec<_>>());
        Some((of(|r| r.value)?, of(|r| r.paper)?))
    };
    let caption = format!(
        "{claim}. The mean of {base} over the cases against each system's, ours (the paper's table)"
    );
    let columns: Vec<&str> = ["over"].into_iter().chain(places.iter().copied()).collect();
    let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
    for s in group.systems.iter().filter(|s| s.name != base) {
        let cell = |at: &&str| {
            let ((ours, theirs), (other, others)) = (means(base, at)?, means(&s.name, at)?);
            let (ours, theirs) = (100.0 * (ours / other - 1.0), 100.0 * (theirs / others - 1.0));
            let some = other > 0.0 && others > 0.0;
            some.then(|| {
                Field::number(ours, format!("{ours:+.0} %")).with(format!("{theirs:+.0} %"))
            })
        };
        let cells: Vec<Option<Field>> = places.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(Option::unwrap_or_default);
            table.rows.push([Field::text(&*s.name)].into_iter().chain(cells).collect());
        }
    }
    table.part()
}
