//! Best yield by hand. A batch of b of model 0 takes b + 5 us.

use super::cluster::{Cluster, Story, done, request, stopped};
use crate::latency::Latency;
use crate::policy::best_yield::{BestYield, Config, Stop};
use crate::policy::parameters::Settings;
use crate::profile::ModelProfile;
use crate::request::{Arrival, Drop, End};
use crate::time::Span;

fn config() -> Config {
    (Config::PRESETS[0].make)()
}

fn play(can_preempt: bool, config: Config, arrivals: Vec<Arrival>) -> Story {
    let mut cluster = Cluster::new(1, can_preempt, &[(1, 5)]);
    cluster.profiles[0].slo = Span::from_us(100);
    cluster.play(BestYield::new(config, &cluster.profiles), arrivals)
}

#[test]
fn a_batch_is_begun_anew_with_a_request_that_comes_soon() {
    let arrivals = || vec![request(0, 0, 50), request(2, 0, 50)];
    // Together from 2 us they take 7: until 9. One after the other they take until 12.
    let story = play(true, config(), arrivals());
    assert_eq!(story.batches, [stopped(0, 0, 0, 2_000, &[0]), done(0, 0, 2_000, 9_000, &[0, 1])]);
    let apart = [done(0, 0, 0, 6_000, &[0]), done(0, 0, 6_000, 12_000, &[1])];
    assert_eq!(play(true, Config { join: false, ..config() }, arrivals()).batches, apart);
    assert_eq!(play(false, config(), arrivals()).batches, apart, "the device cannot stop it");
    // At 5 us the first has 1 us left: 7 us together are no gain on 1 + 6.
    let late = vec![request(0, 0, 50), request(5, 0, 50)];
    assert_eq!(play(true, config(), late).batches, apart);
    // The first must not be late for it.
    let tight = vec![request(0, 0, 8), request(2, 0, 50)];
    assert_eq!(play(true, config(), tight).batches, apart);
}

#[test]
fn requests_that_spoil_a_batch_are_left_and_dropped() {
    // While the first runs, one comes that allows a batch of one only, and three that allow one of three.
    let arrivals = vec![
        request(0, 0, 6),
        request(1, 0, 11),
        request(2, 0, 20),
        request(2, 0, 20),
        request(2, 0, 20),
    ];
    let story = play(false, config(), arrivals);
    assert_eq!(story.batches[1], done(0, 0, 6_000, 14_000, &[2, 3, 4]));
    assert_eq!(story.ends[1], End::Dropped(Drop::Infeasible));
}

/// Four of five requests take 10 us, the others 60; nothing tells which.
fn hidden(stop: Stop, slo: u64, truths: &[u64]) -> Story {
    let us = Span::from_us;
    let mut cluster = Cluster::new(1, true, &[(1, 5)]);
    let law = Latency::Proportional { c1: 1.0 };
    let mut i = 0;
    let draw = || {
        i += 1;
        (0, us(if i % 5 == 0 { 60 } else { 10 }))
    };
    cluster.profiles = vec![ModelProfile::measure(&law, us(200), &[1], 1_000, draw, 64)];
    cluster.world.latency = vec![vec![law]];
    let request = |&alone: &u64| Arrival { alone: us(alone), ..request(0, 0, slo) };
    let config = Config { stop, ..config() };
    cluster.play(BestYield::new(config, &cluster.profiles), truths.iter().map(request).collect())
}

#[test]
fn a_batch_that_turns_out_long_is_stopped_when_not_all_can_be_served() {
    // Ten requests in 66 us, at 20 us each: crowded. The first one is long.
    let truths = [60, 10, 10, 10, 10, 10, 10, 10, 10, 10];
    let served = |stop| {
        let story = hidden(stop, 66, &truths);
        story.ends.iter().filter(|end| **end == End::InTime).count()
    };
    assert_eq!([served(Stop::Never), served(Stop::Crowded), served(Stop::Always)], [1, 5, 5]);
    // Two requests fit: the long one goes on.
    let story = hidden(Stop::Crowded, 66, &[60, 10]);
    assert!(story.batches.iter().all(|batch| batch.done), "{story:?}");
    let story = hidden(Stop::Always, 66, &[60, 10]);
    assert!(!story.batches[0].done, "{story:?}");
}

#[test]
fn a_batch_that_outlives_its_law_goes_on() {
    let story = hidden(Stop::Crowded, 1_000, &[70]);
    assert_eq!(story.batches, [done(0, 0, 0, 70_000, &[0])]);
}

#[test]
fn a_batch_takes_who_comes_at_the_same_instant() {
    let story = play(true, config(), vec![request(0, 0, 50), request(0, 0, 50)]);
    assert_eq!(story.batches, [stopped(0, 0, 0, 0, &[0]), done(0, 0, 0, 7_000, &[0, 1])]);
    assert_eq!(story.ends, [End::InTime; 2]);
}

/// A batch of the second model takes 500 us and more.
#[test]
fn a_long_batch_makes_way_for_a_request_that_cannot_wait() {
    let story = |way: bool| {
        let mut cluster = Cluster::new(1, true, &[(1, 5), (1, 500)]);
        cluster.profiles[0].slo = Span::from_us(100);
        cluster.profiles[1].slo = Span::from_us(2_000);
        let arrivals = vec![request(0, 1, 2_000), request(10, 0, 100)];
        cluster.play(BestYield::new(Config { way, ..config() }, &cluster.profiles), arrivals)
    };
    let made = [stopped(0, 1, 0, 10_000, &[0]), done(0, 0, 10_000, 16_000, &[1])];
    assert_eq!(story(true).batches[..2], made);
    assert_eq!(story(true).ends, [End::InTime; 2], "the long one begins anew");
    assert_eq!(story(false).ends, [End::InTime, End::Dropped(Drop::Infeasible)]);
}

/// A request of eight items takes 13 us, and one of them 6.
#[test]
fn items_count_as_time_and_requests_as_yield() {
    let large = |at, slo| Arrival { size: 8, ..request(at, 0, slo) };
    let story = play(false, config(), vec![large(0, 13), large(0, 30), request(0, 0, 30)]);
    // Behind the first, one of one item in 6 us yields more than both in 14.
    assert_eq!(story.batches, [done(0, 0, 0, 13_000, &[0]), done(0, 0, 13_000, 19_000, &[2])]);
    assert_eq!(story.ends, [End::InTime, End::Dropped(Drop::Infeasible), End::InTime]);
}

/// Its batches take ten times what its law says; a fresh request is run all the same.
#[test]
fn what_batches_take_beyond_their_law_does_not_keep_a_device_idle() {
    let mut cluster = Cluster::new(1, false, &[(1, 5)]);
    cluster.profiles[0].slo = Span::from_us(50);
    cluster.world.latency =
        vec![vec![Latency::Affine { alpha: Span::from_us(10), beta: Span::from_us(90) }]];
    let arrivals = (0..50).map(|i| request(1_000 * i, 0, 50)).collect();
    let story = cluster.play(BestYield::new(config(), &cluster.profiles), arrivals);
    assert_eq!(story.batches.len(), 50, "all are late, and all are run");
}
