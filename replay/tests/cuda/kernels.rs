//! `orrery.cu` and its PTX belong together, and compile and assemble where the compilers are installed.

use orrery_replay::device::cuda::KERNELS;
use orrery_replay::device::cuda::plan::Kernel;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::process::{Command, Output};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn line(begins: &str) -> &'static str {
    let mut found = KERNELS.lines().filter_map(|line| line.strip_prefix(begins));
    let first = found.next().unwrap_or_else(|| panic!("no line begins with {begins:?}"));
    assert_eq!(found.next(), None, "one line begins with {begins:?}");
    first
}

#[test]
fn the_ptx_was_made_from_this_source() {
    let source = std::fs::read(folder().join("orrery.cu")).unwrap();
    let digest: String = Sha256::digest(source).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(line("// orrery.cu sha256 "), digest, "run replay/kernels/regen.py");
}

#[test]
fn the_ptx_is_for_old_drivers_and_devices_and_has_the_kernels_that_are_launched() {
    assert_eq!(line(".version "), "6.3");
    assert_eq!(line(".target "), "sm_70");
    let entries: Vec<&str> = KERNELS
        .lines()
        .filter_map(|line| line.strip_prefix(".visible .entry "))
        .map(|rest| rest.split('(').next().unwrap())
        .collect();
    assert_eq!(entries, Kernel::ALL.map(Kernel::name));
}

/// None where there is no Python, or no compiler (said on stderr).
fn regen(argument: &str) -> Option<Output> {
    let done = match Command::new("python3").arg(folder().join("regen.py")).arg(argument).output() {
        Ok(done) => done,
        Err(error) => {
            eprintln!("skipped: python3 regen.py {argument}: {error}");
            return None;
        }
    };
    if done.status.code() == Some(3) {
        eprintln!("skipped: {}", String::from_utf8_lossy(&done.stderr).trim());
        return None;
    }
    Some(done)
}

#[test]
fn the_source_recompiles_to_the_same_ptx_where_nvrtc_is_installed() {
    let Some(done) = regen("--check") else { return };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_ptx_assembles_without_spills_where_ptxas_is_installed() {
    let Some(done) = regen("--assemble") else { return };
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    for target in ["sm_70", "sm_80", "sm_90"] {
        let ok = format!("{target}: rc 0, 0 bytes spilled");
        assert!(text.lines().any(|line| line.starts_with(&ok)), "{text}");
    }
}
