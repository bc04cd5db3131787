//! What a plan's scenario is put under: noise, delays, slower models, SLOs by a factor. What-ifs set it.

use crate::input::repeated;
use orrery_run::SpecError;
use orrery_scenario::scenario::disturbance::BatchNoise;
use orrery_scenario::scenario::file::{LatencyLaw, Model, Noise, ScenarioFile};

/// What is changed besides what the plan says.
#[derive(Clone, Copy, Debug)]
pub struct Strain {
    /// The sigma of a lognormal factor on the time of each batch, of which policies are told nothing.
    pub noise: f64,
    /// The same by the law of MLPerf's repeated runs, in place of the scenario's noise.
    pub measured: bool,
    /// Each message between scheduler and device takes so much longer, each way.
    pub delay_ms: f64,
    /// Multiplies the latencies of all models; policies are told.
    pub latency: f64,
    /// Multiplies all SLOs.
    pub slo: f64,
}

impl Default for Strain {
    /// Nothing is perturbed.
    fn default() -> Strain {
        Strain { noise: 0.0, measured: false, delay_ms: 0.0, latency: 1.0, slo: 1.0 }
    }
}

impl Strain {
    /// Puts the scenario under it.
    ///
    /// # Errors
    /// When a model's latency is no law that can be made longer, or messages have a law of their own.
    pub fn put(&self, file: &mut ScenarioFile) -> Result<(), SpecError> {
        if self.noise > 0.0 {
            file.noise = Some(match file.noise {
                Some(Noise::Lognormal(own)) => Noise::Lognormal(self.noise.max(own)),
                _ => Noise::Lognormal(self.noise),
            });
        }
        if self.measured {
            vary_as_measured(file)?;
        }
        if self.delay_ms > 0.0 {
            let delays = &mut file.delays;
            if delays.dispatch.is_some() || delays.result.is_some() {
                let allowed = "`delays.dispatch_ms` and `result_ms`, which can be made longer";
                let remedy = "leave `delay` out of what is changed";
                return Err(SpecError::value(
                    "delays",
                    "distributions of messages' delays",
                    allowed,
                    remedy,
                ));
            }
            delays.dispatch_ms += self.delay_ms;
            delays.result_ms += self.delay_ms;
        }
        if self.latency != 1.0 {
            file.model.iter_mut().try_for_each(|model| slow(model, self.latency))?;
        }
        if self.slo != 1.0 {
            for model in &mut file.model {
                model.slo_ms *= self.slo;
                model.slo_steps.iter_mut().for_each(|steps| steps.first_ms *= self.slo);
            }
            for app in &mut file.app {
                app.slo_ms.iter_mut().for_each(|ms| *ms *= self.slo);
                app.slo_steps.iter_mut().for_each(|steps| steps.first_ms *= self.slo);
            }
        }
        Ok(())
    }
}

/// Whether how much a model's batches vary was measured: their samples, or a `noise` of its own.
pub fn varies_as_measured(model: &Model) -> bool {
    let sampled =
        |law: &LatencyLaw| matches!(law, LatencyLaw::Samples(_) | LatencyLaw::Measured(_));
    model.noise.is_some() || model.latency_on.values().chain([&model.latency]).any(sampled)
}

/// Each batch of a model whose own noise was not measured takes one of the factors of MLPerf's repeated runs.
fn vary_as_measured(file: &mut ScenarioFile) -> Result<(), SpecError> {
    if file.model.iter().all(varies_as_measured) {
        let found =
            "models that vary as they were measured already (samples, or `noise` of their own)";
        let remedy = "leave `noise=mlperf` out of what is changed";
        let allowed = "a model whose execution times do not vary, or vary as assumed";
        return Err(SpecError::value("model.noise", found, allowed, remedy));
    }
    let law = BatchNoise {
        sigma: 0.0,
        outlier_share: 1.0,
        outlier_factors: repeated::factors().to_vec(),
    };
    // It takes the place of what was assumed.
    file.noise = None;
    let others = file.model.iter_mut().filter(|model| !varies_as_measured(model));
    others.for_each(|model| model.noise = Some(law.clone()));
    Ok(())
}

fn slow(model: &mut Model, factor: f64) -> Result<(), SpecError> {
    let name = model.name.clone();
    let believed = model.believed.iter_mut();
    let laws =
        std::iter::once(&mut model.latency).chain(believed).chain(model.latency_on.values_mut());
    for law in laws {
        *law = longer(law, factor, &name)?;
    }
    Ok(())
}

/// A law whose batches take so many times as long.
pub(crate) fn longer(law: &LatencyLaw, factor: f64, model: &str) -> Result<LatencyLaw, SpecError> {
    law.with_ms(|_, ms| ms * factor).ok_or_else(|| {
        let allowed = "a latency model that can be scaled: affine, eq3, poly, a grid, a table or samples by size";
        SpecError::value(
            format!("model.{model}.latency"),
            "a latency model that cannot be scaled (proportional, or samples of a zoo)",
            allowed,
            "leave `latency` out of what is changed",
        )
    })
}
