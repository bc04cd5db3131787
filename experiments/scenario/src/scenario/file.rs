//! The keys of a scenario file, as `serde` reads and writes them.
//!
//! It checks no value: `check.rs` does. The comments on its fields are what readers see: the tables
//! of `docs/scenarios.md` and the JSON Schema of `orrery self schema scenario` are made from them.

mod autoscale;
mod delays;
mod load;
mod zoo;

pub use crate::listed::{TimeIs, Timestamps, Unit};
pub use autoscale::Autoscale;
pub use delays::DelayLaw;
pub use load::{
    Arrivals, ClosedLoop, GammaArrivals, Inside, IntegerPoissonArrivals, LlmArrivals, MmppArrivals,
    Next, Order, Pace, QueryArrivals, RateBy, ReplayArrivals, Rule, SPEED_NOTED, SpreadArrivals,
    SteadyArrivals, Think, TraceArrivals, WorkloadArrivals,
};
pub use zoo::{Popularity, Select, Zoo};

use crate::defaults::{is_default, is_one, one};
use crate::scenario::disturbance::{BatchNoise, Stalls};
use crate::scenario::penalties::PenaltyStep;
use crate::scenario::scheduler::Scheduler;
use crate::scenario::slo_steps::SloSteps;
use orrery_run::policies;
use orrery_sim::cluster;
use orrery_sim::policy::parameters::Configured;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A scenario file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery scenario")]
pub struct ScenarioFile {
    /// Name in results and of result files: letters, digits, `-`, `_`, `+`, `.`.
    #[schemars(extend("x-default" = "the file's name"))]
    pub name: Option<String>,
    /// Seed of every random stream; `--seed` replaces it.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// The policies to compare, each `NAME` or `NAME[key=value,...]`; `--policy` replaces them.
    #[serde(default)]
    #[schemars(!default, schema_with = "policies::list_schema::<dyn Configured>")]
    pub policies: Vec<String>,
    /// Keep every latency; otherwise quantiles are at most 0.1 % too large.
    #[serde(default)]
    pub exact_quantiles: bool,
    /// What has figures of its own beside the total: `"each"` model and application, or `"groups"` of
    /// applications.
    #[schemars(extend("x-default" = "`\"each\"`; `\"groups\"` with a `group`, or beyond 100 models or applications"))]
    pub scopes: Option<Scopes>,
    /// Requests that arrive before this are simulated but not counted.
    #[serde(default)]
    pub warm_up_s: f64,
    /// Stop at this time; requests still in the system count as *pending*.
    pub until_s: Option<f64>,
    /// Accept an SLO that even the fastest batch of one cannot meet.
    #[serde(default)]
    pub allow_hopeless_slo: bool,
    /// The models, numbered in this order.
    #[serde(default)]
    #[schemars(!default)]
    pub model: Vec<Model>,
    /// Published models, each with an application; numbered after `model` and `app`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zoo: Vec<Zoo>,
    /// Popularity of the applications, by their order in the file: multiplies their weights.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("x-default" = "`\"equal\"`"))]
    pub popularity: Popularity,
    /// Seed of a random popularity order, in place of the order in the file.
    pub popularity_seed: Option<u64>,
    /// The kinds of devices, numbered in this order.
    #[serde(default = "one_gpu")]
    pub device: Vec<Device>,
    /// The applications, numbered in this order.
    #[serde(default)]
    #[schemars(!default)]
    pub app: Vec<App>,
    /// Devices come and go with the load.
    pub autoscale: Option<Autoscale>,
    /// The open-loop arrivals.
    pub arrivals: Option<Arrivals>,
    /// The closed-loop clients.
    pub closed_loop: Option<ClosedLoop>,
    /// Message delays.
    #[serde(default)]
    pub delays: Delays,
    /// What the scheduler's own time costs.
    pub scheduler: Option<Scheduler>,
    /// Noise on the latency of a batch.
    pub noise: Option<Noise>,
    /// Noise on the times of loads, with the keys of a model's `noise`.
    pub load_noise: Option<BatchNoise>,
    /// Times at which the host takes a core away.
    pub stalls: Option<Stalls>,
    /// What policies are told before the run.
    #[serde(default)]
    pub profile: Profile,
    /// What policies are told during the run.
    pub profiler: Option<Profiler>,
}

/// What has figures of its own.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Scopes {
    /// Every model and application.
    Each,
    /// Groups of applications.
    Groups,
}

/// `[[model]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name, unique in the file.
    pub name: String,
    /// Number of copies; several are called `NAME#1`, `NAME#2` and so on.
    #[serde(default = "one::<u32>", skip_serializing_if = "is_one")]
    #[schemars(extend("x-default" = "1"))]
    pub copies: u32,
    /// Longest time allowed from arrival to answer; policies plan for it.
    pub slo_ms: f64,
    /// Multiplies `slo_ms`, and `first_ms` of `slo_steps`.
    #[serde(default = "one::<f64>", skip_serializing_if = "is_one")]
    #[schemars(extend("x-default" = "1"))]
    pub slo_scale: f64,
    /// SLOs of its requests that change in steps (see below); policies still plan for `slo_ms`.
    pub slo_steps: Option<SloSteps>,
    /// What a late answer costs, in steps (see below).
    #[schemars(extend("x-default" = "1 after the SLO"))]
    pub penalties: Option<Vec<PenaltyStep>>,
    /// Device memory for its weights.
    #[serde(default)]
    #[schemars(extend("x-unit" = "pages"))]
    pub pages: u32,
    /// Time to load its weights.
    #[serde(default)]
    pub load_ms: f64,
    /// The true latency of its batches (see below).
    pub latency: LatencyLaw,
    /// The latency that policies assume, if it differs from the actual one: as it is, on every GPU type.
    #[schemars(extend("x-default" = "`latency`"))]
    pub believed: Option<LatencyLaw>,
    /// `{ KIND = LAW }`: the true latency on one kind of device, in place of `latency` divided by its
    /// `speed`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_on: BTreeMap<String, LatencyLaw>,
    /// A batch between two measured sizes takes what lies between them on a line (`"linear"`), or as long as the `"next"`
    /// larger one (an engine with kernels for some sizes alone pads to it).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`\"linear\"`; `\"next\"` for Clockwork's zoos"))]
    pub between: Option<Between>,
    /// Noise on its batches, besides that of `[noise]`.
    #[schemars(extend("x-default" = "none"))]
    pub noise: Option<BatchNoise>,
}

/// What a batch takes whose size lies between two measured ones.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Between {
    /// What a line between their latencies says.
    #[default]
    Linear,
    /// What the larger one takes.
    Next,
}

/// The latency of a batch of `k` items, the longest of which takes `l` alone.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum LatencyLaw {
    /// `alpha k + beta`, independent of the requests' own times (Symphony, §2).
    Affine {
        /// For each item.
        alpha_ms: f64,
        /// For each batch.
        beta_ms: f64,
    },
    /// `c0 + c1 k l` (Orloj, Eq. 3 and 4).
    Eq3 {
        /// For each batch.
        c0_ms: f64,
        /// For each item, as a share of `l`.
        c1: f64,
    },
    /// `(1 - c1 + c1 k) l`: a batch of one takes `l`.
    Proportional {
        /// For each further item, as a share of `l`.
        c1: f64,
    },
    /// `c0 + k (c1 l + c2 l^2)`: attention compares every token with every other.
    Poly {
        /// For each batch.
        c0_ms: f64,
        /// For each item, as a share of `l`.
        c1: f64,
        /// For each item and millisecond of `l`, as a share of `l`.
        c2_per_ms: f64,
    },
    /// Measured by size and by `l`: between sizes as `between` says; an `l` between two is padded to the larger
    /// one, and beyond the last the latency grows in proportion.
    Grid {
        /// Values of `l`, growing.
        lengths_ms: Vec<f64>,
        /// Rows of size and a latency in ms for each of `lengths_ms`, in increasing size.
        rows: Vec<(u32, Vec<f64>)>,
    },
    /// Rows of size and ms, in increasing size: between two rows as `between` says, before the first as long as it, and
    /// beyond the last in proportion.
    #[schemars(extend("x-form" = "[[1, 5.0], [2, 6.1]]"))]
    Table(Vec<(u32, f64)>),
    /// Measured latencies, one drawn for each batch: `MODEL@TYPE` of the zoo `kairos`.
    #[schemars(extend("x-form" = "\"rm2@g4dn.xlarge\""))]
    Samples(String),
    /// Rows of size and measured latencies in ms, in increasing size; one is drawn for each batch, and between two sizes
    /// scaled as `between` says.
    #[schemars(extend("x-form" = "[[1, [5.0, 5.2]], [2, [6.1]]]"))]
    Measured(Vec<(u32, Vec<f64>)>),
    /// The latency model of a model (default: the same name) in a file that `orrery-replay profile` wrote, its rows in a CSV
    /// of batch sizes and latencies, or what another tool measured (docs/formats.md).
    Profile {
        /// Its path from the scenario's folder.
        file: String,
        /// The model's name there.
        model: Option<String>,
        /// Of a CSV with several GPUs: which one.
        gpu: Option<String>,
    },
}

/// `[[device]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Name of the kind, unique in the file.
    #[serde(default = "gpu")]
    pub kind: String,
    /// Number of devices of this kind; of a kind with 0 there are none, and its latencies are not used.
    #[serde(default = "one::<u32>")]
    pub count: u32,
    /// Number of devices for each model, in place of `count`; rounded, at least one in total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_model: Option<f64>,
    /// Number of batches that a device runs at the same time; a policy that runs one at a time is refused.
    #[serde(default = "one::<u8>")]
    pub lanes: u8,
    /// Speed of the batches on the lanes of a device: `none`: each is as fast as alone (MIG slices); `processor`: of
    /// k batches, each runs at 1/k of the speed (CUDA streams, instances of a model).
    #[serde(default, skip_serializing_if = "Sharing::is_none")]
    #[schemars(extend("x-default" = "`\"none\"`"))]
    pub sharing: Sharing,
    /// Whether a running batch can be stopped.
    #[serde(default)]
    pub can_preempt: bool,
    /// The models that are on each device of this kind from the start, one list for each device; if
    /// omitted, every model is on every device.
    #[schemars(extend("x-default" = "none"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Vec<Vec<String>>>,
    /// Number of stages of a pipeline, each busy with another batch; in place of `lanes`.
    #[serde(default = "one::<u8>", skip_serializing_if = "is_one")]
    #[schemars(extend("x-default" = "1"))]
    pub stages: u8,
    /// Memory for weights; if omitted, every model is always resident.
    #[schemars(extend("x-unit" = "pages"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pages: Option<u32>,
    /// Divides every latency, also those that policies assume; `proportional` needs `latency_on` on a kind whose speed is not 1.
    #[serde(default = "one::<f64>")]
    pub speed: f64,
    /// Price of one device; kinds with prices form a pool, which must have a base kind.
    #[schemars(extend("x-unit" = "USD/h"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_usd_per_hour: Option<f64>,
    /// Whether this is the base kind; by default, the most cost-effective kind that meets the SLO at
    /// every query size in the load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub base: bool,
}

impl Default for Device {
    /// One GPU that runs one batch at a time.
    fn default() -> Device {
        Device {
            kind: gpu(),
            count: 1,
            per_model: None,
            lanes: 1,
            sharing: Sharing::None,
            can_preempt: false,
            holds: None,
            stages: 1,
            memory_pages: None,
            speed: 1.0,
            price_usd_per_hour: None,
            base: false,
        }
    }
}

/// How the batches on the lanes of a device share it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// Each is as fast as alone.
    #[default]
    None,
    /// Of k batches, each runs at 1/k of the speed.
    Processor,
}

impl Sharing {
    fn is_none(&self) -> bool {
        *self == Sharing::None
    }
}

impl From<Sharing> for cluster::Sharing {
    fn from(sharing: Sharing) -> cluster::Sharing {
        match sharing {
            Sharing::None => cluster::Sharing::None,
            Sharing::Processor => cluster::Sharing::Processor,
        }
    }
}

/// `[[app]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct App {
    /// Its name, once in the file.
    pub name: String,
    /// The model that its requests use.
    pub model: String,
    /// The group whose figures it is counted in; several applications may have the same.
    #[schemars(extend("x-default" = "none"))]
    pub group: Option<String>,
    /// Its share of the arrivals, relative to the others'.
    #[serde(default = "one::<f64>")]
    pub weight: f64,
    /// Number of items in a request.
    #[schemars(extend("x-unit" = "items"))]
    #[serde(default = "one::<u32>")]
    pub size: u32,
    /// A distribution of sizes, in place of `size` (see below).
    pub sizes: Option<SizesLaw>,
    /// Its own SLO; `inf` for none.
    #[schemars(extend("x-default" = "the model's"))]
    pub slo_ms: Option<f64>,
    /// Its own SLOs, changing in steps (see below); in place of `slo_ms`.
    #[schemars(extend("x-default" = "the model's"))]
    pub slo_steps: Option<SloSteps>,
    /// What a late answer costs, in steps (see below).
    #[schemars(extend("x-default" = "the model's"))]
    pub penalties: Option<Vec<PenaltyStep>>,
    /// How it changes during the run (see below).
    #[schemars(extend("x-default" = "none"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Execution times in isolation (see below); may be omitted if the arrivals have them, or if the model's
    /// latency does not depend on them.
    #[schemars(extend("x-default" = "required, or of a batch of one"))]
    pub time: Option<TimeLaw>,
}

/// A change of an application: what an application is like from then on; what is omitted stays as it was.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When it begins.
    pub at_s: f64,
    /// Multiplies the application's `weight`.
    #[schemars(extend("x-default" = "as before"))]
    pub weight_factor: Option<f64>,
    /// Multiplies the execution times of its `time`.
    #[schemars(extend("x-default" = "as before"))]
    pub time_factor: Option<f64>,
}

/// The law of the sizes of an application's requests.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SizesLaw {
    /// The distribution of Kairos's released code, 1 to 999.
    Kairos,
    /// Lognormal, rounded up.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// The largest.
        #[serde(default = "largest_query")]
        max: u32,
    },
    /// Normal, rounded.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
        /// The largest.
        #[serde(default = "largest_query")]
        max: u32,
    },
    /// Drawn from a CSV column; `count_column` for a histogram.
    Samples {
        /// A CSV file.
        file: String,
        /// The column of sizes.
        column: String,
        /// The column of how often each occurs, if the file is a histogram.
        count_column: Option<String>,
    },
}

/// The law of execution times alone.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TimeLaw {
    /// A constant.
    Constant {
        /// The time.
        ms: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean_ms: f64,
        /// Standard deviation.
        sd_ms: f64,
    },
    /// Lognormal; mean and standard deviation are those of the time itself, not of its logarithm.
    Lognormal {
        /// Mean of the time, not of its logarithm.
        mean_ms: f64,
        /// Standard deviation of the time.
        sd_ms: f64,
    },
    /// Exponential, as in an M/M/c queue: with `proportional` latency and batches of one.
    Exponential {
        /// Mean.
        mean_ms: f64,
    },
    /// A mixture of normal modes.
    #[schemars(extend("x-form" = "[[weight, mean_ms, sd_ms], ...]"))]
    Modes(Vec<(f64, f64, f64)>),
    /// Drawn from a CSV column of measured times; `unit` is `ns`, `us`, `ms` or `s`.
    Samples {
        /// A CSV file.
        file: String,
        /// The column of times.
        column: String,
        /// Their unit.
        #[serde(default)]
        unit: Unit,
    },
    /// `base + per_token * length`; lengths are drawn from shipped data or a CSV column
    /// (`count_column` if it is a histogram).
    Lengths {
        /// A shipped name or a CSV file.
        file: String,
        /// The column of lengths.
        column: String,
        /// The column of how often each occurs, if the file is a histogram.
        count_column: Option<String>,
        /// For each request.
        base_ms: f64,
        /// For each unit of length.
        per_token_ms: f64,
    },
    /// Two normal groups with this overall mean and P99; `short_share` is the share of the shorter group.
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

/// `[delays]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Delays {
    /// Policy to device.
    pub dispatch_ms: f64,
    /// Time that the device spends on each request of a batch before it computes.
    pub fetch_per_request_ms: f64,
    /// Device to policy.
    pub result_ms: f64,
    /// Device to client.
    pub reply_ms: f64,
    /// A distribution in place of `dispatch_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<DelayLaw>,
    /// A distribution in place of `result_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<DelayLaw>,
    /// A distribution in place of `reply_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<DelayLaw>,
}

/// `[noise]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Half-width of a factor that is uniform around 1; below 1.
    #[schemars(extend("x-default" = "none"))]
    Uniform(f64),
    /// Alternatively, the sigma of a lognormal factor with median 1.
    #[schemars(extend("x-default" = "none"))]
    Lognormal(f64),
}

/// `[profile]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// The batch sizes that are profiled, in increasing order, at most 24.
    pub sizes: Vec<u32>,
    /// Number of batches measured for each size.
    pub batches: u32,
    /// Number of bins of an application's histogram.
    pub bins: usize,
    /// Seed of the profile's own random stream.
    #[schemars(extend("x-default" = "the run's"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The time whose applications are measured, where they have `changes`.
    #[schemars(extend("x-default" = "0"))]
    #[serde(skip_serializing_if = "is_default")]
    pub at_s: f64,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { sizes: vec![1, 2, 4, 8, 16], batches: 500, bins: 64, seed: None, at_s: 0.0 }
    }
}

/// `[profiler]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Profiler {
    /// Every n-th request is measured in isolation, and the policy gets the result.
    pub every: u64,
    /// Delay of that report after the request ends.
    #[serde(default)]
    pub delay_ms: f64,
}

fn largest_query() -> u32 {
    1_000
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
