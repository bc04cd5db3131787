//! What must hold of a scenario before any file that it names is opened.
//!
//! It does not look at the load: `load/check.rs` does.

use super::file::{Device, Noise, Profile, ScenarioFile, Sharing};
use super::laws::BATCH_MAX;
use super::load;
use super::on_kinds::{check_kinds, latency_on};
use super::penalties::penalty;
use super::value::{MS_MAX, S_MAX, names, span_ms, time_s, within, word};
use orrery_run::PolicySpec;
use orrery_run::error::{SpecError, known};
use orrery_run::limits::{DEVICES_MAX, count};
use orrery_sim::penalty::Penalty;
use orrery_sim::request::SIZE_MAX;
use std::collections::{BTreeMap, BTreeSet};

/// The most batch sizes: policies keep a set of them in one word.
const SIZES_MAX: usize = 24;

/// Checks a file.
pub(super) fn check(file: &ScenarioFile) -> Result<(), SpecError> {
    if let Some(name) = &file.name {
        word("name", name)?;
    }
    listed(file)?;
    devices(file)?;
    models(file)?;
    apps(file)?;
    penalties(file)?;
    times(file)?;
    delays(file)?;
    profile(&file.profile)?;
    load::check::check(file)?;
    load::changes::check(file)
}

/// The policies of a file, where they are to be run: there is one at least.
pub(super) fn policies(file: &ScenarioFile) -> Result<Vec<PolicySpec>, SpecError> {
    if file.policies.is_empty() {
        let remedy = "add `policies = [\"orloj\", \"clockwork\"]` at the top";
        return Err(SpecError::value("policies", "none", "at least one policy", remedy));
    }
    listed(file)
}

/// The policies that a file names. Who brings others needs none there.
fn listed(file: &ScenarioFile) -> Result<Vec<PolicySpec>, SpecError> {
    let mut specs: Vec<PolicySpec> = Vec::new();
    for (i, text) in file.policies.iter().enumerate() {
        let key = format!("policies[{i}]");
        if file.policies[..i].contains(text) {
            let found = format!("`{text}` again");
            return Err(SpecError::value(key, found, "each policy once", "remove one of them"));
        }
        let spec = PolicySpec::parse(text).map_err(|e| e.at(&key))?;
        let can_preempt = file.device.iter().all(|d| d.can_preempt);
        spec.check_devices(can_preempt).map_err(|e| e.at(&key))?;
        if spec.needs_profiler() && file.profiler.is_none() {
            return Err(spec.without_profiler().at(key));
        }
        specs.push(spec);
    }
    Ok(specs)
}

fn devices(file: &ScenarioFile) -> Result<(), SpecError> {
    if let Some(autoscale) = &file.autoscale {
        autoscale.config(file)?;
    }
    if file.device.is_empty() {
        let remedy = "add a `[[device]]`, or remove `device`: the default is one GPU";
        return Err(SpecError::value("device", "none", "at least one kind of device", remedy));
    }
    let key = |i: usize| format!("device[{i}].kind");
    names(file.device.iter().map(|d| d.kind.as_str()), key)?;
    let mut sum = 0u64;
    for (i, d) in file.device.iter().enumerate() {
        let key = |part: &str| format!("device[{i}].{part}");
        count(&key("count"), d.count.into(), 0, DEVICES_MAX)?;
        within(&key("lanes"), f64::from(d.lanes), 1.0, 64.0)?;
        within(&key("stages"), f64::from(d.stages), 1.0, 64.0)?;
        if d.stages > 1 && d.lanes > 1 {
            let found = format!("{}, with {} lanes", d.stages, d.lanes);
            let remedy = "remove `lanes`: a pipeline runs one batch in each of its stages";
            return Err(SpecError::value(key("stages"), found, "`stages` or `lanes`", remedy));
        }
        if d.sharing == Sharing::Processor {
            let found = |with: &str| format!("\"processor\", with {with}");
            if d.stages > 1 {
                let remedy = "remove `sharing`: each stage of a pipeline is a device of its own";
                let allowed = "`stages` or `sharing`";
                return Err(SpecError::value(key("sharing"), found("`stages`"), allowed, remedy));
            }
            if file.stalls.is_some() {
                let remedy = "remove one of the two: a stall takes the core of one lane, and these lanes have none";
                let allowed = "`stalls` or `sharing`";
                return Err(SpecError::value(key("sharing"), found("`[stalls]`"), allowed, remedy));
            }
        }
        placement(i, d, file)?;
        within(&key("speed"), d.speed, 1e-3, 1e3)?;
        if let Some(price) = d.price_usd_per_hour {
            within(&key("price_usd_per_hour"), price, 0.0, 1e6)?;
        }
        if let Some(pages) = d.memory_pages {
            within(&key("memory_pages"), f64::from(pages), 1.0, f64::from(u32::MAX))?;
        }
        sum += u64::from(d.count);
    }
    let bases: Vec<usize> = (0..file.device.len()).filter(|&i| file.device[i].base).collect();
    if let [first, second, ..] = bases[..] {
        let found = format!("true, as for `device[{first}]`");
        let key = format!("device[{second}].base");
        return Err(SpecError::value(key, found, "one base kind at most", "remove one"));
    }
    count("device", sum, 1, DEVICES_MAX)
}

/// The models that stand on the devices of a kind.
fn placement(i: usize, d: &Device, file: &ScenarioFile) -> Result<(), SpecError> {
    let Some(holds) = &d.holds else { return Ok(()) };
    let key = format!("device[{i}].holds");
    let with = |found: &str, remedy: &str| {
        let allowed = "devices that stay, whose memory is not counted";
        Err(SpecError::value(&key, format!("lists of models, with {found}"), allowed, remedy))
    };
    if d.memory_pages.is_some() {
        let remedy =
            "remove `memory_pages`: `holds` says which models fit, and no policy moves them";
        return with("`memory_pages`", remedy);
    }
    if file.autoscale.is_some() {
        return with("`[autoscale]`", "remove one of them: nobody says what a new device holds");
    }
    if holds.len() != d.count as usize {
        let found = format!("{} lists", holds.len());
        let allowed = format!("{}, one for each device of `{}`", d.count, d.kind);
        let remedy =
            "add or remove lists, or change `count`; an empty list is a device without models";
        return Err(SpecError::value(key, found, allowed, remedy));
    }
    let models: Vec<&str> = file.model.iter().map(|m| m.name.as_str()).collect();
    for (device, held) in holds.iter().enumerate() {
        for (j, name) in held.iter().enumerate() {
            let key = format!("{key}[{device}][{j}]");
            known(&key, name, &models)?;
            if held[..j].contains(name) {
                let found = format!("`{name}` again");
                return Err(SpecError::value(key, found, "each model once", "remove one of them"));
            }
        }
    }
    Ok(())
}

/// The numbers of the models by their names.
pub(super) fn model_numbers(file: &ScenarioFile) -> BTreeMap<&str, usize> {
    file.model.iter().enumerate().map(|(m, model)| (model.name.as_str(), m)).collect()
}

fn models(file: &ScenarioFile) -> Result<(), SpecError> {
    if file.model.is_empty() {
        let remedy = "add `[[model]]` with name, slo_ms and latency, or a `[[zoo]]`";
        return Err(SpecError::value("model", "none", "at least one model", remedy));
    }
    names(file.model.iter().map(|m| m.name.as_str()), |i| format!("model[{i}].name"))?;
    let kinds: Vec<&str> = file.device.iter().map(|d| d.kind.as_str()).collect();
    for (i, model) in file.model.iter().enumerate() {
        let key = |part: &str| format!("model[{i}].{part}");
        within(&key("slo_ms"), model.slo_ms, 1e-6, MS_MAX)?;
        span_ms(&key("load_ms"), model.load_ms)?;
        check_kinds(i, model, &kinds)?;
        model.latency.law(&key("latency"))?;
        if let Some(believed) = &model.believed {
            believed.law(&key("believed"))?;
        }
        for (kind, law) in &model.latency_on {
            law.law(&key(&format!("latency_on.{kind}")))?;
        }
        for device in &file.device {
            latency_on(i, model, device)?;
            if let Some(pages) = device.memory_pages.filter(|p| *p < model.pages) {
                let allowed = format!("at most the {pages} pages of `{}`", device.kind);
                let remedy = "raise memory_pages of the device or lower pages of the model";
                return Err(SpecError::value(key("pages"), model.pages, allowed, remedy));
            }
        }
    }
    Ok(())
}

fn apps(file: &ScenarioFile) -> Result<(), SpecError> {
    if file.app.is_empty() {
        let remedy = "add `[[app]]` with name, model and time, or a `[[zoo]]`";
        return Err(SpecError::value("app", "none", "at least one application", remedy));
    }
    names(file.app.iter().map(|a| a.name.as_str()), |i| format!("app[{i}].name"))?;
    let models: Vec<&str> = file.model.iter().map(|m| m.name.as_str()).collect();
    let there: BTreeSet<&str> = models.iter().copied().collect();
    for (i, app) in file.app.iter().enumerate() {
        let key = |part: &str| format!("app[{i}].{part}");
        if !there.contains(app.model.as_str()) {
            known(&key("model"), &app.model, &models)?;
        }
        app.group.iter().try_for_each(|group| word(&key("group"), group))?;
        within(&key("weight"), app.weight, 1e-9, 1e9)?;
        within(&key("size"), f64::from(app.size), 1.0, f64::from(SIZE_MAX))?;
        if let Some(sizes) = &app.sizes {
            sizes.parametric(&key("sizes"))?;
        }
        if app.slo_ms.is_some() && app.slo_steps.is_some() {
            let (allowed, remedy) = ("`slo_ms` or `slo_steps`", "remove one of them");
            return Err(SpecError::value(key("slo_steps"), "both", allowed, remedy));
        }
        if let Some(slo_ms) = app.slo_ms.filter(|s| *s != f64::INFINITY) {
            within(&key("slo_ms"), slo_ms, 1e-6, MS_MAX)?;
        }
        if let Some(time) = &app.time {
            time.parametric(&key("time"))?;
        }
    }
    Ok(())
}

/// The cost functions of a file that has been checked, by application; empty where there are none.
///
/// # Errors
/// As [`penalty`], and when an application without a deadline has one.
pub(super) fn penalties(file: &ScenarioFile) -> Result<Vec<Penalty>, SpecError> {
    let of_models: Vec<Option<Penalty>> = (file.model.iter().enumerate())
        .map(|(i, m)| m.penalties.as_ref().map(|p| penalty(&format!("model[{i}].penalties"), p)))
        .map(Option::transpose)
        .collect::<Result<_, _>>()?;
    let models = model_numbers(file);
    let mut all = Vec::with_capacity(file.app.len());
    for (i, app) in file.app.iter().enumerate() {
        let key = format!("app[{i}].penalties");
        let own = app.penalties.as_ref().map(|p| penalty(&key, p)).transpose()?;
        if own.is_some() && app.slo_ms == Some(f64::INFINITY) {
            let (found, allowed) = ("steps, with `slo_ms = inf`", "steps where there is an SLO");
            return Err(SpecError::value(key, found, allowed, "remove them, or set `slo_ms`"));
        }
        let model = models.get(app.model.as_str()).and_then(|&m| of_models[m].clone());
        all.push(own.or(model));
    }
    if all.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    Ok(all.into_iter().map(Option::unwrap_or_default).collect())
}

fn times(file: &ScenarioFile) -> Result<(), SpecError> {
    let warm_up = time_s("warm_up_s", file.warm_up_s)?;
    let Some(until_s) = file.until_s else { return Ok(()) };
    within("until_s", until_s, 1e-9, S_MAX)?;
    if time_s("until_s", until_s)? <= warm_up {
        let allowed = format!("less than until_s, which is {until_s}");
        let remedy = "lower warm_up_s or raise until_s: no request would count";
        return Err(SpecError::value("warm_up_s", file.warm_up_s, allowed, remedy));
    }
    Ok(())
}

fn delays(file: &ScenarioFile) -> Result<(), SpecError> {
    super::delays::delays(&file.delays, 0)?;
    match file.noise {
        None => {}
        Some(Noise::Uniform(spread)) => {
            within("noise.uniform", spread, 0.0, 0.999)?;
        }
        Some(Noise::Lognormal(sigma)) => {
            within("noise.lognormal", sigma, 0.0, 5.0)?;
        }
    }
    if let Some(noise) = &file.load_noise {
        noise.law("load_noise", 0)?;
    }
    if let Some(stalls) = &file.stalls {
        stalls.law("stalls", 0)?;
    }
    for (i, model) in file.model.iter().enumerate() {
        if let Some(noise) = &model.noise {
            noise.law(&format!("model[{i}].noise"), 0)?;
        }
    }
    if let Some(scheduler) = &file.scheduler {
        scheduler.cost()?;
    }
    if let Some(profiler) = &file.profiler {
        within("profiler.every", profiler.every as f64, 1.0, 1e15)?;
        span_ms("profiler.delay_ms", profiler.delay_ms)?;
    }
    Ok(())
}

fn profile(p: &Profile) -> Result<(), SpecError> {
    let key = "profile.sizes";
    if p.sizes.is_empty() || p.sizes.len() > SIZES_MAX {
        let found = format!("{} sizes", p.sizes.len());
        let allowed = format!("1 to {SIZES_MAX} sizes such as [1, 2, 4, 8, 16]");
        return Err(SpecError::value(key, found, allowed, "add or remove sizes"));
    }
    let mut least = 1;
    for (i, &size) in p.sizes.iter().enumerate() {
        if size < least || size > BATCH_MAX {
            let allowed = format!("sizes that grow; here {least} to {BATCH_MAX}");
            let key = format!("{key}[{i}]");
            return Err(SpecError::value(key, size, allowed, "sort the sizes; each once"));
        }
        least = size + 1;
    }
    within("profile.batches", f64::from(p.batches), 1.0, 1e5)?;
    within("profile.bins", p.bins as f64, 1.0, 1e5).map(|_| ())
}
