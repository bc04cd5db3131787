//! A scene as SVG: the same scene gives the same bytes.
//!
//! Written by hand rather than by plotters' backend, which rounds to whole pixels and knows no dash
//! patterns. Coordinates are hundredths of a pixel, rounded once; there is no date, no identifier
//! that is drawn by chance and no number that a platform prints in its own way.

use crate::font;
use crate::scene::{Anchor, Color, Item, Point, Scene, Stroke, Text};
use std::fmt::Write;

/// The scene as an SVG document, `scale` times as large.
pub(crate) fn svg(scene: &Scene, scale: f64) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let (wide, high) = (number(scene.width * scale), number(scene.height * scale));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {w} \
         {h}\" role=\"img\" font-family=\"{}\">",
        font::CSS
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(&scene.title));
    let _ = writeln!(out, "<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>");
    scene.items.iter().for_each(|item| write_item(item, &mut out));
    out.push_str("</svg>\n");
    out
}

fn write_item(item: &Item, out: &mut String) {
    match item {
        Item::Line { points, stroke } => {
            let _ = write!(out, "<polyline points=\"{}\" fill=\"none\"", list(points));
            write_stroke(*stroke, out);
            out.push_str("/>\n");
        }
        Item::Polygon { points, fill, stroke } => {
            let fill = fill.map_or("none".to_string(), hex);
            let _ = write!(out, "<polygon points=\"{}\" fill=\"{fill}\"", list(points));
            if let Some(stroke) = stroke {
                write_stroke(*stroke, out);
            }
            out.push_str("/>\n");
        }
        Item::Text(text) => write_text(text, out),
    }
}

fn write_stroke(stroke: Stroke, out: &mut String) {
    let (color, width) = (hex(stroke.color), number(stroke.width));
    let _ = write!(out, " stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
    if !stroke.dash.is_empty() {
        let dash: Vec<String> = stroke.dash.iter().map(|d| number(*d)).collect();
        let _ = write!(out, " stroke-dasharray=\"{}\"", dash.join(" "));
    }
}

fn write_text(text: &Text, out: &mut String) {
    let (x, y) = (number(text.at.0), number(text.at.1));
    let _ = write!(out, "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\"", number(text.size));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.rotated {
        let _ = write!(out, " transform=\"rotate(-90 {x} {y})\"");
    }
    let _ = writeln!(out, " fill=\"{}\">{}</text>", hex(text.color), escaped(&text.text));
}

fn list(points: &[Point]) -> String {
    let pair = |p: &Point| format!("{},{}", number(p.0), number(p.1));
    points.iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// A coordinate in hundredths, without zeros at its end.
fn number(x: f64) -> String {
    let hundredths = (x * 100.0).round() as i64;
    let (whole, part) = (hundredths.abs() / 100, hundredths.abs() % 100);
    let sign = if hundredths < 0 { "-" } else { "" };
    match part {
        0 => format!("{sign}{whole}"),
        p if p % 10 == 0 => format!("{sign}{whole}.{}", p / 10),
        p => format!("{sign}{whole}.{p:02}"),
    }
}

fn hex(c: Color) -> String {
    format!("#{:02x}{:02x}{:02x}", c.0, c.1, c.2)
}

/// XML knows five special characters, and no control characters at all.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hundredths_without_zeros_at_the_end() {
        let cases =
            [(0.0, "0"), (-0.001, "0"), (12.5, "12.5"), (2.71499, "2.71"), (-7.05, "-7.05")];
        cases.iter().for_each(|(x, text)| assert_eq!(number(*x), *text));
    }

    #[test]
    fn words_from_tables_cannot_break_the_document() {
        assert_eq!(escaped("a<b & \"c\" \u{1}"), "a&lt;b &amp; &quot;c&quot; \u{fffd}");
    }
}
