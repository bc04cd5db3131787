//! Which clock times a profile.

use crate::clock::{Clock, DEFAULT_SPIN, VirtualClock, WallClock};
use crate::host::Host;
use crate::threads::Placement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A machine below this load average does nothing else.
const IDLE_LOAD: f64 = 0.3;

/// Which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clocks {
    /// Real time, divided by this scale.
    Wall(u32),
    /// Time that jumps from instant to instant: no device is timed. For tests of the harness.
    Virtual,
}

impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clocks::Wall(1) => f.write_str("the wall clock"),
            Clocks::Wall(scale) => write!(f, "the wall clock, slowed down {scale} times"),
            Clocks::Virtual => f.write_str("a virtual clock, which times no device"),
        }
    }
}

impl Clocks {
    /// A clock whose time zero is now, for threads that are placed so.
    pub fn start(self, placement: Placement) -> Box<dyn Clock> {
        let idle = || Host::here().load().is_some_and(|load| load < IDLE_LOAD);
        match self {
            Clocks::Wall(scale) => {
                let alone = placement.pin && idle();
                Box::new(WallClock::start(scale, DEFAULT_SPIN, alone))
            }
            Clocks::Virtual => Box::new(VirtualClock::new()),
        }
    }
}
