//! Rule 11: batches that share a device.

use super::*;
use crate::cluster::{DeviceSpec, Sharing};

/// The one fault of this rule.
pub const FAULT: &str = "ClosesBeforeItsShare";

/// Requests of 10 ns on one device with three lanes that share it.
fn shared() -> (Vec<Record>, Terms) {
    let mut world = World::single(Latency::Proportional { c1: 1.0 });
    let device = DeviceSpec { lanes: 3, sharing: Sharing::Processor, ..DeviceSpec::default() };
    let terms = Terms { devices: vec![(&device).into()], ..Terms::default() };
    world.core.devices = vec![device];
    let arrival = |i: u64| Arrival {
        at: time(7 * i),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo: Span::from_secs(1),
        alone: Span::from_ns(10),
    };
    let source: Box<dyn Source> = Box::new(VecSource::new((0..40).map(arrival).collect()));
    let policy = Fifo::new(Config { max_batch: 1, drop_expired: false });
    (simulate(&world, vec![source], policy, MemoryLog::default()).observer.records, terms)
}

fn audited(log: Vec<Record>, terms: Terms) -> Report {
    let mut auditor = Auditor::default().with_terms(&Names::default(), terms);
    log.into_iter().for_each(|record| auditor.record(record));
    auditor.finish()
}

#[test]
fn a_batch_gets_its_share_and_no_more() {
    let (log, terms) = shared();
    let report = audited(log.clone(), terms.clone());
    assert!(report.is_clean(), "{report}");
    // A batch that computed a nanosecond longer should have closed later.
    for from in [0, 50, 150] {
        let mut log = log.clone();
        let close = find(&log, from, is_done);
        let Record::Close { outcome, .. } = &mut log[close] else { unreachable!() };
        *outcome = Closed::Done(Span::from_ns(11));
        assert_eq!(names(&audited(log, terms.clone())), [FAULT]);
    }
    let mut alone = terms;
    alone.devices[0].sharing = Sharing::None;
    assert!(audited(log, alone).is_clean(), "without sharing, a batch may run for longer");
}
