//! What a baseline's values were made from: the program, the specifications, the data files, the seeds.

use orrery_cells::hash::spec_sha256;
use orrery_output::page;
use orrery_results::Row;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What values were made from; a line of the baseline.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The program's version, with its commit.
    pub program: String,
    /// The first digits of a SHA-256 of all specifications: scenarios with their policies.
    pub specifications: String,
    /// The same of the data files that were read; empty where none was.
    #[serde(default)]
    pub data: String,
    /// The seeds.
    pub seeds: String,
}

/// Digits of a SHA-256 that are kept.
const DIGITS: usize = 16;

impl Made {
    /// What rows were made from.
    pub fn of(rows: &[Row]) -> Made {
        let short = |all: BTreeSet<&str>| {
            let all: Vec<&str> = all.into_iter().filter(|one| !one.is_empty()).collect();
            if all.is_empty() { String::new() } else { spec_sha256(&all)[..DIGITS].to_string() }
        };
        let seeds: BTreeSet<&str> = rows.iter().map(|r| r.seeds.as_str()).collect();
        Made {
            program: page::version(),
            specifications: short(rows.iter().map(|r| r.spec_sha256.as_str()).collect()),
            data: short(rows.iter().flat_map(|r| r.inputs_sha256.split(';')).collect()),
            seeds: seeds.into_iter().collect::<Vec<_>>().join(" "),
        }
    }

    /// As a line of a baseline.
    pub fn line(&self) -> String {
        let Made { program, specifications, data, seeds } = self;
        format!(
            "made_from = {{ program = {program:?}, specifications = {specifications:?}, data = {data:?}, \
             seeds = {seeds:?} }}\n"
        )
    }

    /// What differs from what other values were made from, in words; empty where nothing does.
    pub fn differs(&self, now: &Made) -> Vec<String> {
        let mut all = Vec::new();
        let mut add = |what: &str, before: &str, after: &str| {
            if before != after {
                all.push(format!("{what} ({} to {})", or_none(before), or_none(after)));
            }
        };
        add("the seeds", &self.seeds, &now.seeds);
        add("the data files", &self.data, &now.data);
        add("the program", &self.program, &now.program);
        if self.specifications != now.specifications {
            // Seeds are a part of a specification: they are no second difference.
            all.insert(0, "what is run (scenario, policies or their settings)".to_string());
        }
        all
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(spec: &str, data: &str, seeds: &str) -> Row {
        let (spec_sha256, inputs_sha256) = (spec.to_string(), data.to_string());
        Row { spec_sha256, inputs_sha256, seeds: seeds.to_string(), ..Row::default() }
    }

    #[test]
    fn each_difference_is_named_and_the_order_of_rows_is_none() {
        let (a, b) = (row("a", "x=1", "1-2"), row("b", "", "1-2"));
        let made = Made::of(&[a.clone(), b.clone()]);
        assert!(made.differs(&Made::of(&[b.clone(), a.clone(), a.clone()])).is_empty());
        let other = |rows: &[Row]| made.differs(&Made::of(rows)).join("; ");
        assert!(other(&[row("c", "x=1", "1-2"), b.clone()]).starts_with("what is run"));
        assert!(other(&[row("a", "x=2", "1-2"), b.clone()]).starts_with("the data files ("));
        assert_eq!(other(&[row("a", "x=1", "1-3"), row("b", "", "1-3")]), "the seeds (1-2 to 1-3)");
        let newer = Made { program: "2 (commit b)".into(), ..made.clone() };
        assert!(made.differs(&newer)[0].starts_with("the program ("));
    }

    #[test]
    fn the_line_is_read_again() {
        #[derive(Deserialize)]
        struct File {
            made_from: Made,
        }
        let made = Made { program: "0 (commit \"a\")".into(), ..Made::of(&[row("a", "", "1-1")]) };
        let file: File = toml::from_str(&made.line()).unwrap();
        assert_eq!(file.made_from, made);
    }
}
