//! What a policy of requests with tokens is: a pure state machine, told who comes and leaves, and asked
//! before each step what is in it.
//!
//! | file | system |
//! |---|---|
//! | [`continuous`] | vLLM v1's batches, by deadlines and with dropping |

pub mod continuous;
mod interface;
pub(in crate::tokens) mod lengths;

pub use interface::{Action, Configured, Event, Known, Seen, TokenPolicy};

use crate::policy::parameters::{Registered, Settings};

const fn registered<C: Settings + Configured>() -> Registered<dyn Configured> {
    Registered::new::<C>(|given| C::parse(given).map(|c| Box::new(c) as Box<dyn Configured>))
}

/// The policies of requests with tokens, by name. [`crate::policy::ALL`] has those of other requests.
pub static ALL: &[Registered<dyn Configured>] = &[registered::<continuous::Config>()];
