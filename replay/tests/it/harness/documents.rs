//! Every command of `orrery-replay` in README and `docs/`, run in virtual time. The other commands run in
//! `tests/it/cli/documents.rs`.

#[allow(dead_code)]
#[path = "../../../../tests/it/cli/documents/commands.rs"]
mod commands;

use super::cli::{copy, replay};
use commands::{documents, of_blocks};

pub use commands::root;
use orrery_replay::validate::Campaign;
use std::os::unix::fs::symlink;

/// How commands begin that need a GPU: they are refused here, after their campaign was read.
const NEED_A_GPU: &[&str] = &["orrery-replay validate replay/campaigns/gpu-"];

/// How commands begin to which a virtual clock is added: they would take as long as what they replay.
const IN_REAL_TIME: &[&str] = &["orrery-replay profile ", "orrery-replay run "];

/// How commands begin that take minutes on a quiet machine: only their campaign is read.
const TAKE_MINUTES: &[&str] = &["orrery-replay validate replay/campaigns/emulated.toml"];

/// What is in commands that the test of that document runs, with what it says beside them.
const RUN_THERE: &str = "--device worker:0";

/// How commands begin that end with 1, and why.
const FAILED_CHECKS: &[(&str, &str)] = &[(
    "orrery-replay validate replay/campaigns/without-pauses.toml",
    "its few long batches are beyond the targets, as the document says",
)];

#[test]
fn every_command_of_the_documents_runs() {
    let home = tempfile::tempdir().unwrap();
    symlink(root().join("scenarios"), home.path().join("scenarios")).unwrap();
    // A copy of what commands write to: through a link they would write to the kept results themselves.
    copy(&root().join("replay/validated"), &home.path().join("replay/validated"));
    for folder in ["campaigns", "workers"] {
        let within = std::path::Path::new("replay").join(folder);
        symlink(root().join(&within), home.path().join(&within)).unwrap();
    }
    let mut fits = Vec::new();
    for document in documents() {
        for command in of_blocks(&document) {
            if !command.text.starts_with("orrery-replay ") {
                continue;
            }
            let mut fit = |begins: &str| {
                let fit = command.text.starts_with(begins);
                fits.extend(fit.then(|| begins.to_string()));
                fit
            };
            if command.text.contains(RUN_THERE) {
                continue;
            }
            if TAKE_MINUTES.iter().any(|b| fit(b)) {
                let words: Vec<&str> = command.text.split_whitespace().collect();
                let campaign =
                    Campaign::load(&root().join(words[2]), None, words.contains(&"--quick"));
                assert!(campaign.is_ok(), "{document}:{}: {:?}", command.line, campaign.err());
                continue;
            }
            let needs_a_gpu = NEED_A_GPU.iter().any(|b| fit(b));
            let in_real_time = IN_REAL_TIME.iter().any(|b| fit(b));
            let fails = FAILED_CHECKS.iter().any(|(b, _)| fit(b));
            let mut args: Vec<&str> = command.text.split_whitespace().skip(1).collect();
            args.extend(in_real_time.then_some("--virtual-clock"));
            let output = replay(home.path(), &args);
            let said = String::from_utf8_lossy(&output.stderr);
            let code = if needs_a_gpu { 2 } else { i32::from(fails) };
            let at = format!("{document}:{}: {}\n{said}", command.line, command.text);
            assert_eq!(output.status.code(), Some(code), "{at}");
            assert_eq!(needs_a_gpu, said.contains("libcuda"), "{at}");
        }
    }
    let failed = FAILED_CHECKS.iter().map(|f| f.0);
    for begins in NEED_A_GPU.iter().chain(IN_REAL_TIME).chain(TAKE_MINUTES).copied().chain(failed) {
        assert!(fits.iter().any(|f| f == begins), "no document has a command `{begins}...`");
    }
}
