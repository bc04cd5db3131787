//! What came of each baseline, and of all of them together: every form of the answer counts here.

use super::compare::{Change, Comparison, Counts, Kind, by_rank};
use super::input::Difference;
use super::require::{Judged, Verdict};
use orrery_report::page::Tone;
use std::time::Duration;

/// What came of a baseline.
pub struct Outcome {
    /// Its path.
    pub name: String,
    /// What was compared, or why it could not be.
    pub result: Result<Compared, String>,
    /// How long it took.
    pub took: Duration,
}

/// A baseline that was compared.
pub struct Compared {
    /// The values.
    pub comparison: Comparison,
    /// What differs in what they were made from; none where that was not kept.
    pub differs: Option<Vec<Difference>>,
    /// The requirements, each on the values that it is about.
    pub judged: Vec<Judged>,
    /// Whether the baseline records values.
    pub records: bool,
    /// The line of each change, in their order.
    pub lines: Vec<usize>,
}

/// What a gate says, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// A requirement is not met, or a value is worse, gone or otherwise changed.
    Failed,
    /// Values moved, none for the worse.
    Moved,
    /// No value moved beyond its interval.
    Noise,
    /// Other seeds were run, and nothing else changed.
    Seeds,
    /// All is the same, and all that is required is met.
    Passed,
}

impl Outcome {
    /// What was compared, where it could be.
    pub fn compared(&self) -> Option<&Compared> {
        self.result.as_ref().ok()
    }
}

impl Compared {
    /// How many values became what.
    pub fn counts(&self) -> Counts {
        self.comparison.counts()
    }

    /// Requirements that are not met.
    pub fn unmet(&self) -> impl Iterator<Item = &Judged> {
        self.judged.iter().filter(|j| !j.is_met())
    }

    /// The changes, the worst first, with the line of each.
    pub fn ranked(&self) -> Vec<(&Change, usize)> {
        let mut all: Vec<_> = self.comparison.changes.iter().zip(self.lines.clone()).collect();
        all.sort_by(|(a, _), (b, _)| by_rank(&a.rank(), &b.rank()));
        all
    }

    /// Whether the seeds changed and nothing else.
    fn is_of_seeds(&self) -> bool {
        self.differs
            .as_ref()
            .is_some_and(|all| !all.is_empty() && all.iter().all(Difference::is_of_seeds))
    }

    /// What it says.
    pub fn says(&self) -> Says {
        let counts = self.counts();
        if self.unmet().next().is_some() {
            return Says::Failed;
        }
        let is_new = counts.get(Kind::Gone) + counts.get(Kind::New) > 0;
        if counts.moved() > 0 && self.is_of_seeds() && !is_new {
            return Says::Seeds;
        }
        match counts.failed() {
            0 if counts.beyond() > 0 => Says::Moved,
            0 if counts.moved() > 0 => Says::Noise,
            0 => Says::Passed,
            _ => Says::Failed,
        }
    }

    /// Whether no value is recorded yet.
    pub fn is_first(&self) -> bool {
        let counts = self.counts();
        counts.all() > 0 && counts.get(Kind::New) == counts.all()
    }

    /// What it says in a table: a sign, a word, and how that is marked. What is blessed is recorded, and no failure.
    pub fn marked(&self, blessed: bool) -> (String, Tone) {
        let is_met = self.unmet().next().is_none();
        let says = self.says();
        let (sign, word, tone) = match (says, self.is_first() && is_met) {
            (_, true) if blessed => ('\u{2713}', "recorded", Tone::Good),
            (_, true) => ('\u{2248}', "not recorded yet", Tone::Mixed),
            _ if blessed && is_met && self.counts().moved() > 0 => {
                ('\u{2713}', "accepted", Tone::Good)
            }
            (Says::Passed, _) => ('\u{2713}', "passed", says.tone()),
            (Says::Noise, _) => ('\u{2248}', "undecided", says.tone()),
            (Says::Seeds, _) => ('\u{2248}', "other seeds", says.tone()),
            (Says::Moved, _) => ('\u{2717}', "moved", says.tone()),
            (Says::Failed, _) => ('\u{2717}', "failed", says.tone()),
        };
        (format!("{sign} {word}"), tone)
    }

    /// About how many seeds would tell the largest move within noise, and which that is; none where something moved
    /// beyond.
    pub fn seeds_to_tell(&self) -> Option<(&Change, u64)> {
        let is_noise = |c: &&Change| c.kind() == Kind::Noise;
        let largest = self.ranked().into_iter().map(|(change, _)| change).find(is_noise)?;
        Some((largest, largest.seeds_to_tell()?))
    }
}

impl Says {
    /// How it is marked.
    pub fn tone(self) -> Tone {
        match self {
            Says::Failed => Tone::Bad,
            Says::Moved | Says::Seeds | Says::Noise => Tone::Mixed,
            Says::Passed => Tone::Good,
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Says::Failed => "Failed",
            Says::Moved => "Moved",
            Says::Seeds => "Other seeds",
            Says::Noise => "Undecided",
            Says::Passed => "Passed",
        }
    }
}

/// The verdict on all baselines that were compared; with `blessed` the values are accepted, the requirements are not.
pub fn verdict(outcomes: &[Outcome], blessed: bool) -> (Tone, String) {
    let all: Vec<&Compared> = outcomes.iter().filter_map(Outcome::compared).collect();
    let counts = all.iter().fold(Counts::default(), |sum, c| sum.and(c.counts()));
    let judged = || all.iter().flat_map(|c| &c.judged);
    let says = all.iter().map(|c| c.says()).min().unwrap_or(Says::Passed);
    let is_unmet = judged().any(|j| !j.is_met());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(broken(outcomes));
    let is_broken = !parts.is_empty();
    let moved = (counts.all() > 0).then(|| counts.words());
    // What is surely worse comes before what is only undecided, or met.
    let is_missed = judged().any(|j| matches!(j.verdict, Verdict::Missed | Verdict::NoAnswer));
    match counts.failed() > 0 && !is_missed {
        true => parts.extend(moved.into_iter().chain(requirements(judged()))),
        false => parts.extend(requirements(judged()).into_iter().chain(moved)),
    }
    let what = parts.join("; ");
    let is_first = counts.all() > 0 && counts.get(Kind::New) == counts.all();
    match (blessed, is_unmet) {
        _ if is_broken => (Says::Failed.tone(), format!("{}: {what}.", Says::Failed.word())),
        (true, false) if is_first => (Tone::Good, format!("Recorded: {what}.")),
        (true, false) if counts.moved() > 0 => (Tone::Good, format!("Accepted: {what}.")),
        (_, false) if is_first => (Tone::Mixed, format!("Not recorded yet: {what}.")),
        _ => (says.tone(), format!("{}: {what}.", says.word())),
    }
}

/// How many baselines could not be run, where one could not.
pub fn broken(outcomes: &[Outcome]) -> Option<String> {
    let n = outcomes.iter().filter(|o| o.result.is_err()).count();
    match (n, outcomes.len()) {
        (0, _) => None,
        (_, 1) => Some("the baseline could not be run".to_string()),
        (n, all) => Some(format!("{n} of {all} baselines could not be run")),
    }
}

/// The requirements in words: `1 of 3 requirements is missed`.
pub fn requirements<'a>(judged: impl Iterator<Item = &'a Judged>) -> Option<String> {
    let all: Vec<Verdict> = judged.map(|j| j.verdict).collect();
    let count = |verdict: Verdict| all.iter().filter(|v| **v == verdict).count();
    let total = all.len();
    match all[..] {
        [] => return None,
        [Verdict::NoAnswer] => return Some("the requirement is without an answer".to_string()),
        [one] => return Some(format!("the requirement is {}", one.word())),
        _ if count(Verdict::Met) == total => {
            return Some(format!("all {total} requirements are met"));
        }
        _ => {}
    }
    let kinds = [Verdict::Missed, Verdict::NoAnswer, Verdict::Undecided, Verdict::Met];
    let some = kinds.into_iter().filter(|v| count(*v) > 0).enumerate();
    let words = some.map(|(i, verdict)| match (i, count(verdict), verdict) {
        (0, n, Verdict::NoAnswer) => format!("{n} of {total} requirements without an answer"),
        (0, 1, _) => format!("1 of {total} requirements is {}", verdict.word()),
        (0, n, _) => format!("{n} of {total} requirements are {}", verdict.word()),
        (_, n, Verdict::NoAnswer) => format!("{n} without an answer"),
        (_, n, _) => format!("{n} {}", verdict.word()),
    });
    Some(words.collect::<Vec<_>>().join(", "))
}
