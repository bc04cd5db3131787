//! What is known of the clusters of a fleet: a kind and the models on it, asked once.

use super::placement::{Cluster, Homes};
use super::scale::Scale;
use crate::input::problem::{Group, Problem};
use crate::search::levels;
use crate::search::runs::Runs;
use crate::search::size::Sized;
use crate::search::trial::{Bench, Check};
use orrery_run::{PolicySpec, SpecError};
use orrery_solvers::Price;
use orrery_solvers::fleet::{Assigned, Clusters, Known, Needs, Priced, cheapest_known};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Sums of floats may be so much too large.
const SLACK: f64 = 1e-9;

/// Up to so many models the bounds of all their sets are listed.
const LISTED_MAX: usize = 12;

/// With fewer simulations that are allowed, no others than those of the search are made.
const LIKELY_LEAST: usize = 500;

/// A cluster under a policy.
pub enum Under {
    /// So many machines at each level of load, the peak first.
    Sizes {
        /// By the first seed, or verified.
        sizes: Vec<u32>,
        /// What verified them.
        verified: Vec<Sized>,
        /// The mean over the day.
        cost: Price,
    },
    /// It does not carry the load, and why.
    Never(String),
}

/// The machines that a cluster is likely to need.
pub struct Likely {
    /// What clusters of one model serve.
    scale: Scale,
    /// By kind, how many more clusters have taken than their models alone: the mean of those that were simulated.
    more: Vec<f64>,
}

/// What all seeds said of a cluster.
struct Verified {
    /// The number of its policy.
    policy: usize,
    under: Under,
    close: Option<(u32, Check)>,
}

/// The clusters that were asked about.
pub struct Knowledge<'a> {
    /// What is planned.
    pub problem: &'a Problem,
    /// All models.
    pub whole: &'a Group,
    /// Where they run.
    pub homes: &'a Homes,
    /// Whether what was not asked counts as impossible.
    pub only_known: bool,
    /// How many machines clusters are likely to need, where the search goes by that in place of the bounds.
    pub likely: Option<Likely>,
    /// Clusters that were simulated, under each policy.
    pub asked: BTreeMap<Cluster, Vec<Under>>,
    /// Clusters that one seed found large enough, and that were not sure to be with all seeds.
    pub not_sure: Vec<String>,
    /// By cluster: the first size whose mean was within the target, and that was not sure.
    pub close: BTreeMap<Cluster, (u32, Check)>,
    groups: BTreeMap<u64, Group>,
    /// Simulations that do not count as those of a search.
    spent: u64,
    /// Of one machine of each kind, in dollars per hour over the day.
    usd: Vec<f64>,
    /// The least cost by kind and set, where there are not too many sets.
    least: Vec<Vec<Option<Price>>>,
    /// Counts the simulations.
    pub runs: &'a Runs<'a>,
}

impl<'a> Knowledge<'a> {
    /// Nothing is known yet.
    pub fn new(
        problem: &'a Problem,
        whole: &'a Group,
        homes: &'a Homes,
        runs: &'a Runs<'a>,
    ) -> Knowledge<'a> {
        let mean = problem.day.mean_level();
        let usd = (0..problem.sales.len()).map(|k| problem.least_usd(k) * mean).collect();
        let mut known = Knowledge {
            problem,
            whole,
            homes,
            only_known: false,
            likely: None,
            asked: BTreeMap::new(),
            not_sure: Vec::new(),
            close: BTreeMap::new(),
            groups: BTreeMap::new(),
            spent: 0,
            usd,
            least: Vec::new(),
            runs,
        };
        if homes.needs.len() <= LISTED_MAX {
            let sets = 0..1_u64 << homes.needs.len();
            let of = |kind: usize| sets.clone().map(|set| known.least_cost((kind, set))).collect();
            known.least = (0..problem.sales.len()).map(of).collect();
        }
        known
    }

    /// The models of a cluster.
    pub fn names(&self, set: u64) -> Vec<&str> {
        let all = self.whole.models.iter().enumerate();
        all.filter(|(m, _)| set >> m & 1 == 1).map(|(_, name)| name.as_str()).collect()
    }

    /// The policy that costs least for a cluster, with what is known of it there.
    pub fn best(&self, cluster: Cluster) -> Option<(&'a PolicySpec, &Under)> {
        let under = self.asked.get(&cluster)?.iter();
        let cost = |u: &Under| match u {
            Under::Sizes { cost, .. } => Some(*cost),
            Under::Never(_) => None,
        };
        let some = self.problem.policies.iter().zip(under).filter(|(_, u)| cost(u).is_some());
        some.min_by_key(|(_, u)| cost(u))
    }

    /// How many machines a cluster has at most over the day, where it carries its load.
    pub fn peak(&self, cluster: Cluster) -> Option<u32> {
        match self.best(cluster)?.1 {
            Under::Sizes { sizes, .. } => sizes.iter().max().copied(),
            Under::Never(_) => None,
        }
    }

    /// Those of the clusters that were not asked yet.
    pub fn unasked(&self, clusters: &[Cluster]) -> Vec<Cluster> {
        clusters.iter().copied().filter(|c| !self.asked.contains_key(c)).collect()
    }

    /// An assignment with the sizes that are known.
    pub fn in_words(&self, assigned: &Assigned) -> String {
        let of = |(kind, set): Cluster| {
            let size = self.peak((kind, set)).map_or("?".to_string(), |n| n.to_string());
            format!("{size} {} ({})", self.problem.kind(kind), self.names(set).join(", "))
        };
        let all: Vec<String> =
            assigned.clusters(self.problem.sales.len()).into_iter().map(of).collect();
        all.join(" + ")
    }

    /// The cheapest assignment of the clusters that were simulated.
    pub fn cheapest_known(&self, left_out: &[Vec<usize>]) -> Option<Assigned> {
        let cost = |cluster: &Cluster| match self.known(cluster.0, cluster.1) {
            Known::Costs(cost) => Some((cluster.0, cluster.1, cost)),
            Known::Unknown | Known::Never => None,
        };
        let all: Vec<Priced> = self.asked.keys().filter_map(cost).collect();
        cheapest_known(self.models(), &all, left_out)
    }

    /// Whether the search goes by the bounds, which are strict.
    pub fn is_by_bounds(&self) -> bool {
        self.likely.is_none()
    }

    /// Whether there are simulations enough to look at clusters of each model on each kind.
    pub fn has_time(&self) -> bool {
        self.problem.plan.evaluations_max() >= LIKELY_LEAST
    }

    /// Whether half of the simulations were made after which no further cluster is asked about.
    pub fn is_half(&self) -> bool {
        2 * self.runs.done() >= self.problem.plan.evaluations_max() as u64
    }

    /// Whether so many simulations were made that no further cluster is asked about.
    pub fn is_enough(&self) -> bool {
        self.runs.done() - self.spent >= self.problem.plan.evaluations_max() as u64
    }

    /// Whether the sizes of the best policy were verified with all seeds.
    pub fn is_verified(&self, cluster: Cluster) -> bool {
        let best = self.best(cluster);
        best.is_some_and(
            |(_, u)| matches!(u, Under::Sizes { verified, .. } if !verified.is_empty()),
        )
    }

    /// The models of clusters as groups of their own, ready to be simulated.
    ///
    /// # Errors
    /// When a group cannot be set up.
    pub fn prepare(&mut self, clusters: &[Cluster]) -> Result<(), SpecError> {
        for (kind, set) in clusters {
            if self.groups.contains_key(set) {
                continue;
            }
            let group = self.whole.of_some("cluster", &self.names(*set));
            let Some(group) = group else { continue };
            let group = self.problem.finished(group, *kind)?;
            self.groups.insert(*set, group);
        }
        Ok(())
    }

    /// The group of a cluster's models, once it was prepared.
    pub fn group(&self, set: u64) -> Option<&Group> {
        self.groups.get(&set)
    }

    /// The machines that a cluster needs at least at a level, none where its kind is no home of a model.
    fn least_machines(&self, (kind, set): Cluster, level: f64) -> Option<f64> {
        let need = need(&self.homes.needs, (kind, set))?;
        let lost = f64::from(self.problem.lost(kind));
        let at_least = if level > 0.0 { 1.0_f64 } else { 0.0 };
        Some((need * level * (1.0 - SLACK)).ceil().max(at_least) + lost)
    }

    /// From now on the search goes by what clusters are likely to need. The simulations so far are not counted.
    pub fn go_by_likely(&mut self, scale: Scale) {
        self.spent = self.runs.done();
        let more = vec![0.0; self.problem.sales.len()];
        self.likely = Some(Likely { scale, more });
        self.learn();
    }

    /// What the clusters that were simulated say of the others.
    fn learn(&mut self) {
        let Some(likely) = &self.likely else { return };
        let mut all = vec![(0.0, 0_u32); likely.more.len()];
        for (kind, set) in self.asked.keys().copied() {
            let Some((_, Under::Sizes { sizes, .. })) = self.best((kind, set)) else { continue };
            let most = self.problem.counts_max[kind];
            let Some(need) = likely.scale.machines((kind, set), 1.0, most) else { continue };
            let lost = f64::from(self.problem.lost(kind));
            all[kind].0 += f64::from(sizes[0]) - lost - need;
            all[kind].1 += 1;
        }
        let mean = |(sum, n): (f64, u32)| (sum / f64::from(n.max(1))).max(0.0);
        let more = all.into_iter().map(mean).collect();
        self.likely.iter_mut().for_each(|likely| likely.more = Vec::clone(&more));
    }

    /// What a cluster is likely to cost: what is known, or else what its models need together and what clusters of its
    /// kind have taken more.
    fn likely_cost(&self, likely: &Likely, (kind, set): Cluster) -> Option<Price> {
        if let Some((_, Under::Sizes { cost, .. })) = self.best((kind, set)) {
            return Some(*cost);
        }
        // To the nearest: neither too dear nor too cheap on the whole.
        self.cost_of((kind, set), &likely.scale, |need| libm::round(need + likely.more[kind]))
    }

    /// What a cluster costs whose machines follow from what its models take alone.
    fn cost_of(
        &self,
        (kind, set): Cluster,
        scale: &Scale,
        whole: impl Fn(f64) -> f64,
    ) -> Option<Price> {
        let least = self.least_sizes((kind, set))?;
        let (lost, most) = (self.problem.lost(kind), self.problem.counts_max[kind]);
        let of = |(level, least): (&f64, &u32)| {
            let need = scale.machines((kind, set), *level, most)?;
            let n = if *level > 0.0 { whole(need) as u32 + lost } else { 0 };
            Some(n.max(*least).min(most))
        };
        let sizes: Option<Vec<u32>> = self.problem.day.levels.iter().zip(&least).map(of).collect();
        Some(self.cost(kind, &sizes?))
    }

    /// The same for each level, none where `count_max` is below it.
    pub fn least_sizes(&self, cluster: Cluster) -> Option<Vec<u32>> {
        let most = f64::from(self.problem.counts_max[cluster.0]);
        let of = |level: &f64| {
            self.least_machines(cluster, *level).filter(|n| *n <= most).map(|n| n as u32)
        };
        self.problem.day.levels.iter().map(of).collect()
    }

    fn least_cost(&self, cluster: Cluster) -> Option<Price> {
        Some(self.cost(cluster.0, &self.least_sizes(cluster)?))
    }

    /// What a kind costs with the size of each level.
    pub fn cost(&self, kind: usize, sizes: &[u32]) -> Price {
        self.problem.day.cost(sizes, |n| self.problem.cost_of_kind(kind, *n))
    }

    /// Simulates clusters under every policy with the first seed.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn ask(&mut self, clusters: &[Cluster]) -> Result<(), SpecError> {
        self.prepare(clusters)?;
        let policies = &self.problem.policies;
        let all: Vec<(Cluster, &PolicySpec)> =
            clusters.iter().flat_map(|c| policies.iter().map(move |p| (*c, p))).collect();
        let one = |(cluster, policy): &(Cluster, &PolicySpec)| self.first(*cluster, policy);
        let found: Vec<Under> =
            all.par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?;
        for ((cluster, _), under) in all.iter().zip(found) {
            self.asked.entry(*cluster).or_default().push(under);
        }
        self.learn();
        Ok(())
    }

    /// The sizes of a cluster by the first seed.
    fn first(&self, cluster: Cluster, policy: &PolicySpec) -> Result<Under, SpecError> {
        let (kind, set) = cluster;
        let (Some(least), Some(group)) = (self.least_sizes(cluster), self.groups.get(&set)) else {
            return Ok(Under::Never("`count_max` is below the bound".to_string()));
        };
        let bench = Bench::new(self.problem, group, policy, self.runs);
        let Some(sizes) = levels::first_sizes(&bench, kind, &least)? else {
            return Ok(Under::Never(self.too_few(cluster, policy)));
        };
        let cost = self.cost(kind, &sizes);
        Ok(Under::Sizes { sizes, verified: Vec::new(), cost })
    }

    fn too_few(&self, (kind, set): Cluster, policy: &PolicySpec) -> String {
        format!(
            "not even {} {}, its `count_max`, sustain {} with {}",
            self.problem.counts_max[kind],
            self.problem.kind(kind),
            self.names(set).join(", "),
            policy.text()
        )
    }

    /// Verifies the best sizes of clusters with all seeds; those that are not sure grow, or become impossible.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn verify(&mut self, clusters: &[Cluster]) -> Result<(), SpecError> {
        let one = |cluster: &Cluster| self.verified(*cluster);
        let found: Vec<Verified> =
            clusters.par_iter().with_max_len(1).map(one).collect::<Result<_, _>>()?;
        for (cluster, Verified { policy, under, close }) in clusters.iter().zip(found) {
            if let Some(close) = close {
                self.close.insert(*cluster, close);
            }
            if let Under::Never(why) = &under {
                self.not_sure.push(format!("the search did not converge: {why}"));
            }
            if let Some(slot) = self.asked.get_mut(cluster).and_then(|all| all.get_mut(policy)) {
                *slot = under;
            }
        }
        self.learn();
        Ok(())
    }

    fn verified(&self, cluster: Cluster) -> Result<Verified, SpecError> {
        let (kind, set) = cluster;
        let never = |why: &str| Under::Never(why.to_string());
        let (Some((policy, Under::Sizes { sizes, .. })), Some(group)) =
            (self.best(cluster), self.groups.get(&set))
        else {
            return Ok(Verified { policy: 0, under: never("not asked"), close: None });
        };
        let number = self.problem.policies.iter().position(|p| p.text() == policy.text());
        let number = number.unwrap_or(0);
        let mut close = None;
        let bench = Bench::new(self.problem, group, policy, self.runs);
        let (most, first) = (self.problem.counts_max[kind], sizes[0]);
        let start = |level: usize, _| sizes[level];
        let found = levels::sizes(&bench, kind, first, start, (&mut close, &mut 0))?;
        let (kind_name, names) = (self.problem.kind(kind), self.names(set).join(", "));
        let text = policy.text();
        let under = match found {
            Ok(levels) => {
                let sizes: Vec<u32> = levels.iter().map(Sized::n).collect();
                let cost = self.cost(kind, &sizes);
                Under::Sizes { sizes, verified: levels, cost }
            }
            Err(0) if first == most => Under::Never(format!(
                "it is inconclusive whether {most} {kind_name}, its `count_max`, sustain {names} with {text}"
            )),
            Err(0) => Under::Never(format!(
                "{first} {kind_name} sustain {names} with {text} and the first seed; with all seeds, every number \
                 near that is inconclusive"
            )),
            Err(_) => {
                Under::Never(format!("{}, for sure in each step", self.too_few(cluster, policy)))
            }
        };
        Ok(Verified { policy: number, under, close })
    }
}

impl Clusters for Knowledge<'_> {
    fn models(&self) -> usize {
        self.homes.needs.len()
    }

    fn kinds(&self) -> usize {
        self.problem.sales.len()
    }

    fn least(&self, kind: usize, models: u64) -> Option<Price> {
        if let Some(likely) = &self.likely {
            return self.likely_cost(likely, (kind, models));
        }
        match self.least.get(kind) {
            Some(listed) => listed[models as usize],
            None => self.least_cost((kind, models)),
        }
    }

    fn known(&self, kind: usize, models: u64) -> Known {
        if !self.asked.contains_key(&(kind, models)) {
            return if self.only_known { Known::Never } else { Known::Unknown };
        }
        match self.best((kind, models)) {
            Some((_, Under::Sizes { cost, .. })) => Known::Costs(*cost),
            _ => Known::Never,
        }
    }

    fn share_usd(&self, model: usize, kind: usize) -> Option<f64> {
        let need = match &self.likely {
            Some(likely) => likely.scale.least(model, kind),
            None => self.homes.needs[model][kind],
        };
        Some(need? * self.usd[kind])
    }
}

/// What the models of a cluster need together; none where its kind is no home of one.
fn need(needs: &[Needs], (kind, set): Cluster) -> Option<f64> {
    (0..needs.len()).filter(|m| set >> m & 1 == 1).map(|m| needs[m][kind]).sum()
}
