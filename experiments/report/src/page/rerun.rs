//! Where a page is from: versions, hashes, and the command that makes its numbers again.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use orrery_results::{RESULT_VERSION, Row};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// The heading in `--help` of the options that change no number. What stands under it is not part of the command
/// that makes a page's numbers again.
pub const WITHOUT_EFFECT: &str = "Output and speed (these change no number)";

/// Hashes that are listed one by one.
const HASHES_MAX: usize = 8;

/// The command of this program, as [`again`] has it.
static COMMAND: OnceLock<String> = OnceLock::new();

/// The version of this program, with the commit that it is built from.
static VERSION: OnceLock<String> = OnceLock::new();

/// Keeps what the program was asked and which version it is, for its pages.
pub fn asked(program: &Command, matches: &ArgMatches) {
    let _ = COMMAND.set(again(program, matches));
    if let Some(version) = program.get_version() {
        let _ = VERSION.set(version.to_string());
    }
}

/// The version of a program that is built from this commit: `0.1.0 (commit 1a2b3c, results 5)`.
pub fn version_of(commit: &str) -> String {
    format!("{} (commit {commit}, results {RESULT_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// Keeps the version of a program that has no command line.
pub fn built_from(commit: &str) {
    let _ = VERSION.set(version_of(commit));
}

/// The version of this program: `0.1.0 (commit 1a2b3c, results 5)`; without the commit where no program was asked.
pub fn version() -> String {
    let without = || format!("{} (results {RESULT_VERSION})", env!("CARGO_PKG_VERSION"));
    VERSION.get().cloned().unwrap_or_else(without)
}

/// The command that this program was called with, without what changes no number.
pub fn command_line() -> String {
    COMMAND.get().cloned().unwrap_or_else(|| "orrery".to_string())
}

/// The command that was matched, without the options under [`WITHOUT_EFFECT`].
pub fn again(program: &Command, matches: &ArgMatches) -> String {
    let mut out = program.get_name().to_string();
    let (mut command, mut matches) = (program, matches);
    loop {
        let (mut options, mut words) = (String::new(), Vec::new());
        for arg in command.get_arguments().filter(|arg| is_kept(arg, matches)) {
            let values: Vec<&OsStr> =
                matches.get_raw(arg.get_id().as_str()).into_iter().flatten().collect();
            let values = values.into_iter().map(OsStr::to_string_lossy);
            match arg.get_long() {
                None => words.extend(values.map(|v| quoted(&v))),
                Some(name) if !arg.get_action().takes_values() => {
                    options.push_str(&format!(" --{name}"));
                }
                Some(name) => values.for_each(|v| {
                    let sign = if v.starts_with('-') { '=' } else { ' ' };
                    options.push_str(&format!(" --{name}{sign}{}", quoted(&v)));
                }),
            }
        }
        // A file may be named like an option.
        let is_dashed = words.iter().any(|word| word.starts_with('-'));
        let words: String = words.iter().map(|word| format!(" {word}")).collect();
        out.push_str(&match is_dashed {
            true => format!("{options} --{words}"),
            false => words + &options,
        });
        let Some((name, of_it)) = matches.subcommand() else { return out };
        let Some(found) = command.find_subcommand(name) else { return out };
        out.push_str(&format!(" {name}"));
        (command, matches) = (found, of_it);
    }
}

/// Whether an argument was given, and may change a number.
fn is_kept(arg: &Arg, matches: &ArgMatches) -> bool {
    let id = arg.get_id();
    arg.get_help_heading() != Some(WITHOUT_EFFECT)
        && matches.ids().any(|of| of == id)
        && matches.value_source(id.as_str()) == Some(ValueSource::CommandLine)
}

/// An argument as a shell takes it.
fn quoted(arg: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./:,%+@".contains(c);
    if !arg.is_empty() && arg.chars().all(is_plain) {
        return arg.to_string();
    }
    format!("'{}'", arg.replace('\'', "'\\''"))
}

/// Where rows are from.
pub fn provenance(rows: &[Row]) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut add = |what: &str, is: String| {
        if !is.is_empty() {
            out.push((what.to_string(), is));
        }
    };
    add("orrery", version());
    add("seeds", each(rows.iter().map(Row::seeds_in_words), "sets of seeds"));
    add("warm-up", each(rows.iter().map(|r| r.warm_up.clone()), "rules"));
    let methods = rows.iter().map(|r| r.ci_method.clone());
    add("95 % intervals by", each(methods, "methods"));
    add("specifications, SHA-256", each(rows.iter().map(|r| r.spec_sha256.clone()), "cells"));
    let inputs = rows.iter().flat_map(|r| r.inputs_sha256.split(';')).map(str::to_string);
    add("inputs, SHA-256", each(inputs, "files"));
    out
}

/// Distinct values, a line each.
fn each(values: impl Iterator<Item = String>, what: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut lines: Vec<String> =
        values.filter(|v| !v.is_empty() && seen.insert(v.clone())).collect();
    let more = lines.len().saturating_sub(HASHES_MAX);
    lines.truncate(HASHES_MAX);
    if more > 0 {
        lines.push(format!("and {more} more {what}; the table of results has all"));
    }
    lines.join("\n")
}
