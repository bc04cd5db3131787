//! From rows to verdicts.

use super::cells::{cells, labelled};
use super::claim::{Checked, Claim, LeftOut, Take, Verdict};
use super::estimate::Estimate;
use super::words::{figure, percent};
use orrery_results::Row;

/// Checks all claims; one has a verdict only where all was run of which it speaks.
pub fn judged(claims: &[Claim], left_out: &LeftOut, rows: &[Row]) -> Vec<Checked> {
    let of = |(i, claim): (usize, &Claim)| {
        let checked = check(claim, rows);
        match left_out.why(i, checked.cells.len()) {
            Some(why) if checked.verdict != Verdict::NotRun => {
                Checked { verdict: Verdict::NotJudged, why, ..checked }
            }
            _ => checked,
        }
    };
    claims.iter().enumerate().map(of).collect()
}

/// Of how many cells each claim speaks, by rows that have all places and made-up values of some metrics.
pub fn cells_of(claims: &[Claim], rows: &[Row], main: &str) -> Vec<usize> {
    let of = |claim: &Claim| {
        let there = rows.iter().any(|r| r.metric == claim.metric);
        let metric = if there { claim.metric.clone() } else { main.to_string() };
        let over_metric = if there { claim.over_metric.clone() } else { String::new() };
        cells(&Claim { metric, over_metric, ..claim.clone() }, rows).0.len()
    };
    claims.iter().map(of).collect()
}

/// Checks a claim.
pub fn check(claim: &Claim, rows: &[Row]) -> Checked {
    let (found, unanswered) = cells(claim, rows);
    let estimates: Vec<Estimate> = found.iter().map(|c| c.1).collect();
    let taken = match claim.take {
        Take::Each if claim.is_of_a_share() => {
            Estimate::share(&estimates, claim.at_least, claim.at_most)
        }
        Take::Each => None,
        Take::Largest => Estimate::largest(&estimates),
        Take::Smallest => Estimate::smallest(&estimates),
        Take::Mean => Estimate::mean(&estimates),
    };
    let judged: Vec<Estimate> = taken.map_or_else(|| estimates.clone(), |taken| vec![taken]);
    let (least, most) = match claim.is_of_a_share() {
        true => (claim.share_at_least, claim.share_at_most),
        false => (claim.at_least, claim.at_most),
    };
    let within: Vec<Option<bool>> = judged.iter().map(|e| e.is_within(least, most)).collect();
    let crossing = judged.iter().zip(&within).filter(|(_, w)| w.is_none()).map(|(e, _)| e);
    let crossing: Vec<&Estimate> = crossing.collect();
    let (verdict, why) = match crossing.as_slice() {
        [] if within.is_empty() && unanswered > 0 => (Verdict::NoAnswer, String::new()),
        [] if within.is_empty() => (Verdict::NotRun, "no cell of it was run".to_string()),
        _ if within.contains(&Some(false)) => (Verdict::DoesNotHold, String::new()),
        [] if unanswered > 0 => {
            let of = unanswered + found.len();
            (Verdict::Undecided, format!("no answer in {unanswered} of {of} cells"))
        }
        [] => (Verdict::Holds, String::new()),
        [one] => (Verdict::Undecided, undecided(claim, one)),
        some => {
            let (n, of) = (some.len(), judged.len());
            (Verdict::Undecided, format!("the 95 % intervals of {n} of {of} cross the bound"))
        }
    };
    Checked {
        verdict,
        why,
        good: estimates.iter().filter(|e| claim.is_good(e.value)).count(),
        taken: taken.map(|t| t.value),
        taken_ci95: taken.and_then(|t| t.interval()),
        cells: labelled(&found),
        unanswered,
        cause: None,
    }
}

/// Why a claim of one number is undecided.
fn undecided(claim: &Claim, e: &Estimate) -> String {
    if claim.is_of_a_share() {
        return format!(
            "surely so in {} of the cells, {} by value",
            percent(e.low),
            percent(e.value)
        );
    }
    let of = if claim.one_draw { " of one draw" } else { "" };
    format!("95 % interval{of} {} to {}", figure(claim, e.low), figure(claim, e.high))
}
