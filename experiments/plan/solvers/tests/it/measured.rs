//! Ingredients measured from samples, against those that were released.

use super::common::{authors_space, profiles, qos, query_sizes};
use orrery_sim::time::Span;
use orrery_solvers::{
    Ingredients, Latency, PlannerError, Profile, Ranking, Region, Sizes, released,
};

fn measured(model: &str, qos: Span, region: Region) -> Ingredients {
    let catalogue = released::catalogue();
    Ingredients::measured(&catalogue, &profiles(model), &query_sizes(), qos, region).unwrap()
}

/// Ranks from 1; those of the same value share their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = values.iter().filter(|y| *y < x).count();
        let same = values.iter().filter(|y| *y == x).count();
        below as f64 + (same as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Spearman's.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

#[test]
fn bounds_from_samples_are_near_those_from_the_released_ingredients() {
    let space = authors_space();
    let mut errors = Vec::new();
    for model in released::MODELS {
        let from_table = Ranking::new(&space, &released::ingredients(model).unwrap()).unwrap();
        let ours = measured(model, qos(model), Region::Released);
        let from_samples = Ranking::new(&space, &ours).unwrap();
        let (a, b) = (from_table.bounds_per_s(), from_samples.bounds_per_s());
        let error = a.iter().zip(b).map(|(a, b)| (b / a - 1.0).abs()).sum::<f64>() / 331.0;
        let worst = a.iter().zip(b).map(|(a, b)| (b / a - 1.0).abs()).fold(0.0, f64::max);
        let correlation = rank_correlation(a, b);
        println!(
            "{model}: mean error {error:.5}, worst {worst:.5}, rank correlation {correlation:.5}"
        );
        assert!(error <= 0.015, "{model}: {error}");
        assert!(correlation >= 0.995, "{model}: {correlation}");
        assert_eq!(from_table.pick(&space), from_samples.pick(&space), "{model}");
        errors.push(error);
    }
    let mean = errors.iter().sum::<f64>() / 5.0;
    println!("mean over the models {mean:.5}");
    assert!(mean <= 0.01, "{mean}");
}

#[test]
fn queries_are_split_at_the_sizes_that_were_released() {
    for model in released::MODELS {
        let limits = |i: &Ingredients| -> Vec<u32> {
            i.auxiliaries().iter().flatten().map(|a| a.size_limit).collect()
        };
        let ours = limits(&measured(model, qos(model), Region::Released));
        assert_eq!(ours, limits(&released::ingredients(model).unwrap()), "{model}");
        // The paper's text ends one measured size earlier.
        let paper = limits(&measured(model, qos(model), Region::Paper));
        assert!(ours.iter().zip(&paper).all(|(ours, paper)| *ours == *paper + 10), "{model}");
    }
}

/// Whatever else is in a pool, a type is held to its own limit or to a larger one.
#[test]
fn a_type_has_throughputs_at_its_limit_and_at_the_larger_ones_of_others() {
    for model in released::MODELS {
        let ingredients = measured(model, qos(model), Region::Released);
        let all: Vec<_> = ingredients.auxiliaries().iter().flatten().collect();
        for a in &all {
            let mut limits: Vec<u32> = all.iter().map(|other| other.size_limit).collect();
            limits.retain(|limit| *limit >= a.size_limit);
            limits.sort_unstable();
            limits.dedup();
            assert_eq!(a.rate_per_s.keys().copied().collect::<Vec<_>>(), limits, "{model}");
        }
        let of_all = all.iter().map(|a| a.rate_per_s.len()).max();
        assert!(of_all > Some(1), "{model}: one limit is no test");
    }
}

#[test]
fn with_a_target_20_percent_higher() {
    let space = authors_space();
    let ranking = |model: &str| {
        let ingredients = measured(model, qos(model).scale(1.2), Region::Released);
        let ranking = Ranking::new(&space, &ingredients).unwrap();
        assert!(ranking.bounds_per_s().iter().all(|b| b.is_finite()), "{model}");
        (ingredients, ranking)
    };
    // An auxiliary type serves all of RM2 in time, and Eq. 15 alone would be 0/0.
    let (rm2, _) = ranking("rm2");
    assert!(rm2.auxiliaries().iter().flatten().any(|a| a.fraction == 1.0));
    // For DIEN six pools have the highest bound of all, to the last bit.
    let (_, dien) = ranking("dien");
    let bounds = dien.bounds_per_s();
    let top = bounds[dien.order()[0]];
    let tied: Vec<usize> = (0..331).filter(|i| bounds[*i] == top).collect();
    println!("DIEN at 42 ms: {} pools at {top}", tied.len());
    assert_eq!(tied.len(), 6);
    assert_eq!(dien.order()[..6], tied);
}

#[test]
fn ingredients_by_hand() {
    // Sizes 1, 2, 4 with the weights 1, 2, 1. Base: 10, 20, 40 ms; auxiliary: 20, 40, 120 ms, and
    // the target 100 ms. Q_b: 4 queries in 90 ms. The first miss is 4, the last size: all of it.
    let catalogue = super::common::catalogue(&[(1.0, 2), (0.5, 2)]);
    let profile = |name: &str, ms: [u64; 3]| {
        let latency = |ms| Latency::of_samples(&[Span::from_ms(ms)]);
        Profile::new(name, [1, 2, 4].into_iter().zip(ms.map(latency))).unwrap()
    };
    let both = [profile("base", [10, 20, 40]), profile("aux", [20, 40, 120])];
    let sizes = Sizes::observed([1, 2, 3, 2]).unwrap();
    let of = |region| {
        let qos = Span::from_ms(100);
        let all = Ingredients::measured(&catalogue, &both, &sizes, qos, region).unwrap();
        (all.base_per_s(), all.auxiliaries()[1].clone().unwrap())
    };
    let (base, aux) = of(Region::Released);
    assert!((base - 4.0 / 0.090).abs() < 1e-9);
    assert_eq!((aux.size_limit, aux.fraction, aux.time_fraction), (4, 1.0, 1.0));
    assert!((aux.rate_per_s[&4] - 4.0 / 0.220).abs() < 1e-9);
    // In the paper's words the auxiliary type serves 1 and 2: 3 of 4 queries, 50 of 90 ms.
    let (_, aux) = of(Region::Paper);
    assert_eq!((aux.size_limit, aux.fraction), (2, 0.75));
    assert!((aux.time_fraction - 5.0 / 9.0).abs() < 1e-12);
    assert!((aux.rate_per_s[&2] - 3.0 / 0.100).abs() < 1e-9);
}

#[test]
fn a_latency_is_the_mean_and_the_median_of_its_samples() {
    let ms = |list: &[u64]| list.iter().map(|ms| Span::from_ms(*ms)).collect::<Vec<_>>();
    let odd = Latency::of_samples(&ms(&[7, 1, 4])).unwrap();
    assert_eq!((odd.mean_ns(), odd.median_ms()), (4e6, 4.0));
    // The median of an even number lies half-way between two samples.
    let even = Latency::of_samples(&ms(&[4, 1, 8, 5])).unwrap();
    assert_eq!(even.median_ms(), 4.5);
    assert!(even.misses(Span::from_ms(4)) && !even.misses(Span::from_us(4_500)));
    assert_eq!(Latency::of_samples(&[]), None);
    assert_eq!(Latency::of_samples(&[Span::ZERO]), None);
}

#[test]
fn wrong_profiles_and_sizes_are_errors() {
    let catalogue = super::common::catalogue(&[(1.0, 2), (0.5, 2)]);
    let latency = |ms| Latency::of_samples(&[Span::from_ms(ms)]);
    let profile = |name: &str, sizes: &[(u32, u64)]| {
        Profile::new(name, sizes.iter().map(|(size, ms)| (*size, latency(*ms)))).unwrap()
    };
    let base = profile("base", &[(10, 1), (20, 2)]);
    let qos = Span::from_ms(5);
    let error = |base: &Profile, aux: Profile, sizes: &[u32], qos| {
        let sizes = Sizes::observed(sizes.iter().copied()).unwrap();
        let both = [base.clone(), aux];
        let found = Ingredients::measured(&catalogue, &both, &sizes, qos, Region::Released);
        found.unwrap_err().to_string()
    };
    let hole = error(&base, profile("aux", &[(20, 4)]), &[10], qos);
    assert!(hole.contains("profile of `aux` has a hole: size 10"), "{hole}");
    let beyond = error(&base, profile("aux", &[(10, 2), (20, 4)]), &[10, 21], qos);
    assert!(beyond.contains("size 21 are beyond the profile, which ends at 20"), "{beyond}");
    let fits_none = error(&base, profile("aux", &[(10, 6), (20, 8)]), &[10], qos);
    assert!(fits_none.contains("no query fits `aux`: the smallest, of size 10, takes 6 ms"));
    // A smaller size fits, but nobody asks for it.
    let unasked = error(&base, profile("aux", &[(10, 4), (20, 8)]), &[20], qos);
    assert!(unasked.contains("no query fits `aux`"), "{unasked}");
    let slow = error(&base, profile("aux", &[(10, 1), (20, 1)]), &[20], Span::from_us(1_500));
    assert!(slow.contains("base type `base` misses the QoS target: size 20 takes 2 ms"), "{slow}");

    let new =
        |sizes: &[(u32, Option<Latency>)]| Profile::new("t", sizes.iter().copied()).unwrap_err();
    assert_eq!(new(&[]), PlannerError::EmptyProfile { name: "t".into() });
    assert_eq!(new(&[(0, latency(1))]), PlannerError::ZeroSize);
    assert!(new(&[(1, latency(1)), (1, latency(1))]).to_string().contains("has size 1 twice"));
    assert!(new(&[(1, None)]).to_string().contains("has size 1 without samples"));
    assert_eq!(Sizes::observed([]), Err(PlannerError::NoSizes));
    assert_eq!(Sizes::observed([0]), Err(PlannerError::ZeroSize));
    assert_eq!(Sizes::weighted([(1, 0.0)]), Err(PlannerError::NoSizes));
    assert!(matches!(Sizes::weighted([(1, -1.0)]), Err(PlannerError::Weight { size: 1, .. })));
    let one = Ingredients::measured(&catalogue, &[base], &query_sizes(), qos, Region::Paper);
    assert!(matches!(one, Err(PlannerError::Length { found: 1, expected: 2, .. })));
}
