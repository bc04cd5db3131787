//! Searches by closures in place of simulations.

use super::*;
use crate::search::Doubt;
use crate::search::ramp::Rise;
use crate::search::tally::Fate;
use orrery_sim::time::{Span, Time};
use std::convert::Infallible;

fn probe(good: bool, bad_rate: f64) -> Result<Probe, Infallible> {
    let shares = Vec::new();
    Ok(Probe {
        good,
        doubt: None,
        diverging: false,
        bad_rate,
        shares,
        good_share: 1.0 - bad_rate,
        worst_model: 0,
        requests: 10,
        measured_s: 1.0,
        log_error: 0.05,
        ramp: None,
    })
}

/// Good up to `peak`.
fn step(peak: f64) -> impl FnMut(f64, How) -> Result<Probe, Infallible> {
    move |rate, _| probe(rate <= peak, if rate <= peak { 0.0 } else { 0.1 })
}

fn from(start: f64) -> Bracket {
    let (tolerance, target) = (0.005, Some(0.01));
    Bracket {
        start,
        tolerance,
        target,
        step: 2.0,
        step_max: 2.0,
        around: true,
        hint: None,
        most: None,
    }
}

#[test]
fn the_peak_is_found_from_below_and_from_above_by_any_steps() {
    for start in [1.0, 90.0, 4000.0] {
        for (step_1, step_max) in [(2.0, 2.0), (1.04, 4.0)] {
            let bracket = Bracket { step: step_1, step_max, ..from(start) };
            let Ok(found) = bracket.highest(step(100.0));
            let value = found.value.unwrap();
            assert!(value <= 100.0 && value * 1.005 > 100.0, "{found:?}");
            assert!(found.at.as_ref().is_some_and(|p| p.good));
            assert_eq!((found.worse_below, found.collapse, found.refuted), (None, None, None));
            assert_eq!(found.metastable, None);
            assert_eq!(found.requests, 10 * u64::from(found.probes));
            assert!(found.probes < 40, "{found:?}");
            // Chance moves a jump: what is clear is at least 1.5 % away from it.
            let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
            assert!(good <= value * HELD && bad >= value / HELD, "{found:?}");
            assert!(good > 0.65 * value && bad < 1.2 * value, "{found:?}");
            let (low, high) = found.within.unwrap();
            assert!(low == value && high > 100.0 && high <= value * 1.005 * ROUNDING, "{found:?}");
        }
    }
}

#[test]
fn a_probe_in_doubt_makes_nothing_clear() {
    let doubtful = |rate: f64, how: How| {
        step(100.0)(rate, how).map(|p| Probe { doubt: Some(Doubt::Undecided), ..p })
    };
    let Ok(found) = from(90.0).highest(doubtful);
    assert!(found.value.is_some_and(|x| x <= 100.0 && x * 1.005 > 100.0), "{found:?}");
    assert_eq!((found.clearly_good, found.clearly_bad), (None, None), "{found:?}");
    let Ok(found) = fewest(3, 1, 40, |n| {
        probe(n >= 7, 0.0).map(|p| Probe { doubt: Some(Doubt::Undecided), ..p })
    });
    assert_eq!((found.value, found.clearly_good, found.clearly_bad), (Some(7.0), None, None));
}

#[test]
fn what_is_never_good_has_no_answer_and_ends() {
    let Ok(found) = from(100.0).highest(|_, _| probe(false, 1.0));
    assert_eq!((found.value, found.at, found.never_good), (None, None, true));
}

#[test]
fn what_is_always_good_has_no_answer_and_ends() {
    let Ok(found) = from(100.0).highest(|_, _| probe(true, 0.0));
    assert_eq!(found.value, None);
    assert!(found.good_up_to.is_some_and(|rate| rate > 1e6), "{found:?}");
}

#[test]
fn a_response_that_is_not_monotone_and_one_that_collapses_are_told() {
    let planner = |rate: f64, _| probe(rate <= 100.0 && !(60.0..80.0).contains(&rate), 0.02);
    let Ok(found) = from(90.0).highest(planner);
    assert!(found.worse_below.is_some_and(|r| (60.0..80.0).contains(&r)), "{found:?}");
    // So is a rate that is good beyond doubt above one that was bad above the answer.
    let mut asked = Asked::new(|rate: f64, _: How| probe(rate != 60.0, 0.02));
    for rate in [50.0, 60.0, 70.0] {
        let Ok(_) = asked.ask(rate);
    }
    assert_eq!(asked.found(Some(50.0)).worse_below, Some(60.0));
    let Ok(found) = from(90.0).highest(|rate, _| probe(rate <= 100.0, 0.9));
    assert_eq!((found.collapse, found.refuted), (Some(0.9), None));
}

#[test]
fn an_answer_that_a_longer_probe_refutes_is_searched_anew() {
    let Ok(found) = from(90.0).highest(metastable(80.0));
    let (value, refuted) = (found.value.unwrap(), found.refuted.unwrap());
    assert!(value <= 80.0 && value * 1.005 > 80.0, "{found:?}");
    assert!(refuted <= 100.0 && refuted * 1.005 > 100.0, "{found:?}");
    assert!(found.at.as_ref().is_some_and(|p| p.good));
    // Nothing near it is clear.
    assert_eq!((found.clearly_good, found.clearly_bad), (None, None), "{found:?}");
    assert_eq!(found.metastable, Some(0.9), "the answer does not come back from a burst either");
}

/// Usually good up to 100, in longer probes up to a peak of its own, and back from a burst up to 70.
fn metastable(longer: f64) -> impl FnMut(f64, How) -> Result<Probe, Infallible> {
    move |rate, how| {
        let peak = match how {
            How { burst: true, .. } => 70.0,
            How { longer: 1, .. } => 100.0,
            _ => longer,
        };
        let probe = probe(rate <= peak, if rate <= peak { 0.0 } else { 0.9 })?;
        Ok(Probe { requests: 10 * u64::from(how.longer), ..probe })
    }
}

/// Of two probes of the answer the last one's word counts.
#[test]
fn an_answer_that_a_longer_probe_confirms_is_that_probe_s() {
    let Ok(found) = from(90.0).highest(metastable(1e9));
    assert!(found.value.is_some_and(|v| v <= 100.0 && v * 1.005 > 100.0), "{found:?}");
    assert_eq!((found.refuted, found.at.unwrap().requests), (None, 80));
    assert_eq!(found.metastable, Some(0.9));
    // And the other way round: what the last probe of a rate says is bad is not clearly good.
    let mut asked = Asked::new(|_, how: How| probe(how.longer == 1, 0.5));
    for how in [How::USUAL, How { longer: 8, ..How::USUAL }] {
        asked.how = how;
        let Ok(_) = asked.ask(50.0);
    }
    let found = asked.found(Some(60.0));
    assert_eq!((found.clearly_good, found.clearly_bad), (None, None), "{found:?}");
}

/// A collapse above the peak alone is no metastable system: who answers late requests, too, falls behind for
/// good with any load above its peak, and comes back with any below.
#[test]
fn a_collapse_above_the_peak_is_not_metastable() {
    let fifo = |rate: f64, _: How| probe(rate <= 100.0, if rate <= 100.0 { 0.0 } else { 0.9 });
    let Ok(found) = from(90.0).highest(fifo);
    assert_eq!((found.collapse, found.metastable, found.refuted), (Some(0.9), None, None));
}

#[test]
fn what_is_undecided_is_no_clear_answer() {
    let wide = |rate: f64, _| {
        let doubt = (50.0..150.0).contains(&rate).then_some(Doubt::Undecided);
        let bad_rate = if rate <= 100.0 { 0.0 } else { 0.5 };
        Ok::<Probe, Infallible>(Probe { doubt, ..probe(rate <= 100.0, bad_rate)? })
    };
    let Ok(found) = from(90.0).highest(wide);
    let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
    assert!(good < 50.0 && bad >= 150.0, "{good} {bad}");
}

#[test]
fn the_fewest_devices_by_whole_numbers() {
    for (start, needed) in [(1, 1), (1, 13), (64, 13), (8, 1000)] {
        let Ok(found) = fewest(start, 1, 4096, |n| probe(n >= needed, 0.0));
        assert_eq!(found.value, Some(f64::from(needed)));
        assert_eq!(found.worse_below, None);
    }
    let Ok(found) = fewest(7, 7, 100, |n| probe(n >= 9, 0.0));
    assert_eq!((found.value, found.clearly_bad), (Some(9.0), Some(8.0)));
    let Ok(found) = fewest(8, 1, 100, |_| probe(false, 1.0));
    assert_eq!((found.value, found.never_good), (None, true));
}

/// Ramps over a share of bad requests that is a function of the rate, one in 50 requests bad more or less.
fn ramps(share: impl Fn(f64) -> f64) -> impl FnMut(f64, How) -> Result<Probe, Infallible> {
    move |rate, how| {
        let usual = probe(share(rate) <= 0.01, share(rate))?;
        let Some(by) = how.rises else { return Ok(usual) };
        let requests = 100_000 * u64::from(how.longer);
        let rise = Rise::new((rate, by), requests, Span::ZERO, Span::from_ns(1)).unwrap();
        let (mut ramp, mut owed) = (Ramp::new(rise, 0.01), 0.0);
        for i in 0..requests {
            // At the lowest rate they come evenly.
            let at = rise.when(Time::from_ns((i as f64 * 1e9 / rate) as u64));
            owed += share(rate * libm::exp(libm::log(by) * rise.part(at)));
            let is_bad = owed >= 1.0;
            owed -= if is_bad { 1.0 } else { 0.0 };
            let fate = if is_bad { Fate::Late } else { Fate::Good };
            if rise.part(at) >= 1.0 || ramp.add((at, 0), fate, Some(u64::from(is_bad))) {
                break;
            }
        }
        Ok(Probe { ramp: Some(ramp), requests, ..usual })
    }
}

#[test]
fn two_ramps_say_where_a_share_meets_the_target() {
    for (start, power) in [(1.0, 8.0), (90.0, 15.0), (4000.0, 40.0)] {
        let Ok(found) =
            from(start).highest(ramps(|rate| (0.01 * libm::pow(rate / 100.0, power)).min(1.0)));
        let value = found.value.unwrap();
        assert!((value / 100.0 - 1.0).abs() < 0.003, "{start}, {power}: {found:?}");
        assert!(!found.by_bracket && found.at.is_none(), "{start}, {power}: {found:?}");
        let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
        assert!(good < 100.0 && 100.0 < bad && bad < 1.2 * good, "{start}, {power}: {found:?}");
        // With those that look for it, and one after a burst.
        assert!(found.probes <= 14, "{start}, {power}: {found:?}");
    }
}

#[test]
fn where_the_share_jumps_a_bracket_says_it() {
    for edge in [70.0, 100.0, 133.0] {
        let Ok(found) = from(100.0).highest(ramps(|r| if r <= edge { 0.0001 } else { 0.9 }));
        let value = found.value.unwrap();
        assert!(found.by_bracket && value <= edge && value * 1.005 > edge, "{found:?}");
    }
    // So it does where a lower rate is worse: up to there all is good.
    let hill =
        |r: f64| if (60.0..80.0).contains(&r) { 0.2 } else { 0.01 * libm::pow(r / 100.0, 20.0) };
    let Ok(found) = from(100.0).highest(ramps(hill));
    assert!(found.by_bracket && found.value.is_some_and(|v| v <= 60.0 && v > 59.6), "{found:?}");
}

/// A longer probe that refutes an answer is not made a second time.
#[test]
fn no_probe_is_made_twice() {
    let mut made = Vec::new();
    let mut metastable = metastable(80.0);
    let Ok(found) = from(90.0).highest(|rate, how| {
        let rises = how.rises.map(f64::to_bits);
        made.push((rate.to_bits(), how.longer, how.burst, how.glance, rises));
        metastable(rate, how)
    });
    assert!(found.refuted.is_some());
    let all = made.len();
    made.sort_unstable();
    made.dedup();
    assert_eq!(made.len(), all);
}
