//! Eager batching by hand. A batch of b of model 0 takes b + 5 us, of model 1 twice that.

use super::cluster::{Cluster, Story, done, request};
use crate::policy::eager::{Config, Eager, Gather};
use crate::request::{Arrival, Drop, End};

const MODELS: [(u64, u64); 2] = [(1, 5), (2, 10)];

fn play(gpus: usize, gather: Gather, arrivals: Vec<Arrival>) -> Story {
    let cluster = Cluster::new(gpus, false, &MODELS);
    let policy = Eager::new(Config { max_batch: 8, gather }, &cluster.profiles);
    cluster.play(policy, arrivals)
}

#[test]
fn a_free_gpu_takes_the_model_whose_head_is_most_urgent_and_the_most_that_its_head_allows() {
    // At 6 us model 1's head must end by 33, model 0's by 35: model 1 goes first, in 12 us. At 18
    // model 0's head leaves 17 us: all three, in 8 us.
    let arrivals = vec![
        request(0, 0, 40),
        request(1, 0, 34),
        request(1, 0, 40),
        request(2, 0, 60),
        request(3, 1, 30),
    ];
    let story = play(1, Gather::Head, arrivals);
    assert_eq!(
        story.batches,
        [
            done(0, 0, 0, 6_000, &[0]),
            done(0, 1, 6_000, 18_000, &[4]),
            done(0, 0, 18_000, 26_000, &[1, 2, 3]),
        ]
    );
    assert!(story.ends.iter().all(|e| *e == End::InTime));
}

#[test]
fn a_head_allows_a_smaller_batch_or_in_a_window_is_dropped() {
    // At 6 us three wait and the first must end by 13: alone or with one more, not with two.
    let arrivals =
        || vec![request(0, 0, 40), request(1, 0, 12), request(1, 0, 40), request(1, 0, 40)];
    let head = play(1, Gather::Head, arrivals());
    assert_eq!(
        head.batches[1..],
        [done(0, 0, 6_000, 13_000, &[1, 2]), done(0, 0, 13_000, 19_000, &[3])]
    );
    let window = play(1, Gather::Window, arrivals());
    assert_eq!(window.batches[1..], [done(0, 0, 6_000, 13_000, &[2, 3])]);
    assert_eq!(window.ends[1], End::Dropped(Drop::Infeasible));
}

#[test]
fn a_head_that_cannot_end_in_time_even_alone_is_dropped() {
    let story = play(1, Gather::Head, vec![request(0, 0, 6), request(1, 0, 10)]);
    assert_eq!(story.ends, [End::InTime, End::Dropped(Drop::Infeasible)], "12 is beyond 11");
}

#[test]
fn no_gpu_waits_while_a_request_does() {
    // Symphony's Fig. 5a begins like this: three GPUs, a request each 0.75 of a unit, l(b) = b + 5.
    let arrivals = (0..9).map(|i| request(3 * i / 4, 0, 12)).collect();
    let story = play(3, Gather::Head, arrivals);
    let sizes: Vec<usize> = story.batches.iter().map(|b| b.requests.len()).collect();
    assert_eq!(sizes[..3], [1, 1, 1]);
    assert_eq!(story.batches[3].start, Some(6_000));
}
