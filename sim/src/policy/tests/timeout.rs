//! Timeout batching by hand. A batch of b of model 0 takes b + 5 us, of model 1 twice that.

use super::cluster::{Cluster, Story, done, request};
use crate::policy::timeout::{Config, Timeout};
use crate::request::{Arrival, Drop, End};
use crate::time::Span;

fn play(gpus: usize, max_wait_us: u64, drop_expired: bool, arrivals: Vec<Arrival>) -> Story {
    let cluster = Cluster::new(gpus, false, &[(1, 5), (2, 10)]);
    let max_wait = Span::from_us(max_wait_us);
    let config = Config { max_batch: 3, max_wait, drop_expired, ..Config::default() };
    cluster.play(Timeout::new(config), arrivals)
}

#[test]
fn a_batch_goes_when_it_is_full_or_its_first_request_has_waited() {
    let arrivals = [0, 1, 2, 3, 20].map(|at| request(at, 0, 1_000)).to_vec();
    assert_eq!(
        play(2, 4, false, arrivals).batches,
        [
            done(1, 0, 2_000, 10_000, &[0, 1, 2]),
            done(0, 0, 7_000, 13_000, &[3]),
            done(0, 0, 24_000, 30_000, &[4]),
        ]
    );
}

/// The full batch went at 0 us; that its first request would have waited until 4 means nothing to the next.
#[test]
fn the_wait_of_a_batch_that_was_full_is_over() {
    let arrivals = [0, 0, 0, 7].map(|at| request(at, 0, 1_000)).to_vec();
    assert_eq!(
        play(1, 4, false, arrivals).batches,
        [done(0, 0, 0, 8_000, &[0, 1, 2]), done(0, 0, 11_000, 17_000, &[3])]
    );
}

#[test]
fn batches_of_all_models_stand_in_one_line_and_the_last_one_of_a_model_still_fills() {
    // At 4 us model 1's batch of one is ready, at 5 model 0's; the GPU is free at 14. By then
    // model 0's has two more, and a fourth that did not fit has waited since 9.
    let arrivals = vec![
        request(0, 1, 1_000),
        request(0, 1, 1_000),
        request(0, 1, 1_000),
        request(0, 1, 1_000),
        request(1, 0, 1_000),
        request(6, 0, 1_000),
        request(7, 0, 1_000),
        request(9, 0, 1_000),
    ];
    assert_eq!(
        play(1, 4, false, arrivals).batches,
        [
            done(0, 1, 0, 16_000, &[0, 1, 2]),
            done(0, 1, 16_000, 28_000, &[3]),
            done(0, 0, 28_000, 36_000, &[4, 5, 6]),
            done(0, 0, 36_000, 42_000, &[7]),
        ]
    );
}

#[test]
fn without_a_wait_it_is_eager() {
    let arrivals = [0, 1, 2, 3].map(|at| request(at, 0, 1_000)).to_vec();
    assert_eq!(
        play(1, 0, false, arrivals).batches,
        [done(0, 0, 0, 6_000, &[0]), done(0, 0, 6_000, 14_000, &[1, 2, 3])]
    );
}

#[test]
fn what_has_expired_is_dropped_when_its_batch_s_turn_comes() {
    let arrivals = || vec![request(0, 0, 100), request(1, 0, 8), request(1, 0, 100)];
    let keeps = play(1, 4, false, arrivals());
    assert_eq!(
        keeps.batches,
        [done(0, 0, 4_000, 12_000, &[0, 1, 2])].map(|mut b| {
            (b.start, b.end) = (Some(1_000), 9_000);
            b
        })
    );
    let two = || vec![request(0, 0, 100), request(0, 0, 100), request(0, 0, 100), request(1, 0, 6)];
    let drops = play(1, 2, true, two());
    assert_eq!(drops.batches, [done(0, 0, 0, 8_000, &[0, 1, 2])]);
    assert_eq!(drops.ends[3], End::Dropped(Drop::Expired));
    assert_eq!(play(1, 2, false, two()).batches[1], done(0, 0, 8_000, 14_000, &[3]));
}
