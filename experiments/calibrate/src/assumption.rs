//! The table of assumptions, each a key of the scenario and the values that it may have.
//!
//! A new one is a row here. It says what it cannot do where a scenario leaves it no place.

use crate::case::Case;
use crate::value::What;
use orrery_run::PolicySpec;
use orrery_run::policies::batch_unit;
use orrery_run::replication::MeasuredSizes;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::LatencyPart;
use orrery_scenario::scenario::file::LatencyLaw;
use toml::{Table, Value};

/// Keys of a scenario with new values.
pub type Changes = Vec<(String, Value)>;

/// What an assumption is tried in.
pub struct World<'a> {
    /// The scenario as it is.
    pub scenario: &'a Scenario,
    /// Its policy.
    pub policy: &'a PolicySpec,
    /// The cases that it is fitted on.
    pub fitted: &'a [&'a Case],
}

/// The values that are tried.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// Between two; `dense` at the lower end.
    Between(f64, f64, bool),
    /// These whole numbers.
    Whole(Vec<u32>),
}

/// An assumption that may explain what is left.
pub struct Assumption {
    /// What it is called.
    pub name: &'static str,
    /// The key that it sets.
    pub key: &'static str,
    /// The unit of its value.
    pub unit: fn(&PolicySpec) -> &'static str,
    /// What it is fitted to.
    pub to: Objective,
    /// The values that are tried; why it cannot be tried.
    pub range: fn(&World<'_>) -> Result<Range, String>,
    /// The keys for a value.
    pub changes: fn(&World<'_>, f64) -> Changes,
}

/// What an assumption is fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// The median latency, or what there is in its place: means carry tails that no delay makes.
    Median,
    /// Median, rate and size of batches.
    Median3,
    /// How far the tail is from the median.
    Tail,
}

impl Objective {
    /// The quantities, where they were measured.
    pub fn what(self) -> &'static [What] {
        match self {
            Objective::Median => &[What::P50],
            Objective::Median3 => &[What::P50, What::Rate, What::Batch],
            Objective::Tail => &[What::P90, What::P99],
        }
    }
}

/// Every assumption.
pub fn all() -> Vec<Assumption> {
    vec![
        Assumption {
            name: "reply delay",
            key: "delays.reply_ms",
            unit: |_| "ms",
            to: Objective::Median,
            range: |w| Ok(Range::Between(0.0, 2.0 * longest_ms(w), true)),
            changes: |_, ms| set("delays.reply_ms", ms),
        },
        Assumption {
            name: "overhead per batch",
            key: "model.NAME.latency",
            unit: |_| "ms",
            to: Objective::Median3,
            range: overhead_range,
            changes: overhead,
        },
        Assumption {
            name: "batch limit",
            key: "policy.NAME.max_batch",
            unit: |policy| batch_unit(policy).unwrap_or_default(),
            to: Objective::Median3,
            range: |w| match batch_unit(w.policy).is_some() {
                true => Ok(Range::Whole(limits())),
                false => Err(format!("`{}` has no parameter `max_batch`", w.policy.system())),
            },
            changes: |w, limit| {
                set(&format!("policy.{}.max_batch", w.policy.system()), limit as i64)
            },
        },
        Assumption {
            name: "noise of execution times",
            key: "noise",
            unit: |_| "sigma",
            to: Objective::Tail,
            range: |_| Ok(Range::Between(0.001, 1.0, true)),
            changes: |_, sigma| set("noise", Table::from_iter(set("lognormal", sigma))),
        },
        Assumption {
            name: "padding up to a measured size",
            key: "model.NAME.between",
            unit: |_| "(0: linear, 1: next)",
            to: Objective::Median3,
            range: |w| match gaps(w).is_empty() {
                true => Err("no size lies between two measured ones".to_string()),
                false => Ok(Range::Whole(vec![0, 1])),
            },
            changes: |w, next| {
                let between = if next == 0.0 { "linear" } else { "next" };
                gaps(w).into_iter().map(|key| (key, Value::from(between))).collect()
            },
        },
        Assumption {
            name: "sharing of a device",
            key: "device.KIND.sharing",
            unit: |_| "",
            to: Objective::Median3,
            range: |_| {
                Err("not tried here: set `lanes` and `sharing` of the device in the scenario"
                    .into())
            },
            changes: |_, _| Vec::new(),
        },
    ]
}

fn set(key: &str, value: impl Into<Value>) -> Vec<(String, Value)> {
    vec![(key.to_string(), value.into())]
}

/// The longest median that was measured.
fn longest_ms(w: &World<'_>) -> f64 {
    let typical =
        |c: &&Case| [What::P50, What::Mean, What::P99].iter().find_map(|w| c.theirs.of(*w));
    w.fitted.iter().filter_map(typical).fold(1.0, f64::max)
}

fn limits() -> Vec<u32> {
    let small = 1..=8;
    small.chain([10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128]).collect()
}

/// The models that the scenario's file lists itself: others have no key of their own.
fn listed(w: &World<'_>) -> Result<Vec<(String, LatencyLaw)>, String> {
    let models = &w.scenario.file.model;
    if list(w, "model").len() != models.len() {
        return Err("models of a zoo, and copies, have no latency of their own to add to".into());
    }
    Ok(models.iter().map(|m| (m.name.clone(), m.latency.clone())).collect())
}

/// A list of tables of the scenario's file.
fn list(w: &World<'_>, key: &str) -> Vec<Value> {
    let text = w.scenario.text().parse::<Table>().unwrap_or_default();
    text.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The keys that say what a batch between two measured sizes takes, of models and zoos that have such sizes.
fn gaps(w: &World<'_>) -> Vec<String> {
    let has_gap = |kind: &MeasuredSizes| {
        kind.between.is_some() && kind.sizes.windows(2).any(|two| two[1] > two[0] + 1)
    };
    let names = w.scenario.model_names().into_iter().zip(w.scenario.measured_sizes());
    let with_gap = names.filter(|(_, kinds)| kinds.iter().any(has_gap));
    let with_gap: Vec<String> =
        with_gap.map(|(name, _)| name.split('#').next().unwrap_or_default().into()).collect();
    let name = |model: Value| Some(model.get("name")?.as_str()?.to_string());
    let own: Vec<String> = list(w, "model").into_iter().filter_map(name).collect();
    let is_of_zoo = with_gap.iter().any(|name| !own.contains(name));
    let zoos = if is_of_zoo { list(w, "zoo").len() } else { 0 };
    let models = own.iter().filter(|name| with_gap.contains(name));
    let models = models.map(|name| format!("model.{name}.between"));
    models.chain((0..zoos).map(|i| format!("zoo[{i}].between"))).collect()
}

/// The smallest fixed part of a law, which may be taken away; why it has none.
fn fixed_ms(law: &LatencyLaw) -> Result<f64, String> {
    match law.least_ms() {
        Some((LatencyPart::Whole, ms)) => Ok(0.9 * ms),
        Some((_, ms)) => Ok(ms),
        None => {
            Err("a latency in proportion to the request's own time has no part for a batch".into())
        }
    }
}

fn overhead_range(w: &World<'_>) -> Result<Range, String> {
    let mut least = f64::INFINITY;
    for (_, law) in listed(w)? {
        least = least.min(fixed_ms(&law)?);
    }
    Ok(Range::Between(-least, longest_ms(w), false))
}

/// A law with so much more for each batch.
fn with_more(law: &LatencyLaw, more: f64) -> LatencyLaw {
    let longer = law.with_ms(|part, ms| match part {
        LatencyPart::Whole => (ms + more).max(1e-6),
        LatencyPart::Fixed => (ms + more).max(0.0),
        LatencyPart::Growing => ms,
    });
    longer.unwrap_or_else(|| law.clone())
}

fn overhead(w: &World<'_>, more: f64) -> Changes {
    let change = |(name, law): (String, LatencyLaw)| {
        let law = Value::try_from(with_more(&law, more)).ok()?;
        Some((format!("model.{name}.latency"), law))
    };
    listed(w).unwrap_or_default().into_iter().filter_map(change).collect()
}
