//! LOAD and UNLOAD on cases small enough to be worked by hand.

mod loads;
mod naive;

use super::{Answer, Clockwork, Config, Estimator, LoadRule};
use crate::cluster::{DeviceSpec, Footprint};
use crate::core::CoreSpec;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, Drop, End, ModelId, VecSource};
use crate::time::{Span, Time};

const LAW: Latency = Latency::Proportional { c1: 0.1 };

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A request of a model at `at` ms that takes 20 ms and has `slo` ms.
fn arrival(at: u64, model: u32, slo: u64) -> Arrival {
    let (app, model) = (AppId(0), ModelId(model));
    Arrival { at: Time::ZERO + ms(at), app, model, size: 1, slo: ms(slo), alone: ms(20) }
}

/// Models of these pages, each loaded in 8 ms, on devices of as many pages as are given. What began:
/// (start in ms, device, model); and how the requests ended.
fn play(
    devices: &[u32],
    models: &[u32],
    arrivals: Vec<Arrival>,
) -> (Vec<(u64, u32, u32)>, Vec<End>) {
    let device = |&pages: &u32| DeviceSpec { memory_pages: Some(pages), ..DeviceSpec::default() };
    let world = World {
        core: CoreSpec {
            devices: devices.iter().map(device).collect(),
            models: models.iter().map(|&pages| Footprint { pages, load: ms(8) }).collect(),
            ..CoreSpec::default()
        },
        latency: vec![vec![LAW; models.len()]],
        ..World::default()
    };
    let measure = |_| ModelProfile::measure(&LAW, ms(100), &[1, 2, 4], 1, || (0, ms(20)), 1);
    let profiles: Vec<ModelProfile> = models.iter().map(measure).collect();
    let (estimator, loads) = (Estimator::StaticMean, LoadRule::Paper);
    let config = Config { estimator, loads, ..Config::released() };
    let mut ends = vec![End::Pending; arrivals.len()];
    let source = Box::new(VecSource::new(arrivals));
    let policy = Clockwork::new(config, &profiles);
    let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
    let mut begun = Vec::new();
    let mut issued = std::collections::BTreeMap::new();
    for record in log.records {
        match record {
            Record::Issue { batch, .. } => {
                issued.insert(batch.action, (batch.device.0, batch.model.0));
            }
            Record::Begin { time, action } => {
                // A load is no batch.
                let Some(&(device, model)) = issued.get(&action) else { continue };
                begun.push((time.ns() / 1_000_000, device, model));
            }
            Record::End { request, end, .. } => ends[request.index()] = end,
            _ => {}
        }
    }
    (begun, ends)
}

#[test]
fn a_cold_model_is_loaded_first() {
    let (begun, ends) = play(&[4], &[4], vec![arrival(0, 0, 100), arrival(40, 0, 100)]);
    assert_eq!(begun, [(8, 0, 0), (40, 0, 0)], "the second request finds it there");
    assert_eq!(ends, [End::InTime; 2]);
}

#[test]
fn the_least_recently_used_model_makes_room() {
    // Two fit. At 200 ms model 2 displaces model 1, so model 0 is warm and model 1 cold after that.
    let calls = [(0, 0), (50, 1), (100, 0), (200, 2), (300, 0), (400, 1)];
    let arrivals = calls.iter().map(|&(at, model)| arrival(at, model, 100)).collect();
    let (begun, ends) = play(&[8], &[4, 4, 4], arrivals);
    let starts: Vec<u64> = begun.iter().map(|b| b.0).collect();
    assert_eq!(starts, [8, 58, 100, 208, 300, 408]);
    assert_eq!(ends, [End::InTime; 6]);
}

#[test]
fn a_second_model_goes_to_the_device_with_more_room() {
    let (begun, _) = play(&[8, 8], &[4, 4], vec![arrival(0, 0, 100), arrival(60, 1, 100)]);
    assert_eq!(begun, [(8, 0, 0), (68, 1, 1)]);
}

#[test]
fn a_model_that_one_device_cannot_serve_alone_is_loaded_on_another() {
    // Six requests of 20 ms each are more than 100 ms hold.
    let arrivals = (0..12).map(|i| arrival(i / 4, 0, 100)).collect();
    let (begun, ends) = play(&[4, 4], &[4], arrivals);
    assert!(begun.iter().any(|b| b.1 == 0) && begun.iter().any(|b| b.1 == 1), "{begun:?}");
    assert_eq!(ends, [End::InTime; 12]);
}

#[test]
fn what_fits_nowhere_expires_at_its_internal_deadline() {
    let (begun, ends) = play(&[4], &[5, 4], vec![arrival(0, 0, 100), arrival(1, 1, 100)]);
    assert_eq!(begun, [(9, 0, 1)], "the model that fits is not held up");
    assert_eq!(ends, [End::Dropped(Drop::Infeasible), End::InTime]);
}

#[test]
fn a_request_that_cannot_be_in_time_is_answered_at_its_internal_deadline_if_so_configured() {
    // Three at once, each 20 ms long; the internal deadline is at 45 ms. At 30 ms the device is looked for
    // work that starts at 40.
    for (answer, at) in [(Answer::AtOnce, 30), (Answer::AtDeadline, 45)] {
        let profile = ModelProfile::measure(&LAW, ms(50), &[1], 1, || (0, ms(20)), 1);
        let config = Config { answer, ..Config::released() };
        let arrivals = (0..3).map(|_| arrival(0, 0, 50)).collect();
        let source = Box::new(VecSource::new(arrivals));
        let policy = Clockwork::new(config, &[profile]);
        let world = World::single(LAW);
        let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
        let end = |record: &Record| match record {
            Record::End { time, end, .. } => Some((time.ns() / 1_000_000, *end)),
            _ => None,
        };
        let ends: Vec<(u64, End)> = log.records.iter().filter_map(end).collect();
        let refused = (at, End::Dropped(Drop::Infeasible));
        let mut expected = [(20, End::InTime), (40, End::InTime), refused];
        expected.sort_by_key(|e| e.0);
        assert_eq!(ends, expected);
    }
}
