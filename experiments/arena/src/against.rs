//! Two results of a league beside each other, cell by cell.

use orrery_report::page::{Field, Page, Table, Tone};
use orrery_results::{Row, metric};
use orrery_scenario::SpecError;
use std::collections::BTreeMap;

/// Cells that moved are named up to so many.
const SHOWN: usize = 40;

/// What came of a comparison.
#[derive(Clone, Debug)]
pub struct Against {
    /// The other file.
    pub file: String,
    /// How many cells are the same.
    pub same: usize,
    /// Those that are not.
    pub moved: Vec<Moved>,
    /// Policies that the other has not.
    pub only_here: Vec<String>,
    /// Policies that only the other has.
    pub only_there: Vec<String>,
}

/// A cell that moved.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The scenario.
    pub scenario: String,
    /// The policy.
    pub policy: String,
    /// The score before, where there was one.
    pub before: Option<f64>,
    /// The score now.
    pub now: Option<f64>,
}

type Cells<'a> = BTreeMap<(&'a str, &'a str), &'a Row>;

fn scores(rows: &[Row]) -> Cells<'_> {
    let own = rows.iter().filter(|r| r.metric == metric::ARENA_SCORE && r.scope == "all");
    own.map(|r| ((r.case.as_str(), r.policy.as_str()), r)).collect()
}

/// `suite-NAME=HASH`.
fn suite(rows: &[Row]) -> &str {
    rows.first().and_then(|r| r.inputs_sha256.split(';').next()).unwrap_or_default()
}

impl Against {
    /// Compares rows with those of a file. A part of a suite is compared with what the other has of it.
    ///
    /// # Errors
    /// When the file is of another suite, of another version of the results, or of other seeds.
    pub fn of(file: &str, now: &[Row], before: &[Row]) -> Result<Against, SpecError> {
        let wrong = |key: &str, found: String, allowed: String, remedy: &str| {
            Err(SpecError::value(key, found, allowed, remedy).in_file(file))
        };
        if suite(now) != suite(before) || before.is_empty() {
            let remedy = "compare results of the same suite: it is in the column `inputs_sha256`";
            let found = if before.is_empty() { "no rows" } else { suite(before) };
            return wrong("--against", found.into(), suite(now).into(), remedy);
        }
        let version = |rows: &[Row]| rows.first().map_or(0, |r| r.result_version);
        if version(now) != version(before) {
            let (found, allowed) = (version(before).to_string(), version(now).to_string());
            let remedy = "make the other result again with this version";
            return wrong("result_version", found, allowed, remedy);
        }
        let (here, there) = (scores(now), scores(before));
        let policies = |of: &Cells<'_>, but: &Cells<'_>| {
            let has = |p: &str| but.keys().any(|k| k.1 == p);
            let mut own: Vec<String> =
                of.keys().filter(|k| !has(k.1)).map(|k| k.1.to_string()).collect();
            own.sort();
            own.dedup();
            own
        };
        let only = (policies(&here, &there), policies(&there, &here));
        let mut out = Against {
            file: file.to_string(),
            same: 0,
            moved: Vec::new(),
            only_here: only.0,
            only_there: only.1,
        };
        for (key, row) in &here {
            let Some(other) = there.get(key) else { continue };
            if row.value.is_some() && other.value.is_some() && row.seeds != other.seeds {
                let seeds = count(&other.seeds);
                let remedy = format!(
                    "use `--seeds {seeds}`, or the `--seeds` and `--tie-seeds` of that result"
                );
                return wrong("--seeds", row.seeds.clone(), other.seeds.clone(), &remedy);
            }
            if row.value == other.value {
                out.same += 1;
                continue;
            }
            let (scenario, policy) = (key.0.to_string(), key.1.to_string());
            out.moved.push(Moved { scenario, policy, before: other.value, now: row.value });
        }
        Ok(out)
    }

    /// Whether a cell moved.
    pub fn has_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// Says what came of it.
    pub fn say(&self, page: &mut Page) {
        let (same, file) = (self.same, &self.file);
        match self.moved.len() {
            0 => page
                .say(Tone::Good, format!("All {same} cells that {file} has, too, are the same.")),
            n => {
                page.say(Tone::Bad, format!("{n} cells are not as in {file}; {same} are the same."))
            }
        }
        for (which, policies) in [("Only here", &self.only_here), ("Only there", &self.only_there)]
        {
            if !policies.is_empty() {
                page.say(Tone::Plain, format!("{which}: {}.", policies.join(", ")));
            }
        }
    }

    /// What moved, the largest first.
    pub fn table(&self) -> Table {
        let mut moved: Vec<&Moved> = self.moved.iter().collect();
        let by = |m: &Moved| (m.now.unwrap_or(-1.0) - m.before.unwrap_or(-1.0)).abs();
        moved.sort_by(|a, b| by(b).total_cmp(&by(a)));
        let caption =
            if moved.len() > SHOWN { format!("The {SHOWN} largest.") } else { String::new() };
        let mut table =
            Table { keys: 2, ..Table::new(caption, &["policy", "scenario", "before", "now"]) };
        let number =
            |x: Option<f64>| x.map_or_else(Field::none, |x| Field::number(x, format!("{x:.4}")));
        for m in moved.into_iter().take(SHOWN) {
            let words = [Field::text(&m.policy), Field::text(&m.scenario)];
            table.rows.push(words.into_iter().chain([number(m.before), number(m.now)]).collect());
        }
        table
    }
}

/// How many seeds `1-5` are.
fn count(seeds: &str) -> u64 {
    let range = |r: &str| {
        let (a, b) = r.split_once('-')?;
        b.parse::<u64>().ok()?.checked_sub(a.parse().ok()?)?.checked_add(1)
    };
    seeds.split(' ').map(|r| range(r).unwrap_or(1)).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_a_damaged_file_are_counted_without_a_panic() {
        let ranges = ["1-5", "3", "1-2 7-9", "5-1", "0-18446744073709551615", "a-b", ""];
        assert_eq!(ranges.map(count), [5, 1, 5, 1, 1, 1, 1]);
    }
}
