//! All claims of an experiment, with what came of them.

use super::claim::{Checked, Claim, Verdict};
use super::words::{asked, came_out};
use orrery_report::page::{Field, Part, Table, Tone};

/// The paper's claims, or the file's own, with what came of them: a table on a page, a point for each in text.
pub fn part(claims: &[Claim], checked: &[Checked], own: bool) -> Option<Part> {
    let table = table_of(claims, checked, own);
    let point = |row: &Vec<Field>| {
        let [verdict, claim, asked, ours] = [0, 1, 2, 3].map(|i| row[i].text.as_str());
        let why = Some(&row[0].below).filter(|why| !why.is_empty());
        let why = why.map_or(String::new(), |why| format!(" ({why})"));
        let ours = if ours.is_empty() { String::new() } else { format!("; ours: {ours}") };
        format!("{verdict}{why}: {claim} [{asked}{ours}]")
    };
    let text = Part::list(table.rows.iter().map(point).collect());
    let page = table.part();
    page.map(|page| Part::Views { page: vec![page], text: text.into_iter().collect() })
}

/// The paper's claims with what came of them.
pub fn table(claims: &[Claim], checked: &[Checked]) -> Table {
    table_of(claims, checked, false)
}

fn table_of(claims: &[Claim], checked: &[Checked], own: bool) -> Table {
    let claim = if own { "our own claim" } else { "the paper's claim" };
    let mut table = Table::new("", &["verdict", claim, "what is checked", "ours"]);
    for (claim, c) in claims.iter().zip(checked).filter(|(claim, _)| claim.own == own) {
        let word = match c.verdict {
            Verdict::Holds if claim.fitted => Field::text("\u{2713} holds").with("fitted"),
            Verdict::Holds => Field::text("\u{2713} holds").marked(Tone::Good),
            Verdict::DoesNotHold => Field::text("\u{2717} does not hold").marked(Tone::Bad),
            other if other.is_of_a_part() => Field::text(other.words()),
            other => Field::text(other.words()).marked(Tone::Mixed),
        };
        let word = if c.why.is_empty() { word } else { word.with(c.why.clone()) };
        let some = c.verdict == Verdict::DoesNotHold && c.taken.is_none() && c.good > 0;
        let word =
            if some { word.with(format!("{} of {} do", c.good, c.cells.len())) } else { word };
        let ours = came_out(claim, c);
        let ours = ours.trim_start_matches([',', ':', ' ']);
        let ours = ours.strip_prefix("is ").unwrap_or(ours).to_string();
        let ours = match c.unanswered {
            0 => ours,
            n if ours.is_empty() => format!("no answer in {n}"),
            n => format!("{ours}; no answer in {n} more"),
        };
        let fields = [
            word,
            Field { key: None, ..Field::text(&*claim.text) },
            Field { key: None, ..Field::text(asked(claim)) },
            Field { key: None, ..Field::text(ours) },
        ];
        table.rows.push(fields.to_vec());
    }
    table
}
