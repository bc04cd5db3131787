//! Policies whatever they are: what the registry has of each.

use super::allowed::SettingError;
use super::settings::{About, Assumption, Lanes, Settings};
use super::table::Table;
use crate::policy::contract::Policy;
use crate::profile::ModelProfile;
use crate::time::Span;
use std::fmt;

/// A configuration that makes its policy.
pub trait Build: Settings {
    /// The policy before its start. `seed` names the streams of policies that draw numbers.
    fn build(self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy>;

    /// What follows from parameters and profiles before a run, by metric.
    fn facts(&self, _profiles: &[ModelProfile]) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// The parameters of a policy, whatever policy it is.
pub trait Named: fmt::Debug + Send + Sync {
    /// [`Settings::name`].
    fn name(&self) -> String;
    /// [`Settings::value`].
    fn value(&self, name: &str) -> Option<String>;
}

impl<C: Settings> Named for C {
    fn name(&self) -> String {
        Settings::name(self)
    }
    fn value(&self, name: &str) -> Option<String> {
        Settings::value(self, name)
    }
}

/// A policy with its parameters, whatever policy it is.
pub trait Configured: Named {
    /// [`Build::build`].
    fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy>;
    /// [`Settings::epoch`].
    fn epoch(&self) -> Option<Span>;
    /// [`Settings::why_slow`].
    fn why_slow(&self) -> Option<&'static str>;
    /// [`Settings::needs_profiler`].
    fn needs_profiler(&self) -> bool;
    /// [`Settings::PREEMPTS`].
    fn preempts(&self) -> bool;
    /// [`Settings::LOADS`]; a policy that is in no registry may.
    fn loads(&self) -> bool {
        true
    }
    /// [`Settings::LANES`].
    fn lanes(&self) -> Lanes;
    /// [`Settings::ASSUMES`].
    fn assumes(&self) -> &'static [Assumption];
    /// [`Build::facts`].
    fn facts(&self, profiles: &[ModelProfile]) -> Vec<(&'static str, f64)>;
}

impl<C: Build> Configured for C {
    fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        Build::build(*self, profiles, seed)
    }
    fn epoch(&self) -> Option<Span> {
        Settings::epoch(self)
    }
    fn why_slow(&self) -> Option<&'static str> {
        Settings::why_slow(self)
    }
    fn needs_profiler(&self) -> bool {
        Settings::needs_profiler(self)
    }
    fn preempts(&self) -> bool {
        C::PREEMPTS
    }
    fn loads(&self) -> bool {
        C::LOADS
    }
    fn lanes(&self) -> Lanes {
        C::LANES_USED
    }
    fn assumes(&self) -> &'static [Assumption] {
        C::ASSUMES
    }
    fn facts(&self, profiles: &[ModelProfile]) -> Vec<(&'static str, f64)> {
        Build::facts(self, profiles)
    }
}

/// What [`Settings::parse`] is given, for any policy: the keys in the brackets with their values.
type Given<'a> = &'a [(&'a str, &'a str)];
/// A policy with its parameters, or what is wrong with them.
type Parsed<K> = Result<Box<K>, SettingError>;

/// A policy of a registry: of requests, unless `K` says otherwise.
#[derive(Debug)]
pub struct Registered<K: ?Sized = dyn Configured> {
    /// Its name, its line in lists, and its paper.
    pub about: About,
    table: fn() -> Table,
    parse: fn(Given) -> Parsed<K>,
}

impl Registered {
    /// The policy of a configuration.
    pub const fn of<C: Build>() -> Registered {
        Registered::new::<C>(|given| C::parse(given).map(|c| Box::new(c) as Box<dyn Configured>))
    }
}

impl<K: ?Sized> Registered<K> {
    /// The policy of a configuration, with what makes a `K` from the keys and values in the brackets.
    pub const fn new<C: Settings>(parse: fn(Given) -> Parsed<K>) -> Registered<K> {
        Registered { about: C::ABOUT, table: Table::of::<C>, parse }
    }

    /// Its presets and parameters, for readers.
    pub fn table(&self) -> Table {
        (self.table)()
    }

    /// [`Settings::parse`].
    ///
    /// # Errors
    /// When a key is unknown, needs another value, or has a value that is not allowed.
    pub fn parse(&self, given: &[(&str, &str)]) -> Result<Box<K>, SettingError> {
        (self.parse)(given)
    }
}
