//! Bars over categories, with intervals and the paper's values as marks; dots where the axis is
//! logarithmic or begins elsewhere, because a bar needs a zero.

use super::draw::{Ruler, Seen, is_place_of, seen};
use super::{Curves, SIMULATED};
use crate::flags;
use crate::font;
use crate::legend::{Key, Legend};
use crate::names::{Named, plain};
use crate::panel::{Look, Mark, Panel, TICK};
use crate::scale::{Scale, Tick};
use crate::scene::{Color, Stroke};
use crate::sheet::Sheet;
use crate::spec::{AskedRange, Picture, Prepared};
use crate::style::{Fill, Shape, Style};
use orrery_results::{Flags, Row};

/// The share of a category that its bars fill.
const FILLED: f64 = 0.82;
/// Pixels that a bar should have.
const BAR: f64 = 15.0;
/// A longer word is cut all the same.
const WORD_MOST: f64 = 90.0;
/// A bar of so small a share of the axis is a line on it.
const UNSEEN: f64 = 0.012;

/// The paper's value of a place, across the bars of all systems.
const PAPER_ONCE: Stroke = Stroke::solid(Color::BLACK, 2.0);

/// Whether a bar would have nothing to stand on.
fn is_without_zero(scale: &Scale) -> bool {
    match *scale {
        Scale::Linear { low, .. } => low > 0.0,
        _ => true,
    }
}

/// A value with two digits that count.
fn two_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let last = libm::pow(10.0, 1.0 - libm::floor(libm::log10(value.abs())));
    plain(libm::round(value * last) / last)
}

/// The paper's mark beside a bar.
fn paper_style() -> Style {
    let stroke = Stroke::solid(Color::BLACK, 1.2);
    Style { color: Color::BLACK, shape: Shape::Diamond, fill: Fill::Hollow, stroke }
}

/// The marks of a panel, by what covers what.
#[derive(Default)]
struct Bars {
    areas: Vec<Mark>,
    intervals: Vec<(f64, f64, f64)>,
    ranges: Vec<((f64, f64, f64), Color)>,
    dots: Vec<Mark>,
    papers: Vec<((f64, f64), bool)>,
    once: Vec<(f64, f64)>,
    above: Vec<((f64, f64), String)>,
    words: Vec<Mark>,
}

impl Bars {
    fn add(&mut self, row: &Row, (at, value): (f64, f64), width: f64, y: &Ruler, look: Look) {
        let by = y.named.divisor;
        let top = row.ci95().map_or(value, |c| c.1.max(value)) / by;
        self.above.extend(flags::is_withheld(&[row]).then(|| ((at, top), "?".to_string())));
        let (from, to) = ((at - 0.46 * width, 0.0), (at + 0.46 * width, value / by));
        self.areas.push(Mark::Area { from, to, look, labels: Vec::new() });
    }

    fn marks(mut self) -> Vec<Mark> {
        let mut marks = self.areas;
        marks.push(Mark::Intervals { at: self.intervals, color: Color::BLACK });
        marks.push(Mark::Asked(self.ranges));
        marks.extend(self.dots);
        marks.push(Mark::Markers { points: self.papers, style: paper_style(), radius: 4.0 });
        self.once.dedup();
        let across = |(x, y): (f64, f64)| Mark::Line {
            points: vec![(x - FILLED / 2.0, y), (x + FILLED / 2.0, y)],
            stroke: PAPER_ONCE,
        };
        marks.extend(self.once.into_iter().map(across));
        marks.push(Mark::Above(self.above));
        marks.extend(self.words);
        marks
    }
}

impl<'a> Curves<'a> {
    /// The figure before its layout.
    pub(super) fn bars(&self, p: &Picture, more: &Prepared) -> Sheet {
        let names = &more.categories;
        let slots = crate::error::distinct(self.points.iter().map(|x| self.series(x.row)));
        let tick = |(i, label): (usize, &String)| Tick { at: i as f64, label: label.clone() };
        let x = Ruler {
            named: Named { label: p.x_label.clone(), divisor: 1.0 },
            scale: Scale::Linear { low: -0.5, high: names.len() as f64 - 0.5 },
            ticks: names.iter().enumerate().map(tick).collect(),
            even: Vec::new(),
        };
        let panel = |key: &Vec<String>| {
            let y = self.y_axis(key, p, more);
            let mut marks = self.bar_marks(key, &slots, &y, more);
            marks.extend(self.crossing_marks(key, &y, (p, more)));
            Panel { title: self.panel_title(key), x: x.axis(), y: y.axis(), marks }
        };
        let panels: Vec<Panel> = self.panels.iter().map(panel).collect();
        // No word of a category's label is cut.
        let words = names.iter().flat_map(|n| n.split_whitespace());
        let longest = words.map(|w| font::width(w, TICK)).fold(0.0, f64::max).min(WORD_MOST);
        let of_words = (longest + 8.0) * names.len() as f64;
        let needed = (BAR * (slots.len() * names.len()) as f64 / FILLED).max(of_words);
        let columns = match (p.columns, panels.len()) {
            (0, n) if needed > 420.0 => 1.min(n),
            (0, n) => crate::sheet::grid_for(n).0,
            (columns, _) => columns,
        };
        let (least, most) = if columns == 1 { (360.0, 760.0) } else { (200.0, 420.0) };
        let height = match panels.len() {
            1 => 280.0,
            2..=4 => 220.0,
            _ => 180.0,
        };
        let by = panels[0].y.label.clone();
        let dotted = is_without_zero(&panels[0].y.scale);
        Sheet {
            title: self.title(p, &by),
            subtitle: self.subtitle(p),
            panels,
            columns,
            plot: (needed.clamp(least, most), height),
            wrap_x: true,
            share_x: true,
            share_y: self.shares_y(p),
            legend: self.with_crossing(self.bar_legend(&slots, dotted), p, more),
            notes: self.notes(p, more),
        }
    }

    fn bar_marks(
        &self,
        key: &[String],
        slots: &[(&str, &str)],
        y: &Ruler,
        more: &Prepared,
    ) -> Vec<Mark> {
        let inside = &self.inside(key);
        // A panel has room for its own series only; their looks are those of the figure.
        let here = |s: &(&str, &str)| inside.iter().any(|p| self.series(p.row) == *s);
        let own: Vec<usize> = (0..slots.len()).filter(|i| here(&slots[*i])).collect();
        let width = FILLED / own.len().max(1) as f64;
        let mut bars = Bars::default();
        for point in inside {
            let slot = slots.iter().position(|s| *s == self.series(point.row)).unwrap_or(0);
            let place = own.iter().position(|i| *i == slot).unwrap_or(0);
            let at = point.x + (place as f64 + 0.5) * width - FILLED / 2.0;
            let by = y.named.divisor;
            if let Some((low, high)) = point.row.ci95() {
                bars.intervals.push((at, low / by, high / by));
            }
            let is = |a: &&AskedRange| is_place_of(&a.row, point.row) && seen(a, y) == Seen::Shown;
            let asked = self.asked(key, more).filter(is);
            let range = |a: &AskedRange| ((at, a.low / by, a.high / by), Color::BLACK);
            bars.ranges.extend(asked.map(range));
            let dot = |value: f64, crossed| Mark::Markers {
                points: vec![((at, value / by), crossed)],
                style: self.style(slots[slot].0, slots[slot].1),
                radius: 4.0,
            };
            match point.row.value {
                Some(value) if is_without_zero(&y.scale) => {
                    bars.dots.push(dot(value, flags::crossed(point.row)));
                }
                Some(value) => {
                    bars.add(point.row, (at, value), width, y, self.look(slots[slot]));
                    bars.dots.extend(flags::crossed(point.row).then(|| dot(value, true)));
                    // No bar is to be seen: zero, or next to it, is not the same as no answer.
                    let height = y.scale.share(value / by) - y.scale.share(0.0);
                    if height.abs() < UNSEEN && !(self.paper && point.row.paper.is_some()) {
                        bars.words.push(Mark::Upright { x: at, text: two_digits(value / by) });
                    }
                }
                None => {
                    let is_sought = point.row.has_flag(Flags::NO_ANSWER);
                    let text = if is_sought { "no answer" } else { "no value" };
                    bars.words.push(Mark::Upright { x: at, text: text.into() });
                }
            }
            if self.paper_once {
                bars.once.extend(point.row.paper.map(|v| (point.x, v / by)));
            } else if self.paper {
                bars.papers.extend(point.row.paper.map(|v| ((at, v / by), false)));
            }
        }
        bars.marks()
    }

    fn bar_legend(&self, slots: &[(&str, &str)], dotted: bool) -> Legend {
        let mut entries = Vec::new();
        for &(name, preset) in slots {
            let several = slots.iter().filter(|s| s.0 == name).count() > 1;
            let words = match (several, name) {
                (true, name) if preset.is_empty() => self.called(name),
                (true, name) => format!("{} (preset {preset})", self.called(name)),
                (false, "value") => SIMULATED.to_string(),
                // Beside the paper's, its name would not say whose the numbers are.
                (false, _) if self.paper && slots.len() == 1 => SIMULATED.to_string(),
                (false, name) => self.called(name),
            };
            let key = if dotted {
                Key::Marker(self.style(name, preset))
            } else {
                Key::Swatch(self.look((name, preset)))
            };
            entries.push((words, key));
        }
        if entries.len() == 1 && !self.paper {
            entries.clear();
        }
        if self.paper {
            let key =
                if self.paper_once { Key::Line(PAPER_ONCE) } else { Key::Marker(paper_style()) };
            entries.push((self.beside.clone(), key));
        }
        Legend::Flow(entries)
    }

    /// The first preset of a system is filled, the others are hatched, lighter and lighter.
    fn look(&self, (name, preset): (&str, &str)) -> Look {
        let look = self.looks.area(name);
        let has =
            |p: &&String| self.points.iter().any(|x| self.series(x.row) == (name, p.as_str()));
        match self.presets.iter().filter(has).position(|p| p == preset) {
            None | Some(0) => look,
            Some(1) => Look { hatched: true, ..look },
            _ => Look { fill: look.fill.tint(0.4), hatched: true, ..look },
        }
    }
}
