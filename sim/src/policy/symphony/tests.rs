//! The paper's examples (§3.3, Figs. 4 and 5), worked to the nanosecond, and the released reserves.
//!
//! One unit of the paper's time is a millisecond. Request R_i of the paper comes at 0.75 (i - 1);
//! its number here is i.

mod differential;
mod plain;

use super::{Config, Dispatch, Gather, GpuChoice, Symphony};
use crate::cluster::DeviceSpec;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, Drop, End, ModelId, VecSource};
use crate::time::{Span, Time};
use std::collections::BTreeMap;

/// The paper's l(b) = b + 5.
const LAW: Latency = Latency::Affine { alpha: Span::from_ms(1), beta: Span::from_ms(5) };
/// A batch of one takes as long as the paper's batch of four.
const LONG: Latency = Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(9) };

fn unit(units: f64) -> Time {
    Time::ZERO + Span::from_ms_f64(units)
}

fn profile(law: &Latency, slo: Span) -> ModelProfile {
    ModelProfile::measure(law, slo, &[1], 1, || (0, Span::from_ms(1)), 1)
}

fn arrival(at: Time, model: u32, slo_ms: u64) -> Arrival {
    let (slo, alone) = (Span::from_ms(slo_ms), Span::from_ms(1));
    Arrival { at, app: AppId(0), model: ModelId(model), size: 1, slo, alone }
}

/// What became of a run. Times are in the paper's units.
#[derive(Debug, Default)]
struct Story {
    /// Start, GPU (from 1), requests.
    batches: Vec<(f64, u32, Vec<usize>)>,
    /// Sent, as the batches.
    sent: Vec<f64>,
    /// Requests that were dropped, and when.
    dropped: Vec<(usize, f64)>,
}

/// Runs arrivals with their numbers in the paper; number 0 is not told.
fn play(config: Config, gpus: usize, mut arrivals: Vec<(usize, Arrival)>) -> Story {
    arrivals.sort_by_key(|a| a.1.at);
    let (numbers, arrivals): (Vec<usize>, Vec<Arrival>) = arrivals.into_iter().unzip();
    let mut world = World::single(LAW);
    world.core.devices = vec![DeviceSpec::default(); gpus];
    world.core.models = vec![Default::default(); 2];
    world.latency = vec![vec![LAW, LONG]];
    let slo = arrivals[0].slo;
    let policy = Symphony::new(config, &[profile(&LAW, slo), profile(&LONG, slo)]);
    let source = Box::new(VecSource::new(arrivals));
    let records = simulate(&world, vec![source], policy, MemoryLog::default()).observer.records;
    let mut story = Story::default();
    let mut issued = BTreeMap::new();
    let in_units = |t: Time| t.ns() as f64 / 1e6;
    for record in records {
        match record {
            Record::Issue { time, batch } if numbers[batch.requests[0].index()] > 0 => {
                let requests = batch.requests.iter().map(|r| numbers[r.index()]).collect();
                issued.insert(batch.action, (batch.device.0 + 1, requests));
                story.sent.push(in_units(time));
            }
            Record::Begin { time, action } => {
                if let Some((gpu, requests)) = issued.remove(&action) {
                    story.batches.push((in_units(time), gpu, requests));
                }
            }
            Record::End { time, request, end: End::Dropped(why), .. } => {
                assert_eq!(why, Drop::Infeasible);
                story.dropped.push((numbers[request.index()], in_units(time)));
            }
            _ => {}
        }
    }
    story
}

fn paper() -> Config {
    Config { max_batch: 64, ..Config::paper() }
}

/// The paper's requests of those numbers.
fn requests(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, Arrival)> {
    let at = |i: usize| unit(0.75 * (i - 1) as f64);
    numbers.into_iter().map(|i| (i, arrival(at(i), 0, 12))).collect()
}

#[test]
fn figure_4_deferred_batches_fall_into_a_staggered_pattern() {
    let story = play(paper(), 3, requests(1..=120));
    // R1 must end by 12: frontrun 12 - l(5) = 2, latest 12 - l(4) = 3, and R4 comes at 2.25.
    assert_eq!(story.batches[0], (2.25, 1, vec![1, 2, 3, 4]));
    for (k, batch) in story.batches.iter().enumerate() {
        let gpu = 1 + k as u32 % 3;
        let first = 4 * k + 1;
        assert_eq!(*batch, (2.25 + 3.0 * k as f64, gpu, (first..first + 4).collect()));
    }
    assert_eq!(story.batches.len(), 30);
    assert!(story.dropped.is_empty());
}

/// Three requests are missing; the GPUs idle for a while and fall into the pattern again.
#[test]
fn figure_5b_deferred_batches_regain_the_pattern() {
    let story = play(paper(), 3, requests((1..=12).chain(16..=135)));
    let before = [(2.25, 1, 1), (5.25, 2, 5), (8.25, 3, 9)];
    let after = (0..30).map(|k| (13.5 + 3.0 * f64::from(k), 1 + k as u32 % 3, 16 + 4 * k as usize));
    let expected: Vec<_> = before.into_iter().chain(after).collect();
    let found: Vec<_> = story.batches.iter().map(|b| (b.0, b.1, b.2[0])).collect();
    assert_eq!(found, expected);
    assert!(story.batches.iter().all(|b| b.2.len() == 4));
    assert!(story.dropped.is_empty());
}

/// The paper goes over to eager scheduling with R16. What runs then was sent before, by deferred
/// scheduling: three batches of nine units, which requests of another model stand for here.
///
/// At 17.25 two GPUs become free at once. The paper gives R21 to R24 to GPU 3 and R25 to GPU 1; the
/// rule of the smallest id, which the paper states, gives them to GPU 1 and GPU 3. Nothing else
/// changes but these two names.
#[test]
fn figure_5a_eager_batches_deteriorate() {
    let stands_for = [2.25, 5.25, 8.25].map(|at| (0, arrival(unit(at), 1, 12)));
    let mut arrivals = requests(16..=39);
    arrivals.extend(stands_for);
    let story = play(Config { dispatch: Dispatch::Eager, ..paper() }, 3, arrivals);
    let expected = [
        (11.25, 1, vec![16]),
        (14.25, 2, vec![17, 18, 19, 20]),
        (17.25, 1, vec![21, 22, 23, 24]),
        (18.0, 3, vec![25]),
        (23.25, 2, vec![26, 27]),
        (24.0, 3, vec![28, 29, 30]),
        (26.25, 1, vec![31, 32, 33]),
        (30.25, 2, vec![34]),
        (32.0, 3, vec![36]),
        (34.25, 1, vec![39]),
    ];
    assert_eq!(story.batches, expected);
    // R35 can start until 37.5 - l(1) = 31.5, and fails just after.
    let dropped: Vec<_> = story.dropped.iter().map(|d| (d.0, d.1)).collect();
    assert_eq!(dropped, [(35, 31.500001), (37, 33.000001), (38, 33.750001)]);
}

#[test]
fn a_lone_request_waits_for_its_moment() {
    let starts = |dispatch| {
        let story = play(Config { dispatch, ..paper() }, 1, requests([1]));
        story.batches[0].0
    };
    assert_eq!(starts(Dispatch::Frontrun), 5.0, "12 - l(2)");
    assert_eq!(starts(Dispatch::Latest), 6.0, "12 - l(1)");
    assert_eq!(starts(Dispatch::Eager), 0.0);
    assert_eq!(starts(Dispatch::Timeout(25.0)), 3.0, "a quarter of 12");
}

#[test]
fn the_released_reserves_are_led_by_and_taken_off() {
    let story = play(Config::released(), 2, vec![(1, arrival(unit(0.0), 0, 20))]);
    // 20 less 2 for the answer; one more would take 7 and 0.05 for its data; 0.02 for the timer.
    assert_eq!(story.batches, [(10.93, 2, vec![1])], "the highest id goes first");
    assert_eq!(story.sent, [10.78], "0.1 and 0.05 before");
}

/// Two batches of nine keep the GPUs until 10 and 10.5. R1 is schedulable, so the first GPU has a timer
/// at 9. Three requests of the other model come at 7, take that GPU with a lead of three, and forget
/// the timer: at 9 it finds the GPU busy until 19, and R1, which could start until 11, goes unserved.
#[test]
fn a_timer_that_stays_armed_takes_away_what_another_gpu_could_serve() {
    let long = |at| (0, arrival(unit(at), 1, 30));
    let arrivals =
        vec![long(0.0), long(0.5), (1, arrival(unit(2.0), 0, 15)), long(7.0), long(7.0), long(7.0)];
    let story = |stale_gpu_timer| {
        let (dispatch, data) = (Dispatch::Eager, Span::from_ms(1));
        let gpu = GpuChoice::EarliestFree;
        let config = Config { dispatch, data, gpu, stale_gpu_timer, ..paper() };
        play(config, 2, arrivals.clone())
    };
    let cancelled = story(false);
    assert_eq!(cancelled.batches, [(10.5, 1, vec![1])]);
    assert!(cancelled.dropped.is_empty());
    let stale = story(true);
    assert!(stale.batches.is_empty());
    assert_eq!(stale.dropped, [(1, 10.000001)]);
}

/// The GPU is busy until 19 = l(14). R15 has until 26, R16 to R19 until 34.
#[test]
fn the_window_drops_a_head_that_makes_the_batch_small() {
    let mut arrivals = vec![(0, arrival(unit(0.0), 0, 24)); 14];
    arrivals.push((15, arrival(unit(2.0), 0, 24)));
    arrivals.extend((16..20).map(|i| (i, arrival(unit(10.0), 0, 24))));
    let story = |gather| {
        let config = Config { gather, dispatch: Dispatch::Eager, ..Config::released() };
        play(config.without_reserves(), 1, arrivals.clone())
    };
    // From the head, no more than l(2) = 7 fits before 26; then l(3) = 8 before 34.
    let head = story(Gather::Head);
    assert_eq!(head.batches, [(19.0, 1, vec![15, 16]), (26.0, 1, vec![17, 18, 19])]);
    assert!(head.dropped.is_empty());
    // The target is 5, of 24 / 2 - 2 = 10. From 16 on five do not fit with R15; from 17 on the four
    // others do not, and it is dropped for them.
    let window = story(Gather::WindowDrop);
    assert_eq!(window.batches, [(19.0, 1, vec![16, 17, 18, 19])]);
    assert_eq!(window.dropped, [(15, 17.000001)]);
    // Late requests are served all the same, and first.
    let fcfs = story(Gather::Fcfs);
    assert_eq!(fcfs.batches[0], (19.0, 1, vec![15, 16, 17, 18, 19]));
}

#[test]
fn a_batch_that_cannot_grow_is_sent_at_once() {
    let config = Config { max_batch: 2, ..paper() };
    let story = play(config, 1, requests([1, 2]));
    assert_eq!(story.batches, [(0.75, 1, vec![1, 2])]);
}

#[test]
fn requests_without_a_deadline_are_sent_at_once() {
    let mut arrivals = requests([1, 2]);
    arrivals.iter_mut().for_each(|a| a.1.slo = Span::MAX);
    let story = play(paper(), 1, arrivals);
    assert_eq!(story.batches, [(0.0, 1, vec![1]), (6.0, 1, vec![2])]);
}
