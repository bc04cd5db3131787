//! What a scheduling policy is: a pure state machine that is told what happened and when, and
//! answers with actions.
//!
//! It has no clock, does no I/O, starts no thread and draws no random number, so the same code runs
//! in virtual time and against a real device. One file per system:
//!
//! | file | system |
//! |---|---|
//! | [`orloj`] | Orloj (Yu et al.): distribution-based batching |
//! | [`clockwork`] | Clockwork (OSDI 2020): strategies and action windows |
//! | [`nexus`] | Nexus (SOSP 2019) on one GPU: batch from profile and SLO, early drop |
//! | [`nexus_cluster`] | Nexus on a cluster: squishy bin packing, frontends, epochs |
//! | [`symphony`] | Symphony (2024): deferred batches, models and GPUs find each other |
//! | [`clipper`] | Clipper (NSDI 2017): adaptive batching |
//! | [`autoscale`] | Symphony's autoscaling advice, followed, around any other policy |
//! | [`served`] | what the scheduler itself costs, around any other policy |
//! | [`shepherd`] | Shepherd (NSDI 2023): largest batch first, with preemption |
//! | [`alpaserve`] | AlpaServe (OSDI 2023): the least busy of the groups that hold the model |
//! | [`infaas`] | INFaaS (ATC 2021) after public facts: batches by timeout, variants that scale |
//! | [`timeout`] | TensorFlow Serving (2017): a batch when it is full or has waited |
//! | [`eager`] | the work-conserving reference of a cluster: earliest deadline, largest batch |
//! | [`fifo`] | the plain reference: first in, first out, greedy batches |
//! | [`kairos`] | Kairos (HPDC 2023): min-cost matching of queries to instances of several kinds |
//! | [`ribbon`] | Ribbon (SC 2021) as Kairos has it: first come, first served, base kind first |
//! | [`drs`] | DeepRecSys (ISCA 2020) as Kairos has it: a threshold of the size |
//! | [`clkwrk`] | Clockwork's controller as Kairos has it: commit on arrival |
//! | [`best_yield`] | ours: the largest expected number in time per second of device time |
//! | [`oracle`] | the reference that knows every execution time |

mod actions;
pub mod alpaserve;
pub mod autoscale;
pub mod best_yield;
pub mod clipper;
pub mod clkwrk;
pub mod clockwork;
mod contract;
pub mod drs;
pub mod eager;
mod early_drop;
mod edf_queue;
mod event;
pub mod fifo;
pub mod free_devices;
pub mod infaas;
pub mod kairos;
mod known;
pub mod nexus;
pub mod nexus_cluster;
mod numbers;
pub mod oracle;
pub mod orloj;
pub mod parameters;
pub mod pool;
pub mod ribbon;
pub mod score;
pub mod served;
pub mod shepherd;
mod soonest;
pub mod symphony;
#[cfg(test)]
mod tests;
pub mod timeout;

pub use self::actions::{Action, Actions, Exec, Expected};
pub use self::contract::Policy;
pub use self::event::{Event, Outcome, Refusal, TimerKey};
pub use self::known::{Known, Lookup};

use self::parameters::Registered;

/// The registry: every policy that a name can ask for, by name. A new one is its file, its `mod`
/// above and a line here.
///
/// ```
/// use orrery_sim::policy::ALL;
///
/// let clipper = ALL.iter().find(|p| p.about.name == "clipper").unwrap();
/// let config = clipper.parse(&[("sizing", "aimd"), ("backoff", "0.8")]).unwrap();
/// assert_eq!(
///     config.name(),
///     "clipper[sizing=aimd,step=1,backoff=0.8,default_reply=true,max_batch=64]"
/// );
/// let error = clipper.parse(&[("backoff", "0.8")]).unwrap_err();
/// assert_eq!(error.to_string(), "`backoff` is of use only with `sizing=aimd`");
/// ```
pub static ALL: &[Registered] = &[
    Registered::of::<alpaserve::Config>(),
    Registered::of::<best_yield::Config>(),
    Registered::of::<clipper::Config>(),
    Registered::of::<clkwrk::Config>(),
    Registered::of::<clockwork::Config>(),
    Registered::of::<drs::Config>(),
    Registered::of::<eager::Config>(),
    Registered::of::<fifo::Config>(),
    Registered::of::<infaas::Config>(),
    Registered::of::<kairos::Config>(),
    Registered::of::<nexus::Config>(),
    Registered::of::<nexus_cluster::Config>(),
    Registered::of::<oracle::Config>(),
    Registered::of::<orloj::Config>(),
    Registered::of::<ribbon::Config>(),
    Registered::of::<shepherd::Config>(),
    Registered::of::<symphony::Config>(),
    Registered::of::<timeout::Config>(),
];
