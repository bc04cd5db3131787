//! Bins worked by hand, and sums over bins against the figures of `Metrics`.

use super::*;
use crate::cluster::{DeviceSpec, Footprint};
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::metrics::{Metrics, Scopes, View};
use crate::policy::clockwork::{Clockwork, Config, LoadRule};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, VecSource};
use crate::rng::Stream;

const LAW: Latency = Latency::Proportional { c1: 0.1 };
const MODELS: usize = 7;

/// Clockwork on two devices that hold two models each, at random times.
fn run(width: Span, requests: u64) -> (Panels, (Metrics, Metrics)) {
    let ms = Span::from_ms;
    let mut world = World::single(LAW);
    let device = DeviceSpec { memory_pages: Some(9), ..DeviceSpec::default() };
    world.core.devices = vec![device; 2];
    world.core.models = vec![Footprint { pages: 4, load: ms(8) }; MODELS];
    world.latency = vec![vec![LAW; MODELS]];
    let measure = |_| ModelProfile::measure(&LAW, ms(60), &[1, 2, 4], 1, || (0, ms(5)), 1);
    let profiles: Vec<ModelProfile> = (0..MODELS).map(measure).collect();
    let mut rng = Stream::named(5, "panels", 0);
    let mut at = Time::ZERO;
    let mut arrival = |_| {
        at += Span::from_us(rng.below(4_000));
        let model = rng.below(MODELS as u64) as u32;
        let (app, model) = (AppId(model), ModelId(model));
        Arrival { at, app, model, size: 1, slo: ms(60), alone: ms(5) }
    };
    let source = Box::new(VecSource::new((0..requests).map(&mut arrival).collect()));
    let policy = Clockwork::new(Config { loads: LoadRule::Paper, ..Config::released() }, &profiles);
    let groups: Vec<u32> = (0..MODELS as u32).map(|m| m % 2).collect();
    let grouped = Metrics::default().with_scopes(Scopes::Groups(groups.clone()));
    let observer = (Panels::new(width, groups), (Metrics::default(), grouped));
    simulate(&world, vec![source], policy, observer).observer
}

#[test]
fn sums_over_bins_are_the_figures_of_the_run() {
    for width_us in [777, 10_000, 1 << 40] {
        let (panels, (each, grouped)) = run(Span::from_us(width_us), 3_000);
        let bins = panels.bins();
        for (group, figures) in grouped.figures(View::Groups).iter().enumerate() {
            let sum = |of: fn(&PanelGroup) -> u64| bins.iter().map(|b| of(&b.groups[group])).sum();
            let offered: u64 = sum(|g| g.offered);
            assert_eq!(offered, figures.offered);
            let in_time: u64 = sum(|g| g.in_time);
            assert_eq!(in_time, figures.ended(End::InTime));
            let by_arrival: u64 = sum(|g| g.offered_in_time);
            assert_eq!(by_arrival, in_time);
            let late: u64 = sum(|g| g.late);
            let dropped: u64 = sum(|g| g.dropped);
            assert_eq!((late, dropped), (figures.ended(End::Late), figures.dropped()));
            assert!(dropped > 0 && in_time > 0);
        }
        // Groups are sums over their applications, and cold starts over all.
        for (group, figures) in grouped.figures(View::Groups).iter().enumerate() {
            let of = each.apps().iter().skip(group).step_by(2).map(|a| a.offered).sum::<u64>();
            assert_eq!(of, figures.offered);
        }
        assert_eq!(each.total(), grouped.total());
        assert!(each.total().cold > 100 && each.total().cold < 3_000);
        let devices = each.devices();
        let span = |of: fn(&Panel) -> Span| bins.iter().map(of).sum::<Span>();
        assert_eq!(span(|b| b.busy), devices.iter().map(|d| d.busy).sum());
        assert_eq!(span(|b| b.loading), devices.iter().map(|d| d.loading).sum());
        assert_eq!(span(|b| b.up), devices.iter().map(|d| d.up).sum());
        let loads: u64 = devices.iter().map(|d| d.loads).sum();
        assert_eq!(bins.iter().map(|b| b.loads).sum::<u64>(), loads);
        assert!(loads > 100);
        let all: Vec<u64> = bins.iter().map(|b| b.batches).collect();
        assert_eq!(all.iter().sum::<u64>(), each.batch_sizes().iter().sum());
    }
}

#[test]
fn distinct_models_are_counted_once_in_a_bin() {
    let (one, (each, _)) = run(Span::from_secs(1 << 20), 3_000);
    let warm_or_cold = |of: fn(&Panel) -> u64| one.bins().iter().map(of).sum::<u64>();
    assert_eq!(one.bins().len(), 1);
    assert_eq!((warm_or_cold(|b| b.cold_models), warm_or_cold(|b| b.warm_models)), (7, 7));
    // In bins of a nanosecond each success is alone: the counts are those of the answers.
    let (many, _) = run(Span::from_us(100), 300);
    let sum = |of: fn(&Panel) -> u64| many.bins().iter().map(of).sum::<u64>();
    let cold: u64 = many.bins().iter().flat_map(|b| &b.groups).map(|g| g.cold).sum();
    assert!(sum(|b| b.cold_models) <= cold && sum(|b| b.cold_models) > cold / 4);
    assert!(each.total().cold > 0);
}

#[test]
fn one_request_by_hand() {
    // Cold: the load takes 8 ms, the batch 5 ms.
    let (panels, _) = run(Span::from_ms(10), 1);
    let first = panels.bins()[0].groups.iter().map(|g| g.offered).sum::<u64>();
    assert_eq!(first, 1);
    let total = |of: fn(&PanelGroup) -> u64| {
        panels.bins().iter().flat_map(|b| &b.groups).map(of).sum::<u64>()
    };
    assert_eq!((total(|g| g.cold), total(|g| g.in_time)), (1, 1));
    let span = |of: fn(&Panel) -> Span| panels.bins().iter().map(of).sum::<Span>();
    assert_eq!(span(|b| b.loading), Span::from_ms(8));
    assert_eq!(span(|b| b.busy), Span::from_ms(5));
    assert_eq!(panels.bins()[1].all().longest, Span::from_ms(13));
}
