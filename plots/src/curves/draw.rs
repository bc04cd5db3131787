//! From sorted rows to panels, axes and the legend.

use super::{At, Curves, METRIC, SIMULATED, panel_key};
use crate::error::distinct;
use crate::flags;
use crate::legend::{Key, Legend};
use crate::names::{self, Named};
use crate::panel::{Axis, Mark, Panel};
use crate::scale::{Scale, Tick, log_ticks_at, range, ticks_at};
use crate::scene::{Color, Stroke};
use crate::sheet::{Sheet, grid_for};
use crate::spec::{AskedRange, Picture, PictureKind, Prepared, Spacing, Steps, is_same_value};
use crate::style::{Fill, Shape, Style};
use orrery_results::{Row, metric};

/// An axis with what its values are divided by.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    pub named: Named,
    pub scale: Scale,
    pub ticks: Vec<Tick>,
    /// The values along x, where they are equally far apart whatever they are.
    pub even: Vec<f64>,
}

impl Ruler {
    pub(super) fn axis(&self) -> Axis {
        Axis { label: self.named.label.clone(), scale: self.scale, ticks: self.ticks.clone() }
    }

    /// Where a value is drawn, in the axis's units.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = value / self.named.divisor;
        self.even.iter().position(|v| *v == value).map_or(value, |i| i as f64)
    }
}

/// Points of a curve that get markers; more are a line already.
const MARKERS_MAX: usize = 40;
/// A bound that is so near the end of its axis, as a share of it, excludes nothing.
const AT_THE_END: f64 = 0.03;
/// So many quantiles show a distribution's course.
const QUANTILES_JOINED: usize = 5;
/// The axis grows by so much of what came out, at most, for what is asked.
const ASKED_ROOM: f64 = 0.3;
/// Dashes of the lines that cross a panel.
const CROSSING: [&[f64]; 4] = [&[6.0, 3.0], &[2.0, 2.0], &[9.0, 2.5, 2.0, 2.5], &[1.2, 3.0]];

impl<'a> Curves<'a> {
    /// The figure before its layout.
    pub(super) fn sheet(&self, axis: &str, p: &Picture, more: &Prepared) -> Sheet {
        let x = self.x_axis(axis, p);
        let panel = |key: &Vec<String>| {
            let inside = self.inside(key);
            let y = self.y_axis(key, p, more);
            self.panel(key, &inside, &x, &y, (p, more))
        };
        let panels: Vec<Panel> = self.panels.iter().map(panel).collect();
        let (columns, plot) = match (p.columns, self.panels.len()) {
            (0, n) => grid_for(n),
            (1, n) if n > 1 => (1, (560.0, 128.0)),
            (columns, n) => (columns, grid_for(n).1),
        };
        let by = format!("{} by {}", plain_name(&panels[0].y.label), plain_name(&x.named.label));
        let mut notes = self.notes(p, more);
        let of_log = |key: &Vec<String>| {
            let log = matches!(self.y_axis(key, p, more).scale, Scale::Log { .. });
            let zero = |x: &At<'_>| x.row.value.is_some_and(|v| v <= 0.0);
            if log { self.inside(key).iter().filter(|x| zero(x)).count() } else { 0 }
        };
        let zeros: usize = self.panels.iter().map(of_log).sum();
        if zeros > 0 {
            notes.push(format!("{zeros} zeros are drawn at the end of the logarithmic axis."));
        }
        if let Some((low, high)) = p.y_range {
            let outside = |v: f64| v < low || v > high;
            let values = self.points.iter().filter_map(|p| p.row.value);
            let count = values.filter(|v| outside(*v)).count();
            if count > 0 {
                notes.push(format!("{count} values outside the y axis are drawn at its end."));
            }
        }
        Sheet {
            title: self.title(p, &by),
            subtitle: self.subtitle(p),
            panels,
            columns,
            plot,
            wrap_x: false,
            share_x: true,
            share_y: self.shares_y(p),
            legend: self.with_crossing(self.legend(p), p, more),
            notes,
        }
    }

    pub(super) fn title(&self, p: &Picture, by: &str) -> String {
        let experiments = distinct(self.points.iter().map(|p| p.row.experiment.as_str()));
        if p.title.is_empty() {
            return format!("{}: {by}", experiments.join(", "));
        }
        p.title.clone()
    }

    pub(super) fn subtitle(&self, p: &Picture) -> String {
        let common: Vec<String> = self.common.clone();
        let source = (!p.source.is_empty()).then(|| p.source.clone());
        let common: Vec<String> = source.into_iter().chain(common).collect();
        let rows: Vec<&Row> = self.points.iter().map(|p| p.row).collect();
        if let Some((low, high)) = &p.interval {
            let words = |m: &str| names::metric(m, "", 0.0).label;
            let whiskers = format!("bars: from {} to {}", words(low), words(high));
            return flags::subtitle(&[common, vec![whiskers]].concat(), &[]);
        }
        flags::subtitle(&common, &rows)
    }

    pub(super) fn notes(&self, p: &Picture, more: &Prepared) -> Vec<String> {
        let rows: Vec<&Row> =
            self.points.iter().map(|p| p.row).chain(&more.without_place).collect();
        let of = |key: &Vec<String>| {
            let y = self.y_axis(key, p, more);
            self.asked(key, more).filter(|a| seen(a, &y) == Seen::Beyond).count()
        };
        let beyond: usize = self.panels.iter().map(of).sum();
        let is_bars = p.kind == PictureKind::Bars;
        let (before, after) = if is_bars { ("?: the", " is") } else { ("No", ",") };
        let mut notes = flags::notes(&rows, &format!("{before} {} value{after}", self.beside));
        if beyond > 0 {
            notes.push(format!("Claimed values beyond the y axis: {beyond}."));
        }
        notes
    }

    /// Whether all panels have the same y axis.
    pub(super) fn shares_y(&self, p: &Picture) -> bool {
        !p.own_y && self.metrics.len() < 2
    }

    /// The points of a panel.
    pub(super) fn inside(&self, key: &[String]) -> Vec<At<'a>> {
        let here = |p: &&At<'a>| panel_key(p.row, &self.differing) == key;
        self.points.iter().filter(here).copied().collect()
    }

    /// The rows of systems that cross a panel: those that agree with its key as far as they go.
    fn crossing(&self, key: &[String], p: &Picture, more: &Prepared) -> Vec<(String, f64)> {
        let fits = |row: &Row| {
            let own = panel_key(row, &self.differing);
            own.iter().zip(key).all(|(a, b)| a == b || a.is_empty())
        };
        let of = |name: &String| {
            let row = more.lines.iter().find(|r| r.system == *name && fits(r))?;
            Some((name.clone(), row.finite()?))
        };
        let mut out: Vec<(String, f64)> = p.lines.iter().filter_map(of).collect();
        out.extend(p.levels.iter().cloned());
        if !more.over.is_empty() {
            let given = p.names.iter().find(|n| n.0 == more.over);
            out.push((format!("{} = 1", given.map_or(&more.over, |n| &n.1)), 1.0));
        }
        out
    }

    /// The look of a line that crosses panels.
    fn crossing_stroke(&self, name: &str, p: &Picture, more: &Prepared) -> Stroke {
        let levels = p.levels.iter().map(|l| &l.0);
        let at = p.lines.iter().chain(levels).position(|n| n == name);
        let width = if more.over.is_empty() || at.is_some() { 1.4 } else { 1.0 };
        Stroke { color: Color::BLACK, width, dash: at.map_or(&[], |i| CROSSING[i % 4]) }
    }

    /// The marks of the lines that cross a panel.
    pub(super) fn crossing_marks(
        &self,
        key: &[String],
        y: &Ruler,
        (p, more): (&Picture, &Prepared),
    ) -> Vec<Mark> {
        let mark = |(name, value): (String, f64)| Mark::Horizontal {
            y: value / y.named.divisor,
            stroke: self.crossing_stroke(&name, p, more),
        };
        self.crossing(key, p, more).into_iter().map(mark).collect()
    }

    /// What is asked of the values of a panel, with the series.
    pub(super) fn asked<'b>(
        &'b self,
        key: &'b [String],
        more: &'b Prepared,
    ) -> impl Iterator<Item = &'b AskedRange> {
        let is_drawn = move |a: &&AskedRange| {
            let own = panel_key(&a.row, &self.differing);
            own == key && self.points.iter().any(|p| is_place_of(&a.row, p.row))
        };
        more.asked.iter().filter(is_drawn)
    }

    /// The legend with keys for what is asked of values and for each line that crosses panels.
    pub(super) fn with_crossing(&self, legend: Legend, p: &Picture, more: &Prepared) -> Legend {
        let all = self.panels.iter().flat_map(|key| self.crossing(key, p, more)).map(|l| l.0);
        let key = |n: String| (n.clone(), Key::Line(self.crossing_stroke(&n, p, more)));
        let mut keys: Vec<(String, Key)> = distinct(all).into_iter().map(key).collect();
        keys.extend(self.asked_keys(p, more));
        match (legend, keys.is_empty()) {
            (legend, true) => legend,
            (Legend::Flow(mut entries), _) => {
                entries.extend(keys);
                Legend::Flow(entries)
            }
            (other, _) => Legend::Stack(vec![other, Legend::Flow(keys)]),
        }
    }

    /// Settings by name, so that `paper` is not read as the paper's numbers.
    fn preset_label(&self, preset: &str) -> String {
        match (self.given.iter().find(|n| n.0 == preset), preset) {
            (Some((_, words)), _) => words.clone(),
            (None, "") => SIMULATED.into(),
            (None, other) => format!("{SIMULATED} (preset {other})"),
        }
    }

    /// Keys for what is asked of values, of each form that is drawn.
    fn asked_keys(&self, p: &Picture, more: &Prepared) -> Vec<(String, Key)> {
        let shown = self.panels.iter().flat_map(|key| {
            let y = self.y_axis(key, p, more);
            self.asked(key, more).filter(move |a| seen(a, &y) == Seen::Shown)
        });
        let forms = distinct(shown.map(|a| (a.low.is_finite(), a.high.is_finite())));
        let all = [
            ((true, true), "range"),
            ((true, false), "lower bound"),
            ((false, true), "upper bound"),
        ];
        let drawn = all.into_iter().filter(|(form, _)| forms.contains(form));
        let key = |(i, ((low, high), words)): (usize, ((bool, bool), &str))| {
            let by = if i == 0 { " claimed in the paper" } else { "" };
            (format!("{words}{by}"), Key::Asked { low, high })
        };
        drawn.enumerate().map(key).collect()
    }

    fn x_axis(&self, axis: &str, p: &Picture) -> Ruler {
        let largest = self.points.iter().map(|p| p.x.abs()).fold(0.0, f64::max);
        let mut named = names::axis(axis, largest);
        if p.kind == PictureKind::Shares {
            let unit = p.metrics.first().map_or("", |m| orrery_results::unit(m));
            named = names::metric(&p.metrics[0], unit, largest);
        }
        if !p.x_label.is_empty() {
            named.label.clone_from(&p.x_label);
        }
        let mut values = distinct(self.points.iter().map(|p| p.x / named.divisor));
        values.sort_by(f64::total_cmp);
        if p.x_scale == Some(Spacing::Even) {
            let tick = |(i, v): (usize, &f64)| Tick { at: i as f64, label: names::plain(*v) };
            let ticks = values.iter().enumerate().map(tick).collect();
            let scale = padded(0.0, values.len() as f64 - 1.0);
            return Ruler { named, scale, ticks, even: values };
        }
        let all = || values.iter().copied();
        let scale = match p.x_scale {
            Some(Spacing::Log) => Scale::log(all()),
            Some(_) => padded(values[0], values[values.len() - 1]),
            None if grows_by_ratio(&values) => Scale::log(all()),
            None => match Scale::around(all()) {
                Scale::Linear { .. } => padded(values[0], values[values.len() - 1]),
                log => log,
            },
        };
        // A sweep's own values are the best ticks while they are few.
        let ticks = if values.len() <= 9 && p.kind != PictureKind::Shares {
            match scale {
                Scale::Log { .. } => log_ticks_at(&values),
                _ => ticks_at(&values),
            }
        } else {
            scale.ticks(6)
        };
        Ruler { named, scale, ticks, even: Vec::new() }
    }

    /// The y axis of a panel: of its metric, or its own.
    pub(super) fn y_axis(&self, key: &[String], p: &Picture, more: &Prepared) -> Ruler {
        let at = self.differing.iter().position(|d| d == METRIC);
        let metric = at.map_or(self.metrics[0].as_str(), |i| &key[i]);
        let here =
            |r: &Row| r.metric == metric && (!p.own_y || panel_key(r, &self.differing) == key);
        let own: Vec<&Row> = self.points.iter().map(|p| p.row).filter(|r| here(r)).collect();
        let of_row = |r: &Row| {
            let (low, high) = r.ci95().unzip();
            [r.value, low, high, r.paper.filter(|_| self.paper)]
        };
        let mut values: Vec<f64> = own.iter().flat_map(|r| of_row(r)).flatten().collect();
        let keys: &[Vec<String>] = &self.panels;
        for key in keys.iter().filter(|k| !p.own_y || k.as_slice() == key) {
            values.extend(self.crossing(key, p, more).iter().map(|l| l.1));
        }
        // What is asked has room where it is near what came out: far away, it would flatten what did.
        let (least, most) = range(values.iter().copied());
        let room = ASKED_ROOM * (most - least);
        for key in keys.iter().filter(|k| !p.own_y || k.as_slice() == key) {
            let asked = self.asked(key, more).filter(|a| here(&a.row));
            let ends = asked.flat_map(|a| [a.low, a.high]);
            values.extend(ends.filter(|end| (least - room..=most + room).contains(end)));
        }
        let largest = values.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let mut named = names::metric(metric, &own[0].unit, largest);
        if !more.over.is_empty() {
            named.label = format!("{}, relative to {}", plain_name(&named.label), more.over);
        }
        if !p.y_label.is_empty() && self.metrics.len() < 2 {
            named.label.clone_from(&p.y_label);
        }
        let ruler = |scale: Scale, ticks: Vec<Tick>| Ruler {
            named: named.clone(),
            scale,
            ticks,
            even: Vec::new(),
        };
        let divided = || values.iter().map(|v| v / named.divisor);
        let log = p.y_scale == Some(Spacing::Log) || (p.y_scale.is_none() && is_bad_rate(metric));
        if let Some((low, high)) = p.y_range.filter(|_| self.metrics.len() < 2) {
            let scale = match log {
                true if low > 0.0 => Scale::Log { low, high },
                _ => Scale::Linear { low, high },
            };
            return ruler(scale, scale.ticks(6));
        }
        if log && divided().any(|v| v > 0.0) {
            let scale = Scale::log(divided());
            return ruler(scale, scale.ticks(6));
        }
        let share = p.kind == PictureKind::Shares;
        if share || (is_rate(metric) && more.over.is_empty() && p.y_scale.is_none()) {
            let scale = Scale::Linear { low: -0.03, high: 1.03 };
            return ruler(scale, Scale::Linear { low: 0.0, high: 1.0 }.ticks(5));
        }
        let scale = match p.y_scale {
            Some(_) => Scale::linear(divided()),
            None if p.kind == PictureKind::Bars => from_zero(divided()),
            None => Scale::around(divided().collect::<Vec<_>>().into_iter()),
        };
        let counts = metric.starts_with("batch_size") || own[0].unit == "devices";
        ruler(scale, if counts { scale.whole_ticks(6) } else { scale.ticks(6) })
    }

    pub(super) fn panel_title(&self, key: &[String]) -> String {
        let parts = key.iter().zip(&self.differing).filter(|(w, d)| !w.is_empty() && *d != METRIC);
        let title = parts.map(|(w, _)| w.as_str()).collect::<Vec<_>>().join(" · ");
        let rows: Vec<&Row> = self.inside(key).iter().map(|p| p.row).collect();
        match !title.is_empty() && flags::is_withheld(&rows) {
            true => format!("{title} ({}: withheld)", self.beside),
            false => title,
        }
    }

    fn panel(
        &self,
        key: &[String],
        inside: &[At<'a>],
        x: &Ruler,
        y: &Ruler,
        (p, more): (&Picture, &Prepared),
    ) -> Panel {
        let mut marks = self.crossing_marks(key, y, (p, more));
        if self.paper_once {
            self.paper_marks(|_| true, paper_once(), inside, (x, y), &mut marks);
        } else if self.paper {
            for name in &self.names {
                let style = self.style(name, "").paper();
                self.paper_marks(|r| self.name(r) == name, style, inside, (x, y), &mut marks);
            }
        }
        for preset in self.presets.iter().rev() {
            for name in &self.names {
                let of = |p: &&At<'a>| self.series(p.row) == (name.as_str(), preset.as_str());
                let mut own: Vec<At<'a>> = inside.iter().filter(of).copied().collect();
                let value = |p: &At<'_>| p.row.value.unwrap_or(0.0);
                own.sort_by(|a, b| a.x.total_cmp(&b.x).then(value(a).total_cmp(&value(b))));
                let star = is_star(name, p);
                // A few quantiles are no distribution: no line says what lies between them.
                let few = p.kind == PictureKind::Shares && own.len() < QUANTILES_JOINED;
                let line = match (star || few || is_apart(name, p), p.steps.has(name)) {
                    (true, _) => Joined::Not,
                    (false, true) if p.steps == Steps::All => Joined::OverParts,
                    (false, true) => Joined::BySteps,
                    (false, false) if is_level(&own) => Joined::BySteps,
                    (false, false) => Joined::Straight,
                };
                let style = self.style(name, preset);
                let style = if star { style.star() } else { style };
                let radius = star.then_some(if own.len() > 6 { 3.4 } else { 5.0 });
                series_marks(&own, (style, radius), (x, y), line, &mut marks);
            }
        }
        let ranges = self.asked(key, more).filter_map(|a| {
            let at = a.row.axis(&more.x)?.parse().ok()?;
            let by = y.named.divisor;
            // Of several series, whose it is.
            let point = inside.iter().find(|p| is_place_of(&a.row, p.row))?;
            let color = match self.names.len() {
                1 => Color::BLACK,
                _ => self.style(self.name(point.row), &point.row.preset).color,
            };
            (seen(a, y) == Seen::Shown).then_some(((x.at(at), a.low / by, a.high / by), color))
        });
        marks.push(Mark::Asked(ranges.collect()));
        let here = |(px, py, _): &&(f64, f64, String)| {
            inside.iter().any(|p| p.x == *px && p.row.value == Some(*py))
        };
        let words = p.words.iter().filter(here);
        let words = words.map(|(px, py, word)| ((x.at(*px), py / y.named.divisor), word.clone()));
        marks.push(Mark::Words(words.collect()));
        Panel { title: self.panel_title(key), x: x.axis(), y: y.axis(), marks }
    }

    /// The paper's curve for a system: once, whatever presets stand beside it. Ours lies on top.
    fn paper_marks(
        &self,
        is_own: impl Fn(&'a Row) -> bool,
        style: Style,
        inside: &[At<'a>],
        (x, y): (&Ruler, &Ruler),
        marks: &mut Vec<Mark>,
    ) {
        let own = inside.iter().filter(|p| is_own(p.row));
        let place = |p: &At<'a>| Some((x.at(p.x), p.row.paper? / y.named.divisor));
        let mut points: Vec<(f64, f64)> = own.filter_map(place).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        let places: Vec<_> = points.iter().map(|p| (*p, false)).collect();
        // A ring around ours, where it would be hidden.
        let radius = if self.paper_once || places.len() == 1 { 5.0 } else { 3.2 };
        marks.push(Mark::Line { points, stroke: style.stroke });
        marks.push(Mark::Markers { points: places, style, radius });
    }

    fn legend(&self, p: &Picture) -> Legend {
        let one = self.presets.len() == 1 || self.presets_are_systems();
        let paper = self.paper && !self.paper_once;
        if one && !paper {
            // One curve without a name needs no key.
            if self.names.len() == 1 && (self.names[0] == "value" || !p.title.is_empty()) {
                return Legend::Flow(Vec::new());
            }
            let key = |n: &String| match is_star(n, p) {
                true => (self.called(n), Key::Marker(self.style_of(n).star())),
                false if is_apart(n, p) => (self.called(n), Key::Marker(self.style_of(n))),
                false if p.steps == Steps::All || self.is_dense(n) => {
                    (self.called(n), Key::Line(self.style_of(n).stroke))
                }
                false if self.is_points(n) || self.is_few(n, p) => {
                    (self.called(n), Key::Marker(self.style_of(n)))
                }
                false => (self.called(n), Key::Series(self.style_of(n))),
            };
            let once = self.paper_once.then(|| (self.beside.clone(), Key::Series(paper_once())));
            return Legend::Flow(self.names.iter().map(key).chain(once).collect());
        }
        let mut columns: Vec<String> = match self.presets.as_slice() {
            _ if one => vec![SIMULATED.to_string()],
            several => several.iter().map(|p| self.preset_label(p)).collect(),
        };
        if self.paper {
            columns.push(self.beside.clone());
        }
        let row = |name: &String| {
            let has = |p: &String| {
                let found = self.points.iter().any(|x| self.series(x.row) == (name, p));
                found.then(|| Key::Series(self.style(name, p)))
            };
            let mut keys: Vec<Option<Key>> = match one {
                true => vec![Some(Key::Series(self.style_of(name)))],
                false => self.presets.iter().map(has).collect(),
            };
            if self.paper {
                let mut own = self.points.iter().filter(|p| self.name(p.row) == name);
                let known = own.any(|p| p.row.paper.is_some());
                keys.push(known.then(|| Key::Series(self.style(name, "").paper())));
            }
            (self.called(name), keys)
        };
        Legend::Table { columns, rows: self.names.iter().map(row).collect() }
    }

    /// Whether each system has one preset only, so that its name says enough.
    fn presets_are_systems(&self) -> bool {
        let series = distinct(self.points.iter().map(|x| self.series(x.row)));
        self.names.iter().all(|n| series.iter().filter(|s| s.0 == n).count() == 1)
    }

    /// Whether the curves of a series have too many points for markers, in every panel.
    fn is_dense(&self, name: &str) -> bool {
        let of = |key: &Vec<String>| {
            self.inside(key).iter().filter(|x| self.name(x.row) == name).count()
        };
        let mut counts = self.panels.iter().map(of).filter(|n| *n > 0);
        counts.all(|n| n > MARKERS_MAX)
    }

    /// Whether a series is no more than a point in each panel.
    fn is_points(&self, name: &str) -> bool {
        let own = self.points.iter().filter(|x| self.name(x.row) == name);
        let keys: Vec<Vec<String>> = own.map(|x| panel_key(x.row, &self.differing)).collect();
        let longest = self.panels.iter().map(|k| self.inside(k).len()).max().unwrap_or(0);
        longest > self.names.len() && distinct(keys.iter()).len() == keys.len()
    }

    /// Whether a series has too few quantiles for a line, in every panel.
    fn is_few(&self, name: &str, p: &Picture) -> bool {
        let of = |key: &Vec<String>| {
            self.inside(key).iter().filter(|x| self.name(x.row) == name).count()
        };
        p.kind == PictureKind::Shares && self.panels.iter().all(|k| of(k) < QUANTILES_JOINED)
    }

    /// The style of a system of one preset.
    fn style_of(&self, name: &str) -> Style {
        let own = self.points.iter().find(|x| self.name(x.row) == name);
        self.style(name, own.map_or("", |x| x.row.preset.as_str()))
    }
}

/// Whether a range is asked of the value in a row's place. Where the paper prints a number, that stands there.
pub(super) fn is_place_of(asked: &Row, row: &Row) -> bool {
    row.paper.is_none() && is_same_value(asked, row)
}

/// What an axis shows of a range that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// It stands beside its value.
    Shown,
    /// No value on the axis is within it.
    Beyond,
    /// Every value on the axis is within it: its only bound lies outside.
    All,
}

/// What an axis shows of a range.
pub(super) fn seen(asked: &AskedRange, y: &Ruler) -> Seen {
    let ends = [asked.low, asked.high].map(|end| end / y.named.divisor);
    let [low, high] = ends.map(|end| y.scale.share(end));
    let is_inside = |share: f64| share > 0.0 && share < 1.0;
    match (asked.low.is_finite(), asked.high.is_finite()) {
        (true, false) if low > 0.0 && low <= AT_THE_END => Seen::All,
        (true, false) if is_inside(low) => Seen::Shown,
        (false, true) if is_inside(high) => Seen::Shown,
        (true, false) => {
            if low >= 1.0 {
                Seen::Beyond
            } else {
                Seen::All
            }
        }
        // A bound at the axis's own end: "at most 0".
        (false, true) if high <= 0.0 && ends[1] >= y.scale.low() => Seen::All,
        (false, true) => {
            if high <= 0.0 {
                Seen::Beyond
            } else {
                Seen::All
            }
        }
        _ if high <= 0.0 || low >= 1.0 => Seen::Beyond,
        _ => Seen::Shown,
    }
}

/// Whether a series is of starred points, which are no curve.
fn is_star(name: &str, p: &Picture) -> bool {
    !p.star.is_empty() && name == p.star
}

/// Whether the figure asks that nothing joins the points of a series.
fn is_apart(name: &String, p: &Picture) -> bool {
    p.joined.as_ref().is_some_and(|joined| !joined.contains(name))
}

/// How the points of a series are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Not,
    Straight,
    BySteps,
    /// By steps, each as long as its part of the time.
    OverParts,
}

/// The look of the paper's numbers where they are the same for all systems.
fn paper_once() -> Style {
    let stroke = Stroke { color: Color::BLACK, width: 0.9, dash: &[1.2, 2.0] };
    Style { color: Color::BLACK, shape: Shape::Circle, fill: Fill::Hollow, stroke }
}

/// Whether a curve of many points is of levels, each of two points at least: the slope between two would be made up.
fn is_level(own: &[At<'_>]) -> bool {
    let value = |p: &At<'_>| p.row.value.unwrap_or_default();
    let is_same = |a: &At<'_>, b: &At<'_>| (value(a) - value(b)).abs() <= 1e-9 * value(a).abs();
    let is_flat = |w: &[At<'_>]| is_same(&w[0], &w[1]) || is_same(&w[1], &w[2]);
    own.len() > MARKERS_MAX && own.windows(3).all(is_flat)
}

fn series_marks(
    own: &[At<'_>],
    (style, radius): (Style, Option<f64>),
    (x, y): (&Ruler, &Ruler),
    joined: Joined,
    marks: &mut Vec<Mark>,
) {
    let by = y.named.divisor;
    let place = |p: &At<'_>| Some((x.at(p.x), p.row.value? / by));
    let interval = |p: &At<'_>| p.row.ci95().map(|(a, b)| (x.at(p.x), a / by, b / by));
    // No line across a point that has no answer.
    for piece in own.split(|p| p.row.value.is_none()).filter(|_| joined != Joined::Not) {
        let points: Vec<(f64, f64)> = piece.iter().filter_map(place).collect();
        let points = match (joined, points.as_slice()) {
            (Joined::OverParts, [.., a, b]) => {
                stepped(&[&points[..], &[(2.0 * b.0 - a.0, b.1)]].concat())
            }
            (Joined::BySteps, _) => stepped(&points),
            _ => points,
        };
        marks.push(Mark::Line { points, stroke: style.stroke });
    }
    marks.push(Mark::Intervals {
        at: own.iter().filter_map(interval).collect(),
        color: style.color,
    });
    let points: Vec<_> =
        own.iter().filter_map(|p| Some((place(p)?, flags::crossed(p.row)))).collect();
    let radius = match (radius, own.len()) {
        (Some(radius), _) => Some(radius),
        // A single point must be seen among curves.
        (None, 1) => Some(5.5),
        (None, n) if joined == Joined::OverParts || (joined != Joined::Not && n > MARKERS_MAX) => {
            None
        }
        (None, n) if n > 24 => Some(2.0),
        _ => Some(3.6),
    };
    marks.push(match radius {
        Some(radius) => Mark::Markers { points, style, radius },
        None => Mark::Crosses(points.into_iter().filter(|p| p.1).map(|p| p.0).collect()),
    });
}

/// The corners of a line that keeps each point's value until the next.
fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let corner = |pair: &[(f64, f64)]| [(pair[1].0, pair[0].1), pair[1]];
    let first = points.first().copied();
    first.into_iter().chain(points.windows(2).flat_map(corner)).collect()
}

/// A label without its unit.
fn plain_name(label: &str) -> String {
    label.split(" (").next().unwrap_or_default().to_string()
}

fn padded(low: f64, high: f64) -> Scale {
    let room = if high > low { 0.06 * (high - low) } else { 0.5 };
    Scale::Linear { low: low - room, high: high + room }
}

/// A scale for bars: they begin at zero.
fn from_zero(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = range(values.chain([0.0]));
    let room = if high > low { 0.06 * (high - low) } else { 0.5 };
    Scale::Linear { low: if low < 0.0 { low - room } else { 0.0 }, high: high + room }
}

/// Whether values over a decade or more were chosen by ratios rather than by steps.
fn grows_by_ratio(values: &[f64]) -> bool {
    let (low, high) = (values[0], values[values.len() - 1]);
    if values.len() < 4 || low <= 0.0 || high < 10.0 * low {
        return false;
    }
    let gaps = values.windows(2).map(|w| w[1] - w[0]);
    let (least, most) = range(gaps);
    most >= 8.0 * least && values.len() <= 24
}

fn is_rate(metric: &str) -> bool {
    matches!(metric, metric::FINISH_RATE | metric::MEAN_FINISH_RATE | metric::UTILISATION)
}

/// Shares of which the small values matter.
fn is_bad_rate(metric: &str) -> bool {
    matches!(metric, metric::BAD_RATE | metric::WORST_BAD_RATE)
}

#[cfg(test)]
mod tests {
    use super::stepped;

    #[test]
    fn a_step_keeps_its_value_until_the_next_point() {
        let corners = stepped(&[(1.0, 5.0), (3.0, 7.0), (4.0, 9.0)]);
        assert_eq!(corners, [(1.0, 5.0), (3.0, 5.0), (3.0, 7.0), (4.0, 7.0), (4.0, 9.0)]);
        assert_eq!((stepped(&[(1.0, 5.0)]), stepped(&[])), (vec![(1.0, 5.0)], vec![]));
    }
}
