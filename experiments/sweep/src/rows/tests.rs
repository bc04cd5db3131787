//! What a mean and a difference are where some seeds have no answer.

use super::*;

fn devices(seed: u64, found: Option<f64>) -> Replication {
    let mut r = Replication { seed, offered: vec![10], in_time: vec![10], ..Default::default() };
    r.measures.push(match found {
        Some(n) => Measure::of("all", DEVICES, n, 10),
        None => Measure::unanswered("all", DEVICES, "not even 4096".to_string(), 10),
    });
    r.measures.push(Measure::of("all", "probes", 7.0, 10));
    if found.is_some() {
        r.measures.push(Measure::of("all", "finish_rate", 0.995, 10));
    }
    r
}

fn of(found: [Option<f64>; 5]) -> Vec<Replication> {
    (1..).zip(found).map(|(seed, found)| devices(seed, found)).collect()
}

const SEEDS: Seeds = Seeds { first: 1, count: 5, until_ci: None };

fn row<'a>(rows: &'a [Row], metric: &str) -> &'a Row {
    rows.iter().find(|r| r.metric == metric).unwrap_or_else(|| panic!("{metric}"))
}

#[test]
fn seeds_without_an_answer_are_counted_and_not_averaged() {
    let runs = of([Some(3.0), None, Some(5.0), None, None]);
    let all = rows(&Row::default(), &SEEDS, &runs);
    // What is measured at the answer has no mean either: it would be of the easier seeds.
    for metric in [DEVICES, "finish_rate"] {
        let row = row(&all, metric);
        assert_eq!((row.value, row.ci95()), (None, None), "{metric}");
        assert_eq!(row.reason, "3 of 5 seeds have no answer: not even 4096");
        assert!(row.has_flag(Flags::NO_ANSWER));
    }
    assert_eq!(row(&all, "probes").value, Some(7.0), "every search made probes");
    let all = rows(&Row::default(), &SEEDS, &of([Some(3.0); 5]));
    assert_eq!(row(&all, DEVICES).value, Some(3.0));
    assert!(all.iter().all(|r| r.reason.is_empty()));
}

#[test]
fn one_seed_without_an_answer_says_why() {
    let one = Seeds { count: 1, ..SEEDS };
    let all = rows(&Row::default(), &one, &[devices(1, None)]);
    assert_eq!((row(&all, DEVICES).value, &*row(&all, DEVICES).reason), (None, "not even 4096"));
}

#[test]
fn a_difference_with_no_answer_on_either_side_is_none() {
    let (some, none) = (of([Some(3.0); 5]), of([None, Some(2.0), None, None, None]));
    for (a, b) in [(&some, &none), (&none, &some)] {
        let row = difference(&Row::default(), "fifo", a, b).expect("a row");
        assert_eq!((row.value, row.ci95()), (None, None));
        assert_eq!(row.reason, "4 of 5 seeds have no answer: not even 4096");
    }
    let row = difference(&Row::default(), "fifo", &some, &of([Some(1.0); 5])).expect("a row");
    assert_eq!(row.value, Some(2.0));
}

/// A rate that was searched to within so much, and is undecided by itself where that is more than 4 %.
fn peak(seed: u64, per_s: f64, half: f64) -> Replication {
    let mut r = devices(seed, Some(1.0));
    let within = Some((per_s - half * per_s, per_s + half * per_s));
    r.measures[0] = Measure { within, ..Measure::of("all", PEAK, per_s, 10) };
    r.tolerance = Some(0.005);
    if half > 0.04 {
        r.notes.push(UNDECIDED.to_string());
        r.push("all", metric::REQUESTS_TO_DECIDE, 1e6, 10);
    }
    r
}

#[test]
fn several_seeds_decide_what_one_does_not() {
    let halves = [0.01, 0.05, 0.01, 0.02, 0.01];
    let alike = (1..).zip(halves).map(|(seed, half)| peak(seed, 100.0, half));
    let all = rows(&Row::default(), &SEEDS, &alike.collect::<Vec<_>>());
    let (low, high) = row(&all, PEAK).ci95().expect("an interval");
    // Seeds that agree are as exact as their searches.
    assert!((high - low - 2.0 * 1.13).abs() < 0.01, "{low} {high}");
    assert!(!row(&all, PEAK).has_flag(UNDECIDED));
    assert!(all.iter().all(|r| r.metric != metric::REQUESTS_TO_DECIDE));
    // By itself, or beside others that are far from it, it stays undecided.
    let one = rows(&Row::default(), &Seeds { count: 1, ..SEEDS }, &[peak(1, 100.0, 0.05)]);
    let apart = (1..).zip(halves).map(|(seed, half)| peak(seed, 100.0 + 5.0 * seed as f64, half));
    let apart = rows(&Row::default(), &SEEDS, &apart.collect::<Vec<_>>());
    for all in [one, apart] {
        assert!(row(&all, PEAK).has_flag(UNDECIDED));
        assert_eq!(row(&all, metric::REQUESTS_TO_DECIDE).value, Some(1e6));
    }
}

#[test]
fn a_rate_is_clear_that_is_so_with_every_seed() {
    let of = |clear: [Option<f64>; 5]| {
        let run = |(seed, good): (u64, Option<f64>)| {
            let mut r = peak(seed, 100.0, 0.01);
            for (metric, value) in [(metric::CLEARLY_GOOD, good), (metric::CLEARLY_BAD, good)] {
                value.into_iter().for_each(|v| r.push("all", metric, v, 10));
            }
            r
        };
        (1..).zip(clear).map(run).collect::<Vec<_>>()
    };
    let all = rows(&Row::default(), &SEEDS, &of([97.0, 95.0, 99.0, 98.0, 96.0].map(Some)));
    assert_eq!((row(&all, metric::CLEARLY_GOOD).value), Some(95.0));
    assert_eq!((row(&all, metric::CLEARLY_BAD).value), Some(99.0));
    let gap = [Some(97.0), None, Some(99.0), Some(98.0), Some(96.0)];
    let all = rows(&Row::default(), &SEEDS, &of(gap));
    assert!(all.iter().all(|r| !r.metric.starts_with("clearly")));
}

#[test]
fn more_seeds_cannot_help_where_one_has_no_answer() {
    let seeds = Seeds { first: 1, count: 2, until_ci: Some((1e-9, 50)) };
    let done = seeds.run(|seed| Ok(devices(seed, None))).expect("runs");
    assert_eq!(done.len(), 2);
}

#[test]
fn a_stored_value_that_is_missing_needs_a_reason() {
    let text = serde_json::to_string(&devices(1, None)).expect("JSON");
    assert!(text.contains("\"value\":null"), "{text}");
    let back: Replication = serde_json::from_str(&text).expect("a replication");
    assert!(back == devices(1, None) && !back.has_gap());
    // JSON writes what is not a number as null.
    let mut nan = devices(1, Some(f64::NAN));
    nan.measures.truncate(1);
    let text = serde_json::to_string(&nan).expect("JSON");
    assert!(serde_json::from_str::<Replication>(&text).expect("a replication").has_gap());
}
