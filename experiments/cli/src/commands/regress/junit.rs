//! The answer as JUnit XML.

use super::compare::{Change, Counts};
use super::outcome::{Compared, Outcome};
use super::page::in_a_line;
use super::require::{Judged, Verdict};
use orrery_report::page::counted;
use orrery_run::SpecError;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;

/// The outcome as JUnit XML: a suite for each baseline, a test case for each group of values and for each
/// requirement. A baseline is rerun as one: its time is shared equally by its cases. Values that are blessed did not fail.
///
/// # Errors
/// When a name cannot stand in XML.
pub fn junit(outcomes: &[Outcome], blessed: bool) -> Result<String, SpecError> {
    let mut report = Report::new("orrery regress");
    for Outcome { name, result, took } in outcomes {
        let cases = match result {
            Ok(compared) => cases_of(compared, blessed),
            Err(e) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(e.lines().next().unwrap_or_default()).set_description(e.clone());
                vec![("could not run".to_string(), status)]
            }
        };
        let each = *took / cases.len().max(1) as u32;
        let mut suite = TestSuite::new(name.as_str());
        suite.set_time(*took);
        for (what, status) in cases {
            let mut case = TestCase::new(what, status);
            case.set_classname(class_name(name)).set_time(each);
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    report.set_time(outcomes.iter().map(|o| o.took).sum());
    report.to_string().map_err(|e| {
        SpecError::value("--junit", e, "text that can stand in XML", "rename the baseline")
    })
}

fn cases_of(compared: &Compared, blessed: bool) -> Vec<(String, TestCaseStatus)> {
    let mut by_group: BTreeMap<String, Vec<&Change>> = BTreeMap::new();
    for change in &compared.comparison.changes {
        by_group.entry(change.row().group()).or_default().push(change);
    }
    let mut group = |group: &String| {
        let own = by_group.remove(group).unwrap_or_default();
        let message = moved(Counts::of(own.iter().copied()));
        let lines: Vec<String> = own.into_iter().filter(|_| !blessed).map(in_a_line).collect();
        (if group.is_empty() { "all".to_string() } else { group.clone() }, status(message, &lines))
    };
    let required = |j: &Judged| {
        let found = format!("{}: {}\n{}", j.asked(), j.found(), j.remedy()).trim_end().to_string();
        let lines: Vec<String> = (j.verdict != Verdict::Met).then_some(found).into_iter().collect();
        (j.asked(), status(format!("the requirement is not met: {}", j.verdict.word()), &lines))
    };
    let groups = compared.comparison.groups.iter().map(&mut group);
    groups.chain(compared.judged.iter().map(required)).collect()
}

/// What moved of a group: `2 values: 1 worse, 1 within noise`.
fn moved(counts: Counts) -> String {
    let kinds = super::compare::KINDS.iter().filter(|k| counts.get(**k) > 0);
    let kinds: Vec<String> = kinds.map(|k| format!("{} {}", counts.get(*k), k.word())).collect();
    format!("{} moved: {}", counted(counts.moved() as u64, "value"), kinds.join(", "))
}

/// Failed where there are lines to say of it.
fn status(message: String, lines: &[String]) -> TestCaseStatus {
    if lines.is_empty() {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message);
    status.set_description(lines.join("\n"));
    status
}

/// A baseline's path as readers of JUnit group classes: `baselines/a.toml` is `baselines.a`.
fn class_name(path: &str) -> String {
    let path = path.strip_suffix(".toml").unwrap_or(path);
    let parts = path.split(['/', '\\']).filter(|p| !matches!(*p, "" | "." | ".."));
    parts.collect::<Vec<_>>().join(".")
}
