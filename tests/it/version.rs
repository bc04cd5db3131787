//! The commit that `--version` names: what the macro in `experiments/version/` finds, and when it is asked again.
//!
//! A program of a few lines stands for ours: a package with a library in a repository of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder for checkouts, and one for what is built from them.
struct Place(TempDir);

/// What a build did: the targets that were compiled, such as `bin`.
type Compiled = Vec<String>;

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes the package into a folder.
    fn package(&self, folder: &str) -> PathBuf {
        let folder = self.path(folder);
        let version = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/cli/version");
        let manifest = format!(
            "[package]\nname = \"program\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\norrery-version = {{ path = {version:?} }}\n"
        );
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        for (name, text) in [
            ("Cargo.toml", manifest.as_str()),
            ("src/lib.rs", "pub fn main(commit: &str) {\n    println!(\"{commit}\");\n}\n"),
            ("src/main.rs", "fn main() {\n    program::main(orrery_version::commit!());\n}\n"),
        ] {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        folder
    }

    /// Runs git; what it prints.
    fn git(&self, folder: &Path, args: &[&str]) -> String {
        let mut command = git(folder);
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]).args(args);
        let output = command.output().expect("git");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_string()
    }

    /// Commits everything; the short name of the commit.
    fn commit(&self, folder: &Path) -> String {
        self.git(folder, &["add", "--all"]);
        self.git(folder, &["commit", "--quiet", "--allow-empty", "--message", "a change"]);
        self.git(folder, &["rev-parse", "--short=7", "HEAD"])
    }

    /// Builds the package and runs it: what was compiled for it, and what it says.
    fn built(&self, package: &Path) -> (Compiled, String) {
        let target = self.path("target");
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--offline", "--quiet", "--message-format", "json"]);
        command.arg("--target-dir").arg(&target).current_dir(package);
        let output = command.stderr(Stdio::inherit()).output().expect("cargo");
        assert!(output.status.success(), "it cannot be built");
        let text = String::from_utf8(output.stdout).expect("text");
        let messages = text.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
        let compiled = messages.filter(|m| m["fresh"] == false && m["target"]["name"] == "program");
        let kinds = compiled.map(|m| m["target"]["kind"][0].as_str().unwrap_or("").to_string());
        let kinds = kinds.collect();
        let said = Command::new(target.join("debug/program")).output().expect("the program");
        (kinds, String::from_utf8(said.stdout).expect("text").trim().to_string())
    }
}

/// git without what the user has set for it.
fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

fn bin() -> Compiled {
    vec!["bin".to_string()]
}

/// The same three checks for a checkout: as committed, after a change, after the next commit.
fn follows(place: &Place, package: &Path) {
    let commit = place.git(package, &["rev-parse", "--short=7", "HEAD"]);
    assert_eq!(place.built(package).1, commit);
    assert_eq!(place.built(package), (vec![], commit.clone()), "nothing changed");
    let mut main = std::fs::read_to_string(package.join("src/main.rs")).expect("a file");
    main.push_str("// A change.\n");
    std::fs::write(package.join("src/main.rs"), main).expect("a file");
    assert_eq!(place.built(package), (bin(), format!("{commit}-dirty")));
    // The library is not compiled again for it.
    let next = place.commit(package);
    assert_ne!(next, commit);
    assert_eq!(place.built(package), (bin(), next));
}

#[test]
#[cfg_attr(not(has_git), ignore = "no git was on the path when the tests were compiled")]
fn a_program_names_its_commit_and_follows_it_without_its_library_being_compiled_again() {
    let place = Place::new();
    let package = place.package("repository/program");
    let repository = place.path("repository");
    assert_eq!(place.built(&package).1, "unknown", "outside a repository");
    // Cargo cannot know that there is a repository now.
    place.git(&repository, &["init", "--quiet"]);
    let commit = place.commit(&repository);
    place.package("repository/program");
    assert_eq!(place.built(&package), (vec!["lib".to_string(), "bin".to_string()], commit));
    follows(&place, &package);
    place.git(&repository, &["pack-refs", "--all"]);
    follows(&place, &package);
    place.git(&repository, &["checkout", "--quiet", "--detach"]);
    follows(&place, &package);
    place.git(&repository, &["worktree", "add", "--quiet", "-b", "other", "../worktree"]);
    follows(&place, &place.path("worktree/program"));
    // The command line lies deeper than other packages.
    let deep = place.package("repository/experiments/cli");
    let commit = place.commit(&repository);
    assert_eq!(place.built(&deep).1, commit);
    // A copy within another project has no commit of its own.
    let copy = place.package("repository/vendor/program");
    place.commit(&repository);
    assert_eq!(place.built(&copy).1, "unknown");
}
