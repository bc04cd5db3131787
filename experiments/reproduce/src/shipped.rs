//! The files that are shipped: all that is in `files/` and `data/`. `build.rs` lists them.

use orrery_run::SpecError;
use orrery_run::error::{hint, one_of};
use serde::Deserialize;

/// An experiment that is shipped.
struct File {
    paper: &'static str,
    id: &'static str,
    text: &'static str,
}

// `FILES`, in the order of `orrery list`; `BASES`, which others extend and nobody runs; `NUMBERS`, the papers'
// numbers by the names of their files; by a paper's folder `CITATIONS`, its BibTeX entry, and `ABSENT`, what of it is
// not attempted.
include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The ids of all that is shipped, in the order of `orrery list`.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|f| f.id)
}

/// The papers, each with its experiments, in the order of `orrery list`.
pub fn by_paper() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for f in FILES {
        match all.iter_mut().find(|(paper, _)| *paper == f.paper) {
            Some((_, ids)) => ids.push(f.id),
            None => all.push((f.paper, vec![f.id])),
        }
    }
    all
}

/// The BibTeX entry of the paper that a shipped experiment is of.
pub fn citation(id: &str) -> Option<&'static str> {
    let paper = FILES.iter().find(|f| f.id == id)?.paper;
    CITATIONS.iter().find(|c| c.0 == paper).map(|c| c.1)
}

/// What of a paper no experiment is about, and why: `place,why`.
pub fn absent(paper: &str) -> Vec<(String, String)> {
    let text = ABSENT.iter().find(|a| a.0 == paper).map_or("", |a| a.1);
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    lines.deserialize().filter_map(Result::ok).collect()
}

/// Why claims of a shipped experiment do not hold, or hold only by what was fitted: a reviewed line of `causes.csv`.
#[derive(Clone, Debug, Deserialize)]
pub struct Cause {
    /// The experiment.
    pub id: String,
    /// Their numbers: `1 3 6`, `1-4`.
    pub sentences: String,
    /// One of a closed list.
    pub cause: String,
    /// How sure that is.
    pub sure: String,
    /// The experiments that show it.
    pub shown_by: String,
    /// In words.
    pub why: String,
    /// How many readers have held it against the paper and the results.
    pub read_by: usize,
}

impl Cause {
    /// The numbers of its claims.
    pub fn numbers(&self) -> Vec<usize> {
        let number = |text: &str| text.parse::<usize>().unwrap_or(0);
        let part = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            number(first)..=number(last)
        };
        self.sentences.split(' ').flat_map(part).collect()
    }
}

/// All causes.
///
/// # Errors
/// When a line of the file is none, with its number.
pub fn causes() -> Result<Vec<Cause>, SpecError> {
    read_causes(include_str!("../causes.csv"))
}

fn read_causes(text: &str) -> Result<Vec<Cause>, SpecError> {
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let wrong = |e: csv::Error| {
        let line = e.position().map_or(0, csv::Position::line);
        let file = format!("experiments/reproduce/causes.csv:{line}");
        SpecError::Parse { file, message: format!("{e}\n  remedy: correct the line") }
    };
    lines.deserialize().map(|line| line.map_err(wrong)).collect()
}

/// The text of a shipped file of numbers.
pub fn numbers(name: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|n| n.0 == name).map(|n| n.1)
}

/// The text of a shipped file, be it only a base.
pub fn text(id: &str) -> Option<&'static str> {
    FILES.iter().chain(BASES).find(|f| f.id == id).map(|f| f.text)
}

/// The error about an id that is not shipped, with the nearest of all.
pub fn unknown(key: &str, id: &str, verb: &str) -> SpecError {
    let hint = hint(id, ids());
    let allowed = one_of(id, ids());
    SpecError::value(key, format!("`{id}`"), allowed, format!("{hint}{verb} `orrery list`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_causes_that_is_none_is_an_error_with_its_number() {
        let head = "id,sentences,cause,sure,shown_by,why,read_by\n";
        let line = "orloj-table-3,1,unstated cost,likely,,why,2\n";
        assert_eq!(read_causes(&format!("{head}{line}{line}")).unwrap().len(), 2);
        for wrong in ["orloj-table-3,1\n", "orloj-table-3,1,unstated cost,likely,,why,two\n"] {
            let error = read_causes(&format!("{head}{line}{wrong}")).unwrap_err().to_string();
            assert!(error.starts_with("experiments/reproduce/causes.csv:3"), "{error}");
        }
    }
}
