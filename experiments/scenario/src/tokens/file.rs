//! The file, and the policies that run it.

use super::policy::{self, TokenPolicySpec};
use super::table::{MadeTokens, Tokens};
use crate::error::SpecError;
use crate::kind;
use crate::own;
use crate::reference::{Reference, Table};
use crate::scenario::place::{Source, parse_error};
use crate::whole::read_text;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

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
        let read: Result<TokensFile, toml::de::Error> = toml::from_str(text);
        let mut file =
            read.map_err(|e| kind::instead(kind::TOKENS, name, text, parse_error(name, text, &e)))?;
        file.source = Source::new(name, text);
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
