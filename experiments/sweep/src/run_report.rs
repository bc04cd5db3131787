//! The policies of a scenario beside each other, for reading.
//!
//! It formats; `scenario_cell` computes.

use super::advice::Advice;
use super::notes::notes_of_run;
use super::page::{asked, unanswered, verdict};
use super::rows::which_seeds;
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table, reading};
use orrery_results::metric::{self, Column, Metric};
use orrery_results::{Flags, Row, difference_in};
use orrery_scenario::scenario::Scenario;
use orrery_sim::request::End;

/// Models and applications are shown where their finish rate is further from that of all than this.
const DIFFERS: f64 = 0.02;

/// Up to so many devices are shown one by one.
const EACH: usize = 64;

/// The document of a run: a line for each policy, its finish rate with the interval and the difference from
/// the first policy's; models and applications where they differ, or all of them with `details`; and what
/// each run says about the number of its devices, where that did not change. A text has how busy devices were and how
/// requests ended with `details`, and never what was asked: a page has all.
pub fn of_run(scenario: &Scenario, rows: &[Row], details: bool) -> Page {
    let mut page = Page::new("run", &scenario.name);
    page.subtitle = which_seeds(rows);
    page.asked_on_page_alone = true;
    asked(&mut page, rows);
    let devices: u32 = scenario.file.device.iter().map(|d| d.count).sum();
    page.ask("devices", devices.to_string());
    page.ask("models", scenario.model_names().join(", "));
    verdict(&mut page, rows);
    let with_details = |points: Vec<String>| {
        let parts = Vec::from_iter(Part::list(points));
        match details || parts.is_empty() {
            true => parts,
            false => vec![Part::Views { page: parts, text: Vec::new() }],
        }
    };
    page.section("Results", by_policy(rows).part());
    page.section("No answer", Part::list(unanswered(rows)));
    let several = page.subtitle.starts_with("seeds");
    let a_run = if several { ", requests of a run in the mean" } else { "" };
    page.section(&format!("Missed deadlines{a_run}"), with_details(ends(rows)));
    let which = if details { "" } else { " that differ from the whole" };
    page.section(&format!("Models and applications{which}"), scopes(rows, details).part());
    page.section("How busy devices were", with_details(busy(rows)));
    page.section("Devices", Part::list(devices_of(rows)));
    page.section(TO_KNOW, Part::list(notes_of_run(scenario, rows)));
    page
}

fn cells(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|a, b| a.axes == b.axes && a.policy == b.policy)
}

fn find<'a>(cell: &'a [Row], scope: &str, metric: &str) -> Option<&'a Row> {
    cell.iter().find(|r| r.scope == scope && r.metric == metric && r.versus.is_empty())
}

/// A number with these digits, in the metric's unit for readers, and a mark where there are too few samples.
fn plain(row: Option<&Row>, digits: usize) -> Field {
    let Some((row, value)) = row.and_then(|r| Some((r, r.value?))) else { return Field::none() };
    let flag = if row.has_flag(Flags::FEW_SAMPLES) { "?" } else { "" };
    let read = value / metric::reading(&row.metric).divisor;
    Field::number(value, format!("{flag}{read:.digits$}"))
}

/// The same with its interval.
fn with_interval(row: Option<&Row>, digits: usize) -> Field {
    let interval = row.and_then(Row::ci95);
    let words = interval.map(|(low, high)| format!("{low:.digits$} to {high:.digits$}"));
    plain(row, digits).with(words.unwrap_or_default())
}

fn difference(cell: &[Row]) -> Field {
    let row = cell.iter().find(|r| difference_in(&r.metric).is_some());
    let Some(row) = row else { return Field::default() };
    match row.value {
        None => Field::none(),
        Some(x) => {
            let words = row.ci95().map(|(low, high)| format!("{low:+.4} to {high:+.4}"));
            Field::number(x, format!("{x:+.4}")).with(words.unwrap_or_default())
        }
    }
}

/// A line for each policy.
fn by_policy(rows: &[Row]) -> Table {
    let versus = rows.iter().find(|r| difference_in(&r.metric).is_some());
    let less = versus.map(|row| format!("vs. {}", row.versus));
    let costs = rows.iter().any(|r| r.metric == metric::MEAN_COST);
    let bounds = rows.iter().any(|r| r.metric == metric::FINISH_RATE_BOUND);
    let columns: Vec<(&Metric, Column)> =
        metric::all().iter().filter_map(|m| Some((m, m.run?))).collect();
    let mut head = vec!["policy", "requests", "finish rate"];
    head.extend(bounds.then_some("bound"));
    head.extend(costs.then_some("mean cost"));
    head.extend(less.as_deref());
    head.extend(columns.iter().map(|c| c.1.heading));
    let mut table = Table::new("", &head);
    for cell in cells(rows) {
        let of = |metric| find(cell, "all", metric);
        let requests = of(metric::REQUESTS).and_then(|r| r.value);
        let requests =
            requests.map_or(Field::none(), |n| Field::number(n, reading(metric::REQUESTS, n)));
        let mut line = vec![Field::text(&*cell[0].policy), requests];
        line.push(with_interval(of(metric::FINISH_RATE), 4));
        line.extend(bounds.then(|| with_interval(of(metric::FINISH_RATE_BOUND), 4)));
        line.extend(costs.then(|| with_interval(of(metric::MEAN_COST), 4)));
        line.extend(less.is_some().then(|| difference(cell)));
        line.extend(columns.iter().map(|(metric, c)| plain(of(metric.name), c.digits)));
        table.rows.push(line);
    }
    table
}

/// How requests ended that did not end in time, with their reasons.
fn ends(rows: &[Row]) -> Vec<String> {
    let words_of = |cell: &[Row]| -> Option<String> {
        let is_end = |r: &&Row| r.scope == "all" && End::ALL.iter().any(|e| e.word() == r.metric);
        let late = cell.iter().filter(is_end).filter(|r| r.metric != End::InTime.word());
        let words: Vec<String> = late
            .filter_map(|r| Some((r, r.value.filter(|n| *n > 0.0)?)))
            .map(|(r, n)| format!("{} {}", reading(&r.metric, n), r.metric.replace('_', " ")))
            .collect();
        (!words.is_empty()).then(|| format!("{}: {}", cell[0].policy, words.join(", ")))
    };
    cells(rows).filter_map(words_of).collect()
}

/// A line for each model and application of each policy, if asked for or worth a look.
fn scopes(rows: &[Row], details: bool) -> Table {
    let mut table =
        Table::new("", &["policy", "scope", "requests", "finish rate", "p50 ms", "p99 ms"]);
    for cell in cells(rows) {
        let of_all = find(cell, "all", metric::FINISH_RATE).and_then(|r| r.value);
        let is_part =
            |r: &&Row| r.metric == metric::FINISH_RATE && r.versus.is_empty() && r.scope != "all";
        for row in cell.iter().filter(is_part) {
            let differs = row.value.zip(of_all).is_some_and(|(a, b)| (a - b).abs() > DIFFERS);
            if !details && !differs {
                continue;
            }
            let of = |metric: &str, digits| plain(find(cell, &row.scope, metric), digits);
            table.rows.push(vec![
                Field::text(&*row.policy),
                Field::text(&*row.scope),
                of(metric::REQUESTS, 0),
                with_interval(Some(row), 4),
                of(metric::LATENCY_P50, 2),
                of(metric::LATENCY_P99, 2),
            ]);
        }
    }
    table
}

/// How busy each device was.
fn busy(rows: &[Row]) -> Vec<String> {
    let is_busy = |r: &&Row| r.scope.starts_with("device ") && r.metric == metric::UTILISATION;
    let of_cell = |cell: &[Row]| {
        let own = cell.iter().filter(|r| r.versus.is_empty()).filter(is_busy);
        let each: Vec<Option<f64>> = own.map(|r| r.value).collect();
        let is_some = !each.is_empty() && find(cell, "all", metric::DEVICES_UP).is_none();
        is_some.then(|| format!("{}: {}", cell[0].policy, shares(&each)))
    };
    cells(rows).filter_map(of_cell).collect()
}

/// The advice about the number of devices; of those that come and go, how many there were.
fn devices_of(rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    for cell in cells(rows) {
        let policy = &cell[0].policy;
        let of = |metric| find(cell, "all", metric).and_then(|r| r.value);
        if let (Some(mean), Some(most)) = (of(metric::DEVICES_UP), of(metric::DEVICES_UP_MAX)) {
            let [asked, released] =
                [metric::ASKED_DEVICES, metric::RELEASED_DEVICES].map(|m| of(m).unwrap_or(0.0));
            out.push(format!(
                "{policy}: {mean:.1} devices up in the mean, {most} at most; {asked} asked for, {released} released"
            ));
            continue;
        }
        let own: Vec<&Row> = cell.iter().filter(|r| r.versus.is_empty()).collect();
        let advice = Advice::of(&own).filter(|a| a.devices > 1);
        let unsteady = [Flags::LATE_START, Flags::DRAIN]
            .into_iter()
            .find(|f| own.iter().any(|r| r.has_flag(f)));
        out.extend(advice.map(|advice| match unsteady {
            Some(flag) => format!("{policy}: no advice on their number: `{flag}`"),
            None => format!("{policy}: advice (Symphony \u{a7}3.5): {advice}"),
        }));
    }
    out
}

/// The shares of many devices, in their order; of more than [`EACH`] the least, the median and the most.
fn shares(busy: &[Option<f64>]) -> String {
    if busy.len() <= EACH {
        let each = busy.iter().map(|share| share.map_or("-".to_string(), |x| format!("{x:.3}")));
        return each.collect::<Vec<_>>().join(" ");
    }
    let mut known: Vec<f64> = busy.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let [Some(least), Some(most)] = [known.first(), known.last()] else { return "-".to_string() };
    let (n, median) = (busy.len(), known[known.len() / 2]);
    format!("{least:.3} at least, {median:.3} in the median, {most:.3} at most, of {n} devices")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_devices_are_three_numbers() {
        assert_eq!(shares(&[Some(0.5), None]), "0.500 -");
        let many: Vec<_> = (0..101).map(|i| Some(f64::from(i) / 100.0)).collect();
        let few = "0.000 at least, 0.500 in the median, 1.000 at most, of 101 devices";
        assert_eq!(shares(&many), few);
    }
}
