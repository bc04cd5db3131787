//! A scene as PNG, at twice its size: for slides.
//!
//! plotters draws on a canvas that is twice as large again, and four of its pixels become one:
//! its own edges are not smooth.

use crate::font;
use crate::scene::{Anchor, Color, Item, Point, Scene, Stroke, Text};
use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters::style::{Color as _, RGBColor};

/// Pixels of the PNG for one of the SVG.
const SIZE: f64 = 2.0;
/// Pixels that are drawn for one of the PNG, in each direction.
const FINE: usize = 2;

type Backend<'a> = BitMapBackend<'a>;

/// The scene as a PNG file, `scale` times as large.
pub(crate) fn png(scene: &Scene, scale: f64) -> Vec<u8> {
    let by = SIZE * scale;
    let (w, h) = ((scene.width * by).ceil() as usize, (scene.height * by).ceil() as usize);
    let fine_by = by * FINE as f64;
    let (fine_w, fine_h) = (w * FINE, h * FINE);
    let mut fine = vec![255u8; fine_w * fine_h * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut fine, (fine_w as u32, fine_h as u32));
        scene.items.iter().for_each(|item| draw(item, fine_by, &mut backend));
        backend.present().expect("memory can be written");
    }
    encoded(&averaged(&fine, w, h), w as u32, h as u32)
}

fn draw(item: &Item, by: f64, backend: &mut Backend<'_>) {
    match item {
        Item::Line { points, stroke } => draw_line(&scaled(points, by), *stroke, by, backend),
        Item::Polygon { points, fill, stroke } => {
            let mut points = scaled(points, by);
            if let Some(fill) = fill {
                fill_polygon(&points, *fill, backend);
            }
            if let Some(stroke) = stroke {
                points.push(points[0]);
                draw_line(&points, *stroke, by, backend);
            }
        }
        Item::Text(text) => draw_text(text, by, backend),
    }
}

fn scaled(points: &[Point], scale: f64) -> Vec<Point> {
    points.iter().map(|p| (p.0 * scale, p.1 * scale)).collect()
}

fn fill_polygon(points: &[Point], color: Color, backend: &mut Backend<'_>) {
    let round = |p: &Point| (p.0.round() as i32, p.1.round() as i32);
    let drawn = backend.fill_polygon(points.iter().map(round), &rgb(color));
    drawn.expect("memory can be written");
}

fn rgb(c: Color) -> RGBColor {
    RGBColor(c.0, c.1, c.2)
}

/// Every piece of the line by itself: plotters' own thick lines break at sharp corners.
fn draw_line(points: &[Point], stroke: Stroke, scale: f64, backend: &mut Backend<'_>) {
    let half = (stroke.width * scale / 2.0).max(0.5);
    let dash: Vec<f64> = stroke.dash.iter().map(|d| d * scale).collect();
    for piece in dashed(points, &dash) {
        for pair in piece.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let (dx, dy) = (b.0 - a.0, b.1 - a.1);
            let length = (dx * dx + dy * dy).sqrt();
            if length < 1e-9 {
                continue;
            }
            let (nx, ny) = (-dy / length * half, dx / length * half);
            let corners = [
                (a.0 + nx, a.1 + ny),
                (b.0 + nx, b.1 + ny),
                (b.0 - nx, b.1 - ny),
                (a.0 - nx, a.1 - ny),
            ];
            fill_polygon(&corners, stroke.color, backend);
        }
        if half > 1.5 && piece.len() > 2 {
            piece[1..piece.len() - 1].iter().for_each(|p| joint(*p, half, stroke.color, backend));
        }
    }
}

fn joint(at: Point, radius: f64, color: Color, backend: &mut Backend<'_>) {
    let place = (at.0.round() as i32, at.1.round() as i32);
    let drawn = backend.draw_circle(place, radius.round() as u32, &rgb(color), true);
    drawn.expect("memory can be written");
}

/// The pieces of a line that a dash pattern leaves; the whole line without a pattern.
fn dashed(points: &[Point], dash: &[f64]) -> Vec<Vec<Point>> {
    if dash.is_empty() {
        return vec![points.to_vec()];
    }
    let (mut pieces, mut piece) = (Vec::new(), Vec::new());
    let (mut at, mut left, mut on) = (0, dash[0], true);
    for pair in points.windows(2) {
        let (mut a, b) = (pair[0], pair[1]);
        loop {
            let (dx, dy) = (b.0 - a.0, b.1 - a.1);
            let length = (dx * dx + dy * dy).sqrt();
            if on && piece.is_empty() {
                piece.push(a);
            }
            if length <= left {
                left -= length;
                if on {
                    piece.push(b);
                }
                break;
            }
            a = (a.0 + dx * left / length, a.1 + dy * left / length);
            if on {
                piece.push(a);
                pieces.push(std::mem::take(&mut piece));
            }
            at = (at + 1) % dash.len();
            (left, on) = (dash[at], !on);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

/// Glyph by glyph, and not with plotters' own text: that leaves the room before a glyph out.
fn draw_text(text: &Text, scale: f64, backend: &mut Backend<'_>) {
    let em = text.size * scale;
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => font::width(&text.text, em) / 2.0,
        Anchor::End => font::width(&text.text, em),
    };
    let at = (text.at.0 * scale, text.at.1 * scale);
    let (width, height) = backend.get_size();
    font::outline(&text.text, em, |x, y, coverage| {
        let (x, y) = (x - before, y);
        let place = if text.rotated { (at.0 + y, at.1 - x) } else { (at.0 + x, at.1 + y) };
        let place = (place.0.round() as i32, place.1.round() as i32);
        if (0..width as i32).contains(&place.0) && (0..height as i32).contains(&place.1) {
            let color = rgb(text.color).mix(coverage).to_backend_color();
            backend.draw_pixel(place, color).expect("memory can be written");
        }
    });
}

/// Squares of `FINE` times `FINE` pixels become one.
fn averaged(fine: &[u8], w: usize, h: usize) -> Vec<u8> {
    let row = w * FINE * 3;
    let mut out = Vec::with_capacity(w * h * 3);
    let mut sums = vec![0u16; w * 3];
    for rows in fine.chunks_exact(row * FINE).take(h) {
        sums.fill(0);
        for line in rows.chunks_exact(row) {
            for (sum, pixels) in sums.chunks_exact_mut(3).zip(line.chunks_exact(3 * FINE)) {
                for pixel in pixels.chunks_exact(3) {
                    sum[0] += u16::from(pixel[0]);
                    sum[1] += u16::from(pixel[1]);
                    sum[2] += u16::from(pixel[2]);
                }
            }
        }
        out.extend(sums.iter().map(|s| (s / (FINE * FINE) as u16) as u8));
    }
    out
}

fn encoded(pixels: &[u8], w: u32, h: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, w, h);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // 192 dots an inch: twice the 96 that an SVG pixel stands for.
    let dots = png::PixelDimensions { xppu: 7559, yppu: 7559, unit: png::Unit::Meter };
    encoder.set_pixel_dims(Some(dots));
    let mut writer = encoder.write_header().expect("memory can be written");
    writer.write_image_data(pixels).expect("the canvas has the size that was announced");
    writer.finish().expect("memory can be written");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_pattern_runs_on_around_corners() {
        let line = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)];
        let pieces = dashed(&line, &[3.0, 2.0]);
        assert_eq!(pieces, [vec![(0.0, 0.0), (3.0, 0.0)], vec![(4.0, 1.0), (4.0, 4.0)]]);
        assert_eq!(dashed(&line, &[]), [line.to_vec()]);
    }
}
