//! Tables of text.

use orrery_report::page::{Field, Table};

/// A table whose columns are apart by `|`; a row that is too short is filled up.
pub fn table(caption: &str, columns: &str, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let columns: Vec<&str> = columns.split('|').collect();
    let row = |mut row: Vec<String>| {
        row.resize(columns.len(), String::new());
        row.into_iter().map(Field::text).collect()
    };
    Table { rows: rows.into_iter().map(row).collect(), ..Table::new(caption, &columns) }
}

/// A number with two digits, or that there is none.
pub fn two(x: impl Into<Option<f64>>) -> String {
    x.into().map_or("-".to_string(), |x| format!("{x:.2}"))
}

/// The largest of numbers from 0; none of none.
pub fn largest(of: &[f64]) -> Option<f64> {
    of.iter().copied().reduce(f64::max)
}
