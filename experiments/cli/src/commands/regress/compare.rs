//! A baseline's rows against those found.

use super::BaselineRow;
use orrery_results::{Better, better};
use std::collections::BTreeSet;

/// How one value changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It moved: from the baseline's row to this one. One of them may have no answer.
    Moved(BaselineRow, BaselineRow),
    /// It is not found any more.
    Gone(BaselineRow),
    /// The baseline does not have it.
    New(BaselineRow),
}

/// What came of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// In the order of the baseline, new ones last.
    pub changes: Vec<Change>,
    /// Values that were compared.
    pub values: usize,
    /// What has values of its own, by [`group_of`], in the order of the changes.
    pub groups: Vec<String>,
}

impl Comparison {
    /// Whether nothing moved.
    pub fn is_same(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Change {
    /// The row that it is about: the baseline's, or the new one.
    pub fn row(&self) -> &BaselineRow {
        match self {
            Change::Moved(row, _) | Change::Gone(row) | Change::New(row) => row,
        }
    }

    /// By which share of the old value it moved; none where that cannot be said.
    pub fn share(&self) -> Option<f64> {
        let Change::Moved(old, new) = self else { return None };
        let (before, after) = old.value.zip(new.value)?;
        (before != 0.0).then(|| after / before - 1.0)
    }

    /// Whether the old value is within our 95 % interval of the new one; none where there is no interval.
    pub fn is_noise(&self) -> Option<bool> {
        let Change::Moved(old, new) = self else { return None };
        let (low, high) = *new.interval.as_deref()?;
        Some((low..=high).contains(&old.value?))
    }

    /// `better`, `worse`, or empty where neither can be said.
    pub fn verdict(&self) -> &'static str {
        let Change::Moved(old, new) = self else { return "" };
        let Some((before, after)) = old.value.zip(new.value) else { return "" };
        match (better(&old.metric), after > before) {
            (Better::Higher, true) | (Better::Lower, false) => "better",
            (Better::Higher, false) | (Better::Lower, true) => "worse",
            (Better::Neither, _) => "",
        }
    }
}

fn place(r: &BaselineRow) -> [&String; 6] {
    [&r.case, &r.axes, &r.preset, &r.policy, &r.scope, &r.metric]
}

/// What a value is of: everything but its metric.
pub fn group_of(r: &BaselineRow) -> String {
    let parts = [&r.case, &r.axes, &r.policy, &r.preset, &r.scope];
    let parts: Vec<&str> = parts.iter().map(|p| p.as_str()).filter(|p| !p.is_empty()).collect();
    parts.join(" ")
}

fn is_same(old: &BaselineRow, new: &BaselineRow, tolerance: f64) -> bool {
    match (old.value, new.value) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        (None, None) => old.reason == new.reason,
        _ => false,
    }
}

/// Compares. `tolerance` is a share of the larger of the two values; 0 asks for equality.
pub fn compare(old: &[BaselineRow], new: &[BaselineRow], tolerance: f64) -> Comparison {
    let mut changes = Vec::new();
    for row in old {
        match new.iter().find(|n| place(n) == place(row)) {
            None => changes.push(Change::Gone(row.clone())),
            Some(n) => {
                if !is_same(row, n, tolerance) {
                    changes.push(Change::Moved(row.clone(), n.clone()));
                }
            }
        }
    }
    let known = |n: &&BaselineRow| old.iter().any(|o| place(o) == place(n));
    changes.extend(new.iter().filter(|n| !known(n)).cloned().map(Change::New));
    let mut seen = BTreeSet::new();
    let all = old.iter().chain(new).map(group_of);
    let groups = all.filter(|g| seen.insert(g.clone())).collect();
    Comparison { changes, values: old.len(), groups }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metric: &str, value: f64) -> BaselineRow {
        BaselineRow {
            case: String::new(),
            axes: String::new(),
            preset: String::new(),
            policy: "fifo".into(),
            scope: "all".into(),
            metric: metric.into(),
            value: Some(value),
            reason: String::new(),
            interval: None,
        }
    }

    #[test]
    fn the_last_digit_counts_unless_a_tolerance_is_asked_for() {
        let old = [row("finish_rate", 0.5)];
        assert!(compare(&old, &old, 0.0).is_same());
        let new = [row("finish_rate", 0.5_f64.next_up())];
        assert_eq!(compare(&old, &new, 0.0).changes.len(), 1);
        assert!(compare(&old, &new, 1e-12).is_same());
    }

    #[test]
    fn no_answer_is_a_value_of_its_own() {
        let none = |why: &str| BaselineRow {
            value: None,
            reason: why.into(),
            ..row("devices_needed", 0.0)
        };
        assert!(compare(&[none("a")], &[none("a")], 0.0).is_same());
        for new in [none("b"), row("devices_needed", 0.0)] {
            let found = compare(&[none("a")], &[new], 1.0);
            assert!(matches!(found.changes[..], [Change::Moved(..)]), "{found:?}");
            assert_eq!(found.changes[0].verdict(), "");
        }
    }

    #[test]
    fn gone_new_better_and_worse_are_told_apart() {
        let old = [row("finish_rate", 0.5), row("latency_p99_ns", 10.0), row("requests", 5.0)];
        let new = [row("finish_rate", 0.6), row("latency_p99_ns", 12.0), row("late", 1.0)];
        let found = compare(&old, &new, 0.0).changes;
        let verdicts: Vec<&str> = found.iter().map(Change::verdict).collect();
        assert_eq!(verdicts, ["better", "worse", "", ""]);
        assert!(matches!(found[2..], [Change::Gone(_), Change::New(_)]));
    }
}
