use super::*;
use crate::cli::{Run, Trace};
use crate::commands;
use clap::Parser;
use orrery_sim::request::{AppId, ModelId, VecSource};
use orrery_sim::time::Time;

fn read(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

#[test]
fn a_workload_comes_back_as_it_was_written() {
    let arrivals: Vec<Arrival> = (0..(CHUNK as u64 + 10))
        .map(|i| Arrival {
            at: Time::from_ns(i * 7),
            app: AppId(i as u32 % 3),
            model: ModelId(i as u32 % 2),
            size: 1 + i as u32 % 4,
            slo: if i % 5 == 0 { Span::MAX } else { Span::from_ns(i) },
            alone: Span::from_ns(i * i),
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.parquet");
    let rows = record(&mut VecSource::new(arrivals.clone()), &path).unwrap();
    assert_eq!(rows, arrivals.len() as u64);
    assert!(read(&path).equals_missing(&chunk(&arrivals).unwrap()));
    let again = folder.path().join("again.parquet");
    record(&mut VecSource::new(arrivals), &again).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap(), "the same bytes");
}

#[test]
fn rows_have_the_columns_of_the_csv_with_their_types_and_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let rows = vec![
        Row { case: "a".into(), value: Some(0.1), samples: 7, paper: Some(0.3), ..Row::default() },
        Row { policy: "nexus[drop=none,batch=2]".into(), ci95_low: Some(1.0), ..Row::default() },
    ];
    let path = folder.path().join("new/t.parquet");
    table_from_rows(&rows, &path).unwrap();
    let frame = read(&path);
    let csv = orrery_results::to_csv(&rows);
    assert_eq!(
        frame.get_column_names().iter().map(|n| n.as_str()).collect::<Vec<_>>().join(","),
        csv.lines().next().unwrap()
    );
    assert_eq!(frame.column("value").unwrap().f64().unwrap().get(0), Some(0.1));
    assert_eq!(frame.column("samples").unwrap().u64().unwrap().get(0), Some(7));
    assert_eq!(frame.column("paper").unwrap().f64().unwrap().get(1), None);
    assert_eq!(frame.column("case").unwrap().str().unwrap().get(1), None);
    let again = folder.path().join("again.parquet");
    table_from_rows(&rows, &again).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), std::fs::read(again).unwrap(), "the same bytes");
    table_from_rows(&[], &folder.path().join("empty.parquet")).unwrap();
}

/// Whoever filters on the metric and averages by policy gets the value, not half of it.
#[test]
fn a_naive_mean_by_policy_is_of_values_only() {
    let folder = tempfile::tempdir().unwrap();
    let row = |policy: &str, metric: &str, versus: &str, value: f64| Row {
        policy: policy.into(),
        metric: metric.into(),
        versus: versus.into(),
        value: Some(value),
        ..Row::default()
    };
    let difference = orrery_results::difference_of("finish_rate");
    let rows = [
        row("orloj", "finish_rate", "", 0.96),
        row("fifo", "finish_rate", "", 0.829),
        row("fifo", &difference, "orloj", -0.131),
    ];
    let path = folder.path().join("t.parquet");
    table_from_rows(&rows, &path).unwrap();
    let frame = read(&path);
    let is = |column: &str, word: &str| {
        let column = frame.column(column).unwrap().str().unwrap().clone();
        column.iter().map(|cell| cell == Some(word)).collect::<BooleanChunked>()
    };
    let chosen = frame.filter(&(is("metric", "finish_rate") & is("policy", "fifo"))).unwrap();
    assert_eq!(chosen.column("value").unwrap().f64().unwrap().mean(), Some(0.829));
}

#[test]
fn the_types_of_columns_do_not_depend_on_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut none = Row::default();
    none.without_answer("not even 4096 devices are enough");
    let full = Row { value: Some(1.0), paper: Some(2.0), seeds: "1-1".into(), ..Row::default() };
    let types = |rows: &[Row]| {
        let path = folder.path().join("t.parquet");
        table_from_rows(rows, &path).unwrap();
        read(&path).dtypes()
    };
    let expected: Vec<DataType> = orrery_results::COLUMNS
        .iter()
        .map(|(name, kind)| match kind {
            orrery_results::ColumnType::Text => DataType::String,
            orrery_results::ColumnType::Number => DataType::Float64,
            orrery_results::ColumnType::Count if *name == "samples" => DataType::UInt64,
            orrery_results::ColumnType::Count => DataType::UInt32,
        })
        .collect();
    for rows in [vec![none.clone()], vec![full.clone()], vec![none, full], Vec::new()] {
        assert_eq!(types(&rows), expected);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let error = record(&mut VecSource::default(), Path::new("/nowhere/w.parquet")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/w.parquet"), "{error}");
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
    commands::run(&line.run).unwrap();
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
        commands::trace(&record).unwrap();
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
