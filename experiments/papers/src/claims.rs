//! A paper's sentences, checked against rows: each holds or does not, with our figures beside it.

use super::numbers::{axes, axis, is_at, is_named_part, is_of};
use orrery_results::{Row, metric, unit};
use orrery_scenario::SpecError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// `[[claim]]`: a sentence of the paper about a system, or about the ratio of two.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The claim in your words, and its place in the paper.
    pub text: String,
    /// The system, the numerator of a ratio; `NAME/PRESET` if several systems share the name.
    pub of: String,
    /// The system in the denominator; without it, the value itself is checked.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub over: String,
    /// Selects cells of `of` by some of the axes, as `name=value;name=value`.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: String,
    /// Selects cells of `over` on the axes where they differ from those of `of`; `name=*` is the value
    /// that `of` has.
    #[serde(default)]
    #[schemars(extend("x-default" = "the same"))]
    pub over_at: String,
    /// For a ratio of ratios: a system that both sides are divided by first, each in its own cell.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub relative_to: String,
    /// The metric.
    #[serde(default)]
    #[schemars(extend("x-default" = "the first of `show`"))]
    pub metric: String,
    /// How several cells become one check.
    #[serde(default)]
    pub take: Take,
    /// With `bin_s` or `parts_of_time`: only parts of the time that begin then or later.
    #[schemars(extend("x-default" = "the whole run"))]
    pub after_s: Option<f64>,
    /// Only parts that begin before.
    #[schemars(extend("x-default" = "the whole run"))]
    pub before_s: Option<f64>,
    /// Lower bound; give this, `at_most`, or both.
    #[schemars(extend("x-default" = "no bound"))]
    pub at_least: Option<f64>,
    /// Upper bound.
    #[schemars(extend("x-default" = "no bound"))]
    pub at_most: Option<f64>,
}

/// What of several cells is checked.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Each of them.
    #[default]
    Each,
    /// The largest: "up to".
    Largest,
    /// The smallest.
    Smallest,
    /// The mean: "about".
    Mean,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// Whether it holds; none where no cell was run.
    pub holds: Option<bool>,
    /// The cells and their values.
    pub cells: Vec<(String, f64)>,
    /// Of how many cells it is true.
    pub good: usize,
    /// What was taken of them, where it is one number.
    pub taken: Option<f64>,
    /// Cells in which `of` has no answer.
    pub unanswered: usize,
    /// Why there is no verdict although cells were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_judged: Option<String>,
}

/// What a run leaves out of that of which its experiment's claims speak.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// The seeds of the run and those of the experiment, where these are more.
    pub seeds: Option<(u32, u32)>,
    /// Where cases are left out: of how many cells each claim speaks.
    pub cells: Option<Vec<usize>>,
}

impl LeftOut {
    /// Why the claim of a number has no verdict with so many cells, if so.
    fn why(&self, claim: usize, cells: usize) -> Option<String> {
        let all = self.cells.as_ref().map(|all| all.get(claim).copied().unwrap_or(0));
        let of_cells = match all {
            Some(0) => Some("some of its cells are left out".to_string()),
            Some(all) if cells < all => Some(format!("{cells} of its {all} cells were run")),
            _ => None,
        };
        let seeds = self.seeds.map(|(run, all)| format!("{run} of {all} seeds"));
        let why: Vec<String> = of_cells.into_iter().chain(seeds).collect();
        (!why.is_empty()).then(|| why.join(", "))
    }
}

/// Checks all claims; one has a verdict only where all was run of which it speaks.
pub fn judged(claims: &[Claim], left_out: &LeftOut, rows: &[Row]) -> Vec<Checked> {
    let of = |(i, claim): (usize, &Claim)| {
        let checked = check(claim, rows);
        match left_out.why(i, checked.cells.len()) {
            Some(why) if checked.holds.is_some() => {
                Checked { holds: None, not_judged: Some(why), ..checked }
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
        cells(&Claim { metric, ..claim.clone() }, rows).0.len()
    };
    claims.iter().map(of).collect()
}

/// Cells that are listed one by one.
const LISTED_MAX: usize = 10;

impl Claim {
    /// Passes when something would make it false.
    ///
    /// # Errors
    /// When it has no bound, or bounds that nothing is between.
    pub fn check(&self) -> Result<(), SpecError> {
        let remedy = "say which values would make it false";
        match (self.at_least, self.at_most) {
            (None, None) => {
                let allowed = "`at_least`, `at_most` or both";
                Err(SpecError::value("at_least", "no bound", allowed, remedy))
            }
            (Some(a), Some(b)) if a > b => {
                let found = format!("{a}, above `at_most`, {b}");
                Err(SpecError::value("at_least", found, "at most `at_most`", remedy))
            }
            _ => Ok(()),
        }
    }

    fn is_good(&self, x: f64) -> bool {
        self.at_least.is_none_or(|least| x >= least) && self.at_most.is_none_or(|most| x <= most)
    }
}

/// Checks a claim.
pub fn check(claim: &Claim, rows: &[Row]) -> Checked {
    let (cells, unanswered) = cells(claim, rows);
    let good = cells.iter().filter(|c| claim.is_good(c.1)).count();
    let values = || cells.iter().map(|c| c.1);
    let taken = match claim.take {
        Take::Each => None,
        Take::Largest => values().reduce(f64::max),
        Take::Smallest => values().reduce(f64::min),
        Take::Mean => (!cells.is_empty()).then(|| values().sum::<f64>() / cells.len() as f64),
    };
    let holds = match (cells.is_empty(), taken) {
        (true, _) => None,
        (false, Some(x)) => Some(claim.is_good(x)),
        (false, None) => Some(good == cells.len()),
    };
    Checked { holds, good, taken, cells, unanswered, not_judged: None }
}

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

/// Our values of the claim's cells, and of how many there is none.
fn cells(claim: &Claim, rows: &[Row]) -> (Vec<(String, f64)>, usize) {
    // A search that never got there has no number of evaluations: it is beyond any.
    let with_never = |system: &str, at: &str| -> Vec<Row> {
        let own: Vec<&Row> = find(rows, system, at, &claim.metric).collect();
        if !claim.metric.starts_with("evaluations_") {
            return own.into_iter().cloned().collect();
        }
        let never = |r: &Row| {
            let (value, metric) = (Some(f64::INFINITY), claim.metric.clone());
            Row { value, metric, ..r.clone() }
        };
        let all = find(rows, system, at, metric::EVALUATIONS);
        let has = |r: &Row| own.iter().find(|o| o.axes == r.axes).map(|o| (*o).clone());
        all.map(|r| has(r).unwrap_or_else(|| never(r))).collect()
    };
    // Divided by `relative_to` at the same place, whatever pool that has.
    let value = |r: &Row| {
        if claim.relative_to.is_empty() {
            return r.value;
        }
        let mut by = find(rows, &claim.relative_to, "", &claim.metric);
        let by = by.find(|b| agree(b, r, "pool=")).and_then(|b| b.value).filter(|b| *b != 0.0)?;
        Some(r.value? / by)
    };
    let (mut out, mut unanswered) = (Vec::new(), 0);
    let over = with_never(&claim.over, &claim.over_at);
    let parts = claim.after_s.is_some() || claim.before_s.is_some();
    let is_part = |r: &Row| {
        let from = r.axis(metric::FROM).and_then(|s| s.parse::<f64>().ok());
        !parts
            || from.is_some_and(|s| {
                claim.after_s.is_none_or(|a| s >= a) && claim.before_s.is_none_or(|b| s < b)
            })
    };
    // What `*` stands for is the same on both sides.
    let fixed = claim.over_at.split(';').filter(|part| !part.ends_with("=*"));
    let named = fixed.chain(["pool="]).collect::<Vec<_>>().join(";");
    let at = if parts { format!("{};from_s=*", claim.at) } else { claim.at.clone() };
    for a in with_never(&claim.of, &at).iter().filter(|a| is_part(a)) {
        let Some(above) = value(a) else {
            unanswered += usize::from(a.value.is_none());
            continue;
        };
        if claim.over.is_empty() {
            out.push((a.clone(), above));
            continue;
        }
        let mut below: Vec<&Row> = over.iter().filter(|b| agree(b, a, &named)).collect();
        if below.len() > 1 && !claim.over_at.contains("pool=") {
            below.retain(|b| b.axis("pool") == a.axis("pool"));
        }
        let by = below.first().and_then(|b| value(b)).filter(|b| *b != 0.0);
        out.extend(by.map(|by| (a.clone(), above / by)));
    }
    (labelled(&out), unanswered)
}

/// Whether two rows agree on every axis that both have and `except` does not name.
fn agree(a: &Row, b: &Row, except: &str) -> bool {
    let names = |name: &str| except.split(';').any(|e| e.split('=').next() == Some(name));
    axes(a).filter(|(name, _)| !names(name)).all(|(name, x)| axis(b, name).is_none_or(|y| x == y))
}

/// Cells are called by the axes that tell them apart; by their pools only where they must be.
fn labelled(cells: &[(Row, f64)]) -> Vec<(String, f64)> {
    let values = |name: &str| cells.iter().map(|c| axis(&c.0, name)).collect::<BTreeSet<_>>();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in cells.iter().flat_map(|c| axes(&c.0)) {
        if !names.contains(&name) && values(name).len() > 1 {
            names.push(name);
        }
    }
    let label = |row: &Row, names: &[&str]| {
        let parts: Vec<&str> = names.iter().filter_map(|n| axis(row, n)).collect();
        parts.join(" ")
    };
    let without: Vec<&str> = names.iter().copied().filter(|n| *n != "pool").collect();
    let distinct = cells.iter().map(|c| label(&c.0, &without)).collect::<BTreeSet<_>>();
    let names = if distinct.len() == cells.len() { without } else { names };
    cells.iter().map(|(row, x)| (label(row, &names), *x)).collect()
}

fn figure(claim: &Claim, x: f64) -> String {
    if x.is_infinite() {
        return "never".to_string();
    }
    time(claim, x).unwrap_or_else(|| format!("{x:.3}"))
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

/// All claims as text: two lines for each.
pub fn text(claims: &[Claim], left_out: &LeftOut, rows: &[Row]) -> String {
    let mut out = String::new();
    if claims.is_empty() {
        return out;
    }
    out.push_str("\nthe paper's sentences, and our results:\n");
    for (claim, c) in claims.iter().zip(judged(claims, left_out, rows)) {
        let verdict = match (c.holds, &c.not_judged) {
            (None, Some(why)) => format!("not judged: {why}"),
            (None, None) => "not run".to_string(),
            (Some(true), _) => "holds".to_string(),
            (Some(false), _) => "DOES NOT HOLD".to_string(),
        };
        let _ = write!(out, "- {} -> {verdict}", claim.text);
        if c.taken.is_none() && c.holds == Some(false) && c.good > 0 {
            let _ = write!(out, " ({} of {} do)", c.good, c.cells.len());
        }
        let _ = write!(out, "\n    {}", asked(claim));
        out.push_str(&came_out(claim, &c));
        if c.unanswered > 0 {
            let _ = write!(out, "; no answer in {} more", c.unanswered);
        }
        out.push('\n');
    }
    out
}

/// What is asked: `largest symphony / nexus, batch_size_p50, asked at least 1.5`.
pub(super) fn asked(claim: &Claim) -> String {
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
    let bound = |x: f64| time(claim, x).unwrap_or_else(|| x.to_string());
    let bounds = match (claim.at_least.map(bound), claim.at_most.map(bound)) {
        (Some(a), Some(b)) => format!("{a} to {b}"),
        (Some(a), None) => format!("at least {a}"),
        (None, Some(b)) => format!("at most {b}"),
        (None, None) => String::new(),
    };
    format!("{what}, asked {bounds}")
}

/// What came out: `, is 1.2`, or the cells with their values.
pub(super) fn came_out(claim: &Claim, c: &Checked) -> String {
    let mut out = c.taken.map_or(String::new(), |x| format!(", is {}", figure(claim, x)));
    match c.cells.as_slice() {
        [] => {}
        [(_, x)] if c.taken.is_none() => _ = write!(out, ": {}", figure(claim, *x)),
        cells if cells.len() <= LISTED_MAX => {
            let list: Vec<String> =
                cells.iter().map(|(l, x)| format!("{l} {}", figure(claim, *x))).collect();
            let _ = write!(out, ": {}", list.join(", "));
        }
        cells => {
            let least = cells.iter().map(|x| x.1).fold(f64::INFINITY, f64::min);
            let most = cells.iter().map(|x| x.1).fold(f64::NEG_INFINITY, f64::max);
            let (least, most) = (figure(claim, least), figure(claim, most));
            let _ = write!(out, ": {least} to {most} in {} cells", cells.len());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &str, axes: &str, value: f64) -> Row {
        Row {
            system: system.into(),
            axes: axes.into(),
            scope: "all".into(),
            metric: "rate".into(),
            value: Some(value),
            ..Row::default()
        }
    }

    fn claim(text: &str) -> Claim {
        let mut claim: Claim = toml::from_str(&format!("text = \"t\"\n{text}")).unwrap();
        if claim.metric.is_empty() {
            claim.metric = "rate".to_string();
        }
        claim
    }

    #[test]
    fn a_ratio_is_of_the_same_model_setting_and_pool() {
        let rows = [
            row("a", "setting=x;model=m;pool=1-0", 10.0),
            row("a", "setting=x;model=m;pool=0-1", 30.0),
            row("a", "setting=y;model=m;pool=1-0", 70.0),
            row("b", "setting=x;model=m;pool=1-0", 5.0),
            row("b", "setting=x;model=m;pool=0-1", 10.0),
            row("c", "setting=x;model=m;pool=2-2", 2.0),
            row("c", "setting=y;model=m;pool=2-2", 7.0),
        ];
        let values =
            |text: &str| check(&claim(text), &rows).cells.iter().map(|c| c.1).collect::<Vec<f64>>();
        assert_eq!(values("of = \"a\"\nover = \"b\"\nat_least = 1.0"), [2.0, 3.0]);
        assert_eq!(values("of = \"a\"\nover = \"c\"\nat_least = 1.0"), [5.0, 15.0, 10.0]);
        assert_eq!(values("of = \"a\"\nat = \"pool=0-1\"\nat_least = 1.0"), [30.0]);
        let across = "of = \"a\"\nover = \"a\"\nat = \"setting=y;pool=1-0\"\nover_at = \"setting=x;pool=1-0\"\n\
                      relative_to = \"c\"\nat_most = 2.0";
        assert_eq!(values(across), [2.0], "70 / 7 over 10 / 2");
    }

    #[test]
    fn parts_of_the_time_and_groups_count_only_where_they_are_named() {
        let rows = [
            row("a", "n=1", 5.0),
            row("a", "n=1;from_s=0", 1.0),
            row("a", "n=1;from_s=60", 2.0),
            row("a", "n=1;from_s=120", 3.0),
            row("a", "n=1;from_s=0;group=x", 4.0),
            row("a", "n=1;from_s=120;group=x", 6.0),
        ];
        let values =
            |text: &str| check(&claim(text), &rows).cells.iter().map(|c| c.1).collect::<Vec<f64>>();
        assert_eq!(values("of = \"a\"\nat_least = 1.0"), [5.0]);
        assert_eq!(values("of = \"a\"\nat = \"from_s=60\"\nat_least = 1.0"), [2.0]);
        assert_eq!(values("of = \"a\"\nafter_s = 60.0\nat_least = 1.0"), [2.0, 3.0]);
        assert_eq!(values("of = \"a\"\nbefore_s = 60.0\nat_least = 1.0"), [1.0]);
        let both = "of = \"a\"\nat = \"group=x\"\nafter_s = 1.0\nbefore_s = 500.0\nat_least = 1.0";
        assert_eq!(values(both), [6.0]);
        let alone =
            [row("a", "n=0;from_s=0;group=x", 8.0), row("a", "n=0;from_s=120;group=x", 2.0)];
        let all: Vec<Row> = rows.into_iter().chain(alone).collect();
        let ratio = "of = \"a\"\nover = \"a\"\nat = \"n=1;group=x;from_s=*\"\n\
                     over_at = \"n=0;group=x;from_s=*\"\nat_least = 1.0";
        let got: Vec<f64> = check(&claim(ratio), &all).cells.iter().map(|c| c.1).collect();
        assert_eq!(got, [0.5, 3.0], "each part over the same part");
    }

    #[test]
    fn a_search_that_never_got_there_fails() {
        let of = |model: &str, metric: &str, value: f64| Row {
            metric: metric.to_string(),
            ..row("s", &format!("model={model}"), value)
        };
        let rows = [
            of("m", "evaluations", 20.0),
            of("n", "evaluations", 20.0),
            of("n", "evaluations_until_reached", 9.0),
        ];
        let text = "of = \"s\"\nmetric = \"evaluations_until_reached\"\nat_most = 12.0";
        let until = claim(text);
        let c = check(&until, &rows);
        assert_eq!((c.holds, c.good, c.cells.len()), (Some(false), 1, 2));
        let text = super::text(&[until], &LeftOut::default(), &rows);
        assert!(text.contains("m never, n 9.000"), "{text}");
    }

    #[test]
    fn a_claim_holds_in_each_cell_or_for_what_is_taken() {
        let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
        let holds = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).holds;
        assert_eq!(holds("at_least = 1.0"), Some(true));
        assert_eq!(holds("at_least = 1.1"), Some(false));
        assert_eq!(holds("take = \"largest\"\nat_least = 2.9\nat_most = 3.1"), Some(true));
        assert_eq!(holds("take = \"smallest\"\nat_least = 2.9"), Some(false));
        assert_eq!(holds("take = \"mean\"\nat_least = 2.0\nat_most = 2.0"), Some(true));
        assert_eq!(holds("at = \"model=n\"\nat_most = 2.0"), Some(false));
        assert_eq!(holds("at = \"model=none\"\nat_most = 2.0"), None);
        let text = super::text(&[claim("of = \"a\"\nat_least = 2.0")], &LeftOut::default(), &rows);
        assert!(text.contains("t -> DOES NOT HOLD (1 of 2 do)"), "{text}");
        assert!(text.contains("asked at least 2: m 1.000, n 3.000"), "{text}");
    }

    #[test]
    fn a_claim_of_which_cells_or_seeds_are_left_out_has_no_verdict() {
        let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
        let claims = [
            claim("of = \"a\"\nat_least = 1.0"),
            claim("of = \"a\"\nat = \"model=n\"\nat_least = 1.0"),
        ];
        let all = cells_of(&claims, &rows, "rate");
        assert_eq!(all, [2, 1]);
        let left_out = LeftOut { cells: Some(all), ..LeftOut::default() };
        let holds = |left_out: &LeftOut, rows: &[Row]| -> Vec<Option<bool>> {
            judged(&claims, left_out, rows).iter().map(|c| c.holds).collect()
        };
        assert_eq!(holds(&left_out, &rows), [Some(true); 2]);
        assert_eq!(holds(&left_out, &rows[..1]), [None, None]);
        assert_eq!(
            holds(&left_out, &rows[1..]),
            [None, Some(true)],
            "the second speaks of one cell"
        );
        let text = super::text(&claims, &left_out, &rows[1..]);
        assert!(text.contains("t -> not judged: 1 of its 2 cells were run"), "{text}");
        let few = LeftOut { seeds: Some((1, 5)), ..LeftOut::default() };
        assert_eq!(holds(&few, &rows), [None, None]);
        assert!(super::text(&claims, &few, &rows).contains("not judged: 1 of 5 seeds"));
    }
}
