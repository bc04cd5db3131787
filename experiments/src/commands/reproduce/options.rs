//! Which options apply to which kind of experiment: one table, asked before anything runs.
//!
//! What is not in [`REFUSED`] works. A new kind or a new option is a line here, not a test in each kind.

use crate::cli::Reproduce;
use orrery_scenario::SpecError;

/// A kind of experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Orloj's tables: cells of runs.
    Table,
    /// A table with one assumption changed at a time.
    Sensitivity,
    /// A study whose cells are runs.
    Study,
    /// A study whose cells are searches (`[goodput]`).
    Search,
    /// One run over time.
    OverTime,
    /// Pools of several instance types.
    Pools,
    /// Upper bounds of pools: arithmetic, no run.
    Bounds,
    /// Models divided among sub-clusters.
    Partition,
}

/// An option of `orrery reproduce`. `--quiet` and `--verbose` are of the program and apply to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `--case`
    Case,
    /// `--seeds`
    Seeds,
    /// `--until-ci`
    UntilCi,
    /// `--max-seeds`
    MaxSeeds,
    /// `--jobs`
    Jobs,
    /// `--format`
    Format,
    /// `--out`
    Out,
    /// `--plot`
    Plot,
}

use Choice::{Case, Plot, UntilCi};
use Kind::{Bounds, OverTime, Partition, Pools, Search, Sensitivity};

/// The kind, the option, what is allowed in its place, and the remedy. What is refused for `--until-ci`
/// is refused for `--max-seeds`.
const REFUSED: [(Kind, Choice, &str, &str); 12] = [
    (
        Sensitivity,
        UntilCi,
        "a fixed number of seeds: every change is compared with the base seed by seed",
        "say `--seeds N`",
    ),
    (
        Search,
        UntilCi,
        "a fixed number of seeds: a search's answer has no finish rate to narrow",
        "say `--seeds N`",
    ),
    (OverTime, Case, "nothing: there are no cases", "leave `--case` out"),
    (OverTime, Choice::Seeds, "1: what is shown is one run over time", "leave `--seeds` out"),
    (OverTime, UntilCi, "nothing: what is shown is one run over time", "leave it out"),
    (
        Pools,
        UntilCi,
        "a fixed number of seeds: an allowable throughput has no finish rate to narrow",
        "say `--seeds N`",
    ),
    (Pools, Plot, "nothing here", "leave `--plot` out: the values are in the table"),
    (
        Bounds,
        Choice::Seeds,
        "nothing: bounds are computed, nothing is drawn by chance",
        "leave `--seeds` out",
    ),
    (Bounds, UntilCi, "nothing: bounds are computed, nothing is drawn by chance", "leave it out"),
    (Bounds, Plot, "nothing here", "leave `--plot` out: the values are in the table"),
    (
        Partition,
        UntilCi,
        "a fixed number of configurations, each of a seed: there is no finish rate to narrow",
        "say `--seeds N`",
    ),
    (Partition, Plot, "nothing here", "leave `--plot` out: its quantiles are in the table"),
];

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 8] = [
        Case,
        Choice::Seeds,
        UntilCi,
        Choice::MaxSeeds,
        Choice::Jobs,
        Choice::Format,
        Choice::Out,
        Plot,
    ];

    /// Whether it was asked for. `--jobs`, `--format` and `--out` have a meaning for every kind.
    fn is_given(self, kind: Kind, args: &Reproduce) -> bool {
        match self {
            Case => !args.cases.is_empty(),
            // One seed is what a run over time has.
            Choice::Seeds => args.seeds.is_some_and(|n| kind != OverTime || n != 1),
            UntilCi => args.until.until_ci.is_some(),
            Choice::MaxSeeds => args.until.max_seeds.is_some(),
            Plot => args.plot.is_some(),
            Choice::Jobs | Choice::Format | Choice::Out => false,
        }
    }

    /// Its value, for a message.
    fn value(self, args: &Reproduce) -> String {
        let word = |value: Option<String>| value.unwrap_or_default();
        match self {
            Case => format!("`{}`", args.cases.join("`, `")),
            Choice::Seeds => word(args.seeds.map(|n| n.to_string())),
            UntilCi => word(args.until.until_ci.map(|w| w.to_string())),
            Choice::MaxSeeds => word(args.until.max_seeds.map(|n| n.to_string())),
            Plot => word(args.plot.as_ref().map(|p| p.display().to_string())),
            Choice::Jobs | Choice::Format | Choice::Out => String::new(),
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Case => "--case",
            Choice::Seeds => "--seeds",
            UntilCi => "--until-ci",
            Choice::MaxSeeds => "--max-seeds",
            Choice::Jobs => "--jobs",
            Choice::Format => "--format",
            Choice::Out => "--out",
            Plot => "--plot",
        }
    }
}

/// Why an option does not apply to a kind: what is allowed in its place, and the remedy.
pub fn refused(kind: Kind, option: Choice) -> Option<(&'static str, &'static str)> {
    let option = if option == Choice::MaxSeeds { UntilCi } else { option };
    let found = REFUSED.iter().find(|r| r.0 == kind && r.1 == option);
    found.map(|(_, _, allowed, remedy)| (*allowed, *remedy))
}

/// Passes when every option that was given applies.
///
/// # Errors
/// Names the first that does not, with the reason and the remedy.
pub fn check(id: &str, kind: Kind, args: &Reproduce) -> Result<(), SpecError> {
    for option in Choice::ALL.into_iter().filter(|o| o.is_given(kind, args)) {
        if let Some((allowed, remedy)) = refused(kind, option) {
            let found = format!("{} for `{id}`", option.value(args));
            return Err(SpecError::value(option.name(), found, allowed, remedy));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// A new option has to be put into the table.
    #[test]
    fn the_table_has_every_option_of_the_command_line() {
        let cli = crate::cli::Cli::command();
        let reproduce = cli.find_subcommand("reproduce").expect("a subcommand");
        let longs = reproduce.get_arguments().filter_map(|a| a.get_long());
        let mut longs: Vec<String> = longs.map(|l| format!("--{l}")).collect();
        let mut known: Vec<&str> = Choice::ALL.map(Choice::name).to_vec();
        longs.retain(|l| !["--help", "--quiet", "--verbose", "--version"].contains(&l.as_str()));
        longs.sort();
        known.sort_unstable();
        assert_eq!(longs, known);
    }

    #[test]
    fn each_line_of_the_table_is_there_once() {
        for (i, a) in REFUSED.iter().enumerate() {
            assert!(!REFUSED[..i].iter().any(|b| (b.0, b.1) == (a.0, a.1)), "{:?} {:?}", a.0, a.1);
            assert!(a.1 != Choice::MaxSeeds, "it goes with `--until-ci`");
        }
    }
}
