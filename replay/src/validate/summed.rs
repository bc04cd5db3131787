//! Several campaigns that have run, in one table.

use super::errors::{self, SUMMED};
use super::outcome::{PointResult, Sensitive};
use super::twins::figures_of;
use super::verdict::sensitive;
use super::{remarks, store};
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
    /// What its report says against its figures.
    pub remarks: Vec<&'static str>,
    /// Its results, by the names of their points.
    pub results: Vec<PointResult>,
}

/// The campaigns in these folders: each is one, or holds some.
///
/// # Errors
/// When a folder is none and holds none, a campaign is given twice, or a result is damaged.
pub fn finished(folders: &[PathBuf]) -> Result<Vec<Finished>, Error> {
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
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
            if !seen.insert(whole(&campaign)) {
                let found = format!("{} twice", campaign.display());
                return Err(Error::value("FOLDER", found, "each campaign once", "remove one"));
            }
            let report = campaign.join("validation.md");
            let report = orrery_scenario::whole::read(&report).unwrap_or_default();
            let remarks = remarks::of(&report);
            all.push(Finished {
                name: name(&campaign),
                remarks,
                results: store::results(&campaign)?,
            });
        }
    }
    Ok(all)
}

/// `.` has a name only when it is looked up.
fn whole(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or(folder.to_path_buf())
}

fn name(folder: &Path) -> String {
    whole(folder).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// A row for each campaign, and one for all where there are several, as Markdown.
pub fn table(campaigns: &[Finished]) -> String {
    let of = |name: &str, some: &[Finished]| {
        let remarks = some.iter().flat_map(|c| c.remarks.iter().copied());
        let mut cells = row(name, &some.iter().flat_map(|c| &c.results).collect::<Vec<_>>());
        cells.push(Vec::from_iter(remarks.collect::<BTreeSet<_>>()).join(", "));
        cells
    };
    let own = campaigns.iter().map(|c| of(&c.name, std::slice::from_ref(c)));
    let rows = own.chain((campaigns.len() > 1).then(|| of("all", campaigns)));
    let caption = "Measured less predicted finish rate, in percentage points: mean and largest absolute value over \
                   stable points. By the profile alone: of points between 1 and 99 %, beside what the latency models alone \
                   predict and the number of the other points, with mean errors of latency and goodput in percent. \
                   Re-simulated: of all points whose machine is known. Of sensitive points, the runs in the middle 95 % \
                   of the draws. Remarks are those of the reports.";
    let columns = format!(
        "campaign|device|points|runs|same decisions|valid runs|{SUMMED}|sensitive runs inside|re-simulated: known \
         runs|points re-simulated|mean re-simulated|largest re-simulated|sensitive re-simulated|remarks"
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
    let count = |n: usize| n.to_string();
    let mut cells = vec![name.to_string(), device, count(results.len()), count(runs().count())];
    cells.extend([of(twins.retraced).unwrap_or_default(), count(valid)]);
    cells.extend(errors::summed(results));
    cells.extend([inside(&sensitive(all())), count(twins.valid_runs), count(twins.all.points)]);
    cells.extend([two(twins.all.mean), two(twins.all.max), inside(&twins.sensitive)]);
    cells
}
