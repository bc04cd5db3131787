//! The tables of lines in this folder that one command writes anew.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// Where such a table is.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The lines of a table.
pub fn kept<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let lines = csv::Reader::from_path(path(name)).and_then(|r| r.into_deserialize().collect());
    lines.unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Writes them anew.
pub fn write<T: Serialize>(name: &str, lines: &[T]) {
    let mut file = csv::Writer::from_path(path(name)).expect("a file that can be written");
    lines.iter().for_each(|line| file.serialize(line).expect("a line"));
    file.flush().expect("a file that can be written");
}
