//! The file of a manifest, `manifest.jsonl`: JSON lines, so that nobody has to hold all cells to use one.
//!
//! ```text
//!  {"schema":"orrery-manifest",...}       what all cells have in common
//!  {"entry_sha256":...,"set":[...]}   one line for each cell, in the order of results
//!  {"cells":12,"manifest_sha256":"..."}   how many, and the hash of all bytes before this line
//! ```
//!
//! It is written whole or not at all. Nobody can make it again from the cells that are there: one that
//! was edited or cut short is refused.

use super::hash::Hasher;
use super::manifest::{Head, ListedCell, Lister};
use super::scenario_cell::Subject;
use orrery_report::whole_file::Growing;
use orrery_results::RESULT_VERSION;
use orrery_run::SpecError;
use orrery_scenario::whole::WHOLE_MAX;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The last line.
#[derive(Debug, Deserialize, Serialize)]
struct Foot {
    cells: usize,
    manifest_sha256: String,
}

/// How the last line begins.
const FOOT: &str = "{\"cells\":";

/// A manifest on disk.
#[derive(Debug)]
pub struct ManifestFile {
    path: PathBuf,
    /// What its cells have in common.
    pub head: Head,
}

/// Writes a manifest, unless the file is there: then `false`, and it is left as it is. The cells are made
/// on so many threads.
///
/// # Errors
/// When a cell is wrong, or the folder cannot be written.
pub fn write<S: Subject>(
    path: &Path,
    lister: &Lister<'_, S>,
    jobs: usize,
) -> Result<bool, SpecError> {
    let mut file = Growing::begin(path)?;
    let (mut hash, mut cells) = (Hasher::default(), 0);
    let mut add = |line: &str| {
        hash.add(line.as_bytes());
        file.add(line.as_bytes())
    };
    add(&json(&lister.head))?;
    lister.each(jobs, |listed| {
        cells += 1;
        add(&json(&listed.line))?;
        Ok(ControlFlow::Continue(()))
    })?;
    let foot = Foot { cells, manifest_sha256: hash.sha256() };
    file.add(json(&foot).as_bytes())?;
    file.finish_if_absent()
}

fn json<T: Serialize>(line: &T) -> String {
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

impl ManifestFile {
    /// Reads the first line.
    ///
    /// # Errors
    /// When there is no manifest, or it is of another version of the results.
    pub fn open(path: &Path) -> Result<ManifestFile, SpecError> {
        let mut lines = Lines::open(path)?;
        let line = lines.line()?.unwrap_or_default();
        #[derive(Deserialize)]
        struct Version {
            result_version: u32,
        }
        let Version { result_version } = lines.parse(&line)?;
        if result_version != RESULT_VERSION {
            let remedy = "run the sweep again with this version, into another folder, or remove `manifest.jsonl`";
            let allowed = RESULT_VERSION.to_string();
            let error = SpecError::value("result_version", result_version, allowed, remedy);
            return Err(error.in_file(&path.display().to_string()));
        }
        Ok(ManifestFile { path: path.to_path_buf(), head: lines.parse(&line)? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its lines, each of a cell, with the byte at which it begins, for [`ManifestFile::at`]. An error at the
    /// end says that the file was edited or cut short: what was read of it is worth nothing then.
    ///
    /// # Errors
    /// When it cannot be read.
    fn lines(&self) -> Result<CellLines, SpecError> {
        let mut lines = Lines::open(&self.path)?;
        let head = lines.line()?.unwrap_or_default();
        let mut hash = Hasher::default();
        hash.add(head.as_bytes());
        Ok(CellLines { lines, is_over: false, hash, count: 0 })
    }

    /// Its cells, as [`ManifestFile::lines`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn cells(
        &self,
    ) -> Result<impl Iterator<Item = Result<ListedCell, SpecError>> + use<>, SpecError> {
        let mut lines = self.lines()?;
        Ok(std::iter::from_fn(move || {
            lines.next().map(|line| line.and_then(|(_, line)| lines.parse(&line)))
        }))
    }

    /// The cell whose line begins at a byte.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn at(&self, byte: u64) -> Result<ListedCell, SpecError> {
        let mut lines = Lines::open(&self.path)?;
        lines.file.seek(SeekFrom::Start(byte)).map_err(|e| lines.unreadable(e))?;
        let line = lines.line()?.unwrap_or_default();
        lines.parse(&line)
    }

    /// The first difference from the manifest of another sweep, for messages: the cells of that one are
    /// made, which may take a while.
    ///
    /// # Errors
    /// When a cell is wrong, or the file.
    pub fn difference<S: Subject>(
        &self,
        other: &Lister<'_, S>,
        jobs: usize,
    ) -> Result<Option<String>, SpecError> {
        let differ = |what: &str, here: &str, there: &str| {
            (here != there).then(|| {
                format!("the manifest of another sweep: {what}: {here}, in this sweep {there}")
            })
        };
        let (a, b) = (&self.head, &other.head);
        let heads = differ("name", &a.name, &b.name)
            .or_else(|| differ("seeds", &a.seeds.words(), &b.seeds.words()));
        if heads.is_some() {
            return Ok(heads);
        }
        let of_cell = |i: usize, a: &ListedCell, b: &ListedCell| {
            let specification = format!("specification of cell {i} ({})", b.words());
            differ(&format!("combination of cell {i}"), &a.words(), &b.words())
                .or_else(|| differ(&specification, &a.spec_sha256, &b.spec_sha256))
        };
        let (mut here, mut there) = (0, 0);
        let (mut found, mut cells) = (None, self.cells()?);
        other.each(jobs, |listed| {
            there += 1;
            if let Some(cell) = cells.next().transpose()? {
                here += 1;
                found = of_cell(here, &cell, &listed.line);
            }
            Ok(if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if found.is_some() {
            return Ok(found);
        }
        for cell in cells {
            cell?;
            here += 1;
        }
        Ok(differ("number of cells", &here.to_string(), &there.to_string())
            .or_else(|| differ("`compare_to`", &a.compare_to, &b.compare_to)))
    }
}

/// The lines of cells.
struct CellLines {
    lines: Lines,
    is_over: bool,
    hash: Hasher,
    count: usize,
}

impl CellLines {
    fn cell(&mut self) -> Result<Option<(u64, String)>, SpecError> {
        let at = self.lines.at;
        let line = self.lines.line()?.unwrap_or_default();
        if line.is_empty() {
            return Err(self.lines.changed());
        }
        if !line.starts_with(FOOT) {
            self.hash.add(line.as_bytes());
            self.count += 1;
            return Ok(Some((at, line)));
        }
        let foot: Option<Foot> = serde_json::from_str(&line).ok();
        let whole = std::mem::take(&mut self.hash).sha256();
        let is_last = self.lines.line()?.is_none();
        let is_whole = |foot: Foot| foot.manifest_sha256 == whole && foot.cells == self.count;
        if is_last && foot.is_some_and(is_whole) { Ok(None) } else { Err(self.lines.changed()) }
    }

    /// What a line says, or some of it.
    fn parse<'a, T: Deserialize<'a>>(&self, line: &'a str) -> Result<T, SpecError> {
        // What cannot be read was changed.
        serde_json::from_str(line).map_err(|_| self.lines.changed())
    }
}

impl Iterator for CellLines {
    type Item = Result<(u64, String), SpecError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let cell = self.cell();
        self.is_over = !matches!(cell, Ok(Some(_)));
        cell.transpose()
    }
}

/// What the order of the work follows from, of a line: a worker reads the lines of all cells, and should
/// begin at once.
#[derive(Debug, Deserialize)]
pub struct Short {
    /// As of [`ListedCell`].
    pub entry_sha256: String,
    /// As of [`ListedCell`].
    pub policy: String,
    /// As of [`ListedCell`].
    pub requests: Option<u64>,
}

impl ManifestFile {
    /// Goes over the cells with the bytes at which their lines begin.
    ///
    /// # Errors
    /// As [`ManifestFile::lines`].
    pub fn each_short(&self, mut each: impl FnMut(u64, Short)) -> Result<(), SpecError> {
        let mut lines = self.lines()?;
        while let Some(line) = lines.next() {
            let (at, line) = line?;
            each(at, lines.parse(&line)?);
        }
        Ok(())
    }
}

/// The lines of a file, with their ends, each of at most [`WHOLE_MAX`] bytes.
struct Lines {
    path: PathBuf,
    file: BufReader<File>,
    at: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Lines, SpecError> {
        let file = File::open(path)
            .map_err(|source| SpecError::Read { file: path.display().to_string(), source })?;
        Ok(Lines { path: path.to_path_buf(), file: BufReader::new(file), at: 0 })
    }

    fn line(&mut self) -> Result<Option<String>, SpecError> {
        let mut line = String::new();
        let read = (&mut self.file).take(WHOLE_MAX + 1).read_line(&mut line);
        let read = read.map_err(|e| self.unreadable(e))? as u64;
        if read > WHOLE_MAX {
            let message = format!("a line has more than {} MiB", WHOLE_MAX >> 20);
            return Err(self.unreadable(std::io::Error::other(message)));
        }
        self.at += read;
        Ok((read > 0).then_some(line))
    }

    fn parse<T: for<'a> Deserialize<'a>>(&self, line: &str) -> Result<T, SpecError> {
        serde_json::from_str(line).map_err(|e| {
            let message = format!("not a manifest of `orrery sweep`: {e}");
            SpecError::Parse { file: self.path.display().to_string(), message }
        })
    }

    fn unreadable(&self, source: std::io::Error) -> SpecError {
        SpecError::Read { file: self.path.display().to_string(), source }
    }

    fn changed(&self) -> SpecError {
        let found = "a manifest that was changed after it was written, or cut short";
        let remedy = "remove it and run the sweep again: finished cells are kept";
        let error = SpecError::value("manifest_sha256", found, "the manifest as written", remedy);
        error.in_file(&self.path.display().to_string())
    }
}
