//! The figure that a table of results most likely wants.

use crate::choice::RowFilter;
use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::{curves, sensitivity};
use orrery_results::{Row, metric};

/// The figure of a table: its sensitivity when there is an axis `changed`; else its finish rate, or
/// its only metric, by the axis of [`axis_of`].
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn figure_of(rows: &[Row], choice: &RowFilter) -> Result<Figure, PlotError> {
    if rows.iter().any(|r| r.axis("changed").is_some()) {
        return sensitivity::sensitivity(rows, metric::MEAN_ABS_ERROR, choice);
    }
    let values = rows.iter().filter(|r| r.versus.is_empty());
    let metrics = distinct(values.map(|r| r.metric.as_str()));
    match metrics.as_slice() {
        [one] if *one != metric::FINISH_RATE => {
            curves::metric_by_axis(rows, &axis_of(rows)?, one, choice)
        }
        _ => curves::finish_rate_by(rows, &axis_of(rows)?, choice),
    }
}

/// The axis along x: `slo_x_p99`, or the only one with several numbers.
///
/// # Errors
/// When there is none or more than one such axis.
pub fn axis_of(rows: &[Row]) -> Result<String, PlotError> {
    let names = distinct(rows.iter().flat_map(|r| r.axis_list().map(|a| a.0)));
    if names.contains(&"slo_x_p99") {
        return Ok("slo_x_p99".into());
    }
    let several = |name: &&&str| {
        let values = distinct(rows.iter().filter_map(|r| r.axis(name)));
        values.len() > 1 && values.iter().all(|v| v.parse::<f64>().is_ok_and(f64::is_finite))
    };
    let candidates: Vec<&&str> = names.iter().filter(several).collect();
    match candidates.as_slice() {
        [one] => Ok((**one).to_string()),
        _ => {
            let needed = "exactly one axis with several numbers";
            Err(PlotError::missing("metric", needed, &names, "name the axis (`--x`)"))
        }
    }
}
