//! What a policy is told of execution times before the run: a profile, drawn from a stream that is
//! independent of the run's truths.
//!
//! It is not the truth: a policy that is handed a wrong profile decides wrongly.

use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::rng::Stream;
use crate::time::Span;

/// What is known of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelProfile {
    /// Latency by batch size, sizes growing.
    pub sizes: Vec<SizeProfile>,
    /// Execution time alone by application, indexed by application. Empty for applications that
    /// never ask for this model.
    pub apps: Vec<Option<AppProfile>>,
    /// The latency law that policies believe in.
    pub law: Latency,
    /// The SLO that plans are made for.
    pub slo: Span,
}

/// The measured latency of one batch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeProfile {
    /// The batch size.
    pub size: u32,
    /// Mean latency.
    pub mean: Span,
    /// Standard deviation of the latency.
    pub std: Span,
    /// Latency of a batch whose requests all take the mean time alone: what a profiler sees that
    /// repeats one typical input.
    pub typical: Span,
}

/// The execution times of one application's requests, alone.
#[derive(Clone, Debug, PartialEq)]
pub struct AppProfile {
    /// Its share of the requests, up to a factor.
    pub weight: f64,
    /// The law of its execution times.
    pub law: Histogram,
}

impl ModelProfile {
    /// Measures a model: `batches` batches of each size, made of requests that `draw` gives (an
    /// application's index and an execution time alone).
    pub fn measure(
        law: &Latency,
        slo: Span,
        sizes: &[u32],
        batches: u32,
        mut draw: impl FnMut() -> (usize, Span),
        bins: usize,
    ) -> ModelProfile {
        let mut samples: Vec<Vec<Span>> = Vec::new();
        let mut profiles = Vec::new();
        for &size in sizes {
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..batches {
                let mut longest = Span::ZERO;
                for _ in 0..size {
                    let (app, alone) = draw();
                    if samples.len() <= app {
                        samples.resize_with(app + 1, Vec::new);
                    }
                    samples[app].push(alone);
                    longest = longest.max(alone);
                }
                let latency = law.batch(size, longest).ns() as f64;
                sum += latency;
                squares += latency * latency;
            }
            let n = f64::from(batches.max(1));
            let mean = sum / n;
            let std = (squares / n - mean * mean).max(0.0).sqrt();
            let (mean, std) = (Span::from_ns_f64(mean), Span::from_ns_f64(std));
            profiles.push(SizeProfile { size, mean, std, typical: Span::ZERO });
        }
        let drawn: u64 = samples.iter().map(|s| s.len() as u64).sum();
        let total: Span = samples.iter().flatten().copied().sum();
        let typical = Span::from_ns(total.ns() / drawn.max(1));
        for p in &mut profiles {
            p.typical = law.batch(p.size, typical);
        }
        let app = |all: &Vec<Span>| {
            (!all.is_empty()).then(|| AppProfile {
                weight: all.len() as f64,
                law: Histogram::from_samples(all, bins),
            })
        };
        let apps = samples.iter().map(app).collect();
        ModelProfile { sizes: profiles, apps, law: law.clone(), slo }
    }

    /// The law of a request of any application, weighted by their shares.
    pub fn mixture(&self) -> Histogram {
        let parts: Vec<(f64, &Histogram)> =
            self.apps.iter().flatten().map(|a| (a.weight, &a.law)).collect();
        Histogram::mixture(&parts)
    }

    /// The shortest mean execution time alone of any application: what a model's seed profile
    /// measures, with its default input.
    pub fn shortest_mean(&self) -> Span {
        let means = self.apps.iter().flatten().map(|a| a.law.mean_ns());
        Span::from_ns_f64(means.fold(f64::INFINITY, f64::min))
    }

    /// The sizes that a server keeps which refuses a batch size whose seed profile exceeds
    /// `max_exec`; the smallest always stays.
    pub fn sizes_within(&self, max_exec: Span, max_batch: u32) -> Vec<u32> {
        let seed = self.shortest_mean();
        let fits = |size: u32| size <= max_batch && self.law.batch(size, seed) <= max_exec;
        let keep = |(i, s): (usize, &SizeProfile)| (i == 0 || fits(s.size)).then_some(s.size);
        self.sizes.iter().enumerate().filter_map(keep).collect()
    }

    /// The latency of batches of 1, 2, ..., up to `max_batch` or the largest size measured, as
    /// Symphony's, Nexus's and Shepherd's released code estimates it: mean plus one standard
    /// deviation. It never falls from one size to the next.
    pub fn estimates(&self, max_batch: u32) -> Vec<Span> {
        let largest = self.sizes.last().map_or(1, |s| s.size).min(max_batch);
        let mut longest = Span::ZERO;
        let mut estimate = |size| {
            let measured = self.size(size);
            longest = longest.max(measured.mean + measured.std);
            longest
        };
        (1..=largest).map(&mut estimate).collect()
    }

    /// The profile of a size: the smallest measured one that holds it, or the largest.
    pub fn size(&self, size: u32) -> SizeProfile {
        let at = self.sizes.partition_point(|s| s.size < size);
        self.sizes[at.min(self.sizes.len() - 1)]
    }
}

/// The stream that profiles are drawn from: independent of the run's truths.
pub fn profile_stream(seed: u64, model: u64) -> Stream {
    Stream::named(seed, "profile", model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_measures_the_law() {
        let law = Latency::Proportional { c1: 0.1 };
        let mut k = 0;
        let draw = || {
            k += 1;
            (k % 2, Span::from_ms(if k % 2 == 0 { 10 } else { 30 }))
        };
        let p = ModelProfile::measure(&law, Span::from_ms(100), &[1, 2, 4], 1000, draw, 50);
        assert_eq!(p.size(1).mean, Span::from_ms(20));
        assert_eq!(p.size(1).std, Span::from_ms(10));
        assert_eq!(p.size(2).mean, Span::from_ms(33), "one of two is long: 30 ms times 1.1");
        assert_eq!(p.size(2).typical, Span::from_ms(22), "both take the mean of 20 ms");
        assert_eq!(p.size(3).size, 4);
        assert_eq!(p.estimates(2), [Span::from_ms(30), p.size(2).mean + p.size(2).std]);
        assert_eq!(p.estimates(9).len(), 4);
        assert_eq!(p.shortest_mean(), Span::from_ms(10));
        assert_eq!(p.sizes_within(Span::from_ms(11), 16), [1, 2]);
        assert_eq!(p.sizes_within(Span::from_ms(1), 16), [1]);
        assert!((p.mixture().mean_ns() - 20e6).abs() < 1e4);
    }
}
