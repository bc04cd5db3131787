//! The options of `orrery reproduce`, and why one does not apply to an experiment. Its kind says so; what it
//! does not refuse works.

/// An option of `orrery reproduce`. `--quiet` and `--verbose` are of the program and apply to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CliOption {
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
    /// `--set`
    Set,
    /// `--details`
    Details,
    /// `--out`
    Out,
    /// `--shard`
    Shard,
    /// `--plot`
    Plot,
    /// `--html`
    Html,
    /// `--width-in`
    WidthIn,
    /// `--height-in`
    HeightIn,
    /// `--font-pt`
    FontPt,
    /// `--columns`
    Columns,
    /// `--no-title`
    NoTitle,
    /// `--no-legend`
    NoLegend,
    /// `--grey`
    Grey,
}

/// Why an option does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is allowed in its place.
    pub allowed: &'static str,
    /// The remedy.
    pub remedy: &'static str,
    /// The one value that is taken all the same.
    pub but: Option<&'static str>,
}

impl Refused {
    /// A fixed number of seeds is allowed.
    pub fn for_seeds(allowed: &'static str) -> Option<Refused> {
        Some(Refused { allowed, remedy: "say `--seeds N`", but: None })
    }

    /// The file alone says what is set.
    pub fn for_set(allowed: &'static str) -> Option<Refused> {
        let remedy = "change it in a file of your own that `extends` the experiment";
        Some(Refused { allowed, remedy, but: None })
    }

    /// What is computed has no seeds.
    pub fn computed(option: CliOption, allowed: &'static str) -> Option<Refused> {
        let remedy = match option {
            CliOption::Seeds => "remove `--seeds`",
            CliOption::UntilCi | CliOption::Set => "remove it",
            _ => return None,
        };
        Some(Refused { allowed, remedy, but: None })
    }
}

impl CliOption {
    /// All of them.
    pub const ALL: [CliOption; 20] = [
        CliOption::Case,
        CliOption::Paper,
        CliOption::Seeds,
        CliOption::UntilCi,
        CliOption::MaxSeeds,
        CliOption::Jobs,
        CliOption::Format,
        CliOption::Set,
        CliOption::Details,
        CliOption::Out,
        CliOption::Shard,
        CliOption::Plot,
        CliOption::Html,
        CliOption::WidthIn,
        CliOption::HeightIn,
        CliOption::FontPt,
        CliOption::Columns,
        CliOption::NoTitle,
        CliOption::NoLegend,
        CliOption::Grey,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            CliOption::Case => "--case",
            CliOption::Paper => "--paper",
            CliOption::Seeds => "--seeds",
            CliOption::UntilCi => "--until-ci",
            CliOption::MaxSeeds => "--max-seeds",
            CliOption::Jobs => "--jobs",
            CliOption::Format => "--format",
            CliOption::Set => "--set",
            CliOption::Details => "--details",
            CliOption::Out => "--out",
            CliOption::Shard => "--shard",
            CliOption::Plot => "--plot",
            CliOption::Html => "--html",
            CliOption::WidthIn => "--width-in",
            CliOption::HeightIn => "--height-in",
            CliOption::FontPt => "--font-pt",
            CliOption::Columns => "--columns",
            CliOption::NoTitle => "--no-title",
            CliOption::NoLegend => "--no-legend",
            CliOption::Grey => "--grey",
        }
    }
}
