//! Man pages and shell completions of a command line, made from what it accepts.

use clap::Command;
use clap_complete::Generator;
pub use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;

/// A man page: its file name, such as `orrery-trace-list.1`, and its text.
pub type Page = (String, Vec<u8>);

/// A page for the program and one for each of its commands, the program's first.
///
/// # Errors
/// Never: they are written into memory.
pub fn pages(program: Command) -> io::Result<Vec<Page>> {
    // `orrery help run` says what `orrery run --help` says: it needs no page.
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let source = format!("{} {}", program.get_name(), program.get_version().unwrap_or_default());
    let mut pages = Vec::new();
    add(&program, &source, &mut pages)?;
    Ok(pages)
}

fn add(command: &Command, source: &str, pages: &mut Vec<Page>) -> io::Result<()> {
    // Its examples are added line by line: clap_mangen would fill them as a paragraph.
    let man = Man::new(command.clone().after_help(None::<&str>)).source(source);
    let mut text = Vec::new();
    man.render(&mut text)?;
    if let Some(after) = command.get_after_help() {
        as_it_stands(&after.to_string()).to_writer(&mut text)?;
    }
    pages.push((man.get_filename(), text));
    command.get_subcommands().filter(|c| !c.is_hide_set()).try_for_each(|c| add(c, source, pages))
}

/// A section of examples, or of notes.
fn as_it_stands(text: &str) -> Roff {
    let (heading, lines) = match text.split_once('\n') {
        Some(("Example:" | "Examples:", rest)) => ("EXAMPLES", rest),
        _ => ("NOTES", text),
    };
    let mut roff = Roff::new();
    roff.control("SH", [heading]).control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

/// What a shell is told of the program.
pub fn completions(shell: Shell, mut program: Command) -> String {
    let name = program.get_name().to_string();
    program.set_bin_name(name);
    program.build();
    let mut text = Vec::new();
    shell.generate(&program, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
