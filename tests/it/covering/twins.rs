//! Laws about two worlds: what is said in another way is the same world.
//!
//! Each world of the array has one of these laws put to it, in turn.

use super::judge::{Fault, fault};
use super::run::{Ended, Ran, run};
use super::scaled;
use orrery_results::Row;
use orrery_scenario::scenario::file::{Device, LatencyLaw, ScenarioFile};
use orrery_sim::log::Record;
use std::collections::BTreeMap;

/// A law: what it says, the same world said in another way (`None` where it does not apply), and what has to be the
/// same.
pub struct Twin {
    pub law: &'static str,
    /// Whether the naive engine runs its worlds too: it takes as long as everything else.
    pub naive: bool,
    make: fn(&ScenarioFile) -> Option<ScenarioFile>,
    same: fn(&Ran, &Ran) -> Option<String>,
}

/// All laws.
pub const TWINS: &[Twin] = &[
    Twin {
        law: "a file that is written and read again is the same",
        naive: true,
        make: again,
        same: numbers,
    },
    Twin {
        law: "zoos and copies may be written out",
        naive: false,
        make: written_out,
        same: numbers,
    },
    Twin {
        law: "speed s and latency l are speed 1 and l / s",
        naive: true,
        make: slower,
        same: numbers,
    },
    Twin { law: "a kind is two equal kinds", naive: false, make: split, same: numbers },
    Twin { law: "names do not matter", naive: true, make: renamed, same: numbers },
    Twin {
        law: "times may be counted in other units",
        naive: false,
        make: scaled::doubled,
        same: scaled::same,
    },
];

impl Twin {
    /// How the twin of a world differs; whether there is one is in the first place.
    pub fn differs(&self, ran: &Ran, text: &str) -> (bool, Option<Fault>) {
        let file: ScenarioFile = match self.law {
            "zoos and copies may be written out" => ran.scenario.file.clone(),
            _ => toml::from_str(text).expect("it has run"),
        };
        let Some(other) = (self.make)(&file) else { return (false, None) };
        let other = toml::to_string(&other).expect("a file can be written");
        let found = match run(&other) {
            Ended::Ran(other) => (self.same)(ran, &other),
            Ended::Refused(message) => Some(format!("the other is refused: {message}\n{other}")),
            Ended::Panicked(message) => Some(format!("the other panics: {message}\n{other}")),
        };
        (true, found.map(|found| fault(self.law, found)))
    }
}

/// All records, and all numbers that are printed, whatever they are called.
fn numbers(one: &Ran, other: &Ran) -> Option<String> {
    let text = |r: Option<&Record>| r.map_or("nothing".to_string(), Record::to_string);
    let at = one.records.iter().zip(&other.records).take_while(|(a, b)| a == b).count();
    if at < one.records.len().max(other.records.len()) {
        let (one, other) = (text(one.records.get(at)), text(other.records.get(at)));
        return Some(format!("record {at}: {one}, and {other}"));
    }
    let number =
        |row: &Row| (row.metric.clone(), [row.value, row.ci95_low, row.ci95_high], row.samples);
    let all = |ran: &Ran| ran.rows.iter().map(number).collect::<Vec<_>>();
    let (one, other) = (all(one), all(other));
    let at = one.iter().zip(&other).position(|(a, b)| a != b);
    let differs = at.or((one.len() != other.len()).then_some(one.len().min(other.len())));
    differs.map(|at| format!("row {at}: {:?}, and {:?}", one.get(at), other.get(at)))
}

fn again(file: &ScenarioFile) -> Option<ScenarioFile> {
    Some(file.clone())
}

fn written_out(file: &ScenarioFile) -> Option<ScenarioFile> {
    Some(file.clone())
}

/// All devices at half their speed, against all laws twice as long.
fn slower(file: &ScenarioFile) -> Option<ScenarioFile> {
    if file.device.iter().all(|d| d.speed == 1.0) {
        return None;
    }
    let mut file = file.clone();
    let [speed] = file.device.iter().map(|d| d.speed).collect::<Vec<_>>()[..] else { return None };
    file.device[0].speed = 1.0;
    for model in &mut file.model {
        // A law of its own is not divided.
        if !model.latency_on.contains_key(&file.device[0].kind) {
            divide(&mut model.latency, speed)?;
        }
    }
    file.zoo.is_empty().then_some(file)
}

fn divide(law: &mut LatencyLaw, speed: f64) -> Option<()> {
    match law {
        LatencyLaw::Affine { alpha_ms, beta_ms } => {
            (*alpha_ms, *beta_ms) = (*alpha_ms / speed, *beta_ms / speed);
        }
        LatencyLaw::Eq3 { c0_ms, c1 } => (*c0_ms, *c1) = (*c0_ms / speed, *c1 / speed),
        LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
            (*c0_ms, *c1, *c2_per_ms) = (*c0_ms / speed, *c1 / speed, *c2_per_ms / speed);
        }
        LatencyLaw::Table(rows) => rows.iter_mut().for_each(|row| row.1 /= speed),
        LatencyLaw::Grid { rows, .. } => {
            rows.iter_mut().flat_map(|row| &mut row.1).for_each(|ms| *ms /= speed);
        }
        _ => return None,
    }
    Some(())
}

/// The first kind as two, of the same devices in the same order.
fn split(file: &ScenarioFile) -> Option<ScenarioFile> {
    let mut file = file.clone();
    let sampled = |law: &LatencyLaw| matches!(law, LatencyLaw::Samples(_));
    // DeepRecSys gives large queries to one kind and small ones to the others.
    if file.policies[0].starts_with("drs")
        || file.autoscale.is_some()
        || file.model.iter().any(|m| sampled(&m.latency))
    {
        return None;
    }
    let first = file.device.first_mut().filter(|d| d.count > 1 && d.per_model.is_none())?;
    let mut second = Device { kind: "its-equal".into(), count: first.count - 1, ..first.clone() };
    first.count = 1;
    second.base = false;
    if let Some(holds) = &mut first.holds {
        second.holds = Some(holds.split_off(1));
    }
    let kind = first.kind.clone();
    file.device.insert(1, second);
    for model in &mut file.model {
        if let Some(law) = model.latency_on.get(&kind).cloned() {
            model.latency_on.insert("its-equal".into(), law);
        }
    }
    Some(file)
}

/// Other names, whose order is the reverse.
fn renamed(file: &ScenarioFile) -> Option<ScenarioFile> {
    let mut file = file.clone();
    let arrivals = file.arrivals.as_mut();
    // Functions are dealt to applications by name; a profile is looked up by the model's name.
    let by_name =
        arrivals.as_ref().and_then(|a| a.trace.as_ref()).is_some_and(|t| t.order.is_some());
    let looked_up = |law: &LatencyLaw| matches!(law, LatencyLaw::Profile { model: None, .. });
    if by_name || file.model.iter().any(|m| looked_up(&m.latency)) {
        return None;
    }
    let of = |names: Vec<String>, what: &str| -> BTreeMap<String, String> {
        let n = names.len();
        let name = |(i, name)| (name, format!("{what}-{}", 99 - n + n - i));
        names.into_iter().enumerate().map(name).collect()
    };
    let models = of(file.model.iter().map(|m| m.name.clone()).collect(), "model");
    let apps = of(file.app.iter().map(|a| a.name.clone()).collect(), "app");
    let rename = |name: &mut String, map: &BTreeMap<String, String>| {
        if let Some(new) = map.get(name) {
            *name = new.clone();
        }
    };
    file.model.iter_mut().for_each(|m| rename(&mut m.name, &models));
    for app in &mut file.app {
        rename(&mut app.name, &apps);
        rename(&mut app.model, &models);
    }
    let held = file.device.iter_mut().filter_map(|d| d.holds.as_mut()).flatten().flatten();
    held.for_each(|name| rename(name, &models));
    let all = |list: Option<&mut Vec<String>>| {
        list.into_iter().flatten().for_each(|name| rename(name, &apps));
    };
    if let Some(arrivals) = arrivals {
        all(arrivals.apps.as_mut());
        all(arrivals.spread.as_mut().map(|s| &mut s.others));
    }
    if let Some(clients) = &mut file.closed_loop {
        all(clients.apps.as_mut());
        let of = std::mem::take(&mut clients.clients_of);
        clients.clients_of = of
            .into_iter()
            .map(|(mut name, n)| {
                rename(&mut name, &apps);
                (name, n)
            })
            .collect();
    }
    Some(file)
}
