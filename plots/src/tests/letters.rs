//! Letters that the bundled font has not: in PNG and PDF a box stands for each, and whoever writes them is told.

use super::samples::Tables;
use super::{figures, figures_of};
use crate::scene::Item;
use crate::{Figure, font};
use std::io::Read;

/// Chinese, Cyrillic and a letter beyond 16 bits.
const FOREIGN: &str = "策п🙂";

fn texts(figure: &Figure) -> Vec<&str> {
    let mut out = Vec::new();
    for item in &figure.scene.items {
        if let Item::Text(text) = item {
            out.push(text.text.as_str());
        }
    }
    out
}

/// The drawing of a PDF's page: its first stream.
fn page(pdf: &[u8]) -> String {
    let find = |what: &[u8]| pdf.windows(what.len()).position(|w| w == what).expect("a stream");
    let begin = find(b"stream\n") + 7;
    let mut out = String::new();
    flate2::read::ZlibDecoder::new(&pdf[begin..]).read_to_string(&mut out).expect("text");
    out
}

#[test]
fn every_letter_of_every_figure_is_drawn_or_named() {
    let figures = figures_of(&Tables::default().with_words(|w| format!("{FOREIGN}{w}")));
    for (name, figure) in figures {
        let texts = texts(&figure);
        let missing = figure.letters_not_in_font();
        for c in FOREIGN.chars() {
            assert!(missing.contains(&c), "{name}: {c} is in no label, or not named: {texts:?}");
            assert!(figure.to_svg().contains(c), "{name}: {c} is text in the SVG");
        }
        let mut boxes = 0;
        for c in texts.iter().flat_map(|text| text.chars()) {
            let mut ink = 0.0;
            font::outline(&c.to_string(), 20.0, |_, _, coverage| ink += coverage);
            assert!(ink > 1.0 || c == ' ', "{name}: nothing is drawn for {c:?}");
            assert_eq!(missing.contains(&c), font::glyph(c).0 == 0, "{name}: {c:?}");
            boxes += usize::from(missing.contains(&c));
        }
        // Each box is two closed paths, and nothing else closes a path without ending it.
        let drawn = page(&figure.to_pdf()).lines().filter(|line| *line == "h").count();
        assert_eq!(drawn, 2 * boxes, "{name}");
    }
}

#[test]
fn the_font_has_every_letter_of_our_own_figures() {
    for (name, figure) in figures() {
        assert_eq!(figure.letters_not_in_font(), [], "{name}");
    }
}
