//! Figures from result tables: rows in, SVG, PNG or PDF out.
//!
//! It reads no file and knows no simulator. A figure is the same byte for byte for the same rows,
//! on every machine: the font is bundled, and no number is printed by the platform.
//!
//! | function | figure | as in |
//! |---|---|---|
//! | [`finish_rate_by_slo`] | finish rate against the SLO, a panel for each case | Orloj Fig. 7, 8 |
//! | [`metric_by_axis`] | any metric against any numeric axis | |
//! | [`execution_time_histogram`] | execution times alone | Orloj Fig. 2 |
//! | [`latency_cdf`] | latencies with the tail stretched | Clockwork Fig. 5 |
//! | [`error_cdf`] | how far off predictions were | Clockwork Fig. 10 |
//! | [`batch_size_cdf`] | batch sizes | Symphony Fig. 1 |
//! | [`time_series`] | offered load, goodput, utilisation, requests in the system | |
//! | [`device_timeline`] | which device ran which batch when | |
//! | [`sensitivity`] | one assumption changed at a time | |
//! | [`winners`] | who leads where | |
//!
//! ```text
//! rows -> choice -> panels (axes, marks) -> sheet (grid, legend, notes) -> scene -> SVG, PNG, PDF
//! ```
//!
//! Of plotters only the bitmap backend is used: it fills the PNG's shapes. The layout, the letters, the
//! SVG and the PDF are made here: every label is measured with the one font, so that none is cut off or
//! covered, and nothing depends on the machine.
//!
//! [`picture`] draws what an experiment's file names in `[figure]`.

mod cdf;
mod choice;
mod curves;
mod error;
mod figure;
mod flags;
mod font;
mod gaps;
mod groups;
mod guess;
mod heat;
mod histogram;
mod legend;
mod names;
mod panel;
mod pdf;
mod picture;
mod raster;
mod scale;
mod scene;
mod sensitivity;
mod series;
mod sheet;
mod spec;
mod style;
mod svg;
mod systems;
#[cfg(test)]
mod tests;
mod timeline;
mod winners;

pub use cdf::{batch_size_cdf, error_cdf, latency_cdf};
pub use choice::RowFilter;
pub use curves::{finish_rate_by, finish_rate_by_slo, metric_by_axis};
pub use error::{Parts, PlotError};
pub use figure::{Figure, Layout};
pub use guess::{axis_of, figure_of};
pub use histogram::execution_time_histogram;
pub use names::place;
pub use picture::picture;
pub use sensitivity::sensitivity;
pub use series::{SeriesView, binned, time_series};
pub use spec::{Picture, PictureKind, Spacing, Steps, is_same_value};
pub use timeline::{Window, device_timeline};
pub use winners::{Winner, WinnersGrid, winners};
