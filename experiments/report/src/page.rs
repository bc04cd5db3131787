//! A result as one document: HTML in a file that holds all it shows and asks nothing of a network, text for a
//! terminal, Markdown.
//!
//! Commands say what is in it; how it looks is here and nowhere else. It has no date and no path of the
//! machine, so the same command gives the same bytes.

mod html;
mod markdown;
mod markup;
mod parts;
mod rerun;
mod rows;
#[cfg(test)]
mod tests;
mod text;

pub use markdown::{capital, counted};
pub use parts::{Field, Page, Part, Section, TO_KNOW, Table, Tone, Verdict};
pub use rerun::{
    WITHOUT_EFFECT, again, asked, built_from, command_line, provenance, version, version_of,
};
pub use rows::{cells, intervals, reading, values};
pub use text::with_interval;

use super::whole_file::{check_folder, check_place, unwritable, write_atomically};
use super::width;
use orrery_run::SpecError;
use std::path::Path;

impl Page {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        html::document(&self.title, std::slice::from_ref(self))
    }

    /// The page as text for a terminal, without figures, cards and what is folded.
    pub fn to_text(&self) -> String {
        width::folded(&text::text(self))
    }

    /// The page as Markdown, without figures, cards and what is folded.
    pub fn to_markdown(&self) -> String {
        markdown::markdown(self)
    }
}

/// Several results on one page, with a list of them at the top.
pub fn several(title: &str, pages: &[Page]) -> String {
    html::document(title, pages)
}

/// Whether a page can be written there: asked before the first run.
///
/// # Errors
/// When the name does not end in `.html`, it is a folder, or its folder cannot be written.
pub fn check(path: &Path) -> Result<(), SpecError> {
    let ending = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    if !matches!(ending.as_deref(), Some("html" | "htm")) {
        let (allowed, remedy) = ("a name that ends in .html", "change the file's ending");
        return Err(SpecError::value("--html", path.display(), allowed, remedy));
    }
    check_place("--html", path)?;
    if path.is_dir() {
        let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(unwritable("--html", path, &error));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    folder.map_or(Ok(()), check_folder)
}

/// Writes a page, whole or not at all.
///
/// # Errors
/// When its folder cannot be written.
pub fn write(html: &str, path: &Path) -> Result<(), SpecError> {
    write_atomically(path, html.as_bytes())
}
