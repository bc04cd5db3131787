//! `orrery regress`: what a baseline requires.

use super::process::Place;
use super::regress::{BASELINE, FORMS, blessed, scenario, slower};

/// The requirement of a test.
fn requirement(policy: &str, metric: &str, bound: &str) -> String {
    format!("\n[[require]]\npolicy = \"{policy}\"\nmetric = \"{metric}\"\n{bound}\n")
}

const REQUIRED: &str = "[rerun]\nscenario = \"a.toml\"\nseeds = 3\n";

/// A file with requirements alone is a gate: judged with intervals, and in every form.
#[test]
fn requirements_are_judged_with_their_intervals_in_every_form() {
    let place = Place::with("a.toml", scenario());
    let rate = place.run(&["run", "a.toml", "--policy", "fifo", "--seeds", "3", "--format", "csv"]);
    let rate = rate.ok();
    let line = rate.lines().find(|l| l.contains(",all,finish_rate,")).expect("a row").to_string();
    let cells: Vec<&str> = line.split(',').collect();
    let value: f64 = cells[10].parse().expect("a value");
    let met = requirement("fifo", "finish_rate", "min = 0.01");
    place.write("r.toml", format!("{REQUIRED}{met}"));
    assert_eq!(place.run(&["regress", "r.toml"]).ok(), "Passed: the requirement is met.\n");
    let before = place.read("r.toml");
    place.run(&["regress", "r.toml", "--bless"]).ok();
    assert_eq!(place.read("r.toml"), before, "nothing is recorded where only requirements are");
    let undecided = requirement("fifo", "finish_rate", &format!("min = {}", value - 1e-9));
    let missed = requirement("fifo", "latency_p99_ns", "max = 1000000\nmodel = \"bert\"");
    let missed = missed.replace("\nmodel = \"bert\"", "");
    let counted = requirement("fifo", "requests", "max = 1000000");
    place.write("r.toml", format!("{REQUIRED}{met}{undecided}{missed}{counted}"));
    let said = place.run(&[&["regress", "r.toml"], &FORMS[..]].concat()).failed_a_check();
    let verdict = "Failed: 1 of 4 requirements is missed, 1 undecided, 2 met.";
    assert!(said.starts_with(&format!("{verdict}\n")), "{said}");
    assert!(place.read("m.md").contains(&format!("**{verdict}**")));
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("missed: latency_p99_ns of fifo, at most 1 ms: found "), "{said}");
    assert!(flat.contains("undecided: finish_rate of fifo, at least 0."), "{said}");
    assert!(flat.contains("more seeds may not decide"), "{said}");
    let xml = place.read("j.xml");
    assert!(xml.contains("tests=\"4\" skipped=\"0\" failures=\"2\""), "{xml}");
    assert!(xml.contains("<testcase name=\"finish_rate of fifo, at least 0.01\""), "{xml}");
    let html = place.read("r.html");
    assert!(
        html.contains("<section><h2>What failed</h2>") && html.contains("missed: latency_p99_ns")
    );
    let github = place.run(&["regress", "r.toml", "--format", "github"]).failed_a_check();
    let second = before.lines().count() + 2;
    let begins = format!(
        "::error file=r.toml,line={second},title=orrery regress%3A a requirement is undecided::"
    );
    assert!(github.starts_with(&begins), "{github}");
    // What is accepted is what is recorded, not what is required.
    place.run(&["regress", "r.toml", "--bless"]).failed_a_check();
}

/// What is surely worse comes before what is only undecided.
#[test]
fn a_verdict_begins_with_what_failed_and_ends_with_what_is_undecided() {
    let place = blessed();
    place.write("a.toml", slower());
    let rows = place.run(&["run", "a.toml", "--policy", "fifo", "--format", "csv"]).ok();
    let line = rows.lines().find(|l| l.contains(",all,finish_rate,")).expect("a row");
    let value: f64 = line.split(',').nth(10).and_then(|v| v.parse().ok()).expect("a value");
    let open = requirement("fifo", "finish_rate", &format!("min = {}", value - 1e-9));
    let marked = format!("{open}\n# Recorded by");
    place.write("b.toml", place.read("b.toml").replace("\n# Recorded by", &marked));
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (first, _) = flat.split_once("; the requirement is undecided. ").expect("undecided, last");
    assert!(first.starts_with("Failed: ") && first.contains(" worse"), "{said}");
}

/// Requirements and recorded values stand side by side: either fails the gate.
#[test]
fn a_requirement_fails_the_gate_where_no_value_moved() {
    let place = Place::with("a.toml", scenario());
    let all = requirement("fifo", "finish_rate", "max = 0.01");
    place.write("b.toml", format!("{BASELINE}{all}"));
    place.run(&["regress", "b.toml", "--bless"]).failed_a_check();
    let said = place.run(&["regress", "b.toml"]).failed_a_check();
    let begins = "Failed: the requirement is missed; all 12 values are the same.\n";
    assert!(said.starts_with(begins) && !said.contains("Changed:"), "{said}");
    // A policy without its parameters is every one of that name.
    place.write(
        "a.toml",
        scenario().replace("\"clockwork\"", "\"clockwork\", \"clockwork[preset=paper]\""),
    );
    let both = requirement("clockwork[preset=paper]", "finish_rate", "min = 0.0");
    place.write("r.toml", format!("{REQUIRED}{both}"));
    place.run(&["regress", "r.toml"]).ok();
}
