//! One run: a policy, its workload and its devices under the wall-clock driver.

use crate::compare::{ActionRow, Side};
use crate::device::{Description, Device, DeviceError};
use crate::driver::planned::FollowPlan;
use crate::driver::{Lateness, Options, Replayed, Rig, replay};
use crate::error::Error;
use crate::prediction::Prediction;
use crate::profile::Clocks;
use crate::target::{Choice, Target};
use orrery_scenario::{PolicySpec, Scenario};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::Policy;
use orrery_sim::request::DeviceId;
use orrery_sim::time::{Span, Time};
use std::collections::VecDeque;

/// What decides.
pub enum Mode<'a> {
    /// The policy, now.
    Live(&'a PolicySpec),
    /// A plan, made before.
    Schedule(FollowPlan),
}

/// A run that is to be.
pub struct Run<'a> {
    /// Models' names, and what an emulated device obeys that was not told otherwise.
    pub scenario: &'a Scenario,
    /// The driver's world and the policies' profile.
    pub prediction: &'a Prediction,
    /// The seed of the workload.
    pub seed: u64,
    /// Added to the seed of an emulated device's noise.
    pub noise: u64,
    /// The device.
    pub device: &'a Choice,
    /// The clock.
    pub clocks: Clocks,
    /// Placement and limits.
    pub options: Options,
}

/// A run that is over.
pub struct Ran {
    /// Its log, and its actions.
    pub side: Side,
    /// How late the host was.
    pub lateness: Lateness,
    /// Why it ended early, if a device failed.
    pub failed: Option<DeviceError>,
    /// The devices.
    pub devices: Vec<Description>,
    /// Time that the controller worked, by the clock of the run.
    pub controller_busy: Span,
    /// Inputs that it handled.
    pub events: u64,
    /// When it ended.
    pub end: Time,
    /// What the system did not grant.
    pub notes: Vec<String>,
}

/// Devices that were opened beforehand, so that what is wrong with one is told as it is, and not as a
/// failure of a run; later ones are opened when they are asked for.
struct Ready<'a> {
    waiting: VecDeque<Box<dyn Device>>,
    choice: &'a Choice,
    scenario: &'a Scenario,
    noise: u64,
}

impl Rig for Ready<'_> {
    fn open(&mut self, id: DeviceId, _: &DeviceSpec) -> Result<Box<dyn Device>, DeviceError> {
        if let Some(device) = self.waiting.pop_front() {
            return Ok(device);
        }
        nth(self.choice, id.index()).open(self.scenario, self.noise).map_err(|e| match e {
            Error::Device(e) => e,
            other => DeviceError {
                device: self.choice.target.to_string(),
                doing: format!("opening it as {id}"),
                said: other.to_string(),
                remedy: "correct its configuration".to_string(),
            },
        })
    }
}

/// The choice for the n-th device of a scenario: with GPUs, the n-th from the one named.
fn nth(choice: &Choice, n: usize) -> Choice {
    let target = match choice.target {
        Target::Cuda(first) => Target::Cuda(first + n),
        Target::Emulated => Target::Emulated,
    };
    Choice { target, ..choice.clone() }
}

/// Runs it.
///
/// # Errors
/// When the workload cannot be made, a source fails, or a device cannot be opened. A device that
/// fails later ends the run, which is returned with what was measured.
pub fn run(run: &Run<'_>, mode: Mode<'_>) -> Result<Ran, Error> {
    if let (Clocks::Wall(scale), Target::Cuda(_)) = (run.clocks, run.device.target)
        && scale != 1
    {
        let remedy = "remove it: a GPU cannot be slowed down";
        return Err(Error::value("--time-scale", scale, "1 with a CUDA device", remedy));
    }
    let world = &run.prediction.world;
    let devices =
        (0..world.core.devices.len()).map(|n| nth(run.device, n).open(run.scenario, run.noise));
    let waiting = devices.collect::<Result<VecDeque<_>, _>>()?;
    let (choice, scenario, noise) = (run.device, run.scenario, run.noise);
    let mut rig = Ready { waiting, choice, scenario, noise };
    let sources = run.prediction.setup.sources(run.seed)?;
    let policy: Box<dyn Policy> = match mode {
        Mode::Live(policy) => run.prediction.setup.policy(policy, run.seed),
        Mode::Schedule(plan) => Box::new(plan),
    };
    let clock = run.clocks.start();
    let log = MemoryLog::default();
    let replayed = replay(world, sources, policy, log, &mut rig, clock.as_ref(), &run.options)?;
    over(run, replayed)
}

fn over(run: &Run<'_>, replayed: Replayed<Box<dyn Policy>, MemoryLog>) -> Result<Ran, Error> {
    if let Some(failure) = replayed.run.failure {
        return Err(run.prediction.setup.failed(&failure).into());
    }
    let models = run.scenario.model_names();
    let actions = replayed.actions.iter().map(|a| ActionRow::of(a, &models)).collect();
    let warm_up = run.prediction.setup.window.from.ns();
    let mut side = Side::of(replayed.run.observer.records, Some(actions), warm_up);
    side.names.models = models;
    Ok(Ran {
        side,
        lateness: replayed.lateness,
        failed: replayed.failed,
        devices: replayed.devices,
        controller_busy: replayed.controller_busy,
        events: replayed.run.events,
        end: replayed.run.end,
        notes: replayed.notes,
    })
}

impl Ran {
    /// Requests that arrived.
    pub fn requests(&self) -> u64 {
        self.side.records.iter().filter(|r| matches!(r, Record::Arrive { .. })).count() as u64
    }
}
