//! The page of a run: its policies side by side, the distribution of their latencies, and the requests
//! that fared worst, each with its story.

use orrery_cells::details;
use orrery_cells::logged::{names, run_logged};
use orrery_cells::page::drawn;
use orrery_cells::run_report::of_run;
use orrery_logs::explain;
use orrery_output::page::{Page, Part};
use orrery_results::Row;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};
use std::io;

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
    let mut page = drawn(of_run(scenario, seed, rows, false), rows);
    if let Some(figure) = details::latencies(scenario, policies, seed)? {
        let what = "The share of all requests that are answered within a latency, first seed.";
        page.section_first("Latencies", [Part::Figure(figure.to_svg(), what.to_string())]);
    }
    let mut parts = Vec::new();
    for policy in policies {
        let title = format!("{}: the {WORST} that fared worst", policy.text());
        let stories = worst(scenario, policy, seed)?;
        let parts_of = |(line, story): (String, String)| {
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            Part::Folded(line, vec![Part::Plain(story)])
        };
        parts.push(Part::Text(title));
        parts.extend(stories.into_iter().map(parts_of));
    }
    page.section("Requests that fared worst", parts);
    Ok(page)
}

/// Runs the policy once more, with its reasons, and tells of the requests that fared worst.
fn worst(
    scenario: &Scenario,
    policy: &PolicySpec,
    seed: u64,
) -> Result<Vec<(String, String)>, SpecError> {
    let folder = tempfile::tempdir().map_err(|e: io::Error| {
        let (allowed, remedy) =
            ("a folder for a log", "make room, or set TMPDIR to another folder");
        SpecError::value("--html", format!("temporary files: {e}"), allowed, remedy)
    })?;
    let log = folder.path().join("run.log");
    let names = names(scenario, policy.text().to_string());
    run_logged(&scenario.setup(seed)?, policy, seed, &names, &log, true)?;
    explain::worst_told(&log, WORST)
}
