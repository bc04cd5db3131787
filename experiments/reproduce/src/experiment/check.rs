//! Whether an experiment's values make sense. What is run is checked by its kind.

use super::{Experiment, Parts, System};
use orrery_results::{distinct, pairs};
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_run::limits::{SEEDS_MAX, count};
use orrery_sweep::grid;
use orrery_sweep::metrics::known_metric;
use std::collections::BTreeSet;
use toml::Value;

/// The strings that stand at a key, wherever that is, in the scenario's text too.
fn strings_at(value: &Value, key: &str, out: &mut Vec<String>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(k, v)| match v {
            Value::String(text) if k == key => out.push(text.clone()),
            Value::String(text) if k == "scenario" => {
                if let Ok(scenario) = text.parse() {
                    strings_at(&Value::Table(scenario), key, out);
                }
            }
            v => strings_at(v, key, out),
        }),
        Value::Array(all) => all.iter().for_each(|v| strings_at(v, key, out)),
        _ => {}
    }
}

/// A place is made of parts `name=value`: any other would select all cells.
fn check_place(key: &str, at: &str) -> Result<(), SpecError> {
    let is_part = |part: &str| {
        part.split_once('=')
            .is_some_and(|(name, value)| (name, value) == (name.trim(), value.trim()))
    };
    match at.split(';').find(|part| !is_part(part)).filter(|_| !at.is_empty()) {
        Some(part) => {
            let allowed = "`name=value;name=value` without blanks around";
            Err(SpecError::value(key, format!("`{part}`"), allowed, "name an axis and its value"))
        }
        None => Ok(()),
    }
}

impl Experiment {
    /// Whether its values make sense; what is run is checked by its kind.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        let none =
            |key: &str, remedy: &str| Err(SpecError::value(key, "nothing", "at least one", remedy));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if !self.id.chars().all(plain) || self.id.starts_with('.') || self.id.is_empty() {
            let allowed = "letters, digits, `-`, `_`, `+` and `.`: it names files";
            return Err(SpecError::value("id", &self.id, allowed, "choose another id"));
        }
        if self.show.is_empty() {
            return none("show", "name a metric of the rows, such as `finish_rate`");
        }
        self.check_metrics()?;
        count("seeds", self.seeds.into(), 1, SEEDS_MAX)?;
        self.kind.check(self)?;
        for (i, axis) in self.axis.iter().enumerate() {
            if axis.values.is_empty() {
                return none(&format!("axis[{i}].values"), "add one");
            }
        }
        grid::check(&self.point, &self.axis)?;
        self.check_figure()?;
        if self.system.is_empty() && self.kind.curves().is_empty() {
            return none("system", "add a `[[system]]` with `name` and `policy`");
        }
        self.check_by()?;
        self.check_names()
    }

    /// What is shown, drawn and claimed is a metric. [`FigureFile::x`](super::FigureFile::x) may be much else.
    fn check_metrics(&self) -> Result<(), SpecError> {
        let all = |key: &str, names: &[String]| {
            let mut named = names.iter().enumerate();
            named.try_for_each(|(i, name)| known_metric(&format!("{key}[{i}]"), name))
        };
        all("show", &self.show)?;
        for (i, claim) in self.claim.iter().enumerate() {
            known_metric(&format!("claim[{i}].metric"), &claim.metric)?;
        }
        for (i, paper) in self.paper.iter().enumerate() {
            known_metric(&format!("paper[{i}].metric"), &paper.metric)?;
        }
        let named = self.paper_csv.as_ref().map_or("", |csv| &csv.metric);
        if !named.is_empty() {
            known_metric("paper_csv.metric", named)?;
        }
        let Some(figure) = &self.figure else { return Ok(()) };
        if let Some(metric) = &figure.metric {
            known_metric("figure.metric", metric)?;
        }
        all("figure.metrics", &figure.metrics)?;
        figure.interval.as_ref().map_or(Ok(()), |ends| all("figure.interval", ends))
    }

    /// The groups of errors, and the region of the claims, are made by axes that there are.
    fn check_by(&self) -> Result<(), SpecError> {
        let by = self.errors.as_ref().map_or(&[][..], |errors| &errors.by);
        if self.region.len() > 2 || (!self.region.is_empty() && self.claim.is_empty()) {
            let found = format!("{} axes and {} claims", self.region.len(), self.claim.len());
            let allowed = "one or two axes, and claims that are judged with their values";
            let remedy = "leave the others fixed, or remove `region`";
            return Err(SpecError::value("region", found, allowed, remedy));
        }
        let of_points = self.point.iter().flat_map(|p| pairs(&p.axes)).map(|a| a.0);
        let all = distinct(self.axis.iter().map(|a| a.name.as_str()).chain(of_points));
        let check = |key: &str, names: &[String]| {
            let check = |(i, name): (usize, &String)| known(&format!("{key}[{i}]"), name, &all);
            names.iter().enumerate().try_for_each(|by| check(by).map(drop))
        };
        check("errors.by", by)?;
        check("region", &self.region)
    }

    /// What the figure gives names to are values of axes, names of points, groups, systems, or its metrics.
    fn check_figure(&self) -> Result<(), SpecError> {
        let Some(figure) = &self.figure else { return Ok(()) };
        let points = self.point.iter().map(|p| p.name.clone());
        let axes = self.axis.iter().flat_map(|a| a.values.iter().map(grid::word));
        let of_points = self.point.iter().flat_map(|p| pairs(&p.axes)).map(|a| a.1.to_string());
        let mut groups = Vec::new();
        strings_at(&self.resolved, "group", &mut groups);
        let metrics = figure.metrics.iter().cloned();
        let systems = self.system.iter().map(|s| s.name.clone());
        let all: Vec<String> = points
            .chain(axes)
            .chain(of_points)
            .chain(groups)
            .chain(metrics)
            .chain(systems)
            .chain(figure.star.clone())
            .collect();
        let mut all: Vec<&str> = all.iter().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        let is_bin = |value: &str| match (self.kind.parts(), value.parse::<f64>()) {
            (Some(Parts::Bins(bin_s)), Ok(from)) => from >= 0.0 && (from / bin_s).fract() == 0.0,
            _ => false,
        };
        for (value, name) in &figure.names {
            if !is_bin(value) {
                known("figure.names", value, &all)?;
            }
            if name.is_empty() || name.contains(';') {
                let allowed = "words without `;`";
                let found = format!("`{name}` for `{value}`");
                return Err(SpecError::value(
                    "figure.names",
                    found,
                    allowed,
                    "choose another name",
                ));
            }
        }
        Ok(())
    }

    /// A name by which others are divided is of one system.
    fn check_one(&self, key: String, name: &str) -> Result<(), SpecError> {
        let presets = self.system.iter().filter(|s| s.name == name).map(|s| s.preset.word());
        let presets = presets.collect::<BTreeSet<_>>();
        if presets.len() < 2 {
            return Ok(());
        }
        let found = format!("`{name}`, the name of {} systems", presets.len());
        let remedy = "write `NAME/PRESET`, or give one of the systems another name";
        Err(SpecError::value(key, found, "the name of one system", remedy))
    }

    /// Names that refer to systems do, and each system is named once with a preset.
    fn check_names(&self) -> Result<(), SpecError> {
        let mut names: Vec<&str> = Vec::new();
        for (i, s) in self.system.iter().enumerate() {
            let same = |o: &&System| o.name == s.name && o.preset == s.preset && o.at == s.at;
            if self.system[..i].iter().any(|o| same(&o)) {
                let (key, found) = (format!("system[{i}].name"), format!("`{}` twice", s.name));
                let remedy = "give each system a different name or preset";
                return Err(SpecError::value(key, found, "each name once", remedy));
            }
            names.push(&s.name);
        }
        names.extend(self.kind.curves());
        let with = |s: &System| format!("{}/{}", s.name, s.preset.word());
        let with: Vec<String> =
            self.system.iter().map(with).filter(|n| !n.ends_with('/')).collect();
        names.extend(with.iter().map(String::as_str));
        let of = |key: String, name: &str| {
            if name.is_empty() { Ok(()) } else { known(&key, name, &names).map(drop) }
        };
        for (i, p) in self.paper.iter().enumerate() {
            of(format!("paper[{i}].system"), &p.system)?;
            check_place(&format!("paper[{i}].at"), &p.at)?;
        }
        for (i, c) in self.claim.iter().enumerate() {
            let key = |part: &str| format!("claim[{i}].{part}");
            of(key("of"), &c.of)?;
            of(key("over"), &c.over)?;
            of(key("relative_to"), &c.relative_to)?;
            self.check_one(key("over"), &c.over)?;
            self.check_one(key("relative_to"), &c.relative_to)?;
            check_place(&key("at"), &c.at)?;
            check_place(&key("over_at"), &c.over_at)?;
            c.check().map_err(|e| e.in_table(&format!("claim[{i}]")))?;
        }
        for (i, s) in self.system.iter().enumerate() {
            if let Some(search) = &s.search {
                of(format!("system[{i}].search.until"), &search.until)?;
            }
        }
        of("relative_to".into(), &self.relative_to)?;
        of("compare_to".into(), self.compare_to.as_deref().unwrap_or_default())
    }
}
