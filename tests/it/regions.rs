//! With which values of what a paper does not give its claims hold: `tests/regions.csv`, written by the run that writes
//! `tests/verdicts.csv`.

use crate::csv_lines;
use orrery_reproduce::claims::{LeftOut, Verdict, values_with, within};
use orrery_reproduce::experiment::Experiment;
use orrery_results::Row;
use serde::{Deserialize, Serialize};

/// A claim, and the values with which it has each verdict.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Region {
    /// The experiment.
    pub id: String,
    sentence: usize,
    varied: String,
    holds: String,
    undecided: String,
    does_not_hold: String,
    no_answer: String,
    text: String,
}

/// The lines of the file.
pub fn kept() -> Vec<Region> {
    csv_lines::kept("regions.csv")
}

/// Writes them anew.
pub fn write(lines: &[Region]) {
    csv_lines::write("regions.csv", lines);
}

/// Those of an experiment that was run.
pub fn of(e: &Experiment, rows: &[Row]) -> Vec<Region> {
    let regions = within(&e.claim, &e.region, &LeftOut::default(), rows);
    let line = |(i, region): (usize, _)| Region {
        id: e.id.clone(),
        sentence: i + 1,
        varied: e.region.join(", "),
        holds: values_with(region, Verdict::Holds),
        undecided: values_with(region, Verdict::Undecided),
        does_not_hold: values_with(region, Verdict::DoesNotHold),
        no_answer: values_with(region, Verdict::NoAnswer),
        text: e.claim[i].text.clone(),
    };
    regions.iter().map(Vec::as_slice).enumerate().map(line).collect()
}

/// The table of `causes.md`: the longest list is `the rest`. Claims with the same verdicts everywhere stand in one line.
pub fn table() -> String {
    let mut out =
        "| claims | varied | hold | undecided | do not | no answer |\n|---|---|---|---|---|---|\n"
            .to_string();
    let all = kept();
    let verdicts =
        |r: &Region| [&r.holds, &r.undecided, &r.does_not_hold, &r.no_answer].map(String::clone);
    let is_same = |a: &Region, b: &Region| a.id == b.id && verdicts(a) == verdicts(b);
    for (i, first) in all.iter().enumerate() {
        if all[..i].iter().any(|r| is_same(r, first)) {
            continue;
        }
        let own = all.iter().filter(|r| is_same(r, first)).map(|r| r.sentence.to_string());
        let claims = own.collect::<Vec<_>>().join(" ");
        let lists = verdicts(first);
        let counts = lists.clone().map(|l| l.split("; ").filter(|v| !v.is_empty()).count());
        let longest = (0..4).max_by_key(|i| counts[*i]).expect("four lists");
        let is_all = counts[longest] == counts.iter().sum::<usize>();
        let list = |i: usize| match counts[i] {
            0 => "-",
            _ if i == longest && is_all => "all",
            4.. if i == longest => "the rest",
            _ => &lists[i],
        };
        let [holds, undecided, not, none] = [0, 1, 2, 3].map(list);
        let (id, varied) = (&first.id, &first.varied);
        out.push_str(&format!(
            "| `{id}` {claims} | {varied} | {holds} | {undecided} | {not} | {none} |\n"
        ));
    }
    out
}
