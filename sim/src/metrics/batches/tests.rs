//! Batches worked by hand, and batches against the figures of `Metrics`.

use super::*;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::metrics::{Metrics, View, Window};
use crate::observer::Observer;
use crate::policy::fifo::{Config, Fifo};
use crate::request::{AppId, Arrival, ModelId, Request, RequestId, SourceId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};

const MS: u64 = 1_000_000;

fn request(id: u64, at_ms: u64) -> Request {
    Request {
        id: RequestId(id),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        source: SourceId(0),
        arrival: Time::from_ns(at_ms * MS),
        deadline: Time::NEVER,
    }
}

/// A request each millisecond, all answered after `latency_ms` of their number.
fn regular(n: u64, window: Window, latency_ms: impl Fn(u64) -> u64) -> Metrics {
    let mut metrics = Metrics::new(window, false);
    for id in 0..n {
        let r = request(id, id);
        metrics.requests.arrived(&r);
        let now = r.arrival + Span::from_ms(latency_ms(id));
        metrics.requests.ended(now, &r, End::InTime, Some(r.arrival));
    }
    metrics.finished(Time::from_ns(n * MS));
    metrics
}

/// The batches of all requests.
fn total(metrics: &Metrics) -> Batches {
    metrics.batches(View::Total).remove(0)
}

#[test]
fn batches_are_equal_powers_of_two_and_at_most_64() {
    for (n, batches, size) in
        [(1, 1, 1), (64, 64, 1), (65, 33, 2), (128, 64, 2), (129, 33, 4), (10_000, 40, 256)]
    {
        let all = total(&regular(n, Window::default(), |_| 1));
        assert_eq!(all.len(), batches, "{n}");
        let (offered, in_time) = all.offered_and_in_time();
        assert!(offered[..batches - 1].iter().all(|o| *o == size), "{n}: {offered:?}");
        assert_eq!(offered.iter().sum::<u64>(), n);
        assert_eq!(in_time, offered);
    }
}

#[test]
fn only_the_window_counts_and_its_first_request_begins_the_first_batch() {
    let window = Window { from: Time::from_ns(100 * MS), to: Time::from_ns(300 * MS) };
    let total = total(&regular(1000, window, |_| 1));
    assert_eq!(total.offered_and_in_time().0, [vec![4; 50]].concat());
    // 200 requests in 0.2 s.
    let goodput = total.goodput_per_s().unwrap().interval;
    assert!((goodput.mean - 1000.0).abs() < 1e-6 && goodput.width() < 1e-6, "{goodput:?}");
}

#[test]
fn the_mean_s_interval_by_hand() {
    // Three batches of one request: 1, 2 and 3 ms.
    let total = total(&regular(3, Window::default(), |id| id + 1));
    let i = total.ratio(Ratio::MEAN_LATENCY_MS).unwrap().interval;
    assert!((i.mean - 2.0).abs() < 1e-9);
    assert!((i.width() - 2.0 * 4.303 / 3f64.sqrt()).abs() < 1e-9, "{i:?}");
    assert_eq!(total.ratio(Ratio::MEAN_QUEUEING_MS).unwrap().interval.width(), 0.0);
}

#[test]
fn nothing_has_no_interval() {
    let nothing = Metrics::default();
    assert!(nothing.batches(View::Models).is_empty() && nothing.batches(View::Apps).is_empty());
    let none = total(&nothing);
    assert!(
        none.is_empty()
            && none.ratio(Ratio::FINISH_RATE).is_none()
            && none.goodput_per_s().is_none()
    );
    let sketch = nothing.total().latency;
    assert!(none.latency_quantile_ms(0.5, &sketch).is_none());
    let mut dropped = Metrics::default();
    for id in 0..10 {
        let r = request(id, id);
        dropped.arrived(r.arrival, &r);
    }
    dropped.finished(Time::from_ns(10 * MS));
    let total = total(&dropped);
    assert_eq!(total.ratio(Ratio::FINISH_RATE).unwrap().interval.mean, 0.0);
    assert!(total.ratio(Ratio::MEAN_LATENCY_MS).is_none(), "of no answer");
    assert!(total.latency_quantile_ms(0.5, &sketch).is_none());
}

/// Two models and two applications on a device that is now and then late, all metrics, and the
/// batches.
fn by_chance(seed: u64, slo_ms: u64, n: u64) -> Metrics {
    let mut stream = Stream::named(1, "batch means", seed);
    let mut at = Time::ZERO;
    let draw = |_| {
        at += Span::from_ns(stream.below(2 * MS));
        let alone = Span::from_ns(1 + stream.below(2 * MS));
        let (app, model) = (AppId(stream.below(2) as u32), ModelId(stream.below(2) as u32));
        Arrival { at, app, model, size: 1, slo: Span::from_ms(slo_ms), alone }
    };
    let arrivals = (0..n).map(draw).collect();
    let mut world = World::single(Latency::Proportional { c1: 0.1 });
    world.core.models = vec![Default::default(); 2];
    world.latency = vec![vec![Latency::Proportional { c1: 0.1 }; 2]];
    let window = Window { from: Time::from_ns(50 * MS), to: Time::from_ns(9_000 * MS) };
    let fifo = Fifo::new(Config { max_batch: 4, drop_expired: true });
    simulate(&world, vec![Box::new(VecSource::new(arrivals))], fifo, Metrics::new(window, false))
        .observer
}

#[test]
fn estimates_are_the_figures_of_metrics() {
    let metrics = by_chance(1, 3, 10_000);
    let pairs = |view| metrics.batches(view).into_iter().zip(metrics.figures(view));
    let mut seen = 0;
    for (batches, figures) in [View::Total, View::Models, View::Apps].into_iter().flat_map(pairs) {
        seen += 1;
        let same = |batched: Option<Batched>, figure: f64| {
            let i = batched.unwrap().interval;
            assert!((i.mean - figure).abs() <= 1e-6 * figure.abs(), "{i:?}: {figure}");
            assert!(i.low < i.mean && i.mean < i.high, "{i:?}");
        };
        same(batches.ratio(Ratio::FINISH_RATE), figures.finish_rate());
        same(batches.ratio(Ratio::MEAN_LATENCY_MS), figures.latency.mean().as_ms_f64());
        same(batches.ratio(Ratio::MEAN_QUEUEING_MS), figures.queueing.mean().as_ms_f64());
        let good = figures.ended(End::InTime) as f64 / metrics.measured().as_secs_f64();
        same(batches.goodput_per_s(), good);
        for q in [0.1, 0.5, 0.9, 0.99] {
            let i = batches.latency_quantile_ms(q, &figures.latency);
            same(i, figures.latency.quantile(q).as_ms_f64());
        }
    }
    assert_eq!(seen, 5);
    assert_eq!(total(&metrics).goodput_per_s().unwrap().interval.mean, metrics.goodput_per_s());
}

#[test]
fn a_quantile_within_one_coarse_bucket_still_has_an_interval() {
    // All latencies are 1024 to 1039 ms, by chance: a 64th apart.
    let mut stream = Stream::named(1, "bucket", 0);
    let draws: Vec<u64> = (0..10_000).map(|_| 1024 + stream.below(16)).collect();
    let metrics = regular(10_000, Window::default(), |id| draws[id as usize]);
    let (total, sketch) = (total(&metrics), metrics.total().latency);
    let i = total.latency_quantile_ms(0.52, &sketch).unwrap().interval;
    // The error of the share is 0.5 %, a twelfth of the step between two values: 0.52 is 0.0425
    // below where the value changes, and 0.02 above.
    assert!((1032.0..1034.0).contains(&i.mean), "{i:?}");
    let edge = total.latency_quantile_ms(0.5, &sketch).unwrap().interval;
    assert!(edge.width() > 0.5 && edge.width() < 3.0, "{edge:?}");
}

#[test]
fn extreme_quantiles_end_at_the_extremes() {
    let metrics = by_chance(1, 3, 1_000);
    let latency = metrics.total().latency;
    let of = |q| total(&metrics).latency_quantile_ms(q, &latency).unwrap().interval;
    assert_eq!(of(0.9999).high, latency.max().as_ms_f64());
    assert_eq!((of(1.0).mean, of(1.0).high), (of(0.9999).high, of(0.9999).high));
    assert!(of(0.0).low <= of(0.0).mean);
}
