//! What of a scenario can be changed on the page: keys of the file, with units and bounds.

use orrery_results::{metric, system_of};
use orrery_run::SpecError;
use orrery_run::limits::DEVICES_MAX;
use orrery_run::policies;
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
    /// The values that the page offers.
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
    /// The name that a scenario gives it.
    pub name: &'static str,
    /// Its line in `orrery policies`.
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

pub(super) fn count(key: &str, label: &str, (value, min, max): (f64, f64, f64)) -> Control {
    let (key, label) = (key.to_string(), label.to_string());
    Control { key, label, unit: "", value, min, max, whole: true, zero: "" }
}

pub(super) fn around(key: &str, label: &str, unit: &'static str, value: f64) -> Control {
    let within = (value, value / REACH, value * REACH);
    Control { unit, whole: false, ..count(key, label, within) }
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
            numbers.push(around(LOAD, "offered load", "requests/s", rate));
        }
        for model in file.model.iter().take(SLIDERS_MAX).filter(|m| m.slo_ms.is_finite()) {
            let key = format!("model.{}.slo_ms", model.name);
            numbers.push(around(&key, &format!("SLO of {}", model.name), "ms", model.slo_ms));
        }
        for (i, device) in file.device.iter().enumerate().take(SLIDERS_MAX) {
            if device.per_model.is_some() || device.holds.is_some() {
                continue;
            }
            let value = f64::from(device.count);
            let max = (value * REACH).min(f64::from(DEVICES_MAX));
            let key = format!("{}.count", scenario.device_key(i));
            numbers.push(count(&key, &format!("devices: {}", device.kind), (value, 1.0, max)));
        }
        if file.app.len() > 1 {
            for app in file.app.iter().take(SLIDERS_MAX).filter(|a| a.weight > 0.0) {
                let key = format!("app.{}.weight", app.name);
                numbers.push(around(&key, &format!("share of {}", app.name), "", app.weight));
            }
            // The applications' own weights are what it multiplies.
            let label = "popularity: exponent of Zipf's distribution";
            let zipf = count(POPULARITY, label, (zipf(scenario), 0.0, ZIPF_MAX));
            numbers.push(Control { whole: false, zero: "all alike", ..zipf });
        }
        if let Some(arrivals) = &file.arrivals
            && let Some(requests) = arrivals.requests
        {
            let value = requests.min(REQUESTS_USUAL) as f64;
            let (min, max) = (value.min(1_000.0), REQUESTS_MAX as f64);
            numbers.push(count(REQUESTS, "requests in a run", (value, min, max)));
        }
        if file.policies.iter().any(|text| has_batch_max(text)) {
            let limit = count(BATCH_MAX, "largest batch", (0.0, 0.0, BATCH_LIMIT));
            numbers.push(Control { zero: "each policy's own", ..limit });
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
