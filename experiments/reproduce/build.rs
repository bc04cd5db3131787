//! Lists what is shipped: `files/PAPER/ID.toml`, `files/PAPER/cite.bib`, `files/PAPER/absent.csv` and
//! `data/*.csv`.
//!
//! `orrery list` shows files by their key `order`, then by name. A file without an `id` is a base: others
//! extend it, and nobody runs it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    let (mut files, mut bases, mut cites, mut absent) = (vec![], vec![], vec![], vec![]);
    for paper in entries(&root.join("files"))? {
        cites.extend(Some(paper.join("cite.bib")).filter(|cite| cite.is_file()));
        absent.extend(Some(paper.join("absent.csv")).filter(|absent| absent.is_file()));
        for path in entries(&paper)?.into_iter().filter(|p| ends_in(p, "toml")) {
            let text = fs::read_to_string(&path)?;
            let order = top(&text, "order").and_then(|order| order.parse().ok());
            let file = (order.unwrap_or(u32::MAX), path);
            if top(&text, "id").is_some() { files.push(file) } else { bases.push(file) }
        }
    }
    files.sort();
    let mut out = String::new();
    for (name, list) in [("FILES", &files), ("BASES", &bases)] {
        let _ = writeln!(out, "const {name}: &[File] = &[");
        for (_, path) in list {
            let (paper, id) = (stem(path.parent().unwrap_or(path)), stem(path));
            let text = format!("include_str!({path:?})");
            let _ = writeln!(out, "File {{ paper: {paper:?}, id: {id:?}, text: {text} }},");
        }
        out.push_str("];\n");
    }
    for (name, list) in [("CITATIONS", &cites), ("ABSENT", &absent)] {
        let _ = writeln!(out, "const {name}: &[(&str, &str)] = &[");
        for path in list {
            let paper = stem(path.parent().unwrap_or(path));
            let _ = writeln!(out, "({paper:?}, include_str!({path:?})),");
        }
        out.push_str("];\n");
    }
    out.push_str("const NUMBERS: &[(&str, &str)] = &[\n");
    for path in entries(&root.join("data"))?.iter().filter(|p| ends_in(p, "csv")) {
        let _ = writeln!(out, "(\"{}.csv\", include_str!({path:?})),", stem(path));
    }
    out.push_str("];\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("shipped.rs"), out)
}

/// What is in a folder, by name; the build runs again when that changes.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let all = fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path()));
    let mut all = all.collect::<io::Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

fn ends_in(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|e| e == end)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is written at a key above the first table.
fn top<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().take_while(|line| !line.starts_with('['));
    let value = lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))?;
    value.split('#').next().map(str::trim)
}
