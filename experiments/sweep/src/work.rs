//! The cells of a manifest as work: which of them are done, and how one is run.

use super::costs::{Rates, Seconds, used_s};
use super::manifest::{ListedCell, RunsLines, runs_of};
use super::manifest_file::ManifestFile;
use super::store::{Entry, Store};
use orrery_report::{say, say_more};
use orrery_run::SpecError;
use std::time::Instant;

/// What is known of a cell before it is run.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name of its entry.
    pub name: String,
    /// Its policy.
    pub policy: String,
    /// The requests of all of its seeds.
    pub size: f64,
}

/// The cells of a manifest. It holds no cell, but the place of each in the manifest's file.
pub struct Work<'a> {
    store: &'a Store,
    manifest: ManifestFile,
    maker: Box<dyn RunsLines>,
    /// Of every cell, by its number in the manifest.
    parts: Vec<Part>,
    /// The byte at which its line begins.
    lines: Vec<u64>,
    seconds: Seconds,
}

impl<'a> Work<'a> {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When it was edited, or the folder cannot be read.
    pub fn of(store: &'a Store, manifest: ManifestFile) -> Result<Work<'a>, SpecError> {
        let (mut parts, mut lines) = (Vec::new(), Vec::new());
        manifest.each_short(|line, cell| {
            let requests = cell.requests.unwrap_or(1) as f64;
            let size = requests * f64::from(manifest.head.seeds.count);
            parts.push(Part { name: cell.entry_sha256, policy: cell.policy, size });
            lines.push(line);
        })?;
        let (maker, seconds) = (runs_of(&manifest.head)?, Seconds::begin(&store.work()));
        Ok(Work { store, manifest, maker, parts, lines, seconds })
    }

    /// Its cells.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What is known of the costs of its cells.
    pub fn rates(&self) -> Rates {
        let (used, mut rates) = (used_s(&self.store.work()), Rates::default());
        for part in &self.parts {
            if let Some(&seconds) = used.get(&part.name) {
                rates.learn(&part.policy, part.size, seconds);
            }
        }
        rates
    }

    /// The line of a cell.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn line(&self, cell: usize) -> Result<ListedCell, SpecError> {
        self.manifest.at(self.lines[cell])
    }

    /// Whether a cell has an entry with all of its seeds.
    pub fn is_whole(&self, cell: usize) -> bool {
        match self.store.read(&self.parts[cell].name) {
            Entry::Good(mut runs) => self.manifest.head.seeds.all_of(&mut runs),
            Entry::Absent | Entry::Damaged(_) => false,
        }
    }

    /// Runs a cell, or what of it is missing, and keeps it.
    ///
    /// # Errors
    /// When it cannot be run or kept.
    pub fn run(&self, cell: usize) -> Result<(), SpecError> {
        let line = self.line(cell)?;
        say_more(&format!("cell {} begins: {}", cell + 1, line.words()));
        let mut runs = match self.store.read(&line.entry_sha256) {
            Entry::Good(runs) => runs,
            Entry::Absent => Vec::new(),
            Entry::Damaged(why) => {
                say(&format!("damaged: {why}; that cell is run again"));
                Vec::new()
            }
        };
        let begun = Instant::now();
        self.maker.run(&line, &mut runs)?;
        self.store.write(&line.entry_sha256, &runs)?;
        self.seconds.took(&line.entry_sha256, begun.elapsed());
        self.store.keep(line.entry_sha256, runs);
        Ok(())
    }
}
