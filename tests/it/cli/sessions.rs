//! Sessions: what commands of a shell print, kept as text in `sessions/`; `ORRERY_UPDATE=1` writes it anew.
//!
//! The head of a file has files (`=== NAME`). Below, each block between empty lines begins in a folder with these, and
//! with these alone: `NAME | old | new` changes one (`\n` ends a line; where nothing is old, a line is added), behind
//! `$` is a command, and behind `>` its stdout, its stderr and its exit code, where that is not 0. What is refused
//! leaves no file behind.

use super::process::Place;
use crate::golden::check;
use rayon::prelude::*;
use std::collections::BTreeMap;

type Files<'a> = BTreeMap<&'a str, String>;

/// The files of a head, and what is behind it.
fn head(text: &str) -> (Files<'_>, &str) {
    let mut files = Files::new();
    let (head, body) = text.split_at(text.find("\n## ").expect("a title") + 1);
    for file in head.split("=== ").skip(1) {
        let (name, text) = file.split_once('\n').expect("a name and a text");
        files.insert(name, format!("{}\n", text.trim_end()));
    }
    (files, body)
}

/// Changes a file as a line says.
fn change(place: &Place, line: &str) {
    let [name, old, new] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let [old, new] =
        [old, new].map(|part| part.strip_prefix(' ').unwrap_or(part).replace("\\n", "\n"));
    let (name, old) = (name.trim(), old.strip_suffix(' ').unwrap_or(&old));
    let text = if place.path(name).exists() { place.read(name) } else { String::new() };
    assert!(text.contains(old), "{line}: {text}");
    let changed =
        if old.is_empty() { format!("{text}{new}\n") } else { text.replacen(old, &new, 1) };
    place.write(name, changed);
}

/// A block with what its commands print now.
fn rerun(files: &Files<'_>, block: &str) -> String {
    let place = Place::new();
    for (name, text) in files {
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        place.write(name, text);
    }
    let mut out = String::new();
    for line in block.lines().filter(|line| !line.starts_with('>')) {
        out += &format!("{line}\n");
        if let Some(command) = line.strip_prefix("$ ") {
            let before = place.files();
            let (code, stdout, stderr) = place.shell(command);
            for line in stdout.lines().chain(stderr.lines()) {
                let line = line.replace(&place.path("").display().to_string(), "");
                out += format!("> {line}").trim_end();
                out.push('\n');
            }
            if code != Some(0) {
                out += &format!("> exit code {}\n", code.expect("no signal"));
                assert_eq!(place.files(), before, "{command}");
            }
        } else if !line.starts_with('#') {
            change(&place, line);
        }
    }
    out
}

#[test]
fn every_session_prints_what_it_did() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/it/cli/sessions");
    for file in std::fs::read_dir(folder).expect("a folder of sessions") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a session");
        let is_place = |word: &str| word.starts_with('/') && word != "/dev/null";
        assert!(!text.split_whitespace().any(is_place), "{path:?} names a path of this machine");
        let (files, body) = head(&text);
        let blocks: Vec<&str> = body.split("\n\n").collect();
        let blocks: Vec<String> = blocks.par_iter().map(|block| rerun(&files, block)).collect();
        let head = &text[..text.len() - body.len()];
        check(path.to_str().expect("a path"), &format!("{head}{}", blocks.join("\n")));
    }
}
