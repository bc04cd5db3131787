//! What every list of arrivals may say: which part of it is read, and what its file does not say of its times.

use crate::range::within;
use orrery_import::Options;
use orrery_run::SpecError;
use orrery_sim::time::{Span, Time};
use orrery_traces::part::Slice;
use orrery_traces::samples;
use schemars::JsonSchema;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

/// The longest time in seconds.
pub(crate) const S_MAX: f64 = 1e9;

/// A unit of time in a file of samples.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    #[default]
    Ms,
    /// Seconds.
    S,
}

/// `timestamps`: what another tool's file does not say of its times.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Timestamps {
    /// Of a log: whether a time is the `start` of a request or its `end`, from which its latency is subtracted.
    #[schemars(extend("x-default" = "as the column's name says"))]
    pub is: Option<TimeIs>,
    /// The unit of plain numbers: `ns`, `us`, `ms` or `s`.
    #[schemars(extend("x-default" = "as the file or its tool says"))]
    pub unit: Option<Unit>,
    /// Of a log: their form, as strftime has it.
    #[schemars(extend("x-default" = "a usual one"))]
    pub format: Option<String>,
}

/// What the time of a request in a log is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum TimeIs {
    /// The arrival.
    Start,
    /// The answer.
    End,
}

/// The part from a time to another of the list whose keys stand below `place`.
pub(crate) fn slice(
    place: &str,
    from_s: Option<f64>,
    to_s: Option<f64>,
) -> Result<Slice, SpecError> {
    let at = |key: &str, s: f64| {
        within(&format!("{place}{key}"), s, 0.0, S_MAX, " s")?;
        Ok::<_, SpecError>(Time::ZERO + Span::from_secs_f64(s))
    };
    if (from_s, to_s) == (None, None) {
        return Ok(Slice::All);
    }
    let from_s = from_s.unwrap_or(0.0);
    let from = at("from_s", from_s)?;
    let to = to_s.map_or(Ok(Time::NEVER), |to_s| at("to_s", to_s))?;
    if to <= from {
        let allowed = format!("more than from_s, which is {from_s}");
        let found = to_s.unwrap_or(0.0);
        return Err(SpecError::value(format!("{place}to_s"), found, allowed, "raise to_s"));
    }
    Ok(Slice::Time { from, to })
}

impl Timestamps {
    /// From words, as options have them.
    ///
    /// # Errors
    /// When one is not known.
    pub fn of_words(
        is: Option<&str>,
        unit: Option<&str>,
        format: Option<String>,
    ) -> Result<Timestamps, SpecError> {
        fn word<'a, T: Deserialize<'a>>(name: &str, word: &'a str) -> Result<T, SpecError> {
            let of: StrDeserializer<'_, Error> = word.into_deserializer();
            let allowed = "`start` or `end`; of a unit, `ns`, `us`, `ms` or `s`";
            T::deserialize(of)
                .map_err(|_| SpecError::value(name, format!("`{word}`"), allowed, "correct it"))
        }
        let is = is.map(|is| word("time_is", is)).transpose()?;
        let unit = unit.map(|unit| word("time_unit", unit)).transpose()?;
        Ok(Timestamps { is, unit, format })
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Timestamps::default()
    }

    /// These options, with what is said of times.
    pub fn options(&self, others: Options) -> Options {
        Options {
            time_is_end: self.is.map(|is| is == TimeIs::End),
            time_unit: self.unit.map(|unit| samples::Unit::from(unit).ns()),
            time_format: self.format.clone(),
            ..others
        }
    }

    /// The error where the file is not another tool's.
    pub(crate) fn only_foreign(this: Option<&Timestamps>, key: &str) -> Result<(), SpecError> {
        let Some(_) = this.filter(|this| !this.is_empty()) else { return Ok(()) };
        let found = "`timestamps` beside a list that is orrery's own, or that is not recognised";
        let allowed = "it beside a file of another tool: the columns of our own say their units";
        let remedy = "remove it; `orrery import FILE` says what the list is, or what it lacks";
        Err(SpecError::value(key, found, allowed, remedy))
    }
}

impl From<Unit> for samples::Unit {
    fn from(unit: Unit) -> samples::Unit {
        match unit {
            Unit::Ns => samples::Unit::Ns,
            Unit::Us => samples::Unit::Us,
            Unit::Ms => samples::Unit::Ms,
            Unit::S => samples::Unit::S,
        }
    }
}
