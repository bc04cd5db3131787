//! `orrery results`: one table from the rows of many result files.
//!
//! ```text
//! files ── result_files ──> rows ── --where ──> --group-by and --pivot ──> table, CSV or JSON
//! ```
//!
//! It selects and averages; it never mixes metrics, scopes or result versions in one number.

mod groups;
mod select;

use clap::{Args, ValueEnum};
use groups::{Pivot, pivoted};
use orrery_report::tables::Text;
use orrery_report::{Answer, result_files, say};
use orrery_scenario::SpecError;
use select::{Condition, Rows};
use serde::Serializer;
use serde_json::{Map, Value, json};

/// `orrery results`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery results results/ --where metric=finish_rate --pivot system
  orrery results 'out/**/*.csv' --where metric=finish_rate --where case=one-modal --group-by slo_x_p99 --pivot policy
  orrery results results/orloj-table-3.csv --group-by system,preset --value abs_error --where metric=finish_rate

A column is one of the result rows (docs/formats.md), the name of an axis such as `slo_x_p99`, or `file`.")]
pub struct Results {
    /// Result files, folders that `--out` wrote, or quoted patterns such as 'out/**/*.csv'.
    #[arg(required = true)]
    pub results: Vec<String>,
    /// Only rows with this value in a column; may be repeated: several values of one column are
    /// alternatives. Without `scope=`, only rows of scope `all`, where there are any.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = Condition::parse)]
    pub conditions: Vec<Condition>,
    /// A line for each combination of these columns; by default of all that tell rows apart.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub group_by: Option<Vec<String>>,
    /// A column for each value of this column.
    #[arg(long, value_name = "COLUMN")]
    pub pivot: Option<String>,
    /// The numbers to show; of several rows in a group, their mean.
    #[arg(long, value_name = "COLUMN", default_value = "value")]
    pub value: String,
    /// The format of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// The forms of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people, with five significant digits.
    Table,
    /// CSV with all digits.
    Csv,
    /// JSON with one object per line of the table.
    Json,
}

/// `orrery results`.
///
/// # Errors
/// When a file cannot be read, a column or a value is not there, or a number would mix metrics.
pub fn command(args: &Results) -> Result<Answer, SpecError> {
    let mut rows = Rows::default();
    let (mut skipped, mut read) = (0, 0);
    for (path, named) in result_files::named_by(&args.results)? {
        let file = path.display().to_string();
        match result_files::read_by(&path, named, |some| rows.add(&file, &some))? {
            Some(_) => read += 1,
            None => skipped += 1,
        }
    }
    if read == 0 {
        return Err(result_files::none_in(&format!("`{}`", args.results.join("`, `"))));
    }
    if skipped > 0 {
        say(&format!("{skipped} of {} files have no result rows", skipped + read));
    }
    if rows.twice > 0 {
        say(&format!("{} rows that are in several files are used once", rows.twice));
    }
    let grouped = args.group_by.iter().flatten().chain(&args.pivot);
    let asked: Vec<&str> = grouped.map(String::as_str).collect();
    rows.choose(&args.conditions, &asked)?;
    let pivot = pivoted(&rows, args.group_by.as_deref(), args.pivot.as_deref(), &args.value)?;
    if let Some(note) = &pivot.note {
        say(note);
    }
    Ok(Answer::of(match args.format {
        Format::Table => table(&pivot),
        Format::Csv => csv(&pivot),
        Format::Json => json(&pivot),
    }))
}

/// Five significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    format!("{rounded}")
}

fn table(pivot: &Pivot<'_>) -> String {
    let header: Vec<&str> = pivot.keys.iter().chain(&pivot.columns).map(String::as_str).collect();
    let keys: Vec<&str> = pivot.keys.iter().map(String::as_str).collect();
    let mut text = Text::new(&header).left(&keys);
    for line in &pivot.lines {
        let numbers = line.values.iter().map(|v| v.map_or(String::new(), short));
        text.line(pivot.keys_of(line).map(str::to_string).chain(numbers).collect());
    }
    text.text()
}

fn csv(pivot: &Pivot<'_>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut record = |cells: Vec<String>| {
        writer.write_record(cells).expect("a record of words, written to memory");
    };
    record(pivot.keys.iter().chain(&pivot.columns).cloned().collect());
    for line in &pivot.lines {
        let numbers = line.values.iter().map(|v| v.map_or(String::new(), |v| format!("{v:?}")));
        record(pivot.keys_of(line).map(str::to_string).chain(numbers).collect());
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("the words are UTF-8")
}

fn json(pivot: &Pivot<'_>) -> String {
    let object = |line: &groups::Line| {
        let keys = pivot.keys.iter().cloned().zip(pivot.keys_of(line).map(|k| json!(k)));
        let values = pivot.columns.iter().cloned().zip(line.values.iter().map(|v| json!(v)));
        Value::Object(keys.chain(values).collect::<Map<_, _>>())
    };
    let mut out = serde_json::Serializer::pretty(Vec::new());
    // One by one: objects take several times the memory of their text.
    out.collect_seq(pivot.lines.iter().map(object)).expect("words and numbers, written to memory");
    String::from_utf8(out.into_inner()).expect("the words are UTF-8") + "\n"
}
