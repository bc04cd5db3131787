//! The result of a sweep from the manifest and the entries alone, cell by cell in the order of the manifest.
//!
//! ```text
//!  manifest.jsonl ──> entries ── once to see that all are there, and which columns they have
//!                         └─ once more ──> rows, with differences ──> files that grow
//! ```
//!
//! Memory does not grow with the cells, but for the manifest's bases and, up to [`TEXT_CELLS_MAX`] cells, the rows
//! of the text and the page.

use super::manifest::{Head, ListedCell};
use super::manifest_file::ManifestFile;
use super::page::drawn;
use super::pivot::of_sweep;
use super::replication::Replication;
use super::rows::{difference, rows};
use super::store::{Entry, Store};
use orrery_report::row_files::{RowFiles, path_of};
use orrery_report::threads::pool;
use orrery_report::whole_file::write_atomically;
use orrery_report::{Answer, Format, Output, leave_page, tell};
use orrery_results::{JsonRows, Row, Wide};
use orrery_scenario::SpecError;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Up to so many cells the text, JSON and the page are made.
pub const TEXT_CELLS_MAX: usize = 5_000;
/// How many cells are read at a time.
const CHUNK: usize = 256;
/// How many of the missing cells are named.
const NAMED: usize = 5;

/// The runs of a cell.
type Runs = Arc<Vec<Replication>>;

/// What the first reading found.
#[derive(Default)]
struct Seen {
    cells: usize,
    missing: usize,
    named: Vec<String>,
    columns: Wide,
    /// The entry of the policy that others are compared with, by axes.
    bases: BTreeMap<String, String>,
}

/// Writes the result of a sweep into its folder. Without all entries there is none, and the check has
/// failed.
///
/// # Errors
/// When the manifest is missing, damaged or edited, a form cannot be had of so many cells, or the folder
/// cannot be written.
pub fn join(folder: &Path, output: &Output) -> Result<Answer, SpecError> {
    let store = Store::existing(folder)?;
    let manifest = store.manifest()?;
    let head = &manifest.head;
    let threads = pool(0)?;
    let seen = threads.install(|| see(&store, &manifest))?;
    if seen.missing > 0 {
        tell(&format!("error: {}", missing(&manifest, &seen)));
        return Ok(Answer { failed: true, ..Answer::default() });
    }
    let is_small = seen.cells <= TEXT_CELLS_MAX;
    check_forms(seen.cells, output)?;
    let json = is_small.then(|| JsonRows::new(&[("sweep", head.name.clone().into())]));
    let mut files = RowFiles::begin(folder, &head.name, seen.columns, json)?;
    let mut all: Vec<Row> = Vec::new();
    threads.install(|| {
        each_chunk(&manifest, |cells| {
            let rows = rows_of(&store, head, &seen.bases, &cells)?;
            files.add(&rows)?;
            if is_small {
                all.extend(rows);
            }
            Ok(())
        })
    })?;
    files.finish()?;
    let form = |ending: &str| path_of(folder, &head.name, ending);
    let title = format!("sweep {}, {} cells", head.name, seen.cells);
    let table = if is_small {
        let document = of_sweep(&head.name, &format!("{} cells", seen.cells), &all);
        let table = document.to_text();
        write_atomically(&form("txt"), table.as_bytes())?;
        #[cfg(feature = "parquet")]
        orrery_report::parquet::table_from_rows(&all, &form("parquet"))?;
        let page = output.html.as_ref().map(|_| drawn(document, &all));
        leave_page(page, &all, output)?;
        table
    } else {
        // Those of fewer cells would be taken for these.
        ["txt", "json"].iter().for_each(|ending| _ = std::fs::remove_file(form(ending)));
        let csv = form("csv").display().to_string();
        format!(
            "{title}: too many for a table of all (at most {TEXT_CELLS_MAX}); the rows are in {csv}\n"
        )
    };
    let file = |ending: &str| Answer { file: Some(form(ending)), ..Answer::default() };
    Ok(match output.format {
        Format::Table => Answer::of(table),
        Format::Csv => file("csv"),
        Format::Wide => file("wide.csv"),
        Format::Json => file("json"),
    })
}

/// Passes when the forms that were asked for can be had of so many cells.
///
/// # Errors
/// Names the option.
pub fn check_forms(cells: usize, output: &Output) -> Result<(), SpecError> {
    if cells <= TEXT_CELLS_MAX {
        return Ok(());
    }
    let asked = if output.html.is_some() {
        ("--html", "a page")
    } else if output.format == Format::Json {
        ("--format", "json")
    } else {
        return Ok(());
    };
    let found = format!("{} of {cells} cells", asked.1);
    let allowed =
        format!("at most {TEXT_CELLS_MAX} cells; `--format csv` and `wide` have any number");
    Err(SpecError::value(asked.0, found, allowed, "use `--format csv`, or a smaller sweep"))
}

fn missing(manifest: &ManifestFile, seen: &Seen) -> SpecError {
    let shown = seen.named.join(", ");
    let dots = if seen.missing > NAMED { ", ..." } else { "" };
    let (missing, cells) = (seen.missing, seen.cells);
    let found = format!("{missing} of {cells} cells missing: {shown}{dots}");
    let allowed = format!("every cell of this manifest: {}", words(&manifest.head, cells));
    let remedy =
        "run the missing shards into this folder, or `orrery sweep` with `--share` or alone";
    let file = manifest.path().display().to_string();
    SpecError::value("cells", found, allowed, remedy).in_file(&file)
}

/// What a manifest is of, for messages.
fn words(head: &Head, cells: usize) -> String {
    let Head { name, result_version, seeds, .. } = head;
    format!(
        "sweep {name}, {cells} cells, seeds {}, results version {result_version}",
        seeds.words()
    )
}

/// Does something with the cells, so many at a time.
fn each_chunk(
    manifest: &ManifestFile,
    mut each: impl FnMut(Vec<ListedCell>) -> Result<(), SpecError>,
) -> Result<(), SpecError> {
    let mut cells = manifest.cells()?;
    loop {
        let chunk: Vec<ListedCell> = cells.by_ref().take(CHUNK).collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            return Ok(());
        }
        each(chunk)?;
    }
}

/// Reads every entry once.
fn see(store: &Store, manifest: &ManifestFile) -> Result<Seen, SpecError> {
    let (head, mut seen) = (&manifest.head, Seen::default());
    each_chunk(manifest, |cells| {
        let columns = |cell: &ListedCell| {
            let runs = runs_of(store, head, cell)?;
            let mut columns = Wide::default();
            columns.see(&rows(&cell.place(head), &head.seeds, &runs));
            Ok(columns)
        };
        let found: Vec<Result<Wide, String>> = cells.par_iter().map(columns).collect();
        for (cell, found) in cells.into_iter().zip(found) {
            seen.cells += 1;
            match found {
                Ok(columns) => seen.columns.join(columns),
                Err(why) => {
                    seen.missing += 1;
                    if seen.named.len() < NAMED {
                        seen.named.push(format!("{} ({why})", seen.cells));
                    }
                }
            }
            if cell.policy == head.compare_to {
                seen.bases.entry(cell.axes).or_insert(cell.entry_sha256);
            }
        }
        Ok(())
    })?;
    Ok(seen)
}

/// The runs of a cell, or why they are not all there.
fn runs_of(store: &Store, head: &Head, cell: &ListedCell) -> Result<Runs, String> {
    match store.read(&cell.entry_sha256) {
        Entry::Good(found) => match head.seeds.all_of(&found) {
            Some(found) => Ok(Arc::new(found)),
            None => Err(format!("only {} of its seeds", found.len())),
        },
        Entry::Absent => Err(cell.axes.clone()),
        Entry::Damaged(why) => Err(why),
    }
}

/// The rows of neighbouring cells, with differences from the base of each.
fn rows_of(
    store: &Store,
    head: &Head,
    bases: &BTreeMap<String, String>,
    cells: &[ListedCell],
) -> Result<Vec<Row>, SpecError> {
    let gone = |cell: &ListedCell, why: String| {
        let found = format!("{}: {why}", cell.words());
        let remedy = "merge again when nobody changes the folder";
        SpecError::value("cells", found, "the entries that were there a moment ago", remedy)
    };
    let read = |cell: &ListedCell| runs_of(store, head, cell).map_err(|why| gone(cell, why));
    let runs: Vec<Runs> = cells.par_iter().map(read).collect::<Result<_, _>>()?;
    // The base of most cells is their neighbour.
    let here: BTreeMap<&str, &Runs> =
        cells.iter().map(|c| c.entry_sha256.as_str()).zip(&runs).collect();
    let of = |(cell, own): (&ListedCell, &Runs)| -> Result<Vec<Row>, SpecError> {
        let place = cell.place(head);
        let mut out = rows(&place, &head.seeds, own);
        let Some(base) = bases.get(&cell.axes).filter(|_| cell.policy != head.compare_to) else {
            return Ok(out);
        };
        let base = match here.get(base.as_str()) {
            Some(runs) => Arc::clone(runs),
            None => read(&ListedCell { entry_sha256: base.clone(), ..cell.clone() })?,
        };
        out.extend(difference(&place, &head.compare_to, own, &base));
        Ok(out)
    };
    let all: Vec<Vec<Row>> = cells.par_iter().zip(&runs).map(of).collect::<Result<_, _>>()?;
    Ok(all.into_iter().flatten().collect())
}
