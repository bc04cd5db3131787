//! From what a file says to a model and an application for each: zoos, copies, popularity.
//!
//! The rest of the crate sees models and applications only. Where each came from is kept, so that
//! an error still names a key of the file.

use super::file::{
    App, Device, LatencyLaw, Model, Popularity, ScenarioFile, Select, SizesLaw, TimeLaw, Zoo,
};
use super::on_kinds::plain_base;
use super::slo_steps::SloSteps;
use super::value::{MS_MAX, within, word};
use super::zoo::{self, ZOOS};
use orrery_run::error::{SpecError, known, nearest};
use orrery_run::limits;
use orrery_sim::rng::Stream;
use std::collections::BTreeMap;

/// The most models or applications.
pub(super) const MODELS_MAX: usize = limits::MODELS_MAX as usize;
/// Beta over alpha, above which a batching effect is strong (Symphony, §5.1).
const STRONG: f64 = 2.0;

/// The key of the file that each model, application and kind of device came from.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins {
    models: Vec<String>,
    apps: Vec<String>,
    devices: Vec<String>,
}

/// Writes zoos, copies and popularity out. A file without any comes back as it is.
pub(super) fn expand(file: &ScenarioFile) -> Result<(ScenarioFile, Origins), SpecError> {
    let mut origins = Origins::default();
    let (mut models, mut apps) = (Vec::new(), Vec::new());
    let kinds: Vec<Device> = file.device.iter().filter(|d| d.count > 0).cloned().collect();
    for (i, model) in file.model.iter().enumerate() {
        within(&format!("model[{i}].copies"), f64::from(model.copies), 1.0, MODELS_MAX as f64)?;
        let scale = within(&format!("model[{i}].slo_scale"), model.slo_scale, 1e-6, 1e6)?;
        let slo_ms = model.slo_ms * scale;
        let slo_steps = model.slo_steps.map(|s| SloSteps { first_ms: s.first_ms * scale, ..s });
        for name in copies(&model.name, model.copies) {
            let own = Model { name, copies: 1, slo_ms, slo_scale: 1.0, slo_steps, ..model.clone() };
            models.push(own);
            origins.models.push(format!("model[{i}]"));
        }
        fits(&format!("model[{i}].copies"), models.len())?;
    }
    for (i, app) in file.app.iter().enumerate() {
        let of = file.model.iter().find(|m| m.name == app.model && m.copies > 1);
        let n = of.map_or(1, |m| m.copies);
        for (name, model) in copies(&app.name, n).into_iter().zip(copies(&app.model, n)) {
            apps.push(App { name, model, ..app.clone() });
            origins.apps.push(format!("app[{i}]"));
        }
        fits(&format!("app[{i}]"), apps.len())?;
    }
    let mut at_name: BTreeMap<String, usize> = BTreeMap::new();
    for (at, model) in models.iter().enumerate() {
        at_name.entry(model.name.clone()).or_insert(at);
    }
    for (i, zoo) in file.zoo.iter().enumerate() {
        for mut model in of_zoo(i, zoo, &file.device)? {
            // A zoo may know more kinds than the scenario has.
            model.latency_on.retain(|kind, _| file.device.iter().any(|d| d.kind == *kind));
            if let Some(at) = at_name.insert(model.name.clone(), models.len()) {
                let found = format!("`{}`, which `{}` has as well", model.name, origins.models[at]);
                let remedy =
                    "choose with `models`, ask once, with `copies`, or tell them apart by `prefix`";
                return Err(SpecError::value(format!("zoo[{i}]"), found, "each name once", remedy));
            }
            let (sizes, group) = (sizes_of(zoo, &model), zoo.group.clone());
            apps.push(App { sizes, group, ..app_of(&model, &kinds) });
            models.push(model);
            origins.models.push(format!("zoo[{i}]"));
            origins.apps.push(format!("zoo[{i}]"));
        }
        fits(&format!("zoo[{i}]"), apps.len().max(models.len()))?;
    }
    popular(file, &mut apps)?;
    let carried = file
        .arrivals
        .as_ref()
        .is_some_and(|a| a.workload.is_some() || a.llm.is_some() || a.queries.is_some());
    if !carried {
        times(&models, &kinds, &mut apps);
    }
    let (device, from) = devices(file, models.len())?;
    origins.devices = from;
    leave_absent_kinds(file, &device, &mut models);
    let (zoo, popularity, popularity_seed) = (Vec::new(), Popularity::Equal, None);
    let file = ScenarioFile {
        model: models,
        app: apps,
        device,
        zoo,
        popularity,
        popularity_seed,
        ..file.clone()
    };
    Ok((file, origins))
}

/// A time alone for applications without one whose model's laws do not look at it: a batch of one's.
fn times(models: &[Model], kinds: &[Device], apps: &mut [App]) {
    // Of models of one name, which are an error, the first.
    let by_name: BTreeMap<&str, &Model> =
        models.iter().rev().map(|m| (m.name.as_str(), m)).collect();
    for app in apps.iter_mut().filter(|a| a.time.is_none()) {
        let model = by_name.get(app.model.as_str());
        let ms = model.and_then(|model| plain_alone_ms(model, kinds));
        app.time = ms.map(|ms| TimeLaw::Constant { ms });
    }
}

/// The time of a batch of one, where the model's laws do not look at a request's own time.
pub(super) fn plain_alone_ms(model: &Model, kinds: &[Device]) -> Option<f64> {
    let looks =
        |law: &LatencyLaw| matches!(law, LatencyLaw::Eq3 { .. } | LatencyLaw::Proportional { .. });
    let mut laws = model.latency_on.values().chain(&model.believed).chain([&model.latency]);
    (!laws.any(looks)).then(|| alone_ms(model, kinds))
}

/// A batch of one on the kind of device that policies are told of.
fn alone_ms(model: &Model, kinds: &[Device]) -> f64 {
    let law = plain_base(kinds).and_then(|device| model.law_on(device));
    law.map_or_else(|| model.latency.ms(1), |law| law.ms(1))
}

/// The devices, those for each model counted, with their keys. A kind of which there are none is left out: so
/// one file serves many mixes.
fn devices(file: &ScenarioFile, models: usize) -> Result<(Vec<Device>, Vec<String>), SpecError> {
    let count = |(i, d): (usize, &Device)| {
        let Some(per_model) = d.per_model else { return Ok(d.clone()) };
        within(&format!("device[{i}].per_model"), per_model, 1e-3, 1e4)?;
        let count = (per_model * models as f64).round().max(1.0) as u32;
        Ok(Device { count, per_model: None, ..d.clone() })
    };
    let all: Vec<Device> =
        file.device.iter().enumerate().map(count).collect::<Result<_, SpecError>>()?;
    let keyed = all.into_iter().enumerate().map(|(i, d)| (d, format!("device[{i}]")));
    // A file of none is an error later on, with its line.
    let some: Vec<_> = keyed.clone().filter(|(d, _)| d.count > 0).collect();
    Ok(if some.is_empty() { keyed.unzip() } else { some.into_iter().unzip() })
}

/// Leaves out the laws for kinds that have no device. One whose name is near a listed one stays: it is an error.
fn leave_absent_kinds(file: &ScenarioFile, device: &[Device], models: &mut [Model]) {
    let listed: Vec<&str> = file.device.iter().map(|d| d.kind.as_str()).collect();
    let is_there = |kind: &str| device.iter().any(|d| d.kind == kind);
    let is_slip =
        |kind: &str| !listed.contains(&kind) && nearest(kind, listed.iter().copied()).is_some();
    for model in models {
        model.latency_on.retain(|kind, _| is_there(kind) || is_slip(kind));
    }
}

/// The names of `n` copies.
fn copies(name: &str, n: u32) -> Vec<String> {
    if n == 1 {
        return vec![name.to_string()];
    }
    (1..=n).map(|i| format!("{name}#{i}")).collect()
}

fn fits(key: &str, n: usize) -> Result<(), SpecError> {
    if n <= MODELS_MAX {
        return Ok(());
    }
    let allowed = format!("at most {MODELS_MAX} models and as many applications in all");
    Err(SpecError::value(key, format!("{n} up to here"), allowed, "use fewer copies"))
}

/// The models of a `[[zoo]]`, copies made.
fn of_zoo(i: usize, wanted: &Zoo, devices: &[Device]) -> Result<Vec<Model>, SpecError> {
    let key = |part: &str| format!("zoo[{i}].{part}");
    let names: Vec<&str> = ZOOS.iter().map(|z| z.name).collect();
    let zoo = &ZOOS[known(&key("name"), &wanted.name, &names)?];
    within(&key("copies"), f64::from(wanted.copies), 1.0, MODELS_MAX as f64)?;
    if let Some(slo_ms) = wanted.slo_ms {
        within(&key("slo_ms"), slo_ms, 1e-6, MS_MAX)?;
    }
    if !wanted.prefix.is_empty() {
        word(&key("prefix"), &wanted.prefix)?;
    }
    wanted.group.iter().try_for_each(|group| word(&key("group"), group))?;
    if let Some(d) = devices.iter().find(|d| d.memory_pages.is_some() && !zoo.has_loads()) {
        let names: Vec<&str> = ZOOS.iter().filter(|z| z.has_loads()).map(|z| z.name).collect();
        let found =
            format!("`{}`, which has no load times, with `memory_pages` of `{}`", zoo.name, d.kind);
        let allowed = format!("a zoo with load times: {}", names.join(", "));
        let remedy = "remove `memory_pages`, or write `[[model]]` with `pages` and `load_ms`";
        return Err(SpecError::value(key("name"), found, allowed, remedy));
    }
    let mut models = zoo.models(gpu(i, wanted, zoo)?);
    if let Some(list) = &wanted.models {
        let all: Vec<&str> = models.iter().map(|m| m.name.as_str()).collect();
        let mut chosen: Vec<usize> = Vec::new();
        for (j, name) in list.iter().enumerate() {
            let key = format!("zoo[{i}].models[{j}]");
            let at = known(&key, name, &all)?;
            if chosen.contains(&at) {
                let remedy = "remove one, or ask for `copies`";
                return Err(SpecError::value(key, format!("`{name}` again"), "each once", remedy));
            }
            chosen.push(at);
        }
        models = chosen.into_iter().map(|at| models[at].clone()).collect();
    }
    if let Some(select) = wanted.select {
        if models.iter().any(|m| m.latency.batching_effect().is_none()) {
            let (found, allowed) =
                (format!("`select` of `{}`", zoo.name), "zoos of affine latency models");
            let remedy = "name the models in `models`: measured tables have no alpha and beta";
            return Err(SpecError::value(key("select"), found, allowed, remedy));
        }
        models.retain(|m| match (select, m.latency.batching_effect()) {
            (Select::Strong, effect) => effect > Some(STRONG),
            (Select::Weak, effect) => effect < Some(STRONG),
        });
    }
    if models.is_empty() {
        let key = if wanted.models.is_some() { key("models") } else { key("select") };
        let remedy = "name other models, or remove `models` and `select` to use all";
        return Err(SpecError::value(key, "no model at all", "at least one model", remedy));
    }
    let slo_ms = |m: &Model| wanted.slo_ms.unwrap_or(m.slo_ms);
    let all = models.iter().flat_map(|m| {
        let names = copies(&format!("{}{}", wanted.prefix, m.name), wanted.copies).into_iter();
        let slo_steps = wanted.slo_steps;
        let (slo_ms, between) = (slo_ms(m), wanted.between.or(m.between));
        names.map(move |name| Model { name, slo_ms, slo_steps, between, ..m.clone() })
    });
    Ok(all.take(MODELS_MAX + 1).collect())
}

/// The GPU whose latencies are meant.
fn gpu<'a>(i: usize, wanted: &'a Zoo, zoo: &zoo::Zoo) -> Result<Option<&'a str>, SpecError> {
    let (key, gpus) = (format!("zoo[{i}].gpu"), zoo.gpus());
    match &wanted.gpu {
        None if gpus.is_empty() => Ok(None),
        Some(gpu) if gpus.is_empty() => {
            let found = format!("`{gpu}`, where `{}` is of one GPU", zoo.name);
            Err(SpecError::value(key, found, "no `gpu`", "remove it"))
        }
        None => {
            let remedy = format!("add `gpu = \"{}\"`", gpus[0]);
            Err(SpecError::value(key, "nothing", gpus.join(", "), remedy))
        }
        Some(gpu) => {
            known(&key, gpu, &gpus)?;
            Ok(Some(gpu))
        }
    }
}

/// The application of a zoo's model. Zoos' laws do not look at its time; it is a batch of one's.
fn app_of(model: &Model, kinds: &[Device]) -> App {
    App {
        name: model.name.clone(),
        model: model.name.clone(),
        group: None,
        weight: 1.0,
        size: 1,
        sizes: None,
        slo_ms: None,
        slo_steps: None,
        penalties: None,
        changes: Vec::new(),
        time: Some(TimeLaw::Constant { ms: alone_ms(model, kinds) }),
    }
}

/// The sizes of a zoo's requests: as asked for, or those that its samples were measured for.
fn sizes_of(zoo: &Zoo, model: &Model) -> Option<SizesLaw> {
    let measured = matches!(model.latency, LatencyLaw::Samples(_));
    zoo.sizes.clone().or(measured.then_some(SizesLaw::Kairos))
}

/// Multiplies the weights by the popularity.
fn popular(file: &ScenarioFile, apps: &mut [App]) -> Result<(), SpecError> {
    let Popularity::Zipf(s) = file.popularity else {
        let Some(seed) = file.popularity_seed else { return Ok(()) };
        let allowed = "no seed where all are equally popular";
        let remedy = "remove it, or add `popularity = { zipf = 1.0 }`";
        return Err(SpecError::value("popularity_seed", seed, allowed, remedy));
    };
    within("popularity.zipf", s, 0.0, 2.0)?;
    let mut ranks: Vec<usize> = (1..=apps.len()).collect();
    if let Some(seed) = file.popularity_seed {
        let mut stream = Stream::named(seed, "popularity", 0);
        for i in (1..ranks.len()).rev() {
            ranks.swap(i, stream.below(i as u64 + 1) as usize);
        }
    }
    for (app, rank) in apps.iter_mut().zip(ranks) {
        app.weight /= libm::pow(rank as f64, s);
    }
    Ok(())
}

impl Origins {
    /// The key of a kind of device in the file.
    pub(super) fn device(&self, i: usize) -> Option<&str> {
        self.devices.get(i).map(String::as_str)
    }

    /// An error about a model or an application, at the key of the file that it came from.
    pub(super) fn translate(&self, names: &ScenarioFile, error: SpecError) -> SpecError {
        let Some((from, to, name, rest)) = error.key().and_then(|key| self.origin(names, key))
        else {
            return error;
        };
        if from == to {
            return error;
        }
        let is_zoo = to.starts_with("zoo");
        let new_key = if is_zoo { to.to_string() } else { format!("{to}{rest}") };
        let about = format!(" ({} of `{name}`)", rest.trim_start_matches('.'));
        match error {
            SpecError::Value { file, found, allowed, remedy, .. } => {
                let found = found + if is_zoo { &about } else { "" };
                SpecError::Value { file, key: new_key, found, allowed, remedy }
            }
            SpecError::Data { file, source, .. } => SpecError::Data { file, key: new_key, source },
            other => other,
        }
    }

    /// The item that a key is of, where it came from, its name, and the rest of the key.
    fn origin<'a>(
        &'a self,
        names: &'a ScenarioFile,
        key: &str,
    ) -> Option<(String, &'a str, &'a str, String)> {
        let (item, rest) = key.split_once(']')?;
        let (list, number) = item.split_once('[')?;
        let number: usize = number.parse().ok()?;
        let (origin, name) = match list {
            "model" => (self.models.get(number)?, &names.model.get(number)?.name),
            "app" => (self.apps.get(number)?, &names.app.get(number)?.name),
            "device" => (self.devices.get(number)?, &names.device.get(number)?.kind),
            _ => return None,
        };
        Some((format!("{item}]"), origin, name, rest.to_string()))
    }
}
