//! Groups of rows, with their means.

use super::select::Rows;
use orrery_results::{COLUMNS, ColumnType};
use orrery_scenario::SpecError;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Columns that a number never mixes: what is measured, of what.
const APART: [&str; 3] = ["metric", "scope", "versus"];

/// A table: a line for each group.
pub struct Pivot {
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
    /// What names it.
    pub keys: Vec<String>,
    /// Its numbers; none where no row has one.
    pub values: Vec<Option<f64>>,
}

/// What names a group, and its rows by their value of the pivot.
type Group<'a> = (Vec<&'a str>, HashMap<&'a str, Vec<usize>>);

/// The rows in groups, the mean of each in a column, or in one for each value of `pivot`.
///
/// # Errors
/// When a column is not there or not a number, or a group would mix metrics or scopes.
pub fn pivoted(
    rows: &Rows,
    group_by: Option<&[String]>,
    pivot: Option<&str>,
    value: &str,
) -> Result<Pivot, SpecError> {
    group_by.into_iter().flatten().try_for_each(|c| rows.check("--group-by", c))?;
    pivot.map_or(Ok(()), |c| rows.check("--pivot", c))?;
    rows.check("--value", value)?;
    is_number(rows, value)?;
    let keys: Vec<String> = match group_by {
        Some(given) => given.iter().filter(|g| Some(g.as_str()) != pivot).cloned().collect(),
        None => told_apart(rows, pivot),
    };
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<Vec<&str>, usize> = HashMap::new();
    let mut across: Vec<&str> = Vec::new();
    for i in 0..rows.len() {
        let key: Vec<&str> = keys.iter().map(|k| rows.cell(i, k)).collect();
        let column = pivot.map_or(value, |p| rows.cell(i, p));
        if !across.contains(&column) {
            across.push(column);
        }
        let at = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, HashMap::new()));
            groups.len() - 1
        });
        groups[at].1.entry(column).or_default().push(i);
    }
    let mut mixed: BTreeSet<&str> = BTreeSet::new();
    let mut means = 0;
    let mut lines = Vec::new();
    for (key, cells) in &groups {
        let mut values = Vec::new();
        for column in &across {
            let own = cells.get(column).map_or(&[][..], Vec::as_slice);
            unmixed(rows, own)?;
            let numbers: Vec<f64> =
                own.iter().filter_map(|i| rows.cell(*i, value).parse().ok()).collect();
            if own.len() > 1 {
                means += 1;
                mixed.extend(rows.places().into_iter().filter(|c| differs(rows, own, c)));
            }
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            values.push((!numbers.is_empty()).then_some(mean));
        }
        lines.push(Line { keys: key.iter().map(|k| k.to_string()).collect(), values });
    }
    let mixed: Vec<&str> = mixed.into_iter().collect();
    let over = if mixed.is_empty() { "equal rows".to_string() } else { mixed.join(", ") };
    let what = match means {
        1 => "1 number is a mean".to_string(),
        more => format!("{more} numbers are means"),
    };
    let note = (means > 0).then(|| format!("{what} over rows that differ in: {over} (--group-by)"));
    let named = |column: &&str| if column.is_empty() { "(none)" } else { *column }.to_string();
    Ok(Pivot { keys, columns: across.iter().map(named).collect(), lines, note })
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
