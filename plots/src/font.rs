//! The one font: it measures every label, and draws those of the PNG. No system font takes part.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::sync::OnceLock;

/// The family in an SVG: the bundled font's name first, then wide fonts, so that a reader without it
/// sees labels of about the measured width.
pub(crate) const CSS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// Of the bundled font: the height of its capitals, in em.
pub(crate) const CAPITALS: f64 = 0.73;

/// The font file.
pub(crate) static BYTES: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::new(BYTES).expect("the bundled font is a font"))
}

/// The font's number of a character; 0 where it has none.
fn glyph_id(c: char) -> GlyphId {
    font().charmap().map(c).unwrap_or_default()
}

/// Sizes of glyphs, where the em is `size`.
fn metrics(size: f32) -> GlyphMetrics<'static> {
    font().glyph_metrics(Size::new(size), LocationRef::default())
}

/// Width of a line of text, in the unit of `size` (the em).
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// A glyph that the font has not got is counted as a full em: the reader's own font may draw it.
fn advance(c: char) -> f64 {
    static UNITS: OnceLock<(GlyphMetrics<'static>, f64)> = OnceLock::new();
    let (metrics, units_per_em) = UNITS.get_or_init(|| {
        let unscaled = font().glyph_metrics(Size::unscaled(), LocationRef::default());
        (unscaled, f64::from(font().metrics(Size::unscaled(), LocationRef::default()).units_per_em))
    });
    let id = glyph_id(c);
    let units = (id != GlyphId::NOTDEF).then(|| metrics.advance_width(id)).flatten();
    units.map_or(1.0, |units| f64::from(units) / units_per_em)
}

/// A glyph's number and its advance in em.
pub(crate) fn glyph(c: char) -> (u16, f64) {
    let id = u16::try_from(glyph_id(c).to_u32()).expect("a TrueType font numbers its glyphs so");
    (id, advance(c))
}

/// The pixels that a line of text covers, from its beginning on the baseline: (x, y, coverage).
pub(crate) fn outline(text: &str, size: f64, mut pixel: impl FnMut(f64, f64, f64)) {
    let em = size as f32;
    let metrics = metrics(em);
    let mut x = 0.0;
    for c in text.chars() {
        let id = glyph_id(c);
        let drawn = font().outline_glyphs().get(id).zip(metrics.bounds(id));
        if let Some((glyph, bounds)) = drawn {
            // Pixels count downwards, an outline upwards.
            // An empty pixel all around: an edge that rounding puts outside would turn the glyph inside out.
            let left = (x as f32 + bounds.x_min).floor() - 1.0;
            let top = (-bounds.y_max).floor() - 1.0;
            let columns = ((x as f32 + bounds.x_max).ceil() - left) as usize + 1;
            let rows = ((-bounds.y_min).ceil() - top) as usize + 1;
            let mut pen = Pen::new(columns, rows, point(x as f32 - left, -top));
            let settings = DrawSettings::unhinted(Size::new(em), LocationRef::default());
            glyph.draw(settings, &mut pen).expect("the bundled font has outlines");
            pen.rasterizer.for_each_pixel_2d(|dx, dy, coverage| {
                // Less is not one level of grey: what rounding leaves beside a glyph.
                if coverage > 0.5 / 255.0 {
                    let (x, y) = (left + dx as f32, top + dy as f32);
                    pixel(f64::from(x), f64::from(y), f64::from(coverage));
                }
            });
        }
        x += advance(c) * size;
    }
}

/// Draws an outline into pixels.
struct Pen {
    rasterizer: Rasterizer,
    /// Where the outline's origin is among the pixels.
    origin: Point,
    first: Point,
    last: Point,
}

impl Pen {
    fn new(columns: usize, rows: usize, origin: Point) -> Pen {
        let rasterizer = Rasterizer::new(columns, rows);
        Pen { rasterizer, origin, first: origin, last: origin }
    }

    fn at(&self, x: f32, y: f32) -> Point {
        point(self.origin.x + x, self.origin.y - y)
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.last = self.at(x, y);
        self.first = self.last;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.rasterizer.draw_line(self.last, to);
        self.last = to;
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        let to = self.at(x, y);
        self.rasterizer.draw_quad(self.last, self.at(cx, cy), to);
        self.last = to;
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let to = self.at(x, y);
        self.rasterizer.draw_cubic(self.last, self.at(cx0, cy0), self.at(cx1, cy1), to);
        self.last = to;
    }

    fn close(&mut self) {
        self.rasterizer.draw_line(self.last, self.first);
        self.last = self.first;
    }
}

/// The text, or its beginning and its end with an ellipsis between, no wider than `room`.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let chars: Vec<char> = text.chars().collect();
    for kept in (1..chars.len()).rev() {
        let (head, tail) = (kept.div_ceil(2), kept / 2);
        let shorter: String =
            chars[..head].iter().chain(&['…']).chain(&chars[chars.len() - tail..]).collect();
        if width(&shorter, size) <= room {
            return shorter;
        }
    }
    "…".into()
}

/// The text in lines no wider than `room`, broken between words; a word that is too long by itself
/// is shortened.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fitted(word, size, room);
        match lines.last_mut() {
            Some(line) if width(line, size) + width(&word, size) + width(" ", size) <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_the_sum_of_its_glyphs() {
        assert!((width("AB", 12.0) - width("A", 12.0) - width("B", 12.0)).abs() < 1e-12);
        // DejaVu Sans: a digit is 1303 of 2048 units.
        assert!((width("0123456789", 2048.0) - 13030.0).abs() < 1e-9);
        assert_eq!(width("漢", 10.0), 10.0, "not in the font: a full em");
    }

    /// A letter has the same ink wherever it stands: one in some hundred came out white on black.
    #[test]
    fn a_letter_s_ink_does_not_depend_on_its_place() {
        let ink = |text: &str, size: f64| {
            let mut sum = 0.0;
            outline(text, size, |_, _, coverage| sum += coverage);
            sum
        };
        for size in [21.0, 28.0, 42.0, 44.0, 56.0, 33.3] {
            for letter in "kiax8g(".chars() {
                let alone = ink(&letter.to_string(), size);
                for before in
                    ["clockwor", "Clockwork, sect", "l", "1.", "orloj-table-3 · ", "mmmmmmm"]
                {
                    let own = ink(&format!("{before}{letter}"), size) - ink(before, size);
                    assert!(
                        (own / alone - 1.0).abs() < 0.05,
                        "{before}{letter} {size}: {own} {alone}"
                    );
                }
            }
        }
    }

    #[test]
    fn text_is_fitted_and_wrapped_into_its_room() {
        let long = "clockwork[estimator=static-mean,ahead_ms=5]";
        let short = fitted(long, 12.0, 120.0);
        assert!(width(&short, 12.0) <= 120.0 && short.contains('…'), "{short}");
        assert!(short.starts_with("clock") && short.ends_with(']'), "{short}");
        let lines = wrapped("one two three four five six seven", 12.0, 80.0);
        assert!(lines.len() > 2 && lines.iter().all(|l| width(l, 12.0) <= 80.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six seven");
    }

    #[test]
    fn every_character_that_labels_use_is_in_the_font() {
        for c in "×µ–—−≤≥…⁰¹²³⁴⁵⁶⁷⁸⁹⁻·±%’".chars() {
            assert_ne!(glyph_id(c), GlyphId::NOTDEF, "{c}");
        }
    }
}
