//! Azure Functions 2019, invocations: how often each function was called in each minute of a day
//! (Shahrad et al., ATC 2020).
//!
//! It does not make arrivals; [`crate::rate::Minutes`] does. Columns are found by name:
//! `HashOwner` and `HashApp` may be absent, every column whose name is a whole number is a minute,
//! and label k covers the minute [k-1, k) of the day. Counts were logged after execution.

use crate::error::{TraceError, shorten};
use crate::open::Input;
use crate::quirks::{Met, Quirk};
use crate::table::Table;
use orrery_sim::ordered::sort_by;
use orrery_sim::rng::fnv1a;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Consecutive minute columns, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteRange {
    /// The label of the first minute.
    pub first_label: u32,
    /// The label of the last minute.
    pub last_label: u32,
}

impl MinuteRange {
    /// How many minutes there are; 0 when the last comes before the first.
    pub fn minutes(self) -> usize {
        (u64::from(self.last_label) + 1).saturating_sub(u64::from(self.first_label)) as usize
    }
}

/// One function: who owns it and how often it was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// `HashOwner`; empty where the file has no such column.
    pub owner: String,
    /// `HashApp`; empty where the file has no such column.
    pub app: String,
    /// `HashFunction`.
    pub function: String,
    /// What calls it: `http`, `timer`, `queue`, ...
    pub trigger: String,
    /// Calls in the minutes read.
    pub total: u64,
    /// Calls in each minute read.
    pub counts: Arc<[u32]>,
}

impl FunctionRow {
    /// The index of this function's random stream: a hash of its key, so that its arrivals stay the
    /// same whatever other functions are selected.
    pub fn stream_index(&self) -> u64 {
        fnv1a(&self.key())
    }

    /// Owner, application and function in one text.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.owner, self.app, self.function)
    }

    fn sort_key(&self) -> (&str, &str, &str) {
        (&self.owner, &self.app, &self.function)
    }
}

/// Which functions to keep. Ranks count from 1 by falling total; equal totals go by name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selection {
    /// Every function.
    #[default]
    All,
    /// All but the first so many ranks.
    WithoutTop(usize),
    /// The ranks from `first` to `last`, both included.
    Ranks {
        /// The first rank kept, at least 1.
        first: usize,
        /// The last rank kept.
        last: usize,
    },
    /// Those with this trigger.
    Trigger(String),
    /// Those whose `HashFunction` is in the list.
    Named(Vec<String>),
}

/// The columns that identify a function; owner and application may be absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyColumns {
    owner: Option<usize>,
    app: Option<usize>,
    function: usize,
}

impl KeyColumns {
    pub(crate) fn of(table: &Table) -> Result<KeyColumns, TraceError> {
        Ok(KeyColumns {
            owner: table.find("HashOwner"),
            app: table.find("HashApp"),
            function: table.column("HashFunction")?,
        })
    }

    /// Owner, application and function of the current line.
    pub(crate) fn read(self, table: &Table) -> Result<[String; 3], TraceError> {
        let text = |column: Option<usize>| match column.map(|c| (c, table.text(c).trim())) {
            None => Ok(String::new()),
            Some((c, "")) => Err(table.bad_field(c, "a name")),
            Some((_, name)) => Ok(name.to_string()),
        };
        Ok([text(self.owner)?, text(self.app)?, text(Some(self.function))?])
    }
}

/// The functions seen so far: finds the second line of a function, which some published days have.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeMap<[String; 3], usize>);

impl Seen {
    /// The number of a function, from 0 in the order of its first line.
    pub(crate) fn number(&mut self, key: [String; 3]) -> usize {
        let next = self.0.len();
        *self.0.entry(key).or_insert(next)
    }
}

/// Reads an invocations file one function at a time; memory does not grow with the file.
#[derive(Debug)]
pub struct InvocationsReader {
    table: Table,
    key: KeyColumns,
    trigger: usize,
    columns: Vec<usize>,
    minutes: MinuteRange,
    seen: Seen,
}

impl InvocationsReader {
    /// Reads the header. `range` chooses minutes; `None` takes all.
    ///
    /// # Errors
    /// When columns are missing, minutes are not consecutive, or `range` is not within the file.
    pub fn open(input: Input, range: Option<MinuteRange>) -> Result<Self, TraceError> {
        Self::from_table(Table::open(input)?, range)
    }

    pub(crate) fn from_table(table: Table, range: Option<MinuteRange>) -> Result<Self, TraceError> {
        let (key, trigger) = (KeyColumns::of(&table)?, table.column("Trigger")?);
        let (whole, mut columns) = minute_columns(&table)?;
        let minutes = range.unwrap_or(whole);
        let inside =
            minutes.first_label >= whole.first_label && minutes.last_label <= whole.last_label;
        if minutes.minutes() == 0 || !inside {
            return Err(TraceError::Selection {
                file: table.file().into(),
                key: "minutes",
                found: format!("{} to {}", minutes.first_label, minutes.last_label),
                allowed: format!("labels from {} to {}", whole.first_label, whole.last_label),
                remedy: "choose minutes that the file has",
            });
        }
        columns.drain(..(minutes.first_label - whole.first_label) as usize);
        columns.truncate(minutes.minutes());
        Ok(InvocationsReader { table, key, trigger, columns, minutes, seen: Seen::default() })
    }

    /// The minutes that are read.
    pub fn minutes(&self) -> MinuteRange {
        self.minutes
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        self.table.file()
    }

    /// What was odd about the file so far.
    pub fn met(&self) -> Met {
        self.table.met()
    }

    /// The next function with its number, from 0 in the order of their first lines; `None` at the end. One that is
    /// given twice comes twice.
    ///
    /// # Errors
    /// When the line is damaged. Counts outside the chosen minutes are not looked at.
    pub fn next_numbered(&mut self) -> Result<Option<(usize, FunctionRow)>, TraceError> {
        let Some(row) = self.next_row()? else { return Ok(None) };
        let before = self.seen.0.len();
        let number = self.seen.number([row.owner.clone(), row.app.clone(), row.function.clone()]);
        if number < before {
            let line = self.table.line();
            self.table.meet(Quirk::FunctionTwice, || format!("`{}` on line {line}", row.function));
        }
        Ok(Some((number, row)))
    }

    /// The next function; `None` at the end.
    ///
    /// # Errors
    /// When the line is damaged. Counts outside the chosen minutes are not looked at.
    fn next_row(&mut self) -> Result<Option<FunctionRow>, TraceError> {
        if !self.table.advance()? {
            return Ok(None);
        }
        let [owner, app, function] = self.key.read(&self.table)?;
        let trigger = self.table.text(self.trigger).trim().to_string();
        if trigger.is_empty() {
            return Err(self.table.bad_field(self.trigger, "a word such as `http`"));
        }
        let mut counts = Vec::with_capacity(self.columns.len());
        for &column in &self.columns {
            counts.push(self.table.whole(column, u64::from(u32::MAX))? as u32);
        }
        let total = counts.iter().map(|&c| u64::from(c)).sum();
        Ok(Some(FunctionRow { owner, app, function, trigger, total, counts: counts.into() }))
    }
}

/// The minute columns in header order, and the range of their labels.
fn minute_columns(table: &Table) -> Result<(MinuteRange, Vec<usize>), TraceError> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (column, name) in table.header().iter().enumerate() {
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let allowed = "minute labels that rise by 1 from column to column";
        let bad =
            |found| table.bad_header(found, allowed, "put the minutes in order, without gaps");
        let label: u32 = name.parse().map_err(|_| bad(format!("the label `{}`", shorten(name))))?;
        if let Some(&(last, _)) = found.last()
            && last.checked_add(1) != Some(label)
        {
            return Err(bad(format!("label {label} after {last}")));
        }
        found.push((label, column));
    }
    match (found.first(), found.last()) {
        (Some(&(first_label, _)), Some(&(last_label, _))) => {
            let columns = found.iter().map(|&(_, column)| column).collect();
            Ok((MinuteRange { first_label, last_label }, columns))
        }
        _ => Err(table.bad_header(
            "no column named by a number".into(),
            "one column a minute, such as 1 to 1440",
            "check that this is an invocations file",
        )),
    }
}

/// An invocations file, or the part of one that was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocations {
    /// The functions, in the order of the file.
    pub functions: Vec<FunctionRow>,
    /// The label of the first minute; `counts[i]` is the minute labelled `first_label + i`.
    pub first_label: u32,
    /// The file, for messages.
    pub file: String,
    /// What was odd about it.
    pub met: Met,
}

impl Invocations {
    /// Reads a file. `range` chooses minutes; `None` takes all.
    ///
    /// # Errors
    /// When the file is damaged or has no function.
    pub fn read(input: Input, range: Option<MinuteRange>) -> Result<Invocations, TraceError> {
        let mut reader = InvocationsReader::open(input, range)?;
        let mut functions: Vec<FunctionRow> = Vec::new();
        while let Some((number, row)) = reader.next_numbered()? {
            let Some(first) = functions.get_mut(number) else {
                functions.push(row);
                continue;
            };
            first.total += row.total;
            let both = first.counts.iter().zip(row.counts.iter());
            let sums: Option<Arc<[u32]>> = both.map(|(a, b)| a.checked_add(*b)).collect();
            first.counts = sums.ok_or_else(|| {
                let allowed = format!("at most {} calls in a minute", u32::MAX);
                let found = "more, with those of an earlier line of this function";
                reader.table.bad_row(found.into(), allowed, "remove one of the lines")
            })?;
        }
        if functions.is_empty() {
            return Err(reader
                .table
                .ended("a line for a function", "check that the file is whole"));
        }
        let (file, met) = (reader.file().to_string(), reader.met());
        Ok(Invocations { functions, first_label: reader.minutes.first_label, file, met })
    }

    /// Keeps the selected functions, in the order of the file.
    ///
    /// # Errors
    /// When nothing would be left, a rank does not exist, or a name is not in the file.
    pub fn select(mut self, selection: &Selection) -> Result<Invocations, TraceError> {
        let count = self.functions.len();
        match selection {
            Selection::All => {}
            Selection::WithoutTop(n) => {
                self.keep_ranks(n.saturating_add(1), count, format!("without the top {n}"))?;
            }
            Selection::Ranks { first, last } => {
                self.keep_ranks(*first, *last, format!("ranks {first} to {last}"))?;
            }
            Selection::Trigger(word) => self.keep_trigger(word)?,
            Selection::Named(names) => self.keep_named(names)?,
        }
        Ok(self)
    }

    /// Calls in each minute, all functions together.
    ///
    /// # Errors
    /// When a minute has more than `u32::MAX` calls.
    pub fn summed(&self) -> Result<Vec<u32>, TraceError> {
        let minutes = self.functions.first().map_or(0, |f| f.counts.len());
        let mut sums = vec![0u64; minutes];
        for function in &self.functions {
            for (sum, &count) in sums.iter_mut().zip(function.counts.iter()) {
                *sum += u64::from(count);
            }
        }
        let whole: Result<Vec<u32>, _> = sums.iter().map(|&s| u32::try_from(s)).collect();
        whole.map_err(|_| {
            let allowed = format!("at most {} calls in a minute", u32::MAX);
            self.wrong("the sum of all functions", "more".into(), allowed, "select fewer functions")
        })
    }

    fn wrong(
        &self,
        key: &'static str,
        found: String,
        allowed: String,
        remedy: &'static str,
    ) -> TraceError {
        TraceError::Selection { file: self.file.clone(), key, found, allowed, remedy }
    }

    fn keep_ranks(&mut self, first: usize, last: usize, asked: String) -> Result<(), TraceError> {
        let count = self.functions.len();
        if first == 0 || first > last || last > count {
            let allowed = format!("ranks from 1 to {count}");
            return Err(self.wrong("functions", asked, allowed, "choose other ranks"));
        }
        let mut order: Vec<usize> = (0..count).collect();
        let rows = &self.functions;
        sort_by(&mut order, |&a, &b| {
            let by_total = rows[b].total.cmp(&rows[a].total);
            by_total.then_with(|| rows[a].sort_key().cmp(&rows[b].sort_key()))
        });
        let kept: BTreeSet<usize> = order[first - 1..last].iter().copied().collect();
        let mut i = 0;
        self.functions.retain(|_| {
            i += 1;
            kept.contains(&(i - 1))
        });
        Ok(())
    }

    fn keep_trigger(&mut self, word: &str) -> Result<(), TraceError> {
        let words: BTreeSet<String> = self.functions.iter().map(|f| f.trigger.clone()).collect();
        if !words.contains(word) {
            let allowed = words.into_iter().collect::<Vec<_>>().join(", ");
            let remedy = "choose a trigger that the file has";
            return Err(self.wrong("trigger", shorten(word), allowed, remedy));
        }
        self.functions.retain(|f| f.trigger == word);
        Ok(())
    }

    fn keep_named(&mut self, names: &[String]) -> Result<(), TraceError> {
        let known: BTreeSet<&str> = self.functions.iter().map(|f| f.function.as_str()).collect();
        let unknown = names.iter().find(|n| !known.contains(n.as_str()));
        if names.is_empty() || unknown.is_some() {
            let found = unknown.map_or("no name".into(), |n| shorten(n));
            let allowed = format!("a list of names among the file's {}", known.len());
            let remedy = "take names from column HashFunction";
            return Err(self.wrong("function", found, allowed, remedy));
        }
        let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        self.functions.retain(|f| wanted.contains(f.function.as_str()));
        Ok(())
    }
}

/// Functions with what is asked of all of them.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The functions.
    pub invocations: Invocations,
    /// Calls in each minute, all functions together.
    pub sum: Arc<[u32]>,
    /// The rank of each by falling total, counted from 0; equal totals go by name.
    pub ranks: Vec<usize>,
}

impl Counted {
    /// Of functions.
    ///
    /// # Errors
    /// As [`Invocations::summed`].
    pub fn of(invocations: Invocations) -> Result<Counted, TraceError> {
        let rows = &invocations.functions;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_cached_key(|&i| (Reverse(rows[i].total), rows[i].key()));
        let mut ranks = vec![0; rows.len()];
        for (rank, function) in order.into_iter().enumerate() {
            ranks[function] = rank;
        }
        Ok(Counted { sum: invocations.summed()?.into(), ranks, invocations })
    }
}

#[cfg(test)]
mod tests;
