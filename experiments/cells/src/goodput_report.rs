//! What a search found, as a document.

use crate::goodput::{Criterion, Find, Search, flags};
use crate::notes::flags_of;
use crate::page::{asked, verdict};
use orrery_output::page::{Field, Page, Part, Table};
use orrery_results::{Row, metric};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};

/// The document; `each` has the answers by policy and seed.
///
/// # Errors
/// When the scenario has no rate.
pub fn document(
    scenario: &Scenario,
    search: &Search,
    rows: &[Row],
    policies: &[PolicySpec],
    each: &[Vec<f64>],
) -> Result<Page, SpecError> {
    let mut page = Page::new("goodput", &scenario.name);
    page.subtitle = sought(scenario, search)?;
    asked(&mut page, rows);
    verdict(&mut page, rows);
    page.section("Results", table(search, rows, policies, each).part());
    let answers = || rows.iter().filter(|r| r.metric == search.metric());
    let none = answers().filter(|r| r.value.is_none());
    let why = none.map(|r| format!("{}: {}.", r.policy, r.reason)).collect();
    page.section("No answer", Part::list(why));
    page.section("What to know first", Part::list(notes(rows, search)));
    Ok(page)
}

/// What is looked for, in a line.
fn sought(scenario: &Scenario, search: &Search) -> Result<String, SpecError> {
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

fn table(search: &Search, rows: &[Row], policies: &[PolicySpec], each: &[Vec<f64>]) -> Table {
    let (heading, digits) =
        if search.find == Find::Devices { ("devices", 1) } else { ("rate/s", 0) };
    let columns = [
        "policy",
        heading,
        "95 % interval",
        "least to most",
        "batch p50",
        "util",
        "bad %",
        "flags",
    ];
    let mut table = Table::new("", &columns);
    for (policy, values) in policies.iter().zip(each) {
        let find = |metric: &str| {
            rows.iter()
                .find(|r| r.policy == policy.text() && r.scope == "all" && r.metric == metric)
        };
        let Some(answer) = find(search.metric()) else { continue };
        let between = |(a, b): (f64, f64)| Field::text(format!("{a:.digits$} to {b:.digits$}"));
        let least = values.iter().copied().reduce(f64::min);
        let most = values.iter().copied().reduce(f64::max);
        let range = least.zip(most).filter(|_| answer.value.is_some());
        let number = |metric: &str, unit: f64, digits: usize| {
            let value = find(metric).and_then(|r| r.value);
            value.map_or(Field::none(), |x| Field::number(x, format!("{:.digits$}", x * unit)))
        };
        table.rows.push(vec![
            Field::text(policy.text()),
            number(search.metric(), 1.0, digits),
            answer.ci95().map_or(Field::none(), between),
            range.map_or(Field::none(), between),
            number(metric::BATCH_SIZE_P50, 1.0, 1),
            number(metric::UTILISATION, 1.0, 2),
            number(metric::WORST_BAD_RATE, 100.0, 2),
            Field::text(flags(answer).join(", ")),
        ]);
    }
    table
}

fn notes(rows: &[Row], search: &Search) -> Vec<String> {
    let mut out = vec![format!(
        "A probe ends when its interval is clear of the target, or undecided after {} requests a model; \
         it lasts at least {:.0} times its longest delay, so that an overload by {} % \
         would show; {}.",
        search.requests_per_model,
        1.0 / search.tolerance,
        search.tolerance * 100.0,
        search.warm_up()
    )];
    let seeds = rows.first().map(Row::seeds_in_words);
    out.extend(
        seeds
            .map(|seeds| format!("Intervals by replications of the whole search. Seeds: {seeds}.")),
    );
    // What has no answer has its reason, and no flag that says the same.
    let answered = |r: &&Row| r.metric == search.metric() && r.value.is_some();
    let answered: Vec<Row> = rows.iter().filter(answered).cloned().collect();
    out.extend(flags_of(&answered));
    out
}
