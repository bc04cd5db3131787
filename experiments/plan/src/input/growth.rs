//! `growth`: how many times the load there is, and of a list of requests what grows.
//!
//! ```text
//!  list      ▂█▂  ▁ ▁    in copies   ▂█▂▁▂█▂▁  more users of the same kind: bursts meet by chance
//!                        faster      █         the same users, each faster: bursts are denser and shorter
//! ```

use orrery_scenario::scenario::file::RateBy;
use schemars::JsonSchema;
use serde::Deserialize;

/// `growth`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a factor such as 1.5, `{ copies = 20 }` or `{ speed = 2.0 }`"
)]
pub enum Growth {
    /// Multiplies the load; of a list as its `replay` says, copies without a word.
    Factor(f64),
    /// So many copies of a list.
    Copies {
        /// Multiplies the load.
        copies: f64,
    },
    /// A list that is so many times as fast.
    Speed {
        /// Multiplies the load.
        speed: f64,
    },
}

impl Default for Growth {
    /// The load as it is.
    fn default() -> Growth {
        Growth::Factor(1.0)
    }
}

impl Growth {
    /// Multiplies the load.
    pub fn factor(self) -> f64 {
        match self {
            Growth::Factor(factor) => factor,
            Growth::Copies { copies } => copies,
            Growth::Speed { speed } => speed,
        }
    }

    /// The same with so many times the load.
    #[must_use]
    pub fn scaled(self, by: f64) -> Growth {
        match self {
            Growth::Factor(factor) => Growth::Factor(factor * by),
            Growth::Copies { copies } => Growth::Copies { copies: copies * by },
            Growth::Speed { speed } => Growth::Speed { speed: speed * by },
        }
    }

    /// The key of its factor.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Growth::Factor(_) => "growth",
            Growth::Copies { .. } => "growth.copies",
            Growth::Speed { .. } => "growth.speed",
        }
    }

    /// What grows of a list, where it says so.
    pub(crate) fn by(self) -> Option<RateBy> {
        match self {
            Growth::Factor(_) => None,
            Growth::Copies { .. } => Some(RateBy::Copies),
            Growth::Speed { .. } => Some(RateBy::Speed),
        }
    }
}
