//! `[figure]`: what an experiment's picture shows.

use super::Preset;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[figure]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureFile {
    /// How values are drawn.
    #[schemars(extend("x-default" = "`curves` if an axis is numeric, else `bars`"))]
    pub kind: Option<FigureKind>,
    /// The metric on the y axis; for `shares`, use `metrics`.
    #[schemars(extend("x-default" = "the first of `show`"))]
    pub metric: Option<String>,
    /// Several metrics, one panel each; for `shares`, quantiles such as `latency_p99_ns`.
    #[schemars(extend("x-default" = "none"))]
    pub metrics: Vec<String>,
    /// The x axis: an axis, `case`, `system`, `metric`, another metric of the same cells, a policy parameter, or
    /// `paper`: the number beside each value, which is then divided by it.
    #[schemars(extend("x-default" = "the only axis with several numbers; for bars, the first axis"))]
    pub x: Option<String>,
    /// For `heat`: the axis shown on y.
    pub y: Option<String>,
    /// The axis with one curve or bar for each value.
    #[schemars(extend("x-default" = "the systems"))]
    pub series: Option<String>,
    /// The axes with one panel for each value; `system` and `case` are allowed. `heat` shows the median of
    /// values in the same place.
    #[schemars(extend("x-default" = "all axes that differ"))]
    pub panels: Option<Vec<String>>,
    /// Show only systems with these presets, with the paper's numbers beside them.
    #[schemars(extend("x-default" = "`calibrated` if there are any, else all"))]
    pub presets: Vec<Preset>,
    /// Show only these systems.
    #[schemars(extend("x-default" = "all"))]
    pub systems: Vec<String>,
    /// Show only rows at this place, as `name=value;name=value`: with `bin_s` also `group=NAME`.
    #[schemars(extend("x-default" = "all"))]
    pub at: String,
    /// Systems drawn as a horizontal line across the panel.
    #[schemars(extend("x-default" = "none"))]
    pub lines: Vec<String>,
    /// Values drawn as a horizontal line across the panel: `{ "NAME" = VALUE }`.
    #[schemars(extend("x-default" = "none"))]
    pub levels: BTreeMap<String, f64>,
    /// Divide values by this system's value in the same place; `""` for none.
    #[schemars(extend("x-default" = "the experiment's"))]
    pub relative_to: Option<String>,
    /// Show only these systems, each divided by another: `{ SYSTEM = "OTHER" }`.
    #[schemars(extend("x-default" = "none"))]
    pub ratios: BTreeMap<String, String>,
    /// Two metrics with the ends of the intervals: `["LOW", "HIGH"]`.
    #[schemars(extend("x-default" = "95 % confidence intervals"))]
    pub interval: Option<[String; 2]>,
    /// Show how far values are from the paper's: of shares in percentage points, of all else in percent, without signs;
    /// what has no number of the paper is not shown.
    pub errors: bool,
    /// Mark with a star the points of a system, or those where a metric is 1.
    pub star: Option<String>,
    /// Names for values of axes, also for `from_s` of `bin_s`, for systems, and for metrics along x:
    /// `{ "VALUE" = "NAME" }`.
    #[schemars(extend("x-default" = "the values themselves"))]
    pub names: BTreeMap<String, String>,
    /// Label of the x axis.
    pub x_label: Option<String>,
    /// Label of the y axis.
    pub y_label: Option<String>,
    /// Scale of x.
    #[schemars(extend("x-default" = "chosen from the values"))]
    pub x_scale: Option<FigureScale>,
    /// Scale of y, or of the colours of `heat`.
    #[schemars(extend("x-default" = "chosen from the values"))]
    pub y_scale: Option<FigureScale>,
    /// Range of the y axis, or of the colours of `heat`.
    #[schemars(extend("x-default" = "chosen from the values"))]
    pub y_range: Option<[f64; 2]>,
    /// Give each panel its own y axis.
    pub own_y: bool,
    /// A curve keeps its value until the next point; of parts of the time (`from_s`) it always does.
    pub steps: bool,
    /// Only the points of these systems are joined by lines: x has ranks or names, and nothing lies between them.
    #[schemars(extend("x-default" = "all"))]
    pub joined: Option<Vec<String>>,
    /// Number of panels in a row.
    #[schemars(extend("x-default" = "chosen from their number"))]
    pub columns: Option<usize>,
}

/// How the values of a figure are drawn.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Lines with markers over numbers.
    Curves,
    /// Bars over categories; dots where y is logarithmic.
    Bars,
    /// A grid of two axes with colours.
    Heat,
    /// Cumulative shares from quantiles.
    Shares,
}

/// The spacing of a figure's axis.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FigureScale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Log,
    /// The values are equally far apart.
    Even,
}
