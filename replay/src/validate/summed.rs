//! Several campaigns that have run, in one table.

use super::errors::{self, SUMMED};
use super::outcome::{PointResult, Sensitive};
use super::store;
use super::twins::figures_of;
use super::verdict::sensitive;
use crate::error::Error;
use crate::table::{table as text_table, two};
use orrery_report::Page;
use orrery_report::page::Part;
use std::collections::BTreeSet;
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

/// A row for each campaign, and one for all where there are several, as Markdown.
pub fn table(campaigns: &[Finished]) -> String {
    let own = campaigns.iter().map(|c| row(&c.name, &c.results.iter().collect::<Vec<_>>()));
    let all: Vec<&PointResult> = campaigns.iter().flat_map(|c| &c.results).collect();
    let rows = own.chain((campaigns.len() > 1).then(|| row("all", &all)));
    let caption = "Measured less predicted finish rate, in percentage points: mean and largest absolute value over \
                   stable points. By the profile alone: of points between 1 and 99 %, beside what the latency models alone \
                   predict and the number of the other points, with mean errors of latency and goodput in percent. \
                   Re-simulated: of all points whose machine is known. Of sensitive points, the runs in the middle 95 % \
                   of the draws.";
    let columns = format!(
        "campaign|device|points|runs|same decisions|valid runs|{SUMMED}|sensitive runs inside|re-simulated: known \
         runs|points re-simulated|mean re-simulated|largest re-simulated|sensitive re-simulated"
    );
    let mut page = Page::new("validation", "campaigns");
    page.section("Campaigns", [Part::Table(text_table(caption, &columns, rows))]);
    page.to_markdown()
}

fn row(name: &str, results: &[&PointResult]) -> Vec<String> {
    let all = || results.iter().copied();
    let runs = || all().flat_map(|r| &r.runs);
    let names = runs().map(|r| r.device.name.as_str()).filter(|n| !n.is_empty());
    // What an emulated device waits for is no name.
    let short = |name: &str| name.split(':').next().unwrap_or_default().to_string();
    let devices: BTreeSet<String> = names.map(short).collect();
    let device = match devices.len() {
        1 => devices.into_iter().collect(),
        n => format!("{n} kinds"),
    };
    let twins = figures_of(all());
    let valid = all().map(|r| r.valid().count()).sum::<usize>();
    let of = |(n, all): (usize, usize)| (all > 0).then(|| format!("{n} of {all}"));
    let inside = |s: &Sensitive| of((s.inside, s.runs)).unwrap_or_default();
    let some = |x: f64| two(Some(x).filter(|_| twins.all.points > 0));
    let count = |n: usize| n.to_string();
    let mut cells = vec![name.to_string(), device, count(results.len()), count(runs().count())];
    cells.extend([of(twins.retraced).unwrap_or_default(), count(valid)]);
    cells.extend(errors::summed(results));
    cells.extend([inside(&sensitive(all())), count(twins.valid_runs), count(twins.all.points)]);
    cells.extend([some(twins.all.mean), some(twins.all.max), inside(&twins.sensitive)]);
    cells
}
