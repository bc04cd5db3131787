//! The one package that is published says what it is, and needs no other of ours. Every package has in its folder
//! every file that it is built with. The profile of releases lowers nothing.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// The packages of the workspace, as cargo knows them.
pub(super) fn packages() -> Vec<Value> {
    let args = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo can be started");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

pub(super) fn folder(package: &Value) -> PathBuf {
    Path::new(text(package, "manifest_path")).parent().expect("a folder").to_path_buf()
}

/// What a registry would refuse, or a reader miss.
fn faults(package: &Value, unpublished: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for key in ["description", "license", "rust_version"] {
        if text(package, key).is_empty() {
            faults.push(format!("no {key}"));
        }
    }
    for (key, length_max) in [("keywords", 20), ("categories", usize::MAX)] {
        let words: Vec<&str> =
            package[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if words.is_empty() || words.len() > 5 || words.iter().any(|w| w.len() > length_max) {
            faults.push(format!("{key}: one to five, of at most 20 letters: {words:?}"));
        }
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let name = text(dependency, "name");
        // Cargo leaves those of tests out when they have no version.
        let is_needed = text(dependency, "kind") != "dev";
        if is_needed && text(dependency, "req") == "*" {
            faults.push(format!("{name} has no version"));
        }
        if is_needed && unpublished.contains(&name) {
            faults.push(format!("{name} is not published"));
        }
    }
    faults
}

/// A program that is published needs each of its crates published: fifteen more names to keep for ever. A library for
/// schedulers' authors needs one.
#[test]
fn the_simulator_alone_is_published_and_needs_published_packages_only() {
    let packages = packages();
    let (published, others): (Vec<&Value>, Vec<&Value>) =
        packages.iter().partition(|p| is_published(p));
    let names = |of: &[&'static str]| of.to_vec();
    assert_eq!(
        published.iter().map(|p| text(p, "name")).collect::<Vec<_>>(),
        names(&["orrery-sim"])
    );
    let unpublished: Vec<&str> = others.iter().map(|p| text(p, "name")).collect();
    let faults = faults(published[0], &unpublished);
    assert!(faults.is_empty(), "{}", faults.join("; "));
}

/// The files below a folder of sources.
pub(super) fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    files(folder, "rs", out);
}

/// The files with an extension below a folder.
pub(super) fn files(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

/// The paths that a source file includes; of one that is put together, what is sure.
fn included(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for name in ["include_str!(", "include_bytes!(", "include!("] {
        for (at, _) in text.match_indices(name) {
            let rest = text[at + name.len()..].trim_start();
            let rest = rest.strip_prefix("concat!(").unwrap_or(rest).trim_start();
            out.extend(rest.strip_prefix('"').and_then(|r| r.split('"').next()));
        }
    }
    out
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

/// The files that a package includes and that its archive would not have.
fn left_out(package: &Path) -> Vec<String> {
    let mut files = Vec::new();
    sources(&package.join("src"), &mut files);
    let mut out = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        for path in included(&text) {
            let found = plain(&file.parent().expect("a folder").join(path));
            // A folder with a manifest of its own is another package.
            let mut folders = found.ancestors().skip(usize::from(!path.ends_with('/')));
            let owner = folders.find(|f| f.join("Cargo.toml").exists());
            if owner != Some(package) || !found.exists() {
                out.push(format!("{} includes {path}", file.display()));
            }
        }
    }
    out
}

#[test]
fn every_package_has_the_files_that_it_is_built_with_in_its_folder() {
    let is_of_tests = |p: &&Value| text(p, "manifest_path").contains("/tests/");
    for package in packages().iter().filter(|p| !is_of_tests(p)) {
        let wrong = left_out(&folder(package));
        assert!(wrong.is_empty(), "outside their package:\n{}", wrong.join("\n"));
    }
}

#[test]
fn a_file_of_another_package_is_found() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    for name in ["a/Cargo.toml", "a/inner/Cargo.toml", "a/own.txt", "a/inner/its.txt", "b.txt"] {
        write(name, "");
    }
    write("a/src/lib.rs", "const A: &str = include_str!(\"../own.txt\");");
    assert_eq!(left_out(&home.path().join("a")), Vec::<String>::new());
    write(
        "a/src/deep/more.rs",
        "include_bytes!(\"../../../b.txt\") include_str!(concat!(\"../../inner/\", $name)) \
         include_str!(\"missing.txt\")",
    );
    assert_eq!(left_out(&home.path().join("a")).len(), 3);
}

#[test]
fn releases_optimise_every_package_that_quick_builds_do_not() {
    let manifest = include_str!("../../../Cargo.toml");
    let of = |profile: &str| -> Vec<(String, String)> {
        let begin = format!("[profile.{profile}.package.");
        let tables = manifest.split("\n[").map(|t| format!("[{t}"));
        let own = tables.filter_map(|t| {
            let (name, keys) = t.strip_prefix(&begin)?.split_once("]\n")?;
            Some((name.to_string(), keys.lines().next()?.to_string()))
        });
        own.collect()
    };
    let lowered = of("release").into_iter().filter(|(_, key)| key.starts_with("opt-level"));
    let raised = lowered.map(|(name, _)| (name, "opt-level = 3".to_string()));
    let raised: Vec<(String, String)> = raised.collect();
    assert!(raised.len() > 10);
    assert_eq!(of("dist"), raised, "[profile.dist.package] has what [profile.release.package] has");
}

/// The features of each package that is built.
fn features(of: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let args = ["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}|{f}"];
    let mut command = Command::new(env!("CARGO"));
    let output = command.args(args).args(of).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        // Between two trees is an empty line.
        let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else {
            continue;
        };
        let known = all.entry(package.to_string()).or_default();
        known.extend(features.split(',').map(str::to_string).filter(|feature| !feature.is_empty()));
    }
    all
}

/// Where a test asks for a feature more, all of ours above that package are built once more for the program.
#[test]
fn tests_and_program_are_built_from_the_same_crates() {
    let program = features(&["--package", "orrery", "--edges", "normal,build"]);
    let tests = features(&["--workspace", "--edges", "normal,build,dev"]);
    assert!(program.len() > 100, "{}", program.len());
    for (package, own) in &program {
        let asked = &tests[package];
        assert_eq!(own, asked, "{package}: `cargo tree -e features -i` shows who asks");
    }
}

/// The versions of each package in a lock file.
fn locked(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let lines: Vec<&str> = lock.lines().collect();
    for pair in lines.windows(2) {
        let value = |line: &'static str, at: usize| pair[at].strip_prefix(line)?.strip_suffix('"');
        if let (Some(name), Some(version)) = (value("name = \"", 0), value("version = \"", 1)) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions
}

/// Python's module gives the command line's bytes only if it is built from the same crates. After a change of
/// one lock file: `cargo update --manifest-path python/Cargo.toml -p NAME --precise VERSION`.
#[test]
fn the_python_package_is_built_from_the_versions_of_the_command_line() {
    let ours = locked(include_str!("../../../Cargo.lock"));
    let python = locked(include_str!("../../../python/Cargo.lock"));
    let both = || python.iter().filter_map(|(name, its)| Some((name, its, ours.get(name)?)));
    assert!(both().count() > 100);
    for (name, its, ours) in both() {
        assert!(!its.is_disjoint(ours), "{name}: python has {its:?}, the workspace {ours:?}");
    }
}
