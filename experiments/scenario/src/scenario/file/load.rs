//! The keys of `[arrivals]` and `[closed_loop]`, as `serde` reads and writes them.
//!
//! It checks no value: `check_load.rs` does. As in `file.rs`, readers see the comments on fields.

use crate::defaults::{is_default, is_one, one};
use crate::listed::Timestamps;
use orrery_traces::replayed::copies_for;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[arrivals]`: exactly one of the processes, and limits.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// Maximum number of requests.
    pub requests: Option<u64>,
    /// No arrivals at or after this time.
    pub duration_s: Option<f64>,
    /// The applications that send.
    #[schemars(extend("x-default" = "all"))]
    pub apps: Option<Vec<String>>,
    /// Each application has its own process at its share of the rate, in place of one shared process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub per_app: bool,
    /// Evenly spaced, the first at 0.
    pub constant: Option<SteadyArrivals>,
    /// A Poisson process.
    pub poisson: Option<SteadyArrivals>,
    /// Poisson-distributed gaps of whole ms, as in the code of Kairos, Ribbon and DeepRecSys; this is not
    /// a Poisson process.
    pub integer_poisson: Option<IntegerPoissonArrivals>,
    /// Gamma-distributed gaps; their CV is 1/√shape, so a shape below 1 is burstier than Poisson.
    pub gamma: Option<GammaArrivals>,
    /// Poisson with a rate that jumps between states; `next` is `"cyclic"` or `"uniform"`.
    pub mmpp: Option<MmppArrivals>,
    /// Poisson at a steady rate that ever more applications share (Clockwork, section 6.2).
    pub spread: Option<SpreadArrivals>,
    /// Arrivals by the counts per minute of an Azure 2019 file.
    #[schemars(extend("x-form" = "{ file, ... }"))]
    pub trace: Option<TraceArrivals>,
    /// A trace of prompts (Azure LLM, BurstGPT, Mooncake, ServeGen, or a table of `at_s`, `tokens_in` and `tokens_out`);
    /// execution times follow from its token counts; all requests belong to the first application of `apps`.
    pub llm: Option<LlmArrivals>,
    /// Arrivals from a file that `orrery trace record` wrote, of Azure Functions 2021, or from an access log.
    #[schemars(extend("x-form" = "{ file, ... }"))]
    pub workload: Option<WorkloadArrivals>,
    /// A recorded list of queries; all belong to the first application of `apps`.
    pub queries: Option<QueryArrivals>,
    /// How the list of `workload`, `queries` or `llm` is replayed; without it, as it was written down. With it the
    /// list has a rate, so that sweeps, searches and plans can change it.
    #[schemars(extend("x-form" = "{ ... }"))]
    pub replay: Option<ReplayArrivals>,
}

/// What another rate of a list changes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RateBy {
    /// The number of copies: more users.
    #[default]
    Copies,
    /// The speed: the same users, each faster, so that bursts are as much denser and shorter.
    Speed,
}

/// How fast a list runs, and in how many copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// So many times as fast as it was written down.
    pub speed: f64,
    /// Copies at once.
    pub copies: f64,
}

/// Above this speed it is said what it does to bursts.
pub const SPEED_NOTED: f64 = 1.5;

/// The longest window within which copies of a list are shifted where a file does not say: a day keeps its hours.
const SHIFT_S: f64 = 3600.0;

impl ReplayArrivals {
    /// How fast a list of this rate runs, and in how many copies.
    pub fn pace(&self, list_per_s: f64) -> Pace {
        let (speed, copies) = (self.speed.unwrap_or(1.0), self.copies.unwrap_or(1.0));
        match (self.rate_per_s, self.rate_by) {
            (None, _) => Pace { speed, copies: copies_for(copies, 1.0) },
            (Some(rate), RateBy::Copies) => {
                Pace { speed, copies: copies_for(rate, list_per_s * speed) }
            }
            (Some(rate), RateBy::Speed) => Pace { speed: rate / (list_per_s * copies), copies },
        }
    }

    /// The window within which copies are shifted.
    pub fn shift_s(&self) -> f64 {
        self.shift_s.unwrap_or(SHIFT_S)
    }

    /// Whether the list comes otherwise than it was written down.
    pub fn changes(&self) -> bool {
        let is_same = |factor: Option<f64>| factor.is_none_or(|factor| factor == 1.0);
        let is_itself = is_same(self.speed) && is_same(self.copies) && self.rate_per_s.is_none();
        !is_itself || self.times > 1 || self.block_s.is_some()
    }
}

impl Pace {
    /// Multiplies the rate of the list.
    pub fn factor(&self) -> f64 {
        self.speed * self.copies
    }
}

impl Arrivals {
    /// Whether they end by themselves, at whatever rate: all of them are judged then.
    pub fn is_finite(&self) -> bool {
        self.trace.is_some() || self.replay.is_some()
    }
}

/// `replay`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ReplayArrivals {
    /// Copies of the list at once: as many times the users. The first is the list itself; each other one is shifted by
    /// the seed within windows of `shift_s`. Of 1.5 copies the second keeps each request with probability 0.5.
    #[schemars(extend("x-default" = "1"))]
    pub copies: Option<f64>,
    /// The list runs so many times as fast, and its gaps are divided by it: as if each user were as much faster, with
    /// bursts that are as much denser and shorter.
    #[schemars(extend("x-default" = "1"))]
    pub speed: Option<f64>,
    /// Alternatively, the mean rate.
    pub rate_per_s: Option<f64>,
    /// What `rate_per_s` sets, and what sweeps, searches and plans change: `"copies"` or `"speed"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rate_by: RateBy,
    /// The longest window within which a copy is shifted, around its end to its beginning, so that each window keeps
    /// its number of requests. The list is cut into equal windows.
    #[schemars(extend("x-unit" = "s of the list's own time", "x-default" = "3600"))]
    pub shift_s: Option<f64>,
    /// So many times over, end to end.
    #[serde(default = "one::<u64>", skip_serializing_if = "is_one")]
    pub times: u64,
    /// Each round is made of blocks of so many seconds of the list, drawn by the seed (a circular block bootstrap).
    #[schemars(extend("x-unit" = "s of the list's own time", "x-default" = "no blocks"))]
    pub block_s: Option<f64>,
}

/// `integer_poisson`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct IntegerPoissonArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// What gaps are counted in.
    #[serde(default = "one::<f64>")]
    pub unit_ms: f64,
}

/// `queries`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct QueryArrivals {
    /// A CSV file with `arrival_ms`, `size` and perhaps `service_ms`; `_ns`, `_us` or `_s` as well.
    pub file: String,
    /// The time to start reading from.
    #[schemars(extend("x-default" = "0"))]
    pub from_s: Option<f64>,
    /// The end: arrivals at or after this time are not read.
    #[schemars(extend("x-default" = "all"))]
    pub to_s: Option<f64>,
}

/// `constant` and `poisson`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SteadyArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
}

/// `gamma`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct GammaArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// Below 1 is burstier than Poisson.
    pub shape: f64,
}

/// `mmpp`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct MmppArrivals {
    /// Arrivals a second in each state.
    pub rates_per_s: Vec<f64>,
    /// Mean time in each state.
    pub mean_sojourns_s: Vec<f64>,
    /// Which state follows.
    #[serde(default)]
    pub next: Next,
}

/// Which state follows.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Next {
    /// The next in the list.
    #[default]
    Cyclic,
    /// Any of the others.
    Uniform,
}

/// `spread`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SpreadArrivals {
    /// The rate of all that share it together, in equal shares.
    pub rate_per_s: f64,
    /// When the first application becomes active.
    #[serde(default)]
    pub from_s: f64,
    /// The next application becomes active after each of these, in their order.
    pub every_s: f64,
    /// Applications that do not share it, but send at a steady rate of their own from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "none"))]
    pub others: Vec<String>,
    /// The rate of these together.
    #[serde(default)]
    pub others_per_s: f64,
}

/// `trace`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TraceArrivals {
    /// A shipped name such as `azure2019-f500`, or a path; with `order` also the folder of the published
    /// trace, whose files are days of 1440 minutes.
    pub file: String,
    /// The label of the first minute's column.
    #[schemars(extend("x-unit" = "label", "x-default" = "the file's first"))]
    pub first_minute: Option<u32>,
    /// Number of minutes.
    #[schemars(extend("x-unit" = "minutes", "x-default" = "all that follow"))]
    pub minutes: Option<u32>,
    /// `all`, `without-top:N`, `ranks:A-B` (1 is the busiest) or `trigger:NAME`.
    #[serde(default = "all")]
    pub functions: String,
    /// Arrivals within a minute: `poisson`, or `even` for evenly spaced arrivals with the exact count.
    #[serde(default)]
    pub inside: Inside,
    /// Scale the counts to this mean rate over all minutes read.
    pub rate_per_s: Option<f64>,
    /// Multiply the counts by this; not together with `rate_per_s`.
    #[schemars(extend("x-default" = "1"))]
    pub rate_factor: Option<f64>,
    /// Shortens a minute by this factor: 60 makes it a second.
    #[serde(default = "one::<f64>")]
    pub compress: f64,
    /// Each function has its own process; functions, busiest first, are assigned to the applications in
    /// turn, and weights are ignored.
    #[serde(default)]
    pub per_function: bool,
    /// Functions, busiest first in the whole file, are dealt to the applications in blocks, and weights are
    /// ignored. The applications are `released`, by name with copies together, or `shuffled`.
    #[schemars(extend("x-default" = "none; with `rule` or a folder, `\"released\"`"))]
    pub order: Option<Order>,
    /// Seed of a shuffled order.
    #[schemars(extend("x-default" = "the run's"))]
    pub order_seed: Option<u64>,
    /// `azure-46000` makes 92 copies of each function of the shipped sample (see below).
    pub rule: Option<Rule>,
    /// Standard deviation of the logarithm of the copies' sizes.
    #[schemars(extend("x-default" = "1"))]
    #[serde(default = "one::<f64>", skip_serializing_if = "is_one")]
    pub sigma: f64,
}

/// The order of the applications to which blocks of functions are dealt.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// By name, copies together.
    Released,
    /// Shuffled.
    Shuffled,
}

/// How a sample is extended.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
pub enum Rule {
    /// 46,000 functions for Clockwork, section 6.5.
    #[serde(rename = "azure-46000")]
    Azure46000,
}

/// How arrivals lie within a minute.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// A Poisson process.
    #[default]
    Poisson,
    /// Evenly spaced.
    Even,
}

/// `llm`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LlmArrivals {
    /// A shipped name or a file.
    pub file: String,
    /// For each prompt.
    pub base_ms: f64,
    /// For each token in.
    pub per_context_ms: f64,
    /// For each token out.
    pub per_generated_ms: f64,
    /// The time to start reading from.
    #[schemars(extend("x-default" = "0"))]
    pub from_s: Option<f64>,
    /// The end: arrivals at or after this time are not read.
    #[schemars(extend("x-default" = "all"))]
    pub to_s: Option<f64>,
    /// Of another tool's file: what it does not say of its times.
    #[schemars(extend("x-form" = "{ unit = \"ms\", ... }"))]
    pub timestamps: Option<Timestamps>,
}

/// `workload`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WorkloadArrivals {
    /// A file that `orrery trace record` wrote, or one of another tool (docs/formats.md); a shipped name.
    pub file: String,
    /// The first arrival read, counted from 0.
    #[schemars(extend("x-unit" = "arrivals", "x-default" = "the first"))]
    pub from_row: Option<u64>,
    /// The end: the first arrival that is not read.
    #[schemars(extend("x-unit" = "arrivals", "x-default" = "all"))]
    pub to_row: Option<u64>,
    /// Alternatively, the time to start reading from.
    #[schemars(extend("x-default" = "0"))]
    pub from_s: Option<f64>,
    /// The end: arrivals at or after this time are not read.
    #[schemars(extend("x-default" = "all"))]
    pub to_s: Option<f64>,
    /// Use the SLOs of the scenario's applications, in place of the file's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub scenario_slos: bool,
    /// Of another tool's file: what it does not say of its times.
    #[schemars(extend("x-form" = "{ unit = \"ms\", ... }"))]
    pub timestamps: Option<Timestamps>,
}

/// `[closed_loop]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    /// Number of clients; with `per_app`, of each application.
    pub clients: u32,
    /// Each client belongs to one application, in place of choosing one for each request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub per_app: bool,
    /// `{ NAME = N }`: with `per_app`, the number of clients of one application, or of each of its copies,
    /// in place of `clients`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-default" = "none"))]
    pub clients_of: BTreeMap<String, u32>,
    /// How long a client waits that would send again in the same instant: one without think time whose
    /// request was refused at once.
    #[serde(default = "one::<f64>", skip_serializing_if = "is_one")]
    #[schemars(extend("x-default" = "1"))]
    pub pause_ms: f64,
    /// Maximum number of requests of all clients together.
    pub requests: Option<u64>,
    /// No requests at or after this time.
    pub duration_s: Option<f64>,
    /// Client i of n starts after i/n of this; with `per_app`, of the n of an application.
    #[serde(default)]
    pub ramp_ms: f64,
    /// The applications that clients choose from, by weight.
    #[schemars(extend("x-default" = "all"))]
    pub apps: Option<Vec<String>>,
    /// Think time before each request, the first included: `{ constant_ms = X }` or
    /// `{ exponential_ms = MEAN }`.
    pub think: Think,
}

/// How long a client thinks.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// A constant.
    ConstantMs(f64),
    /// An exponential time with this mean.
    ExponentialMs(f64),
}

fn all() -> String {
    "all".to_string()
}
