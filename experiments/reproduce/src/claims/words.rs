//! Claims for reading: what was asked, and what came out.

use super::claim::{CellValue, Checked, Claim, Take, Verdict};
use orrery_results::{metric, unit};
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
    let digits = digits(claim, x, few, 1.0);
    format!("{x:.digits$}")
}

/// The fewest digits behind the point, `few` or more, with which a value reads as on its side of the claim's bounds:
/// 0.99999966 is not "1.000" beside "at least 0.9999997". `unit` is what the bounds are divided by.
fn digits(claim: &Claim, x: f64, few: usize, unit: f64) -> usize {
    let is_on_its_side = |digits: &usize| {
        let told: f64 = format!("{x:.digits$}").parse().unwrap_or(x);
        let bounds = [claim.at_least, claim.at_most].into_iter().flatten().map(|b| b / unit);
        bounds.into_iter().all(|b| told.partial_cmp(&b) == x.partial_cmp(&b))
    };
    (few..=9).find(is_on_its_side).unwrap_or(few)
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
    let (unit, word) = if ns.abs() >= 1e10 { (1e9, "s") } else { (1e6, "ms") };
    let x = ns / unit;
    // Four significant ones.
    let few = [1e3, 1e2, 1e1].iter().take_while(|power| x.abs() < **power).count();
    let digits = digits(claim, x, few, unit);
    let told: f64 = format!("{x:.digits$}").parse().unwrap_or(x);
    Some(format!("{told} {word}"))
}

/// A system as it is read: what was calibrated is the reproduction, and needs no word.
fn system(name: &str) -> String {
    match name.split_once('/') {
        None => name.to_string(),
        Some((name, "calibrated")) => name.to_string(),
        Some((name, preset)) => format!("{name} ({preset})"),
    }
}

/// Where: ` at slo=3, case=one`; an axis that is the same on both sides is not named.
fn at(place: &str) -> String {
    let named: Vec<&str> =
        place.split(';').filter(|p| !p.is_empty() && !p.ends_with("=*")).collect();
    if named.is_empty() { String::new() } else { format!(" at {}", named.join(", ")) }
}

/// What is checked: `largest batch size of symphony over that of nexus`.
pub(super) fn subject(claim: &Claim) -> String {
    let take = match claim.take {
        Take::Each => "",
        Take::Largest => "largest ",
        Take::Smallest => "smallest ",
        Take::Mean => "mean ",
    };
    let (own, metric) = (system(&claim.of), metric::words(&claim.metric));
    let mut what = format!("{take}{metric} of {own}{}", at(&claim.at));
    let is_one_metric = [claim.metric.as_str(), ""].contains(&claim.over_metric.as_str());
    let by = if is_one_metric { "that".into() } else { metric::words(&claim.over_metric) };
    if !claim.over.is_empty() {
        let is_own = claim.over == claim.of;
        let of = if is_own { String::new() } else { format!(" of {}", system(&claim.over)) };
        let _ = write!(what, " over {by}{of}{}", at(&claim.over_at));
    }
    if !claim.relative_to.is_empty() {
        let _ = write!(what, ", each divided by that of {}", system(&claim.relative_to));
    }
    for (word, s) in [("from", claim.after_s), ("before", claim.before_s)] {
        _ = s.map(|s| write!(what, ", {word} {s} s"));
    }
    if claim.one_draw {
        what.push_str(", of one draw");
    }
    what
}

/// What is claimed of it: `at least 1.5`, `1 to 2 in at least 90 % of the cells`.
pub(super) fn bounds(claim: &Claim) -> String {
    let range = |low: Option<String>, high: Option<String>| match (low, high) {
        (Some(a), Some(b)) if a == b => a,
        (Some(a), Some(b)) => format!("{a} to {b}"),
        (Some(a), None) => format!("at least {a}"),
        (None, Some(b)) => format!("at most {b}"),
        (None, None) => String::new(),
    };
    let bound = |x: f64| time(claim, x).unwrap_or_else(|| x.to_string());
    let bounds = range(claim.at_least.map(bound), claim.at_most.map(bound));
    match range(claim.share_at_least.map(percent), claim.share_at_most.map(percent)) {
        cells if cells.is_empty() => bounds,
        cells => format!("{bounds} in {cells} of the cells"),
    }
}

/// What is checked, and what is claimed of it.
pub fn asked(claim: &Claim) -> String {
    format!("{}: claimed {}", subject(claim), bounds(claim))
}

/// What came out: `is 1.2`, and the cells with their values, each in the words of `cell`.
pub fn came_out(claim: &Claim, c: &Checked, cell: fn(&CellValue, String) -> String) -> String {
    let taken = match c.taken {
        Some(share) if claim.is_of_a_share() => {
            format!("is so in {} ({} of {})", percent(share), c.good, c.cells.len())
        }
        Some(x) => format!("is {}", figure(claim, x)),
        None => String::new(),
    };
    let values = c.cells.iter().map(|c| c.value);
    let cells = match c.cells.as_slice() {
        [] => String::new(),
        [one] if c.taken.is_none() => figure(claim, one.value),
        cells if cells.len() <= LISTED_MAX => {
            let list: Vec<String> = cells.iter().map(|c| cell(c, figure(claim, c.value))).collect();
            list.join(", ")
        }
        cells => {
            let least = figure(claim, values.clone().fold(f64::INFINITY, f64::min));
            let most = figure(claim, values.fold(f64::NEG_INFINITY, f64::max));
            format!("{least} to {most} in {} cells", cells.len())
        }
    };
    let both = [taken, cells];
    both.iter().filter(|s| !s.is_empty()).map(String::as_str).collect::<Vec<_>>().join(": ")
}

/// The value that decides, with its interval: `worst of 5 cells 0.9 (0.8 to 1.0) at slo=3`.
pub(super) fn decides(claim: &Claim, c: &Checked) -> String {
    let with = |x: f64, interval: Option<[f64; 2]>| {
        let [low, high] = interval.unwrap_or([x, x]).map(|end| figure(claim, end));
        let x = figure(claim, x);
        if low == high { x } else { format!("{x} ({low} to {high})") }
    };
    // How far its interval reaches out of what is claimed; where that makes it false, with its whole width.
    let is_false = c.verdict == Verdict::DoesNotHold;
    let outside = |c: &CellValue| {
        let [low, high] = c.ci95.unwrap_or([c.value; 2]);
        let (low, high) = if is_false { (high, low) } else { (low, high) };
        let below = claim.at_least.map_or(f64::NEG_INFINITY, |b| b - low);
        below.max(claim.at_most.map_or(f64::NEG_INFINITY, |b| high - b))
    };
    let worst = c.cells.iter().max_by(|a, b| outside(a).total_cmp(&outside(b)));
    match (c.taken, worst) {
        (Some(_), _) if claim.is_of_a_share() => {
            let all = format!("{} of {} cells", c.good, c.cells.len());
            c.taken_ci95
                .map_or(all.clone(), |[low, _]| format!("{all}, surely in {}", percent(low)))
        }
        (Some(x), _) => with(x, c.taken_ci95),
        (None, Some(cell)) if c.cells.len() == 1 => with(cell.value, cell.ci95),
        (None, Some(cell)) => {
            let value = with(cell.value, cell.ci95);
            format!("worst of {} cells {value} at {}", c.cells.len(), cell.at)
        }
        (None, None) => String::new(),
    }
}
