//! The kernels' PTX under CUDA's own compilers, by way of `regen.py`.

use libtest_mimic::{Completion, Failed};
use std::path::Path;
use std::process::{Command, Output};

/// What `regen.py` said, or what is missing here.
fn regen(argument: &str) -> Result<Output, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/regen.py");
    let done = Command::new("python3").arg(script).arg(argument).output();
    let done = done.map_err(|e| format!("python3 regen.py {argument}: {e}"))?;
    match done.status.code() {
        Some(3) => Err(String::from_utf8_lossy(&done.stderr).trim().to_string()),
        _ => Ok(done),
    }
}

/// With NVRTC the source gives the PTX that is in the repository.
pub fn recompiles() -> Result<Completion, Failed> {
    let done = match regen("--check") {
        Ok(done) => done,
        Err(missing) => return Ok(Completion::ignored_with(missing)),
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(Completion::Completed)
}

/// With ptxas the PTX becomes machine code of each generation, and no register is spilled.
pub fn assembles() -> Result<Completion, Failed> {
    let done = match regen("--assemble") {
        Ok(done) => done,
        Err(missing) => return Ok(Completion::ignored_with(missing)),
    };
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    for target in ["sm_70", "sm_80", "sm_90"] {
        let ok = format!("{target}: rc 0, 0 bytes spilled");
        assert!(text.lines().any(|line| line.starts_with(&ok)), "{text}");
    }
    Ok(Completion::Completed)
}
