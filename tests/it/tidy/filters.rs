//! A command that runs some tests by name runs some. A filter that no test has passes for ever, and checks nothing.

use super::manifests::{folder, packages, sources, text};
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The names of the tests of a package, with their modules. Those made by a macro are not found.
fn tests_of(package: &Path) -> Vec<String> {
    let mut out = Vec::new();
    // The package `orrery-tests` is a folder of tests itself.
    for under in ["src", "tests", "it"] {
        let mut files = Vec::new();
        if package.join(under).is_dir() {
            sources(&package.join(under), &mut files);
        }
        for file in files {
            let inside = file.strip_prefix(package.join(under)).expect("below").with_extension("");
            let parts = inside.iter().filter_map(|part| part.to_str());
            let module: Vec<&str> =
                parts.filter(|part| !["it", "lib", "main", "mod"].contains(part)).collect();
            let text = std::fs::read_to_string(&file).expect("a source file");
            for (_, rest) in text.match_indices("#[test]").map(|(at, _)| text[at..].split_at(7)) {
                let name = rest.split("fn ").nth(1).and_then(|r| r.split('(').next());
                out.extend(name.map(|name| format!("{}::tests::{name}", module.join("::"))));
                out.extend(name.map(|name| format!("{}::{name}", module.join("::"))));
            }
        }
    }
    out
}

/// The packages and the filters of each `cargo test` in a text.
fn commands(text: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut out = Vec::new();
    for (at, found) in text.match_indices("cargo test ") {
        let rest = &text[at + found.len()..];
        let rest = rest.split(['\n', '#', '`', ';', '|', '>', '"', '(', '}']).next().unwrap_or("");
        let words: Vec<&str> = rest.split_whitespace().collect();
        let after = |flag: &str| {
            words.windows(2).filter(move |w| w[0] == flag).map(|w| w[1]).collect::<Vec<_>>()
        };
        let behind = words.iter().skip_while(|w| **w != "--").skip(1);
        let filters = behind.filter(|w| w.starts_with(|c: char| c.is_ascii_lowercase())).copied();
        out.push((after("-p"), filters.collect()));
    }
    out
}

/// Documents, scripts and sources.
fn texts() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut out = vec![root.join(".ci/run")];
    for folder in [".", "docs", "scripts"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder").flatten();
        let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
        out.extend(
            files.filter(|f| folder == "scripts" || f.extension().is_some_and(|e| e == "md")),
        );
    }
    for package in packages() {
        sources(&self::folder(&package), &mut out);
    }
    out
}

#[test]
fn every_command_that_runs_tests_by_name_runs_some() {
    let packages = packages();
    let names: Vec<(&str, Vec<String>)> =
        packages.iter().map(|p| (text(p, "name"), tests_of(&folder(p)))).collect();
    let (mut commands_seen, mut wrong) = (0, Vec::new());
    for path in texts().iter().filter(|path| !path.ends_with(file!())) {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        for (of, filters) in commands(&text) {
            for filter in filters {
                commands_seen += 1;
                let mut these = names.iter().filter(|(p, _)| of.is_empty() || of.contains(p));
                if !these.any(|(_, tests)| tests.iter().any(|test| test.contains(filter))) {
                    wrong.push(format!("{}: no test of {of:?} has {filter}", path.display()));
                }
            }
        }
    }
    assert!(commands_seen > 20, "commands are not found any more: {commands_seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
