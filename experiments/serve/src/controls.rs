//! What of a scenario can be changed on the page: keys of the file, with units and bounds.

use orrery_results::{metric, system_of};
use orrery_scenario::SpecError;
use orrery_scenario::limits::DEVICES_MAX;
use orrery_scenario::policies;
use orrery_scenario::scenario::Scenario;
use orrery_sweep::hash::spec_sha256;
use serde::Serialize;

/// The offered load, whatever its process is called in the file.
pub const LOAD: &str = "load";
/// The largest batch of every policy that has one.
pub const BATCH_MAX: &str = "max_batch";
const BATCH_LIMIT: f64 = 64.0;
/// How unlike the applications are.
pub const POPULARITY: &str = "popularity.zipf";
const ZIPF_MAX: f64 = 2.0;
/// How many requests a run has.
pub const REQUESTS: &str = "arrivals.requests";
/// A page asks for no longer runs, and no more seeds.
pub const REQUESTS_MAX: u64 = 200_000;
pub const SEEDS_MAX: u32 = 20;
pub const SEEDS: u32 = 5;
const REQUESTS_USUAL: u64 = 20_000;
/// A slider reaches from a tenth of the file's value to ten times it.
pub(super) const REACH: f64 = 10.0;
/// More models or kinds than that have no sliders.
pub(super) const SLIDERS_MAX: usize = 12;

/// The metrics that a page shows, in its order; the first has its interval and a bar beside it.
pub(super) const SHOWN: [&str; 6] = [
    metric::FINISH_RATE,
    metric::GOODPUT,
    metric::LATENCY_P50,
    metric::LATENCY_P99,
    metric::MEAN_BATCH_SIZE,
    metric::UTILISATION,
];

/// A column of the answer.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// The metric.
    pub metric: &'static str,
    /// Its heading, with its unit.
    pub heading: &'static str,
    /// What its values are divided by for reading.
    pub divisor: f64,
}

/// The columns beside the first metric's.
fn columns() -> Vec<Column> {
    let column = |name: &&'static str| {
        let found = metric::find(name)?;
        let (heading, divisor) = (found.page?, found.reading.divisor);
        Some(Column { metric: name, heading, divisor })
    };
    SHOWN[1..].iter().filter_map(column).collect()
}

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
    /// What 0 means, where it is among the values.
    pub zero: &'static str,
}

/// One of several words.
#[derive(Clone, Debug, Serialize)]
pub struct Menu {
    /// The key.
    pub key: String,
    /// For reading.
    pub label: String,
    /// As in the file.
    pub value: String,
    /// What is allowed.
    pub values: Vec<String>,
}

impl Control {
    /// A number within the bounds.
    ///
    /// # Errors
    /// When it is beyond them, or none. `back` is the way back.
    pub fn number(&self, text: &str, back: &str) -> Result<f64, SpecError> {
        let Control { min, max, whole, .. } = *self;
        let is_one = |x: &f64| *x >= min && *x <= max && (!whole || x.fract() == 0.0);
        text.parse::<f64>().ok().filter(is_one).ok_or_else(|| {
            let kind = if whole { "a whole number" } else { "a number" };
            let allowed = format!("{kind} from {min} to {max}");
            SpecError::value(&self.label, format!("`{text}`"), allowed, back)
        })
    }
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
    /// Metrics that are shown.
    pub columns: Vec<Column>,
    /// Seeds of the last and sharpest answer.
    pub seeds: u32,
}

/// The exponent of the file; 0 where all applications are alike.
fn zipf(scenario: &Scenario) -> f64 {
    let file: Option<toml::Table> = toml::from_str(&scenario.text()).ok();
    let zipf = file.as_ref().and_then(|file| file.get("popularity")?.get("zipf"));
    zipf.and_then(|x| x.as_float().or(x.as_integer().map(|n| n as f64))).unwrap_or(0.0)
}

/// Whether a policy has a largest batch, by its text.
pub fn has_batch_max(text: &str) -> bool {
    let name = system_of(text);
    let mut tables = policies::all().filter(|table| table.about.name == name);
    tables.any(|table| table.rows.iter().any(|row| row.name == BATCH_MAX))
}

pub(super) fn count(key: String, label: String, (value, min, max): (f64, f64, f64)) -> Control {
    Control { key, label, unit: "", value, min, max, whole: true, zero: "" }
}

pub(super) fn around(key: String, label: String, unit: &'static str, value: f64) -> Control {
    let (min, max) = (value / REACH, value * REACH);
    Control { key, label, unit, value, min, max, whole: false, zero: "" }
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
            let (key, label) =
                (format!("{}.count", scenario.device_key(i)), format!("devices: {}", device.kind));
            numbers.push(count(key, label, (value, 1.0, max)));
        }
        if file.app.len() > 1 {
            for app in file.app.iter().take(SLIDERS_MAX).filter(|a| a.weight > 0.0) {
                let key = format!("app.{}.weight", app.name);
                numbers.push(around(key, format!("share of {}", app.name), "", app.weight));
            }
            // The applications' own weights are what it multiplies.
            let label = "popularity: exponent of Zipf's distribution".to_string();
            let (key, value, zero) = (POPULARITY.to_string(), zipf(scenario), "all alike");
            let (unit, min, max) = ("", 0.0, ZIPF_MAX);
            numbers.push(Control { key, label, unit, value, min, max, whole: false, zero });
        }
        if let Some(arrivals) = &file.arrivals
            && let Some(requests) = arrivals.requests
        {
            let value = requests.min(REQUESTS_USUAL) as f64;
            let (min, max) = (value.min(1_000.0), REQUESTS_MAX as f64);
            let (key, label) = (REQUESTS.to_string(), "requests in a run".to_string());
            numbers.push(count(key, label, (value, min, max)));
        }
        if file.policies.iter().any(|text| has_batch_max(text)) {
            let (key, label) = (BATCH_MAX.to_string(), "largest batch".to_string());
            let zero = "each policy's own";
            numbers.push(Control { zero, ..count(key, label, (0.0, 0.0, BATCH_LIMIT)) });
        }
        let offered = policies::all().map(|table| Offered {
            name: table.about.name,
            what: table.about.what,
            has_max_batch: has_batch_max(table.about.name),
        });
        Ok(Controls {
            name: scenario.name.clone(),
            file_sha256: spec_sha256(&[&scenario.text()]),
            numbers,
            policies: file.policies.clone(),
            offered: offered.collect(),
            columns: columns(),
            seeds: SEEDS,
        })
    }
}
