//! `orrery schema`: the JSON Schema of the files that users write, for their editors.

use crate::cli::Answer;
use crate::sweep::SweepFile;
use clap::{Args, ValueEnum};
use orrery_scenario::reference::schema;
use orrery_scenario::scenario::file::ScenarioFile;

/// `orrery schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orrery schema scenario > scenario.schema.json

Editors that know TOML through taplo check a file and explain its keys if its first line is
  #:schema ./scenario.schema.json")]
pub struct Schema {
    /// The kind of file.
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// What `orrery run` takes.
    Scenario,
    /// What `orrery sweep` takes.
    Sweep,
}

/// Prints it.
pub fn command(args: &Schema) -> Answer {
    let schema = match args.kind {
        Kind::Scenario => schema::<ScenarioFile>(),
        Kind::Sweep => schema::<SweepFile>(),
    };
    Answer::of(format!("{:#}\n", schema.as_value()))
}
