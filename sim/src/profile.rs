//! What a policy is told of execution times before the run: a profile, drawn from a stream that is
//! independent of the run's truths.
//!
//! It is not the truth: a policy that is handed a wrong profile decides wrongly.

use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::ordered::SortedMap;
use crate::penalty::Penalty;
use crate::rng::Stream;
use crate::time::Span;
use std::collections::BTreeMap;

/// What is known of one model.
///
/// ```
/// use orrery_sim::latency::Latency;
/// use orrery_sim::profile::ModelProfile;
/// use orrery_sim::time::Span;
///
/// let ms = Span::from_ms;
/// let law = Latency::Affine { alpha: ms(1), beta: ms(5) };
/// // Two batches of each size, of requests of application 0 that take 6 ms alone.
/// let profile = ModelProfile::measure(&law, ms(50), &[1, 2, 4], 2, || (0, ms(6)), 8);
/// assert_eq!(profile.size(4).mean, ms(9));
/// assert_eq!(profile.sizes_within(ms(8), 16), [1, 2]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelProfile {
    /// Latency by batch size, sizes in increasing order.
    pub sizes: Vec<SizeProfile>,
    /// Execution time alone of the applications that ask for this model, by their numbers. It has no
    /// place for the others: thousands of models have as many applications.
    pub apps: Vec<AppProfile>,
    /// The latency law that policies believe in.
    pub law: Latency,
    /// The SLO that plans are made for.
    pub slo: Span,
    /// What is known of each kind of device, where kinds differ and the policy looks at them.
    pub kinds: Option<KindsProfile>,
    /// What requests cost that are late, by application; one after the SLO of those that it lacks.
    pub penalties: BTreeMap<usize, Penalty>,
}

/// What is known of a model on each kind of device of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct KindsProfile {
    /// The latency law that is believed in, by kind; of samples their means.
    pub laws: Vec<Latency>,
    /// The base kind: the most cost-effective one that meets the SLO at every size (Kairos, §4).
    pub base: u32,
    /// The largest request, in items.
    pub largest: u32,
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
    /// The application's number.
    pub app: usize,
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
        let mut samples: SortedMap<usize, Vec<Span>> = SortedMap::default();
        let mut profiles = Vec::new();
        for &size in sizes {
            let batch = |_| {
                let mut longest = Span::ZERO;
                for _ in 0..size {
                    let (app, alone) = draw();
                    samples.get_or_default(app).push(alone);
                    longest = longest.max(alone);
                }
                law.batch(size, longest)
            };
            profiles.push(SizeProfile::of(size, (0..batches).map(batch)));
        }
        let drawn: u64 = samples.iter().map(|(_, s)| s.len() as u64).sum();
        let total: Span = samples.iter().flat_map(|(_, s)| s).copied().sum();
        let typical = Span::from_ns(total.ns() / drawn.max(1));
        for p in &mut profiles {
            p.typical = law.batch(p.size, typical);
        }
        let app = |(app, all): &(usize, Vec<Span>)| AppProfile {
            app: *app,
            weight: all.len() as f64,
            law: Histogram::from_samples(all, bins),
        };
        let apps = samples.iter().map(app).collect();
        ModelProfile::of(slo, law, profiles, apps)
    }

    /// As [`ModelProfile::measure`] where all requests are of application `app` and take `alone`: the
    /// same to the last bit, without a draw. A cluster has hundreds of such models.
    pub fn of_constant(
        law: &Latency,
        slo: Span,
        sizes: &[u32],
        batches: u32,
        (app, alone): (usize, Span),
        bins: usize,
    ) -> ModelProfile {
        let profile = |&size: &u32| {
            let latency = law.batch(size, alone);
            let latencies = (0..batches).map(|_| latency);
            SizeProfile { typical: latency, ..SizeProfile::of(size, latencies) }
        };
        let drawn: u64 = sizes.iter().map(|&size| u64::from(size) * u64::from(batches)).sum();
        let one =
            AppProfile { app, weight: drawn as f64, law: Histogram::from_samples(&[alone], bins) };
        let sizes = sizes.iter().map(profile).collect();
        ModelProfile::of(slo, law, sizes, vec![one])
    }

    /// A model of a pool of several kinds, as only its latencies by kind and size are known. `law` is
    /// that of the base kind, and a batch of one takes what it says.
    pub fn of_kinds(kinds: KindsProfile, slo: Span) -> ModelProfile {
        let law = kinds.laws[kinds.base as usize].clone();
        let alone = law.batch(1, Span::ZERO);
        let profile =
            ModelProfile::of_constant(&law, slo, &[1, kinds.largest.max(2)], 1, (0, alone), 1);
        ModelProfile { kinds: Some(kinds), ..profile }
    }

    fn of(
        slo: Span,
        law: &Latency,
        sizes: Vec<SizeProfile>,
        apps: Vec<AppProfile>,
    ) -> ModelProfile {
        let (law, kinds, penalties) = (law.clone(), None, BTreeMap::new());
        ModelProfile { sizes, apps, law, slo, kinds, penalties }
    }

    /// The place of an application in `apps`; none where it never asked for this model.
    pub fn place_of(&self, app: usize) -> Option<usize> {
        self.apps.binary_search_by_key(&app, |a| a.app).ok()
    }

    /// The law of a request of any application, weighted by their shares.
    pub fn mixture(&self) -> Histogram {
        let parts: Vec<(f64, &Histogram)> = self.apps.iter().map(|a| (a.weight, &a.law)).collect();
        Histogram::mixture(&parts)
    }

    /// The shortest mean execution time alone of any application: what a model's seed profile
    /// measures, with its default input.
    pub fn shortest_mean(&self) -> Span {
        let means = self.apps.iter().map(|a| a.law.mean_ns());
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

    /// Every size from 1 to `max_batch` of which the same holds, measured or not.
    pub fn every_size_within(&self, max_exec: Span, max_batch: u32) -> Vec<u32> {
        let seed = self.shortest_mean();
        let fits = |size: u32| size == 1 || self.law.batch(size, seed) <= max_exec;
        (1..=max_batch.max(1)).filter(|&size| fits(size)).collect()
    }

    /// The typical latency of a size: as measured, or else by the law that is believed in.
    pub fn typical(&self, size: u32) -> Span {
        let measured = self.sizes.iter().find(|s| s.size == size);
        measured.map_or_else(|| self.law.batch(size, self.mean_alone()), |s| s.typical)
    }

    /// The mean execution time alone of all requests.
    fn mean_alone(&self) -> Span {
        let apps = || self.apps.iter();
        let weight = apps().map(|a| a.weight).sum::<f64>().max(f64::MIN_POSITIVE);
        Span::from_ns_f64(apps().map(|a| a.weight * a.law.mean_ns()).sum::<f64>() / weight)
    }

    /// The latency of batches of 1, 2, ..., `max_batch`, as Symphony's, Nexus's and Shepherd's
    /// released code estimates it: mean plus one standard deviation. A size that was not measured
    /// costs what the law says, plus the deviation of the next one that was. It never falls from one
    /// size to the next.
    pub fn estimates(&self, max_batch: u32) -> Vec<Span> {
        let mut longest = Span::ZERO;
        let mut estimate = |size| {
            let measured = self.size(size);
            let mean = if measured.size == size {
                measured.mean
            } else {
                self.law.batch(size, self.mean_alone())
            };
            longest = longest.max(mean + measured.std);
            longest
        };
        (1..=max_batch).map(&mut estimate).collect()
    }

    /// The profile of a size: the smallest measured one that holds it, or the largest.
    pub fn size(&self, size: u32) -> SizeProfile {
        let at = self.sizes.partition_point(|s| s.size < size);
        self.sizes[at.min(self.sizes.len() - 1)]
    }
}

impl SizeProfile {
    /// Mean and deviation of these latencies; what is typical is not known yet.
    fn of(size: u32, latencies: impl ExactSizeIterator<Item = Span>) -> SizeProfile {
        let n = latencies.len().max(1) as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for latency in latencies {
            let latency = latency.ns() as f64;
            sum += latency;
            squares += latency * latency;
        }
        let mean = sum / n;
        let std = (squares / n - mean * mean).max(0.0).sqrt();
        let (mean, std) = (Span::from_ns_f64(mean), Span::from_ns_f64(std));
        SizeProfile { size, mean, std, typical: Span::ZERO }
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
        assert_eq!(p.estimates(9).len(), 9);
        assert_eq!(p.shortest_mean(), Span::from_ms(10));
        assert_eq!(p.sizes_within(Span::from_ms(11), 16), [1, 2]);
        assert_eq!(p.sizes_within(Span::from_ms(1), 16), [1]);
        assert!((p.mixture().mean_ns() - 20e6).abs() < 1e4);
    }

    #[test]
    fn a_profile_of_constant_times_is_the_measured_one_to_the_last_bit() {
        let ns = Span::from_ns;
        let affine = Latency::Affine { alpha: ns(1_234_567), beta: ns(7_654_321) };
        let table = Latency::Table(vec![(1, ns(3_333_333)), (8, ns(9_999_999))]);
        let sizes = [1, 2, 3, 8, 16, 64];
        for law in [affine, table, Latency::Proportional { c1: 0.37 }] {
            for (batches, bins, alone) in [(1, 1, ns(1_000)), (500, 64, ns(7_777_777))] {
                let slo = Span::from_ms(100);
                let draw = || (3, alone);
                let measured = ModelProfile::measure(&law, slo, &sizes, batches, draw, bins);
                let made = ModelProfile::of_constant(&law, slo, &sizes, batches, (3, alone), bins);
                assert_eq!(made, measured);
            }
        }
    }

    /// A place for every application in each of their models would be quadratic: with 10,000 of each,
    /// gigabytes.
    #[test]
    fn a_profile_has_room_for_its_own_applications_alone() {
        let (law, ms) = (Latency::Proportional { c1: 0.1 }, Span::from_ms);
        let made = ModelProfile::of_constant(&law, ms(100), &[1], 1, (9_999, ms(1)), 1);
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            (if drawn % 2 == 0 { 9_999 } else { 5_000 }, ms(1))
        };
        let measured = ModelProfile::measure(&law, ms(100), &[1, 2], 10, draw, 8);
        let apps = |p: &ModelProfile| p.apps.iter().map(|a| a.app).collect::<Vec<_>>();
        assert_eq!((apps(&made), apps(&measured)), (vec![9_999], vec![5_000, 9_999]));
        assert_eq!((made.place_of(9_999), made.place_of(5_000)), (Some(0), None));
    }
}
