//! What every cluster takes at least as far as one seed shows, and so what every assignment costs at least.
//!
//! A cluster takes no fewer machines than its models take in clusters as large that they have alone (`scale.rs`), and no
//! fewer than one that has some of its models took. Both are assumptions about schedulers, not laws: the answer says so.

use super::floors::Floors;
use super::known::{Knowledge, LISTED_MAX, SLACK, Under};
use super::placement::Cluster;
use super::scale::Scale;
use crate::search::size::counts;
use crate::search::trial::Bench;
use orrery_scenario::SpecError;
use orrery_solvers::Price;
use orrery_solvers::fleet::{Clusters, Known};
use rayon::prelude::*;

/// What is known of the clusters, and for the others the least that they cost.
pub struct Floor<'a>(&'a Knowledge<'a>, &'a Floors);

impl<'a> Knowledge<'a> {
    /// The floor, where clusters of one model were looked at and there are not too many sets.
    pub fn floor(&'a self) -> Option<Floor<'a>> {
        Some(Floor(self, self.floors.as_ref()?))
    }

    /// The least that every set takes. Of a day with several loads none: so are its sizes.
    pub fn floors_by(&self, scale: &Scale) -> Option<Floors> {
        let models = self.homes.needs.len();
        if models > LISTED_MAX || self.problem.day.levels.len() > 1 {
            return None;
        }
        let of = |kind: usize| {
            let most = self.problem.counts_max[kind];
            let of = |set: u64| {
                let strict = self.least_sizes((kind, set)).map(|sizes| sizes[0]);
                let alone = scale.machines((kind, set), 1.0, most);
                let alone = alone.map(|n| libm::ceil(n * (1.0 - SLACK)) as u32);
                let both = strict.zip(alone).map(|(a, b)| a.max(b + self.problem.lost(kind)));
                both.unwrap_or(most + 1)
            };
            (0..1_u64 << models).map(of).collect()
        };
        let kinds = 0..self.problem.sales.len();
        let prices = |kind: usize| {
            (0..=self.problem.counts_max[kind]).map(|n| self.cost(kind, &[n])).collect()
        };
        let (least, prices) = (kinds.clone().map(of).collect(), kinds.map(prices).collect());
        let mut floors = Floors { least, prices };
        self.asked.keys().for_each(|cluster| floors.raise(*cluster, self.taken(*cluster)));
        Some(floors)
    }

    /// What a cluster that was simulated takes.
    pub fn taken(&self, cluster: Cluster) -> u32 {
        match self.best(cluster) {
            Some((_, Under::Sizes { sizes, .. })) => sizes[0],
            _ => self.problem.counts_max[cluster.0] + 1,
        }
    }

    /// Whether clusters do with no more than the least that is known of them, with the first seed: those that do are
    /// asked about, and of the others the least is one more.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn try_floors(&mut self, clusters: &[Cluster]) -> Result<(), SpecError> {
        self.prepare(clusters)?;
        let Some(floors) = &self.floors else { return Ok(()) };
        let of = |cluster: &Cluster| Ok((*cluster, floors.least(*cluster), self.does(*cluster)?));
        let tried: Vec<(Cluster, u32, bool)> =
            clusters.par_iter().with_max_len(1).map(of).collect::<Result<_, SpecError>>()?;
        let enough: Vec<Cluster> = tried.iter().filter(|t| t.2).map(|t| t.0).collect();
        for (cluster, n, _) in tried.iter().filter(|t| !t.2) {
            self.floors.iter_mut().for_each(|floors| floors.raise(*cluster, n + 1));
        }
        self.ask(&enough)
    }

    /// Whether a cluster does with the least, under some policy.
    fn does(&self, (kind, set): Cluster) -> Result<bool, SpecError> {
        let (Some(floors), Some(group)) = (&self.floors, self.group(set)) else { return Ok(true) };
        let n = floors.least((kind, set));
        let is_most = n == self.problem.counts_max[kind];
        let counts = counts(self.problem, kind, n - self.problem.lost(kind));
        for policy in &self.problem.policies {
            let bench = Bench::new(self.problem, group, policy, self.runs);
            // One seed that is not sure of all machines leaves it to all seeds, as in `Sizer::first`.
            let holds = match is_most {
                true => bench.may_hold(&counts, group.load_per_s)?,
                false => bench.holds(&counts, group.load_per_s)?,
            };
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Clusters for Floor<'_> {
    fn models(&self) -> usize {
        self.0.models()
    }

    fn kinds(&self) -> usize {
        self.0.kinds()
    }

    fn least(&self, kind: usize, models: u64) -> Option<Price> {
        self.1.prices[kind].get(self.1.least((kind, models)) as usize).copied()
    }

    fn known(&self, kind: usize, models: u64) -> Known {
        if !self.0.asked.contains_key(&(kind, models)) {
            return Known::Unknown;
        }
        match self.0.best((kind, models)) {
            Some((_, Under::Sizes { cost, .. })) => Known::Costs(*cost),
            _ => Known::Never,
        }
    }

    fn share_usd(&self, model: usize, kind: usize) -> Option<f64> {
        self.0.share_usd(model, kind)
    }
}
