//! Runs scenarios and jobs, and prints the length and the SHA-256 of all that they write: result tables
//! as CSV, schedule logs, figures as SVG and PNG. Two machines that print the same wrote the same bytes.
//!
//! Its arguments are scenarios and files of jobs.

use orrery_sweep::own::{OwnFile, rows_of_file};
use orrery_sweep::seeds::Seeds;
use orrery_sweep::{details, scenario_rows};
use orrery_results::to_csv;
use orrery_scenario::jobs::JobsFile;
use orrery_scenario::tokens::TokensFile;
use orrery_run::SpecError;
use orrery_scenario::{Scenario, kind, read_text};
use orrery_sim::log::LogWriter;
use sha2::{Digest, Sha256};
use std::path::Path;

fn main() {
    let mut failed = false;
    for what in std::env::args().skip(1) {
        if let Err(error) = of_file(&what) {
            println!("{what} error {error}");
            failed = true;
        }
    }
    std::process::exit(failed.into());
}

/// A line of what was written.
fn wrote(what: &str, form: &str, bytes: &[u8]) {
    let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    println!("{what} {form} {} {hash}", bytes.len());
}

fn one_seed(first: u64) -> Seeds {
    Seeds { first, count: 1, until_ci: None }
}

/// A file of a world of its own.
fn of_own<F: OwnFile>(path: &str) -> Result<(), SpecError> {
    let file = F::load(Path::new(path))?;
    let rows = rows_of_file(&file, &file.policies()?, one_seed(file.about().2), None)?;
    wrote(path, "csv", to_csv(&rows).as_bytes());
    Ok(())
}

fn of_file(path: &str) -> Result<(), SpecError> {
    let kind = kind::of(&read_text(path)?).map_or("", |k| k.name);
    if kind == kind::JOBS.name {
        return of_own::<JobsFile>(path);
    }
    if kind == kind::TOKENS.name {
        return of_own::<TokensFile>(path);
    }
    let scenario = Scenario::load(Path::new(path))?;
    let (policies, seed) = (scenario.policies()?, scenario.seed);
    let rows = scenario_rows::rows_of_scenario(&scenario, &policies, one_seed(seed), None, false)?;
    wrote(path, "csv", to_csv(&rows).as_bytes());
    let setup = scenario.setup(seed)?;
    for policy in &policies {
        let log = LogWriter::new(Vec::new()).with_terms(&setup.terms());
        let (_, log) = setup.run_with(policy, seed, log)?.observer;
        let log = log.finish().expect("there is room in memory");
        wrote(&format!("{path} {policy}"), "log", &log);
    }
    if let Some(figure) = details::latencies(&scenario, &policies, seed)? {
        wrote(path, "svg", figure.to_svg().as_bytes());
        wrote(path, "png", &figure.to_png());
    }
    Ok(())
}
