//! A sweep, for reading: a line for each setting, a column for each policy.

use super::notes::{distinct, notes_of};
use super::page::{asked, unanswered, verdict};
use super::replication::{DEVICES, PEAK};
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table, with_interval};
use orrery_results::{Flags, Row, UNITLESS, metric, unit};

/// The document of a sweep: what it is about, and the latency, by setting. The other metrics are in the other
/// forms.
pub fn of_sweep(name: &str, subtitle: &str, rows: &[Row]) -> Page {
    let mut page = Page::new("sweep", name);
    page.subtitle = subtitle.to_string();
    asked(&mut page, rows);
    verdict(&mut page, rows);
    let has = |metric: &str| rows.iter().any(|r| r.metric == metric && r.scope == "all");
    let searched = [PEAK, DEVICES].into_iter().find(|m| has(m));
    let metrics = searched.into_iter().chain([metric::FINISH_RATE, metric::LATENCY_P99]);
    page.section("Results", metrics.filter_map(|m| by_setting(rows, m).part()));
    page.section("No answer", Part::list(unanswered(rows)));
    page.section(TO_KNOW, Part::list(notes_of(rows)));
    page
}

fn by_setting(rows: &[Row], metric: &str) -> Table {
    let is_own = |r: &&Row| r.metric == metric && r.scope == "all" && r.versus.is_empty();
    let own: Vec<&Row> = rows.iter().filter(is_own).collect();
    let names = distinct(own.iter().flat_map(|r| r.axis_list()).map(|(name, _)| name));
    let policies = distinct(own.iter().map(|r| r.policy.as_str()));
    let unit = match unit(metric) {
        UNITLESS => String::new(),
        "ns" => format!(", {}", metric::reading(metric).unit),
        unit => format!(", {unit}"),
    };
    let caption = format!("{}{unit}", metric::words(metric));
    let columns = [names.as_slice(), &policies].concat();
    let mut table = Table { keys: names.len(), ..Table::new(caption, &columns) };
    for here in own.chunk_by(|a, b| a.axes == b.axes) {
        let at = |name: &&str| Field::text(here[0].axis(name).unwrap_or_default());
        let of = |policy: &&str| {
            here.iter().find(|r| r.policy == *policy).map_or(Field::none(), |r| cell(r))
        };
        table.rows.push(names.iter().map(at).chain(policies.iter().map(of)).collect());
    }
    table
}

/// A value with its interval, and a mark where there are too few samples.
fn cell(row: &Row) -> Field {
    let Some(value) = row.value else { return Field::none() };
    let divisor = metric::reading(&row.metric).divisor;
    let digits = if divisor > 1.0 { 2 } else { 3 };
    let flag = if row.has_flag(Flags::FEW_SAMPLES) { "?" } else { "" };
    let interval = row.ci95().map(|(low, high)| (low / divisor, high / divisor));
    Field::number(value, format!("{flag}{}", with_interval(value / divisor, interval, digits)))
}
