//! What models ask of devices: Clockwork's load and demand statistics (§5.3 "Scheduling LOAD").
//!
//! A model's demand is the execution time of its requests, in batches of one. It is dealt out to the
//! devices that have the model, the less the more these have to do; what they cannot serve is the
//! model's priority. It loads and evicts nothing.
//!
//! # How the highest priority is found
//! A priority changes whenever any device that has the model gets more or less to do, for all models
//! of that device at once. So none is kept. What is kept is an upper bound that changes with the
//! model's own requests alone: the demand that a load would help. Models are grouped by who has them,
//! each group in order of the bound, and priorities are made when they are asked for, as far down as
//! the bound can beat what was found:
//!
//! - nobody has it: the bound is the priority;
//! - one device has it: the priority is the bound times what that device lacks, the same share for
//!   the whole group, and nothing while the device can serve what it has ([`SERVES`]);
//! - several have it: all are looked at, once for all devices that ask, if any device has more than it
//!   can serve. Most take one comparison ([`enough`]);
//! - every device has it: no load is of use.

use super::super::soonest::Soonest;
use super::wants::Wants;
use crate::request::RequestId;
use crate::table::Table;
use crate::time::{Span, Time};

/// What a device can do in the time for which demands are stated. Released: the default SLO.
const CAPACITY: Span = Span::from_ms(100);
/// What every device is taken to have to do at least. Released: 1 ms.
const FLOOR: f64 = 1e6;
/// A device with no more than this to do serves all of it: a model that only such devices have is of
/// no positive priority. It is the capacity less the floor, and a margin for rounding.
const SERVES: u64 = 98_000_000;
/// Rounding in two priorities of one group, as a share of what is asked for; the truth is below 1e-13.
const ROUNDING: f64 = 1e-12;

/// The groups of [`Wants`]: nobody has the model, several devices have it, one has it (from here on).
const NOBODY: usize = 0;
const SEVERAL: usize = 1;
const ONE: usize = 2;

/// One request's demand; `load` becomes zero once a load comes too late for it.
#[derive(Default)]
struct Ask {
    model: u32,
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
    /// From the first request on, by its distance from it.
    asks: Table<Ask>,
    first: Option<u64>,
    models: Vec<Need>,
    /// By device: the sum of its shares (l_g).
    device: Vec<u64>,
    /// By device: whether it may have models; and how many may.
    places: Vec<bool>,
    up: usize,
    wants: Wants,
    /// How many models have requests that a load would help.
    wanting: usize,
    /// Until when a load helps a request; nothing where that is never forgotten.
    helps: Soonest<(Time, RequestId)>,
    forgets: bool,
    /// Weights of the devices that a demand is dealt to.
    weights: Vec<f64>,
    /// By device: its weight since [`Demands::look`].
    weight: Vec<f64>,
    /// By number of devices that have a model: [`enough`].
    enough: Vec<u64>,
    /// Models that several devices have, with their priorities, since [`Demands::look`].
    several: Vec<(f64, usize)>,
}

/// A time of `one` to be found within `slo`, as a share of the capacity.
fn demand(one: Span, slo: Span) -> u64 {
    (one.ns() as f64 * CAPACITY.ns() as f64 / slo.ns().max(1) as f64) as u64
}

/// A demand, which is far below 2^63, as a float: one instruction, and twenty for a `u64` of any size.
fn float(demand: u64) -> f64 {
    demand as i64 as f64
}

fn weight(to_do: u64) -> f64 {
    1.0 / (FLOOR + float(to_do))
}

/// Of the devices that have a model, one with no more than this to do serves all that is asked for,
/// whatever the other ones have to do.
///
/// With weights w and the capacity C, a priority is not positive if the sum of w (C w - 1) over the
/// devices is not negative. No term is below -1/(4 C), so that one of at least `devices`/(4 C) is
/// enough. That is a quadratic inequality; a hundredth is left for rounding.
fn enough(devices: usize) -> u64 {
    let n = devices as f64;
    let share = 2.0 * (libm::sqrt(1.0 + n) - 1.0) / n;
    (0.99 * share * CAPACITY.ns() as f64 - FLOOR) as u64
}

impl Demands {
    /// `forgets` what a load no longer helps: [`Demands::advance`] is called.
    pub fn new(models: usize, forgets: bool) -> Demands {
        Demands {
            models: (0..models).map(|_| Need::default()).collect(),
            wants: Wants::new(models),
            forgets,
            ..Demands::default()
        }
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
        let ask = Ask { model: model as u32, exec: demand(one, slo), load: demand(one, helps) };
        let need = &mut self.models[model];
        self.wanting += usize::from(need.load == 0 && ask.load > 0);
        need.exec += ask.exec;
        need.load += ask.load;
        let first = *self.first.get_or_insert(id.0);
        while self.asks.next_id() < id.0 - first {
            let skipped = self.asks.insert(Ask { model: 0, exec: 0, load: 0 });
            self.asks.remove(skipped);
        }
        self.asks.insert(ask);
        if self.forgets {
            self.helps.push((now + helps, id));
        }
        self.deal(model);
    }

    /// Requests of one model that a load no longer helps, because they run or because it would come
    /// too late.
    pub fn beyond_help(&mut self, ids: &[RequestId]) {
        let mut of = None;
        for id in ids {
            let at = id.0.wrapping_sub(self.first.unwrap_or(0));
            if let Some(ask) = self.asks.get_mut(at) {
                let (model, load) = (ask.model as usize, std::mem::take(&mut ask.load));
                self.lower(model, load);
                of = Some(model);
            }
        }
        // Nothing else has changed in between, so that dealing once is dealing after each.
        if let Some(model) = of {
            self.deal(model);
        }
    }

    /// Requests of one model have ended, in whatever way.
    pub fn ended(&mut self, ids: &[RequestId]) {
        let mut of = None;
        for id in ids {
            if let Some(ask) = self.asks.remove(id.0.wrapping_sub(self.first.unwrap_or(0))) {
                let model = ask.model as usize;
                self.models[model].exec -= ask.exec;
                self.lower(model, ask.load);
                of = Some(model);
            }
        }
        if let Some(model) = of {
            self.deal(model);
        }
    }

    fn lower(&mut self, model: usize, load: u64) {
        let need = &mut self.models[model];
        need.load -= load;
        self.wanting -= usize::from(load > 0 && need.load == 0);
    }

    /// Forgets what a load no longer helps.
    pub fn advance(&mut self, now: Time) {
        while let Some((_, id)) = self.helps.pop_if(|(until, _)| until < now) {
            self.beyond_help(&[id]);
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

    /// A device may have models from now on, or may not.
    pub fn set_place(&mut self, device: usize, is_one: bool) {
        if self.device.len() <= device {
            self.device.resize(device + 1, 0);
            self.places.resize(device + 1, false);
        }
        self.places[device] = is_one;
        self.up = self.places.iter().filter(|p| **p).count();
        self.enough = (0..=self.places.len()).map(|n| enough(n.max(1))).collect();
        (0..self.models.len()).for_each(|m| self.group(m));
    }

    /// What a device has to do.
    pub fn of_device(&self, device: usize) -> u64 {
        self.device[device]
    }

    /// Whether requests of the model are waiting or running.
    pub fn has_any(&self, model: usize) -> bool {
        self.models[model].exec > 0
    }

    /// The devices that have the model or are loading it.
    pub fn holders(&self, model: usize) -> impl Iterator<Item = usize> {
        self.models[model].shares.iter().map(|s| s.0)
    }

    /// Whether some model may ask for a load.
    pub fn any_wants(&self) -> bool {
        self.wanting > 0
    }

    /// Prepares [`Demands::best`]; whether that may have an answer for any device.
    pub fn look(&mut self, any_sign: bool) -> bool {
        self.several.clear();
        let mut any = !self.wants.is_empty(NOBODY);
        any |= self.wants.filled(ONE).any(|group| any_sign || self.device[group - ONE] > SERVES);
        let over = any_sign || self.device.iter().any(|&to_do| to_do > SERVES);
        let may = |model| any_sign || self.may_be_positive(model);
        let several = over && self.wants.all(SEVERAL).any(|(_, model)| may(model));
        if any || several {
            self.weight.clear();
            self.weight.extend(self.device.iter().map(|&to_do| weight(to_do)));
        }
        if several {
            for (_, model) in self.wants.all(SEVERAL) {
                if any_sign || self.may_be_positive(model) {
                    let priority = self.priority(model);
                    if any_sign || priority > 0.0 {
                        self.several.push((priority, model));
                    }
                }
            }
        }
        any || !self.several.is_empty()
    }

    fn may_be_positive(&self, model: usize) -> bool {
        let shares = &self.models[model].shares;
        let enough = self.enough[shares.len()];
        shares.iter().all(|s| self.device[s.0] > enough)
    }

    /// The model of the highest priority of those that `may` be loaded on a device that lacks them; of
    /// equal ones the one of the lowest number. The priority must be positive, unless `any_sign`.
    /// [`Demands::look`] comes before, and after each change.
    pub fn best(
        &self,
        device: usize,
        any_sign: bool,
        may: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        let offer = |best: &mut Option<(f64, usize)>, model: usize, priority: f64| {
            let beats = |b: (f64, usize)| priority > b.0 || (priority == b.0 && model < b.1);
            if (any_sign || priority > 0.0) && best.is_none_or(beats) && may(model) {
                *best = Some((priority, model));
            }
        };
        self.wants.walk(NOBODY, |asks, model| {
            let can = best.is_none_or(|b| asks as f64 >= b.0);
            if can {
                offer(&mut best, model, asks as f64);
            }
            can
        });
        for group in self.wants.filled(ONE) {
            let g = group - ONE;
            if g == device || (!any_sign && self.device[g] <= SERVES) {
                continue;
            }
            self.wants.walk(group, |asks, model| {
                let priority = self.priority(model);
                // Below it, priorities are the same share of less.
                let bound = priority.max(0.0) + asks as f64 * ROUNDING;
                let can = best.is_none_or(|b| bound >= b.0);
                if can {
                    offer(&mut best, model, priority);
                }
                can
            });
        }
        self.several.iter().for_each(|&(priority, model)| offer(&mut best, model, priority));
        best.map(|b| b.1)
    }

    /// Demand less what the devices that have the model can serve of it, as they were when
    /// [`Demands::look`] looked.
    fn priority(&self, model: usize) -> f64 {
        let need = &self.models[model];
        let total: f64 = need.shares.iter().map(|s| self.weight[s.0]).sum();
        let load = need.load as f64;
        let served = |&(g, _): &(usize, u64)| {
            let weight = self.weight[g];
            load * (weight / total) * (CAPACITY.ns() as f64 * weight)
        };
        load - need.shares.iter().map(served).sum::<f64>()
    }

    /// Deals a model's demand out anew.
    fn deal(&mut self, model: usize) {
        let Need { exec, shares, .. } = &mut self.models[model];
        let exec = *exec as f64;
        if let [(g, share)] = &mut shares[..] {
            self.device[*g] -= *share;
            *share = exec as u64;
            self.device[*g] += *share;
        } else if exec == 0.0 {
            // Most models have no request most of the time.
            for (g, share) in shares.iter_mut() {
                self.device[*g] -= std::mem::take(share);
            }
        } else if !shares.is_empty() {
            // Pass by pass over dense numbers: most of them divide two at a time.
            self.weights.resize(shares.len(), 0.0);
            for (weight, &(g, share)) in self.weights.iter_mut().zip(shares.iter()) {
                self.device[g] -= share;
                *weight = float(self.device[g]);
            }
            self.weights.iter_mut().for_each(|weight| *weight = 1.0 / (FLOOR + *weight));
            let total: f64 = self.weights.iter().sum();
            self.weights.iter_mut().for_each(|weight| *weight = exec * (*weight / total));
            for ((g, share), part) in shares.iter_mut().zip(&self.weights) {
                *share = *part as i64 as u64;
                self.device[*g] += *share;
            }
        }
        self.group(model);
    }

    /// Puts a model into the group that it belongs to.
    fn group(&mut self, model: usize) {
        let Need { load, shares, .. } = &self.models[model];
        let group = match shares[..] {
            _ if *load == 0 => None,
            [] => Some(NOBODY),
            _ if shares.len() >= self.up => None,
            [(g, _)] => Some(ONE + g),
            _ => Some(SEVERAL),
        };
        self.wants.put(model, group, *load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INFER5 never forgets, so that it has nothing to remember: six hours have 208 million requests.
    #[test]
    fn until_when_a_load_helps_is_kept_only_where_it_is_asked_for() {
        for forgets in [true, false] {
            let mut demands = Demands::new(1, forgets);
            for i in 0..1_000 {
                let (now, ms) = (Time::ZERO + Span::from_us(i), Span::from_ms);
                demands.arrived(now, RequestId(i), 0, ms(1), (ms(100), ms(25)));
                demands.ended(&[RequestId(i)]);
            }
            assert_eq!(demands.helps.len(), if forgets { 1_000 } else { 0 });
        }
    }

    /// The rule as a formula, share by share: a part of the demand for each device, by its weight without it.
    fn dealt(exec: u64, shares: &[(usize, u64)], device: &mut [u64]) -> Vec<(usize, u64)> {
        shares.iter().for_each(|&(g, share)| device[g] -= share);
        let weights: Vec<f64> = shares.iter().map(|s| 1.0 / (FLOOR + device[s.0] as f64)).collect();
        let total: f64 = weights.iter().sum();
        let part = |weight: f64| match shares.len() {
            1 => exec,
            _ => (exec as f64 * (weight / total)) as u64,
        };
        let all = shares.iter().zip(weights).map(|(s, weight)| (s.0, part(weight)));
        all.inspect(|&(g, share)| device[g] += share).collect()
    }

    #[test]
    fn a_demand_is_dealt_by_the_formula_to_the_last_nanosecond() {
        let rng = &mut crate::rng::Stream::named(1, "deals", 0);
        let mut demands = Demands::new(6, false);
        (0..9).for_each(|g| demands.set_place(g, true));
        for model in 0..6 {
            // One device has the first model, and ever more have the others.
            (0..=model).for_each(|g| demands.gains(model, (g + model) % 9));
        }
        let (mut alive, mut zeros) = (Vec::new(), 0);
        for id in 0..20_000u64 {
            let model = rng.below(6) as usize;
            let before = (demands.models[model].shares.clone(), demands.device.clone());
            let model = if alive.is_empty() || (alive.len() < 8 && rng.below(2) == 0) {
                let (one, slo) = (Span::from_us(rng.below(30_000)), Span::from_ms(100));
                demands.arrived(Time::ZERO, RequestId(id), model, one, (slo, slo));
                alive.push((id, model));
                Some(model)
            } else {
                let (gone, of) = alive.swap_remove(rng.below(alive.len() as u64) as usize);
                demands.ended(&[RequestId(gone)]);
                (of == model).then_some(model)
            };
            let Some(model) = model else { continue };
            let Need { exec, shares, .. } = &demands.models[model];
            let (shares_before, mut device) = before;
            assert_eq!(*shares, dealt(*exec, &shares_before, &mut device));
            assert_eq!(demands.device, device);
            zeros += u32::from(*exec == 0);
        }
        assert!(zeros > 100, "{zeros}: also nothing is dealt");
    }
}
