//! What a comparison found, as one document.

use super::compare::group_of;
use super::junit::{Outcome, value};
use super::{BaselineRow, Change};
use orrery_output::page::{self, Field, Page, Part, Table, Tone};

/// Changes that are shown at once, and on the page when it is opened; the JUnit file has all.
const SHOWN: usize = 40;
const SHOWN_MAX: usize = 2000;

/// How it was compared.
pub struct How<'a> {
    /// The version that was compared with, where that is no file of rows.
    pub against: Option<&'a str>,
    /// Differences that are ignored, as a share of the larger value.
    pub tolerance: f64,
    /// Whether the baselines have the new values now.
    pub blessed: bool,
}

/// The document.
pub fn page(outcomes: &[Outcome], how: &How<'_>) -> Page {
    let title = match outcomes {
        [(name, _)] => name.clone(),
        all => format!("{} baselines", all.len()),
    };
    let mut page = Page::new("regress", title);
    page.ask(
        "compared",
        how.against.map_or("with the rows of the baselines".to_string(), |version| {
            format!("this version with {version}, both on the same baselines")
        }),
    );
    page.ask(
        "tolerance",
        match how.tolerance {
            0.0 => "none: equal to the last digit".to_string(),
            share => format!("{share} of the larger value"),
        },
    );
    verdict(&mut page, outcomes, how.blessed);
    page.section("Baselines", baselines(outcomes).part());
    page.section("What moved", moved(outcomes));
    let failed = outcomes.iter().filter_map(|(name, o)| Some((name, o.as_ref().err()?)));
    let failed = failed.flat_map(|(name, e)| [Part::Text(name.clone()), Part::Plain(e.clone())]);
    page.section("What could not be run", failed);
    page.provenance.push(("command".to_string(), page::command_line()));
    page.provenance.extend(page::provenance(&[]));
    page
}

fn verdict(page: &mut Page, outcomes: &[Outcome], blessed: bool) {
    let all = outcomes.len();
    let of = |n: usize| format!("{n} of {all} baseline{}", if all == 1 { "" } else { "s" });
    let failed = outcomes.iter().filter(|o| o.1.is_err()).count();
    let compared = || outcomes.iter().filter_map(|o| o.1.as_ref().ok());
    let changed: usize = compared().map(|c| c.changes.len()).sum();
    let values: usize = compared().map(|c| c.values).sum();
    let differ = compared().filter(|c| !c.is_same()).count();
    if failed > 0 {
        page.say(Tone::Bad, format!("{} could not be run.", of(failed)));
    }
    if differ > 0 {
        let count = |word: &str| {
            compared().flat_map(|c| &c.changes).filter(|x| x.verdict() == word).count()
        };
        let (better, worse) = (count("better"), count("worse"));
        let text = format!(
            "{changed} of {values} values moved, in {}: {better} for the better, {worse} for the worse.",
            of(differ)
        );
        page.say(Tone::Bad, text);
        let (tone, text) = match blessed {
            true => (Tone::Good, "The baselines are rewritten: these are their values now."),
            false => (Tone::Plain, "To accept them: the same command with `--bless`."),
        };
        page.say(tone, text);
    } else if all > failed {
        page.say(Tone::Good, format!("Nothing changed: all {values} values are the same."));
    }
}

fn baselines(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new("", &["baseline", "outcome", "values", "moved", "better", "worse"]);
    for (name, outcome) in outcomes {
        let mut line = vec![Field { key: None, ..Field::text(name.as_str()) }];
        match outcome {
            Err(_) => {
                line.push(Field::text("could not run").marked(Tone::Bad));
                line.resize(table.columns.len(), Field::default());
            }
            Ok(c) => {
                let (word, tone) = if c.is_same() {
                    ("\u{2713} same", Tone::Good)
                } else {
                    ("\u{2717} moved", Tone::Bad)
                };
                let is = |word: &str| c.changes.iter().filter(|x| x.verdict() == word).count();
                line.push(Field::text(word).marked(tone));
                for n in [c.values, c.changes.len(), is("better"), is("worse")] {
                    line.push(Field::text(n.to_string()));
                }
            }
        }
        table.rows.push(line);
    }
    table
}

/// The first changes at once, the others where a page has room for them.
fn moved(outcomes: &[Outcome]) -> Vec<Part> {
    let changes = |(name, outcome): &'_ Outcome| {
        let changes = outcome.iter().flat_map(|c| &c.changes);
        changes.map(|change| line(name, change)).collect::<Vec<_>>()
    };
    let mut first: Vec<Vec<Field>> = outcomes.iter().flat_map(changes).collect();
    let mut others = first.split_off(first.len().min(SHOWN));
    let left = others.len().saturating_sub(SHOWN_MAX);
    others.truncate(SHOWN_MAX);
    let columns = ["baseline", "of", "metric", "before", "now", "change", "in percent", "verdict"];
    let table = |rows| Table { rows, ..Table::new("", &columns) }.part();
    let mut parts: Vec<Part> = table(first).into_iter().collect();
    if !others.is_empty() {
        let more = others.len() + left;
        parts.push(Part::Text(format!("{more} more are in the JUnit file that `--junit` writes.")));
        parts.push(Part::Folded(
            format!("The next {}", others.len()),
            table(others).into_iter().collect(),
        ));
    }
    parts
}

fn line(name: &str, change: &Change) -> Vec<Field> {
    let row = change.row();
    let field = |r: &BaselineRow| Field { key: r.value, ..Field::text(value(r)) };
    let (before, now) = match change {
        Change::Moved(old, new) => (field(old), field(new)),
        Change::Gone(old) => (field(old), Field::text("gone")),
        Change::New(new) => (Field::text("new"), field(new)),
    };
    let by = before.key.zip(now.key);
    let absolute =
        by.map_or(Field::default(), |(a, b)| Field::number(b - a, format!("{:+}", b - a)));
    let relative = by.filter(|(a, _)| *a != 0.0).map_or(Field::default(), |(a, b)| {
        let share = 100.0 * (b / a - 1.0);
        Field::number(share, format!("{share:+.3} %"))
    });
    let tone = match change.verdict() {
        "better" => Tone::Good,
        "worse" => Tone::Bad,
        _ => Tone::Plain,
    };
    let words = |text: &str| Field { key: None, ..Field::text(text) };
    vec![
        words(name),
        words(&group_of(row)),
        words(&row.metric),
        before,
        now,
        absolute,
        relative,
        Field::text(change.verdict()).marked(tone),
    ]
}
