//! From sorted rows to panels, axes and the legend.

use super::{At, Curves, panel_key};
use crate::error::distinct;
use crate::flags;
use crate::legend::{Key, Legend};
use crate::names::{self, Named};
use crate::panel::{Axis, Mark, Panel};
use crate::scale::{Scale, Tick, ticks_at};
use crate::sheet::{Sheet, grid_for};
use crate::style::Style;
use orrery_results::Row;

impl<'a> Curves<'a> {
    /// The figure before its layout.
    pub(super) fn sheet(&self, axis: &str, metric: &str) -> Sheet {
        let x = self.x_axis(axis);
        let y = self.y_axis(metric);
        let (columns, plot) = grid_for(self.panels.len());
        let rows: Vec<&Row> = self.points.iter().map(|p| p.row).collect();
        let experiments = distinct(rows.iter().map(|r| r.experiment.as_str()));
        let named = |n: &Named| n.label.split(" (").next().unwrap_or_default().to_string();
        Sheet {
            title: format!("{}: {} by {}", experiments.join(", "), named(&y.0), named(&x.0)),
            subtitle: flags::subtitle(&self.common, &rows),
            panels: self.panels.iter().map(|key| self.panel(key, &x, &y)).collect(),
            columns,
            plot,
            share_x: true,
            share_y: true,
            legend: self.legend(),
            notes: flags::notes(&rows),
        }
    }

    fn x_axis(&self, axis: &str) -> (Named, Scale, Vec<Tick>) {
        let largest = self.points.iter().map(|p| p.x.abs()).fold(0.0, f64::max);
        let named = names::axis(axis, largest);
        let mut values = distinct(self.points.iter().map(|p| p.x / named.divisor));
        values.sort_by(f64::total_cmp);
        let scale = match Scale::around(values.iter().copied()) {
            Scale::Linear { .. } => padded(values[0], values[values.len() - 1]),
            log => log,
        };
        // A sweep's own values are the best ticks while they are few.
        let ticks = if values.len() <= 8 { ticks_at(&values) } else { scale.ticks(6) };
        (named, scale, ticks)
    }

    fn y_axis(&self, metric: &str) -> (Named, Scale, Vec<Tick>) {
        let of_row = |r: &Row| {
            let (low, high) = r.ci95().unzip();
            [r.value, low, high, r.paper.filter(|_| self.paper)]
        };
        let values = || self.points.iter().flat_map(|p| of_row(p.row)).flatten();
        let largest = values().map(f64::abs).fold(0.0, f64::max);
        let named = names::metric(metric, &self.points[0].row.unit, largest);
        if is_rate(metric) {
            let scale = Scale::Linear { low: -0.03, high: 1.03 };
            return (named, scale, Scale::Linear { low: 0.0, high: 1.0 }.ticks(5));
        }
        let divisor = named.divisor;
        let scale =
            Scale::around(values().map(move |v| v / divisor).collect::<Vec<_>>().into_iter());
        (named, scale, scale.ticks(6))
    }

    fn panel(
        &self,
        key: &[String],
        x: &(Named, Scale, Vec<Tick>),
        y: &(Named, Scale, Vec<Tick>),
    ) -> Panel {
        let axis = |a: &(Named, Scale, Vec<Tick>)| Axis {
            label: a.0.label.clone(),
            scale: a.1,
            ticks: a.2.clone(),
        };
        let words: Vec<&str> = key.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
        let mut marks = Vec::new();
        let here = |p: &&At<'a>| panel_key(p.row, &self.differing) == key;
        let inside: Vec<At<'a>> = self.points.iter().filter(here).copied().collect();
        let scales = (x.0.divisor, y.0.divisor);
        if self.paper {
            self.names.iter().for_each(|n| self.paper_marks(n, &inside, scales, &mut marks));
        }
        for preset in self.presets.iter().rev() {
            for name in &self.names {
                let of = |p: &&At<'a>| self.series(p.row) == (name.as_str(), preset.as_str());
                let mut own: Vec<At<'a>> = inside.iter().filter(of).copied().collect();
                own.sort_by(|a, b| a.x.total_cmp(&b.x));
                series_marks(&own, self.style(name, preset), scales, &mut marks);
            }
        }
        Panel { title: words.join(" · "), x: axis(x), y: axis(y), marks }
    }

    /// The paper's curve for a system: once, whatever presets stand beside it.
    fn paper_marks(&self, name: &str, inside: &[At<'a>], by: (f64, f64), marks: &mut Vec<Mark>) {
        let own = inside.iter().filter(|p| self.name(p.row) == name);
        let mut points: Vec<(f64, f64)> =
            own.filter_map(|p| Some((p.x / by.0, p.row.paper? / by.1))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        let style = self.style(name, "").paper();
        let places = points.iter().map(|p| (*p, false)).collect();
        marks.push(Mark::Line { points, stroke: style.stroke });
        marks.push(Mark::Markers { points: places, style, radius: 3.2 });
    }

    fn legend(&self) -> Legend {
        let one = self.presets.len() == 1;
        if one && !self.paper {
            let key = |n: &String| (n.clone(), Key::Series(self.style(n, &self.presets[0])));
            return Legend::Flow(self.names.iter().map(key).collect());
        }
        let mut columns: Vec<String> = self.presets.iter().map(|p| preset_label(p)).collect();
        if self.paper {
            columns.push("paper".into());
        }
        let row = |name: &String| {
            let has = |p: &String| {
                let found = self.points.iter().any(|x| self.series(x.row) == (name, p));
                found.then(|| Key::Series(self.style(name, p)))
            };
            let mut keys: Vec<Option<Key>> = self.presets.iter().map(has).collect();
            if self.paper {
                let mut own = self.points.iter().filter(|p| self.name(p.row) == name);
                let known = own.any(|p| p.row.paper.is_some());
                keys.push(known.then(|| Key::Series(self.style(name, "").paper())));
            }
            (name.clone(), keys)
        };
        Legend::Table { columns, rows: self.names.iter().map(row).collect() }
    }
}

fn series_marks(own: &[At<'_>], style: Style, by: (f64, f64), marks: &mut Vec<Mark>) {
    let place = |p: &At<'_>| Some((p.x / by.0, p.row.value? / by.1));
    let interval = |p: &At<'_>| p.row.ci95().map(|(a, b)| (p.x / by.0, a / by.1, b / by.1));
    // No line across a point that has no answer.
    for piece in own.split(|p| p.row.value.is_none()) {
        let points = piece.iter().filter_map(place).collect();
        marks.push(Mark::Line { points, stroke: style.stroke });
    }
    marks.push(Mark::Intervals {
        at: own.iter().filter_map(interval).collect(),
        color: style.color,
    });
    let points = own.iter().filter_map(|p| Some((place(p)?, flags::crossed(p.row)))).collect();
    // Many points are a line already.
    let radius = if own.len() > 24 { 2.0 } else { 3.6 };
    marks.push(Mark::Markers { points, style, radius });
}

fn padded(low: f64, high: f64) -> Scale {
    let room = if high > low { 0.06 * (high - low) } else { 0.5 };
    Scale::Linear { low: low - room, high: high + room }
}

fn is_rate(metric: &str) -> bool {
    matches!(metric, "finish_rate" | "mean_finish_rate" | "utilisation")
}

fn preset_label(preset: &str) -> String {
    match preset {
        "" => "ours".into(),
        "paper" => "paper's settings".into(),
        other => other.into(),
    }
}
