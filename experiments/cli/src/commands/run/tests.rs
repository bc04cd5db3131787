//! What leaves as Parquet has the rows of the CSV.

use super::Run;
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
