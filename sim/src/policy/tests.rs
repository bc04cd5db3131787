//! The policies on cases small enough to be worked by hand.

mod acquire;
mod alpaserve;
mod best_yield;
mod cluster;
mod eager;
mod infaas;
mod naive_flex;
mod pools;
mod shepherd;
mod timeout;
mod triton;

use super::{clipper, clockwork, nexus, orloj};
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::policy::Policy;
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, Drop, End, ModelId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};

const LAW: Latency = Latency::Proportional { c1: 0.1 };

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// A request of application `app` at `at` ms that takes `alone` ms and has `slo` ms.
fn arrival(at: u64, app: u32, alone: u64, slo: u64) -> Arrival {
    Arrival {
        at: Time::ZERO + ms(at),
        app: AppId(app),
        model: ModelId(0),
        size: 1,
        slo: ms(slo),
        alone: ms(alone),
    }
}

/// A profile of applications that always take these times, in ms.
fn profile(times_ms: &[u64], slo: u64) -> ModelProfile {
    let mut next = 0;
    let draw = || {
        next += 1;
        let app = next % times_ms.len();
        (app, ms(times_ms[app]))
    };
    ModelProfile::measure(&LAW, ms(slo), &[1, 2, 4, 8, 16], 64, draw, 1)
}

/// What happened: batches as (start ms, end ms, requests), and every request's end.
#[derive(Debug, Default)]
struct Story {
    batches: Vec<(u64, u64, Vec<u64>)>,
    refused: Vec<Vec<u64>>,
    ends: Vec<End>,
}

fn play(policy: impl Policy, arrivals: Vec<Arrival>) -> Story {
    let mut story = Story { ends: vec![End::Pending; arrivals.len()], ..Story::default() };
    let world = World::single(LAW);
    let source = Box::new(VecSource::new(arrivals));
    let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
    let in_ms = |t: Time| t.ns() / 1_000_000;
    let mut requests = std::collections::BTreeMap::new();
    let mut starts = std::collections::BTreeMap::new();
    for record in log.records {
        match record {
            Record::Issue { batch, .. } => {
                requests
                    .insert(batch.action, batch.requests.iter().map(|r| r.0).collect::<Vec<_>>());
            }
            Record::Begin { time, action } => {
                starts.insert(action, in_ms(time));
            }
            Record::Close { time, action, .. } => match starts.get(&action) {
                Some(&start) => story.batches.push((start, in_ms(time), requests[&action].clone())),
                None => story.refused.push(requests[&action].clone()),
            },
            Record::End { request, end, .. } => story.ends[request.index()] = end,
            _ => {}
        }
    }
    story
}

fn burst(n: u64, slo: u64) -> Vec<Arrival> {
    (0..n).map(|_| arrival(0, 0, 10, slo)).collect()
}

fn nexus(drop: nexus::DropRule, slo: u64) -> nexus::Nexus {
    let (std_factor, profile_factor) = (1.0, 1.15);
    let config = nexus::Config { drop, std_factor, profile_factor, margin: ms(2), batch: None };
    nexus::Nexus::new(config, &[profile(&[10], slo)])
}

#[test]
fn nexus_plans_the_largest_batch_of_half_the_slo_and_drops_what_would_be_late() {
    // (52 - 2) / 2 = 25 ms; 1.15 times 17 ms fits for 8, 1.15 times 25 ms for 16 does not.
    let story = play(nexus(nexus::DropRule::SlidingWindow, 52), burst(20, 52));
    let sizes: Vec<usize> = story.batches.iter().map(|b| b.2.len()).collect();
    assert_eq!(sizes, [1, 8, 8]);
    assert_eq!(story.batches[2].0..story.batches[2].1, 27..44);
    // At 44 ms three are left; 1.15 times 13 ms would end beyond 52 ms.
    assert!(story.ends[17..].iter().all(|e| *e == End::Dropped(Drop::Infeasible)));
}

#[test]
fn nexus_that_drops_only_what_has_expired_runs_late_batches() {
    let story = play(nexus(nexus::DropRule::Elapsed, 52), burst(20, 52));
    assert_eq!(story.batches[3], (44, 56, vec![17, 18, 19]));
    assert!(story.ends[17..].iter().all(|e| *e == End::Late));
}

#[test]
fn nexus_that_looks_at_the_head_alone_ends_what_it_drops() {
    let story = play(nexus(nexus::DropRule::Earliest, 52), burst(20, 52));
    assert!(story.ends[17..].iter().all(|e| *e == End::Dropped(Drop::Infeasible)), "{story:?}");
    assert!(story.ends[..17].iter().all(|e| *e == End::InTime), "{story:?}");
}

fn clipper(sizing: clipper::Sizing, slo: u64) -> clipper::Clipper {
    let config = clipper::Config { sizing, default_reply: true, max_batch: 64 };
    clipper::Clipper::new(config, &[profile(&[10], slo)], Stream::named(1, "test", 0))
}

#[test]
fn clipper_s_aimd_grows_by_one_while_batches_are_full_and_in_time() {
    let sizing = clipper::Sizing::Aimd { step: 1, backoff: 0.9 };
    let story = play(clipper(sizing, 1_000), burst(10, 1_000));
    let spans: Vec<(u64, u64)> = story.batches.iter().map(|b| (b.0, b.1)).collect();
    assert_eq!(spans, [(0, 10), (10, 21), (21, 33), (33, 46)], "1, 2, 3, 4 requests");
}

#[test]
fn clipper_s_aimd_backs_off_after_a_batch_that_took_longer_than_the_slo() {
    // Five requests take 14 ms of 13: the limit falls to 2.5, and grows by one again.
    let sizing = clipper::Sizing::Aimd { step: 1, backoff: 0.5 };
    let story = play(clipper(sizing, 13), burst(20, 1_000));
    let sizes: Vec<usize> = story.batches.iter().map(|b| b.2.len()).collect();
    assert_eq!(sizes, [1, 2, 3, 4, 5, 2, 3]);
}

#[test]
fn clipper_explores_upwards_and_pads_what_it_explores() {
    // Five samples of one, then sizes of two; the budget stays far above every latency seen.
    let arrivals = (0..8).map(|i| arrival(100 * i, 0, 10, 5_000)).collect();
    let story = play(clipper(clipper::Sizing::Adaptive, 5_000), arrivals);
    let lengths: Vec<u64> = story.batches.iter().map(|b| b.1 - b.0).collect();
    assert_eq!(lengths, [10, 10, 10, 10, 10, 11, 11, 11], "a batch of one is padded to two");
}

#[test]
fn clipper_answers_at_the_deadline_while_the_batch_runs_on() {
    let story = play(clipper(clipper::Sizing::Fixed(16), 5), vec![arrival(0, 0, 10, 5)]);
    assert_eq!(story.ends, [End::Dropped(Drop::DefaultReply)]);
    assert_eq!(story.batches, [(0, 10, vec![0])]);
}

fn clockwork(slo: u64) -> clockwork::Clockwork {
    let estimator = clockwork::Estimator::StaticMean;
    let config = clockwork::Config { estimator, ..clockwork::Config::released() };
    clockwork::Clockwork::new(config, &[profile(&[20], slo)])
}

#[test]
fn clockwork_sends_when_less_than_10_ms_are_outstanding_and_grows_the_batch() {
    let arrivals = (0..4).map(|_| arrival(0, 0, 20, 200)).collect();
    let story = play(clockwork(200), arrivals);
    // The first goes alone at once. At 10 ms two of the other three fill a batch; it starts at 20.
    assert_eq!(story.batches, [(0, 20, vec![0]), (20, 42, vec![1, 2]), (42, 62, vec![3])]);
}

#[test]
fn clockwork_s_worker_refuses_what_an_overrun_has_delayed() {
    // The first takes 35 ms instead of 20; the second may start until 30 ms.
    let arrivals = vec![arrival(0, 0, 35, 200), arrival(1, 0, 20, 200), arrival(40, 0, 20, 200)];
    let story = play(clockwork(200), arrivals);
    assert_eq!(story.refused, [vec![1]]);
    assert_eq!(story.ends, [End::InTime, End::Dropped(Drop::Refused), End::InTime]);
    assert_eq!(story.batches[1].0, 40);
}

#[test]
fn clockwork_does_not_start_what_cannot_end_in_time() {
    // Free at 20 ms, done at 40 ms: past 5 + (30 - 5) ms.
    let story = play(clockwork(30), vec![arrival(0, 0, 20, 30), arrival(5, 0, 20, 30)]);
    assert_eq!(story.ends, [End::InTime, End::Dropped(Drop::Infeasible)]);
}

fn orloj(times_ms: &[u64], max_batch: u32) -> orloj::Orloj {
    let config = orloj::Config { max_batch, ..orloj_of(orloj::BatchLaw::Own) };
    orloj::Orloj::new(config, &[profile(times_ms, 1_000)])
}

fn orloj_of(law: orloj::BatchLaw) -> orloj::Config {
    use super::parameters::Settings;
    let paper = (orloj::Config::PRESETS[0].make)();
    orloj::Config { estimate_law: law, score_law: law, ..paper }
}

#[test]
fn orloj_takes_the_largest_size_that_it_can_fill() {
    let story = play(orloj(&[10], 16), burst(4, 1_000));
    assert_eq!(story.batches, [(0, 10, vec![0]), (10, 21, vec![1, 2]), (21, 31, vec![3])]);
}

#[test]
fn orloj_prefers_the_application_that_takes_less_device_time() {
    let arrivals =
        vec![arrival(0, 1, 40, 1_000), arrival(1, 1, 40, 1_000), arrival(2, 0, 10, 1_000)];
    let story = play(orloj(&[10, 40], 1), arrivals);
    let order: Vec<u64> = story.batches.iter().map(|b| b.2[0]).collect();
    assert_eq!(order, [0, 2, 1], "the short one overtakes");
}

/// Fig. 11 says that b does not matter. Above the support of a law that all requests share, the score is
/// the same factor times exp(-b s) for each of them, so the earliest deadline goes first whatever b is.
/// Laws of their own have each a factor of its own, and b weighs deadlines against it.
#[test]
fn b_changes_no_decision_by_a_common_law_while_all_slack_is_above_its_support() {
    use orloj::BatchLaw::{Common, Own};
    let times = [10, 11, 40];
    let batches = |law, b_per_ms, arrivals: &[Arrival]| {
        let config = orloj::Config { b_per_ms, ..orloj_of(law) };
        let policy = orloj::Orloj::new(config, &[profile(&times, 9_000)]);
        play(policy, arrivals.to_vec()).batches
    };
    // The longest batch, of 16 with one of 40 ms.
    let support_ms = 100;
    let mut changed = 0;
    for seed in 1..=5 {
        let mut stream = Stream::named(seed, "b", 0);
        let mut arrivals: Vec<Arrival> = (0..120)
            .map(|_| {
                let app = stream.below(3) as usize;
                let (at, slo) = (stream.below(500), 3_000 + stream.below(6_000));
                arrival(at, app as u32, times[app], slo)
            })
            .collect();
        arrivals.sort_by_key(|a| a.at);
        let of_common = batches(Common, 1e-6, &arrivals);
        let late = |&(start, _, ref requests): &(u64, u64, Vec<u64>)| {
            let deadline =
                |r: &u64| (arrivals[*r as usize].at + arrivals[*r as usize].slo).ns() / 1_000_000;
            requests.iter().any(|r| deadline(r) < start + support_ms)
        };
        assert!(!of_common.iter().any(late), "all slack is above the support");
        assert_eq!(of_common, batches(Common, 1e-3, &arrivals), "seed {seed}");
        changed += usize::from(batches(Own, 1e-6, &arrivals) != batches(Own, 1e-3, &arrivals));
    }
    assert_eq!(changed, 5, "by laws of their own b changes every run");
}

#[test]
fn orloj_times_out_what_no_size_can_finish() {
    let story = play(orloj(&[10], 16), vec![arrival(0, 0, 10, 1_000), arrival(1, 0, 10, 18)]);
    assert_eq!(story.ends, [End::InTime, End::Dropped(Drop::Infeasible)]);
}
