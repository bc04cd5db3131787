//! Golden files: small results that are kept in `tests/golden/`, compared line by line.
//!
//! They say that a result changed, not that it is right; `papers` and the closed forms say that.
//! After a change that is meant, look at the difference and rewrite all of them with
//!
//! ```text
//! ORRERY_UPDATE=1 cargo test -p orrery-tests -- golden determinism
//! ```

use orrery_report::Forms;
use orrery_reproduce::document;
use orrery_reproduce::experiment::{Experiment, Preset};
use orrery_reproduce::registry::find;
use orrery_reproduce::reproduce::{Asked, How, Outcome, run};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// Lines of a difference that are shown.
const SHOWN_MAX: usize = 40;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// Text is as wide as it is from now on: where it folds is tested in `cli/columns.rs`.
pub fn unfold() {
    orrery_report::width::set_width(usize::MAX);
}

/// Compares with a golden file, or rewrites it when `ORRERY_UPDATE` is set.
pub fn check(name: &str, found: &str) {
    let path = folder().join(name);
    if std::env::var_os("ORRERY_UPDATE").is_some() {
        std::fs::create_dir_all(folder()).expect("a folder that can be written");
        std::fs::write(&path, found).expect("a golden file that can be written");
        eprintln!("rewritten: {}", path.display());
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{} differs (- expected, + found):\n{}if this is meant: \
         ORRERY_UPDATE=1 cargo test -p orrery-tests -- golden determinism",
        path.display(),
        difference(&expected, found),
    );
}

/// The lines that differ, by number: `-` for the golden file's, `+` for the run's.
fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let mut out = String::new();
    let mut differ = 0;
    for i in 0..expected.len().max(found.len()) {
        let (old, new) = (expected.get(i), found.get(i));
        if old == new {
            continue;
        }
        differ += 1;
        if differ > SHOWN_MAX {
            continue;
        }
        for (sign, line) in [('-', old), ('+', new)] {
            if let Some(line) = line {
                let _ = writeln!(out, "{:>4} {sign} {line}", i + 1);
            }
        }
    }
    if differ > SHOWN_MAX {
        let _ = writeln!(out, "     and {} more lines", differ - SHOWN_MAX);
    }
    out
}

/// A shipped table, made small: these cases, so many seeds, 2,000 requests a run, no references.
pub fn small(id: &str, cases: &[&str], seeds: u32) -> Experiment {
    let mut e = find(id).expect("a shipped table");
    let cases: Vec<String> = cases.iter().map(|c| c.to_string()).collect();
    e.keep_cases(&cases).expect("cases of the table");
    e.seeds = seeds;
    e.set.insert("load.requests".to_string(), 2_000.into());
    e.system.retain(|s| s.preset != Preset::Reference);
    e
}

/// A shipped experiment as it is, in text that does not fold: run once for all tests.
pub fn whole(id: &str) -> Arc<Forms> {
    static KNOWN: Mutex<BTreeMap<String, Arc<OnceLock<Arc<Forms>>>>> = Mutex::new(BTreeMap::new());
    unfold();
    let known = KNOWN.lock().expect("no panic").entry(id.to_string()).or_default().clone();
    known.get_or_init(|| Arc::new(forms(&find(id).expect("a shipped experiment"), 0))).clone()
}

/// Its whole text.
pub fn text(id: &str) -> String {
    let mut e = find(id).expect("a shipped experiment");
    e.details = true;
    document::of(&e, &whole(id).rows).to_text()
}

/// Runs an experiment on so many threads.
pub fn forms(e: &Experiment, jobs: usize) -> Forms {
    let how = How { jobs, ..How::default() };
    match run(e, &Asked::default(), &how).expect("a table that runs") {
        Outcome::Whole(forms) => *forms,
        _ => panic!("it is run whole"),
    }
}

#[test]
fn a_difference_shows_the_lines_that_differ_by_number() {
    assert_eq!(difference("a\nb\nc\n", "a\nB\nc\nd\n"), "   2 - b\n   2 + B\n   4 + d\n");
    assert_eq!(difference("a\n", "a\n"), "");
    let (old, new): (String, String) =
        (0..50).map(|i| (format!("{i}\n"), format!("-{i}\n"))).unzip();
    assert!(difference(&old, &new).ends_with("     and 10 more lines\n"));
}

/// With the values that are withheld: ours stands there alone.
#[test]
fn the_measurement_on_16_v100s_reads_as_it_did() {
    check("alpaserve-v100.txt", &text("alpaserve-v100"));
}
