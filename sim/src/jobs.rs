//! Jobs that share devices: the small second world, of Salus and Fluid.
//!
//! A job runs some iterations and leaves. It has no deadline, no batch and no model, so that nothing
//! of requests, executors or devices is used here; time, the event queue, random streams and the
//! table of a policy's parameters are the same.
//!
//! One mechanism moves it all: a **run** has work left and a rate. When the rate changes, because a
//! lane begins beside it, say, the run's end moves in the event queue. A policy chooses who runs
//! ([`policy::JobPolicy`]); the [`world`] keeps the books and refuses nothing silently: an impossible
//! action is a bug and panics.
//!
//! ```
//! use orrery_sim::jobs::job::{Cluster, Job};
//! use orrery_sim::jobs::metrics::Metrics;
//! use orrery_sim::jobs::policy::salus::{Config, Order, Salus};
//! use orrery_sim::jobs::world::simulate;
//! use orrery_sim::time::{Span, Time};
//!
//! // Two jobs of 3 and 1 iterations of a second, the second half a second later.
//! let job = |at_ms, iterations| Job {
//!     submitted: Time::ZERO + Span::from_ms(at_ms),
//!     iterations,
//!     iteration: Span::from_secs(1),
//!     ..Job::default()
//! };
//! let jobs = [job(0, 3), job(500, 1)];
//! let salus = Salus::new(Config { order: Order::Srtf, ..Config::default() });
//! let run = simulate(&Cluster::gpu(16_000), &jobs, salus, Metrics::default());
//! // The short job preempts the long one at the end of its first iteration.
//! assert_eq!(run.observer.total().jct_mean, Span::from_ms(2_750));
//! ```

pub mod audit;
pub mod job;
pub mod log;
pub mod metrics;
pub mod policy;
pub mod record;
mod runs;
pub mod world;
