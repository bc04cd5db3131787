//! Clockwork on a cluster: against a plain formulation with a strategy queue for each device, and
//! against the rates that are known of it.

mod plain;

use orrery_sim::cluster::{DeviceSpec, Footprint};
use orrery_sim::core::{CoreSpec, Delays, DeviceChange};
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::{Latency, Noise};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::metrics::{Metrics, Window};
use orrery_sim::policy::Policy;
use orrery_sim::policy::clockwork::{Clockwork, Config, Estimator, Sizes};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, DeviceId, End, ModelId, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, ArrivalProcess};
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
            probe: span(&mut rng, 30) * rng.below(2),
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
        let (late, delays) =
            (rng.below(2) == 0, Delays { result: ms(1).into(), ..Delays::default() });
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

/// The share of requests that are late or dropped: Poisson arrivals, spread evenly over as many
/// models of one law as there are footprints, on these devices.
fn bad(law: &Latency, slo: Span, rate_per_s: f64, config: Config, core: CoreSpec) -> f64 {
    const REQUESTS: u64 = 50_000;
    let models = core.models.len();
    let world = World { core, latency: vec![vec![law.clone(); models]], ..World::default() };
    let sizes = [1, 2, 4, 8, 16];
    let profile = ModelProfile::measure(law, slo, &sizes, 1, || (0, Span::ZERO), 1);
    let mut rng = Stream::named(1, "clockwork cluster", 0);
    let mut process = ArrivalLaw::Poisson { rate_per_s }.start(1, 0).expect("a law");
    let arrival = |_| {
        let at = process.next().expect("it never ends");
        let (app, model, alone) = (AppId(0), ModelId(rng.below(models as u64) as u32), Span::ZERO);
        Arrival { at, app, model, size: 1, slo, alone }
    };
    let source = Box::new(VecSource::new((0..REQUESTS).map(arrival).collect()));
    let policy = Clockwork::new(config, &vec![profile; models]);
    let metrics = simulate(&world, vec![source], policy, Metrics::new(Window::default(), false));
    1.0 - metrics.observer.total().finish_rate()
}

/// One model on eight devices, every batch size.
fn bad_on_8(law: &Latency, slo: Span, rate_per_s: f64, ahead: Span) -> f64 {
    let config = Config { ahead, sizes: Sizes::All, max_batch: 64, ..Config::released() };
    let core = CoreSpec {
        devices: vec![DeviceSpec::default(); 8],
        models: vec![Footprint::default()],
        ..CoreSpec::default()
    };
    bad(law, slo, rate_per_s, config, core)
}

fn affine(alpha_us: u64, beta_us: u64) -> Latency {
    Latency::Affine { alpha: Span::from_us(alpha_us), beta: Span::from_us(beta_us) }
}

/// Symphony's Table 2 has Clockwork at 1,358 r/s for ResNet50 and at 458 r/s for InceptionResNetV2,
/// with bad rates of at most 1 %. Four seeds cross 1 % at 1,338 to 1,352 and at 454 to 462.
#[test]
fn symphony_s_table_2_comes_out_with_the_released_window() {
    let at = |rate| bad_on_8(&affine(1_053, 5_072), ms(25), rate, ms(10));
    assert!(at(1_300.0) < 0.01 && at(1_450.0) > 0.01);
    let at = |rate| bad_on_8(&affine(5_090, 18_368), ms(70), rate, ms(10));
    assert!(at(435.0) < 0.01 && at(485.0) > 0.01);
}

/// With the paper's window of 5 ms it would have been faster than Symphony's authors saw it: 1,937 to
/// 1,995 and 488 to 495 r/s.
#[test]
fn the_paper_s_window_carries_more_than_symphony_s_authors_measured() {
    let at = |rate| bad_on_8(&affine(1_053, 5_072), ms(25), rate, ms(5));
    assert!(at(1_850.0) < 0.01 && at(2_100.0) > 0.01);
    let at = |rate| bad_on_8(&affine(5_090, 18_368), ms(70), rate, ms(5));
    assert!(at(465.0) < 0.01 && at(520.0) > 0.01);
}

/// ResNet50 on Clockwork's V100s: 102.3 MB are 7 pages of 16 MiB, copied in 8.33 ms (its Table 1).
#[test]
fn models_that_do_not_fit_all_at_once_are_swapped_in_time() {
    let us = Span::from_us;
    let law = [(1, 2_610), (2, 3_780), (4, 5_610), (8, 9_130), (16, 15_670)];
    let law = Latency::Table(law.map(|(size, latency)| (size, us(latency))).to_vec());
    let bad_with = |models: usize, slots: u32| {
        let pages = Some(7 * slots);
        let core = CoreSpec {
            devices: vec![DeviceSpec { memory_pages: pages, ..DeviceSpec::default() }; 3],
            models: vec![Footprint { pages: 7, load: us(8_330) }; models],
            ..CoreSpec::default()
        };
        bad(&law, ms(100), 300.0, Config::released(), core)
    };
    assert_eq!(bad_with(16, 16), 0.0, "all fit on every device");
    assert_eq!(bad_with(48, 8), 0.0, "twice as many as fit on all devices together");
    // Nearly every request is cold: the loads alone keep three links busy for 83 % of the time.
    let cold = bad_with(480, 8);
    assert!(cold > 0.0 && cold < 0.01, "{cold}");
}
