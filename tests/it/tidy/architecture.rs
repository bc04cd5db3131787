//! What ARCHITECTURE.md says of the tree: every path of its map and of its invariants is there, and every crate is on
//! the map.

use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The paths between backticks, `{a,b}` written out; words of the code are none.
fn paths(cell: &str) -> Vec<String> {
    let words = cell.split('`').skip(1).step_by(2);
    let words = words.filter(|w| (w.contains('/') || w.ends_with(".rs")) && !w.contains("::"));
    let each = |word: &str| match word.split_once('{').zip(word.split_once('}')) {
        Some(((before, rest), (_, after))) => {
            let names = rest.split('}').next().unwrap_or_default().split(',');
            names.map(|name| format!("{before}{name}{after}")).collect()
        }
        None => vec![word.to_string()],
    };
    words.flat_map(each).collect()
}

/// The places of a cell's paths: from the root, from the crate of tests, or beside the path before.
fn places(cell: &str) -> Vec<PathBuf> {
    let (mut all, mut beside) = (Vec::<PathBuf>::new(), PathBuf::new());
    for path in paths(cell) {
        let root = Path::new(ROOT);
        let places = [root.join(&path), root.join("tests").join(&path), beside.join(&path)];
        let found = places.into_iter().find(|place| place.exists());
        let found = found.unwrap_or_else(|| panic!("ARCHITECTURE.md names `{path}`: {cell}"));
        beside = found.parent().expect("a folder").to_path_buf();
        all.push(found);
    }
    all
}

#[test]
fn what_the_architecture_names_is_there_and_every_crate_is_on_its_map() {
    let text = std::fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).expect("a page");
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").collect::<Vec<_>>());
    let mut map = Vec::new();
    for cells in cells {
        // An invariant has a number and, last, its test.
        match cells[0].trim().parse::<u32>() {
            Ok(_) => drop(places(cells[cells.len() - 1])),
            Err(_) => map.extend(places(cells[0])),
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
