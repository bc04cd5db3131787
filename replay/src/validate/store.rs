//! The folder of a campaign: its profiles, and a folder for each finished point.

use super::outcome::PointResult;
use super::point::Point;
use crate::error::Error;
use orrery_report::whole_file::write_atomically;
use orrery_scenario::read_text;
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// A folder, which need not be there yet.
    pub fn new(folder: &Path) -> Store {
        Store { folder: folder.to_path_buf() }
    }

    /// Refuses a folder that holds something else than a campaign of this name.
    ///
    /// # Errors
    /// When it does.
    pub fn check(&self, campaign: &str) -> Result<(), Error> {
        let is_empty = |f: &Path| std::fs::read_dir(f).map_or(true, |mut all| all.next().is_none());
        if is_empty(&self.folder) && !self.folder.is_file() {
            return Ok(());
        }
        let report = self.folder.join("validation.md");
        let title = orrery_scenario::whole::read(&report).unwrap_or_default();
        let first = title.lines().find(|line| line.starts_with("# ")).unwrap_or_default();
        // A campaign that was ended at once has no report yet.
        let begun = self.folder.is_dir() && title.is_empty() && self.only_profiles();
        if begun || first == format!("# Validation: {campaign}") {
            return Ok(());
        }
        let what = if first.is_empty() { "something else" } else { first };
        let found = format!("{}, which holds {what}", self.folder.display());
        let allowed = format!("a new folder, or one of the campaign `{campaign}`");
        let remedy = "choose another, or write into it with `--force`";
        Err(Error::value("--out", found, allowed, remedy))
    }

    fn only_profiles(&self) -> bool {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).all(|name| {
            name == "points" || (name.starts_with("profile-") && name.ends_with(".toml"))
        })
    }

    fn result(&self, point: &Point) -> PathBuf {
        self.folder.join("points").join(&point.name).join("result.json")
    }

    /// The result of a point; none when it is not finished, or was made of something else.
    ///
    /// # Errors
    /// When a result is there and damaged.
    pub fn read(&self, point: &Point) -> Result<Option<PointResult>, Error> {
        let path = self.result(point);
        if !path.is_file() {
            return Ok(None);
        }
        let result = read_result(&path)?;
        Ok((result.hash == point.hash).then_some(result))
    }

    /// Writes a point's result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, point: &Point, result: &PointResult) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(result).unwrap_or_default();
        text.push('\n');
        Ok(write_atomically(&self.result(point), text.as_ref())?)
    }

    /// The file of a profile.
    pub fn profile_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Where a run is kept.
    pub fn run_path(&self, point: &Point, repetition: u32) -> PathBuf {
        self.folder.join("points").join(&point.name).join(format!("run-{repetition}"))
    }
}

fn read_result(path: &Path) -> Result<PointResult, Error> {
    serde_json::from_str(&read_text(path)?).map_err(|e| {
        let (allowed, remedy) = ("the result of a point", "remove the file: it is run again");
        Error::in_file(path, format!("line {}", e.line()), e, allowed, remedy)
    })
}

/// All results in a campaign's folder, by the names of their points.
///
/// # Errors
/// When one is damaged.
pub fn results(campaign: &Path) -> Result<Vec<PointResult>, Error> {
    let files = folders(&campaign.join("points")).map(|point| point.join("result.json"));
    files.filter(|file| file.is_file()).map(|file| read_result(&file)).collect()
}

/// The folders in a folder, by their names.
pub fn folders(within: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(within).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|e| e.path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all.into_iter()
}
