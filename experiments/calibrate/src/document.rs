//! The answer as a document: ours beside theirs, each assumption alone, what is recommended.

use crate::Calibration;
use crate::errors::{Errors, Part as Rows, error};
use crate::fit::Tried;
use crate::value::{MIDDLE, TAIL, Values, WHAT, What};
use orrery_output::page::{Field, Page, Part, Table, Tone};

/// An error below this is as good as a repeated measurement is.
const GOOD: f64 = 0.03;
/// One above this is no agreement.
const BAD: f64 = 0.15;

fn tone(error: f64) -> Tone {
    match error.abs() {
        e if e <= GOOD => Tone::Good,
        e if e <= BAD => Tone::Mixed,
        _ => Tone::Bad,
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn signed(share: f64, what: What) -> String {
    match what {
        What::Drops => format!("{:+.1} points", 100.0 * share),
        _ => format!("{:+.1} %", 100.0 * share),
    }
}

fn number(value: f64, what: What) -> String {
    match what {
        What::Rate => format!("{value:.1}"),
        What::Drops => format!("{value:.4}"),
        _ => format!("{value:.3}"),
    }
}

/// The document.
pub fn document(c: &Calibration) -> Page {
    let mut page = Page::new("calibrate", c.scenario.name.clone());
    page.subtitle = format!("against {}", c.measured);
    verdict(c, &mut page);
    page.ask("policy", c.policy.text());
    let each = "requests in a run at a rate or with clients";
    page.ask("runs", format!("{} {each}; seed {}", c.asked.requests, c.asked.seed));
    let rows = |fitted: bool| {
        let own = c.cases.iter().filter(|case| case.is_fitted == fitted);
        own.map(|case| case.name.clone()).collect::<Vec<_>>().join(", ")
    };
    page.ask("fitted on", rows(true));
    page.ask("judged on", rows(false));
    let caption = "ours less theirs, as a share of theirs; of drops the difference";
    page.section("Ours beside theirs", beside(c, caption).part());
    page.section("Each assumption alone", assumptions(c));
    page.section("What is recommended", recommended(c));
    page
}

fn where_is(c: &Calibration, errors: &Errors) -> String {
    let (largest, case, what) = errors.largest;
    let words = WHAT.iter().find(|w| w.0 == what).map_or("", |w| w.1);
    format!("largest {} ({words} at {})", signed(largest, what), c.cases[case].name)
}

/// `3.1 % off in the middle (...), 8.0 % in the tail`.
fn off(c: &Calibration, ours: &[Values], rows: Rows) -> String {
    let [middle, tail] = [MIDDLE, TAIL].map(|of| error(&c.cases, ours, rows, of));
    let (m, t) = (percent(middle.mean), percent(tail.mean));
    format!("{m} off in the middle ({}), {t} in the tail", where_is(c, &middle))
}

fn verdict(c: &Calibration, page: &mut Page) {
    let mean = |ours: &[Values], rows| error(&c.cases, ours, rows, MIDDLE).mean;
    let before = mean(&c.ours, Rows::All);
    page.say(tone(before), format!("As it is, ours is {}.", off(c, &c.ours, Rows::All)));
    let best = c.best.and_then(|i| Some((&c.tried[i], c.tried[i].fitted.as_ref().ok()?)));
    let Some((tried, fitted)) = best else {
        page.say(Tone::Plain, "No single assumption explains a tenth of that.");
        return;
    };
    let after = mean(&fitted.ours, Rows::All);
    page.say(
        tone(after),
        format!(
            "One assumption explains most of it: {} ({}). With it, ours is {}.",
            tried.words(),
            interval(tried),
            off(c, &fitted.ours, Rows::All)
        ),
    );
    if c.cases.iter().all(|case| case.is_fitted) {
        page.say(
            Tone::Mixed,
            "There is no row that it was not fitted on: measure at another load.",
        );
        return;
    }
    let [own, then] = [&c.ours, &fitted.ours].map(|ours| mean(ours, Rows::HeldOut));
    let words = format!(
        "On the rows that it was not fitted on, in the middle: {} off as it is, {} with it.",
        percent(own),
        percent(then)
    );
    page.say(if then <= own { tone(then) } else { Tone::Bad }, words);
}

/// `1.9 to 2.3`.
fn interval(tried: &Tried) -> String {
    let Ok(fitted) = &tried.fitted else { return String::new() };
    let short = |x: f64| ((x * 1e3).round() / 1e3).to_string();
    format!("{} to {}", short(fitted.interval.0), short(fitted.interval.1))
}

fn beside(c: &Calibration, caption: &str) -> Table {
    let best = c.best.and_then(|i| c.tried[i].fitted.as_ref().ok());
    let mut table = Table::new(
        caption,
        &["load", "", "theirs", "as it is", "error", "recommended", "its error"],
    );
    for (i, case) in c.cases.iter().enumerate() {
        for (what, words, ..) in WHAT {
            let Some(theirs) = case.theirs.of(what) else { continue };
            let pair = |ours: Option<&Values>| {
                let Some(ours) = ours else { return [Field::default(), Field::default()] };
                let value = ours.of(what).map_or(Field::default(), |x| field(x, what));
                let error = ours.error(&case.theirs, what);
                let error = error.map_or(Field::default(), |e| {
                    Field::number(e, signed(e, what)).marked(tone(e))
                });
                [value, error]
            };
            let [ours, off] = pair(c.ours.get(i));
            let [new, new_off] = pair(best.and_then(|f| f.ours.get(i)));
            let load = if case.is_fitted { &case.name } else { &format!("{} *", case.name) };
            table.rows.push(vec![
                Field::text(load),
                Field::text(words),
                field(theirs, what),
                ours,
                off,
                new,
                new_off,
            ]);
        }
    }
    if c.cases.iter().any(|case| !case.is_fitted) {
        table.caption.push_str("; rows with * were not fitted on");
    }
    table
}

fn field(value: f64, what: What) -> Field {
    Field::number(value, number(value, what))
}

fn assumptions(c: &Calibration) -> Vec<Part> {
    let caption =
        "mean errors of the middle (rate, mean, median, batch, drops) and of the tail (p90, p99)";
    let head = ["assumption", "value", "interval", "middle", "not fitted", "tail", "not fitted "];
    let mut table = Table::new(caption, &head);
    let held = c.cases.iter().any(|case| !case.is_fitted);
    let errors = |ours: &[Values]| {
        let cell = |rows, of| {
            let e = error(&c.cases, ours, rows, of).mean;
            Field::number(e, percent(e)).marked(tone(e))
        };
        let others = |of| if held { cell(Rows::HeldOut, of) } else { Field::default() };
        let [m, t] = [MIDDLE, TAIL].map(|of| cell(Rows::All, of));
        [m, others(MIDDLE), t, others(TAIL)]
    };
    let none = Field::default;
    let line = |name: &str, value: Field, words: String, ours: &[Values]| {
        let first = [Field::text(name), value, Field::text(words)];
        first.into_iter().chain(errors(ours)).collect::<Vec<_>>()
    };
    table.rows.push(line("as it is", none(), String::new(), &c.ours));
    let mut notes = Vec::new();
    for t in &c.tried {
        match &t.fitted {
            Ok(f) => {
                let value = Field::text(format!("{} {}", f.value, t.unit));
                table.rows.push(line(t.name, value, interval(t), &f.ours));
            }
            Err(why) => notes.push(format!("{} (`{}`): {why}", t.name, t.key)),
        }
    }
    let words = "interval: values that fit within 1 %, and those that each fitted row less would give; `not fitted`: the same \
                 error on the rows that the value was not fitted on";
    notes.insert(0, words.to_string());
    table.part().into_iter().chain([Part::List(notes)]).collect()
}

fn recommended(c: &Calibration) -> Vec<Part> {
    let Some(fitted) = c.best.and_then(|i| c.tried[i].fitted.as_ref().ok()) else {
        let words =
            "Keep the scenario: measure more loads, or look at what the largest error is about.";
        return vec![Part::Text(words.to_string())];
    };
    let line = |(key, value): &(String, toml::Value)| format!("{key} = {value}");
    let lines: Vec<String> = fitted.changes.iter().map(line).collect();
    let words = "These keys, in the scenario; `--out` writes the whole file:";
    vec![Part::Text(words.to_string()), Part::Plain(lines.join("\n"))]
}
