//! The options of `orrery reproduce`, and why one does not apply to an experiment. Its kind says so; what it
//! does not refuse works.

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
    /// `--details`
    Details,
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

/// Why an option does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is allowed in its place.
    pub allowed: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// The one value that is taken all the same.
    pub but: Option<&'static str>,
}

impl Refused {
    /// A fixed number of seeds is allowed.
    pub fn for_seeds(allowed: &'static str) -> Option<Refused> {
        Some(Refused { allowed, remedy: "say `--seeds N`", but: None })
    }

    /// What is computed has no seeds.
    pub fn computed(option: Choice, allowed: &'static str) -> Option<Refused> {
        let remedy = match option {
            Choice::Seeds => "remove `--seeds`",
            Choice::UntilCi => "remove it",
            _ => return None,
        };
        Some(Refused { allowed, remedy, but: None })
    }
}

impl Choice {
    /// All of them.
    pub const ALL: [Choice; 15] = [
        Choice::Case,
        Choice::Paper,
        Choice::Seeds,
        Choice::UntilCi,
        Choice::MaxSeeds,
        Choice::Jobs,
        Choice::Format,
        Choice::Details,
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
            Choice::Case => "--case",
            Choice::Paper => "--paper",
            Choice::Seeds => "--seeds",
            Choice::UntilCi => "--until-ci",
            Choice::MaxSeeds => "--max-seeds",
            Choice::Jobs => "--jobs",
            Choice::Format => "--format",
            Choice::Details => "--details",
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
