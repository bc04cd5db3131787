//! INFaaS after public facts, on cases that can be worked by hand. A batch of b takes b + 9 ms, so that
//! variants of 1, 2, 4 and 8 serve 100, 182, 308 and 471 requests per second.

use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::policy::infaas::{Config, Infaas};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, End, ModelId, VecSource};
use crate::time::{Span, Time};

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// `rate` requests per second, evenly, from `from` s until `to` s.
fn evenly(from: u64, to: u64, rate: u64) -> impl Iterator<Item = u64> {
    (from * rate..to * rate).map(move |i| i * 1_000_000_000 / rate)
}

/// When each batch began in ms, with its size; and how the requests ended. The SLO is what the first
/// variant follows from.
fn play(
    slo: Span,
    config: Config,
    at_ns: impl Iterator<Item = u64>,
) -> (Vec<(u64, usize)>, Vec<End>) {
    play_of(ModelId(0), slo, config, at_ns)
}

/// The same, where all requests are of this one of equal models.
fn play_of(
    model: ModelId,
    slo: Span,
    config: Config,
    at_ns: impl Iterator<Item = u64>,
) -> (Vec<(u64, usize)>, Vec<End>) {
    let models = model.index() + 1;
    let law = Latency::Affine { alpha: ms(1), beta: ms(9) };
    let mut world = World::single(law.clone());
    world.core.models = vec![Default::default(); models];
    world.latency = vec![vec![law.clone(); models]];
    let profile = || ModelProfile::measure(&law, slo, &[1, 2, 4, 8], 1, || (0, ms(1)), 1);
    let profiles: Vec<ModelProfile> = (0..models).map(|_| profile()).collect();
    let arrival = |at| {
        let at = Time::ZERO + Span::from_ns(at);
        Arrival { at, app: AppId(0), model, size: 1, slo, alone: ms(1) }
    };
    let arrivals: Vec<Arrival> = at_ns.map(arrival).collect();
    let mut ends = vec![End::Pending; arrivals.len()];
    let source = Box::new(VecSource::new(arrivals));
    let policy = Infaas::new(config, &profiles);
    let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
    let mut batches = Vec::new();
    for record in log.records {
        match record {
            Record::Issue { time, batch, .. } => {
                batches.push((time.ns() / 1_000_000, batch.requests.len()));
            }
            Record::End { request, end, .. } => ends[request.index()] = end,
            _ => {}
        }
    }
    (batches, ends)
}

fn largest(batches: &[(u64, usize)], from_ms: u64, to_ms: u64) -> usize {
    let within = |b: &&(u64, usize)| (from_ms..to_ms).contains(&b.0);
    batches.iter().filter(within).map(|b| b.1).max().unwrap_or(0)
}

#[test]
fn the_slo_chooses_the_first_variant_and_nothing_else() {
    // Thirty at once. Of half the SLO a batch of 1, 2, 4 or 8 takes 10, 11, 13 or 17 ms.
    for (slo, size) in [(18, 1), (20, 1), (21, 1), (23, 2), (27, 4), (35, 8), (900, 8)] {
        let config = Config { max_batch: 8, ..Config::model() };
        let (batches, ends) = play(ms(slo), config, (0..30).map(|_| 0));
        assert_eq!(batches[0].1, size, "SLO of {slo} ms");
        assert!(ends.iter().all(|e| matches!(e, End::InTime | End::Late)), "{ends:?}");
    }
}

#[test]
fn a_batch_goes_when_it_is_full_or_its_oldest_request_has_waited() {
    let config = Config { max_batch: 4, ..Config::model() };
    let at = [0, 1, 2, 3, 100, 101].map(|ms| ms * 1_000_000);
    let (batches, _) = play(ms(100), config, at.into_iter());
    assert_eq!(batches, [(3, 4), (110, 2)]);
}

#[test]
fn a_larger_variant_comes_a_load_after_the_rate_exceeds_what_the_old_one_serves() {
    // 150/s is more than a batch of one serves and less than batches of two do.
    let config = Config { max_batch: 8, ..Config::model() };
    let (batches, ends) = play(ms(20), config, evenly(0, 12, 150));
    assert_eq!(largest(&batches, 0, 6_000), 1, "the check at 1 s loads until 6 s");
    assert_eq!(largest(&batches, 6_000, 60_000), 2, "and one step is enough");
    assert!(!ends.contains(&End::Pending) && ends.iter().all(|e| !matches!(e, End::Dropped(_))));
}

/// Its waits and loads are its own.
#[test]
fn a_model_among_idle_ones_is_served_like_a_model_alone() {
    let config = || Config { max_batch: 8, ..Config::model() };
    let alone = play(ms(20), config(), evenly(0, 12, 150));
    for other in [1, 2] {
        assert_eq!(play_of(ModelId(other), ms(20), config(), evenly(0, 12, 150)), alone);
    }
}

#[test]
fn it_returns_after_twenty_checks_at_which_the_smaller_one_is_enough() {
    let config = Config { max_batch: 2, load: ms(500), ..Config::model() };
    let at = evenly(0, 4, 150).chain(evenly(4, 40, 80));
    // Pairs of requests, so that a variant of two is seen to be there.
    let (batches, _) = play(ms(20), config, at.flat_map(|at| [at, at]));
    // 300/s and 160/s: more than the smaller one serves, so that it stays.
    assert_eq!(largest(&batches, 30_000, 40_000), 2);
    let at = evenly(0, 4, 75).chain(evenly(4, 40, 40)).flat_map(|at| [at, at]);
    let (batches, _) = play(ms(20), config, at);
    // 150/s, then 80/s from 4 s on. Checks at 5, 6, ..., 24 s are the twenty.
    assert_eq!(largest(&batches, 22_000, 23_900), 2);
    assert_eq!(largest(&batches, 24_100, 40_000), 1);
}

#[test]
fn checks_left_out_without_requests_count() {
    let config = Config { max_batch: 2, load: ms(500), ..Config::model() };
    let pairs = |from, to, rate| evenly(from, to, rate).flat_map(|at| [at, at]);
    // The check at 5 s is the first without a request, and the last that is made.
    for (back, size) in [(23, 2), (24, 1), (3_000, 1)] {
        let at = pairs(0, 4, 75).chain(pairs(back, back + 1, 10));
        let (batches, _) = play(ms(20), config, at);
        assert_eq!(largest(&batches, back * 1_000, back * 1_000 + 900), size, "back at {back} s");
    }
}

#[test]
fn an_overload_is_late_and_never_dropped() {
    let (_, ends) = play(ms(20), Config::tensorflow(), evenly(0, 5, 2_000));
    let late = ends.iter().filter(|e| **e == End::Late).count();
    assert!(ends.iter().all(|e| matches!(e, End::InTime | End::Late)));
    assert!(late > 9_000, "{late} of {}", ends.len());
}

#[test]
fn a_rate_that_a_variant_just_serves_needs_no_larger_one_and_lets_a_larger_one_go() {
    let config = Config { max_batch: 2, load: ms(500), ..Config::model() };
    let shifted = |at: u64| at + 5_000_000;
    // A batch of one serves 100/s: 10 ms apart, every interval has 100, and no two ever wait.
    let (batches, _) = play(ms(20), config, evenly(0, 12, 100).map(shifted));
    assert_eq!(largest(&batches, 0, 20_000), 1);
    let pairs = evenly(0, 4, 75).chain(evenly(4, 40, 50)).flat_map(|at| [at, at]);
    let (batches, _) = play(ms(20), config, pairs.map(shifted));
    assert_eq!(largest(&batches, 22_000, 23_900), 2);
    assert_eq!(largest(&batches, 24_100, 50_000), 1);
}

#[test]
fn checks_while_a_larger_variant_loads_do_not_count() {
    // 300/s is more than batches of two serve; 50/s is less than one does.
    let config = Config { max_batch: 8, down: 1, ..Config::model() };
    let bursts = [6_500, 7_500, 8_500].into_iter().flat_map(|at_ms| [at_ms * 1_000_000 + 1; 8]);
    let pairs = evenly(1, 10, 25).flat_map(|at| [at, at]);
    let mut at: Vec<u64> = evenly(0, 1, 300).chain(pairs).chain(bursts).collect();
    at.sort_unstable();
    let (batches, _) = play(ms(23), config, at.into_iter());
    // Loaded from the check at 1 s until 6 s; each check after that is one step down.
    let sizes = [6_500, 7_500, 8_500].map(|from| largest(&batches, from, from + 100));
    assert_eq!(sizes, [4, 2, 1]);
}
