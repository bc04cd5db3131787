//! A figure, which can be laid out again, and its files.

use crate::legend::Legend;
use crate::panel::TICK;
use crate::scene::{Item, Scene};
use crate::sheet::Sheet;
use crate::{font, pdf, raster, svg};
use std::collections::BTreeSet;

/// A figure, laid out and ready to be written.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(crate) sheet: Sheet,
    pub(crate) scene: Scene,
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
const FONT_PT: f64 = TICK * 0.75;

impl Figure {
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
            sheet.legend = Legend::Flow(Vec::new());
        }
        let (width, height) = (layout.width_in.map(pixels), layout.height_in.map(pixels));
        let (sheet, mut scene) = sheet.fitted(width, height);
        if layout.grey {
            scene.turn_grey();
        }
        Figure { sheet, scene, scale }
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
            Item::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let missing = texts.flat_map(str::chars).filter(|c| !font::has(*c));
        missing.collect::<BTreeSet<char>>().into_iter().collect()
    }

    /// The figure as a PDF file of its size. Text stays text; the font is embedded.
    pub fn to_pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.scene, self.scale)
    }
}

impl Sheet {
    /// The figure.
    pub(crate) fn figure(&self) -> Figure {
        let (sheet, scene) = self.fitted(None, None);
        Figure { sheet, scene, scale: 1.0 }
    }
}
