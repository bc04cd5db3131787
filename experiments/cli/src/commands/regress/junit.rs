//! What a comparison found, as JUnit XML.

use super::compare::group_of;
use super::{BaselineRow, Change, Comparison};
use orrery_scenario::SpecError;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// What came of a baseline.
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// What was compared, or why it could not be.
    pub result: Result<Compared, String>,
    /// How long it took.
    pub took: Duration,
}

/// A baseline that was compared.
pub struct Compared {
    /// The values.
    pub comparison: Comparison,
    /// What differs in what they were made from; none where that was not kept.
    pub differs: Option<Vec<String>>,
}

impl Outcome {
    /// The comparison, where there is one.
    pub fn comparison(&self) -> Option<&Comparison> {
        self.result.as_ref().ok().map(|compared| &compared.comparison)
    }
}

fn place(r: &BaselineRow) -> String {
    format!("{} {}", group_of(r), r.metric).trim_start().to_string()
}

/// A value, or why there is none.
pub fn value(r: &BaselineRow) -> String {
    r.value.map_or_else(|| format!("no answer ({})", r.reason), |x| x.to_string())
}

fn line(change: &Change) -> String {
    match change {
        Change::Moved(old, new) => {
            let verdict = change.verdict();
            let verdict = if verdict.is_empty() { String::new() } else { format!(", {verdict}") };
            let by = old.value.zip(new.value);
            let by = by.map_or(String::new(), |(a, b)| format!(" ({:+}{verdict})", b - a));
            format!("{}: {} -> {}{by}", place(old), value(old), value(new))
        }
        Change::Gone(old) => format!("{}: {} -> gone", place(old), value(old)),
        Change::New(new) => format!("{}: new, {}", place(new), value(new)),
    }
}

/// The outcome as JUnit XML: a suite for each baseline, a test case for each group of values. A baseline is rerun as
/// one: its time is shared equally by its cases.
///
/// # Errors
/// When a name cannot stand in XML.
pub fn junit(outcomes: &[Outcome]) -> Result<String, SpecError> {
    let mut report = Report::new("orrery regress");
    for Outcome { name, result, took } in outcomes {
        let class = class_name(name);
        let cases = result.as_ref().map_or(1, |c| c.comparison.groups.len().max(1));
        let each = *took / cases as u32;
        let case = |what: &str, status: TestCaseStatus| {
            let mut case = TestCase::new(what, status);
            case.set_classname(class.clone()).set_time(each);
            case
        };
        let mut suite = TestSuite::new(name.as_str());
        suite.set_time(*took);
        match result {
            Ok(Compared { comparison: c, .. }) => {
                for group in &c.groups {
                    let own = c.changes.iter().filter(|x| group_of(x.row()) == *group);
                    let lines: Vec<String> = own.map(line).collect();
                    let what = if group.is_empty() { "all" } else { group };
                    suite.add_test_case(case(what, status(&lines)));
                }
            }
            Err(e) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(e.lines().next().unwrap_or_default()).set_description(e.clone());
                suite.add_test_case(case("could not run", status));
            }
        }
        report.add_test_suite(suite);
    }
    report.set_time(outcomes.iter().map(|o| o.took).sum());
    report.to_string().map_err(|e| {
        SpecError::value("--junit", e, "text that can stand in XML", "rename the baseline")
    })
}

/// Whether the values of a group moved.
fn status(lines: &[String]) -> TestCaseStatus {
    if lines.is_empty() {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    let values = if lines.len() == 1 { "value" } else { "values" };
    status.set_message(format!("{} {values} moved", lines.len()));
    status.set_description(lines.join("\n"));
    status
}

/// A baseline's path as readers of JUnit group classes: `baselines/a.toml` is `baselines.a`.
fn class_name(path: &str) -> String {
    let path = path.strip_suffix(".toml").unwrap_or(path);
    let parts = path.split(['/', '\\']).filter(|p| !matches!(*p, "" | "." | ".."));
    parts.collect::<Vec<_>>().join(".")
}
