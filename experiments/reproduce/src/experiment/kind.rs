//! A kind of experiment: what is run. It owns the keys that no other kind has, and answers all that is
//! asked of an experiment besides its frame, so that nobody asks which kind it is.

use super::Experiment;
use crate::numbers::Number;
use crate::options::{CliOption, Refused};
use crate::runner::Runner;
use orrery_plots::PictureKind;
use orrery_run::SpecError;
use orrery_scenario::reference::{Reference, names};
use orrery_sweep::grid::Point;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use toml::de::ValueDeserializer;

/// When to stop adding seeds: the width of an interval, and the most seeds.
pub type UntilCi = Option<(f64, u32)>;
/// Cases as points, and what was measured of them.
pub type CaseRows = (Vec<Point>, Vec<Number>);
/// What runs an experiment.
pub type Made<'a> = Result<Box<dyn Runner + 'a>, SpecError>;

/// What is run.
pub trait Kind: Debug + Send + Sync {
    /// What is run, in words.
    fn in_words(&self, seeds: u32) -> String;

    /// What runs it. Everything that can be wrong with its keys is found here at the latest, before any run.
    ///
    /// # Errors
    /// When a key, a system or a file that one names is wrong.
    fn runner<'a>(&'a self, e: &'a Experiment, until_ci: UntilCi) -> Made<'a>;

    /// Whether its keys make sense beside those of the frame.
    ///
    /// # Errors
    /// When a value is wrong.
    fn check(&self, _: &Experiment) -> Result<(), SpecError> {
        Ok(())
    }

    /// Why an option of `orrery reproduce` does not apply.
    fn refused(&self, _: CliOption) -> Option<Refused> {
        None
    }

    /// The points and the numbers beside them that the rows of a file are, if they are the experiment's cases: of
    /// its own file, or of the one that `--paper` names.
    fn rows(&self, _: &Experiment, _paper: Option<&Path>) -> Option<Result<CaseRows, SpecError>> {
        None
    }

    /// What `--case` chooses from.
    fn cases(&self) -> CasesOf {
        CasesOf::Points
    }

    /// The names that stand in rows where systems have theirs, if it needs no systems.
    fn curves(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Whether systems, such as those of the file that it extends, are left out.
    fn drops_systems(&self) -> bool {
        false
    }

    /// The parts of the time that have rows of their own.
    fn parts(&self) -> Option<Parts> {
        None
    }

    /// The metrics of its rows, where they are not those that runs measure.
    fn metrics(&self) -> &'static [&'static str] {
        &[]
    }

    /// The figure's kind, where the file does not say.
    fn figure_kind(&self) -> Option<PictureKind> {
        None
    }

    /// The figure's x axis, where the file does not say.
    fn figure_x(&self) -> Option<&'static str> {
        None
    }
}

/// What `--case` chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CasesOf {
    /// The points.
    Points,
    /// The systems.
    Systems,
    /// The values of an axis; of an open one a rule makes others.
    Axis {
        /// The axis in the rows.
        name: &'static str,
        /// Whether others can be asked for.
        open: bool,
    },
}

/// The parts that the time of a run is cut into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parts {
    /// So many equal ones.
    Equal(usize),
    /// Each of this length, in seconds.
    Bins(f64),
}

/// The keys of a kind.
pub trait Keys: Kind + DeserializeOwned + JsonSchema + 'static {
    /// The key that says what is run.
    const KEY: &'static str;
    /// The keys of `[[system]]` that are not for all kinds, and for this one.
    const OF_SYSTEM: &'static [&'static str] = &[];
}

/// A kind in the table of all.
pub struct KindEntry {
    /// The key that says what is run.
    pub key: &'static str,
    /// The keys of `[[system]]` that are not for all kinds, and for this one.
    pub of_system: &'static [&'static str],
    /// All its keys at the top of a file.
    pub names: fn() -> Vec<&'static str>,
    /// Reads them.
    #[allow(clippy::type_complexity)]
    pub read: fn(ValueDeserializer<'_>) -> Result<Arc<dyn Kind>, toml::de::Error>,
    /// Their JSON Schema.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Their reference.
    pub reference: fn() -> Reference,
}

impl KindEntry {
    /// The entry of a kind.
    pub const fn of<T: Keys>() -> KindEntry {
        KindEntry {
            key: T::KEY,
            of_system: T::OF_SYSTEM,
            names: || names::<T>(&[]),
            read: |keys| T::deserialize(keys).map(|kind| Arc::new(kind) as Arc<dyn Kind>),
            schema: T::json_schema,
            reference: Reference::of::<T>,
        }
    }
}

/// A runner, with the lines of the experiment's file in its errors.
///
/// # Errors
/// When it could not be made.
pub fn placed<'a, R: Runner + 'a>(e: &Experiment, made: Result<R, SpecError>) -> Made<'a> {
    made.map(|r| Box::new(r) as Box<dyn Runner>).map_err(|error| e.origin.placed(error))
}
