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
pub use guess::{axis_of, figure_of};
pub use histogram::execution_time_histogram;
pub use names::place;
pub use picture::picture;
pub use sensitivity::sensitivity;
pub use series::{SeriesView, binned, time_series};
pub use spec::{Picture, PictureKind, Spacing, Steps, is_same_value};
pub use timeline::{Window, device_timeline};
pub use winners::{Winner, WinnersGrid, winners};

/// A figure, laid out and ready to be written.
#[derive(Clone, Debug)]
pub struct Figure {
    sheet: sheet::Sheet,
    scene: scene::Scene,
    /// What lengths of the scene are multiplied with.
    scale: f64,
}

/// How a figure is laid out again, for a paper's page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    /// Its width in inches.
    pub width_in: Option<f64>,
    /// Its height in inches; no panel becomes lower than half an inch.
    pub height_in: Option<f64>,
    /// Points of the smallest labels.
    pub font_pt: Option<f64>,
    /// At most so many panels beside each other.
    pub columns: Option<usize>,
    /// Without title and source, which a caption has.
    pub without_title: bool,
    /// Without a legend, which a figure beside it has.
    pub without_legend: bool,
    /// In shades of grey: markers, dashes and hatches tell systems apart.
    pub grey: bool,
}

/// Points of a tick's label, when no size is asked for.
const FONT_PT: f64 = panel::TICK * 0.75;

impl Figure {
    pub(crate) fn of(sheet: sheet::Sheet, scene: scene::Scene) -> Figure {
        Figure { sheet, scene, scale: 1.0 }
    }

    /// The figure laid out again. What is not told stays: the width is then that of the panels, the labels
    /// have about 8 points.
    #[must_use]
    pub fn laid_out(&self, layout: &Layout) -> Figure {
        let scale = layout.font_pt.map_or(1.0, |pt| pt / FONT_PT);
        let pixels = |inches: f64| inches * 96.0 / scale;
        let mut sheet = self.sheet.clone();
        sheet.columns = layout.columns.unwrap_or(sheet.columns);
        if layout.without_title {
            (sheet.title, sheet.subtitle) = (String::new(), String::new());
        }
        if layout.without_legend {
            sheet.legend = legend::Legend::Flow(Vec::new());
        }
        let mut figure = sheet.fitted(layout.width_in.map(pixels), layout.height_in.map(pixels));
        if layout.grey {
            figure.scene.turn_grey();
        }
        Figure { scale, ..figure }
    }

    /// Width and height, in pixels of the SVG.
    pub fn size(&self) -> (f64, f64) {
        (self.scene.width * self.scale, self.scene.height * self.scale)
    }

    /// The figure as an SVG document. Text stays text, in the family of the font that measured it.
    pub fn to_svg(&self) -> String {
        svg::svg(&self.scene, self.scale)
    }

    /// The figure as a PNG file of twice its size.
    pub fn to_png(&self) -> Vec<u8> {
        raster::png(&self.scene, self.scale)
    }

    /// The letters of its labels that the bundled font has not, each once, in their order. SVG keeps them, for the
    /// reader's own fonts; in PNG and PDF an empty box stands for each.
    pub fn letters_not_in_font(&self) -> Vec<char> {
        let texts = self.scene.items.iter().filter_map(|item| match item {
            scene::Item::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let missing = texts.flat_map(str::chars).filter(|c| !font::has(*c));
        missing.collect::<std::collections::BTreeSet<char>>().into_iter().collect()
    }

    /// The figure as a PDF file of its size. Text stays text; the font is embedded.
    pub fn to_pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.scene, self.scale)
    }
}
