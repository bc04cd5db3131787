//! A paper's sentences, checked against rows: each holds or does not, with our figures beside it.

mod estimate;

use super::numbers::{axes, axis, is_at, is_named_part, is_of};
use estimate::Estimate;
use orrery_results::metric::difference_of;
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

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is true of our results.
    Holds,
    /// It is not.
    DoesNotHold,
    /// A 95 % interval crosses a bound, and nothing else makes it false.
    Undecided,
    /// Not all of its cells and seeds were run.
    NotJudged,
    /// No cell was run.
    NotRun,
}

impl Verdict {
    /// For reading.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "undecided",
            Verdict::NotJudged => "not judged",
            Verdict::NotRun => "not run",
        }
    }
}

/// Our value in a cell of which a claim speaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellValue {
    /// The axes that tell it from the others.
    pub cell: String,
    /// The value, or the ratio.
    pub value: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// What is said of it.
    pub verdict: Verdict,
    /// Why it is undecided or not judged.
    pub why: String,
    /// The cells and their values.
    pub cells: Vec<CellValue>,
    /// Of how many cells it is true.
    pub good: usize,
    /// What was taken of them, where it is one number.
    pub taken: Option<f64>,
    /// Cells in which `of` has no answer.
    pub unanswered: usize,
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
    let (found, unanswered) = cells(claim, rows);
    let estimates: Vec<Estimate> = found.iter().map(|c| c.1).collect();
    let taken = match claim.take {
        Take::Each => None,
        Take::Largest => Estimate::largest(&estimates),
        Take::Smallest => Estimate::smallest(&estimates),
        Take::Mean => Estimate::mean(&estimates),
    };
    let judged: Vec<Estimate> = taken.map_or_else(|| estimates.clone(), |taken| vec![taken]);
    let within: Vec<Option<bool>> =
        judged.iter().map(|e| e.is_within(claim.at_least, claim.at_most)).collect();
    let crossing = judged.iter().zip(&within).filter(|(_, w)| w.is_none()).map(|(e, _)| e);
    let crossing: Vec<&Estimate> = crossing.collect();
    let (verdict, why) = match crossing.as_slice() {
        [] if within.is_empty() => (Verdict::NotRun, String::new()),
        _ if within.contains(&Some(false)) => (Verdict::DoesNotHold, String::new()),
        [] => (Verdict::Holds, String::new()),
        [one] => {
            let (low, high) = (figure(claim, one.low), figure(claim, one.high));
            (Verdict::Undecided, format!("95 % interval {low} to {high}"))
        }
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
        cells: labelled(&found),
        unanswered,
    }
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
fn cells(claim: &Claim, rows: &[Row]) -> (Vec<(Row, Estimate)>, usize) {
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
            return Estimate::of(r);
        }
        let mut by = find(rows, &claim.relative_to, "", &claim.metric);
        let by = by.find(|b| agree(b, r, "pool=")).and_then(Estimate::of);
        Some(Estimate::of(r)?.over(&by.filter(|b| b.value != 0.0)?))
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
        let Some(b) = below.first() else { continue };
        let Some(by) = value(b).filter(|b| b.value != 0.0) else { continue };
        let paired = difference(rows, a, b).filter(|_| claim.relative_to.is_empty());
        let ratio = paired.map_or_else(|| above.over(&by), |d| d.ratio_of_difference(&by));
        out.push((a.clone(), Estimate { value: above.value / by.value, ..ratio }));
    }
    (out, unanswered)
}

/// The difference of two systems at one place, where they were compared seed by seed.
fn difference(rows: &[Row], a: &Row, b: &Row) -> Option<Estimate> {
    let metric = difference_of(&a.metric);
    let of = |a: &Row, b: &Row| {
        let is = |r: &&Row| {
            r.metric == metric
                && r.scope == a.scope
                && r.axes == a.axes
                && r.case == a.case
                && (&r.system, &r.preset) == (&a.system, &a.preset)
                && r.versus == b.system
        };
        rows.iter().find(is).and_then(Estimate::of)
    };
    if a.axes != b.axes || a.case != b.case || a.preset != b.preset {
        return None;
    }
    of(a, b).or_else(|| of(b, a).map(|d| d.negative()))
}

/// Whether two rows agree on every axis that both have and `except` does not name.
fn agree(a: &Row, b: &Row, except: &str) -> bool {
    let names = |name: &str| except.split(';').any(|e| e.split('=').next() == Some(name));
    axes(a).filter(|(name, _)| !names(name)).all(|(name, x)| axis(b, name).is_none_or(|y| x == y))
}

/// Cells are called by the axes that tell them apart; by their pools only where they must be.
fn labelled(cells: &[(Row, Estimate)]) -> Vec<CellValue> {
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
    let value = |(row, e): &(Row, Estimate)| CellValue {
        cell: label(row, &names),
        value: e.value,
        ci95: e.interval(),
    };
    cells.iter().map(value).collect()
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
        let verdict = match c.verdict {
            Verdict::DoesNotHold => "DOES NOT HOLD".to_string(),
            verdict if c.why.is_empty() => verdict.words().to_string(),
            verdict => format!("{}: {}", verdict.words(), c.why),
        };
        let _ = write!(out, "- {} -> {verdict}", claim.text);
        if c.taken.is_none() && c.verdict == Verdict::DoesNotHold && c.good > 0 {
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
pub fn came_out(claim: &Claim, c: &Checked) -> String {
    let mut out = c.taken.map_or(String::new(), |x| format!(", is {}", figure(claim, x)));
    let is_each = c.taken.is_none();
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
        let values = |text: &str| {
            check(&claim(text), &rows).cells.iter().map(|c| c.value).collect::<Vec<f64>>()
        };
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
        let values = |text: &str| {
            check(&claim(text), &rows).cells.iter().map(|c| c.value).collect::<Vec<f64>>()
        };
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
        let got: Vec<f64> = check(&claim(ratio), &all).cells.iter().map(|c| c.value).collect();
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
        assert_eq!((c.verdict, c.good, c.cells.len()), (Verdict::DoesNotHold, 1, 2));
        let text = super::text(&[until], &LeftOut::default(), &rows);
        assert!(text.contains("m never, n 9.000"), "{text}");
    }

    #[test]
    fn a_claim_holds_in_each_cell_or_for_what_is_taken() {
        let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
        let verdict = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).verdict;
        assert_eq!(verdict("at_least = 1.0"), Verdict::Holds);
        assert_eq!(verdict("at_least = 1.1"), Verdict::DoesNotHold);
        assert_eq!(verdict("take = \"largest\"\nat_least = 2.9\nat_most = 3.1"), Verdict::Holds);
        assert_eq!(verdict("take = \"smallest\"\nat_least = 2.9"), Verdict::DoesNotHold);
        assert_eq!(verdict("take = \"mean\"\nat_least = 2.0\nat_most = 2.0"), Verdict::Holds);
        assert_eq!(verdict("at = \"model=n\"\nat_most = 2.0"), Verdict::DoesNotHold);
        assert_eq!(verdict("at = \"model=none\"\nat_most = 2.0"), Verdict::NotRun);
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
        let verdicts = |left_out: &LeftOut, rows: &[Row]| -> Vec<Verdict> {
            judged(&claims, left_out, rows).iter().map(|c| c.verdict).collect()
        };
        assert_eq!(verdicts(&left_out, &rows), [Verdict::Holds; 2]);
        assert_eq!(verdicts(&left_out, &rows[..1]), [Verdict::NotJudged, Verdict::NotRun]);
        assert_eq!(
            verdicts(&left_out, &rows[1..]),
            [Verdict::NotJudged, Verdict::Holds],
            "the second speaks of one cell"
        );
        let text = super::text(&claims, &left_out, &rows[1..]);
        assert!(text.contains("t -> not judged: 1 of its 2 cells were run"), "{text}");
        let few = LeftOut { seeds: Some((1, 5)), ..LeftOut::default() };
        assert_eq!(verdicts(&few, &rows), [Verdict::NotJudged; 2]);
        assert!(super::text(&claims, &few, &rows).contains("not judged: 1 of 5 seeds"));
    }

    fn with_interval(row: Row, low: f64, high: f64) -> Row {
        Row { ci95_low: Some(low), ci95_high: Some(high), ..row }
    }

    #[test]
    fn an_interval_that_crosses_the_bound_leaves_a_claim_undecided() {
        let rows = [
            with_interval(row("a", "model=m", 1.0), 0.8, 1.2),
            with_interval(row("a", "model=n", 3.0), 2.9, 3.1),
        ];
        let verdict = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).verdict;
        assert_eq!(verdict("at_least = 0.7"), Verdict::Holds);
        assert_eq!(verdict("at_least = 0.9"), Verdict::Undecided);
        assert_eq!(verdict("at_least = 1.1"), Verdict::Undecided);
        assert_eq!(verdict("at_least = 1.3"), Verdict::DoesNotHold);
        assert_eq!(
            verdict("at_least = 0.9\nat_most = 2.0"),
            Verdict::DoesNotHold,
            "n surely is not"
        );
        assert_eq!(verdict("take = \"largest\"\nat_least = 2.5"), Verdict::Holds);
        assert_eq!(verdict("take = \"mean\"\nat_least = 2.0"), Verdict::Undecided);
        let text = super::text(&[claim("of = \"a\"\nat_least = 0.9")], &LeftOut::default(), &rows);
        assert!(text.contains("t -> undecided: 95 % interval 0.800 to 1.200"), "{text}");
    }

    #[test]
    fn two_that_were_compared_seed_by_seed_are_as_sure_as_their_difference() {
        let own = [("a", 0.90), ("b", 0.88)];
        let mut rows: Vec<Row> = own
            .map(|(name, x)| with_interval(row(name, "n=1", x), x - 0.1, x + 0.1))
            .into_iter()
            .collect();
        let verdict = |of: &str, over: &str, bound: &str, rows: &[Row]| {
            check(&claim(&format!("of = \"{of}\"\nover = \"{over}\"\n{bound}")), rows).verdict
        };
        assert_eq!(verdict("a", "b", "at_least = 1.0", &rows), Verdict::Undecided);
        let difference = Row {
            metric: difference_of("rate"),
            versus: "b".to_string(),
            ..with_interval(row("a", "n=1", 0.02), 0.01, 0.03)
        };
        rows.push(difference);
        assert_eq!(verdict("a", "b", "at_least = 1.0", &rows), Verdict::Holds);
        assert_eq!(verdict("b", "a", "at_most = 1.0", &rows), Verdict::Holds);
        assert_eq!(verdict("b", "a", "at_least = 1.0", &rows), Verdict::DoesNotHold);
    }
}
