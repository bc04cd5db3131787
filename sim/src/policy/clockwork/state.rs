//! What Clockwork's controller keeps.

use super::config::Config;
use super::gpus::Gpus;
use super::load::Loads;
use super::queues::Model;
use super::soonest::Soonest;
use super::strategies::{Met, Order};
use crate::profile::ModelProfile;
use crate::request::RequestId;
use crate::time::Time;

/// The policy. See [`crate::policy::clockwork`].
pub struct Clockwork {
    pub(super) config: Config,
    pub(super) models: Vec<Model>,
    pub(super) gpus: Gpus,
    pub(super) order: Order,
    /// What devices have in memory; `None` when every model is always resident.
    pub(super) loads: Option<Loads>,
    pub(super) met: Met,
    pub(super) batch: Vec<RequestId>,
    pub(super) dropped: Vec<RequestId>,
    /// Internal deadlines of requests that may wait in vain for a load, with their model.
    pub(super) expiring: Soonest<(Time, usize)>,
    /// What the timers are set to, by key; `NEVER` when they are not set.
    pub(super) timers: [Time; 3],
}

impl Clockwork {
    /// Clockwork with seed estimates from the profiles.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Clockwork {
        Clockwork {
            config,
            models: profiles.iter().map(|p| Model::new(&config, p)).collect(),
            gpus: Gpus::default(),
            order: Order::default(),
            loads: None,
            met: Met::default(),
            batch: Vec::new(),
            dropped: Vec::new(),
            expiring: Soonest::default(),
            timers: [Time::NEVER; 3],
        }
    }
}
