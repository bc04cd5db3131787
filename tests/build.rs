//! Looks for Chromium and git when the tests are compiled: a test that needs one is reported as ignored without it,
//! with the reason, and not as passed.

use std::env;

/// As distributions name it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_browser)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = env::split_paths(&path).collect();
    println!("cargo::rustc-check-cfg=cfg(has_git)");
    if folders.iter().any(|folder| folder.join("git").is_file()) {
        println!("cargo::rustc-cfg=has_git");
    }
    let mut all = NAMES.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    if let Some(program) = all.find(|program| program.is_file()) {
        println!("cargo::rerun-if-changed={}", program.display());
        println!("cargo::rustc-cfg=has_browser");
        println!("cargo::rustc-env=ORRERY_BROWSER={}", program.display());
    }
}
