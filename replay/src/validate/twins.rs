//! Runs judged as twins: each beside the prediction on the machine as it was in that run. Lateness, pauses and a
//! slower core are no reason to leave a run out; too little knowledge of them is.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{
    Differences, PointResult, Repetition, SENSITIVE_POINTS, Sensitive, VALID_SHARE, mean_percent,
    middle_percent, sd_points,
};
use super::point::Point;
use super::remarks::NOT_AGAIN;
use crate::profile::DRIFT_MAX_PERCENT;
use crate::table::{table as text_table, two};
use orrery_report::page::Table;
use std::collections::BTreeMap;

/// Twins, judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Stable points with a valid twin.
    pub all: Differences,
    /// The others.
    pub sensitive: Sensitive,
    /// Runs whose machine is known.
    pub valid_runs: usize,
    /// Runs of which too little is known.
    pub unknown_runs: usize,
    /// Runs of which the simulator, fed with what was measured, took the same decisions, and all that say so.
    pub retraced: (usize, usize),
    /// Why nothing is validated, whatever the figures are; empty when the rules are kept.
    pub not_validated: Vec<String>,
}

/// A run beside its twin, in percent.
struct Case {
    measured: f64,
    predicted: f64,
    sd: f64,
    inside: bool,
}

impl PointResult {
    /// Why the twin of a run says nothing, if so.
    pub fn unknown(&self, run: &Repetition) -> Option<String> {
        let Some(twin) = &run.twin else { return Some("no twin was drawn".to_string()) };
        let drift = self.drift_percent.filter(|d| d.abs() > DRIFT_MAX_PERCENT);
        let drifted = drift.filter(|_| twin.knowledge.batches == 0);
        let drifted = drifted.map(|d| {
            format!("the device changed by {d:+.2} % since it was profiled, and nothing shows when")
        });
        run.failed.clone().or(twin.knowledge.unknown.clone()).or(drifted)
    }

    fn cases(&self) -> Vec<Case> {
        let known = self.runs.iter().filter(|r| self.unknown(r).is_none());
        let case = |run: &Repetition| {
            let draws = &run.twin.as_ref()?.draws;
            let (low, high) = middle_percent(draws)?;
            let measured = 100.0 * run.measured.finish_rate;
            let inside = (low - 1e-9..=high + 1e-9).contains(&measured);
            let predicted = mean_percent(draws)?;
            Some(Case { measured, predicted, sd: sd_points(draws), inside })
        };
        known.filter_map(case).collect()
    }

    /// The mean over runs of the measured finish rate less that of its twin, in percentage points; none without a
    /// valid twin.
    pub fn twin_difference_points(&self) -> Option<f64> {
        let cases = self.cases();
        let sum: f64 = cases.iter().map(|c| c.measured - c.predicted).sum();
        (!cases.is_empty()).then(|| sum / cases.len() as f64)
    }

    /// The means of the predicted and the measured finish rates, in percent; none without a valid twin or where
    /// twins are sensitive.
    pub(super) fn stable_twin(&self) -> Option<(f64, f64)> {
        let cases = self.cases();
        let mean = |of: fn(&Case) -> f64| cases.iter().map(of).sum::<f64>() / cases.len() as f64;
        let is_stable = !cases.is_empty() && !PointResult::is_sensitive_twin(&cases);
        is_stable.then(|| (mean(|c| c.predicted), mean(|c| c.measured)))
    }

    fn is_sensitive_twin(cases: &[Case]) -> bool {
        let sum: f64 = cases.iter().map(|c| c.sd).sum();
        sum > SENSITIVE_POINTS * cases.len() as f64
    }
}

/// The figures of some results, beside no rule.
pub(super) fn figures_of<'a>(results: impl Iterator<Item = &'a PointResult>) -> Judgement {
    let (mut j, mut each) = (Judgement::default(), Vec::new());
    for result in results {
        let cases = result.cases();
        let told = result.runs.iter().filter(|r| r.retraced.decisions > 0);
        j.retraced.1 += told.clone().count();
        j.retraced.0 += told.filter(|r| r.retraced.difference.is_none()).count();
        j.valid_runs += cases.len();
        j.unknown_runs += result.runs.len() - cases.len();
        if PointResult::is_sensitive_twin(&cases) {
            j.sensitive.points += 1;
            j.sensitive.runs += cases.len();
            j.sensitive.inside += cases.iter().filter(|c| c.inside).count();
        } else if let Some(difference) = result.twin_difference_points().map(f64::abs) {
            each.push(difference);
        }
    }
    j.all = Differences::of(&each);
    j
}

/// Judges what is finished.
pub(super) fn judge(campaign: &Campaign, standing: &Standing) -> Judgement {
    let mut j = figures_of(standing.finished());
    let runs = j.valid_runs + j.unknown_runs;
    if (j.valid_runs as f64) < VALID_SHARE * runs as f64 {
        let (known, least) = (j.valid_runs, 100.0 * VALID_SHARE);
        j.not_validated.push(format!(
            "of {known} of {runs} runs the machine is known, fewer than {least:.0} %"
        ));
    }
    let bare = uncovered(standing, |result| !result.cases().is_empty());
    j.not_validated.extend(bare.map(|where_| format!("no known run of {where_}")));
    for (name, profile) in &standing.profiles {
        j.not_validated.extend(profile.faults_of_laws().map(|why| format!("{name}: {why}")));
    }
    let (same, told) = j.retraced;
    if same < told {
        let parted = told - same;
        j.not_validated
            .push(format!("in {parted} runs the simulator did not take the same decisions"));
    }
    if campaign.quick {
        j.not_validated.push(QUICK.into());
    }
    j
}

/// The policies that have no run of some kind at a load.
pub(super) fn uncovered(standing: &Standing, has: impl Fn(&PointResult) -> bool) -> Option<String> {
    let mut covered: BTreeMap<(String, String), bool> = BTreeMap::new();
    for result in standing.finished() {
        let key = (result.policy.clone(), format!("{:.2}", result.load));
        *covered.entry(key).or_default() |= has(result);
    }
    let bare = covered.into_iter().filter(|(_, covered)| !covered);
    let bare: Vec<String> = bare.map(|((policy, load), _)| format!("{policy} at {load}")).collect();
    (!bare.is_empty()).then(|| bare.join(", "))
}

/// What a quick run validates.
pub(super) const QUICK: &str = "this is a quick run, which shows only that everything works";

/// What is said first of the twins.
pub(super) fn headline(campaign: &Campaign, j: &Judgement) -> Vec<String> {
    let none = "no stable point has a run whose machine is known.";
    let against = j.all.against(campaign.file.targets).unwrap_or(none.to_string());
    let told = j.sensitive.told().map_or(String::new(), |told| format!(" {told}"));
    let mut all = vec![format!(
        "Re-simulated, on the machine as it was in each run: {against}{told} Of {} runs the machine is known, of {} \
         it is not.",
        j.valid_runs, j.unknown_runs
    )];
    if !j.not_validated.is_empty() {
        all.push(format!("{NOT_AGAIN}: {}.", j.not_validated.join("; ")));
    }
    let (same, told) = j.retraced;
    if told > 0 {
        all.push(format!(
            "Decision by decision: fed with the durations and instants of the very run, the simulator took the same \
             decisions in {same} of {told} runs."
        ));
    }
    all
}

/// Every run beside its twin.
pub(super) fn table(standing: &Standing) -> Table {
    let caption = "Finish rates in percent: predicted a priori, by the profile alone; on the machine as it was (the mean of \
                   the draws with the middle 95 % of them); measured. Slower: by the median batch, than its latency \
                   model says. Error: standard error of the speed at an instant. Away: shares of the run.";
    let columns = "point|run|a priori|re-simulated|95 % of draws|measured|less re-simulated|slower (%)|error (%)|\
                   longest without (s)|controller away (%)|lanes away (%)|decisions|unknown";
    let results = standing.points.iter().filter_map(|(point, r)| Some((point, r.as_ref()?)));
    let runs =
        results.flat_map(|(p, r)| r.runs.iter().zip(1..).map(move |(run, i)| (p, r, run, i)));
    text_table(caption, columns, runs.filter_map(|(p, r, run, i)| line(p, r, run, i)))
}

fn line(p: &Point, result: &PointResult, run: &Repetition, number: usize) -> Option<Vec<String>> {
    let twin = run.twin.as_ref()?;
    let k = &twin.knowledge;
    let middle = middle_percent(&twin.draws)
        .map_or("-".to_string(), |(low, high)| format!("{low:.2} to {high:.2}"));
    let (predicted, measured) = (mean_percent(&twin.draws), 100.0 * run.measured.finish_rate);
    let decisions = match (&run.retraced.difference, run.retraced.decisions) {
        (None, same) => format!("{same}, the same"),
        (Some(_), all) => format!("not the same {all}"),
    };
    let mut cells = vec![p.name.clone(), number.to_string()];
    cells.extend([two(result.predicted_percent()), two(predicted)]);
    cells.extend([middle, two(measured)]);
    let signed = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:+.2}"));
    cells.extend([signed(predicted.map(|p| measured - p)), signed(Some(k.slower_percent))]);
    let away = [100.0 * k.controller_away, 100.0 * k.lanes_away];
    cells.extend([k.error_percent, k.gap_s, away[0], away[1]].map(two));
    cells.extend([decisions, result.unknown(run).unwrap_or_default()]);
    Some(cells)
}
