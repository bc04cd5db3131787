//! Measured cases: rows of a CSV file, predicted and scored.

use crate::options::CliOption;
use crate::registry::{find, from_text};
use crate::reproduce::{Asked, forms_of, rows_of};
use orrery_results::Row;
use std::path::{Path, PathBuf};

const FILE: &str = r#"
id = "two-numbers"
title = "A server with deterministic times"
source = "a test"
seeds = 1
show = ["latency_p50_ns", "peak_goodput_per_s"]

[errors]
by = ["kind"]
totals = true
beside = "measured"

[cases]
file = "measured.csv"
name = "case {{ row }}"
axes = { kind = "kind" }
not_counted = { "it is said to be broken" = "broken == 1" }
scenario = '''
warm_up_s = 1.0
[[model]]
name = "m"
slo_ms = 100.0
latency = { table = [[1, 1.0]] }
[[app]]
name = "a"
model = "m"
time = { constant = { ms = 1.0 } }
[arrivals]
constant = { rate_per_s = 10.0 }
requests = 2_000
'''

[cases.set]
"model.m.latency.table" = "table"
"arrivals.constant.rate_per_s" = "10"

[cases.search]
warm_up_s = "0"
least_s = "1"

[cases.run]
"arrivals.constant.rate_per_s" = "rate_per_s"

[cases.measured]
latency_p50_ns = "1e6 * p50_ms"
peak_goodput_per_s = "highest_per_s"

[[system]]
name = "ours"
policy = "fifo[max_batch={{ max_batch }}]"

[[system]]
name = "guess"
policy = "computed"
computed = { latency_p50_ns = "2e6 * p50_ms" }
"#;

const ROWS: &str = "kind,max_batch,table,rate_per_s,p50_ms,highest_per_s,broken
a,1,\"[[1, 20.0]]\",40,20,50,0
a,1,\"[[1, 20.0]]\",40,16,50,0
a,1,\"[[1, 20.0]]\",60,20,40,0
b,1,\"[[1, 20.0]]\",withheld,withheld,withheld,0
b,1,\"[[1, 20.0]]\",40,10,50,1
";

fn place(rows: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("measured.csv"), rows).expect("a file");
    let path = folder.path().join("two-numbers.toml");
    (folder, path)
}

fn text(path: &Path, asked: &Asked) -> String {
    orrery_report::width::set_width(usize::MAX);
    let asked = Asked { details: true, ..asked.clone() };
    let e = from_text(&path.display().to_string(), FILE).expect("an experiment");
    forms_of(&e, &asked).expect("it runs").table
}

fn value(rows: &[Row], case: &str, system: &str, metric: &str) -> Option<f64> {
    let is =
        |r: &&Row| r.case == case && r.system == system && r.metric == metric && r.scope == "all";
    rows.iter().find(is).and_then(|r| r.value)
}

#[test]
fn each_row_is_a_scenario_and_its_prediction_is_that_of_the_closed_form() {
    let (_folder, path) = place(ROWS);
    let e = from_text(&path.display().to_string(), FILE).expect("an experiment");
    let rows = rows_of(&e, &Asked::default()).expect("it runs");
    // D/D/1: below 50 a second, 20 ms each.
    let p50 = value(&rows, "case 1", "ours", "latency_p50_ns").expect("it ran");
    assert!((p50 / 20e6 - 1.0).abs() < 0.002, "{p50}");
    let peak = value(&rows, "case 1", "ours", "peak_goodput_per_s").expect("it was searched");
    assert!((peak / 50.0 - 1.0).abs() < 0.02, "{peak}");
    // Without a measured rate there is the search alone.
    assert!(value(&rows, "case 4", "ours", "peak_goodput_per_s").is_some());
    assert_eq!(value(&rows, "case 4", "ours", "latency_p50_ns"), None);
    assert_eq!(value(&rows, "case 1", "guess", "latency_p50_ns"), Some(40e6));
}

#[test]
fn errors_are_summed_up_and_no_row_is_dropped() {
    let (_folder, path) = place(ROWS);
    let text = text(&path, &Asked::default());
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let has = |line: &[&str]| lines.iter().any(|l| l == line);
    // Of three latencies one is without end: in the median (0, 25 and infinity), not in the mean.
    assert!(
        has(&["a", "ours", "3", "3", "1", "25.00", "12.50", "+25.00", "case=case", "2"]),
        "{text}"
    );
    assert!(
        has(&["all", "guess", "3", "3", "0", "100.00", "100.00", "+100.00", "case=case", "3"]),
        "{text}"
    );
    assert!(text.contains("no end: the queue grows without end"), "{text}");
    assert!(text.contains("not counted: case 5: it is said to be broken"), "{text}");
    assert!(lines.iter().any(|l| l.starts_with(&["case", "3"]) && l.contains(&"end")), "{text}");
}

/// A column that the names of all cases say, and a reason in each of its lines, took four lines for one.
#[test]
fn what_the_names_of_cases_say_has_no_column_and_a_reason_stands_once() {
    orrery_report::width::set_width(usize::MAX);
    let (_folder, path) = place(&format!("{ROWS}b,1,\"[[1, 20.0]]\",40,10,50,1\n"));
    let text = |name: &str| {
        let file = FILE.replace("name = \"case {{ row }}\"", &format!("name = \"{name}\""));
        let e = from_text(&path.display().to_string(), &file).expect("an experiment");
        let asked = Asked { details: true, ..Asked::default() };
        let text = forms_of(&e, &asked).expect("it runs").table;
        assert!(text.contains("not counted: case 5"), "{text}");
        let why = text.lines().filter(|l| l.contains("it is said to be broken")).count();
        assert_eq!(why, 1, "{text}");
        let of_table = text.lines().skip_while(|l| *l != "Results").nth(2).unwrap_or_default();
        of_table.split_whitespace().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(text("case {{ row }}")[..3], ["case", "kind", "not_counted"]);
    assert_eq!(text("case {{ row }} {{ kind }}")[..2], ["case", "not_counted"]);
}

#[test]
fn another_file_of_rows_is_taken_in_place_of_its_own() {
    let (folder, path) = place(ROWS);
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "kind,max_batch,table,rate_per_s,p50_ms,highest_per_s,broken\nc,1,\"[[1, 10.0]]\",40,10,100,0\n")
        .expect("a file");
    let asked = Asked { paper: Some(other), ..Asked::default() };
    let text = text(&path, &asked);
    assert!(
        text.contains("case 1") && !text.contains("case 2") && text.contains("100.0"),
        "{text}"
    );
}

#[test]
fn what_is_wrong_with_rows_or_expressions_is_said_with_the_remedy() {
    let (_folder, path) = place(ROWS);
    let error = |from: &str, to: &str| {
        assert!(FILE.contains(from), "{from}");
        let text = FILE.replace(from, to);
        let e = from_text(&path.display().to_string(), &text);
        let made = e.and_then(|e| rows_of(&e, &Asked::default()));
        made.expect_err("it is refused").to_string()
    };
    for (from, to, parts) in [
        (
            "\"1e6 * p50_ms\"",
            "\"1e6 * p50_m\"",
            &["cases.measured", "`p50_m`", "did you mean `p50_ms`?"][..],
        ),
        (
            "name = \"case {{ row }}\"",
            "name = \"case {{ kind }}\"",
            &["cases.name", "`case a` twice", "{{ row }}"],
        ),
        ("\"table\"\n", "\"kind\"\n", &["case `case 1`, system `ours`", "latency"]),
        ("warm_up_s = \"0\"", "warm_up = \"0\"", &["cases.search", "warm_up"]),
        ("fifo[max_batch={{ max_batch }}]", "fifo[max={{ max_batch }}]", &["case 1", "max_batch"]),
        ("file = \"measured.csv\"", "file = \"none.csv\"", &["none.csv"]),
        (
            "[cases.search]\nwarm_up_s = \"0\"\nleast_s = \"1\"\n",
            "",
            &["cases.run", "nothing without `search`"],
        ),
        ("latency_p50_ns = \"1e6 * p50_ms\"", "latency_p5_ns = \"p50_ms\"", &["latency_p5_ns"]),
    ] {
        let error = error(from, to);
        parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
    }
}

#[test]
fn shipped_measurements_are_read_and_a_fixed_number_of_seeds_is_asked_for() {
    for (id, cases) in [
        ("mlperf-single", 38),
        ("mlperf-server", 227),
        ("latency-law", 316),
        ("triton-nnunet", 64),
        ("triton-others", 896),
    ] {
        let e = find(id).expect("a shipped study");
        assert_eq!(e.cases().len(), cases, "{id}");
        assert!(e.refused(CliOption::UntilCi).is_some(), "{id}");
    }
}

/// The page said that nnU-Net's latencies are up to 77 % off: it counted the table that is not counted, and bounds
/// that are no prediction of ours.
#[test]
fn a_page_counts_what_the_table_of_errors_counts_and_each_system_apart() {
    let (_folder, path) = place(ROWS);
    let e = from_text(&path.display().to_string(), FILE).unwrap_or_else(|e| panic!("{e}"));
    let rows = rows_of(&e, &Asked::default()).unwrap_or_else(|e| panic!("{e}"));
    let page = crate::document::of(&e, &rows);
    let said: Vec<&str> = page.verdict.iter().map(|v| v.text.as_str()).collect();
    assert_eq!(
        said,
        [
            "Against 2 measured numbers the median error is 25.0 %, the largest 25.0 % (ours; in 1 more the queue \
             grows without end)."
        ]
    );
    assert!(page.to_html().contains("others: guess 100.0 % (3 numbers)"));
}
