//! The load of a scenario dealt out to its models: a part for each of them, or for some.

use crate::input::file::PlanFile;
use orrery_run::SpecError;
use orrery_scenario::scenario::file::{App, Arrivals, Model, ScenarioFile};

/// Each model with its name and its load in requests/s.
pub(crate) fn of_each_model(
    plan: &PlanFile,
    file: &ScenarioFile,
    rate: f64,
    growth: f64,
) -> Result<Vec<(String, ScenarioFile, f64)>, SpecError> {
    check_parts(plan, file)?;
    let of = |model: &Model| {
        let (one, share) = part(file, &[model.name.as_str()])?;
        let own = plan.rates_per_s.get(&model.name).map(|r| r * growth);
        Some((model.name.clone(), one, own.unwrap_or(rate * share)))
    };
    Ok(file.model.iter().filter_map(of).collect())
}

/// All models that have a load, with the weights that their loads say, and all of it.
pub(crate) fn of_all_models(
    plan: &PlanFile,
    file: &ScenarioFile,
    rate: f64,
    growth: f64,
) -> Result<(ScenarioFile, f64), SpecError> {
    check_parts(plan, file)?;
    let names: Vec<&str> = file.model.iter().map(|m| m.name.as_str()).collect();
    let share = |name: &str| part(file, &[name]).map_or(0.0, |p| p.1);
    let own = |name: &str| plan.rates_per_s.get(name).map(|r| r * growth);
    let load = |name: &str| own(name).unwrap_or(rate * share(name));
    let loaded: Vec<&str> = names.into_iter().filter(|name| share(name) > 0.0).collect();
    let total = loaded.iter().map(|name| load(name)).sum();
    let whole = part(file, &loaded).map(|(mut whole, _)| {
        for app in &mut whole.app {
            if let Some(own) = own(&app.model) {
                app.weight *= own / (rate * share(&app.model));
            }
        }
        whole
    });
    let none = || {
        SpecError::value("app", "no application with a weight", "at least one", "add an `[[app]]`")
    };
    Ok((whole.ok_or_else(none)?, total))
}

/// Whether the load can be dealt out to models.
fn check_parts(plan: &PlanFile, file: &ScenarioFile) -> Result<(), SpecError> {
    let names: Vec<&str> = file.model.iter().map(|m| m.name.as_str()).collect();
    if let Some(other) = plan.rates_per_s.keys().find(|k| !names.contains(&k.as_str())) {
        let key = format!("rates_per_s.{other}");
        let found = format!("`{other}`");
        return Err(SpecError::value(key, found, names.join(", "), "correct the name"));
    }
    if let Some(arrivals) = &file.arrivals
        && names.len() > 1
        && arrivals.trace.as_ref().is_some_and(|t| t.per_function)
    {
        let (found, allowed) = ("per_function with several models", "one model, or all functions");
        let remedy = "plan for one model at a time, or remove `per_function`";
        return Err(SpecError::value("arrivals.trace", found, allowed, remedy));
    }
    let loaded = names.iter().filter(|name| part(file, &[**name]).is_some_and(|p| p.1 > 0.0));
    let several = loaded.count() > 1;
    if let Some(key) = file.arrivals.as_ref().and_then(list).filter(|_| several) {
        let found = "a list of several models' requests, and pools of some of the models";
        let allowed = "such a list as a day, in each step of which a pool has those requests that are its models'";
        let remedy = "add `[day]` with `scale = \"peak\"` and `trace_steps = 1`, or more steps";
        return Err(SpecError::value(key, found, allowed, remedy));
    }
    Ok(())
}

/// The key of a list of requests, if the load is one.
fn list(arrivals: &Arrivals) -> Option<&'static str> {
    let lists = [
        ("arrivals.workload", arrivals.workload.is_some()),
        ("arrivals.queries", arrivals.queries.is_some()),
        ("arrivals.llm", arrivals.llm.is_some()),
    ];
    lists.into_iter().find(|(_, is_there)| *is_there).map(|(key, _)| key)
}

/// The scenario with some of its models and their applications, and their share of the load; none where
/// nothing is sent to them.
pub(crate) fn part(file: &ScenarioFile, models: &[&str]) -> Option<(ScenarioFile, f64)> {
    let sends = |a: &&App| {
        let some = file.arrivals.as_ref().and_then(|x| x.apps.as_ref());
        some.is_none_or(|list| list.contains(&a.name))
    };
    let of = |a: &&App| models.contains(&a.model.as_str());
    let total: f64 = file.app.iter().filter(sends).map(|a| a.weight).sum();
    let apps: Vec<App> = file.app.iter().filter(sends).filter(of).cloned().collect();
    if apps.is_empty() {
        return None;
    }
    let share = apps.iter().map(|a| a.weight).sum::<f64>() / total;
    let model: Vec<Model> =
        file.model.iter().filter(|m| models.contains(&m.name.as_str())).cloned().collect();
    let mut some = ScenarioFile { model, app: apps, ..file.clone() };
    if let Some(arrivals) = &mut some.arrivals {
        arrivals.apps = None;
    }
    Some((some, share))
}
