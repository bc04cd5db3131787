//! Result rows from the files that `--out` wrote: CSV and JSON.

use glob::glob;
use orrery_results::{Row, header, rows_in};
use orrery_run::SpecError;
use orrery_scenario::read_text;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The name of the schema that a result's JSON states.
const SCHEMA: &str = "orrery-results";
/// How many rows of CSV are read at a time.
const ROWS: usize = 4_096;
/// Endings of the tables beside result rows, before `.csv`.
const OTHER_TABLES: [&str; 4] = [".wide", ".distributions", ".series", ".batches"];

/// What is wrong when no file has results.
pub fn none_in(what: &str) -> SpecError {
    let (allowed, remedy) = ("results that `--out` wrote", "name another folder or file");
    SpecError::value("RESULTS", format!("no results in {what}"), allowed, remedy)
}

/// The rows of a file, checked, and all of a JSON file but its rows (`Null` for another). A file of something else
/// is `None`, unless it was `named`.
///
/// # Errors
/// When the file cannot be read, a row is wrong (with its line), or a named file has no results.
pub fn read(path: &Path, named: bool) -> Result<Option<(Vec<Row>, Value)>, SpecError> {
    let mut rows = Vec::new();
    let json = read_by(path, named, |some| {
        rows.extend(some);
        Ok(())
    })?;
    Ok(json.map(|json| (rows, json)))
}

/// The same, with some rows after others: of many, nobody has to hold all.
///
/// # Errors
/// As [`read`], and of `each`.
pub fn read_by(
    path: &Path,
    named: bool,
    mut each: impl FnMut(Vec<Row>) -> Result<(), SpecError>,
) -> Result<Option<Value>, SpecError> {
    let file = path.display().to_string();
    if is(path, "parquet") {
        let (allowed, remedy) = ("CSV and JSON", "name the `.csv` beside it");
        return Err(SpecError::value("RESULTS", file + ", in Parquet", allowed, remedy));
    }
    let parse = |message: String| SpecError::Parse { file: file.clone(), message };
    let text = read_text(path)?;
    if is(path, "csv") {
        let columns = header(&text);
        let has = |column: &str| columns.iter().any(|c| c == column);
        let has_rows = has("metric") && has("axes");
        if !(named || has_rows) {
            return Ok(None);
        }
        let mut rows = rows_in(&file, &text);
        loop {
            let some = rows.by_ref().take(ROWS).collect::<Result<Vec<_>, _>>();
            match some.map_err(|e| parse(e.to_string()))? {
                none if none.is_empty() => return Ok(Some(Value::Null)),
                some => each(some)?,
            }
        }
    }
    let rest: Option<Rest> = serde_json::from_str(&text).ok();
    let Some(Rest(rest)) = rest.filter(|rest| rest.0.get("schema") == Some(&SCHEMA.into())) else {
        return if named { Err(none_in(&file)) } else { Ok(None) };
    };
    let RowsOnly { rows } = serde_json::from_str(&text).map_err(|e| parse(e.to_string()))?;
    each(rows)?;
    Ok(Some(Value::Object(rest)))
}

/// The rows of a JSON file.
#[derive(Deserialize)]
struct RowsOnly {
    rows: Vec<Row>,
}

/// All else in it: rows as values would take several times the memory of rows.
struct Rest(Map<String, Value>);

impl<'de> Deserialize<'de> for Rest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rest, D::Error> {
        from.deserialize_map(Others)
    }
}

struct Others;

impl<'de> Visitor<'de> for Others {
    type Value = Rest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Rest, M::Error> {
        let mut rest = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == "rows" {
                map.next_value::<IgnoredAny>()?;
            } else {
                rest.insert(key, map.next_value()?);
            }
        }
        Ok(Rest(rest))
    }
}

fn is(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e == ending)
}

/// The files of a folder that may be results, by name: JSON has all, and CSV is for where there is none.
///
/// # Errors
/// When the folder cannot be read.
pub fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, SpecError> {
    let read = |source: io::Error| SpecError::Read { file: folder.display().to_string(), source };
    let entries = std::fs::read_dir(folder).map_err(read)?;
    let mut files = entries.map(|e| Ok(e?.path())).collect::<io::Result<Vec<_>>>().map_err(read)?;
    files.retain(|f| f.is_file());
    files.sort();
    let has_json = |f: &Path| files.contains(&f.with_extension("json"));
    let is_rows = |f: &Path| is(f, "csv") && !is_other_table(f) && !has_json(f);
    Ok(files.iter().filter(|f| is(f, "json") || is_rows(f)).cloned().collect())
}

/// Whether a file's name is that of a table beside result rows.
fn is_other_table(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    OTHER_TABLES.iter().any(|o| name.ends_with(o))
}

/// The files that files, folders and patterns such as `out/**/*.csv` name, each once, by name; `true` for
/// those that were named themselves.
///
/// # Errors
/// When a pattern is wrong or meets nothing, or a folder cannot be read.
pub fn named_by(patterns: &[String]) -> Result<Vec<(PathBuf, bool)>, SpecError> {
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for pattern in patterns {
        let path = Path::new(pattern);
        if path.is_dir() {
            files.extend(in_folder(path)?.into_iter().map(|f| (f, false)));
        } else if path.exists() || !pattern.contains(['*', '?', '[']) {
            files.push((path.to_path_buf(), true));
        } else {
            let wrong = |e: String| {
                let allowed = "a file, a folder, or a pattern with `*`, `**`, `?` and `[abc]`";
                SpecError::value("RESULTS", format!("`{pattern}`: {e}"), allowed, "correct it")
            };
            let before = files.len();
            for found in glob(pattern).map_err(|e| wrong(e.to_string()))? {
                let found = found.map_err(|e| wrong(e.to_string()))?;
                if found.is_file() && !is_other_table(&found) {
                    files.push((found, false));
                }
            }
            if files.len() == before {
                return Err(none_in(pattern));
            }
        }
    }
    files.sort();
    files.dedup_by(|a, b| {
        a.0 == b.0 && {
            b.1 |= a.1;
            true
        }
    });
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_file_is_its_rows_and_all_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let row = Row { experiment: "e".into(), metric: "finish_rate".into(), ..Row::default() };
        let json = serde_json::json!({ "schema": SCHEMA, "title": "t", "rows": [row, row] });
        std::fs::write(&path, json.to_string()).expect("a file");
        let found = read(&path, false).expect("it can be read").expect("results");
        assert_eq!(found.0, [row.clone(), row]);
        assert_eq!(found.1, serde_json::json!({ "schema": SCHEMA, "title": "t" }));
        // Another JSON is no result, and an error where it was named.
        std::fs::write(&path, json.to_string().replace(SCHEMA, "other")).expect("a file");
        assert!(read(&path, false).expect("it can be read").is_none());
        assert!(read(&path, true).is_err());
        std::fs::write(&path, serde_json::json!({ "schema": SCHEMA }).to_string()).expect("a file");
        let error = read(&path, false).unwrap_err().to_string();
        assert!(error.contains("a.json") && error.contains("rows"), "{error}");
    }
}
