//! What the papers claim: a point for each headline, and all of it as a table.

use crate::claims::Judged;
use orrery_report::page::Part;
use orrery_reproduce::claims::table as claim_table;
use orrery_reproduce::claims::{Checked, Claim, Verdict};

const ALL: [Verdict; 6] = [
    Verdict::Holds,
    Verdict::DoesNotHold,
    Verdict::Undecided,
    Verdict::NotJudged,
    Verdict::NotRun,
    Verdict::NoAnswer,
];

/// The section; `is_part` where some of the suite or of its seeds was left out.
pub fn parts(judged: &[Judged], is_part: bool) -> Vec<Part> {
    if judged.is_empty() {
        return Vec::new();
    }
    let mut points = vec![counts(judged)];
    let (mut rest, mut undone) = (judged, 0);
    while let Some(first) = rest.first() {
        let n = rest.iter().take_while(|j| j.headline.id == first.headline.id).count();
        match !is_part || rest[..n].iter().any(|j| is_judged(&j.checked)) {
            true => points.push(point(&rest[..n])),
            false => undone += 1,
        }
        rest = &rest[n..];
    }
    if undone > 0 {
        points.push(format!(
            "{undone} headlines are not judged anywhere: a claim has a verdict where all was run of which it speaks. Run \
             the whole suite with at least five seeds."
        ));
    }
    let (claims, checked): (Vec<Claim>, Vec<Checked>) =
        judged.iter().map(|j| (j.claim.clone(), j.checked.clone())).unzip();
    let table = claim_table(&claims, &checked).part();
    let folded =
        Part::Folded("Each headline in each regime".to_string(), table.into_iter().collect());
    Part::list(points).into_iter().chain([folded]).collect()
}

fn is_judged(checked: &Checked) -> bool {
    !matches!(checked.verdict, Verdict::NotJudged | Verdict::NotRun | Verdict::NoAnswer)
}

/// How many verdicts of each kind, in the papers' own regimes and elsewhere.
fn counts(judged: &[Judged]) -> String {
    let of = |is_own: bool| {
        let count = |v: &Verdict| {
            judged.iter().filter(|j| j.is_own == is_own && j.checked.verdict == *v).count()
        };
        let some = ALL.iter().map(|v| (v, count(v))).filter(|(_, n)| *n > 0);
        some.map(|(v, n)| format!("{} {n}", v.words())).collect::<Vec<_>>().join(", ")
    };
    format!("In the papers' own regimes: {}. Elsewhere: {}.", of(true), of(false))
}

/// A headline: what came of it in its own regimes, one by one, and where else it holds.
fn point(judged: &[Judged]) -> String {
    let first = &judged[0];
    let what = format!("{} ({}).", first.headline.claim.text, first.headline.source);
    let why = &first.checked.why;
    if judged.iter().all(|j| j.checked.verdict == Verdict::NotJudged && j.checked.why == *why) {
        return format!("{what} Not judged: {why}.");
    }
    let own = |j: &Judged| format!("{} {}{}", j.regime.words, j.checked.verdict.words(), value(j));
    let own: Vec<String> = judged.iter().filter(|j| j.is_own).map(own).collect();
    let own = if own.is_empty() { String::new() } else { format!(" Its own: {}.", own.join("; ")) };
    let others = |v: &Verdict| {
        let is = |j: &&Judged| !j.is_own && j.checked.verdict == *v;
        let all: Vec<String> =
            judged.iter().filter(is).map(|j| format!("{}{}", j.regime.name, value(j))).collect();
        (!all.is_empty()).then(|| format!("{} in {}", v.words(), all.join(", ")))
    };
    let others: Vec<String> = ALL.iter().filter_map(others).collect();
    format!("{what}{own} Elsewhere: {}.", others.join("; "))
}

/// ` (1.72)`, with why it is undecided or not judged.
fn value(j: &Judged) -> String {
    let value = j.value().map(|x| match x {
        x if x < 10.0 => format!("{x:.3}"),
        x if x.is_infinite() => "infinite: the other finishes nothing".to_string(),
        x => format!("{x:.0}"),
    });
    let why = Some(&j.checked.why).filter(|w| !w.is_empty() && j.is_own).cloned();
    let words: Vec<String> = value.into_iter().chain(why).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join("; ")) }
}
