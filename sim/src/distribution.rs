//! Distributions of execution times as histograms, and the largest of several draws.
//!
//! A [`Histogram`] is a law with a constant density inside each bin, so its CDF is a broken line.
//! Orloj keeps one for each application (§4.2). The maximum of k independent draws has the product
//! of the k CDFs as its CDF; that costs O(k · bins). Orloj's Eq. 8 writes the same law as a sum over
//! all subsets of the batch, which is exponential in k; a test below proves that they agree.

use crate::ordered::{SortedMap, sort_by};
use crate::time::Span;

/// A law given by bins. `edges` has one more element than there are bins; all in nanoseconds.
///
/// ```
/// use orrery_sim::distribution::Histogram;
///
/// // Uniform from 0 to 100 ns, in bins of 1 ns.
/// let law = Histogram::from_masses((0..=100).map(f64::from).collect(), (0..100).map(|_| 1.0));
/// assert!((law.mean_ns() - 50.0).abs() < 1e-9);
/// // A batch of three waits for the longest: k / (k + 1) of the range.
/// assert!((law.max_of(3).mean_ns() - 75.0).abs() < 0.1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    edges: Vec<f64>,
    /// The CDF at each edge: starts at 0, ends at 1, never falls.
    cdf: Vec<f64>,
}

/// One bin: `[low_ns, high_ns)` with its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower edge, nanoseconds.
    pub low_ns: f64,
    /// Upper edge, nanoseconds.
    pub high_ns: f64,
    /// Probability of the bin.
    pub mass: f64,
}

impl Histogram {
    /// A histogram of `samples` with `bins` bins of equal width from the least to the largest.
    ///
    /// # Panics
    /// Without samples or bins.
    pub fn from_samples(samples: &[Span], bins: usize) -> Histogram {
        assert!(!samples.is_empty() && bins > 0, "a histogram needs samples and bins");
        let low = samples.iter().min().expect("not empty").ns();
        let high = samples.iter().max().expect("not empty").ns() + 1;
        let width = (high - low) as f64 / bins as f64;
        let mut counts = vec![0u64; bins];
        for s in samples {
            let bin = ((s.ns() - low) as f64 / width) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let edges = (0..=bins).map(|i| low as f64 + width * i as f64).collect();
        Histogram::from_masses(edges, counts.iter().map(|&c| c as f64))
    }

    /// A histogram from edges (nanoseconds, growing) and weights of the bins between them.
    ///
    /// # Panics
    /// When the lengths do not fit, or no weight is positive.
    pub fn from_masses(edges: Vec<f64>, weights: impl Iterator<Item = f64>) -> Histogram {
        let mut cdf = vec![0.0];
        let mut sum = 0.0;
        for w in weights {
            sum += w;
            cdf.push(sum);
        }
        assert!(cdf.len() == edges.len() && sum > 0.0, "edges and weights do not fit");
        for c in &mut cdf {
            *c /= sum;
        }
        Histogram { edges, cdf }
    }

    /// All mass at one value.
    pub fn constant(value: Span) -> Histogram {
        Histogram::from_samples(&[value], 1)
    }

    /// The bins, those without mass left out.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.edges
            .windows(2)
            .zip(self.cdf.windows(2))
            .filter(|(_, c)| c[1] > c[0])
            .map(|(e, c)| Bin { low_ns: e[0], high_ns: e[1], mass: c[1] - c[0] })
    }

    /// The mean, nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.bins().map(|b| b.mass * 0.5 * (b.low_ns + b.high_ns)).sum()
    }

    /// The probability of at most `x_ns`.
    pub fn cdf(&self, x_ns: f64) -> f64 {
        self.cdf_behind(self.edges.partition_point(|&e| e <= x_ns), x_ns)
    }

    /// The same where `i` edges are at most `x_ns`.
    #[inline]
    fn cdf_behind(&self, i: usize, x_ns: f64) -> f64 {
        if i == 0 {
            return 0.0;
        }
        if i == self.edges.len() {
            return 1.0;
        }
        let (e0, e1) = (self.edges[i - 1], self.edges[i]);
        let (c0, c1) = (self.cdf[i - 1], self.cdf[i]);
        c0 + (c1 - c0) * (x_ns - e0) / (e1 - e0)
    }

    /// The least x (nanoseconds) with a CDF of at least `q`.
    pub fn quantile_ns(&self, q: f64) -> f64 {
        let i = self.cdf.partition_point(|&c| c < q);
        if i == 0 {
            return self.edges[0];
        }
        if i == self.cdf.len() {
            return self.edges[i - 1];
        }
        let (c0, c1) = (self.cdf[i - 1], self.cdf[i]);
        self.edges[i - 1] + (self.edges[i] - self.edges[i - 1]) * (q - c0) / (c1 - c0)
    }

    /// The same law in `bins` bins of equal width from its first edge to its last; as it is where it has
    /// no more, since finer ones would hold nothing that it does not know.
    ///
    /// # Panics
    /// Without bins.
    pub fn in_bins(&self, bins: usize) -> Histogram {
        assert!(bins > 0, "a histogram needs bins");
        if bins >= self.edges.len() - 1 {
            return self.clone();
        }
        let (low, high) = (self.edges[0], self.edges[self.edges.len() - 1]);
        let at = |i: usize| match i {
            i if i == bins => high,
            i => low + (high - low) * i as f64 / bins as f64,
        };
        let edges: Vec<f64> = (0..=bins).map(at).collect();
        let cdf = edges.iter().map(|&x| self.cdf(x)).collect();
        Histogram { edges, cdf }
    }

    /// The law of `a_ns + b · X`, with `b` > 0: Eq. 9 turns the maximum into a batch's latency.
    pub fn affine(&self, a_ns: f64, b: f64) -> Histogram {
        assert!(b > 0.0, "a latency model grows with the execution time");
        Histogram {
            edges: self.edges.iter().map(|e| a_ns + b * e).collect(),
            cdf: self.cdf.clone(),
        }
    }

    /// The law of f(X) for a growing f. Inside a bin the density stays constant: finer bins are nearer.
    pub fn growing(&self, f: impl Fn(f64) -> f64) -> Histogram {
        let mut edges: Vec<f64> = self.edges.iter().map(|e| f(*e)).collect();
        // A bin must not be empty where f is flat.
        for i in 1..edges.len() {
            edges[i] = edges[i].max(edges[i - 1] + 1.0);
        }
        Histogram { edges, cdf: self.cdf.clone() }
    }

    /// The law of f(X) for an f that is constant between `steps` (growing, each belonging to the values
    /// below it). Beyond the last step each bin is taken at its upper edge.
    pub fn steps(&self, steps: impl Iterator<Item = f64>, f: impl Fn(f64) -> u64) -> Histogram {
        let mut ends: Vec<f64> = steps.collect();
        let last = ends.last().copied().unwrap_or(f64::NEG_INFINITY);
        ends.extend(self.edges.iter().copied().filter(|e| *e > last));
        let mut atoms: SortedMap<u64, f64> = SortedMap::default();
        let mut below = 0.0;
        for end in ends {
            let upto = self.cdf(end);
            if upto > below {
                *atoms.get_or_default(f(end)) += upto - below;
                below = upto;
            }
        }
        let (mut edges, mut masses) = (Vec::new(), Vec::new());
        for &(ns, mass) in atoms.iter() {
            // An atom is a bin of one nanosecond.
            match edges.last() {
                Some(end) if *end == ns as f64 => {}
                Some(_) => {
                    masses.push(0.0);
                    edges.push(ns as f64);
                }
                None => edges.push(ns as f64),
            }
            masses.push(mass);
            edges.push(ns as f64 + 1.0);
        }
        Histogram::from_masses(edges, masses.into_iter())
    }

    /// The law of a draw from one of the parts, chosen by weight.
    pub fn mixture(parts: &[(f64, &Histogram)]) -> Histogram {
        let total: f64 = parts.iter().map(|p| p.0).sum();
        let mut rising: Vec<Rising<'_>> = parts.iter().map(|p| Rising::of(p.1)).collect();
        Histogram::on_common_edges(parts.iter().map(|p| p.1), |x| {
            let all = parts.iter().zip(&mut rising);
            all.map(|((w, _), law)| w * law.cdf(x)).sum::<f64>() / total
        })
    }

    /// The law of the largest of `k` independent draws from this law (Eq. 6): F^k.
    pub fn max_of(&self, k: u32) -> Histogram {
        self.max_with(&[(self, k.saturating_sub(1))])
    }

    /// The law of the largest of one draw from this law and `n` from each other: the product of the
    /// CDFs (Eq. 7 and 8 in closed form).
    pub fn max_with(&self, others: &[(&Histogram, u32)]) -> Histogram {
        let laws = std::iter::once(self).chain(others.iter().map(|o| o.0));
        Histogram::on_common_edges(laws, |x| {
            let mut product = self.cdf(x);
            for (law, n) in others {
                product *= libm::pow(law.cdf(x), f64::from(*n));
            }
            product
        })
    }

    /// A law over the union of the edges of `laws`, with the CDF given there; it is asked for in rising order.
    fn on_common_edges<'a>(
        laws: impl Iterator<Item = &'a Histogram>,
        cdf: impl FnMut(f64) -> f64,
    ) -> Histogram {
        let mut edges: Vec<f64> = laws.flat_map(|h| h.edges.iter().copied()).collect();
        sort_by(&mut edges, f64::total_cmp);
        edges.dedup();
        let cdf = edges.iter().copied().map(cdf).collect();
        Histogram { edges, cdf }
    }
}

/// A law whose CDF is asked for at values that only rise: without a search.
struct Rising<'a> {
    law: &'a Histogram,
    /// How many edges are at most the last value.
    passed: usize,
}

impl<'a> Rising<'a> {
    fn of(law: &'a Histogram) -> Rising<'a> {
        Rising { law, passed: 0 }
    }

    /// [`Histogram::cdf`], to the bit.
    #[inline]
    fn cdf(&mut self, x_ns: f64) -> f64 {
        while self.law.edges.get(self.passed).is_some_and(|&edge| edge <= x_ns) {
            self.passed += 1;
        }
        self.law.cdf_behind(self.passed, x_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn uniform(low: u64, high: u64) -> Histogram {
        Histogram::from_masses(vec![low as f64, high as f64], std::iter::once(1.0))
    }

    #[test]
    fn mean_quantiles_and_cdf_of_a_uniform_law() {
        let h = uniform(10, 20);
        assert_eq!(h.mean_ns(), 15.0);
        assert_eq!(h.quantile_ns(0.25), 12.5);
        assert_eq!(h.cdf(12.5), 0.25);
        assert_eq!((h.cdf(9.0), h.cdf(21.0)), (0.0, 1.0));
    }

    /// Eq. 7 and 8 in the form of CDFs, summed over all subsets as the paper prints them.
    fn eq_8(laws: &[&Histogram], x: f64) -> f64 {
        let k = laws.len();
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        let mut sum = 0.0;
        for subset in 1u32..1 << k {
            let members: Vec<usize> = (0..k).filter(|i| subset >> i & 1 == 1).collect();
            let n = members.len();
            let average: f64 = members.iter().map(|&i| laws[i].cdf(x)).sum::<f64>() / n as f64;
            let sign = if (k - n).is_multiple_of(2) { 1.0 } else { -1.0 };
            sum += sign * libm::pow(n as f64, k as f64) / factorial * libm::pow(average, k as f64);
        }
        sum
    }

    #[test]
    fn eq_8_is_the_product_of_the_cdfs() {
        let mut rng = Stream::named(5, "eq8", 0);
        for k in 1..=6 {
            let laws: Vec<Histogram> = (0..k)
                .map(|_| {
                    let samples: Vec<Span> =
                        (0..50).map(|_| Span::from_ns(100 + rng.below(1000))).collect();
                    Histogram::from_samples(&samples, 7)
                })
                .collect();
            let all: Vec<&Histogram> = laws.iter().collect();
            let others: Vec<(&Histogram, u32)> = laws[1..].iter().map(|h| (h, 1)).collect();
            let maximum = laws[0].max_with(&others);
            for (&x, &product) in maximum.edges.iter().zip(&maximum.cdf) {
                assert!((eq_8(&all, x) - product).abs() < 1e-9, "k = {k}, x = {x}");
            }
        }
    }

    #[test]
    fn the_largest_of_k_draws_has_the_mean_of_the_law() {
        // The maximum of k uniform draws on [0, 1) has mean k / (k + 1); bins of 1/1000.
        let edges: Vec<f64> = (0..=1000).map(f64::from).collect();
        let h = Histogram::from_masses(edges, std::iter::repeat_n(1.0, 1000));
        for k in [1, 2, 5, 16] {
            let mean = h.max_of(k).mean_ns() / 1000.0;
            assert!((mean - f64::from(k) / f64::from(k + 1)).abs() < 1e-4);
        }
    }

    #[test]
    fn a_mixture_has_the_weighted_mean() {
        let (a, b) = (uniform(0, 10), uniform(100, 120));
        let m = Histogram::mixture(&[(3.0, &a), (1.0, &b)]);
        assert!((m.mean_ns() - (0.75 * 5.0 + 0.25 * 110.0)).abs() < 1e-9);
        assert!((m.cdf(50.0) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn fewer_bins_keep_what_lies_between_their_edges() {
        let edges: Vec<f64> = (0..=8).map(|i| f64::from(i) * 10.0).collect();
        let law =
            Histogram::from_masses(edges, [1, 3, 0, 0, 2, 2, 0, 8].into_iter().map(f64::from));
        let masses: Vec<f64> = law.in_bins(4).bins().map(|b| 16.0 * b.mass).collect();
        assert_eq!(masses, [4.0, 4.0, 8.0], "and the empty one has none");
        assert_eq!(law.in_bins(4).edges, [0.0, 20.0, 40.0, 60.0, 80.0]);
        // Edges that do not fall on old ones: a third of a bin has a third of its mass.
        assert!((law.in_bins(3).cdf[1] - 0.25).abs() < 1e-12);
        assert_eq!((law.in_bins(8), law.in_bins(99)), (law.clone(), law));
    }

    #[test]
    fn a_constant_is_a_bin_of_one_nanosecond() {
        let h = Histogram::constant(Span::from_ms(3));
        assert!((h.mean_ns() - 3e6).abs() <= 0.5);
        assert!((h.max_of(16).mean_ns() - 3e6).abs() <= 1.0);
    }

    #[test]
    fn a_law_that_is_asked_in_rising_order_says_the_same() {
        let law = Histogram::from_samples(&[3, 3, 9, 40, 41].map(Span::from_ns), 16);
        let mut rising = Rising::of(&law);
        for tenth in 0..500 {
            let x = f64::from(tenth) / 10.0;
            assert_eq!(rising.cdf(x).to_bits(), law.cdf(x).to_bits(), "{x}");
        }
    }
}
