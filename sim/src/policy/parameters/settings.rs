//! What a policy's file says of its parameters: presets, rows, and what follows from them.

use super::allowed::SettingError;
use super::row::{self, At, Parameter};
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
        name(Self::ABOUT.name, &mut { *self }, &mut (Self::PRESETS[0].make)())
    }

    /// The value of a parameter as it is written; `None` where this configuration has none.
    fn value(&self, name: &str) -> Option<String> {
        value(&mut { *self }, name)
    }

    /// The configuration of a preset with some values changed.
    ///
    /// # Errors
    /// When a key is unknown, needs another value, or has a value that is not allowed.
    fn parse(given: &[(&str, &str)]) -> Result<Self, SettingError> {
        let presets: Vec<&'static str> = Self::PRESETS.iter().map(|p| p.name).collect();
        let preset = preset(given, &presets, &(Self::PRESETS[0].make)())?;
        let mut config = (Self::PRESETS[preset].make)();
        set(given, &mut config)?;
        Ok(config)
    }
}

/// A configuration by the numbers of its parameters, whatever the policy: what is done with it is compiled once.
pub(super) trait Rows {
    /// What is said of a parameter.
    fn about(&self, number: usize) -> Option<&'static row::About>;
    /// Where it is.
    fn at(&mut self, number: usize) -> At<'_>;
    /// [`Settings::is_idle`].
    fn idle(&self, name: &str) -> bool;
}

impl<C: Settings> Rows for C {
    fn about(&self, number: usize) -> Option<&'static row::About> {
        Self::PARAMETERS.get(number).map(|p| &p.about)
    }
    fn at(&mut self, number: usize) -> At<'_> {
        Self::PARAMETERS[number].at(self)
    }
    fn idle(&self, name: &str) -> bool {
        self.is_idle(name)
    }
}

/// The parameters with their numbers.
pub(super) fn rows(config: &dyn Rows) -> Vec<(usize, &'static row::About)> {
    (0..).map_while(|number| Some((number, config.about(number)?))).collect()
}

fn name(policy: &str, config: &mut dyn Rows, base: &mut dyn Rows) -> String {
    let mut said = Vec::new();
    for (number, about) in rows(config) {
        let Some(value) = config.at(number).read() else { continue };
        if !about.quiet || base.at(number).read().as_ref() != Some(&value) {
            said.push(format!("{}={value}", about.name));
        }
    }
    if said.is_empty() { policy.to_string() } else { format!("{policy}[{}]", said.join(",")) }
}

fn value(config: &mut dyn Rows, name: &str) -> Option<String> {
    let (number, _) = rows(config).into_iter().find(|(_, about)| about.name == name)?;
    config.at(number).read()
}

fn found<'a>(given: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    given.iter().find(|g| g.0 == key).map(|g| g.1)
}

/// The number of the preset that is given, where all keys are known.
fn preset(
    given: &[(&str, &str)],
    presets: &[&'static str],
    config: &dyn Rows,
) -> Result<usize, SettingError> {
    let choice = (presets.len() > 1).then_some("preset");
    let known = choice.into_iter().chain(rows(config).into_iter().map(|(_, about)| about.name));
    let known: Vec<&str> = known.collect();
    if let Some((key, _)) = given.iter().find(|(key, _)| !known.contains(key)) {
        return Err(SettingError::Unknown { key: key.to_string(), known });
    }
    let preset = found(given, "preset").unwrap_or(presets[0]);
    let number = presets.iter().position(|p| *p == preset);
    number.ok_or_else(|| SettingError::value("preset", preset, presets.join(", ")))
}

/// Sets what is given.
fn set(given: &[(&str, &str)], config: &mut dyn Rows) -> Result<(), SettingError> {
    let of_given = |(number, about): (usize, &'static row::About)| {
        found(given, about.name).map(|found| (number, about, found))
    };
    let own: Vec<_> = rows(config).into_iter().filter_map(of_given).collect();
    for &(number, about, found) in &own {
        config.at(number).write(about, found)?;
    }
    let idle = own.iter().find(|(_, about, _)| config.idle(about.name));
    idle.map_or(Ok(()), |(_, about, _)| Err(about.lacks()))
}
