//! A policy's parameters as one table. From it come the parser, the policy's name in results, the
//! reference and the errors. It knows no policy.
//!
//! A policy's `Config` implements [`Settings`]: what the policy is, its presets, and one row for
//! each parameter. A row names the field that it sets, so a default is stated once: in the preset.

mod row;
mod table;

pub use row::{Parameter, Word, Words, count, count_or, flag, ms, number, seconds, us, word};
pub use table::{Allowed, Row, Table};

use super::Policy;
use crate::profile::ModelProfile;
use crate::time::Span;
use std::fmt;
use thiserror::Error;

/// What a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name: `clockwork`.
    pub name: &'static str,
    /// What it does, in one line without a full stop.
    pub what: &'static str,
    /// Its source: authors, venue, sections; or that it has none.
    pub paper: &'static str,
}

/// A named set of defaults: what the released code does, or what the paper says.
#[derive(Clone, Copy, Debug)]
pub struct Preset<C> {
    /// Its name: `released`, `paper`.
    pub name: &'static str,
    /// What it is, in one line without a full stop.
    pub what: &'static str,
    /// The configuration that it names.
    pub make: fn() -> C,
}

/// The parameters of a policy, with what the registry has to know of it.
pub trait Settings: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// What the policy is.
    const ABOUT: About;
    /// Its presets. The first is what a bare name means; a single one needs no word.
    const PRESETS: &'static [Preset<Self>];
    /// Its parameters, in the order of its name. One that needs another's value comes after it.
    const PARAMETERS: &'static [Parameter<Self>];
    /// Whether it stops running batches, so that every device must be able to.
    const PREEMPTS: bool = false;

    /// The policy before its start. `seed` names the streams of policies that draw numbers.
    fn build(self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy>;

    /// The longest time after which the policy plans anew from what it has measured; its first such
    /// plan is no sooner. `None` for a policy that decides by request, or plans only once.
    fn epoch(&self) -> Option<Span> {
        None
    }

    /// Whether it learns from measurements that only a profiler makes.
    fn needs_profiler(&self) -> bool {
        false
    }

    /// The policy's name with its parameters, in the form that [`parse`](Settings::parse) reads.
    fn name(&self) -> String {
        let base = (Self::PRESETS[0].make)();
        let said = Self::PARAMETERS.iter().filter_map(|p| p.said(self, &base));
        let said: Vec<String> = said.collect();
        match said.is_empty() {
            true => Self::ABOUT.name.to_string(),
            false => format!("{}[{}]", Self::ABOUT.name, said.join(",")),
        }
    }

    /// The value of a parameter as it is written; `None` where this configuration has none.
    fn value(&self, name: &str) -> Option<String> {
        Self::PARAMETERS.iter().find(|p| p.name() == name)?.read(self)
    }

    /// The configuration of a preset with some values changed.
    ///
    /// # Errors
    /// When a key is unknown, needs another value, or has a value that is not allowed.
    fn parse(given: &[(&str, &str)]) -> Result<Self, SettingError> {
        let presets = Self::PRESETS;
        let choice = (presets.len() > 1).then_some("preset");
        let known = choice.into_iter().chain(Self::PARAMETERS.iter().map(Parameter::name));
        let known: Vec<&str> = known.collect();
        if let Some((key, _)) = given.iter().find(|(key, _)| !known.contains(key)) {
            return Err(SettingError::Unknown { key: key.to_string(), known });
        }
        let found = |key: &str| given.iter().find(|g| g.0 == key).map(|g| g.1);
        let preset = found("preset").unwrap_or(presets[0].name);
        let Some(preset) = presets.iter().find(|p| p.name == preset) else {
            let names: Vec<&str> = presets.iter().map(|p| p.name).collect();
            return Err(SettingError::value("preset", preset, names.join(", ")));
        };
        let mut config = (preset.make)();
        for parameter in Self::PARAMETERS {
            if let Some(found) = found(parameter.name()) {
                parameter.write(&mut config, found)?;
            }
        }
        Ok(config)
    }
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// The policy has no such parameter.
    #[error("there is no parameter `{key}` here")]
    Unknown {
        /// What was written.
        key: String,
        /// The policy's parameters.
        known: Vec<&'static str>,
    },
    /// It means something only with another parameter's value.
    #[error("`{key}` is of use only with `{needs}`")]
    Needs {
        /// The parameter.
        key: &'static str,
        /// The other's: `sizing=aimd`.
        needs: String,
    },
    /// The value is not allowed.
    #[error("`{key}`: found `{found}`; allowed: {allowed}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// Its value as written.
        found: String,
        /// What is allowed.
        allowed: String,
    },
}

impl SettingError {
    fn value(key: &'static str, found: &str, allowed: impl ToString) -> SettingError {
        SettingError::Value { key, found: found.to_string(), allowed: allowed.to_string() }
    }
}

/// A policy with its parameters, whatever policy it is.
pub trait Configured: fmt::Debug + Send + Sync {
    /// [`Settings::build`].
    fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy>;
    /// [`Settings::name`].
    fn name(&self) -> String;
    /// [`Settings::value`].
    fn value(&self, name: &str) -> Option<String>;
    /// [`Settings::epoch`].
    fn epoch(&self) -> Option<Span>;
    /// [`Settings::needs_profiler`].
    fn needs_profiler(&self) -> bool;
    /// [`Settings::PREEMPTS`].
    fn preempts(&self) -> bool;
}

impl<C: Settings> Configured for C {
    fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        Settings::build(*self, profiles, seed)
    }
    fn name(&self) -> String {
        Settings::name(self)
    }
    fn value(&self, name: &str) -> Option<String> {
        Settings::value(self, name)
    }
    fn epoch(&self) -> Option<Span> {
        Settings::epoch(self)
    }
    fn needs_profiler(&self) -> bool {
        Settings::needs_profiler(self)
    }
    fn preempts(&self) -> bool {
        C::PREEMPTS
    }
}

/// What [`Settings::parse`] is given, for any policy: the keys in the brackets with their values.
type Given<'a> = &'a [(&'a str, &'a str)];
/// A policy with its parameters, or what is wrong with them.
type Parsed = Result<Box<dyn Configured>, SettingError>;

/// A policy of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// What it is.
    pub about: About,
    table: fn() -> Table,
    parse: fn(Given) -> Parsed,
}

impl Registered {
    /// The policy of a configuration.
    pub const fn of<C: Settings>() -> Registered {
        Registered {
            about: C::ABOUT,
            table: Table::of::<C>,
            parse: |given| C::parse(given).map(|config| Box::new(config) as Box<dyn Configured>),
        }
    }

    /// Its presets and parameters, for readers.
    pub fn table(&self) -> Table {
        (self.table)()
    }

    /// [`Settings::parse`].
    ///
    /// # Errors
    /// When a key is unknown, needs another value, or has a value that is not allowed.
    pub fn parse(&self, given: &[(&str, &str)]) -> Result<Box<dyn Configured>, SettingError> {
        (self.parse)(given)
    }
}
