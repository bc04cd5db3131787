//! What applications are multiplied by from an instant of the run on: an
//! [`OpenWorkload`](crate::workload::OpenWorkload) whose applications change has a list of these.

use orrery_sim::time::Time;

/// What an application is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Its weight.
    pub weight: f64,
    /// Its execution times.
    pub time: f64,
}

impl Default for Factors {
    fn default() -> Factors {
        Factors { weight: 1.0, time: 1.0 }
    }
}

/// What applications are multiplied by from an instant on.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// When it begins.
    pub from: Time,
    /// By the place of the application in its source.
    pub apps: Vec<Factors>,
}
