//! Searches by closures in place of simulations.

use super::*;
use crate::search::{Aim, Doubt, Figure};
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
        figure: None,
    })
}

/// Good up to `peak`.
fn step(peak: f64) -> impl FnMut(f64, How) -> Result<Probe, Infallible> {
    move |rate, _| probe(rate <= peak, if rate <= peak { 0.0 } else { 1.0 - peak / rate })
}

fn from(start: f64) -> Bracket {
    Bracket { start, tolerance: 0.005, step: 2.0, step_max: 2.0, target: None, around: true }
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
            let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
            assert!(good == value && bad > 100.0 && bad <= value * 1.005, "{found:?}");
        }
    }
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
    // Nothing above the answer is clearly good, though shorter probes said so.
    let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
    assert!(good <= value && value < bad, "{found:?}");
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
    let found = asked.found(Some(60.0), None);
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
        Ok::<Probe, Infallible>(Probe { doubt, ..probe(rate <= 100.0, 0.02)? })
    };
    let Ok(found) = from(90.0).highest(wide);
    let (good, bad) = (found.clearly_good.unwrap(), found.clearly_bad.unwrap());
    assert!(good < 50.0 && bad >= 150.0 && !found.at.unwrap().is_sure());
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

/// The same with a target: glances, probes of full length, and halving where there is no line.
fn sought(start: f64) -> Bracket {
    Bracket { target: Some(0.01), ..from(start) }
}

/// ln(bad / 0.01) rises by `slope` with ln(rate), and is 0 at 100; without noise but for the counts' own.
fn curve(slope: f64) -> impl FnMut(f64, How) -> Result<Probe, Infallible> {
    move |rate, how| {
        let share = (0.01 * libm::exp(slope * libm::log(rate / 100.0))).min(0.9);
        let bad = (share * 1_000.0) as u64;
        let counts: Vec<(u64, u64)> = (0..40).map(|i| (1_000, bad + i % 2)).collect();
        let is_near = (0.005..0.02).contains(&share) && how.aim != Aim::Verdict;
        let figure = Figure::of(&counts, 1_000, share, 0.01).filter(|_| is_near);
        let doubt = is_near.then_some(Doubt::Undecided);
        Ok(Probe { figure, doubt, ..probe(share <= 0.01, share)? })
    }
}

#[test]
fn a_root_is_found_from_below_and_from_above_with_few_probes() {
    for start in [1.0, 60.0, 99.0, 101.0, 140.0, 4000.0] {
        for slope in [5.0, 20.0, 50.0] {
            let Ok(found) = sought(start).highest(curve(slope));
            let (value, (low, high)) = (found.value.unwrap(), found.interval.unwrap());
            assert!((value / 100.0 - 1.0).abs() < 0.002, "{start} {slope}: {found:?}");
            assert!(low <= 100.0 && 100.0 <= high && high < 1.02 * low, "{found:?}");
            assert!(found.nearest.is_some_and(|n| (n / value - 1.0).abs() < 0.02), "{found:?}");
            assert_eq!((found.worse_below, found.metastable, found.refuted), (None, None, None));
            // Six of them are around the answer.
            assert!(found.probes < 22, "{start} {slope}: {found:?}");
        }
    }
}

#[test]
fn without_a_line_the_bracket_is_halved_and_the_interval_is_what_is_clear() {
    for start in [1.0, 90.0, 4000.0] {
        let Ok(found) = sought(start).highest(step(100.0));
        let (value, (low, high)) = (found.value.unwrap(), found.interval.unwrap());
        assert!(value <= 100.0 && value * 1.005 > 100.0, "{found:?}");
        assert!(low <= 100.0 && 100.0 < high && high < 1.01 * low, "{found:?}");
        assert_eq!((found.nearest, found.worse_below), (None, None));
    }
    let Ok(found) = sought(90.0).highest(metastable(80.0));
    assert!(found.value.is_some_and(|v| v <= 80.0 && v * 1.005 > 80.0), "{found:?}");
    assert!(found.refuted.is_some() && found.metastable == Some(0.9), "{found:?}");
    assert!(found.interval.is_some_and(|(low, high)| low <= 80.0 && 80.0 <= high), "{found:?}");
}

#[test]
fn a_walk_that_finds_no_answer_ends() {
    let Ok(found) = sought(100.0).highest(|_, _| probe(false, 1.0));
    assert_eq!((found.value, found.never_good), (None, true));
    let Ok(found) = sought(100.0).highest(|_, _| probe(true, 0.0));
    assert!(found.value.is_none() && found.good_up_to.is_some_and(|r| r > 1e6), "{found:?}");
}

#[test]
fn a_worse_rate_below_a_root_is_told() {
    let mut peak = curve(20.0);
    let mut hole = |rate: f64, how: How| {
        if (60.0..80.0).contains(&rate) { probe(false, 0.5) } else { peak(rate, how) }
    };
    let Ok(found) = sought(95.0).highest(&mut hole);
    assert!(found.worse_below.is_some_and(|r| (60.0..80.0).contains(&r)), "{found:?}");
}
