//! Lists the suites that are shipped: `suites/NAME/suite.toml` and the scenarios beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    let mut out = String::from("const SUITES: &[Files] = &[\n");
    for folder in entries(&root.join("suites"))? {
        let _ = writeln!(out, "Files {{ name: {:?}, files: &[", name(&folder));
        for path in entries(&folder)? {
            let _ = writeln!(out, "({:?}, include_str!({path:?})),", name(&path));
        }
        out.push_str("] },\n");
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

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
