//! One run: a policy, its workload and its devices under the wall-clock driver.

use crate::card::{self, Card};
use crate::compare::{ActionRow, Side};
use crate::device::{Description, Device, DeviceError};
use crate::driver::{Handled, Lateness, Options, Replayed, replay};
use crate::error::Error;
pub use crate::prediction::Mode;
use crate::prediction::Prediction;
use crate::profile::Clocks;
use crate::retrace::{Retraced, retrace};
use crate::target::{Choice, Target};
use crate::twin::{Knowledge, Twin};
use orrery_scenario::Scenario;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::Policy;
use orrery_sim::request::DeviceId;
use orrery_sim::time::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

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

impl Run<'_> {
    /// Opens the n-th device.
    fn open(&self, n: usize) -> Result<Box<dyn Device>, Error> {
        self.device.nth(n, self.scenario).open(self.scenario, self.noise)
    }

    /// Opens one that is asked for in mid-run.
    fn open_later(&self, id: DeviceId) -> Result<Box<dyn Device>, DeviceError> {
        self.open(id.index()).map_err(|e| match e {
            Error::Device(e) => e,
            other => {
                let (device, doing) =
                    (self.device.target.to_string(), format!("opening it as {id}"));
                let remedy = "correct its configuration";
                DeviceError::new(&device, &doing, other.to_string(), remedy)
            }
        })
    }

    fn is_timed(&self) -> bool {
        is_timed(self.device, self.clocks)
    }

    fn policy(&self, mode: Mode<'_>) -> Box<dyn Policy> {
        match mode {
            Mode::Live(policy) => self.prediction.setup.policy(policy, self.seed),
            Mode::Schedule(plan) => Box::new(plan.clone().policy()),
        }
    }
}

/// A run that is over.
pub struct Ran {
    /// Its log, and its actions.
    pub side: Side,
    /// What its controller handled.
    pub inputs: Vec<Handled>,
    /// Whether the device may be faster or slower than when it was profiled.
    pub is_timed: bool,
    /// Whether the simulator, fed with it, takes the same decisions.
    pub retraced: Retraced,
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
    /// A GPU before the run and after it.
    pub card: [Card; 2],
}

/// Runs it.
///
/// # Errors
/// When the workload cannot be made, a source fails, or a device cannot be opened. A device that
/// fails later ends the run, which is returned with what was measured.
pub fn run(run: &Run<'_>, mode: Mode<'_>) -> Result<Ran, Error> {
    check_clock(run.device, run.clocks)?;
    let mut options = run.options;
    // The device pins its workers; the controller must not share a core with one.
    options.placement.pin |= matches!(run.device.target, Target::Cpu(_));
    let world = &run.prediction.world;
    // Beforehand, so that what is wrong with one is told as it is, and not as a failure of a run.
    let devices = (0..world.core.devices.len()).map(|n| run.open(n));
    let mut waiting = devices.collect::<Result<VecDeque<_>, _>>()?;
    let described = waiting.front().map(|device| device.describe()).unwrap_or_default();
    let mut rig =
        |id: DeviceId, _: &DeviceSpec| waiting.pop_front().map_or_else(|| run.open_later(id), Ok);
    let sources = run.prediction.setup.sources(run.seed)?;
    if let Mode::Live(policy) = mode {
        run.prediction.setup.check_policy(policy)?;
    }
    let before = card::ask(&described);
    let clock = run.clocks.start(options.placement);
    let log = MemoryLog::default();
    let replayed =
        replay(world, sources, run.policy(mode), log, &mut rig, clock.as_ref(), &options)?;
    over(run, mode, replayed, [before, card::ask(&described)])
}

/// Whether a device may be faster or slower than when it was profiled: an emulated one is always as fast.
pub fn is_timed(device: &Choice, clocks: Clocks) -> bool {
    device.computes() && matches!(clocks, Clocks::Wall(_))
}

/// A device that takes its own time needs the real clock.
///
/// # Errors
/// When a clock was asked for that it cannot have.
pub fn check_clock(device: &Choice, clocks: Clocks) -> Result<(), Error> {
    let (found, remedy) = match clocks {
        _ if !device.computes() => return Ok(()),
        Clocks::Wall(1) => return Ok(()),
        Clocks::Wall(scale) => (format!("`--time-scale {scale}`"), "remove it"),
        // A stand-in for a driver runs on any clock.
        Clocks::Virtual if matches!(device.target, Target::Cuda(_)) => return Ok(()),
        Clocks::Virtual => ("`--virtual-clock`".to_string(), "remove it, or use `emulated`"),
    };
    let allowed = format!("real time: {} can be neither slowed down nor skipped", device.target);
    Err(Error::value("clock", found, allowed, remedy))
}

fn over(
    run: &Run<'_>,
    mode: Mode<'_>,
    replayed: Replayed<Box<dyn Policy>, MemoryLog>,
    card: [Card; 2],
) -> Result<Ran, Error> {
    if let Some(failure) = replayed.run.failure {
        return Err(run.prediction.setup.failed(&failure).into());
    }
    let models = run.scenario.model_names();
    let actions = replayed.actions.iter().map(|a| ActionRow::of(a, &models)).collect();
    let warm_up = run.prediction.setup.window.from.ns();
    let mut side = Side::of(replayed.run.observer.records, Some(actions), warm_up);
    side.names.models = models;
    let inputs = replayed.inputs;
    let policy = run.policy(mode);
    let failed = replayed.failed.is_some();
    let sources = run.prediction.setup.sources(run.seed)?;
    let retraced = retrace(&run.prediction.world, sources, policy, &side, &inputs, failed);
    let retraced = retraced.map_err(|failure| run.prediction.setup.failed(&failure))?;
    Ok(Ran {
        side,
        inputs,
        is_timed: run.is_timed(),
        retraced,
        lateness: replayed.lateness,
        failed: replayed.failed,
        devices: replayed.devices,
        controller_busy: replayed.controller_busy,
        events: replayed.run.events,
        end: replayed.run.end,
        notes: replayed.notes,
        card,
    })
}

impl Ran {
    /// The machine as it was in the run, and how well it is known.
    pub fn twin(&self) -> (Arc<Twin>, Knowledge) {
        Twin::of(&self.side, &self.inputs, self.is_timed, self.end)
    }

    /// Requests that arrived.
    pub fn requests(&self) -> u64 {
        self.side.records.iter().filter(|r| matches!(r, Record::Arrive { .. })).count() as u64
    }
}
