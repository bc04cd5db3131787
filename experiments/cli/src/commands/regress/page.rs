//! What a comparison found, as one document.

use super::compare::group_of;
use super::junit::{Compared, Outcome, value};
use super::{BaselineRow, Change};
use orrery_output::page::{self, Field, Page, Part, Table, Tone};
use std::collections::BTreeMap;

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
        [one] => one.name.clone(),
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
    let failed = outcomes.iter().filter_map(|o| Some((&o.name, o.result.as_ref().err()?)));
    let failed = failed.flat_map(|(name, e)| [Part::Text(name.clone()), Part::Plain(e.clone())]);
    page.section("What could not be run", failed);
    page.provenance.push(("command".to_string(), page::command_line()));
    page.provenance.extend(page::provenance(&[]));
    page
}

/// First what differs in the input, then what moved, then what to do.
fn verdict(page: &mut Page, outcomes: &[Outcome], blessed: bool) {
    let all = outcomes.len();
    let of = |n: usize| format!("{n} of {all} baseline{}", if all == 1 { "" } else { "s" });
    let failed = outcomes.iter().filter(|o| o.result.is_err()).count();
    let compared = || outcomes.iter().filter_map(Outcome::comparison);
    let changes = || compared().flat_map(|c| &c.changes);
    let values: usize = compared().map(|c| c.values).sum();
    let differ = compared().filter(|c| !c.is_same()).count();
    if failed > 0 {
        page.say(Tone::Bad, format!("{} could not be run.", of(failed)));
    }
    if differ > 0 {
        inputs(page, outcomes);
        let count = |word: &str| changes().filter(|x| x.verdict() == word).count();
        let (better, worse) = (count("better"), count("worse"));
        let noise = changes().filter(|x| x.is_noise() == Some(true)).count();
        let noise = match noise {
            0 => String::new(),
            n => format!("; {n} within noise: the old value is within our 95 % interval"),
        };
        let text = format!(
            "{} of {values} values moved, in {}: {better} for the better, {worse} for the worse{noise}.",
            changes().count(),
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

/// What differs in the input of the baselines whose values moved.
fn inputs(page: &mut Page, outcomes: &[Outcome]) {
    let mut by_difference: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        let Ok(compared) = &outcome.result else { continue };
        if compared.comparison.is_same() {
            continue;
        }
        let words = match &compared.differs {
            None => {
                "is not known: it was blessed without a record; `--bless` writes one".to_string()
            }
            Some(none) if none.is_empty() => "is the same".to_string(),
            Some(some) => format!("differs in {}", some.join(", and in ")),
        };
        by_difference.entry(words).or_default().push(&outcome.name);
    }
    let alone = by_difference.len() == 1;
    for (words, names) in by_difference {
        let whose = if alone { String::new() } else { format!(" of {}", names.join(", ")) };
        page.say(Tone::Plain, format!("The input{whose} {words}."));
    }
}

fn baselines(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new("", &["baseline", "outcome", "values", "moved", "better", "worse"]);
    for Outcome { name, result, .. } in outcomes {
        let mut line = vec![Field { key: None, ..Field::text(name.as_str()) }];
        match result {
            Err(_) => {
                line.push(Field::text("could not run").marked(Tone::Bad));
                line.resize(table.columns.len(), Field::default());
            }
            Ok(Compared { comparison: c, .. }) => {
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

/// The largest changes at once, the others where a page has room for them.
fn moved(outcomes: &[Outcome]) -> Vec<Part> {
    let of = |o: &'_ Outcome| {
        let changes = o.comparison().into_iter().flat_map(|c| &c.changes);
        changes.map(|change| (size(change), line(&o.name, change))).collect::<Vec<_>>()
    };
    let mut all: Vec<(f64, Vec<Field>)> = outcomes.iter().flat_map(of).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut first: Vec<Vec<Field>> = all.into_iter().map(|(_, line)| line).collect();
    if outcomes.len() == 1 {
        first.iter_mut().for_each(|line| line[0] = Field::default());
    }
    let mut others = first.split_off(first.len().min(SHOWN));
    let left = others.len().saturating_sub(SHOWN_MAX);
    others.truncate(SHOWN_MAX);
    let columns = ["baseline", "of", "metric", "before", "now", "change", "verdict"];
    let table = |rows| Table { rows, ..Table::new("", &columns) }.part();
    let mut parts: Vec<Part> = table(first).into_iter().collect();
    if !others.is_empty() {
        let more = others.len() + left;
        parts.push(Part::Text(format!(
            "{more} more are smaller; the JUnit file that `--junit` writes has all, with every digit."
        )));
        parts.push(Part::Folded(
            format!("The next {}", others.len()),
            table(others).into_iter().collect(),
        ));
    }
    parts
}

/// How large a change is, to sort by: one without a share (gone, new, no answer) is beyond all others.
fn size(change: &Change) -> f64 {
    change.share().map_or(f64::INFINITY, f64::abs)
}

/// A share in percent with two digits that matter: `-3.1 %`, `+0.0042 %`.
fn in_percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        a if a >= 10.0 => 0,
        a if a >= 1.0 => 1,
        a if a >= 0.1 => 2,
        _ => 4,
    };
    format!("{percent:+.digits$} %")
}

fn line(name: &str, change: &Change) -> Vec<Field> {
    let row = change.row();
    let field = |r: &BaselineRow| match r.value {
        Some(x) => Field::number(x, page::reading(&r.metric, x)),
        None => Field::text(value(r)),
    };
    let (before, now) = match change {
        Change::Moved(old, new) => (field(old), with_interval(new, field(new))),
        Change::Gone(old) => (field(old), Field::text("gone")),
        Change::New(new) => (Field::text("new"), field(new)),
    };
    let share = change.share();
    let by = share.map_or_else(Field::default, |share| Field::number(share, in_percent(share)));
    let noise = if change.is_noise() == Some(true) { "within noise" } else { "" };
    let verdict = change.verdict();
    let tone = match verdict {
        "better" => Tone::Good,
        "worse" => Tone::Bad,
        _ => Tone::Plain,
    };
    let said = [verdict, noise].into_iter().filter(|word| !word.is_empty());
    let said = said.collect::<Vec<_>>().join(", ");
    let words = |text: &str| Field { key: None, ..Field::text(text) };
    let metric = match orrery_results::metric::reading(&row.metric).unit {
        "" => row.metric.clone(),
        unit => format!("{}, {unit}", row.metric),
    };
    vec![
        words(name),
        words(&group_of(row)),
        words(&metric),
        before,
        now,
        by,
        words(&said).marked(tone),
    ]
}

/// A value with our 95 % interval below.
fn with_interval(row: &BaselineRow, field: Field) -> Field {
    let Some(&(low, high)) = row.interval.as_deref() else { return field };
    let read = |x: f64| page::reading(&row.metric, x);
    field.with(format!("{} to {}", read(low), read(high)))
}
