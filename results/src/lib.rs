//! Result tables: what every command writes, and what figures and the regression gate read.
//!
//! It knows no simulator: rows in, rows out. The columns are described in `docs/formats.md`.
//!
//! | table | one row for each |
//! |---|---|
//! | [`Row`] | cell and metric, with its interval and its provenance |
//! | [`DistributionRow`] | point of a cumulative distribution |
//! | [`SeriesRow`] | bin of a time series |
//! | [`BatchRow`] | batch that a device ran |
//!
//! ```
//! use orrery_results::{Row, better, Better, read_rows, to_csv, unit};
//!
//! let mut row = Row {
//!     experiment: "bert-slo".into(),
//!     policy: "orloj".into(),
//!     scope: "all".into(),
//!     metric: "finish_rate".into(),
//!     unit: unit("finish_rate").into(),
//!     value: Some(0.97),
//!     ci95_low: Some(0.96),
//!     ci95_high: Some(0.98),
//!     ci_method: "replications".into(),
//!     ..Row::default()
//! };
//! let table = to_csv(&[row.clone()]);
//! assert_eq!(read_rows("bert-slo.csv", &table)?, [row.clone()]);
//! assert_eq!(better("finish_rate"), Better::Higher);
//!
//! // A cell without an answer has the reason in place of the value.
//! row.without_answer("no rate that was searched is allowable");
//! assert_eq!((row.value, row.ci95()), (None, None));
//! # Ok::<(), orrery_results::TableError>(())
//! ```

mod details;
pub mod metric;
mod row;
mod table;
mod text;
mod wide;

pub use details::{BatchRow, DistributionRow, Record, SeriesRow};
pub use metric::{
    Better, UNITLESS, better, difference_in, difference_of, is_metric, metrics, range, unit,
};
pub use row::{COLUMNS, ColumnType, Flags, PaperFigure, Row, seed_list};
pub use table::{
    JsonRows, TableError, csv_lines, header, read_csv, read_rows, rows_in, to_csv, to_json,
};
pub use text::{PolicyText, distinct, grouped, joined, pair, pairs, system_of};
pub use wide::{Wide, wide};

/// Raised by hand whenever the same specification may give other numbers, with a line in the
/// changelog's "Results changed". Results of different versions are never mixed or compared.
pub const RESULT_VERSION: u32 = 14;
