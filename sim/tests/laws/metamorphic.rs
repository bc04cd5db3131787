//! Laws about two runs: what a change of names or of the date may not change. Of units the covering array says it.

use super::harness::{Impatient, Loss, WHOLE};
use orrery_sim::cluster::{Change, DeviceSpec};
use orrery_sim::core::{Delays, DeviceChange};
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::{Grid, Latency};
use orrery_sim::metrics::{Figures, Metrics, Window};
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::policy::{Outcome, Policy};
use orrery_sim::request::{AppId, Arrival, DeviceId, End, ModelId, Request, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

const N: u64 = match (WHOLE, cfg!(debug_assertions)) {
    (true, _) => 50_000,
    (false, false) => 15_000,
    (false, true) => 5_000,
};
const MODELS: u32 = 4;
const APPS: u32 = 5;

/// One thing that happened: when, what, and to whom. No app and no model is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    at: Time,
    what: &'static str,
    ids: [u64; 2],
    since: Option<Time>,
}

/// All that happened, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Story(Vec<Line>);

impl Story {
    fn tell(&mut self, at: Time, what: &'static str, ids: [u64; 2], since: Option<Time>) {
        self.0.push(Line { at, what, ids, since });
    }

    /// What happened, whatever the order within one instant.
    fn sorted(&self) -> Vec<Line> {
        let mut lines = self.0.clone();
        lines.sort();
        lines
    }

    fn map(&self, time: impl Fn(Time) -> Time) -> Story {
        let line = |l: &Line| Line { at: time(l.at), since: l.since.map(&time), ..*l };
        Story(self.0.iter().map(line).collect())
    }
}

impl Observer for Story {
    fn arrived(&mut self, _now: Time, r: &Request) {
        self.tell(r.arrival, "arrived", [r.id.0, 0], None);
        self.tell(r.arrival, "is due", [r.id.0, 0], Some(r.deadline));
    }
    fn issued(&mut self, now: Time, b: &Batch<'_>) {
        self.tell(now, "issued", [b.action.0, b.requests[0].0], None);
    }
    fn began(&mut self, now: Time, b: &Batch<'_>) {
        self.tell(now, "began", [b.action.0, u64::from(b.device.0)], None);
    }
    fn closed(&mut self, now: Time, b: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
        let what = match outcome {
            Outcome::Done { .. } => "done",
            Outcome::Rejected(_) => "rejected",
            Outcome::Preempted { .. } => "preempted",
            Outcome::Cancelled => "cancelled",
        };
        self.tell(now, what, [b.action.0, u64::from(b.units)], start);
    }
    fn ended(&mut self, now: Time, r: &Request, end: End, start: Option<Time>) {
        self.tell(now, end.word(), [r.id.0, 0], start);
    }
    fn device(&mut self, now: Time, device: DeviceId, change: Change) {
        self.tell(now, "device", [u64::from(device.0), change as u64], None);
    }
    fn finished(&mut self, now: Time) {
        self.tell(now, "finished", [0, 0], None);
    }
}

/// Times in whole microseconds: then a quarter of one is a whole number of nanoseconds, and the
/// latency laws below round nothing.
fn arrivals() -> Vec<Arrival> {
    let mut stream = Stream::named(1, "metamorphic", 0);
    let mut at = Time::ZERO;
    let draw = |_| {
        at += Span::from_us(stream.below(900));
        Arrival {
            at,
            app: AppId(stream.below(u64::from(APPS)) as u32),
            model: ModelId(stream.below(u64::from(MODELS)) as u32),
            size: 1 + stream.below(2) as u32,
            slo: Span::from_us(stream.below(9_000)),
            alone: Span::from_us(1 + stream.below(1_500)),
        }
    };
    (0..N).map(draw).collect()
}

/// One world for each latency law, the last with delays and a cluster that changes.
fn worlds() -> Vec<World> {
    let us = Span::from_us;
    let laws = [
        Latency::Proportional { c1: 0.25 },
        Latency::Affine { alpha: us(300), beta: us(450) },
        Latency::Table(vec![(1, us(700)), (2, us(900)), (4, us(1_500)), (8, us(2_600))]),
        Latency::Eq3 { c0: us(250), c1: 0.5 },
        Latency::Poly { c0: us(250), c1: 0.25, c2_per_s: 2_000.0 },
        Latency::Grid(Grid {
            lengths: vec![us(500), us(1_000), us(1_500)],
            rows: [1, 3, 8]
                .map(|k| (k, [2, 3, 5].map(|l| us(200 + 50 * l * u64::from(k))).to_vec()))
                .to_vec(),
        }),
    ];
    let world = |law: &Latency| {
        let mut world = World::single(law.clone());
        world.core.devices = vec![DeviceSpec::default(); 2];
        world.core.models = vec![Default::default(); MODELS as usize];
        world.latency = vec![vec![law.clone(); MODELS as usize]];
        world
    };
    let mut worlds: Vec<World> = laws.iter().map(world).collect();
    let mut eventful = world(&laws[0]);
    eventful.core.delays = Delays {
        dispatch: us(11).into(),
        fetch_per_request: us(7),
        result: us(13).into(),
        reply: us(170).into(),
        seed: 0,
    };
    eventful.changes = vec![
        (Time::ZERO + us(40_000), DeviceChange::Fail(DeviceId(0))),
        (Time::ZERO + us(90_000), DeviceChange::Added(DeviceSpec::default())),
    ];
    worlds.push(eventful);
    worlds
}

fn policies() -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(Fifo::new(Config { max_batch: 4, drop_expired: true })),
        Box::new(Fifo::new(Config { max_batch: 1, drop_expired: false })),
        Box::new(Loss::default()),
        Box::new(Impatient::default()),
    ]
}

fn tell(world: &World, arrivals: Vec<Arrival>, policy: Box<dyn Policy>) -> (Story, Metrics) {
    let source = Box::new(VecSource::new(arrivals));
    let observer = (Story::default(), Metrics::new(Window::default(), true));
    simulate(world, vec![source], policy, observer).observer
}

/// Runs every policy in every world, before and after a change, and compares.
fn compare(
    change_world: impl Fn(&World) -> World,
    change_arrival: impl Fn(&Arrival) -> Arrival,
    check: impl Fn(&(Story, Metrics), &(Story, Metrics)),
) {
    let changed: Vec<Arrival> = arrivals().iter().map(change_arrival).collect();
    for world in worlds() {
        for (policy, again) in policies().into_iter().zip(policies()) {
            let before = tell(&world, arrivals(), policy);
            let after = tell(&change_world(&world), changed.clone(), again);
            assert!(before.0.0.len() as u64 > 3 * N);
            check(&before, &after);
        }
    }
}

fn sums(f: &Figures) -> (u64, [u64; 8], u128, u128, Span) {
    (f.offered, f.ends, f.latency.sum_ns(), f.queueing.sum_ns(), f.latency.quantile(0.9))
}

#[test]
fn other_names_for_apps_and_models_change_no_total() {
    let app = |a: u32| (3 * a + 2) % APPS;
    let model = |m: u32| MODELS - 1 - m;
    let relabel =
        |a: &Arrival| Arrival { app: AppId(app(a.app.0)), model: ModelId(model(a.model.0)), ..*a };
    compare(World::clone, relabel, |(story, metrics), (other_story, other)| {
        // Fifo drops what has expired at one instant model by model.
        assert!(story.sorted() == other_story.sorted());
        assert_eq!(sums(&metrics.total()), sums(&other.total()));
        for (m, figures) in (0..MODELS).zip(metrics.models()) {
            assert_eq!(sums(&figures), sums(&other.models()[model(m) as usize]));
        }
        for (a, figures) in (0..APPS).zip(metrics.apps()) {
            assert_eq!(sums(&figures), sums(&other.apps()[app(a) as usize]));
        }
    });
}

#[test]
fn another_date_changes_no_latency() {
    let shift = Span::from_ns(86_400_000_000_123);
    let later = |t: Time| t + shift;
    let later_world = |world: &World| {
        let mut world = world.clone();
        world.changes.iter_mut().for_each(|c| c.0 = later(c.0));
        world
    };
    let later_arrival = |a: &Arrival| Arrival { at: later(a.at), ..*a };
    compare(later_world, later_arrival, |(story, metrics), (later_story, later_metrics)| {
        // The devices are up from the start of the run in both.
        let first = worlds()[0].core.devices.len();
        assert!(story.0[..first] == later_story.0[..first]);
        let moved = story.map(later);
        assert!(moved.0[first..] == later_story.0[first..]);
        assert_eq!(sums(&metrics.total()), sums(&later_metrics.total()));
        assert_eq!(metrics.in_system_ns(), later_metrics.in_system_ns());
    });
}
