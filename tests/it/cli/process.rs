//! Running the program: where it is, in which folder it runs, and what it left behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::{Builder, TempDir};

/// The program of the same profile as this test.
///
/// Cargo builds no program for the tests of another package, so it is asked to here; a program that
/// is up to date costs it a moment. `ORRERY_BIN` names one that is built already.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match std::env::var_os("ORRERY_BIN") {
        Some(path) => path.into(),
        None => build(),
    })
}

/// Builds `target/<profile>/orrery`, from the place of `target/<profile>/deps/<this test>`.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.ancestors().nth(2).expect("target/<profile>");
    let target = folder.parent().expect("target");
    let profile = folder.file_name().and_then(|p| p.to_str()).expect("a profile's name");
    let profile = if profile == "debug" { "dev" } else { profile };
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "orrery", "--bin", "orrery"])
        .args(["--profile", profile])
        .arg("--target-dir")
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .status()
        .expect("cargo can be started");
    assert!(status.success(), "the program cannot be built: {status}");
    folder.join(format!("orrery{}", std::env::consts::EXE_SUFFIX))
}

/// A folder of its own to run in, removed at the end.
pub struct Place(TempDir);

impl Place {
    /// An empty folder.
    pub fn new() -> Place {
        Place(TempDir::new().expect("a temporary folder"))
    }

    /// A folder in this one, which stays.
    pub fn kept_in(folder: &Path) -> Place {
        let place = Builder::new().prefix("world-").disable_cleanup(true).tempdir_in(folder);
        Place(place.unwrap_or_else(|e| panic!("{}: {e}", folder.display())))
    }

    /// A folder with one file.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Place {
        let place = Place::new();
        place.write(name, text);
        place
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).expect("a temporary file");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The names of its files.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a temporary folder");
        let name = |e: std::io::Result<std::fs::DirEntry>| {
            e.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// The program with these arguments, here, without what tests may have set around it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command.env_remove("ORRERY_WITHOUT_PAPER");
        command
    }

    /// Runs a command as a shell does, which finds the program; its exit code, stdout and stderr.
    pub fn shell(&self, command: &str) -> (Option<i32>, String, String) {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let own = program().parent().expect("a folder").to_path_buf();
        let paths = std::iter::once(own).chain(std::env::split_paths(&paths));
        let out = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.0.path())
            .env("PATH", std::env::join_paths(paths).expect("paths"))
            .env_remove("ORRERY_WITHOUT_PAPER")
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (out.status.code(), text(out.stdout), text(out.stderr))
    }

    /// Runs the program here.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(args, self.command(args).output().expect("the program can be started"))
    }
}

/// Runs the program in an empty folder.
pub fn run(args: &[&str]) -> Ran {
    Place::new().run(args)
}

/// What a run left behind.
pub struct Ran {
    args: String,
    /// Its exit code.
    pub code: Option<i32>,
    /// Its result.
    pub stdout: String,
    /// What it said.
    pub stderr: String,
}

impl Ran {
    /// From a finished process.
    pub fn of(args: &[&str], output: Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Ran {
            args: args.join(" "),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn ended_with(&self, code: i32) {
        let Ran { args, stderr, .. } = self;
        assert!(!stderr.contains("panicked"), "orrery {args}:\n{stderr}");
        assert_eq!(self.code, Some(code), "orrery {args}:\n{stderr}");
    }

    /// Whether it went well.
    pub fn is_ok(&self) -> bool {
        self.code == Some(0)
    }

    /// The result is there, but something after it went wrong: exit code 2, and stderr says what.
    pub fn answered_but(self, says: &[&str]) -> String {
        self.ended_with(2);
        let Ran { args, stderr, stdout, .. } = self;
        says.iter().for_each(|s| assert!(stderr.contains(s), "orrery {args}:\n{stderr}"));
        stdout
    }

    /// It went well: exit code 0, and nothing on stderr, whose progress is for terminals. The
    /// result.
    #[track_caller]
    pub fn ok(self) -> String {
        self.ended_with(0);
        assert_eq!(self.diagnostics(), "", "orrery {}", self.args);
        self.stdout
    }

    /// It went well, and stderr says this. The result.
    #[track_caller]
    pub fn ok_but(self, says: &[&str]) -> String {
        self.ended_with(0);
        let Ran { args, stderr, stdout, .. } = self;
        says.iter().for_each(|s| assert!(stderr.contains(s), "orrery {args}:\n{stderr}"));
        stdout
    }

    /// stderr without the lines of progress, which come on a slow machine only.
    fn diagnostics(&self) -> String {
        let is_progress = |l: &&str| l.ends_with(" s left");
        self.stderr.lines().filter(|l| !is_progress(l)).collect()
    }

    /// A check failed: exit code 1. The result.
    #[track_caller]
    pub fn failed_a_check(self) -> String {
        self.ended_with(1);
        assert_eq!(self.stderr, "", "orrery {}", self.args);
        self.stdout
    }

    /// A check failed before there was a result: exit code 1, and an error that says all of these.
    #[track_caller]
    pub fn failed_a_check_saying(self, says: &[&str]) {
        self.ended_with(1);
        self.said(says);
    }

    /// It was refused after it had said this line.
    #[track_caller]
    pub fn refused_after(mut self, line: &str, says: &[&str]) {
        let (first, rest) = self.stderr.split_once('\n').expect("two lines");
        assert_eq!(first, line, "orrery {}", self.args);
        self.stderr = rest.to_string();
        self.refused(says);
    }

    /// Ctrl-C stopped it: exit code 130, and no result. What it said.
    #[track_caller]
    pub fn interrupted(self) -> String {
        self.ended_with(130);
        assert_eq!(self.stdout, "", "orrery {}", self.args);
        self.stderr
    }

    /// Its result has left, and what comes after it was refused: exit code 2, and a message that says all
    /// of these.
    #[track_caller]
    pub fn refused_after_its_result(mut self, says: &[&str]) {
        self.ended_with(2);
        assert_ne!(self.stdout, "", "orrery {}: no result", self.args);
        self.stdout.clear();
        self.said(says);
    }

    /// It was refused, and its message begins in red.
    #[track_caller]
    pub fn refused_in_colours(self) {
        self.ended_with(2);
        let is_red = self.stderr.starts_with("\u{1b}[1m\u{1b}[31merror:");
        assert!(is_red, "orrery {}: {:?}", self.args, self.stderr);
    }

    /// It was refused: exit code 2, no result, no panic, and a message that says all of these.
    #[track_caller]
    pub fn refused(self, says: &[&str]) {
        self.ended_with(2);
        self.said(says);
    }

    #[track_caller]
    fn said(&self, says: &[&str]) {
        let Ran { args, stdout, stderr, .. } = self;
        assert_eq!(stdout, "", "orrery {args}: a result in spite of an error");
        assert!(stderr.starts_with("error: "), "orrery {args}:\n{stderr}");
        for what in says {
            assert!(stderr.contains(what), "orrery {args}: no `{what}` in:\n{stderr}");
        }
    }
}
