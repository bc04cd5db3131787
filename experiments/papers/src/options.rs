//! Which options of `orrery reproduce` apply to which kind of experiment: one table, asked before
//! anything runs.
//!
//! What is not in [`REFUSED`] works. A new kind or a new option is a line here, not a test in each kind.

use super::experiment::Kind;

/// An option of `orrery reproduce`. `--quiet` and `--verbose` are of the program and apply to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `--case`
    Case,
    /// `--paper`
    Paper,
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
    /// `--shard`
    Shard,
    /// `--share`
    Share,
    /// `--plot`
    Plot,
    /// `--html`
    Html,
    /// `--width-in`
    WidthIn,
    /// `--font-pt`
    FontPt,
}

use Choice::{Case, UntilCi};
use Kind::{Bounds, Jobs, Laws, Means, OverTime, Partition, Pool, Score, Search};

/// What is allowed of seeds where nothing is run.
const COMPUTED: &str = "nothing: it is computed, without chance";

/// The kind, the option, what is allowed in its place, and the remedy. What is refused for `--until-ci`
/// is refused for `--max-seeds`.
const REFUSED: [(Kind, Choice, &str, &str); 13] = [
    (
        Means,
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
    (OverTime, Choice::Seeds, "1: the experiment shows one run over time", "remove `--seeds`"),
    (OverTime, UntilCi, "nothing: the experiment shows one run over time", "remove it"),
    (
        Pool,
        UntilCi,
        "a fixed number of seeds: an allowable throughput has no finish rate to narrow",
        "say `--seeds N`",
    ),
    (Score, Choice::Seeds, COMPUTED, "remove `--seeds`"),
    (Score, UntilCi, COMPUTED, "remove it"),
    (Laws, Choice::Seeds, COMPUTED, "remove `--seeds`"),
    (Laws, UntilCi, COMPUTED, "remove it"),
    (Bounds, Choice::Seeds, "nothing: bounds are computed, without chance", "remove `--seeds`"),
    (Bounds, UntilCi, "nothing: bounds are computed, without chance", "remove it"),
    (
        Jobs,
        UntilCi,
        "a fixed number of seeds: jobs have no finish rate to narrow",
        "say `--seeds N`",
    ),
    (
        Partition,
        UntilCi,
        "a fixed number of configurations, each of a seed: there is no finish rate to narrow",
        "say `--seeds N`",
    ),
];

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 14] = [
        Case,
        Choice::Paper,
        Choice::Seeds,
        UntilCi,
        Choice::MaxSeeds,
        Choice::Jobs,
        Choice::Format,
        Choice::Out,
        Choice::Shard,
        Choice::Share,
        Choice::Plot,
        Choice::Html,
        Choice::WidthIn,
        Choice::FontPt,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Case => "--case",
            Choice::Paper => "--paper",
            Choice::Seeds => "--seeds",
            UntilCi => "--until-ci",
            Choice::MaxSeeds => "--max-seeds",
            Choice::Jobs => "--jobs",
            Choice::Format => "--format",
            Choice::Out => "--out",
            Choice::Shard => "--shard",
            Choice::Share => "--share",
            Choice::Plot => "--plot",
            Choice::Html => "--html",
            Choice::WidthIn => "--width-in",
            Choice::FontPt => "--font-pt",
        }
    }
}

/// Why an option does not apply to a kind: what is allowed in its place, and the remedy.
pub fn refused(kind: Kind, option: Choice) -> Option<(&'static str, &'static str)> {
    let option = if option == Choice::MaxSeeds { UntilCi } else { option };
    let found = REFUSED.iter().find(|r| r.0 == kind && r.1 == option);
    found.map(|(_, _, allowed, remedy)| (*allowed, *remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_there_once() {
        for (i, a) in REFUSED.iter().enumerate() {
            assert!(!REFUSED[..i].iter().any(|b| (b.0, b.1) == (a.0, a.1)), "{:?} {:?}", a.0, a.1);
            assert!(a.1 != Choice::MaxSeeds, "it goes with `--until-ci`");
        }
    }
}
