//! Runs judged as twins: each beside the prediction on the machine as it was in that run. Lateness, pauses and a
//! slower core are no reason to leave a run out; too little knowledge of them is.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{
    Differences, PointResult, Repetition, SENSITIVE_POINTS, Sensitive, VALID_SHARE, mean_percent,
    middle_percent, sd_points,
};
use super::point::Point;
use crate::profile::DRIFT_MAX_PERCENT;
use std::collections::BTreeMap;
use std::fmt::Write;

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
            Some(Case { measured, predicted: mean_percent(draws), sd: sd_points(draws), inside })
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

    fn is_sensitive_twin(cases: &[Case]) -> bool {
        let sum: f64 = cases.iter().map(|c| c.sd).sum();
        sum > SENSITIVE_POINTS * cases.len() as f64
    }
}

/// The figures of some results, beside no rule.
pub(super) fn figures_of<'a>(results: impl Iterator<Item = &'a PointResult>) -> Judgement {
    let mut j = Judgement::default();
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
            j.all.points += 1;
            j.all.mean += difference;
            j.all.max = j.all.max.max(difference);
        }
    }
    j.all.mean /= j.all.points.max(1) as f64;
    j
}

/// Judges what is finished.
pub(super) fn judge(campaign: &Campaign, standing: &Standing) -> Judgement {
    let finished = || standing.points.iter().filter_map(|p| p.1.as_ref());
    let mut j = figures_of(finished());
    let mut covered: BTreeMap<(String, String), bool> = BTreeMap::new();
    for result in finished() {
        let key = (result.policy.clone(), format!("{:.2}", result.load));
        *covered.entry(key).or_default() |= !result.cases().is_empty();
    }
    let runs = j.valid_runs + j.unknown_runs;
    if (j.valid_runs as f64) < VALID_SHARE * runs as f64 {
        let (known, least) = (j.valid_runs, 100.0 * VALID_SHARE);
        j.not_validated.push(format!(
            "of {known} of {runs} runs the machine is known, fewer than {least:.0} %"
        ));
    }
    let bare = covered.into_iter().filter(|(_, valid)| !valid);
    let bare: Vec<String> = bare.map(|((policy, load), _)| format!("{policy} at {load}")).collect();
    if !bare.is_empty() {
        j.not_validated.push(format!("no known run of {}", bare.join(", ")));
    }
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
        j.not_validated.push("this is a quick run, which shows only that everything works".into());
    }
    j
}

/// The headline of the twins.
pub(super) fn headline(campaign: &Campaign, j: &Judgement) -> String {
    let mut text = String::from("**As twins**, on the machine as it was in each run: ");
    let none = "no stable point has a run whose machine is known.";
    text += &j.all.against(campaign.file.targets).unwrap_or(none.to_string());
    if let Some(told) = j.sensitive.told() {
        let _ = write!(text, " {told}");
    }
    let _ = writeln!(
        text,
        " Of {} runs the machine is known, of {} it is not.\n",
        j.valid_runs, j.unknown_runs
    );
    if !j.not_validated.is_empty() {
        let _ = writeln!(text, "**Not validated as twins**: {}.\n", j.not_validated.join("; "));
    }
    let (same, told) = j.retraced;
    if told > 0 {
        let _ = writeln!(
            text,
            "**Decision by decision**: fed with the durations and instants of the very run, the simulator took the \
             same decisions in {same} of {told} runs.\n"
        );
    }
    text
}

/// Every run beside its twin.
pub(super) fn table(standing: &Standing) -> String {
    let mut text = String::from(
        "## By run, as twins\n\nFinish rates in percent: predicted a priori, by the profile alone; on the machine as it \
         was (the mean of the draws with the middle 95 % of them); measured. *Slower*: by the median batch, \
         than its law says. *Error*: standard error of the speed at an instant. *Away*: shares of the run.\n\n\
         | point | run | a priori | twin | 95 % of draws | measured | less twin | slower (%) | error (%) | longest \
         without (s) | controller away (%) | lanes away (%) | decisions | unknown |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (point, result) in &standing.points {
        let Some(result) = result else { continue };
        for (i, run) in result.runs.iter().enumerate() {
            text += &line(point, result, run, i + 1);
        }
    }
    text.push('\n');
    text
}

fn line(point: &Point, result: &PointResult, run: &Repetition, number: usize) -> String {
    let Some(twin) = &run.twin else { return String::new() };
    let k = &twin.knowledge;
    let (low, high) = middle_percent(&twin.draws).unwrap_or_default();
    let (predicted, measured) = (mean_percent(&twin.draws), 100.0 * run.measured.finish_rate);
    let decisions = match (&run.retraced.difference, run.retraced.decisions) {
        (None, same) => format!("{same}, the same"),
        (Some(_), all) => format!("not the same {all}"),
    };
    format!(
        "| {} | {number} | {:.2} | {predicted:.2} | {low:.2} to {high:.2} | {measured:.2} | {:+.2} | {:+.2} | {:.2} | \
         {:.2} | {:.2} | {:.2} | {decisions} | {} |\n",
        point.name,
        result.predicted_percent(),
        measured - predicted,
        k.slower_percent,
        k.error_percent,
        k.gap_s,
        100.0 * k.controller_away,
        100.0 * k.lanes_away,
        result.unknown(run).unwrap_or_default(),
    )
}
