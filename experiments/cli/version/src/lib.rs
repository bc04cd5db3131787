//! The git commit that a program is built from, as a macro.
//!
//! A macro and no build script: only what calls it is compiled again after a commit, and that is a `main.rs`
//! of a few lines. A build script's answer would compile the library beside it again, and every crate that
//! uses it.

use proc_macro::TokenStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The commit as a text: `1fa2c0d`, with `-dirty` behind it where tracked files had changes when the program
/// was built, or `unknown` outside a checkout of this repository (a package, a tarball).
///
/// Whoever calls it is compiled again when git's HEAD moves, or when anything is that it is linked with. So
/// the text is never older than the program.
#[proc_macro]
pub fn commit(_: TokenStream) -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let built = folder.and_then(|folder| Some((commit_of(&folder)?, watched(&folder))));
    let (commit, watched) = built.unwrap_or_else(|| ("unknown".to_string(), Vec::new()));
    // Files that are included are files that the compiler reports, and cargo compares their times.
    let watch = |path: &String| format!("::core::include_bytes!({path:?}),");
    let watch: String = watched.iter().map(watch).collect();
    let code = format!("{{ const _: &[&[u8]] = &[{watch}]; {commit:?} }}");
    code.parse().expect("a block of Rust")
}

/// Where the command line's manifest is in this repository.
const COMMAND_LINE: &str = "experiments/cli/Cargo.toml";

/// The commit of the repository that a package belongs to.
fn commit_of(package: &Path) -> Option<String> {
    // Another project may hold a copy of this one, or the home folder be a repository: there the package is
    // not tracked, or lies deeper than one folder, but for the place that the command line has in this one.
    let manifest = git(package, &["ls-files", "--full-name", "--error-unmatch", "Cargo.toml"])?;
    if manifest.matches('/').count() > 1 && manifest.trim() != COMMAND_LINE {
        return None;
    }
    let commit = git(package, &["rev-parse", "--short=7", "HEAD"])?;
    let changes = git(package, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// The files of which one is written when HEAD moves, in worktrees too.
fn watched(package: &Path) -> Vec<String> {
    let file = |name: &str| {
        let path = package.join(git(package, &["rev-parse", "--git-path", name])?);
        path.is_file().then(|| path.to_str().map(str::to_string))?
    };
    let branch = git(package, &["symbolic-ref", "--quiet", "HEAD"]).and_then(|b| file(&b));
    let moved = match branch {
        Some(branch) => vec![Some(branch)],
        // A detached HEAD, or a branch that is packed: the next commit gives it a file of its own.
        None => vec![file("packed-refs"), file("logs/HEAD")],
    };
    [file("HEAD")].into_iter().chain(moved).flatten().collect()
}

/// What git answers; none where it fails or is not installed.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // Within a hook these name the repository of the hook.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    // To look is not to write: no other git is kept waiting.
    command.arg("--no-optional-locks").args(args).current_dir(folder);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim_end().to_string())
}
