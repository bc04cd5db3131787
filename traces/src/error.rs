//! [`TraceError`]: what can be wrong with a trace, a workload file or the parameters of a law.
//!
//! It is not for bugs: those panic. Each message names the file, the line (counted from 1), the
//! column or key, what was found, what is allowed, and the remedy, as far as they apply.

use thiserror::Error;

/// The longest piece of a damaged file that a message repeats, in characters.
const FOUND_MAX: usize = 48;

/// A fault of an input, with its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be opened or read.
    #[error("{file}: cannot be read: {reason}; check that the path exists and is readable")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        reason: String,
    },
    /// The file could not be written.
    #[error("{file}: cannot be written: {reason}; check the path and the space left")]
    Output {
        /// The file.
        file: String,
        /// What the system said.
        reason: String,
    },
    /// The compressed bytes are damaged.
    #[error("{file}: line {line}: damaged gzip: {reason}; fetch the file again, or decompress it")]
    Gzip {
        /// The file.
        file: String,
        /// The line that was about to be read.
        line: u64,
        /// What is damaged.
        reason: String,
    },
    /// The file ends before what it must have.
    #[error("{file}: line {line}: the file ends here; expected {expected}; {remedy}")]
    Empty {
        /// The file.
        file: String,
        /// The line that was about to be read.
        line: u64,
        /// What must follow.
        expected: String,
        /// How the user can mend it.
        remedy: &'static str,
    },
    /// The header lacks a column.
    #[error(
        "{file}: line {line}: column `{column}` is missing; found {found}; \
         add the column, or check that this is the right file"
    )]
    MissingColumn {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// The column that is needed.
        column: String,
        /// The columns there are.
        found: String,
    },
    /// The header is not usable.
    #[error("{file}: line {line}: header: found {found}; allowed: {allowed}; {remedy}")]
    Header {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// What was found.
        found: String,
        /// The values or forms that are allowed, in words.
        allowed: &'static str,
        /// How the user can mend it.
        remedy: &'static str,
    },
    /// One field is not what its column allows.
    #[error(
        "{file}: line {line}: column `{column}`: found `{found}`; allowed: {allowed}; {remedy}"
    )]
    Field {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The column's name.
        column: String,
        /// What was found.
        found: String,
        /// The values or forms that are allowed, in words.
        allowed: String,
        /// How the user can mend it.
        remedy: &'static str,
    },
    /// A whole line is not usable.
    #[error("{file}: line {line}: found {found}; allowed: {allowed}; {remedy}")]
    Row {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// What was found.
        found: String,
        /// The values or forms that are allowed, in words.
        allowed: String,
        /// How the user can mend it.
        remedy: &'static str,
    },
    /// The file is of no known format.
    #[error(
        "{file}: line {line}: unknown format: found {found}; allowed: the headers of Azure 2019 \
         (invocations or durations), Azure 2021, Azure LLM, a workload, a list of queries or of requests with \
         tokens; check the file"
    )]
    Format {
        /// The file.
        file: String,
        /// The line of the header.
        line: u64,
        /// The columns there are.
        found: String,
    },
    /// A selection does not fit the file.
    #[error("{file}: {key}: found `{found}`; allowed: {allowed}; {remedy}")]
    Selection {
        /// The file.
        file: String,
        /// What was selected by.
        key: &'static str,
        /// What was asked for.
        found: String,
        /// What the file has.
        allowed: String,
        /// How the user can mend it.
        remedy: &'static str,
    },
    /// A parameter of a law or a process is out of range.
    #[error("parameter `{key}`: found `{found}`; allowed: {allowed}; {remedy}")]
    Parameter {
        /// The parameter.
        key: &'static str,
        /// Its value.
        found: String,
        /// The values or forms that are allowed, in words.
        allowed: String,
        /// How the user can mend it.
        remedy: &'static str,
    },
}

impl TraceError {
    /// The file at fault; `None` when a parameter is.
    pub fn file(&self) -> Option<&str> {
        match self {
            TraceError::Io { file, .. }
            | TraceError::Output { file, .. }
            | TraceError::Gzip { file, .. }
            | TraceError::Empty { file, .. }
            | TraceError::MissingColumn { file, .. }
            | TraceError::Header { file, .. }
            | TraceError::Field { file, .. }
            | TraceError::Row { file, .. }
            | TraceError::Format { file, .. }
            | TraceError::Selection { file, .. } => Some(file),
            TraceError::Parameter { .. } => None,
        }
    }

    /// The line at fault, counted from 1, where there is one.
    pub fn line(&self) -> Option<u64> {
        match self {
            TraceError::Gzip { line, .. }
            | TraceError::Empty { line, .. }
            | TraceError::MissingColumn { line, .. }
            | TraceError::Header { line, .. }
            | TraceError::Field { line, .. }
            | TraceError::Row { line, .. }
            | TraceError::Format { line, .. } => Some(*line),
            _ => None,
        }
    }
}

/// A parameter error.
pub(crate) fn parameter(
    key: &'static str,
    found: impl ToString,
    allowed: impl Into<String>,
    remedy: &'static str,
) -> TraceError {
    TraceError::Parameter {
        key,
        found: shorten(&found.to_string()),
        allowed: allowed.into(),
        remedy,
    }
}

/// Checks that a parameter is a number from `min` to `max`.
pub(crate) fn within(key: &'static str, x: f64, min: f64, max: f64) -> Result<f64, TraceError> {
    if x >= min && x <= max {
        return Ok(x);
    }
    Err(parameter(key, x, format!("a number from {min:e} to {max:e}"), "change the parameter"))
}

/// The first characters of `text`, with control characters made visible.
pub fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(FOUND_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(FOUND_MAX).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_place_finding_range_and_remedy() {
        let error = TraceError::Field {
            file: "a.csv".into(),
            line: 3,
            column: "480".into(),
            found: shorten("-1"),
            allowed: "0, 1, 2, ...".into(),
            remedy: "correct the field",
        };
        let text = error.to_string();
        assert_eq!(
            text,
            "a.csv: line 3: column `480`: found `-1`; allowed: 0, 1, 2, ...; correct the field"
        );
        assert_eq!((error.file(), error.line()), (Some("a.csv"), Some(3)));
    }

    #[test]
    fn a_long_or_binary_finding_is_cut_and_escaped() {
        assert!(shorten(&"x".repeat(10_000)).len() < 60);
        assert_eq!(shorten("a\u{0}\n"), "a\\0\\n");
    }

    #[test]
    fn nan_is_within_no_range() {
        assert!(within("rate_per_s", f64::NAN, 0.0, 1.0).is_err());
        assert!(within("rate_per_s", 1.0, 0.0, 1.0).is_ok());
    }
}
