//! Arrivals at even intervals and constant service: every latency is known to the nanosecond.

use super::{Config, FullOrTimeout};
use orrery_sim::audit::audit;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::MemoryLog;
use orrery_sim::observer::Observer;
use orrery_sim::request::{AppId, Arrival, End, ModelId, Request, VecSource};
use orrery_sim::time::{Span, Time};

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// Latencies in the order of answers.
#[derive(Default)]
struct Latencies(Vec<Span>);

impl Observer for Latencies {
    fn ended(&mut self, now: Time, request: &Request, _: End, _: Option<Time>) {
        self.0.push(now - request.arrival);
    }
}

/// What 1,000 requests meet that come every `gap_ms` on a device where k of them take k + 3 ms.
fn latencies(max_batch: usize, patience_ms: u64, gap_ms: u64) -> Vec<Span> {
    let world = World::single(Latency::Affine { alpha: ms(1), beta: ms(3) });
    let arrival = |i| Arrival {
        at: Time::ZERO + ms(gap_ms) * i,
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo: Span::MAX,
        alone: ms(1),
    };
    let source = Box::new(VecSource::new((0..1_000).map(arrival).collect()));
    let policy = FullOrTimeout::new(Config { max_batch, patience: ms(patience_ms) });
    let watch = (Latencies::default(), MemoryLog::default());
    let (latencies, log) = simulate(&world, vec![source], policy, watch).observer;
    assert!(audit(log.records).is_clean());
    latencies.0
}

/// The batch of 4 takes 7 ms and the next is full after 8: nobody waits for the device.
#[test]
fn with_patience_every_batch_is_full_and_the_first_waits_longest() {
    let expected = [3 * 2 + 7, 2 * 2 + 7, 2 + 7, 7].map(ms);
    let found = latencies(4, 1_000, 2);
    assert_eq!(found.len(), 1_000);
    assert!(found.chunks(4).all(|batch| batch == expected));
}

#[test]
fn with_patience_below_the_gap_each_goes_alone_at_its_end() {
    assert_eq!(latencies(4, 1, 10), vec![ms(1 + 4); 1_000]);
}

/// At 0 and 10 two arrive, at 15 they go, at 20 they are answered and the next has just arrived.
#[test]
fn with_patience_of_one_gap_and_a_half_they_go_in_pairs() {
    assert!(latencies(4, 15, 10).chunks(2).all(|pair| pair == [ms(20), ms(10)]));
}

/// The last batch of 1,000 = 142 x 7 + 6 is not full.
#[test]
fn the_last_batch_goes_when_its_patience_ends() {
    let found = latencies(7, 50, 2);
    assert_eq!(found[994..], [50 + 9, 48 + 9, 46 + 9, 44 + 9, 42 + 9, 40 + 9].map(ms));
}
