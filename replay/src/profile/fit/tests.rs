use super::*;
use orrery_sim::rng::Stream;
use proptest::prelude::*;

fn points(sizes: &[u32], longest_ms: &[f64], curve: &Curve) -> Vec<Point> {
    let point = |units: u32, ms: f64| {
        let longest = Span::from_ms_f64(ms);
        Point {
            units,
            longest,
            median_ns: curve.ns(units, longest),
            held_out: units.is_multiple_of(3),
        }
    };
    sizes.iter().flat_map(|k| longest_ms.iter().map(move |ms| point(*k, *ms))).collect()
}

const SIZES: [u32; 7] = [1, 2, 3, 4, 6, 8, 16];

#[test]
fn exact_curves_are_found_exactly_and_by_their_form() {
    let curve = Curve::Affine { alpha_us: 1_300.0, beta_us: 4_700.0 };
    let fit = fit(&points(&SIZES, &[5.0], &curve), Form::Auto).unwrap();
    let LatencyLaw::Affine { alpha_ms, beta_ms } = fit.law else { panic!("{:?}", fit.law) };
    assert!((alpha_ms - 1.3).abs() < 1e-9 && (beta_ms - 4.7).abs() < 1e-9);
    let curve = Curve::Eq3 { c0_us: 900.0, c1: 0.37 };
    let fit = super::fit(&points(&SIZES, &[2.0, 5.0, 20.0], &curve), Form::Auto).unwrap();
    let LatencyLaw::Eq3 { c0_ms, c1 } = fit.law else { panic!("{:?}", fit.law) };
    assert!((c0_ms - 0.9).abs() < 1e-9 && (c1 - 0.37).abs() < 1e-9);
    let curve = Curve::Proportional { c1: 0.4 };
    let fit = super::fit(&points(&SIZES, &[2.0, 5.0, 20.0], &curve), Form::Auto).unwrap();
    let LatencyLaw::Proportional { c1 } = fit.law else { panic!("{:?}", fit.law) };
    assert!((c1 - 0.4).abs() < 1e-9);
}

#[test]
fn steps_become_a_table_whose_own_points_are_exact() {
    let rows = vec![(1, 1e3), (2, 1e3), (4, 5e3), (8, 5.5e3), (16, 20e3)];
    let measured = points(&[1, 2, 4, 8, 16], &[5.0], &Curve::Table(rows));
    let fit = fit(&measured, Form::Table).unwrap();
    assert_eq!(fit.errors(&measured, false).unwrap(), (0.0, 0.0));
    let LatencyLaw::Table(rows) = fit.law else { panic!("{:?}", fit.law) };
    assert_eq!(rows.len(), 16);
    assert_eq!((rows[2], rows[11]), ((3, 3.0), (12, 12.75)));
}

#[test]
fn one_size_that_is_off_moves_the_line_little() {
    let curve = Curve::Affine { alpha_us: 1_000.0, beta_us: 5_000.0 };
    let mut measured = points(&[1, 2, 4, 5, 7, 8, 10, 16], &[5.0], &curve);
    measured[3].median_ns *= 1.5;
    let fit = fit(&measured, Form::Affine).unwrap();
    let LatencyLaw::Affine { alpha_ms, beta_ms } = fit.law else { panic!("{:?}", fit.law) };
    assert!((alpha_ms - 1.0).abs() < 0.01 && (beta_ms - 5.0).abs() < 0.05, "{alpha_ms} {beta_ms}");
    assert!((fit.errors_percent[3] + 100.0 / 3.0).abs() < 0.5);
}

#[test]
fn errors_are_told_apart_by_what_was_held_out() {
    let curve = Curve::Affine { alpha_us: 1_000.0, beta_us: 0.0 };
    let mut measured = points(&SIZES, &[5.0], &curve);
    // Sizes 3 and 6 are held out; 6 takes a tenth longer than the line says.
    measured[4].median_ns *= 1.1;
    let fit = fit(&measured, Form::Affine).unwrap();
    let (median, most) = fit.errors(&measured, false).unwrap();
    assert!(median < 1e-9 && most < 1e-9);
    let (median, most) = fit.errors(&measured, true).unwrap();
    assert!((most - 100.0 / 11.0).abs() < 1e-6 && (median - most / 2.0).abs() < 1e-6);
}

#[test]
fn one_size_alone_determines_no_line() {
    let curve = Curve::Affine { alpha_us: 1_000.0, beta_us: 5_000.0 };
    assert_eq!(fit(&points(&[4], &[5.0], &curve), Form::Affine), None);
    assert!(fit(&points(&[4], &[5.0], &curve), Form::Auto).is_some(), "a table of one row");
    assert_eq!(fit(&[], Form::Affine), None);
}

proptest! {
    #[test]
    fn any_line_is_found_under_a_percent_of_noise(
        alpha in 10.0..5e3f64, beta in 0.0..2e4f64, seed in 0u64..1000,
    ) {
        let curve = Curve::Affine { alpha_us: alpha, beta_us: beta };
        let mut measured = points(&[1, 2, 4, 5, 7, 8, 10, 13, 16], &[5.0], &curve);
        let mut stream = Stream::named(seed, "fit", 0);
        for p in &mut measured {
            p.median_ns *= 1.0 + 0.01 * (2.0 * stream.uniform() - 1.0);
        }
        let fit = fit(&measured, Form::Affine).unwrap();
        for (p, error) in measured.iter().zip(&fit.errors_percent) {
            prop_assert!(error.abs() < 3.5, "{p:?} {error} {:?}", fit.law);
        }
    }
}
