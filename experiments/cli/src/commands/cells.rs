//! `orrery sweep cells` and `orrery sweep cell`: the cells of a listed sweep, for people and for other engines.
//!
//! `cells` lists them with their state and cost; `cell` runs one by its hash, from its own line of the
//! manifest.

use clap::{Args, ValueEnum};
use orrery_report::Answer;
use orrery_report::tables::Text;
use orrery_run::SpecError;
use orrery_sweep::costs::{Rates, used_s};
use orrery_sweep::manifest::{Head, ListedCell};
use orrery_sweep::store::{Entry, Store};
use orrery_sweep::work::Work;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The fewest digits of a hash that name a cell.
const DIGITS_MIN: usize = 6;

/// `orrery sweep cells`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery sweep my.toml --out shared/ --manifest
  orrery sweep cells shared/
  orrery sweep cells shared/ --format json      # one object per line: entry_sha256, state, estimated_s, ...")]
pub struct Cells {
    /// The folder of a sweep with a manifest.
    pub folder: PathBuf,
    /// The format of the list.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// `orrery sweep cell`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orrery sweep cell shared/ 3f2a90c41d      # a hash of `orrery sweep cells shared/`, or its first digits")]
pub struct Cell {
    /// The folder of a sweep with a manifest.
    pub folder: PathBuf,
    /// The cell's hash, or enough of its first digits.
    #[arg(value_name = "HASH")]
    pub hash: String,
}

/// The forms of a list of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people.
    Table,
    /// JSON lines: an object for each cell.
    Json,
}

/// A cell as it is listed.
#[derive(Serialize)]
struct Listed<'a> {
    entry_sha256: &'a str,
    axes: &'a str,
    policy: &'a str,
    seeds: String,
    state: &'static str,
    estimated_s: Option<f64>,
    used_s: Option<f64>,
}

/// What is known of the work.
struct Known {
    store: Store,
    head: Head,
    used_s: BTreeMap<String, f64>,
    rates: Rates,
}

impl Known {
    fn of<'a>(&'a self, cell: &'a ListedCell, size: f64) -> Listed<'a> {
        let seeds = &self.head.seeds;
        let state = match self.store.read(&cell.entry_sha256) {
            Entry::Good(mut runs) => match seeds.all_of(&mut runs) {
                true => "done",
                false => "partial",
            },
            Entry::Damaged(_) => "damaged",
            Entry::Absent => "absent",
        };
        Listed {
            entry_sha256: &cell.entry_sha256,
            axes: &cell.axes,
            policy: &cell.policy,
            seeds: seeds.words(),
            state,
            estimated_s: self.rates.seconds(&cell.policy, size).map(in_microseconds),
            used_s: self.used_s.get(&cell.entry_sha256).copied(),
        }
    }
}

/// As the times that were used are written.
fn in_microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// `orrery sweep cells`.
///
/// # Errors
/// When there is no manifest, or it was edited.
pub fn command(args: &Cells) -> Result<Answer, SpecError> {
    let store = Store::existing(&args.folder)?;
    let manifest = store.manifest()?;
    let head = manifest.head.clone();
    let work = Work::of(&store, store.manifest()?)?;
    let (sizes, rates) = (work.parts().iter().map(|p| p.size).collect::<Vec<_>>(), work.rates());
    let used_s = used_s(&store.work());
    drop(work);
    let known = Known { store, head, used_s, rates };
    let names = ["hash", "state", "estimated s", "used s", "policy", "axes"];
    let (mut table, mut lines) =
        (Text::new(&names).left(&["hash", "state", "policy", "axes"]), String::new());
    for (cell, size) in manifest.cells()?.zip(sizes) {
        let cell = cell?;
        let listed = known.of(&cell, size);
        match args.format {
            Format::Table => table.line(in_table(&listed)),
            Format::Json => lines.push_str(&json(&listed)),
        }
    }
    Ok(Answer::of(match args.format {
        Format::Table => table.text(),
        Format::Json => lines,
    }))
}

fn in_table(cell: &Listed<'_>) -> Vec<String> {
    let seconds = |s: Option<f64>| s.map_or("-".to_string(), |s| format!("{s:.3}"));
    vec![
        cell.entry_sha256[..10].to_string(),
        cell.state.to_string(),
        seconds(cell.estimated_s),
        seconds(cell.used_s),
        cell.policy.to_string(),
        cell.axes.to_string(),
    ]
}

fn json(cell: &Listed<'_>) -> String {
    serde_json::to_string(cell).unwrap_or_default() + "\n"
}

/// `orrery sweep cell`: runs one cell, unless it is done, and tells its state.
///
/// # Errors
/// When there is no such cell, or it cannot be run or kept.
pub fn one(args: &Cell) -> Result<Answer, SpecError> {
    let store = Store::existing(&args.folder)?;
    let manifest = store.manifest()?;
    let head = manifest.head.clone();
    let work = Work::of(&store, manifest)?;
    let found = find(&work, &args.hash)?;
    if !work.is_whole(found) {
        work.run(found)?;
    }
    let (line, size) = (work.line(found)?, work.parts()[found].size);
    let (used_s, rates) = (used_s(&store.work()), work.rates());
    drop(work);
    let known = Known { store, head, used_s, rates };
    Ok(Answer::of(json(&known.of(&line, size))))
}

/// The cell of a hash, which may be cut short.
fn find(work: &Work<'_>, hash: &str) -> Result<usize, SpecError> {
    let wrong = |found: String, remedy: &str| {
        let allowed = "the hash of a cell of the manifest, or enough of its first digits";
        Err(SpecError::value("HASH", found, allowed, remedy))
    };
    let remedy = "copy a hash of `orrery sweep cells DIR --format json`";
    if hash.len() < DIGITS_MIN {
        return wrong(format!("`{hash}`, {} digits", hash.len()), remedy);
    }
    let is_it = |name: &str| name.starts_with(hash);
    let all = || work.parts().iter().enumerate().filter(|(_, p)| is_it(&p.name));
    let Some((first, part)) = all().next() else {
        return wrong(format!("`{hash}`, of no cell"), remedy);
    };
    // Equal cells are one.
    if all().any(|(_, other)| other.name != part.name) {
        return wrong(format!("`{hash}`, of several cells"), "give more digits");
    }
    Ok(first)
}
