//! What kinds share that compute without a run.

use crate::experiment::Experiment;
use orrery_run::SpecError;

/// What is allowed of seeds where nothing is run.
pub(super) const COMPUTED: &str = "nothing: it is computed, without chance";

/// A value at a place along x, of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The curve: a law or a request.
    pub of: String,
    /// As in [`orrery_results::Row::metric`].
    pub metric: &'static str,
    /// Along x.
    pub at: f64,
    /// In the metric's unit.
    pub value: f64,
}

/// Only these axes are varied, and nothing is set.
pub(super) fn without_axes(e: &Experiment, kind: &str, allowed: &[&str]) -> Result<(), SpecError> {
    let other = e.axis.iter().find(|a| !allowed.contains(&a.name.as_str()));
    let key = match (other, e.point.is_empty(), e.set.is_empty()) {
        (Some(_), ..) => "axis",
        (None, false, _) => "point",
        (None, true, false) => "set",
        _ => return Ok(()),
    };
    let found = other.map_or("settings".to_string(), |a| format!("`{}`", a.name));
    let allowed = match allowed {
        [] => format!("none with `{kind}`"),
        _ => format!("with `{kind}` only the axis `{}`", allowed.join("`, `")),
    };
    Err(SpecError::value(key, found, allowed, "remove it: nothing is run"))
}
