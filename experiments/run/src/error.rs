//! What can be wrong with a scenario: every message names the place, what was found, what is
//! allowed, and the remedy.

use orrery_import::ImportError;
use orrery_sim::log::LogError;
use orrery_traces::TraceError;
use thiserror::Error;

/// An error of a scenario file, a table file or a policy's name.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum SpecError {
    #[error("{file}: cannot be read: {source}\n  remedy: give the path of a file that can be read")]
    Read { file: String, source: std::io::Error },

    #[error("{file}: {}\n  remedy: correct the file{}", cut(message), pages(message))]
    Parse { file: String, message: String },

    #[error(
        "{}key `{}`: found {}; {}allowed: {allowed}\n  remedy: {}",
        place(file),
        cut(key),
        cut(found),
        meant(remedy).0,
        cut(meant(remedy).1)
    )]
    Value { file: String, key: String, found: String, allowed: String, remedy: String },

    #[error(
        "{0}key `{1}`: {source}\n  remedy: change `{1}`, or the file that it names",
        place(file),
        cut(key)
    )]
    Data { file: String, key: String, source: Box<TraceError> },

    #[error("policy `{}`: {}\n  remedy: {remedy}", cut(policy), cut(message))]
    Policy { policy: String, message: String, remedy: String },

    #[error(transparent)]
    Trace(Box<TraceError>),

    #[error(transparent)]
    Import(Box<ImportError>),

    #[error(transparent)]
    Log(#[from] LogError),

    /// An error that does not name the file that led to it.
    #[error("{file}: {source}")]
    Within { file: String, source: Box<SpecError> },
}

impl From<ImportError> for SpecError {
    fn from(error: ImportError) -> SpecError {
        SpecError::Import(Box::new(error))
    }
}

impl From<TraceError> for SpecError {
    fn from(error: TraceError) -> SpecError {
        SpecError::Trace(Box::new(error))
    }
}

impl SpecError {
    /// A value that is not allowed, with its key.
    pub fn value(
        key: impl Into<String>,
        found: impl ToString,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SpecError {
        SpecError::Value {
            file: String::new(),
            key: key.into(),
            found: found.to_string(),
            allowed: allowed.into(),
            remedy: remedy.into(),
        }
    }

    /// The key that is wrong, where one is.
    pub fn key(&self) -> Option<&str> {
        match self {
            SpecError::Value { key, .. } | SpecError::Data { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The same error, about another key; that of a policy's name gets one.
    pub fn at(self, new: impl Into<String>) -> SpecError {
        let key = new.into();
        match self {
            SpecError::Value { file, found, allowed, remedy, .. } => {
                SpecError::Value { file, key, found, allowed, remedy }
            }
            SpecError::Data { file, source, .. } => SpecError::Data { file, key, source },
            SpecError::Policy { policy, message, remedy } => {
                let allowed = "a policy such as `clockwork` or `clockwork[estimator=static-mean]`";
                SpecError::value(key, format!("`{policy}`: {message}"), allowed, remedy)
            }
            other => other,
        }
    }

    /// The same error, about its key in a table.
    pub fn in_table(self, table: &str) -> SpecError {
        let key = format!("{table}.{}", self.key().unwrap_or_default());
        self.at(key)
    }

    /// The same error, with the file that it is about.
    pub fn in_file(self, name: &str) -> SpecError {
        match self {
            SpecError::Value { file, key, found, allowed, remedy } if file.is_empty() => {
                SpecError::Value { file: name.to_string(), key, found, allowed, remedy }
            }
            SpecError::Data { file, key, source } if file.is_empty() => {
                SpecError::Data { file: name.to_string(), key, source }
            }
            error @ (SpecError::Policy { .. } | SpecError::Trace(_)) => {
                SpecError::Within { file: name.to_string(), source: Box::new(error) }
            }
            other => other,
        }
    }
}

/// The file that a message begins with; nothing where no file is at fault.
fn place(file: &str) -> String {
    if file.is_empty() { String::new() } else { format!("{file}: ") }
}

/// The nearest name, which stands before the list of all, and the rest of a remedy.
fn meant(remedy: &str) -> (&str, &str) {
    let is_near = remedy.starts_with("did you mean ");
    match remedy.find("`? ").filter(|_| is_near).map(|end| remedy.split_at(end + "`? ".len())) {
        Some((near, "")) => (near, "correct the name"),
        Some(parts) => parts,
        None => ("", remedy),
    }
}

/// The most characters of a value in a message.
const VALUE_MAX: usize = 80;
/// The most characters of a line of a message that quotes a file.
const LINE_MAX: usize = 400;

/// Where the keys of a file are listed, unless the message says so.
fn pages(message: &str) -> &'static str {
    match message.contains("\n  allowed: ") {
        true => "",
        false => "; see `docs/scenarios.md` for scenarios, `docs/experiments.md` for experiments",
    }
}

/// A message without the ends of long values: of words that are no path, of what stands between
/// backticks, and of lines.
pub fn cut(text: &str) -> String {
    let line = |line: &str| {
        let whole = |word: &str| word.contains('/') && word.len() <= LINE_MAX;
        let words =
            line.split(' ').map(|w| if whole(w) { w.to_string() } else { first(w, VALUE_MAX) });
        let quoted = words.collect::<Vec<_>>().join(" ");
        let parts = quoted.split('`').enumerate();
        let parts =
            parts.map(|(i, p)| if i % 2 == 1 { first(p, VALUE_MAX) } else { p.to_string() });
        first(&parts.collect::<Vec<_>>().join("`"), LINE_MAX)
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The first characters, and dots where there are more.
fn first(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// The candidate that is nearest to what was typed, if one is near at all.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = typed.len().div_ceil(3).max(2);
    let with_distance = candidates.into_iter().map(|c| (strsim::levenshtein(typed, c), c));
    with_distance.filter(|&(d, _)| d <= limit).min().map(|(_, c)| c)
}

/// The nearest of the names as a question; nothing where none is near.
pub fn hint<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, candidates).map_or(String::new(), |n| format!("did you mean `{n}`? "))
}

/// Names that are listed, at most.
const LISTED: usize = 10;

/// What is allowed where a name is asked for: all names, or of many those that are nearest.
pub fn one_of<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 {
        names.sort_by_key(|name| (!name.contains(typed), strsim::levenshtein(typed, name)));
        names.truncate(LISTED);
    }
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {}{more}", names.join(", "))
}

/// The place of a name in a list.
///
/// # Errors
/// Names the key, the allowed names, and the nearest of them.
pub fn known(key: &str, name: &str, all: &[&str]) -> Result<usize, SpecError> {
    if let Some(at) = all.iter().position(|n| *n == name) {
        return Ok(at);
    }
    let remedy = match nearest(name, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => "use one of these names, or define this one".to_string(),
    };
    Err(SpecError::value(key, format!("`{name}`"), one_of(name, all.iter().copied()), remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_and_paths_and_sentences_are_not() {
        let long = "x".repeat(5_000);
        let error = SpecError::value("name", format!("`{long}`"), "a short one", "shorten it");
        assert!(error.to_string().len() < 200, "{error}");
        let error = SpecError::value(&long, "a b ".repeat(5_000), "less", "shorten it");
        assert!(error.to_string().len() < 600, "{error}");
        let spaces = SpecError::value("key", format!("`{}`", "a b ".repeat(50)), "", "");
        assert!(spaces.to_string().contains(&format!("`{}...`", "a b ".repeat(20))));
        let text = format!("TOML parse error\n3 | a = \"{long}\"\n  | {}\n", "^".repeat(5_000));
        assert!(SpecError::Parse { file: "a".into(), message: text }.to_string().len() < 500);
        let path = format!("{}/a.toml", "folder".repeat(20));
        assert!(
            SpecError::value("k", format!("`a` ({path}: no)"), "", "").to_string().contains(&path)
        );
        assert_eq!(cut("ä".repeat(81).as_str()), format!("{}...", "ä".repeat(80)));
    }

    #[test]
    fn the_nearest_name_is_offered_when_it_is_near() {
        let names = ["clockwork", "clipper", "nexus", "orloj"];
        assert_eq!(nearest("clockwrok", names), Some("clockwork"));
        assert_eq!(nearest("orlo", names), Some("orloj"));
        assert_eq!(nearest("kubernetes", names), None);
    }
}
