//! Orloj (Yu et al.), Algorithm 1 and §4.
//!
//! Execution times are random variables with a law for each application. A batch lasts as long as
//! its longest request, so its latency is a maximum of draws; a request's priority is the expected
//! cost that running it now saves, for each unit of device time that its batch takes (Eq. 1, 2).
//!
//! ```text
//! whenever a device is free:                                                     Algorithm 1
//!     update priority scores                                                     lines 1-9
//!     for bs in S, r in Q_bs: if now + EstimateBatchLatency(r, bs) > D_r:        lines 10-14
//!         Q_bs <- Q_bs \ {r}; the last size gone: r is timed out
//!     for bs by (earliest deadline in Q_bs, bs), descending:                     lines 15-19
//!         if |Q_bs| >= bs: candidate <- bs; stop
//!     execute the candidate's highest scores                                     line 22
//! ```
//!
//! The batch is made lazily: nothing is sent before the device is free.
//!
//! # Differences from the paper
//! - The score is computed directly, exp(b (l - s)) with s the slack, for every pending request; so
//!   there is no base time to reset and no milestone. The alpha-beta form of §4.4 is to be the second
//!   implementation of [`Pending`].
//! - Eq. 2 calls h a frequency; it is one divided by the bin's width, a density. Otherwise the score
//!   would depend on how the bins were cut.
//! - `order=descending` is Algorithm 1 as printed. §3.2's text says the size with the earliest
//!   deadline instead: `order=ascending`.
//! - EstimateBatchLatency is not defined. `estimate=mean` is Eq. 5; `estimate=quantile` takes a high
//!   quantile of Eq. 9's law instead.
//! - L is the batch latency of a request's own application with companions of the mixture (§4.3).
//! - The feedback loop's window is not given. `relearn_every` renews an application's law from its
//!   latest 2,000 measurements, and the applications' shares from the latest 10,000 arrivals of the
//!   model: measurements are of answered requests only, and would weigh all applications alike once
//!   each has as many as are kept.
//! - Sizes above `max_exec` are not served (Clockwork's rule, on which Orloj is built), unless even
//!   a batch of one exceeds it; zero turns the rule off.
//!
//! # Differences from the released code
//! None was released.

use super::free_devices::FreeDevices;
use super::score::ScoreTable;
use super::{Actions, Event, Exec, Known, Policy};
use crate::distribution::Histogram;
use crate::profile::ModelProfile;
use crate::request::{Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::cmp::Ordering;

mod relearn;
use relearn::Learner;

/// EstimateBatchLatency of Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// The expectation of the batch's latency (Eq. 5).
    Mean,
    /// A quantile of the batch's latency (of the law of Eq. 9).
    Quantile(f64),
}

/// The order in which batch sizes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrder {
    /// By (earliest deadline, size), descending: Algorithm 1.
    Descending,
    /// By (earliest deadline ascending, size descending): the text of §3.2.
    Ascending,
}

/// Orloj's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// EstimateBatchLatency.
    pub estimate: Estimate,
    /// The order in which batch sizes are tried.
    pub order: SizeOrder,
    /// Parameter of the anticipated delay's law, per millisecond. Paper, §4.4: 1e-4.
    pub b_per_ms: f64,
    /// The largest batch size.
    pub max_batch: u32,
    /// Sizes whose seed profile exceeds this are not served; zero serves all.
    pub max_exec: Span,
    /// The profile is renewed after this many measurements; zero never renews it.
    pub relearn_every: u32,
}

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    id: RequestId,
    app: usize,
    deadline: Time,
    /// The sizes whose queue it is in: bit i for the i-th size.
    viable: u32,
}

/// What Orloj precomputes for one application: by batch size.
#[derive(Clone, Debug)]
pub struct AppTables {
    estimates: Vec<Span>,
    scores: Vec<ScoreTable>,
}

/// The pending requests of a model, in one queue Q_bs for each batch size.
pub trait Pending {
    /// Adds a request to every queue.
    fn insert(&mut self, entry: Entry);
    /// Lines 10-14: removes requests from the queues of sizes that they can no longer meet; `out`
    /// gets those that are in no queue any more.
    fn expire(&mut self, now: Time, tables: &[AppTables], out: &mut Vec<RequestId>);
    /// For each size, how many requests its queue holds and the earliest of their deadlines.
    fn census(&self, out: &mut Vec<(u32, Time)>);
    /// All that are pending, and whether they are in the queue of a size: for reasons.
    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool));
    /// Line 22: takes the `k` requests with the highest scores out of the queue of a size.
    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &[AppTables],
        out: &mut Vec<RequestId>,
    );
}

/// [`Pending`] as one list that is scanned from end to end.
#[derive(Default)]
pub struct ScanPending {
    entries: Vec<Entry>,
    scored: Vec<(f64, Time, RequestId)>,
}

impl Pending for ScanPending {
    fn insert(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    fn expire(&mut self, now: Time, tables: &[AppTables], out: &mut Vec<RequestId>) {
        self.entries.retain_mut(|e| {
            for (size, &estimate) in tables[e.app].estimates.iter().enumerate() {
                if now + estimate > e.deadline {
                    e.viable &= !(1 << size);
                }
            }
            if e.viable == 0 {
                out.push(e.id);
            }
            e.viable != 0
        });
    }

    fn census(&self, out: &mut Vec<(u32, Time)>) {
        for e in &self.entries {
            for (size, (count, earliest)) in out.iter_mut().enumerate() {
                if e.viable >> size & 1 == 1 {
                    *count += 1;
                    *earliest = (*earliest).min(e.deadline);
                }
            }
        }
    }

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        self.entries.iter().for_each(|e| out(e.id, e.viable >> size & 1 == 1));
    }

    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &[AppTables],
        out: &mut Vec<RequestId>,
    ) {
        self.scored.clear();
        for e in self.entries.iter().filter(|e| e.viable >> size & 1 == 1) {
            let score = tables[e.app].scores[size].at(e.deadline.since(now));
            self.scored.push((score, e.deadline, e.id));
        }
        if k < self.scored.len() {
            self.scored.select_nth_unstable_by(k - 1, higher_score);
            self.scored.truncate(k);
        }
        self.scored.sort_unstable_by_key(|s| s.2);
        let ids = self.scored.iter().map(|s| s.2);
        // Ids grow along the list, so one pass over both removes the batch.
        let mut taken = ids.clone().peekable();
        self.entries.retain(|e| taken.next_if_eq(&e.id).is_none());
        out.extend(ids);
    }
}

/// Highest score first; ties by deadline, then by id.
fn higher_score(a: &(f64, Time, RequestId), b: &(f64, Time, RequestId)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}

struct Model<Q> {
    profile: ModelProfile,
    sizes: Vec<u32>,
    tables: Vec<AppTables>,
    pending: Q,
    waiting: usize,
    learner: Learner,
}

/// The policy. See the module's text.
pub struct Orloj<Q = ScanPending> {
    config: Config,
    models: Vec<Model<Q>>,
    free: FreeDevices,
    turn: usize,
    census: Vec<(u32, Time)>,
    batch: Vec<RequestId>,
    late: Vec<RequestId>,
}

impl Orloj {
    /// Orloj with laws from the profiles.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Orloj {
        Orloj::with_queues(config, profiles)
    }
}

impl<Q: Pending + Default> Orloj<Q> {
    /// Orloj with another implementation of its queues.
    pub fn with_queues(config: Config, profiles: &[ModelProfile]) -> Orloj<Q> {
        let model = |p: &ModelProfile| {
            let mut model = Model {
                sizes: sizes(&config, p),
                profile: p.clone(),
                tables: Vec::new(),
                pending: Q::default(),
                waiting: 0,
                learner: Learner::new(p),
            };
            model.tables = model.build_tables(&config);
            model
        };
        Orloj {
            config,
            models: profiles.iter().map(model).collect(),
            free: FreeDevices::default(),
            turn: 0,
            census: Vec::new(),
            batch: Vec::new(),
            late: Vec::new(),
        }
    }

    fn dispatch(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        let n = self.models.len();
        let mut tried = 0;
        while let Some(device) = self.free.next()
            && tried < n
        {
            let model = self.turn % n;
            self.turn += 1;
            tried += 1;
            if self.iterate(now, model, known, out) {
                out.exec(Exec::now(device, ModelId(model as u32)), &self.batch);
                self.free.take_next();
                tried = 0;
            }
        }
    }

    /// Algorithm 1 for one model; whether it made a batch.
    fn iterate(&mut self, now: Time, model: usize, known: &Known<'_>, out: &mut Actions) -> bool {
        let m = &mut self.models[model];
        if m.waiting == 0 {
            return false;
        }
        self.late.clear();
        m.pending.expire(now, &m.tables, &mut self.late);
        m.waiting -= self.late.len();
        for &id in &self.late {
            out.why(id, || m.loss(now, known.request(id)));
            out.end(id, Drop::Infeasible);
        }

        self.census.clear();
        self.census.resize(m.sizes.len(), (0, Time::NEVER));
        m.pending.census(&mut self.census);
        let fillable = (0..m.sizes.len()).filter(|&i| self.census[i].0 >= m.sizes[i]);
        let first_first = |&a: &usize, &b: &usize| {
            let by_deadline = self.census[a].1.cmp(&self.census[b].1);
            match self.config.order {
                SizeOrder::Descending => (by_deadline.then(a.cmp(&b))).reverse(),
                SizeOrder::Ascending => by_deadline.then(b.cmp(&a)),
            }
        };
        let Some(candidate) = fillable.min_by(first_first) else { return false };

        let k = m.sizes[candidate] as usize;
        self.batch.clear();
        m.pending.pop_batch(now, candidate, k, &m.tables, &mut self.batch);
        m.waiting -= k;
        if out.asked_why() {
            m.say_choice(candidate, &self.batch, &self.census, out);
        }
        true
    }

    fn arrive(&mut self, r: &Request) {
        let m = &mut self.models[r.model.index()];
        if self.config.relearn_every > 0 {
            m.learner.arrived(r.app.index());
        }
        let viable = (1u32 << m.sizes.len()) - 1;
        let app = m.table_of(r);
        m.pending.insert(Entry { id: r.id, app, deadline: r.deadline, viable });
        m.waiting += 1;
    }

    /// The feedback loop of §3.2: the profile is made anew from the latest measurements.
    fn learn(&mut self, model: usize, app: usize, alone: Span) {
        let m = &mut self.models[model];
        if m.learner.measured(app, alone) >= self.config.relearn_every {
            m.learner.renew(&mut m.profile);
            m.tables = m.build_tables(&self.config);
        }
    }
}

fn sizes(config: &Config, profile: &ModelProfile) -> Vec<u32> {
    let all = profile.sizes_within(Span::MAX, config.max_batch);
    let seed = profile.law.batch(1, profile.shortest_mean());
    if config.max_exec == Span::ZERO || seed > config.max_exec {
        return all;
    }
    profile.sizes_within(config.max_exec, config.max_batch)
}

impl<Q> Model<Q> {
    /// An application without a profile is taken for the mixture: the last table.
    fn table_of(&self, r: &Request) -> usize {
        let app = r.app.index();
        let known = app < self.profile.apps.len() && self.profile.apps[app].is_some();
        if known { app } else { self.tables.len() - 1 }
    }

    /// Tables by application, and the mixture's as the last.
    fn build_tables(&self, config: &Config) -> Vec<AppTables> {
        let mixture = self.profile.mixture();
        let laws = self.profile.apps.iter().map(|app| app.as_ref().map_or(&mixture, |a| &a.law));
        laws.chain(std::iter::once(&mixture))
            .map(|law| {
                let batches: Vec<Histogram> =
                    self.sizes.iter().map(|&k| self.batch_law(law, &mixture, k)).collect();
                AppTables {
                    estimates: batches.iter().map(|b| estimate(b, config.estimate)).collect(),
                    scores: batches.iter().map(|b| ScoreTable::new(b, config.b_per_ms)).collect(),
                }
            })
            .collect()
    }

    /// The law of a batch of k: one request of `own`, the others of the mixture (Eq. 7 to 9).
    fn batch_law(&self, own: &Histogram, mixture: &Histogram, k: u32) -> Histogram {
        match self.profile.law.linear_in_longest(k) {
            Some((a, b)) => own.max_with(&[(mixture, k - 1)]).affine(a, b),
            None => Histogram::constant(self.profile.law.batch(k, Span::ZERO)),
        }
    }
}

fn estimate(law: &Histogram, by: Estimate) -> Span {
    Span::from_ns_f64(match by {
        Estimate::Mean => law.mean_ns(),
        Estimate::Quantile(q) => law.quantile_ns(q),
    })
}

/// Reasons.
impl<Q: Pending> Model<Q> {
    /// Why a request is in no queue any more.
    fn loss(&self, now: Time, request: Option<&Request>) -> String {
        let Some(r) = request else { return "it can be in time in no batch any more".to_string() };
        let estimates = &self.tables[self.table_of(r)].estimates;
        let shortest = estimates.iter().min().copied().unwrap_or_default();
        let late = (now + shortest).since(r.deadline);
        format!("even its shortest batch, {shortest}, would end {late} after its deadline")
    }

    /// Why the batch, and why the others not.
    fn say_choice(
        &self,
        chosen: usize,
        batch: &[RequestId],
        census: &[(u32, Time)],
        out: &mut Actions,
    ) {
        let k = self.sizes[chosen];
        let short = self.sizes.iter().zip(census).filter(|(size, queue)| queue.0 < **size);
        let short: Vec<String> = short.map(|(size, q)| format!("{size} (has {})", q.0)).collect();
        let (held, unfilled) = (census[chosen].0, short.join(", "));
        let mut text =
            format!("batch of {k}: the highest scores of {held} that can be in time in it");
        if !unfilled.is_empty() {
            text += &format!("; too few for {unfilled}");
        }
        out.why_all(batch, || text);
        self.pending.left_out(chosen, &mut |id, in_queue| {
            out.why(id, || match in_queue {
                true => format!("left out of a batch of {k}: others have higher scores"),
                false => format!("left out of a batch of {k}: it would be late in it"),
            });
        });
    }
}

impl<Q: Pending + Default> Policy for Orloj<Q> {
    fn name(&self) -> String {
        let Config { estimate, order, b_per_ms, max_batch, max_exec, relearn_every } = self.config;
        let estimate = match estimate {
            Estimate::Mean => "mean".to_string(),
            Estimate::Quantile(q) => format!("quantile,quantile={q}"),
        };
        let order = match order {
            SizeOrder::Descending => "descending",
            SizeOrder::Ascending => "ascending",
        };
        format!(
            "orloj[estimate={estimate},order={order},b_per_ms={b_per_ms},max_batch={max_batch},\
             max_exec_ms={},relearn_every={relearn_every}]",
            max_exec.as_ms_f64()
        )
    }

    fn wants_profiles(&self) -> bool {
        self.config.relearn_every > 0
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => self.arrive(r),
            Event::Profiled { app, model, alone } => {
                return self.learn(model.index(), app.index(), alone);
            }
            Event::Timer(_) => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, known, out);
    }
}
