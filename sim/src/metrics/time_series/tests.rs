//! Bins worked by hand, and sums over bins against the figures of `Metrics`.

use super::*;
use crate::core::DeviceChange;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::metrics::Metrics;
use crate::policy::fifo::{Config, Fifo};
use crate::request::{AppId, Arrival, ModelId, VecSource};
use crate::rng::Stream;

fn arrival(at_ns: u64, slo_ns: u64, alone_ns: u64) -> Arrival {
    let span = Span::from_ns;
    let (app, model) = (AppId(0), ModelId(0));
    Arrival {
        at: Time::from_ns(at_ns),
        app,
        model,
        size: 1,
        slo: span(slo_ns),
        alone: span(alone_ns),
    }
}

fn run(world: &World, arrivals: Vec<Arrival>, max_batch: u32) -> Metrics {
    let fifo = Fifo::new(Config { max_batch, drop_expired: true });
    let source = Box::new(VecSource::new(arrivals));
    simulate(world, vec![source], fifo, Metrics::default()).observer
}

fn one_device() -> World {
    World::single(Latency::Proportional { c1: 0.5 })
}

#[test]
fn a_span_is_cut_at_the_boundaries_of_bins() {
    let parts = |from, to| {
        let mut parts = Vec::new();
        split(from, to, 3, |bin, ns| parts.push((bin, ns)));
        parts
    };
    assert_eq!(parts(5, 5), []);
    assert_eq!(parts(1, 7), [(0, 6)]);
    assert_eq!(parts(1, 8), [(0, 7)], "up to a boundary");
    assert_eq!(parts(8, 9), [(1, 1)], "from a boundary");
    assert_eq!(parts(5, 26), [(0, 3), (1, 8), (2, 8), (3, 2)]);
}

#[test]
fn three_requests_by_hand() {
    // Bins of 4 ns. Service 0..400 in time, 400..900 late, 900 the third is dropped.
    let arrivals = vec![arrival(0, 1000, 400), arrival(100, 500, 500), arrival(201, 600, 300)];
    let metrics = run(&one_device(), arrivals, 1);
    let series = metrics.series();
    assert_eq!(series.width(), Span::from_ns(4));
    let bins: Vec<TimeBin> = series.bins().collect();
    assert_eq!(bins.len(), 226, "bin 225 is where the end at 900 lies, and is empty of time");
    let at = |ns: u64| bins[ns as usize / 4];
    assert_eq!((at(0).offered, at(100).offered, at(201).offered), (1, 1, 1));
    assert_eq!((at(400).in_time, at(900).late, at(900).dropped), (1, 1, 1));
    assert_eq!((at(400).batches, at(900).batched), (1, 1));
    // One request until 100, two until 201, three until 400, two until 900.
    assert_eq!(at(96).in_system_ns, 4);
    assert_eq!(at(200).in_system_ns, 2 + 3 * 3);
    assert_eq!(at(400).in_system_ns, 8);
    assert_eq!((at(200).mean_in_system(), at(200).utilisation()), (2.75, 1.0));
    assert_eq!((at(896).from, at(896).to), (Time::from_ns(896), Time::from_ns(900)));
    assert_eq!(at(900).span(), Span::ZERO);
    assert_eq!((at(900).mean_in_system(), at(900).per_s(1)), (0.0, 0.0), "of no time");
    assert_eq!(at(0).per_s(at(0).offered), 250e6);
}

/// Devices that come, fail and drain under many requests by chance.
fn eventful() -> Metrics {
    let mut stream = Stream::named(1, "time series", 0);
    let mut at = 0;
    let draw = |_| {
        at += stream.below(1_000_000);
        arrival(at, 2_000_000 + stream.below(6_000_000), 1 + stream.below(2_000_000))
    };
    let arrivals = (0..5_000).map(draw).collect();
    let mut world = one_device();
    world.core.devices = vec![Default::default(); 2];
    let device = DeviceId;
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    world.changes = vec![
        (ms(400), DeviceChange::Fail(device(0))),
        (ms(700), DeviceChange::Added(Default::default())),
        (ms(1500), DeviceChange::Drain(device(1))),
        (ms(1700), DeviceChange::Added(Default::default())),
    ];
    run(&world, arrivals, 3)
}

#[test]
fn sums_over_bins_are_the_figures_of_metrics() {
    let metrics = eventful();
    let series = metrics.series();
    let bins: Vec<TimeBin> = series.bins().collect();
    assert!((129..=256).contains(&bins.len()), "{}", bins.len());
    assert!(bins.windows(2).all(|w| w[0].to == w[1].from && w[0].span() == series.width()));
    assert_eq!((bins[0].from, bins.last().unwrap().to), (Time::ZERO, metrics.end()));
    let (total, devices) = (metrics.total(), metrics.devices());
    let sum = |of: fn(&TimeBin) -> u64| bins.iter().map(of).sum::<u64>();
    assert_eq!(sum(|b| b.offered), total.offered);
    assert_eq!(sum(|b| b.in_time), total.ended(End::InTime));
    assert_eq!(sum(|b| b.late), total.ended(End::Late));
    assert_eq!(sum(|b| b.dropped), total.dropped());
    assert!(total.dropped() > 0 && total.ended(End::Late) > 0, "all of them happen");
    assert_eq!(sum(|b| b.batches), devices.iter().map(|d| d.batches).sum::<u64>());
    assert!(bins.iter().all(|b| b.busy <= b.up && b.up.ns() <= 3 * b.span().ns()));
}

#[test]
fn intervals_lie_around_the_figures_of_metrics() {
    let metrics = eventful();
    let series = metrics.series();
    let around = |batched: Option<Batched>, figure: f64| {
        let i = batched.unwrap().interval;
        assert!((i.mean - figure).abs() < 1e-9 && i.low < figure && figure < i.high, "{i:?}");
    };
    around(series.mean_batch_size(), metrics.mean_batch_size());
    let devices = metrics.devices();
    let sum = |of: fn(&crate::metrics::DeviceFigures) -> Span| -> f64 {
        devices.iter().map(of).sum::<Span>().ns() as f64
    };
    around(series.utilisation(), sum(|d| d.busy) / sum(|d| d.up));
}

#[test]
fn a_run_that_is_stopped_has_its_work_up_to_there() {
    let mut world = one_device();
    world.until = Some(Time::from_ns(1_000));
    let metrics = run(&world, vec![arrival(100, 1 << 40, 5_000)], 1);
    let series = metrics.series();
    let busy: Span = series.bins().map(|b| b.busy).sum();
    assert_eq!((busy, metrics.devices()[0].busy), (Span::from_ns(900), Span::from_ns(900)));
    assert_eq!(series.bins().map(|b| b.in_system_ns).sum::<u128>(), 900);
}

#[test]
fn nothing_is_no_bins_and_no_intervals() {
    let metrics = run(&one_device(), vec![], 1);
    let series = metrics.series();
    assert_eq!(series.bins().len(), 0);
    assert_eq!((series.utilisation(), series.mean_batch_size()), (None, None));
    assert!(!series.diverging());
}

#[test]
fn a_backlog_that_grows_is_told_however_long_it_takes_to_drain() {
    let regular = |gap: u64| (0..5_000).map(|i| arrival(i * gap, 1 << 60, 1_000)).collect();
    for (gap, diverges) in [(1_100, false), (1_000, false), (900, true), (100, true), (1, true)] {
        assert_eq!(run(&one_device(), regular(gap), 1).series().diverging(), diverges, "{gap}");
    }
}
