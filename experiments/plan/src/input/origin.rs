//! The scenario that a plan is made from: where its text is, the catalogue's laws in its models, and
//! errors at the keys that they came from.

use crate::input::devices::devices;
use crate::input::file::{Instance, PlanFile, Pools, Source};
use orrery_run::error::{hint, nearest};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::kind;
use orrery_scenario::scenario::file::{Model, ScenarioFile};
use orrery_scenario::scenario::place;
use orrery_scenario::zoo::{ZOOS, Zoo};
use std::path::Path;

/// Policies that know of several kinds of devices.
const HETEROGENEOUS: [&str; 4] = ["kairos", "ribbon", "drs", "clkwrk"];

/// Where the scenario's text is.
pub(crate) struct Origin<'a> {
    plan: &'a Source,
    /// The scenario's own file.
    own: Option<Source>,
    file: ScenarioFile,
    /// Its path.
    pub path: String,
    /// Whether the plan names the policies.
    names_policies: bool,
}

impl Origin<'_> {
    /// Reads it.
    pub fn of<'a>(plan: &PlanFile, source: &'a Source) -> Result<Origin<'a>, SpecError> {
        let path = source.path.clone();
        let names_policies = !plan.policies.is_empty();
        if let Some(file) = &plan.scenario {
            let mut file = (**file).clone();
            // How long is the plan's to say, but for a trace.
            if let Some(arrivals) = &mut file.arrivals
                && !arrivals.is_finite()
            {
                arrivals.requests = arrivals.requests.or(Some(plan.requests_per_model));
            }
            if names_policies {
                file.policies.clone_from(&plan.policies);
            }
            return Ok(Origin { plan: source, own: None, file, path, names_policies });
        }
        let name = plan.scenario_file.clone().unwrap_or_default();
        let path = Path::new(&path).parent().unwrap_or(Path::new("")).join(&name);
        let text = orrery_scenario::whole::read(&path).map_err(|e| {
            let found = format!("`{name}` ({}: {e})", path.display());
            let allowed = "a scenario file, by its path from the plan's folder";
            source.placed(SpecError::value("scenario_file", found, allowed, "correct the path"))
        })?;
        let path = path.display().to_string();
        if kind::of(&text).is_some_and(|found| found.name == kind::TOKENS.name) {
            return Err(kind::TOKENS.instead_of(kind::PLANNED, &path));
        }
        Scenario::from_text(&path, &text)?;
        let mut file: ScenarioFile =
            toml::from_str(&text).map_err(|e| place::parse_error(&path, &text, &e))?;
        if names_policies {
            file.policies.clone_from(&plan.policies);
        }
        let own = Some(Source::new(path.clone(), text));
        Ok(Origin { plan: source, own, file, path, names_policies })
    }

    /// The scenario with the catalogue in place of its devices, zoos and copies written out.
    pub fn scenario(&self, plan: &PlanFile) -> Result<Scenario, SpecError> {
        let mut file = self.file.clone();
        let all: Vec<u32> = vec![1; plan.instance.len()];
        file.device = devices(plan, &all, false, None);
        if plan.pools == Pools::Fleet {
            // What does not fit on a type has another home.
            file.device.iter_mut().for_each(|d| d.memory_pages = None);
        }
        let made = Scenario::from_text(&self.path, &written(&file)?);
        made.map_err(|e| self.replaced(e))
    }

    /// Keys of the scenario that change nothing in the plan.
    pub fn without_effect(&self, plan: &PlanFile) -> Vec<String> {
        let text = written(&self.file);
        let Ok(whole) = text.and_then(|text| Scenario::from_text(&self.path, &text)) else {
            return Vec::new();
        };
        let all: Vec<u32> = vec![1; plan.instance.len()];
        // A number that the plan's own scenario leaves out is none of its keys.
        let own = plan.scenario.as_ref().and_then(|file| file.arrivals.as_ref());
        let says_requests = own.is_none_or(|arrivals| arrivals.requests.is_some());
        let run = |scenario: &Scenario, _: usize| {
            let mut file = scenario.file.clone();
            (file.device, file.until_s) = (devices(plan, &all, false, None), None);
            if let Some(arrivals) = file.arrivals.as_mut().filter(|a| !a.is_finite()) {
                arrivals.requests = arrivals.requests.filter(|_| !says_requests);
                arrivals.duration_s = None;
            }
            Ok(file)
        };
        let why = "the plan has its own machines, and says how long its runs are";
        whole.without_effect(why, 1, run)
    }

    /// An error of a scenario that was made, at the key and line of what it was made from.
    pub fn replaced(&self, error: SpecError) -> SpecError {
        match error {
            SpecError::Value { key, found, allowed, remedy, .. } => {
                let (source, key) = self.key(&key);
                source.placed(SpecError::value(key, found, allowed, remedy))
            }
            SpecError::Data { key, source: cause, .. } => {
                let (source, key) = self.key(&key);
                source.placed(SpecError::Data { file: String::new(), key, source: cause })
            }
            other => other,
        }
    }

    fn key(&self, key: &str) -> (&Source, String) {
        let on_kind = |rest: &str| format!("instance{}", rest.replace(".base", ""));
        if let Some(rest) = key.strip_prefix("device") {
            return (self.plan, on_kind(rest));
        }
        let of_plan = ["instance", "budget_usd_per_hour", "rates_per_s", "day", "growth"];
        if of_plan.iter().any(|k| key.starts_with(k))
            || self.names_policies && key.starts_with("policies")
        {
            return (self.plan, key.to_string());
        }
        match &self.own {
            Some(own) => (own, key.to_string()),
            None => (self.plan, format!("scenario.{key}")),
        }
    }
}

/// A scenario's keys as text.
pub(crate) fn written(file: &ScenarioFile) -> Result<String, SpecError> {
    toml::to_string(file).map_err(|e| {
        SpecError::value("scenario", e, "keys that can be written down", "correct the scenario")
    })
}

/// Puts the laws of the catalogue into the models.
pub(crate) fn set_laws(plan: &PlanFile, file: &mut ScenarioFile) -> Result<(), SpecError> {
    for (i, t) in plan.instance.iter().enumerate() {
        let key = |part: &str| format!("instance[{i}].{part}");
        if let Some(name) = &t.zoo {
            let of_zoo = models_of_zoo(t, name, &key)?;
            for model in &mut file.model {
                let wanted = model.name.split('#').next().unwrap_or_default();
                let Some(found) = of_zoo.iter().find(|m| m.name == wanted) else {
                    let names = of_zoo.iter().map(|m| m.name.as_str());
                    let hint = nearest(wanted, names);
                    let hint = hint.map_or(String::new(), |n| format!("; the nearest is `{n}`"));
                    let found = format!("no `{wanted}` in `{name}`{hint}");
                    let allowed = "a zoo that has each of the scenario's models";
                    let remedy = "remove the model, or give `latency_on = { MODEL = LAW }`";
                    // In a fleet it has another home.
                    if plan.pools == Pools::Fleet || t.latency_on.contains_key(&model.name) {
                        continue;
                    }
                    return Err(SpecError::value(key("zoo"), found, allowed, remedy));
                };
                model.latency_on.insert(t.kind.clone(), found.latency.clone());
                model.between = model.between.or(found.between);
            }
        }
        for (name, law) in &t.latency_on {
            let mut of = file.model.iter_mut().filter(|m| m.name == *name).peekable();
            if of.peek().is_none() {
                let key = key(&format!("latency_on.{name}"));
                let allowed = "a model of the scenario";
                let found = format!("`{name}`");
                return Err(SpecError::value(key, found, allowed, "correct the name"));
            }
            of.for_each(|m| drop(m.latency_on.insert(t.kind.clone(), law.clone())));
        }
    }
    Ok(())
}

fn models_of_zoo(
    t: &Instance,
    name: &str,
    key: &dyn Fn(&str) -> String,
) -> Result<Vec<Model>, SpecError> {
    let Some(zoo) = Zoo::find(name) else {
        let names: Vec<&str> = ZOOS.iter().map(|z| z.name).collect();
        let hint = hint(name, names.iter().copied());
        let (found, remedy) = (format!("`{name}`"), format!("{hint}correct the name"));
        return Err(SpecError::value(key("zoo"), found, names.join(", "), remedy));
    };
    let models = zoo.models(t.gpu.as_deref());
    if models.is_empty() {
        let found = t.gpu.clone().map_or("nothing".to_string(), |g| format!("`{g}`"));
        let allowed = zoo.gpus().join(", ");
        return Err(SpecError::value(key("gpu"), found, allowed, "name one of the zoo's GPUs"));
    }
    Ok(models)
}

/// Puts the SLOs of what-ifs into the models.
pub(crate) fn set_slo(plan: &PlanFile, file: &mut ScenarioFile) {
    for model in &mut file.model {
        let own = plan.slo.by_model_ms.get(&model.name).copied();
        let Some(ms) = own.or(plan.slo.all_ms) else { continue };
        (model.slo_ms, model.slo_steps) = (ms, None);
        let name = model.name.clone();
        for app in file.app.iter_mut().filter(|a| a.model == name) {
            (app.slo_ms, app.slo_steps) = (None, None);
        }
    }
}

/// Whether a policy knows of several kinds of devices.
pub(crate) fn knows_kinds(policy: &PolicySpec) -> bool {
    HETEROGENEOUS.contains(&policy.system())
}

/// The scenario's policies, if they fit the pools.
pub(crate) fn policies(plan: &PlanFile, scenario: &Scenario) -> Result<Vec<PolicySpec>, SpecError> {
    let all = scenario.policies()?;
    if plan.pools == Pools::Heterogeneous
        && let Some(other) = all.iter().find(|p| !knows_kinds(p))
    {
        let found = format!("`{}`, which takes all devices for one kind", other.text());
        let remedy = "choose one of them, or plan with `pools = \"homogeneous\"`; a mixed problem is \
                      out of scope";
        let allowed = HETEROGENEOUS.join(", ");
        return Err(SpecError::value("policies", found, allowed, remedy));
    }
    Ok(all)
}
