//! The plan that is there, moved to new rates (released code).
//!
//! ```text
//! for each model with a new rate:
//!     lower:   keep the GPUs with most of it, shrink one, take it off the rest
//!     higher:  let its shares grow up to a full GPU; the rest is unassigned
//!     GPUs that are then overloaded give models away; their rates are unassigned
//!     unassigned rates, largest first: full GPUs while they are needed, then best fit
//! ```

use super::node::{Model, Share};
use super::plan::{Plan, RATE_EPSILON, RATE_MIN};
use crate::ordered::sort_by;

/// A share shrinks only if it becomes smaller than this part of itself. Released code.
const SHRINK_BELOW: f64 = 0.97;
/// A GPU gives models away when it is fuller than this. Released code.
const OVERLOADED: f64 = 1.05;
impl Plan {
    /// Moves the plan to new rates. Released code.
    pub fn adjust(&mut self, models: &[Model], rates: &[f64]) {
        let mut unassigned = vec![0.0; models.len()];
        for (model, rate) in rates.iter().enumerate() {
            let rate = rate.max(RATE_MIN);
            self.wanted[model] = rate;
            let assigned = self.assigned(model);
            if rate < assigned {
                self.shrink(models, model, rate);
            } else {
                unassigned[model] = self.grow(models, model, rate - assigned);
            }
        }
        for gpu in 0..self.nodes.len() {
            for share in self.spill(models, gpu) {
                unassigned[share.model] += share.rate;
            }
        }
        self.place_all(models, unassigned.into_iter().enumerate().map(|(m, r)| (r, m)).collect());
    }

    /// A model's GPUs, those with most of it first.
    fn largest_first(&self, model: usize) -> Vec<(usize, f64)> {
        let mut all: Vec<_> = self.shares_of(model).map(|(g, s)| (g, s.rate)).collect();
        sort_by(&mut all, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all
    }

    fn shrink(&mut self, models: &[Model], model: usize, mut left: f64) {
        for (gpu, rate) in self.largest_first(model) {
            if left <= RATE_EPSILON {
                self.nodes[gpu] = self.nodes[gpu].without(models, model);
            } else if left < SHRINK_BELOW * rate {
                self.set_share(models, gpu, models[model].share(model, left));
            }
            left -= rate;
        }
    }

    /// Returns what no share of the model can take.
    fn grow(&mut self, models: &[Model], model: usize, mut more: f64) -> f64 {
        for (gpu, rate) in self.largest_first(model) {
            if more > RATE_EPSILON {
                let share = models[model].share(model, rate + more);
                more -= share.rate - rate;
                self.set_share(models, gpu, share);
            }
        }
        more
    }

    /// What an overloaded GPU gives away: it keeps the longest batches that fit together.
    fn spill(&mut self, models: &[Model], gpu: usize) -> Vec<Share> {
        if self.nodes[gpu].occupancy <= OVERLOADED {
            return Vec::new();
        }
        let mut shares = std::mem::take(&mut self.nodes[gpu]).shares;
        let latency = |s: &Share| models[s.model].latency_ns(s.batch);
        sort_by(&mut shares, |a, b| latency(b).total_cmp(&latency(a)).then(a.model.cmp(&b.model)));
        shares.retain(|share| match self.nodes[gpu].with(models, share) {
            Some(node) => {
                self.nodes[gpu] = node;
                false
            }
            None => true,
        });
        shares
    }
}
