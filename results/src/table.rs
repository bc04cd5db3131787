//! Tables as CSV, in either direction.

use crate::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

/// What can be wrong with a result table.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum TableError {
    #[error(
        "{file}: {message}\n  remedy: give a table with the columns of `docs/formats.md`, as \
         `--format csv` or `--out` writes it"
    )]
    Parse { file: String, message: String },
}

/// Rows as CSV, the header first. Numbers are written as short as they can be read back exactly.
pub fn to_csv<R: Serialize>(rows: &[R]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of words and numbers, written to memory");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("the words are UTF-8")
}

/// Rows as JSON: `{"schema": "orrery-results", "schema_version": 1, "rows": [...]}`, and what else
/// the command has to say under keys of its own.
pub fn to_json(rows: &[Row], more: &[(&str, Value)]) -> String {
    let mut value = json!({ "schema": "orrery-results", "schema_version": 1, "rows": rows });
    for (key, part) in more {
        value[*key] = part.clone();
    }
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

/// Rows from CSV.
///
/// # Errors
/// When a column is missing or a cell cannot be read; the message names the line and the column.
pub fn read_csv<R: DeserializeOwned>(file: &str, text: &str) -> Result<Vec<R>, TableError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let error = |e: csv::Error| TableError::Parse { file: file.into(), message: e.to_string() };
    rows.collect::<Result<_, _>>().map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_written() {
        let rows = vec![
            Row { value: 0.1 + 0.2, policy: "nexus[drop=none,batch=2]".into(), ..Row::default() },
            Row { value: 1e-300, ci95_low: Some(-0.0), paper: Some(0.31), ..Row::default() },
            Row { value: 9_007_199_254_740_991.0, case: "a \"b\", c".into(), ..Row::default() },
        ];
        let text = to_csv(&rows);
        assert_eq!(read_csv::<Row>("x.csv", &text).unwrap(), rows);
        assert_eq!(to_csv(&read_csv::<Row>("x.csv", &text).unwrap()), text);
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = read_csv::<Row>("x.csv", "experiment,case\na,b\n").unwrap_err().to_string();
        assert!(error.contains("x.csv") && error.contains("axes"), "{error}");
    }
}
