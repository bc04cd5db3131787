//! `orrery.cu` and its PTX belong together. That they compile and assemble is tested in `tests/gpu`,
//! where the compilers are installed.

use orrery_replay::device::cuda::KERNELS;
use orrery_replay::device::encoder::plan::Kernel;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

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
