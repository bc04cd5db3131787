//! The twin of a run whose machine we made: it predicts the run, on a clock that goes from instant to instant.

use super::campaign::campaigns;
use orrery_replay::clock::VirtualClock;
use orrery_replay::compare::{ActionRow, Side, Summary};
use orrery_replay::device::emulated::{Durations, Emulated};
use orrery_replay::device::{Device, DeviceError, Job, Work};
use orrery_replay::driver::{Options, replay};
use orrery_replay::prediction::{OverheadAs, Prediction};
use orrery_replay::profile::fit::Form;
use orrery_replay::profile::{Clocks, ProfileFile, Settings, profile};
use orrery_replay::threads::Placement;
use orrery_replay::twin::Twin;
use orrery_scenario::{PolicySpec, Scenario};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::latency::BatchNoise;
use orrery_sim::log::MemoryLog;
use orrery_sim::request::DeviceId;
use orrery_sim::time::Span;
use std::sync::Arc;

/// A device that is 20 % slower for a tenth of a second, three times a second; its batches differ by 2 %.
struct Swinging {
    seed: u64,
}

impl Durations for Swinging {
    fn duration(&self, job: &Job) -> Span {
        let Work::Batch { units, longest, first, .. } = job.work else { return Span::ZERO };
        let usual = Span::from_us(1_500) + longest.scale(0.3 * f64::from(units));
        let is_slow = (job.began.ns() / 100_000_000) % 3 == 2;
        let noise = BatchNoise { sigma: 0.02, seed: self.seed, ..BatchNoise::default() };
        noise.apply(usual.scale(if is_slow { 1.2 } else { 1.0 }), first.0)
    }

    fn describe(&self) -> String {
        "swings".to_string()
    }
}

fn device(seed: u64) -> Box<dyn Device> {
    Box::new(Emulated::new(Arc::new(Swinging { seed }), true))
}

fn scenario() -> Scenario {
    let changes = [
        ("arrivals.duration_s", toml::Value::from(12.0)),
        ("arrivals.poisson.rate_per_s", 420.0.into()),
        ("model.0.slo_ms", 30.0.into()),
    ];
    let changes: Vec<_> = changes.into_iter().map(|(key, v)| (key.to_string(), v)).collect();
    Scenario::load(campaigns().join("one-model.toml")).unwrap().with(&changes).unwrap()
}

fn profiled(scenario: &Scenario) -> ProfileFile {
    let settings =
        Settings { stall_s: 0.0, noise_batches: 0, form: Form::Eq3, ..Settings::default() };
    let mut open = || Ok(device(99));
    profile(scenario, &settings, Clocks::Virtual, Placement::default(), &mut open).unwrap()
}

/// The mean over runs of the measured finish rate less that of their twins, in percentage points.
fn difference(scenario: &Scenario, profile: &ProfileFile, policy: &str) -> f64 {
    let profiles = std::slice::from_ref(profile);
    let prediction = Prediction::of(scenario, 1, profiles, OverheadAs::Busy).unwrap();
    let policy = PolicySpec::parse(policy).unwrap();
    let warm_up = prediction.setup.window.from.ns();
    let (runs, draws) = (5, 5);
    let difference = |seed| {
        let mut rig = |_: DeviceId, _: &DeviceSpec| -> Result<Box<dyn Device>, DeviceError> {
            Ok(device(seed))
        };
        let (world, sources) = (&prediction.world, prediction.setup.sources(1).unwrap());
        let (live, log) = (prediction.setup.policy(&policy, 1), MemoryLog::default());
        let (clock, options) = (VirtualClock::new(), Options::default());
        let ran = replay(world, sources, live, log, &mut rig, &clock, &options).unwrap();
        let models = scenario.model_names();
        let actions = ran.actions.iter().map(|a| ActionRow::of(a, &models)).collect();
        let side = Side::of(ran.run.observer.records, Some(actions), warm_up);
        let (twin, knowledge) = Twin::of(&side, &ran.inputs, true, ran.run.end);
        assert_eq!(knowledge.unknown, None);
        let rate = |draw| {
            let records = prediction.simulate_on(&twin, &policy, 1, draw).unwrap();
            Summary::of(&records, warm_up).finish_rate
        };
        let predicted = (0..draws).map(rate).sum::<f64>() / f64::from(draws);
        Summary::of(&side.records, warm_up).finish_rate - predicted
    };
    100.0 * (1..=runs).map(difference).sum::<f64>() / runs as f64
}

/// A profile's noise has the device's slow and fast times in it, and so has the speed of a twin: they must not count twice,
/// and a twin's speed must follow the device's. Symphony, which sends a batch at the last moment, shows the first, and Orloj
/// the second.
#[test]
fn a_device_that_swings_is_predicted_by_its_twin() {
    let scenario = scenario();
    let profile = profiled(&scenario);
    let sigma = profile.model[0].noise.as_ref().map_or(0.0, |n| n.sigma);
    assert!(sigma > 0.07, "{sigma}");
    for policy in ["symphony", "clockwork", "orloj"] {
        let difference = difference(&scenario, &profile, policy);
        assert!(difference.abs() < 0.7, "{policy}: {difference}");
    }
}
