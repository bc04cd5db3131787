//! The keys of a scenario file, as `serde` reads and writes them.
//!
//! It checks no value: `check.rs` does. `docs/scenarios.md` is its reference for readers.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A scenario file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Its name in results; the file's own, without its ending, when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The seed of a run that is not told another.
    #[serde(default = "one_u64")]
    pub seed: u64,
    /// The policies to run, with their parameters.
    #[serde(default)]
    pub policies: Vec<String>,
    /// Keep every latency, so that quantiles are exact.
    #[serde(default)]
    pub exact_quantiles: bool,
    /// Requests that arrive before this instant are simulated and not counted.
    #[serde(default)]
    pub warm_up_s: f64,
    /// Stop here; what is in the system then is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_s: Option<f64>,
    /// Accept an SLO that no request can meet.
    #[serde(default)]
    pub allow_hopeless_slo: bool,
    /// The models, numbered in this order.
    #[serde(default)]
    pub model: Vec<Model>,
    /// Published models, each with an application; numbered after `model` and `app`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zoo: Vec<Zoo>,
    /// How the applications share the arrivals, in their order: multiplies their weights.
    #[serde(default, skip_serializing_if = "Popularity::is_equal")]
    pub popularity: Popularity,
    /// Shuffles who is the most popular, in place of the applications' order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub popularity_seed: Option<u64>,
    /// The kinds of devices, numbered in this order.
    #[serde(default = "one_gpu")]
    pub device: Vec<Device>,
    /// The applications, numbered in this order.
    #[serde(default)]
    pub app: Vec<App>,
    /// Devices come and go with the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscale: Option<Autoscale>,
    /// The open-loop arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// The closed-loop clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<ClosedLoop>,
    /// Message delays.
    #[serde(default)]
    pub delays: Delays,
    /// Noise on the latency of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// What policies are told before the run.
    #[serde(default)]
    pub profile: Profile,
    /// What policies are told during the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiler: Option<Profiler>,
}

/// `[[model]]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// How many of it: more than one are `NAME#1`, `NAME#2` and so on.
    #[serde(default = "one_u32", skip_serializing_if = "super::file_zoo::is_one")]
    pub copies: u32,
    /// Time from arrival to answer that its requests are allowed, and that plans are made for.
    pub slo_ms: f64,
    /// Pages of device memory for its weights.
    #[serde(default)]
    pub pages: u32,
    /// Time to load its weights.
    #[serde(default)]
    pub load_ms: f64,
    /// The truth about its batches.
    pub latency: LatencyLaw,
    /// What policies believe of them; the truth when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub believed: Option<LatencyLaw>,
    /// The truth on a kind of device, in place of `latency` divided by the kind's speed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_on: BTreeMap<String, LatencyLaw>,
}

/// The latency of a batch of `k` items.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum LatencyLaw {
    /// `alpha k + beta`.
    Affine {
        /// For each item.
        alpha_ms: f64,
        /// For each batch.
        beta_ms: f64,
    },
    /// `c0 + c1 k l`, with the longest time alone `l`.
    Eq3 {
        /// For each batch.
        c0_ms: f64,
        /// For each item, as a share of `l`.
        c1: f64,
    },
    /// `(1 - c1 + c1 k) l`.
    Proportional {
        /// For each further item, as a share of `l`.
        c1: f64,
    },
    /// Rows of batch size and milliseconds.
    Table(Vec<(u32, f64)>),
}

/// `[[device]]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The name of the kind.
    #[serde(default = "gpu")]
    pub kind: String,
    /// How many there are.
    #[serde(default = "one_u32")]
    pub count: u32,
    /// How many for each model, in place of `count`; rounded, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_model: Option<f64>,
    /// Batches that one runs at a time.
    #[serde(default = "one_u8")]
    pub lanes: u8,
    /// Whether a running batch can be stopped.
    #[serde(default)]
    pub can_preempt: bool,
    /// Pages for weights; every model is always resident when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_pages: Option<u32>,
    /// Divides every latency.
    #[serde(default = "one_f64")]
    pub speed: f64,
}

impl Default for Device {
    /// One GPU that runs one batch at a time.
    fn default() -> Device {
        let (kind, speed) = (gpu(), one_f64());
        Device {
            kind,
            count: 1,
            per_model: None,
            lanes: 1,
            can_preempt: false,
            memory_pages: None,
            speed,
        }
    }
}

/// `[[app]]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// Its name.
    pub name: String,
    /// The model that it asks for.
    pub model: String,
    /// Its share of the arrivals, relative to the other applications'.
    #[serde(default = "one_f64")]
    pub weight: f64,
    /// Items in a request.
    #[serde(default = "one_u32")]
    pub size: u32,
    /// Its SLO: the model's when it is left out, none when it is `inf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slo_ms: Option<f64>,
    /// Execution times alone. May be left out when the arrivals carry their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeLaw>,
}

/// The law of execution times alone.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TimeLaw {
    /// Always the same.
    Constant {
        /// That time.
        ms: f64,
    },
    /// Normal, at least a microsecond.
    Normal {
        /// Mean.
        mean_ms: f64,
        /// Standard deviation.
        sd_ms: f64,
    },
    /// Lognormal.
    Lognormal {
        /// Mean of the time, not of its logarithm.
        mean_ms: f64,
        /// Standard deviation of the time.
        sd_ms: f64,
    },
    /// Normal modes: weight, mean and standard deviation in milliseconds.
    Modes(Vec<(f64, f64, f64)>),
    /// Measured times.
    Samples {
        /// A CSV file.
        file: String,
        /// The column of times.
        column: String,
        /// Their unit.
        #[serde(default)]
        unit: Unit,
    },
    /// Affine in a length that is drawn from a file.
    Lengths {
        /// A shipped name or a CSV file.
        file: String,
        /// The column of lengths.
        column: String,
        /// The column of how often each occurs, if the file is a histogram.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count_column: Option<String>,
        /// For each request.
        base_ms: f64,
        /// For each unit of length.
        per_token_ms: f64,
    },
    /// Two normal groups with this mean and 99th percentile.
    TwoGroup {
        /// Mean.
        mean_ms: f64,
        /// 99th percentile.
        p99_ms: f64,
        /// Share of the shorter group.
        #[serde(default = "short_share")]
        short_share: f64,
    },
}

/// A unit of time in a file of samples.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    #[default]
    Ms,
    /// Seconds.
    S,
}

pub use super::file_load::{
    Arrivals, ClosedLoop, GammaArrivals, Inside, LlmArrivals, LognormalRateArrivals, MmppArrivals,
    Next, SteadyArrivals, Think, TraceArrivals, WorkloadArrivals,
};

pub use super::file_autoscale::Autoscale;
pub use super::file_delays::DelayLaw;
pub use super::file_zoo::{Popularity, Select, Zoo};

/// `[delays]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Delays {
    /// Policy to device.
    pub dispatch_ms: f64,
    /// A device is busy this long for each request of a batch before it computes.
    pub fetch_per_request_ms: f64,
    /// Device to policy.
    pub result_ms: f64,
    /// Device to client.
    pub reply_ms: f64,
    /// A law in place of `dispatch_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DelayLaw>,
    /// A law in place of `result_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<DelayLaw>,
    /// A law in place of `reply_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<DelayLaw>,
}

/// `[noise]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// A factor uniform on `1 ± spread`.
    Uniform(f64),
    /// A factor `exp(sigma Z)`, Z standard normal.
    Lognormal(f64),
}

/// `[profile]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Batch sizes that exist.
    pub sizes: Vec<u32>,
    /// Batches measured for each size.
    pub batches: u32,
    /// Bins of an application's histogram.
    pub bins: usize,
    /// Its own seed; the run's when it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { sizes: vec![1, 2, 4, 8, 16], batches: 500, bins: 64, seed: None }
    }
}

/// `[profiler]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Profiler {
    /// Every n-th request is measured alone.
    pub every: u64,
    /// How long after its end the policy is told.
    #[serde(default)]
    pub delay_ms: f64,
}

fn one_u8() -> u8 {
    1
}
pub(super) fn one_u32() -> u32 {
    1
}
fn one_u64() -> u64 {
    1
}
pub(super) fn one_f64() -> f64 {
    1.0
}
fn short_share() -> f64 {
    orrery_traces::two_group::SHORT_SHARE
}
fn gpu() -> String {
    "gpu".to_string()
}
fn one_gpu() -> Vec<Device> {
    vec![Device::default()]
}
