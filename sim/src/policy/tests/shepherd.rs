//! Shepherd's Flex by hand and against a naive one. A batch of b of model 0 takes b + 5 us, of
//! model 1 twice that.

use super::cluster::{Batch, Cluster, Story, done, request, stopped};
use super::naive_flex::Naive;
use crate::policy::shepherd::{Config, FollowUp, Return, Shepherd};
use crate::request::{Arrival, Drop, End};
use crate::rng::Stream;
use crate::time::Span;

const MODELS: [(u64, u64); 2] = [(1, 5), (2, 10)];

/// The paper's, with its follow-up or the released one.
fn paper(follow_up: FollowUp) -> Config {
    Config { follow_up, ..Config::paper() }
}

fn play(gpus: usize, config: Config, arrivals: Vec<Arrival>) -> Story {
    let cluster = Cluster::new(gpus, true, &MODELS);
    cluster.play(Shepherd::new(config, &cluster.profiles), arrivals)
}

#[test]
fn a_batch_is_stopped_for_one_three_times_its_size_that_holds_its_requests_too() {
    // At 2 us three can run: 2 + 8 us. Two would not be enough.
    let arrivals = vec![request(0, 0, 50), request(1, 0, 50), request(2, 0, 50)];
    let story = play(1, Config::paper(), arrivals);
    assert_eq!(
        story.batches,
        [stopped(0, 0, 0, 2_000, &[0]), done(0, 0, 2_000, 10_000, &[0, 1, 2])]
    );
    assert!(story.ends.iter().all(|e| *e == End::InTime));
}

#[test]
fn with_the_released_factor_it_takes_four_for_one() {
    let arrivals = |n| (0..n).map(|i| request(i, 0, 50)).collect();
    let config = Config { factor: 3.03, ..Config::paper() };
    assert_eq!(play(1, config, arrivals(3)).batches[0], done(0, 0, 0, 6_000, &[0]));
    assert_eq!(play(1, config, arrivals(4)).batches[0], stopped(0, 0, 0, 3_000, &[0]));
}

#[test]
fn the_gpu_idles_for_the_reserves_before_each_batch() {
    let (ctrl, data) = (Span::from_us(2), Span::from_us(3));
    let config = Config { ctrl, data, ..Config::paper() };
    let story = play(1, config, vec![request(0, 0, 50), request(1, 0, 50)]);
    assert_eq!(story.batches, [done(0, 0, 5_000, 11_000, &[0]), done(0, 0, 16_000, 22_000, &[1])]);
    // The deadline must leave room for them: 2 + 3 + 6 us.
    assert_eq!(play(1, config, vec![request(0, 0, 11)]).ends, [End::InTime]);
    assert_eq!(play(1, config, vec![request(0, 0, 10)]).ends, [End::Dropped(Drop::Infeasible)]);
    // Within them a batch has not begun: it is taken back.
    let arrivals = (0..3).map(|i| request(i, 0, 50)).collect();
    let story = play(1, config, arrivals);
    assert_eq!(story.batches[0].start, None);
    assert_eq!(story.batches[1], done(0, 0, 13_000, 21_000, &[0, 1, 2]));
}

#[test]
fn a_device_that_cannot_preempt_is_never_asked_to() {
    let cluster = Cluster::new(1, false, &MODELS);
    let arrivals = (0..5).map(|i| request(i, 0, 50)).collect();
    let story = cluster.play(Shepherd::new(Config::paper(), &cluster.profiles), arrivals);
    assert_eq!(
        story.batches,
        [done(0, 0, 0, 6_000, &[0]), done(0, 0, 6_000, 15_000, &[1, 2, 3, 4])]
    );
}

#[test]
fn a_free_gpu_takes_the_largest_batch_of_all_models_and_of_equal_ones_the_first_model() {
    let arrivals = vec![
        request(0, 0, 90),
        request(1, 1, 90),
        request(2, 1, 90),
        request(3, 0, 90),
        request(4, 0, 90),
    ];
    let config = Config { factor: 9.0, ..Config::paper() };
    assert_eq!(
        play(1, config, arrivals).batches,
        [
            done(0, 0, 0, 6_000, &[0]),
            done(0, 0, 6_000, 13_000, &[3, 4]),
            done(0, 1, 13_000, 27_000, &[1, 2]),
        ]
    );
}

#[test]
fn stopped_requests_of_another_model_wait_again_and_may_run_elsewhere() {
    // r0 runs on d0, r1 on d1. Three of model 1 stop r0's batch at 4 us; r1's ends at 7, and r0 runs
    // on d1 then.
    let arrivals = vec![
        request(0, 0, 90),
        request(1, 0, 90),
        request(2, 1, 90),
        request(3, 1, 90),
        request(4, 1, 90),
    ];
    for follow_up in [FollowUp::New, FollowUp::Preempted] {
        assert_eq!(
            play(2, paper(follow_up), arrivals.clone()).batches,
            [
                stopped(0, 0, 0, 4_000, &[0]),
                done(1, 0, 1_000, 7_000, &[1]),
                done(1, 0, 7_000, 13_000, &[0]),
                done(0, 1, 4_000, 20_000, &[2, 3, 4]),
            ]
        );
    }
}

#[test]
fn the_paper_treats_stopped_requests_as_new_arrivals() {
    // d0 runs r0 and d1 r1, both of model 0; r2 waits. Model 1's third request stops r0's batch:
    // r0, r1 and r2 together are now three times d1's batch.
    let arrivals = vec![
        request(0, 0, 90),
        request(0, 0, 90),
        request(1, 0, 90),
        request(2, 1, 90),
        request(2, 1, 90),
        request(2, 1, 90),
    ];
    let stops = |follow_up| {
        let story = play(2, paper(follow_up), arrivals.clone());
        story.batches.into_iter().filter(|b| !b.done).collect::<Vec<_>>()
    };
    let both = [stopped(0, 0, 0, 2_000, &[0]), stopped(1, 0, 0, 2_000, &[1])];
    assert_eq!(stops(FollowUp::Preempted), both);
    assert_eq!(stops(FollowUp::New), both[..1]);
}

#[test]
fn returned_at_once_they_join_a_batch_that_is_decided_on_before_the_device_reports() {
    // As above, but d1 is looked at when r0 has returned already: r0, r1 and r2 are three times its
    // batch, without a follow-up.
    let arrivals = vec![
        request(0, 0, 90),
        request(0, 0, 90),
        request(1, 0, 90),
        request(2, 1, 90),
        request(2, 1, 90),
        request(2, 1, 90),
    ];
    let config = Config { returns: Return::AtOnce, ..paper(FollowUp::New) };
    let cluster = Cluster::new(2, true, &MODELS);
    let play = |cluster: &Cluster| {
        cluster.play(Shepherd::new(config, &cluster.profiles), arrivals.clone()).batches
    };
    let stops = [stopped(0, 0, 0, 2_000, &[0]), stopped(1, 0, 0, 2_000, &[1])];
    let then =
        |at| [done(1, 0, at, at + 8_000, &[1, 0, 2]), done(0, 1, at, at + 16_000, &[3, 4, 5])];
    assert_eq!(play(&cluster), [stops.clone(), then(2_000)].concat());
    // Until the devices have reported, the requests are theirs.
    let mut slow = cluster;
    slow.world.core.delays.result = Span::from_us(1).into();
    assert_eq!(play(&slow), [stops, then(3_000)].concat());
}

#[test]
fn what_ended_before_it_could_be_stopped_leaves_the_batch_that_it_had_joined() {
    // r0 has ended at 6 us when model 1's third request stops it, but nobody knows before 7 us.
    let arrivals = vec![
        request(0, 0, 90),
        request(1, 0, 90),
        request(2, 0, 90),
        request(6, 1, 90),
        request(6, 1, 90),
        request(6, 1, 90),
    ];
    let config = Config { returns: Return::AtOnce, ..paper(FollowUp::New) };
    let mut cluster = Cluster::new(2, true, &MODELS);
    cluster.world.core.delays.result = Span::from_us(1).into();
    let story = cluster.play(Shepherd::new(config, &cluster.profiles), arrivals);
    assert_eq!(
        story.batches,
        [
            done(0, 0, 0, 6_000, &[0]),
            stopped(1, 0, 1_000, 6_000, &[1]),
            done(1, 0, 7_000, 14_000, &[1, 2]),
            done(0, 1, 7_000, 23_000, &[3, 4, 5]),
        ]
    );
    assert_eq!(story.ends, [End::InTime; 6]);
}

#[test]
fn an_expired_head_is_dropped_or_with_the_bug_blocks_its_model() {
    // At 6 us r1 can no longer be in time; r2 and r3 could.
    let arrivals = vec![request(0, 0, 90), request(1, 0, 8), request(2, 0, 90), request(3, 0, 90)];
    let config = Config { factor: 9.0, ..Config::paper() };
    let story = play(1, config, arrivals.clone());
    assert_eq!(story.ends[1], End::Dropped(Drop::Infeasible));
    assert_eq!(story.batches[1], done(0, 0, 6_000, 13_000, &[2, 3]));
    let blocked = play(1, Config { expired_head_bug: true, ..config }, arrivals);
    assert_eq!(blocked.batches.len(), 1);
    assert_eq!(blocked.ends[1..], [End::Pending; 3], "nobody looks any more");
}

#[test]
fn with_the_bug_a_queue_is_emptied_once_its_latest_deadline_is_hopeless() {
    // r3 comes when r1 and r2 have expired and can itself not be in time.
    let mut arrivals = vec![request(0, 0, 90), request(1, 0, 8), request(2, 0, 9)];
    arrivals.push(request(20, 0, 5));
    let config = Config { expired_head_bug: true, ..Config::paper() };
    assert_eq!(play(1, config, arrivals).ends[1..], [End::Dropped(Drop::Infeasible); 3]);
}

/// A random crowd: bursts, and several SLOs for one model, so that heads come and go.
fn crowd(draw: &mut Stream, models: u64) -> Vec<Arrival> {
    let mut at = 0;
    let gap = 1 + draw.below(5);
    let arrival = |_| {
        at += draw.below(gap);
        request(at, draw.below(models) as u32, 8 + draw.below(40))
    };
    (0..60).map(arrival).collect()
}

#[test]
fn it_does_what_the_loop_over_all_gpus_does() {
    let (mut stops, mut of_another) = (0, 0);
    for seed in 0..2_000 {
        let mut draw = Stream::named(seed, "flex", 0);
        let models = 1 + draw.below(4);
        let laws: Vec<_> = (0..models).map(|_| (draw.below(3), draw.below(8))).collect();
        let mut cluster = Cluster::new(1 + draw.below(6) as usize, true, &laws);
        for device in &mut cluster.world.core.devices {
            device.can_preempt = draw.below(4) > 0;
        }
        let config = Config {
            factor: [1.5, 2.0, 3.0, 3.03][draw.below(4) as usize],
            follow_up: [FollowUp::New, FollowUp::Preempted][draw.below(2) as usize],
            returns: [Return::AtOnce, Return::OnReport][draw.below(2) as usize],
            ctrl: Span::from_us(draw.below(2)),
            data: Span::from_us(draw.below(2)),
            expired_head_bug: draw.below(4) == 0,
            max_batch: 1 + draw.below(16) as u32,
        };
        let arrivals = crowd(&mut draw, models);
        let ours = cluster.play(Shepherd::new(config, &cluster.profiles), arrivals.clone());
        let naive = cluster.play(Naive::new(config, &cluster.profiles), arrivals);
        assert_eq!(ours, naive, "seed {seed}: {config:?}");
        let next = |stopped: &Batch| {
            let mut later = ours.batches.iter().filter(|b| b.gpu == stopped.gpu);
            later.find(|b| b.end >= stopped.end && *b != stopped).map(|b| b.model)
        };
        for stopped in ours.batches.iter().filter(|b| !b.done) {
            stops += 1;
            of_another += u32::from(next(stopped).is_some_and(|m| m != stopped.model));
        }
    }
    assert!(stops > 3_000 && of_another > 700, "{stops} stops, {of_another} for another model");
}
