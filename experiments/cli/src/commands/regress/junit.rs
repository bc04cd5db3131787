//! The answer as JUnit XML.

use super::compare::{Change, Counts};
use super::outcome::{Compared, Outcome};
use super::page::in_a_line;
use super::require::{Judged, Verdict};
use orrery_report::page::counted;
use std::collections::BTreeMap;
use std::time::Duration;

/// A test case.
struct Case {
    name: String,
    fault: Option<Fault>,
}

/// What is wrong with it: the element, what is said first, and all.
struct Fault(&'static str, String, String);

/// The outcome as JUnit XML: a suite for each baseline, a test case for each group of values and for each
/// requirement. A baseline is rerun as one: its time is shared equally by its cases. Values that are blessed did not fail.
pub fn junit(outcomes: &[Outcome], blessed: bool) -> String {
    let (mut suites, mut all) = (String::new(), Vec::new());
    for Outcome { name, result, took } in outcomes {
        let cases = match result {
            Ok(compared) => cases_of(compared, blessed),
            Err(e) => {
                let first = e.lines().next().unwrap_or_default().to_string();
                let fault = Some(Fault("error", first, e.clone()));
                vec![Case { name: "could not run".to_string(), fault }]
            }
        };
        let each = seconds(*took / cases.len().max(1) as u32);
        let class = escaped(&class_name(name));
        let inner: String = cases.iter().map(|case| element(case, &class, &each)).collect();
        let (name, counts, took) = (escaped(name), counted_of(&cases), seconds(*took));
        suites += &format!(
            "    <testsuite name=\"{name}\"{counts} time=\"{took}\">\n{inner}    </testsuite>\n"
        );
        all.extend(cases);
    }
    let (counts, took) = (counted_of(&all), seconds(outcomes.iter().map(|o| o.took).sum()));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"orrery regress\"{counts} time=\"{took}\">\n{suites}</testsuites>\n"
    )
}

/// How many there are, and how many of them failed.
fn counted_of(cases: &[Case]) -> String {
    let of = |kind| cases.iter().filter(|c| c.fault.as_ref().is_some_and(|f| f.0 == kind)).count();
    let (errors, failures) = (of("error"), of("failure"));
    let tests = cases.len();
    format!(" tests=\"{tests}\" skipped=\"0\" errors=\"{errors}\" failures=\"{failures}\"")
}

fn element(case: &Case, class: &str, took: &str) -> String {
    let name = escaped(&case.name);
    let head = format!("        <testcase name=\"{name}\" classname=\"{class}\" time=\"{took}\"");
    let Some(Fault(kind, message, text)) = &case.fault else { return head + "/>\n" };
    let (message, text) = (escaped(message), escaped(text));
    format!(
        "{head}>\n            <{kind} message=\"{message}\">{text}</{kind}>\n        </testcase>\n"
    )
}

fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

/// XML knows five special characters, and of control characters the ends of lines and tabs alone.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            c => out.push(c),
        }
    }
    out
}

fn cases_of(compared: &Compared, blessed: bool) -> Vec<Case> {
    let mut by_group: BTreeMap<String, Vec<&Change>> = BTreeMap::new();
    for change in &compared.comparison.changes {
        by_group.entry(change.row().group()).or_default().push(change);
    }
    let mut group = |group: &String| {
        let own = by_group.remove(group).unwrap_or_default();
        let message = moved(Counts::of(own.iter().copied()));
        let lines: Vec<String> = own.into_iter().filter(|_| !blessed).map(in_a_line).collect();
        let name = if group.is_empty() { "all".to_string() } else { group.clone() };
        Case { name, fault: fault(message, &lines) }
    };
    let required = |j: &Judged| {
        let found = format!("{}: {}\n{}", j.asked(), j.found(), j.remedy()).trim_end().to_string();
        let lines: Vec<String> = (j.verdict != Verdict::Met).then_some(found).into_iter().collect();
        let message = format!("the requirement is not met: {}", j.verdict.word());
        Case { name: j.asked(), fault: fault(message, &lines) }
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
fn fault(message: String, lines: &[String]) -> Option<Fault> {
    (!lines.is_empty()).then(|| Fault("failure", message, lines.join("\n")))
}

/// A baseline's path as readers of JUnit group classes: `baselines/a.toml` is `baselines.a`.
fn class_name(path: &str) -> String {
    let path = path.strip_suffix(".toml").unwrap_or(path);
    let parts = path.split(['/', '\\']).filter(|p| !matches!(*p, "" | "." | ".."));
    parts.collect::<Vec<_>>().join(".")
}
