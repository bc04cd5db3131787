//! Orloj's priority score, Eq. 2, as a table over the slack.
//!
//! With slack s = D - t, cost c = 1, and density h on each bin [l1, l2) of the batch latency's law,
//!
//! ```text
//! p(s) = 1 / (E[L] b) * sum over bins of   h (exp(b (l2 - s)) - exp(b (l1 - s)))   if l2 < s
//!                                          h (1 - exp(b (l1 - s)))                 if l1 < s <= l2
//!                                          0                                       otherwise
//! ```
//!
//! The sum over the bins below the one that holds s is kept relative to that bin's lower edge, so
//! one exponential is computed for a score and none can overflow.

mod line;

pub use self::line::Line;

use crate::distribution::Histogram;
use crate::time::Span;

/// Beyond this b (s - e), 1 + expm1 would lose more than a 10^-7th of what is left, and all of it beyond 37.
const FAR: f64 = 20.0;

/// Eq. 2 for one law of L.
#[derive(Clone, Debug)]
pub struct ScoreTable {
    /// Lower edges of the bins, nanoseconds; then the end of the last one.
    edges_ns: Vec<f64>,
    /// By edge: (sum over the bins below, relative to this edge; density of the bin that begins).
    rows: Vec<(f64, f64)>,
    b_per_ns: f64,
    /// 1 / (E[L] b).
    factor: f64,
}

impl ScoreTable {
    /// The table of a batch latency's law; `b_per_ms` is the parameter of the anticipated delay.
    pub fn new(law: &Histogram, b_per_ms: f64) -> ScoreTable {
        let b = b_per_ms / 1e6;
        let (mut edges_ns, mut rows) = (Vec::new(), Vec::new());
        let mut below = 0.0;
        let mut end = f64::NEG_INFINITY;
        for bin in law.bins() {
            if edges_ns.is_empty() {
                end = bin.low_ns;
            }
            if bin.low_ns > end {
                // A gap: nothing is added, what is below fades.
                edges_ns.push(end);
                rows.push((below, 0.0));
                below *= libm::exp(-b * (bin.low_ns - end));
            }
            let width = bin.high_ns - bin.low_ns;
            let density = bin.mass / width;
            edges_ns.push(bin.low_ns);
            rows.push((below, density));
            let fade = libm::expm1(-b * width);
            below = below * (1.0 + fade) - density * fade;
            end = bin.high_ns;
        }
        edges_ns.push(end);
        rows.push((below, 0.0));
        ScoreTable { edges_ns, rows, b_per_ns: b, factor: 1.0 / (law.mean_ns() * b) }
    }

    /// How many edges of the law a slack crosses on its way from here to zero: Milestone(r) of §4.4.
    pub fn edges_below(&self, slack: Span) -> usize {
        self.edges_ns.partition_point(|&e| e < slack.ns() as f64)
    }

    /// The edges of the law, nanoseconds.
    pub fn edges_ns(&self) -> &[f64] {
        &self.edges_ns
    }

    /// The score of a request with this slack.
    #[inline]
    pub fn at(&self, slack: Span) -> f64 {
        let s = slack.ns() as f64;
        let i = self.edges_ns.partition_point(|&e| e < s);
        if i == 0 {
            return 0.0;
        }
        let (below, density) = self.rows[i - 1];
        let gone = self.b_per_ns * (s - self.edges_ns[i - 1]);
        if gone > FAR && density == 0.0 {
            return self.factor * below * libm::exp(-gone);
        }
        let fade = libm::expm1(-gone);
        self.factor * (below * (1.0 + fade) - density * fade)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: f64) -> f64 {
        x * 1e6
    }

    /// Eq. 2 as printed, case by case, in milliseconds.
    fn eq_2(law: &Histogram, b: f64, slack_ms: f64) -> f64 {
        let mean = law.mean_ns() / 1e6;
        law.bins()
            .map(|bin| {
                let (l1, l2) = (bin.low_ns / 1e6, bin.high_ns / 1e6);
                let h = bin.mass / (l2 - l1);
                if l2 < slack_ms {
                    h / (mean * b)
                        * (libm::exp(b * (l2 - slack_ms)) - libm::exp(b * (l1 - slack_ms)))
                } else if l1 < slack_ms {
                    h / (mean * b) - h / (mean * b) * libm::exp(b * (l1 - slack_ms))
                } else {
                    0.0
                }
            })
            .sum()
    }

    #[test]
    fn the_three_cases_of_eq_2_by_hand() {
        // One bin, 10 to 20 ms; E[L] = 15 ms; b = 0.1 per ms; h = 1/10.
        let law = Histogram::from_masses(vec![ms(10.0), ms(20.0)], std::iter::once(1.0));
        let table = ScoreTable::new(&law, 0.1);
        let at = |s: u64| table.at(Span::from_ms(s)) * 1e6;
        let h_over = 0.1 / (15.0 * 0.1);
        assert!(
            (at(30) - h_over * (libm::exp(-1.0) - libm::exp(-2.0))).abs() < 1e-12,
            "t < D - l2"
        );
        assert!((at(15) - h_over * (1.0 - libm::exp(-0.5))).abs() < 1e-12, "D - l2 <= t < D - l1");
        assert_eq!(at(10), 0.0, "D - l1 <= t");
        assert_eq!(at(3), 0.0);
    }

    #[test]
    fn the_table_is_eq_2_for_many_bins_with_gaps() {
        let edges: Vec<f64> =
            [5.0, 6.0, 9.0, 10.0, 40.0, 41.0, 43.0].iter().map(|&x| ms(x)).collect();
        let law = Histogram::from_masses(edges, [0.2, 0.0, 0.3, 0.0, 0.4, 0.1].into_iter());
        for b in [1e-6, 1e-4, 1e-2, 0.1] {
            let table = ScoreTable::new(&law, b);
            for tenth in 0..800 {
                let slack = Span::from_us(tenth * 100);
                let (ours, theirs) = (table.at(slack) * 1e6, eq_2(&law, b, slack.as_ms_f64()));
                // Eq. 2 as printed loses digits when b is tiny; the table does not.
                assert!((ours - theirs).abs() <= 1e-9 / b.min(1e-2) * 1e-2, "b {b}, slack {slack}");
            }
        }
    }

    /// With b = 1 per ms and the earliest deadline 38 ms beyond the law, 1 + expm1 gave 0 for all.
    #[test]
    fn a_score_far_beyond_the_law_keeps_its_digits() {
        let law = Histogram::from_masses(vec![ms(10.0), ms(20.0)], std::iter::once(1.0));
        let table = ScoreTable::new(&law, 1.0);
        for far in [21, 30, 38, 100, 600] {
            let at = |slack_ms: u64| table.at(Span::from_ms(slack_ms));
            let (near, next) = (at(20 + far), at(21 + far));
            assert!(near > 0.0 && (next / near * libm::exp(1.0) - 1.0).abs() < 1e-12, "{far}");
            let printed = eq_2(&law, 1.0, (20 + far) as f64);
            assert!((near * 1e6 / printed - 1.0).abs() < 1e-12, "{far}: {near} {printed}");
        }
        // On either side of where the form changes.
        let (before, after) =
            (table.at(Span::from_ns(39_999_999)), table.at(Span::from_ns(40_000_001)));
        assert!(before > after && (after / before - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_small_b_gives_the_chance_of_being_in_time_over_the_mean() {
        let law = Histogram::from_masses(vec![ms(10.0), ms(20.0)], std::iter::once(1.0));
        let table = ScoreTable::new(&law, 1e-6);
        let score = table.at(Span::from_ms(13)) * 15.0 * 1e6;
        assert!((score - 0.3).abs() < 1e-4, "P(L <= 13 ms) = 0.3, got {score}");
    }

    /// Fig. 6: two kinds of requests with the same mean, batches of two without overhead. Kind 1
    /// takes l = 2 most often; kind 2 is either short or long.
    #[test]
    fn the_toy_example_of_fig_6() {
        let edges: Vec<f64> = [0.5, 1.5, 2.5, 3.5].iter().map(|&x| ms(x)).collect();
        let kind_1 = Histogram::from_masses(edges.clone(), [0.2, 0.6, 0.2].into_iter());
        let kind_2 = Histogram::from_masses(edges, [0.5, 0.0, 0.5].into_iter());
        assert!((kind_1.mean_ns() - kind_2.mean_ns()).abs() < 1e-6, "the same mean");
        let batch = kind_1.max_with(&[(&kind_2, 1)]);
        let masses: Vec<f64> = batch.bins().map(|b| b.mass).collect();
        // By hand: P(max <= 1) = .2 * .5, P(max <= 2) = .8 * .5.
        for (mass, hand) in masses.iter().zip([0.1, 0.3, 0.6]) {
            assert!((mass - hand).abs() < 1e-12, "{masses:?}");
        }
        assert!(batch.mean_ns() > kind_1.mean_ns(), "skewed to the right");

        // Three requests one after another: the one closest to its deadline leads until its score
        // falls to nothing.
        let table = ScoreTable::new(&batch, 0.1);
        let score = |deadline: u64, t: u64| table.at(Span::from_us((deadline - t) * 100));
        let (d1, d2, d3) = (60, 70, 80);
        assert!(score(d1, 20) > score(d2, 20) && score(d2, 20) > score(d3, 20), "r1 and r2 at T");
        assert_eq!(score(d1, 55), 0.0, "r1's score has dropped to 0");
        let mut late = 20;
        while score(d1, late) > score(d2, late) {
            late += 1;
        }
        assert!(late < 55, "r1 loses its lead before it is lost");
    }
}
