//! The one font: it measures every label, and draws those of the PNG. No system font takes part.

use ab_glyph::{Font, FontRef, PxScale, point};
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
    FONT.get_or_init(|| FontRef::try_from_slice(BYTES).expect("the bundled font is a font"))
}

/// Width of a line of text, in the unit of `size` (the em).
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// A glyph that the font has not got is counted as a full em: the reader's own font may draw it.
fn advance(c: char) -> f64 {
    let id = font().glyph_id(c);
    if id.0 == 0 {
        return 1.0;
    }
    f64::from(font().h_advance_unscaled(id)) / units_per_em()
}

/// A glyph's number and its advance in em.
pub(crate) fn glyph(c: char) -> (u16, f64) {
    (font().glyph_id(c).0, advance(c))
}

fn units_per_em() -> f64 {
    f64::from(font().units_per_em().expect("the bundled font has an em"))
}

/// The pixels that a line of text covers, from its beginning on the baseline: (x, y, coverage).
pub(crate) fn outline(text: &str, size: f64, mut pixel: impl FnMut(f64, f64, f64)) {
    // ab_glyph's scale is ascent and descent together, not the em.
    let height = f64::from(font().height_unscaled()) / units_per_em();
    let scale = PxScale::from((size * height) as f32);
    let mut x = 0.0;
    for c in text.chars() {
        let glyph = font().glyph_id(c).with_scale_and_position(scale, point(x as f32, 0.0));
        if let Some(outlined) = font().outline_glyph(glyph) {
            let corner = outlined.px_bounds().min;
            outlined.draw(|dx, dy, coverage| {
                let place = (corner.x + dx as f32, corner.y + dy as f32);
                pixel(f64::from(place.0), f64::from(place.1), f64::from(coverage));
            });
        }
        x += advance(c) * size;
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
            assert_ne!(font().glyph_id(c).0, 0, "{c}");
        }
    }
}
