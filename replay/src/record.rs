//! What a run leaves in its folder: `schedule.log`, `predicted.log`, `inputs.csv`, `actions.csv`, `run.json`.

use crate::card::{self, Card};
use crate::compare::{Naive, rows_csv};
use crate::device::{Description, DeviceError};
use crate::driver::Lateness;
use crate::error::Error;
use crate::folder::{Unfinished, sha256};
use crate::host::Host;
use crate::prediction::{ModeName, OverheadAs};
use crate::profile::Clocks;
use crate::retrace::{Retraced, inputs_csv};
use crate::runner::Ran;
use orrery_run::Setup;
use orrery_scenario::Scenario;
use orrery_sim::log::{LogWriter, Names, Record, Terms};
use serde::{Deserialize, Serialize};

/// `run.json`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct RunRecord {
    /// The format and its version.
    pub format: String,
    /// The scenario's name.
    pub scenario: String,
    /// The SHA-256 of the scenario's values, defaults filled in.
    pub scenario_sha256: String,
    /// The policy with its parameters.
    pub policy: String,
    /// What decided.
    pub mode: ModeName,
    /// The seed of the workload.
    pub seed: u64,
    /// The profile's SHA-256, where one was used.
    pub profile_sha256: Option<String>,
    /// What policies and prediction were told of the profile's overheads.
    pub overhead: OverheadAs,
    /// By which clock.
    pub clock: Clocks,
    /// The devices.
    pub devices: Vec<Description>,
    /// The machine.
    pub host: Host,
    /// The day of the replay, ISO 8601.
    pub date: String,
    /// The command line that made it.
    pub command: String,
    /// Requests before this do not count.
    pub warm_up_ns: u64,
    /// Requests that arrived.
    pub requests: u64,
    /// Inputs that the controller handled.
    pub events: u64,
    /// When it ended.
    pub end_ns: u64,
    /// How late the host was, and whether that is too much.
    pub lateness: Lateness,
    /// What a device failed of, if one did: the run ends there.
    pub failed: Option<String>,
    /// Time that the controller worked for each request.
    pub controller_busy_per_request_ns: u64,
    /// What predicts less well with less; of a live run.
    #[serde(default)]
    pub naive: Option<Naive>,
    /// Whether the simulator, fed with what was measured, takes the same decisions.
    pub retraced: Retraced,
    /// What was asked of the system and not granted, and what else speaks against its figures.
    pub notes: Vec<String>,
    /// A GPU before the run and after it.
    #[serde(default, skip_serializing_if = "card::is_unknown")]
    pub card: [Card; 2],
}

/// What is said of every run by a virtual clock.
const UNTIMED: &str = "the clock was virtual: no device was timed";

/// The format of `run.json`.
pub const RUN_FORMAT: &str = "orrery-run,2";

impl RunRecord {
    /// The record of a live run on the wall clock that has not run yet.
    pub fn of(scenario: &Scenario, policy: &str, seed: u64) -> RunRecord {
        RunRecord {
            format: RUN_FORMAT.to_string(),
            scenario: scenario.name.clone(),
            scenario_sha256: sha256(scenario.canonical()),
            policy: policy.to_string(),
            mode: ModeName::Live,
            seed,
            profile_sha256: None,
            overhead: OverheadAs::default(),
            clock: Clocks::Wall(1),
            devices: Vec::new(),
            host: Host::here(),
            date: String::new(),
            command: String::new(),
            warm_up_ns: 0,
            requests: 0,
            events: 0,
            end_ns: 0,
            lateness: Lateness::default(),
            failed: None,
            controller_busy_per_request_ns: 0,
            naive: None,
            retraced: Retraced::default(),
            notes: Vec::new(),
            card: Default::default(),
        }
    }

    /// Why the run says nothing, if so.
    pub fn invalid(&self) -> Option<String> {
        self.failed.clone().or(self.lateness.invalid())
    }

    /// Fills in what the run itself says.
    pub fn with(mut self, ran: &Ran) -> RunRecord {
        self.devices = ran.devices.clone();
        self.warm_up_ns = ran.side.warm_up_ns;
        self.requests = ran.requests();
        self.events = ran.events;
        self.end_ns = ran.end.ns();
        self.lateness = ran.lateness.clone();
        self.failed = ran.failed.as_ref().map(DeviceError::to_string);
        self.controller_busy_per_request_ns = ran.controller_busy.ns() / self.requests.max(1);
        self.retraced = ran.retraced.clone();
        self.notes.extend(ran.notes.iter().cloned());
        let untimed = (self.clock == Clocks::Virtual).then(|| UNTIMED.to_string());
        self.notes.extend(untimed);
        self.card = ran.card.clone();
        self
    }
}

/// What stands before the records of a run's logs.
pub struct Head {
    /// What things are called.
    pub names: Names,
    /// What the run was given.
    pub terms: Terms,
}

impl Head {
    /// Of a scenario under a policy.
    pub fn of(scenario: &Scenario, setup: &Setup, policy: String) -> Head {
        let names = Names {
            models: scenario.model_names(),
            apps: scenario.app_names(),
            devices: scenario.device_names(),
            policy,
        };
        Head { names, terms: setup.terms() }
    }
}

/// The bytes of a log.
pub fn log_bytes(head: &Head, records: &[Record]) -> Vec<u8> {
    let mut log = LogWriter::with_names(Vec::new(), &head.names).with_terms(&head.terms);
    records.iter().for_each(|r| log.record(r.clone()));
    log.finish().unwrap_or_default()
}

/// Writes all files of a run.
///
/// # Errors
/// When one cannot be written.
pub fn write(
    folder: &Unfinished,
    head: &Head,
    predicted: &[Record],
    ran: &Ran,
    record: &RunRecord,
) -> Result<(), Error> {
    folder.write("predicted.log", log_bytes(head, predicted))?;
    folder.write("schedule.log", log_bytes(head, &ran.side.records))?;
    folder.write("inputs.csv", inputs_csv(&ran.inputs))?;
    folder.write("actions.csv", rows_csv(ran.side.actions.iter().flatten()))?;
    let mut json = serde_json::to_string_pretty(record).unwrap_or_default();
    json.push('\n');
    folder.write("run.json", json)
}
