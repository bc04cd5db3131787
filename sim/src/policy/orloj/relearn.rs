//! Orloj's feedback loop (§3.2): what a profile is renewed from.
//!
//! How an application's requests take is one question, how many of a model's requests are the
//! application's another. The first is answered by its latest measurements, which for a rare
//! application lie far back; the second by counting all applications over one span of arrivals.

use crate::distribution::Histogram;
use crate::profile::{AppProfile, ModelProfile};
use crate::time::Span;
use std::collections::VecDeque;

/// Bins of a renewed law; as many measurements are needed for one.
const BINS: usize = 64;
/// The measurements of an application that its law is made of.
const MEASURED: usize = 2_000;
/// The arrivals of a model over which its applications' shares are counted.
const COUNTED: usize = 10_000;

/// What was seen of one model since the start.
pub(super) struct Learner {
    /// By their numbers: those of the profile, and others with a lower number than its last that came.
    apps: Vec<App>,
    /// The applications of the latest arrivals.
    arrivals: VecDeque<usize>,
    /// Measurements since the profile was renewed.
    since: u32,
}

struct App {
    app: usize,
    measured: VecDeque<Span>,
    /// Its part of `arrivals`.
    arrived: usize,
    /// Its share by the profile, which stands for the arrivals that have not come yet.
    before: f64,
}

impl Learner {
    /// Nothing was seen yet.
    pub fn new(profile: &ModelProfile) -> Learner {
        let total: f64 = profile.apps.iter().map(|a| a.weight).sum();
        let app = |a: &AppProfile| App {
            before: a.weight / total.max(f64::MIN_POSITIVE),
            ..App::unknown(a.app)
        };
        let apps = profile.apps.iter().map(app).collect();
        Learner { apps, arrivals: VecDeque::new(), since: 0 }
    }

    /// A request of an application came.
    pub fn arrived(&mut self, app: usize) {
        let Some(a) = self.app_at(app) else { return };
        a.arrived += 1;
        self.arrivals.push_back(app);
        if self.arrivals.len() > COUNTED
            && let Some(oldest) = self.arrivals.pop_front()
            && let Some(a) = self.app_at(oldest)
        {
            a.arrived -= 1;
        }
    }

    /// What was seen of an application; none of those beyond the profile's last.
    fn app_at(&mut self, app: usize) -> Option<&mut App> {
        if self.apps.last().is_none_or(|last| last.app < app) {
            return None;
        }
        let at = match self.apps.binary_search_by_key(&app, |a| a.app) {
            Ok(at) => at,
            Err(at) => {
                self.apps.insert(at, App::unknown(app));
                at
            }
        };
        Some(&mut self.apps[at])
    }

    /// A request of an application was measured; how many were since the profile was renewed.
    pub fn measured(&mut self, app: usize, alone: Span) -> u32 {
        let Some(a) = self.app_at(app) else { return 0 };
        if a.measured.len() >= MEASURED {
            a.measured.pop_front();
        }
        a.measured.push_back(alone);
        self.since += 1;
        self.since
    }

    /// Renews the laws of which enough is known, and all shares.
    pub fn renew(&mut self, profile: &mut ModelProfile) {
        self.since = 0;
        let missing = (COUNTED - self.arrivals.len()) as f64;
        for a in &mut self.apps {
            let weight = a.arrived as f64 + missing * a.before;
            let known = profile.apps.binary_search_by_key(&a.app, |known| known.app);
            if a.measured.len() >= BINS {
                let law = Histogram::from_samples(a.measured.make_contiguous(), BINS);
                let renewed = AppProfile { app: a.app, weight, law };
                match known {
                    Ok(at) => profile.apps[at] = renewed,
                    Err(at) => profile.apps.insert(at, renewed),
                }
            } else if let Ok(at) = known {
                profile.apps[at].weight = weight;
            }
        }
    }
}

impl App {
    /// Of an application that the profile does not have.
    fn unknown(app: usize) -> App {
        App { app, measured: VecDeque::new(), arrived: 0, before: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    /// Two applications, nine to one.
    fn profile() -> ModelProfile {
        let mut drawn = 0;
        let draw = || {
            drawn += 1;
            (usize::from(drawn % 10 == 0), ms(if drawn % 10 == 0 { 50 } else { 5 }))
        };
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, ms(100), &[1], 1_000, draw, 8)
    }

    fn shares(profile: &ModelProfile) -> Vec<f64> {
        let weights: Vec<f64> = profile.apps.iter().map(|a| a.weight).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    }

    #[test]
    fn shares_are_counted_over_arrivals_and_not_over_measurements() {
        let mut profile = profile();
        let mut learner = Learner::new(&profile);
        for i in 0..50_000 {
            let app = usize::from(i % 10 == 0);
            learner.arrived(app);
            // Half of the long ones are dropped.
            if app == 0 || i % 20 == 0 {
                learner.measured(app, ms(if app == 0 { 5 } else { 50 }));
            }
        }
        learner.renew(&mut profile);
        assert_eq!(shares(&profile), [0.9, 0.1]);
        let means = profile.apps.iter().map(|a| a.law.mean_ns());
        assert_eq!(means.map(|m| (m / 1e6).round()).collect::<Vec<_>>(), [5.0, 50.0]);
    }

    #[test]
    fn until_enough_have_come_the_profile_stands_for_the_rest() {
        let mut profile = profile();
        let mut learner = Learner::new(&profile);
        for _ in 0..COUNTED / 2 {
            learner.arrived(1);
        }
        learner.renew(&mut profile);
        assert!((shares(&profile)[1] - 0.55).abs() < 1e-12);
        for _ in 0..COUNTED / 2 {
            learner.arrived(0);
        }
        learner.renew(&mut profile);
        assert_eq!(shares(&profile), [0.5, 0.5]);
    }

    /// An application that the profile was not measured with, but whose number is below its last.
    #[test]
    fn an_application_that_comes_later_gets_a_law_of_its_own() {
        let (law, mut drawn) = (Latency::Proportional { c1: 0.1 }, 0);
        let draw = || {
            drawn += 1;
            (if drawn % 2 == 0 { 2 } else { 7 }, ms(5))
        };
        let mut profile = ModelProfile::measure(&law, ms(100), &[1], 1_000, draw, 8);
        let mut learner = Learner::new(&profile);
        for i in 0..2 * COUNTED {
            let app = [2, 5, 7, 9][i % 4];
            learner.arrived(app);
            learner.measured(app, ms(if app == 5 { 50 } else { 5 }));
        }
        learner.renew(&mut profile);
        let apps: Vec<usize> = profile.apps.iter().map(|a| a.app).collect();
        assert_eq!(apps, [2, 5, 7], "and none beyond the last");
        assert!(shares(&profile).iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-3));
        assert_eq!((profile.apps[1].law.mean_ns() / 1e6).round(), 50.0);
    }
}
