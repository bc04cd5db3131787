//! Figures from result tables: rows in, SVG or PNG out.
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
//!
//! ```text
//! rows -> choice -> panels (axes, marks) -> sheet (grid, legend, notes) -> scene -> SVG, PNG
//! ```
//!
//! Of plotters only the bitmap backend is used: it fills the PNG's shapes. The SVG, the layout and
//! the letters are drawn here.

mod cdf;
mod choice;
mod curves;
mod error;
mod flags;
mod font;
mod groups;
mod guess;
mod heat;
mod histogram;
mod legend;
mod names;
mod panel;
mod picture;
mod raster;
mod scale;
mod scene;
mod sensitivity;
mod series;
mod sheet;
mod style;
mod svg;
#[cfg(test)]
mod tests;
mod timeline;

pub use cdf::{batch_size_cdf, error_cdf, latency_cdf};
pub use choice::Choice;
pub use curves::{finish_rate_by, finish_rate_by_slo, metric_by_axis};
pub use error::{Parts, PlotError};
pub use guess::{axis_of, figure_of};
pub use histogram::execution_time_histogram;
pub use picture::{Picture, PictureKind, Spacing, picture};
pub use sensitivity::sensitivity;
pub use series::time_series;
pub use timeline::{Window, device_timeline};

/// A figure, laid out and ready to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    scene: scene::Scene,
}

impl Figure {
    pub(crate) fn of(scene: scene::Scene) -> Figure {
        Figure { scene }
    }

    /// Width and height, in pixels of the SVG.
    pub fn size(&self) -> (f64, f64) {
        (self.scene.width, self.scene.height)
    }

    /// The figure as an SVG document. Text stays text, in the family of the font that measured it.
    pub fn to_svg(&self) -> String {
        svg::svg(&self.scene)
    }

    /// The figure as a PNG file of twice its size.
    pub fn to_png(&self) -> Vec<u8> {
        raster::png(&self.scene)
    }
}
