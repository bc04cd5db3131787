//! Clockwork as its paper words it: a strategy queue for each device, a real queue for each batch
//! size, every strategy tried by itself. Slow, plain, and without a line of the policy's own.

use orrery_sim::cluster::Change;
use orrery_sim::policy::clockwork::{Config, Estimator, Sizes};
use orrery_sim::policy::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use orrery_sim::time::{Span, Time};
use std::cmp::Reverse;

#[derive(Clone, Copy, PartialEq)]
struct Waiting {
    id: RequestId,
    deadline: Time,
}

struct Model {
    sizes: Vec<u32>,
    estimates: Vec<Span>,
    durations: Vec<Vec<Span>>,
    seeds: Vec<Span>,
    /// When each size was measured last, while that counts.
    measured: Vec<Option<Time>>,
    /// All requests that some queue may still hold, in order of arrival.
    waiting: Vec<Waiting>,
    queues: Vec<Vec<Waiting>>,
    /// The strategies as they were made last, for devices that come later.
    made: Vec<Option<Time>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Strategy {
    latest: Time,
    model: usize,
    size: Reverse<usize>,
}

struct Sent {
    action: ActionId,
    model: usize,
    size: usize,
    estimate: Span,
}

struct Gpu {
    up: bool,
    begin: Time,
    sent: Vec<Sent>,
    strategies: Vec<Strategy>,
}

pub struct Plain {
    config: Config,
    models: Vec<Model>,
    gpus: Vec<Gpu>,
}

impl Plain {
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Plain {
        let model = |p: &ModelProfile| {
            let sizes: Vec<u32> = match config.sizes {
                Sizes::Profile => p.sizes.iter().map(|s| s.size).collect(),
                Sizes::All => (1..=config.max_batch).collect(),
            };
            let seed = p.shortest_mean();
            let fits = |i: usize, k: u32| {
                i == 0 || (k <= config.max_batch && p.law.batch(k, seed) <= config.max_exec)
            };
            let sizes: Vec<u32> =
                sizes.iter().enumerate().filter(|(i, k)| fits(*i, **k)).map(|(_, k)| *k).collect();
            let n = sizes.len();
            let seeds: Vec<Span> = sizes.iter().map(|&k| p.typical(k)).collect();
            Model {
                estimates: seeds.clone(),
                seeds,
                measured: vec![None; n],
                sizes,
                durations: vec![Vec::new(); n],
                waiting: Vec::new(),
                queues: vec![Vec::new(); n],
                made: vec![None; n],
            }
        };
        Plain { config, models: profiles.iter().map(model).collect(), gpus: Vec::new() }
    }

    fn available(&self, now: Time, gpu: usize) -> Time {
        let g = &self.gpus[gpu];
        let soonest = now + self.config.lead;
        let Some(oldest) = g.sent.first() else { return soonest };
        let work: Span = g.sent.iter().map(|s| s.estimate).sum();
        if g.begin + oldest.estimate + self.config.lag < now {
            return (now + work).minus(oldest.estimate + self.config.lag).max(soonest);
        }
        (g.begin + work).max(soonest)
    }

    fn expected_end(&self, gpu: usize) -> Time {
        let g = &self.gpus[gpu];
        if g.sent.is_empty() {
            return Time::ZERO;
        }
        g.begin + g.sent.iter().map(|s| s.estimate).sum::<Span>()
    }

    /// Makes the strategies of these sizes for every device.
    fn make(&mut self, model: usize, sizes: &[usize]) {
        for &size in sizes {
            let m = &mut self.models[model];
            let head = m.queues[size].first();
            m.made[size] = head.map(|h| h.deadline.minus(m.estimates[size]));
            let latest = m.made[size];
            for gpu in &mut self.gpus {
                gpu.strategies.retain(|s| (s.model, s.size) != (model, Reverse(size)));
                let new = latest.map(|latest| Strategy { latest, model, size: Reverse(size) });
                gpu.strategies.extend(new);
            }
        }
    }

    fn all_sizes(&self, model: usize) -> Vec<usize> {
        (0..self.models[model].sizes.len()).collect()
    }

    fn arrive(&mut self, model: usize, waiting: Waiting) {
        let has_none = |g: &Gpu| g.up && g.strategies.iter().all(|s| s.model != model);
        let anew = self.gpus.iter().any(has_none);
        let m = &mut self.models[model];
        let empty = |size: &usize| m.queues[*size].is_empty();
        let empty: Vec<usize> = (0..m.sizes.len()).filter(empty).collect();
        m.waiting.push(waiting);
        m.queues.iter_mut().for_each(|q| q.push(waiting));
        let sizes = if anew { self.all_sizes(model) } else { empty };
        self.make(model, &sizes);
    }

    fn schedule(&mut self, now: Time, out: &mut Actions) {
        loop {
            let asks = |g: &usize| {
                let gpu = &self.gpus[*g];
                let has_time = self.available(now, *g) < now + self.config.ahead;
                gpu.up && !gpu.strategies.is_empty() && has_time
            };
            let first =
                (0..self.gpus.len()).filter(asks).min_by_key(|g| (self.expected_end(*g), *g));
            let Some(gpu) = first else { break };
            let strategies = &mut self.gpus[gpu].strategies;
            let first = strategies.iter().copied().min().expect("not empty");
            strategies.retain(|s| *s != first);
            self.attempt(now, gpu, first, out);
        }
        for (i, g) in self.gpus.iter().enumerate() {
            let Some(oldest) = g.sent.first() else { continue };
            let low = self.expected_end(i).minus(self.config.ahead);
            let overdue = g.begin + oldest.estimate + self.config.lag;
            let next =
                [low, overdue].map(|t| t + Span::from_ns(1)).into_iter().filter(|t| *t > now);
            out.set_timer(TimerKey(i as u64), next.min().unwrap_or(Time::NEVER));
        }
    }

    fn attempt(&mut self, now: Time, gpu: usize, strategy: Strategy, out: &mut Actions) {
        let available = self.available(now, gpu);
        let (model, Reverse(wanted)) = (strategy.model, strategy.size);
        let m = &mut self.models[model];
        for (queue, &estimate) in m.queues.iter_mut().zip(&m.estimates) {
            while queue.first().is_some_and(|w| w.deadline < available + estimate) {
                queue.remove(0);
            }
        }
        m.drop_lost(out);
        let fills = |size: usize| m.queues[size].len() >= m.sizes[size] as usize;
        let mut size = 0;
        while size + 1 < m.sizes.len() && fills(size + 1) {
            size += 1;
        }
        if size < wanted || !fills(size) {
            return;
        }
        let batch = m.queues[size][..m.sizes[size] as usize].to_vec();
        let last = m.waiting.iter().position(|w| w == batch.last().expect("not empty"));
        let gone = m.waiting[..=last.expect("it waits")].to_vec();
        m.queues.iter_mut().for_each(|q| q.retain(|w| !gone.contains(w)));
        m.waiting.retain(|w| !batch.contains(w));
        m.drop_lost(out);
        let estimate = m.estimates[size];
        let width = self.config.width;
        let latest = (now + self.config.lead + width).max(available + width);
        let to = Exec::now(DeviceId(gpu as u32), ModelId(model as u32));
        let ids: Vec<RequestId> = batch.iter().map(|w| w.id).collect();
        let action = out.exec(Exec { earliest: now, latest, ..to }, &ids);
        let g = &mut self.gpus[gpu];
        if g.sent.is_empty() {
            g.begin = now;
        }
        g.sent.push(Sent { action, model, size, estimate });
        let sizes = self.all_sizes(model);
        self.make(model, &sizes);
    }

    fn result(&mut self, now: Time, action: ActionId, device: DeviceId, outcome: Outcome) {
        let g = &mut self.gpus[device.index()];
        let at = g.sent.iter().position(|s| s.action == action).expect("it was sent");
        let sent = g.sent.remove(at);
        g.begin = now;
        if let Outcome::Done { end, device, .. } = outcome {
            g.begin = end;
            let m = &mut self.models[sent.model];
            m.learn(now, sent.size, device, self.config.estimator);
        }
    }

    fn came(&mut self, id: DeviceId) {
        assert_eq!(id.index(), self.gpus.len());
        let mut strategies = Vec::new();
        for (model, m) in self.models.iter().enumerate() {
            let all = m.made.iter().enumerate().filter_map(|(size, latest)| {
                latest.map(|latest| Strategy { latest, model, size: Reverse(size) })
            });
            strategies.extend(all);
        }
        self.gpus.push(Gpu { up: true, begin: Time::ZERO, sent: Vec::new(), strategies });
    }
}

impl Model {
    fn drop_lost(&mut self, out: &mut Actions) {
        let held = |w: &Waiting| self.queues.iter().any(|q| q.contains(w));
        let (kept, lost): (Vec<_>, Vec<_>) = self.waiting.iter().partition(|w| held(w));
        self.waiting = kept;
        lost.iter().for_each(|w: &Waiting| out.end(w.id, Drop::Infeasible));
    }

    /// A size whose last measurement is too old starts from its seed again.
    fn forget_old(&mut self, now: Time, after: Span) {
        for size in 0..self.sizes.len() {
            if self.measured[size].is_some_and(|at| at + after <= now) {
                self.measured[size] = None;
                self.durations[size].clear();
                self.estimates[size] = self.seeds[size];
            }
        }
    }

    fn learn(&mut self, now: Time, size: usize, took: Span, estimator: Estimator) {
        if estimator != Estimator::StaticMean {
            self.measured[size] = Some(now);
        }
        self.durations[size].push(took);
        let mut last: Vec<Span> = self.durations[size].iter().rev().take(10).copied().collect();
        last.sort();
        let n = last.len();
        self.estimates[size] = match estimator {
            Estimator::StaticMean => return,
            Estimator::WindowMean => {
                Span::from_ns(last.iter().map(|s| s.ns()).sum::<u64>() / n as u64)
            }
            Estimator::P99Of10 if n == 1 => last[0],
            Estimator::P99Of10 => {
                let share = 0.99 * (n - 1) as f64 - (n - 2) as f64;
                last[n - 2] + last[n - 1].minus(last[n - 2]).scale(share)
            }
        };
    }
}

impl Policy for Plain {
    fn name(&self) -> String {
        "plain-clockwork".into()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => known.devices().iter().for_each(|d| self.came(d.id)),
            Event::Arrive(r) => {
                let Config { buffer, ahead, probe, .. } = self.config;
                if probe != Span::ZERO {
                    self.models[r.model.index()].forget_old(now, probe);
                }
                let deadline = r.arrival + r.slo().minus(buffer).max(ahead + buffer);
                self.arrive(r.model.index(), Waiting { id: r.id, deadline });
            }
            Event::Result { action, device, outcome, requests } => {
                self.result(now, action, device, outcome);
                if !matches!(outcome, Outcome::Done { .. }) {
                    requests.iter().for_each(|&id| out.end(id, Drop::Refused));
                }
            }
            Event::Device(device, Change::Up) => self.came(device),
            Event::Device(device, _) => self.gpus[device.index()].up = false,
            Event::Timer(_) | Event::Profiled { .. } => {}
        }
        self.schedule(now, out);
    }
}
