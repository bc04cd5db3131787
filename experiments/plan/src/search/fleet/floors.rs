//! The least machines of every set of models on every kind.

use super::placement::Cluster;
use orrery_solvers::Price;

/// By kind and set of models the least machines, and by kind what so many cost; none beyond `count_max`.
pub struct Floors {
    /// By kind and set.
    pub least: Vec<Vec<u32>>,
    /// By kind and number of machines.
    pub prices: Vec<Vec<Price>>,
}

impl Floors {
    /// A set takes at least so many machines, and so does each set that has it.
    pub fn raise(&mut self, (kind, set): Cluster, n: u32) {
        for (other, least) in self.least[kind].iter_mut().enumerate() {
            if other as u64 & set == set {
                *least = n.max(*least);
            }
        }
    }

    /// The least machines of a cluster.
    pub fn least(&self, (kind, set): Cluster) -> u32 {
        self.least[kind][set as usize]
    }
}
