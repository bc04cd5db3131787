//! What the simulator believes of a device: a scenario with measured laws, and with what an action
//! costs besides.

use crate::compare::{Naive, Summary};
use crate::driver::planned::Plan;
use crate::error::Error;
use crate::profile::{ModelRow, ProfileFile};
use crate::twin::Twin;
use crate::usual::Usual;
use orrery_run::{PolicySpec, Setup, SpecError};
use orrery_scenario::Scenario;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::{BatchNoise, Grid, Latency};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::stalls::Stalls;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What becomes of the measured launch and result overheads in the simulation.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, clap::ValueEnum, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum OverheadAs {
    /// The device is busy for that long as well: an executor runs one action at a time and gets the next
    /// only after the controller has seen the last, so it idles during both delays.
    #[default]
    Busy,
    /// They become message delays, which actions waiting at the device hide.
    Delays,
    /// They are ignored.
    None,
}

/// What decides, as files and options name it.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, clap::ValueEnum, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// The policy decides during the run.
    #[default]
    Live,
    /// A recorded schedule decides: each batch at its planned start.
    Schedule,
}

/// Refuses mode `schedule` for a scenario whose policies do more than run batches, which is all that a plan has.
///
/// # Errors
/// When the scenario counts memory, so that models are loaded, or provisions devices.
pub fn check_mode(mode: ModeName, scenario: &Scenario) -> Result<(), SpecError> {
    let file = &scenario.file;
    let loads = file.device.iter().any(|d| d.memory_pages.is_some()).then_some("memory_pages");
    let key = loads.or(file.autoscale.as_ref().map(|_| "autoscale"));
    let Some(key) = key.filter(|_| mode == ModeName::Schedule) else { return Ok(()) };
    let found = format!("`schedule`, and the scenario has `{key}`");
    let allowed = "a plan of batches only: its loads and new devices are not rerun";
    Err(SpecError::value("mode", found, allowed, "use mode `live`"))
}

/// What decides.
#[derive(Clone, Copy)]
pub enum Mode<'a> {
    /// The policy, now.
    Live(&'a PolicySpec),
    /// A plan, made before.
    Schedule(&'a Plan),
}

/// A prediction.
#[derive(Clone)]
pub struct Prediction {
    /// What is simulated, and what policies are told on either side.
    pub setup: Setup,
    /// The world of the wall-clock driver: the bare laws, against which durations are judged. What an
    /// action costs besides, the device shows by itself.
    pub world: World,
    /// What became of the overheads.
    pub overhead: OverheadAs,
    /// For so much longer than on the device a batch keeps its executor busy, where that is not in the delays.
    busy: Option<Span>,
}

impl Prediction {
    /// The prediction of a scenario. With profiles, one for each kind of device, their laws, loads, noise
    /// and stalls take the place of the scenario's. Of several kinds, loads, noise, stalls and overheads are
    /// those of the first: the simulator has them for each model or for the host, not for each kind.
    ///
    /// # Errors
    /// When the scenario is wrong, a kind has no profile, or a model is not in one.
    pub fn of(
        scenario: &Scenario,
        seed: u64,
        profiles: &[ProfileFile],
        overhead: OverheadAs,
    ) -> Result<Prediction, Error> {
        let mut setup = scenario.setup(seed)?;
        if profiles.is_empty() {
            let world = setup.world.clone();
            return Ok(Prediction { setup, world, overhead, busy: None });
        }
        let kinds = scenario.file.device.iter().map(|d| of_kind(profiles, &d.kind, scenario));
        let kinds = kinds.collect::<Result<Vec<&ProfileFile>, Error>>()?;
        let stray = profiles.iter().find(|p| !kinds.iter().any(|used| std::ptr::eq(*used, *p)));
        if let Some(stray) = stray {
            let found = format!("{}, one more of kind `{}`", stray.file.display(), stray.kind);
            let allowed = "one profile for each kind of device in the scenario";
            return Err(Error::value("--profile", found, allowed, "remove it"));
        }
        let first = kinds[0];
        let models = scenario.file.model.iter().enumerate();
        for (m, model) in models {
            for (profile, laws) in kinds.iter().zip(&mut setup.world.latency) {
                laws[m] = law_of(profile, &model.name)?.0;
            }
            if let Some(load) = &law_of(first, &model.name)?.1.load {
                setup.world.core.models[m].load = Span::from_ms_f64(load.median_ms);
            }
        }
        setup.world.batch_noise = noise_of(first, scenario, seed)?;
        if let Some(stalls) = &first.stalls {
            setup.world.stalls = stalls.law.law("stalls.law", seed)?;
        }
        let world = setup.world.clone();
        let busy = add_overhead(&mut setup, first, overhead);
        for (m, model) in scenario.file.model.iter().enumerate() {
            if model.believed.is_none() {
                let laws = setup.world.latency.iter().map(|kind| kind[m].clone()).collect();
                setup.tell(m, laws);
            }
        }
        Ok(Prediction { setup, world, overhead, busy })
    }

    /// Whether two draws of it differ: it has noise or stalls.
    pub fn varies(&self) -> bool {
        let world = &self.setup.world;
        let noisy = |n: &BatchNoise| n.sigma > 0.0 || n.outlier_share > 0.0;
        world.batch_noise.iter().any(noisy) || !world.stalls.is_none()
    }

    /// The same world with the noise and the stalls of another draw; the first is number 0. Arrivals stay.
    pub fn draw(&self, number: u32) -> Setup {
        let mut setup = self.setup.clone();
        let more = u64::from(number) << 32;
        let world = &mut setup.world;
        world.batch_noise.iter_mut().for_each(|n| n.seed = n.seed.wrapping_add(more));
        world.stalls.seed = world.stalls.seed.wrapping_add(more);
        if let Some(overhead) = self.busy {
            world.latency.clone_from(&self.world.latency);
            world.machine = Some(Arc::new(Usual::new(overhead, std::mem::take(&mut world.stalls))));
        }
        setup
    }

    /// A simulated run: the draw of that number.
    ///
    /// # Errors
    /// When the workload cannot be made.
    pub fn simulate(&self, mode: Mode<'_>, seed: u64, draw: u32) -> Result<Vec<Record>, Error> {
        let (setup, log) = (self.draw(draw), MemoryLog::default());
        let plan = match mode {
            Mode::Live(policy) => return Ok(setup.run_with(policy, seed, log)?.observer.1.records),
            Mode::Schedule(plan) => plan.clone().policy(),
        };
        let done = simulate(&setup.world, setup.sources(seed)?, plan, log);
        match done.failure {
            Some(failure) => Err(setup.failed(&failure).into()),
            None => Ok(done.observer.records),
        }
    }

    /// The same by the latency models alone: without noise, stalls, and what an action costs besides.
    #[must_use]
    pub fn bare(&self) -> Prediction {
        let mut bare = Prediction { busy: None, ..self.clone() };
        bare.setup.world.latency.clone_from(&self.world.latency);
        bare.setup.world.core.delays.clone_from(&self.world.core.delays);
        bare.setup.world.stalls = Stalls::default();
        bare.setup.world.batch_noise.clear();
        bare
    }

    /// What predicts less well with less, of the first draw.
    ///
    /// # Errors
    /// When the workload cannot be made.
    pub fn naive(&self, policy: &PolicySpec, seed: u64) -> Result<Naive, Error> {
        let bare = self.bare();
        let of = |policy: &PolicySpec| -> Result<Summary, Error> {
            let records = bare.simulate(Mode::Live(policy), seed, 0)?;
            let summary = Summary::of(&records, bare.setup.window.from.ns());
            Ok(Summary { batch_sizes: Default::default(), ..summary })
        };
        let largest = bare.setup.profile.sizes.iter().max().copied().unwrap_or(1);
        let queue = PolicySpec::parse(&format!("fifo[max_batch={largest}]"))?;
        let mut devices = bare.setup.world.core.devices.iter();
        let loads = devices.any(|device| device.memory_pages.is_some());
        Ok(Naive { law: of(policy)?, queue: (!loads).then(|| of(&queue)).transpose()? })
    }

    /// The same on the machine of a run. It takes the place of the measured overheads and of stalls, and where it knows
    /// the speed of its devices, of their noise as well.
    ///
    /// # Errors
    /// When the workload cannot be made.
    pub fn simulate_on(
        &self,
        machine: &Arc<Twin>,
        mode: Mode<'_>,
        seed: u64,
        draw: u32,
    ) -> Result<Vec<Record>, Error> {
        let mut bare = self.bare();
        bare.setup.world.machine = Some(machine.drawn(draw));
        if !machine.knows_speed() {
            bare.setup.world.batch_noise.clone_from(&self.setup.world.batch_noise);
        }
        bare.simulate(mode, seed, draw)
    }
}

/// The profile of a kind of device. One without a kind, or of a scenario with another name for it, is
/// that of a scenario's only kind.
pub(crate) fn of_kind<'a>(
    profiles: &'a [ProfileFile],
    kind: &str,
    scenario: &Scenario,
) -> Result<&'a ProfileFile, Error> {
    let only = match (profiles, scenario.file.device.len()) {
        ([one], 1) => Some(one),
        _ => None,
    };
    profiles.iter().find(|p| p.kind == kind).or(only).ok_or_else(|| {
        let kinds: Vec<&str> = profiles.iter().map(|p| p.kind.as_str()).collect();
        let found = format!("none of kind `{kind}`; there are: {}", kinds.join(", "));
        let allowed = "a profile for every kind of device in the scenario";
        Error::value("--profile", found, allowed, "profile a scenario with this kind, and add it")
    })
}

fn noise_of(
    profile: &ProfileFile,
    scenario: &Scenario,
    seed: u64,
) -> Result<Vec<BatchNoise>, Error> {
    let of = |model: &orrery_scenario::scenario::file::Model| {
        let noise = law_of(profile, &model.name)?.1.noise.clone().unwrap_or_default();
        Ok(noise.law(&format!("model.{}.noise", model.name), seed)?)
    };
    scenario.file.model.iter().map(of).collect()
}

/// The law of a model, or of what it is a copy of.
fn law_of<'a>(profile: &'a ProfileFile, name: &str) -> Result<(Latency, &'a ModelRow), Error> {
    let base = name.split('#').next().unwrap_or(name);
    let found = profile.model.iter().find(|m| m.name == name || m.name == base);
    let Some(model) = found else {
        let names: Vec<&str> = profile.model.iter().map(|m| m.name.as_str()).collect();
        let found = format!("no model `{name}` in {}", profile.file.display());
        let allowed = format!("a profile of every model; this one has {}", names.join(", "));
        let remedy = "profile the scenario that is to be predicted";
        return Err(Error::value("--profile", found, allowed, remedy));
    };
    Ok((model.law.law(&format!("model.{name}.law"))?, model))
}

/// Puts the measured overheads into the setup. How much longer a batch keeps its executor busy, where that is so.
fn add_overhead(setup: &mut Setup, profile: &ProfileFile, how: OverheadAs) -> Option<Span> {
    let all = || setup.world.latency.iter().flatten();
    // A law in proportion to its requests has no place for a constant, nor have samples.
    let fits = all().all(|law| longer(law, Span::ZERO).is_some());
    match how {
        OverheadAs::None => None,
        OverheadAs::Busy if fits => {
            let more = profile.overhead.median();
            for law in setup.world.latency.iter_mut().flatten() {
                *law = longer(law, more).unwrap_or_else(|| law.clone());
            }
            Some(more)
        }
        OverheadAs::Busy | OverheadAs::Delays => {
            let us = |us: f64| Span::from_ns_f64(1e3 * us).into();
            let delays = &mut setup.world.core.delays;
            delays.dispatch = us(profile.overhead.launch.median_us);
            delays.result = us(profile.overhead.result.median_us);
            None
        }
    }
}

/// The law with so much more for each batch.
fn longer(law: &Latency, more: Span) -> Option<Latency> {
    match law {
        Latency::Affine { alpha, beta } => {
            Some(Latency::Affine { alpha: *alpha, beta: *beta + more })
        }
        Latency::Eq3 { c0, c1 } => Some(Latency::Eq3 { c0: *c0 + more, c1: *c1 }),
        Latency::Poly { c0, c1, c2_per_s } => {
            Some(Latency::Poly { c0: *c0 + more, c1: *c1, c2_per_s: *c2_per_s })
        }
        Latency::Grid(Grid { lengths, rows }) => {
            let all = |row: &Vec<Span>| row.iter().map(|l| *l + more).collect();
            let rows = rows.iter().map(|r| (r.0, all(&r.1))).collect();
            Some(Latency::Grid(Grid { lengths: lengths.clone(), rows }))
        }
        Latency::Table(rows) => {
            Some(Latency::Table(rows.iter().map(|(k, l)| (*k, *l + more)).collect()))
        }
        Latency::Proportional { .. } | Latency::Samples(_) => None,
    }
}
