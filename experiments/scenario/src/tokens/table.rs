//! `[tokens]`: its keys, and what a seed makes of them.

use crate::defaults::one;
use crate::listed::Timestamps;
use orrery_sim::tokens::request::{Machine, TokenRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tokens]`: the executor, and the requests.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// How long the kernels of a step take: the name of a shipped profile, or a CSV file beside this one.
    pub profile: String,
    /// Blocks of KV memory.
    pub kv_blocks: u32,
    /// Tokens that a block holds.
    #[serde(default = "sixteen")]
    pub block_tokens: u32,
    /// What several devices do to add up their parts of a layer, if the model is on several.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "one device"))]
    pub all_reduce: Option<AllReduce>,
    /// Tokens in and out, and arrivals: the name of a shipped trace, or a file beside this one: a CSV with the columns
    /// `at_s`, `tokens_in`, `tokens_out`, or prompts of Azure LLM, BurstGPT, Mooncake, Bailian or ServeGen.
    pub requests: String,
    /// The time to start reading from.
    #[schemars(extend("x-default" = "0"))]
    pub from_s: Option<f64>,
    /// The end: requests at or after this time are not read.
    #[schemars(extend("x-default" = "all"))]
    pub to_s: Option<f64>,
    /// Of another tool's file: what it does not say of its times.
    #[schemars(extend("x-form" = "{ unit = \"ms\", ... }"))]
    pub timestamps: Option<Timestamps>,
    /// Use only the first of them, or with `rate_per_s`: draw so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "all of them"))]
    pub count: Option<u32>,
    /// Poisson arrivals of this rate, of requests that are drawn from the list, in place of its own arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "as in the list"))]
    pub rate_per_s: Option<f64>,
    /// Factor of the list's own times of arrival.
    #[serde(default = "one::<f64>")]
    pub stretch: f64,
    /// What requests want: each is of one of these, drawn by their shares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-default" = "no SLO"))]
    pub slo: Vec<SloShare>,
}

/// `[tokens.all_reduce]`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllReduce {
    /// How often a step does it: twice in each layer.
    pub times: u32,
    /// The time of an empty one.
    pub us: f64,
    /// Bytes for each token.
    pub token_bytes: u32,
    /// Bytes per second, in units of 10^9.
    pub bandwidth: f64,
}

/// `[[tokens.slo]]`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloShare {
    /// Its share of the requests, of the sum of all shares.
    #[serde(default = "one::<f64>")]
    pub share: f64,
    /// From arrival to the first token.
    pub ttft_ms: f64,
    /// For each further token, on average.
    pub tpot_ms: f64,
}

fn sixteen() -> u32 {
    16
}

/// Requests, and the executor.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeTokens {
    /// The executor.
    pub machine: Machine,
    /// In the order of their numbers.
    pub requests: Vec<TokenRequest>,
    /// Whether they have SLOs.
    pub has_slo: bool,
}
