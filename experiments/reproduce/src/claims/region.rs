//! Where claims hold: each judged with every value of what the paper does not give.

use super::cells::sides;
use super::claim::{Checked, Claim, LeftOut, Verdict};
use super::judge::{check, judged};
use super::words::asked;
use crate::numbers::axis;
use orrery_report::page::{Field, Part, Table, Tone};
use orrery_results::{Row, distinct, joined, pairs};
use serde::Serialize;

/// What came of a claim with one value of each axis of a region.
#[derive(Clone, Debug, Serialize)]
pub struct Within {
    /// The values: `mean=244;sd=100`.
    pub at: String,
    /// What came of it there.
    #[serde(flatten)]
    pub checked: Checked,
}

/// What came of each claim with the values of these axes, in the order in which they were run; a cell that lacks one is of
/// no value.
pub fn within(
    claims: &[Claim],
    axes: &[String],
    left_out: &LeftOut,
    rows: &[Row],
) -> Vec<Vec<Within>> {
    let at = |row: &Row| {
        let parts = axes.iter().map(|a| Some((a.as_str(), axis(row, a)?)));
        parts.collect::<Option<Vec<_>>>().map(joined)
    };
    let of = |(claim, whole): (&Claim, Checked)| {
        let places = distinct(sides(claim, rows).iter().filter_map(|s| at(&s.0)));
        let one = |at: String| {
            let claim = Claim { at: format!("{};{at}", claim.at), ..claim.clone() };
            let mut checked = check(&claim, rows);
            if checked.verdict == Verdict::NotRun {
                return None;
            }
            if whole.verdict == Verdict::NotJudged {
                (checked.verdict, checked.why) = (whole.verdict, whole.why.clone());
            }
            Some(Within { at, checked })
        };
        places.into_iter().filter_map(one).collect()
    };
    claims.iter().zip(judged(claims, left_out, rows)).map(of).collect()
}

/// The values of a place, without their names: `244, 100`.
fn values(at: &str) -> String {
    pairs(at).map(|(_, value)| value).collect::<Vec<_>>().join(", ")
}

/// The values with which a claim has a verdict: `244, 100; 500, 170`.
pub fn values_with(region: &[Within], verdict: Verdict) -> String {
    let those = region.iter().filter(|w| w.checked.verdict == verdict);
    those.map(|w| values(&w.at)).collect::<Vec<_>>().join("; ")
}

/// In how much of the region the claims hold.
pub fn region_in_words(axes: &[String], regions: &[Vec<Within>]) -> String {
    let holds = |w: &Within| w.checked.verdict == Verdict::Holds;
    let run = regions.iter().filter(|r| !r.is_empty());
    let all = run.clone().filter(|r| r.iter().all(holds)).count();
    let none = run.clone().filter(|r| !r.iter().any(holds)).count();
    let of = run.count();
    let some = of - all - none;
    let axes = axes.join(" and ");
    format!(
        "Of {of} claims {all} hold with every value of {axes}, {some} with some, {none} with none."
    )
}

/// The map: a line for each claim, and for each value of the second axis, and a column for each value of the first.
pub fn region_part(claims: &[Claim], axes: &[String], regions: &[Vec<Within>]) -> Vec<Part> {
    let split = |at: &str| {
        let (first, rest) = at.split_once(';').unwrap_or((at, ""));
        (first.to_string(), rest.to_string())
    };
    let columns = distinct(regions.iter().flatten().map(|w| split(&w.at).0));
    let heads: Vec<String> = columns.iter().map(|c| values(c)).collect();
    let named: Vec<&str> = ["claim", axes.get(1).map_or("", String::as_str)]
        .into_iter()
        .chain(heads.iter().map(String::as_str))
        .collect();
    let caption = format!("with {} of", axes.first().map_or("", String::as_str));
    let mut table = Table { keys: 2, ..Table::new(caption, &named) };
    let mut texts = Vec::new();
    for (i, (claim, region)) in claims.iter().zip(regions).enumerate() {
        texts.push(format!("{}: {} [{}]", i + 1, claim.text, asked(claim)));
        for line in distinct(region.iter().map(|w| split(&w.at).1)) {
            let field = |column: &String| {
                let here = region.iter().find(|w| split(&w.at) == (column.clone(), line.clone()));
                here.map_or_else(Field::none, |w| verdict(&w.checked))
            };
            let first = [Field::text((i + 1).to_string()), Field::text(values(&line))];
            table.rows.push(first.into_iter().chain(columns.iter().map(field)).collect());
        }
    }
    Part::list(texts).into_iter().chain(table.part()).collect()
}

fn verdict(checked: &Checked) -> Field {
    let (word, tone) = match checked.verdict {
        Verdict::Holds => ("holds", Tone::Good),
        Verdict::DoesNotHold => ("no", Tone::Bad),
        other => (other.words(), Tone::Mixed),
    };
    Field::text(word).marked(tone)
}
