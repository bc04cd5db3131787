//! What disturbs a device and its host: noise on the batches of a model, and stalls of the machine.
//!
//! `orrery-replay profile` measures both, and writes them with the same keys.

use super::value::{S_MAX, within};
use orrery_run::SpecError;
use orrery_sim::latency;
use orrery_sim::stalls;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `noise` of a `[[model]]`, and `[load_noise]`: what makes one batch unlike another of the same size,
/// or one load unlike another of the same model.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct BatchNoise {
    /// Standard deviation of the logarithm of a factor whose median is 1.
    pub sigma: f64,
    /// Share of the batches (or loads) that take one of `outlier_factors` in its place.
    pub outlier_share: f64,
    /// Factors of slow ones, all equally likely.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "none"))]
    pub outlier_factors: Vec<f64>,
}

/// `[stalls]`: times at which the host takes a core away. The controller and every executor of a device
/// have a core each; quiet times and bursts alternate.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Stalls {
    /// Lengths of stalls, all equally likely.
    pub lengths_ms: Vec<f64>,
    /// Stalls of a core in quiet times, for each second outside of stalls.
    pub quiet_per_s: f64,
    /// Stalls of a core in bursts.
    pub burst_per_s: f64,
    /// Mean length of a quiet time.
    pub quiet_s: f64,
    /// Mean length of a burst; 0 for none.
    pub burst_s: f64,
    /// Share of the stalls that hit all cores at once.
    pub shared: f64,
}

impl BatchNoise {
    /// The noise in the simulator's terms. `key` is where it stands, for messages.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn law(&self, key: &str, seed: u64) -> Result<latency::BatchNoise, SpecError> {
        let part = |name: &str| format!("{key}.{name}");
        within(&part("sigma"), self.sigma, 0.0, 5.0)?;
        within(&part("outlier_share"), self.outlier_share, 0.0, 1.0)?;
        for (i, factor) in self.outlier_factors.iter().enumerate() {
            within(&part(&format!("outlier_factors[{i}]")), *factor, 1e-3, 1e6)?;
        }
        if self.outlier_share > 0.0 && self.outlier_factors.is_empty() {
            let (found, allowed) = ("none, with an `outlier_share`", "at least one factor");
            return Err(SpecError::value(part("outlier_factors"), found, allowed, "add one"));
        }
        Ok(latency::BatchNoise {
            sigma: self.sigma,
            outlier_share: self.outlier_share,
            outlier_factors: self.outlier_factors.clone(),
            seed,
        })
    }
}

/// Quiet times and bursts are longer than this on average, seconds.
const MEAN_MIN_S: f64 = 1e-6;

/// A core that is away for more of the time than this does no work.
const AWAY_MAX: f64 = 0.95;

impl Stalls {
    /// Whether none ever happens.
    pub fn is_none(&self) -> bool {
        self.quiet_per_s == 0.0 && self.burst_per_s == 0.0
    }

    /// The law in the simulator's terms. `key` is where it stands, for messages.
    ///
    /// # Errors
    /// When a number is out of range, or the stalls leave too little time between them.
    pub fn law(&self, key: &str, seed: u64) -> Result<stalls::Stalls, SpecError> {
        let part = |name: &str| format!("{key}.{name}");
        for (name, per_s) in [("quiet_per_s", self.quiet_per_s), ("burst_per_s", self.burst_per_s)]
        {
            within(&part(name), per_s, 0.0, 1e6)?;
        }
        for (name, mean_s) in [("quiet_s", self.quiet_s), ("burst_s", self.burst_s)] {
            // Each change between quiet and burst is drawn: shorter ones would take hours for a second.
            within(&part(name), mean_s, if mean_s == 0.0 { 0.0 } else { MEAN_MIN_S }, S_MAX)?;
        }
        within(&part("shared"), self.shared, 0.0, 1.0)?;
        for (i, ms) in self.lengths_ms.iter().enumerate() {
            within(&part(&format!("lengths_ms[{i}]")), *ms, 1e-6, 1e6)?;
        }
        if self.burst_s > 0.0 && self.quiet_s == 0.0 {
            let (found, allowed) = ("0, with a `burst_s`", "a time above 0 s");
            return Err(SpecError::value(part("quiet_s"), found, allowed, "add it"));
        }
        if self.burst_per_s > 0.0 && self.burst_s == 0.0 {
            let (found, allowed) = ("0, with a `burst_per_s`", "a time above 0 s");
            return Err(SpecError::value(part("burst_s"), found, allowed, "add it"));
        }
        if self.lengths_ms.is_empty() && self.quiet_per_s + self.burst_per_s > 0.0 {
            let (found, allowed) = ("none, with a rate of stalls", "at least one length");
            return Err(SpecError::value(part("lengths_ms"), found, allowed, "add one"));
        }
        let law = stalls::Stalls {
            lengths: self.lengths_ms.iter().map(|ms| Span::from_ms_f64(*ms)).collect(),
            quiet_per_s: self.quiet_per_s,
            burst_per_s: self.burst_per_s,
            quiet: Span::from_secs_f64(self.quiet_s),
            burst: Span::from_secs_f64(self.burst_s),
            shared: self.shared,
            seed,
        };
        let away = law.share_away();
        if away > AWAY_MAX {
            let found = format!("stalls that take {:.0} % of the time", 100.0 * away);
            let allowed = format!("{:.0} % at most", 100.0 * AWAY_MAX);
            return Err(SpecError::value(key, found, allowed, "lower the rates or the lengths"));
        }
        Ok(law)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let noise = |text: &str| {
            let noise: BatchNoise = toml::from_str(text).unwrap();
            noise.law("model[0].noise", 1).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(noise("sigma = 0.1\noutlier_share = 0.01\noutlier_factors = [2.0]"), "");
        assert!(noise("sigma = -0.1").contains("model[0].noise.sigma"));
        assert!(noise("outlier_share = 0.1").contains("outlier_factors"));
        let stalls = |text: &str| {
            let stalls: Stalls = toml::from_str(text).unwrap();
            stalls.law("stalls", 1).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(stalls("lengths_ms = [2.0]\nquiet_per_s = 5.0"), "");
        assert!(stalls("lengths_ms = [200.0]\nquiet_per_s = 500.0").contains("% of the time"));
        assert!(stalls("quiet_per_s = 5.0").contains("lengths_ms"));
        assert!(stalls("lengths_ms = [2.0]\nburst_s = 5.0").contains("quiet_s"));
        assert!(stalls("lengths_ms = [2.0]\nburst_per_s = 5.0").contains("stalls.burst_s"));
        assert!(stalls("shared = 2.0").contains("stalls.shared"));
        let short = "lengths_ms = [2.0]\nquiet_s = 1.0\nburst_s = 1e-9\nburst_per_s = 5.0";
        assert!(stalls(short).contains("stalls.burst_s"));
    }
}
