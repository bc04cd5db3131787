//! Devices that really take time: what the wall-clock driver asks of them.
//!
//! A device is opened once and gives a [`Worker`] for each of its executors: one for every lane of
//! batches and one for loads, as Clockwork's worker has (§5.2). Each worker lives on a thread of its
//! own and runs one job at a time. Queues and windows are not its business: the core's state machine
//! of the device decides what starts when, and is the simulator's.

use crate::clock::{Clock, Participant};
pub use crate::error::DeviceError;
/// The work of a job. A device whose work depends on its input (a sequence's length, say) takes the
/// input from the longest of a batch's execution times alone.
pub use orrery_sim::core::BeginWork as Work;
use orrery_sim::request::{ActionId, DeviceId, ModelId};
use orrery_sim::time::{Span, Time};
use schemars::JsonSchema;
use std::sync::atomic::{AtomicBool, Ordering};

pub mod cpu;
pub mod cuda;
pub mod emulated;
pub mod encoder;
pub mod worker;

/// What a worker is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The action.
    pub action: ActionId,
    /// The device.
    pub device: DeviceId,
    /// The device's kind.
    pub kind: u32,
    /// The executor: a lane, or the one for loads.
    pub executor: u8,
    /// When the controller began it; the worker's own start is later by what the launch took.
    pub began: Time,
    /// The device is busy this long before it computes (the scenario's `fetch_per_request`).
    pub fetch: Span,
    /// The work.
    pub work: Work,
}

/// What a worker measured of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// When it began, on the driver's clock.
    pub start: Time,
    /// When it ended, on the driver's clock.
    pub end: Time,
    /// Time spent computing on the device, by the device's own clock.
    pub device: Span,
    /// Of the time between start and end, what the host took away from the device's thread. Zero where
    /// the device works by itself.
    pub away: Span,
    /// It was stopped before its end.
    pub stopped: bool,
}

/// Set by the controller to stop a running job; the worker is notified as well.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Asks for a stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a stop was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Where a worker runs: its clock, and who it is there.
pub struct Place<'a> {
    /// The driver's clock.
    pub clock: &'a dyn Clock,
    /// The worker, as the clock knows it.
    pub me: Participant,
}

impl Place<'_> {
    /// Waits until an instant, or until a stop is asked for.
    pub fn wait(&self, until: Time, stop: &Stop) {
        while self.clock.now() < until && !stop.is_set() {
            self.clock.wait(self.me, until);
        }
    }
}

/// One executor of a device. Runs on a thread of its own.
pub trait Worker: Send {
    /// Called once on the worker's thread before its first job: bind a context, touch memory.
    ///
    /// # Errors
    /// When the device does not answer.
    fn start(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Runs a job to its end and says what was measured. Returns early, with
    /// [`Ran::stopped`], when `stop` is set and the device can preempt.
    ///
    /// # Errors
    /// When the device fails. The run ends then, and what was measured is kept.
    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError>;
}

/// What a device is, for the record.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema,
)]
pub struct Description {
    /// As in `--device`: `emulated`, `cuda:0`.
    pub device: String,
    /// What the device calls itself.
    pub name: String,
    /// The driver and its version; empty when there is none.
    #[serde(default)]
    pub driver: String,
    /// Facts worth keeping, in order: clocks, compute capability, memory, libraries found.
    #[serde(default)]
    pub facts: Vec<(String, String)>,
    /// A running batch can be stopped.
    #[serde(default)]
    pub can_preempt: bool,
}

/// The fact of a description that says what the device runs, which is a part of its profile.
pub const RUNS: &str = "networks";

impl Description {
    /// What it runs, where it says so.
    pub fn runs(&self) -> Option<&str> {
        self.facts.iter().find(|(fact, _)| fact == RUNS).map(|(_, runs)| runs.as_str())
    }
}

/// An opened device.
pub trait Device: Send {
    /// Model, driver and clock of the device, for the records.
    fn describe(&self) -> Description;

    /// A worker for each lane, and then the one for loads. `lanes` is at least 1.
    ///
    /// # Errors
    /// When the device cannot give so many.
    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError>;

    /// What else is worth measuring before a run: bandwidths, launches, timers.
    ///
    /// # Errors
    /// When the device fails.
    fn primitives(&mut self) -> Result<Vec<Primitive>, DeviceError> {
        Ok(Vec::new())
    }

    /// The longest times alone, growing, at which a model's work changes, where a batch is padded up to
    /// the next of them. Empty where its work changes with every nanosecond; the longest
    /// alone where it changes with none.
    fn steps(&self, model: ModelId) -> Vec<Span>;

    /// The most items that a batch of a model may have; none where it has no limit.
    fn batch_max(&self, model: ModelId) -> Option<u32>;
}

/// The default of seeds, and of what counts from one.
pub(crate) fn one<N: From<u8>>() -> N {
    N::from(1)
}

/// A measured number of a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primitive {
    /// What it is: `host to device`.
    pub name: String,
    /// The unit of the samples: `GB/s`, `us`, `ns`.
    pub unit: String,
    /// What was measured.
    pub samples: Vec<f64>,
}

impl Primitive {
    /// Of its three parts.
    pub fn of(name: &str, unit: &str, samples: Vec<f64>) -> Primitive {
        Primitive { name: name.to_string(), unit: unit.to_string(), samples }
    }
}
