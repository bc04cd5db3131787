//! Files of requests that are answered token by token: what comes, the executor, and the policies.
//!
//! It is not a scenario, whose batches end as a whole. `docs/tokens.md` lists the keys.

mod load;
mod policy;

pub use policy::TokenPolicySpec;

use crate::error::SpecError;
use crate::kind;
use crate::reference::{Reference, Table};
use crate::scenario::place::{Source, parse_error};
use crate::whole::read_text;
use orrery_sim::tokens::request::{Machine, TokenRequest};
use orrery_traces::Input;
use orrery_traces::shipped::{shipped, shipped_names};
use orrery_traces::step_profile::StepProfile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The most tokens that a block holds, and the most blocks.
const BLOCK_TOKENS_MAX: u32 = 1 << 16;
const BLOCKS_MAX: u32 = 1 << 28;

/// A file of requests that are answered token by token, for `orrery run`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery tokens")]
pub struct TokensFile {
    /// Its name in results.
    #[serde(default)]
    #[schemars(extend("x-default" = "the file's name"))]
    pub name: String,
    /// The policies: `continuous` with its parameters.
    #[schemars(schema_with = "policy::list_schema")]
    pub policies: Vec<String>,
    /// The seed of what is drawn.
    #[serde(default = "one")]
    pub seed: u64,
    /// The requests, and the executor.
    pub tokens: Tokens,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub source: Source,
}

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
    /// Tokens in and out, and arrivals: the name of a shipped trace, or a CSV file beside this one with the columns
    /// `at_s`, `tokens_in`, `tokens_out`, or an Azure LLM trace.
    pub requests: String,
    /// Use only the first of them, or with `rate_per_s`: draw so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "all of them"))]
    pub count: Option<u32>,
    /// Poisson arrivals of this rate, of requests that are drawn from the list, in place of its own arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "as in the list"))]
    pub rate_per_s: Option<f64>,
    /// Factor of the list's own times of arrival.
    #[serde(default = "one_f64")]
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
    /// The time of one that carries nothing.
    pub us: f64,
    /// Bytes for each token.
    pub token_bytes: u32,
    /// Bytes per second, in 10^9.
    pub gb_per_s: f64,
}

/// `[[tokens.slo]]`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SloShare {
    /// Its share of the requests, of the sum of all shares.
    #[serde(default = "one_f64")]
    pub share: f64,
    /// From arrival to the first token.
    pub ttft_ms: f64,
    /// For each further token, on average.
    pub tpot_ms: f64,
}

fn one() -> u64 {
    1
}
fn one_f64() -> f64 {
    1.0
}
fn sixteen() -> u32 {
    16
}

/// Requests, and the executor.
#[derive(Clone, Debug)]
pub struct MadeTokens {
    /// The executor.
    pub machine: Machine,
    /// In the order of their numbers.
    pub requests: Vec<TokenRequest>,
    /// Whether they have SLOs.
    pub has_slo: bool,
}

impl TokensFile {
    /// Reads a file and checks it with its policies.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<TokensFile, SpecError> {
        let name = path.display().to_string();
        let mut file = TokensFile::from_text(&name, &read_text(path)?)?;
        if file.name.is_empty() {
            let stem = path.file_stem().unwrap_or_default();
            file.name = stem.to_string_lossy().into_owned();
        }
        Ok(file)
    }

    /// A file from its text; `name` is its path, for messages and for the files that it names.
    ///
    /// # Errors
    /// As [`TokensFile::load`].
    pub fn from_text(name: &str, text: &str) -> Result<TokensFile, SpecError> {
        let read: Result<TokensFile, toml::de::Error> = toml::from_str(text);
        let mut file =
            read.map_err(|e| kind::instead(kind::TOKENS, name, text, parse_error(name, text, &e)))?;
        file.source = Source::new(name, text);
        if file.policies.is_empty() {
            let remedy = "name one, such as `continuous[order=edf]`";
            let error = SpecError::value("policies", "none", "at least one policy", remedy);
            return Err(file.source.placed(error));
        }
        file.runs(file.seed, &file.policies()?)?;
        Ok(file)
    }

    /// Its policies.
    ///
    /// # Errors
    /// When one is unknown or has a wrong parameter.
    pub fn policies(&self) -> Result<Vec<TokenPolicySpec>, SpecError> {
        let parse = |(i, text): (usize, &String)| {
            let parsed = TokenPolicySpec::parse_at(format!("policies[{i}]"), text);
            parsed.map_err(|e| self.source.placed(e))
        };
        self.policies.iter().enumerate().map(parse).collect()
    }

    /// The requests of a seed and the executor, fit for these policies.
    ///
    /// # Errors
    /// When a value is wrong, with its line.
    pub fn runs(&self, seed: u64, policies: &[TokenPolicySpec]) -> Result<MadeTokens, SpecError> {
        let folder = Path::new(&self.source.path).parent().unwrap_or(Path::new(""));
        let made = self.tokens.make(seed, folder).and_then(|made| {
            policies.iter().try_for_each(|p| self.tokens.check_for(p, &made))?;
            Ok(made)
        });
        made.map_err(|e| self.source.placed(in_table(e)))
    }
}

/// The error, at a key of `[tokens]`.
pub fn in_table(error: SpecError) -> SpecError {
    match error.key() {
        Some(key) if !key.starts_with("tokens.") && key != "policies" => {
            let key = format!("tokens.{key}");
            error.at(key)
        }
        _ => error,
    }
}

/// What a key names: something shipped, or a file beside.
pub(crate) fn input(name: &str, folder: &Path) -> Result<Input, SpecError> {
    if shipped_names().any(|s| s == name) {
        return Ok(shipped(name)?);
    }
    Ok(Input::open(folder.join(name))?)
}

fn between(key: &str, found: u32, most: u32) -> Result<(), SpecError> {
    if (1..=most).contains(&found) {
        return Ok(());
    }
    let allowed = format!("a whole number from 1 to {most}");
    Err(SpecError::value(key, found, allowed, format!("correct `{key}`")))
}

impl Tokens {
    /// The requests of a seed, and the executor; `folder` is where files are looked for.
    ///
    /// # Errors
    /// When a value is wrong, or a file cannot be read.
    pub fn make(&self, seed: u64, folder: &Path) -> Result<MadeTokens, SpecError> {
        let machine = self.machine(folder)?;
        let requests = self.load(seed, folder)?;
        let too_large = requests.iter().position(|r| !machine.fits(r));
        if let Some(i) = too_large {
            let TokenRequest { tokens_in, tokens_out, .. } = requests[i];
            let found = format!(
                "{} blocks, and request {i} has {tokens_in} tokens in and {tokens_out} out",
                self.kv_blocks
            );
            let allowed = "room for each request alone";
            let remedy = "raise `kv_blocks`, or remove the request: vLLM would refuse it";
            return Err(SpecError::value("kv_blocks", found, allowed, remedy));
        }
        Ok(MadeTokens { machine, requests, has_slo: !self.slo.is_empty() })
    }

    fn machine(&self, folder: &Path) -> Result<Machine, SpecError> {
        between("kv_blocks", self.kv_blocks, BLOCKS_MAX)?;
        between("block_tokens", self.block_tokens, BLOCK_TOKENS_MAX)?;
        let profile = StepProfile::read(input(&self.profile, folder)?)?;
        let Some(fitted) = profile.fit() else {
            let found =
                format!("`{}`, whose rows do not determine the law of a step", self.profile);
            let allowed =
                "rows of attention with only decodes, only prompts, and both, of several sizes";
            return Err(SpecError::value("profile", found, allowed, "measure more of them"));
        };
        let mut law = fitted.law;
        if let Some(reduce) = self.all_reduce {
            law.all_reduce = reduce.law()?;
        }
        Ok(Machine { law, blocks: self.kv_blocks, block_tokens: self.block_tokens })
    }

    /// Whether the executor's profile reaches as far as a policy goes.
    ///
    /// # Errors
    /// When it does not.
    pub fn check_for(&self, policy: &TokenPolicySpec, made: &MadeTokens) -> Result<(), SpecError> {
        let (tokens, sequences) = policy.most();
        let law = &made.machine.law;
        for (what, most, measured) in
            [("tokens", tokens, law.dense.last()), ("sequences", sequences, law.head.last())]
        {
            // A law of one point says nothing of sizes.
            if most > measured && measured > 1 {
                let found = format!("`{}`, with up to {most} {what} in a step", policy.text());
                let allowed = format!("at most {measured}: `{}` ends there", self.profile);
                let remedy = "lower `budget` or `sequences`, or measure a larger profile";
                return Err(SpecError::value("policies", found, allowed, remedy));
            }
        }
        Ok(())
    }
}

impl AllReduce {
    /// Once, and for each token, in picoseconds.
    fn law(&self) -> Result<[i64; 2], SpecError> {
        between("all_reduce.times", self.times, 100_000)?;
        between("all_reduce.token_bytes", self.token_bytes, 1 << 30)?;
        load::within("all_reduce.us", self.us, 0.0, 1e6, " us")?;
        load::within("all_reduce.gb_per_s", self.gb_per_s, 1e-3, 1e6, "")?;
        let times = f64::from(self.times);
        let token_ps = times * f64::from(self.token_bytes) * 1e3 / self.gb_per_s;
        Ok([(times * self.us * 1e6 + 0.5) as i64, (token_ps + 0.5) as i64])
    }
}

/// The tables of `docs/tokens.md`.
pub fn reference() -> Vec<Table> {
    let keys = Reference::of::<TokensFile>();
    let table = |path: &[&str]| keys.keys(path, &[]);
    vec![
        ("file", table(&[])),
        ("tokens", table(&["tokens"])),
        ("all_reduce", table(&["tokens", "all_reduce"])),
        ("slo", table(&["tokens", "slo"])),
    ]
}
