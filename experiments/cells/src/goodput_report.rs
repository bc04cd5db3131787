//! What a search found, as a table for people and as a page.

use crate::goodput::{Criterion, FLAGS, Find, Search, flags};
use crate::run_report::notes_of;
use orrery_output::page::{Page, Part};
use orrery_results::{Row, metric};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_scenario::{PolicySpec, SpecError};
use std::fmt::Write;

/// The page: what is searched for is said as in the text.
pub fn page(scenario: &Scenario, search: &Search, rows: &[Row]) -> Page {
    let mut page = crate::page::of_cells("goodput", &scenario.name, rows);
    page.subtitle = asked(scenario, search).unwrap_or_default();
    let mut notes = String::new();
    self::notes(rows, search, &mut notes);
    // Flags are explained above.
    let known = notes_of(rows);
    let is_new = |l: &String| !l.is_empty() && !known.contains(l);
    let notes = notes.lines().map(str::to_string).filter(is_new).collect();
    page.section("How it was found", [Part::List(notes)]);
    page
}

/// What is looked for, in a line.
fn asked(scenario: &Scenario, search: &Search) -> Result<String, SpecError> {
    let kind = match search.criterion {
        Criterion::BadRate => "dropped or late",
        Criterion::P99 => "late among the answered",
    };
    let devices: u32 = scenario.file.device.iter().map(|d| d.count).sum();
    let models = scenario.model_names();
    let what = match search.find {
        Find::Rate => format!("the highest offered rate on {devices} device(s)"),
        Find::Devices => format!("the fewest devices for {:.1} requests/s", scenario.rate()?),
    };
    let (models, target) = (models.len(), search.target * 100.0);
    Ok(format!("{what}: {models} model(s), each with at most {target} % {kind}"))
}

/// The table for people; `each` has the answers by policy and seed.
///
/// # Errors
/// When the scenario has no rate.
pub fn text(
    scenario: &Scenario,
    search: &Search,
    rows: &[Row],
    policies: &[PolicySpec],
    each: &[Vec<f64>],
) -> Result<String, SpecError> {
    let mut out = format!("goodput of {}\n", scenario.name);
    let _ = writeln!(out, "{}\n", asked(scenario, search)?);
    let heading = if search.find == Find::Devices { "devices" } else { "rate/s" };
    let _ = writeln!(
        out,
        "{:40} {heading:>9}  {:>19}  {:>19}  {:>9} {:>5} {:>6}  flags",
        "policy", "95 % interval", "least to most", "batch p50", "util", "bad %"
    );
    let digits = if search.find == Find::Devices { 1 } else { 0 };
    for (policy, values) in policies.iter().zip(each) {
        let find = |metric: &str| {
            rows.iter()
                .find(|r| r.policy == policy.text() && r.scope == "all" && r.metric == metric)
        };
        let Some(answer) = find(search.metric()) else { continue };
        let interval =
            answer.ci95().map_or("-".into(), |(a, b)| format!("{a:.digits$} to {b:.digits$}"));
        let least = values.iter().copied().reduce(f64::min);
        let most = values.iter().copied().reduce(f64::max);
        let range = least.zip(most).filter(|_| answer.value.is_some());
        let range = range.map_or("-".to_string(), |(a, b)| format!("{a:.digits$} to {b:.digits$}"));
        let number = |metric: &str, unit: f64, digits: usize| {
            let value = find(metric).and_then(|r| r.value);
            value.map_or("-".to_string(), |x| format!("{:.digits$}", x * unit))
        };
        let _ = writeln!(
            out,
            "{:40} {:>9}  {interval:>19}  {range:>19}  {:>9} {:>5} {:>6}  {}",
            policy.text(),
            number(search.metric(), 1.0, digits),
            number(metric::BATCH_SIZE_P50, 1.0, 1),
            number(metric::UTILISATION, 1.0, 2),
            number(metric::WORST_BAD_RATE, 100.0, 2),
            flags(answer).join(", "),
        );
    }
    notes(rows, search, &mut out);
    Ok(out)
}

fn notes(rows: &[Row], search: &Search, out: &mut String) {
    out.push('\n');
    let _ = writeln!(
        out,
        "A probe ends when its interval is clear of the target, or undecided after {} requests a model; \
         it lasts at least {:.0} times its longest delay, so that an overload by the bracket's {} % \
         would show; {}.",
        search.requests_per_model,
        1.0 / search.tolerance,
        search.tolerance * 100.0,
        search.warm_up()
    );
    if let Some(row) = rows.first() {
        let _ = writeln!(
            out,
            "Intervals by replications of the whole search. Seeds: {}.",
            row.seeds_in_words()
        );
    }
    let answers = || rows.iter().filter(|r| r.metric == search.metric());
    for row in answers().filter(|r| r.value.is_none()) {
        let _ = writeln!(out, "no answer: {}. ({})", row.reason, row.policy);
    }
    for (flag, says) in FLAGS.into_iter().chain(CAVEATS) {
        let who: Vec<&str> = answers()
            .filter(|r| r.has_flag(flag) && (flag != "never-good" || r.value.is_some()))
            .map(|r| r.policy.as_str())
            .collect();
        if !who.is_empty() {
            let _ = writeln!(out, "{flag}: {says} ({})", who.join(", "));
        }
    }
}
