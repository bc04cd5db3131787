//! What travels inside the program is in it once: a `const` that holds a file's bytes is in it again for each crate that
//! names it.

use super::process::program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Where embedded files are.
const FOLDERS: [&str; 3] =
    ["traces/data", "experiments/scenario/data", "experiments/reproduce/data"];

/// A file is known by this many bytes, behind a header that others have too.
const KEY: usize = 32;
const HEADER: usize = 256;

fn files() -> Vec<PathBuf> {
    let entries = |folder: &str| std::fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
    let paths = FOLDERS.into_iter().flat_map(entries).map(|entry| entry.expect("a file").path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "gz")).collect()
}

/// A shipped file, and how often it was found.
struct Shipped {
    path: PathBuf,
    bytes: Vec<u8>,
    count: usize,
}

#[test]
fn every_shipped_file_is_in_the_program_once() {
    let mut known: BTreeMap<[u8; KEY], Vec<Shipped>> = BTreeMap::new();
    let mut begins = vec![false; 1 << 16];
    let pair = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
    for path in files() {
        let bytes = std::fs::read(&path).expect("a file");
        let Some(key) = bytes.get(HEADER..HEADER + KEY) else { continue };
        let key: [u8; KEY] = key.try_into().expect("its length");
        begins[pair(&key)] = true;
        known.entry(key).or_default().push(Shipped { path, bytes, count: 0 });
    }
    assert!(known.len() > 25, "{}", known.len());
    let program = std::fs::read(program()).expect("a program");
    let keys = program.windows(KEY).enumerate().skip(HEADER).filter(|(_, key)| begins[pair(key)]);
    for (at, key) in keys {
        for file in known.get_mut(key).into_iter().flatten() {
            file.count += usize::from(program[at - HEADER..].starts_with(&file.bytes));
        }
    }
    let all = || known.values().flatten();
    let wrong = all().filter(|file| file.count > 1).map(|file| (&file.path, file.count));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "in the program more than once: {wrong:?}");
    assert!(all().any(|file| file.count == 1), "none was found");
}
