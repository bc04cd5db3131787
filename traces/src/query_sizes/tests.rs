//! Sizes against their laws.

use super::*;
use crate::open::Input;
use crate::workload::tests::{all, app, open};

fn draws(law: &SizeLaw, n: usize) -> Vec<u32> {
    let mut stream = Stream::named(5, "test", 0);
    (0..n).map(|_| law.draw(&mut stream)).collect()
}

/// The share of sizes up to `size`, by the definition of the generator.
fn kairos_up_to(size: f64) -> f64 {
    let uniform = |from: f64, to: f64| ((size - from + 1.0) / (to - from + 1.0)).clamp(0.0, 1.0);
    let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
    let log_normal = |x: f64| normal((libm::log(x) - 5.1) / 0.2);
    let inside = log_normal(200.0) - log_normal(100.0);
    let kept = (log_normal(size.clamp(100.0, 200.0)) - log_normal(100.0)).max(0.0);
    let middle = kept + (1.0 - inside) * uniform(190.0, 199.0);
    (8.0 * uniform(1.0, 99.0)
        + 22.0 * uniform(200.0, 599.0)
        + 5.0 * uniform(600.0, 999.0)
        + 64.0 * middle)
        / 99.0
}

#[test]
fn the_mixture_has_the_shares_of_the_released_generator() {
    // Shares of the generator up to a size, computed from it exactly by its publisher's formulas.
    let known = [
        (100, 0.080808081),
        (110, 0.091282374),
        (190, 0.584356803),
        (200, 0.727828283),
        (360, 0.816717172),
    ];
    for (size, share) in known {
        assert!((kairos_up_to(f64::from(size)) - share).abs() < 2e-9, "{size}");
    }
    let n = 400_000;
    let sizes = draws(&SizeLaw::Kairos, n);
    assert!(sizes.iter().all(|s| (1..=KAIROS_MAX).contains(s)));
    for size in (10..=990).step_by(10) {
        let share = sizes.iter().filter(|s| **s <= size).count() as f64 / n as f64;
        let p = kairos_up_to(f64::from(size));
        let four_sigma = 4.5 * (p * (1.0 - p) / n as f64).sqrt() + 1e-12;
        assert!((share - p).abs() <= four_sigma, "{size}: {share} {p}");
    }
    let rounded = sizes.iter().map(|s| f64::from(s.div_ceil(10) * 10)).sum::<f64>() / n as f64;
    assert!((rounded - 243.576).abs() < 1.5, "{rounded}");
}

#[test]
fn the_other_laws_have_their_moments() {
    let n = 100_000;
    let mean =
        |sizes: &[u32]| sizes.iter().map(|s| f64::from(*s)).sum::<f64>() / sizes.len() as f64;
    let normal = draws(&SizeLaw::normal(165.0, 16.0, 1_000).unwrap(), n);
    assert!((mean(&normal) - 165.0).abs() < 4.0 * 16.0 / (n as f64).sqrt());
    let log = draws(&SizeLaw::log_normal(5.1, 0.2, 1_000).unwrap(), n);
    // Rounding up adds half an item.
    let expected = libm::exp(5.1 + 0.02) + 0.5;
    assert!((mean(&log) - expected).abs() < 4.0 * 0.21 * expected / (n as f64).sqrt());
    assert_eq!(draws(&SizeLaw::log_normal(10.0, 0.1, 500).unwrap(), 9), [500; 9]);
    assert_eq!(draws(&SizeLaw::constant(7).unwrap(), 3), [7; 3]);
    let input = Input::from_bytes("s.csv", b"size,n\n3,1\n9,3\n".to_vec()).unwrap();
    let law = SizeLaw::empirical(Histogram::read(input, "size", Some("n")).unwrap()).unwrap();
    let threes = draws(&law, 40_000).iter().filter(|s| **s == 3).count();
    assert!((9_600..10_400).contains(&threes), "{threes}");
    assert_eq!(law.largest(), 9);
}

#[test]
fn sizes_move_nothing_else() {
    let plain = all(&mut open(1, vec![app(0, 1.0, 10.0), app(1, 1.0, 50.0)], 500));
    let inner = open(1, vec![app(0, 1.0, 10.0), app(1, 1.0, 50.0)], 500);
    let mut with = with_sizes(Box::new(inner), vec![Some(SizeLaw::Kairos)], 1);
    let sized = all(&mut with);
    assert!(sized.iter().any(|a| a.size > 1));
    for (mut a, b) in sized.into_iter().zip(plain) {
        assert!(a.app.0 == 0 || a.size == 1);
        a.size = 1;
        assert_eq!(a, b);
    }
}

#[test]
fn wrong_laws_are_errors() {
    assert!(SizeLaw::constant(0).unwrap_err().to_string().contains("size"));
    assert!(SizeLaw::constant(SIZE_MAX + 1).is_err());
    assert!(SizeLaw::normal(0.0, 1.0, 9).is_err() && SizeLaw::normal(5.0, -1.0, 9).is_err());
    assert!(SizeLaw::log_normal(5.0, 9.0, 9).is_err() && SizeLaw::log_normal(5.0, 1.0, 0).is_err());
    let input = Input::from_bytes("s.csv", b"size\n0\n3\n".to_vec()).unwrap();
    let error = SizeLaw::empirical(Histogram::read(input, "size", None).unwrap()).unwrap_err();
    assert!(error.to_string().contains("sizes from 0 to 3"), "{error}");
}
