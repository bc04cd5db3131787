//! The published trace of Azure Functions 2019 as it is published: a file for each of 14 days, found in a
//! user's folder.
//!
//! It is not shipped, and it never holds a day in memory: a first pass over the files adds up the calls
//! of each function, a second one deals out the minutes that are wanted.

use crate::azure2019::{InvocationsReader, MinuteRange};
use crate::blocks::Blocks;
use crate::error::TraceError;
use crate::open::Input;
use crate::quirks::Met;
use orrery_sim::ordered::sort_by_key;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the names of the published files begin with.
const NAME: &str = "invocations_per_function";
/// The minutes of a day.
const DAY: MinuteRange = MinuteRange { first_label: 1, last_label: 1440 };

/// The days of the published trace, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Days {
    folder: String,
    files: Vec<PathBuf>,
}

impl Days {
    /// The files `invocations_per_function*.csv` or `.csv.gz` of a folder, in the order of their names.
    /// Minute m of the d-th file, counted from 0, has the label 1440 d + m.
    ///
    /// # Errors
    /// When the folder cannot be read or has no such file.
    pub fn in_folder(folder: &Path) -> Result<Days, TraceError> {
        let name = folder.display().to_string();
        let unreadable =
            |e: std::io::Error| TraceError::Io { file: name.clone(), reason: e.to_string() };
        let mut files = BTreeSet::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let is_day = path.file_name().and_then(|n| n.to_str()).is_some_and(|n| {
                n.starts_with(NAME) && (n.ends_with(".csv") || n.ends_with(".csv.gz"))
            });
            if is_day {
                files.insert(path);
            }
        }
        if files.is_empty() {
            return Err(TraceError::Selection {
                file: name,
                key: "files",
                found: "no file of a day".to_string(),
                allowed: format!("`{NAME}_md.anon.d01.csv` and so on, one for each day"),
                remedy: "name the folder in which the published archive was unpacked",
            });
        }
        Ok(Days { folder: name, files: files.into_iter().collect() })
    }

    /// The files, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The labels of all days.
    pub fn minutes(&self) -> MinuteRange {
        MinuteRange { last_label: DAY.last_label * self.files.len() as u32, ..DAY }
    }

    /// The functions of all days, ranked by their calls in all of them, dealt out with the minutes of
    /// `range`. A function that a day does not have was not called on it.
    ///
    /// # Errors
    /// When a file is damaged or does not have the minutes 1 to 1440, or when there are fewer functions
    /// than instances.
    pub fn blocks(&self, range: MinuteRange, instances: usize) -> Result<Blocks, TraceError> {
        let (mut totals, mut met) = (BTreeMap::<[String; 3], u64>::new(), Met::default());
        for file in &self.files {
            let mut reader = day(file, None)?;
            while let Some((_, row)) = reader.next_numbered()? {
                *totals.entry([row.owner, row.app, row.function]).or_insert(0) += row.total;
            }
            met.extend(&reader.met());
        }
        let mut blocks = Blocks::new(&self.folder, totals.len(), instances, range.minutes())?;
        let mut order: Vec<(&[String; 3], u64)> = totals.iter().map(|(k, n)| (k, *n)).collect();
        sort_by_key(&mut order, |&(key, total)| (std::cmp::Reverse(total), key));
        let ranks: BTreeMap<&[String; 3], usize> =
            order.into_iter().enumerate().map(|(rank, (key, _))| (key, rank)).collect();
        for (number, file) in self.files.iter().enumerate() {
            let before = DAY.last_label * number as u32;
            let first = range.first_label.saturating_sub(before).max(DAY.first_label);
            let last = range.last_label.saturating_sub(before).min(DAY.last_label);
            if first > last {
                continue;
            }
            let wanted = MinuteRange { first_label: first, last_label: last };
            let skipped = (before + first - range.first_label) as usize;
            let mut reader = day(file, Some(wanted))?;
            while let Some((_, row)) = reader.next_numbered()? {
                let key = [row.owner, row.app, row.function];
                let Some(&rank) = ranks.get(&key) else { continue };
                let none = std::iter::repeat_n(0.0, skipped);
                let calls = none.chain(row.counts.iter().map(|&c| f64::from(c)));
                blocks.add(blocks.instance(rank), calls);
            }
        }
        blocks.met = met;
        Ok(blocks)
    }
}

/// A day's file, which has the minutes of a day.
fn day(file: &Path, wanted: Option<MinuteRange>) -> Result<InvocationsReader, TraceError> {
    let found = InvocationsReader::open(Input::open(file)?, None)?.minutes();
    if found != DAY {
        return Err(TraceError::Selection {
            file: file.display().to_string(),
            key: "minutes",
            found: format!("the minutes {} to {}", found.first_label, found.last_label),
            allowed: "the minutes 1 to 1440, as each day of the published trace has".to_string(),
            remedy: "use the files as they are published, or name this one file in place of the folder",
        });
    }
    InvocationsReader::open(Input::open(file)?, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure2019::Invocations;

    /// A day's file in which minute m of function f has `calls(f, m)`.
    fn write(folder: &Path, name: &str, functions: &[&str], calls: impl Fn(usize, u32) -> u32) {
        let labels: Vec<String> = (1..=1440).map(|m: u32| m.to_string()).collect();
        let mut text = format!("HashOwner,HashApp,HashFunction,Trigger,{}\n", labels.join(","));
        for (f, function) in functions.iter().enumerate() {
            let counts: Vec<String> = (1..=1440).map(|m| calls(f, m).to_string()).collect();
            text += &format!("o,a,{function},http,{}\n", counts.join(","));
        }
        std::fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn days_follow_each_other_and_missing_functions_are_not_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        write(path, "invocations_per_function_md.anon.d02.csv", &["z", "x"], |f, m| {
            if f == 0 { 100 } else { m % 3 }
        });
        write(path, "invocations_per_function_md.anon.d01.csv", &["x", "y"], |f, m| {
            if f == 0 { 1 } else { m }
        });
        std::fs::write(path.join("app_memory_percentiles.anon.d01.csv"), "x\n").unwrap();
        let days = Days::in_folder(path).unwrap();
        assert_eq!((days.files().len(), days.minutes().last_label), (2, 2880));
        // y 1,037,520 calls, z 144,000, x 2,880.
        let range = MinuteRange { first_label: 1440, last_label: 1442 };
        let blocks = days.blocks(range, 3).unwrap();
        assert_eq!(blocks.minute(0), [1440.0, 0.0, 1.0]);
        assert_eq!(blocks.minute(1), [0.0, 100.0, 1.0]);
        assert_eq!(blocks.minute(2), [0.0, 100.0, 2.0]);
        // One day alone is the same as its file.
        let one = Days { files: vec![days.files()[0].clone()], ..days.clone() };
        let whole = Invocations::read(Input::open(&one.files[0]).unwrap(), None).unwrap();
        assert_eq!(one.blocks(DAY, 2), Blocks::of_file(&whole, DAY, 2));
        let text = days.blocks(range, 4).unwrap_err().to_string();
        assert!(text.contains("3 functions for 4 applications"), "{text}");
    }

    #[test]
    fn a_folder_without_days_and_a_file_of_another_shape_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let text = Days::in_folder(folder.path()).unwrap_err().to_string();
        assert!(text.contains("no file of a day") && text.contains("d01.csv"), "{text}");
        let name = "invocations_per_function_md.anon.d01.csv";
        let short = "HashFunction,Trigger,480,481\nx,http,1,2\n";
        std::fs::write(folder.path().join(name), short).unwrap();
        let range = MinuteRange { first_label: 1, last_label: 2 };
        let text = Days::in_folder(folder.path()).unwrap().blocks(range, 1).unwrap_err();
        let text = text.to_string();
        for word in [name, "480 to 481", "1 to 1440", "as they are published"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(Days::in_folder(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_function_twice_in_a_day_has_the_calls_of_both_lines() {
        let folder = tempfile::tempdir().unwrap();
        let name = "invocations_per_function_md.anon.d01.csv";
        write(folder.path(), name, &["x", "y", "x"], |f, _| [1, 10, 100][f]);
        let range = MinuteRange { first_label: 1, last_label: 2 };
        let blocks = Days::in_folder(folder.path()).unwrap().blocks(range, 2).unwrap();
        assert_eq!(blocks.minute(0), [101.0, 10.0]);
        assert!(blocks.met.notes()[0].contains("given twice: 1"), "{:?}", blocks.met.notes());
    }
}
