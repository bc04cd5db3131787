//! One arrival process for each application, merged in one source, and rates by a factor.
//!
//! It is not thinning: where applications share one process, [`OpenWorkload`] draws who it is. Here
//! an application's arrivals come from streams of its own number, so that they do not depend on
//! which others there are, nor (but for the scale of time) on the rate.
//!
//! [`OpenWorkload`]: crate::workload::OpenWorkload

use crate::arrivals::{ArrivalLaw, evenly};
use crate::error::{TraceError, within};
use crate::gaps::Gaps;
use crate::rate::Minutes;
use crate::workload::{Application, MergedFunctions, Part};

impl ArrivalLaw {
    /// The law with its rate multiplied. Its processes draw the same numbers: the gaps of constant,
    /// Poisson and gamma arrivals are divided by the factor; a rate that varies is multiplied at
    /// every instant.
    pub fn scaled(&self, factor: f64) -> ArrivalLaw {
        let mut law = self.clone();
        match &mut law {
            ArrivalLaw::Constant { rate_per_s }
            | ArrivalLaw::Poisson { rate_per_s }
            | ArrivalLaw::IntegerPoisson { rate_per_s, .. }
            | ArrivalLaw::Gamma { rate_per_s, .. } => *rate_per_s *= factor,
            ArrivalLaw::Mmpp { rates_per_s, .. } => {
                rates_per_s.iter_mut().for_each(|rate| *rate *= factor);
            }
            ArrivalLaw::Minutes(Minutes { shape, .. }) => shape.rate_factor *= factor,
        }
        law
    }
}

/// A process of this law for each application, at its share of the rate: its weight among all.
/// Evenly spaced arrivals begin at a phase of each application's own. Gaps may be kept for the next source.
///
/// # Errors
/// When there is no application, or a weight, a size or a parameter is out of range.
pub fn per_app(
    law: &ArrivalLaw,
    apps: Vec<Application>,
    seed: u64,
    gaps: &Gaps,
) -> Result<MergedFunctions, TraceError> {
    let total: f64 = apps.iter().map(|a| a.weight).sum();
    let mut parts = Vec::with_capacity(apps.len());
    for application in apps {
        let share = within("weight", application.weight, 1e-12, 1e12)? / total;
        let index = u64::from(application.app.0);
        let process = match law.scaled(share) {
            ArrivalLaw::Constant { rate_per_s } => evenly(rate_per_s, seed, index)?,
            own => own.start_with(seed, index, gaps)?,
        };
        parts.push(Part { process, application, index });
    }
    MergedFunctions::new(parts, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, ModelId, Source};
    use orrery_sim::time::{Span, Time};

    const LAWS: [ArrivalLaw; 3] = [
        ArrivalLaw::Constant { rate_per_s: 900.0 },
        ArrivalLaw::Poisson { rate_per_s: 900.0 },
        ArrivalLaw::Gamma { rate_per_s: 900.0, shape: 0.1 },
    ];

    fn apps(weights: &[f64]) -> Vec<Application> {
        let app = |(i, &weight): (usize, &f64)| Application {
            app: AppId(i as u32),
            model: ModelId(i as u32),
            weight,
            law: crate::exec_time::ExecLaw::Constant(Span::from_ms(1)),
            slo: Span::from_ms(10),
            size: 1,
        };
        weights.iter().enumerate().map(app).collect()
    }

    /// The times of each application's first arrivals.
    fn times(law: &ArrivalLaw, weights: &[f64], n: usize) -> Vec<Vec<u64>> {
        let mut source = per_app(law, apps(weights), 5, &Gaps::default()).unwrap();
        let mut times = vec![Vec::new(); weights.len()];
        let mut last = Time::ZERO;
        while times.iter().any(|t| t.len() < n) {
            let shown = source.peek();
            let arrival = source.pop().unwrap();
            assert!(shown == Some(arrival.at) && last <= arrival.at);
            last = arrival.at;
            times[arrival.app.index()].push(arrival.at.ns());
        }
        times.iter_mut().for_each(|t| t.truncate(n));
        times
    }

    #[test]
    fn at_twice_the_rate_every_arrival_comes_in_half_the_time() {
        for law in LAWS {
            let (once, twice) =
                (times(&law, &[1.0, 2.0], 3_000), times(&law.scaled(2.0), &[1.0, 2.0], 3_000));
            for (slow, fast) in once.iter().flatten().zip(twice.iter().flatten()) {
                assert!(slow.abs_diff(2 * fast) <= 2, "{law:?}: {slow} {fast}");
            }
        }
    }

    #[test]
    fn a_shared_process_scales_in_the_same_way() {
        for law in LAWS {
            let (mut slow, mut fast) =
                (law.start(5, 0).unwrap(), law.scaled(2.0).start(5, 0).unwrap());
            for _ in 0..10_000 {
                let (slow, fast) = (slow.next().unwrap().ns(), fast.next().unwrap().ns());
                assert!(slow.abs_diff(2 * fast) <= 2, "{law:?}: {slow} {fast}");
            }
        }
    }

    #[test]
    fn another_application_moves_no_arrival_of_the_first_at_the_same_rate() {
        for law in LAWS {
            let alone = times(&law, &[1.0], 500);
            let beside = times(&law.scaled(3.0), &[1.0, 2.0], 500);
            for (a, b) in alone[0].iter().zip(&beside[0]) {
                assert!(a.abs_diff(*b) <= 1, "{law:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn each_application_has_its_share_of_the_rate() {
        for law in LAWS {
            let mut source = per_app(&law, apps(&[1.0, 0.5, 3.0]), 2, &Gaps::default()).unwrap();
            let mut counts = [0.0_f64; 3];
            while source.peek().is_some_and(|at| at < Time::ZERO + Span::from_secs(500)) {
                counts[source.pop().unwrap().app.index()] += 1.0;
            }
            for (count, share) in counts.into_iter().zip([200.0, 100.0, 600.0]) {
                assert!((count / 500.0 / share - 1.0).abs() < 0.05, "{law:?} {count}");
            }
        }
    }

    #[test]
    fn even_arrivals_of_several_applications_do_not_come_together() {
        let times = times(&LAWS[0], &[1.0; 4], 3);
        let firsts: std::collections::BTreeSet<u64> = times.iter().map(|t| t[0]).collect();
        assert_eq!(firsts.len(), 4);
        for t in &times {
            assert!(t[0] < 4_444_445 && (t[1] - t[0]).abs_diff(4_444_444) <= 1);
        }
    }

    #[test]
    fn no_application_and_a_wrong_weight_are_errors() {
        assert!(per_app(&LAWS[1], vec![], 1, &Gaps::default()).is_err());
        assert!(per_app(&LAWS[1], apps(&[1.0, f64::NAN]), 1, &Gaps::default()).is_err());
    }
}
