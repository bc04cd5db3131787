//! Orloj's feedback loop (§3.2): what a profile is renewed from.
//!
//! How an application's requests take is one question, how many of a model's requests are the
//! application's another. The first is answered by its latest measurements, which for a rare
//! application lie far back; the second by counting all applications over one span of arrivals.
//!
//! The memory of both slides, or is emptied when it is full; then what was learned last stands until
//! enough is known again.

use super::config::{Config, Memory, WINDOW_MIN};
use crate::distribution::Histogram;
use crate::profile::{AppProfile, ModelProfile};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// Bins of a renewed law, where the policy has none of its own.
const BINS: usize = 64;
/// As many measurements are needed for a law.
const MEASURED_MIN: usize = WINDOW_MIN as usize;
/// The arrivals over which shares are counted, for each measurement of an application that is
/// remembered.
const COUNTED: usize = 5;

/// What was seen of one model since the start.
pub(super) struct Learner {
    config: Config,
    /// By their numbers: those of the profile, and others with a lower number than its last that came.
    apps: Vec<App>,
    /// The applications of the latest arrivals.
    arrivals: VecDeque<usize>,
    /// Measurements since the profile was renewed.
    since: u32,
    renewed: Time,
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
    pub fn new(config: Config, profile: &ModelProfile) -> Learner {
        let total: f64 = profile.apps.iter().map(|a| a.weight).sum();
        let app = |a: &AppProfile| App {
            before: a.weight / total.max(f64::MIN_POSITIVE),
            ..App::unknown(a.app)
        };
        let apps = profile.apps.iter().map(app).collect();
        Learner { config, apps, arrivals: VecDeque::new(), since: 0, renewed: Time::ZERO }
    }

    /// The measurements of an application that its law is made of.
    fn window(&self) -> usize {
        self.config.window as usize
    }

    /// The arrivals of the model over which its applications' shares are counted.
    fn counted(&self) -> usize {
        COUNTED * self.window()
    }

    /// A request of an application came.
    pub fn arrived(&mut self, app: usize) {
        let Some(a) = self.app_at(app) else { return };
        a.arrived += 1;
        self.arrivals.push_back(app);
        if self.arrivals.len() > self.counted() {
            match self.config.memory {
                Memory::Sliding => self.forget_oldest(),
                Memory::Reset => self.forget_all(app),
            }
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.arrivals.pop_front()
            && let Some(a) = self.app_at(oldest)
        {
            a.arrived -= 1;
        }
    }

    /// Counts anew from the arrival of `app`, the latest; until then the shares stand that were counted.
    fn forget_all(&mut self, app: usize) {
        let counted = (self.arrivals.len() - 1) as f64;
        for a in &mut self.apps {
            let latest = usize::from(a.app == app);
            a.before = (a.arrived - latest) as f64 / counted;
            a.arrived = latest;
        }
        self.arrivals.clear();
        self.arrivals.push_back(app);
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

    /// A request of an application was measured; whether the profile is to be renewed.
    pub fn measured(&mut self, now: Time, app: usize, alone: Span) -> bool {
        let Config { memory, relearn_every, relearn_every_s, .. } = self.config;
        let window = self.window();
        let Some(a) = self.app_at(app) else { return false };
        if a.measured.len() >= window {
            match memory {
                Memory::Sliding => drop(a.measured.pop_front()),
                Memory::Reset => a.measured.clear(),
            }
        }
        a.measured.push_back(alone);
        self.since += 1;
        let by_number = relearn_every > 0 && self.since >= relearn_every;
        let by_time = relearn_every_s > Span::ZERO && now.since(self.renewed) >= relearn_every_s;
        by_number || by_time
    }

    /// Renews the laws of which enough is known, and all shares.
    pub fn renew(&mut self, now: Time, profile: &mut ModelProfile) {
        (self.since, self.renewed) = (0, now);
        let missing = self.counted().saturating_sub(self.arrivals.len()) as f64;
        let bins = match self.config.bins {
            0 => BINS,
            bins => bins as usize,
        };
        for a in &mut self.apps {
            let weight = a.arrived as f64 + missing * a.before;
            let known = profile.apps.binary_search_by_key(&a.app, |known| known.app);
            if a.measured.len() >= MEASURED_MIN {
                let law = Histogram::from_samples(a.measured.make_contiguous(), bins);
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
    use crate::policy::parameters::Settings;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    const WINDOW: usize = 2_000;
    const ARRIVALS: usize = COUNTED * WINDOW;

    fn learner(memory: Memory, profile: &ModelProfile) -> Learner {
        let config = Config { memory, relearn_every: 100, ..(Config::PRESETS[0].make)() };
        assert_eq!(config.window as usize, WINDOW);
        Learner::new(config, profile)
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
        let mut learner = learner(Memory::Sliding, &profile);
        for i in 0..50_000 {
            let app = usize::from(i % 10 == 0);
            learner.arrived(app);
            // Half of the long ones are dropped.
            if app == 0 || i % 20 == 0 {
                learner.measured(Time::ZERO, app, ms(if app == 0 { 5 } else { 50 }));
            }
        }
        learner.renew(Time::ZERO, &mut profile);
        assert_eq!(shares(&profile), [0.9, 0.1]);
        let means = profile.apps.iter().map(|a| a.law.mean_ns());
        assert_eq!(means.map(|m| (m / 1e6).round()).collect::<Vec<_>>(), [5.0, 50.0]);
    }

    #[test]
    fn until_enough_have_come_the_profile_stands_for_the_rest() {
        let mut profile = profile();
        let mut learner = learner(Memory::Sliding, &profile);
        for _ in 0..ARRIVALS / 2 {
            learner.arrived(1);
        }
        learner.renew(Time::ZERO, &mut profile);
        assert!((shares(&profile)[1] - 0.55).abs() < 1e-12);
        for _ in 0..ARRIVALS / 2 {
            learner.arrived(0);
        }
        learner.renew(Time::ZERO, &mut profile);
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
        let mut learner = learner(Memory::Sliding, &profile);
        for i in 0..2 * ARRIVALS {
            let app = [2, 5, 7, 9][i % 4];
            learner.arrived(app);
            learner.measured(Time::ZERO, app, ms(if app == 5 { 50 } else { 5 }));
        }
        learner.renew(Time::ZERO, &mut profile);
        let apps: Vec<usize> = profile.apps.iter().map(|a| a.app).collect();
        assert_eq!(apps, [2, 5, 7], "and none beyond the last");
        assert!(shares(&profile).iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-3));
        assert_eq!((profile.apps[1].law.mean_ns() / 1e6).round(), 50.0);
    }

    #[test]
    fn a_memory_that_slides_forgets_the_oldest_and_one_that_is_reset_forgets_all() {
        let mean_after = |memory, measurements: &[(usize, u64)]| {
            let mut profile = profile();
            let mut learner = learner(memory, &profile);
            for &(n, took) in measurements {
                (0..n).for_each(|_| _ = learner.measured(Time::ZERO, 0, ms(took)));
            }
            learner.renew(Time::ZERO, &mut profile);
            (profile.apps[0].law.mean_ns() / 1e6).round()
        };
        for memory in [Memory::Sliding, Memory::Reset] {
            assert_eq!(mean_after(memory, &[(63, 20)]), 5.0, "{memory:?}: too few: as profiled");
            assert_eq!(mean_after(memory, &[(64, 20)]), 20.0, "{memory:?}");
            assert_eq!(mean_after(memory, &[(WINDOW / 2, 10), (WINDOW / 2, 20)]), 15.0);
        }
        let full_and = |memory, n| mean_after(memory, &[(WINDOW, 10), (n, 20)]);
        assert_eq!(full_and(Memory::Sliding, WINDOW / 2), 15.0, "half of them are old");
        assert_eq!(full_and(Memory::Reset, WINDOW / 2), 20.0, "none is");
        assert_eq!(full_and(Memory::Reset, 63), 5.0, "too few since: the profile has the old law");
    }

    #[test]
    fn after_a_reset_the_shares_that_were_counted_stand_for_the_arrivals_to_come() {
        let mut profile = profile();
        let mut learner = learner(Memory::Reset, &profile);
        (0..ARRIVALS).for_each(|i| learner.arrived(usize::from(i % 4 == 0)));
        learner.renew(Time::ZERO, &mut profile);
        assert_eq!(shares(&profile), [0.75, 0.25], "a full memory");
        (0..ARRIVALS / 2).for_each(|_| learner.arrived(1));
        learner.renew(Time::ZERO, &mut profile);
        assert!((shares(&profile)[1] - 0.625).abs() < 1e-12, "half anew, half as it was");
        assert_eq!(learner.arrivals.len(), ARRIVALS / 2);
    }

    #[test]
    fn a_renewal_is_due_by_number_or_by_time() {
        let profile = profile();
        let at = |s| Time::ZERO + Span::from_secs(s);
        let due = |relearn_every, every_s, seconds: &[u64]| {
            let relearn_every_s = Span::from_secs(every_s);
            let base = (Config::PRESETS[0].make)();
            let mut learner =
                Learner::new(Config { relearn_every, relearn_every_s, ..base }, &profile);
            let mut renewed = profile.clone();
            let mut one = |&s: &u64| {
                let due = learner.measured(at(s), 0, ms(5));
                if due {
                    learner.renew(at(s), &mut renewed);
                }
                due
            };
            seconds.iter().map(&mut one).collect::<Vec<bool>>()
        };
        assert_eq!(due(2, 0, &[1, 2, 3, 4]), [false, true, false, true]);
        assert_eq!(due(0, 10, &[9, 10, 19, 20]), [false, true, false, true]);
        assert_eq!(due(3, 10, &[1, 12, 13, 14, 15]), [false, true, false, false, true]);
        assert_eq!(due(0, 0, &[1, 99]), [false, false]);
    }
}
