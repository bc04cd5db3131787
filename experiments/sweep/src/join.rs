//! The result of a sweep from the manifest and the entries alone, cell by cell in the order of the manifest.
//!
//! ```text
//!  manifest.jsonl ──> entries ──> rows, with differences ──> files that grow
//! ```
//!
//! Memory does not grow with the cells, but for the rows of up to [`TEXT_CELLS_MAX`] of them, which the text and the
//! page need as well. More are read twice: the first time to see that all are there, and which columns they have.

use super::manifest::{Head, ListedCell};
use super::manifest_file::ManifestFile;
use super::page::drawn;
use super::pivot::of_sweep;
use super::replication::Replication;
use super::rows::{difference, rows};
use super::store::{Entry, Store};
use orrery_report::row_files::{RowFiles, check, path_of};
use orrery_report::threads::pool;
use orrery_report::whole_file::write_atomically;
use orrery_report::{Answer, Format, Output, leave_page, tell};
use orrery_results::{JsonRows, Row, Wide};
use orrery_run::SpecError;
use rayon::prelude::*;

/// Up to so many cells the text, JSON and the page are made.
pub const TEXT_CELLS_MAX: usize = 5_000;
/// How many cells are read at a time, and more until their setting ends.
const CHUNK: usize = 256;
/// How many rows are written at a time.
const ROWS: usize = 4_096;
/// How many of the missing cells are named.
const NAMED: usize = 5;

/// A cell with its runs, or why they are not all there.
type Found = (ListedCell, Result<Vec<Replication>, String>);

/// What the first reading found.
#[derive(Default)]
struct Seen {
    cells: usize,
    missing: usize,
    named: Vec<String>,
    columns: Wide,
    /// Of all cells, where they are few.
    rows: Vec<Row>,
}

/// Writes the result of a sweep into its folder. Without all entries there is none, and the check has
/// failed.
///
/// # Errors
/// When the manifest is missing, damaged or edited, a form cannot be had of so many cells, or the folder
/// cannot be written.
pub fn join(store: &Store, output: &Output) -> Result<Answer, SpecError> {
    let (folder, manifest) = (store.folder(), store.manifest()?);
    let head = &manifest.head;
    check(folder, &head.name)?;
    let (threads, mut seen) = (pool(0)?, Seen::default());
    threads.install(|| each_chunk(store, &manifest, |found| seen.see(found)))?;
    if seen.missing > 0 {
        tell(&format!("error: {}", missing(&manifest, &seen)));
        return Ok(Answer { failed: true, ..Answer::default() });
    }
    let is_small = seen.cells <= TEXT_CELLS_MAX;
    check_forms(seen.cells, output)?;
    let json = is_small.then(|| JsonRows::new(&[("sweep", head.name.clone().into())]));
    let (all, cells) = (seen.rows, seen.cells);
    let mut files = RowFiles::begin(folder, &head.name, seen.columns, json)?;
    threads.install(|| match is_small {
        true => all.chunks(ROWS).try_for_each(|rows| files.add(rows)),
        false => each_chunk(store, &manifest, |found| {
            let rows = found.into_iter().collect::<Result<Vec<_>, _>>().map_err(gone)?;
            files.add(&rows.into_iter().flatten().collect::<Vec<_>>())
        }),
    })?;
    files.finish()?;
    let form = |ending: &str| path_of(folder, &head.name, ending);
    let table = if is_small {
        let document = of_sweep(&head.name, &format!("{cells} cells"), &all);
        let table = document.to_text();
        write_atomically(&form("txt"), table.as_bytes())?;
        let page = output.html.as_ref().map(|_| drawn(document, &all));
        leave_page(page, &all, output)?;
        table
    } else {
        // Those of fewer cells would be taken for these.
        ["txt", "json"].iter().for_each(|ending| _ = std::fs::remove_file(form(ending)));
        let csv = form("csv").display().to_string();
        format!(
            "sweep {}, {cells} cells: too many for a table of all (at most {TEXT_CELLS_MAX}); the rows are in {csv}\n",
            head.name
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
    let Head { name, result_version, seeds, .. } = &manifest.head;
    let allowed = format!(
        "every cell of this manifest: sweep {name}, {cells} cells, seeds {}, results version {result_version}",
        seeds.words()
    );
    let remedy = "run the missing shards into this folder, or `orrery sweep` without `--shard`";
    let file = manifest.path().display().to_string();
    SpecError::value("cells", found, allowed, remedy).in_file(&file)
}

/// Does something with the rows of the cells, so many at a time; or with why a cell is missing.
fn each_chunk(
    store: &Store,
    manifest: &ManifestFile,
    mut each: impl FnMut(Vec<Result<Vec<Row>, String>>) -> Result<(), SpecError>,
) -> Result<(), SpecError> {
    let (head, mut cells) = (&manifest.head, manifest.cells()?.peekable());
    loop {
        let mut chunk: Vec<ListedCell> = Vec::new();
        while let Some(cell) = cells.next_if(|next| match (next, chunk.last()) {
            (Ok(next), Some(last)) => chunk.len() < CHUNK || next.axes == last.axes,
            _ => true,
        }) {
            chunk.push(cell?);
        }
        if chunk.is_empty() {
            return Ok(());
        }
        let found: Vec<Found> =
            chunk.into_par_iter().map(|cell| runs_of(store, head, cell)).collect();
        let settings: Vec<&[Found]> = found.chunk_by(|a, b| a.0.axes == b.0.axes).collect();
        each(settings.into_par_iter().flat_map_iter(|cells| rows_of(head, cells)).collect())?;
    }
}

impl Seen {
    fn see(&mut self, found: Vec<Result<Vec<Row>, String>>) -> Result<(), SpecError> {
        for rows in found {
            self.cells += 1;
            match rows {
                Ok(rows) => {
                    self.columns.see(&rows);
                    self.rows.extend(rows);
                }
                Err(why) => {
                    self.missing += 1;
                    if self.named.len() < NAMED {
                        self.named.push(format!("{} ({why})", self.cells));
                    }
                }
            }
            if self.cells > TEXT_CELLS_MAX {
                self.rows = Vec::new();
            }
        }
        Ok(())
    }
}

fn runs_of(store: &Store, head: &Head, cell: ListedCell) -> Found {
    let runs = match store.read(&cell.entry_sha256) {
        Entry::Good(mut runs) => match head.seeds.all_of(&mut runs) {
            true => Ok(runs),
            false => Err(format!("only {} of its seeds", runs.len())),
        },
        Entry::Absent => Err(cell.axes.clone()),
        Entry::Damaged(why) => Err(why),
    };
    (cell, runs)
}

fn gone(why: String) -> SpecError {
    let remedy = "merge again when nobody changes the folder";
    SpecError::value("cells", why, "the entries that were there a moment ago", remedy)
}

/// The rows of the cells of a setting, with differences from its base.
fn rows_of(head: &Head, cells: &[Found]) -> Vec<Result<Vec<Row>, String>> {
    let base = cells.iter().find(|(cell, _)| cell.policy == head.compare_to);
    let base = base.and_then(|(_, runs)| runs.as_ref().ok());
    let of = |(cell, runs): &Found| {
        let (place, runs) = (cell.place(head), runs.as_ref().map_err(String::clone)?);
        let mut out = rows(&place, &head.seeds, runs);
        if let Some(base) = base.filter(|_| cell.policy != head.compare_to) {
            out.extend(difference(&place, &head.compare_to, runs, base));
        }
        Ok(out)
    };
    cells.iter().map(of).collect()
}
