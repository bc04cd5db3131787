//! Tests of functions dealt out in blocks: small cases by hand, and the rule against itself.

use super::*;
use crate::open::Input;
use crate::shipped::shipped;

const ALL: MinuteRange = MinuteRange { first_label: 480, last_label: 959 };

fn sample() -> Invocations {
    Invocations::read(shipped("azure2019-f500").unwrap(), None).unwrap()
}

fn file() -> Invocations {
    let text = "HashFunction,Trigger,1,2\nd,http,0,1\nb,http,3,0\na,http,1,2\nc,http,9,0\n";
    Invocations::read(Input::from_bytes("inv.csv", text.as_bytes().to_vec()).unwrap(), None)
        .unwrap()
}

#[test]
fn functions_are_dealt_in_blocks_the_busiest_first() {
    let range = MinuteRange { first_label: 1, last_label: 2 };
    // By calls: c 9, a 3, b 3 (by name), d 1. Of 4 functions on 3 instances: c a, b, d.
    let blocks = Blocks::of_file(&file(), range, 3).unwrap();
    assert_eq!((blocks.minute(0), blocks.minute(1)), (&[10.0, 3.0, 0.0][..], &[2.0, 0.0, 1.0][..]));
    assert_eq!((blocks.minutes(), blocks.instances(), blocks.functions()), (2, 3, 4));
    assert_eq!(blocks.shares(), [12.0 / 16.0, 3.0 / 16.0, 1.0 / 16.0]);
    // Ranks are those of the whole file, whatever part is read.
    let second = MinuteRange { first_label: 2, last_label: 2 };
    let blocks = Blocks::of_file(&file(), second, 2).unwrap();
    assert_eq!(blocks.minute(0), [2.0, 1.0]);
}

#[test]
fn fewer_functions_than_instances_are_an_error_with_a_remedy() {
    let range = MinuteRange { first_label: 1, last_label: 2 };
    let text = Blocks::of_file(&file(), range, 5).unwrap_err().to_string();
    for word in ["inv.csv", "4 functions for 5 applications", "azure-46000"] {
        assert!(text.contains(word), "{text}");
    }
    assert!(Blocks::of_file(&file(), range, 4).is_ok());
}

/// By the rule as it is written, one function at a time.
fn by_hand(sample: &Invocations, range: MinuteRange, sigma: f64, n: usize) -> Vec<Vec<f64>> {
    let z = |c: usize| normal_quantile((c as f64 + 0.5) / 92.0);
    let mean = (0..92).map(|c| libm::exp(sigma * z(c))).sum::<f64>() / 92.0;
    let mut copies = Vec::new();
    for row in &sample.functions {
        for c in 0..92 {
            let s = libm::exp(sigma * z(c)) / mean;
            let label = |l: u32| (l as usize - 480 + 60 * (c % 8)) % 480;
            let calls = (range.first_label..=range.last_label)
                .map(|l| f64::from(row.counts[label(l)]) * s * 9638.0 / 9704.0)
                .collect::<Vec<f64>>();
            copies.push((row.total as f64 * s, row.key(), c, calls));
        }
    }
    copies.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1, a.2).cmp(&(&b.1, b.2))));
    let f = copies.len();
    let mut out = vec![vec![0.0; n]; range.minutes()];
    for (i, (_, _, _, calls)) in copies.into_iter().enumerate() {
        for (minute, x) in calls.into_iter().enumerate() {
            out[minute][n * i / f] += x;
        }
    }
    out
}

#[test]
fn the_rule_is_what_is_written() {
    let sample = sample();
    let range = MinuteRange { first_label: 903, last_label: 912 };
    for (sigma, n) in [(1.0, 4026), (0.0, 61), (2.0, 7)] {
        let blocks = Blocks::azure_46000(&sample, range, sigma, n).unwrap();
        assert_eq!(blocks.functions(), 46_000);
        for (minute, expected) in by_hand(&sample, range, sigma, n).iter().enumerate() {
            for (found, expected) in blocks.minute(minute).iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{found} {expected}");
            }
        }
    }
}

#[test]
fn the_rule_has_the_papers_rate_and_a_heavy_head() {
    let sample = sample();
    for (sigma, busiest) in [(0.0, 0.08), (1.0, 0.28), (2.0, 0.51)] {
        let blocks = Blocks::azure_46000(&sample, ALL, sigma, 4026).unwrap();
        let rate = blocks.total() / (480.0 * 60.0);
        // 92 times the sample's mean is 9,704 to four digits.
        assert!((rate - 9_638.0).abs() < 1.0, "{rate}");
        let shares = blocks.shares();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        // Blocks have 11 or 12 functions, whose calls fall with the rank.
        assert!(shares.is_sorted_by(|a, b| a * 12.0 / 11.0 * (1.0 + 1e-12) >= *b));
        let head: f64 = shares[..66].iter().sum();
        assert!((shares[0] - busiest).abs() < 0.01, "{sigma}: {}", shares[0]);
        assert!((0.88..0.97).contains(&head), "{sigma}: {head}");
    }
}

#[test]
fn the_rule_needs_eight_hours_and_a_spread_in_range() {
    let text = Blocks::azure_46000(&file(), MinuteRange { first_label: 1, last_label: 2 }, 1.0, 2);
    let text = text.unwrap_err().to_string();
    assert!(text.contains("2 minutes") && text.contains("azure2019-f500"), "{text}");
    let text = Blocks::azure_46000(&sample(), ALL, -1.0, 2).unwrap_err().to_string();
    assert!(text.contains("sigma"), "{text}");
}
