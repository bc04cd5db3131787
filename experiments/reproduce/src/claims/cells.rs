//! The cells of which a claim speaks, with our values.

use super::claim::{CellValue, Claim};
use super::estimate::Estimate;
use crate::numbers::{axes, axis, is_at, is_named_part, is_of};
use orrery_results::metric::difference_of;
use orrery_results::{Row, distinct, joined, metric, pair, pairs};
use std::collections::{BTreeMap, BTreeSet};

/// The rows of a system and metric at a place.
fn find<'a>(
    rows: &'a [Row],
    system: &str,
    at: &str,
    metric: &'a str,
) -> impl Iterator<Item = &'a Row> + use<'a> {
    let (system, at) = (system.to_string(), at.to_string());
    let own = rows.iter().filter(|r| r.scope == "all" && r.versus.is_empty());
    own.filter(move |r| r.metric == metric && is_of(r, &system))
        .filter(move |r| is_named_part(r, &at) && is_at(r, &at))
}

/// The rows of the claim's cells, and what each is divided by, where there is such a row.
pub(super) fn sides(claim: &Claim, rows: &[Row]) -> Vec<(Row, Option<Row>)> {
    // A search that never got there has no number of evaluations: it is beyond any.
    let with_never = |system: &str, at: &str, metric: &str| -> Vec<Row> {
        let own: Vec<&Row> = find(rows, system, at, metric).collect();
        if !metric.starts_with("evaluations_") {
            return own.into_iter().cloned().collect();
        }
        let never = |r: &Row| {
            let (value, metric) = (Some(f64::INFINITY), metric.to_string());
            Row { value, metric, ..r.clone() }
        };
        let all = find(rows, system, at, orrery_results::metric::EVALUATIONS);
        let has = |r: &Row| own.iter().find(|o| o.axes == r.axes).map(|o| (*o).clone());
        all.map(|r| has(r).unwrap_or_else(|| never(r))).collect()
    };
    let over_metric = if claim.over_metric.is_empty() { &claim.metric } else { &claim.over_metric };
    let over = with_never(&claim.over, &claim.over_at, over_metric);
    let parts = claim.after_s.is_some() || claim.before_s.is_some();
    let is_part = |r: &Row| {
        let from = r.axis(metric::FROM).and_then(|s| s.parse::<f64>().ok());
        !parts
            || from.is_some_and(|s| {
                claim.after_s.is_none_or(|a| s >= a) && claim.before_s.is_none_or(|b| s < b)
            })
    };
    // What `*` stands for is the same on both sides.
    let named = joined(pairs(&claim.over_at).filter(|p| p.1 != "*").chain([("pool", "")]));
    let at = if parts { format!("{};from_s=*", claim.at) } else { claim.at.clone() };
    let mut same = BTreeMap::new();
    over.iter().for_each(|b| _ = same.entry((&b.case, &b.axes)).or_insert(b));
    let divisor = |a: &Row| {
        // At the very same place, where there is such a row: thousands of places are not searched for each.
        let there = same.get(&(&a.case, &a.axes)).copied().filter(|_| claim.over_at.is_empty());
        if there.is_some() {
            return there.cloned();
        }
        let mut below: Vec<&Row> = over.iter().filter(|b| agree(b, a, &named)).collect();
        if below.len() > 1 && !claim.over_at.contains("pool=") {
            below.retain(|b| b.axis("pool") == a.axis("pool"));
        }
        below.first().map(|b| (*b).clone())
    };
    let of = with_never(&claim.of, &at, &claim.metric);
    of.into_iter().filter(is_part).map(|a| (a.clone(), divisor(&a))).collect()
}

/// The rows that a claim compares with one another, in one metric.
pub fn compared(claim: &Claim, rows: &[Row]) -> Vec<(Row, Row)> {
    if claim.over.is_empty() || !claim.relative_to.is_empty() {
        return Vec::new();
    }
    let both = |(a, b): (Row, Option<Row>)| Some((a, b?)).filter(|(a, b)| a.metric == b.metric);
    sides(claim, rows).into_iter().filter_map(both).collect()
}

/// Our values of the claim's cells, and of how many there is none: no answer, or 0 over 0.
pub(super) fn cells(claim: &Claim, rows: &[Row]) -> (Vec<(Row, Estimate)>, usize) {
    // Divided by `relative_to` at the same place, whatever pool that has.
    let value = |r: &Row| {
        if claim.relative_to.is_empty() {
            return own(claim, r);
        }
        let mut by = find(rows, &claim.relative_to, "", &r.metric);
        let by = by.find(|b| agree(b, r, "pool=")).and_then(|b| own(claim, b));
        own(claim, r)?.over(&by?)
    };
    let differences = Differences::among(rows);
    let (mut out, mut unanswered) = (Vec::new(), 0);
    for (a, b) in sides(claim, rows) {
        let Some(above) = value(&a) else {
            unanswered += 1;
            continue;
        };
        if claim.over.is_empty() {
            out.push((a, above));
            continue;
        }
        let Some(b) = b else { continue };
        let Some((by, ratio)) = value(&b).and_then(|by| Some((by, above.over(&by)?))) else {
            unanswered += 1;
            continue;
        };
        let paired = differences.estimate(claim, &a, &b).filter(|_| claim.relative_to.is_empty());
        let paired = paired.and_then(|d| d.ratio_of_difference(&by));
        out.push((a, Estimate { value: ratio.value, ..paired.unwrap_or(ratio) }));
    }
    (out, unanswered)
}

/// A row's value: its interval is of the mean over seeds, or of the one draw that the paper measured.
fn own(claim: &Claim, row: &Row) -> Option<Estimate> {
    if claim.one_draw { Estimate::of_one_draw(row) } else { Estimate::of(row) }
}

/// What a difference names as the row that is taken from the other: its system, and its axes where they are others.
pub fn versus(a: &Row, b: &Row) -> String {
    named(a, b, &b.system)
}

fn named(a: &Row, b: &Row, name: &str) -> String {
    match (&a.case, &a.axes) == (&b.case, &b.axes) {
        true => name.to_string(),
        false => format!("{name} at {}", b.axes),
    }
}

/// Rows of differences, by their metric and what the other row is taken from.
pub struct Differences<'a>(BTreeMap<[&'a str; 5], Vec<&'a Row>>);

impl<'a> Differences<'a> {
    /// Those among rows.
    pub fn among(rows: &'a [Row]) -> Differences<'a> {
        let mut all: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        for row in rows.iter().filter(|r| !r.versus.is_empty()) {
            all.entry(key(row, &row.metric)).or_default().push(row);
        }
        Differences(all)
    }

    /// The difference of two rows, seed by seed; systems that all are compared with are named by their policy.
    pub fn of(&self, a: &Row, b: &Row) -> Option<&'a Row> {
        let metric = difference_of(&a.metric);
        let versus = [versus(a, b), named(a, b, &b.policy)];
        let those = self.0.get(&key(a, &metric))?.iter().copied();
        those.into_iter().find(|r| r.scope == a.scope && versus.contains(&r.versus))
    }

    /// The difference of two systems, where they were compared seed by seed.
    fn estimate(&self, claim: &Claim, a: &Row, b: &Row) -> Option<Estimate> {
        if a.metric != b.metric {
            return None;
        }
        let of = |a: &Row, b: &Row| self.of(a, b).and_then(|r| own(claim, r));
        of(a, b).or_else(|| of(b, a).map(|d| d.negative()))
    }
}

fn key<'a>(row: &'a Row, metric: &'a str) -> [&'a str; 5] {
    [metric, &row.axes, &row.case, &row.system, &row.preset]
}

/// Whether two rows agree on every axis that both have and `except` does not name.
fn agree(a: &Row, b: &Row, except: &str) -> bool {
    axes(a)
        .filter(|(name, _)| pair(except, name).is_none())
        .all(|(name, x)| axis(b, name).is_none_or(|y| x == y))
}

/// Cells are called by the axes that tell them apart; by their pools only where they must be.
pub(super) fn labelled(cells: &[(Row, Estimate)]) -> Vec<CellValue> {
    let values = |name: &str| cells.iter().map(|c| axis(&c.0, name)).collect::<BTreeSet<_>>();
    let mut names = distinct(cells.iter().flat_map(|c| axes(&c.0)).map(|axis| axis.0));
    names.retain(|name| values(name).len() > 1);
    let label = |row: &Row, names: &[&str]| {
        let parts: Vec<&str> = names.iter().filter_map(|n| axis(row, n)).collect();
        parts.join(" ")
    };
    // What a case's name says is not said again.
    let named = |row: &Row, names: &[&str]| {
        let is_said = |value: &str| row.case.split(' ').any(|word| word == value);
        let of = |name: &&str| match axis(row, name)? {
            value if *name == "case" => Some(value.to_string()),
            value if is_said(value) => None,
            value => Some(format!("{name}={value}")),
        };
        names.iter().filter_map(of).collect::<Vec<_>>().join(" ")
    };
    let without: Vec<&str> = names.iter().copied().filter(|n| *n != "pool").collect();
    let labels = cells.iter().map(|c| label(&c.0, &without)).collect::<BTreeSet<_>>();
    let names = if labels.len() == cells.len() { without } else { names };
    let value = |(row, e): &(Row, Estimate)| CellValue {
        cell: label(row, &names),
        at: named(row, &names),
        value: e.value,
        ci95: e.interval(),
    };
    cells.iter().map(value).collect()
}
