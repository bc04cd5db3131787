//! What of a scenario can be changed on the page: keys of the file, with units and bounds.

use orrery_papers::cells::hash::spec_sha256;
use orrery_scenario::SpecError;
use orrery_scenario::limits::DEVICES_MAX;
use orrery_scenario::policies;
use orrery_scenario::scenario::Scenario;
use serde::Serialize;

/// The offered load, whatever its process is called in the file.
pub const LOAD: &str = "load";
/// How many requests a run has.
pub const REQUESTS: &str = "arrivals.requests";
/// A page asks for no longer runs, and no more seeds.
pub const REQUESTS_MAX: u64 = 200_000;
pub const SEEDS_MAX: u32 = 20;
pub const SEEDS: u32 = 5;
const REQUESTS_USUAL: u64 = 20_000;
/// A slider reaches from a tenth of the file's value to ten times it.
const REACH: f64 = 10.0;
/// More models or kinds than that have no sliders.
const SLIDERS_MAX: usize = 12;

/// One number that can be changed.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// The key, as in a sweep.
    pub key: String,
    /// For reading.
    pub label: String,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// As in the file.
    pub value: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
}

/// A policy that can be chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Offered {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Whether it has a largest batch.
    pub has_max_batch: bool,
}

/// All that the page offers.
#[derive(Clone, Debug, Serialize)]
pub struct Controls {
    /// The scenario's name.
    pub name: String,
    /// Its text's hash: a question of another text is refused.
    pub file_sha256: String,
    /// Numbers.
    pub numbers: Vec<Control>,
    /// The file's policies.
    pub policies: Vec<String>,
    /// Every policy.
    pub offered: Vec<Offered>,
    /// Seeds of the last and sharpest answer.
    pub seeds: u32,
}

fn around(key: String, label: String, unit: &'static str, value: f64) -> Control {
    let (min, max) = (value / REACH, value * REACH);
    Control { key, label, unit, value, min, max, whole: false }
}

impl Controls {
    /// What of a scenario can be changed.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn of(scenario: &Scenario) -> Result<Controls, SpecError> {
        scenario.setup(scenario.seed)?;
        let file = &scenario.file;
        let mut numbers = Vec::new();
        // A closed loop has no rate.
        if let Ok(rate) = scenario.rate() {
            let (key, label) = (LOAD.to_string(), "offered load".to_string());
            numbers.push(around(key, label, "requests/s", rate));
        }
        for model in file.model.iter().take(SLIDERS_MAX).filter(|m| m.slo_ms.is_finite()) {
            let key = format!("model.{}.slo_ms", model.name);
            numbers.push(around(key, format!("SLO of {}", model.name), "ms", model.slo_ms));
        }
        for (i, device) in file.device.iter().enumerate().take(SLIDERS_MAX) {
            if device.per_model.is_some() || device.holds.is_some() {
                continue;
            }
            let value = f64::from(device.count);
            let max = (value * REACH).min(f64::from(DEVICES_MAX));
            let (key, label) = (format!("device[{i}].count"), format!("devices: {}", device.kind));
            numbers.push(Control { key, label, unit: "", value, min: 1.0, max, whole: true });
        }
        if file.app.len() > 1 {
            for app in file.app.iter().take(SLIDERS_MAX).filter(|a| a.weight > 0.0) {
                let key = format!("app.{}.weight", app.name);
                numbers.push(around(key, format!("share of {}", app.name), "", app.weight));
            }
        }
        if let Some(arrivals) = &file.arrivals
            && let Some(requests) = arrivals.requests
        {
            let value = requests.min(REQUESTS_USUAL) as f64;
            let (min, max) = (value.min(1_000.0), REQUESTS_MAX as f64);
            let (key, label) = (REQUESTS.to_string(), "requests in a run".to_string());
            numbers.push(Control { key, label, unit: "", value, min, max, whole: true });
        }
        let offered = policies::all().map(|table| Offered {
            name: table.about.name,
            what: table.about.what,
            has_max_batch: table.rows.iter().any(|row| row.name == "max_batch"),
        });
        Ok(Controls {
            name: scenario.name.clone(),
            file_sha256: spec_sha256(&[scenario.text()]),
            numbers,
            policies: file.policies.clone(),
            offered: offered.collect(),
            seeds: SEEDS,
        })
    }
}
