//! Tables as CSV, in either direction.

use crate::{COLUMNS, Row};
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
    csv_of(rows, true)
}

/// The same without the header, for what follows in a file.
pub fn csv_lines<R: Serialize>(rows: &[R]) -> String {
    csv_of(rows, false)
}

fn csv_of<R: Serialize>(rows: &[R], header: bool) -> String {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of words and numbers, written to memory");
    }
    let bytes = writer.into_inner().expect("memory can be written");
    String::from_utf8(bytes).expect("the words are UTF-8")
}

/// Rows as JSON: `{"schema": "orrery-results", "schema_version": 2, "rows": [...]}`, and what else
/// the command has to say under keys of its own.
pub fn to_json(rows: &[Row], more: &[(&str, Value)]) -> String {
    let mut json = JsonRows::new(more);
    let mut out = std::mem::take(&mut json.before);
    // A row with its provenance; of thousands of rows a second copy counts.
    out.reserve_exact(rows.len() * 900);
    json.add(rows, &mut out);
    out.push_str(&json.end());
    out
}

/// The same JSON from rows that come bit by bit.
#[derive(Clone, Debug)]
pub struct JsonRows {
    /// What comes before the rows.
    pub before: String,
    after: String,
    count: usize,
}

impl JsonRows {
    /// With what else there is to say.
    pub fn new(more: &[(&str, Value)]) -> JsonRows {
        // No rows of a result have this name.
        let mark = "\u{0}";
        let mut value = json!({ "schema": "orrery-results", "schema_version": 2, "rows": mark });
        for (key, part) in more {
            value[*key] = part.clone();
        }
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        let (before, after) = text.split_once("\"\\u0000\"").unwrap_or_default();
        JsonRows { before: format!("{before}["), after: format!("]{after}"), count: 0 }
    }

    /// Adds the next rows to a text. The last ones have to be followed by [`JsonRows::end`].
    pub fn add(&mut self, rows: &[Row], out: &mut String) {
        // In the order of all of orrery's JSON.
        let mut order: Vec<usize> = (0..COLUMNS.len()).collect();
        order.sort_by_key(|column| COLUMNS[*column].0);
        for row in rows {
            let text = serde_json::to_string_pretty(row).expect("words and numbers");
            let lines = text.lines().skip(1).map(|line| line.strip_suffix(',').unwrap_or(line));
            let lines: Vec<&str> = lines.collect();
            out.push_str(if self.count == 0 { "\n    {" } else { ",\n    {" });
            for (i, column) in order.iter().enumerate() {
                out.push_str(if i == 0 { "\n    " } else { ",\n    " });
                out.push_str(lines[*column]);
            }
            out.push_str("\n    }");
            self.count += 1;
        }
    }

    /// What comes after the last row.
    pub fn end(self) -> String {
        if self.count == 0 { self.after } else { format!("\n  {}", self.after) }
    }
}

/// Rows from CSV.
///
/// # Errors
/// When a column is missing or a cell cannot be read; the message names the line and the column.
pub fn read_csv<R: DeserializeOwned>(file: &str, text: &str) -> Result<Vec<R>, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let message = |e: csv::Error| match e.kind() {
        csv::ErrorKind::Deserialize { pos: Some(at), err } => format!("line {}: {err}", at.line()),
        _ => e.to_string(),
    };
    let error = |e: csv::Error| TableError::Parse { file: file.into(), message: message(e) };
    rows.collect::<Result<_, _>>().map_err(error)
}

/// The names in a table's first line, whether quoted or not; none of an empty text.
pub fn header(text: &str) -> Vec<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().map(|names| names.iter().map(str::to_string).collect());
    names.unwrap_or_default()
}

/// Result rows from CSV, each checked, one after another.
///
/// # Errors
/// As [`read_csv`], and when the parts of a row do not fit together; the message names the line.
pub fn rows_in(file: &str, text: &str) -> impl Iterator<Item = Result<Row, TableError>> {
    let error = move |message: String| TableError::Parse { file: file.into(), message };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().cloned();
    reader.into_records().map(move |record| {
        let record = record.map_err(|e| error(e.to_string()))?;
        let header = header.as_ref().map_err(|e| error(e.to_string()))?;
        let row: Row = record.deserialize(Some(header)).map_err(|e| error(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        row.check().map_err(|e| error(format!("line {line}: {e}")))?;
        Ok(row)
    })
}

/// All of [`rows_in`].
///
/// # Errors
/// The first.
pub fn read_rows(file: &str, text: &str) -> Result<Vec<Row>, TableError> {
    rows_in(file, text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_written() {
        let rows = vec![
            Row {
                value: Some(0.1 + 0.2),
                policy: "nexus[drop=none,batch=2]".into(),
                ..Row::default()
            },
            Row { value: Some(1e-300), ci95_low: Some(-0.0), paper: Some(0.31), ..Row::default() },
            Row {
                value: Some(9_007_199_254_740_991.0),
                case: "a \"b\", c".into(),
                ..Row::default()
            },
        ];
        let text = to_csv(&rows);
        assert_eq!(read_csv::<Row>("x.csv", &text).unwrap(), rows);
        assert_eq!(to_csv(&read_csv::<Row>("x.csv", &text).unwrap()), text);
    }

    #[test]
    fn no_answer_is_an_empty_cell_and_null() {
        let mut row = Row { metric: "devices_needed".into(), ..Row::default() };
        row.without_answer("not even 4096 devices are enough");
        let text = to_csv(&[row.clone()]);
        assert!(text.contains(",,not even 4096 devices are enough,"), "{text}");
        assert_eq!(read_csv::<Row>("x.csv", &text).unwrap(), [row.clone()]);
        let json: Value = serde_json::from_str(&to_json(&[row], &[])).unwrap();
        assert_eq!(json["rows"][0]["value"], Value::Null);
        assert_eq!(json["rows"][0]["reason"], "not even 4096 devices are enough");
    }

    #[test]
    fn json_that_comes_bit_by_bit_is_that_of_all_rows() {
        let row =
            |i: u32| Row { value: (i > 0).then_some(0.5), policy: "a\nb".into(), ..Row::default() };
        let rows: Vec<Row> = (0..5).map(row).collect();
        let more = [("sweep", Value::from("s")), ("a", json!([1, { "b": [] }]))];
        for rows in [&rows[..0], &rows] {
            let mut value =
                json!({ "schema": "orrery-results", "schema_version": 2, "rows": rows });
            for (key, part) in &more {
                value[*key] = part.clone();
            }
            let whole = serde_json::to_string_pretty(&value).unwrap() + "\n";
            assert_eq!(to_json(rows, &more), whole);
            let mut json = JsonRows::new(&more);
            let mut parts = String::new();
            rows.chunks(2).for_each(|part| json.add(part, &mut parts));
            assert_eq!(json.before.clone() + &parts + &json.end(), whole);
        }
    }

    #[test]
    fn a_difference_by_the_name_of_its_value_is_refused() {
        let value = Row { metric: "finish_rate".into(), value: Some(0.829), ..Row::default() };
        let old = Row { versus: "orloj".into(), value: Some(-0.13), ..value.clone() };
        let error = read_rows("old.csv", &to_csv(&[value.clone(), old])).unwrap_err().to_string();
        for says in ["old.csv", "line 3", "`orloj`", "`finish_rate_difference`", "remedy"] {
            assert!(error.contains(says), "{says}: {error}");
        }
        let new = Row {
            metric: "finish_rate_difference".into(),
            versus: "orloj".into(),
            ..value.clone()
        };
        assert_eq!(
            read_rows("new.csv", &to_csv(&[value.clone(), new.clone()])).unwrap(),
            [value, new]
        );
        let gap = Row { metric: "finish_rate".into(), ..Row::default() };
        let error = read_rows("gap.csv", &to_csv(&[gap])).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("`reason`"), "{error}");
    }

    #[test]
    fn the_columns_are_those_that_are_listed() {
        let names: Vec<&str> = crate::COLUMNS.iter().map(|c| c.0).collect();
        let text = to_csv(&[Row::default()]);
        assert_eq!(text.lines().next(), Some(names.join(",").as_str()));
    }

    /// R and pandas quote every name, and some spreadsheets begin with a mark of the encoding.
    #[test]
    fn a_quoted_header_is_read() {
        let rows = vec![Row { case: "a,b".into(), value: Some(0.5), ..Row::default() }];
        let text = to_csv(&rows);
        let (first, rest) = text.split_once('\n').unwrap();
        let quoted: Vec<String> = first.split(',').map(|name| format!("\"{name}\"")).collect();
        let quoted = format!("\u{feff}{}\n{rest}", quoted.join(","));
        assert_eq!(header(&quoted), header(&text));
        assert_eq!(header(&quoted)[0], "experiment");
        assert_eq!(read_rows("x.csv", &quoted).unwrap(), rows);
    }

    #[test]
    fn a_missing_column_is_named() {
        let error = read_csv::<Row>("x.csv", "experiment,case\na,b\n").unwrap_err().to_string();
        assert!(error.contains("x.csv") && error.contains("axes"), "{error}");
    }
}
