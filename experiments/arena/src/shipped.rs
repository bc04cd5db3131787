//! The suites that are shipped: all that is in `suites/`. `build.rs` lists them.

/// A folder with its files.
pub(crate) struct Files {
    pub name: &'static str,
    /// Name and text of each.
    pub files: &'static [(&'static str, &'static str)],
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The names of all suites.
pub fn names() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|s| s.name)
}

/// The files of a suite.
pub fn files(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    SUITES.iter().find(|s| s.name == name).map(|s| s.files)
}
