//! What a comparison found, as JUnit XML.

use super::compare::group_of;
use super::{BaselineRow, Change, Comparison};
use orrery_scenario::SpecError;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// A baseline's name, and what came of it.
pub type Outcome = (String, Result<Comparison, String>);

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

/// The outcome as JUnit XML: a suite for each baseline, a test case for each group of values. Its `time` is
/// always 0, so that the same outcome gives the same bytes.
///
/// # Errors
/// When a name cannot stand in XML.
pub fn junit(outcomes: &[Outcome]) -> Result<String, SpecError> {
    let mut report = Report::new("orrery regress");
    for (name, outcome) in outcomes {
        let class = class_name(name);
        let case = |what: &str, status: TestCaseStatus| {
            let mut case = TestCase::new(what, status);
            case.set_classname(class.clone()).set_time(Duration::ZERO);
            case
        };
        let mut suite = TestSuite::new(name.as_str());
        match outcome {
            Ok(c) => {
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
