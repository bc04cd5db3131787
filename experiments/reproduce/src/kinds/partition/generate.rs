//! Models drawn from a zoo, with rates and sizes by laws.
//!
//! The zoos know no memory sizes of Symphony's models, so sizes are an assumption of the file.

use orrery_run::SpecError;
use orrery_scenario::zoo::{ZOOS, Zoo};
use orrery_sim::rng::Stream;
use orrery_solvers::partition::ModelLoad;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most models: one for each request of a small trace is certainly a mistake.
const MODELS_MAX: usize = 100_000;

/// `[generate]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// How many: each is a variant of a model of the zoo, drawn with equal chances.
    pub models: usize,
    /// The zoo.
    pub zoo: String,
    /// Which of its GPUs, where it has several.
    pub gpu: Option<String>,
    /// Rates are exponential with this mean.
    pub mean_rate_per_s: f64,
    /// The law of static sizes. All variants of a model have one size.
    pub static_mb: LogNormal,
    /// The law of dynamic sizes, likewise.
    pub dynamic_mb: LogNormal,
}

/// A lognormal law.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// Its median.
    pub median: f64,
    /// The standard deviation of the logarithm.
    pub sigma: f64,
}

impl LogNormal {
    fn check(self, key: &str) -> Result<(), SpecError> {
        let fine = self.median > 0.0 && self.median.is_finite();
        if fine && (0.0..=10.0).contains(&self.sigma) {
            return Ok(());
        }
        let found = format!("median {}, sigma {}", self.median, self.sigma);
        let allowed = "a finite median above 0, and a sigma from 0 to 10";
        Err(SpecError::value(format!("generate.{key}"), found, allowed, "correct the distribution"))
    }

    /// Box and Muller's way: two draws for each size, whatever they are.
    fn draw(self, stream: &mut Stream) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - stream.uniform())).sqrt();
        let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
        self.median * libm::exp(self.sigma * normal)
    }
}

impl Generate {
    /// The models of a seed.
    ///
    /// # Errors
    /// When the zoo is unknown or empty, or a number is out of range.
    pub fn models(&self, seed: u64) -> Result<Vec<ModelLoad>, SpecError> {
        self.static_mb.check("static_mb")?;
        self.dynamic_mb.check("dynamic_mb")?;
        if !(self.mean_rate_per_s > 0.0 && self.mean_rate_per_s.is_finite()) {
            let (key, remedy) = ("generate.mean_rate_per_s", "give a mean rate");
            let allowed = "a finite number above 0";
            return Err(SpecError::value(key, self.mean_rate_per_s, allowed, remedy));
        }
        if !(1..=MODELS_MAX).contains(&self.models) {
            let allowed = format!("from 1 to {MODELS_MAX}");
            return Err(SpecError::value(
                "generate.models",
                self.models,
                allowed,
                "use a smaller number",
            ));
        }
        let bases = self.bases()?;
        let mut sizes = Stream::named(seed, "partition-sizes", 0);
        let sizes: Vec<(f64, f64)> = (0..bases)
            .map(|_| (self.static_mb.draw(&mut sizes), self.dynamic_mb.draw(&mut sizes)))
            .collect();
        let mut picks = Stream::named(seed, "partition-picks", 0);
        let mut rates = Stream::named(seed, "partition-rates", 0);
        let model = |_| {
            let base = picks.below(bases as u64) as usize;
            ModelLoad {
                rate: -self.mean_rate_per_s * libm::log(1.0 - rates.uniform()),
                static_mem: sizes[base].0,
                dynamic_mem: sizes[base].1,
            }
        };
        Ok((0..self.models).map(model).collect())
    }

    /// How many models the zoo has.
    fn bases(&self) -> Result<usize, SpecError> {
        let Some(zoo) = Zoo::find(&self.zoo) else {
            let known: Vec<&str> = ZOOS.iter().map(|z| z.name).collect();
            let found = format!("`{}`", self.zoo);
            let remedy = "see `orrery list`";
            return Err(SpecError::value("generate.zoo", found, known.join(", "), remedy));
        };
        let models = zoo.models(self.gpu.as_deref());
        if models.is_empty() {
            let found = self.gpu.as_deref().unwrap_or("none").to_string();
            let remedy = format!("see `orrery list {}`", zoo.name);
            return Err(SpecError::value("generate.gpu", found, zoo.gpus().join(", "), remedy));
        }
        Ok(models.len())
    }
}
