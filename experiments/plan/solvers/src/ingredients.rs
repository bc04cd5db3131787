//! What the upper bound is made of: throughputs of instance types, and where queries are split.

use crate::profile::Grid;
use crate::{Catalogue, PlannerError, Profile, Sizes};
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which queries an auxiliary type is said to serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// Sizes up to and including the first whose median latency misses the target: how the profile
    /// that was released with the paper had been measured.
    #[default]
    Released,
    /// Sizes below the first whose median latency misses the target (§5.2: those that "do not
    /// violate QoS").
    Paper,
}

/// An auxiliary type.
#[derive(Clone, Debug, PartialEq)]
pub struct Auxiliary {
    /// `s`: the largest size that it is said to serve.
    pub size_limit: u32,
    /// `f`: the fraction of queries of size up to `s`; above 0, at most 1.
    pub fraction: f64,
    /// The fraction of the base's time that these queries take; above 0, and 1 where `f` is 1.
    pub time_fraction: f64,
    /// `Q_a` by size limit: queries/s when it serves all sizes up to there and is never idle. It
    /// has its own limit, and the larger ones of the other types.
    pub rate_per_s: BTreeMap<u32, f64>,
}

/// What the bound of every pool of a catalogue is made of, for one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ingredients {
    /// `Q_b`: queries/s of one base instance that serves all sizes and is never idle.
    base_per_s: f64,
    /// By type; none at the base.
    auxiliaries: Vec<Option<Auxiliary>>,
}

impl Ingredients {
    /// Checked ingredients: one auxiliary for each type but the base.
    ///
    /// # Errors
    /// When one is missing or out of range, or has no throughput at a limit that it may be held to.
    pub fn new(
        catalogue: &Catalogue,
        base_per_s: f64,
        auxiliaries: Vec<Option<Auxiliary>>,
    ) -> Result<Ingredients, PlannerError> {
        let types = catalogue.types();
        let (found, expected) = (auxiliaries.len(), types.len());
        if found != expected {
            let (what, of) = ("ingredients", "instance types");
            return Err(PlannerError::Length { what, found, expected, of });
        }
        let positive = "a finite number above 0";
        check(&types[catalogue.base()].name, "queries/s", base_per_s, positive, is_rate)?;
        let mut limits: BTreeMap<u32, &str> = BTreeMap::new();
        for (i, (t, auxiliary)) in types.iter().zip(&auxiliaries).enumerate() {
            let is_base = i == catalogue.base();
            match auxiliary {
                Some(a) if !is_base => {
                    let (share, f) = ("above 0 and at most 1", a.fraction);
                    check(&t.name, "fraction of queries", f, share, is_share)?;
                    let (only, time) =
                        ("above 0 and at most 1, and 1 only with all queries", a.time_fraction);
                    let fits = |x: f64| is_share(x) && (x == 1.0) == (f == 1.0);
                    check(&t.name, "fraction of the base's time", time, only, fits)?;
                    limits.entry(a.size_limit).or_insert(&t.name);
                }
                None if is_base => (),
                _ => return Err(PlannerError::Auxiliary { name: t.name.clone(), is_base }),
            }
        }
        for (t, a) in types.iter().zip(&auxiliaries) {
            let Some(a) = a else { continue };
            for (&limit, &other) in limits.range(a.size_limit..) {
                let Some(&rate) = a.rate_per_s.get(&limit) else {
                    let (name, other) = (t.name.clone(), other.to_owned());
                    return Err(PlannerError::NoThroughputAt { name, limit, other });
                };
                check(&t.name, "queries/s", rate, positive, is_rate)?;
            }
        }
        Ok(Ingredients { base_per_s, auxiliaries })
    }

    /// Measures them. `profiles` are in the order of the catalogue. A type is taken to be busy all
    /// the time, with its mean latency; what a size does to the target is judged by its median.
    ///
    /// # Errors
    /// When a profile is missing, has a hole or ends too early; when the base misses the target at
    /// some size, or an auxiliary type at all that are asked for.
    pub fn measured(
        catalogue: &Catalogue,
        profiles: &[Profile],
        sizes: &Sizes,
        qos: Span,
        region: Region,
    ) -> Result<Ingredients, PlannerError> {
        let (found, expected) = (profiles.len(), catalogue.types().len());
        if found != expected {
            let (what, of) = ("profiles", "instance types");
            return Err(PlannerError::Length { what, found, expected, of });
        }
        let grid = Grid::new(profiles, sizes)?;
        let base = &profiles[catalogue.base()];
        if let Some(size) = grid.first_miss_asked(base, qos) {
            let (name, median_ms) = (base.name().into(), base.by_size()[&size].median_ms());
            return Err(PlannerError::BaseMissesQos {
                name,
                size,
                median_ms,
                qos_ms: qos.as_ms_f64(),
            });
        }
        let limits = limits(catalogue, &grid, qos, region)?;
        let (weight, time_ns) = grid.up_to(u32::MAX, base);
        let ends = grid.largest();
        let auxiliary = |(limit, profile): (&Option<u32>, &Profile)| {
            let size_limit = (*limit)?;
            let (some, some_ns) = grid.up_to(size_limit, base);
            // Sums of floats may miss 1 by a hair, and Eq. 15 has a rule of its own for 1.
            let all = size_limit >= ends;
            let rate = |limit: u32| {
                let (weight, time_ns) = grid.up_to(limit, profile);
                (limit, weight / time_ns * 1e9)
            };
            let limits = limits.iter().flatten().copied().filter(|other| *other >= size_limit);
            Some(Auxiliary {
                size_limit,
                fraction: if all { 1.0 } else { some / weight },
                time_fraction: if all { 1.0 } else { some_ns / time_ns },
                rate_per_s: limits.map(rate).collect(),
            })
        };
        let auxiliaries = limits.iter().zip(profiles).map(auxiliary).collect();
        Ingredients::new(catalogue, weight / time_ns * 1e9, auxiliaries)
    }

    /// `Q_b`: queries/s of one base instance.
    pub fn base_per_s(&self) -> f64 {
        self.base_per_s
    }

    /// By type, in the order of the catalogue; none at the base.
    pub fn auxiliaries(&self) -> &[Option<Auxiliary>] {
        &self.auxiliaries
    }
}

/// The size limit of each type; none at the base.
fn limits(
    catalogue: &Catalogue,
    grid: &Grid,
    qos: Span,
    region: Region,
) -> Result<Vec<Option<u32>>, PlannerError> {
    let smallest = grid.smallest();
    let largest = *grid.weights.keys().last().expect("a profile has sizes");
    let mut limits = Vec::new();
    for (i, profile) in grid.profiles.iter().enumerate() {
        if i == catalogue.base() {
            limits.push(None);
            continue;
        }
        let Some(miss) = grid.first_miss(profile, qos) else {
            limits.push(Some(largest));
            continue;
        };
        if miss <= smallest {
            let (name, median_ms) = (profile.name().into(), profile.by_size()[&miss].median_ms());
            let (size, qos_ms) = (miss, qos.as_ms_f64());
            return Err(PlannerError::FitsNoQuery { name, size, median_ms, qos_ms });
        }
        let below = grid.weights.range(..miss).next_back().map_or(miss, |(size, _)| *size);
        limits.push(Some(if region == Region::Paper { below } else { miss }));
    }
    Ok(limits)
}

fn is_rate(x: f64) -> bool {
    x.is_finite() && x > 0.0
}

fn is_share(x: f64) -> bool {
    x > 0.0 && x <= 1.0
}

fn check(
    name: &str,
    what: &'static str,
    value: f64,
    allowed: &'static str,
    fits: impl Fn(f64) -> bool,
) -> Result<(), PlannerError> {
    if fits(value) {
        return Ok(());
    }
    Err(PlannerError::Ingredient { name: name.into(), what, value, allowed })
}
