//! JSON files: one value, several one after another, or one a line. serde says which line lacks which key.
//!
//! Python writes `NaN` and `Infinity`, which are no JSON: they are read as `null`, counted and said.

use crate::File;
use crate::error::ImportError;
use orrery_traces::TraceError;
use orrery_traces::quirks::Quirk;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::io::{BufRead, Read};

/// The most of a JSON file that is read.
const BYTES_MAX: u64 = 1 << 30;

/// A file that cannot be read.
pub fn unreadable(file: &File<'_>, error: &std::io::Error) -> ImportError {
    TraceError::Io { file: file.name().into(), reason: error.to_string() }.into()
}

/// The text of a file.
pub fn text(file: &File<'_>) -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    let mut reader = file.open()?.into_reader().take(BYTES_MAX + 1);
    reader.read_to_end(&mut bytes).map_err(|e| unreadable(file, &e))?;
    if bytes.len() as u64 > BYTES_MAX {
        let allowed = format!("at most {BYTES_MAX} bytes");
        return Err(ImportError::value(file.name(), "a longer file", allowed, "cut the file"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let found = format!("byte {}, which is no UTF-8", e.utf8_error().valid_up_to() + 1);
        ImportError::value(file.name(), found, "text in UTF-8", "write the file again as UTF-8")
    })?;
    Ok(text.trim_start_matches('\u{feff}').to_string())
}

/// A JSON file as a value of a type.
pub fn whole<T: DeserializeOwned>(file: &File<'_>, what: &str) -> Result<T, ImportError> {
    let mut all = all(file, what)?;
    if all.len() == 1 {
        return Ok(all.remove(0));
    }
    let found = format!("{} values one after another", all.len());
    Err(ImportError::value(file.name(), found, what, "split the file: one value in each"))
}

/// The values of a JSON file that has one or several, one after another or one a line.
pub fn all<T: DeserializeOwned>(file: &File<'_>, what: &str) -> Result<Vec<T>, ImportError> {
    let text = text(file)?;
    let text = finite(file, &text, 1);
    let values: Result<Vec<T>, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
    let values = values.map_err(|e| wrong(file, e.line(), &e, what))?;
    if values.is_empty() {
        return Err(ImportError::value(file.name(), "no value", what, "write the file again"));
    }
    Ok(values)
}

/// JSON with `null` for `NaN` and `Infinity`; each is counted with its line.
fn finite<'a>(file: &File<'_>, text: &'a str, first: usize) -> Cow<'a, str> {
    with_nulls(text, |word, before| {
        let line = first + before.matches('\n').count();
        file.meet(Quirk::NotANumber, || format!("`{word}` on line {line}"));
    })
}

/// JSON with `null` for `NaN` and `Infinity`; each is told, with the text before it.
pub fn with_nulls<'a>(text: &'a str, mut each: impl FnMut(&str, &str)) -> Cow<'a, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return text.into();
    }
    let (mut out, mut is_quoted, mut at) = (String::with_capacity(text.len()), false, 0);
    for part in text.split_inclusive('"') {
        let mut plain = Cow::from(part);
        for word in WORDS.iter().filter(|word| !is_quoted && part.contains(**word)) {
            plain.matches(word).for_each(|_| each(word, &text[..at]));
            plain = plain.replace(word, "null").into();
        }
        out.push_str(&plain);
        at += part.len();
        let before = part.strip_suffix('"').unwrap_or(part);
        let escapes = before.len() - before.trim_end_matches('\\').len();
        is_quoted ^= !is_quoted || escapes % 2 == 0;
    }
    out.into()
}

/// The error of JSON that is not of a type.
fn wrong(file: &File<'_>, line: usize, error: &serde_json::Error, what: &str) -> ImportError {
    let place = format!("{}: line {line}", file.name());
    let found = error.to_string();
    let found = found.split(" at line ").next().unwrap_or_default().to_string();
    let remedy =
        "correct the file, write it again, or name its format: `orrery import FILE --as NAME`";
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
            let text = finite(file, text, line);
            let value = serde_json::from_str(&text).map_err(|e| wrong(file, line, &e, what))?;
            each(line, value)?;
        }
    }
}
