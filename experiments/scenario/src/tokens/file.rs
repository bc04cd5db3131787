//! The file, and the policies that run it.

use super::load::Offered;
use super::policy::TokenPolicySpec;
use super::table::Tokens;
use crate::defaults::one;
use crate::kind;
use crate::own::{SpecOf, WorldFile};
use crate::reference::{Reference, Table};
use crate::scenario::place::Source;
use crate::scenario::{InputFile, changed};
use orrery_run::SpecError;
use orrery_run::policies;
use orrery_sim::tokens::policy::Configured;
use orrery_traces::shipped::SHIPPED;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

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
    #[schemars(schema_with = "policies::list_schema::<dyn Configured>")]
    pub policies: Vec<String>,
    /// The seed of what is drawn.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// The requests, and the executor.
    pub tokens: Tokens,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub source: Source,
}

impl WorldFile for TokensFile {
    type World = Tokens;
    const KIND: kind::Kind = kind::TOKENS;
    const EXAMPLE: &'static str = "continuous[order=edf]";

    fn world(&self) -> &Tokens {
        &self.tokens
    }

    fn head(&self) -> (&[String], u64, &Source) {
        (&self.policies, self.seed, &self.source)
    }

    fn read_as(&mut self) -> (&mut String, &mut Source) {
        (&mut self.name, &mut self.source)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn notes(&self, _: &[SpecOf<Self>]) -> Result<Vec<String>, SpecError> {
        self.tokens.notes(self.folder()).map_err(|e| self.placed(e))
    }
}

impl TokensFile {
    /// What a search probes with a seed, fit for a policy.
    ///
    /// # Errors
    /// As [`WorldFile::runs`], and when no request can be late.
    pub fn offered(&self, seed: u64, policy: &TokenPolicySpec) -> Result<Offered, SpecError> {
        let offered = self.tokens.offered(seed, self.folder()).and_then(|offered| {
            self.tokens.check_profile(policy, &offered.machine)?;
            Ok(offered)
        });
        offered.map_err(|e| self.placed(e))
    }

    /// The file with dotted keys set to other values, such as `tokens.rate_per_s`, `tokens.slo[0].ttft_ms` or
    /// `policy.continuous.budget` (a parameter of every policy of that name). Values are checked by
    /// [`WorldFile::runs`].
    ///
    /// # Errors
    /// When a key is none of such a file's, or a value has another type; the message names the key.
    pub fn with(&self, changes: &[(String, Value)]) -> Result<TokensFile, SpecError> {
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let of = "a file of tokens (docs/tokens.md)";
        let (file, source): (TokensFile, Source) = changed(&self.source, changes, of)?;
        Ok(TokensFile { name: self.name.clone(), source, ..file })
    }

    /// The mean rate of its requests, a second.
    ///
    /// # Errors
    /// As [`Tokens::rate`].
    pub fn rate(&self) -> Result<f64, SpecError> {
        self.tokens.rate(self.folder()).map_err(|e| self.placed(e))
    }

    /// The same file at another rate.
    ///
    /// # Errors
    /// As [`Tokens::with_rate`].
    pub fn with_rate(&self, rate_per_s: f64) -> Result<TokensFile, SpecError> {
        let tokens = self.tokens.with_rate(rate_per_s, self.folder());
        Ok(TokensFile { tokens: tokens.map_err(|e| self.placed(e))?, ..self.clone() })
    }

    /// The files that a run reads, in the order of the keys.
    pub fn inputs(&self) -> Vec<InputFile> {
        let one = |name: &String| match SHIPPED.iter().find(|s| s.name == name) {
            Some(s) => InputFile::Shipped(s.name, s.sha256),
            None => InputFile::Path(name.clone(), self.folder().join(name)),
        };
        [&self.tokens.profile, &self.tokens.requests].map(one).into()
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
