//! `--html`: what a comparison found, as a page.

use super::compare::group_of;
use super::report::{Outcome, value};
use super::{BaselineRow, Change};
use orrery_output::page::{self, Field, Page, Part, Table, Tone};

/// Changes that are shown; the JUnit file has all.
const SHOWN_MAX: usize = 2000;

/// The page; `against` is the version that was compared with, where that is no file of rows.
pub fn page(outcomes: &[Outcome], against: Option<&str>, tolerance: f64) -> Page {
    let mut page = Page::new("regress", "Regression gate");
    page.ask(
        "compared",
        against.map_or("with the rows of the baselines".to_string(), |version| {
            format!("this version with {version}, both on the same baselines")
        }),
    );
    page.ask(
        "tolerance",
        match tolerance {
            0.0 => "none: equal to the last digit".to_string(),
            share => format!("{share} of the larger value"),
        },
    );
    verdict(&mut page, outcomes);
    page.section("Baselines", baselines(outcomes).part());
    page.section("What moved", moved(outcomes));
    let failed = outcomes.iter().filter_map(|(name, o)| Some((name, o.as_ref().err()?)));
    let failed = failed.flat_map(|(name, e)| [Part::Text(name.clone()), Part::Plain(e.clone())]);
    page.section("What could not be run", failed);
    page.provenance.push(("command".to_string(), page::command_line()));
    page.provenance.extend(page::provenance(&[]));
    page
}

fn verdict(page: &mut Page, outcomes: &[Outcome]) {
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

fn moved(outcomes: &[Outcome]) -> Vec<Part> {
    let columns = ["baseline", "of", "metric", "before", "now", "change", "in percent", "verdict"];
    let mut table = Table::new("", &columns);
    let mut left = 0;
    for (name, outcome) in outcomes {
        for change in outcome.iter().flat_map(|c| &c.changes) {
            if table.rows.len() == SHOWN_MAX {
                left += 1;
                continue;
            }
            table.rows.push(line(name, change));
        }
    }
    let mut parts: Vec<Part> = table.part().into_iter().collect();
    if left > 0 {
        parts.push(Part::Text(format!("{left} more are in the JUnit file that `--junit` writes.")));
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
