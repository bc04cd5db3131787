//! The policy against the plain one, record by record, on random small worlds with many ties.

use super::plain::Plain;
use crate::audit::audit;
use crate::cluster::DeviceSpec;
use crate::core::{Delays, DeviceChange};
use crate::delay::DelayLaw;
use crate::driver::{World, simulate};
use crate::latency::{Latency, Noise};
use crate::log::{MemoryLog, Record};
use crate::policy::Policy;
use crate::policy::symphony::{Config, Dispatch, Gather, GpuChoice, Symphony};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, DeviceId, End, ModelId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};

struct Case {
    world: World,
    arrivals: Vec<Arrival>,
    profiles: Vec<ModelProfile>,
    config: Config,
}

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Stream::named(seed, "symphony differential", 0);
        let models = 1 + rng.below(5);
        let laws: Vec<Latency> = (0..models).map(|_| law(&mut rng)).collect();
        let slos: Vec<Span> = (0..models).map(|_| ms(6 + rng.below(20))).collect();
        let profiles = laws
            .iter()
            .zip(&slos)
            .map(|(law, &slo)| ModelProfile::measure(law, slo, &[1], 1, || (0, ms(1)), 1));
        let mut case = Case {
            profiles: profiles.collect(),
            arrivals: arrivals(&mut rng, &slos),
            config: config(&mut rng),
            world: World::single(Latency::Affine { alpha: ms(1), beta: ms(1) }),
        };
        case.world.core.devices = vec![DeviceSpec::default(); 1 + rng.below(5) as usize];
        case.world.core.models = vec![Default::default(); models as usize];
        case.world.latency = vec![laws];
        if rng.below(3) == 0 {
            case.world.noise = Noise::Uniform { spread: 0.3, seed };
        }
        if rng.below(4) == 0 {
            let span = |rng: &mut Stream| DelayLaw::Constant(ms(rng.below(3)));
            let (dispatch, result) = (span(&mut rng), span(&mut rng));
            case.world.core.delays = Delays { dispatch, result, ..Delays::default() };
        }
        if rng.below(3) == 0 {
            case.changes(&mut rng);
        }
        case
    }

    fn changes(&mut self, rng: &mut Stream) {
        let (mut at, devices) = (Time::ZERO, self.world.core.devices.len() as u64);
        for _ in 0..rng.below(5) {
            at += ms(rng.below(30));
            let id = DeviceId(rng.below(devices) as u32);
            let change = match rng.below(3) {
                0 => DeviceChange::Added(DeviceSpec::default()),
                1 => DeviceChange::Drain(id),
                _ => DeviceChange::Fail(id),
            };
            self.world.changes.push((at, change));
        }
    }

    fn run(&self, policy: impl Policy) -> Vec<Record> {
        let source = Box::new(VecSource::new(self.arrivals.clone()));
        simulate(&self.world, vec![source], policy, MemoryLog::default()).observer.records
    }
}

/// No batch takes no time: a timer may go off before or after what is created at its own instant, and
/// the two policies set theirs at different moments.
fn law(rng: &mut Stream) -> Latency {
    match rng.below(4) {
        0 => Latency::Table(vec![(1, ms(2)), (2, ms(1 + rng.below(6))), (5, ms(9))]),
        _ => Latency::Affine { alpha: ms(rng.below(3)), beta: ms(1 + rng.below(6)) },
    }
}

fn arrivals(rng: &mut Stream, slos: &[Span]) -> Vec<Arrival> {
    let (gap, mixed) = (1 + rng.below(4), rng.below(4) == 0);
    let mut at = Time::ZERO;
    let mut one = || {
        at += Span::from_us(500 * rng.below(gap));
        let model = rng.below(slos.len() as u64) as usize;
        let slo = match rng.below(40) {
            0 if mixed => Span::MAX,
            1..20 if mixed => ms(rng.below(30)),
            _ => slos[model],
        };
        let (app, alone) = (AppId(0), ms(1));
        Arrival { at, app, model: ModelId(model as u32), size: 1, slo, alone }
    };
    (0..150).map(|_| one()).collect()
}

fn config(rng: &mut Stream) -> Config {
    let mut config = Config::released();
    if rng.below(2) == 0 {
        config = config.without_reserves();
    } else if rng.below(2) == 0 {
        (config.ctrl, config.data) = (ms(rng.below(2)), Span::from_us(500 * rng.below(3)));
    }
    let percent = rng.below(5) as f64 * 25.0;
    let dispatches =
        [Dispatch::Frontrun, Dispatch::Eager, Dispatch::Latest, Dispatch::Timeout(percent)];
    config.gather = [Gather::WindowDrop, Gather::Head, Gather::Fcfs][rng.below(3) as usize];
    config.dispatch = dispatches[rng.below(4) as usize];
    config.gpu = [GpuChoice::EarliestFree, GpuChoice::SmallestId][rng.below(2) as usize];
    config.jitter = if rng.below(2) == 0 { Span::ZERO } else { config.jitter };
    config.sample = ms(1 + rng.below(20));
    config.window = 1 + rng.below(6) as u32;
    config.max_batch = 1 + rng.below(20) as u32;
    config
}

#[test]
fn the_policy_agrees_with_the_plain_one_record_by_record() {
    let (mut in_time, mut dropped) = (0, 0);
    for seed in 0..1_000 {
        let case = Case::new(seed);
        let ours = case.run(Symphony::new(case.config, &case.profiles));
        let plain = case.run(Plain::new(case.config, &case.profiles));
        let same = ours.iter().zip(&plain).take_while(|(a, b)| a == b).count();
        if ours != plain {
            let lines = |records: &[Record]| -> Vec<String> {
                records.iter().map(Record::to_string).collect()
            };
            let before = lines(&ours[same.saturating_sub(30)..same]).join("\n");
            let (ours, plain) = (lines(&ours[same..]), lines(&plain[same..]));
            panic!(
                "seed {seed}, {:?}\n{before}\n ours: {:?}\nplain: {:?}",
                case.config,
                ours.first(),
                plain.first()
            );
        }
        let report = audit(ours.iter().cloned());
        assert!(report.is_clean(), "seed {seed}: {report}");
        let ended = |wanted: fn(&End) -> bool| {
            let is = |r: &&Record| matches!(r, Record::End { end, .. } if wanted(end));
            ours.iter().filter(is).count()
        };
        in_time += ended(|e| *e == End::InTime);
        dropped += ended(|e| matches!(e, End::Dropped(_)));
    }
    assert!(in_time > 30_000 && dropped > 30_000, "{in_time} in time, {dropped} dropped");
}

impl Case {}

#[test]
fn timers_that_stay_armed_change_batches_and_lose_no_request() {
    let mut changed = 0;
    for seed in 0..500 {
        let mut case = Case::new(seed);
        let cancelled = case.run(Symphony::new(case.config, &case.profiles));
        case.config.stale_gpu_timer = true;
        let stale = case.run(Symphony::new(case.config, &case.profiles));
        changed += u32::from(stale != cancelled);
        let pending = |r: &&Record| matches!(r, Record::End { end: End::Pending, .. });
        let left = |records: &[Record]| records.iter().filter(pending).count();
        assert!(left(&stale) <= left(&cancelled), "seed {seed}");
        let report = audit(stale);
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
    eprintln!("{changed} of 500 runs differ");
    assert!(changed > 20, "{changed} of 500");
}
