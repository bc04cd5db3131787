//! A baseline's rows against those found: what became of each value.

use super::noise::{half_width, seeds_to_decide};
use super::row::BaselineRow;
use orrery_results::{Better, better};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What became of one value that is not the same.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It moved: from the baseline's row to this one, of which one may have no answer. Then what it may move by within
    /// noise; none where there is no interval.
    Moved(BaselineRow, Box<BaselineRow>, Option<f64>),
    /// It is not found any more.
    Gone(BaselineRow),
    /// The baseline does not have it.
    New(BaselineRow),
}

/// How a value that is not the same is counted; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Beyond its interval, for the worse.
    Worse,
    /// It is gone.
    Gone,
    /// Beyond its interval, where neither way is better; or there is no answer now, or was none.
    Changed,
    /// Beyond its interval, for the better.
    Better,
    /// It is new.
    New,
    /// Within its interval.
    Noise,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// In the order of the baseline, new ones last.
    pub changes: Vec<Change>,
    /// Values that are the same.
    pub same: usize,
    /// What has values of its own, by [`BaselineRow::group`], in the order of the rows.
    pub groups: Vec<String>,
}

/// How many values became what: each of them is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_kind: [usize; 6],
    /// Those that are the same.
    pub same: usize,
}

impl Comparison {
    /// Whether nothing moved.
    pub fn is_same(&self) -> bool {
        self.changes.is_empty()
    }

    /// How many values became what.
    pub fn counts(&self) -> Counts {
        Counts { same: self.same, ..Counts::of(&self.changes) }
    }
}

impl Counts {
    /// Those of changes.
    pub fn of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Counts {
        let mut counts = Counts::default();
        changes.into_iter().for_each(|change| counts.by_kind[change.kind() as usize] += 1);
        counts
    }

    /// Those of a kind.
    pub fn get(&self, kind: Kind) -> usize {
        self.by_kind[kind as usize]
    }

    /// Those that are not the same.
    pub fn moved(&self) -> usize {
        self.by_kind.iter().sum()
    }

    /// All of them.
    pub fn all(&self) -> usize {
        self.same + self.moved()
    }

    /// Those that are more than noise.
    pub fn beyond(&self) -> usize {
        self.moved() - self.get(Kind::Noise)
    }

    /// Those for which a gate fails: what is worse, gone or changed.
    pub fn failed(&self) -> usize {
        self.beyond() - self.get(Kind::Better) - self.get(Kind::New)
    }

    /// The counts of both.
    #[must_use]
    pub fn and(mut self, other: Counts) -> Counts {
        self.by_kind.iter_mut().zip(other.by_kind).for_each(|(a, b)| *a += b);
        Counts { same: self.same + other.same, ..self }
    }

    /// In words: `3 of 12 values are worse, 1 better, 8 the same`.
    pub fn words(&self) -> String {
        let all = self.all();
        let s = if all == 1 { "" } else { "s" };
        if self.moved() == 0 {
            return match all {
                1 => "the one value is the same".to_string(),
                _ => format!("all {all} value{s} are the same"),
            };
        }
        let kinds = KINDS.iter().map(|k| (self.get(*k), k.word()));
        let some = kinds.chain([(self.same, "the same")]).filter(|(n, _)| *n > 0).enumerate();
        let words = some.map(|(i, (n, word))| match (i, n) {
            (0, 1) => format!("1 of {all} value{s} is {word}"),
            (0, _) => format!("{n} of {all} value{s} are {word}"),
            _ => format!("{n} {word}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }
}

/// All kinds, the worst first.
pub const KINDS: [Kind; 6] =
    [Kind::Worse, Kind::Gone, Kind::Changed, Kind::Better, Kind::New, Kind::Noise];

impl Kind {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Worse => "worse",
            Kind::Gone => "gone",
            Kind::Changed => "changed",
            Kind::Better => "better",
            Kind::New => "new",
            Kind::Noise => "within noise",
        }
    }
}

impl Change {
    /// The row that it is about: the baseline's, or the new one.
    pub fn row(&self) -> &BaselineRow {
        match self {
            Change::Moved(row, ..) | Change::Gone(row) | Change::New(row) => row,
        }
    }

    /// By which share of the old value it moved; none where that cannot be said.
    pub fn share(&self) -> Option<f64> {
        let Change::Moved(old, new, _) = self else { return None };
        let (before, after) = old.value.zip(new.value)?;
        (before != 0.0).then(|| after / before - 1.0)
    }

    /// How far it moved, and what that may be within noise; none where there is no interval.
    fn distance(&self) -> Option<(f64, f64)> {
        let Change::Moved(old, new, half) = self else { return None };
        let (before, after) = old.value.zip(new.value)?;
        Some(((after - before).abs(), (*half)?))
    }

    /// Whether it has an interval that says how far noise goes.
    pub fn has_interval(&self) -> bool {
        self.distance().is_some()
    }

    /// How it is counted.
    pub fn kind(&self) -> Kind {
        let (old, new) = match self {
            Change::Gone(_) => return Kind::Gone,
            Change::New(_) => return Kind::New,
            Change::Moved(old, new, _) => (old, new),
        };
        let Some((before, after)) = old.value.zip(new.value) else { return Kind::Changed };
        if self.distance().is_some_and(|(by, half)| by <= half) {
            return Kind::Noise;
        }
        match (better(&old.metric), after > before) {
            (Better::Higher, true) | (Better::Lower, false) => Kind::Better,
            (Better::Higher, false) | (Better::Lower, true) => Kind::Worse,
            (Better::Neither, _) => Kind::Changed,
        }
    }

    /// About how many seeds would tell a move of this size from noise.
    pub fn seeds_to_tell(&self) -> Option<u64> {
        let Change::Moved(_, new, _) = self else { return None };
        let (by, half) = self.distance()?;
        seeds_to_decide(new.seeds, half, by)
    }

    /// What it is sorted by: the worst kind first, of a kind the largest share. What has no share is beyond all.
    pub fn rank(&self) -> (Kind, f64) {
        (self.kind(), -self.share().map_or(f64::INFINITY, f64::abs))
    }
}

/// The order of ranks.
pub fn by_rank(a: &(Kind, f64), b: &(Kind, f64)) -> Ordering {
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

fn is_same(old: &BaselineRow, new: &BaselineRow, tolerance: f64) -> bool {
    match (old.value, new.value) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        (None, None) => old.reason == new.reason,
        _ => false,
    }
}

/// Compares. `tolerance` is a share of the larger of the two values; 0 asks for equality. Values of the `same_seeds`
/// had the same luck.
pub fn compare(
    old: &[BaselineRow],
    new: &[BaselineRow],
    tolerance: f64,
    same_seeds: bool,
) -> Comparison {
    let then: BTreeSet<[&str; 7]> = old.iter().map(BaselineRow::place).collect();
    let now: BTreeMap<[&str; 7], &BaselineRow> = new.iter().map(|row| (row.place(), row)).collect();
    let mut changes = Vec::new();
    let mut same = 0;
    for row in old {
        match now.get(&row.place()).copied() {
            None => changes.push(Change::Gone(row.clone())),
            Some(found) if is_same(row, found, tolerance) => same += 1,
            Some(found) => {
                let half = half_width(row, found, same_seeds);
                changes.push(Change::Moved(row.clone(), Box::new(found.clone()), half));
            }
        }
    }
    let unknown = new.iter().filter(|row| !then.contains(&row.place()));
    changes.extend(unknown.cloned().map(Change::New));
    let mut seen = BTreeSet::new();
    let all = old.iter().chain(new).map(BaselineRow::group);
    let groups = all.filter(|g| seen.insert(g.clone())).collect();
    Comparison { changes, same, groups }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_results::Row;

    fn row(metric: &str, value: f64) -> BaselineRow {
        BaselineRow {
            policy: "fifo".into(),
            scope: "all".into(),
            metric: metric.into(),
            value: Some(value),
            ..BaselineRow::default()
        }
    }

    #[test]
    fn the_last_digit_counts_unless_a_tolerance_is_asked_for() {
        let old = [row("finish_rate", 0.5)];
        assert!(compare(&old, &old, 0.0, true).is_same());
        let new = [row("finish_rate", 0.5_f64.next_up())];
        assert_eq!(compare(&old, &new, 0.0, true).changes.len(), 1);
        assert!(compare(&old, &new, 1e-12, true).is_same());
    }

    #[test]
    fn systems_of_one_policy_have_places_of_their_own() {
        let value = |system: &str, value: f64| {
            let (system, policy) = (system.to_string(), "fifo[order=slo]".to_string());
            BaselineRow::of(&Row { system, policy, value: Some(value), ..Row::default() })
        };
        let old = [value("fifo", 0.5), value("slow", 0.5)];
        let found = compare(&old, &[value("fifo", 0.5), value("slow", 0.1)], 0.0, true);
        assert_eq!((found.same, found.changes.len()), (1, 1));
        assert_eq!((found.changes[0].row().cell().as_str(), old[0].system.as_str()), ("slow", ""));
        assert_eq!(BaselineRow::again(&old), None);
        assert_eq!(BaselineRow::again(&[&old[..], &old].concat()), Some(&old[0]));
    }

    #[test]
    fn no_answer_is_a_value_of_its_own() {
        let none = |why: &str| BaselineRow {
            value: None,
            reason: why.into(),
            ..row("devices_needed", 0.0)
        };
        assert!(compare(&[none("a")], &[none("a")], 0.0, true).is_same());
        for new in [none("b"), row("devices_needed", 0.0)] {
            let found = compare(&[none("a")], &[new], 1.0, true);
            assert!(matches!(found.changes[..], [Change::Moved(..)]), "{found:?}");
            assert_eq!(found.changes[0].kind(), Kind::Changed);
        }
    }

    /// Values that are gone and new ones are of one whole: no count is larger than it.
    #[test]
    fn each_value_is_counted_once_and_the_worst_is_first() {
        let noisy = |value: f64| BaselineRow {
            ci95_low: Some(value - 1.0),
            ci95_high: Some(value + 1.0),
            ..row("latency_p50_ns", value)
        };
        let old = [row("finish_rate", 0.5), row("latency_p99_ns", 10.0), row("requests", 5.0)];
        let old = [&old[..], &[noisy(7.0), row("goodput_per_s", 1.0)]].concat();
        let new = [row("finish_rate", 0.6), row("latency_p99_ns", 12.0), row("late", 1.0)];
        let new = [&new[..], &[noisy(7.5), row("goodput_per_s", 1.0)]].concat();
        let found = compare(&old, &new, 0.0, true);
        let mut kinds: Vec<Kind> = found.changes.iter().map(Change::kind).collect();
        assert_eq!(kinds, [Kind::Better, Kind::Worse, Kind::Gone, Kind::Noise, Kind::New]);
        kinds.sort();
        assert_eq!(kinds[..2], [Kind::Worse, Kind::Gone]);
        let counts = found.counts();
        assert_eq!((counts.all(), counts.moved(), counts.beyond(), counts.same), (6, 5, 4, 1));
        assert_eq!(
            counts.words(),
            "1 of 6 values is worse, 1 gone, 1 better, 1 new, 1 within noise, 1 the same"
        );
        assert_eq!(counts.and(counts).all(), 12);
        let none = compare(&[], &new, 0.0, true).counts();
        assert_eq!((none.all(), none.moved(), none.get(Kind::New)), (5, 5, 5));
    }
}
