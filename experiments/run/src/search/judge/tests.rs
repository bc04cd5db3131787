//! Verdicts of requests that come and end by hand, without a simulation.

use super::*;
use orrery_sim::request::{AppId, ModelId, RequestId, SourceId};

fn rule(target: f64, load: Load) -> Rule {
    Rule {
        criterion: Criterion::BadRate,
        target,
        tolerance: 0.01,
        requests_per_model: 20_000,
        warm_up: Span::ZERO,
        least: Span::from_secs(4),
        exactly: None,
        stop: Stop::Clear,
        load,
        moves: None,
        by_flow: false,
    }
}

fn steady() -> Load {
    Load::Steady { rate_per_s: 1_000.0, capacity_per_s: None }
}

/// At most `n` requests, one each millisecond with an SLO of 10 ms: answered after one, or after eleven.
fn told(rule: Rule, n: u32, is_late: impl Fn(u32) -> bool) -> Probe {
    after(rule, n, |i| if is_late(i) { 11 } else { 1 })
}

/// Each is answered after so many milliseconds, eleven at most.
fn after(rule: Rule, n: u32, delay_ms: impl Fn(u32) -> u32) -> Probe {
    let mut judge = Judge::new(rule, 1);
    let at = |i: u32| Time::ZERO + Span::from_ms_f64(f64::from(i));
    let of = |i: u32| Request {
        id: RequestId(u64::from(i)),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        source: SourceId(0),
        arrival: at(i),
        deadline: at(i + 10),
    };
    for i in 0..n {
        for ends in (i.saturating_sub(11)..i).filter(|j| j + delay_ms(*j) == i) {
            let end = if delay_ms(ends) > 10 { End::Late } else { End::InTime };
            judge.ended(at(i), &of(ends), end, None);
        }
        judge.arrived(at(i), &of(i));
        if judge.stop() {
            break;
        }
    }
    judge.verdict()
}

#[test]
fn a_list_that_has_ended_is_judged_by_all_of_it() {
    // Its last request has no answer.
    for (late_of_100, good) in [(0, true), (4, true), (6, false), (100, false)] {
        let found =
            told(rule(0.05, Load::Finite { bad_max: Vec::new() }), 901, |i| i % 100 < late_of_100);
        assert_eq!((found.good, found.is_sure()), (good, true), "{late_of_100}: {found:?}");
        assert_eq!(found.requests, 901);
    }
    // A load that would go on was not seen long enough.
    let short = told(rule(0.05, steady()), 900, |i| i % 100 < 4);
    assert_eq!((short.good, short.doubt), (true, Some(Doubt::Short)));
}

#[test]
fn a_bad_beginning_is_not_the_whole() {
    let found = told(rule(0.2, steady()), 40_000, |i| i < 100);
    assert_eq!((found.good, found.is_sure()), (true, true), "{found:?}");
    let worse = told(rule(0.2, steady()), 40_000, |i| i % 2 == 0);
    assert_eq!((worse.good, worse.is_sure()), (false, true), "{worse:?}");
    assert!(worse.requests <= 2_000, "{worse:?}");
}

/// Who waits is late together: where requests in a row fare alike, none of thousands that is bad says little.
#[test]
fn a_lucky_beginning_is_not_far_below_the_target() {
    let near = Rule { stop: Stop::Exact(0.2), requests_per_model: 1_000, ..rule(0.01, steady()) };
    let slow = |i: u32| if i % 400 < 200 { 1 } else { 9 };
    let late = |i: u32| if (5_000..5_400).contains(&i) { 11 } else { slow(i) };
    let found = after(near.clone(), 8_001, late);
    assert!(!found.good && found.requests > 5_000, "{found:?}");
    // Where each fares by itself, as few are enough.
    let alone = after(near, 8_001, |i| if i % 2 == 0 { 1 } else { 9 });
    assert!(alone.good && alone.requests <= 5_000, "{alone:?}");
}
