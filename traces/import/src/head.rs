//! The beginning of a file, by which its format is known. It judges nothing.

use crate::File;
use crate::error::ImportError;

use orrery_traces::columns::{Wanted, find};
use orrery_traces::error::shorten;
use orrery_traces::table::{PREAMBLE_MAX, columns};
use std::io::Read;

/// What is looked at.
const BYTES: u64 = 64 << 10;

/// The first bytes of a file.
pub struct Head {
    /// As text; what is no text is replaced.
    pub text: String,
    /// The columns of its first line.
    pub columns: Vec<String>,
    /// The columns of each of its first lines, as if it were the header; JSON has none.
    pub headers: Vec<Vec<String>>,
    /// The keys of its first line, where that is a whole JSON object.
    pub keys: Vec<String>,
}

impl Head {
    /// Reads it.
    pub fn of(file: &File<'_>) -> Result<Head, ImportError> {
        let mut bytes = Vec::new();
        let mut reader = file.open()?.into_reader().take(BYTES);
        reader.read_to_end(&mut bytes).map_err(|e| crate::json::unreadable(file, &e))?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}').to_string();
        let mut head = Head { text, columns: Vec::new(), headers: Vec::new(), keys: Vec::new() };
        if head.is_json() {
            let line = head.text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
            let line = crate::json::with_nulls(line, |_, _| ());
            let line: Option<serde_json::Map<_, _>> = serde_json::from_str(&line).ok();
            head.keys =
                line.into_iter().flatten().map(|(key, _): (_, serde_json::Value)| key).collect();
            return Ok(head);
        }
        let lines = head.text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
        head.headers = lines.take(PREAMBLE_MAX).map(columns).collect();
        head.columns = head.headers.first().cloned().unwrap_or_default();
        Ok(head)
    }

    /// Whether it begins as JSON does.
    pub fn is_json(&self) -> bool {
        let mut begins = self.text.chars().filter(|c| !c.is_whitespace());
        match begins.next() {
            Some('{') => true,
            Some('[') => begins.next().is_some_and(|c| "{[\"]".contains(c)),
            _ => false,
        }
    }

    /// The header that has all these columns.
    pub fn header(&self, wanted: &[Wanted]) -> Option<&[String]> {
        let has = |header: &&Vec<String>| wanted.iter().all(|w| find(header, w).is_some());
        self.headers.iter().find(has).map(Vec::as_slice)
    }

    /// Whether it has all these columns.
    pub fn has(&self, wanted: &[Wanted]) -> bool {
        self.header(wanted).is_some()
    }

    /// Whether it is JSON in which all these keys occur near the beginning.
    pub fn is_json_with(&self, keys: &[&str]) -> bool {
        self.is_json() && keys.iter().all(|key| self.text.contains(&format!("\"{key}\"")))
    }

    /// Whether its first line is a whole JSON object with all these keys.
    pub fn is_lines_with(&self, keys: &[&str]) -> bool {
        keys.iter().all(|key| self.keys.iter().any(|own| own == key))
    }

    /// Its first line, for messages.
    pub fn shown(&self) -> String {
        let line = self.text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
        match line {
            "" => "an empty file".to_string(),
            line if self.is_json() => format!("JSON that is not known: `{}`", shorten(line)),
            line => format!("a file that begins with `{}`", shorten(line)),
        }
    }
}
