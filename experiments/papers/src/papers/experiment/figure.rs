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
    #[schemars(extend("x-default" = "`curves` where there is an axis of numbers, else `bars`"))]
    pub kind: Option<FigureKind>,
    /// The metric along y; of `shares`, with `metrics`.
    #[schemars(extend("x-default" = "the first that is shown"))]
    pub metric: Option<String>,
    /// Several metrics, a panel for each; of `shares`, quantiles such as `latency_p99_ns`.
    #[schemars(extend("x-default" = "none"))]
    pub metrics: Vec<String>,
    /// Along x: an axis, `case`, `system`, `metric`, another metric of the same cells, or a parameter of
    /// the policies.
    #[schemars(extend("x-default" = "the only axis with several numbers; of bars, the first axis"))]
    pub x: Option<String>,
    /// Of `heat`, the axis along y.
    pub y: Option<String>,
    /// The axis whose values are curves or bars.
    #[schemars(extend("x-default" = "the systems"))]
    pub series: Option<String>,
    /// The axes that make panels; `system` and `case` may be among them. Values of `heat` that share a
    /// place are shown as their median.
    #[schemars(extend("x-default" = "all axes that differ"))]
    pub panels: Option<Vec<String>>,
    /// Only systems of these presets; the paper's numbers stand beside them.
    #[schemars(extend("x-default" = "`calibrated` where there are any, else all"))]
    pub presets: Vec<Preset>,
    /// Only these systems.
    #[schemars(extend("x-default" = "all"))]
    pub systems: Vec<String>,
    /// Systems that are drawn as a line across the panel.
    #[schemars(extend("x-default" = "none"))]
    pub lines: Vec<String>,
    /// Values that are drawn as a line across the panel: `{ "NAME" = VALUE }`.
    #[schemars(extend("x-default" = "none"))]
    pub levels: BTreeMap<String, f64>,
    /// Values are divided by those of this system at the same place; `""` for none.
    #[schemars(extend("x-default" = "that of the experiment"))]
    pub relative_to: Option<String>,
    /// Only these systems, each divided by another: `{ SYSTEM = "OTHER" }`.
    #[schemars(extend("x-default" = "none"))]
    pub ratios: BTreeMap<String, String>,
    /// Two metrics that are the ends of intervals: `["LOW", "HIGH"]`.
    #[schemars(extend("x-default" = "95 % confidence intervals"))]
    pub interval: Option<[String; 2]>,
    /// The points that get a star: a system, or a metric that is 1 there.
    pub star: Option<String>,
    /// In place of the name of the x axis.
    pub x_label: Option<String>,
    /// In place of the name of the y axis.
    pub y_label: Option<String>,
    /// Spacing along x.
    #[schemars(extend("x-default" = "by the values"))]
    pub x_scale: Option<FigureScale>,
    /// Spacing along y, or of the colours of `heat`.
    #[schemars(extend("x-default" = "by the values"))]
    pub y_scale: Option<FigureScale>,
    /// The ends of the y axis, or of the colours of `heat`.
    #[schemars(extend("x-default" = "by the values"))]
    pub y_range: Option<[f64; 2]>,
    /// Each panel has a y axis of its own.
    pub own_y: bool,
    /// Panels beside each other.
    #[schemars(extend("x-default" = "by their number"))]
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
