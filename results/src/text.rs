//! Texts with parts: `name=value;name=value` of axes and places, and `system[key=value,...]` of policies.

/// The names of `name=value;name=value` with their values.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(';').filter_map(|part| part.split_once('='))
}

/// The value of a name in such a text.
pub fn pair<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    pairs(text).find(|p| p.0 == name).map(|p| p.1)
}

/// Names with their values as such a text.
pub fn joined<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let parts: Vec<String> = pairs.into_iter().map(|(n, v)| format!("{n}={v}")).collect();
    parts.join(";")
}

/// A policy's text in its parts. It need not be right: `PolicySpec` checks it.
///
/// ```
/// use orrery_results::PolicyText;
///
/// let text = PolicyText::new("symphony[dispatch=timeout,timeout_pct=10]");
/// assert_eq!((text.system, text.parameter("timeout_pct")), ("symphony", Some("10")));
/// assert_eq!(text.with("dispatch", "eager"), "symphony[timeout_pct=10,dispatch=eager]");
/// assert_eq!(PolicyText::new("fifo[max_batch=4]").without("max_batch"), "fifo");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyText<'a> {
    /// The system's name.
    pub system: &'a str,
    /// What is in the brackets: `key=value` each.
    pub parameters: Vec<&'a str>,
}

impl<'a> PolicyText<'a> {
    /// The parts of a text.
    pub fn new(text: &'a str) -> PolicyText<'a> {
        let (system, inside) = text.split_once('[').unwrap_or((text, ""));
        let parameters = inside.trim_end_matches(']').split(',');
        PolicyText { system, parameters: parameters.filter(|p| !p.trim().is_empty()).collect() }
    }

    /// The value of a parameter that is given.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find_map(|p| p.trim().strip_prefix(name)?.strip_prefix('='))
    }

    /// The text without a parameter.
    pub fn without(&self, name: &str) -> String {
        self.text(self.others(name))
    }

    /// The text with a parameter at its end.
    pub fn with(&self, name: &str, value: &str) -> String {
        let parameter = format!("{name}={value}");
        let parts: Vec<&str> = self.others(name).into_iter().chain([&*parameter]).collect();
        self.text(parts)
    }

    fn others(&self, name: &str) -> Vec<&'a str> {
        let is_other = |p: &&&str| p.split('=').next().map(str::trim) != Some(name);
        self.parameters.iter().filter(is_other).copied().collect()
    }

    fn text(&self, parts: Vec<&str>) -> String {
        if parts.is_empty() {
            return self.system.to_string();
        }
        format!("{}[{}]", self.system, parts.join(","))
    }
}

/// Each value once, in the order in which they first come.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for value in values {
        if !out.contains(&value) {
            out.push(value);
        }
    }
    out
}

/// Each key once with its values, each once, in the order in which they first come.
pub fn grouped<K: PartialEq, V: PartialEq>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut out: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match out.iter_mut().find(|group| group.0 == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => out.push((key, vec![value])),
        }
    }
    out
}

/// What a policy is without its parameters.
pub fn system_of(policy: &str) -> &str {
    policy.split('[').next().unwrap_or(policy)
}
