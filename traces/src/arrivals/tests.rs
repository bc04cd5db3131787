//! Tests of the arrival processes: their laws, with fixed seeds.
//! Not here: applications and execution times.

use super::*;
use crate::rate::Shape;

fn start(law: &ArrivalLaw) -> BoxedProcess {
    law.start(11, 0).unwrap()
}

fn times(law: &ArrivalLaw, n: usize) -> Vec<u64> {
    let mut process = start(law);
    (0..n).map_while(|_| process.next()).map(Time::ns).collect()
}

/// Mean gap in seconds and CV of the gaps, the first from time zero.
fn gaps(times: &[u64]) -> (f64, f64) {
    let mut last = 0;
    let gaps: Vec<f64> =
        times.iter().map(|&t| (t - std::mem::replace(&mut last, t)) as f64).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n;
    (mean / 1e9, variance.sqrt() / mean)
}

fn per_minute(times: &[u64], minutes: usize, minute_ns: u64) -> Vec<u32> {
    let mut counts = vec![0; minutes];
    for &t in times {
        counts[(t / minute_ns) as usize] += 1;
    }
    counts
}

#[test]
fn constant_arrivals_do_not_drift() {
    let t = times(&ArrivalLaw::Constant { rate_per_s: 3.0 }, 3_000_000);
    assert_eq!((t[0], t[3]), (0, 1_000_000_000));
    assert!(t[2_999_997].abs_diff(999_999 * NS_PER_S) <= 1, "{}", t[2_999_997]);
}

#[test]
fn gaps_have_the_mean_and_cv_of_their_law() {
    for (law, cv) in [
        (ArrivalLaw::Poisson { rate_per_s: 250.0 }, 1.0),
        (ArrivalLaw::Gamma { rate_per_s: 250.0, shape: 0.25 }, 2.0),
        (ArrivalLaw::Gamma { rate_per_s: 250.0, shape: 4.0 }, 0.5),
    ] {
        let (mean, seen) = gaps(&times(&law, 200_000));
        assert!((mean * 250.0 - 1.0).abs() < 0.02, "{law:?}: {mean}");
        assert!((seen / cv - 1.0).abs() < 0.02, "{law:?}: {seen}");
    }
}

#[test]
fn poisson_is_the_sum_of_exponential_gaps() {
    let t = times(&ArrivalLaw::Poisson { rate_per_s: 2.0 }, 1000);
    let mut stream = Stream::named(11, "arrivals", 0);
    let mut sum_ns = 0.0;
    for t in t {
        sum_ns += exponential(&mut stream) / 2.0 * 1e9;
        assert!((t as f64 - sum_ns).abs() <= 1.0);
    }
}

#[test]
fn modulated_processes_have_their_mean_rate_and_are_burstier_than_poisson() {
    let mmpp = |next| ArrivalLaw::Mmpp {
        rates_per_s: vec![10.0, 100.0, 0.0],
        mean_sojourns_s: vec![2.0, 0.5, 1.0],
        next,
    };
    for law in [mmpp(NextState::Cyclic), mmpp(NextState::Uniform)] {
        let (mean, cv) = gaps(&times(&law, 400_000));
        let expected = law.mean_rate_per_s().unwrap();
        assert!((mean * expected - 1.0).abs() < 0.03, "{law:?}: {mean}");
        assert!(cv > 1.05, "{law:?}: {cv}");
    }
}

#[test]
fn counts_within_a_minute_are_poisson() {
    let law =
        ArrivalLaw::Minutes(Minutes::new([vec![40; 2000], vec![0; 3], vec![10; 2000]].concat()));
    let counts = per_minute(&times(&law, usize::MAX), 4003, 60 * NS_PER_S);
    assert_eq!(counts[2000..2003], [0, 0, 0]);
    for (part, rate) in [(&counts[..2000], 40.0), (&counts[2003..], 10.0)] {
        let n = part.len() as f64;
        let mean = part.iter().map(|&c| f64::from(c)).sum::<f64>() / n;
        let variance =
            part.iter().map(|&c| (f64::from(c) - mean) * (f64::from(c) - mean)).sum::<f64>() / n;
        assert!((mean / rate - 1.0).abs() < 0.02, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.08, "{}", variance / mean);
    }
}

#[test]
fn equal_minutes_are_a_plain_poisson_process_so_the_residual_is_carried_over() {
    let minutes = times(&ArrivalLaw::Minutes(Minutes::new(vec![3; 5000])), usize::MAX);
    let plain = times(&ArrivalLaw::Poisson { rate_per_s: 0.05 }, minutes.len() + 1);
    assert!(minutes.len() > 14_000);
    for (a, b) in minutes.iter().zip(&plain) {
        assert!(a.abs_diff(*b) <= 1, "{a} {b}");
    }
    assert!(plain[minutes.len()] >= 5000 * 60 * NS_PER_S);
}

#[test]
fn factors_scale_the_rate_and_the_minute() {
    let mut minutes = Minutes::new(vec![30, 0, 90]);
    minutes.shape.rate_factor = 200.0;
    minutes.shape.compress = 60.0;
    let law = ArrivalLaw::Minutes(minutes);
    let counts = per_minute(&times(&law, usize::MAX), 3, NS_PER_S);
    assert!(counts[0].abs_diff(6000) < 310 && counts[1] == 0 && counts[2].abs_diff(18_000) < 540);
    assert!((law.mean_rate_per_s().unwrap() - 8000.0).abs() < 1e-9);
}

#[test]
fn even_spacing_gives_exactly_the_counts() {
    let wanted = vec![0, 3, 0, 7, 1, 0];
    let mut minutes = Minutes::new(wanted.clone());
    minutes.shape.spacing = Spacing::Even;
    let t = times(&ArrivalLaw::Minutes(minutes.clone()), usize::MAX);
    assert_eq!(per_minute(&t, 6, 60 * NS_PER_S), wanted);
    assert!((t[1] - t[0]).abs_diff(20 * NS_PER_S) <= 1);
    minutes.shape.rate_factor = 0.5; // 1.5 and 3.5 and 0.5: the rounding is carried
    let t = times(&ArrivalLaw::Minutes(minutes), usize::MAX);
    assert_eq!(per_minute(&t, 6, 60 * NS_PER_S), [0, 1, 0, 4, 0, 0]);
}

#[test]
fn limits_stop_a_process_by_time_and_by_number() {
    let law = ArrivalLaw::Constant { rate_per_s: 10.0 };
    let mut by_time = Limited::new(start(&law), Time::from_ns(NS_PER_S), u64::MAX);
    let mut by_number = Limited::new(start(&law), Time::NEVER, 4);
    let count = |p: &mut dyn ArrivalProcess| std::iter::from_fn(|| p.next()).count();
    assert_eq!((count(&mut by_time), count(&mut by_number)), (10, 4));
    assert_eq!((by_time.next(), by_number.next()), (None, None));
}

#[test]
fn a_seed_gives_the_same_times_and_another_seed_or_index_others() {
    let law = ArrivalLaw::Gamma { rate_per_s: 5.0, shape: 0.5 };
    let first = |seed, index| law.start(seed, index).unwrap().next();
    assert_eq!(first(1, 2), first(1, 2));
    assert_ne!(first(1, 2), first(2, 2));
    assert_ne!(first(1, 2), first(1, 3));
}

/// Laws whose arrivals run over the end of time, some 1.8e10 s.
fn too_slow() -> Vec<ArrivalLaw> {
    let rate_per_s = 1e-9;
    let minutes = |spacing| {
        let shape = Shape { compress: 1e-6, spacing, ..Shape::default() };
        ArrivalLaw::Minutes(Minutes { shape, ..Minutes::new(vec![1; 1_000]) })
    };
    let mmpp = |rates_per_s| ArrivalLaw::Mmpp {
        rates_per_s,
        mean_sojourns_s: vec![1e7, 1e7],
        next: NextState::Cyclic,
    };
    vec![
        ArrivalLaw::Constant { rate_per_s },
        ArrivalLaw::Poisson { rate_per_s },
        ArrivalLaw::Gamma { rate_per_s, shape: 0.5 },
        mmpp(vec![1e-9, 2e-9]),
        mmpp(vec![0.0, 2e-9]),
        minutes(Spacing::Poisson),
        minutes(Spacing::Even),
    ]
}

#[test]
fn a_process_that_runs_over_the_end_of_time_says_so_once() {
    for law in too_slow() {
        let mut process = start(&law);
        let times: Vec<Time> = std::iter::from_fn(|| process.next()).take(30_000).collect();
        assert!(times.len() < 30_000, "{law:?} is over");
        let last = times.iter().position(|&at| at == Time::NEVER);
        assert_eq!(last, Some(times.len() - 1), "{law:?}");
        assert_eq!(process.next(), None);
        let limited = |until, n| {
            let mut process = Limited::new(start(&law), until, n);
            std::iter::from_fn(move || process.next()).last()
        };
        assert_eq!(limited(Time::NEVER, u64::MAX), Some(Time::NEVER), "{law:?}");
        let horizon = Time::from_ns(u64::MAX / 2);
        assert!(limited(horizon, u64::MAX) < Some(horizon), "{law:?} stops before");
        assert!(limited(Time::NEVER, 2) < Some(Time::NEVER), "{law:?}");
    }
}

/// Its slowest rate takes too many draws to come to the end of time.
#[test]
fn integer_poisson_gaps_end_at_the_end_of_time() {
    let unit = Span::from_ms(1);
    let mut process = IntegerPoisson::new(1.0, unit, Stream::named(1, "arrivals", 0)).unwrap();
    process.at = Time::from_ns(u64::MAX).minus(unit);
    let next: Vec<_> = (0..3).map(|_| process.next()).collect();
    assert_eq!(next, [Some(Time::NEVER), None, None]);
}

#[test]
fn minutes_without_calls_do_not_run_over_the_end_of_time() {
    for spacing in [Spacing::Poisson, Spacing::Even] {
        let mut counts = vec![0; 1_000];
        counts[..9].fill(20);
        let shape = Shape { compress: 1e-6, spacing, ..Shape::default() };
        let law = ArrivalLaw::Minutes(Minutes { shape, ..Minutes::new(counts) });
        let mut process = start(&law);
        let times: Vec<Time> = std::iter::from_fn(|| process.next()).collect();
        assert!(times.len() > 100 && times.iter().all(|&at| at < Time::NEVER), "{spacing:?}");
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    let shaped = |shape| ArrivalLaw::Minutes(Minutes { shape, ..Minutes::new(vec![1]) });
    for law in [
        ArrivalLaw::Constant { rate_per_s: 0.0 },
        ArrivalLaw::Poisson { rate_per_s: -1.0 },
        ArrivalLaw::Poisson { rate_per_s: f64::NAN },
        ArrivalLaw::Gamma { rate_per_s: 1.0, shape: 0.0 },
        ArrivalLaw::Gamma { rate_per_s: f64::INFINITY, shape: 1.0 },
        ArrivalLaw::Minutes(Minutes::new(vec![0, 0])),
        ArrivalLaw::Minutes(Minutes::new(vec![])),
        shaped(Shape { rate_factor: 0.0, ..Shape::default() }),
        shaped(Shape { compress: f64::NAN, ..Shape::default() }),
    ] {
        let error = law.start(1, 0).err().unwrap_or_else(|| panic!("{law:?} was accepted"));
        assert!(error.to_string().starts_with("parameter `"), "{error}");
    }
}

#[test]
fn integer_poisson_gaps_are_whole_and_have_the_mean_and_variance_of_their_law() {
    // 0.15 ms, 8 ms and 1300 ms between arrivals: NCF's, RM2's, and one beyond what one draw holds.
    for (rate_per_s, n) in [(1e3 / 0.15, 200_000), (125.0, 100_000), (1.0 / 1.3, 5_000)] {
        let unit = Span::from_ms(1);
        let mut process = ArrivalLaw::IntegerPoisson { rate_per_s, unit }.start(1, 0).unwrap();
        let (mut last, mut gaps) = (Time::ZERO, Vec::new());
        for _ in 0..n {
            let at = process.next().unwrap();
            assert_eq!((at - Time::ZERO).ns() % 1_000_000, 0);
            gaps.push((at - last).as_ms_f64());
            last = at;
        }
        let (n, lambda) = (n as f64, 1e3 / rate_per_s);
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n;
        assert!((mean - lambda).abs() < 4.0 * (lambda / n).sqrt(), "{mean} {lambda}");
        // The variance of a sample variance: (mu4 - sigma^4) / n, where mu4 is 3 lambda^2 + lambda.
        let sd = ((2.0 * lambda * lambda + lambda) / n).sqrt();
        assert!((variance - lambda).abs() < 4.0 * sd, "{variance} {lambda}");
    }
    let wrong = |unit| ArrivalLaw::IntegerPoisson { rate_per_s: 1.0, unit }.start(1, 0).is_err();
    assert!(wrong(Span::ZERO) && wrong(Span::from_ns(1)));
}
