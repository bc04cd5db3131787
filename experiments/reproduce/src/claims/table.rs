//! All claims of an experiment, with what came of them.

use super::claim::{Checked, Claim, Verdict};
use super::words::{asked, bounds, came_out, decides, subject};
use orrery_report::page::{Field, Part, Table, Tone};

/// The claims that a short text names; of more, those that hold are counted, but for the first few.
const NAMED_MAX: usize = 6;
const FEW: usize = 3;

/// The paper's claims, or the file's own, with what came of them: a table on a page, a point for each in text. A short
/// text has only the value that decides, and names few.
pub fn part(claims: &[Claim], checked: &[Checked], own: bool, is_short: bool) -> Option<Part> {
    let all: Vec<(&Claim, &Checked)> =
        claims.iter().zip(checked).filter(|(claim, _)| claim.own == own).collect();
    let (few, most) =
        if is_short && all.len() > NAMED_MAX { (FEW, NAMED_MAX) } else { (all.len(), all.len()) };
    let not = all.iter().filter(|c| c.1.verdict != Verdict::Holds).count();
    let is_judged = |c: &Checked| !matches!(c.verdict, Verdict::NotJudged | Verdict::NotRun);
    let of_open = match all.iter().any(|c| c.1.verdict != Verdict::Holds && is_judged(c.1)) {
        true => "do not, or are open",
        false => "are not judged",
    };
    let (mut hold, mut open, mut fitted) = (0, 0, 0);
    let mut text = Vec::new();
    for (claim, c) in all {
        let (seen, most) = match c.verdict {
            Verdict::Holds => (&mut hold, few.saturating_sub(not)),
            _ => (&mut open, most),
        };
        *seen += 1;
        let is_named = *seen <= most;
        fitted += usize::from(!is_named && claim.fitted && c.verdict == Verdict::Holds);
        text.extend(is_named.then(|| point(claim, c, is_short)));
    }
    let more = hold.saturating_sub(few.saturating_sub(not)) - fitted;
    let left = [
        (more, if more == 1 { "holds" } else { "hold" }),
        (fitted, "by what was fitted"),
        (open.saturating_sub(most), of_open),
    ];
    let more: Vec<String> =
        left.iter().filter(|l| l.0 > 0).map(|(n, what)| format!("{n} more {what}")).collect();
    text.extend((!more.is_empty()).then(|| format!("{} (with --details)", more.join("; "))));
    let page = table_of(claims, checked, own).part();
    page.map(|page| Part::Views { page: vec![page], text: Part::list(text).into_iter().collect() })
}

/// The paper's claims with what came of them.
pub fn table(claims: &[Claim], checked: &[Checked]) -> Table {
    table_of(claims, checked, false)
}

fn point(claim: &Claim, c: &Checked, is_short: bool) -> String {
    let word = verdict(claim, c);
    // The interval stands beside the value.
    let why = Some(&word.below).filter(|why| !why.is_empty() && !why.starts_with("95 %"));
    let why = why.map_or(String::new(), |why| format!(" ({why})"));
    let decides = decides(claim, c);
    // A sign is enough, and what holds needs no more words.
    let word = match (is_short, word.text.split_once(' ')) {
        (true, Some((sign @ ("\u{2713}" | "\u{2717}"), _))) => format!("{sign}{why}"),
        _ => format!("{}{why}:", word.text),
    };
    let ours = match is_short || c.cells.len() < 2 {
        true => Vec::new(),
        false => vec![values(claim, c)],
    };
    let answered = (!decides.is_empty()).then_some(decides);
    let unanswered = (c.unanswered > 0).then(|| format!("no answer in {}", c.unanswered));
    let ours: Vec<String> = answered.into_iter().chain(ours).chain(unanswered).collect();
    let ours = ours.join("; ");
    if is_short && c.verdict == Verdict::Holds {
        let ours = ours.split(" at ").next().unwrap_or_default();
        return format!("{word} {} [{ours}]", claim.text);
    }
    let ours = if ours.is_empty() { ours } else { format!("{ours}; ") };
    let cause = c.cause.as_ref().map_or(String::new(), |(kind, why)| match is_short {
        true => format!(" Cause: {kind}."),
        false => format!(" Cause: {kind}: {why}."),
    });
    format!("{word} {} [{}: {ours}claimed {}]{cause}", claim.text, subject(claim), bounds(claim))
}

fn verdict(claim: &Claim, c: &Checked) -> Field {
    let word = match c.verdict {
        Verdict::Holds if claim.fitted => Field::text("\u{2713} holds").with("fitted"),
        Verdict::Holds => Field::text("\u{2713} holds").marked(Tone::Good),
        Verdict::DoesNotHold => Field::text("\u{2717} does not hold").marked(Tone::Bad),
        other if other.is_of_a_part() => Field::text(other.words()),
        other => Field::text(other.words()).marked(Tone::Mixed),
    };
    let word = if c.why.is_empty() { word } else { word.with(c.why.clone()) };
    let some = c.verdict == Verdict::DoesNotHold && c.taken.is_none() && c.good > 0;
    if some { word.with(format!("{} of {} do", c.good, c.cells.len())) } else { word }
}

/// Our values in words.
fn values(claim: &Claim, c: &Checked) -> String {
    let ours = came_out(claim, c, |c, x| format!("{x} at {}", c.at));
    ours.strip_prefix("is ").unwrap_or(&ours).to_string()
}

fn table_of(claims: &[Claim], checked: &[Checked], own: bool) -> Table {
    let claim = if own { "our own claim" } else { "the paper's claim" };
    let mut table = Table::new("", &["verdict", claim, "what is checked", "ours", "cause"]);
    for (claim, c) in claims.iter().zip(checked).filter(|(claim, _)| claim.own == own) {
        let ours = values(claim, c);
        let ours = match c.unanswered {
            0 => ours,
            n if ours.is_empty() => format!("no answer in {n}"),
            n => format!("{ours}; no answer in {n} more"),
        };
        let text = |text: &str| Field { key: None, ..Field::text(text) };
        let (kind, why) = c.cause.clone().unwrap_or_default();
        let cause = text(&kind).with(why);
        table.rows.push(vec![
            verdict(claim, c),
            text(&claim.text),
            text(&asked(claim)),
            text(&ours),
            cause,
        ]);
    }
    table
}
