//! A value of a baseline: what tells it from all others, and what it is.

use orrery_results::{Row, system_of};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::BTreeSet;

/// A value that is recorded.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct BaselineRow {
    /// As in [`Row::case`].
    pub case: String,
    /// As in [`Row::axes`].
    pub axes: String,
    /// As in [`Row::system`], where that is not the policy's name.
    #[serde(default)]
    pub system: String,
    /// As in [`Row::preset`].
    pub preset: String,
    /// As in [`Row::policy`].
    pub policy: String,
    /// As in [`Row::scope`].
    pub scope: String,
    /// As in [`Row::metric`].
    pub metric: String,
    /// As in [`Row::value`].
    #[serde(deserialize_with = "finite")]
    pub value: Option<f64>,
    /// As in [`Row::reason`].
    #[serde(default)]
    pub reason: String,
    /// As in [`Row::ci95_low`].
    #[serde(default, deserialize_with = "finite")]
    pub ci95_low: Option<f64>,
    /// As in [`Row::ci95_high`].
    #[serde(default, deserialize_with = "finite")]
    pub ci95_high: Option<f64>,
    /// How many seeds are behind a value that was found now.
    #[serde(skip)]
    pub seeds: u64,
}

impl BaselineRow {
    /// A value of a row.
    pub fn of(r: &Row) -> BaselineRow {
        let (ci95_low, ci95_high) = r.ci95().unzip();
        BaselineRow {
            case: r.case.clone(),
            axes: r.axes.clone(),
            system: if r.system == system_of(&r.policy) { String::new() } else { r.system.clone() },
            preset: r.preset.clone(),
            policy: r.policy.clone(),
            scope: r.scope.clone(),
            metric: r.metric.clone(),
            value: r.value,
            reason: r.reason.clone(),
            ci95_low,
            ci95_high,
            seeds: seed_count(&r.seeds),
        }
    }

    /// What tells a value from all others.
    pub fn place(&self) -> [&str; 7] {
        let Self { case, axes, system, preset, policy, scope, metric, .. } = self;
        [case, axes, system, preset, policy, scope, metric]
    }

    /// The first value that has the place of one before it.
    pub fn again(rows: &[BaselineRow]) -> Option<&BaselineRow> {
        let mut seen = BTreeSet::new();
        rows.iter().find(|row| !seen.insert(row.place()))
    }

    /// The run that a value is of.
    pub fn cell(&self) -> String {
        let system = if self.system.is_empty() { &self.policy } else { &self.system };
        let parts = [&self.case, &self.axes, system, &self.preset];
        let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// What a value is of: everything but its metric.
    pub fn group(&self) -> String {
        format!("{} {}", self.cell(), self.scope).trim().to_string()
    }

    /// The same for reading: all requests go without saying.
    pub fn subject(&self) -> String {
        if self.scope == "all" { self.cell() } else { self.group() }
    }

    /// The interval, where there is one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.ci95_low.zip(self.ci95_high)
    }
}

/// A number, or an empty cell: within a tolerance of infinity everything would be the same.
fn finite<'de, D: Deserializer<'de>>(cell: D) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(cell)?;
    match number.filter(|x| !x.is_finite()) {
        Some(x) => Err(de::Error::custom(format!("`{x}`, which is no finite number"))),
        None => Ok(number),
    }
}

/// How many seeds a list such as `1-5 7-7` has.
fn seed_count(list: &str) -> u64 {
    let one = |part: &str| {
        let (a, b) = part.split_once('-')?;
        Some(b.parse::<u64>().ok()?.saturating_sub(a.parse().ok()?).saturating_add(1))
    };
    list.split(' ').filter_map(one).sum()
}
