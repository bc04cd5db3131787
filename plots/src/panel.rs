//! One panel: two axes and the marks between them.

use crate::font;
use crate::scale::{Scale, Tick};
use crate::scene::{Anchor, Color, Item, Point, Scene, Stroke};
use crate::style::{self, Style};

/// Size of tick labels.
pub(crate) const TICK: f64 = 10.5;
/// Between the lines of a tick's label.
pub(crate) const TICK_LINE: f64 = 12.5;
/// Size of axis labels.
pub(crate) const LABEL: f64 = 11.5;
/// Size of words among marks.
const SMALL: f64 = 9.0;
/// What letters reach below their line.
const DESCENT: f64 = 3.0;
/// Between a point and a word beside it.
const GAP: f64 = 8.0;
/// Between a point's interval and a word above or below the point.
const BESIDE: f64 = 5.0;
/// What a marker's outline covers beyond its corners.
const RIM: f64 = 0.6;
/// Half the width of an interval's caps.
const CAP: f64 = 3.0;
/// Radius of a cross that stands for itself.
const CROSS: f64 = 3.0;
/// From a value's place to its bracket.
const BRACKET: f64 = 7.0;
/// How far the ends of a bracket reach.
const BRACKET_DEPTH: f64 = 4.0;
/// The length of an arrow that points from a bound to where values may lie.
pub(crate) const ARROW: f64 = 13.0;
/// Its length at the edge of a panel, where it would not have room.
const ARROW_LEAST: f64 = 6.0;
/// Size of a panel's title.
pub(crate) const TITLE: f64 = 12.0;

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub label: String,
    pub scale: Scale,
    pub ticks: Vec<Tick>,
}

/// What is drawn between the axes, in the axes' units.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    Line {
        points: Vec<Point>,
        stroke: Stroke,
    },
    /// Markers; those with `true` are crossed.
    Markers {
        points: Vec<(Point, bool)>,
        style: Style,
        radius: f64,
    },
    /// Crosses at points.
    Crosses(Vec<Point>),
    /// Intervals: (x, low, high).
    Intervals {
        at: Vec<(f64, f64, f64)>,
        color: Color,
    },
    /// Ranges that are asked of values, right of their places: (x, low, high), in a colour. One with two ends is a bracket; one
    /// with an infinite end is its bound with an arrow.
    Asked(Vec<((f64, f64, f64), Color)>),
    /// A rectangle between two corners, with the first of the labels that fits.
    Area {
        from: Point,
        to: Point,
        look: Look,
        labels: Vec<String>,
    },
    /// A rectangle whose words become smaller before the next ones, shorter, are taken. They may have several lines.
    Cell {
        from: Point,
        to: Point,
        look: Look,
        words: Vec<String>,
    },
    /// A line over the whole height.
    Vertical {
        x: f64,
        stroke: Stroke,
    },
    /// A line over the whole width.
    Horizontal {
        y: f64,
        stroke: Stroke,
    },
    /// A word that stands on the x axis and reads upwards.
    Upright {
        x: f64,
        text: String,
    },
    /// A word at the top of the panel, `line` lines down, left or right of a vertical line.
    Word {
        x: f64,
        line: usize,
        left: bool,
        text: String,
    },
    /// A word above each point.
    Above(Vec<(Point, String)>),
    /// Words beside points, where they cover neither markers nor one another.
    Words(Vec<(Point, String)>),
}

/// How a rectangle is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub fill: Color,
    pub outline: Option<Stroke>,
    pub hatched: bool,
}

/// A panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub marks: Vec<Mark>,
}

/// Where a panel's axes lie on the canvas, and which labels it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub x_labels: bool,
    pub y_labels: bool,
}

impl Place {
    fn at(&self, panel: &Panel, (x, y): Point) -> Point {
        let (x, y) = (panel.x.scale.share(x), panel.y.scale.share(y));
        (self.left + x * self.width, self.top + (1.0 - y) * self.height)
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }
}

impl Panel {
    /// Draws the panel at a place.
    pub(crate) fn draw(&self, place: Place, scene: &mut Scene) {
        self.draw_grid(place, scene);
        self.marks.iter().for_each(|mark| self.draw_mark(mark, place, scene));
        self.draw_axes(place, scene);
        let title = font::fitted(&self.title, TITLE, place.width);
        scene.text((place.left, place.top - 6.0), &title, TITLE, Anchor::Start, Color::BLACK);
    }

    /// The ticks of the x axis whose labels do not touch.
    fn x_ticks(&self, width: f64) -> Vec<&Tick> {
        let reach = |t: &Tick| {
            let (at, half) = (self.x.scale.share(t.at) * width, widest(&t.label) / 2.0);
            (at - half, at + half)
        };
        apart(&self.x.ticks, reach, 7.0)
    }

    fn y_ticks(&self, height: f64) -> Vec<&Tick> {
        let reach = |t: &Tick| {
            let at = (1.0 - self.y.scale.share(t.at)) * height;
            (at - 0.5 * TICK, at + 0.5 * TICK)
        };
        apart(&self.y.ticks, reach, 0.0)
    }

    fn draw_grid(&self, place: Place, scene: &mut Scene) {
        let line = Stroke::solid(Color::LIGHT, 0.8);
        for tick in self.x_ticks(place.width) {
            let x = place.left + self.x.scale.share(tick.at) * place.width;
            scene.line(vec![(x, place.top), (x, place.bottom())], line);
        }
        for tick in self.y_ticks(place.height) {
            let y = place.bottom() - self.y.scale.share(tick.at) * place.height;
            scene.line(vec![(place.left, y), (place.right(), y)], line);
        }
    }

    fn draw_axes(&self, place: Place, scene: &mut Scene) {
        let line = Stroke::solid(Color::MIDDLE, 1.0);
        let corner = (place.left, place.bottom());
        scene.line(vec![(place.left, place.top), corner, (place.right(), place.bottom())], line);
        for tick in self.x_ticks(place.width) {
            let x = place.left + self.x.scale.share(tick.at) * place.width;
            scene.line(vec![(x, corner.1), (x, corner.1 + 4.0)], line);
            if place.x_labels {
                for (i, line) in tick.label.lines().enumerate() {
                    let at = (x, corner.1 + 6.0 + TICK + i as f64 * TICK_LINE);
                    scene.text(at, line, TICK, Anchor::Middle, Color::DARK);
                }
            }
        }
        for tick in self.y_ticks(place.height) {
            let y = corner.1 - self.y.scale.share(tick.at) * place.height;
            scene.line(vec![(place.left - 4.0, y), (place.left, y)], line);
            if place.y_labels {
                let at = (place.left - 7.0, y + 0.5 * font::CAPITALS * TICK);
                scene.text(at, &tick.label, TICK, Anchor::End, Color::DARK);
            }
        }
    }

    fn draw_mark(&self, mark: &Mark, place: Place, scene: &mut Scene) {
        let at = |p: Point| place.at(self, p);
        match mark {
            Mark::Line { points, stroke } => {
                scene.line(thinned(points.iter().map(|p| at(*p))), *stroke);
            }
            Mark::Markers { points, style, radius } => {
                for &(point, crossed) in points {
                    style::marker(at(point), *style, *radius, scene);
                    if crossed {
                        style::cross(at(point), *radius, scene);
                    }
                }
            }
            Mark::Crosses(points) => {
                points.iter().for_each(|p| style::cross(at(*p), CROSS, scene));
            }
            Mark::Intervals { at: bars, color } => {
                for &(x, low, high) in bars {
                    // An end that lies outside the axis has no cap.
                    let inside = |y: f64| self.y.scale.has(y);
                    let ends = [(at((x, low)), inside(low)), (at((x, high)), inside(high))];
                    interval(ends, *color, scene);
                }
            }
            Mark::Asked(ranges) => self.draw_asked(ranges, place, scene),
            Mark::Area { from, to, look, labels } => {
                area(at(*from), at(*to), *look, (labels, &[1.0]), scene);
            }
            Mark::Cell { from, to, look, words } => {
                area(at(*from), at(*to), *look, (words, &[1.0, 0.85, 0.7, 0.6]), scene);
            }
            Mark::Vertical { x, stroke } => {
                let x = at((*x, 0.0)).0;
                scene.line(vec![(x, place.top), (x, place.bottom())], *stroke);
            }
            Mark::Horizontal { y, stroke } => {
                let y = at((0.0, *y)).1;
                scene.line(vec![(place.left, y), (place.right(), y)], *stroke);
            }
            Mark::Upright { x, text } => {
                let half = font::width(text, SMALL) / 2.0 + 3.0;
                let x = at((*x, 0.0)).0 + 0.5 * font::CAPITALS * SMALL;
                scene.rotated((x, place.bottom() - half), text, SMALL, Color::DARK);
            }
            Mark::Word { x, line, left, text } => {
                let x = at((*x, 0.0)).0;
                let y = place.top + 10.0 + 13.0 * *line as f64;
                word((x, y), text, *left, (place.left, place.right()), scene);
            }
            Mark::Above(words) => {
                for (point, text) in words {
                    let (x, y) = at(*point);
                    scene.text((x, y - GAP / 2.0), text, TICK, Anchor::Middle, Color::BLACK);
                }
            }
            Mark::Words(words) => self.draw_words(words, place, scene),
        }
    }
}

impl Panel {
    fn draw_asked(&self, ranges: &[((f64, f64, f64), Color)], place: Place, scene: &mut Scene) {
        for &((x, low, high), color) in ranges {
            let end = |y: f64| {
                let (x, at) = place.at(self, (x, y));
                let end = match (y.is_finite(), self.y.scale.has(y)) {
                    (false, _) => End::Open,
                    (true, true) => End::Bound,
                    (true, false) => End::Cut,
                };
                ((x + BRACKET, at), end)
            };
            asked([low, high].map(end), (place.top, place.bottom()), color, scene);
        }
    }

    fn draw_words(&self, words: &[(Point, String)], place: Place, scene: &mut Scene) {
        let markers = self.marks.iter().filter_map(|mark| match mark {
            Mark::Markers { points, style, radius } => Some((points, *style, *radius)),
            _ => None,
        });
        let of = |(points, style, radius): (&'_ Vec<(Point, bool)>, Style, f64)| {
            let room = |&(p, crossed): &(Point, bool)| {
                Room::of_marker(place.at(self, p), (style, radius), crossed)
            };
            points.iter().map(room).collect::<Vec<_>>()
        };
        let mut taken: Vec<Room> = markers.flat_map(of).collect();
        // A word on a line across the panel, or on an interval, could not be read.
        taken.extend(self.marks.iter().flat_map(|mark| match mark {
            Mark::Horizontal { y, .. } => {
                let y = place.at(self, (0.0, *y)).1;
                let (left, right) = (place.left, place.right());
                vec![Room { left, right, top: y - 1.0, bottom: y + 1.0 }]
            }
            Mark::Intervals { at, .. } => {
                let room = |&(x, low, high): &(f64, f64, f64)| {
                    let ((x, bottom), (_, top)) =
                        (place.at(self, (x, low)), place.at(self, (x, high)));
                    let (left, right) = (x - CAP - RIM, x + CAP + RIM);
                    Room { left, right, top: top - RIM, bottom: bottom + RIM }
                };
                at.iter().map(room).collect()
            }
            // Nor on a step.
            Mark::Line { points, .. } => {
                let is_step = |w: &&[Point]| w[0].0 == w[1].0 || w[0].1 == w[1].1;
                let room = |w: &[Point]| {
                    let ((ax, ay), (bx, by)) = (place.at(self, w[0]), place.at(self, w[1]));
                    let (left, right) = (ax.min(bx) - RIM, ax.max(bx) + RIM);
                    Room { left, right, top: ay.min(by) - RIM, bottom: ay.max(by) + RIM }
                };
                points.windows(2).filter(is_step).map(room).collect()
            }
            _ => Vec::new(),
        }));
        let whole =
            Room { left: place.left, right: place.right(), top: place.top, bottom: place.bottom() };
        for (point, text) in words {
            let at = place.at(self, *point);
            let width = font::width(text, TICK);
            let sides = beside(at, width);
            let room = |(left, base): Point| Room {
                left,
                right: left + width,
                top: base - TICK,
                bottom: base + DESCENT,
            };
            let is_free = |at: &Point| {
                let own = room(*at);
                own.is_inside(&whole) && !taken.iter().any(|other| own.meets(other))
            };
            if let Some(at) = sides.into_iter().find(is_free) {
                taken.push(room(at));
                scene.text(at, text, TICK, Anchor::Start, Color::DARK);
            }
        }
    }
}

/// An end of a range that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A bound, which has an arm.
    Bound,
    /// A bound outside the axes.
    Cut,
    /// None: values may lie anywhere on this side.
    Open,
}

/// A range between its lower and its upper end: a bracket, or a bound with an arrow to where values may lie. A white
/// rim keeps it apart from what lies below it.
pub(crate) fn asked(
    ends: [(Point, End); 2],
    (top, bottom): (f64, f64),
    color: Color,
    scene: &mut Scene,
) {
    let [((x, low), lower), ((_, high), upper)] = ends;
    let arrow = |room: f64| room.clamp(ARROW_LEAST, ARROW);
    let (from, to) = match (lower, upper) {
        (_, End::Open) => (low, low - arrow(low - top)),
        (End::Open, _) => (high, high + arrow(bottom - high)),
        _ => (low, high),
    };
    let mut lines = vec![vec![(x, from), (x, to)]];
    let arm = |y: f64| vec![(x - BRACKET_DEPTH, y), (x, y)];
    lines.extend(ends.into_iter().filter(|e| e.1 == End::Bound).map(|e| arm(e.0.1)));
    if lower == End::Open || upper == End::Open {
        let back = if to < from { 3.5 } else { -3.5 };
        lines.push(vec![(x - 2.5, to + back), (x, to), (x + 2.5, to + back)]);
    }
    for stroke in [Stroke::solid(Color::WHITE, 2.8), Stroke::solid(color, 1.2)] {
        lines.iter().for_each(|line| scene.line(line.clone(), stroke));
    }
}

/// Where words beside a point may begin, the best place first: beside it, then above and below.
fn beside((x, y): Point, width: f64) -> [Point; 10] {
    let (right, left, middle) = (x + GAP, x - GAP - width, x - width / 2.0);
    let (level, above, below) = (y + 4.0, y - GAP - DESCENT, y + GAP + TICK);
    [
        (right, level),
        (left, level),
        (right, y + TICK + 5.0),
        (left, y - 7.0),
        (middle, above),
        (middle, below),
        (x + BESIDE, above),
        (x - BESIDE - width, above),
        (x + BESIDE, below),
        (x - BESIDE - width, below),
    ]
}

/// A rectangle of the canvas; y grows downwards.
#[derive(Clone, Copy, Debug)]
struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Room {
    /// What a marker covers, as it is drawn.
    fn of_marker(at: Point, (style, radius): (Style, f64), crossed: bool) -> Room {
        let mut scene = Scene::default();
        style::marker(at, style, radius, &mut scene);
        if crossed {
            style::cross(at, radius, &mut scene);
        }
        let mut room = Room { left: at.0, right: at.0, top: at.1, bottom: at.1 };
        let shapes = scene.items.iter().filter_map(|item| match item {
            Item::Line { points, .. } | Item::Polygon { points, .. } => Some(points),
            Item::Text(_) => None,
        });
        for &(x, y) in shapes.flatten() {
            room.left = room.left.min(x - RIM);
            room.right = room.right.max(x + RIM);
            room.top = room.top.min(y - RIM);
            room.bottom = room.bottom.max(y + RIM);
        }
        room
    }

    fn meets(&self, other: &Room) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_inside(&self, whole: &Room) -> bool {
        self.left >= whole.left
            && self.right <= whole.right
            && self.top >= whole.top
            && self.bottom <= whole.bottom
    }
}

/// The width of a tick's label, which may have several lines.
pub(crate) fn widest(label: &str) -> f64 {
    label.lines().map(|l| font::width(l, TICK)).fold(0.0, f64::max)
}

/// A word beside a line, on the other side where there is no room; white lies behind it, because
/// other lines may run there.
fn word((x, y): Point, text: &str, left: bool, (from, to): Point, scene: &mut Scene) {
    let width = font::width(text, TICK) + 4.0;
    let left = if left { x - width > from } else { x + width > to };
    let (start, end) = if left { (x - width, x - 2.0) } else { (x + 2.0, x + width) };
    scene.rectangle((start, y - TICK), (end, y + 3.0), Some(Color::WHITE), None);
    let middle = (start + end) / 2.0;
    scene.text((middle, y), text, TICK, Anchor::Middle, Color::BLACK);
}

/// Every k-th tick, with the smallest k for which their labels stay `gap` apart.
fn apart(ticks: &[Tick], reach: impl Fn(&Tick) -> (f64, f64), gap: f64) -> Vec<&Tick> {
    for every in 1..=ticks.len().max(1) {
        let kept: Vec<&Tick> = ticks.iter().step_by(every).collect();
        let touch = |pair: &[&Tick]| {
            let (a, b) = (reach(pair[0]), reach(pair[1]));
            if a.0 < b.0 { b.0 - a.1 < gap } else { a.0 - b.1 < gap }
        };
        if !kept.windows(2).any(touch) {
            return kept;
        }
    }
    Vec::new()
}

/// Points without those that lie within a twentieth of a pixel of the one before: nobody sees them,
/// and a distribution may have thousands.
fn thinned(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    let mut skipped = None;
    for p in points {
        match out.last() {
            Some(q) if (p.0 - q.0).abs() < 0.05 && (p.1 - q.1).abs() < 0.05 => skipped = Some(p),
            _ => {
                out.push(p);
                skipped = None;
            }
        }
    }
    out.extend(skipped.filter(|_| out.len() == 1));
    out
}

/// A vertical bar with caps; nothing where it would be shorter than a line is thick.
fn interval(ends: [(Point, bool); 2], color: Color, scene: &mut Scene) {
    let stroke = Stroke::solid(color, 1.0);
    let [low, high] = [ends[0].0, ends[1].0];
    if low.1 - high.1 < 1.0 {
        return;
    }
    scene.line(vec![low, high], stroke);
    for (end, _) in ends.iter().filter(|e| e.1) {
        scene.line(vec![(end.0 - CAP, end.1), (end.0 + CAP, end.1)], stroke);
    }
}

/// A rectangle with the first of the labels that fits, in one of these sizes.
fn area(a: Point, b: Point, look: Look, (labels, sizes): (&[String], &[f64]), scene: &mut Scene) {
    let (x0, x1) = (a.0.min(b.0), a.0.max(b.0));
    let (y0, y1) = (a.1.min(b.1), a.1.max(b.1));
    scene.rectangle((x0, y0), (x1, y1), Some(look.fill), look.outline);
    if look.hatched {
        hatch((x0, y0), (x1, y1), scene);
    }
    let whole = (0.62 * (y1 - y0)).clamp(7.0, TICK);
    let width =
        |label: &str, size: f64| label.lines().map(|l| font::width(l, size)).fold(0.0, f64::max);
    let height =
        |label: &str, size: f64| size * (1.0 + 1.15 * (label.lines().count().max(1) - 1) as f64);
    let fits = |label: &&String, size: f64| {
        width(label, size) + 4.0 <= x1 - x0 && height(label, size) <= y1 - y0
    };
    let sized = |label| sizes.iter().map(move |share| (label, share * whole));
    let mut all = labels.iter().flat_map(sized);
    let Some((label, size)) = all.find(|(label, size)| fits(label, *size)) else { return };
    let (middle, half) = ((x0 + x1) / 2.0, 0.5 * width(label, size) + 1.5);
    let lines = label.lines().count().max(1) as f64;
    let first = (y0 + y1) / 2.0 + 0.5 * font::CAPITALS * size - 0.575 * size * (lines - 1.0);
    let last = first + 1.15 * size * (lines - 1.0);
    if look.hatched {
        let (above, below) = (first - font::CAPITALS * size - 2.0, last + 2.0);
        scene.rectangle((middle - half, above), (middle + half, below), Some(look.fill), None);
    }
    let color = if look.fill.brightness() > 0.45 { Color::BLACK } else { Color::WHITE };
    for (i, line) in label.lines().enumerate() {
        let baseline = first + 1.15 * size * i as f64;
        scene.text((middle, baseline), line, size, Anchor::Middle, color);
    }
}

/// Lines at 45 degrees inside a rectangle.
pub(crate) fn hatch((x0, y0): Point, (x1, y1): Point, scene: &mut Scene) {
    const STEP: f64 = 4.0;
    let stroke = Stroke::solid(Color::DARK, 0.7);
    let (w, h) = (x1 - x0, y1 - y0);
    let mut c = STEP / 2.0;
    while c < w + h {
        // x - x0 + y - y0 = c
        let start = if c <= h { (x0, y0 + c) } else { (x0 + c - h, y1) };
        let end = if c <= w { (x0 + c, y0) } else { (x1, y0 + c - w) };
        scene.line(vec![start, end], stroke);
        c += STEP;
    }
}

#[cfg(test)]
mod tests;
