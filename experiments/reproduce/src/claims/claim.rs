//! What a claim is, what may be said of it, and what a run leaves out of it.

use orrery_run::SpecError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[claim]]`: a sentence of the paper about a system, or about the ratio of two.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in your words, and its place in the paper.
    pub text: String,
    /// It is no sentence of the paper: what this file expects is checked, and counted apart.
    #[serde(default)]
    pub own: bool,
    /// Something was fitted to it, or to a claim that it follows from: that it holds tests nothing, and it is counted
    /// apart.
    #[serde(default)]
    pub fitted: bool,
    /// The system, the numerator of a ratio; `NAME/PRESET` if several systems share the name.
    pub of: String,
    /// The system in the denominator; without it, the value itself is checked.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub over: String,
    /// Selects cells of `of` by some of the axes, as `name=value;name=value`.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: String,
    /// Selects cells of `over` on the axes where they differ from those of `of`; `name=*` is the value
    /// that `of` has.
    #[serde(default)]
    #[schemars(extend("x-default" = "the same"))]
    pub over_at: String,
    /// For a ratio of ratios: a system that both sides are divided by first, each in its own cell.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub relative_to: String,
    /// The metric.
    #[serde(default)]
    #[schemars(extend("x-default" = "the first of `show`"))]
    pub metric: String,
    /// The metric of `over`, for a ratio of two metrics.
    #[serde(default)]
    #[schemars(extend("x-default" = "`metric`"))]
    pub over_metric: String,
    /// How several cells become one check.
    #[serde(default)]
    pub take: Take,
    /// The paper measured one draw of what each seed draws anew (a trace of jobs): the interval is that of a single
    /// seed's value, not that of the mean over seeds.
    #[serde(default)]
    pub one_draw: bool,
    /// With `bin_s` or `parts_of_time`: only parts of the time that begin then or later.
    #[schemars(extend("x-default" = "the whole run"))]
    pub after_s: Option<f64>,
    /// Only parts that begin before.
    #[schemars(extend("x-default" = "the whole run"))]
    pub before_s: Option<f64>,
    /// Lower bound; give this, `at_most`, or both.
    #[schemars(extend("x-default" = "no bound"))]
    pub at_least: Option<f64>,
    /// Upper bound.
    #[schemars(extend("x-default" = "no bound"))]
    pub at_most: Option<f64>,
    /// "In so many of the cases": the least share of cells in which the bounds hold, in place of all.
    #[schemars(extend("x-default" = "all cells"))]
    pub share_at_least: Option<f64>,
    /// The largest share of cells in which they hold.
    #[schemars(extend("x-default" = "all cells"))]
    pub share_at_most: Option<f64>,
}

/// What of several cells is checked.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Each of them.
    #[default]
    Each,
    /// The largest: "up to".
    Largest,
    /// The smallest.
    Smallest,
    /// The mean: "about".
    Mean,
}

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is true of our results.
    Holds,
    /// It is not.
    DoesNotHold,
    /// A 95 % interval crosses a bound or a cell has no answer, and nothing else makes it false.
    Undecided,
    /// Not all of its cells and seeds were run.
    NotJudged,
    /// No cell was run.
    NotRun,
    /// No cell that was run has an answer.
    NoAnswer,
}

impl Verdict {
    /// Whether there is none because not all was run.
    pub fn is_of_a_part(self) -> bool {
        matches!(self, Verdict::NotJudged | Verdict::NotRun)
    }

    /// For reading.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "undecided",
            Verdict::NotJudged => "not judged",
            Verdict::NotRun => "not run",
            Verdict::NoAnswer => "no answer",
        }
    }
}

/// Our value in a cell of which a claim speaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellValue {
    /// The axes that tell it from the others.
    pub cell: String,
    /// The same with their names: `workers=2 slo=3`.
    #[serde(skip)]
    pub at: String,
    /// The value, or the ratio.
    pub value: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// What is said of it.
    pub verdict: Verdict,
    /// Why it is undecided or not judged.
    pub why: String,
    /// The cells and their values.
    pub cells: Vec<CellValue>,
    /// Of how many cells it is true.
    pub good: usize,
    /// What was taken of them, where it is one number.
    pub taken: Option<f64>,
    /// Its 95 % interval.
    #[serde(skip)]
    pub taken_ci95: Option<[f64; 2]>,
    /// Cells without an answer.
    pub unanswered: usize,
    /// Why it does not hold, or only by what was fitted: the kind of cause, and why.
    #[serde(skip)]
    pub cause: Option<(String, String)>,
}

/// What a run leaves out of that of which its experiment's claims speak.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// The seeds of the run and those of the experiment, where these are more.
    pub seeds: Option<(u32, u32)>,
    /// Where cases are left out: of how many cells each claim speaks.
    pub cells: Option<Vec<usize>>,
}

impl LeftOut {
    /// Why the claim of a number has no verdict with so many cells, if so.
    pub(super) fn why(&self, claim: usize, cells: usize) -> Option<String> {
        let all = self.cells.as_ref().map(|all| all.get(claim).copied().unwrap_or(0));
        let of_cells = match all {
            Some(0) => Some("some of its cells are left out".to_string()),
            Some(all) if cells < all => Some(format!("{cells} of its {all} cells were run")),
            _ => None,
        };
        let seeds = self.seeds.map(|(run, all)| format!("{run} of {all} seeds"));
        let why: Vec<String> = of_cells.into_iter().chain(seeds).collect();
        (!why.is_empty()).then(|| why.join(", "))
    }
}

impl Claim {
    /// Passes when something would make it false.
    ///
    /// # Errors
    /// When it has no bound, or bounds that nothing is between.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_shares()?;
        if !self.over_metric.is_empty() && self.over.is_empty() {
            let found = format!("`{}` without `over`", self.over_metric);
            let remedy = "name the system in the denominator, or remove it";
            return Err(SpecError::value("over_metric", found, "only with `over`", remedy));
        }
        let remedy = "say which values would make it false";
        let bounds = [("at_least", self.at_least), ("at_most", self.at_most)];
        if let Some((key, _)) = bounds.iter().find(|b| b.1.is_some_and(f64::is_nan)) {
            return Err(SpecError::value(*key, "nan", "a number", remedy));
        }
        match (self.at_least, self.at_most) {
            (None, None) => {
                let allowed = "`at_least`, `at_most` or both";
                Err(SpecError::value("at_least", "no bound", allowed, remedy))
            }
            (Some(a), Some(b)) if a > b => {
                let found = format!("{a}, above `at_most`, {b}");
                Err(SpecError::value("at_least", found, "at most `at_most`", remedy))
            }
            _ => Ok(()),
        }
    }

    /// Shares are of cells, each by itself, and something would make them false.
    fn check_shares(&self) -> Result<(), SpecError> {
        let (least, most) = (self.share_at_least, self.share_at_most);
        let given = [("share_at_least", least), ("share_at_most", most)];
        for (key, share) in given.into_iter().filter_map(|(key, s)| Some((key, s?))) {
            if !(0.0..=1.0).contains(&share) {
                let remedy = "give the share as a fraction: 0.16 for 16 %";
                return Err(SpecError::value(key, share.to_string(), "0 to 1", remedy));
            }
            if self.take != Take::Each {
                let found = format!("{share} beside `take`");
                let remedy = "remove one of them: a share counts cells, each by itself";
                return Err(SpecError::value(key, found, "no `take`", remedy));
            }
        }
        match least.zip(most) {
            Some((a, b)) if a > b => {
                let found = format!("{a}, above `share_at_most`, {b}");
                let remedy = "say which shares would make it false";
                Err(SpecError::value("share_at_least", found, "at most `share_at_most`", remedy))
            }
            _ => Ok(()),
        }
    }

    /// Whether it is of the share of cells in which its bounds hold.
    pub(super) fn is_of_a_share(&self) -> bool {
        self.share_at_least.is_some() || self.share_at_most.is_some()
    }

    /// Whether a value is within the bounds.
    pub(super) fn is_good(&self, x: f64) -> bool {
        self.at_least.is_none_or(|least| x >= least) && self.at_most.is_none_or(|most| x <= most)
    }
}
