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
//! - `queue=scan` computes the score of every pending request directly, exp(b (l - s)) with s the slack: it
//!   needs no base time and no milestones. `queue=hull` is the alpha-beta form of §4.4 on a dynamic convex
//!   hull; [`hull`] and `hulls.rs` say where they differ. Both make the same decisions; up to some hundreds of
//!   pending requests the scan is faster, and `queue=auto` takes it until then (docs/performance.md).
//! - Eq. 2 calls h a frequency; it is one divided by the bin's width, a density. Otherwise the score
//!   would depend on how the bins were cut.
//! - `order=descending` is Algorithm 1 as printed. §3.2's text says the size with the earliest
//!   deadline instead: `order=ascending`.
//! - EstimateBatchLatency is not defined. `estimate=mean` is Eq. 5; `estimate=quantile` takes a high
//!   quantile of Eq. 9's law instead.
//! - §4.3 has one law of L for each batch size, of all applications together: `score_law=common`. Then
//!   requests with more slack than the longest batch takes are served by deadline, whatever b is. With
//!   `own`, L is the latency of a batch of a request's own application with companions of the mixture,
//!   and applications with the smaller mean of L go first. `estimate_law` says the same of the estimate, of
//!   which §4.3 says nothing; the dissertation's §5.1 has one law for both.
//! - `shares=equal` weighs the applications of the mixture alike, as the dissertation's §5.1 says of the
//!   implementation; `counts` weighs them by their requests in the profile.
//! - An application's law may be cut into fewer `bins` than were profiled; the text has no number.
//! - Appendix B has several deadlines for a request, and does not say which one Algorithm 1 looks at. Here D_r is
//!   the first that the request can still meet. When no batch size can meet it, the next one takes its place and the
//!   request is in every Q_bs again; it is timed out when even the last cannot be met. The score sees all of them.
//! - Of several models on a GPU the text runs one scheduler each and names no order. Models take turns
//!   here, one batch each.
//! - A batch carries no window [earliest, latest] and no buffer is taken off its deadlines, unlike in
//!   Clockwork, on which Orloj is built; the text says nothing of either. As nothing is sent to a busy
//!   device, none could be refused for being late.
//! - Requests are only looked at when a device is free; one that cannot be in time any more is timed
//!   out then, not at once.
//! - The feedback loop's period and window are not given. Every `relearn_every` measurements (or
//!   `relearn_every_s`) an application's law is renewed from its latest `window` measurements, and the
//!   applications' shares from the latest 5 `window` arrivals of the model: measurements are of answered
//!   requests only, and would weigh all applications alike once each has as many as are kept. §3.2
//!   resets the memory: `memory=reset` empties an application's when it holds `window` measurements, and
//!   the law learned last stands until it holds 64 again.
//! - Sizes above `max_exec` are not served (Clockwork's rule, on which Orloj is built), unless even
//!   a batch of one exceeds it; zero turns the rule off.
//!
//! # Differences from the released code
//! None was released.

mod auto;
mod config;
mod entry;
pub mod hull;
mod hulls;
mod pending;
mod relearn;
mod scan;
mod tables;

pub use self::config::{
    BatchLaw, Config, Deadlines, Estimate, Memory, QueueForm, Shares, SizeOrder,
};

use self::auto::Auto;
use self::entry::Entry;
use self::hulls::Hulls;
use self::pending::Pending;
use self::relearn::Learner;
use self::scan::Scan;
use self::tables::Tables;
use super::free_devices::FreeDevices;
use super::parameters::{Build, Settings};
use super::{Actions, Event, Exec, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::{Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};

struct Model {
    profile: ModelProfile,
    sizes: Vec<u32>,
    tables: Tables,
    pending: Box<dyn Pending>,
    waiting: usize,
    learner: Learner,
}

/// The policy. See the module's text.
pub struct Orloj {
    config: Config,
    models: Vec<Model>,
    free: FreeDevices,
    turn: usize,
    census: Vec<(u32, Time)>,
    batch: Vec<RequestId>,
    late: Vec<RequestId>,
}

impl Orloj {
    /// Orloj with laws from the profiles.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Orloj {
        let model = |p: &ModelProfile| {
            let sizes = tables::sizes(&config, p);
            Model {
                tables: Tables::new(&config, p, &sizes),
                pending: match config.queue {
                    QueueForm::Auto => Box::new(Auto::new(sizes.len(), config.b_per_ms)),
                    QueueForm::Scan => Box::new(Scan::default()),
                    QueueForm::Hull => Box::new(Hulls::new(sizes.len(), config.b_per_ms)),
                },
                sizes,
                profile: p.clone(),
                waiting: 0,
                learner: Learner::new(config, p),
            }
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
        // Lines 1-14. The hull's scores are brought up to date in line 22, when the queue is known.
        self.late.clear();
        m.pending.expire(now, &m.tables, &mut self.late);
        m.waiting -= self.late.len();
        for &id in &self.late {
            out.why(id, || m.loss(now, known.request(id)));
            out.end(id, Drop::Infeasible);
        }

        // Lines 15-19.
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

        // Line 22.
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
        if self.config.needs_profiler() {
            m.learner.arrived(r.app.index());
        }
        let viable = pending::every(m.sizes.len());
        let app = m.table_of(r);
        let (deadline, cost) = m.tables.cost_of(r);
        m.pending.insert(Entry { id: r.id, app, deadline, cost, viable });
        m.waiting += 1;
    }

    /// The feedback loop of §3.2: the profile is made anew from the latest measurements.
    fn learn(&mut self, now: Time, model: usize, app: usize, alone: Span) {
        let m = &mut self.models[model];
        if m.learner.measured(now, app, alone) {
            let before: Vec<usize> = m.profile.apps.iter().map(|a| a.app).collect();
            m.learner.renew(now, &mut m.profile);
            m.tables = Tables::new(&self.config, &m.profile, &m.sizes);
            m.pending.renewed(&moved(&before, &m.profile));
        }
    }
}

/// Where the tables of these applications, and the mixture's after them, are now: a renewed profile may have
/// more applications.
fn moved(before: &[usize], profile: &ModelProfile) -> Vec<usize> {
    let last = profile.apps.len();
    let place = |app: &usize| profile.place_of(*app).unwrap_or(last);
    before.iter().map(place).chain(std::iter::once(last)).collect()
}

impl Model {
    /// An application without a profile is taken for the mixture: the last table.
    fn table_of(&self, r: &Request) -> usize {
        self.profile.place_of(r.app.index()).unwrap_or(self.tables.apps.len() - 1)
    }
}

/// Reasons.
impl Model {
    /// Why a request is in no queue any more.
    fn loss(&self, now: Time, request: Option<&Request>) -> String {
        let Some(r) = request else { return "it can be in time in no batch any more".to_string() };
        let estimates = &self.tables.apps[self.table_of(r)].estimates;
        let shortest = estimates.iter().min().copied().unwrap_or_default();
        let last = self.tables.last_deadline(r);
        let late = (now + shortest).since(last);
        let last = if last == r.deadline { "" } else { "last " };
        format!("even its shortest batch, {shortest}, would end {late} after its {last}deadline")
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

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Orloj::new(self, profiles))
    }

    fn facts(&self, profiles: &[ModelProfile]) -> Vec<(&'static str, f64)> {
        vec![("milestones", tables::milestones(self, profiles))]
    }
}

impl Policy for Orloj {
    fn name(&self) -> String {
        self.config.name()
    }

    fn wants_profiles(&self) -> bool {
        self.config.needs_profiler()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => self.arrive(r),
            Event::Profiled { app, model, alone } => {
                return self.learn(now, model.index(), app.index(), alone);
            }
            Event::Timer(_) => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, known, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;
    use crate::profile::AppProfile;

    /// An application that is measured between two others takes a place, and theirs move.
    #[test]
    fn a_request_that_waits_keeps_its_application_when_another_gets_a_law() {
        let (law, ms) = (Latency::Proportional { c1: 0.1 }, Span::from_ms);
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            if drawn % 2 == 0 { (2, ms(5)) } else { (7, ms(50)) }
        };
        let mut profile = ModelProfile::measure(&law, ms(100), &[1], 1_000, draw, 8);
        let before: Vec<usize> = profile.apps.iter().map(|a| a.app).collect();
        let renewed = AppProfile { app: 5, ..profile.apps[0].clone() };
        profile.apps.insert(1, renewed);
        assert_eq!(moved(&before, &profile), [0, 2, 3], "of 2, of 7, of the mixture");

        // The request of 7 takes 50 ms: with the law of 5 it would wait on.
        let config = (Config::PRESETS[0].make)();
        let config = Config { estimate_law: BatchLaw::Own, score_law: BatchLaw::Own, ..config };
        let tables = Tables::new(&config, &profile, &[1]);
        for mut pending in
            [Box::new(Scan::default()) as Box<dyn Pending>, Box::new(Hulls::new(1, 1e-4))]
        {
            let (id, deadline) = (RequestId(0), Time::ZERO + ms(30));
            let cost = Default::default();
            pending.insert(Entry { id, app: 1, deadline, cost, viable: 1 });
            pending.renewed(&moved(&before, &profile));
            let mut late = Vec::new();
            pending.expire(Time::ZERO, &tables, &mut late);
            assert_eq!(late, [id]);
        }
    }
}
