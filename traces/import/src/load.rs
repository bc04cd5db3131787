//! How the requests of a measured load arrived, in words: `even`, `poisson`, `gamma:0.5`, `at-once`, `clients:8`.

use std::fmt::{Display, Formatter, Result};

/// The words that `--arrivals` and the column `arrivals` take.
pub const ALLOWED: &str = "even, poisson, gamma:SHAPE, at-once or clients:N";

/// How requests at a rate are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// As a Poisson process.
    Poisson,
    /// In gamma-distributed gaps of this shape; below 1 it is burstier than Poisson.
    Gamma(f64),
}

/// How requests arrived, where the file does not say it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arriving {
    /// At a rate.
    Spaced(Spacing),
    /// All at once.
    AtOnce,
    /// From so many clients, each with one request in flight.
    Clients(u32),
}

impl Arriving {
    /// From its words.
    pub fn parse(words: &str) -> Option<Arriving> {
        match words.split_once(':').unwrap_or((words, "")) {
            ("even", "") => Some(Arriving::Spaced(Spacing::Even)),
            ("poisson", "") => Some(Arriving::Spaced(Spacing::Poisson)),
            ("gamma", shape) => Spacing::gamma(shape.parse().ok()?).map(Arriving::Spaced),
            ("at-once", "") => Some(Arriving::AtOnce),
            ("clients", n) => n.parse().ok().filter(|n| *n > 0).map(Arriving::Clients),
            _ => None,
        }
    }
}

impl Spacing {
    /// The widest range of shapes that a scenario takes.
    pub(crate) fn gamma(shape: f64) -> Option<Spacing> {
        match shape {
            1.0 => Some(Spacing::Poisson),
            shape if (1e-3..=1e6).contains(&shape) => Some(Spacing::Gamma(shape)),
            _ => None,
        }
    }
}

impl Display for Spacing {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Spacing::Even => f.write_str("even"),
            Spacing::Poisson => f.write_str("poisson"),
            Spacing::Gamma(shape) => write!(f, "gamma:{shape}"),
        }
    }
}

impl Display for Arriving {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Arriving::Spaced(spacing) => spacing.fmt(f),
            Arriving::AtOnce => f.write_str("at-once"),
            Arriving::Clients(n) => write!(f, "clients:{n}"),
        }
    }
}
