//! One parameter: which field it is, how it is written, what is allowed.

use super::allowed::{Allowed, SettingError};
use crate::time::Span;
use std::ops::RangeInclusive;

/// The most that a count may be, where a row does not say otherwise.
const COUNT_MAX: u32 = 4096;

/// A choice by words. A policy's enumerations implement it, those that carry nothing by [`words!`](crate::words);
/// what a variant carries is set by a parameter of its own.
pub trait Words: Copy + 'static {
    /// Every word, the value that it stands for, and what that means.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// An enumeration with its [`Words`]: each variant with its word and what that means, which is also
/// how the variant is documented.
///
/// ```
/// use orrery_sim::policy::parameters::{Words, words};
///
/// words! {
///     /// Which requests are served first.
///     pub enum Order {
///         Arrival = "fifo": "first come, first served",
///         /// Jackson's rule.
///         Deadline = "edf": "the earliest deadline first",
///     }
/// }
///
/// assert_eq!(Order::WORDS[1], ("edf", Order::Deadline, "the earliest deadline first"));
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $visible:vis enum $name:ident {
        $($(#[$more:meta])* $variant:ident = $word:literal: $means:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name {
            $(#[doc = concat!($means, ".")] $(#[$more])* $variant,)+
        }

        impl $crate::policy::parameters::Words for $name {
            const WORDS: &'static [(&'static str, $name, &'static str)] =
                &[$(($word, $name::$variant, $means)),+];
        }
    };
}

/// [`Words`] of any type.
pub trait Word {
    /// Every word with its meaning.
    fn words(&self) -> Vec<(&'static str, &'static str)>;
    /// The word for this value.
    fn word(&self) -> &'static str;
    /// Takes the value of a word; whether there is one.
    fn choose(&mut self, word: &str) -> bool;
}

impl<W: Words> Word for W {
    fn words(&self) -> Vec<(&'static str, &'static str)> {
        W::WORDS.iter().map(|&(word, _, means)| (word, means)).collect()
    }

    fn word(&self) -> &'static str {
        let kind = std::mem::discriminant(self);
        let is_it = |w: &&(&str, W, &str)| std::mem::discriminant(&w.1) == kind;
        // A bug: the list of words lacks a variant.
        W::WORDS.iter().find(is_it).expect("a word for every variant").0
    }

    fn choose(&mut self, word: &str) -> bool {
        let found = W::WORDS.iter().find(|w| w.0 == word);
        found.map(|w| *self = w.1).is_some()
    }
}

/// Where a parameter is in its configuration. `None` where another value leaves it no place.
enum Place<C> {
    Count(fn(&mut C) -> Option<&mut u32>, u32, u32),
    /// A count, or a word for none.
    CountOr(fn(&mut C) -> &mut Option<u32>, &'static str, u32, u32),
    Number(fn(&mut C) -> Option<&mut f64>, f64, f64),
    /// With the nanoseconds of its unit.
    Span(fn(&mut C) -> &mut Span, f64, f64, f64),
    Flag(fn(&mut C) -> &mut bool),
    Word(fn(&mut C) -> &mut dyn Word),
}

/// A row of the table. Made by [`count`], [`number`], [`ms`] and the others here.
pub struct Parameter<C> {
    pub(super) about: About,
    place: Place<C>,
}

/// What is said of a row, whatever the policy.
#[derive(Clone, Copy)]
pub(super) struct About {
    pub name: &'static str,
    pub unit: &'static str,
    pub help: &'static str,
    pub source: &'static str,
    pub needs: Option<(&'static str, &'static str)>,
    pub quiet: bool,
}

const fn row<C>(
    name: &'static str,
    place: Place<C>,
    unit: &'static str,
    help: &'static str,
) -> Parameter<C> {
    Parameter { about: About { name, unit, help, source: "", needs: None, quiet: false }, place }
}

/// A whole number from 1 to 4096.
pub const fn count<C>(
    name: &'static str,
    at: fn(&mut C) -> Option<&mut u32>,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Count(at, 1, COUNT_MAX), "", help)
}

/// A whole number from 1 to 4096, or a word for none.
pub const fn count_or<C>(
    name: &'static str,
    none: &'static str,
    at: fn(&mut C) -> &mut Option<u32>,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::CountOr(at, none, 1, COUNT_MAX), "", help)
}

/// A number of a range.
pub const fn number<C>(
    name: &'static str,
    range: RangeInclusive<f64>,
    at: fn(&mut C) -> Option<&mut f64>,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Number(at, *range.start(), *range.end()), "", help)
}

/// A time up to a day, in milliseconds.
pub const fn ms<C>(
    name: &'static str,
    at: fn(&mut C) -> &mut Span,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Span(at, 1e6, 0.0, 86_400e3), "ms", help)
}

/// A time up to a second, in microseconds.
pub const fn us<C>(
    name: &'static str,
    at: fn(&mut C) -> &mut Span,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Span(at, 1e3, 0.0, 1e6), "us", help)
}

/// A time up to a day, in seconds.
pub const fn seconds<C>(
    name: &'static str,
    at: fn(&mut C) -> &mut Span,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Span(at, 1e9, 0.0, 86_400.0), "s", help)
}

/// `true` or `false`.
pub const fn flag<C>(
    name: &'static str,
    at: fn(&mut C) -> &mut bool,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Flag(at), "", help)
}

/// A choice by words.
pub const fn word<C>(
    name: &'static str,
    at: fn(&mut C) -> &mut dyn Word,
    help: &'static str,
) -> Parameter<C> {
    row(name, Place::Word(at), "", help)
}

impl<C> Parameter<C> {
    /// Where its default comes from: paper, section, file of the released code.
    pub const fn from(self, source: &'static str) -> Parameter<C> {
        Parameter { about: About { source, ..self.about }, ..self }
    }

    /// It exists only where another parameter has this value.
    pub const fn needs(self, key: &'static str, value: &'static str) -> Parameter<C> {
        Parameter { about: About { needs: Some((key, value)), ..self.about }, ..self }
    }

    /// It counts items; without this, a limit of batches counts requests.
    pub const fn of_items(self) -> Parameter<C> {
        Parameter { about: About { unit: "items", ..self.about }, ..self }
    }

    /// The policy's name leaves it out where it has its default: an addition that changes no name.
    pub const fn quiet(self) -> Parameter<C> {
        Parameter { about: About { quiet: true, ..self.about }, ..self }
    }

    /// Other bounds of a count.
    pub const fn within(self, least: u32, most: u32) -> Parameter<C> {
        match self.place {
            Place::Count(at, ..) => Parameter { place: Place::Count(at, least, most), ..self },
            Place::CountOr(at, none, ..) => {
                Parameter { place: Place::CountOr(at, none, least, most), ..self }
            }
            _ => panic!("bounds of something that is not counted"),
        }
    }

    /// It is a time of at least a microsecond.
    pub const fn positive(self) -> Parameter<C> {
        match self.place {
            Place::Span(at, unit, _, most) => {
                Parameter { place: Place::Span(at, unit, 1e3 / unit, most), ..self }
            }
            _ => panic!("a least time of something that is no time"),
        }
    }

    /// Where it is in a configuration.
    pub(super) fn at<'a>(&self, config: &'a mut C) -> At<'a> {
        match self.place {
            Place::Count(at, least, most) => At::Count(at(config), least, most),
            Place::CountOr(at, none, least, most) => At::CountOr(at(config), none, least, most),
            Place::Number(at, least, most) => At::Number(at(config), least, most),
            Place::Span(at, unit, least, most) => At::Span(at(config), unit, least, most),
            Place::Flag(at) => At::Flag(at(config)),
            Place::Word(at) => At::Word(at(config)),
        }
    }
}

/// A [`Place`] in one configuration, whatever the policy: what reads and writes it is compiled once.
pub(super) enum At<'a> {
    Count(Option<&'a mut u32>, u32, u32),
    CountOr(&'a mut Option<u32>, &'static str, u32, u32),
    Number(Option<&'a mut f64>, f64, f64),
    Span(&'a mut Span, f64, f64, f64),
    Flag(&'a mut bool),
    Word(&'a mut dyn Word),
}

impl At<'_> {
    /// Its value as it is written.
    pub fn read(&self) -> Option<String> {
        Some(match self {
            At::Count(at, ..) => at.as_ref()?.to_string(),
            At::CountOr(at, none, ..) => {
                at.map_or(none.to_string(), |count: u32| count.to_string())
            }
            At::Number(at, ..) => at.as_ref()?.to_string(),
            At::Span(at, unit, ..) => (at.ns() as f64 / unit).to_string(),
            At::Flag(at) => at.to_string(),
            At::Word(at) => at.word().to_string(),
        })
    }

    /// Sets it.
    pub fn write(self, about: &About, found: &str) -> Result<(), SettingError> {
        let allowed = self.allowed();
        let wrong = || SettingError::value(about.name, found, &allowed);
        let count = |least: u32, most: u32| {
            found.parse().ok().filter(|n| (least..=most).contains(n)).ok_or_else(wrong)
        };
        let number = |least: f64, most: f64| {
            found.parse().ok().filter(|x| (least..=most).contains(x)).ok_or_else(wrong)
        };
        let needs = || about.lacks();
        match self {
            At::Count(at, least, most) => *at.ok_or_else(needs)? = count(least, most)?,
            At::CountOr(at, none, least, most) => {
                *at = if found == none { None } else { Some(count(least, most)?) };
            }
            At::Number(at, least, most) => *at.ok_or_else(needs)? = number(least, most)?,
            At::Span(at, unit, least, most) => {
                *at = Span::from_ns_f64(unit * number(least, most)?);
            }
            At::Flag(at) => *at = found.parse().map_err(|_| wrong())?,
            At::Word(at) => at.choose(found).then_some(()).ok_or_else(wrong)?,
        }
        Ok(())
    }

    /// What may be written.
    pub fn allowed(&self) -> Allowed {
        match *self {
            At::Count(_, least, most) => Allowed::Count { least, most, or: None },
            At::CountOr(_, none, least, most) => Allowed::Count { least, most, or: Some(none) },
            At::Number(_, least, most) => Allowed::Number { least, most },
            At::Span(_, _, least, most) => Allowed::Time { least, most },
            At::Flag(_) => Allowed::Flag,
            At::Word(ref at) => Allowed::Words(at.words()),
        }
    }
}

impl About {
    /// The error of one that is given without what it needs.
    pub fn lacks(&self) -> SettingError {
        let needs = self.needs.map_or(String::new(), |(key, value)| format!("{key}={value}"));
        SettingError::Needs { key: self.name, needs }
    }
}
