//! From a name such as `clockwork[estimator=static-mean]` to a policy.
//!
//! A bare name is the system as released (as published, where nothing was released).
//! `preset=paper` starts from what the paper's text says. Every other parameter changes one value.
//! It knows no policy: each file in `sim/src/policy/` has its own table of parameters, and
//! [`orrery_sim::policy::ALL`] lists them. [`crate::policies`] shows the tables.

use crate::error::{SpecError, hint, one_of};
use orrery_sim::jobs::policy as jobs;
use orrery_sim::policy::ALL;
use orrery_sim::policy::parameters::{Configured, Named, Registered, SettingError};
use orrery_sim::tokens::policy as tokens;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

/// A policy and its parameters, ready to be built.
///
/// ```
/// use orrery_scenario::PolicySpec;
///
/// let spec = PolicySpec::parse("fifo[max_batch=4]").unwrap();
/// assert_eq!(spec.system(), "fifo");
/// assert_eq!(spec.name(), "fifo[max_batch=4,drop_expired=false]");
///
/// let error = PolicySpec::parse("fifo[max_bach=4]").unwrap_err().to_string();
/// assert!(error.contains("did you mean `max_batch`?"));
/// ```
pub type PolicySpec = Spec<dyn Configured>;

/// A policy of a registry and its parameters, ready to be built. It derefs to what its world's `Configured` can do.
#[derive(Debug)]
pub struct Spec<K: ?Sized> {
    text: String,
    config: Arc<K>,
}

/// The policies of a world, by name.
pub trait Registry: Named + 'static {
    /// What messages call one.
    const WHAT: &'static str;
    /// What is allowed as one, with an example.
    const ALLOWED: &'static str;

    /// All of them.
    fn all() -> &'static [Registered<Self>];

    /// What is wrong with a name that none of them has, where it is one of another world; `known` are the names.
    fn elsewhere(name: &str, known: &str) -> Option<Fault>;
}

impl Registry for dyn Configured {
    const WHAT: &'static str = "policy";
    const ALLOWED: &'static str = "a policy such as `clockwork` or `fifo[max_batch=4]`";

    fn all() -> &'static [Registered] {
        ALL
    }

    fn elsewhere(name: &str, _: &str) -> Option<Fault> {
        if name.split(':').next().is_some_and(|file| file.ends_with(".py")) {
            let message = format!("`{name}` is a policy in Python, which runs there");
            let remedy = "give it to `orrery.run` or `orrery.arena` in Python (docs/python.md)";
            return Some((message, remedy.into()));
        }
        if jobs::ALL.iter().any(|p| p.about.name == name) {
            let message = format!("`{name}` works on jobs, and here are requests");
            return Some((
                message,
                "give it in a file with `[jobs]`; docs/jobs.md has an example".into(),
            ));
        }
        if tokens::ALL.iter().any(|p| p.about.name == name) {
            let message =
                format!("`{name}` answers token by token, and here batches end as a whole");
            let remedy = "give it in a file with `[tokens]`; docs/tokens.md has an example";
            return Some((message, remedy.into()));
        }
        None
    }
}

impl Registry for dyn jobs::Configured {
    const WHAT: &'static str = "policy of jobs";
    const ALLOWED: &'static str = "a policy of jobs such as `salus[order=srtf]` or `fluid`";

    fn all() -> &'static [Registered<dyn jobs::Configured>] {
        jobs::ALL
    }

    fn elsewhere(name: &str, known: &str) -> Option<Fault> {
        works_on_requests(name, "jobs", known)
    }
}

impl Registry for dyn tokens::Configured {
    const WHAT: &'static str = "policy of tokens";
    const ALLOWED: &'static str =
        "a policy of tokens such as `continuous[order=edf,drop=infeasible]`";

    fn all() -> &'static [Registered<dyn tokens::Configured>] {
        tokens::ALL
    }

    fn elsewhere(name: &str, known: &str) -> Option<Fault> {
        works_on_requests(name, "tokens", known)
    }
}

/// What is wrong with a name that is one of requests.
fn works_on_requests(name: &str, on: &str, known: &str) -> Option<Fault> {
    ALL.iter().any(|p| p.about.name == name).then(|| {
        let message = format!("`{name}` works on requests, and here are {on}");
        (message, format!("use a policy of {on}: {known}"))
    })
}

impl<K: ?Sized> Clone for Spec<K> {
    fn clone(&self) -> Spec<K> {
        Spec { text: self.text.clone(), config: Arc::clone(&self.config) }
    }
}

/// The text says everything.
impl<K: ?Sized> PartialEq for Spec<K> {
    fn eq(&self, other: &Spec<K>) -> bool {
        self.text == other.text
    }
}

impl<K: ?Sized> Deref for Spec<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.config
    }
}

impl<K: Registry + ?Sized> Spec<K> {
    /// Reads a policy's name and parameters.
    ///
    /// # Errors
    /// When the name or a parameter is unknown (the nearest one is offered), or a value is wrong.
    pub fn parse(text: &str) -> Result<Spec<K>, SpecError> {
        let (name, given) = split(text)?;
        let policy = registered::<K>(name).map_err(|e| of(text, e))?;
        let config = policy.parse(&given).map_err(|e| wrong(text, &e))?;
        Ok(Spec { text: text.to_string(), config: config.into() })
    }

    /// The policy of the text at a key of a file.
    ///
    /// # Errors
    /// As [`Spec::parse`], with the key.
    pub fn parse_at(key: String, text: &str) -> Result<Spec<K>, SpecError> {
        Spec::parse(text).map_err(|error| match error {
            SpecError::Policy { policy, message, remedy } => {
                SpecError::value(key, format!("`{policy}`: {message}"), K::ALLOWED, remedy)
            }
            other => other,
        })
    }
}

impl<K: ?Sized> Spec<K> {
    /// The system's name.
    pub fn system(&self) -> &str {
        orrery_results::system_of(&self.text)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl PolicySpec {
    /// A policy that is not in the registry, such as a user's own in another language. `text` stands for
    /// it in results.
    pub fn custom(text: &str, config: Arc<dyn Configured>) -> PolicySpec {
        PolicySpec { text: text.to_string(), config }
    }

    /// Passes when the policy can do on these devices what it is known for: Shepherd stops batches
    /// that run. Where a device cannot, the policy would be another one of the same name.
    ///
    /// # Errors
    /// When it cannot; the message says what to add.
    pub fn check_devices(&self, all_can_preempt: bool) -> Result<(), SpecError> {
        if all_can_preempt || !self.config.preempts() {
            return Ok(());
        }
        Err(SpecError::Policy {
            policy: self.text.clone(),
            message: "it stops running batches, and here is a device that cannot".to_string(),
            remedy:
                "add `can_preempt = true` to every `[[device]]` (an `[[instance]]` in a plan), \
                     or choose another policy: without preemption, `eager` is close"
                    .to_string(),
        })
    }

    /// Why a run of it takes minutes or hours where the load is too high, if it does.
    pub fn why_slow(&self) -> Option<String> {
        let why = self.config.why_slow()?;
        Some(format!("{}: {why}", self.text()))
    }

    /// The largest batch that it makes, where a parameter says so.
    pub fn batch_max(&self) -> Option<u32> {
        self.config.value("max_batch")?.parse().ok()
    }

    /// Where it plans once, beforehand: for rates of the models that fall as `1 / rank^skew`.
    pub fn planned_skew(&self) -> Option<f64> {
        let plan = self.config.value("plan").filter(|plan| *plan == "static");
        plan.and(self.config.value("skew"))?.parse().ok()
    }

    /// That it does, where there is none.
    pub fn without_profiler(&self) -> SpecError {
        let is_set = |key: &&str| self.config.value(key).is_some_and(|value| value != "0");
        let keys = ["relearn_every", "relearn_every_s"];
        let key = keys.into_iter().find(|key| is_set(key)).unwrap_or(keys[0]);
        SpecError::Policy {
            policy: self.text.clone(),
            message: format!("{key} needs a profiler, and there is none"),
            remedy: format!(
                "add `[profiler]` to the scenario (`every = 1`, `delay_ms = 0.0`), or remove `{key}`"
            ),
        }
    }

    /// Passes when a histogram is profiled with at least as many bins as the policy wants.
    ///
    /// # Errors
    /// When it has fewer: finer ones would hold nothing that was measured.
    pub fn check_bins(&self, profiled: usize) -> Result<(), SpecError> {
        let wanted = self.config.value("bins").and_then(|bins| bins.parse::<usize>().ok());
        match wanted.filter(|bins| *bins > profiled) {
            None => Ok(()),
            Some(bins) => Err(SpecError::Policy {
                policy: self.text.clone(),
                message: format!(
                    "it wants {bins} bins, and histograms are profiled with {profiled}"
                ),
                remedy: format!("set `profile.bins` to {bins} or more, or lower `bins`"),
            }),
        }
    }
}

impl<K: ?Sized> fmt::Display for Spec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<K: Registry + ?Sized> FromStr for Spec<K> {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        Spec::parse(text)
    }
}

/// What is wrong with a policy's text, and the remedy.
pub type Fault = (String, String);

/// The error of a policy's text.
pub fn of(text: &str, (message, remedy): Fault) -> SpecError {
    SpecError::Policy { policy: text.to_string(), message, remedy }
}

/// Keys with their values, in the order of the text.
pub type Given<'a> = Vec<(&'a str, &'a str)>;

/// A name, and the keys and values in its brackets: `name[key=value,...]`.
pub fn split(text: &str) -> Result<(&str, Given<'_>), SpecError> {
    let form = "write it as name[key=value,key=value]";
    let fault = |message: String, remedy: &str| of(text, (message, remedy.to_string()));
    let Some((name, rest)) = text.split_once('[') else { return Ok((text.trim(), Vec::new())) };
    let Some(inner) = rest.trim_end().strip_suffix(']') else {
        return Err(fault("the bracket is not closed".into(), form));
    };
    let mut given = Given::new();
    for part in inner.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let Some((key, value)) = part.split_once('=') else {
            return Err(fault(format!("`{part}` has no `=`"), form));
        };
        let (key, value) = (key.trim(), value.trim());
        if given.iter().any(|g| g.0 == key) {
            return Err(fault(format!("`{key}` is given twice"), "give each parameter once"));
        }
        given.push((key, value));
    }
    Ok((name.trim(), given))
}

/// The policy of a name; without one, the nearest and all of them.
pub fn registered<K: Registry + ?Sized>(name: &str) -> Result<&'static Registered<K>, Fault> {
    K::all().iter().find(|p| p.about.name == name).ok_or_else(|| {
        let names: Vec<&str> = K::all().iter().map(|p| p.about.name).collect();
        let known = names.join(", ");
        K::elsewhere(name, &known).unwrap_or_else(|| {
            let hint = hint(name, names.iter().copied());
            (
                format!("there is no {} `{name}`", K::WHAT),
                format!("{hint}name {}", one_of(name, names)),
            )
        })
    })
}

/// The error of a setting that a policy refuses, with the keys that it has.
pub fn wrong(text: &str, error: &SettingError) -> SpecError {
    let remedy = match error {
        SettingError::Unknown { key, known } if known.is_empty() => {
            format!("remove `{key}`: the policy has no parameters")
        }
        SettingError::Unknown { key, known } => {
            let hint = hint(key, known.iter().copied());
            format!("{hint}allowed: {}", one_of(key, known.iter().copied()))
        }
        SettingError::Needs { key, needs } => format!("add `{needs}`, or remove `{key}`"),
        SettingError::Value { key, .. } => format!("correct or remove `{key}`"),
    };
    of(text, (error.to_string(), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies;
    use orrery_sim::latency::Latency;
    use orrery_sim::policy::parameters::{About, Allowed, Row, Table};
    use orrery_sim::profile::ModelProfile;
    use orrery_sim::time::Span;

    fn profile() -> ModelProfile {
        let draw = || (0, Span::from_ms(10));
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, Span::from_ms(100), &[1, 2, 4, 8, 16], 2, draw, 4)
    }

    /// Every policy with its defaults, in every preset, with every word and at every bound of every
    /// parameter; the parameter that it needs comes first.
    fn texts() -> Vec<String> {
        let of_row = |name: &str, row: &Row| {
            let value = |v: &String| match row.needs {
                Some((key, needed)) => format!("{name}[{key}={needed},{}={v}]", row.name),
                None => format!("{name}[{}={v}]", row.name),
            };
            allowed(row).iter().chain(&row.defaults).map(value).collect::<Vec<_>>()
        };
        let of_policy = |table: Table| {
            let name = table.about.name;
            let presets = table.presets.iter().filter(|_| table.presets.len() > 1);
            let presets = presets.map(|p| format!("{name}[preset={}]", p.0));
            let rows = table.rows.iter().flat_map(|row| of_row(name, row));
            std::iter::once(name.to_string()).chain(presets).chain(rows).collect::<Vec<_>>()
        };
        policies::all().flat_map(of_policy).collect()
    }

    /// Values that a row allows: words, bounds.
    fn allowed(row: &Row) -> Vec<String> {
        match &row.allowed {
            Allowed::Count { least, most, or } => {
                let word = or.map(str::to_string).into_iter();
                word.chain([least, most].map(u32::to_string)).collect()
            }
            Allowed::Number { least, most } | Allowed::Time { least, most } => {
                [least, most].map(f64::to_string).to_vec()
            }
            Allowed::Flag => vec!["true".into(), "false".into()],
            Allowed::Words(words) => words.iter().map(|w| w.0.to_string()).collect(),
        }
    }

    /// Values that it does not allow.
    fn refused(row: &Row) -> Vec<String> {
        let mut refused = vec![String::new(), "certainly-not".into(), "-1".into(), "NaN".into()];
        match row.allowed {
            Allowed::Count { least, most, .. } => {
                refused.extend(least.checked_sub(1).map(|n| n.to_string()));
                refused.extend([(u64::from(most) + 1).to_string(), "1.5".into()]);
            }
            Allowed::Number { least, most } | Allowed::Time { least, most } => {
                refused.extend([(least - 1e-13).to_string(), (most * 1.001).to_string()]);
            }
            Allowed::Flag | Allowed::Words(_) => refused.push("True".into()),
        }
        refused
    }

    #[test]
    fn a_policy_s_own_name_builds_the_same_policy() {
        let texts = texts();
        assert!(texts.len() > 200, "{}", texts.len());
        for text in texts {
            let spec = PolicySpec::parse(&text).unwrap_or_else(|e| panic!("{e}"));
            let again = PolicySpec::parse(&spec.name()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(format!("{:?}", again.config), format!("{:?}", spec.config), "{text}");
            assert!(spec.name().starts_with(spec.system()));
        }
        for text in policies::all().map(|t| t.about.name) {
            let spec = PolicySpec::parse(text).unwrap();
            assert_eq!(spec.build(&[profile()], 1).name(), spec.name());
        }
    }

    #[test]
    fn a_table_s_defaults_are_those_of_a_bare_name_and_of_its_presets() {
        for table in policies::all() {
            let name = table.about.name;
            assert_eq!(table.name, PolicySpec::parse(name).unwrap().name());
            for (i, (preset, _)) in table.presets.iter().enumerate() {
                let spec = |more: &str| {
                    let chosen = if i == 0 { String::new() } else { format!("preset={preset},") };
                    PolicySpec::parse(&format!("{name}[{chosen}{more}]")).unwrap()
                };
                for row in &table.rows {
                    let default = &row.defaults[i];
                    let needs = row.needs.map_or(String::new(), |(k, v)| format!("{k}={v},"));
                    let bare = spec(&needs);
                    assert_eq!(bare.config.value(row.name).as_ref(), Some(default));
                    let said = spec(&format!("{needs}{}={default}", row.name));
                    assert_eq!(said.name(), bare.name(), "{}: {}", name, row.name);
                }
            }
        }
    }

    #[test]
    fn what_a_row_does_not_allow_is_refused_and_so_is_a_row_without_what_it_needs() {
        for table in policies::all() {
            for row in &table.rows {
                let needs = row.needs.map_or(String::new(), |(k, v)| format!("{k}={v},"));
                for value in refused(row) {
                    let text = format!("{}[{needs}{}={value}]", table.about.name, row.name);
                    let error = PolicySpec::parse(&text).expect_err(&text).to_string();
                    let says = format!("`{}`: found `{value}`; allowed: {}", row.name, row.allowed);
                    assert!(error.contains(&says), "{error}");
                }
                let Some((key, value)) = row.needs else { continue };
                let default = &row.defaults[0];
                let text = format!("{}[{}={default}]", table.about.name, row.name);
                let error = PolicySpec::parse(&text).expect_err(&text).to_string();
                assert!(error.contains(&format!("add `{key}={value}`, or remove")), "{error}");
            }
        }
    }

    #[test]
    fn every_row_says_what_it_is() {
        for table in policies::all() {
            let About { name, what, paper } = table.about;
            assert!(!what.is_empty() && !paper.is_empty(), "{name}");
            for row in &table.rows {
                assert!(row.help.len() > 10 && !row.help.ends_with('.'), "{name}: {}", row.name);
                let is_time = matches!(row.allowed, Allowed::Time { .. });
                let has_unit = !["", "items"].contains(&row.unit);
                assert_eq!(is_time, has_unit, "{name}: {}", row.name);
                assert!(!is_time || row.name.ends_with(&format!("_{}", row.unit)));
            }
        }
    }

    #[test]
    fn an_epoch_is_the_longest_time_until_a_policy_plans_anew() {
        let epoch_s = |text: &str| {
            PolicySpec::parse(text).unwrap().epoch().map(|epoch| epoch.as_ms_f64() / 1e3)
        };
        assert_eq!(epoch_s("nexus-cluster"), Some(30.0));
        assert_eq!(epoch_s("nexus-cluster[preset=paper]"), Some(10.0));
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=45000]"), Some(45.0));
        // The first plan needs the history, whatever the epoch.
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=2000,history=5]"), Some(5.0));
        assert_eq!(epoch_s("nexus-cluster[epoch_ms=2000,history=5,beacon_ms=100]"), Some(2.0));
        assert_eq!(epoch_s("nexus-cluster[plan=static]"), None);
        assert_eq!(epoch_s("nexus-cluster[plan=full]"), None);
        // What serves for the first seconds is not what serves after that.
        assert_eq!(epoch_s("infaas"), Some(20.0));
        assert_eq!(epoch_s("infaas[down_checks=2]"), Some(6.0));
        for table in
            policies::all().filter(|t| !["nexus-cluster", "infaas"].contains(&t.about.name))
        {
            assert_eq!(epoch_s(table.about.name), None);
        }
    }

    #[test]
    fn errors_offer_the_nearest_name_and_the_allowed_values() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err().to_string();
        assert!(error("clockwrok").contains("did you mean `clockwork`"));
        assert!(error("clockwork[estimater=static-mean]").contains("did you mean `estimator`"));
        assert!(
            error("clockwork[estimator=median]")
                .contains("allowed: p99-of-10, window-mean, static-mean")
        );
        assert!(error("nexus[batch=0]").contains("a whole number from 1 to 4096"));
        assert!(error("nexus[batch=4").contains("not closed"));
        assert!(error("nexus-cluster[plan=never]").contains("allowed: dynamic, static, full"));
        assert!(error("nexus-cluster[beacon_ms=0]").contains("a number from"));
        assert!(error("nexus[batch=4,batch=5]").contains("twice"));
        assert!(error("orloj[b_per_ms=-1]").contains("a number from"));
        assert!(error("symphony[gpu=first]").contains("allowed: earliest-free, smallest-id"));
        assert!(error("symphony[timeout_pct=20]").contains("add `dispatch=timeout`"));
        assert!(error("symphony[timeout_pt=20]").contains("did you mean `timeout_pct`"));
        assert!(error("ribbon[a=1]").contains("the policy has no parameters"));
        assert!(error("").contains("there is no policy"));
        let python = error("mine.py:Mine");
        assert!(
            python.contains("a policy in Python") && python.contains("`orrery.run`"),
            "{python}"
        );
    }
}
