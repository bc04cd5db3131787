//! Bounds that are our reading of a word (comparable, far, about): what the verdicts would be if they were half as far
//! from equality, and twice as far.
//!
//! Ids, words and what equality is are written by hand in `tests/readings.csv`; the verdicts by the same run that
//! writes `tests/verdicts.csv`.

use crate::csv_lines;
use crate::verdicts::{Line, kept as verdicts};
use orrery_reproduce::claims::{self, Claim};
use orrery_reproduce::experiment::Experiment;
use orrery_results::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERDICTS: [&str; 4] = ["holds", "undecided", "does not hold", "not run"];

/// A sentence with such a bound.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Reading {
    /// The experiment.
    id: String,
    /// The sentence's number in its file, from 1.
    sentence: usize,
    /// The paper's word.
    word: String,
    /// The value from which the bounds are a distance: else the middle of two bounds, or 1.
    equal: Option<f64>,
    /// The verdict with bounds half as far from it.
    half: String,
    /// The same, twice as far.
    twice: String,
}

/// The lines of the file.
pub fn kept() -> Vec<Reading> {
    csv_lines::kept("readings.csv")
}

/// Writes them anew.
pub fn write(lines: &[Reading]) {
    csv_lines::write("readings.csv", lines);
}

/// Judges those of an experiment again.
pub fn judge(readings: &mut [Reading], e: &Experiment, rows: &[Row]) {
    for r in readings.iter_mut().filter(|r| r.id == e.id) {
        let claim = &e.claim[r.sentence - 1];
        let verdict =
            |by| claims::check(&moved(claim, r.equal, by), rows).verdict.words().to_string();
        (r.half, r.twice) = (verdict(0.5), verdict(2.0));
    }
}

/// With bounds so many times as far from equality, as a ratio: twice 1.2 is 1.44. Of a share of cells, that share.
fn moved(claim: &Claim, equal: Option<f64>, by: f64) -> Claim {
    let middle = claim.at_least.zip(claim.at_most).map(|(a, b)| f64::midpoint(a, b));
    let equal = equal.or(middle).unwrap_or(1.0);
    let bound = |b: Option<f64>| b.map(|b| equal * libm::pow(b / equal, by));
    match claim.share_at_least {
        Some(_) => Claim { share_at_least: bound(claim.share_at_least), ..claim.clone() },
        None => Claim {
            at_least: bound(claim.at_least),
            at_most: bound(claim.at_most),
            ..claim.clone()
        },
    }
}

/// How many hold by each bound, and those that hold by one and do not by another.
pub fn table() -> String {
    let lines = verdicts();
    let verdict = |r: &Reading| {
        let is = |l: &&Line| (&l.id, l.sentence) == (&r.id, r.sentence);
        lines.iter().find(is).expect("a sentence of that number").verdict.clone()
    };
    let judged = |r: Reading| (r.half.clone(), verdict(&r), r.twice.clone(), r);
    let all: Vec<_> = kept().into_iter().map(judged).collect();
    let columns: [(&str, Vec<&String>); 3] = [
        ("half as far", all.iter().map(|r| &r.0).collect()),
        ("as it is", all.iter().map(|r| &r.1).collect()),
        ("twice as far", all.iter().map(|r| &r.2).collect()),
    ];
    let mut out = format!("| {} claims | {} |\n|---|", all.len(), VERDICTS.join(" | "));
    out.push_str(&format!("{}\n", "---:|".repeat(VERDICTS.len())));
    for (name, column) in columns {
        let counts = VERDICTS.map(|v| column.iter().filter(|x| **x == v).count().to_string());
        out.push_str(&format!("| {name} | {} |\n", counts.join(" | ")));
    }
    let mut changed: BTreeMap<[&str; 3], BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (half, now, twice, r) in &all {
        let three = [&**half, now, twice];
        if !three.contains(&"holds") || !three.contains(&"does not hold") {
            continue;
        }
        let of = changed.entry(three).or_default();
        let of = of.entry(format!("`{}` ({})", r.id, r.word)).or_default();
        of.push(r.sentence.to_string());
    }
    out.push_str("\n| half, as it is, twice | claims |\n|---|---|\n");
    for (three, claims) in changed {
        let three = three.map(|v| if v == "does not hold" { "no" } else { v }).join(", ");
        let claims: Vec<_> = claims.iter().map(|(of, n)| format!("{of} {}", n.join(" "))).collect();
        out.push_str(&format!("| {three} | {} |\n", claims.join("; ")));
    }
    out
}

#[test]
fn bounds_move_as_ratios() {
    let e = orrery_reproduce::registry::find("symphony-fig-12").expect("an experiment");
    let comparable = &e.claim[2];
    assert_eq!((comparable.at_least, comparable.at_most), (Some(0.8), Some(1.2)));
    let twice = moved(comparable, None, 2.0);
    assert!((twice.at_least.unwrap() - 0.64).abs() < 1e-12, "{twice:?}");
    assert!((twice.at_most.unwrap() - 1.44).abs() < 1e-12, "{twice:?}");
    assert_eq!(moved(&twice, Some(1.0), 0.5).at_least, Some(0.8));
}
