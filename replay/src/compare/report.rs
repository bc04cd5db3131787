//! A comparison for reading, and as rows.

use super::errors::{Errors, Signed, Tail};
use super::logs::{Side, same_workload};
use super::summary::Summary;
use crate::error::Error;
use serde::Serialize;
use std::fmt::Write;

/// Two sides, compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The run that was predicted.
    pub predicted: Summary,
    /// The run that was.
    pub measured: Summary,
    /// Action by action.
    pub errors: Errors,
}

/// One figure of both sides.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[allow(missing_docs)]
pub struct Line {
    pub metric: &'static str,
    pub unit: &'static str,
    pub predicted: f64,
    pub measured: f64,
    pub difference: f64,
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
            errors: Errors::of(predicted, measured),
        })
    }

    /// The figures of both sides.
    pub fn lines(&self) -> Vec<Line> {
        let (p, m) = (&self.predicted, &self.measured);
        let line = |metric, unit, of: &dyn Fn(&Summary) -> f64| {
            let (predicted, measured) = (of(p), of(m));
            Line { metric, unit, predicted, measured, difference: measured - predicted }
        };
        vec![
            line("finish_rate", "%", &|s| 100.0 * s.finish_rate),
            line("goodput_per_s", "1/s", &|s| s.goodput_per_s),
            line("latency_p50", "us", &|s| s.latency.p50_ns as f64 / 1e3),
            line("latency_p99", "us", &|s| s.latency.p99_ns as f64 / 1e3),
            line("latency_max", "us", &|s| s.latency.max_ns as f64 / 1e3),
            line("batches", "batches", &|s| s.batches as f64),
            line("mean_batch", "requests", &|s| s.mean_batch),
            line("in_time", "requests", &|s| s.in_time as f64),
            line("late", "requests", &|s| s.late as f64),
            line("dropped", "requests", &|s| s.dropped as f64),
            line("pending", "requests", &|s| s.pending as f64),
            line("refused", "batches", &|s| s.refused as f64),
            line("preempted", "batches", &|s| s.preempted as f64),
        ]
    }
}

/// The comparison for reading.
pub fn report(c: &Comparison) -> String {
    let mut text = format!(
        "{:<16} {:>14} {:>14} {:>14}  unit\n",
        "of the run", "predicted", "measured", "difference"
    );
    for Line { metric, unit, predicted, measured, difference } in c.lines() {
        let unit = if metric == "finish_rate" { "%, points" } else { unit };
        let _ = writeln!(
            text,
            "{metric:<16} {predicted:>14.3} {measured:>14.3} {difference:>+14.3}  {unit}"
        );
    }
    let e = &c.errors;
    let whose = match e.of_the_very_batch {
        true => "each with the prediction of that very batch",
        false => "each with the same batch of the predicted log",
    };
    let _ = writeln!(text, "\n{} batches, {whose}; {} without one", e.batches, e.unmatched);
    let _ = writeln!(
        text,
        "{:<34} {:>8} {:>12} {:>12} {:>12}  unit",
        "of the actions", "count", "p50", "p99", "max"
    );
    signed(&mut text, "time on the device", &e.duration, 1e3, "us");
    signed(&mut text, "  relative to the prediction", &e.duration_ppm, 1e4, "%");
    signed(&mut text, "completion", &e.completion, 1e3, "us");
    tail(&mut text, "start, later than begun", &e.start_lateness, 1e3, "us");
    text
}

fn signed(text: &mut String, what: &str, s: &Signed, divisor: f64, unit: &str) {
    tail(text, &format!("{what}, over"), &s.over, divisor, unit);
    tail(text, &format!("{what}, under"), &s.under, divisor, unit);
    if s.exact > 0 {
        let _ = writeln!(text, "{:<34} {:>8}", format!("{what}, exact"), s.exact);
    }
}

fn tail(text: &mut String, what: &str, values: &[u64], divisor: f64, unit: &str) {
    let Tail { count, p50_ns, p99_ns, max_ns } = Tail::of(values.to_vec());
    let [p50, p99, max] = [p50_ns, p99_ns, max_ns].map(|ns| ns as f64 / divisor);
    let _ = writeln!(text, "{what:<34} {count:>8} {p50:>12.3} {p99:>12.3} {max:>12.3}  {unit}");
}
