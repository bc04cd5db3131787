//! Metrics against the plain loops of `recount`, of each model and application.

use super::cases::{Case, ticks};
use super::policies;
use crate::recount::Recount;
use orrery_sim::cluster::Sharing;
use orrery_sim::driver::simulate;
use orrery_sim::log::{Closed, MemoryLog};
use orrery_sim::metrics::{DeviceFigures, Metrics, Window};
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::request::{DeviceId, Request};
use orrery_sim::time::{Span, Time};
use orrery_sweep::replication::{Replication, ScopeNames};
use std::collections::BTreeMap;

/// Lanes of the devices that began a batch, and how they share them.
#[derive(Default)]
struct Lanes(BTreeMap<DeviceId, (Sharing, u8)>);

impl Observer for Lanes {
    fn began(&mut self, _now: Time, batch: &Batch<'_>) {
        self.0.insert(batch.device, (batch.sharing, batch.lanes));
    }
}

fn check_requests(found: &Metrics, recount: &Recount, window: Window) {
    let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
    let (models, apps) = (found.models().len(), found.apps().len());
    let scopes = ScopeNames { models: names(models), apps: names(apps), ..ScopeNames::default() };
    let printed = Replication::of(1, found, &scopes);
    let check = |scope: &str, wanted: &dyn Fn(&Request) -> bool| {
        for (metric, least, most) in recount.of_requests((window.from, window.to), &[], 1.0, wanted)
        {
            let value = printed.value(scope, metric).expect(metric);
            assert!((least..=most).contains(&value), "{scope} {metric}: {value}, not {least}");
        }
    };
    check("all", &|_| true);
    for m in (0..models).filter(|_| models > 1) {
        check(&format!("model {m}"), &|r| r.model.index() == m);
    }
    for a in (0..apps).filter(|_| apps > 1) {
        check(&format!("app {a}"), &|r| r.app.index() == a);
    }
    for (metric, least, most) in recount.of_run(None) {
        let value = printed.value("all", metric).expect(metric);
        assert!((least..=most).contains(&value), "{metric}: {value}, not {least}");
    }
}

fn check_device(found: &DeviceFigures, id: DeviceId, recount: &Recount, lanes: &Lanes) {
    assert_eq!(found.batches, recount.closed(id, |c| matches!(c, Closed::Done(_))));
    assert_eq!(found.refused, recount.closed(id, |c| matches!(c, Closed::Rejected(_))));
    assert_eq!(found.preempted, recount.closed(id, |c| matches!(c, Closed::Preempted)));
    let (sharing, lanes) = *lanes.0.get(&id).unwrap_or(&(Sharing::None, 1));
    assert_eq!(found.busy, recount.busy(id, sharing, lanes));
    let up = recount.time_up(id);
    assert_eq!(found.up, up);
    let share = if up == Span::ZERO { 0.0 } else { found.busy.ns() as f64 / up.ns() as f64 };
    assert_eq!(found.utilisation(), share);
    assert!((0.0..=1.0).contains(&share), "{share}");
}

fn check_run(found: &Metrics, recount: &Recount, window: Window) {
    let sizes = recount.sizes();
    for (size, count) in found.batch_sizes().iter().enumerate() {
        assert_eq!(*count, sizes.iter().filter(|s| **s == size).count() as u64);
    }
    assert_eq!(found.batch_sizes().iter().sum::<u64>(), sizes.len() as u64);
    assert_eq!(found.in_system_ns(), recount.in_system_ns());
    assert_eq!(found.end(), recount.finish);
    assert_eq!(found.measured(), window.to.min(recount.finish).since(window.from));
    assert_eq!(found.devices().len(), recount.up.len());
    let total = found.total();
    assert_eq!(total.dropped(), total.ends[2..7].iter().sum::<u64>());
}

#[test]
fn the_metrics_are_what_plain_loops_make_of_the_records() {
    for entry in policies() {
        for seed in 0..100 {
            let case = Case::new(seed);
            let to = if seed % 2 == 0 { Time::NEVER } else { Time::ZERO + ticks(15) };
            let window = Window { from: Time::ZERO + ticks(seed % 5), to };
            let watching = (MemoryLog::default(), Lanes::default());
            let observer = (Metrics::new(window, true), watching);
            let run = simulate(&case.world, case.sources(), (entry.make)(&case), observer);
            let (metrics, (log, lanes)) = run.observer;
            let recount = Recount::new(&log.records);
            check_requests(&metrics, &recount, window);
            for (d, device) in metrics.devices().iter().enumerate() {
                check_device(device, DeviceId(d as u32), &recount, &lanes);
            }
            check_run(&metrics, &recount, window);
        }
    }
}
