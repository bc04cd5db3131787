//! The file that is asked about.

/// A scenario or a plan, as it is now.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path, for messages; the files that it names are looked for in its folder.
    pub path: String,
    /// Its text.
    pub text: String,
}
