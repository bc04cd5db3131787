//! `changes` of an application: from some time of the run on, another share of the arrivals and longer or
//! shorter execution times. What policies were told does not change with them.
//!
//! It checks values and puts the applications' changes together; [`orrery_traces::phases`] makes requests
//! of them.

use super::check::chosen;
use crate::scenario::file::{App, Arrivals, ScenarioFile, TraceArrivals};
use crate::scenario::laws::is_of_request;
use crate::scenario::process::steady_law;
use crate::scenario::value::{S_MAX, time_s, within};
use orrery_run::SpecError;
use orrery_sim::time::Time;
use orrery_traces::phases::{Factors, Phase};

const SHARED: &str = "one process that the applications share by weight";

/// What must hold of all changes before any file is opened.
pub(crate) fn check(file: &ScenarioFile) -> Result<(), SpecError> {
    let changes = file.app.iter().any(|a| !a.changes.is_empty());
    let at_s = within("profile.at_s", file.profile.at_s, 0.0, S_MAX)?;
    if at_s > 0.0 && !changes {
        let remedy = "remove it, or give an application `changes`";
        let allowed = "0 where no application changes";
        return Err(SpecError::value("profile.at_s", at_s, allowed, remedy));
    }
    for (i, app) in file.app.iter().enumerate().filter(|(_, a)| !a.changes.is_empty()) {
        of_one(i, app)?;
        has_times(file, i, app)?;
        of_load(file, i, app)?;
    }
    Ok(())
}

/// The values of an application's changes.
fn of_one(i: usize, app: &App) -> Result<(), SpecError> {
    let mut last = 0.0;
    for (c, change) in app.changes.iter().enumerate() {
        let key = |part: &str| format!("app[{i}].changes[{c}].{part}");
        let at_s = within(&key("at_s"), change.at_s, 0.0, S_MAX)?;
        if at_s <= last {
            let allowed =
                format!("more than {last}: changes in the order of time, the first after 0");
            return Err(SpecError::value(key("at_s"), at_s, allowed, "sort the changes"));
        }
        last = at_s;
        if let Some(x) = change.weight_factor {
            within(&key("weight_factor"), x, 1e-6, 1e6)?;
        }
        if let Some(x) = change.time_factor {
            within(&key("time_factor"), x, 1e-3, 1e3)?;
        }
        if change.time_factor.is_some() && app.time.is_none() {
            let remedy = format!("give `{}` a `time`, or remove `time_factor`", app.name);
            let allowed = "an application whose `time` is in the file";
            return Err(SpecError::value(key("time_factor"), "no `time`", allowed, remedy));
        }
        if change.weight_factor.is_none() && change.time_factor.is_none() {
            let key = format!("app[{i}].changes[{c}]");
            let allowed = "`weight_factor`, `time_factor` or both";
            return Err(SpecError::value(key, "nothing that changes", allowed, "add one"));
        }
    }
    Ok(())
}

/// An application whose execution times change asks for a model whose batches take longer by them.
fn has_times(file: &ScenarioFile, i: usize, app: &App) -> Result<(), SpecError> {
    let model = file.model.iter().find(|m| m.name == app.model);
    let Some(model) =
        model.filter(|m| !m.latency_on.values().chain([&m.latency]).any(is_of_request))
    else {
        return Ok(());
    };
    let Some(c) = app.changes.iter().position(|c| c.time_factor.is_some()) else { return Ok(()) };
    let found =
        format!("a factor, for `{}`, whose latency is of the batch's size alone", model.name);
    let allowed = "a model with `eq3`, `proportional`, `poly` or `grid` latency";
    let remedy = "remove `time_factor`, or give the model such a latency";
    Err(SpecError::value(format!("app[{i}].changes[{c}].time_factor"), found, allowed, remedy))
}

/// That the load does not draw the applications by weight.
pub(crate) fn not_shared(file: &ScenarioFile) -> SpecError {
    let i = file.app.iter().position(|a| !a.changes.is_empty()).unwrap_or(0);
    let remedy =
        "remove `changes`, or choose a process that the applications share, such as `poisson`";
    let found = "arrivals that do not draw applications by weight";
    SpecError::value(format!("app[{i}].changes"), found, SHARED, remedy)
}

/// The load draws the applications by weight, and is still there when they change.
fn of_load(file: &ScenarioFile, i: usize, app: &App) -> Result<(), SpecError> {
    let key = format!("app[{i}].changes");
    let (wrong, remedy) = match (&file.arrivals, &file.closed_loop) {
        (_, Some(_)) => ("`[closed_loop]`", "remove `changes`, or use `[arrivals]` alone"),
        (Some(a), _) if a.per_app => ("`per_app`", "remove `changes` or `arrivals.per_app`"),
        (Some(a), _) if !one_process(a) => return Err(not_shared(file)),
        _ => {
            let arrivals = file.arrivals.as_ref();
            let names = arrivals.and_then(|a| a.apps.as_deref());
            if !chosen(file, "arrivals.apps", names)?.contains(&i) {
                let allowed = "an application of `arrivals.apps`";
                let remedy = "remove `changes`, or add it there";
                return Err(SpecError::value(
                    key,
                    format!("`{}`, which sends nothing", app.name),
                    allowed,
                    remedy,
                ));
            }
            let ends = [arrivals.and_then(|a| a.duration_s), file.until_s];
            let end_s = ends.into_iter().flatten().fold(f64::INFINITY, f64::min);
            let late = app.changes.iter().position(|c| c.at_s >= end_s);
            return match late {
                None => Ok(()),
                Some(c) => Err(SpecError::value(
                    format!("{key}[{c}].at_s"),
                    app.changes[c].at_s,
                    format!("less than {end_s}, the end of the load"),
                    "change it earlier, or lengthen the load (`duration_s`, `until_s`)",
                )),
            };
        }
    };
    Err(SpecError::value(key, wrong, SHARED, remedy))
}

/// Whether the arrivals are one process whose applications are drawn by weight.
fn one_process(a: &Arrivals) -> bool {
    let drawn = |t: &TraceArrivals| !t.per_function && t.order.is_none() && t.rule.is_none();
    steady_law(a).is_some() || a.trace.as_ref().is_some_and(drawn)
}

/// What an application is like at a time.
pub(crate) fn at(app: &App, at_s: f64) -> Factors {
    let mut factors = Factors::default();
    for change in app.changes.iter().filter(|c| c.at_s <= at_s) {
        factors.weight = change.weight_factor.unwrap_or(factors.weight);
        factors.time = change.time_factor.unwrap_or(factors.time);
    }
    factors
}

/// The largest factor that an application's execution times ever have.
pub(crate) fn longest(app: &App) -> f64 {
    app.changes.iter().filter_map(|c| c.time_factor).fold(1.0, f64::max)
}

/// From when on which of these applications are otherwise, in the order of time.
pub(crate) fn phases(file: &ScenarioFile, senders: &[usize]) -> Result<Vec<Phase>, SpecError> {
    let mut starts: Vec<f64> =
        file.app.iter().flat_map(|a| a.changes.iter().map(|c| c.at_s)).collect();
    starts.sort_by(f64::total_cmp);
    starts.dedup();
    let phase = |&at_s: &f64| {
        let from: Time = time_s("app.changes.at_s", at_s)?;
        Ok(Phase { from, apps: senders.iter().map(|&i| at(&file.app[i], at_s)).collect() })
    };
    starts.iter().map(phase).collect()
}
