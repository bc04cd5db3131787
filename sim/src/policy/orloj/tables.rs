//! What Orloj computes before it is asked: the law of a batch's latency (§4.2, §4.3), its estimate and
//! the scores that follow from it, for each application and batch size.

use super::config::{Config, Estimate};
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
    let mixture = profile.mixture();
    let laws = profile.apps.iter().map(|a| &a.law);
    laws.chain(std::iter::once(&mixture))
        .map(|law| {
            let batches: Vec<Histogram> =
                sizes.iter().map(|&k| batch_law(&profile.law, law, &mixture, k)).collect();
            AppTables {
                estimates: batches.iter().map(|b| estimate(b, config.estimate)).collect(),
                scores: batches.iter().map(|b| ScoreTable::new(b, config.b_per_ms)).collect(),
            }
        })
        .collect()
}

/// The law of a batch of k: one request of `own`, the others of the mixture (Eq. 7 to 9).
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
}
