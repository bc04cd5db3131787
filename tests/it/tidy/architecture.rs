//! What ARCHITECTURE.md and CONTRIBUTING.md say of the tree: every path is there, and every crate is on the map.

use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The paths between backticks, `{a,b}` written out, up to a name that stands for any (`PAPER`).
fn paths(text: &str) -> Vec<String> {
    let words = text.split('`').skip(1).step_by(2);
    let is_path = |w: &&str| (w.contains('/') || w.ends_with(".rs")) && !w.contains("::");
    let words = words.filter(is_path).filter(|w| !w.contains(char::is_whitespace));
    let known = |word: &str| -> String {
        let is_known = |part: &&str| part.contains('.') || part.chars().any(char::is_lowercase);
        word.split('/').take_while(is_known).collect::<Vec<_>>().join("/")
    };
    let each = |word: &str| match word.split_once('{').zip(word.split_once('}')) {
        Some(((before, rest), (_, after))) => {
            let names = rest.split('}').next().unwrap_or_default().split(',');
            names.map(|name| format!("{before}{name}{after}")).collect()
        }
        None => vec![known(word)],
    };
    words.flat_map(each).collect()
}

/// The places of a text's paths: from the root, from the crate of tests, or in or beside a path before.
fn places(page: &str, text: &str) -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut all = Vec::<PathBuf>::new();
    for path in paths(text) {
        let near =
            |p: &PathBuf| [p.parent().expect("a folder").to_path_buf(), p.join("src"), p.clone()];
        let near = all.iter().rev().flat_map(near);
        let mut folders = [root.to_path_buf(), root.join("tests")].into_iter().chain(near);
        let found = folders.find_map(|folder| Some(folder.join(&path)).filter(|p| p.exists()));
        all.push(found.unwrap_or_else(|| panic!("{page} names `{path}`: {text}")));
    }
    all
}

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(name)).expect("a page")
}

#[test]
fn what_the_architecture_names_is_there_and_every_crate_is_on_its_map() {
    let text = page("ARCHITECTURE.md");
    let is_row = |line: &&str| line.starts_with("| ");
    let parts = text.split("\n\n").filter(|part| !part.starts_with("| "));
    parts.for_each(|part| drop(places("ARCHITECTURE.md", part)));
    let mut map = Vec::new();
    for row in text.lines().filter(is_row) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        // An invariant has a number and, last, its test.
        let is_invariant = cells[0].trim().parse::<u32>().is_ok();
        let named = places("ARCHITECTURE.md", row);
        if !is_invariant {
            map.extend(named.into_iter().take(paths(cells[0]).len()));
        }
    }
    let manifest = std::fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    for member in manifest["workspace"]["members"].as_array().expect("members") {
        let member = Path::new(ROOT).join(member.as_str().expect("a path"));
        let is_on_map = map.iter().any(|place| member.starts_with(place));
        assert!(is_on_map, "add {} to the map of ARCHITECTURE.md", member.display());
    }
    assert!(map.len() > 30, "{}", map.len());
}

#[test]
fn what_a_contributor_is_sent_to_is_there() {
    let text = page("CONTRIBUTING.md");
    let found: usize = text.split("\n\n").map(|part| places("CONTRIBUTING.md", part).len()).sum();
    assert!(found > 20, "{found}");
}
