//! `orrery results`: one table from the rows of many result files, in builds with polars.

mod args;
#[cfg(feature = "polars")]
mod frame;

pub use args::Results;

use orrery_report::Answer;
use orrery_run::SpecError;

/// `orrery results`.
///
/// # Errors
/// When a file cannot be read, or a column or a value is not there.
#[cfg(feature = "polars")]
pub fn command(args: &Results) -> Result<Answer, SpecError> {
    frame::answer(args)
}

/// `orrery results`, which only builds with polars have.
///
/// # Errors
/// Always.
#[cfg(not(feature = "polars"))]
pub fn command(_: &Results) -> Result<Answer, SpecError> {
    let remedy = "build with `--features orrery/polars`, read the CSV with polars, pandas or DuckDB \
                  (docs/formats.md), or make a page: `orrery results page`";
    let found = "a program that was built without polars";
    Err(SpecError::value("results", found, "a build with the feature `polars`", remedy))
}
