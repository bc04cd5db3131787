//! The page of a run: its policies side by side, the distribution of their latencies, and the requests
//! that fared worst, each with its story.

use orrery_explain::explain::worst_of_run;
use orrery_report::page::{Field, Page, Part, Table};
use orrery_results::Row;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_sweep::details;
use orrery_sweep::page::{drawn, finish_rates};
use orrery_sweep::run_report::of_run;

/// Requests that are explained for each policy.
const WORST: usize = 5;

/// The page.
///
/// # Errors
/// When a run cannot be made again, or there is no room for its log.
pub fn page(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seed: u64,
    rows: &[Row],
) -> Result<Page, SpecError> {
    // `--details` is no part of the command on the page.
    let mut page = drawn(of_run(scenario, rows, false), rows);
    let latencies = details::latencies(scenario, policies, seed)?.map(|figure| {
        let what = "The share of all requests that are answered within a latency, first seed.";
        Part::figure(&figure, what)
    });
    page.section_first("Figures", finish_rates(rows).into_iter().chain(latencies));
    let columns = [
        "policy",
        "request",
        "what happened",
        "model",
        "application",
        "began after",
        "ended after",
        "by its deadline",
    ];
    let caption = format!("the {WORST} that fared worst under each policy, first seed");
    let mut table = Table { keys: 2, ..Table::new(caption, &columns) };
    let mut stories = Vec::new();
    for policy in policies {
        for (fared, story) in worst_of_run(scenario, policy, seed, WORST)? {
            let began = if fared.began.is_empty() { "never".to_string() } else { fared.began };
            let of = [fared.end, fared.model, fared.app, began, fared.ended, fared.deadline];
            let id = [policy.text().to_string(), format!("r{}", fared.id.0)];
            let row = id.into_iter().chain(of);
            table.rows.push(row.map(Field::text).collect());
            stories.push(Part::Text(format!("under {}", policy.text())));
            stories.push(Part::Plain(story));
        }
    }
    let stories = Part::Folded("What happened to each, step by step".to_string(), stories);
    page.section("Requests that fared worst", table.part().into_iter().chain([stories]));
    Ok(page)
}

/// The text of the page that `command` would write.
///
/// # Errors
/// As [`page`].
pub fn whole_page(
    scenario: &Scenario,
    policies: &[PolicySpec],
    rows: &[Row],
    command: String,
) -> Result<String, SpecError> {
    let page = page(scenario, policies, scenario.seed, rows)?;
    Ok(orrery_report::whole_page(page, rows, command))
}
