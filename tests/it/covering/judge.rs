//! Laws that hold of every run, whatever its world: each returns what is wrong.

use super::run::Ran;
use crate::recount::Recount;
use orrery_results::Row;
use orrery_run::bound::Bound;
use orrery_sim::audit::{Finding, audit_log};
use orrery_sim::cluster::Sharing;
use orrery_sim::log::read_log;
use orrery_sim::time::{Span, Time};

/// A law that does not hold.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The law, and what it is about: the same in every world with the same fault.
    pub law: String,
    /// What was found.
    pub found: String,
}

/// A fault.
pub fn fault(law: impl Into<String>, found: impl Into<String>) -> Fault {
    Fault { law: law.into(), found: found.into() }
}

/// What is wrong with a run; nothing where all laws hold.
pub fn faults(ran: &Ran) -> Vec<Fault> {
    let mut faults = audited(ran);
    faults.extend(recounted(ran));
    faults.extend(bounded(ran));
    faults.extend(ran.rows.iter().flat_map(possible));
    faults
}

/// The auditor finds nothing in the log.
fn audited(ran: &Ran) -> Vec<Fault> {
    match audit_log(read_log(&ran.log[..], "the log")) {
        Err(error) => vec![fault("the log can be read", error.to_string())],
        Ok(report) => {
            let of = |f: &Finding| fault(format!("auditor: {}", f.fault.name()), f.to_string());
            report.faults.iter().map(of).collect()
        }
    }
}

/// The result's numbers are those of the records.
fn recounted(ran: &Ran) -> Vec<Fault> {
    let (file, recount) = (&ran.scenario.file, Recount::new(&ran.records));
    let window = (Time::ZERO + Span::from_secs_f64(file.warm_up_s), Time::NEVER);
    let sketched = if file.exact_quantiles { 1.0 } else { 1.001 };
    let one_lane = file.device.iter().all(|d| d.lanes == 1 && d.stages == 1);
    let mut expected = recount.of_requests(window, &ran.setup.penalties, sketched, |_| true);
    expected.extend(recount.of_run(one_lane.then_some(Sharing::Processor)));
    let wrong = |(metric, least, most): (&str, f64, f64)| {
        let value = ran.value(metric);
        let found = format!("{value}, and the log says {least} to {most}");
        let is_right = (least..=most).contains(&value);
        (!is_right).then(|| fault(format!("{metric} is that of the log"), found))
    };
    expected.into_iter().filter_map(wrong).collect()
}

/// No run finishes more in time than any scheduler can, where such a bound is known.
fn bounded(ran: &Ran) -> Option<Fault> {
    let bound = Bound::of(&ran.setup, ran.scenario.seed).ok()?;
    let (offered, in_time) = (ran.value("requests"), ran.value("in_time"));
    let is_right = bound.offered as f64 == offered && in_time <= bound.in_time as f64;
    let found = format!("{in_time} of {offered}, and {bound:?}");
    (bound.offered > 0 && !is_right).then(|| fault("no run is above the bound", found))
}

/// Shares are within 0 and 1, counts and times are not negative, and so are their intervals.
fn possible(row: &Row) -> Vec<Fault> {
    let mut faults = Vec::new();
    let (scope, metric) = (&row.scope, &row.metric);
    let (least, most) = match metric.as_str() {
        "finish_rate" | "utilisation" | "load_utilisation" => (0.0, 1.0),
        "mean_batch_size" if row.value != Some(0.0) => (1.0, f64::INFINITY),
        _ => (0.0, f64::INFINITY),
    };
    let is_possible = |x: f64| (least - 1e-12..=most + 1e-12).contains(&x);
    if let Some(value) = row.value.filter(|v| !is_possible(*v)) {
        faults.push(fault(format!("{metric} is possible"), format!("{scope}: {value}")));
    }
    let (Some(low), Some(high)) = (row.ci95_low, row.ci95_high) else { return faults };
    let found = format!("{scope}: {low} to {high}, of {:?}", row.value);
    if !(is_possible(low) && is_possible(high)) {
        faults.push(fault(format!("the interval of {metric} is possible"), &found));
    }
    let slack = 1e-9 * high.abs();
    if row.value.is_some_and(|v| v < low - slack || v > high + slack) {
        faults.push(fault(format!("the interval of {metric} holds its value"), &found));
    }
    faults
}
