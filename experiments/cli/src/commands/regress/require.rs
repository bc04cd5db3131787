//! Requirements of a baseline: a metric of a policy is at least, or at most, some value, whatever was recorded.
//!
//! A value is judged with its 95 % interval. Only one that lies on the required side as a whole meets a requirement;
//! where the bound is within the interval, the runs cannot tell, and the gate does not pass.

use super::noise::seeds_to_decide;
use super::row::BaselineRow;
use orrery_report::page::{Tone, reading};
use orrery_results::{Row, difference_in, metric, range, system_of};
use orrery_run::SpecError;
use orrery_run::error::nearest;
use orrery_sweep::metrics::known_metric;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A table `[[require]]` of a baseline.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The policy, with its parameters, or without for all policies of that name.
    pub policy: String,
    /// The metric.
    pub metric: String,
    /// Its least value, or
    pub min: Option<f64>,
    /// its largest.
    pub max: Option<f64>,
    /// Of the requests of this model only.
    pub model: Option<String>,
}

/// How a requirement came out in one setting; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// None of the interval is on the required side.
    Missed,
    /// There is no value.
    NoAnswer,
    /// The bound is within the interval.
    Undecided,
    /// The whole interval is on the required side.
    Met,
}

/// A requirement that was judged on one value.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The requirement.
    pub requirement: Requirement,
    /// Its line in the file.
    pub line: usize,
    /// The value.
    pub row: BaselineRow,
    /// How it came out.
    pub verdict: Verdict,
}

impl Requirement {
    /// Passes when it can be judged; `i` is its number.
    ///
    /// # Errors
    /// Names the key.
    pub fn check(&self, i: usize) -> Result<(), SpecError> {
        let key = |name: &str| format!("require[{i}].{name}");
        known_metric(&key("metric"), &self.metric)?;
        if difference_in(&self.metric).is_some() {
            let found = format!("`{}`", self.metric);
            let remedy = "require something of the metric itself";
            return Err(SpecError::value(key("metric"), found, "a metric of one policy", remedy));
        }
        let (name, bound) = match (self.min, self.max) {
            (Some(min), None) => ("min", min),
            (None, Some(max)) => ("max", max),
            (a, _) => {
                let found = if a.is_some() { "`min` and `max`" } else { "neither `min` nor `max`" };
                let remedy = "give one of them; for both, write two `[[require]]`";
                let place = format!("require[{i}]");
                return Err(SpecError::value(place, found, "`min` or `max`", remedy));
            }
        };
        let (least, most) = range(&self.metric);
        if bound.is_finite() && (least..=most).contains(&bound) {
            return Ok(());
        }
        let unit = metric::find(&self.metric).map_or("", |m| m.unit);
        let allowed = match most.is_finite() {
            true => format!("a number from {least} to {most}"),
            false => format!("a number of {unit}, at least {least}"),
        };
        let remedy = match most {
            1.0 if (1.0..=100.0).contains(&bound) => {
                format!(
                    "`{}` is a share: for {bound} % write `{name} = {}`",
                    self.metric,
                    bound / 100.0
                )
            }
            1.0 => format!("`{}` is a share: correct `{name}`", self.metric),
            _ => format!("`{}` is in {unit}: correct `{name}`", self.metric),
        };
        Err(SpecError::value(key(name), bound, allowed, remedy))
    }

    /// The bound, for reading: as it was written, in the unit in which the metric is read.
    fn bound(&self) -> String {
        let (word, bound) = match (self.min, self.max) {
            (Some(min), _) => ("at least", min),
            (_, max) => ("at most", max.unwrap_or(f64::NAN)),
        };
        format!("{word} {}{}", bound / metric::reading(&self.metric).divisor, self.unit())
    }

    /// The unit in which the metric is read, after a space; none of a share.
    fn unit(&self) -> String {
        match metric::reading(&self.metric).unit {
            "share" => String::new(),
            unit => format!(" {unit}"),
        }
    }

    /// Those of some policies that it is about.
    ///
    /// # Errors
    /// When it is about none of them.
    pub fn policies<'a>(
        &self,
        i: usize,
        known: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeSet<&'a str>, SpecError> {
        let known: BTreeSet<&str> = known.collect();
        let is_whole = known.contains(self.policy.as_str());
        let is_own = |name: &&&str| match is_whole {
            true => **name == self.policy,
            false => system_of(name) == self.policy,
        };
        let own: BTreeSet<&str> = known.iter().filter(is_own).copied().collect();
        match own.is_empty() {
            true => Err(absent((format!("require[{i}].policy"), "policy"), &self.policy, &known)),
            false => Ok(own),
        }
    }

    /// Judges it on each value that it is about.
    ///
    /// # Errors
    /// When there is none: the policy, the model or the metric is none of what was rerun.
    pub fn judge(&self, i: usize, line: usize, rows: &[Row]) -> Result<Vec<Judged>, SpecError> {
        let scope = self.model.as_ref().map_or("all".to_string(), |model| format!("model {model}"));
        let own = self.policies(i, rows.iter().map(|r| r.policy.as_str()))?;
        let of_policy: Vec<&Row> =
            rows.iter().filter(|r| own.contains(r.policy.as_str())).collect();
        let of_scope: Vec<&Row> = of_policy.into_iter().filter(|r| r.scope == scope).collect();
        if let (true, Some(model)) = (of_scope.is_empty(), &self.model) {
            let models = rows.iter().filter_map(|r| r.scope.strip_prefix("model ")).collect();
            return Err(absent((format!("require[{i}].model"), "model"), model, &models));
        }
        let own: Vec<&&Row> = of_scope.iter().filter(|r| r.metric == self.metric).collect();
        if own.is_empty() {
            let metrics = of_scope.iter().map(|r| r.metric.as_str()).collect();
            return Err(absent((format!("require[{i}].metric"), "metric"), &self.metric, &metrics));
        }
        let one = |row: &&&Row| {
            let row = BaselineRow::of(row);
            Judged { requirement: self.clone(), line, verdict: self.verdict(&row), row }
        };
        Ok(own.iter().map(one).collect())
    }

    fn verdict(&self, row: &BaselineRow) -> Verdict {
        let Some(value) = row.value else { return Verdict::NoAnswer };
        // A number that is counted has no interval: it is judged as it is.
        let (low, high) = row.interval().unwrap_or((value, value));
        let (is_met, is_missed) = match (self.min, self.max) {
            (Some(min), _) => (low >= min, high < min),
            (_, max) => (max.is_some_and(|max| high <= max), max.is_some_and(|max| low > max)),
        };
        match (is_met, is_missed) {
            (true, _) => Verdict::Met,
            (_, true) => Verdict::Missed,
            _ => Verdict::Undecided,
        }
    }
}

/// That nothing of what was rerun has this name.
pub fn absent((place, key): (String, &str), name: &str, known: &BTreeSet<&str>) -> SpecError {
    let all: Vec<&str> = known.iter().copied().collect();
    let allowed = match all.is_empty() {
        true => format!("no {key}: nothing that was rerun has values for each"),
        false => format!("one of what was rerun: {}", all.join(", ")),
    };
    let remedy = match nearest(name, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None if key == "model" => "without `model` it is about all requests".to_string(),
        None => format!("correct `{key}`"),
    };
    SpecError::value(place, format!("`{name}`"), allowed, remedy)
}

impl Verdict {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::Missed => "missed",
            Verdict::Undecided => "undecided",
            Verdict::NoAnswer => "no answer",
        }
    }

    /// How it is marked.
    pub fn tone(self) -> Tone {
        match self {
            Verdict::Met => Tone::Good,
            Verdict::Undecided => Tone::Mixed,
            Verdict::Missed | Verdict::NoAnswer => Tone::Bad,
        }
    }
}

impl Judged {
    /// Whether it is met.
    pub fn is_met(&self) -> bool {
        self.verdict == Verdict::Met
    }

    /// What was required: `finish_rate of clockwork, at least 0.99`.
    pub fn asked(&self) -> String {
        let Judged { requirement, row, .. } = self;
        format!("{} of {}, {}", requirement.metric, row.subject(), requirement.bound())
    }

    /// What was found, with its interval: `0.9906 (0.9860 to 0.9952)`.
    pub fn found(&self) -> String {
        let Some(value) = self.row.value else {
            return format!("no answer ({})", self.row.reason);
        };
        let own = metric::reading(&self.row.metric);
        let bound = self.requirement.min.or(self.requirement.max);
        let read = |x: f64| {
            let (text, x) = (reading(&self.row.metric, x), x / own.divisor);
            // Rounded it may look like the bound that it is not.
            let is_bound =
                |text: &String| bound.is_some_and(|b| text.parse() == Ok(b / own.divisor));
            let more = (4..17).map(|digits| format!("{x:.digits$}"));
            let exact = bound.is_some_and(|b| x == b / own.divisor);
            let mut all = std::iter::once(text.clone()).chain(more);
            all.find(|text| exact || !is_bound(text)).unwrap_or(text)
        };
        let unit = self.requirement.unit();
        match self.row.interval() {
            Some((low, high)) => {
                format!("{}{unit} ({} to {})", read(value), read(low), read(high))
            }
            None => format!("{}{unit}", read(value)),
        }
    }

    /// About how many seeds would decide an undecided one, in words.
    pub fn remedy(&self) -> String {
        if self.verdict != Verdict::Undecided {
            return String::new();
        }
        let bound = self.requirement.min.or(self.requirement.max);
        let ends = self.row.interval().zip(self.row.value).zip(bound);
        let needed = ends.and_then(|(((low, high), value), bound)| {
            // One end may be cut off at what is possible.
            let half = (value - low).max(high - value);
            seeds_to_decide(self.row.seeds, half, (value - bound).abs())
        });
        match needed {
            Some(n) => format!("about {n} seeds would decide"),
            None => "more seeds may not decide: the value is too near the bound".to_string(),
        }
    }
}
