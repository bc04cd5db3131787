//! Each rule's seeded faults are found by name, and clean runs are clean.

use super::*;
use crate::time::Span;
use crate::tokens::law::{Attention, StepLaw};
use crate::tokens::policy::continuous::{Config, Continuous, Giving, Order};
use crate::tokens::request::{Machine, Slo};
use crate::tokens::world::simulate;

type Records = Vec<(Time, Record)>;

fn machine() -> Machine {
    let dense = Curve::new(vec![(1, 3_000_000), (64, 9_000_000)]).unwrap();
    let head = Curve::new(vec![(1, 500_000), (8, 1_000_000)]).unwrap();
    let attention = Attention {
        floor: 1_000_000,
        decode: [500_000, 100_000, 20_000],
        prompt: [400_000, 30_000, 900],
        mixed: [600_000, 90_000, 25_000, 35_000, 1_000],
    };
    Machine {
        law: StepLaw { dense, head, attention, all_reduce: [7_000, 50] },
        blocks: 12,
        block_tokens: 4,
    }
}

/// Five requests that do not all fit: some are evicted, one is dropped.
fn run() -> (Terms, Records) {
    let request = |at_us, tokens_in, tokens_out, first_us| TokenRequest {
        at: Time::ZERO + Span::from_us(at_us),
        tokens_in,
        tokens_out,
        slo: Slo { first: Span::from_us(first_us), each: Span::from_us(20) },
    };
    let requests = [
        request(0, 10, 20, 500),
        request(1, 9, 20, 500),
        request(2, 12, 9, 500),
        request(3, 30, 5, 1),
        request(400, 3, 1, 500),
    ];
    let drop = Giving::Expired;
    let policy = Continuous::new(Config { order: Order::Edf, drop, budget: 16, sequences: 4 });
    let ran = simulate(&machine(), &requests, policy, Vec::new());
    (Terms { policy: "p".into(), machine: machine() }, ran.observer)
}

fn audited(terms: Terms, records: &Records) -> Report {
    let mut auditor = Auditor::new(terms);
    records.iter().for_each(|(now, record)| auditor.record(*now, record));
    auditor.finish()
}

/// The report of the run after `change`.
fn after(change: impl FnOnce(&mut Records)) -> Vec<Fault> {
    let (terms, mut records) = run();
    change(&mut records);
    audited(terms, &records).faults.into_iter().map(|f| f.fault).collect()
}

fn place(records: &Records, is: impl Fn(&Record) -> bool) -> usize {
    records.iter().position(|r| is(&r.1)).expect("there is one")
}

#[test]
fn a_clean_run_is_clean_and_has_all_kinds_of_records() {
    let (terms, records) = run();
    let report = audited(terms, &records);
    assert_eq!(report.faults, []);
    assert_eq!((report.requests, report.done, report.dropped), (5, 4, 1));
    assert_eq!(report.out, 20 + 20 + 9 + 1);
    assert!(records.iter().any(|r| matches!(r.1, Record::Evict { .. })));
}

#[test]
fn faults_of_conservation_are_found() {
    let arrive = |r: &Record| matches!(r, Record::Arrive { .. });
    let faults = after(|r| r.insert(1, r[0].clone()));
    assert!(matches!(faults[0], Fault::ComesTwice { .. }));
    let faults = after(|r| _ = r.remove(place(r, arrive)));
    assert!(faults.iter().any(|f| matches!(f, Fault::NotHere { .. })), "{faults:?}");
    let faults = after(|r| {
        let i = place(r, arrive);
        let Record::Arrive { what, .. } = &mut r[i].1 else { unreachable!() };
        what.tokens_out += 1;
    });
    assert!(matches!(faults[0], Fault::EndsEarly { out: 20, wants: 21, .. }), "{faults:?}");
    let faults = after(|r| _ = r.remove(place(r, |r| matches!(r, Record::Done { .. }))));
    assert!(faults.iter().any(|f| matches!(f, Fault::LeftWithoutEnd { .. })), "{faults:?}");
    assert_eq!(after(|r| _ = r.pop()), [Fault::NoFinish]);
    let faults = after(|r| r.last_mut().unwrap().0 += Span::from_ns(1));
    assert!(matches!(faults[..], [Fault::FinishesLate { .. }]));
    let faults = after(|r| r.push(r[r.len() - 1].clone()));
    assert_eq!(faults, [Fault::AfterFinish]);
    let faults = after(|r| {
        let i = place(r, |r| matches!(r, Record::First { .. }));
        let Record::First { request } = r[i].1 else { unreachable!() };
        r.insert(i + 1, (r[i].0, Record::Drop { request }));
    });
    assert!(matches!(faults[0], Fault::DroppedWithTokens { out: 1, .. }), "{faults:?}");
}

#[test]
fn faults_of_blocks_are_found() {
    let (mut terms, records) = run();
    terms.machine.blocks -= 1;
    let faults = audited(terms, &records).faults;
    assert!(
        matches!(faults[0].fault, Fault::TooManyBlocks { wants: 12, blocks: 11 }),
        "{faults:?}"
    );
    // An eviction that is left out: its blocks are still taken.
    let faults = after(|r| _ = r.remove(place(r, |r| matches!(r, Record::Evict { .. }))));
    assert!(faults.iter().any(|f| matches!(f, Fault::TooManyBlocks { .. })), "{faults:?}");
}

#[test]
fn faults_of_progress_are_found() {
    let first_step = |r: &mut Records| place(r, |r| matches!(r, Record::Step { .. }));
    let faults = after(|r| {
        let i = first_step(r);
        let Record::Step { parts, .. } = &mut r[i].1 else { unreachable!() };
        parts.push(parts[0]);
    });
    assert!(matches!(faults[0], Fault::RunsTwice { .. }), "{faults:?}");
    let faults = after(|r| {
        let i = first_step(r);
        let Record::Step { parts, .. } = &mut r[i].1 else { unreachable!() };
        parts[0].1 += 1;
    });
    assert!(matches!(faults[0], Fault::NoSuchTokens { tokens: 11, has: 10, .. }), "{faults:?}");
    let faults = after(|r| {
        let i = place(r, |r| matches!(r, Record::First { .. }));
        r.insert(i, r[i].clone());
    });
    assert!(matches!(faults[..], [Fault::NoFirstToken { .. }]), "{faults:?}");
    let faults = after(|r| _ = r.remove(place(r, |r| matches!(r, Record::First { .. }))));
    assert!(matches!(faults[..], [Fault::FirstNotTold { .. }]), "{faults:?}");
}

#[test]
fn faults_of_steps_are_found() {
    let faults = after(|r| {
        let i = place(r, |r| matches!(r, Record::Step { .. }));
        let Record::Step { end, .. } = &mut r[i].1 else { unreachable!() };
        *end = Time::from_ns(end.ns() - 1);
    });
    assert!(matches!(faults[0], Fault::WrongTime { .. }), "{faults:?}");
    let faults = after(|r| {
        let i = place(r, |r| matches!(r, Record::Step { .. }));
        r.insert(i + 1, (r[i].0, Record::Evict { request: RequestId(0) }));
    });
    assert!(matches!(faults[0], Fault::WithinAStep { .. }), "{faults:?}");
    let faults = after(|r| r[3].0 = Time::ZERO);
    assert!(faults.iter().any(|f| matches!(f, Fault::TimeBackwards { .. })), "{faults:?}");
}
