//! What cells cost: how long those took that are done, and how long the others may take.
//!
//! Costs order the work and are told to people. They have no part in a result.

use orrery_report::whole_file::own_file;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Writes down how long cells took, each worker in a file of its own.
pub struct Seconds {
    folder: PathBuf,
    file: Mutex<Option<File>>,
}

impl Seconds {
    /// In a folder, where a file is made with the first cell.
    pub fn begin(folder: &Path) -> Seconds {
        Seconds { folder: folder.to_path_buf(), file: Mutex::new(None) }
    }

    /// A cell took so long. Where that cannot be written it is not known.
    pub fn took(&self, entry: &str, time: Duration) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let new = own_file(&self.folder, "seconds-", ".csv").ok();
            *file = new.and_then(|new| Some(new.keep().ok()?.0));
        }
        if let Some(file) = &mut *file {
            let _ = file.write_all(format!("{entry},{:.6}\n", time.as_secs_f64()).as_bytes());
        }
    }
}

/// How long each cell took that is known, in seconds, by its entry.
pub fn used_s(folder: &Path) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("seconds-") || !name.ends_with(".csv") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        for line in text.lines() {
            if let Some((entry, seconds)) = line.split_once(',')
                && let Ok(seconds) = seconds.parse()
            {
                all.insert(entry.to_string(), seconds);
            }
        }
    }
    all
}

/// Seconds for each request, by policy, from the cells that are done.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    by_policy: BTreeMap<String, (f64, f64)>,
    all: (f64, f64),
}

impl Rates {
    /// A cell of so many requests took so long.
    pub fn learn(&mut self, policy: &str, requests: f64, seconds: f64) {
        let own = self.by_policy.entry(policy.to_string()).or_default();
        for sum in [own, &mut self.all] {
            *sum = (sum.0 + requests, sum.1 + seconds);
        }
    }

    /// How long so many requests take: at the rate of their policy, or of all where that is not known.
    pub fn seconds(&self, policy: &str, requests: f64) -> Option<f64> {
        let known = |(of, seconds): (f64, f64)| (of > 0.0).then(|| seconds / of * requests);
        self.by_policy.get(policy).copied().and_then(known).or_else(|| known(self.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_at_the_rate_of_the_policy_or_of_all() {
        let mut rates = Rates::default();
        assert_eq!(rates.seconds("fifo", 10.0), None);
        rates.learn("fifo", 100.0, 1.0);
        rates.learn("orloj", 100.0, 3.0);
        assert_eq!(rates.seconds("fifo", 200.0), Some(2.0));
        assert_eq!(rates.seconds("nexus", 100.0), Some(2.0));
    }

    #[test]
    fn what_cells_took_is_found_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (one, two) = (Seconds::begin(folder.path()), Seconds::begin(folder.path()));
        one.took("a", Duration::from_millis(1500));
        two.took("b", Duration::from_secs(2));
        let expected = [("a".to_string(), 1.5), ("b".to_string(), 2.0)];
        assert_eq!(used_s(folder.path()), BTreeMap::from(expected));
    }
}
