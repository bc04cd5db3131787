//! A comparison for reading, and as rows.

use super::errors::{Errors, Signed};
use super::logs::{Side, same_workload};
use super::summary::{Naive, Summary};
use crate::error::Error;
use crate::quantiles::Quantiles;
use crate::table::table;
use orrery_report::Page;
use orrery_report::page::{Part, Table};

/// Two sides, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The run that was predicted.
    pub predicted: Summary,
    /// The run that was.
    pub measured: Summary,
    /// What predicted it less well, where that is known.
    pub naive: Option<Naive>,
    /// Action by action.
    pub errors: Errors,
}

impl Comparison {
    /// Compares; requests count from the later of both warm-ups.
    ///
    /// # Errors
    /// When the workloads differ, unless `closed_loop`.
    pub fn of(predicted: &Side, measured: &Side, closed_loop: bool) -> Result<Comparison, Error> {
        if !closed_loop {
            same_workload(predicted, measured)?;
        }
        let from = predicted.warm_up_ns.max(measured.warm_up_ns);
        Ok(Comparison {
            predicted: Summary::of(&predicted.records, from),
            measured: Summary::of(&measured.records, from),
            naive: measured.naive.clone(),
            errors: Errors::of(predicted, measured),
        })
    }
}

/// A figure of a run: its name and unit, and how many lines the naive predictions have too.
type Figure = (&'static str, &'static str, fn(&Summary) -> f64);

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

const FIGURES: [Figure; 14] = [
    ("finish_rate", "%, points", |s| 100.0 * s.finish_rate),
    ("goodput_per_s", "1/s", |s| s.goodput_per_s),
    ("latency_p50", "us", |s| us(s.latency.p50_ns)),
    ("latency_p90", "us", |s| us(s.latency.p90_ns.unwrap_or_default())),
    ("latency_p99", "us", |s| us(s.latency.p99_ns)),
    ("latency_max", "us", |s| us(s.latency.max_ns)),
    ("batches", "batches", |s| s.batches as f64),
    ("mean_batch", "requests", |s| s.mean_batch),
    ("in_time", "requests", |s| s.in_time as f64),
    ("late", "requests", |s| s.late as f64),
    ("dropped", "requests", |s| s.dropped as f64),
    ("pending", "requests", |s| s.pending as f64),
    ("refused", "batches", |s| s.refused as f64),
    ("preempted", "batches", |s| s.preempted as f64),
];
/// Of these a naive prediction is shown as well.
const LEADING: usize = 5;

/// How far a prediction is off, in percent of what was measured.
fn percent_off(predicted: f64, measured: f64) -> String {
    match measured {
        0.0 => String::new(),
        _ => format!("{:.1}", 100.0 * (predicted / measured - 1.0).abs()),
    }
}

/// The comparison for reading.
pub fn report(c: &Comparison) -> String {
    let run = FIGURES.map(|(name, unit, of)| {
        let (p, m) = (of(&c.predicted), of(&c.measured));
        let figures = [format!("{p:.3}"), format!("{m:.3}"), format!("{:+.3}", m - p)];
        [&[name.into()], &figures[..], &[percent_off(p, m), unit.into()]].concat()
    });
    let naive = c.naive.iter().flat_map(|n| FIGURES[..LEADING].iter().map(move |f| (n, f)));
    let naive = naive.map(|(n, (name, _, of))| {
        let cells = [&n.law, &n.queue].map(|s| (of(s), percent_off(of(s), of(&c.measured))));
        [vec![name.to_string()], cells.map(|(p, off)| vec![format!("{p:.3}"), off]).concat()]
            .concat()
    });
    let e = &c.errors;
    let whose = match e.of_the_very_batch {
        true => "each with the prediction of that very batch",
        false => "each with the same batch of the predicted log",
    };
    let mut actions = Vec::new();
    signed(&mut actions, "time on the device", &e.duration, 1e3, "us");
    signed(&mut actions, "relative to the prediction", &e.duration_ppm, 1e4, "%");
    signed(&mut actions, "completion", &e.completion, 1e3, "us");
    actions.push(tail("start, later than begun", &e.start_lateness, 1e3, "us"));
    actions.push(tail("start, later than due", &e.after_due, 1e3, "us"));
    let told = format!("{} batches, {whose}; {} without one", e.batches, e.unmatched);
    let keyed = |columns, rows| Table { keys: 1, ..table("", columns, rows) };
    let run = keyed("of the run|predicted|measured|difference|off (%)|unit", run.to_vec());
    let columns = "of the run|latency model alone|off (%)|queue|off as a queue (%)";
    let naive = keyed(columns, naive.collect::<Vec<_>>());
    let actions = keyed("of the actions|count|p50|p99|max|unit", actions);
    let mut page = Page::new("comparison", "of prediction and measurement");
    page.section("The run", [Part::Table(run)]);
    let title = "Naive predictions: without noise, stalls and overhead; a queue without a policy";
    page.section(title, naive.part());
    page.section("The actions", [Part::Text(told), Part::Table(actions)]);
    page.to_text()
}

fn signed(rows: &mut Vec<Vec<String>>, what: &str, s: &Signed, divisor: f64, unit: &str) {
    rows.push(tail(&format!("{what}, over"), &s.over, divisor, unit));
    rows.push(tail(&format!("{what}, under"), &s.under, divisor, unit));
    let exact = (s.exact > 0).then(|| vec![format!("{what}, exact"), s.exact.to_string()]);
    rows.extend(exact);
}

fn tail(what: &str, values: &[u64], divisor: f64, unit: &str) -> Vec<String> {
    let Quantiles { count, p50_ns, p99_ns, max_ns, .. } = Quantiles::of(values.to_vec());
    let cells = [p50_ns, p99_ns, max_ns].map(|ns| format!("{:.3}", ns as f64 / divisor));
    [&[what.to_string(), count.to_string()], &cells[..], &[unit.to_string()]].concat()
}
