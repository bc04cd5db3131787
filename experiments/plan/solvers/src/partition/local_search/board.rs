//! An assignment with the sums that exchanges are weighed by.
//!
//! A change recomputes the sums of the two sub-clusters that it touches, so they do not drift.

use crate::partition::problem::{ClusterLoad, Problem};
use crate::partition::{Assignment, ModelLoad};

/// An assignment and its sums.
#[derive(Clone)]
pub(super) struct Board<'a> {
    pub problem: &'a Problem,
    pub mean_rate: f64,
    pub mean_memory: f64,
    cluster_of: Vec<usize>,
    members: Vec<Vec<usize>>,
    loads: Vec<ClusterLoad>,
}

impl<'a> Board<'a> {
    pub fn new(problem: &'a Problem, assignment: Assignment) -> Board<'a> {
        let mut members = vec![Vec::new(); problem.clusters];
        for (i, &j) in assignment.cluster_of.iter().enumerate() {
            members[j].push(i);
        }
        let loads = problem.loads(&assignment);
        let (mean_rate, mean_memory) = problem.means();
        let cluster_of = assignment.cluster_of;
        Board { problem, mean_rate, mean_memory, cluster_of, members, loads }
    }

    pub fn clusters(&self) -> usize {
        self.problem.clusters
    }

    pub fn members(&self, j: usize) -> &[usize] {
        &self.members[j]
    }

    pub fn load(&self, j: usize) -> &ClusterLoad {
        &self.loads[j]
    }

    pub fn into_assignment(self) -> Assignment {
        Assignment { cluster_of: self.cluster_of }
    }

    /// Deviations from the means, memory's in units of the objective.
    pub fn deviation(&self, j: usize) -> (f64, f64) {
        let load = &self.loads[j];
        let memory = self.problem.memory_weight * (load.memory - self.mean_memory);
        (load.rate - self.mean_rate, memory)
    }

    /// The sub-clusters whose rate and whose memory deviate most.
    pub fn worst(&self) -> [usize; 2] {
        let (mut rate, mut memory) = ((0.0, 0), (0.0, 0));
        for j in 0..self.clusters() {
            let (r, s) = self.deviation(j);
            if r.abs() > rate.0 {
                rate = (r.abs(), j);
            }
            if s.abs() > memory.0 {
                memory = (s.abs(), j);
            }
        }
        [rate.1, memory.1]
    }

    /// The largest deviations of all sub-clusters but two.
    pub fn largest_elsewhere(&self, a: usize, b: usize) -> (f64, f64) {
        let mut largest = (0.0f64, 0.0f64);
        for j in (0..self.clusters()).filter(|j| *j != a && *j != b) {
            let (r, s) = self.deviation(j);
            largest = (largest.0.max(r.abs()), largest.1.max(s.abs()));
        }
        largest
    }

    /// What boards are compared by, the least the best: beyond the limits, objective.
    pub fn rank(&self) -> (f64, f64) {
        let beyond = self.loads.iter().map(|l| self.problem.violation(l)).sum();
        let (r, s) = self.largest_elsewhere(usize::MAX, usize::MAX);
        (beyond, r + s)
    }

    /// By how much `a` and `b` together are beyond the limits after an exchange.
    pub fn violation_after(
        &self,
        a: usize,
        b: usize,
        give: Option<&ModelLoad>,
        take: Option<&ModelLoad>,
    ) -> f64 {
        self.problem.violation(&swapped(&self.loads[a], give, take))
            + self.problem.violation(&swapped(&self.loads[b], take, give))
    }

    /// Makes an exchange: `give` goes from `a` to `b`, `take` from `b` to `a`.
    pub fn exchange(&mut self, a: usize, b: usize, give: Option<usize>, take: Option<usize>) {
        for (i, from, to) in [(give, a, b), (take, b, a)] {
            let Some(i) = i else { continue };
            let at = self.members[from].iter().position(|m| *m == i).expect("it is there");
            self.members[from].swap_remove(at);
            self.members[to].push(i);
            self.cluster_of[i] = to;
        }
        for j in [a, b] {
            let mut load = ClusterLoad::default();
            self.members[j].iter().for_each(|&i| load.add(&self.problem.models[i]));
            self.loads[j] = load;
        }
    }
}

/// A load after one model left and another came. The second largest is not kept up: nothing more is
/// done with it.
fn swapped(load: &ClusterLoad, out: Option<&ModelLoad>, into: Option<&ModelLoad>) -> ClusterLoad {
    let mut after = *load;
    if let Some(m) = out {
        after.rate -= m.rate;
        after.memory -= m.static_mem;
        if m.dynamic_mem >= after.largest {
            after.largest = after.second;
        }
    }
    if let Some(m) = into {
        after.add(m);
    }
    after
}
