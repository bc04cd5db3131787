//! The one font: it measures every label, and draws those of the PNG. No system font takes part.
//!
//! The glyphs are read from `fonts/outlines.txt`, which `fonts/outlines.py` writes from the font: a library that
//! reads fonts of any kind costs a first build more than all of this crate.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use std::sync::OnceLock;

/// The family in an SVG: the bundled font's name first, then wide fonts, so that a reader without it
/// sees labels of about the measured width.
pub(crate) const CSS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// Of the bundled font: the height of its capitals, in em.
pub(crate) const CAPITALS: f64 = 0.73;

/// The font file, as a PDF holds it.
pub(crate) static BYTES: &[u8] = include_bytes!("../fonts/DejaVuSans-subset.ttf");

/// Its glyphs as text.
static OUTLINES: &str = include_str!("../fonts/outlines.txt");

/// What the font has for a character, in its units.
struct Glyph {
    character: char,
    id: u16,
    advance: f64,
    outline: Vec<Segment>,
}

/// A part of an outline, from where the one before ended.
enum Segment {
    Move([f32; 2]),
    Line([f32; 2]),
    Quadratic([f32; 4]),
}

struct Font {
    units_per_em: f64,
    /// In order of the characters.
    glyphs: Vec<Glyph>,
}

impl Font {
    /// Reads the lines of `outlines.txt`; `None` where they are not as `outlines.py` writes them.
    fn read(text: &str) -> Option<Font> {
        let mut lines = text.lines().skip_while(|line| !line.starts_with("units_per_em"));
        let units_per_em = lines.next()?.split_once(' ')?.1.parse().ok()?;
        let glyphs = lines.map(Glyph::read).collect::<Option<_>>()?;
        Some(Font { units_per_em, glyphs })
    }

    fn glyph(&self, c: char) -> Option<&Glyph> {
        let at = self.glyphs.binary_search_by_key(&c, |glyph| glyph.character).ok()?;
        Some(&self.glyphs[at])
    }
}

impl Glyph {
    fn read(line: &str) -> Option<Glyph> {
        let mut words = line.split(' ');
        let code = u32::from_str_radix(words.next()?.strip_prefix("U+")?, 16).ok()?;
        let (id, advance) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let mut outline = Vec::new();
        while let Some(command) = words.next() {
            let mut next = || words.next()?.parse().ok();
            outline.push(match command {
                "M" => Segment::Move([next()?, next()?]),
                "L" => Segment::Line([next()?, next()?]),
                "Q" => Segment::Quadratic([next()?, next()?, next()?, next()?]),
                _ => return None,
            });
        }
        Some(Glyph { character: char::from_u32(code)?, id, advance, outline })
    }

    /// The least and the greatest of x and of y, where there is anything to draw.
    fn bounds(&self) -> Option<([f32; 2], [f32; 2])> {
        let points = self.outline.iter().flat_map(|segment| match segment {
            Segment::Move(to) | Segment::Line(to) => to.chunks(2),
            Segment::Quadratic(points) => points.chunks(2),
        });
        points.map(|p| ([p[0], p[1]], [p[0], p[1]])).reduce(|(low, high), (at, _)| {
            ([low[0].min(at[0]), low[1].min(at[1])], [high[0].max(at[0]), high[1].max(at[1])])
        })
    }
}

fn font() -> &'static Font {
    static FONT: OnceLock<Font> = OnceLock::new();
    FONT.get_or_init(|| {
        Font::read(OUTLINES).expect("the bundled outlines are as they were written")
    })
}

/// Width of a line of text, in the unit of `size` (the em).
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(|c| glyph(c).1).sum::<f64>() * size
}

/// Whether the font has a letter.
pub(crate) fn has(c: char) -> bool {
    font().glyph(c).is_some()
}

/// A glyph's number and its advance in em; one that the font has not got has number 0 and is counted as a full em:
/// the reader's own font may draw it.
pub(crate) fn glyph(c: char) -> (u16, f64) {
    font().glyph(c).map_or((0, 1.0), |glyph| (glyph.id, glyph.advance / font().units_per_em))
}

/// The corners of the box that stands for a letter that the font has not, and of the box within it, in em above
/// the baseline.
pub(crate) const BOX: [[(f64, f64); 4]; 2] = [
    [(0.1, 0.0), (0.9, 0.0), (0.9, CAPITALS), (0.1, CAPITALS)],
    [(0.17, 0.07), (0.17, CAPITALS - 0.07), (0.83, CAPITALS - 0.07), (0.83, 0.07)],
];

/// The box as a glyph.
fn boxed() -> &'static Glyph {
    static BOXED: OnceLock<Glyph> = OnceLock::new();
    BOXED.get_or_init(|| {
        let unit = |x: f64| (x * font().units_per_em) as f32;
        let side = |(i, (x, y)): (usize, &(f64, f64))| match i {
            0 => Segment::Move([unit(*x), unit(*y)]),
            _ => Segment::Line([unit(*x), unit(*y)]),
        };
        let outline = BOX.iter().flat_map(|corners| corners.iter().enumerate().map(side)).collect();
        Glyph { character: '\u{fffd}', id: 0, advance: font().units_per_em, outline }
    })
}

/// The pixels that a line of text covers, from its beginning on the baseline: (x, y, coverage).
pub(crate) fn outline(text: &str, size: f64, mut pixel: impl FnMut(f64, f64, f64)) {
    let scale = (size / font().units_per_em) as f32;
    let mut x = 0.0;
    for c in text.chars() {
        let glyph_of = font().glyph(c).or_else(|| (!has(c)).then(boxed));
        let drawn = glyph_of.and_then(|glyph| Some((glyph, glyph.bounds()?)));
        if let Some((glyph, (low, high))) = drawn {
            // Pixels count downwards, an outline upwards.
            // An empty pixel all around: an edge that rounding puts outside would turn the glyph inside out.
            let left = (x as f32 + low[0] * scale).floor() - 1.0;
            let top = (-high[1] * scale).floor() - 1.0;
            let columns = ((x as f32 + high[0] * scale).ceil() - left) as usize + 1;
            let rows = ((-low[1] * scale).ceil() - top) as usize + 1;
            let origin = point(x as f32 - left, -top);
            drawn_at(&glyph.outline, origin, scale, (columns, rows)).for_each_pixel_2d(
                |dx, dy, coverage| {
                    // Less is not one level of grey: what rounding leaves beside a glyph.
                    if coverage > 0.5 / 255.0 {
                        let (x, y) = (left + dx as f32, top + dy as f32);
                        pixel(f64::from(x), f64::from(y), f64::from(coverage));
                    }
                },
            );
        }
        x += glyph(c).1 * size;
    }
}

/// An outline's pixels, its origin at a place among them.
fn drawn_at(
    outline: &[Segment],
    origin: Point,
    scale: f32,
    (columns, rows): (usize, usize),
) -> Rasterizer {
    let mut pixels = Rasterizer::new(columns, rows);
    let at = |x: f32, y: f32| point(origin.x + x * scale, origin.y - y * scale);
    let (mut first, mut last) = (origin, origin);
    for segment in outline {
        match *segment {
            Segment::Move([x, y]) => {
                pixels.draw_line(last, first);
                (first, last) = (at(x, y), at(x, y));
            }
            Segment::Line([x, y]) => {
                pixels.draw_line(last, at(x, y));
                last = at(x, y);
            }
            Segment::Quadratic([cx, cy, x, y]) => {
                pixels.draw_quad(last, at(cx, cy), at(x, y));
                last = at(x, y);
            }
        }
    }
    pixels.draw_line(last, first);
    pixels
}

/// The text, or its beginning and its end with an ellipsis between, no wider than `room`.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let chars: Vec<char> = text.chars().collect();
    // Widths of the beginnings, in em: sums of whole units, and so the same in any order.
    let mut sums = vec![0.0];
    for c in &chars {
        sums.push(sums[sums.len() - 1] + glyph(*c).1);
    }
    let fits = |kept: &usize| {
        let ends = sums[kept.div_ceil(2)] + sums[chars.len()] - sums[chars.len() - kept / 2];
        (ends + glyph('…').1) * size <= room
    };
    let Some(kept) = (1..chars.len()).rev().find(fits) else { return "…".into() };
    let (head, tail) = (&chars[..kept.div_ceil(2)], &chars[chars.len() - kept / 2..]);
    head.iter().chain(&['…']).chain(tail).collect()
}

/// The text in lines no wider than `room`, broken between words; a word that is too long by itself
/// is shortened.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().flat_map(|word| broken(word, size, room)) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + width(" ", size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// A word in pieces that have room.
fn broken(mut word: &str, size: f64, room: f64) -> Vec<&str> {
    let mut pieces = Vec::new();
    while width(word, size) > room {
        let ends = word.char_indices().map(|(i, c)| i + c.len_utf8());
        let fits = ends.clone().take_while(|end| width(&word[..*end], size) <= room).last();
        let end = fits.or(ends.clone().next()).unwrap_or(word.len());
        pieces.push(&word[..end]);
        word = &word[end..];
    }
    pieces.push(word);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

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
    fn a_text_of_any_length_is_fitted_in_one_walk() {
        // With a width for each shorter text, this test would not end.
        let long = "clockwork[ahead_ms=5]".repeat(100_000);
        let short = fitted(&long, 12.0, 120.0);
        assert!(width(&short, 12.0) <= 120.0 && short.contains('…'), "{short}");
        let longer = {
            let (head, tail) = short.split_once('…').unwrap();
            let kept = short.chars().count();
            let (more_head, more_tail) = (kept.div_ceil(2), kept / 2);
            assert_eq!((head.len(), tail.len()), ((kept - 1).div_ceil(2), (kept - 1) / 2));
            format!("{}…{}", &long[..more_head], &long[long.len() - more_tail..])
        };
        assert!(width(&longer, 12.0) > 120.0, "{short} and {longer}");
    }

    #[test]
    fn every_character_that_labels_use_is_in_the_font() {
        for c in "×µ–—−≤≥…⁰¹²³⁴⁵⁶⁷⁸⁹⁻·±%’".chars() {
            assert_ne!(glyph(c).0, 0, "{c}");
        }
    }

    /// The text beside the font is of this font; `fonts/outlines.py` writes it anew.
    #[test]
    fn the_outlines_are_of_the_bundled_font() {
        let hash: String = Sha256::digest(BYTES).iter().map(|b| format!("{b:02x}")).collect();
        assert!(OUTLINES.contains(&format!("\nsha256 {hash}\n")), "{hash}");
        let sorted = font().glyphs.windows(2).all(|pair| pair[0].character < pair[1].character);
        assert!(sorted && font().glyphs.len() > 300, "{}", font().glyphs.len());
    }

    #[test]
    fn lines_that_are_not_outlines_are_refused() {
        let whole = "font x\nunits_per_em 10\nU+0041 1 7 M 0 0 L 5 0 Q 5 5 0 5";
        assert!(Font::read(whole).is_some_and(|f| f.glyph('A').is_some_and(|g| g.id == 1)));
        for (from, to) in
            [(" 5 0 Q", " 5 Q"), ("U+", "u+"), ("10", "ten"), ("M", "C"), (" 7 ", " ")]
        {
            assert!(Font::read(&whole.replace(from, to)).is_none(), "{from}");
        }
        assert!(Font::read("").is_none());
    }
}
