//! Groups of rows, with their means.

use super::select::Rows;
use orrery_results::{COLUMNS, ColumnType};
use orrery_scenario::SpecError;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Columns that a number never mixes: what is measured, of what.
const APART: [&str; 3] = ["metric", "scope", "versus"];

/// A table: a line for each group.
pub struct Pivot<'a> {
    rows: &'a Rows,
    /// The columns that name a group.
    pub keys: Vec<String>,
    /// The columns with numbers.
    pub columns: Vec<String>,
    /// In the order in which the files have them.
    pub lines: Vec<Line>,
    /// What must be known of the means.
    pub note: Option<String>,
}

/// A group.
pub struct Line {
    /// One of its rows.
    row: usize,
    /// Its numbers; none where no row has one.
    pub values: Vec<Option<f64>>,
}

impl Pivot<'_> {
    /// What names a line.
    pub fn keys_of(&self, line: &Line) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| self.rows.cell(line.row, key))
    }
}

/// The rows in groups, the mean of each in a column, or in one for each value of `pivot`.
///
/// # Errors
/// When a column is not there or not a number, or a group would mix metrics or scopes.
pub fn pivoted<'a>(
    rows: &'a Rows,
    group_by: Option<&[String]>,
    pivot: Option<&str>,
    value: &str,
) -> Result<Pivot<'a>, SpecError> {
    group_by.into_iter().flatten().try_for_each(|c| rows.check("--group-by", c))?;
    pivot.map_or(Ok(()), |c| rows.check("--pivot", c))?;
    rows.check("--value", value)?;
    is_number(rows, value)?;
    let keys: Vec<String> = match group_by {
        Some(given) => given.iter().filter(|g| Some(g.as_str()) != pivot).cloned().collect(),
        None => told_apart(rows, pivot),
    };
    let mut groups: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut across: Vec<&str> = Vec::new();
    // The rows by their group and their value of the pivot.
    let mut placed: Vec<[usize; 3]> = Vec::new();
    for i in 0..rows.len() {
        let next = groups.len();
        let group = groups.entry(keys.iter().map(|k| rows.cell(i, k)).collect()).or_insert(next);
        let column = pivot.map_or(value, |p| rows.cell(i, p));
        let at = across.iter().position(|c| *c == column).unwrap_or(across.len());
        if at == across.len() {
            across.push(column);
        }
        placed.push([*group, at, i]);
    }
    drop(groups);
    placed.sort_unstable();
    let mut mixed: BTreeSet<&str> = BTreeSet::new();
    let mut means = 0;
    let mut lines = Vec::new();
    for group in placed.chunk_by(|a, b| a[0] == b[0]) {
        let mut values = vec![None; across.len()];
        for cell in group.chunk_by(|a, b| a[1] == b[1]) {
            let own: Vec<usize> = cell.iter().map(|placed| placed[2]).collect();
            unmixed(rows, &own)?;
            let numbers: Vec<f64> =
                own.iter().filter_map(|i| rows.cell(*i, value).parse().ok()).collect();
            if own.len() > 1 {
                means += 1;
                mixed.extend(rows.places().into_iter().filter(|c| differs(rows, &own, c)));
            }
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            values[cell[0][1]] = (!numbers.is_empty()).then_some(mean);
        }
        lines.push(Line { row: group[0][2], values });
    }
    let mixed: Vec<&str> = mixed.into_iter().collect();
    let over = if mixed.is_empty() { "equal rows".to_string() } else { mixed.join(", ") };
    let what = match means {
        1 => "1 number is a mean".to_string(),
        more => format!("{more} numbers are means"),
    };
    let note = (means > 0).then(|| format!("{what} over rows that differ in: {over} (--group-by)"));
    let named = |column: &&str| if column.is_empty() { "(none)" } else { *column }.to_string();
    Ok(Pivot { rows, keys, columns: across.iter().map(named).collect(), lines, note })
}

/// Passes when a column has numbers.
fn is_number(rows: &Rows, column: &str) -> Result<(), SpecError> {
    let typed = COLUMNS.iter().find(|c| c.0 == column).map(|c| c.1);
    let is_axis = || {
        let mut cells = (0..rows.len()).map(|i| rows.cell(i, column)).filter(|c| !c.is_empty());
        cells.all(|cell| cell.parse::<f64>().is_ok())
    };
    if typed.map_or_else(is_axis, |t| t != ColumnType::Text) {
        return Ok(());
    }
    let numbers = COLUMNS.iter().filter(|c| c.1 != ColumnType::Text).map(|c| c.0);
    let allowed = format!("{}, or an axis of numbers", numbers.collect::<Vec<_>>().join(", "));
    let found = format!("`{column}`, a column of words");
    Err(SpecError::value("--value", found, allowed, "choose a column of numbers"))
}

fn differs(rows: &Rows, own: &[usize], column: &str) -> bool {
    own.windows(2).any(|w| rows.cell(w[0], column) != rows.cell(w[1], column))
}

/// Passes when all rows are of one metric and scope.
fn unmixed(rows: &Rows, own: &[usize]) -> Result<(), SpecError> {
    let Some(column) = APART.iter().find(|c| differs(rows, own, c)) else { return Ok(()) };
    let values: Vec<&str> = own.iter().map(|i| rows.cell(*i, column)).collect();
    let other = values.iter().find(|v| **v != values[0]).copied().unwrap_or_default();
    let found = format!("a group with {column} `{}` and `{other}`", values[0]);
    let remedy = format!(
        "add `--where {column}={}`, or add `{column}` to `--group-by` or `--pivot`",
        values[0]
    );
    Err(SpecError::value("--group-by", found, format!("one {column} in a group"), remedy))
}

/// The columns that tell rows apart: each that makes more groups than those before it.
fn told_apart(rows: &Rows, pivot: Option<&str>) -> Vec<String> {
    let count = |columns: &[&str]| {
        let keys =
            (0..rows.len()).map(|i| columns.iter().map(|c| rows.cell(i, c)).collect::<Vec<_>>());
        keys.collect::<HashSet<_>>().len()
    };
    let mut kept: Vec<&str> = pivot.into_iter().collect();
    let mut groups = count(&kept);
    for column in rows.places() {
        if groups == rows.len() || kept.contains(&column) {
            continue;
        }
        kept.push(column);
        match count(&kept) {
            more if more > groups => groups = more,
            _ => drop(kept.pop()),
        }
    }
    kept.into_iter().filter(|c| Some(*c) != pivot).map(str::to_string).collect()
}
