//! What gives a pool its throughput: a policy in a simulation, the oracle, or the bound alone.

use orrery_run::{PolicySpec, SpecError};

/// What gives a pool its throughput.
#[derive(Clone, Debug)]
pub enum Scheme {
    /// A policy; its allowable throughput is searched.
    Policy(PolicySpec),
    /// DRS with the threshold that hill climbing, or a scan of all, finds for the pool.
    Drs {
        /// All thresholds are evaluated.
        scan: bool,
    },
    /// The oracle: no arrivals, no waiting.
    Orcl,
    /// Eq. 15.
    UpperBound,
}

impl Scheme {
    /// From its name in a file.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Scheme, SpecError> {
        Ok(match text {
            "drs-climb" => Scheme::Drs { scan: false },
            "drs-scan" => Scheme::Drs { scan: true },
            "orcl" => Scheme::Orcl,
            "upper-bound" => Scheme::UpperBound,
            policy => Scheme::Policy(PolicySpec::parse(policy)?),
        })
    }

    /// As rows and the paper call it.
    pub fn text(&self) -> &str {
        match self {
            Scheme::Policy(policy) => policy.text(),
            Scheme::Drs { scan: false } => "drs-climb",
            Scheme::Drs { scan: true } => "drs-scan",
            Scheme::Orcl => "orcl",
            Scheme::UpperBound => "upper-bound",
        }
    }
}
