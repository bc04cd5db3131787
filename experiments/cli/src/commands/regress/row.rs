//! A value of a baseline: what tells it from all others, and what it is.

use orrery_results::Row;
use serde::{Deserialize, Serialize};

/// A value that is recorded.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct BaselineRow {
    /// As in [`Row::case`].
    pub case: String,
    /// As in [`Row::axes`].
    pub axes: String,
    /// As in [`Row::preset`].
    pub preset: String,
    /// As in [`Row::policy`].
    pub policy: String,
    /// As in [`Row::scope`].
    pub scope: String,
    /// As in [`Row::metric`].
    pub metric: String,
    /// As in [`Row::value`].
    pub value: Option<f64>,
    /// As in [`Row::reason`].
    #[serde(default)]
    pub reason: String,
    /// As in [`Row::ci95_low`].
    #[serde(default)]
    pub ci95_low: Option<f64>,
    /// As in [`Row::ci95_high`].
    #[serde(default)]
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
    pub fn place(&self) -> [&str; 6] {
        [&self.case, &self.axes, &self.preset, &self.policy, &self.scope, &self.metric]
    }

    /// The run that a value is of.
    pub fn cell(&self) -> String {
        let parts = [&self.case, &self.axes, &self.policy, &self.preset];
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

/// How many seeds a list such as `1-5 7-7` has.
fn seed_count(list: &str) -> u64 {
    let one = |part: &str| {
        let (a, b) = part.split_once('-')?;
        Some(b.parse::<u64>().ok()?.saturating_sub(a.parse().ok()?).saturating_add(1))
    };
    list.split(' ').filter_map(one).sum()
}
