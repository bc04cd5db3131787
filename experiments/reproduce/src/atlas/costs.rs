//! What each id took on this machine. It is no result: it stands in a file of its own and on stderr, so that the
//! page has the same bytes on every run.

use orrery_report::whole_file::{unwritable_out, write_atomically};
use orrery_run::SpecError;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The file in the atlas's folder.
const FILE: &str = "costs.csv";
const HEAD: &str = "id,wall_s,peak_mib";

/// Times and peaks by id. Of an id that was run before, and whose cells are now only read, the longer time stays.
pub struct Costs {
    path: PathBuf,
    by_id: BTreeMap<String, (f64, Option<f64>)>,
}

/// An id that is running.
pub struct Running {
    began: Instant,
}

impl Costs {
    /// Those of a folder.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn at(folder: &Path) -> Result<Costs, SpecError> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(unwritable_out(&path, &e)),
        };
        let line = |line: &str| {
            let mut fields = line.split(',');
            let id = fields.next()?.to_string();
            Some((id, (fields.next()?.parse().ok()?, fields.next()?.parse().ok())))
        };
        Ok(Costs { path, by_id: text.lines().skip(1).filter_map(line).collect() })
    }

    /// An id has ended: its time, and the most memory that the process had meanwhile, where the system tells.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, id: &str, running: &Running) -> Result<(), SpecError> {
        let now = (running.began.elapsed().as_secs_f64(), peak_mib());
        let kept = self.by_id.entry(id.to_string()).or_insert(now);
        if now.0 > kept.0 {
            *kept = now;
        }
        let lines = self.by_id.iter().map(|(id, (s, mib))| {
            format!("{id},{s:.1},{}\n", mib.map_or(String::new(), |mib| format!("{mib:.0}")))
        });
        let text = format!("{HEAD}\n{}", lines.collect::<String>());
        write_atomically(&self.path, text.as_bytes())
    }
}

impl Running {
    /// An id begins.
    pub fn begin() -> Running {
        forget_peak();
        Running { began: Instant::now() }
    }
}

/// From here on the peak is counted anew, where the system can (Linux).
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The peak of the process's memory, where the system tells it (Linux).
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_time_of_an_id_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "id,wall_s,peak_mib\nx,90.0,12\n")
            .expect("a file");
        let mut costs = Costs::at(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        for id in ["x", "y"] {
            costs.add(id, &Running::begin()).unwrap_or_else(|e| panic!("{e}"));
        }
        let text = std::fs::read_to_string(folder.path().join(FILE)).expect("a file");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["id,wall_s,peak_mib", "x,90.0,12"]);
        assert!(lines[2].starts_with("y,0.0,") && lines.len() == 3, "{text}");
    }
}
