//! Where an emulated device's durations come from, as a file says it.

use super::curve::{Curve, Noise};
use super::samples::Samples;
use super::{Durations, Emulated};
use crate::device::{Job, Work, one};
use crate::error::Error;
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// `[emulated]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of its noise: its own, so that repeated runs may meet other noise on the same requests.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// A running batch can be stopped.
    #[serde(default = "yes")]
    pub can_preempt: bool,
    /// The models; one named `*` stands for all that are not named.
    #[serde(default)]
    pub model: Vec<ModelConfig>,
}

fn yes() -> bool {
    true
}

/// `[[emulated.model]]`: exactly one of `curve` and `samples`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The scenario's name of it, or `*`.
    pub name: String,
    /// A curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<Curve>,
    /// Measured durations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesConfig>,
    /// Noise on either.
    #[serde(default)]
    pub noise: Noise,
}

/// `samples`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SamplesConfig {
    /// Of a CSV file.
    Csv {
        /// By its path from the file that names it.
        file: String,
        /// The model's name there; this one's if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// That travel with the program: `MODEL@TYPE` of the zoo `kairos`.
    Shipped(String),
    /// Rows of size and latencies in ms.
    Rows(Vec<(u32, Vec<f64>)>),
}

/// What a device does when nobody said anything else: a percent of spread, one batch in a thousand
/// half as long again, and half a percent slower than it should be. Chosen, not measured.
pub const DEFAULT_NOISE: Noise =
    Noise { sigma: 0.01, outlier_share: 0.001, outlier_factor: 1.5, bias: 0.005 };

impl Config {
    /// A device that obeys a scenario's own laws, but for noise: for trying things out.
    pub fn like(models: &[(String, LatencyLaw)], noise: Noise) -> Config {
        let model = |(name, law): &(String, LatencyLaw)| {
            let (curve, samples) = match law {
                LatencyLaw::Samples(of) => (None, Some(SamplesConfig::Shipped(of.clone()))),
                LatencyLaw::Measured(rows) => (None, Some(SamplesConfig::Rows(rows.clone()))),
                law => (Some(Curve::of(law)), None),
            };
            ModelConfig { name: name.clone(), curve, samples, noise }
        };
        Config { seed: 1, can_preempt: true, model: models.iter().map(model).collect() }
    }

    /// The device, for models of these names.
    ///
    /// # Errors
    /// When a model is not covered, a number is out of range, or a file is damaged.
    pub fn device(&self, file: &Path, names: &[String]) -> Result<Emulated, Error> {
        let folder = file.parent().unwrap_or(Path::new(""));
        for (i, m) in self.model.iter().enumerate() {
            if m.name != "*" && !names.contains(&m.name) {
                let key = format!("emulated.model[{i}].name");
                let (found, allowed) = (format!("`{}`", m.name), names.join(", "));
                return Err(Error::in_file(file, key, found, allowed, "name a model, or `*`"));
            }
        }
        let models = names.iter().map(|name| {
            let own = self.model.iter().position(|m| m.name == *name);
            let at = own.or_else(|| self.model.iter().position(|m| m.name == "*"));
            let Some(at) = at else {
                let (key, found) = ("emulated.model", format!("none for `{name}`"));
                let allowed = "a curve or samples for every model of the scenario";
                let remedy = "add `[[emulated.model]]` with this name, or with `*`";
                return Err(Error::in_file(file, key, found, allowed, remedy));
            };
            self.model[at].law(file, at, folder, name)
        });
        let models = models.collect::<Result<Vec<_>, _>>()?;
        Ok(Emulated::new(Arc::new(Law { seed: self.seed, models }), self.can_preempt))
    }
}

impl ModelConfig {
    fn law(&self, file: &Path, at: usize, folder: &Path, name: &str) -> Result<OfModel, Error> {
        let key = |part: &str| format!("emulated.model[{at}].{part}");
        if let Some((part, found, allowed)) = self.noise.fault() {
            let key = key(&format!("noise.{part}"));
            return Err(Error::in_file(file, key, found, allowed, "change the number"));
        }
        let source = match (&self.curve, &self.samples) {
            (Some(curve), None) => {
                if let Some(found) = curve.fault() {
                    let allowed = "numbers of microseconds from 0, and sizes that grow";
                    return Err(Error::in_file(file, key("curve"), found, allowed, "correct it"));
                }
                Source::Curve(curve.clone())
            }
            (None, Some(SamplesConfig::Csv { file, model })) => {
                let model = model.as_deref().unwrap_or(name);
                Source::Samples(Samples::read(&folder.join(file), model)?)
            }
            (None, Some(SamplesConfig::Shipped(of))) => {
                let Some(samples) = Samples::shipped(of) else {
                    let allowed = "`MODEL@TYPE` of the zoo `kairos`, such as `rm2@g4dn.xlarge`";
                    let (key, found) = (key("samples.shipped"), format!("`{of}`"));
                    let remedy = "see `orrery list kairos`";
                    return Err(Error::in_file(file, key, found, allowed, remedy));
                };
                Source::Samples(samples)
            }
            (None, Some(SamplesConfig::Rows(rows))) => Source::Samples(Samples::of_rows(rows)),
            (curve, _) => {
                let found = if curve.is_some() { "both" } else { "neither" };
                let allowed = "one of `curve` and `samples`";
                return Err(Error::in_file(file, key("curve"), found, allowed, "keep one"));
            }
        };
        Ok(OfModel { source, noise: self.noise })
    }
}

/// The durations of a device.
#[derive(Clone, Debug)]
struct Law {
    seed: u64,
    models: Vec<OfModel>,
}

#[derive(Clone, Debug)]
struct OfModel {
    source: Source,
    noise: Noise,
}

#[derive(Clone, Debug)]
enum Source {
    Curve(Curve),
    Samples(Samples),
}

impl Durations for Law {
    fn duration(&self, job: &Job) -> Span {
        let model = match job.work {
            Work::Batch { model, .. } | Work::Load { model, .. } => model,
        };
        let Some(of) = self.models.get(model.index()) else { return Span::ZERO };
        let ns = match job.work {
            Work::Load { time, .. } => time.ns() as f64,
            Work::Batch { units, longest, first, .. } => match &of.source {
                Source::Curve(curve) => curve.ns(units, longest),
                Source::Samples(s) => s.ns(self.seed, job, units, first.0, model.0),
            },
        };
        Span::from_ns_f64(ns * of.noise.factor(self.seed, job))
    }

    fn describe(&self) -> String {
        let samples = self.models.iter().filter(|m| matches!(m.source, Source::Samples(_))).count();
        let curves = self.models.len() - samples;
        format!("waits: {curves} curves, {samples} sets of samples, noise seed {}", self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    fn config(text: &str) -> Result<Emulated, String> {
        let config: Config = toml::from_str(text).map_err(|e| e.to_string())?;
        config.device(Path::new("d.toml"), &["a".into(), "b".into()]).map_err(|e| e.to_string())
    }

    #[test]
    fn every_model_has_a_source_and_only_one() {
        let all = "[[model]]\nname = \"*\"\ncurve = { eq3 = { c0_us = 5.0, c1 = 1.0 } }\n";
        assert!(config(all).unwrap().describe().can_preempt);
        let one = config("[[model]]\nname = \"a\"\ncurve = { proportional = { c1 = 0.5 } }\n");
        assert!(one.err().unwrap().contains("none for `b`"));
        assert!(config("[[model]]\nname = \"*\"\n").err().unwrap().contains("neither"));
        let bad = all.replace("5.0", "-5.0");
        assert!(config(&bad).err().unwrap().contains("-5"));
        let noise = format!("{all}noise = {{ sigma = 3.0 }}\n");
        assert!(config(&noise).err().unwrap().contains("noise.sigma"));
        let unknown = all.replace('*', "c");
        assert!(config(&unknown).err().unwrap().contains("a, b"));
    }
}
