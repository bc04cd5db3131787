//! The version of the results: whoever changes results raises it and says so in the changelog.

use crate::golden::{check, folder};
use orrery_results::RESULT_VERSION;
use sha2::{Digest, Sha256};
use std::path::Path;

/// SHA-256 over the names and bytes of all golden files and baselines.
fn sum() -> String {
    let baselines = Path::new(env!("CARGO_MANIFEST_DIR")).join("baselines");
    let mut files = Vec::new();
    for folder in [folder(), baselines] {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if name != FILE {
                files.push((name, std::fs::read(path).expect("a file")));
            }
        }
    }
    files.sort();
    let mut hash = Sha256::new();
    for (name, bytes) in files {
        hash.update(format!("{name} {}\n", bytes.len()));
        hash.update(bytes);
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

const FILE: &str = "result-version.txt";

#[test]
fn golden_results_that_changed_have_a_new_version() {
    let recorded = std::fs::read_to_string(folder().join(FILE)).unwrap_or_default();
    let found = format!("{RESULT_VERSION} {}\n", sum());
    let same_version = recorded.split(' ').next() == Some(&RESULT_VERSION.to_string());
    assert!(
        recorded == found || !same_version || std::env::var_os("ORRERY_NEW_GOLDEN").is_some(),
        "golden files or baselines changed under result version {RESULT_VERSION}: raise \
         `RESULT_VERSION` in results/src/lib.rs and add a line to the changelog's \"Results \
         changed\". Only when results are the same and files were added or reworded: \
         ORRERY_NEW_GOLDEN=1 ORRERY_UPDATE=1 cargo test -p orrery-tests result_version"
    );
    if recorded != found {
        check(FILE, &found);
    }
}

#[test]
fn the_changelog_tells_of_this_version_of_the_results() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../CHANGELOG.md");
    let text = std::fs::read_to_string(path).expect("the changelog");
    let changed = text.split("### Results changed").nth(1).expect("its part on results");
    assert!(
        changed.contains(&format!("Result version {RESULT_VERSION}")),
        "no line on result version {RESULT_VERSION} under \"Results changed\""
    );
}
