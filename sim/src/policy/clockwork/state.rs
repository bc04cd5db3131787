//! What Clockwork's controller keeps.

use super::super::soonest::Soonest;
use super::config::Config;
use super::expiring::Expiring;
use super::gpus::Gpus;
use super::load::Loads;
use super::queues::{Model, Waiting};
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
    /// Requests of one model that no batch queue holds any more, and their ids.
    pub(super) lost: Vec<Waiting>,
    pub(super) dropped: Vec<RequestId>,
    /// Internal deadlines of requests that are refused, where they are answered only then.
    pub(super) refused: Soonest<(Time, RequestId)>,
    /// Internal deadlines of requests that may wait in vain for a load.
    pub(super) expiring: Expiring,
    /// What the timers are set to, by key; `NEVER` when they are not set.
    pub(super) timers: [Time; 4],
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
            lost: Vec::new(),
            dropped: Vec::new(),
            refused: Soonest::default(),
            expiring: Expiring::default(),
            timers: [Time::NEVER; 4],
        }
    }
}
