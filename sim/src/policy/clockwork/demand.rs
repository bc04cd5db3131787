//! What models ask of devices: Clockwork's load and demand statistics (§5.3 "Scheduling LOAD").
//!
//! A model's demand is the execution time of its requests, in batches of one. It is dealt out to the
//! devices that have the model, the less the more these have to do; what they cannot serve is the
//! model's priority. It loads and evicts nothing.

use crate::request::RequestId;
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// What a device can do in the time for which demands are stated. Released: the default SLO.
const CAPACITY: Span = Span::from_ms(100);
/// What every device is taken to have to do at least. Released: 1 ms.
const FLOOR: f64 = 1e6;

/// One request's demand; `load` becomes zero once a load comes too late for it.
struct Ask {
    model: usize,
    exec: u64,
    load: u64,
}

#[derive(Default)]
struct Need {
    /// The demand of all requests that have not ended (the paper's d_m).
    exec: u64,
    /// The demand of those that a load would still help.
    load: u64,
    /// The devices that have the model or are loading it, with their share of `exec` (a_mg).
    shares: Vec<(usize, u64)>,
}

#[derive(Default)]
pub(super) struct Demands {
    asks: BTreeMap<RequestId, Ask>,
    models: Vec<Need>,
    /// By device: the sum of its shares (l_g).
    device: Vec<u64>,
    /// Models with requests that a load would help.
    wanting: BTreeSet<usize>,
    /// Until when a load helps a request.
    helps: BinaryHeap<Reverse<(Time, RequestId)>>,
}

/// A time of `one` to be found within `slo`, as a share of the capacity.
fn demand(one: Span, slo: Span) -> u64 {
    (one.ns() as f64 * CAPACITY.ns() as f64 / slo.ns().max(1) as f64) as u64
}

impl Demands {
    pub fn new(models: usize) -> Demands {
        Demands { models: (0..models).map(|_| Need::default()).collect(), ..Demands::default() }
    }

    /// A request arrived that takes `one` alone, may wait for `slo`, and for a load until `helps`.
    pub fn arrived(
        &mut self,
        now: Time,
        id: RequestId,
        model: usize,
        one: Span,
        (slo, helps): (Span, Span),
    ) {
        let ask = Ask { model, exec: demand(one, slo), load: demand(one, helps) };
        let need = &mut self.models[model];
        need.exec += ask.exec;
        need.load += ask.load;
        self.asks.insert(id, ask);
        self.helps.push(Reverse((now + helps, id)));
        self.deal(model);
    }

    /// Requests that a load no longer helps, because they run or because it would come too late.
    pub fn beyond_help(&mut self, id: RequestId) {
        if let Some(ask) = self.asks.get_mut(&id) {
            self.models[ask.model].load -= std::mem::take(&mut ask.load);
            let model = ask.model;
            self.deal(model);
        }
    }

    /// A request has ended, in whatever way.
    pub fn ended(&mut self, id: RequestId) {
        if let Some(ask) = self.asks.remove(&id) {
            let need = &mut self.models[ask.model];
            need.exec -= ask.exec;
            need.load -= ask.load;
            self.deal(ask.model);
        }
    }

    /// Forgets what a load no longer helps.
    pub fn advance(&mut self, now: Time) {
        while let Some(&Reverse((until, id))) = self.helps.peek()
            && until < now
        {
            self.helps.pop();
            self.beyond_help(id);
        }
    }

    /// A device has the model, or is loading it.
    pub fn gains(&mut self, model: usize, device: usize) {
        self.models[model].shares.push((device, 0));
        self.deal(model);
    }

    /// A device has it no more.
    pub fn loses(&mut self, model: usize, device: usize) {
        let need = &mut self.models[model];
        for &(g, share) in &need.shares {
            self.device[g] -= share;
        }
        need.shares.retain(|s| s.0 != device);
        need.shares.iter_mut().for_each(|s| s.1 = 0);
        self.deal(model);
    }

    /// A device that may get shares.
    pub fn add_device(&mut self, device: usize) {
        if self.device.len() <= device {
            self.device.resize(device + 1, 0);
        }
    }

    /// What a device has to do.
    pub fn of_device(&self, device: usize) -> u64 {
        self.device[device]
    }

    /// Whether requests of the model are waiting or running.
    pub fn has_any(&self, model: usize) -> bool {
        self.models[model].exec > 0
    }

    /// Models that a load may help, with their priority where it is positive: the highest first.
    pub fn by_priority(&self) -> Vec<(f64, usize)> {
        let priority = |&model: &usize| (self.priority(model), model);
        let mut all: Vec<_> = self.wanting.iter().map(priority).filter(|p| p.0 > 0.0).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all
    }

    /// Whether some model may ask for a load.
    pub fn any_wants(&self) -> bool {
        !self.wanting.is_empty()
    }

    /// Demand less what the devices that have the model can serve of it.
    pub fn priority(&self, model: usize) -> f64 {
        let need = &self.models[model];
        let total = self.weights(need);
        let load = need.load as f64;
        let served = |&(g, _): &(usize, u64)| {
            load * (self.weight(g) / total) * (CAPACITY.ns() as f64 * self.weight(g))
        };
        load - need.shares.iter().map(served).sum::<f64>()
    }

    fn weight(&self, device: usize) -> f64 {
        1.0 / (FLOOR + self.device[device] as f64)
    }

    fn weights(&self, need: &Need) -> f64 {
        need.shares.iter().map(|s| self.weight(s.0)).sum()
    }

    /// Deals a model's demand out anew.
    fn deal(&mut self, model: usize) {
        if self.models[model].load > 0 {
            self.wanting.insert(model);
        } else {
            self.wanting.remove(&model);
        }
        for &(g, share) in &self.models[model].shares {
            self.device[g] -= share;
        }
        let mut shares = std::mem::take(&mut self.models[model].shares);
        let total: f64 = shares.iter().map(|s| self.weight(s.0)).sum();
        let exec = self.models[model].exec as f64;
        shares.iter_mut().for_each(|s| s.1 = (exec * (self.weight(s.0) / total)) as u64);
        shares.iter().for_each(|s| self.device[s.0] += s.1);
        self.models[model].shares = shares;
    }
}
