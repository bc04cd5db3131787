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
    /// The policy of either, where its log names it.
    pub policies: [String; 2],
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
            policies: [predicted, measured].map(|side| side.names.policy.clone()),
            predicted: Summary::of(&predicted.records, from),
            measured: Summary::of(&measured.records, from),
            naive: measured.naive.clone(),
            errors: Errors::of(predicted, measured),
        })
    }
}

/// A figure of a run: its name and unit, and how many lines the naive predictions have too.
type Figure = (&'static str, &'static str, fn(&Summary) -> Option<f64>);

/// Of answered requests; none without one.
fn us(s: &Summary, ns: Option<u64>) -> Option<f64> {
    ns.filter(|_| s.latency.count > 0).map(|ns| ns as f64 / 1e3)
}

const FIGURES: [Figure; 15] = [
    ("finish_rate", "%, points", |s| (s.requests > 0).then_some(100.0 * s.finish_rate)),
    ("goodput_per_s", "1/s", |s| (s.requests > 0).then_some(s.goodput_per_s)),
    ("latency_p50", "us", |s| us(s, Some(s.latency.p50_ns))),
    ("latency_p90", "us", |s| us(s, s.latency.p90_ns)),
    ("latency_p99", "us", |s| us(s, Some(s.latency.p99_ns))),
    ("latency_max", "us", |s| us(s, Some(s.latency.max_ns))),
    ("requests", "requests", |s| Some(s.requests as f64)),
    ("in_time", "requests", |s| Some(s.in_time as f64)),
    ("late", "requests", |s| Some(s.late as f64)),
    ("dropped", "requests", |s| Some(s.dropped as f64)),
    ("pending", "requests", |s| Some(s.pending as f64)),
    ("batches", "batches", |s| Some(s.batches as f64)),
    ("mean_batch", "requests", |s| (s.batches > 0).then_some(s.mean_batch)),
    ("refused", "batches", |s| Some(s.refused as f64)),
    ("preempted", "batches", |s| Some(s.preempted as f64)),
];
/// Of these a naive prediction is shown as well.
const LEADING: usize = 5;

/// How far a prediction is off, in percent of what was measured.
fn percent_off(predicted: Option<f64>, measured: Option<f64>) -> String {
    match (predicted, measured) {
        (Some(p), Some(m)) if m != 0.0 => format!("{:.1}", 100.0 * (p / m - 1.0).abs()),
        _ => String::new(),
    }
}

/// A number with three digits, or that there is none.
fn three(x: Option<f64>) -> String {
    x.map_or("-".to_string(), |x| format!("{x:.3}"))
}

/// The comparison for reading.
pub fn report(c: &Comparison) -> String {
    let run = FIGURES.map(|(name, unit, of)| {
        let (p, m) = (of(&c.predicted), of(&c.measured));
        let difference = p.zip(m).map_or("-".to_string(), |(p, m)| format!("{:+.3}", m - p));
        let figures = [three(p), three(m), difference];
        [&[name.into()], &figures[..], &[percent_off(p, m), unit.into()]].concat()
    });
    let naive = c.naive.iter().flat_map(|n| FIGURES[..LEADING].iter().map(move |f| (n, f)));
    let naive = naive.map(|(n, (name, _, of))| {
        let cells = [Some(&n.law), n.queue.as_ref()].map(|s| {
            let p = s.and_then(*of);
            vec![three(p), percent_off(p, of(&c.measured))]
        });
        [vec![name.to_string()], cells.concat()].concat()
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
    let told =
        format!("{} batches of the whole run, {whose}; {} without one", e.batches, e.unmatched);
    let keyed = |columns, rows| Table { keys: 1, ..table("", columns, rows) };
    let counted = "Requests count from the end of the warm-up, batches from the beginning.";
    let mut parts = vec![Part::Text(counted.to_string())];
    let [p, m] = &c.policies;
    let differ = p != m && !p.is_empty() && !m.is_empty();
    parts.extend(differ.then(|| Part::Text(format!("Predicted is `{p}`, measured is `{m}`."))));
    let run = keyed("of the run|predicted|measured|difference|off (%)|unit", run.to_vec());
    let columns = "of the run|latency model alone|off (%)|queue|off as a queue (%)";
    let naive = keyed(columns, naive.collect::<Vec<_>>());
    let actions = keyed("of the actions|count|p50|p99|max|unit", actions);
    let mut page = Page::new("comparison", "of prediction and measurement");
    parts.push(Part::Table(run));
    page.section("The run", parts);
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
