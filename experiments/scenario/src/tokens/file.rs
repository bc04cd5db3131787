//! The file, and the policies that run it.

use super::load::Offered;
use super::policy::{self, TokenPolicySpec};
use super::table::{MadeTokens, Tokens};
use crate::error::SpecError;
use crate::kind;
use crate::own;
use crate::reference::{Reference, Table};
use crate::scenario::place::Source;
use crate::scenario::texts;
use crate::scenario::{InputFile, changed};
use crate::whole::read_text;
use orrery_traces::shipped::SHIPPED;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
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
    /// Its text, changes made.
    #[serde(skip)]
    text: String,
}

fn one() -> u64 {
    1
}

impl TokensFile {
    /// Reads a file and checks it with its policies.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<TokensFile, SpecError> {
        let name = path.display().to_string();
        let mut file = TokensFile::from_text(&name, &read_text(path)?)?;
        own::name_after(path, &mut file.name);
        Ok(file)
    }

    /// A file from its text; `name` is its path, for messages and for the files that it names.
    ///
    /// # Errors
    /// As [`TokensFile::load`].
    pub fn from_text(name: &str, text: &str) -> Result<TokensFile, SpecError> {
        let mut file: TokensFile =
            texts::read(name, text).map_err(|e| kind::instead(kind::TOKENS, name, text, e))?;
        (file.source, file.text) = (Source::new(name, text), text.to_string());
        own::some_policies(&file.policies, "continuous[order=edf]", &file.source)?;
        file.runs(file.seed, &file.policies()?)?;
        Ok(file)
    }

    /// Its policies.
    ///
    /// # Errors
    /// When one is unknown or has a wrong parameter.
    pub fn policies(&self) -> Result<Vec<TokenPolicySpec>, SpecError> {
        own::policies(&self.policies, &self.source)
    }

    /// The requests of a seed and the executor, fit for these policies.
    ///
    /// # Errors
    /// When a value is wrong, with its line.
    pub fn runs(&self, seed: u64, policies: &[TokenPolicySpec]) -> Result<MadeTokens, SpecError> {
        let made = self.tokens.make(seed, self.folder()).and_then(|made| {
            policies.iter().try_for_each(|p| self.tokens.check_for(p, &made.machine))?;
            Ok(made)
        });
        made.map_err(|e| self.placed(e))
    }

    /// What a reader of the results should know of its list.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn notes(&self) -> Result<Vec<String>, SpecError> {
        self.tokens.notes(self.folder()).map_err(|e| self.placed(e))
    }

    /// What a search probes with a seed, fit for a policy.
    ///
    /// # Errors
    /// As [`TokensFile::runs`], and when no request can be late.
    pub fn offered(&self, seed: u64, policy: &TokenPolicySpec) -> Result<Offered, SpecError> {
        let offered = self.tokens.offered(seed, self.folder()).and_then(|offered| {
            self.tokens.check_for(policy, &offered.machine)?;
            Ok(offered)
        });
        offered.map_err(|e| self.placed(e))
    }

    /// The file with dotted keys set to other values, such as `tokens.rate_per_s`, `tokens.slo[0].ttft_ms` or
    /// `policy.continuous.budget` (a parameter of every policy of that name). Values are checked by
    /// [`TokensFile::runs`].
    ///
    /// # Errors
    /// When a key is none of such a file's, or a value has another type; the message names the key.
    pub fn with(&self, changes: &[(String, Value)]) -> Result<TokensFile, SpecError> {
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let of = "a file of tokens (docs/tokens.md)";
        let (file, text): (TokensFile, String) =
            changed(&self.source.path, &self.text, changes, of)?;
        Ok(TokensFile { name: self.name.clone(), source: self.source.clone(), text, ..file })
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

    /// Where the files that it names are looked for.
    pub fn folder(&self) -> &Path {
        Path::new(&self.source.path).parent().unwrap_or(Path::new(""))
    }

    /// An error about a key of its table, with the file's name and the line.
    pub fn placed(&self, error: SpecError) -> SpecError {
        self.source.placed(in_table(error))
    }
}

/// The error, at a key of `[tokens]`.
pub fn in_table(error: SpecError) -> SpecError {
    own::in_table("tokens", error)
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
