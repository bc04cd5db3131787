//! A page of cells: policies at settings, whatever command ran them.

use super::notes::{distinct, notes_of};
use super::replication::{DEVICES, PEAK};
use orrery_plots::{Picture, PictureKind, RowFilter, axis_of, metric_by_axis, picture};
use orrery_report::figure::figure_of;
use orrery_report::page::{self, Page, Part, TO_KNOW, Tone};
use orrery_results::{Better, Row, better, difference_in, grouped, metric};
use std::collections::BTreeMap;

/// What cells are judged by, the first that they have.
const MAIN: [&str; 4] = [PEAK, DEVICES, metric::FINISH_RATE, metric::GOODPUT];

/// The page of results that no command made just now.
pub fn of_cells(kind: &'static str, title: &str, rows: &[Row]) -> Page {
    let mut page = Page::new(kind, title);
    asked(&mut page, rows);
    verdict(&mut page, rows);
    page.section("Results", page::cells(rows));
    page.section(TO_KNOW, Part::list(notes_of(rows)));
    drawn(page, rows)
}

/// The policies and the settings.
pub fn asked(page: &mut Page, rows: &[Row]) {
    page.ask("policies", distinct(rows.iter().map(|r| r.policy.as_str())).join("\n"));
    let axis = |(name, values): (&str, Vec<&str>)| format!("{name}: {}", values.join(", "));
    page.ask("settings", axes_of(rows).into_iter().map(axis).collect::<Vec<_>>().join("\n"));
}

/// Why cells have no value of what they are judged by, a line each.
pub fn unanswered(rows: &[Row]) -> Vec<String> {
    let main = main_metric(rows);
    let none = |r: &&Row| main == Some(&*r.metric) && r.scope == "all" && r.value.is_none();
    let line = |r: &Row| match r.axes.replace(';', " ") {
        axes if axes.is_empty() => format!("{}: {}", r.policy, r.reason),
        axes => format!("{} at {axes}: {}", r.policy, r.reason),
    };
    rows.iter().filter(none).map(line).collect()
}

/// A document with what only a page shows: the figure first, each cell and each value with its interval last.
pub fn drawn(mut page: Page, rows: &[Row]) -> Page {
    let main = main_metric(rows);
    page.section_first("Figure", main.and_then(|main| figure(rows, main)));
    page.section("Intervals", page::intervals(rows));
    page
}

/// The metric that the rows are judged by.
pub fn main_metric(rows: &[Row]) -> Option<&'static str> {
    let has = |m: &str| rows.iter().any(|r| r.metric == m && r.scope == "all");
    MAIN.into_iter().find(|m| has(m))
}

/// The figure of a metric along the axis that rows have, where there is one.
pub fn figure(rows: &[Row], metric: &str) -> Option<Part> {
    let choice = RowFilter::default();
    // Of several axes the one with the most numbers; the others become panels.
    let longest = || {
        let mut axes = axes_of(rows);
        axes.retain(|a| a.1.len() > 1 && a.1.iter().all(|v| v.parse::<f64>().is_ok()));
        axes.sort_by_key(|a| std::cmp::Reverse(a.1.len()));
        axes.first().map(|a| a.0.to_string())
    };
    let drawn = match axis_of(rows).ok().or_else(longest) {
        Some(x) => metric_by_axis(rows, &x, metric, &choice),
        None => figure_of(rows, &choice),
    };
    let name = metric::words(metric);
    drawn.ok().map(|f| Part::figure(&f, format!("{name} of each policy, by setting.")))
}

/// The finish rate of each policy with its interval, where they can be told apart: no axis from zero on.
pub fn finish_rates(rows: &[Row]) -> Option<Part> {
    let own = rows.iter().filter(|r| r.metric == metric::FINISH_RATE && r.scope == "all");
    // One series: each policy has its own place.
    let at =
        |r: &Row| Row { axes: format!("policy={}", r.policy), system: "value".into(), ..r.clone() };
    let own: Vec<Row> = own.filter(|r| r.versus.is_empty() && r.axes.is_empty()).map(at).collect();
    let ends = own.iter().flat_map(|r| [r.ci95_low, r.value, r.ci95_high]).flatten();
    let (low, high) = ends.fold((1.0_f64, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    if own.len() < 2 || high <= low {
        return None;
    }
    let room = 0.1 * (high - low);
    let of = Picture {
        kind: PictureKind::Bars,
        title: "finish rate of each policy".into(),
        metrics: vec![metric::FINISH_RATE.into()],
        x: "policy".into(),
        panels: Some(Vec::new()),
        y_range: Some(((low - room).max(0.0), (high + room).min(1.0))),
        ..Picture::default()
    };
    let figure = picture(&own, &of, &RowFilter::default()).ok()?;
    let what = "The finish rate of each policy with its 95 % interval.";
    Some(Part::figure(&figure, what))
}

/// Whether two policies differ by more than chance: by their paired difference where there is one, which
/// is sharper, and else by their intervals.
fn are_apart(rows: &[Row], first: &Row, second: &Row) -> Option<bool> {
    let paired = rows.iter().find(|r| {
        let pair = (&*r.policy, &*r.versus);
        difference_in(&r.metric) == Some(&*first.metric)
            && (&r.case, &r.axes) == (&first.case, &first.axes)
            && (pair == (&*first.policy, &*second.policy)
                || pair == (&*second.policy, &*first.policy))
    });
    if let Some(paired) = paired {
        return paired.ci95().map(|(low, high)| low > 0.0 || high < 0.0);
    }
    let ((a, b), (c, d)) = first.ci95().zip(second.ci95())?;
    Some(a > d || b < c)
}

/// Each axis with its values.
fn axes_of(rows: &[Row]) -> Vec<(&str, Vec<&str>)> {
    let settings = rows.chunk_by(|a, b| a.axes == b.axes).map(|rows| &rows[0]);
    grouped(settings.flat_map(Row::axis_list))
}

/// What is compared, in words, and which of its values is best.
struct Compared<'a> {
    rows: &'a [Row],
    metric: &'a str,
    name: &'static str,
    best_is: &'static str,
}

impl<'a> Compared<'a> {
    fn new(rows: &'a [Row], metric: &'a str) -> Compared<'a> {
        let (name, best_is) = match metric {
            PEAK => ("peak goodput (requests/s)", "highest"),
            DEVICES => ("number of devices", "lowest"),
            metric::GOODPUT => ("goodput (requests/s)", "highest"),
            _ => ("finish rate", "highest"),
        };
        Compared { rows, metric, name, best_is }
    }

    /// The rows of the metric over all requests.
    fn own(&self) -> impl Iterator<Item = &'a Row> + '_ {
        let is = |r: &&Row| r.metric == self.metric && r.scope == "all" && r.versus.is_empty();
        self.rows.iter().filter(is)
    }

    /// The rows of each case and its axes.
    fn settings(&self) -> Vec<Vec<&'a Row>> {
        let (mut at, mut settings) = (BTreeMap::new(), Vec::new());
        for r in self.own() {
            let setting = *at.entry((&r.case, &r.axes)).or_insert(settings.len());
            settings.resize_with(settings.len().max(setting + 1), Vec::new);
            settings[setting].push(r);
        }
        settings
    }

    /// The answers at a setting, the best first.
    fn ranked(&self, setting: &[&'a Row]) -> Vec<&'a Row> {
        let sign = if better(self.metric) == Better::Lower { 1.0 } else { -1.0 };
        let mut at: Vec<&Row> = setting.iter().copied().filter(|r| r.value.is_some()).collect();
        let key = |r: &Row| r.value.unwrap_or_default() * sign;
        at.sort_by(|a, b| key(a).total_cmp(&key(b)));
        at
    }

    fn words(&self, r: &Row) -> String {
        let read = |x| page::reading(self.metric, x);
        let value = r.value.map_or(String::new(), read);
        let interval = r
            .ci95()
            .map_or(String::new(), |(a, b)| format!(" (95 % interval {} to {})", read(a), read(b)));
        format!("{value}{interval}")
    }

    fn say_of_one(&self, page: &mut Page, setting: &[&Row]) {
        let (name, best_is) = (self.name, self.best_is);
        match self.ranked(setting).as_slice() {
            [] => page.say(Tone::Mixed, format!("No policy has an answer for the {name}.")),
            [only] => page.say(
                Tone::Plain,
                format!("The {name} of {} is {}.", only.policy, self.words(only)),
            ),
            [first, second, ..] => {
                let text = format!(" has the {best_is} {name}: {}.", self.words(first));
                page.say_of(&first.policy, Tone::Plain, text);
                let told = match are_apart(self.rows, first, second) {
                    Some(false) => "; these runs do not separate the two",
                    Some(true) => "; the difference is clear at 95 %",
                    None => "",
                };
                let (policy, words) = (&second.policy, self.words(second));
                let [ours, theirs] = [first, second].map(|r| r.value.unwrap_or(f64::NAN));
                let next = match [ours, theirs].map(|v| page::reading(self.metric, v)) {
                    [a, b] if a == b => format!("{policy} has the same, {words}"),
                    _ => {
                        let lead = page::reading(self.metric, (ours - theirs).abs());
                        format!("It leads {policy}, {words}, by {lead}")
                    }
                };
                page.say(Tone::Plain, format!("{next}{told}."));
            }
        }
    }

    fn say_of_many(&self, page: &mut Page, settings: &[Vec<&Row>]) {
        let (name, n) = (self.name, settings.len());
        if distinct(self.rows.iter().map(|r| r.policy.as_str())).len() > 1 {
            let mut wins: Vec<(&str, usize)> = Vec::new();
            for setting in settings {
                let who = match self.ranked(setting).as_slice() {
                    [] => continue,
                    [first, second, ..] if first.value == second.value => "several alike",
                    [first, ..] => &first.policy,
                };
                match wins.iter_mut().find(|w| w.0 == who) {
                    Some(w) => w.1 += 1,
                    None => wins.push((who, 1)),
                }
            }
            wins.sort_by_key(|w| std::cmp::Reverse(w.1));
            let words: Vec<String> = wins.iter().map(|(who, n)| format!("{who} in {n}")).collect();
            let best_is = self.best_is;
            let leads = settings.iter().filter_map(|s| match self.ranked(s).as_slice() {
                [first, second, ..] => are_apart(self.rows, first, second),
                _ => None,
            });
            let leads: Vec<bool> = leads.collect();
            let clear = match leads.iter().filter(|clear| **clear).count() {
                _ if leads.is_empty() => String::new(),
                clear => format!("; its lead over the next is clear at 95 % in {clear}"),
            };
            let text =
                format!("The {best_is} {name} in {n} settings: {}{clear}.", words.join(", "));
            return page.say(Tone::Plain, text);
        }
        let values = || self.own().filter_map(|r| r.value);
        let read = |x: Option<f64>| x.map_or(String::new(), |x| page::reading(self.metric, x));
        let (least, most) = (read(values().reduce(f64::min)), read(values().reduce(f64::max)));
        let n = values().count();
        page.say(Tone::Plain, format!("The {name} is from {least} to {most} in {n} settings."));
    }
}

/// Who is best, in a sentence.
pub fn verdict(page: &mut Page, rows: &[Row]) {
    let Some(main) = main_metric(rows) else { return };
    let compared = Compared::new(rows, main);
    match compared.settings().as_slice() {
        [] => {}
        [one] => compared.say_of_one(page, one),
        many => compared.say_of_many(page, many),
    }
    let without = compared.own().filter(|r| r.value.is_none()).count();
    if without > 0 {
        let all = compared.own().count();
        page.say(
            Tone::Mixed,
            format!("{without} of {all} searches or runs have no answer; the reasons are below."),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_several_lead_alike_is_counted_for_none_of_them() {
        let row = |axes: &str, policy: &str, value| Row {
            axes: axes.into(),
            policy: policy.into(),
            metric: metric::FINISH_RATE.into(),
            scope: "all".into(),
            value: Some(value),
            ..Row::default()
        };
        let rows = [
            row("x=1", "a", 1.0),
            row("x=1", "b", 1.0),
            row("x=2", "a", 0.5),
            row("x=2", "b", 0.6),
        ];
        let mut page = Page::new("sweep", "");
        verdict(&mut page, &rows);
        let text = page.to_text();
        assert!(text.contains("in 2 settings: several alike in 1, b in 1"), "{text}");
    }
}
