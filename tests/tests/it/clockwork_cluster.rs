//! Clockwork on a cluster: against a plain formulation with a strategy queue for each device, and
//! against the rates that are known of it.

mod plain;

use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::{CoreSpec, Delays, DeviceChange};
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::{Latency, Noise};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::Policy;
use orrery_sim::policy::clockwork::{Clockwork, Config, Estimator, Sizes};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, DeviceId, End, ModelId, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use plain::Plain;

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A random small cluster, on a coarse grid so that ties are frequent.
struct Case {
    world: World,
    config: Config,
    profiles: Vec<ModelProfile>,
    arrivals: Vec<Arrival>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Stream::named(seed, "clockwork cluster", 0);
        let models = 1 + rng.below(4);
        let devices = 1 + rng.below(6);
        let laws: Vec<Latency> = (0..models).map(|_| law(&mut rng)).collect();
        // A server without batches of one leaves requests that can only wait for others.
        let sizes = [&[1, 2, 4, 8][..], &[1, 3], &[2, 4]][rng.below(4).saturating_sub(1) as usize];
        let profile = |law: &Latency| {
            ModelProfile::measure(law, ms(20), sizes, 3, || (0, ms(rng.below(4))), 4)
        };
        let profiles = laws.iter().map(profile).collect();
        let span = |rng: &mut Stream, below: u64| ms(rng.below(below));
        let estimators = [Estimator::P99Of10, Estimator::WindowMean, Estimator::StaticMean];
        let config = Config {
            estimator: estimators[rng.below(3) as usize],
            ahead: ms(2) + span(&mut rng, 10),
            width: span(&mut rng, 12),
            buffer: span(&mut rng, 4),
            lead: span(&mut rng, 3),
            lag: span(&mut rng, 12),
            max_batch: 1 + rng.below(8) as u32,
            sizes: if rng.below(2) == 0 { Sizes::Profile } else { Sizes::All },
            ..Config::released()
        };
        let mut at = Time::ZERO;
        let dense = 1 + rng.below(4);
        let requests = 20 + rng.below(100);
        let arrival = |_| {
            at += ms(rng.below(3) * u64::from(rng.below(dense) == 0));
            let slo = if rng.below(20) == 0 { Span::MAX } else { ms(1 + rng.below(40)) };
            let (model, alone) = (ModelId(rng.below(models) as u32), ms(rng.below(4)));
            Arrival { at, app: AppId(0), model, size: 1, slo, alone }
        };
        let arrivals = (0..requests).map(arrival).collect();
        let mut changes = Vec::new();
        let mut at = Time::ZERO;
        for _ in 0..rng.below(4).saturating_sub(1) {
            at += ms(rng.below(40));
            let id = DeviceId(rng.below(devices) as u32);
            let spec = DeviceSpec::default();
            let all = [DeviceChange::Added(spec), DeviceChange::Drain(id), DeviceChange::Fail(id)];
            changes.push((at, all[rng.below(3) as usize].clone()));
        }
        let noise = Noise::Uniform { spread: 0.3, seed };
        let (late, delays) = (rng.below(2) == 0, Delays { result: ms(1), ..Delays::default() });
        let world = World {
            core: CoreSpec {
                devices: vec![DeviceSpec::default(); devices as usize],
                models: vec![Default::default(); models as usize],
                delays: if late { delays } else { Delays::default() },
                profiler: None,
            },
            latency: vec![laws],
            noise: if rng.below(2) == 0 { noise } else { Noise::None },
            changes,
            ..World::default()
        };
        Case { world, config, profiles, arrivals }
    }

    fn run(&self, policy: impl Policy) -> Vec<Record> {
        let source = Box::new(VecSource::new(self.arrivals.clone()));
        let log = simulate(&self.world, vec![source], policy, MemoryLog::default()).observer;
        // When a run ends depends on the last timer, which is nobody's business.
        let last =
            |r: &Record| matches!(r, Record::Finish { .. } | Record::End { end: End::Pending, .. });
        log.records.into_iter().filter(|r| !last(r)).collect()
    }
}

fn law(rng: &mut Stream) -> Latency {
    let mut below = |n: u64| ms(rng.below(n));
    match below(3).ns() / 1_000_000 {
        0 => Latency::Affine { alpha: below(4), beta: ms(1) + below(6) },
        1 => Latency::Proportional { c1: 0.25 },
        // A larger batch may be the shorter one.
        _ => Latency::Table(vec![(1, ms(3)), (2, below(8)), (4, ms(1) + below(8)), (8, ms(8))]),
    }
}

#[test]
fn it_decides_as_if_each_device_had_its_own_strategy_queue() {
    let mut in_time = 0;
    let mut dropped = 0;
    for seed in 0..1_000 {
        let case = Case::new(seed);
        let records = case.run(Clockwork::new(case.config, &case.profiles));
        let plain = case.run(Plain::new(case.config, &case.profiles));
        let at = records.iter().zip(&plain).take_while(|(a, b)| a == b).count();
        if at < records.len().max(plain.len()) {
            let text = |r: Option<&Record>| r.map_or("nothing".to_string(), Record::to_string);
            let (ours, theirs) = (text(records.get(at)), text(plain.get(at)));
            panic!("seed {seed}, record {at}:\nours:  {ours}\nplain: {theirs}");
        }
        let count = |end| {
            records.iter().filter(|r| matches!(r, Record::End { end: e, .. } if *e == end)).count()
        };
        in_time += count(End::InTime);
        dropped += count(End::Dropped(orrery_sim::request::Drop::Infeasible));
    }
    assert!(in_time > 10_000 && dropped > 5_000, "{in_time} in time, {dropped} dropped");
}
