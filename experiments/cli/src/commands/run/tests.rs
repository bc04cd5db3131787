//! What leaves as Parquet has the rows and lines of the text.

use super::Run;
use crate::commands::trace::{self, Trace};
use clap::Parser;
use polars::prelude::*;
use std::fs::File;
use std::path::Path;

fn read(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

const SCENARIO: &str = r#"name = "small"
policies = ["fifo", "clockwork"]

[[model]]
name = "bert"
slo_ms = 30.0
latency = { proportional = { c1 = 0.4 } }

[[app]]
name = "chat"
model = "bert"
time = { lognormal = { mean_ms = 8.0, sd_ms = 5.0 } }

[arrivals]
poisson = { rate_per_s = 200.0 }
requests = 300
"#;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    run: Run,
}

/// `orrery run` in this folder, with these arguments behind the scenario's.
fn run(folder: &Path, args: &[&str]) {
    let scenario = folder.join("a.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let scenario = scenario.display().to_string();
    let line = Line::try_parse_from([&["orrery", &scenario], args].concat()).unwrap();
    super::command(&line.run).unwrap();
}

/// A cell as it would stand in a text file.
fn word(frame: &DataFrame, column: &str, row: usize) -> String {
    match frame.column(column).unwrap().get(row).unwrap() {
        AnyValue::Null => String::new(),
        AnyValue::String(s) => s.to_string(),
        other => other.to_string(),
    }
}

/// A row of a log in Parquet as its line of text.
fn line(frame: &DataFrame, row: usize) -> String {
    let kind = word(frame, "kind", row);
    let what = word(frame, "what", row);
    let columns = match kind.as_str() {
        "name" if what == "policy" => {
            return format!("name,policy,0,{}", word(frame, "text", row));
        }
        "name" => &["what", &what, "text"][..],
        "arrive" => {
            &["time_ns", "request", "app", "model", "size", "source", "arrival_ns", "deadline_ns"]
        }
        "issue" => &[
            "time_ns",
            "action",
            "device",
            "lane",
            "model",
            "units",
            "earliest_ns",
            "latest_ns",
            "requests",
        ],
        "begin" => &["time_ns", "action"],
        "close" => &["time_ns", "action", "what", "device_ns"],
        "end" => &["time_ns", "request", "what"],
        "device" => &["time_ns", "device", "what"],
        "why" => &["time_ns", "request", "text"],
        _ => &["time_ns"],
    };
    let fields: Vec<String> = columns.iter().map(|c| word(frame, c, row)).collect();
    format!("{kind},{}", fields.join(","))
}

#[test]
fn the_log_of_a_run_has_the_lines_of_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let log = |name: &str| {
        let path = at(name);
        run(folder.path(), &["--policy", "clockwork", "--why", "--log", &path]);
        std::fs::read(path).unwrap()
    };
    let text = String::from_utf8(log("a.log")).unwrap();
    assert!(log("a.parquet") == log("b.parquet"), "the same bytes");
    let frame = read(&folder.path().join("a.parquet"));
    // The terms of the run are of the text alone.
    let lines: Vec<&str> = text.lines().skip(1).filter(|l| !l.starts_with("terms,")).collect();
    assert_eq!(frame.height(), lines.len());
    for kind in ["name,app", "why", "issue", "close", "end", "finish"] {
        assert!(lines.iter().any(|l| l.starts_with(kind)), "{kind}");
    }
    for (i, expected) in lines.iter().enumerate() {
        assert_eq!(line(&frame, i), *expected);
    }
    // The text that it was made from is gone.
    let left = std::fs::read_dir(folder.path()).unwrap();
    assert!(left.map(|e| e.unwrap().path()).all(|p| p.extension() != Some("tmp".as_ref())));
}

#[test]
fn the_results_of_a_run_have_the_rows_of_the_csv() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| {
        let path = folder.path().join(name);
        run(folder.path(), &["--out", &path.display().to_string()]);
        path.join("small.parquet")
    };
    let (one, two) = (out("one"), out("two"));
    assert!(std::fs::read(&one).unwrap() == std::fs::read(two).unwrap(), "the same bytes");
    let frame = read(&one);
    let mut csv = csv::Reader::from_path(one.with_extension("csv")).unwrap();
    let head = csv.headers().unwrap().clone();
    let mut rows = 0;
    for (i, record) in csv.records().map(Result::unwrap).enumerate() {
        rows += 1;
        for (column, cell) in head.iter().zip(&record) {
            let value = frame.column(column).unwrap().get(i).unwrap();
            match value.try_extract::<f64>() {
                Ok(number) => assert_eq!(cell.parse(), Ok(number), "row {i}, {column}"),
                Err(_) => assert_eq!(cell, word(&frame, column, i), "row {i}, {column}"),
            }
        }
    }
    assert_eq!(frame.height(), rows);
    assert!(rows > 20);
}

#[test]
fn a_recorded_workload_has_the_rows_of_the_csv() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("a.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let record = |name: &str| {
        let out = folder.path().join(name);
        let record = Trace::Record { scenario: scenario.clone(), out: out.clone(), seed: None };
        trace::command(&record).unwrap();
        out
    };
    let text = std::fs::read_to_string(record("w.csv")).unwrap();
    let frame = read(&record("w.parquet"));
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    for (i, expected) in lines.enumerate() {
        let cells: Vec<String> = head.iter().map(|c| word(&frame, c, i)).collect();
        assert_eq!(cells.join(","), expected);
    }
    assert_eq!(frame.height(), 300);
}
