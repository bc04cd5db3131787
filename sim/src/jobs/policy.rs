//! What a policy of jobs is: a pure state machine, told what happened, asked what to do.
//!
//! | file | system |
//! |---|---|
//! | [`salus`] | Salus: jobs share a GPU iteration by iteration, memory in lanes |
//! | [`fluid`] | Fluid: the trials of a tuning job share workers |

pub mod fluid;
mod interface;
mod lanes;
pub mod salus;
mod workers;

pub use interface::{Action, Configured, Event, JobPolicy, Known};

use crate::policy::parameters::{Registered, Settings};

const fn registered<C: Settings + Configured>() -> Registered<dyn Configured> {
    Registered::new::<C>(|given| C::parse(given).map(|c| Box::new(c) as Box<dyn Configured>))
}

/// The policies of jobs, by name. [`crate::policy::ALL`] has those of requests.
pub static ALL: &[Registered<dyn Configured>] =
    &[registered::<fluid::Config>(), registered::<salus::Config>()];
