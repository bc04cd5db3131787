//! The keys of `[autoscale]`, as `serde` reads and writes them, and their bounds.

use super::super::value::{S_MAX, within};
use super::ScenarioFile;
use orrery_run::error::{SpecError, known};
use orrery_run::limits::DEVICES_MAX;
use orrery_sim::policy::autoscale;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[autoscale]`: Symphony's advice (§3.5), followed.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Autoscale {
    /// The kind of device that comes and goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the first"))]
    pub kind: Option<String>,
    /// Interval between two checks of the bad rate and the idle share.
    pub every_s: f64,
    /// Above this share of bad requests, more devices are requested.
    pub threshold: f64,
    /// The idle share kept as a reserve.
    pub spare: f64,
    /// Minimum number of devices.
    pub least: u32,
    /// Maximum number of devices.
    pub most: u32,
    /// Time from requesting a device until it takes work.
    pub startup_s: f64,
}

impl Default for Autoscale {
    fn default() -> Autoscale {
        Autoscale {
            kind: None,
            every_s: 10.0,
            threshold: 0.01,
            spare: 0.1,
            least: 1,
            most: 1024,
            startup_s: 10.0,
        }
    }
}

impl Autoscale {
    /// The policy's configuration.
    ///
    /// # Errors
    /// When a value is out of range, or the kind is none of the file's.
    pub(in crate::scenario) fn config(
        &self,
        file: &ScenarioFile,
    ) -> Result<autoscale::Config, SpecError> {
        let kinds: Vec<&str> = file.device.iter().map(|d| d.kind.as_str()).collect();
        let kind = match &self.kind {
            None => 0,
            Some(kind) => known("autoscale.kind", kind, &kinds)? as u32,
        };
        within("autoscale.every_s", self.every_s, 1e-3, S_MAX)?;
        within("autoscale.threshold", self.threshold, 0.0, 1.0)?;
        within("autoscale.spare", self.spare, 0.0, 1.0)?;
        within("autoscale.least", f64::from(self.least), 1.0, f64::from(self.most))?;
        within("autoscale.most", f64::from(self.most), 1.0, f64::from(DEVICES_MAX))?;
        within("autoscale.startup_s", self.startup_s, 0.0, S_MAX)?;
        Ok(autoscale::Config {
            kind,
            every: Span::from_secs_f64(self.every_s),
            threshold: self.threshold,
            spare: self.spare,
            least: self.least,
            most: self.most,
        })
    }
}
