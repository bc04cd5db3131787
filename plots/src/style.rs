//! How series are told apart: by colour, by the marker's shape and by the dashes, so that a figure
//! reads without colour too.
//!
//! Colours are those of Okabe and Ito (2008), which the colour-blind can tell apart, without those that
//! vanish on white: each has a contrast of at least 3 on white and on a page's dark ground. A variant of a series (another preset, the paper's figures) keeps
//! its colour and shape and changes how the marker is filled and how thick the line is.

use crate::scene::{Color, Point, Scene, Stroke};

/// Series that one figure can tell apart.
pub(crate) const SERIES_MAX: usize = 24;
/// Presets of one system that one figure can tell apart, the paper's figures aside.
pub(crate) const VARIANTS_MAX: usize = 3;

pub(crate) const COLORS: [Color; 13] = [
    Color(0x00, 0x72, 0xb2), // blue
    Color(0xd5, 0x5e, 0x00), // vermillion
    Color(0x00, 0x9e, 0x73), // bluish green
    Color(0xcc, 0x79, 0xa7), // reddish purple
    Color(0x33, 0x22, 0x88), // indigo
    Color(0x6b, 0x3a, 0x00), // brown
    Color(0x2a, 0x97, 0xc9), // sky blue, darker
    Color(0x88, 0x22, 0x55), // wine
    Color(0x80, 0x80, 0x80), // grey
    Color(0x00, 0x00, 0x00), // black
    Color(0x77, 0x66, 0xff), // violet
    Color(0x00, 0x60, 0x60), // teal
    Color(0x6a, 0x8f, 0x00), // lime
];

pub(crate) const DASHES: [&[f64]; 7] = [
    &[],
    &[7.0, 2.5],
    &[2.5, 2.0],
    &[8.0, 2.0, 2.0, 2.0],
    &[13.0, 3.0],
    &[5.0, 2.0, 1.5, 2.0, 1.5, 2.0],
    &[4.0, 4.0],
];

pub(crate) const SHAPES: [Shape; 8] = [
    Shape::Circle,
    Shape::Square,
    Shape::Up,
    Shape::Diamond,
    Shape::Down,
    Shape::Plus,
    Shape::Star,
    Shape::Left,
];

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Up,
    Diamond,
    Down,
    Plus,
    Star,
    Left,
}

/// How a marker is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// The first preset.
    Full,
    /// The second.
    Half,
    /// The third.
    Core,
    /// The paper's figures.
    Hollow,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub color: Color,
    pub shape: Shape,
    pub fill: Fill,
    pub stroke: Stroke,
}

impl Style {
    /// The style of another preset of the same system.
    pub(crate) fn variant(self, variant: usize) -> Style {
        let (fill, width) = match variant {
            0 => (Fill::Full, 1.6),
            1 => (Fill::Half, 1.0),
            _ => (Fill::Core, 0.7),
        };
        Style { fill, stroke: Stroke { width, ..self.stroke }, ..self }
    }

    /// The style of a yardstick beside a paper's systems.
    pub(crate) fn thin(self) -> Style {
        Style { stroke: Stroke { width: 0.7, ..self.stroke }, ..self }
    }

    /// A point that is pointed at.
    pub(crate) fn star(self) -> Style {
        let stroke = Stroke::solid(Color::BLACK, 1.0);
        Style { color: Color::BLACK, shape: Shape::Star, fill: Fill::Full, stroke }
    }

    /// The style of the paper's figures for the same system.
    pub(crate) fn paper(self) -> Style {
        let stroke = Stroke { color: self.color, width: 0.9, dash: &[1.2, 2.0] };
        Style { fill: Fill::Hollow, stroke, ..self }
    }
}

/// Things that can be told apart by how an area is filled.
pub(crate) const AREAS_MAX: usize = 2 * AREAS.len();

/// Colours with their tints: as different in grey as eight can be.
const AREAS: [(Color, f64); 8] = [
    (Color(0x00, 0x72, 0xb2), 1.0),  // blue
    (Color(0xe6, 0x9f, 0x00), 0.45), // orange
    (Color(0x00, 0x9e, 0x73), 0.82), // bluish green
    (Color(0xcc, 0x79, 0xa7), 0.62), // reddish purple
    (Color(0x56, 0xb4, 0xe9), 0.2),  // sky blue
    (Color(0xd5, 0x5e, 0x00), 0.62), // vermillion
    (Color(0x00, 0x00, 0x00), 0.8),  // black
    (Color(0x80, 0x80, 0x80), 1.0),  // grey
];

/// How the area of the `i`-th thing is filled and outlined: the first eight are filled, the next
/// eight are white with a thick outline in the same colours.
pub(crate) fn area(i: usize) -> (Color, Stroke) {
    let (color, tint) = AREAS[i % AREAS.len()];
    if i < AREAS.len() {
        return (color.tint(tint), Stroke::solid(Color::BLACK, 0.5));
    }
    (Color::WHITE, Stroke::solid(color.tint(tint.max(0.6)), 2.0))
}

/// Draws a marker; `radius` is that of the circle, the other shapes look as large.
pub(crate) fn marker(at: Point, style: Style, radius: f64, scene: &mut Scene) {
    let outline = Stroke::solid(style.color, 1.1);
    let corners = corners(at, style.shape, radius);
    match style.fill {
        Fill::Full => {
            // A thin white rim keeps markers that lie on each other apart.
            let rim = Stroke::solid(Color::WHITE, 0.5);
            scene.polygon(corners, Some(style.color), Some(rim));
        }
        Fill::Hollow => scene.polygon(corners, Some(Color::WHITE), Some(outline)),
        Fill::Half => {
            let lower = below(&corners, at.1);
            scene.polygon(corners, Some(Color::WHITE), Some(outline));
            scene.polygon(lower, Some(style.color), None);
        }
        Fill::Core => {
            scene.polygon(corners, Some(Color::WHITE), Some(outline));
            let inner = self::corners(at, style.shape, 0.5 * radius);
            scene.polygon(inner, Some(style.color), None);
        }
    }
}

/// A cross over a marker: its value must not be believed without the note.
pub(crate) fn cross(at: Point, radius: f64, scene: &mut Scene) {
    let r = 1.2 * radius;
    for (stroke, r) in
        [(Stroke::solid(Color::WHITE, 2.2), r + 0.5), (Stroke::solid(Color::BLACK, 1.0), r)]
    {
        scene.line(vec![(at.0 - r, at.1 - r), (at.0 + r, at.1 + r)], stroke);
        scene.line(vec![(at.0 - r, at.1 + r), (at.0 + r, at.1 - r)], stroke);
    }
}

/// Sine and cosine of 45 degrees.
const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// Unit circle at multiples of 15 degrees, so that no sine is taken.
const CIRCLE: [Point; 24] = [
    (1.0, 0.0),
    (0.965926, 0.258819),
    (0.866025, 0.5),
    (DIAGONAL, DIAGONAL),
    (0.5, 0.866025),
    (0.258819, 0.965926),
    (0.0, 1.0),
    (-0.258819, 0.965926),
    (-0.5, 0.866025),
    (-DIAGONAL, DIAGONAL),
    (-0.866025, 0.5),
    (-0.965926, 0.258819),
    (-1.0, 0.0),
    (-0.965926, -0.258819),
    (-0.866025, -0.5),
    (-DIAGONAL, -DIAGONAL),
    (-0.5, -0.866025),
    (-0.258819, -0.965926),
    (0.0, -1.0),
    (0.258819, -0.965926),
    (0.5, -0.866025),
    (DIAGONAL, -DIAGONAL),
    (0.866025, -0.5),
    (0.965926, -0.258819),
];

/// A star's outer and inner corners, from its top.
const STAR: [Point; 10] = [
    (0.0, -1.35),
    (0.35, -0.48),
    (1.284, -0.417),
    (0.566, 0.184),
    (0.794, 1.092),
    (0.0, 0.595),
    (-0.794, 1.092),
    (-0.566, 0.184),
    (-1.284, -0.417),
    (-0.35, -0.48),
];

fn corners(at: Point, shape: Shape, radius: f64) -> Vec<Point> {
    const P: f64 = 0.42;
    const Q: f64 = 1.15;
    let unit: &[Point] = match shape {
        Shape::Circle => &CIRCLE,
        Shape::Square => &[(-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)],
        Shape::Up => &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
        Shape::Down => &[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)],
        Shape::Left => &[(-1.2, 0.0), (0.85, -1.15), (0.85, 1.15)],
        Shape::Diamond => &[(0.0, -1.28), (1.28, 0.0), (0.0, 1.28), (-1.28, 0.0)],
        Shape::Plus => &[
            (-P, -Q),
            (P, -Q),
            (P, -P),
            (Q, -P),
            (Q, P),
            (P, P),
            (P, Q),
            (-P, Q),
            (-P, P),
            (-Q, P),
            (-Q, -P),
            (-P, -P),
        ],
        Shape::Star => &STAR,
    };
    unit.iter().map(|(x, y)| (at.0 + radius * x, at.1 + radius * y)).collect()
}

/// The part of a polygon below a height.
fn below(points: &[Point], y: f64) -> Vec<Point> {
    let mut out = Vec::new();
    for (i, &a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        if a.1 >= y {
            out.push(a);
        }
        if (a.1 >= y) != (b.1 >= y) {
            out.push((a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1), y));
        }
    }
    out
}

#[cfg(test)]
mod tests;
