//! What Orloj computes before it is asked: the law of a batch's latency (§4.2, §4.3), its estimate and
//! the scores that follow from it, for each application and batch size.

use super::config::{BatchLaw, Config, Estimate, Shares};
use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::policy::score::ScoreTable;
use crate::profile::ModelProfile;
use crate::time::Span;

/// What Orloj precomputes for one application: by batch size.
#[derive(Clone, Debug)]
pub(super) struct AppTables {
    pub estimates: Vec<Span>,
    pub scores: Vec<ScoreTable>,
}

/// The batch sizes of a model.
pub(super) fn sizes(config: &Config, profile: &ModelProfile) -> Vec<u32> {
    let all = profile.sizes_within(Span::MAX, config.max_batch);
    let seed = profile.law.batch(1, profile.shortest_mean());
    if config.max_exec == Span::ZERO || seed > config.max_exec {
        return all;
    }
    profile.sizes_within(config.max_exec, config.max_batch)
}

/// Tables of the applications that the profile has, in its order, and the mixture's as the last.
pub(super) fn tables(config: &Config, profile: &ModelProfile, sizes: &[u32]) -> Vec<AppTables> {
    let laws: Vec<Histogram> = profile.apps.iter().map(|a| binned(&a.law, config.bins)).collect();
    let weights = profile.apps.iter().map(|a| match config.shares {
        Shares::Equal => 1.0,
        Shares::Counts => a.weight,
    });
    let mixture = Histogram::mixture(&weights.zip(&laws).collect::<Vec<_>>());
    let by_size = |own: &Histogram| -> Vec<Histogram> {
        sizes.iter().map(|&k| batch_law(&profile.law, own, &mixture, k)).collect()
    };
    let common = by_size(&mixture);
    let both_common = [config.estimate_law, config.score_law] == [BatchLaw::Common; 2];
    let tables = |law: &Histogram| {
        let own = if both_common { Vec::new() } else { by_size(law) };
        let of = |law| match law {
            BatchLaw::Common => common.iter(),
            BatchLaw::Own => own.iter(),
        };
        AppTables {
            estimates: of(config.estimate_law).map(|b| estimate(b, config.estimate)).collect(),
            scores: of(config.score_law).map(|b| ScoreTable::new(b, config.b_per_ms)).collect(),
        }
    };
    laws.iter().chain([&mixture]).map(tables).collect()
}

/// An application's histogram in the policy's own bins.
fn binned(law: &Histogram, bins: u32) -> Histogram {
    match bins {
        0 => law.clone(),
        bins => law.in_bins(bins as usize),
    }
}

/// The law of a batch of k: one request of `own`, the others of the mixture (Eq. 7 to 9); Eq. 6 where
/// `own` is the mixture.
fn batch_law(latency: &Latency, own: &Histogram, mixture: &Histogram, k: u32) -> Histogram {
    match latency.depends_on_longest() {
        true => latency.distribution(k, &own.max_with(&[(mixture, k - 1)])),
        false => Histogram::constant(latency.batch(k, Span::ZERO)),
    }
}

fn estimate(law: &Histogram, by: Estimate) -> Span {
    Span::from_ns_f64(match by {
        Estimate::Mean => law.mean_ns(),
        Estimate::Quantile(q) => law.quantile_ns(q),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::parameters::Settings;

    #[test]
    fn tables_are_made_of_the_applications_of_a_model_alone() {
        let (law, ms) = (Latency::Proportional { c1: 0.1 }, Span::from_ms);
        let config = (Config::PRESETS[0].make)();
        let profile = ModelProfile::of_constant(&law, ms(100), &[1, 2], 1, (9_999, ms(1)), 1);
        assert_eq!(tables(&config, &profile, &[1, 2]).len(), 2, "its own, the mixture's");
    }

    /// Two applications, nine requests of the short one to one of the long.
    fn nine_to_one() -> ModelProfile {
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            let long = drawn % 10 == 0;
            (usize::from(long), Span::from_us(if long { 50_000 } else { 5_000 } + drawn % 977))
        };
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, Span::from_ms(100), &[1, 4], 1_000, draw, 64)
    }

    fn mean_ms(config: Config) -> Vec<Vec<f64>> {
        let ms = |t: &AppTables| t.estimates.iter().map(|e| e.as_ms_f64()).collect();
        tables(&config, &nine_to_one(), &[1, 4]).iter().map(ms).collect()
    }

    #[test]
    fn a_common_law_is_one_for_all_applications_and_an_own_one_is_not() {
        let paper = (Config::PRESETS[0].make)();
        let [short, long, mixture] = &mean_ms(paper)[..] else { panic!("two, and the mixture") };
        assert!(short == long && long == mixture);
        let own = Config { estimate_law: BatchLaw::Own, ..paper };
        let [short, long, of_others] = &mean_ms(own)[..] else { panic!("two, and the mixture") };
        assert!(short[0] < 6.0 && long[0] > 50.0, "alone each takes its own time");
        assert_eq!(of_others, mixture, "one that was not profiled is taken for any");
        // The two keys do not touch one another.
        let (own_score, slack) = (Config { score_law: BatchLaw::Own, ..paper }, Span::from_ms(200));
        let scores = |c: &Config| {
            let score = |t: &AppTables| t.scores[0].at(slack);
            tables(c, &nine_to_one(), &[1, 4]).iter().map(score).collect::<Vec<f64>>()
        };
        assert_eq!(mean_ms(own_score), mean_ms(paper));
        assert_eq!(scores(&own), scores(&paper));
        let [short, long, any] = scores(&own_score)[..] else { panic!("two, and the mixture") };
        assert!(short > any && any > long, "the smaller E[L] goes first");
        assert!(scores(&paper).iter().all(|s| *s == any));
    }

    /// k draws of the mixture, by hand: the longest of k is short where all are.
    #[test]
    fn shares_are_equal_or_counted() {
        let paper = (Config::PRESETS[0].make)();
        for (shares, of_short) in [(Shares::Equal, 0.5f64), (Shares::Counts, 0.9)] {
            let means = &mean_ms(Config { shares, ..paper })[0];
            for (mean, k) in means.iter().zip([1, 4]) {
                let all_short: f64 = (0..k).map(|_| of_short).product();
                let longest = all_short * 5.5 + (1.0 - all_short) * 50.5;
                let hand = (1.0 - 0.1 + 0.1 * f64::from(k)) * longest;
                assert!((mean - hand).abs() < 1.0, "{shares:?}, {k}: {mean} for {hand}");
            }
        }
    }

    /// What a request crosses as its slack shrinks, in the queue of one size: bins are what milestones
    /// cost.
    #[test]
    fn the_bins_of_each_application_add_to_the_edges_of_a_law() {
        let law = |bins| {
            let profile = nine_to_one();
            let laws: Vec<Histogram> = profile.apps.iter().map(|a| binned(&a.law, bins)).collect();
            let parts: Vec<(f64, &Histogram)> = laws.iter().map(|l| (1.0, l)).collect();
            let mixture = Histogram::mixture(&parts);
            batch_law(&profile.law, &mixture, &mixture, 4)
        };
        // The two laws do not overlap, so the bins between them are empty and give no edge.
        assert_eq!([4, 16, 0].map(|bins| law(bins).bins().count()), [2 * 4, 2 * 16, 2 * 64]);
        let mean = |bins| law(bins).mean_ns() / 1e6;
        assert!((mean(16) - mean(0)).abs() < (mean(1) - mean(0)).abs());
    }
}
