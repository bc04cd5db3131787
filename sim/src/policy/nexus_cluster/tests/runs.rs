//! Small runs: frontends, GPUs and plans together.

use super::*;
use crate::cluster::DeviceSpec;
use crate::core::{CoreSpec, DeviceChange};
use crate::driver::{World, simulate};
use crate::log::{Closed, MemoryLog, Record};
use crate::policy::nexus::DropRule;
use crate::request::{AppId, Arrival, End, ModelId, VecSource};

/// A batch as (GPU, model, start in us, end in us, size).
type Batch = (usize, usize, u64, u64, usize);

/// Two models alike: a batch of `b` takes `b + 4` ms, the SLO is 42 ms, a full batch is 16.
fn profiles() -> Vec<ModelProfile> {
    vec![affine(1_000, 4_000, Span::from_ms(42)); 2]
}

fn world(gpus: usize) -> World {
    let law = profiles()[0].law.clone();
    World {
        core: CoreSpec {
            devices: vec![DeviceSpec::default(); gpus],
            models: vec![Default::default(); 2],
            ..CoreSpec::default()
        },
        latency: vec![vec![law; 2]],
        ..World::default()
    }
}

/// Requests at these instants, in us, for these models.
fn requests(at: impl IntoIterator<Item = (u64, u32)>) -> Vec<Arrival> {
    let slo = Span::from_ms(42);
    let arrival = |(us, model)| Arrival {
        at: Time::ZERO + Span::from_us(us),
        app: AppId(model),
        model: ModelId(model),
        size: 1,
        slo,
        alone: Span::ZERO,
    };
    at.into_iter().map(arrival).collect()
}

fn full() -> Config {
    Config { planning: Planning::Full, ..Config::released() }
}

fn play(world: &World, config: Config, arrivals: Vec<Arrival>) -> (Vec<Batch>, Vec<End>) {
    let mut ends = vec![End::Pending; arrivals.len()];
    let policy = NexusCluster::new(config, &profiles());
    let source = Box::new(VecSource::new(arrivals));
    let log = simulate(world, vec![source], policy, MemoryLog::default()).observer;
    let (mut open, mut batches) = (std::collections::BTreeMap::new(), Vec::new());
    let us = |t: Time| t.ns() / 1_000;
    for record in log.records {
        match record {
            Record::Issue { time, batch } => {
                let size = batch.requests.len();
                open.insert(
                    batch.action,
                    (batch.device.index(), batch.model.index(), us(time), size),
                );
            }
            Record::Close { time, action, outcome: Closed::Done(_) } => {
                let (gpu, model, start, size) = open[&action];
                batches.push((gpu, model, start, us(time), size));
            }
            Record::End { request, end, .. } => ends[request.index()] = end,
            _ => {}
        }
    }
    (batches, ends)
}

#[test]
fn a_gpu_serves_its_models_in_turn_and_waits_for_none() {
    let arrivals = requests([(0, 1), (1_000, 1), (1_000, 0), (1_000, 1), (6_000, 0), (7_000, 0)]);
    let (batches, _) = play(&world(1), full(), arrivals);
    let expected = [
        (0, 1, 0, 5_000, 1),
        (0, 0, 5_000, 10_000, 1),
        (0, 1, 10_000, 16_000, 2),
        (0, 0, 16_000, 22_000, 2),
    ];
    assert_eq!(batches, expected);
}

#[test]
fn a_batch_is_at_most_the_planned_one_and_drops_what_it_would_make_late() {
    let config = Config { batch: Some(2), ..full() };
    let (batches, ends) = play(&world(1), config, requests((0..20).map(|_| (0, 0))));
    let sizes: Vec<usize> = batches.iter().map(|b| b.4).collect();
    // 5 ms, then 6 ms each: at 41 ms nothing can be in time any more.
    assert_eq!(sizes, [1, 2, 2, 2, 2, 2, 2]);
    assert!(ends[13..].iter().all(|e| *e == End::Dropped(Drop::Infeasible)));
}

#[test]
fn an_idle_loop_that_goes_round_sees_a_request_when_it_comes_by() {
    let config = Config { poll: Span::from_us(50), ..full() };
    let (batches, _) = play(&world(1), config, requests([(120, 0), (140, 0), (6_200, 0)]));
    // The first two wait for the third round; the last for the first after 6150.
    assert_eq!(batches, [(0, 0, 150, 6_150, 2), (0, 0, 6_200, 11_200, 1)]);
}

#[test]
fn without_a_gpu_everything_is_shed() {
    for planning in [Planning::Dynamic, Planning::Static, Planning::Full] {
        for base in [Config::released(), Config::paper()] {
            let config = Config { planning, ..base };
            let arrivals = requests((0..50).map(|i| (1_000_000 * i, 0)));
            let (_, ends) = play(&world(0), config, arrivals);
            assert!(ends.iter().all(|e| *e == End::Dropped(Drop::Shed)));
        }
    }
}

#[test]
fn a_gpu_that_fails_loses_its_queue_and_its_models_go_on_elsewhere() {
    let mut world = world(2);
    let at = Time::ZERO + Span::from_ms(2);
    world.changes = vec![(at, DeviceChange::Fail(DeviceId(0)))];
    let arrivals = requests([(0, 0), (1_000, 0), (3_000, 0)]);
    for planning in [Planning::Dynamic, Planning::Static, Planning::Full] {
        let config = Config { planning, ..Config::released() };
        let (batches, ends) = play(&world, config, arrivals.clone());
        let lost = End::Dropped(Drop::Refused);
        assert_eq!((ends, batches), (vec![lost, lost, End::InTime], vec![(1, 0, 3_000, 8_000, 1)]));
    }
}

#[test]
fn a_gpu_that_comes_is_used() {
    let mut world = world(0);
    let at = Time::ZERO + Span::from_ms(2);
    world.changes = vec![(at, DeviceChange::Added(DeviceSpec::default()))];
    for planning in [Planning::Dynamic, Planning::Static, Planning::Full] {
        let config = Config { planning, ..Config::released() };
        let (_, ends) = play(&world, config, requests([(0, 0), (3_000, 1)]));
        assert_eq!(ends, [End::Dropped(Drop::Shed), End::InTime]);
    }
}

#[test]
fn the_first_plan_comes_after_thirty_seconds_and_gives_a_busy_model_more_gpus() {
    // 2000/s of model 0, of which a GPU carries 800/s.
    let arrivals = requests((0..70_000).map(|i| (500 * i, u32::from(i % 100 == 99))));
    let (batches, _) = play(&world(5), Config::released(), arrivals);
    let used = |from_s: u64, to_s: u64, model: usize| {
        let within = |b: &&Batch| (from_s..to_s).contains(&(b.2 / 1_000_000)) && b.1 == model;
        let gpus: std::collections::BTreeSet<_> =
            batches.iter().filter(within).map(|b| b.0).collect();
        gpus.into_iter().collect::<Vec<_>>()
    };
    assert_eq!((used(0, 30, 0), used(0, 30, 1)), (vec![0], vec![1]));
    // Two full GPUs and 295/s on a third, which the 19/s of the other model share.
    assert_eq!((used(31, 35, 0), used(31, 35, 1)), (vec![0, 1, 2], vec![1]));
}

#[test]
fn a_silence_makes_up_for_its_beacons() {
    // A day without a request: the plan shrinks to the least, and the run ends with its last batch.
    let day = 86_400_000_000;
    let busy = (0..60_000).map(|i| (1_000 * i, 0));
    let arrivals = requests(busy.chain([(day, 0), (day, 1)]));
    let (batches, ends) = play(&world(3), Config::released(), arrivals);
    assert!(ends[60_000..].iter().all(|e| *e == End::InTime));
    let last: Vec<usize> = batches[batches.len() - 2..].iter().map(|b| b.0).collect();
    assert!(last.iter().all(|gpu| *gpu < 2), "{last:?}");
}

#[test]
fn a_model_taken_off_a_gpu_keeps_its_batch_there_until_its_queue_has_drained() {
    let models: Vec<Model> =
        profiles().iter().map(|p| Model::new(p, &Config::released())).collect();
    let mut gpu = Backend::new(DeviceId(0), Time::ZERO);
    gpu.configure(&[(0, 2)]);
    let request = |id: u64, model: u32| Request {
        id: RequestId(id),
        app: AppId(0),
        model: ModelId(model),
        size: 1,
        source: crate::request::SourceId(0),
        arrival: Time::ZERO,
        deadline: Time::NEVER,
    };
    (0..5).for_each(|id| gpu.push(&request(id, 0)));
    gpu.configure(&[(1, 4)]);
    gpu.push(&request(5, 1));
    let (mut out, mut batch, mut taken) = (Actions::default(), Vec::new(), Vec::new());
    for _ in 0..4 {
        gpu.look(Time::ZERO, DropRule::SlidingWindow, &models, &mut batch, &mut out);
        taken.push(batch.iter().map(|r| r.0).collect::<Vec<_>>());
        gpu.ended(Time::ZERO);
    }
    assert_eq!(taken, [vec![0, 1], vec![5], vec![2, 3], vec![4]]);
    assert_eq!(gpu.queued(), 0);
}
