//! Distributions, sorted into panels and series.

use crate::curves::{CHOOSE_FEWER, PANELS_MAX};
use crate::error::{PlotError, distinct};
use crate::names;
use crate::style::SERIES_MAX;
use orrery_results::{DistributionRow, pairs};

/// One cumulative distribution: values with the share of samples that are at most as large, in
/// order of the values.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub samples: u64,
}

impl Distribution {
    /// The share that the curve ends at: below 1 where some have no value.
    pub(crate) fn end(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.1)
    }

    /// The largest value.
    pub(crate) fn last(&self) -> f64 {
        self.points.last().map_or(0.0, |p| p.0)
    }

    /// Whether some have no value. Shares are quotients of whole numbers: rounding is no gap.
    pub(crate) fn is_short(&self) -> bool {
        self.end() < 1.0 - 1e-9
    }
}

/// The distributions of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Titles with their distributions.
    pub panels: Vec<(String, Vec<Distribution>)>,
    /// By panel: experiment, case, axes and scope of its rows.
    pub keys: Vec<[String; 4]>,
    /// The names of all series, in the order of their first appearance.
    pub names: Vec<String>,
    pub experiments: Vec<String>,
    /// What all panels share.
    pub common: Vec<String>,
}

impl Groups {
    /// Sorts rows by experiment, case, axes and scope; a series is a policy.
    pub(crate) fn of(figure: &'static str, rows: &[&DistributionRow]) -> Result<Groups, PlotError> {
        let keys = distinct(rows.iter().map(|r| parts(r)));
        PlotError::limit(figure, "panels", keys.len(), PANELS_MAX, CHOOSE_FEWER)?;
        let names = distinct(rows.iter().map(|r| r.policy.clone()));
        PlotError::limit(figure, "policies", names.len(), SERIES_MAX, CHOOSE_FEWER)?;
        let differs = |i: usize| keys.iter().any(|k| k[i] != keys[0][i]);
        let shown: Vec<usize> = (0..4).filter(|&i| differs(i)).collect();
        let common = [1, 2, 3].into_iter().filter(|&i| !differs(i)).map(|i| keys[0][i].clone());
        let common = common.filter(|w| !w.is_empty() && w != "all").collect();
        let mut panels = Vec::new();
        for key in &keys {
            let words: Vec<&str> = shown.iter().map(|&i| key[i].as_str()).collect();
            let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
            let here: Vec<&DistributionRow> =
                rows.iter().filter(|r| parts(r) == *key).copied().collect();
            let own = distinct(here.iter().map(|r| r.policy.as_str()));
            let own = own.into_iter().map(|name| distribution(figure, name, &here));
            panels.push((words.join(" · "), own.collect::<Result<Vec<_>, _>>()?));
        }
        let experiments = distinct(rows.iter().map(|r| r.experiment.clone()));
        Ok(Groups { panels, keys, names, experiments, common })
    }

    /// All distributions.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Distribution> + Clone {
        self.panels.iter().flat_map(|p| &p.1)
    }

    /// The largest value of all.
    pub(crate) fn largest(&self) -> f64 {
        self.all().flat_map(|d| d.points.iter().map(|p| p.0)).fold(0.0, f64::max)
    }
}

/// What tells a panel from the others.
pub(crate) fn parts(r: &DistributionRow) -> [String; 4] {
    let axes: Vec<String> = pairs(&r.axes).map(|(n, v)| names::setting(n, v)).collect();
    [r.experiment.clone(), r.case.clone(), axes.join(", "), r.scope.clone()]
}

fn distribution(
    figure: &'static str,
    name: &str,
    rows: &[&DistributionRow],
) -> Result<Distribution, PlotError> {
    let own: Vec<&&DistributionRow> = rows.iter().filter(|r| r.policy == name).collect();
    let mut points: Vec<(f64, f64)> = own.iter().map(|r| (r.x, r.share.clamp(0.0, 1.0))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // A distribution that is given twice has shares that fall or stand still at the same value.
    if let Some(pair) = points.windows(2).find(|w| w[0] == w[1]) {
        let name = if name.is_empty() { "the distribution" } else { name };
        let point = format!("{name} at {}", names::plain(pair[0].0));
        return Err(PlotError::Twice { figure, point });
    }
    // Where several shares stand at one value, the last is what the distribution says.
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for p in points {
        match kept.last_mut() {
            Some(last) if last.0 == p.0 => *last = p,
            _ => kept.push(p),
        }
    }
    let samples = own.iter().map(|r| r.samples).max().unwrap_or(0);
    Ok(Distribution { name: name.to_string(), points: kept, samples })
}
