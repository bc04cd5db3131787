//! `orrery self man`: a man page for each command.

use clap::Args;
use orrery_report::Answer;
use orrery_report::manual::pages;
use orrery_report::whole_file::{check_place, unwritable, write_atomically};
use orrery_run::SpecError;
use std::path::PathBuf;

/// `orrery self man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  orrery self man --out ~/.local/share/man/man1")]
pub struct Man {
    /// The folder for the pages.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the pages of a program, and lists them.
///
/// # Errors
/// When the folder cannot be written, or has a file of that name that this program did not write.
pub fn command(args: &Man, program: clap::Command) -> Result<Answer, SpecError> {
    let pages = pages(program).map_err(|e| unwritable("--out", &args.out, &e))?;
    let pages = pages.into_iter().map(|(name, text)| (args.out.join(name), text));
    let pages: Vec<(PathBuf, Vec<u8>)> = pages.collect();
    pages.iter().try_for_each(|(path, _)| check_place("--out", path))?;
    let mut list = String::new();
    for (path, text) in &pages {
        write_atomically(path, text)?;
        list += &format!("{}\n", path.display());
    }
    Ok(Answer::of(list))
}
