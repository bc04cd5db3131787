//! What a log calls things: the policy, and models, applications and devices by number.
//!
//! A log without names is complete; names are for whoever reads it.

use crate::request::{AppId, DeviceId, ModelId};

/// The names of a run. Lists may be empty or too short: what they leave out has no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The policy with its parameters, in a form that round-trips; empty for none.
    pub policy: String,
    /// Models, by number.
    pub models: Vec<String>,
    /// Applications, by number.
    pub apps: Vec<String>,
    /// Devices, by number.
    pub devices: Vec<String>,
}

/// What can have a name, in the order of the lines.
pub(super) const KINDS: [&str; 4] = ["policy", "model", "app", "device"];

impl Names {
    /// The name of a model.
    pub fn model(&self, id: ModelId) -> Option<&str> {
        self.models.get(id.index()).map(String::as_str)
    }

    /// The name of an application.
    pub fn app(&self, id: AppId) -> Option<&str> {
        self.apps.get(id.index()).map(String::as_str)
    }

    /// The name of a device.
    pub fn device(&self, id: DeviceId) -> Option<&str> {
        self.devices.get(id.index()).map(String::as_str)
    }

    /// Everything that has a name: kind, number, name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let policy = std::slice::from_ref(&self.policy);
        let policy = if self.policy.is_empty() { &[] } else { policy };
        let lists = [policy, &self.models, &self.apps, &self.devices];
        KINDS.into_iter().zip(lists).flat_map(|(kind, list)| {
            list.iter().enumerate().map(move |(number, name)| (kind, number, name.as_str()))
        })
    }

    /// How many there are of a kind.
    pub(super) fn count(&self, kind: &str) -> usize {
        match kind {
            "policy" => usize::from(!self.policy.is_empty()),
            "model" => self.models.len(),
            "app" => self.apps.len(),
            _ => self.devices.len(),
        }
    }

    pub(super) fn add(&mut self, kind: &str, name: String) {
        match kind {
            "policy" => self.policy = name,
            "model" => self.models.push(name),
            "app" => self.apps.push(name),
            _ => self.devices.push(name),
        }
    }
}
