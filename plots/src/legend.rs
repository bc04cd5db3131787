//! The legend: beside or below the axes, never over data.

use crate::font;
use crate::panel::{ARROW, End, Look, asked, hatch};
use crate::scene::{Anchor, Color, Scene, Stroke};
use crate::style::{self, Style};

/// Size of the legend's words.
const SIZE: f64 = 11.0;
/// Height of a line.
const LINE: f64 = 17.0;
/// Width of a sample.
const SAMPLE: f64 = 34.0;
/// Between columns.
const GAP: f64 = 18.0;
const RADIUS: f64 = 4.0;

/// A sample beside a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Key {
    /// A line with a marker on it.
    Series(Style),
    /// A marker alone.
    Marker(Style),
    /// A cross.
    Cross,
    /// A line without.
    Line(Stroke),
    /// A filled box.
    Swatch(Look),
    /// A range that is asked, with the bounds that it has.
    Asked { low: bool, high: bool },
}

/// A legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Legend {
    /// Samples with names, in lines.
    Flow(Vec<(String, Key)>),
    /// Samples in a table: for each row a name and a sample in each column.
    Table { columns: Vec<String>, rows: Vec<(String, Vec<Option<Key>>)> },
    /// One above the other.
    Stack(Vec<Legend>),
}

/// A legend whose size is known: words with their place, samples with theirs.
pub(crate) struct Laid {
    pub width: f64,
    pub height: f64,
    words: Vec<(f64, f64, Anchor, String)>,
    samples: Vec<(f64, f64, Key)>,
}

impl Legend {
    /// The legend for a width: the form that needs the least height, shortened names if need be.
    pub(crate) fn laid(&self, room: f64) -> Laid {
        match self {
            Legend::Flow(entries) => flow(entries, room),
            Legend::Stack(parts) => stacked(parts.iter().map(|p| p.laid(room))),
            Legend::Table { columns, rows } => {
                let wide = table(&transposed(columns, rows), room);
                let tall = table(&(columns.clone(), rows.clone()), room);
                let both = [wide, tall];
                let fits = both.into_iter().filter(|l| l.width <= room);
                fits.min_by(|a, b| a.height.total_cmp(&b.height))
                    .unwrap_or_else(|| flow(&flattened(columns, rows), room))
            }
        }
    }
}

type Table = (Vec<String>, Vec<(String, Vec<Option<Key>>)>);

fn transposed(columns: &[String], rows: &[(String, Vec<Option<Key>>)]) -> Table {
    let row = |(i, name): (usize, &String)| {
        (name.clone(), rows.iter().map(|r| r.1.get(i).copied().flatten()).collect())
    };
    let names = rows.iter().map(|r| r.0.clone()).collect();
    (names, columns.iter().enumerate().map(row).collect())
}

fn flattened(columns: &[String], rows: &[(String, Vec<Option<Key>>)]) -> Vec<(String, Key)> {
    let mut out = Vec::new();
    for (name, keys) in rows {
        for (column, key) in columns.iter().zip(keys) {
            out.extend(key.map(|key| (format!("{name}, {column}"), key)));
        }
    }
    out
}

/// Legends below each other, in the middle.
fn stacked(parts: impl Iterator<Item = Laid>) -> Laid {
    let parts: Vec<Laid> = parts.collect();
    let width = parts.iter().map(|p| p.width).fold(0.0, f64::max);
    let mut all = Laid { width, height: 0.0, words: Vec::new(), samples: Vec::new() };
    for part in parts {
        let (dx, dy) = ((width - part.width) / 2.0, all.height);
        all.words.extend(part.words.into_iter().map(|(x, y, a, w)| (x + dx, y + dy, a, w)));
        all.samples.extend(part.samples.into_iter().map(|(x, y, k)| (x + dx, y + dy, k)));
        all.height += part.height;
    }
    all
}

fn flow(entries: &[(String, Key)], room: f64) -> Laid {
    let widest = entries.iter().map(|e| font::width(&e.0, SIZE)).fold(0.0, f64::max);
    let column = (SAMPLE + 6.0 + widest).min(room);
    let columns = (((room + GAP) / (column + GAP)) as usize).clamp(1, entries.len().max(1));
    // Lines of about equal length: five entries in four columns become three and two.
    let lines = entries.len().div_ceil(columns);
    let columns = entries.len().div_ceil(lines.max(1));
    let mut laid = Laid {
        width: (columns as f64 * (column + GAP) - GAP).max(0.0),
        height: lines as f64 * LINE,
        words: Vec::new(),
        samples: Vec::new(),
    };
    for (i, (name, key)) in entries.iter().enumerate() {
        let x = (i % columns) as f64 * (column + GAP);
        let y = (i / columns) as f64 * LINE;
        laid.samples.push((x, y, *key));
        let name = font::fitted(name, SIZE, column - SAMPLE - 6.0);
        laid.words.push((x + SAMPLE + 6.0, y, Anchor::Start, name));
    }
    laid
}

fn table((columns, rows): &Table, room: f64) -> Laid {
    let names = rows.iter().map(|r| font::width(&r.0, SIZE)).fold(0.0, f64::max).min(0.6 * room);
    let widths: Vec<f64> = columns.iter().map(|c| font::width(c, SIZE).max(SAMPLE)).collect();
    let mut laid = Laid {
        width: names + widths.iter().map(|w| w + GAP).sum::<f64>(),
        height: (rows.len() + 1) as f64 * LINE,
        words: Vec::new(),
        samples: Vec::new(),
    };
    for (i, (name, _)) in rows.iter().enumerate() {
        let y = (i + 1) as f64 * LINE;
        laid.words.push((0.0, y, Anchor::Start, font::fitted(name, SIZE, names)));
    }
    let mut x = names + GAP;
    for (c, (column, width)) in columns.iter().zip(&widths).enumerate() {
        laid.words.push((x + width / 2.0, 0.0, Anchor::Middle, column.clone()));
        for (i, (_, keys)) in rows.iter().enumerate() {
            if let Some(key) = keys.get(c).copied().flatten() {
                laid.samples.push((x + (width - SAMPLE) / 2.0, (i + 1) as f64 * LINE, key));
            }
        }
        x += width + GAP;
    }
    laid
}

impl Laid {
    /// Whether a name had no room.
    pub(crate) fn is_cut(&self) -> bool {
        self.words.iter().any(|word| word.3.contains('…'))
    }

    /// Draws the legend with its upper left corner at a place.
    pub(crate) fn draw(&self, (left, top): (f64, f64), scene: &mut Scene) {
        for &(x, y, key) in &self.samples {
            sample((left + x, top + y + LINE / 2.0), key, scene);
        }
        for (x, y, anchor, word) in &self.words {
            let baseline = top + y + LINE / 2.0 + 0.5 * font::CAPITALS * SIZE;
            scene.text((left + x, baseline), word, SIZE, *anchor, Color::BLACK);
        }
    }
}

fn sample((x, y): (f64, f64), key: Key, scene: &mut Scene) {
    let line = |stroke, scene: &mut Scene| scene.line(vec![(x, y), (x + SAMPLE, y)], stroke);
    match key {
        Key::Line(stroke) => line(stroke, scene),
        Key::Marker(style) => style::marker((x + SAMPLE / 2.0, y), style, RADIUS, scene),
        Key::Asked { low, high } => {
            let end = |y: f64, is_bound: bool| {
                ((x + SAMPLE / 2.0, y), if is_bound { End::Bound } else { End::Open })
            };
            let half = if low && high { 6.0 } else { 0.5 * ARROW };
            asked(
                [end(y + half, low), end(y - half, high)],
                (y - half, y + half),
                Color::BLACK,
                scene,
            );
        }
        Key::Cross => style::cross((x + SAMPLE / 2.0, y), RADIUS, scene),
        Key::Series(style) => {
            line(style.stroke, scene);
            style::marker((x + SAMPLE / 2.0, y), style, RADIUS, scene);
        }
        Key::Swatch(look) => {
            let (a, b) = ((x + 8.0, y - 5.5), (x + SAMPLE - 2.0, y + 5.5));
            scene.rectangle(a, b, Some(look.fill), look.outline);
            if look.hatched {
                hatch(a, b, scene);
            }
        }
    }
}
