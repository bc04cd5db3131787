//! A toy example of Orloj's §4: the law of a batch (Eq. 9), the cost of requests (Fig. 5) and their scores over
//! time with milestones (Fig. 6), as the policy computes them.

use crate::kinds::computed::Point;
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_run::limits::within;
use orrery_scenario::scenario::penalties::{PenaltyStep, penalty};
use orrery_sim::distribution::Histogram;
use orrery_sim::penalty::{Penalty, in_units};
use orrery_sim::policy::score::ScoreTable;
use orrery_sim::time::Span;
use orrery_sweep::hash::spec_sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[score]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ScoreFile {
    /// Parameter of the anticipated delay's distribution, per millisecond.
    pub b_per_ms: f64,
    /// The distributions of the requests in a batch, by name: it lasts as long as the longest of one draw of each.
    pub batch: Vec<String>,
    /// Where time begins and ends.
    pub from_ms: f64,
    /// Where it ends.
    pub to_ms: f64,
    /// The distance of two points of a curve.
    pub step_ms: f64,
    /// Laws of execution times alone.
    pub law: Vec<LawFile>,
    /// The requests.
    pub request: Vec<RequestFile>,
}

/// `[[score.law]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LawFile {
    /// Its name.
    pub name: String,
    /// Its histogram: low edge, high edge and mass of each bin, in order.
    pub bins_ms: Vec<(f64, f64, f64)>,
}

/// `[[score.request]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// Its name.
    pub name: String,
    /// When it arrives.
    pub arrival_ms: f64,
    /// From arrival to its first deadline.
    pub slo_ms: f64,
    /// What a late answer costs.
    #[serde(default)]
    #[schemars(extend("x-default" = "1 after the SLO"))]
    pub penalties: Vec<PenaltyStep>,
}

/// The metrics: of laws, and of requests.
pub use orrery_results::metric::{COST, MILESTONE, SCORE, SHARE};

/// The most points of a curve.
const POINTS_MAX: f64 = 10_000.0;

/// A toy that has been checked.
#[derive(Clone, Debug)]
pub struct Toy {
    file: ScoreFile,
    laws: Vec<(String, Histogram)>,
    penalties: Vec<Penalty>,
    table: ScoreTable,
}

impl Toy {
    /// The toy of a file.
    ///
    /// # Errors
    /// When a number is out of range, a histogram has no mass or its bins overlap, or a name is unknown.
    pub fn new(file: &ScoreFile) -> Result<Toy, SpecError> {
        within("score.b_per_ms", file.b_per_ms, 1e-12, 1e3)?;
        within("score.from_ms", file.from_ms, 0.0, 1e9)?;
        within("score.step_ms", file.step_ms, 1e-6, 1e9)?;
        let span = file.to_ms - file.from_ms;
        within("score.to_ms", file.to_ms, file.from_ms, file.from_ms + POINTS_MAX * file.step_ms)?;
        if span <= 0.0 || file.law.is_empty() || file.request.is_empty() {
            let (found, allowed) =
                ("nothing to show", "`law`, `request` and `to_ms` above `from_ms`");
            return Err(SpecError::value("score", found, allowed, "add what is missing"));
        }
        let laws =
            (file.law.iter().enumerate()).map(|(i, law)| Ok((law.name.clone(), law.law(i)?)));
        let laws: Vec<(String, Histogram)> = laws.collect::<Result<_, SpecError>>()?;
        let names: Vec<&str> = laws.iter().map(|l| l.0.as_str()).collect();
        let drawn = (file.batch.iter().enumerate())
            .map(|(i, name)| known(&format!("score.batch[{i}]"), name, &names));
        let drawn: Vec<usize> = drawn.collect::<Result<_, _>>()?;
        let Some((first, others)) = drawn.split_first() else {
            let remedy = "name the distribution (`law`) of each request in the batch";
            return Err(SpecError::value(
                "score.batch",
                "none",
                "one distribution or more",
                remedy,
            ));
        };
        let others: Vec<(&Histogram, u32)> = others.iter().map(|&i| (&laws[i].1, 1)).collect();
        let of_batch = laws[*first].1.max_with(&others);
        let table = ScoreTable::new(&of_batch, file.b_per_ms);
        let mut penalties = Vec::new();
        for (i, r) in file.request.iter().enumerate() {
            let key = |part: &str| format!("score.request[{i}].{part}");
            within(&key("arrival_ms"), r.arrival_ms, 0.0, 1e9)?;
            within(&key("slo_ms"), r.slo_ms, 1e-6, 1e9)?;
            penalties.push(match r.penalties.as_slice() {
                [] => Penalty::default(),
                steps => penalty(&key("penalties"), steps)?,
            });
        }
        let mut laws = laws;
        laws.push((format!("batch of {}", file.batch.len()), of_batch));
        Ok(Toy { file: file.clone(), laws, penalties, table })
    }

    /// The hash of all that its values depend on.
    pub fn spec_sha256(&self) -> String {
        spec_sha256(&["score", &toml::to_string(&self.file).unwrap_or_default()])
    }

    /// All curves: laws first, that of the batch as the last of them; then requests.
    pub fn points(&self) -> Vec<Point> {
        let ScoreFile { from_ms, to_ms, step_ms, .. } = self.file;
        let steps = ((to_ms - from_ms) / step_ms).round() as u32;
        let grid = (0..=steps).map(|i| from_ms + f64::from(i) * step_ms);
        let mut out = Vec::new();
        for (name, law) in &self.laws {
            let share = |t: f64| law.cdf((t + step_ms) * 1e6) - law.cdf(t * 1e6);
            let point = |t: f64| Point {
                of: name.clone(),
                metric: SHARE,
                at: round(t + step_ms / 2.0),
                value: share(t),
            };
            out.extend(grid.clone().map(point));
        }
        for (i, r) in self.file.request.iter().enumerate() {
            let point = |metric, at, value| Point { of: r.name.clone(), metric, at, value };
            let milestones = self.milestones(i);
            let mut times: Vec<f64> = grid.clone().map(round).collect();
            times.extend(milestones.iter().filter(|t| (from_ms..=to_ms).contains(*t)));
            times.retain(|t| *t >= r.arrival_ms);
            times.sort_by(f64::total_cmp);
            times.dedup();
            for t in times {
                let after = Span::from_ms_f64(t - r.arrival_ms);
                let cost = self.penalties[i].cost(Span::from_ms_f64(r.slo_ms), after);
                out.push(point(COST, t, in_units(cost)));
                out.push(point(SCORE, t, self.score(i, t)));
                if milestones.contains(&t) {
                    out.push(point(MILESTONE, t, 1.0));
                }
            }
        }
        out
    }

    /// Eq. 2 of a request at a time, for each millisecond of device time.
    fn score(&self, request: usize, t_ms: f64) -> f64 {
        let r = &self.file.request[request];
        let slo = Span::from_ms_f64(r.slo_ms);
        let single = |step: orrery_sim::penalty::Step| {
            let left = r.arrival_ms + step.after(slo).as_ms_f64() - t_ms;
            in_units(step.cost) * self.table.at(Span::from_ms_f64(left))
        };
        self.penalties[request].singles().map(single).sum::<f64>() * 1e6
    }

    /// The instants at which a deadline less the time left is an edge of the batch's law.
    pub fn milestones(&self, request: usize) -> Vec<f64> {
        let r = &self.file.request[request];
        let slo = Span::from_ms_f64(r.slo_ms);
        let deadlines =
            self.penalties[request].singles().map(|s| r.arrival_ms + s.after(slo).as_ms_f64());
        let edges = self.table.edges_ns();
        let mut all: Vec<f64> =
            deadlines.flat_map(|d| edges.iter().map(move |e| round(d - e / 1e6))).collect();
        all.retain(|t| *t >= r.arrival_ms);
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The means of the laws, that of the batch as the last.
    pub fn means_ms(&self) -> Vec<(&str, f64)> {
        self.laws.iter().map(|(name, law)| (name.as_str(), law.mean_ns() / 1e6)).collect()
    }

    /// The requests' names.
    pub fn requests(&self) -> Vec<&str> {
        self.file.request.iter().map(|r| r.name.as_str()).collect()
    }

    /// From when on which order of scores holds, highest first; a score of zero has no place.
    pub fn orders(&self) -> Vec<(f64, Vec<&str>)> {
        let ScoreFile { from_ms, to_ms, step_ms, .. } = self.file;
        let steps = ((to_ms - from_ms) / step_ms).round() as u32;
        let mut out: Vec<(f64, Vec<&str>)> = Vec::new();
        for t in (0..=steps).map(|i| round(from_ms + f64::from(i) * step_ms)) {
            let there = |i: &usize| self.file.request[*i].arrival_ms <= t;
            let scored = (0..self.penalties.len()).filter(there).map(|i| (self.score(i, t), i));
            let mut scored: Vec<(f64, usize)> = scored.filter(|s| s.0 > 0.0).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let order = scored.iter().map(|s| self.file.request[s.1].name.as_str()).collect();
            if out.last().is_none_or(|last| last.1 != order) {
                out.push((t, order));
            }
        }
        out
    }
}

impl LawFile {
    /// Its histogram.
    fn law(&self, number: usize) -> Result<Histogram, SpecError> {
        let key = |i: usize| format!("score.law[{number}].bins_ms[{i}]");
        let (mut edges, mut masses) = (Vec::<f64>::new(), Vec::new());
        for (i, &(low, high, mass)) in self.bins_ms.iter().enumerate() {
            within(&key(i), mass, 0.0, 1e9)?;
            let end = edges.last().map_or(0.0, |e| e / 1e6);
            if !(low >= end && high > low && high <= 1e9) {
                let found = format!("{low} to {high} ms");
                let allowed = format!("from {end} ms on, with a high edge above the low one");
                return Err(SpecError::value(
                    key(i),
                    found,
                    allowed,
                    "sort the bins by their edges",
                ));
            }
            // The gap before it holds nothing.
            match edges.last() {
                Some(&before) if before < low * 1e6 => {
                    edges.push(low * 1e6);
                    masses.push(0.0);
                }
                None => edges.push(low * 1e6),
                _ => {}
            }
            edges.push(high * 1e6);
            masses.push(mass);
        }
        if masses.iter().sum::<f64>() <= 0.0 {
            let key = format!("score.law[{number}].bins_ms");
            let (found, allowed) = ("a histogram of no mass", "a mass above 0 in one bin or more");
            return Err(SpecError::value(key, found, allowed, "give a bin some mass"));
        }
        Ok(Histogram::from_masses(edges, masses.into_iter()))
    }
}

/// To whole nanoseconds, so that equal places are equal.
fn round(ms: f64) -> f64 {
    (ms * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toy(text: &str) -> Result<Toy, SpecError> {
        Toy::new(&toml::from_str(text).expect("the keys"))
    }

    const TOY: &str = r#"
b_per_ms = 0.5
batch = ["a", "a"]
from_ms = 0.0
to_ms = 4.0
step_ms = 0.5
law = [{ name = "a", bins_ms = [[1.0, 2.0, 3.0], [3.0, 4.0, 1.0]] }]
request = [{ name = "r", arrival_ms = 0.25, slo_ms = 3.75 }]
"#;

    #[test]
    fn the_curves_are_those_of_the_score_table() {
        let toy = toy(TOY).expect("a toy");
        // The longest of two: (3/4)^2 = 9/16 in the first bin.
        let shares: Vec<f64> = toy
            .points()
            .iter()
            .filter(|p| p.of == "batch of 2" && p.metric == SHARE && p.value > 0.0)
            .map(|p| p.value)
            .collect();
        assert_eq!(shares.iter().map(|s| (s * 32.0).round()).sum::<f64>(), 32.0);
        assert_eq!(
            toy.milestones(0),
            [1.0, 2.0, 3.0],
            "the deadline, 4, less 3, 2, 1; 4 is too early"
        );
        let score = |t: f64| {
            let points = toy.points();
            points.iter().find(|p| p.metric == SCORE && p.at == t).expect("a point").value
        };
        assert_eq!(score(3.0), 0.0);
        assert!(score(1.0) > 0.0 && score(0.5) > 0.0);
        assert_eq!(toy.orders().last(), Some(&(3.0, vec![])));
    }

    #[test]
    fn a_histogram_without_mass_and_bins_that_overlap_are_told() {
        for (from, to, says) in [
            ("[1.0, 2.0, 3.0], [3.0, 4.0, 1.0]", "[1.0, 2.0, 0.0]", "no mass"),
            ("[1.0, 2.0, 3.0], [3.0, 4.0, 1.0]", "", "no mass"),
            ("[3.0, 4.0, 1.0]", "[1.5, 4.0, 1.0]", "score.law[0].bins_ms[1]"),
            ("[3.0, 4.0, 1.0]", "[3.0, 4.0, -1.0]", "score.law[0].bins_ms[1]"),
            ("\"a\", \"a\"", "\"a\", \"b\"", "score.batch[1]"),
            ("\"a\", \"a\"", "", "score.batch"),
            ("step_ms = 0.5", "step_ms = 0.00001", "score.to_ms"),
        ] {
            let error = toy(&TOY.replace(from, to)).expect_err(says).to_string();
            assert!(error.contains(says) && error.contains("remedy"), "{error}");
        }
    }
}
