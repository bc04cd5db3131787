//! JSON files, whole or a line each. serde says which line lacks which key.

use crate::File;
use crate::error::ImportError;
use orrery_traces::TraceError;
use serde::de::DeserializeOwned;
use std::io::{BufRead, Read};

/// The most of a JSON file that is read.
const BYTES_MAX: u64 = 1 << 30;

/// A file that cannot be read.
pub fn unreadable(file: &File<'_>, error: &std::io::Error) -> ImportError {
    TraceError::Io { file: file.name().into(), reason: error.to_string() }.into()
}

/// The text of a file.
pub fn text(file: &File<'_>) -> Result<String, ImportError> {
    let mut text = String::new();
    let mut reader = file.open()?.into_reader().take(BYTES_MAX + 1);
    reader.read_to_string(&mut text).map_err(|e| unreadable(file, &e))?;
    if text.len() as u64 > BYTES_MAX {
        let allowed = format!("at most {BYTES_MAX} bytes");
        return Err(ImportError::value(file.name(), "a longer file", allowed, "cut the file"));
    }
    Ok(text.trim_start_matches('\u{feff}').to_string())
}

/// A JSON file as a value of a type.
pub fn whole<T: DeserializeOwned>(file: &File<'_>, what: &str) -> Result<T, ImportError> {
    let text = text(file)?;
    serde_json::from_str(&text).map_err(|e| wrong(file, e.line(), &e, what))
}

/// The error of JSON that is not of a type.
fn wrong(file: &File<'_>, line: usize, error: &serde_json::Error, what: &str) -> ImportError {
    let place = format!("{}: line {line}", file.name());
    let found = error.to_string();
    let found = found.split(" at line ").next().unwrap_or_default().to_string();
    let remedy = "correct the file, write it again, or name its format with `--as NAME`";
    ImportError::value(place, found, what, remedy)
}

/// Each line of a file as a value of a type, with its number.
pub fn lines<T: DeserializeOwned>(
    file: &File<'_>,
    what: &str,
    mut each: impl FnMut(usize, T) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let (mut reader, mut text, mut line) = (file.open()?.into_reader(), String::new(), 0);
    loop {
        text.clear();
        let mut limited = (&mut reader).take(BYTES_MAX);
        if limited.read_line(&mut text).map_err(|e| unreadable(file, &e))? == 0 {
            return Ok(());
        }
        line += 1;
        let text = text.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            let value = serde_json::from_str(text).map_err(|e| wrong(file, line, &e, what))?;
            each(line, value)?;
        }
    }
}
