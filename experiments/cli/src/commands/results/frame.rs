//! Result rows in a frame of polars: selected, grouped, pivoted.
//!
//! ```text
//! files ── result_files ──> frame ── --where ──> --group-by and --pivot ──> table, CSV or JSON
//! ```

use super::args::{Format, Results};
use orrery_report::parquet::rows_frame;
use orrery_report::tables::Text;
use orrery_report::{Answer, result_files, say};
use orrery_results::{COLUMNS, distinct, grouped, pair, pairs};
use orrery_run::SpecError;
use orrery_run::error::known;
use polars::prelude::*;
use serde_json::{Map, Value, json};

/// The column of the file that a row is from.
const FILE: &str = "file";
/// Columns that a number never mixes: what is measured, of what.
const APART: [&str; 4] = ["metric", "scope", "versus", "result_version"];
/// The columns that place a row, beside [`APART`] and the axes.
const PLACES: [&str; 5] = ["experiment", "case", "system", "preset", "policy"];

fn wrong(e: impl ToString) -> SpecError {
    let allowed = "what polars can compute";
    SpecError::value("results", e.to_string(), allowed, "choose other columns or files")
}

/// The rows of all files with a column for each axis; a row that is in several files is used once.
fn read(args: &Results) -> Result<DataFrame, SpecError> {
    let mut all = DataFrame::empty();
    for (path, named) in result_files::named_by(&args.results)? {
        let file = path.display().to_string();
        result_files::read_by(&path, named, |rows| {
            let mut frame = rows_frame(&rows).map_err(wrong)?;
            frame.with_column(Column::new(FILE.into(), vec![&*file; rows.len()])).map_err(wrong)?;
            all.vstack_mut(&frame).map_err(wrong).map(drop)
        })?;
    }
    if all.height() == 0 {
        return Err(result_files::none_in(&format!("`{}`", args.results.join("`, `"))));
    }
    let own: Vec<Expr> = COLUMNS.iter().map(|c| col(c.0)).collect();
    let rows = all.lazy().unique_stable_generic(Some(own), UniqueKeepStrategy::First);
    rows.collect().and_then(with_axes).map_err(wrong)
}

/// Numbers where all values of an axis are.
fn with_axes(mut frame: DataFrame) -> PolarsResult<DataFrame> {
    let axes = frame.column("axes")?.str()?.clone();
    for name in distinct(axes.iter().flatten().flat_map(|text| pairs(text).map(|p| p.0))) {
        let words: Vec<_> = axes.iter().map(|text| pair(text?, name)).collect();
        let numbers = words.iter().map(|w| w.map(str::parse::<f64>).transpose());
        let column = match numbers.collect::<Result<Vec<_>, _>>() {
            Ok(numbers) => Column::new(name.into(), numbers),
            Err(_) => Column::new(name.into(), words),
        };
        if !COLUMNS.iter().any(|c| c.0 == name) {
            frame.with_column(column)?;
        }
    }
    Ok(frame)
}

/// Whether a column has the value, as text or as a number.
fn is(frame: &DataFrame, column: &str, value: &str) -> Result<Expr, SpecError> {
    known("--where", column, &names(frame))?;
    if value.is_empty() {
        return Ok(col(column).is_null());
    }
    if !frame.column(column).map_err(wrong)?.dtype().is_numeric() {
        return Ok(col(column).eq(lit(value)));
    }
    let wrong = |_| SpecError::value("--where", value, "a number", "give one");
    Ok(col(column).cast(DataType::Float64).eq(lit(value.parse::<f64>().map_err(wrong)?)))
}

/// `orrery results`.
pub fn answer(args: &Results) -> Result<Answer, SpecError> {
    let frame = read(args)?;
    let (names, pivot) = (names(&frame), args.pivot.as_deref());
    let mut rows = frame.clone().lazy();
    for (column, values) in grouped(args.conditions.iter().map(|(c, v)| (c, v))) {
        let any = values.iter().map(|v| is(&frame, column, v)).collect::<Result<Vec<_>, _>>()?;
        rows = rows.filter(any.into_iter().reduce(Expr::or).unwrap_or(lit(true)));
    }
    let rows = rows.collect().map_err(wrong)?;
    if rows.height() == 0 {
        let found: Vec<String> = args.conditions.iter().map(|(c, v)| format!("{c}={v}")).collect();
        let remedy = "leave a condition out, and see what the files have";
        return Err(SpecError::value("--where", found.join(" "), "values of some row", remedy));
    }
    let varies = |name: &&str| rows.column(name).is_ok_and(|c| c.n_unique().is_ok_and(|n| n > 1));
    let axes = names.iter().copied().skip(COLUMNS.len() + 1);
    let mut keys: Vec<&str> = match &args.group_by {
        Some(given) => given.iter().map(String::as_str).collect(),
        None => PLACES.into_iter().chain(axes).filter(varies).collect(),
    };
    keys.extend(APART.iter().filter(|name| varies(name)));
    for name in keys.iter().copied().chain(pivot) {
        known("--group-by and --pivot", name, &names)?;
    }
    let mut keys = distinct(keys.into_iter().filter(|k| Some(*k) != pivot));
    if keys.is_empty() {
        keys.push("experiment");
    }
    let is_number = |name: &&str| frame.column(name).is_ok_and(|c| c.dtype().is_numeric());
    known("--value", &args.value, &names.iter().copied().filter(is_number).collect::<Vec<_>>())?;
    let table = pivoted(&rows, &keys, pivot, &args.value).map_err(wrong)?;
    Ok(Answer::of(match args.format {
        Format::Table => text(&table, keys.len()),
        Format::Csv => csv(&table),
        Format::Json => json(&table),
    }))
}

/// The mean of each group in a column, or in one for each value of `pivot`; groups in the order of the files.
fn pivoted(
    rows: &DataFrame,
    keys: &[&str],
    pivot: Option<&str>,
    value: &str,
) -> PolarsResult<DataFrame> {
    let by: Vec<Expr> = keys.iter().map(|k| col(*k)).collect();
    let value = col(value).cast(DataType::Float64);
    let mut cells = by.clone();
    let means = match pivot {
        None => vec![value.mean()],
        Some(pivot) => {
            let across = col(pivot).cast(DataType::String).fill_null(lit("(none)"));
            cells.push(across.clone());
            let all = rows.clone().lazy().select([across.clone().unique_stable()]).collect()?;
            let is = |name: &str| across.clone().eq(lit(name));
            let mean = |name: &str| value.clone().filter(is(name)).mean().alias(name);
            all.columns()[0].str()?.iter().flatten().map(mean).collect()
        }
    };
    let cells = rows.clone().lazy().group_by_stable(cells).agg([len()]).collect()?.height();
    if cells < rows.height() {
        let all = rows.height();
        say(&format!(
            "{all} rows in {cells} groups: a number is the mean of its rows (--group-by)"
        ));
    }
    rows.clone().lazy().group_by_stable(by).agg(means).collect()
}

fn names(table: &DataFrame) -> Vec<&str> {
    table.columns().iter().map(|c| c.name().as_str()).collect()
}

fn lines(table: &DataFrame) -> impl Iterator<Item = Vec<Value>> {
    let value = |column: &Column, i| {
        column.get(i).map_or(Value::Null, |cell| match cell.get_str() {
            Some(word) => json!(word),
            None => json!(cell.try_extract::<f64>().ok()),
        })
    };
    (0..table.height()).map(move |i| table.columns().iter().map(|c| value(c, i)).collect())
}

/// A cell; a number with all digits, or with five.
fn word(value: &Value, five: bool) -> String {
    match (value, value.as_f64()) {
        (Value::String(word), _) => word.clone(),
        (_, Some(x)) if five => format!("{}", format!("{x:.4e}").parse().unwrap_or(x)),
        (_, Some(x)) => format!("{x:?}"),
        _ => String::new(),
    }
}

fn text(table: &DataFrame, keys: usize) -> String {
    let head = names(table);
    let mut text = Text::new(&head).left(&head[..keys]);
    for line in lines(table) {
        text.line(line.iter().map(|v| word(v, true)).collect());
    }
    text.text()
}

fn csv(table: &DataFrame) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(names(table)).expect("memory can be written");
    for line in lines(table) {
        let cells = line.iter().map(|v| word(v, false));
        writer.write_record(cells).expect("memory can be written");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("the words are UTF-8")
}

fn json(table: &DataFrame) -> String {
    let names: Vec<String> = names(table).into_iter().map(str::to_string).collect();
    let object = |line: Vec<Value>| names.iter().cloned().zip(line).collect::<Map<_, _>>();
    let all: Vec<Map<_, _>> = lines(table).map(object).collect();
    serde_json::to_string_pretty(&all).expect("words and numbers") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::{Results, command};
    use clap::Parser;
    use orrery_results::{Row, to_csv};
    use std::path::Path;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        results: Results,
    }

    fn row(experiment: &str, load: &str, policy: &str, value: f64) -> Row {
        Row {
            experiment: experiment.into(),
            axes: format!("load={load};kind=k{load}"),
            policy: policy.into(),
            scope: "all".into(),
            metric: "finish_rate".into(),
            unit: "unitless".into(),
            value: Some(value),
            result_version: 1,
            ..Row::default()
        }
    }

    /// Two files, and one of them once more.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let a = [row("a", "0.5", "fifo", 0.9), row("a", "0.5", "orloj[x=1]", 1.0)];
        let bad = Row { metric: "bad_rate".into(), ..row("b", "2", "fifo", 0.6) };
        let b = [row("b", "2", "fifo", 0.4), bad];
        for (name, rows) in [("a", &a), ("b", &b), ("again", &a)] {
            let path = folder.path().join(format!("{name}.csv"));
            std::fs::write(path, to_csv(rows)).expect("a file");
        }
        folder
    }

    fn ask(folder: &Path, args: &[&str]) -> Result<String, String> {
        let files = folder.join("*.csv").display().to_string();
        let line = Line::try_parse_from([&["results", &files, "--format", "csv"], args].concat());
        let line = line.map_err(|e| e.to_string())?;
        command(&line.results).map(|a| a.stdout).map_err(|e| e.to_string())
    }

    #[test]
    fn rows_are_selected_grouped_and_pivoted_each_once() {
        let folder = folder();
        let ask = |args: &[&str]| ask(folder.path(), args).expect("an answer");
        let with = |more: &[&str]| ask(&[&["--where", "metric=finish_rate"], more].concat());
        assert_eq!(with(&["--group-by", "policy"]), "policy,value\nfifo,0.65\norloj[x=1],1.0\n");
        let wide = "load,fifo,orloj[x=1]\n0.5,0.9,1.0\n2.0,0.4,\n";
        assert_eq!(with(&["--group-by", "load", "--pivot", "policy"]), wide);
        assert_eq!(with(&["--where", "load=2.0"]), "experiment,value\nb,0.4\n");
        let two = with(&["--where", "kind=k2", "--where", "kind=k0.5", "--group-by", "kind"]);
        assert_eq!(two, "kind,value\nk0.5,0.95\nk2,0.4\n", "alternatives");
        let apart = ask(&["--group-by", "experiment", "--where", "experiment=b"]);
        assert_eq!(apart, "experiment,metric,value\nb,finish_rate,0.4\nb,bad_rate,0.6\n");
        let wide = ask(&["--pivot", "metric", "--where", "load=2", "--where", "case="]);
        assert_eq!(wide, "experiment,finish_rate,bad_rate\nb,0.4,0.6\n");
    }

    #[test]
    fn what_cannot_be_asked_is_said_with_what_can() {
        let folder = folder();
        let refused = |args: &[&str], said: &str| {
            let error = ask(folder.path(), args).expect_err("an error");
            assert!(error.contains(said), "{error}");
        };
        refused(&["--where", "metirc=x"], "did you mean `metric`");
        refused(&["--where", "metric"], "metric=finish_rate");
        refused(&["--where", "metric=x"], "leave a condition out");
        refused(&["--where", "load=x"], "a number");
        refused(&["--group-by", "polcy"], "did you mean `policy`");
        refused(&["--pivot", "polcy"], "did you mean `policy`");
        refused(&["--value", "policy"], "ci95_low");
        std::fs::write(folder.path().join("broken.csv"), "metric,axes\nx\n").expect("a file");
        refused(&[], "broken.csv");
    }
}
