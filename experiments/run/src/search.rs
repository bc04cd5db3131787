//! The one search for the load that a cluster carries: a bracket of probes.
//!
//! ```text
//!  bracket: which load next? ──> probe: a run that the judge stops once it is clear whether each model's
//!     ▲                           share of bad requests is within the target ──┐
//!     └───────────────────────── good, bad or undecided ◀──────────────────────┘
//! ```
//!
//! `orrery goodput`, sweeps with `[goodput]`, `orrery plan` and Kairos's allowable throughput all search
//! with it, and so does the goodput of requests that are answered token by token. A probe is as long as its
//! verdict needs, and no load above the closed-form capacity of the devices is ever good.

mod bracket;
mod crossing;
mod found;
mod judge;
mod moves;
mod ramp;
mod tally;
mod tokens;
mod watch;

pub use bracket::{Bracket, HELD, fewest};
pub use found::{Found, are_undecided, interval};
pub use judge::{Doubt, Judge, Probe};
pub use moves::Moves;
pub use ramp::{Met, Ramp, Root};
pub use tally::{Share, worst};
pub use tokens::on_tokens;
pub use watch::{Seen, Watch};

use crate::error::SpecError;
use crate::policy_spec::PolicySpec;
use crate::setup::Setup;
use orrery_sim::driver::simulate;
use orrery_sim::observer::Observer;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of a source that a probe stops.
pub const REQUESTS_ENDLESS: u64 = 1_000_000_000_000;

/// A policy that plans anew in epochs is watched for so many of them.
const EPOCHS: u64 = 4;

/// The longest warm-up, in which rate estimates over 5 s settle, and the shortest probe that is called good, where
/// nothing else is asked for.
const WARM_UP: Span = Span::from_secs(6);
const LEAST: Span = Span::from_secs(4);

/// A system that does not plan in epochs is in its usual state after so many SLOs.
const SETTLED: u64 = 40;

/// What must hold for every model.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Dropped and late requests are at most the target's share of all.
    #[default]
    BadRate,
    /// Late answers are at most the target's share of all answers: p99 within the SLO at 0.01.
    /// Dropped requests do not count, but a load of which more than half is dropped is not carried.
    P99,
}

impl Criterion {
    /// Their names, as in files.
    pub const NAMES: [&str; 2] = ["bad-rate", "p99"];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Criterion> {
        let all = [Criterion::BadRate, Criterion::P99];
        all.into_iter().zip(Criterion::NAMES).find(|(_, n)| *n == name).map(|(c, _)| c)
    }
}

/// What is known of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// It goes on without end at a mean rate.
    Steady {
        /// The mean rate, requests/s.
        rate_per_s: f64,
        /// What the devices can compute at most, if that is known: see [`capacity_per_s`].
        capacity_per_s: Option<f64>,
    },
    /// It ends by itself (a trace), and all of it is what is judged.
    Finite {
        /// By model: with more bad requests than this the target is missed for sure. Empty where the
        /// number of requests is not known.
        bad_max: Vec<f64>,
    },
}

/// When a probe stops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stop {
    /// As soon as its verdict is clear.
    #[default]
    Clear,
    /// As soon as it is clearly bad; otherwise after all requests.
    ClearlyBad,
    /// After all requests: for a figure in place of a verdict.
    AtEnd,
    /// As soon as the standard error of ln(share of bad requests) is this, or the share is far from the target.
    Exact(f64),
}

/// How a probe is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// So many times as long as usual.
    pub longer: u32,
    /// After a burst that the system has to work off first.
    pub burst: bool,
    /// Short: to see about where the answer is.
    pub glance: bool,
    /// With a rate that rises by this factor: see [`Ramp`].
    pub rises: Option<f64>,
    /// Near the answer: until its share is exact to this standard error of ln(share).
    pub exact: Option<f64>,
}

impl How {
    /// As long as its verdict needs, and without a burst.
    pub const USUAL: How = How { longer: 1, burst: false, glance: false, rises: None, exact: None };
    /// Short.
    pub const GLANCE: How = How { glance: true, ..How::USUAL };
}

/// What is asked of a load, whoever searches: each probe's [`Rule`] follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// As [`Rule::criterion`].
    pub criterion: Criterion,
    /// As [`Rule::target`].
    pub target: f64,
    /// As [`Rule::tolerance`].
    pub tolerance: f64,
    /// As [`Rule::requests_per_model`].
    pub requests_per_model: u64,
    /// As [`Rule::warm_up`]; without it 6 s, or 40 of the longest SLO where that is sooner and the policy does not plan in
    /// epochs.
    pub warm_up: Option<Span>,
    /// As [`Rule::least`]; without it 4 s, or as many SLOs.
    pub least: Option<Span>,
    /// As [`Rule::exactly`].
    pub exactly: Option<Span>,
}

/// What is probed: a system and its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// The load.
    pub load: Load,
    /// The longest SLO.
    pub slo: Span,
    /// How often its policy plans anew, if it does.
    pub epoch: Option<Span>,
    /// Whether each instant is as in a run of that instant's rate, so that the rate can rise.
    pub can_rise: bool,
    /// The number of models.
    pub models: usize,
    /// What arrives before this is not counted, whatever the load.
    pub warm_up: Span,
}

/// What happens to a system, a burst or a loss, does not take longer because its SLO is longer: of a minute, the 97 minutes
/// that a burst of one is worked off in would be most of a search. Nor is a probe of a longer SLO as much longer: see
/// [`Rule::by_flow`].
pub const DISTURBED_MAX: Span = Span::from_secs(5);

/// How long a burst lasts: one SLO, the longest, up to [`DISTURBED_MAX`]; without SLOs there is none.
pub fn disturbed(slo: Span) -> Span {
    if slo == Span::MAX { Span::MAX } else { slo.min(DISTURBED_MAX) }
}

impl Terms {
    /// The rule of a probe that is made like this.
    ///
    /// A list is judged whole, behind its own warm-up. Of any other load the warm-up is as long as the system needs to
    /// fill and to plan.
    pub fn rule(&self, subject: Subject, how: How) -> Rule {
        let Subject { load, slo, epoch, can_rise, models, warm_up } = subject;
        let is_steady = matches!(load, Load::Steady { .. });
        let (burst, settled) = (disturbed(slo), slo.min(DISTURBED_MAX) * SETTLED);
        let settles = |most: Span| if epoch.is_none() { most.min(settled) } else { most };
        let own_warm_up = self.warm_up.unwrap_or_else(|| settles(WARM_UP));
        let rule = Rule {
            criterion: self.criterion,
            target: self.target,
            tolerance: self.tolerance,
            requests_per_model: self.requests_per_model,
            warm_up: if is_steady { own_warm_up.max(warm_up) } else { warm_up },
            least: match is_steady {
                true => self.least.unwrap_or_else(|| settles(LEAST)),
                false => Span::ZERO,
            },
            exactly: self.exactly,
            stop: Stop::Clear,
            load,
            moves: None,
            by_flow: slo > DISTURBED_MAX,
        };
        let rule = rule.at_a_glance(how);
        let rule = if is_steady { rule.adapted(slo.min(DISTURBED_MAX), epoch) } else { rule };
        let how = How { rises: how.rises.filter(|_| can_rise), ..how };
        rule.made(how, burst, models)
    }
}

/// How a probe is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What must hold.
    pub criterion: Criterion,
    /// The largest share of bad requests of the worst model.
    pub target: f64,
    /// The relative width of the final bracket. A probe is long enough to see an overload by this share.
    pub tolerance: f64,
    /// A probe that is not clear after so many requests for each model, on average, is undecided.
    pub requests_per_model: u64,
    /// What arrives before this is not counted.
    pub warm_up: Span,
    /// A probe is called good after so long at the earliest, behind the warm-up.
    pub least: Span,
    /// The length behind the warm-up, whatever the verdict needs.
    pub exactly: Option<Span>,
    /// When to stop.
    pub stop: Stop,
    /// The load.
    pub load: Load,
    /// A burst within the warm-up, or a rate that rises behind it.
    pub moves: Option<Moves>,
    /// Whether a probe is also long enough once its arrivals and departures show that no share above the tolerance stays:
    /// of long SLOs that is sooner than by its longest delay.
    pub by_flow: bool,
}

/// The warm-up that the longest SLO needs to fill the system, and a policy that plans anew in epochs for its first plan;
/// at least `own`.
pub fn warm_up(own: Span, slo: Span, epoch: Option<Span>) -> Span {
    let first = epoch.map_or(Span::ZERO, |epoch| epoch * 2);
    own.max(if slo == Span::MAX { Span::ZERO } else { slo }).max(first)
}

impl Rule {
    /// With the warm-up that the longest SLO needs to fill the system, and long enough for a policy that
    /// plans anew in epochs: the first plan is not counted, several others are.
    pub fn adapted(self, slo: Span, epoch: Option<Span>) -> Rule {
        let several = epoch.map_or(Span::ZERO, |epoch| epoch * EPOCHS);
        Rule { warm_up: warm_up(self.warm_up, slo, epoch), least: self.least.max(several), ..self }
    }

    /// A glance, if that is wanted: an eighth of the requests after a quarter of the warm-up. To be called before
    /// [`Rule::adapted`], which adds what a system needs to fill and to plan.
    fn at_a_glance(self, how: How) -> Rule {
        if !how.glance {
            return self;
        }
        Rule {
            requests_per_model: (self.requests_per_model / 8).max(1_000),
            warm_up: self.warm_up.scale(0.25),
            least: self.least.scale(0.25),
            tolerance: self.tolerance.max(0.05),
            ..self
        }
    }

    /// A probe so many times as long, which is not called good before its end.
    fn longer(self, times: u32) -> Rule {
        let requests_per_model = self.requests_per_model.saturating_mul(times.into());
        let stop = if times > 1 { Stop::ClearlyBad } else { self.stop };
        let exactly = self.exactly.map(|length| length * u64::from(times));
        Rule { requests_per_model, stop, exactly, ..self }
    }
}

/// Probes a scenario's load.
///
/// Like the others here it is compiled in this crate, where the simulator's loop is optimised, and not by whoever
/// searches.
///
/// # Errors
/// As [`Setup::run_with`].
pub fn probe(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    rule: Rule,
) -> Result<Probe, SpecError> {
    Ok(of_setup(setup, policy, seed, rule, ())?.0)
}

/// The same, and what the devices did.
///
/// # Errors
/// As [`Setup::run_with`].
pub fn watched(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    rule: Rule,
    watch: Watch,
) -> Result<(Probe, Watch), SpecError> {
    of_setup(setup, policy, seed, rule, watch)
}

fn of_setup<O: Observer>(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    rule: Rule,
    observer: O,
) -> Result<(Probe, O), SpecError> {
    setup.check_policy(policy)?;
    let judge = Judge::new(rule, setup.slo.len());
    let sources = moves::with(judge.moves(), setup.sources(seed)?);
    let mut finished =
        simulate(&setup.world, sources, setup.policy(policy, seed), (judge, observer));
    if let Some(failure) = finished.failure.take() {
        return Err(setup.failed(&failure));
    }
    let (judge, observer) = finished.observer;
    Ok((judge.verdict(), observer))
}
