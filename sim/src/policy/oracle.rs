//! Oracle: the reference that knows every execution time. It is no system; it shows what knowledge
//! alone would be worth to a greedy scheduler.
//!
//! ```text
//! whenever a device is free, for the latencies of its type:
//!     drop what could not finish in time even alone, now
//!     for every pending request as the longest of a batch (its time l):
//!         members <- requests no longer than l that are in time in a batch of their number
//!     execute the batch with the most requests a second; its earliest deadlines first
//! ```
//!
//! It is greedy, not optimal: no schedule is searched beyond the next batch.
//!
//! # Differences from the paper
//! None: it is no paper's.

use super::free_devices::FreeDevices;
use super::parameters::{About, Assumption, Build, Parameter, Preset, Settings, count};
use super::{Actions, Event, Exec, Known, Policy};
use crate::latency::Latency;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, RequestId};
use crate::time::{Span, Time};

/// The oracle's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most requests of a batch.
    pub max_batch: u32,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "oracle",
        what: "clairvoyant greedy: knows every execution time, and is no bound",
        paper: "no paper's",
    };
    const ASSUMES: &'static [Assumption] = &[];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "batches of up to 16",
        make: || Config { max_batch: 16 },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[count(
        "max_batch",
        |c: &mut Self| Some(&mut c.max_batch),
        "maximum number of requests in a batch",
    )];
}

#[derive(Clone, Copy)]
struct Pending {
    alone: Span,
    deadline: Time,
    id: RequestId,
}

/// The policy. See the module's text.
pub struct Oracle {
    config: Config,
    /// By kind of device, then by model.
    laws: Vec<Vec<Latency>>,
    /// Of each device.
    kinds: Vec<u32>,
    /// By model, each ordered by (execution time, id).
    pending: Vec<Vec<Pending>>,
    free: FreeDevices,
    batch: Vec<Pending>,
    ids: Vec<RequestId>,
}

impl Oracle {
    /// An oracle that knows the latency laws of the profiles as well.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Oracle {
        let kinds = |p: &ModelProfile| p.kinds.as_ref().map_or(1, |kinds| kinds.laws.len());
        let law = |kind: usize| {
            let law = |p: &ModelProfile| match &p.kinds {
                Some(kinds) => kinds.laws[kind].clone(),
                None => p.law.clone(),
            };
            profiles.iter().map(law).collect()
        };
        Oracle {
            config,
            laws: (0..profiles.first().map_or(1, kinds)).map(law).collect(),
            kinds: Vec::new(),
            pending: profiles.iter().map(|_| Vec::new()).collect(),
            free: FreeDevices::default(),
            batch: Vec::new(),
            ids: Vec::new(),
        }
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        self.drop_hopeless(now, out);
        while let Some((device, model)) = self.next(now) {
            self.ids.clear();
            self.ids.extend(self.batch.iter().map(|p| p.id));
            let taken = &self.batch;
            self.pending[model].retain(|p| !taken.iter().any(|t| t.id == p.id));
            out.why_all(&self.ids, || {
                let k = self.ids.len();
                format!(
                    "batch of {k}: of all batches in time the one with the most requests a second"
                )
            });
            out.exec(Exec::now(device, ModelId(model as u32)), &self.ids);
            self.free.take_device(device);
        }
    }

    /// The next free device that has a batch, which `batch` then is, and its model.
    fn next(&mut self, now: Time) -> Option<(DeviceId, usize)> {
        let mut seen = None;
        for place in (0..self.free.len()).rev() {
            let device = self.free.at(place);
            let kind = self.kinds.get(device.index()).map_or(0, |&kind| kind as usize);
            // What one device of a kind lacks the next of it lacks, too.
            if seen.replace(kind) != Some(kind)
                && let Some(model) = self.best(now, kind)
            {
                return Some((device, model));
            }
        }
        None
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        if self.free.is_empty() {
            return;
        }
        for (m, pending) in self.pending.iter_mut().enumerate() {
            pending.retain(|p| {
                let laws = self.laws.iter().map(|kind| kind[m].batch(1, p.alone));
                let alone = now + laws.min().unwrap_or(Span::ZERO);
                let hopeful = alone <= p.deadline;
                if !hopeful {
                    out.why(p.id, || {
                        format!("even alone, now, it would end {} late", alone - p.deadline)
                    });
                    out.end(p.id, Drop::Infeasible);
                }
                hopeful
            });
        }
    }

    /// Fills `batch` with the best one on a kind of device; its model.
    fn best(&mut self, now: Time, kind: usize) -> Option<usize> {
        let mut best = None;
        let mut best_rate = 0.0;
        let mut members: Vec<Pending> = Vec::new();
        for (model, (pending, law)) in self.pending.iter().zip(&self.laws[kind]).enumerate() {
            members.clear();
            for longest in pending {
                let at = members
                    .partition_point(|m| (m.deadline, m.id) < (longest.deadline, longest.id));
                members.insert(at, *longest);
                let k =
                    (1..=members.len().min(self.config.max_batch as usize)).rev().find_map(|k| {
                        let finish = now + law.batch(k as u32, longest.alone);
                        let first = members.partition_point(|m| m.deadline < finish);
                        (members.len() - first >= k).then_some((k, first))
                    });
                let Some((k, first)) = k else { continue };
                let rate = k as f64 / law.batch(k as u32, longest.alone).ns().max(1) as f64;
                if rate > best_rate {
                    best_rate = rate;
                    best = Some(model);
                    self.batch.clear();
                    self.batch.extend_from_slice(&members[first..first + k]);
                }
            }
        }
        best
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Oracle::new(self, profiles))
    }
}

impl Policy for Oracle {
    fn name(&self) -> String {
        self.config.name()
    }

    fn sees_truth(&self) -> bool {
        true
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => {
                let alone = known.truth(r.id).expect("an oracle knows the actual times");
                let pending = &mut self.pending[r.model.index()];
                let at = pending.partition_point(|p| (p.alone, p.id) < (alone, r.id));
                pending.insert(at, Pending { alone, deadline: r.deadline, id: r.id });
            }
            Event::Timer(_) | Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                if !matches!(event, Event::Result { .. }) {
                    // Told of one kind only, it knows no other.
                    let last = self.laws.len() as u32 - 1;
                    let kinds = known.devices();
                    self.kinds = kinds.iter().map(|d| d.kind.min(last)).collect();
                }
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::BTreeMap;

    fn profile(alpha_ms: u64, beta_ms: u64) -> ModelProfile {
        let law = Latency::Affine { alpha: Span::from_ms(alpha_ms), beta: Span::from_ms(beta_ms) };
        let (sizes, apps, slo) = (Vec::new(), Vec::new(), Span::from_ms(50));
        ModelProfile { sizes, apps, law, slo, kinds: None, penalties: BTreeMap::new() }
    }

    /// The most requests a second of all sets of a model's requests that are in time together.
    fn most(pending: &[Pending], law: &Latency, max_batch: u32, now: Time) -> f64 {
        let sets = 1..1u32 << pending.len();
        let rate = |set: u32| {
            let of = |i: &usize| set >> i & 1 == 1;
            let members: Vec<&Pending> =
                (0..pending.len()).filter(of).map(|i| &pending[i]).collect();
            let longest = members.iter().map(|m| m.alone).max()?;
            let takes = law.batch(set.count_ones(), longest);
            let in_time = members.iter().all(|m| now + takes <= m.deadline);
            let fits = set.count_ones() <= max_batch;
            (fits && in_time).then(|| f64::from(set.count_ones()) / takes.ns() as f64)
        };
        sets.filter_map(rate).fold(0.0, f64::max)
    }

    #[test]
    fn the_batch_is_the_best_of_all_sets_of_requests() {
        let mut stream = Stream::named(1, "oracle", 0);
        let now = Time::ZERO + Span::from_ms(100);
        let profiles = [profile(2, 3), profile(1, 8)];
        let mut batches = 0;
        for _ in 0..300 {
            let mut oracle = Oracle::new(Config { max_batch: 4 }, &profiles);
            for i in 0..stream.below(12) {
                let alone = Span::from_us(1_000 + stream.below(9_000));
                let deadline = now + Span::from_us(5_000 + stream.below(25_000));
                let pending = &mut oracle.pending[stream.below(2) as usize];
                pending.push(Pending { alone, deadline, id: RequestId(i) });
                pending.sort_by_key(|p| (p.alone, p.id));
            }
            let all = oracle.pending.iter().zip(&oracle.laws[0]);
            let most = all.map(|(p, law)| most(p, law, 4, now)).fold(0.0, f64::max);
            let Some(model) = oracle.best(now, 0) else {
                assert_eq!(most, 0.0);
                continue;
            };
            batches += 1;
            let (batch, law) = (&oracle.batch, &oracle.laws[0][model]);
            let longest = batch.iter().map(|m| m.alone).max().expect("a batch of some");
            let takes = law.batch(batch.len() as u32, longest);
            assert!(batch.iter().all(|m| now + takes <= m.deadline), "all are in time");
            assert_eq!(batch.len() as f64 / takes.ns() as f64, most);
        }
        assert!(batches > 200, "{batches}");
    }
}
