//! Tests of the driver's limits: the end of time, and sums of sizes.

use super::*;
use crate::metrics::Window;
use crate::observer::Batch;
use crate::policy::fifo::{Config, Fifo};
use crate::request::{AppId, Arrival, ModelId, VecSource};

fn arrival(at: u64, size: u32) -> Arrival {
    let (app, model, alone) = (AppId(0), ModelId(0), Span::from_ns(1));
    Arrival { at: Time::from_ns(at), app, model, size, slo: Span::MAX, alone }
}

/// One device on which a batch takes a nanosecond, and one more for each item.
fn world() -> World {
    World::single(Latency::Affine { alpha: Span::from_ns(1), beta: Span::from_ns(1) })
}

/// The units of each batch that began, and how the run failed.
fn run(world: &World, arrivals: Vec<Arrival>) -> (Vec<u32>, Option<Failure>) {
    #[derive(Default)]
    struct Units(Vec<u32>);
    impl Observer for Units {
        fn began(&mut self, _now: Time, batch: &Batch<'_>) {
            self.0.push(batch.units);
        }
    }
    let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
    let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
    let run = simulate(world, vec![source], policy, Units::default());
    (run.observer.0, run.failure)
}

#[test]
fn units_of_a_batch_do_not_wrap() {
    let arrivals = vec![arrival(0, 1), arrival(0, 1 << 31), arrival(0, 1 << 31)];
    let (units, failure) = run(&world(), arrivals);
    assert_eq!((units, failure), (vec![1, u32::MAX], None), "they saturate");
}

#[test]
fn the_last_nanosecond_is_in_time_and_the_next_fails_the_run() {
    let last = u64::MAX - 3;
    assert_eq!(run(&world(), vec![arrival(last, 1)]).1, None, "it ends at 2^64 - 2 ns");
    let (_, failure) = run(&world(), vec![arrival(last, 2)]);
    let what = "the end of a0 on d0".to_string();
    assert_eq!(failure, Some(Failure::EventAfterEnd { what, now: Time::from_ns(last) }));
}

#[test]
fn an_arrival_after_the_end_of_time_fails_the_run_unless_it_stops_before() {
    let arrivals = vec![arrival(5, 1), arrival(6, 1), arrival(u64::MAX, 1)];
    let (_, failure) = run(&world(), arrivals.clone());
    let failure = failure.expect("it is not whole");
    assert_eq!(failure, Failure::ArrivalAfterEnd { source: SourceId(0), requests: 2 });
    assert_eq!(failure.to_string(), "request 3 comes after the end of simulated time");
    let stopped = World { until: Some(Time::from_ns(100)), ..world() };
    assert_eq!(run(&stopped, arrivals).1, None);
}

#[test]
fn a_message_that_comes_after_the_end_of_time_is_named() {
    let slow = Span::from_ns(u64::MAX - 4);
    let delayed = |set: fn(&mut crate::core::Delays, Span)| {
        let mut world = world();
        set(&mut world.core.delays, slow);
        run(&world, vec![arrival(5, 1)]).1.expect("it is not whole").to_string()
    };
    assert!(delayed(|d, slow| d.dispatch = slow.into()).starts_with("the delivery of a0 comes"));
    assert!(delayed(|d, slow| d.result = slow.into()).starts_with("the result of a0 comes"));
    let reply = delayed(|d, slow| d.reply = slow.into());
    assert!(reply.starts_with("the reply to the requests of a0 comes after the end"), "{reply}");
}

/// What a policy is told and what is measured do not depend on when it happens.
#[test]
fn a_run_shortly_before_the_end_of_time_is_like_any_other() {
    let served = |from: u64| {
        let arrivals = (0..50).map(|i| arrival(from + i, 1 + i as u32 % 3)).collect();
        let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
        let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
        let metrics = crate::metrics::Metrics::new(Window::default(), true);
        let run = simulate(&world(), vec![source], policy, metrics);
        assert_eq!(run.failure, None);
        let total = run.observer.total();
        (total.latency, total.queueing, run.observer.batch_sizes().to_vec())
    };
    assert_eq!(served(0), served(u64::MAX - 1_000));
}
