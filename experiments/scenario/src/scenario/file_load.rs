//! The keys of `[arrivals]` and `[closed_loop]`, as `serde` reads and writes them.
//!
//! It checks no value: `check_load.rs` does.

use super::file::one_f64;
use serde::{Deserialize, Serialize};

/// `[arrivals]`: exactly one of the processes, and limits.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// At most so many requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// No request at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Who sends; all applications when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apps: Option<Vec<String>>,
    /// A process for each application at its share of the rate, in place of one for all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_app: bool,
    /// Evenly spaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<SteadyArrivals>,
    /// A Poisson process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<SteadyArrivals>,
    /// Gamma-distributed gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<GammaArrivals>,
    /// A Markov-modulated Poisson process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mmpp: Option<MmppArrivals>,
    /// A Poisson process whose rate varies slowly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lognormal_rate: Option<LognormalRateArrivals>,
    /// Counts per minute of an Azure 2019 file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceArrivals>,
    /// An Azure LLM trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmArrivals>,
    /// A workload file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadArrivals>,
}

/// `constant` and `poisson`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SteadyArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
}

/// `gamma`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct GammaArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// Below 1 is burstier than Poisson.
    pub shape: f64,
}

/// `mmpp`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
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
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Next {
    /// The next in the list.
    #[default]
    Cyclic,
    /// Any of the others.
    Uniform,
}

/// `lognormal_rate`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LognormalRateArrivals {
    /// The mean of the rate.
    pub mean_rate_per_s: f64,
    /// The deviation of its logarithm.
    pub sigma: f64,
    /// After which time the correlation has fallen to 1/e.
    pub correlation_s: f64,
    /// How long each value holds.
    #[serde(default = "one_f64")]
    pub interval_s: f64,
}

/// `trace`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TraceArrivals {
    /// A shipped name or a file of Azure 2019 invocations.
    pub file: String,
    /// The label of the first minute; the file's first when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_minute: Option<u32>,
    /// How many minutes; all that follow when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    /// `all`, `without-top:N`, `ranks:A-B` or `trigger:NAME`.
    #[serde(default = "all")]
    pub functions: String,
    /// How arrivals lie within a minute.
    #[serde(default)]
    pub inside: Inside,
    /// Scale the counts to this mean rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Multiply the counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_factor: Option<f64>,
    /// Divide the length of a minute.
    #[serde(default = "one_f64")]
    pub compress: f64,
    /// A process for each function, in place of one for their sum.
    #[serde(default)]
    pub per_function: bool,
}

/// How arrivals lie within a minute.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// A Poisson process.
    #[default]
    Poisson,
    /// Evenly spaced.
    Even,
}

/// `llm`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
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
}

/// `workload`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WorkloadArrivals {
    /// The file.
    pub file: String,
    /// The first arrival read, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_row: Option<u64>,
    /// The first arrival no longer read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_row: Option<u64>,
    /// The first instant read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_s: Option<f64>,
    /// The first instant no longer read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_s: Option<f64>,
}

/// `[closed_loop]`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ClosedLoop {
    /// How many there are.
    pub clients: u32,
    /// At most so many requests, of all clients together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// No request at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// The clients begin one after another over this time.
    #[serde(default)]
    pub ramp_ms: f64,
    /// What they ask for; all applications when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apps: Option<Vec<String>>,
    /// From a reply to the next request.
    pub think: Think,
}

/// How long a client thinks.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// Always so long.
    ConstantMs(f64),
    /// An exponential time with this mean.
    ExponentialMs(f64),
}

fn all() -> String {
    "all".to_string()
}
