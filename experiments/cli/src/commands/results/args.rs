//! The options of `orrery results`.

use clap::{Args, ValueEnum};

/// `orrery results`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery results results/ --where metric=finish_rate --pivot system
  orrery results 'out/**/*.csv' --where metric=finish_rate --where case=one-modal --group-by slo_x_p99 --pivot policy
  orrery results results/orloj-table-3.csv --group-by system,preset --value abs_error --where metric=finish_rate

A column is one of the result rows (docs/formats.md), the name of an axis such as `slo_x_p99`, or `file`.
Only builds with `--features polars` have this command.")]
pub struct Results {
    /// Result files, folders that `--out` wrote, or quoted patterns such as 'out/**/*.csv'.
    #[arg(required = true)]
    pub results: Vec<String>,
    /// Only rows with this value in a column; may be repeated: several values of one column are
    /// alternatives.
    #[arg(long = "where", value_name = "COLUMN=VALUE", value_parser = condition)]
    pub conditions: Vec<(String, String)>,
    /// A line for each combination of these columns; by default of all that tell rows apart. Rows of
    /// different metrics, scopes or result versions are apart always.
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

fn condition(text: &str) -> Result<(String, String), String> {
    let (column, value) = text
        .split_once('=')
        .ok_or("a column and a value with `=` between, such as metric=finish_rate")?;
    Ok((column.trim().to_string(), value.trim().to_string()))
}
