//! Metrics a second time: everything that was told is kept, and each figure is a loop over all of it.

use super::cases::{Case, ticks};
use super::policies;
use orrery_sim::cluster::{Change, Sharing};
use orrery_sim::driver::simulate;
use orrery_sim::metrics::{DeviceFigures, Figures, Metrics, Window};
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::request::{ActionId, DeviceId, Drop, End, Request};
use orrery_sim::time::{Span, Time};

struct Ran {
    action: ActionId,
    device: DeviceId,
    lanes: u8,
    sharing: Sharing,
    size: usize,
    closed: Time,
    start: Option<Time>,
    outcome: Outcome,
}

/// All that was told.
#[derive(Default)]
struct Facts {
    arrived: Vec<(Time, Request)>,
    ended: Vec<(Time, Request, End, Option<Time>)>,
    began: Vec<(Time, ActionId, DeviceId, u8, Sharing)>,
    closed: Vec<Ran>,
    devices: Vec<(Time, DeviceId, Change)>,
    end: Time,
}

impl Observer for Facts {
    fn arrived(&mut self, now: Time, request: &Request) {
        self.arrived.push((now, *request));
    }
    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        let Batch { action, device, lanes, sharing, .. } = *batch;
        self.began.push((now, action, device, lanes, sharing));
    }
    fn closed(&mut self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
        let Batch { action, device, lanes, sharing, .. } = *batch;
        let size = batch.requests.len();
        self.closed.push(Ran { action, device, lanes, sharing, size, closed: now, start, outcome });
    }
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        self.ended.push((now, *request, end, start));
    }
    fn device(&mut self, now: Time, device: DeviceId, change: Change) {
        self.devices.push((now, device, change));
    }
    fn finished(&mut self, now: Time) {
        self.end = now;
    }
}

fn ns(spans: &[Span]) -> u128 {
    spans.iter().map(|s| u128::from(s.ns())).sum()
}

impl Facts {
    /// The figures of the requests that arrive in the window and are `wanted`.
    fn check_figures(&self, found: &Figures, window: Window, wanted: impl Fn(&Request) -> bool) {
        let counts = |r: &Request| window.from <= r.arrival && r.arrival < window.to && wanted(r);
        let offered = self.arrived.iter().filter(|a| counts(&a.1)).count() as u64;
        assert_eq!(found.offered, offered);
        for (place, end) in End::ALL.into_iter().enumerate() {
            let so = self.ended.iter().filter(|e| counts(&e.1) && e.2 == end).count() as u64;
            assert_eq!((found.ends[place], found.ended(end)), (so, so), "{end:?}");
        }
        let dropped = Drop::ALL.map(|why| found.ended(End::Dropped(why))).iter().sum::<u64>();
        assert_eq!(found.dropped(), dropped);
        let good = found.ended(End::InTime) as f64;
        assert_eq!(found.finish_rate(), if offered == 0 { 1.0 } else { good / offered as f64 });
        let answered = self.ended.iter().filter(|e| matches!(e.2, End::InTime | End::Late));
        let answered: Vec<_> = answered.filter(|e| counts(&e.1)).collect();
        let latency = answered.iter().map(|e| e.0 - e.1.arrival).collect();
        let waited = answered.iter().map(|e| e.3.expect("its batch began") - e.1.arrival).collect();
        for (sketch, spans) in [(&found.latency, latency), (&found.queueing, waited)] {
            let mut spans: Vec<Span> = spans;
            spans.sort();
            assert_eq!((sketch.count(), sketch.sum_ns()), (spans.len() as u64, ns(&spans)));
            assert_eq!(sketch.max(), spans.last().copied().unwrap_or_default());
            for q in [0.0, 0.3, 0.5, 0.99, 1.0] {
                let rank = (q * spans.len() as f64).ceil().max(1.0) as usize;
                let exact = spans.get(rank - 1).copied().unwrap_or_default();
                assert_eq!(sketch.quantile(q), exact);
            }
        }
    }

    /// The figures of a device; time up is compared apart, for part of it is private.
    fn check_device(&self, found: &DeviceFigures, id: DeviceId) {
        let closed = || self.closed.iter().filter(|c| c.device == id);
        let so = |is: fn(&Outcome) -> bool| closed().filter(|c| is(&c.outcome)).count() as u64;
        assert_eq!(found.batches, so(|o| matches!(o, Outcome::Done { .. })));
        assert_eq!(found.refused, so(|o| matches!(o, Outcome::Rejected(_))));
        assert_eq!(found.preempted, so(|o| matches!(o, Outcome::Preempted { .. })));
        let ran = closed().filter_map(|c| Some((c.start?, c.closed)));
        let is_open = |action| !self.closed.iter().any(|c| c.action == action);
        let open = self.began.iter().filter(|b| b.2 == id && is_open(b.1));
        let mut ran: Vec<(Time, Time)> = ran.chain(open.map(|b| (b.0, self.end))).collect();
        // A device with lanes is fully busy when all of them are, or any if they share it.
        let began = self.began.iter().filter(|b| b.2 == id).map(|b| (b.3, b.4));
        let mut lanes = closed().map(|c| (c.lanes, c.sharing)).chain(began);
        let (lanes, sharing) = lanes.next().unwrap_or((1, Sharing::None));
        let busy: Vec<Span> = ran.iter().map(|(from, to)| *to - *from).collect();
        let expected = match sharing {
            Sharing::None => ns(&busy) / u128::from(lanes),
            Sharing::Processor => {
                ran.sort();
                let mut until = Time::ZERO;
                let alone = ran.iter().map(|&(from, to)| {
                    let new = to - from.max(until).min(to);
                    until = until.max(to);
                    new
                });
                ns(&alone.collect::<Vec<Span>>())
            }
        };
        assert_eq!(u128::from(found.busy.ns()), expected);
        let when = |change| self.devices.iter().find(|d| d.1 == id && d.2 == change).map(|d| d.0);
        let up = when(Change::Down).unwrap_or(self.end) - when(Change::Up).expect("it came");
        assert_eq!(found.up, up);
        let share = if up == Span::ZERO { 0.0 } else { found.busy.ns() as f64 / up.ns() as f64 };
        assert_eq!(found.utilisation(), share);
        assert!((0.0..=1.0).contains(&share), "{share}");
    }

    fn check(&self, found: &Metrics, window: Window) {
        self.check_figures(&found.total(), window, |_| true);
        for (m, model) in found.models().iter().enumerate() {
            self.check_figures(model, window, |r| r.model.index() == m);
        }
        for (a, app) in found.apps().iter().enumerate() {
            self.check_figures(app, window, |r| r.app.index() == a);
        }
        let counted = |list: Vec<Figures>| list.iter().map(|f| f.offered).sum::<u64>();
        let total = found.total().offered;
        assert_eq!((counted(found.models()), counted(found.apps())), (total, total));
        let came = self.devices.iter().filter(|d| d.2 == Change::Up).count();
        assert_eq!(found.devices().len(), came);
        for (d, device) in found.devices().iter().enumerate() {
            self.check_device(device, DeviceId(d as u32));
        }
        self.check_whole(found, window);
    }

    fn check_whole(&self, found: &Metrics, window: Window) {
        let done = self.closed.iter().filter(|c| matches!(c.outcome, Outcome::Done { .. }));
        let sizes: Vec<usize> = done.map(|c| c.size).collect();
        for (size, count) in found.batch_sizes().iter().enumerate() {
            assert_eq!(*count, sizes.iter().filter(|s| **s == size).count() as u64);
        }
        assert_eq!(found.batch_sizes().iter().sum::<u64>(), sizes.len() as u64);
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len().max(1) as f64;
        assert_eq!(found.mean_batch_size(), mean);
        let stays = |(now, r): &(Time, Request)| {
            let left = self.ended.iter().find(|e| e.1.id == r.id && e.2 != End::Pending);
            left.map_or(self.end, |e| e.0) - *now
        };
        let stays: Vec<Span> = self.arrived.iter().map(stays).collect();
        assert_eq!(found.in_system_ns(), ns(&stays));
        assert_eq!(found.end(), self.end);
        let to = window.to.min(self.end);
        let measured = if to > window.from { to - window.from } else { Span::ZERO };
        assert_eq!(found.measured(), measured);
        let good = found.total().ended(End::InTime) as f64;
        let goodput = if measured == Span::ZERO { 0.0 } else { good / measured.as_secs_f64() };
        assert_eq!(found.goodput_per_s(), goodput);
    }
}

#[test]
fn the_metrics_are_what_plain_loops_make_of_what_was_told() {
    for entry in policies() {
        for seed in 0..100 {
            let case = Case::new(seed);
            let to = if seed % 2 == 0 { Time::NEVER } else { Time::ZERO + ticks(15) };
            let window = Window { from: Time::ZERO + ticks(seed % 5), to };
            let observer = (Metrics::new(window, true), Facts::default());
            let run = simulate(&case.world, case.sources(), (entry.make)(&case), observer);
            let (metrics, facts) = run.observer;
            facts.check(&metrics, window);
        }
    }
}
