//! What Clockwork decides where models come and go, on random small clusters, against what it decided
//! before its load path kept ordered structures.

use super::super::config::LoadRule;
use super::super::{Clockwork, Config, Estimator, Sizes};
use crate::cluster::{DeviceSpec, Footprint};
use crate::core::{CoreSpec, Delays, DeviceChange};
use crate::driver::{Failure, World, simulate};
use crate::latency::{Latency, Noise};
use crate::policy::{Action, Actions, Event, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, DeviceId, ModelId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};

/// Clusters in a group, and what each group's decisions come to.
const GROUP: u64 = 200;
const DECIDED: [u64; 8] = [
    0xf30e_6958_3613_c6c0,
    0xf5c2_e2e8_0a95_5b50,
    0xea54_30db_375d_89cf,
    0x38ca_e9bc_445b_084b,
    0x90d4_3876_8ffe_6cc5,
    0x70c6_ab05_2722_401b,
    0x3367_972f_3266_208e,
    0x5912_0d04_1804_77b6,
];

/// A policy whose decisions are added up: what was done when, timers excepted.
struct Noted {
    policy: Clockwork,
    sum: u64,
    loads: u64,
    unloads: u64,
}

impl Noted {
    fn note(&mut self, text: &str) {
        // FNV-1a.
        for byte in text.bytes() {
            self.sum = (self.sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Policy for Noted {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        self.policy.on(now, event, known, out);
        for action in out.list() {
            let text = match action {
                Action::SetTimer(..) | Action::ClearTimer(_) => continue,
                Action::Exec { exec, requests } => {
                    format!("{now:?} {exec:?} {:?}", out.requests(requests.clone()))
                }
                other => format!("{now:?} {other:?}"),
            };
            self.loads += u64::from(matches!(action, Action::Load { .. }));
            self.unloads += u64::from(matches!(action, Action::Unload { .. }));
            self.note(&text);
        }
    }
}

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A cluster and what it is asked for. Half of them are on a grid of 1 ms, so that ties are frequent.
struct Case {
    world: World,
    config: Config,
    profiles: Vec<ModelProfile>,
    arrivals: Vec<Arrival>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut rng = Stream::named(seed, "clockwork loads", 0);
        let grid = if rng.below(2) == 0 { 1_000_000 } else { 1 };
        let time = |rng: &mut Stream, below_ms: u64| {
            Span::from_ns(rng.below(below_ms * 1_000_000) / grid * grid)
        };
        let most = [4, 12, 40][rng.below(3) as usize];
        let models = 1 + rng.below(most);
        let devices = 1 + rng.below(6);
        let law =
            |rng: &mut Stream| Latency::Affine { alpha: time(rng, 3), beta: ms(1) + time(rng, 6) };
        let laws: Vec<Latency> = (0..models).map(|_| law(&mut rng)).collect();
        let sizes = [&[1, 2, 4, 8][..], &[1, 3], &[2, 4]][rng.below(5).saturating_sub(2) as usize];
        let slo = ms(20 + rng.below(100));
        let profile =
            |law: &Latency| ModelProfile::measure(law, slo, sizes, 1, || (0, Span::ZERO), 1);
        let profiles = laws.iter().map(profile).collect();
        let estimators = [Estimator::P99Of10, Estimator::WindowMean, Estimator::StaticMean];
        let config = Config {
            estimator: estimators[rng.below(3) as usize],
            ahead: ms(2 + rng.below(10)),
            width: ms(rng.below(12)),
            buffer: ms(rng.below(4)),
            lead: ms(rng.below(3)),
            sizes: if rng.below(2) == 0 { Sizes::Profile } else { Sizes::All },
            loads: LoadRule::Paper,
            ..Config::released()
        };
        let mixed = rng.below(4) == 0;
        let device = |rng: &mut Stream| DeviceSpec {
            memory_pages: (!mixed || rng.below(3) > 0).then(|| 3 + rng.below(12) as u32),
            ..DeviceSpec::default()
        };
        let footprint = |rng: &mut Stream| Footprint {
            pages: 1 + rng.below(5) as u32,
            load: ms(1) + time(rng, 12),
        };
        let mut at = Time::ZERO;
        // Some clusters are overloaded, so that devices have more to do than they can.
        let gap = [1, 2, 8][rng.below(3) as usize];
        let requests = 50 + rng.below(400);
        let arrival = |rng: &mut Stream, at: &mut Time| {
            *at += time(rng, gap);
            let any = rng.below(40) == 0;
            let slo = if any { [ms(1), Span::MAX][rng.below(2) as usize] } else { slo };
            // Low numbers are asked for more.
            let most = 1 + rng.below(models);
            let model = rng.below(most) as u32;
            let (app, model) = (AppId(0), ModelId(model));
            Arrival { at: *at, app, model, size: 1, slo, alone: Span::ZERO }
        };
        let arrivals = (0..requests).map(|_| arrival(&mut rng, &mut at)).collect();
        let mut changes = Vec::new();
        let mut at = Time::ZERO;
        for _ in 0..rng.below(6).saturating_sub(2) {
            at += time(&mut rng, 200);
            let id = DeviceId(rng.below(devices) as u32);
            let spec = device(&mut rng);
            let all = [DeviceChange::Added(spec), DeviceChange::Drain(id), DeviceChange::Fail(id)];
            changes.push((at, all[rng.below(3) as usize].clone()));
        }
        let delays = Delays {
            result: time(&mut rng, 2).into(),
            dispatch: time(&mut rng, 4).into(),
            ..Delays::default()
        };
        let noise = Noise::Uniform { spread: 0.3, seed };
        let world = World {
            core: CoreSpec {
                devices: (0..devices).map(|_| device(&mut rng)).collect(),
                models: (0..models).map(|_| footprint(&mut rng)).collect(),
                delays: if rng.below(3) == 0 { delays } else { Delays::default() },
                profiler: None,
            },
            latency: vec![laws],
            noise: if rng.below(2) == 0 { noise } else { Noise::None },
            changes,
            ..World::default()
        };
        Case { world, config, profiles, arrivals }
    }

    fn run(&self) -> Noted {
        let source = Box::new(VecSource::new(self.arrivals.clone()));
        let policy = Clockwork::new(self.config, &self.profiles);
        let noted = Noted { policy, sum: 0xcbf2_9ce4_8422_2325, loads: 0, unloads: 0 };
        simulate(&self.world, vec![source], noted, ()).policy
    }
}

#[test]
fn the_decisions_are_those_of_sorting_all_models_each_time() {
    let (mut loads, mut unloads) = (0, 0);
    let mut group = |group: u64| {
        let runs = (group * GROUP..(group + 1) * GROUP).map(|seed| Case::new(seed).run());
        runs.fold(0u64, |sum, run| {
            loads += run.loads;
            unloads += run.unloads;
            sum.rotate_left(5) ^ run.sum
        })
    };
    let decided: Vec<u64> = (0..DECIDED.len() as u64).map(&mut group).collect();
    assert!(loads > 5_000 && unloads > 2_000, "{loads} loads, {unloads} unloads");
    assert_eq!(decided, DECIDED, "{loads} loads, {unloads} unloads");
}

/// With a window of no width and loads that come late, a load never begins: what waits for it without an
/// SLO would wait for ever.
#[test]
fn the_endless_retries_of_a_load_stop_the_run() {
    let mut case = Case::new(19);
    case.config.loads = LoadRule::Infer5;
    let source = Box::new(VecSource::new(case.arrivals.clone()));
    let run = simulate(&case.world, vec![source], Clockwork::new(case.config, &case.profiles), ());
    assert!(matches!(run.failure, Some(Failure::Stuck { requests: 1.., .. })), "{:?}", run.failure);
}
