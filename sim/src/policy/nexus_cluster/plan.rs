//! Which models run on which GPU: squishy bin packing (Nexus, §6.1). How a plan follows new rates, as
//! released, is in `adjust`.
//!
//! ```text
//! pack (paper), anew:
//!     saturate as many GPUs with each model as its rate fills
//!     residual loads, by falling occupancy: merge into the GPU that is then fullest, or a new one
//! ```
//!
//! It decides nothing about single requests.

use super::Packing;
use super::node::{Model, Node, Share};
use crate::ordered::sort_by;

/// A model that asks for next to nothing is planned with this rate. Released code.
pub(super) const RATE_MIN: f64 = 0.1;
/// What is left of a rate below this is rounding.
pub(super) const RATE_EPSILON: f64 = 1e-6;
/// Halvings of the range of total rates that a static plan tries.
const HALVINGS: u32 = 40;

/// The plan of the cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// By GPU.
    pub nodes: Vec<Node>,
    /// Which GPUs are up.
    usable: Vec<bool>,
    /// The rate that each model was planned with last; infinite before the first plan, which is a
    /// full GPU.
    pub(super) wanted: Vec<f64>,
}

impl Plan {
    pub fn new(models: usize) -> Plan {
        Plan { wanted: vec![f64::INFINITY; models], ..Plan::default() }
    }

    /// A GPU came up.
    pub fn add(&mut self, gpu: usize) {
        if self.nodes.len() <= gpu {
            self.nodes.resize_with(gpu + 1, Node::default);
            self.usable.resize(gpu + 1, false);
        }
        self.usable[gpu] = true;
    }

    /// A GPU is gone; what it carried.
    pub fn remove(&mut self, gpu: usize) -> Vec<Share> {
        let Some(usable) = self.usable.get_mut(gpu) else { return Vec::new() };
        *usable = false;
        std::mem::take(&mut self.nodes[gpu]).shares
    }

    /// What a lost GPU carried finds another place if there is one.
    pub fn replace(&mut self, models: &[Model], lost: &[Share]) {
        self.place_all(models, lost.iter().map(|s| (s.rate, s.model)).collect());
    }

    /// What the plan carries of a model.
    pub fn assigned(&self, model: usize) -> f64 {
        self.shares_of(model).map(|(_, s)| s.rate).sum()
    }

    /// A model's GPUs and shares, by GPU.
    pub fn shares_of(&self, model: usize) -> impl Iterator<Item = (usize, &Share)> {
        self.nodes.iter().enumerate().filter_map(move |(g, n)| Some((g, n.share_of(model)?)))
    }

    fn up(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(|&g| self.usable[g])
    }

    fn clear(&mut self) {
        self.nodes.iter_mut().for_each(|n| *n = Node::default());
    }

    /// Before anything is known: an idle GPU for each model, with its full batch.
    pub fn first(&mut self, models: &[Model]) {
        self.clear();
        for (m, model) in models.iter().enumerate() {
            let idle = self.up().find(|&g| self.nodes[g].shares.is_empty());
            if let Some(gpu) = idle {
                self.nodes[gpu] = Node::new(models, vec![model.share(m, f64::INFINITY)]);
            }
        }
        self.house(models);
    }

    /// Every GPU for one model, in turn, and every model on some GPU; always with full batches.
    pub fn full(&mut self, models: &[Model]) {
        self.clear();
        let gpus: Vec<usize> = self.up().collect();
        if models.is_empty() || gpus.is_empty() {
            return;
        }
        for i in 0..models.len().max(gpus.len()) {
            let (gpu, m) = (gpus[i % gpus.len()], i % models.len());
            let mut shares = std::mem::take(&mut self.nodes[gpu]).shares;
            shares.push(models[m].share(m, f64::INFINITY));
            let mut node = Node::new(models, shares);
            node.shares.iter_mut().for_each(|s| s.batch = models[s.model].full);
            self.nodes[gpu] = node;
        }
    }

    /// The largest rates in these proportions that fit.
    pub fn scaled(&mut self, models: &[Model], weights: &[f64], packing: Packing) {
        let gpus = self.up().count();
        let gpus_per_rate: f64 = models.iter().zip(weights).map(|(m, w)| w / m.full_rate()).sum();
        let fits = |scale: f64| {
            let rates: Vec<f64> = weights.iter().map(|w| w * scale).collect();
            pack(models, &rates, gpus, packing).map(|nodes| (nodes, rates))
        };
        // No plan carries more than full GPUs do.
        let (mut low, mut high) = (0.0, gpus as f64 / gpus_per_rate);
        let mut best = fits(high);
        if best.is_none() {
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                match fits(middle) {
                    Some(found) => (low, best) = (middle, Some(found)),
                    None => high = middle,
                }
            }
        }
        match best {
            Some((nodes, rates)) => {
                self.wanted = rates;
                self.settle(nodes);
            }
            None => self.first(models),
        }
    }

    /// Plans anew for these rates, all of them lowered alike if they are more than fits.
    pub fn repack(&mut self, models: &[Model], rates: &[f64], packing: Packing) {
        let rates: Vec<f64> = rates.iter().map(|r| r.max(RATE_MIN)).collect();
        match pack(models, &rates, self.up().count(), packing) {
            Some(nodes) => self.settle(nodes),
            None => self.scaled(models, &rates, packing),
        }
        self.wanted = rates;
    }

    /// Gives each node the GPU that already runs most of its models, so that few move.
    fn settle(&mut self, nodes: Vec<Node>) {
        let before = self.nodes.clone();
        self.clear();
        let mut free: Vec<usize> = self.up().collect();
        for node in nodes {
            let stays = |&gpu: &usize| {
                node.shares.iter().filter(|s| before[gpu].share_of(s.model).is_some()).count()
            };
            let best = (0..free.len()).max_by_key(|&i| (stays(&free[i]), std::cmp::Reverse(i)));
            let at = best.expect("a packing uses no more GPUs than there are");
            self.nodes[free.remove(at)] = node;
        }
    }

    pub(super) fn set_share(&mut self, models: &[Model], gpu: usize, share: Share) {
        let mut shares = std::mem::take(&mut self.nodes[gpu]).shares;
        shares.retain(|s| s.model != share.model);
        shares.push(share);
        self.nodes[gpu] = Node::new(models, shares);
    }

    /// Places rates, the largest first. What fits nowhere is left to the GPUs that the model has.
    pub(super) fn place_all(&mut self, models: &[Model], mut unassigned: Vec<(f64, usize)>) {
        sort_by(&mut unassigned, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (rate, model) in unassigned {
            self.place(models, model, rate);
        }
        self.house(models);
    }

    /// Returns what fits nowhere.
    fn place(&mut self, models: &[Model], model: usize, mut rate: f64) -> f64 {
        while rate > RATE_EPSILON {
            let share = models[model].share(model, rate);
            let Some(gpu) = self.best_fit(models, &share) else { break };
            let Some(node) = self.nodes[gpu].with(models, &share) else { break };
            self.nodes[gpu] = node;
            rate -= share.rate;
        }
        rate
    }

    /// The GPU that is fullest with the share. A full share fits idle GPUs alone.
    fn best_fit(&self, models: &[Model], share: &Share) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        let mut seen_idle = false;
        for gpu in self.up() {
            let node = &self.nodes[gpu];
            let idle = node.shares.is_empty();
            if node.occupancy >= 1.0 || (idle && std::mem::replace(&mut seen_idle, true)) {
                continue;
            }
            if let Some(occupancy) = node.occupancy_with(models, share)
                && best.is_none_or(|(_, fullest)| occupancy > fullest)
            {
                best = Some((gpu, occupancy));
            }
        }
        best.map(|b| b.0)
    }

    /// A model without a GPU shares the least occupied one, however overloaded that becomes.
    pub fn house(&mut self, models: &[Model]) {
        for (m, model) in models.iter().enumerate() {
            if self.shares_of(m).next().is_some() {
                continue;
            }
            let load = |&g: &usize| (self.nodes[g].occupancy, self.nodes[g].shares.len(), g);
            let least = self
                .up()
                .map(|g| load(&g))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
            if let Some((_, _, gpu)) = least {
                self.set_share(models, gpu, model.share(m, self.wanted[m]));
            }
        }
    }
}

/// Packs the rates onto so many GPUs, if they fit.
fn pack(models: &[Model], rates: &[f64], gpus: usize, packing: Packing) -> Option<Vec<Node>> {
    let mut plan = Plan::new(models.len());
    (0..gpus).for_each(|g| plan.add(g));
    let mut order: Vec<(f64, usize)> = rates.iter().enumerate().map(|(m, r)| (*r, m)).collect();
    if packing == Packing::Adjust {
        sort_by(&mut order, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    } else {
        saturate(models, &mut plan, &mut order)?;
    }
    let mut placed = order.iter().map(|&(rate, m)| plan.place(models, m, rate));
    let all = placed.all(|left| left <= RATE_EPSILON);
    // A rate that is next to nothing fits anywhere; its model may not.
    let housed = (0..models.len()).all(|m| plan.shares_of(m).next().is_some());
    plan.nodes.retain(|n| !n.shares.is_empty());
    (all && housed).then_some(plan.nodes)
}

/// Gives each model the GPUs that it fills; leaves the residual loads by falling occupancy.
fn saturate(models: &[Model], plan: &mut Plan, order: &mut [(f64, usize)]) -> Option<()> {
    let mut idle = 0;
    for (rate, m) in order.iter_mut() {
        let full = models[*m].full_rate();
        while *rate >= full {
            *plan.nodes.get_mut(idle)? = Node::new(models, vec![models[*m].share(*m, full)]);
            idle += 1;
            *rate -= full;
        }
    }
    let occupancy = |rate: f64, m: usize| {
        if rate <= RATE_EPSILON {
            0.0
        } else {
            Node::new(models, vec![models[m].share(m, rate)]).occupancy
        }
    };
    sort_by(order, |a, b| occupancy(b.0, b.1).total_cmp(&occupancy(a.0, a.1)).then(a.1.cmp(&b.1)));
    Some(())
}
