//! A figure as a list of shapes with coordinates: what both forms are written from.
//!
//! It knows no axis and no table. One unit is a pixel of the SVG; y grows downwards.

/// A place on the canvas.
pub(crate) type Point = (f64, f64);

/// An opaque colour. There is no transparency: it prints badly and differs between readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Color(pub u8, pub u8, pub u8);

impl Color {
    pub(crate) const BLACK: Color = Color(0x22, 0x22, 0x22);
    pub(crate) const WHITE: Color = Color(0xff, 0xff, 0xff);
    /// Notes and tick labels.
    pub(crate) const DARK: Color = Color(0x44, 0x44, 0x44);
    /// Axes.
    pub(crate) const MIDDLE: Color = Color(0x88, 0x88, 0x88);
    /// Grid lines.
    pub(crate) const LIGHT: Color = Color(0xe4, 0xe4, 0xe4);

    /// Mixed with white: 0 is white, 1 the colour itself.
    pub(crate) fn tint(self, share: f64) -> Color {
        let mix = |c: u8| (255.0 - (255.0 - f64::from(c)) * share + 0.5) as u8;
        Color(mix(self.0), mix(self.1), mix(self.2))
    }

    /// How bright it is in grey, 0 to 1 (Rec. 709 weights).
    pub(crate) fn brightness(self) -> f64 {
        let sum = 0.2126 * f64::from(self.0) + 0.7152 * f64::from(self.1);
        (sum + 0.0722 * f64::from(self.2)) / 255.0
    }

    /// As bright, without a hue.
    fn grey(self) -> Color {
        let level = (self.brightness() * 255.0 + 0.5) as u8;
        Color(level, level, level)
    }
}

/// How a line is drawn. `dash` is empty for a solid line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub color: Color,
    pub width: f64,
    pub dash: &'static [f64],
}

impl Stroke {
    pub(crate) const fn solid(color: Color, width: f64) -> Stroke {
        Stroke { color, width, dash: &[] }
    }
}

/// Where a text's anchor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text; `at` is on its baseline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub anchor: Anchor,
    /// Read from below to above.
    pub rotated: bool,
    pub color: Color,
}

impl Text {
    /// A place along its baseline from its anchor, and above it.
    pub(crate) fn place(&self, along: f64, above: f64) -> Point {
        match self.rotated {
            false => (self.at.0 + along, self.at.1 - above),
            true => (self.at.0 - above, self.at.1 - along),
        }
    }
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Line { points: Vec<Point>, stroke: Stroke },
    Polygon { points: Vec<Point>, fill: Option<Color>, stroke: Option<Stroke> },
    Text(Text),
}

/// A canvas with shapes, the first at the bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// What a reader who cannot see the figure is told.
    pub title: String,
    pub items: Vec<Item>,
}

impl Scene {
    pub(crate) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, stroke });
        }
    }

    pub(crate) fn polygon(
        &mut self,
        points: Vec<Point>,
        fill: Option<Color>,
        stroke: Option<Stroke>,
    ) {
        if points.len() > 2 {
            self.items.push(Item::Polygon { points, fill, stroke });
        }
    }

    pub(crate) fn rectangle(
        &mut self,
        (x0, y0): Point,
        (x1, y1): Point,
        fill: Option<Color>,
        stroke: Option<Stroke>,
    ) {
        self.polygon(vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)], fill, stroke);
    }

    pub(crate) fn text(&mut self, at: Point, text: &str, size: f64, anchor: Anchor, color: Color) {
        if !text.is_empty() {
            let text = text.to_string();
            self.items.push(Item::Text(Text { at, text, size, anchor, rotated: false, color }));
        }
    }

    /// All colours become as bright a grey.
    pub(crate) fn turn_grey(&mut self) {
        let line = |stroke: &mut Stroke| stroke.color = stroke.color.grey();
        for item in &mut self.items {
            match item {
                Item::Line { stroke, .. } => line(stroke),
                Item::Polygon { fill, stroke, .. } => {
                    fill.iter_mut().for_each(|fill| *fill = fill.grey());
                    stroke.iter_mut().for_each(line);
                }
                Item::Text(text) => text.color = text.color.grey(),
            }
        }
    }

    /// Text that reads upwards, centred at a place.
    pub(crate) fn rotated(&mut self, at: Point, text: &str, size: f64, color: Color) {
        if !text.is_empty() {
            let (text, anchor) = (text.to_string(), Anchor::Middle);
            self.items.push(Item::Text(Text { at, text, size, anchor, rotated: true, color }));
        }
    }
}
