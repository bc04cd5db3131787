//! Laws that hold of every run, whatever its world: each returns what is wrong.

use super::recount::recount;
use super::run::Ran;
use orrery_sim::audit::audit_log;
use orrery_sim::log::read_log;

/// What is wrong with a run; nothing where all laws hold.
pub fn faults(ran: &Ran) -> Vec<String> {
    let mut faults = audited(ran);
    faults.extend(recount(ran));
    faults.extend(possible(ran));
    faults
}

/// The auditor finds nothing in the log.
fn audited(ran: &Ran) -> Vec<String> {
    match audit_log(read_log(&ran.log[..], "the log")) {
        Err(error) => vec![format!("log: {error}")],
        Ok(report) if report.fault_count > 0 => {
            let first = &report.faults[0];
            vec![format!("auditor: {} faults, first {}", report.fault_count, first.fault.name())]
        }
        Ok(_) => Vec::new(),
    }
}

/// Shares are within 0 and 1, counts and times are not negative, and so are their intervals.
fn possible(ran: &Ran) -> Vec<String> {
    let mut faults = Vec::new();
    for m in &ran.result.measures {
        let (least, most) = match m.metric.as_str() {
            "finish_rate" | "utilisation" | "load_utilisation" => (0.0, 1.0),
            "mean_batch_size" if m.value != Some(0.0) => (1.0, f64::INFINITY),
            _ => (0.0, f64::INFINITY),
        };
        let is_possible = |x: f64| (least - 1e-12..=most + 1e-12).contains(&x);
        let (scope, metric) = (&m.scope, &m.metric);
        if let Some(value) = m.value.filter(|v| !is_possible(*v)) {
            faults.push(format!("possible: {scope} {metric} is {value}"));
        }
        let Some((low, high)) = m.within else { continue };
        if !(is_possible(low) && is_possible(high)) {
            faults.push(format!("interval: {metric} of {scope} {low} to {high}"));
        }
        if low > high || m.value.is_some_and(|v| v < low || v > high) {
            let value = m.value;
            faults
                .push(format!("outside its interval: {scope} {metric} {value:?}, {low} to {high}"));
        }
    }
    faults
}
