//! What has been measured: the latency of each query size on an instance type, and how often each
//! size is asked for. Nothing is inter- or extrapolated here.

use crate::PlannerError;
use orrery_sim::time::Span;
use std::collections::BTreeMap;

/// The latencies of one query size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    samples: u64,
    sum_ns: u128,
    /// Twice the median, which lies between two samples when their number is even.
    twice_median_ns: u128,
}

impl Latency {
    /// Of samples, in any order. None without samples, or when all are 0.
    pub fn of_samples(samples: &[Span]) -> Option<Latency> {
        let mut ns: Vec<u128> = samples.iter().map(|s| u128::from(s.ns())).collect();
        ns.sort_unstable();
        let sum_ns: u128 = ns.iter().sum();
        let middle = ns.len() / 2;
        let other = if ns.len() % 2 == 1 { middle } else { middle.checked_sub(1)? };
        let twice_median_ns = ns.get(middle)? + ns.get(other)?;
        (sum_ns > 0).then_some(Latency { samples: ns.len() as u64, sum_ns, twice_median_ns })
    }

    /// The mean, in nanoseconds; above 0.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.samples as f64
    }

    /// The median, in milliseconds, for printing.
    pub fn median_ms(&self) -> f64 {
        self.twice_median_ns as f64 / 2e6
    }

    /// Whether the median is above the target.
    pub fn misses(&self, qos: Span) -> bool {
        self.twice_median_ns > 2 * u128::from(qos.ns())
    }
}

/// The latency of an instance type by query size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: String,
    by_size: BTreeMap<u32, Latency>,
}

impl Profile {
    /// The profile of a type. None for a latency stands for a size without samples, or with samples
    /// of 0 only: an error that names it.
    ///
    /// # Errors
    /// Without sizes, for a size of 0, without samples, or that comes twice.
    pub fn new(
        name: &str,
        sizes: impl IntoIterator<Item = (u32, Option<Latency>)>,
    ) -> Result<Profile, PlannerError> {
        let mut by_size = BTreeMap::new();
        let wrong = |size, times| PlannerError::ProfileSize { name: name.into(), size, times };
        for (size, latency) in sizes {
            if size == 0 {
                return Err(PlannerError::ZeroSize);
            }
            let latency = latency.ok_or_else(|| wrong(size, "without samples above 0 ns"))?;
            if by_size.insert(size, latency).is_some() {
                return Err(wrong(size, "twice"));
            }
        }
        if by_size.is_empty() {
            return Err(PlannerError::EmptyProfile { name: name.into() });
        }
        Ok(Profile { name: name.into(), by_size })
    }

    /// The instance type.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By size.
    pub fn by_size(&self) -> &BTreeMap<u32, Latency> {
        &self.by_size
    }
}

/// How often each query size is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes(BTreeMap<u32, f64>);

impl Sizes {
    /// From weights, of any sum; those of the same size add up.
    ///
    /// # Errors
    /// For a size of 0, a weight that is negative or no number, or when no weight is above 0.
    pub fn weighted(weights: impl IntoIterator<Item = (u32, f64)>) -> Result<Sizes, PlannerError> {
        let mut by_size = BTreeMap::new();
        for (size, weight) in weights {
            if size == 0 {
                return Err(PlannerError::ZeroSize);
            }
            if !weight.is_finite() || weight < 0.0 {
                return Err(PlannerError::Weight { size, weight });
            }
            if weight > 0.0 {
                *by_size.entry(size).or_insert(0.0) += weight;
            }
        }
        let sizes = Sizes(by_size);
        if !(f64::MIN_POSITIVE..f64::INFINITY).contains(&sizes.total()) {
            return Err(PlannerError::NoSizes);
        }
        Ok(sizes)
    }

    /// From observed queries: the paper's query monitoring (§5.2, remarks).
    ///
    /// # Errors
    /// For a size of 0, or without queries.
    pub fn observed(queries: impl IntoIterator<Item = u32>) -> Result<Sizes, PlannerError> {
        Sizes::weighted(queries.into_iter().map(|size| (size, 1.0)))
    }

    /// The sizes and their weights, ascending; weights are above 0.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.0.iter().map(|(size, weight)| (*size, *weight))
    }

    fn total(&self) -> f64 {
        self.0.values().sum()
    }
}

/// Profiles of several types over the same sizes, and the weight of each of these sizes: a query
/// counts as the next larger measured size, as the released code has it.
#[derive(Clone, Debug)]
pub(crate) struct Grid<'a> {
    pub profiles: &'a [Profile],
    /// Each measured size, ascending, and its weight, which may be 0.
    pub weights: BTreeMap<u32, f64>,
}

impl<'a> Grid<'a> {
    pub fn new(profiles: &'a [Profile], sizes: &Sizes) -> Result<Grid<'a>, PlannerError> {
        let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
        let mut owner: BTreeMap<u32, &str> = BTreeMap::new();
        for profile in profiles {
            for &size in profile.by_size.keys() {
                weights.insert(size, 0.0);
                owner.entry(size).or_insert(&profile.name);
            }
        }
        for profile in profiles {
            for (&size, &other) in &owner {
                if !profile.by_size.contains_key(&size) {
                    let (name, other) = (profile.name.clone(), other.to_owned());
                    return Err(PlannerError::ProfileHole { name, size, other });
                }
            }
        }
        for (size, weight) in sizes.iter() {
            let Some((_, bin)) = weights.range_mut(size..).next() else {
                let largest = weights.keys().last().copied().unwrap_or(0);
                return Err(PlannerError::BeyondProfile { size, largest });
            };
            *bin += weight;
        }
        Ok(Grid { profiles, weights })
    }

    /// The first measured size whose median is above the target.
    pub fn first_miss(&self, profile: &Profile, qos: Span) -> Option<u32> {
        self.weights.keys().copied().find(|size| profile.by_size[size].misses(qos))
    }

    /// The smallest size that is asked for.
    pub fn smallest(&self) -> u32 {
        let asked = self.weights.iter().find(|(_, weight)| **weight > 0.0);
        *asked.expect("sizes have a weight above 0").0
    }

    /// The largest size that is asked for.
    pub fn largest(&self) -> u32 {
        let asked = self.weights.iter().rfind(|(_, weight)| **weight > 0.0);
        *asked.expect("sizes have a weight above 0").0
    }

    /// The first measured size, among those up to the largest asked for, that misses the target.
    pub fn first_miss_asked(&self, profile: &Profile, qos: Span) -> Option<u32> {
        self.first_miss(profile, qos).filter(|size| *size <= self.largest())
    }

    /// The weight of all sizes up to the limit, and their latency times weight, in nanoseconds.
    pub fn up_to(&self, limit: u32, profile: &Profile) -> (f64, f64) {
        let mut sums = (0.0, 0.0);
        for (size, weight) in self.weights.range(..=limit) {
            sums.0 += weight;
            sums.1 += weight * profile.by_size[size].mean_ns();
        }
        sums
    }
}
