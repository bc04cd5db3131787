//! Runs that are made once: a finished cell is kept, and found again.

use super::replication::Replication;
use super::seeds::Seeds;
use super::store::{Entry, Store};
use orrery_report::say;
use orrery_run::SpecError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Where finished cells are kept, if anywhere.
#[derive(Debug, Default)]
pub struct Kept {
    store: Option<Store>,
    /// Nothing is run: every cell must be there.
    only: bool,
}

impl Kept {
    /// In a folder, where one is given.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn at(folder: Option<&Path>) -> Result<Kept, SpecError> {
        Ok(Kept { store: folder.map(Store::open).transpose()?, only: false })
    }

    /// In a folder that must have every cell that is asked for.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn only_from(folder: &Path) -> Result<Kept, SpecError> {
        Ok(Kept { store: Some(Store::open(folder)?), only: true })
    }

    /// The runs of a cell: those that are there, or those that `make` makes, which are kept then.
    /// `what` says in messages which cell it is.
    ///
    /// # Errors
    /// When the cell cannot be run or kept, or is missing where nothing is run.
    pub fn runs(
        &self,
        hash: &str,
        what: &str,
        make: impl FnOnce() -> Result<Vec<Replication>, SpecError>,
    ) -> Result<Vec<Replication>, SpecError> {
        let Some(store) = &self.store else { return make() };
        if let Some(runs) = self.found(store.read(hash), what)? {
            return Ok(runs);
        }
        let runs = make()?;
        store.write(hash, &runs)?;
        Ok(runs)
    }

    /// A value of another kind, as [`Kept::runs`]; kept as TOML, which has infinite numbers.
    ///
    /// # Errors
    /// As [`Kept::runs`].
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        hash: &str,
        what: &str,
        make: impl FnOnce() -> Result<T, SpecError>,
    ) -> Result<T, SpecError> {
        let Some(store) = &self.store else { return make() };
        let entry = store.read_as(hash, |body| toml::from_str(body).map_err(|e| e.to_string()));
        if let Some(value) = self.found(entry, what)? {
            return Ok(value);
        }
        let value = make()?;
        // What TOML cannot say is made again.
        toml::to_string(&value).map_or(Ok(()), |body| store.write_text(hash, &body))?;
        Ok(value)
    }

    /// The runs of a cell, seed by seed: those that are there are taken, the others made by `one` and kept.
    /// `entry` is a hash that does not depend on how many seeds there are.
    ///
    /// # Errors
    /// As [`Kept::runs`].
    pub fn seeds(
        &self,
        entry: &str,
        what: &str,
        seeds: &Seeds,
        one: impl FnMut(u64) -> Result<Replication, SpecError>,
    ) -> Result<Vec<Replication>, SpecError> {
        let Some(store) = &self.store else { return seeds.run(one) };
        let mut runs = self.found(store.read(entry), what)?.unwrap_or_default();
        if seeds.all_of(&mut runs) {
            return Ok(runs);
        }
        if self.only {
            return Err(missing(what, &format!("only {} of its seeds are there", runs.len())));
        }
        seeds.go_on(&mut runs, one)?;
        store.write(entry, &runs)?;
        Ok(runs)
    }

    /// What is there; none where it is to be made.
    fn found<T>(&self, entry: Entry<T>, what: &str) -> Result<Option<T>, SpecError> {
        match entry {
            Entry::Good(value) => Ok(Some(value)),
            Entry::Absent if self.only => Err(missing(what, "not there")),
            Entry::Damaged(why) if self.only => Err(missing(what, &why)),
            Entry::Absent => Ok(None),
            Entry::Damaged(why) => {
                say(&format!("damaged: {why}; {what} will be run again"));
                Ok(None)
            }
        }
    }
}

fn missing(what: &str, why: &str) -> SpecError {
    let remedy =
        "run the missing shards with this folder as `--out`, or run the command without `--shard`";
    SpecError::value("cells", format!("{what}: {why}"), "every cell of the manifest", remedy)
}
