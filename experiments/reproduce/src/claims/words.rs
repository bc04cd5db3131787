//! Claims for reading: what was asked, and what came out.

use super::claim::{Checked, Claim, Take};
use orrery_results::unit;
use std::fmt::Write;

/// Cells that are listed one by one.
const LISTED_MAX: usize = 10;

pub(super) fn figure(claim: &Claim, x: f64) -> String {
    if x.is_infinite() {
        let never = claim.metric.starts_with("evaluations_");
        return if never { "never" } else { "infinite" }.to_string();
    }
    if let Some(time) = time(claim, x) {
        return time;
    }
    let few = match x.abs() {
        below if below < 100.0 => 3,
        below if below < 10_000.0 => 1,
        _ => 0,
    };
    // A value reads as on its side of the bounds: 0.99999966 is not "1.000" beside "at least 0.9999997".
    let bounds = [claim.at_least, claim.at_most];
    let is_on_its_side = |digits: &usize| {
        let told: f64 = format!("{x:.digits$}").parse().unwrap_or(x);
        bounds.iter().flatten().all(|b| told.partial_cmp(b) == x.partial_cmp(b))
    };
    let digits = (few..=9).find(is_on_its_side).unwrap_or(few);
    format!("{x:.digits$}")
}

pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e3).round() / 10.0)
}

/// A time for reading; none of what is no time, or a ratio of two.
fn time(claim: &Claim, ns: f64) -> Option<String> {
    let is_ratio = !claim.over.is_empty() || !claim.relative_to.is_empty();
    if is_ratio || unit(&claim.metric) != "ns" {
        return None;
    }
    Some(match ns.abs() >= 1e10 {
        true => format!("{} s", (ns / 1e6).round() / 1e3),
        false => format!("{} ms", (ns / 1e3).round() / 1e3),
    })
}

/// What is asked: `largest symphony / nexus, batch_size_p50, asked at least 1.5`.
pub fn asked(claim: &Claim) -> String {
    let mut what = match claim.take {
        Take::Each => String::new(),
        Take::Largest => "largest ".to_string(),
        Take::Smallest => "smallest ".to_string(),
        Take::Mean => "mean ".to_string(),
    };
    what.push_str(&claim.of);
    if !claim.over.is_empty() {
        let _ = write!(what, " / {}", claim.over);
    }
    if !claim.over_at.is_empty() {
        let _ = write!(what, " at {}", claim.over_at.replace(';', " "));
    }
    if !claim.relative_to.is_empty() {
        let _ = write!(what, ", each over {}", claim.relative_to);
    }
    let _ = write!(what, ", {}", claim.metric);
    if !claim.over_metric.is_empty() {
        let _ = write!(what, " over {}", claim.over_metric);
    }
    if claim.one_draw {
        what.push_str(", of one draw");
    }
    let bound = |x: f64| time(claim, x).unwrap_or_else(|| x.to_string());
    let bounds = match (claim.at_least.map(bound), claim.at_most.map(bound)) {
        (Some(a), Some(b)) => format!("{a} to {b}"),
        (Some(a), None) => format!("at least {a}"),
        (None, Some(b)) => format!("at most {b}"),
        (None, None) => String::new(),
    };
    let cells = match (claim.share_at_least, claim.share_at_most) {
        (Some(a), Some(b)) => format!(" in {} to {} of the cells", percent(a), percent(b)),
        (Some(a), None) => format!(" in at least {} of the cells", percent(a)),
        (None, Some(b)) => format!(" in at most {} of the cells", percent(b)),
        (None, None) => String::new(),
    };
    format!("{what}, asked {bounds}{cells}")
}

/// What came out: `, is 1.2`, or the cells with their values.
pub fn came_out(claim: &Claim, c: &Checked) -> String {
    let is_each = c.taken.is_none();
    let mut out = match c.taken {
        Some(share) if claim.is_of_a_share() => {
            format!(", is so in {} ({} of {})", percent(share), c.good, c.cells.len())
        }
        Some(x) => format!(", is {}", figure(claim, x)),
        None => String::new(),
    };
    match c.cells.as_slice() {
        [] => {}
        [c] if is_each => _ = write!(out, ": {}", figure(claim, c.value)),
        cells if cells.len() <= LISTED_MAX => {
            let list: Vec<String> =
                cells.iter().map(|c| format!("{} {}", c.cell, figure(claim, c.value))).collect();
            let _ = write!(out, ": {}", list.join(", "));
        }
        cells => {
            let least = cells.iter().map(|c| c.value).fold(f64::INFINITY, f64::min);
            let most = cells.iter().map(|c| c.value).fold(f64::NEG_INFINITY, f64::max);
            let (least, most) = (figure(claim, least), figure(claim, most));
            let _ = write!(out, ": {least} to {most} in {} cells", cells.len());
        }
    }
    out
}
