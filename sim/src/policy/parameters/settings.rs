//! What a policy's file says of its parameters: presets, rows, and what follows from them.

use super::allowed::SettingError;
use super::row::Parameter;
use crate::time::Span;
use std::fmt;

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

/// What a policy's paper takes for granted. Where a world is otherwise, its results are those of the policy
/// there, and say little of the system in the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// The execution time of a batch follows from its model and size.
    KnownTimes,
    /// All devices serve one model.
    OneModel,
    /// All devices are of one kind.
    OneKind,
}

impl Assumption {
    /// What is assumed, as half a sentence.
    pub fn what(self) -> &'static str {
        match self {
            Assumption::KnownTimes => "a batch's execution time follows from its model and size",
            Assumption::OneModel => "the devices serve one model",
            Assumption::OneKind => "all devices are of one kind",
        }
    }
}

/// Which lanes of a device a policy uses: how many batches it runs there at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The first: one batch at a time.
    First,
    /// As many as a pipeline has stages.
    Stages,
    /// All of a device that is no pipeline; of one that is, the first.
    Parallel,
    /// Every lane, also of a pipeline.
    All,
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
    /// Whether it loads models' weights: without, a device whose memory is counted runs nothing.
    const LOADS: bool = false;
    /// Which lanes of a device it uses.
    const LANES_USED: Lanes = Lanes::First;
    /// What its paper takes for granted.
    const ASSUMES: &'static [Assumption] = &[];

    /// The longest time after which the policy plans anew from what it has measured; its first such
    /// plan is no sooner. `None` for a policy that decides by request, or plans only once.
    fn epoch(&self) -> Option<Span> {
        None
    }

    /// Why a run of these settings takes minutes or hours where the load is too high, if it does.
    fn why_slow(&self) -> Option<&'static str> {
        None
    }

    /// Whether it learns from measurements that only a profiler makes.
    fn needs_profiler(&self) -> bool {
        false
    }

    /// Whether a parameter has nothing to act on, beside these values of the others: it may not be given then.
    fn is_idle(&self, _name: &str) -> bool {
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
        for parameter in Self::PARAMETERS {
            if found(parameter.name()).is_some() && config.is_idle(parameter.name()) {
                return Err(parameter.lacks());
            }
        }
        Ok(config)
    }
}
