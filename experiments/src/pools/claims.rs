//! The paper's sentences about pools, checked against rows: each holds or does not, with our figures.

use super::file::{Claim, Take};
use orrery_results::Row;
use std::fmt::Write;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Whether it holds; none where no cell was run.
    pub holds: Option<bool>,
    /// The cells and their values.
    pub cells: Vec<(String, f64)>,
    /// Of how many cells it is true.
    pub good: usize,
    /// What was taken of them, where it is one number.
    pub taken: Option<f64>,
}

/// Checks a claim.
pub fn check(claim: &Claim, rows: &[Row]) -> Checked {
    let cells = cells(claim, rows);
    let is_good = |x: f64| {
        claim.at_least.is_none_or(|least| x >= least) && claim.at_most.is_none_or(|most| x <= most)
    };
    let good = cells.iter().filter(|c| is_good(c.1)).count();
    let values = || cells.iter().map(|c| c.1);
    let taken = match claim.take {
        Take::Each => None,
        Take::Largest => values().reduce(f64::max),
        Take::Smallest => values().reduce(f64::min),
        Take::Mean => (!cells.is_empty()).then(|| values().sum::<f64>() / cells.len() as f64),
    };
    let holds = match (cells.is_empty(), taken) {
        (true, _) => None,
        (false, Some(x)) => Some(is_good(x)),
        (false, None) => Some(good == cells.len()),
    };
    Checked { holds, good, taken, cells }
}

fn cells(claim: &Claim, rows: &[Row]) -> Vec<(String, f64)> {
    let find = |name: &str, setting: &str, model: &str, pool: &str, metric: &str| {
        let fits = |r: &&Row, axis: &str, value: &str| {
            value.is_empty() || r.axis(axis).unwrap_or_default() == value
        };
        let all = rows.iter().filter(|r| r.system == name && r.metric == metric);
        all.filter(|r| r.axis("evaluation").is_none())
            .filter(|r| fits(r, "setting", setting) && fits(r, "model", model))
            .filter(|r| fits(r, "pool", pool))
            .collect::<Vec<&Row>>()
    };
    // Divided by `relative_to` in its own setting.
    let value = |r: &Row| {
        if claim.relative_to.is_empty() {
            return Some(r.value);
        }
        let (setting, model) = (r.axis("setting"), r.axis("model"));
        let by = find(
            &claim.relative_to,
            setting.unwrap_or_default(),
            model.unwrap_or_default(),
            "",
            &claim.metric,
        );
        by.first().filter(|b| b.value != 0.0).map(|b| r.value / b.value)
    };
    let mut out = Vec::new();
    for a in find(&claim.of, &claim.setting, &claim.model, &claim.pool, &claim.metric) {
        let mut label = a.axes.replace("setting=", "").replace("model=", "").replace(';', " ");
        label = label.replace("pool=", "");
        let Some(above) = value(a) else { continue };
        if claim.over.is_empty() {
            out.push((label, above));
            continue;
        }
        let (own, model) = (a.axis("setting").unwrap_or_default(), a.axis("model"));
        let model = model.unwrap_or_default();
        let setting = if claim.over_setting.is_empty() { own } else { &claim.over_setting };
        let mut below = find(&claim.over, setting, model, &claim.over_pool, &claim.metric);
        if below.len() > 1 && claim.over_pool.is_empty() {
            below.retain(|b| b.axis("pool") == a.axis("pool"));
        }
        let by = below.first().and_then(|b| value(b)).filter(|b| *b != 0.0);
        out.extend(by.map(|by| (label, above / by)));
    }
    out
}

/// A line for each claim.
pub fn text(claims: &[Claim], rows: &[Row], out: &mut String) {
    if claims.is_empty() {
        return;
    }
    out.push_str("\nthe paper's sentences, and what came out:\n");
    for claim in claims {
        let c = check(claim, rows);
        let verdict = match c.holds {
            None => "not run",
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
        };
        let _ = write!(out, "- {} -> {verdict}", claim.text);
        if c.taken.is_none() && c.holds == Some(false) && c.good > 0 {
            let _ = write!(out, " ({} of {} do)", c.good, c.cells.len());
        }
        let (what, least, most) = (subject(claim), claim.at_least, claim.at_most);
        let asked = match (least, most) {
            (Some(a), Some(b)) => format!("{a} to {b}"),
            (Some(a), None) => format!("at least {a}"),
            (None, Some(b)) => format!("at most {b}"),
            (None, None) => String::new(),
        };
        let taken = match claim.take {
            Take::Each => String::new(),
            Take::Largest => "largest ".to_string(),
            Take::Smallest => "smallest ".to_string(),
            Take::Mean => "mean ".to_string(),
        };
        let _ = write!(out, "\n    {taken}{what}, asked {asked}");
        if let Some(x) = c.taken {
            let _ = write!(out, ", is {x:.3}");
        }
        if c.cells.len() <= 10 {
            let list: Vec<String> = c.cells.iter().map(|(l, x)| format!("{l} {x:.3}")).collect();
            let _ = write!(out, ": {}", list.join(", "));
        } else {
            let least = c.cells.iter().map(|x| x.1).fold(f64::INFINITY, f64::min);
            let most = c.cells.iter().map(|x| x.1).fold(f64::NEG_INFINITY, f64::max);
            let _ = write!(out, ": {least:.3} to {most:.3} in {} cells", c.cells.len());
        }
        out.push('\n');
    }
}

fn subject(claim: &Claim) -> String {
    let mut what = claim.of.clone();
    if !claim.over.is_empty() {
        let _ = write!(what, " / {}", claim.over);
    }
    if !claim.relative_to.is_empty() {
        let _ = write!(what, ", each over {}", claim.relative_to);
    }
    if claim.metric != super::ALLOWABLE {
        let _ = write!(what, ", {}", claim.metric);
    }
    what
}
