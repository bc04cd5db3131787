//! The problem: what is to be placed, the limits, and how good an assignment is.
//!
//! Nothing is searched here. Units are the caller's; results depend on ratios alone.

use super::PartitionError;

/// How far above a limit a sum may be, relative to it: sums of floats depend on their order.
const SLACK: f64 = 1e-9;

/// A model, as the partitioning sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelLoad {
    /// `r_i`: requests a second.
    pub rate: f64,
    /// `s_i`: memory for as long as it is loaded.
    pub static_mem: f64,
    /// `d_i`: memory while it runs; backends run one model at a time.
    pub dynamic_mem: f64,
}

/// A partitioning problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What is to be placed.
    pub models: Vec<ModelLoad>,
    /// `l`: how many sub-clusters there are.
    pub clusters: usize,
    /// `R_max`: the highest rate that a dispatcher carries; may be infinite.
    pub rate_max: f64,
    /// `S_max`: the memory of a backend; may be infinite.
    pub memory_max: f64,
    /// `w`: what a unit of memory weighs against one of rate. See [`Problem::even_weight`].
    pub memory_weight: f64,
}

/// The sub-cluster of each model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// By model.
    pub cluster_of: Vec<usize>,
}

/// (max - min) / average over the sub-clusters (Appendix A.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Imbalance {
    /// Of the request rates.
    pub rate: f64,
    /// Of the static memory.
    pub memory: f64,
}

/// What a sub-cluster holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ClusterLoad {
    pub rate: f64,
    pub memory: f64,
    /// The two largest dynamic sizes: the second counts when the model of the first leaves.
    pub largest: f64,
    pub second: f64,
}

impl ClusterLoad {
    pub fn add(&mut self, model: &ModelLoad) {
        self.rate += model.rate;
        self.memory += model.static_mem;
        if model.dynamic_mem > self.largest {
            (self.largest, self.second) = (model.dynamic_mem, self.largest);
        } else {
            self.second = self.second.max(model.dynamic_mem);
        }
    }
}

impl Problem {
    /// The weight at which both imbalances count alike: mean rate over mean memory.
    pub fn even_weight(models: &[ModelLoad]) -> f64 {
        let rate: f64 = models.iter().map(|m| m.rate).sum();
        let memory: f64 = models.iter().map(|m| m.static_mem).sum();
        if memory > 0.0 { rate / memory } else { 0.0 }
    }

    /// Whether the problem makes sense, and is not hopeless at first sight.
    ///
    /// # Errors
    /// When a number is out of range, or some limit cannot be kept by any assignment.
    pub fn check(&self) -> Result<(), PartitionError> {
        let limits = [("rate_max", self.rate_max), ("memory_max", self.memory_max)];
        for (what, value) in limits {
            if value.is_nan() || value < 0.0 {
                return Err(PartitionError::Number { what, value });
            }
        }
        self.models.iter().enumerate().try_for_each(|(i, m)| self.check_model(i, m))?;
        self.check_totals()
    }

    fn check_model(&self, model: usize, m: &ModelLoad) -> Result<(), PartitionError> {
        let needed = m.static_mem + m.dynamic_mem;
        if excess(needed, self.memory_max) > 0.0 {
            return Err(PartitionError::ModelTooLarge { model, needed, limit: self.memory_max });
        }
        if excess(m.rate, self.rate_max) > 0.0 {
            let (rate, limit) = (m.rate, self.rate_max);
            return Err(PartitionError::ModelTooFast { model, rate, limit });
        }
        Ok(())
    }

    fn check_totals(&self) -> Result<(), PartitionError> {
        let clusters = self.clusters;
        let total: f64 = self.models.iter().map(|m| m.rate).sum();
        let limit = self.rate_max * clusters as f64;
        if excess(total, limit) > 0.0 {
            return Err(PartitionError::RateTooHigh { total, clusters, limit });
        }
        let total: f64 = self.models.iter().map(|m| m.static_mem).sum();
        let limit = self.memory_max * clusters as f64;
        if excess(total, limit) > 0.0 {
            return Err(PartitionError::MemoryTooSmall { total, clusters, limit });
        }
        Ok(())
    }

    /// The mean rate and the mean static memory of a sub-cluster.
    pub(crate) fn means(&self) -> (f64, f64) {
        let l = self.clusters as f64;
        let rate: f64 = self.models.iter().map(|m| m.rate).sum();
        let memory: f64 = self.models.iter().map(|m| m.static_mem).sum();
        (rate / l, memory / l)
    }

    pub(crate) fn loads(&self, a: &Assignment) -> Vec<ClusterLoad> {
        let mut loads = vec![ClusterLoad::default(); self.clusters];
        for (m, &j) in self.models.iter().zip(&a.cluster_of) {
            loads[j].add(m);
        }
        loads
    }

    /// Eq. 3: the largest deviation of a rate from the mean, and w times that of memory.
    pub fn objective(&self, a: &Assignment) -> f64 {
        let (rate, memory) = self.means();
        let (mut dr, mut ds) = (0.0f64, 0.0f64);
        for load in self.loads(a) {
            dr = dr.max((load.rate - rate).abs());
            ds = ds.max((load.memory - memory).abs());
        }
        dr + self.memory_weight * ds
    }

    /// Eq. 4, 5 and 8.
    pub fn is_feasible(&self, a: &Assignment) -> bool {
        let placed = a.cluster_of.len() == self.models.len();
        placed
            && a.cluster_of.iter().all(|j| *j < self.clusters)
            && self.loads(a).iter().all(|load| self.violation(load) == 0.0)
    }

    /// By how much a sub-cluster is beyond its limits, relative to them.
    pub(crate) fn violation(&self, load: &ClusterLoad) -> f64 {
        excess(load.rate, self.rate_max) + excess(load.memory + load.largest, self.memory_max)
    }

    /// The imbalance factors; 0 where there is nothing to balance.
    pub fn imbalance(&self, a: &Assignment) -> Imbalance {
        let loads = self.loads(a);
        let (rate, memory) = self.means();
        let factor = |value: fn(&ClusterLoad) -> f64, mean: f64| {
            let most = loads.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
            let least = loads.iter().map(value).fold(f64::INFINITY, f64::min);
            if mean > 0.0 { (most - least) / mean } else { 0.0 }
        };
        Imbalance { rate: factor(|l| l.rate, rate), memory: factor(|l| l.memory, memory) }
    }
}

/// How far a sum is above a limit, relative to the limit; 0 within it.
fn excess(sum: f64, limit: f64) -> f64 {
    if sum <= limit * (1.0 + SLACK) {
        0.0
    } else if limit > 0.0 {
        sum / limit - 1.0
    } else {
        sum
    }
}
