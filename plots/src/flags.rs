//! What must be known before a value is believed: crosses in the figure, notes below it.

use crate::error::distinct;
use crate::gaps::NOT_FINITE;
use crate::spec::is_same_value;
use orrery_results::{Flags, Row};

/// The flag of a row of whose value the paper's number was kept away; it lives in figures only.
const WITHHELD: &str = "withheld";

/// Whether a row's marker is crossed.
pub(crate) fn crossed(row: &Row) -> bool {
    row.has_flag(Flags::FEW_SAMPLES) || row.has_flag(Flags::DIVERGING)
}

/// The row, with a flag where the paper's number of its value was kept away.
pub(crate) fn with_withheld(row: &Row, withheld: &[Row]) -> Row {
    let mut row = row.clone();
    if row.versus.is_empty() && withheld.iter().any(|w| is_same_value(w, &row)) {
        row.flag(WITHHELD);
    }
    row
}

/// Whether the paper's numbers of some of these rows were kept away, and none is there.
pub(crate) fn is_withheld(rows: &[&Row]) -> bool {
    rows.iter().any(|r| r.has_flag(WITHHELD)) && rows.iter().all(|r| r.paper.is_none())
}

/// How the note on withheld numbers of a paper begins.
pub(crate) const NO_PAPER: &str = "No paper value,";

/// A note for each flag that any of the rows has; `none` begins the one on numbers that were withheld.
pub(crate) fn notes(rows: &[&Row], none: &str) -> Vec<String> {
    let withheld = format!("{none} withheld from this project");
    let known = [
        (Flags::FEW_SAMPLES, "× too few samples behind the value (few-samples)"),
        (Flags::DIVERGING, "× the run was still diverging at its end (diverging)"),
        (Flags::CORRELATED, "Interval may be too narrow (correlated)"),
        (Flags::WIDE, "Interval wider than requested (wide)"),
        (Flags::LATE_START, "Averaged over a part without arrivals too (late-start)"),
        (Flags::STUCK, "Requests came, devices were idle, and nothing ran for 100 SLOs (stuck)"),
        (Flags::DRAIN, "Averaged over a part after the last arrival too (drain)"),
        (Flags::PENDING, "Requests still in the system at the end (pending)"),
        (Flags::NO_ANSWER, "No answer, a gap in the curve (no-answer)"),
        (NOT_FINITE, "NaN or infinite in the table, a gap in the curve (not-finite)"),
        (WITHHELD, &withheld),
    ];
    let note = |&(flag, words): &(&str, &str)| {
        let count = rows.iter().filter(|r| r.has_flag(flag)).count();
        (count > 0).then(|| format!("{words}: {count} of {} points.", rows.len()))
    };
    known.iter().filter_map(note).collect()
}

/// What all rows share, and what the bars are.
pub(crate) fn subtitle(common: &[String], rows: &[&Row]) -> String {
    let mut words: Vec<String> = common.to_vec();
    let methods =
        distinct(rows.iter().filter(|r| r.ci95_low.is_some()).map(|r| r.ci_method.as_str()));
    if !methods.is_empty() {
        let methods: Vec<&str> = methods.into_iter().filter(|m| !m.is_empty()).collect();
        let by =
            if methods.is_empty() { String::new() } else { format!(" ({})", methods.join(", ")) };
        words.push(format!("bars: 95 % confidence interval{by}"));
    }
    let seeds = distinct(rows.iter().map(|r| r.seeds_in_words()));
    if let [one] = seeds.as_slice()
        && !one.is_empty()
    {
        let word = if one.bytes().all(|b| b.is_ascii_digit()) { "seed" } else { "seeds" };
        words.push(format!("{word} {one}"));
    }
    words.join(" · ")
}
