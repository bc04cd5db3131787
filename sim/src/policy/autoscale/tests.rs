//! The advice by hand, and a run that follows it.

use super::*;
use crate::cluster::DeviceSpec;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::MemoryLog;
use crate::metrics::{Metrics, TimeBin};
use crate::policy::parameters::Settings;
use crate::policy::{alpaserve, fifo};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, ModelId, Source, VecSource};

#[test]
fn the_paper_s_formulas() {
    // 10 devices, a fifth of the requests bad: 10 * 0.2 / 0.8 more.
    assert_eq!(advice(10, 0.2, 0.0, 0.01, 0.0), 3);
    assert_eq!(advice(100, 0.2, 0.0, 0.01, 0.0), 25);
    assert_eq!(advice(10, 0.0, 0.35, 0.01, 0.0), -3);
    assert_eq!(advice(10, 0.005, 0.35, 0.01, 0.15), -2);
    assert_eq!(advice(10, 0.0, 0.05, 0.01, 0.15), 0);
    assert_eq!(advice(10, 1.0, 0.0, 0.01, 0.0), 10);
}

/// Requests of 10 ms each: `dense` apart for the first two seconds, 100 ms apart for the next.
fn arrivals(dense_ms: u64) -> Vec<Arrival> {
    let (ms, slo) = (Span::from_ms(1), Span::from_ms(30));
    let at = |t: u64| Arrival {
        at: Time::ZERO + ms * t,
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo,
        alone: ms,
    };
    let dense = (0..2000 / dense_ms).map(|i| at(i * dense_ms));
    dense.chain((0..20).map(|i| at(2000 + 100 * i))).collect()
}

#[test]
fn devices_come_when_requests_are_late_and_go_when_they_idle() {
    let mut world = World::single(Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(10) });
    world.provision = vec![(Default::default(), Span::from_ms(200))];
    let config = Config {
        kind: 0,
        every: Span::from_ms(250),
        threshold: 0.01,
        spare: 0.1,
        least: 1,
        most: 8,
    };
    let inner = fifo::Fifo::new(fifo::Config { max_batch: 1, drop_expired: true });
    // A request each 4 ms needs 2.5 devices.
    let source: Box<dyn Source> = Box::new(VecSource::new(arrivals(4)));
    let policy = Autoscale::new(config, inner);
    let finished = simulate(&world, vec![source], policy, MemoryLog::default());
    let lines: Vec<String> = finished.observer.records.iter().map(ToString::to_string).collect();
    let came = lines.iter().filter(|l| l.starts_with("device") && l.ends_with("up")).count();
    assert!((3..=8).contains(&came), "{came}");
    assert!(lines.iter().any(|l| l.starts_with("device") && l.ends_with("down")));
    assert_eq!(finished.policy.up.len(), 1, "one is enough at the end");
    assert!(finished.end < Time::ZERO + Span::from_ms(5000), "the run ends: {}", finished.end);
    let report = crate::audit::audit(finished.observer.records.iter().cloned());
    assert!(report.is_clean(), "{report}");
}

/// Three of eight go, then two, then one: six tenths of those that are left are to spare.
#[test]
fn idle_devices_go_one_look_after_the_other_though_nothing_happens() {
    let law = Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(10) };
    let mut world = World::single(law);
    world.core.devices = vec![DeviceSpec::default(); 8];
    world.provision = vec![(Default::default(), Span::from_ms(200))];
    // One more fails, and is not counted on any longer.
    let fails = crate::core::DeviceChange::Fail(DeviceId(0));
    world.changes = vec![(Time::ZERO + Span::from_ms(1), fails)];
    let config = Config {
        kind: 0,
        every: Span::from_ms(250),
        threshold: 0.01,
        spare: 0.6,
        least: 1,
        most: 8,
    };
    let inner = fifo::Fifo::new(fifo::Config { max_batch: 1, drop_expired: true });
    let policy = Autoscale::new(config, inner);
    let [first, ..] = arrivals(4)[..] else { panic!("some arrive") };
    let last = Arrival { at: Time::ZERO + Span::from_ms(9_900), ..first };
    let source: Box<dyn Source> = Box::new(VecSource::new(vec![first, last]));
    let finished = simulate(&world, vec![source], policy, MemoryLog::default());
    assert_eq!(*finished.policy.up, [DeviceId(1), DeviceId(2)]);
}

/// A pipeline of four stages with two batches inside is half idle, though some batch is always inside.
#[test]
fn a_pipeline_is_idle_to_the_share_of_its_stages_that_are() {
    let pipeline = DeviceSpec { lanes: 4, stages: 4, ..DeviceSpec::default() };
    let mut world = World::single(Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(10) });
    world.core.devices = vec![pipeline.clone(); 8];
    world.provision = vec![(pipeline, Span::from_ms(200))];
    let config = Config {
        kind: 0,
        every: Span::from_ms(250),
        threshold: 0.01,
        spare: 0.1,
        least: 1,
        most: 8,
    };
    let law = Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(10) };
    let alone = (0, Span::from_ms(1));
    let profile = ModelProfile::of_constant(&law, Span::from_ms(50), &[1], 1, alone, 1);
    let inner = (alpaserve::Config::PRESETS[0].make)();
    // 400 requests/s for 5 s: four batches of 10 ms at a time, which one pipeline has room for.
    let arrivals: Vec<Arrival> = (0..2_000)
        .map(|i| Arrival {
            at: Time::ZERO + Span::from_us(2_500) * i,
            app: AppId(0),
            model: ModelId(0),
            size: 1,
            slo: Span::from_ms(50),
            alone: Span::from_ms(1),
        })
        .collect();
    let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
    let policy = Autoscale::new(config, alpaserve::AlpaServe::new(inner, &[profile]));
    let metrics = simulate(&world, vec![source], policy, Metrics::default()).observer;
    let bins: Vec<TimeBin> = metrics.series().bins().collect();
    let busy: f64 = bins.iter().map(|b| b.busy.as_secs_f64()).sum();
    // 2,000 batches of 10 ms, each on a quarter of a pipeline.
    assert!((busy - 5.0).abs() < 1e-3, "{busy} s");
    assert!(bins.iter().all(|b| (0.0..=1.0).contains(&b.utilisation())));
    assert!(metrics.devices().iter().all(|d| (0.0..=1.0).contains(&d.utilisation())));
    let all = metrics.devices().iter().map(|d| d.busy.as_secs_f64()).sum::<f64>();
    assert!((all - busy).abs() < 1e-6, "{all} s");
    let at_the_end = &bins[bins.len() / 2..];
    let up: f64 = at_the_end.iter().map(|b| b.up.as_secs_f64()).sum();
    let span: f64 = at_the_end.iter().map(|b| b.span().as_secs_f64()).sum();
    assert!(up / span < 2.5, "{:.1} pipelines are kept of 8, and 1.1 would do", up / span);
}
