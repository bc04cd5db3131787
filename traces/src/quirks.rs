//! The ways in which programs and publishers write files that no format asks for: each is known here, handled by the
//! readers that can meet it, counted, and said.
//!
//! Damage that is not in this table is an error.

use crate::error::shorten;
use std::collections::BTreeMap;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which.
    pub quirk: Quirk,
    /// What it is.
    pub what: &'static str,
    /// Which readers can meet it.
    pub readers: &'static str,
    /// What is done.
    pub done: &'static str,
}

macro_rules! quirks {
    ($($quirk:ident: $what:literal, $readers:literal, $done:literal;)*) => {
        /// What can be odd about a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Quirk { $($quirk),* }

        /// Every quirk that is known.
        pub const QUIRKS: &[Row] =
            &[$(Row { quirk: Quirk::$quirk, what: $what, readers: $readers, done: $done }),*];
    };
}

quirks! {
    TrailingComma: "rows that end in one more comma", "every CSV", "the comma is left out; all rows must have it";
    NotANumber: "`NaN` or `Infinity` in JSON, as Python writes it", "every JSON", "read as no value";
}

/// The quirks that a reader met, each with how often and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met(BTreeMap<Quirk, (u64, String)>);

impl Met {
    /// Counts one, with its place or an example.
    pub fn add(&mut self, quirk: Quirk, first: impl FnOnce() -> String) {
        self.0.entry(quirk).or_insert_with(|| (0, first())).0 += 1;
    }

    /// Adds what another part of the reader met.
    pub fn extend(&mut self, other: &Met) {
        for (quirk, (n, first)) in &other.0 {
            self.0.entry(*quirk).or_insert_with(|| (0, first.clone())).0 += n;
        }
    }

    /// How often one was met.
    pub fn count(&self, quirk: Quirk) -> u64 {
        self.0.get(&quirk).map_or(0, |m| m.0)
    }

    /// A line for each.
    pub fn notes(&self) -> Vec<String> {
        let note = |(quirk, (n, first)): (&Quirk, &(u64, String))| {
            let row = QUIRKS.iter().find(|row| row.quirk == *quirk)?;
            Some(format!("{}: {n}, first {}; {}", row.what, shorten(first), row.done))
        };
        self.0.iter().filter_map(note).collect()
    }
}
