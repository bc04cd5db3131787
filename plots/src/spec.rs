//! What a figure of result rows shows, as whoever made the table names it: its kind, metrics, axes and
//! lines. It draws nothing.

use orrery_results::Row;

/// The name of these figures in messages.
pub(crate) const FIGURE: &str = "figure";

/// What a figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// How values are drawn.
    pub kind: PictureKind,
    /// Its title; made of experiment, metric and axis where it is empty.
    pub title: String,
    /// What stands below the title: where the numbers come from.
    pub source: String,
    /// The metrics, a panel for each; of [`PictureKind::Shares`] quantiles such as `latency_p99_ns`.
    pub metrics: Vec<String>,
    /// Along x: an axis, `case`, `system`, another metric of the same cells, or a policy's parameter.
    pub x: String,
    /// Of a heat map, the axis along y.
    pub y: String,
    /// An axis whose values are the curves, in place of the systems.
    pub series: String,
    /// The axes that make panels (`system` may be one); all that differ when it is not told. Values at
    /// the same place must be one; a heat map shows their median.
    pub panels: Option<Vec<String>>,
    /// Only these systems, `relative_to` and `lines` aside; all when it is empty.
    pub systems: Vec<String>,
    /// Systems that are a line across the panel: one value, whatever x is.
    pub lines: Vec<String>,
    /// Named values that are a line across every panel.
    pub levels: Vec<(String, f64)>,
    /// Points with a word beside them, as (x, y, word); a word that finds no room is left out, the last
    /// first.
    pub words: Vec<(f64, f64, String)>,
    /// What sentences ask of a row's value: the ends of a range, infinite where there is no bound; of several for
    /// one value the first is drawn.
    pub asked: Vec<(Row, f64, f64)>,
    /// Rows of whose values the paper prints a number that was kept from whoever made the table.
    pub withheld: Vec<Row>,
    /// Values are divided by those of this system in the same place.
    pub relative_to: String,
    /// Only these systems, each divided by another: (system, by).
    pub ratios: Vec<(String, String)>,
    /// What gets stars: a system, or the points where a metric is 1.
    pub star: String,
    /// Two metrics that are the ends of intervals, in place of confidence intervals.
    pub interval: Option<(String, String)>,
    /// What values of axes are called in the figure: (value, name).
    pub names: Vec<(String, String)>,
    /// In place of the name of the x axis.
    pub x_label: String,
    /// In place of the name of the y axis.
    pub y_label: String,
    /// The spacing along x; by the values when it is not told.
    pub x_scale: Option<Spacing>,
    /// The spacing along y, or of a heat map's colours; by the values when it is not told.
    pub y_scale: Option<Spacing>,
    /// The ends of the y axis, or of a heat map's colours.
    pub y_range: Option<(f64, f64)>,
    /// Each panel has a y axis of its own.
    pub own_y: bool,
    /// Which curves keep their value until the next point.
    pub steps: Steps,
    /// The series whose points are joined; all of them when it is not told.
    pub joined: Option<Vec<String>>,
    /// Panels beside each other; by their number when it is 0.
    pub columns: usize,
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PictureKind {
    /// Lines with markers over numbers.
    #[default]
    Curves,
    /// Bars over categories; dots where the y axis is logarithmic.
    Bars,
    /// A grid of two axes with colours.
    Heat,
    /// Cumulative shares from quantiles.
    Shares,
    /// One assumption changed at a time.
    Sensitivity,
}

/// Curves that keep their value until the next point: parts of the time, and what cannot be had in parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Steps {
    /// None: lines join the points.
    #[default]
    None,
    /// Rows of every system.
    All,
    /// Those of these systems.
    Of(Vec<String>),
}

impl Steps {
    pub(crate) fn has(&self, system: &String) -> bool {
        match self {
            Steps::None => false,
            Steps::All => true,
            Steps::Of(systems) => systems.contains(system),
        }
    }
}

/// The spacing of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Log,
    /// The values themselves are equally far apart.
    Even,
}

/// A range that is asked of the value in a row's place.
#[derive(Clone, Debug)]
pub(crate) struct AskedRange {
    /// The place.
    pub row: Row,
    /// The lower end; negative infinity where there is none.
    pub low: f64,
    /// The upper end; infinity where there is none.
    pub high: f64,
}

/// Where a value stands: what is equal for all that is measured of a cell.
pub(crate) fn place(r: &Row) -> [&str; 6] {
    [&r.experiment, &r.case, &r.axes, &r.system, &r.preset, &r.policy]
}

/// Whether two rows have a value of one metric in one place.
pub fn is_same_value(a: &Row, b: &Row) -> bool {
    a.metric == b.metric && place(a) == place(b)
}

/// Rows that are ready to be drawn; none of a picture's parts for rows that are drawn as they are.
#[derive(Default)]
pub(crate) struct Prepared {
    /// With a number at the axis `x`.
    pub rows: Vec<Row>,
    /// The axis along x.
    pub x: String,
    /// The names of categories, by their number along x.
    pub categories: Vec<String>,
    /// The rows of systems that are lines.
    pub lines: Vec<Row>,
    /// What values were divided by.
    pub over: String,
    /// What is asked of the values.
    pub asked: Vec<AskedRange>,
    /// Rows without a value and so without a place, for the notes.
    pub without_place: Vec<Row>,
}
