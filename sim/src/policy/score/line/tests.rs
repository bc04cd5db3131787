//! (alpha, beta) against Eq. 2, on every edge of a law and one nanosecond beside it, before and after a
//! reset of the base.

use super::*;
use crate::distribution::Histogram;
use crate::rng::Stream;

/// The largest b (t - T0) that is tried.
const REACH: f64 = 100.0;

fn law(edges_ns: &[f64], masses: &[f64]) -> Histogram {
    Histogram::from_masses(edges_ns.to_vec(), masses.iter().copied())
}

fn laws() -> Vec<Histogram> {
    let draws = &mut Stream::named(5, "samples", 0);
    let modes = [20_000_000, 60_000_000, 61_000_000];
    let samples: Vec<Span> =
        (0..2_000).map(|i| Span::from_ns(modes[i % 3] + draws.below(9_000_000))).collect();
    let measured = Histogram::from_samples(&samples, 64);
    vec![
        measured.max_with(&[(&measured, 15)]).affine(0.0, 2.5),
        measured,
        law(&[1e6, 2e6, 5e6, 5.5e6, 40e6], &[0.2, 0.0, 0.3, 0.5]),
        // Gaps, and bins of a nanosecond.
        law(&[5e6, 5e6 + 1.0, 6e6, 6e6 + 1.0, 9e6, 9e6 + 1.0], &[0.3, 0.0, 0.4, 0.0, 0.3]),
        Histogram::constant(Span::from_ms(7)),
        Histogram::constant(Span::from_ms(7)).affine(0.25, 2.6),
    ]
}

/// Slacks on every edge, a nanosecond beside it, between and beyond.
fn slacks(law: &Histogram) -> Vec<u64> {
    let edges = law.bins().flat_map(|bin| [bin.low_ns, bin.high_ns]);
    let mut all: Vec<u64> = edges
        .flat_map(|e| {
            let e = e as u64;
            [e - 1, e, e + 1, e + 2, e + 333_333]
        })
        .chain([1, 100_000_000, 400_000_000, 5_000_000_000])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Slack, and how long T0 is ago: at once, some time ago, and as long as it may be.
fn cases(law: &Histogram, b_per_ms: f64) -> Vec<(Span, Span)> {
    let longest = REACH / b_per_ms;
    let since = [0.0, 1.0, 0.37 * longest.min(1e6), longest.min(1e8)].map(Span::from_ms_f64);
    let with = |s: u64| since.map(|t| (Span::from_ns(s), t));
    slacks(law).into_iter().flat_map(with).collect()
}

const B_PER_MS: [f64; 6] = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];

/// The value of a line so long after T0, and its doubt.
fn value(line: &Line, b_per_ms: f64, since_base: Span) -> f64 {
    line.alpha * libm::exp(b_per_ms / 1e6 * since_base.ns() as f64) + line.beta
}

#[test]
fn the_line_is_the_score_within_its_doubt() {
    let mut least = f64::INFINITY;
    for law in laws() {
        for b in B_PER_MS {
            let table = ScoreTable::new(&law, b);
            for (slack, since) in cases(&law, b) {
                let direct = table.at(slack);
                let Some(line) = table.line(slack, slack + since, REACH) else {
                    assert_eq!(direct, 0.0, "{slack}");
                    continue;
                };
                let value = value(&line, b, since);
                let off = (value - direct).abs() - 1e-12 * direct;
                assert!(
                    off <= line.doubt,
                    "b {b}, slack {slack}, {since}: {value} {direct} {line:?}"
                );
                least = least.min((line.doubt - off) / line.doubt);
                assert!(line.beta >= 0.0 && line.until_ns < slack.ns() as f64);
            }
        }
    }
    assert!(least < 0.999, "the doubt is needed: {least}");
}

/// Eq. 2 as printed, bin by bin, with the slack measured from T0: c = 1.
fn eq_2(law: &Histogram, b_per_ms: f64, slack: Span) -> f64 {
    let (b, s) = (b_per_ms / 1e6, slack.ns() as f64);
    let one = |bin: crate::distribution::Bin| {
        let h = bin.mass / (bin.high_ns - bin.low_ns) / (law.mean_ns() * b);
        if bin.high_ns < s {
            h * (libm::exp(b * (bin.high_ns - s)) - libm::exp(b * (bin.low_ns - s)))
        } else if bin.low_ns < s {
            h - h * libm::exp(b * (bin.low_ns - s))
        } else {
            0.0
        }
    };
    law.bins().map(one).sum()
}

#[test]
fn the_line_is_eq_2_as_printed() {
    for law in laws() {
        let least_width = law.bins().map(|b| b.high_ns - b.low_ns).fold(f64::INFINITY, f64::min);
        for b in B_PER_MS {
            let table = ScoreTable::new(&law, b);
            // The printed form takes 1 / (b width) from itself.
            let lost = 1e-14 / (b / 1e6 * least_width) / law.mean_ns();
            for (slack, since) in cases(&law, b) {
                let line = table.line(slack, slack + since, REACH);
                let (value, doubt) = line.map_or((0.0, 0.0), |l| (value(&l, b, since), l.doubt));
                let printed = eq_2(&law, b, slack);
                assert!(
                    (value - printed).abs() <= lost + doubt + 1e-12 * printed,
                    "b {b}, slack {slack}, {since}: {value} {printed}"
                );
            }
        }
    }
}

/// At a milestone the line changes and the score does not.
#[test]
fn the_lines_meet_at_every_milestone() {
    for law in laws() {
        for b in B_PER_MS {
            let table = ScoreTable::new(&law, b);
            for (slack, since) in cases(&law, b) {
                let Some(before) = table.line(slack, slack + since, REACH) else { continue };
                // The first whole nanosecond at which the edge is reached.
                let edge = Span::from_ns(before.until_ns as u64);
                let passed = slack.ns() - edge.ns();
                let then = since + Span::from_ns(passed);
                if b / 1e6 * then.ns() as f64 > REACH {
                    continue;
                }
                let after = table.line(edge, slack + since, REACH);
                let (a, doubt) = after.map_or((0.0, 0.0), |l| (value(&l, b, then), l.doubt));
                let with_old = value(&before, b, then);
                // The edge itself is up to a nanosecond later.
                let steepest = table.factor * b / 1e6
                    * table.rows.iter().map(|r| r.1.max(r.0)).fold(0.0, f64::max);
                let close = 1e-9 * a + doubt + before.doubt + steepest;
                assert!((a - with_old).abs() <= close, "b {b}, {slack}: {a} {with_old}");
            }
        }
    }
}

#[test]
fn a_reset_of_the_base_changes_the_line_and_not_its_value() {
    let law = &laws()[0];
    let table = ScoreTable::new(law, 1e-4);
    for slack in slacks(law).into_iter().map(Span::from_ns) {
        let long_ago = Span::from_secs(999);
        let old = table.line(slack, slack + long_ago, REACH);
        let new = table.line(slack, slack, REACH);
        let (Some(old), Some(new)) = (old, new) else {
            assert_eq!(old, new);
            continue;
        };
        assert!(old.alpha.abs() < new.alpha.abs());
        assert_eq!((old.beta, old.until_ns), (new.beta, new.until_ns));
        let (a, b) = (value(&old, 1e-4, long_ago), value(&new, 1e-4, Span::ZERO));
        assert!((a - b).abs() <= old.doubt + new.doubt + 1e-12 * b, "{slack}: {a} {b}");
    }
}
