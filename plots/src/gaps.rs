//! Rows with a gap for each value that is no finite number.
//!
//! A curve that is drawn through such a point, or a bar that stops at the edge, says what no run said.

use orrery_results::Row;
use std::borrow::Cow;

/// The flag of a row with a number that is not finite; it lives in figures only.
pub(crate) const NOT_FINITE: &str = "not-finite";

/// The rows, without the numbers that are NaN or infinite: a row without its value is a gap in its curve, and the
/// flag adds a note below the figure.
pub(crate) fn with_gaps(rows: &[Row]) -> Cow<'_, [Row]> {
    let numbers = |r: &Row| [r.value, r.ci95_low, r.ci95_high, r.paper];
    let is_bad = |x: Option<f64>| x.is_some_and(|x| !x.is_finite());
    if !rows.iter().any(|r| numbers(r).into_iter().any(is_bad)) {
        return Cow::Borrowed(rows);
    }
    let gap = |row: &Row| {
        let mut row = row.clone();
        let [value, low, high, paper] = numbers(&row).map(is_bad);
        if value || low || high || paper {
            row.flag(NOT_FINITE);
        }
        if value {
            row.reason = format!("`{}` is no finite number", row.value.unwrap_or(f64::NAN));
            row.value = None;
        }
        if value || low || high {
            (row.ci95_low, row.ci95_high) = (None, None);
        }
        row.paper = row.paper.filter(|_| !paper);
        row
    };
    Cow::Owned(rows.iter().map(gap).collect())
}
