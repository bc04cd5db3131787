//! The answer as a document: ours beside theirs, each assumption alone, what is recommended.

use crate::Calibration;
use crate::case::{ALL, Case};
use crate::errors::{Errors, Part as Rows, error};
use crate::evidence::{Found, RUNS};
use crate::fit::Tried;
use crate::value::{MIDDLE, TAIL, Values, WHAT, What};
use orrery_plots::{Picture, RowFilter};
use orrery_report::page::{Field, Page, Part, Table, Tone};
use orrery_results::{Row, unit};
use orrery_sweep::notes::distinct;

/// An error below this is as good as a repeated measurement is.
const GOOD: f64 = 0.03;
/// What the figure shows.
const LATENCY: &str = "latency_ns";
/// One above this is no agreement.
const BAD: f64 = 0.15;

/// The colour of an error; plain where nothing was measured.
fn tone(error: Option<f64>) -> Tone {
    let Some(error) = error else { return Tone::Plain };
    match error.abs() {
        e if e <= GOOD => Tone::Good,
        e if e <= BAD => Tone::Mixed,
        _ => Tone::Bad,
    }
}

/// What stands where nothing was measured.
const NOT_MEASURED: &str = "not measured";

fn percent(share: Option<f64>) -> String {
    share.map_or(NOT_MEASURED.to_string(), |share| format!("{:.1} %", 100.0 * share))
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
    page.section("Figure", parity(c));
    for note in &c.notes {
        let of = |label| Some((label, note.strip_prefix(label)?.strip_prefix(": ")?));
        let (label, words) =
            ["left out", "sizes"].into_iter().find_map(of).unwrap_or(("file", note));
        page.ask(label, words);
    }
    page.ask("policy", c.policy.text());
    page.ask("models", models(c));
    let each = "requests in a run at a rate or with clients";
    page.ask("runs", format!("{} {each}; seed {}", c.asked.requests, c.asked.seed));
    let rows = |fitted: bool| {
        let own = c.cases.iter().filter(|case| case.is_fitted == fitted);
        own.map(|case| named(c, case)).collect::<Vec<_>>().join(", ")
    };
    page.ask(
        "noise",
        format!(
            "{RUNS} more runs of each, as long as the measurement (15 s where it is unknown): {}",
            noise(c)
        ),
    );
    if !c.tried.is_empty() {
        page.ask("training rows", rows(true));
        page.ask("held-out rows", rows(false));
    }
    let caption = "error: simulated over measured, minus 1; of drops the difference";
    page.section("Simulated beside measured", beside(c, caption).part());
    if !c.tried.is_empty() {
        page.section_open("One assumption at a time", assumptions(c));
    }
    page.section_open("What is recommended", recommended(c));
    page
}

/// The models whose load was measured.
fn models(c: &Calibration) -> String {
    let all = c.scenario.model_names().join(", ");
    if c.cases.iter().any(|case| case.model == ALL) {
        return format!("{all}: the measurement names none, each row is of all");
    }
    distinct(c.cases.iter().map(|case| case.model.as_str())).join(", ")
}

/// A row's load, with its model where there are several.
fn named(c: &Calibration, case: &Case) -> String {
    match c.cases.iter().all(|other| other.model == case.model) {
        true => case.name.clone(),
        false => format!("{} of {}", case.name, case.model),
    }
}

fn where_is(c: &Calibration, errors: &Errors) -> String {
    let (largest, case, what) = errors.largest;
    let words = WHAT.iter().find(|w| w.0 == what).map_or("", |w| w.1);
    format!(" (largest {} ({words} at {}))", signed(largest, what), named(c, &c.cases[case]))
}

/// `3.1 % in rate, mean and median (...), 8.0 % in p90 and p99`.
fn off(c: &Calibration, ours: &[Values], rows: Rows) -> String {
    let [middle, tail] = [MIDDLE, TAIL].map(|of| error(&c.cases, ours, rows, of));
    let [m, t] = [&middle, &tail].map(|errors| percent(errors.as_ref().map(|e| e.mean)));
    let largest = middle.map_or(String::new(), |middle| where_is(c, &middle));
    format!("{m} in rate, mean and median{largest}, {t} in p90 and p99")
}

/// `errors up to 0.5 % in rate, mean and median and 2.1 % in p90 and p99`.
fn noise(c: &Calibration) -> String {
    let all = [(c.evidence.middle, "rate, mean and median"), (c.evidence.tail, "p90 and p99")];
    let own = all.map(|(noise, of)| Some(format!("{} in {of}", percent(Some(noise?.limit)))));
    let own: Vec<String> = own.into_iter().flatten().collect();
    format!("errors up to {}, are within the noise of its own runs", own.join(", and "))
}

/// What is said where nothing is recommended; where an assumption is, nothing.
fn why_none(c: &Calibration) -> Vec<String> {
    match &c.evidence.found {
        Found::One(_) => Vec::new(),
        Found::Nothing => vec![
            format!("That is no evidence against the scenario: {}.", noise(c)),
            "No single assumption is tried, and none is recommended.".to_string(),
        ],
        Found::Unexplained => {
            vec!["No single assumption explains a tenth of that, and more than noise, without making the rest or the \
                  held-out rows worse."
                .to_string()]
        }
        Found::Several(all) => {
            let names: Vec<String> = all.iter().map(|i| c.tried[*i].words()).collect();
            let why = match names.len() {
                1 => "explains it, but so may others: requests sent at once show only a rate",
                _ => "explain it equally well on these rows",
            };
            vec![format!(
                "No single assumption is recommended: {} {why}. Measure at other loads.",
                names.join(" and ")
            )]
        }
    }
}

/// First the error that says how good the scenario is at another load: on rows that nothing was fitted on.
fn verdict(c: &Calibration, page: &mut Page) {
    let mean = |ours: &[Values], rows, of| Some(error(&c.cases, ours, rows, of)?.mean);
    let as_it_is = format!("All rows, the scenario unchanged: {}.", off(c, &c.ours, Rows::All));
    let before = tone(mean(&c.ours, Rows::All, MIDDLE));
    let best = c.best.and_then(|i| Some((&c.tried[i], c.tried[i].fitted.as_ref().ok()?)));
    let Some((tried, fitted)) = best else {
        let is_noise = c.evidence.found == Found::Nothing;
        page.say(if is_noise { Tone::Good } else { before }, as_it_is);
        for words in why_none(c) {
            page.say(Tone::Plain, words);
        }
        return;
    };
    if c.cases.iter().all(|case| case.is_fitted) {
        let words = "No row is held out of the fit: measure at another load.";
        page.say(Tone::Mixed, words);
    } else {
        let held = |ours, of| mean(ours, Rows::HeldOut, of);
        let [own, then] = [&c.ours, &fitted.ours].map(|ours| held(ours, MIDDLE));
        let first = match then {
            Some(_) => format!(
                "{} mean error in rate, mean and median on held-out rows, with {}; {} unchanged.",
                percent(then),
                tried.words(),
                percent(own),
            ),
            None => format!("Rate, mean and median on held-out rows: {NOT_MEASURED}."),
        };
        let words = format!(
            "{first} In p90 and p99: {}; {} unchanged.",
            percent(held(&fitted.ours, TAIL)),
            percent(held(&c.ours, TAIL)),
        );
        page.say(if then <= own { tone(then) } else { Tone::Bad }, words);
    }
    page.say(before, as_it_is);
    page.say(
        tone(mean(&fitted.ours, Rows::All, MIDDLE)),
        format!(
            "All rows, with the assumption that explains most, {} ({}): {}.",
            tried.words(),
            interval(tried),
            off(c, &fitted.ours, Rows::All)
        ),
    );
}

/// `1.9 to 2.3`.
fn interval(tried: &Tried) -> String {
    let Ok(fitted) = &tried.fitted else { return String::new() };
    let short = |x: f64| ((x * 1e3).round() / 1e3).to_string();
    format!("{} to {}", short(fitted.interval.0), short(fitted.interval.1))
}

/// Each simulated latency over the measured one, before and after the fit.
fn parity(c: &Calibration) -> Option<Part> {
    let fitted = c.best.and_then(|i| c.tried[i].fitted.as_ref().ok());
    let all = [("the scenario unchanged", Some(&c.ours)), ("fitted", fitted.map(|f| &f.ours))];
    let mut rows = Vec::new();
    let is_one = c.cases.iter().all(|case| case.model == c.cases[0].model);
    for (of, ours) in all {
        for (case, ours) in c.cases.iter().zip(ours.into_iter().flatten()) {
            let system = match (of, case.is_fitted) {
                ("fitted", true) => "fitted, on its own rows",
                ("fitted", false) => "fitted, on held-out rows",
                _ => of,
            };
            let whose = if is_one { String::new() } else { format!("{}: ", case.model) };
            for (what, words, metric, units) in WHAT.into_iter().filter(|w| unit(w.2) == "ns") {
                let numbers = ours.of(what).zip(case.theirs.of(what));
                rows.extend(numbers.map(|(ours, theirs)| Row {
                    system: format!("{whose}{system}"),
                    scope: "all".to_string(),
                    axes: format!("of={}", words.trim_end_matches(", ms")),
                    unit: unit(metric).to_string(),
                    paper: Some(theirs * units),
                    ..Row::default().of_all(LATENCY, ours * units)
                }));
            }
        }
    }
    let picture = Picture {
        title: "Simulated over measured latency".to_string(),
        metrics: vec![LATENCY.to_string()],
        x: "paper".to_string(),
        panels: Some(vec!["of".to_string()]),
        joined: Some(Vec::new()),
        y_label: "simulated / measured".to_string(),
        ..Picture::default()
    };
    let choice = RowFilter { beside: "measured".to_string(), ..RowFilter::default() };
    let figure = orrery_plots::picture(&rows, &picture, &choice).ok()?;
    Some(Part::figure(&figure, "A point for each row of the measurement; on the line both agree."))
}

fn beside(c: &Calibration, caption: &str) -> Table {
    let best = c.best.and_then(|i| c.tried[i].fitted.as_ref().ok());
    let mut table = Table::new(
        caption,
        &["model", "load", "", "measured", "simulated", "error", "fitted", "its error"],
    );
    for (i, case) in c.cases.iter().enumerate() {
        for (what, words, ..) in WHAT {
            let Some(theirs) = case.theirs.of(what) else { continue };
            let pair = |ours: Option<&Values>| {
                let Some(ours) = ours else { return [Field::default(), Field::default()] };
                let value = ours.of(what).map_or(Field::default(), |x| field(x, what));
                let error = ours.error(&case.theirs, what);
                let error = error.map_or(Field::default(), |e| {
                    Field::number(e, signed(e, what)).marked(tone(Some(e)))
                });
                [value, error]
            };
            let [ours, off] = pair(c.ours.get(i));
            let [new, new_off] = pair(best.and_then(|f| f.ours.get(i)));
            let load = if case.is_fitted || c.tried.is_empty() {
                &case.name
            } else {
                &format!("{}*", case.name)
            };
            table.rows.push(vec![
                Field::text(&case.model),
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
    if !c.tried.is_empty() && c.cases.iter().any(|case| !case.is_fitted) {
        table.caption.push_str("; rows with * are held out of the fit");
    }
    table
}

fn field(value: f64, what: What) -> Field {
    Field::number(value, number(value, what))
}

fn assumptions(c: &Calibration) -> Vec<Part> {
    let caption = "mean errors in rate, mean, median, batch and drops (median) and in p90 and p99; held out: of rows that \
         nothing was fitted to";
    let head = ["assumption", "value", "interval", "median", "held out", "p90, p99", "held out "];
    let mut table = Table::new(caption, &head);
    let held = c.cases.iter().any(|case| !case.is_fitted);
    let errors = |ours: &[Values]| {
        let cell = |rows, of| {
            let e = error(&c.cases, ours, rows, of).map(|errors| errors.mean);
            e.map_or(Field::default(), |mean| Field::number(mean, percent(e)).marked(tone(e)))
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
    table.rows.push(line("unchanged", none(), String::new(), &c.ours));
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
    let words =
        "interval: values that fit within 1 %, and those found without each fitted row in turn";
    notes.insert(0, words.to_string());
    table.part().into_iter().chain([Part::List(notes)]).collect()
}

fn recommended(c: &Calibration) -> Vec<Part> {
    let Some(fitted) = c.best.and_then(|i| c.tried[i].fitted.as_ref().ok()) else {
        let words = match c.evidence.found {
            Found::Nothing => "Keep the scenario.",
            Found::Several(_) => {
                "Keep the scenario until rows of other loads show which one it is."
            }
            _ => {
                "Keep the scenario: measure more loads, or look at what the largest error is about."
            }
        };
        return vec![Part::Text(words.to_string())];
    };
    let line = |(key, value): &(String, toml::Value)| format!("{key} = {value}");
    let lines: Vec<String> = fitted.changes.iter().map(line).collect();
    let words = "These keys, in the scenario; `--out` writes the whole file:";
    vec![Part::Text(words.to_string()), Part::Plain(lines.join("\n"))]
}
