//! What all requests share.

use super::answers::Answers;
use super::plans::{Plan, Plans};
use orrery_scenario::SpecError;
use orrery_scenario::scenario::Scenario;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// What all requests share.
pub(super) struct Shared {
    pub file: PathBuf,
    pub is_plan: bool,
    pub token: String,
    pub port: u16,
    pub answers: Answers,
    pub plans: Plans,
    /// What is under way, by the page that asked.
    pub under_way: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
}

impl Shared {
    /// The scenario as the file has it now.
    pub fn scenario(&self) -> Result<Scenario, SpecError> {
        Scenario::load(&self.file)
    }

    /// The plan as the file has it now.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        Plan::load(&self.file)
    }
}
