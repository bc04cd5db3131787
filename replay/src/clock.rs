//! The clock of the wall-clock driver, and how its threads wait and wake each other.
//!
//! Every thread of a replay is a [`Participant`]: the controller, and a worker for each executor.
//! They wait on the clock and on nothing else, so that a test can put a clock under them that goes
//! from instant to instant ([`VirtualClock`]) and see the very same code take the simulator's
//! decisions.

mod virtual_time;
mod wall;

pub use virtual_time::VirtualClock;
pub use wall::{DEFAULT_SPIN, WallClock};

use orrery_sim::time::Time;

/// A thread that waits on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Participant(pub u32);

/// The controller, which takes part from the start. Workers are added.
pub const CONTROLLER: Participant = Participant(0);

/// A clock with which threads wait. Time zero is the start of the run.
pub trait Clock: Send + Sync {
    /// The run starts now: devices are open and workers are ready. Nobody has asked for the time yet.
    fn begin(&self) {}

    /// The time.
    fn now(&self) -> Time;

    /// A worker will take part; time may not pass until it has entered.
    fn add(&self) -> Participant;

    /// The calling thread takes part as `me` from now on. Called once by each participant, on its
    /// own thread, before anything else.
    fn enter(&self, me: Participant);

    /// Waits until `until` (for ever at [`Time::NEVER`]) or until somebody has notified `me` since
    /// its last wait, whichever is first.
    fn wait(&self, me: Participant, until: Time);

    /// Ends the wait of `whom`, or its next one if it is not waiting.
    fn notify(&self, whom: Participant);

    /// The calling thread takes no further part.
    fn leave(&self, me: Participant);
}
