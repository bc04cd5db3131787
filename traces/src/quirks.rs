//! The ways in which programs and publishers write files that no format asks for: each is known here, handled by the
//! readers that can meet it, counted, and said.
//!
//! Damage that is not in this table is an error.

use std::collections::BTreeMap;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The oddity that a reader met.
    pub quirk: Quirk,
    /// One sentence about it, for notes.
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
    Whole: "whole numbers written as `57.0`", "all", "read as whole numbers";
    Utf16: "UTF-16", "all", "an error that says so";
    Separator: "tabs or semicolons between fields", "every CSV", "read as commas";
    DecimalComma: "numbers with a decimal comma", "every CSV",
        "read as a point; an error where it may be one of thousands";
    Thousands: "numbers with commas between thousands", "every CSV", "the commas are left out";
    Preamble: "lines before the header", "every CSV that is known by its columns", "left out";
    SecondTable: "a second table in the file", "every CSV", "not read; an error in lists and profiles of our own";
    HeaderAgain: "the header again, as joined files have it", "every CSV", "left out";
    TrailingComma: "rows that all end in one more comma", "every CSV", "left out";
    FunctionTwice: "functions given twice", "Azure 2019",
        "calls are added, durations weighted by their counts";
    NegativeDuration: "functions with a negative duration", "Azure 2019, durations", "left out";
    FunctionName: "names of functions that several applications have", "Azure 2021",
        "each application has its own function";
    NoDuration: "functions without a duration", "Azure 2019, durations", "left out";
    NotANumber: "`NaN` or `Infinity`, as Python writes them", "every JSON", "read as no value";
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
            Some(format!("{}: {n}, first {}; {}", row.what, first, row.done))
        };
        self.0.iter().filter_map(note).collect()
    }
}
