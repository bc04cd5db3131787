//! Tests of thousands of functions as one source: against a process for each, which is the slow way.

use super::*;
use crate::arrivals::ArrivalLaw;
use crate::azure2019::{Invocations, MinuteRange};
use crate::exec_time::ExecLaw;
use crate::shipped::shipped;
use crate::workload::{MergedFunctions, Part};
use orrery_sim::request::{AppId, ModelId};
use orrery_sim::time::Span;

fn apps(n: usize) -> Vec<Application> {
    let app = |i: usize| Application {
        app: AppId(i as u32),
        model: ModelId(i as u32),
        weight: 1.0,
        law: ExecLaw::Constant(Span::from_ms(1)),
        slo: Span::from_ms(10),
        size: 1,
    };
    (0..n).map(app).collect()
}

/// Arrivals by minute and application.
fn counts(source: &mut dyn Source, minutes: usize, n: usize) -> Vec<Vec<u64>> {
    let mut counts = vec![vec![0; n]; minutes];
    let mut last = Time::ZERO;
    while let Some(at) = source.peek() {
        let arrival = source.pop().unwrap();
        assert!(arrival.at == at && last <= at);
        last = at;
        counts[(at.ns() / 60_000_000_000) as usize][arrival.app.index()] += 1;
    }
    assert!(source.pop().is_none());
    counts
}

/// The mean of (found - expected)^2 / expected, which is 1 for Poisson counts, and its deviation.
fn dispersion(found: &[Vec<u64>], expected: &Blocks, factor: f64) -> (f64, f64) {
    let (mut sum, mut variance, mut cells) = (0.0, 0.0, 0.0);
    for (minute, found) in found.iter().enumerate() {
        for (&found, &expected) in found.iter().zip(expected.minute(minute)) {
            let mean = expected * factor;
            if mean == 0.0 {
                assert_eq!(found, 0, "nobody calls");
                continue;
            }
            sum += (found as f64 - mean) * (found as f64 - mean) / mean;
            variance += 2.0 + 1.0 / mean; // of a Poisson count
            cells += 1.0;
        }
    }
    (sum / cells, libm::sqrt(variance) / cells)
}

#[test]
fn every_minute_of_every_application_has_its_poisson_count() {
    let file = Invocations::read(shipped("azure2019-f500").unwrap(), None).unwrap();
    let range = MinuteRange { first_label: 500, last_label: 529 };
    let n = 240;
    let blocks = Arc::new(Blocks::azure_46000(&file, range, 1.0, n).unwrap());
    let shape = Shape { rate_factor: 0.02, ..Shape::default() };
    let mut dealt = Dealt::new(blocks.clone(), shape, apps(n), 7).unwrap();
    let found = counts(&mut dealt, 30, n);
    let (mean, sd) = dispersion(&found, &blocks, 0.02);
    assert!((mean - 1.0).abs() < 4.0 * sd, "{mean} {sd}");

    // The slow way: a process for each application. Counts of both have the same law.
    let parts = apps(n).into_iter().enumerate().map(|(i, application)| {
        let counts: Vec<u32> = (0..30).map(|m| blocks.minute(m)[i].round() as u32).collect();
        let minutes = Minutes { counts: counts.into(), shape };
        let process: crate::arrivals::BoxedProcess = match minutes.check() {
            Ok(()) => ArrivalLaw::Minutes(minutes).start(9, i as u64).unwrap(),
            Err(_) => Box::new(Never),
        };
        Part { process, application, index: i as u64 }
    });
    let mut slow = MergedFunctions::new(parts.collect(), 9).unwrap();
    let slow = counts(&mut slow, 30, n);
    let (mean, sd) = dispersion(&slow, &blocks, 0.02);
    assert!((mean - 1.0).abs() < 5.0 * sd, "{mean} {sd}");
    for i in 0..n {
        let of = |all: &[Vec<u64>]| all.iter().map(|m| m[i]).sum::<u64>() as f64;
        let (a, b) = (of(&found), of(&slow));
        // Rounded to whole calls, 30 minutes differ by 15 x 0.02 calls at most.
        assert!((a - b).abs() < 5.0 * libm::sqrt(a + b) + 0.3, "{i}: {a} {b}");
    }
}

struct Never;

impl ArrivalProcess for Never {
    fn next(&mut self) -> Option<Time> {
        None
    }
}

#[test]
fn an_alias_table_has_exactly_its_weights() {
    for weights in [
        vec![1.0],
        vec![3.0, 0.0, 1.0],
        vec![0.1; 7],
        (0..1000).map(|i| libm::pow(f64::from(i + 1), -1.3)).collect(),
    ] {
        let mut alias = Alias::default();
        alias.fill(&[9.0, 9.0]);
        alias.fill(&weights);
        let n = weights.len() as f64;
        let mut shares = vec![0.0; weights.len()];
        for (i, (own, other)) in alias.places.iter().enumerate() {
            assert!((0.0..=1.0).contains(own));
            shares[i] += own / n;
            shares[*other as usize] += (1.0 - own) / n;
        }
        let total: f64 = weights.iter().sum();
        for (share, weight) in shares.iter().zip(&weights) {
            assert!((share - weight / total).abs() < 1e-12, "{share} {weight}");
        }
    }
}

#[test]
fn at_twice_the_rate_and_half_the_minute_everything_comes_in_half_the_time() {
    let text = "HashFunction,Trigger,1,2\na,http,9,1\nb,http,3,0\nc,http,0,5\n";
    let input = crate::open::Input::from_bytes("inv.csv", text.as_bytes().to_vec()).unwrap();
    let file = Invocations::read(input, None).unwrap();
    let range = MinuteRange { first_label: 1, last_label: 2 };
    let blocks = Arc::new(Blocks::of_file(&file, range, 3).unwrap());
    let all = |compress: f64| {
        let shape = Shape { compress, rate_factor: 40.0, ..Shape::default() };
        let mut dealt = Dealt::new(blocks.clone(), shape, apps(3), 3).unwrap();
        std::iter::from_fn(move || dealt.pop()).collect::<Vec<_>>()
    };
    let (slow, fast) = (all(1.0), all(2.0));
    assert_eq!(slow.len(), fast.len());
    assert!((500..1000).contains(&slow.len()), "{}", slow.len());
    for (s, f) in slow.iter().zip(&fast) {
        assert_eq!(s.app, f.app);
        assert!(s.at.ns().abs_diff(2 * f.at.ns()) <= 2);
    }
}

#[test]
fn applications_are_as_many_as_instances_and_somebody_calls() {
    let text = "HashFunction,Trigger,1,2\na,http,9,0\nb,http,3,0\n";
    let input = crate::open::Input::from_bytes("inv.csv", text.as_bytes().to_vec()).unwrap();
    let file = Invocations::read(input, None).unwrap();
    let blocks = |first_label| {
        let range = MinuteRange { first_label, last_label: 2 };
        Arc::new(Blocks::of_file(&file, range, 2).unwrap())
    };
    let make = |blocks, n, rate_factor| {
        let shape = Shape { rate_factor, ..Shape::default() };
        Dealt::new(blocks, shape, apps(n), 1).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(make(blocks(1), 3, 1.0).contains("2, one for each instance"));
    assert!(make(blocks(2), 2, 1.0).contains("no call in 1 minutes"));
    assert!(make(blocks(1), 2, 0.0).contains("rate_factor"));
    assert_eq!(make(blocks(1), 2, 1.0), "");
}
