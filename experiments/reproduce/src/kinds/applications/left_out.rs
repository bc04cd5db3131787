//! Leave one case out: how far off a case is that nothing was fitted to.
//!
//! A configuration is a value for each axis but `case` and `slo_x_p99`. For each case of the paper the
//! configuration is taken whose mean error over all *other* cases and all systems is smallest, and its error
//! at the case itself is told. A case's twins, which are nearly the same, are left out with it. Beside it
//! stands the trivial predictor: the median of the paper's other cases of the same rule (of Table 2, of
//! Table 3, of named models), at the same SLO for the same system. It knows no simulation and cannot know the
//! case.

use super::means::{SLO, change, rate};
use crate::experiment::Experiment;
use crate::kinds::applications::cases::Rule;
use crate::numbers::{is_at, is_of};
use crate::runner::{Cell, place_in};
use crate::scores::median;
use orrery_report::page::{Field, Part, Table};
use orrery_results::metric::{LEFT_OUT_ABS_ERROR as ERROR, MEDIAN_ABS_ERROR as MEDIAN};
use orrery_results::{Row, distinct, grouped, seed_list};
use orrery_sim::stats::mean;
use orrery_sweep::hash::spec_sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[leave_one_out]`: every combination of the axes (but `case` and `slo_x_p99`) is a configuration. For each
/// case, the one with the smallest mean error over all other cases and all systems is taken.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LeaveOneOut {
    /// Axes that change one system alone each: a system takes its own best value of them.
    #[schemars(extend("x-default" = "none"))]
    pub own: Vec<String>,
    /// The systems whose errors choose the configuration that all share.
    #[schemars(extend("x-default" = "all"))]
    pub by: Vec<String>,
    /// Cases that are nearly the same, in lists: with one of a list the others are left out too.
    #[schemars(extend("x-default" = "none"))]
    pub twins: Vec<Vec<String>>,
}

impl LeaveOneOut {
    /// The axes that all systems have in common, and those of one system alone.
    pub(super) fn parts(&self, axes: &str) -> (String, String) {
        let is_own = |axis: &&str| {
            axis.split_once('=').is_some_and(|(name, _)| self.own.iter().any(|o| o == name))
        };
        let (own, common): (Vec<&str>, Vec<&str>) = axes.split(';').partition(is_own);
        (common.join(";"), own.join(";"))
    }
}

/// The metrics of its rows.
pub const METRICS: [&str; 2] = [ERROR, MEDIAN];
/// The axis of the configuration that was taken.
const TAKEN: &str = "taken";

/// A cell that the paper has a number for.
struct Point {
    case: usize,
    system: usize,
    /// The values of the axes that all systems have in common, and of the system's own.
    common: usize,
    own: usize,
    slo: String,
    error: f64,
    paper: f64,
}

/// All of them, with the names that their numbers stand for, in the order of the cells.
#[derive(Default)]
struct Points {
    cases: Vec<String>,
    /// By case: the first of its twins, or itself.
    twins: Vec<usize>,
    systems: Vec<(String, String)>,
    /// Those whose errors choose; all if empty.
    by: Vec<String>,
    common: Vec<String>,
    own: Vec<String>,
    all: Vec<Point>,
}

/// What one case got: by system, the configuration and both errors.
struct Left {
    common: usize,
    /// Own configuration, error, error of the median, cells.
    systems: Vec<(usize, Option<f64>, Option<f64>, usize)>,
}

impl Points {
    fn of(e: &Experiment, leave: &LeaveOneOut, cells: &[Cell]) -> Points {
        let mut points = Points { by: leave.by.clone(), ..Points::default() };
        for cell in cells {
            let place = &cell.place;
            let is = |system: &str, at: &str| is_of(place, system) && is_at(place, at);
            let Some(number) = e.paper.iter().find(|n| is(&n.system, &n.at)) else { continue };
            let Some(rate) = rate(cell) else { continue };
            let (common, own) = leave.parts(&change(place));
            points.all.push(Point {
                case: place_in(&mut points.cases, place.case.clone()),
                system: place_in(&mut points.systems, (place.system.clone(), place.preset.clone())),
                common: place_in(&mut points.common, common),
                own: place_in(&mut points.own, own),
                slo: place.axis(SLO).unwrap_or_default().to_string(),
                error: (rate - number.value).abs(),
                paper: number.value,
            });
        }
        let first_twin = |case: &String| {
            let list = leave.twins.iter().find(|list| list.contains(case));
            points.cases.iter().position(|c| c == case || list.is_some_and(|l| l.contains(c)))
        };
        points.twins = points.cases.iter().map(|c| first_twin(c).unwrap_or(0)).collect();
        points
    }

    /// Whether a point is of a case, or of a twin of it.
    fn is_like(&self, p: &Point, case: usize) -> bool {
        self.twins[p.case] == self.twins[case]
    }

    /// The best configuration without a case and its twins, and its errors there. The first of equally good ones.
    fn leave_out(&self, case: usize) -> Left {
        let (commons, owns) = (self.common.len(), self.own.len());
        // By system, common and own configuration: the sum of errors and their number, elsewhere and here.
        let mut elsewhere = vec![(0.0, 0usize); self.systems.len() * commons * owns];
        let mut here = elsewhere.clone();
        let at = |system, common, own| (system * commons + common) * owns + own;
        for p in &self.all {
            let sums = match self.is_like(p, case) {
                true if p.case == case => &mut here,
                true => continue,
                false => &mut elsewhere,
            };
            let sum = &mut sums[at(p.system, p.common, p.own)];
            (sum.0, sum.1) = (sum.0 + p.error, sum.1 + 1);
        }
        let best_own = |common: usize, system: usize| {
            let run = (0..owns).filter(|&own| elsewhere[at(system, common, own)].1 > 0);
            let sum = |own: &usize| elsewhere[at(system, common, *own)].0;
            run.min_by(|a, b| sum(a).total_cmp(&sum(b)))
        };
        let total = |common: &usize| {
            let best = |system| best_own(*common, system).map(|own| (system, own));
            let asked = |s: &usize| self.by.is_empty() || self.by.contains(&self.systems[*s].0);
            let chosen = (0..self.systems.len()).filter(asked).filter_map(best);
            chosen.map(|(system, own)| elsewhere[at(system, *common, own)].0).sum::<f64>()
        };
        let common = (0..commons).min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or(0);
        let systems = (0..self.systems.len()).map(|system| {
            let own = best_own(common, system).unwrap_or(0);
            let (sum, n) = here[at(system, common, own)];
            let error = (n > 0).then(|| sum / n as f64);
            (own, error, self.median_error(case, system, common, own), n)
        });
        Left { common, systems: systems.collect() }
    }

    /// The error of the median of the paper's other cases, twins aside.
    fn median_error(&self, case: usize, system: usize, common: usize, own: usize) -> Option<f64> {
        let of = |p: &&Point| (p.system, p.common, p.own) == (system, common, own);
        let errors = self.all.iter().filter(of).filter(|p| p.case == case).filter_map(|p| {
            let rule = |case: usize| Rule::of(&self.cases[case]);
            let is_other =
                |o: &&Point| !self.is_like(o, case) && o.slo == p.slo && rule(o.case) == rule(case);
            let others = self.all.iter().filter(of).filter(is_other);
            Some((median(others.map(|o| o.paper).collect())? - p.paper).abs())
        });
        mean(&errors.collect::<Vec<_>>())
    }
}

/// The rows: both errors of each case and system, with the configuration that was taken; then their means over
/// all cells.
pub fn rows(e: &Experiment, leave: &LeaveOneOut, cells: &[Cell]) -> Vec<Row> {
    let Some(first) = cells.first() else { return Vec::new() };
    let points = Points::of(e, leave, cells);
    // Twins alone leave nothing to choose by.
    if points.twins.iter().all(|twin| *twin == points.twins[0]) {
        return Vec::new();
    }
    let all: Vec<&str> = cells.iter().map(|c| c.place.spec_sha256.as_str()).collect();
    let seeds: Vec<u64> = first.runs.iter().map(|r| r.seed).collect();
    let place = Row {
        seeds: seed_list(&seeds),
        spec_sha256: spec_sha256(&all),
        paper_source: e.source.clone(),
        policy: String::new(),
        ..first.place.clone()
    };
    let left: Vec<Left> = (0..points.cases.len()).map(|case| points.leave_out(case)).collect();
    let mut out = Vec::new();
    for (s, (system, preset)) in points.systems.iter().enumerate() {
        let place = Row { system: system.clone(), preset: preset.clone(), ..place.clone() };
        let mut both = |case: &str, axes: String, (error, median): (f64, Option<f64>), n: usize| {
            for (metric, value) in METRICS.into_iter().zip([Some(error), median]) {
                let Some(value) = value else { continue };
                out.push(Row {
                    case: case.to_string(),
                    axes: axes.clone(),
                    samples: n as u64,
                    ..place.of_all(metric, value)
                });
            }
        };
        let mut sums = (0.0, Some(0.0), 0);
        for (case, left) in points.cases.iter().zip(&left) {
            let (own, Some(error), median, n) = left.systems[s] else { continue };
            let parts = [&points.common[left.common], &points.own[own]];
            let parts: Vec<&str> =
                parts.iter().map(|p| p.as_str()).filter(|p| !p.is_empty()).collect();
            // An axis of its own: what was taken is a result.
            let taken = parts.join(", ").replace(['=', ';'], " ");
            both(case, format!("{TAKEN}={taken}"), (error, median), n);
            let median_sum = sums.1.zip(median).map(|(sum, median)| sum + n as f64 * median);
            sums = (sums.0 + n as f64 * error, median_sum, sums.2 + n);
        }
        if sums.2 > 0 {
            let n = sums.2 as f64;
            let median = sums.1.map(|sum| sum / n);
            both("", format!("{TAKEN}=for each case"), (sums.0 / n, median), sums.2);
        }
    }
    out
}

/// Each case under the configuration that is best for all others: a line for each case, a column for each system, the
/// naive baseline below.
pub fn section(rows: &[Row]) -> Option<(String, Vec<Part>)> {
    let own: Vec<&Row> = rows.iter().filter(|r| r.metric == ERROR).collect();
    let systems = distinct(own.iter().map(|r| r.system.as_str()));
    let cases = distinct(own.iter().map(|r| r.case.as_str()));
    let value = |metric: &str, case: &str, system: &str| {
        let is = |r: &&Row| {
            r.metric == metric && r.case == case && r.system == system && r.scope == "all"
        };
        rows.iter().find(is).and_then(|r| Some((r.value?, r.samples as f64)))
    };
    let columns: Vec<&str> =
        ["case"].into_iter().chain(systems.iter().copied()).chain(["all"]).collect();
    let caption = "mean absolute error of each case under the configuration that is best for all other cases; in \
                   brackets that of a naive baseline, the median of the paper's other cases of the same rule at the \
                   same SLO";
    let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
    let mut skills = Vec::new();
    let three = |x: f64| format!("{x:.3}");
    for case in &cases {
        let name = if case.is_empty() { "mean over all cells" } else { case };
        let mut line = vec![Field::text(name)];
        let mut sums = [Some((0.0, 0.0)); 2];
        for system in &systems {
            let both = METRICS.map(|metric| value(metric, case, system));
            for (sum, x) in sums.iter_mut().zip(&both).filter(|_| both[0].is_some()) {
                *sum = sum.zip(*x).map(|(sum, (error, n))| (sum.0 + n * error, sum.1 + n));
            }
            let field = both[0].map_or(Field::none(), |(x, _)| Field::number(x, three(x)));
            line.push(field.with(both[1].map_or(String::new(), |(x, _)| three(x))));
        }
        let [error, median] = sums.map(|sum| sum.filter(|s| s.1 > 0.0).map(|(sum, n)| sum / n));
        let field = error.map_or(Field::none(), |x| Field::number(x, three(x)));
        line.push(field.with(median.map_or(String::new(), three)));
        table.rows.push(line);
        if case.is_empty() {
            let skill = |error: f64, median: f64| 1.0 - error / median;
            let of = |s: &&str| {
                let both = (value(ERROR, "", s)?.0, value(MEDIAN, "", s)?.0);
                Some(both).filter(|(_, median)| *median > 0.0)
            };
            let each = systems.iter().filter_map(|s| Some((*s, of(s)?)));
            skills.extend(each.map(|(s, (a, b))| format!("{s} {:+.2}", skill(a, b))));
            let all = error.zip(median).filter(|(_, median)| *median > 0.0);
            skills.extend(all.map(|(error, median)| format!("all {:+.2}", skill(error, median))));
        }
    }
    let skill = format!("skill (1 - error / that of the baseline): {}", skills.join(", "));
    let parts = [table.part()?, Part::List(vec![skill]), Part::List(taken_by_case(&own))];
    Some(("Leave one case out".to_string(), parts.to_vec()))
}

/// Which configuration each case was judged under.
fn taken_by_case(own: &[&Row]) -> Vec<String> {
    let taken = grouped(own.iter().filter(|r| !r.case.is_empty()).map(|row| {
        let what = format!("{}: {}", row.system, row.axis(TAKEN).unwrap_or_default());
        (what, row.case.as_str())
    }));
    let line = |(what, cases): (String, Vec<&str>)| match cases.len() {
        n if n > 4 => format!("taken: {what} ({n} cases)"),
        _ => format!("taken: {what} ({})", cases.join(", ")),
    };
    taken.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `errors[case][system][common][own]`.
    fn points(errors: &[[[[f64; 2]; 2]; 2]; 3]) -> Points {
        let words = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect();
        let mut points = Points {
            cases: ["std-1", "std-2", "std-3"].map(str::to_string).to_vec(),
            twins: vec![0, 1, 2],
            systems: vec![("a".into(), String::new()), ("b".into(), String::new())],
            by: Vec::new(),
            common: words("common=", 2),
            own: words("own=", 2),
            all: Vec::new(),
        };
        for (case, systems) in errors.iter().enumerate() {
            for (system, commons) in systems.iter().enumerate() {
                for (common, owns) in commons.iter().enumerate() {
                    for (own, &error) in owns.iter().enumerate() {
                        let (slo, paper) = ("2".to_string(), case as f64);
                        points.all.push(Point { case, system, common, own, slo, error, paper });
                    }
                }
            }
        }
        points
    }

    #[test]
    fn a_case_has_no_part_in_the_choice_for_it() {
        // The first common configuration is perfect but for the last case.
        let good = [[0.1, 0.9], [0.2, 0.9]];
        let bad = [[0.9, 0.9], [0.2, 0.9]];
        let points = points(&[[good, good], [good, good], [bad, bad]]);
        let taken: Vec<(usize, Option<f64>)> =
            (0..3).map(|c| points.leave_out(c)).map(|l| (l.common, l.systems[0].1)).collect();
        assert_eq!(
            taken,
            [(1, Some(0.2)), (1, Some(0.2)), (0, Some(0.9))],
            "the worst where it was not seen"
        );
    }

    #[test]
    fn a_twin_has_no_part_in_the_choice_either() {
        // As above, but the second case is as the last one, and would give its secret away.
        let good = [[0.1, 0.9], [0.2, 0.9]];
        let bad = [[0.9, 0.9], [0.2, 0.9]];
        let mut points = points(&[[good, good], [bad, bad], [bad, bad]]);
        let taken = |points: &Points| {
            let left = points.leave_out(2);
            (left.common, left.systems[0].1)
        };
        assert_eq!(taken(&points), (1, Some(0.2)), "the twin is seen");
        points.twins = vec![0, 1, 1];
        assert_eq!(taken(&points), (0, Some(0.9)), "the first case alone decides");
        // The median of the paper's other cases is then the first case's 0, and the case's own number is 2.
        assert_eq!(points.leave_out(2).systems[0].2, Some(2.0));
    }

    #[test]
    fn systems_share_what_is_common_and_choose_what_is_their_own() {
        // Alone, each system would take another common configuration; together, the second.
        let a = [[0.2, 0.3], [0.9, 0.25]];
        let b = [[0.8, 0.9], [0.1, 0.2]];
        let left = points(&[[a, b]; 3]).leave_out(1);
        let owns: Vec<(usize, Option<f64>)> = left.systems.iter().map(|s| (s.0, s.1)).collect();
        assert_eq!((left.common, owns), (1, vec![(1, Some(0.25)), (0, Some(0.1))]));
        let mut by_a = points(&[[a, b]; 3]);
        by_a.by = vec!["a".to_string()];
        assert_eq!(by_a.leave_out(1).common, 0, "chosen by one alone");
        // The paper's other cases are 0 and 2, whose median is 1.
        assert_eq!(left.systems[0].2, Some(0.0));
    }
}
