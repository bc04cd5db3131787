//! How far a table is off the paper's: errors, skill, agreement on order.
//!
//! Everything here is computed from our rows and the paper's numbers; nothing feeds back into a run.

use super::experiment::Experiment;
use super::groups::{self, Group};
use super::numbers::axes;
use super::runner::Cell;
use orrery_results::Row;
use orrery_sim::stats;
use orrery_sweep::replication::Replication;
use orrery_sweep::rows::mean;
use serde::Serialize;
use std::fmt::Write;

/// Two systems of the paper are in an order when they are further apart than this.
const APART: f64 = 0.05;

/// A system's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SystemScore {
    /// The system.
    pub system: String,
    /// Its preset.
    pub preset: String,
    /// Cells with a number of the paper.
    pub cells: usize,
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
    /// Pairs of systems that the paper separates by more than 0.05, in one cell, that come out in the
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

impl Scores {
    /// The mean absolute error over all cells of all systems.
    pub fn mae(&self) -> f64 {
        let cells: usize = self.systems.iter().map(|s| s.cells).sum();
        self.systems.iter().map(|s| s.mae * s.cells as f64).sum::<f64>() / cells.max(1) as f64
    }
}

/// A number of ours with the paper's.
#[derive(Clone, Copy)]
struct Pair<'a> {
    row: &'a Row,
    ours: f64,
    paper: f64,
}

impl Pair<'_> {
    fn error(&self) -> f64 {
        self.ours - self.paper
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

/// Scores a group of systems.
pub fn score(e: &Experiment, group: &Group<'_>, rows: &[Row]) -> Scores {
    let pair = |row| {
        let row: &Row = row;
        Some(Pair { row, ours: row.value?, paper: row.paper? })
    };
    let all: Vec<Pair<'_>> =
        main_rows(e, rows).filter(|r| is_of(r, group)).filter_map(pair).collect();
    let mut scores = Scores::default();
    for s in &group.systems {
        let own = |p: &&Pair<'_>| p.row.system == s.name && p.row.preset == s.preset.word();
        let own: Vec<Pair<'_>> = all.iter().filter(own).copied().collect();
        if !own.is_empty() {
            scores.systems.push(system_score(&own));
        }
    }
    let worst = all.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    scores.worst = worst.map(|p| p.row.clone());
    let same = |a: &Pair<'_>, b: &Pair<'_>| a.row.case == b.row.case && a.place() == b.place();
    for cell in all.chunk_by(same) {
        compare_within(e, cell, &mut scores);
    }
    scores
}

fn system_score(pairs: &[Pair<'_>]) -> SystemScore {
    let mae = mean(&pairs.iter().map(|p| p.error().abs()).collect::<Vec<_>>());
    let predicted = |p: &Pair<'_>| {
        let is = |o: &&Pair<'_>| o.row.case != p.row.case && o.place() == p.place();
        median(pairs.iter().filter(is).map(|o| o.paper).collect())
    };
    let errors: Option<Vec<f64>> =
        pairs.iter().map(|p| Some((predicted(p)? - p.paper).abs())).collect();
    let median_mae = errors.map(|e| mean(&e));
    let skill = median_mae.filter(|m| *m > 0.0).map(|m| 1.0 - mae / m);
    let Row { system, preset, .. } = pairs[0].row.clone();
    SystemScore { system, preset, cells: pairs.len(), mae, median_mae, skill }
}

/// Orders within one cell.
fn compare_within(e: &Experiment, cell: &[Pair<'_>], scores: &mut Scores) {
    for (i, a) in cell.iter().enumerate() {
        for b in &cell[i + 1..] {
            if (a.paper - b.paper).abs() > APART + 1e-9 {
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
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some(0.5 * (values[n / 2 - 1] + values[n / 2])),
    }
}

/// The scores of all groups as text, and Orloj's claim beside them where it is not empty.
pub fn text(e: &Experiment, claim: &str, cells: &[Cell], rows: &[Row]) -> String {
    let mut out = String::new();
    for group in groups::of(e) {
        if !group.title.is_empty() {
            let _ = writeln!(out, "\n{}, against the paper:", group.title);
        }
        let scores = score(e, &group, rows);
        if scores.systems.is_empty() {
            out.push_str("no number of the paper to compare with\n");
            continue;
        }
        group_text(e, &scores, &mut out);
        paired_text(e, &group, cells, &mut out);
    }
    improvements(e, claim, rows, &mut out);
    out
}

fn group_text(e: &Experiment, scores: &Scores, out: &mut String) {
    let or = |x: Option<f64>, digits: usize, sign: bool| match (x, sign) {
        (None, _) => "-".to_string(),
        (Some(x), true) => format!("{x:+.digits$}"),
        (Some(x), false) => format!("{x:.digits$}"),
    };
    let line = |value: &dyn Fn(&SystemScore) -> String| -> String {
        scores.systems.iter().map(|s| format!("  {} {}", s.system, value(s))).collect()
    };
    let _ = writeln!(
        out,
        "mean absolute error{}  all {:.3}",
        line(&|s| format!("{:.3}", s.mae)),
        scores.mae()
    );
    let _ = writeln!(
        out,
        "  of the leave-one-case-out median{}",
        line(&|s| or(s.median_mae, 3, false))
    );
    let _ = writeln!(out, "  skill (1 - error / that error){}", line(&|s| or(s.skill, 2, true)));
    // One system is in no order.
    let several = scores.systems.len() > 1;
    if several {
        let _ = writeln!(
            out,
            "order of two systems that the paper separates by more than {APART}: right in {} of {}",
            scores.order.hits, scores.order.of
        );
    }
    if let Some(base) = e.compare_to.as_ref().filter(|_| several) {
        let _ = writeln!(
            out,
            "another system above {base}: reproduced in {} of the paper's {} cells, and in {} more cells \
             only here",
            scores.beats_base.hits, scores.beats_base.of, scores.wrongly_beaten
        );
    }
    if let Some(row) = &scores.worst {
        let at: Vec<String> = axes(row)
            .map(|(n, v)| if n == "case" { v.to_string() } else { format!("{n}={v}") })
            .collect();
        let _ = writeln!(
            out,
            "worst cell: {}, {}: {:.2}, paper {:.2}",
            at.join(" "),
            row.system,
            row.value.unwrap_or(f64::NAN),
            row.paper.unwrap_or(f64::NAN)
        );
    }
}

/// Each system against the one that all are compared with, seed by seed, over all cells of its group.
fn paired_text(e: &Experiment, group: &Group<'_>, cells: &[Cell], out: &mut String) {
    let Some(name) = &e.compare_to else { return };
    let by_seed = |system: &str, preset: &str| -> Vec<f64> {
        let own = cells.iter().filter(|c| c.place.system == system && c.place.preset == preset);
        let rates: Vec<Vec<f64>> =
            own.map(|c| c.runs.iter().map(Replication::finish_rate).collect()).collect();
        let seeds = rates.iter().map(Vec::len).min().unwrap_or(0);
        let of = |i: usize| mean(&rates.iter().map(|c| c[i]).collect::<Vec<f64>>());
        (0..seeds).map(of).collect()
    };
    let Some(base) = group.systems.iter().find(|s| s.name == *name) else { return };
    let of_base = by_seed(&base.name, base.preset.word());
    let mut line = String::new();
    for s in group.systems.iter().filter(|s| s.name != base.name) {
        let Some(i) = stats::paired(&by_seed(&s.name, s.preset.word()), &of_base) else { continue };
        let _ = write!(line, "  {} {:+.3} ± {:.3}", s.name, i.mean, 0.5 * i.width());
    }
    if !line.is_empty() {
        let _ = writeln!(
            out,
            "finish rate minus that of {name}, mean over cells (95 %, paired by seed)\n{line}"
        );
    }
}

/// The paper's claim about improvements, and beside it the ratio of means over the paper's cases, ours and
/// the paper's, less 1.
fn improvements(e: &Experiment, claim: &str, rows: &[Row], out: &mut String) {
    let Some(base) = e.compare_to.as_deref().filter(|_| !claim.is_empty()) else {
        return;
    };
    let groups = groups::of(e);
    let Some(group) = groups.first() else { return };
    let own: Vec<&Row> =
        main_rows(e, rows).filter(|r| is_of(r, group) && r.paper.is_some()).collect();
    let mut places: Vec<&str> = Vec::new();
    for row in &own {
        if !places.contains(&row.axes.as_str()) {
            places.push(&row.axes);
        }
    }
    let means = |system: &str, at: &str| {
        let own: Vec<&&Row> = own.iter().filter(|r| r.system == system && r.axes == at).collect();
        let of =
            |f: fn(&Row) -> Option<f64>| mean(&own.iter().filter_map(|r| f(r)).collect::<Vec<_>>());
        (of(|r| r.value), of(|r| r.paper))
    };
    let mut lines = String::new();
    for s in group.systems.iter().filter(|s| s.name != base) {
        let mut line = format!("  over {:<10}", s.name);
        let mut any = false;
        for at in &places {
            let ((ours, theirs), (other, others)) = (means(base, at), means(&s.name, at));
            if other > 0.0 && others > 0.0 {
                any = true;
                let (ours, theirs) = (ours / other - 1.0, theirs / others - 1.0);
                let _ = write!(line, "  {at}: {:+.0} % ({:+.0} %)", 100.0 * ours, 100.0 * theirs);
            }
        }
        if any {
            let _ = writeln!(lines, "{line}");
        }
    }
    if !lines.is_empty() {
        let _ = write!(
            out,
            "\nThe paper's claim: {claim}.\nThe mean of {base} over the cases against each system's, ours (the \
             paper's table):\n{lines}"
        );
    }
}

/// One row for each cell: its case and axes, system, finish rate with its interval, the paper's.
pub fn wide(e: &Experiment, rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in main_rows(e, rows).flat_map(|r| r.axis_list()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |line: &[String]| {
        // Memory can always be written.
        let _ = writer.write_record(line);
    };
    let rest = "system,preset,finish_rate,ci95_low,ci95_high,paper,abs_error";
    let header = ["table", "case"].into_iter().chain(names.iter().copied()).chain(rest.split(','));
    write(&header.map(String::from).collect::<Vec<_>>());
    let six = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
    // With its point: the type of a column is the same in every table.
    let float = |text: &str| text.parse().map_or(text.to_string(), |x: f64| format!("{x:?}"));
    for r in main_rows(e, rows) {
        let at: Vec<String> = names.iter().map(|n| float(r.axis(n).unwrap_or_default())).collect();
        let paper = r.paper.map_or(String::new(), |p| format!("{p:?}"));
        let numbers = [six(r.value), six(r.ci95_low), six(r.ci95_high)];
        let mut line = vec![e.id.clone(), r.case.clone()];
        line.extend(at.into_iter().chain([r.system.clone(), r.preset.clone()]).chain(numbers));
        line.extend([paper, six(r.abs_error)]);
        write(&line);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
