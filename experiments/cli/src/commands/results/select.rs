//! Rows with their columns by name, and which of them are asked for.

use orrery_results::{COLUMNS, Row, cells, pair, system_of};
use orrery_scenario::SpecError;
use orrery_scenario::error::{hint, known};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// The column of the file that a row is from.
pub const FILE: &str = "file";
const AXES: &str = "axes";
const SCOPE: &str = "scope";
/// Values that a message lists.
const LISTED: usize = 20;

/// A `COLUMN=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// What it must have.
    pub value: String,
}

impl Condition {
    /// From the command line.
    ///
    /// # Errors
    /// When there is no `=`.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let (column, value) = text
            .split_once('=')
            .ok_or("a column and a value with `=` between, such as metric=finish_rate")?;
        Ok(Condition { column: column.trim().to_string(), value: value.trim().to_string() })
    }

    /// Equal as text, as numbers, or as a policy without its parameters.
    fn meets(&self, cell: &str) -> bool {
        let number = |text: &str| text.parse::<f64>().ok();
        let same_number = number(cell).is_some_and(|x| number(&self.value) == Some(x));
        let base = self.column == "policy" && system_of(cell) == self.value;
        cell == self.value || same_number || base
    }
}

/// One row, as text.
struct Line {
    /// Its cells, one behind another.
    text: Box<str>,
    /// Where each ends, in the order of [`COLUMNS`].
    ends: [u32; COLUMNS.len()],
    /// The number of its file.
    file: usize,
}

/// Rows of many files.
#[derive(Default)]
pub struct Rows {
    lines: Vec<Line>,
    files: Vec<String>,
    /// The names of axes, in the order of their first appearance.
    axes: Vec<String>,
    /// The first line with each hash.
    seen: HashMap<u64, usize>,
    hasher: RandomState,
    version: Option<(u32, String)>,
    /// Rows that were there before.
    pub twice: usize,
}

impl Rows {
    /// Adds rows of a file; a row that is there already is left out.
    ///
    /// # Errors
    /// When they are of another result version.
    pub fn add(&mut self, file: &str, rows: &[Row]) -> Result<(), SpecError> {
        self.files.push(file.to_string());
        for (row, cells) in rows.iter().zip(cells(rows)) {
            let (version, first) =
                self.version.get_or_insert_with(|| (row.result_version, file.to_string()));
            if *version != row.result_version {
                let found = format!("version {} after {version} in {first}", row.result_version);
                let remedy = "make the older results again, or name files of one version";
                let allowed = "results of one version: others may have other numbers";
                let error = SpecError::value("result_version", found, allowed, remedy);
                return Err(error.in_file(file));
            }
            let mut end = 0;
            let ends = std::array::from_fn(|i| {
                end += cells[i].len() as u32;
                end
            });
            let line = Line { text: cells.concat().into(), ends, file: self.files.len() - 1 };
            let hash = self.hasher.hash_one((&line.text, ends));
            let first = *self.seen.entry(hash).or_insert(self.lines.len());
            let same = |other: &Line| other.text == line.text && other.ends == ends;
            if self.lines.get(first).is_some_and(same) {
                self.twice += 1;
                continue;
            }
            for (name, _) in row.axis_list() {
                if !self.axes.iter().any(|a| a == name) {
                    self.axes.push(name.to_string());
                }
            }
            self.lines.push(line);
        }
        Ok(())
    }

    /// The columns: those of rows, the axes, and the file.
    pub fn columns(&self) -> Vec<&str> {
        let of_rows = COLUMNS.iter().map(|c| c.0);
        of_rows.chain(self.axes.iter().map(String::as_str)).chain([FILE]).collect()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// A row's cell; empty where the row has no such axis.
    pub fn cell(&self, row: usize, column: &str) -> &str {
        let line = &self.lines[row];
        if let Some(at) = COLUMNS.iter().position(|c| c.0 == column) {
            let begin = if at == 0 { 0 } else { line.ends[at - 1] };
            return &line.text[begin as usize..line.ends[at] as usize];
        }
        if column == FILE {
            return &self.files[line.file];
        }
        pair(self.cell(row, AXES), column).unwrap_or_default()
    }

    /// Passes when there is such a column.
    ///
    /// # Errors
    /// Names the columns that there are.
    pub fn check(&self, option: &str, column: &str) -> Result<(), SpecError> {
        known(option, column, &self.columns()).map(drop)
    }

    /// Keeps the rows that meet the conditions: of one column any, of several all. Without a word about
    /// scopes, those of scope `all`, where there are any.
    ///
    /// # Errors
    /// When there is no such column, or no row that has the value.
    pub fn choose(&mut self, conditions: &[Condition], asked: &[&str]) -> Result<(), SpecError> {
        for condition in conditions {
            self.check("--where", &condition.column)?;
            let all: Vec<&str> = (0..self.len()).map(|i| self.cell(i, &condition.column)).collect();
            if !all.iter().any(|cell| condition.meets(cell)) {
                let mut values: Vec<&str> = Vec::new();
                for cell in &all {
                    if !values.contains(cell) {
                        values.push(cell);
                    }
                }
                let near = hint(&condition.value, values.iter().copied());
                let more = values.len().saturating_sub(LISTED);
                values.truncate(LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let found = format!("`{}={}`", condition.column, condition.value);
                let allowed = format!("a value of the column: {}{more}", values.join(", "));
                let remedy = format!("{near}choose a value that the files have");
                return Err(SpecError::value("--where", found, allowed, remedy));
            }
        }
        let meets = |rows: &Rows, i: usize| {
            conditions.iter().all(|c| {
                let same = conditions.iter().filter(|o| o.column == c.column);
                let cell = rows.cell(i, &c.column);
                same.into_iter().any(|o| o.meets(cell))
            })
        };
        let mut kept: Vec<bool> = (0..self.len()).map(|i| meets(self, i)).collect();
        let scopes = conditions.iter().map(|c| c.column.as_str()).chain(asked.iter().copied());
        let is_all = |i: usize| self.cell(i, SCOPE) == "all";
        if !scopes.into_iter().any(|c| c == SCOPE) && (0..self.len()).any(|i| kept[i] && is_all(i))
        {
            kept = (0..self.len()).map(|i| kept[i] && is_all(i)).collect();
        }
        let mut kept = kept.into_iter();
        self.lines.retain(|_| kept.next().unwrap_or(false));
        if self.lines.is_empty() {
            let found = "no row that meets all conditions";
            let remedy = "leave a condition out, and see what the files have";
            return Err(SpecError::value("--where", found, "conditions that go together", remedy));
        }
        Ok(())
    }

    /// The columns that place a row, but for [`AXES`], whose parts are columns of their own.
    pub fn places(&self) -> Vec<&str> {
        let before = ["experiment", "case"];
        let after = ["system", "preset", "policy", SCOPE, "metric", "versus", FILE];
        let axes = self.axes.iter().map(String::as_str).filter(|a| *a != AXES);
        before.into_iter().chain(axes).chain(after).collect()
    }
}
