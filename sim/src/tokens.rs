//! Requests that are answered token by token: the small third world, under deadlines.
//!
//! A batch of [`crate::core`] ends as a whole. Here one executor runs **steps**, and a request needs
//! many: its prompt is read in one or several, and each step after that gives it a token, until it
//! stops. Nobody knows when that is. What a request has read stays in blocks of memory (its keys and
//! values, KV), which a policy takes back when there are too few: the request then computes all anew.
//! It is a world of its own, as [`crate::jobs`] is: nothing of requests, executors or devices is used.
//! Time, random streams and the table of a policy's parameters are the same.
//!
//! It is for comparing deadline policies, and plans no capacity: one executor, no cache of prefixes, no
//! speculation, no split of prompts from answers, no routing to experts.
//!
//! ```
//! use orrery_sim::time::{Span, Time};
//! use orrery_sim::tokens::law::{Curve, StepLaw};
//! use orrery_sim::tokens::metrics::Metrics;
//! use orrery_sim::tokens::policy::continuous::{Config, Continuous};
//! use orrery_sim::tokens::request::{Machine, Slo, TokenRequest};
//! use orrery_sim::tokens::world::simulate;
//!
//! // A step takes 1 ms for each token. A prompt of 3 tokens, and 3 tokens out: 3 ms, then 1 ms each.
//! let dense = Curve::new(vec![(1, 1_000_000_000), (2048, 2_048_000_000_000)]).unwrap();
//! let law = StepLaw { dense, ..StepLaw::default() };
//! let machine = Machine { law, blocks: 100, block_tokens: 16 };
//! let slo = Slo { first: Span::from_ms(5), each: Span::from_ms(2) };
//! let request = TokenRequest { at: Time::ZERO, tokens_in: 3, tokens_out: 3, slo };
//! let policy = Continuous::new(Config::default());
//! let run = simulate(&machine, &[request], policy, Metrics::default());
//! assert_eq!(run.end, Time::ZERO + Span::from_ms(5));
//! assert_eq!(run.observer.total().finish_rate, 1.0);
//! ```

pub mod audit;
pub mod law;
pub mod log;
pub mod metrics;
pub mod policy;
pub mod record;
pub mod request;
#[cfg(test)]
mod tests;
pub mod world;
