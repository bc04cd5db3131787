//! `orrery self schema`: the JSON Schema of the files that users write, for their editors.

use clap::{Args, ValueEnum};
use orrery_plan::PlanFile;
use orrery_report::Answer;
use orrery_reproduce::file::AllKeys;
use orrery_scenario::jobs::JobsFile;
use orrery_scenario::reference::schema;
use orrery_scenario::scenario::file::ScenarioFile;
use orrery_scenario::tokens::TokensFile;
use orrery_sweep::goodput::Search;
use orrery_sweep::sweep_file::SweepFile;

/// `orrery self schema`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orrery self schema scenario > scenario.schema.json

Editors with TOML support through taplo check a file and explain its keys if its first line is
  #:schema ./scenario.schema.json")]
pub struct Schema {
    /// The kind of file.
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Input of `orrery run`.
    Scenario,
    /// Input of `orrery sweep`.
    Sweep,
    /// Input of `orrery reproduce`.
    Experiment,
    /// Input of `orrery plan`.
    Plan,
    /// Input of `orrery run`: jobs in place of requests.
    Jobs,
    /// Input of `orrery run`: requests that are answered token by token.
    Tokens,
    /// `[goodput]` of a sweep or an experiment.
    Goodput,
}

/// Prints it.
pub fn command(args: &Schema) -> Answer {
    let schema = match args.kind {
        Kind::Scenario => schema::<ScenarioFile>(),
        Kind::Sweep => schema::<SweepFile>(),
        Kind::Experiment => schema::<AllKeys>(),
        Kind::Plan => schema::<PlanFile>(),
        Kind::Jobs => schema::<JobsFile>(),
        Kind::Tokens => schema::<TokensFile>(),
        Kind::Goodput => schema::<Search>(),
    };
    Answer::of(format!("{:#}\n", schema.as_value()))
}
