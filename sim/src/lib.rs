//! A deterministic discrete-event simulator of DNN-inference schedulers.
//!
//! A policy is a pure state machine ([`policy::Policy`]); a sans-IO [`core`] keeps the books and the
//! devices around it; the virtual-time [`driver`] feeds the core from a future-event list. This
//! crate reads no file, knows no trace and draws no plot.
//!
//! ```
//! use orrery_sim::driver::{World, simulate};
//! use orrery_sim::latency::Latency;
//! use orrery_sim::metrics::Metrics;
//! use orrery_sim::policy::fifo::{Config, Fifo};
//! use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
//! use orrery_sim::time::{Span, Time};
//!
//! // Two requests of 10 ms, 1 ms apart; the second waits 9 ms and is late.
//! let arrival = |ms| Arrival {
//!     at: Time::ZERO + Span::from_ms(ms),
//!     app: AppId(0),
//!     model: ModelId(0),
//!     size: 1,
//!     slo: Span::from_ms(15),
//!     alone: Span::from_ms(10),
//! };
//! let world = World::single(Latency::Proportional { c1: 0.1 });
//! let source = Box::new(VecSource::new(vec![arrival(0), arrival(1)]));
//! let fifo = Fifo::new(Config { max_batch: 16, drop_expired: false });
//! let run = simulate(&world, vec![source], fifo, Metrics::default());
//! assert_eq!(run.end, Time::ZERO + Span::from_ms(20));
//! assert_eq!(run.observer.total().finish_rate(), 0.5);
//! ```

#![cfg_attr(
    test,
    expect(
        clippy::too_many_lines,
        reason = "a table of cases, or a reference that reads in one piece"
    )
)]

pub mod audit;
pub mod cluster;
pub mod core;
pub mod delay;
pub mod det;
pub mod distribution;
pub mod driver;
pub mod event_queue;
pub mod jobs;
pub mod latency;
pub mod log;
pub mod matching;
pub mod metrics;
pub mod observer;
pub mod orcl;
pub mod ordered;
pub mod penalty;
pub mod policy;
pub mod profile;
pub mod request;
pub mod rng;
pub mod stalls;
pub mod stats;
pub mod table;
pub mod time;
pub mod tokens;
mod ziggurat;
