//! The two-group law: a real task of which only the mean and the 99th percentile are published.
//!
//! It is a reading, not a fact: most requests are of a short group, a few of a long one, both
//! normal; the groups' means are solved so that the whole has the published mean and P99.

use crate::error::{TraceError, parameter, within};
use crate::exec_time::{ExecLaw, Mode, normal_cdf};

/// How wide the groups are: sd / mean = min(`cap`, `slope` * (P99 / mean - 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SdRule {
    /// The widest a group gets, relative to its mean.
    pub cap: f64,
    /// How the width grows with the tail.
    pub slope: f64,
}

impl Default for SdRule {
    /// The values that explain Orloj's real tasks best: a cap of 0.2 and a slope of 0.35.
    fn default() -> SdRule {
        SdRule { cap: 0.2, slope: 0.35 }
    }
}

/// The share of the short group that explains Orloj's real tasks best.
pub const SHORT_SHARE: f64 = 0.97;

impl ExecLaw {
    /// A mixture of two normal groups with this mean and 99th percentile, of which `short_share`
    /// is the shorter. [`SHORT_SHARE`] and [`SdRule::default`] are the usual choice.
    ///
    /// # Errors
    /// When a parameter is out of range, or no two groups have this mean and percentile.
    pub fn two_group(
        mean_ms: f64,
        p99_ms: f64,
        short_share: f64,
        rule: SdRule,
    ) -> Result<ExecLaw, TraceError> {
        within("mean_ms", mean_ms, 1e-3, 86_400e3)?;
        within("p99_ms", p99_ms, mean_ms, 86_400e3)?;
        within("short_share", short_share, 1e-6, 1.0 - 1e-6)?;
        within("cap", rule.cap, 1e-9, 1.0)?;
        within("slope", rule.slope, 1e-9, 1e3)?;
        let width = rule.cap.min(rule.slope * (p99_ms / mean_ms - 1.0));
        let groups = Groups { mean_ms, short_share, width };
        let short_ms = groups.solve(p99_ms).ok_or_else(|| {
            parameter(
                "p99_ms",
                p99_ms,
                format!("a percentile that two groups can have with mean {mean_ms} ms"),
                "change the share of the short group or the rule of its deviation",
            )
        })?;
        ExecLaw::mixture(groups.modes(short_ms))
    }
}

/// The family of mixtures with one mean, indexed by the mean of the short group.
struct Groups {
    mean_ms: f64,
    short_share: f64,
    width: f64,
}

impl Groups {
    fn modes(&self, short_ms: f64) -> Vec<Mode> {
        let long_share = 1.0 - self.short_share;
        let long_ms = (self.mean_ms - self.short_share * short_ms) / long_share;
        let mode = |weight, mean_ms| Mode { weight, mean_ms, sd_ms: self.width * mean_ms };
        vec![mode(self.short_share, short_ms), mode(long_share, long_ms)]
    }

    /// How far the probability of at most `p99_ms` is above 0.99.
    fn excess(&self, short_ms: f64, p99_ms: f64) -> f64 {
        let part = |m: &Mode| m.weight * normal_cdf(p99_ms, m.mean_ms, m.sd_ms);
        self.modes(short_ms).iter().map(part).sum::<f64>() - 0.99
    }

    /// The short mean for which P99 is `p99_ms`: bisection down from the whole's mean, where both
    /// groups are one and the tail is lightest. `None` when P99 is not reached.
    fn solve(&self, p99_ms: f64) -> Option<f64> {
        let (mut low, mut high) = (self.mean_ms * 1e-9, self.mean_ms);
        if self.excess(high, p99_ms) < 0.0 || self.excess(low, p99_ms) > 0.0 {
            return None;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.excess(middle, p99_ms) > 0.0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and P99 of ten tasks, in milliseconds (Orloj, Table 1).
    const TASKS: [(f64, f64); 10] = [
        (683.15, 2667.54),
        (3.24, 5.56),
        (200.39, 242.27),
        (94.84, 161.69),
        (774.66, 1101.99),
        (552.91, 797.28),
        (189.30, 319.31),
        (432.38, 729.87),
        (203.22, 247.04),
        (79.47, 143.40),
    ];

    #[test]
    fn mean_and_p99_are_those_published() {
        for (mean, p99) in TASKS {
            let law = ExecLaw::two_group(mean, p99, SHORT_SHARE, SdRule::default()).unwrap();
            let (m, p) = (law.mean_ns() / 1e6, law.quantile_ns(0.99) / 1e6);
            assert!((m / mean - 1.0).abs() < 1e-6, "mean {m}, not {mean}");
            assert!((p / p99 - 1.0).abs() < 1e-6, "P99 {p}, not {p99}");
        }
    }

    #[test]
    fn the_groups_are_as_the_rule_says() {
        let ExecLaw::Mixture(modes) =
            ExecLaw::two_group(200.39, 242.27, 0.97, SdRule::default()).unwrap()
        else {
            panic!("not a mixture")
        };
        let width = 0.35 * (242.27 / 200.39 - 1.0);
        assert!(modes[0].mean_ms < 200.39 && modes[1].mean_ms > 200.39);
        assert!((modes[0].weight - 0.97).abs() < 1e-12);
        for m in modes {
            assert!((m.sd_ms / m.mean_ms - width).abs() < 1e-12);
        }
    }

    #[test]
    fn what_no_two_groups_have_is_an_error() {
        let law = |mean, p99, share| ExecLaw::two_group(mean, p99, share, SdRule::default());
        assert!(law(100.0, 99.0, 0.97).is_err());
        assert!(law(100.0, 100_000.0, 0.97).unwrap_err().to_string().contains("p99_ms"));
        assert!(law(100.0, 300.0, 0.999).is_err());
        assert!(law(f64::NAN, 1.0, 0.97).is_err() && law(1.0, f64::INFINITY, 0.97).is_err());
    }
}
