//! Tests of the laws of execution times: draws against the law's own mean and quantiles.
//! Not here: the two-group construct, which has its own file.

use super::*;
use crate::shipped::shipped;

fn mode(weight: f64, mean_ms: f64, sd_ms: f64) -> Mode {
    Mode { weight, mean_ms, sd_ms }
}

fn laws() -> Vec<ExecLaw> {
    let lengths =
        |name, column, count| Histogram::read(shipped(name).unwrap(), column, count).unwrap();
    let src = lengths("len-translation-ende", "src_tokens", None);
    let sst2 = lengths("len-classification-sst2", "tokens", Some("count"));
    vec![
        ExecLaw::constant(12.5).unwrap(),
        ExecLaw::normal(50.0, 10.0).unwrap(),
        ExecLaw::normal(0.002, 0.01).unwrap(), // much of it is clamped
        ExecLaw::log_normal(100.0, 150.0).unwrap(),
        ExecLaw::log_normal(0.002, 0.004).unwrap(), // some of it is clamped
        ExecLaw::exponential(5.0).unwrap(),
        ExecLaw::exponential(0.002).unwrap(), // much of it is clamped
        ExecLaw::mixture(vec![
            mode(1.0, 50.0, 10.0),
            mode(2.0, 100.0, 10.0),
            mode(1.0, 400.0, 40.0),
        ])
        .unwrap(),
        ExecLaw::lengths(src, 5.0, 1.5).unwrap(),
        ExecLaw::lengths(sst2.clone(), 0.0, 0.25).unwrap(),
        ExecLaw::empirical(sst2), // nanoseconds below the floor
    ]
}

#[test]
fn draws_have_the_laws_mean_and_quantiles() {
    const N: usize = 200_000;
    for law in laws() {
        let mut stream = Stream::named(5, "exec", 0);
        let mut draws: Vec<u64> = (0..N).map(|_| law.sample(&mut stream).ns()).collect();
        draws.sort_unstable();
        assert!(draws[0] >= FLOOR.ns());
        let mean = draws.iter().map(|&d| d as f64).sum::<f64>() / N as f64;
        assert!((mean / law.mean_ns() - 1.0).abs() < 0.01, "{}: {mean}", law.name());
        for q in [0.1, 0.5, 0.9, 0.99] {
            // The law's quantile has a share q of the draws below it, within four deviations.
            let at = law.quantile_ns(q) + 0.5; // a draw is rounded to whole nanoseconds
            let share = draws.partition_point(|&d| d as f64 <= at) as f64 / N as f64;
            let below = draws.partition_point(|&d| (d as f64) < at - 1.0) as f64 / N as f64;
            let slack = 4.0 * (q * (1.0 - q) / N as f64).sqrt();
            assert!(share >= q - slack && below <= q + slack, "{} at {q}: {share}", law.name());
        }
    }
}

#[test]
fn a_quantile_is_where_the_cdf_reaches_it() {
    for law in laws() {
        for q in [0.001, 0.3, 0.999] {
            let at = law.quantile_ns(q);
            assert!(law.cdf_ns(at) >= q - 1e-12, "{} at {q}", law.name());
            assert!(law.cdf_ns(at * (1.0 - 1e-9)) <= q + 1e-9, "{} at {q}", law.name());
        }
        assert!(law.quantile_ns(0.0) >= 1000.0 && law.quantile_ns(1.0).is_finite());
    }
}

#[test]
fn known_quantiles_of_the_normal_law() {
    let law = ExecLaw::normal(100.0, 10.0).unwrap();
    for (q, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.99, 2.326_347_874_040_841)] {
        let expected = (100.0 + 10.0 * z) * 1e6;
        assert!((law.quantile_ns(q) / expected - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_mode_of_a_draw_is_told_and_has_its_share() {
    let law = ExecLaw::mixture(vec![mode(1.0, 50.0, 1.0), mode(3.0, 100.0, 1.0)]).unwrap();
    let (mut a, mut b) = (Stream::named(1, "exec", 0), Stream::named(1, "exec", 0));
    let mut second = 0;
    for _ in 0..40_000 {
        let (span, mode) = law.sample_mode(&mut a);
        assert_eq!(span, law.sample(&mut b));
        assert_eq!(mode, usize::from(span > Span::from_ms(75)));
        second += mode;
    }
    assert!((29_600..30_400).contains(&second), "{second}");
    let parts = law.modes();
    assert_eq!((parts.len(), parts[1].0), (2, 0.75));
    assert_eq!(parts[1].1.name(), "normal(mean_ms=100,sd_ms=1)");
}

#[test]
fn parameters_out_of_range_are_errors() {
    assert!(ExecLaw::constant(-1.0).is_err());
    assert!(ExecLaw::normal(f64::NAN, 1.0).is_err());
    assert!(ExecLaw::normal(1.0, f64::INFINITY).is_err());
    assert!(ExecLaw::log_normal(0.0, 1.0).is_err());
    assert!(ExecLaw::exponential(0.0).is_err());
    assert!(ExecLaw::mixture(vec![]).is_err());
    assert!(ExecLaw::mixture(vec![mode(0.0, 1.0, 1.0)]).is_err());
    assert!(ExecLaw::mixture(vec![mode(f64::NAN, 1.0, 1.0)]).is_err());
}
