//! Where a page is from: versions, hashes, and the command that makes its numbers again.

use orrery_results::{RESULT_VERSION, Row};
use std::collections::BTreeSet;

/// Options that change no number, with whether a value follows.
const WITHOUT_EFFECT: [(&str, bool); 14] = [
    ("--html", true),
    ("--out", true),
    ("--jobs", true),
    ("--plot", true),
    ("--format", true),
    ("--log", true),
    ("--markdown", true),
    ("--junit", true),
    ("--why", false),
    ("--details", false),
    ("--quiet", false),
    ("--verbose", false),
    ("-q", false),
    ("-v", false),
];

/// Hashes that are listed one by one.
const HASHES_MAX: usize = 8;

/// The command that this program was called with, without what changes no number.
pub fn command_line() -> String {
    let args = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned());
    again(args)
}

/// The command of these arguments.
pub(super) fn again(args: impl IntoIterator<Item = String>) -> String {
    let mut out = String::from("orrery");
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let (name, has_value) = match arg.split_once('=') {
            Some((name, _)) => (name, true),
            None => (arg.as_str(), false),
        };
        if let Some((_, takes)) = WITHOUT_EFFECT.iter().find(|w| w.0 == name) {
            if *takes && !has_value {
                args.next();
            }
            continue;
        }
        out.push(' ');
        out.push_str(&quoted(&arg));
    }
    out
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
    add("orrery", format!("{} (results version {RESULT_VERSION})", env!("CARGO_PKG_VERSION")));
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
