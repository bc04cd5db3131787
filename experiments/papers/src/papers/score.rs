//! How far a table is off the paper's: errors, skill, agreement on order, claims.
//!
//! Everything here is computed from our cells and the paper's; nothing feeds back into a run.

use crate::paper::FinishRates;
use crate::runs::Results;
use crate::table_file::{System, TableFile};
use orrery_sim::stats;

/// A row of the output: a case, an SLO and a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The row's name.
    pub case: String,
    /// The SLO as a multiple of P99.
    pub slo_x_p99: f64,
    /// The system's place in the table's file.
    pub system: usize,
    /// Mean over seeds.
    pub finish_rate: f64,
    /// 95 % confidence interval over seeds (Student's t); `None` with one seed.
    pub ci95: Option<(f64, f64)>,
    /// The paper's figure, where there is one.
    pub paper: Option<f64>,
}

impl Row {
    /// Ours less the paper's.
    pub fn error(&self) -> Option<f64> {
        self.paper.map(|p| self.finish_rate - p)
    }
}

/// A system's score over a table.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemScore {
    /// The system's place in the file.
    pub system: usize,
    /// Cells with a figure of the paper.
    pub cells: usize,
    /// Mean absolute error over them.
    pub mae: f64,
    /// The mean absolute error of predicting each cell by the median, at its SLO, of the paper's
    /// other cases; `None` when the table has no other case.
    pub median_mae: Option<f64>,
}

impl SystemScore {
    /// 1 - error / error of the leave-one-case-out median. Negative when the median is better.
    pub fn skill(&self) -> Option<f64> {
        self.median_mae.filter(|m| *m > 0.0).map(|m| 1.0 - self.mae / m)
    }
}

/// Two counts: how often something was so, out of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How often.
    pub hits: usize,
    /// Out of.
    pub of: usize,
}

/// All scores of one group of systems (one preset for each).
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// By system, in the file's order.
    pub systems: Vec<SystemScore>,
    /// Pairs of systems that the paper separates by more than 0.05, in one cell, that come out in
    /// the paper's order.
    pub order: Share,
    /// Places where the paper has another system above Orloj and so have we.
    pub beats_orloj: Share,
    /// Places where we have another system above Orloj and the paper has not.
    pub wrongly_beaten: usize,
    /// The row with the largest error.
    pub worst: Option<Row>,
}

/// The rows of a table, in the order of its cells.
pub fn rows(table: &TableFile, results: &Results, paper: &[FinishRates]) -> Vec<Row> {
    let of_paper = |case: &str, slo: f64, system: &System| {
        let same =
            |p: &&FinishRates| p.table == table.paper_table && p.case == case && p.slo_x_p99 == slo;
        paper.iter().find(same).and_then(|p| p.of(&system.name))
    };
    let row = |c: &crate::runs::Cell| {
        let (finish_rate, ci95) = mean_and_ci95(&c.finish_rates());
        let paper = of_paper(&c.case, c.slo_x_p99, &table.system[c.system]);
        let (case, slo_x_p99, system) = (c.case.clone(), c.slo_x_p99, c.system);
        Row { case, slo_x_p99, system, finish_rate, ci95, paper }
    };
    results.cells.iter().map(row).collect()
}

/// Scores the rows of the chosen systems.
pub fn score(table: &TableFile, rows: &[Row], systems: &[usize]) -> Scores {
    let chosen: Vec<&Row> = rows.iter().filter(|r| systems.contains(&r.system)).collect();
    let of = |system: usize| -> Vec<&Row> {
        chosen.iter().filter(|r| r.system == system && r.paper.is_some()).copied().collect()
    };
    let scored = systems.iter().map(|&s| (s, of(s))).filter(|(_, rows)| !rows.is_empty());
    let systems = scored.map(|(s, rows)| system_score(s, &rows)).collect();
    let worst = chosen.iter().filter(|r| r.paper.is_some()).max_by(|a, b| {
        let size = |r: &Row| r.error().unwrap_or(0.0).abs();
        size(a).total_cmp(&size(b))
    });
    let mut scores = Scores {
        systems,
        order: Share::default(),
        beats_orloj: Share::default(),
        wrongly_beaten: 0,
        worst: worst.map(|r| (*r).clone()),
    };
    for cell in chosen.chunk_by(|a, b| a.case == b.case && a.slo_x_p99 == b.slo_x_p99) {
        compare_within(table, cell, &mut scores);
    }
    scores
}

fn system_score(system: usize, rows: &[&Row]) -> SystemScore {
    let mae = mean(rows.iter().filter_map(|r| r.error()).map(f64::abs));
    let predicted = |r: &Row| {
        let others = rows.iter().filter(|o| o.case != r.case && o.slo_x_p99 == r.slo_x_p99);
        median(others.filter_map(|o| o.paper).collect())
    };
    let errors: Option<Vec<f64>> =
        rows.iter().map(|r| Some((predicted(r)? - r.paper?).abs())).collect();
    SystemScore { system, cells: rows.len(), mae, median_mae: errors.map(|e| mean(e.into_iter())) }
}

/// Orders within one cell.
fn compare_within(table: &TableFile, cell: &[&Row], scores: &mut Scores) {
    for (i, a) in cell.iter().enumerate() {
        for b in &cell[i + 1..] {
            let (Some(pa), Some(pb)) = (a.paper, b.paper) else { continue };
            if (pa - pb).abs() > 0.05 + 1e-9 {
                scores.order.of += 1;
                let same = (pa > pb) == (a.finish_rate > b.finish_rate);
                scores.order.hits += usize::from(same);
            }
        }
    }
    let orloj = cell.iter().find(|r| table.system[r.system].name == "orloj");
    let Some((orloj, paper)) = orloj.and_then(|o| Some((o, o.paper?))) else { return };
    for other in cell.iter().filter(|r| r.system != orloj.system) {
        let Some(theirs) = other.paper else { continue };
        let above = other.finish_rate > orloj.finish_rate;
        if theirs > paper {
            scores.beats_orloj.of += 1;
            scores.beats_orloj.hits += usize::from(above);
        } else {
            scores.wrongly_beaten += usize::from(above);
        }
    }
}

/// Orloj's mean finish rate over another system's, at one SLO, over the table's cases: (ours, the
/// paper's), as a ratio less 1. Only cases that the paper has count.
pub fn improvement(rows: &[Row], orloj: usize, other: usize, slo: f64) -> Option<(f64, f64)> {
    let at = |system: usize| rows.iter().filter(move |r| r.system == system && r.slo_x_p99 == slo);
    let ours = |system| mean(at(system).filter(|r| r.paper.is_some()).map(|r| r.finish_rate));
    let theirs = |system| mean(at(system).filter_map(|r| r.paper));
    let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b - 1.0);
    Some((ratio(ours(orloj), ours(other))?, ratio(theirs(orloj), theirs(other))?))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0u32);
    for v in values {
        sum += v;
        n += 1;
    }
    if n == 0 { 0.0 } else { sum / f64::from(n) }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some(0.5 * (values[n / 2 - 1] + values[n / 2])),
    }
}

/// Mean and 95 % confidence interval (Student's t) of independent replications.
pub fn mean_and_ci95(values: &[f64]) -> (f64, Option<(f64, f64)>) {
    let m = mean(values.iter().copied());
    (m, stats::replications(values).map(|i| (i.low, i.high)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_student_s() {
        let (m, ci) = mean_and_ci95(&[1.0, 2.0, 3.0]);
        assert_eq!(m, 2.0);
        let (low, high) = ci.unwrap();
        assert!(
            (high - 2.0 - 4.303 / 3.0f64.sqrt()).abs() < 1e-9 && (low + high - 4.0).abs() < 1e-9
        );
        assert_eq!(mean_and_ci95(&[0.5]), (0.5, None));
    }

    fn row(case: &str, system: usize, ours: f64, paper: f64) -> Row {
        Row {
            case: case.into(),
            slo_x_p99: 2.0,
            system,
            finish_rate: ours,
            ci95: None,
            paper: Some(paper),
        }
    }

    fn table() -> TableFile {
        TableFile::load("orloj-table-3").unwrap()
    }

    fn place(name: &str, preset: &str) -> usize {
        table().system.iter().position(|s| s.name == name && s.preset.word() == preset).unwrap()
    }

    #[test]
    fn errors_skill_and_order_by_hand() {
        let (c, o) = (place("clipper", "calibrated"), place("orloj", "calibrated"));
        let rows = [
            row("a", c, 0.5, 0.4),
            row("a", o, 0.9, 0.9),
            row("b", c, 0.7, 0.8),
            row("b", o, 0.6, 0.7),
            row("c", c, 0.3, 0.4),
            row("c", o, 0.2, 0.5),
        ];
        let s = score(&table(), &rows, &[c, o]);
        assert!((s.systems[0].mae - 0.1).abs() < 1e-12);
        // Medians of the other two: a: .6, b: .4, c: .6; errors .2, .4, .2.
        assert!((s.systems[0].median_mae.unwrap() - 0.8 / 3.0).abs() < 1e-12);
        assert!((s.systems[0].skill().unwrap() - (1.0 - 0.1 / (0.8 / 3.0))).abs() < 1e-12);
        assert_eq!(s.order, Share { hits: 2, of: 3 }, "in c the order is wrong");
        assert_eq!(s.beats_orloj, Share { hits: 1, of: 1 });
        assert_eq!(s.wrongly_beaten, 1);
        assert_eq!(s.worst.unwrap().case, "c");
        let (ours, theirs) = improvement(&rows, o, c, 2.0).unwrap();
        assert!((ours - (1.7 / 1.5 - 1.0)).abs() < 1e-12);
        assert!((theirs - (2.1 / 1.6 - 1.0)).abs() < 1e-12);
    }
}
