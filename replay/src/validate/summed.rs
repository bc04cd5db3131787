//! Several campaigns that have run, in one table.

use super::outcome::{Differences, PointResult, Sensitive};
use super::store;
use super::twins::figures_of;
use super::verdict::{differences, sensitive};
use crate::error::Error;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A campaign's folder, and what it has of results.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The folder's name.
    pub name: String,
    /// Its results, by the names of their points.
    pub results: Vec<PointResult>,
}

/// The campaigns in these folders: each is one, or holds some.
///
/// # Errors
/// When a folder is none and holds none, or a result is damaged.
pub fn finished(folders: &[PathBuf]) -> Result<Vec<Finished>, Error> {
    let mut all = Vec::new();
    for folder in folders {
        let within = match folder.join("points").is_dir() {
            true => vec![folder.clone()],
            false => store::folders(folder).filter(|f| f.join("points").is_dir()).collect(),
        };
        if within.is_empty() {
            let found = format!("{}, where no campaign has results", folder.display());
            let allowed = "a campaign's folder, or a folder of such";
            let remedy = "give what `validate --out` was given";
            return Err(Error::value("FOLDER", found, allowed, remedy));
        }
        for campaign in within {
            all.push(Finished { name: name(&campaign), results: store::results(&campaign)? });
        }
    }
    Ok(all)
}

fn name(folder: &Path) -> String {
    // `.` has a name only when it is looked up.
    let whole = folder.canonicalize().unwrap_or(folder.to_path_buf());
    whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A row for each campaign, and one for all where there are several.
pub fn table(campaigns: &[Finished]) -> String {
    let mut text = String::from(
        "Measured less predicted finish rate, in percentage points: mean and largest absolute value over stable points; of \
         sensitive points, the runs in the middle 95 % of the draws.\n\n\
         | campaign | device | points | runs | same decisions | a priori: valid runs | stable points | mean | largest | \
         sensitive runs inside | as twins: known runs | stable points | mean | largest | sensitive runs inside |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for campaign in campaigns {
        text += &row(&campaign.name, &campaign.results.iter().collect::<Vec<_>>());
    }
    if campaigns.len() > 1 {
        text += &row("all", &campaigns.iter().flat_map(|c| &c.results).collect::<Vec<_>>());
    }
    text
}

fn row(name: &str, results: &[&PointResult]) -> String {
    let all = || results.iter().copied();
    let runs = all().map(|r| r.runs.len()).sum::<usize>();
    let valid = all().map(|r| r.valid().count()).sum::<usize>();
    let twins = figures_of(all());
    let names: BTreeSet<&str> = all()
        .flat_map(|r| &r.runs)
        .map(|r| r.device.name.as_str())
        .filter(|n| !n.is_empty())
        .collect();
    // What an emulated device waits for is no name.
    let short = |name: &&str| name.split(':').next().unwrap_or_default().to_string();
    let devices: BTreeSet<String> = names.iter().map(short).collect();
    let device = match devices.len() {
        1 => devices.into_iter().collect(),
        n => format!("{n} kinds"),
    };
    let mut line = format!("| {name} | {device} | {} | {runs} | ", results.len());
    let (same, told) = twins.retraced;
    let _ = write!(
        line,
        "{} | {valid} | ",
        if told == 0 { String::new() } else { format!("{same} of {told}") }
    );
    line += &figures(&differences(all()), &sensitive(all()));
    let _ = write!(line, " | {} | ", twins.valid_runs);
    line += &figures(&twins.all, &twins.sensitive);
    line + " |\n"
}

fn figures(stable: &Differences, sensitive: &Sensitive) -> String {
    let Differences { points, mean, max, .. } = stable;
    let stable = match points {
        0 => "0 |  | ".to_string(),
        _ => format!("{points} | {mean:.2} | {max:.2}"),
    };
    let inside = match sensitive.runs {
        0 => String::new(),
        runs => format!("{} of {runs}", sensitive.inside),
    };
    format!("{stable} | {inside}")
}
