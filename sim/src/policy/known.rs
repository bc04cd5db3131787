//! What a policy may look up.

use crate::cluster::{DeviceView, Footprint};
use crate::request::{DeviceId, ModelId, Request, RequestId};
use crate::time::Span;

/// What stands behind [`Known`]: an engine's own view of its cluster and its books.
pub trait Lookup {
    /// The devices, by id; those that are gone included.
    fn devices(&self) -> Vec<DeviceView>;
    /// A request that has not ended, or whose batch is still in flight.
    fn request(&self, id: RequestId) -> Option<&Request>;
    /// What a model needs of a device's memory.
    fn footprint(&self, model: ModelId) -> Footprint;
    /// Whether a model's weights are in a device's memory.
    fn holds(&self, device: DeviceId, model: ModelId) -> bool;
    /// Its true execution time alone: always `None` unless the policy is an oracle.
    fn truth(&self, id: RequestId) -> Option<Span>;
}

/// What a policy may look up: the cluster, and the public part of requests that are alive.
#[derive(Clone, Copy)]
pub struct Known<'a>(&'a dyn Lookup);

impl<'a> Known<'a> {
    /// What an engine shows to its policy.
    pub fn new(lookup: &'a dyn Lookup) -> Known<'a> {
        Known(lookup)
    }

    /// The devices, by id; those that are gone included.
    pub fn devices(&self) -> Vec<DeviceView> {
        self.0.devices()
    }

    /// A request that has not ended, or whose batch is still in flight.
    pub fn request(&self, id: RequestId) -> Option<&'a Request> {
        self.0.request(id)
    }

    /// What a model needs of a device's memory.
    pub fn footprint(&self, model: ModelId) -> Footprint {
        self.0.footprint(model)
    }

    /// Whether a model's weights are in a device's memory.
    pub fn holds(&self, device: DeviceId, model: ModelId) -> bool {
        self.0.holds(device, model)
    }

    /// The true execution time alone: `None` unless the policy is an oracle.
    pub fn truth(&self, id: RequestId) -> Option<Span> {
        self.0.truth(id)
    }
}
