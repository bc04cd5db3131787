//! Random small worlds and workloads, on a coarse grid of time so that ties are frequent.
//!
//! They are not realistic; they are there to meet every corner of the engine.

use orrery_sim::cluster::{DeviceSpec, Footprint, Sharing};
use orrery_sim::core::{CoreSpec, Delays, DeviceChange, Profiler};
use orrery_sim::delay::DelayLaw;
use orrery_sim::driver::World;
use orrery_sim::latency::{Grid, Latency, Noise, Replay, SampleTable};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{
    AppId, Arrival, DeviceId, End, ModelId, Request, Source, SourceId, VecSource,
};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::sync::Arc;

/// A random case.
pub struct Case {
    /// The seed that makes it.
    pub seed: u64,
    /// Its world.
    pub world: World,
    /// After how many lines the observer has seen enough.
    pub stop_after: Option<usize>,
    /// Whether the observer asks for reasons.
    pub reasons: bool,
    arrivals: Vec<Vec<Arrival>>,
    /// Clients that send again after a reply.
    clients: Option<ClosedLoop>,
}

/// First arrivals, how many more there are, and how long after a reply each comes.
type ClosedLoop = (Vec<Arrival>, u32, Span);

/// The grid.
pub fn ticks(n: u64) -> Span {
    Span::from_ms(n)
}

struct Draw {
    rng: Stream,
    models: u64,
}

impl Case {
    /// The case of that seed.
    pub fn new(seed: u64) -> Case {
        let mut rng = Stream::named(seed, "differential", 0);
        let models = 1 + rng.below(3);
        let mut draw = Draw { rng, models };
        let mut world = draw.world(seed);
        place(&mut world, seed);
        share(&mut world, seed);
        let (arrivals, clients) = draw.workload();
        let stop_after = draw.one_in(5).then(|| draw.rng.below(80) as usize);
        Case { seed, world, stop_after, reasons: draw.one_in(4), arrivals, clients }
    }

    /// What a policy that must have a profile is told; it is about right.
    pub fn profiles(&self) -> Vec<ModelProfile> {
        let profile = |(model, law): (usize, &Latency)| {
            let mut rng = Stream::named(self.seed, "differential profile", model as u64);
            let draw = || (rng.below(2) as usize, ticks(rng.below(5)));
            ModelProfile::measure(law, ticks(20), &[1, 2, 4, 8], 20, draw, 8)
        };
        self.world.latency[0].iter().enumerate().map(profile).collect()
    }

    /// Its sources, anew.
    pub fn sources(&self) -> Vec<Box<dyn Source>> {
        let open = self.arrivals.iter().map(|a| VecSource::new(a.clone()));
        let mut sources: Vec<Box<dyn Source>> = Vec::new();
        sources.extend(open.map(|s| Box::new(s) as Box<dyn Source>));
        if let Some((first, again, think)) = &self.clients {
            let (upcoming, again, think) = (first.clone(), *again, *think);
            let source = SourceId(sources.len() as u32);
            sources.push(Box::new(Clients { source, upcoming, again, think }));
        }
        sources
    }
}

/// In every third case models stand on devices and devices are pipelines. Of a stream of its own, so
/// that the other cases are what they were.
fn place(world: &mut World, seed: u64) {
    let mut rng = Stream::named(seed, "differential placement", 0);
    if rng.below(3) > 0 {
        return;
    }
    let models = world.core.models.len() as u32;
    let mut one = |spec: &mut DeviceSpec| {
        let held = (0..models).filter(|_| rng.below(3) > 0).map(ModelId).collect();
        if spec.memory_pages.is_none() && rng.below(2) == 0 {
            spec.holds = Some(held);
        }
        if rng.below(2) == 0 {
            spec.stages = spec.lanes;
        }
    };
    world.core.devices.iter_mut().for_each(&mut one);
    world.provision.iter_mut().for_each(|p| one(&mut p.0));
    for (_, change) in &mut world.changes {
        if let DeviceChange::Added(spec) = change {
            one(spec);
        }
    }
}

/// In every third case batches share some devices. Of a stream of its own, as `place`.
fn share(world: &mut World, seed: u64) {
    let mut rng = Stream::named(seed, "differential sharing", 0);
    if rng.below(3) > 0 {
        return;
    }
    let mut one = |spec: &mut DeviceSpec| {
        if rng.below(3) > 0 {
            spec.sharing = Sharing::Processor;
        }
    };
    world.core.devices.iter_mut().for_each(&mut one);
    world.provision.iter_mut().for_each(|p| one(&mut p.0));
    for (_, change) in &mut world.changes {
        if let DeviceChange::Added(spec) = change {
            one(spec);
        }
    }
}

impl Draw {
    fn one_in(&mut self, n: u64) -> bool {
        self.rng.below(n) == 0
    }

    fn ticks_below(&mut self, n: u64) -> Span {
        ticks(self.rng.below(n))
    }

    fn world(&mut self, seed: u64) -> World {
        let kinds = 1 + self.rng.below(2);
        let memory = self.one_in(3);
        let devices: Vec<_> =
            (0..1 + self.rng.below(3)).map(|_| self.device(kinds, memory)).collect();
        let models = (0..self.models)
            .map(|_| Footprint { pages: self.rng.below(4) as u32, load: self.ticks_below(4) })
            .collect();
        let profiler = self
            .one_in(2)
            .then(|| Profiler { every: 1 + self.rng.below(3), delay: self.ticks_below(4) });
        let changes = if self.one_in(2) {
            self.changes(devices.len() as u64, kinds, memory)
        } else {
            Vec::new()
        };
        let delays = self.delays(seed);
        let law = |draw: &mut Draw| (0..draw.models).map(|_| draw.law()).collect();
        World {
            core: CoreSpec { devices, models, delays, profiler },
            latency: (0..kinds).map(|_| law(self)).collect(),
            noise: self.noise(seed),
            changes,
            provision: (0..kinds)
                .map(|_| (self.device(kinds, memory), self.ticks_below(5)))
                .collect(),
            until: self.one_in(6).then(|| Time::ZERO + self.ticks_below(50)),
            ..World::default()
        }
    }

    fn device(&mut self, kinds: u64, memory: bool) -> DeviceSpec {
        DeviceSpec {
            kind: self.rng.below(kinds) as u32,
            lanes: if self.one_in(6) { 8 + self.rng.below(9) } else { 1 + self.rng.below(3) } as u8,
            can_preempt: self.one_in(2),
            memory_pages: memory.then(|| 1 + self.rng.below(6) as u32),
            ..DeviceSpec::default()
        }
    }

    fn changes(&mut self, devices: u64, kinds: u64, memory: bool) -> Vec<(Time, DeviceChange)> {
        let mut changes = Vec::new();
        let mut at = Time::ZERO;
        for _ in 0..1 + self.rng.below(4) {
            at += self.ticks_below(12);
            let id = DeviceId(self.rng.below(devices) as u32);
            changes.push((
                at,
                match self.rng.below(3) {
                    0 => DeviceChange::Added(self.device(kinds, memory)),
                    1 => DeviceChange::Drain(id),
                    _ => DeviceChange::Fail(id),
                },
            ));
        }
        changes
    }

    fn delays(&mut self, seed: u64) -> Delays {
        let mut delay = || if self.one_in(2) { Span::ZERO } else { self.ticks_below(4) };
        let (dispatch, fetch_per_request) = (delay().into(), delay());
        let delays = Delays {
            dispatch,
            fetch_per_request,
            result: delay().into(),
            reply: delay().into(),
            seed,
        };
        // Of a stream of its own, so that the cases without laws are what they were.
        let mut rng = Stream::named(seed, "differential delays", 0);
        if rng.below(3) > 0 {
            return delays;
        }
        let mut law = |constant: DelayLaw| match rng.below(4) {
            0 => constant,
            // A few nanoseconds: zero is among the draws, and ties are frequent.
            1 => DelayLaw::Uniform { low: Span::ZERO, high: Span::from_ns(3) },
            2 => DelayLaw::Uniform { low: ticks(1), high: ticks(1 + rng.below(4)) },
            _ => DelayLaw::lognormal(ticks(1), ticks(1 + rng.below(12))),
        };
        let (dispatch, result) = (law(delays.dispatch), law(delays.result));
        Delays { dispatch, result, reply: law(delays.reply), ..delays }
    }

    fn law(&mut self) -> Latency {
        match self.rng.below(7) {
            0 => Latency::Affine { alpha: self.ticks_below(3), beta: self.ticks_below(5) },
            1 => Latency::Eq3 { c0: self.ticks_below(3), c1: 0.5 },
            2 => Latency::Proportional { c1: 0.25 },
            3 => Latency::Table(vec![(1, ticks(1)), (2, self.ticks_below(4)), (4, ticks(4))]),
            4 => Latency::Poly { c0: self.ticks_below(3), c1: 0.25, c2_per_s: 125.0 },
            5 => Latency::Grid(Grid {
                lengths: vec![ticks(1), ticks(3)],
                rows: [1, 3, 4].map(|k| (k, vec![ticks(1), self.ticks_below(5)])).to_vec(),
            }),
            _ => self.samples(),
        }
    }

    fn samples(&mut self) -> Latency {
        let seed = self.rng.below(1 << 40);
        let mut of =
            |size| (size, (0..1 + self.rng.below(4)).map(|_| self.ticks_below(6)).collect());
        let rows: Vec<(u32, Vec<Span>)> = vec![of(1), of(3), of(4)];
        let table = SampleTable::new(&rows).expect("sizes that grow, with samples");
        Latency::Samples(Replay { table: Arc::new(table), seed })
    }

    fn noise(&mut self, seed: u64) -> Noise {
        match self.rng.below(8) {
            0 => Noise::Uniform { spread: 0.3, seed },
            1 => Noise::Lognormal { sigma: 0.2, seed },
            _ => Noise::None,
        }
    }

    fn arrival(&mut self, at: Time) -> Arrival {
        Arrival {
            at,
            app: AppId(self.rng.below(2) as u32),
            model: ModelId(self.rng.below(self.models) as u32),
            size: 1 + self.rng.below(3) as u32,
            slo: if self.one_in(6) { Span::MAX } else { self.ticks_below(25) },
            alone: self.ticks_below(5),
        }
    }

    fn workload(&mut self) -> (Vec<Vec<Arrival>>, Option<ClosedLoop>) {
        let requests = 1 + self.rng.below(30);
        let sources = 1 + self.rng.below(2);
        let gap = 1 + self.rng.below(4);
        let open = (0..sources)
            .map(|_| {
                let mut at = Time::ZERO;
                let mut next = |draw: &mut Draw| {
                    at += draw.ticks_below(gap);
                    draw.arrival(at)
                };
                (0..requests.div_ceil(sources)).map(|_| next(self)).collect()
            })
            .collect();
        let clients = self.one_in(4).then(|| {
            let first = (0..1 + self.rng.below(2)).map(|_| self.arrival(Time::ZERO)).collect();
            (first, self.rng.below(8) as u32, self.ticks_below(3))
        });
        (open, clients)
    }
}

/// A closed loop: each reply makes one more arrival, `again` times.
struct Clients {
    source: SourceId,
    /// In order of time.
    upcoming: Vec<Arrival>,
    again: u32,
    think: Span,
}

impl Source for Clients {
    fn peek(&mut self) -> Option<Time> {
        self.upcoming.first().map(|a| a.at)
    }
    fn pop(&mut self) -> Option<Arrival> {
        (!self.upcoming.is_empty()).then(|| self.upcoming.remove(0))
    }
    fn on_reply(&mut self, request: &Request, now: Time, _end: End) {
        assert_eq!(request.source, self.source, "a reply goes to the source of its request");
        if self.again == 0 {
            return;
        }
        self.again -= 1;
        let Request { app, model, size, .. } = *request;
        let (slo, alone) = (request.slo(), ticks(1 + request.id.0 % 3));
        let at = now + self.think;
        let place = self.upcoming.partition_point(|a| a.at <= at);
        self.upcoming.insert(place, Arrival { at, app, model, size, slo, alone });
    }
    fn is_closed_loop(&self) -> bool {
        true
    }
}
