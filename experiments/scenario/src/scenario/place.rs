//! Where in a scenario's text a key stands, so that every message names a line.
//!
//! It reads no values; a text that is no TOML has no places.

use super::file::ScenarioFile;
use crate::key_names::names;
use orrery_run::error::{SpecError, hint, one_of};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, counted from 1, of a key such as `app[1].time.normal.sd_ms`, or of the longest part of
/// it that is in the text.
pub fn line_of(text: &str, key: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let mut place = Place { table: table.get_ref(), value: None, at: None };
    for part in key.split('.') {
        if place.go(part).is_none() {
            break;
        }
    }
    place.at.map(|at| line_at(text, at))
}

/// The line of a byte.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().iter().take(byte);
    1 + before.filter(|&&b| b == b'\n').count()
}

/// A file with its text, for the lines of messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// Its path.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// Its keys, where some were changed.
    pub(crate) changed: Option<Arc<toml::Table>>,
}

impl Source {
    /// A file that was read.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into(), changed: None }
    }

    /// An error about this file, with the line of its key; a key of a file that it extends has the line that
    /// names that file. What is about an option of the command line, or another file, stays as it is.
    pub fn placed(&self, error: SpecError) -> SpecError {
        let place = match error.key() {
            Some(key) if key.starts_with("--") => return error,
            key => key.map_or(self.path.clone(), |key| self.place(key)),
        };
        error.in_file(&place)
    }

    /// Its path, with the line of a key.
    pub fn place(&self, key: &str) -> String {
        let (path, text) = (&self.path, &self.text);
        let line = line_of(text, key).or_else(|| line_of(text, "extends"));
        line.map_or(path.clone(), |line| format!("{path}:{line}"))
    }
}

struct Place<'a> {
    table: &'a DeTable<'a>,
    value: Option<&'a DeValue<'a>>,
    at: Option<usize>,
}

impl<'a> Place<'a> {
    /// Goes to a part of a key, such as `app[1]`.
    fn go(&mut self, part: &str) -> Option<()> {
        let (name, indices) = part.split_once('[').unwrap_or((part, ""));
        match self.value {
            None => {}
            Some(DeValue::Table(table)) => self.table = table,
            Some(_) => return None,
        }
        let (key, value) = self.table.iter().find(|(key, _)| key.get_ref() == name)?;
        self.at = Some(key.span().start);
        self.value = Some(value.get_ref());
        for index in indices.split(['[', ']']).filter(|i| !i.is_empty()) {
            let item = self.item(index.parse().ok()?)?;
            self.at = Some(item.span().start);
            self.value = Some(item.get_ref());
        }
        Some(())
    }

    fn item(&self, index: usize) -> Option<&'a Spanned<DeValue<'a>>> {
        let Some(DeValue::Array(items)) = self.value else { return None };
        items.get(index)
    }
}

/// What `toml` says of a text, with the nearest of the words that it expected.
pub fn parse_error(name: &str, text: &str, error: &toml::de::Error) -> SpecError {
    let file = match error.span() {
        Some(span) => format!("{name}:{}", line_at(text, span.start)),
        None => name.to_string(),
    };
    let message = error.to_string().replace(error.message(), &said(error.message()));
    SpecError::Parse { file, message: message.trim_end().to_string() }
}

/// What `toml` says: of words that it expected the nearest first, and at most ten.
pub(super) fn said(message: &str) -> String {
    let shortened = || {
        let head = message.split(", expected").next()?.split(", available").next()?;
        // It has two ways to list words.
        let (typed, known): (&str, Vec<&str>) = match message.strip_prefix("unknown ") {
            None => {
                let lists = message.strip_prefix("unexpected keys in table: ")?;
                let (typed, known) = lists.split_once(", available keys: ")?;
                (typed.split(", ").next()?, known.split(", ").collect())
            }
            Some(lists) => {
                let mut words = lists.split('`').skip(1).step_by(2);
                (words.next()?, words.collect())
            }
        };
        let is_in = |table: &&&str| names::<ScenarioFile>(&[table]).contains(&typed);
        let near = match known.iter().filter(|_| known.contains(&"arrivals")).find(is_in) {
            Some(table) => format!("it is a key of `{table}`; "),
            None => hint(typed, known.iter().copied()),
        };
        Some(format!("{head}; {near}expected {}", one_of(typed, known)))
    };
    shortened().unwrap_or_else(|| message.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_tables_arrays_and_inline_tables() {
        let text = "a = 1\n\n[[app]]\nx = 1\n[[app]]\nx = 2\ntime = { normal = { sd_ms = 1 } }\n\
                    list = [\n 1,\n [2, 3],\n]\n";
        assert_eq!(line_of(text, "a"), Some(1));
        assert_eq!(line_of(text, "app[1].x"), Some(6));
        assert_eq!(line_of(text, "app[1].time.normal.sd_ms"), Some(7));
        assert_eq!(line_of(text, "app[1].list[1]"), Some(10));
        assert_eq!(line_of(text, "app[1].list[1][1]"), Some(10));
    }

    #[test]
    fn a_key_that_is_not_there_has_the_place_of_its_longest_part() {
        let text = "a = 1\n\n[[app]]\nx = 1\n";
        assert_eq!(line_of(text, "app[0].weight"), Some(3));
        assert_eq!(line_of(text, "a.b"), Some(1));
        assert_eq!(line_of(text, "none"), None);
        assert_eq!(line_of("= no toml", "a"), None);
    }
}
