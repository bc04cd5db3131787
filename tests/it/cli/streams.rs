//! The two streams: who may listen, who may go away, and what is said on which.

use super::process::{Place, Ran, run};
use super::{POISSON, small_scenario};
use std::io::Read;
use std::process::{Output, Stdio};

/// A sweep with a damaged entry: it says most on stderr.
fn talkative() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let sweep = "scenario = \"a.toml\"\nseeds = 1\npolicies = [\"fifo\"]\n\
                 [[axis]]\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 200.0]\n";
    place.write("s.toml", sweep);
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    damage(&place);
    place
}

fn damage(place: &Place) {
    let first = |folder: &std::path::Path| {
        let mut entries = std::fs::read_dir(folder).expect("a folder");
        entries.next().expect("an entry").expect("an entry").path()
    };
    let cell = first(&first(&place.path("r/cells")));
    std::fs::write(cell, "damaged").expect("a file");
}

fn output(place: &Place, args: &[&str]) -> Output {
    place.command(args).output().expect("a process")
}

#[test]
fn completions_are_there_for_every_shell_and_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = run(&["self", "completions", shell]).ok();
        for word in ["orrery", "reproduce", "timeline", "explain", "until-ci", "completions"] {
            assert!(text.contains(word), "{shell}: no `{word}`");
        }
        assert_eq!(text, run(&["self", "completions", shell]).ok());
    }
    run(&["self", "completions", "ksh"]).refused(&["'ksh'", "bash", "fish", "zsh"]);
}

#[test]
fn the_version_names_the_commit_and_that_of_the_results() {
    let end = format!(", results {})\n", orrery_results::RESULT_VERSION);
    let begin = format!("orrery {} (commit ", env!("CARGO_PKG_VERSION"));
    for option in ["--version", "-V"] {
        let said = run(&[option]).ok();
        let commit = said.strip_prefix(&begin).and_then(|s| s.strip_suffix(&end));
        let commit = commit.unwrap_or_else(|| panic!("{said}"));
        let name = commit.strip_suffix("-dirty").unwrap_or(commit);
        let is_commit = name.len() >= 7 && name.chars().all(|c| c.is_ascii_hexdigit());
        assert!(is_commit || commit == "unknown", "{said}");
    }
}

#[test]
fn quiet_says_nothing_but_errors_and_verbose_says_more() {
    let place = talkative();
    let args = ["sweep", "s.toml", "--out", "r"];
    let quiet = output(&place, &[&["--quiet"], &args[..]].concat());
    assert_eq!(String::from_utf8_lossy(&quiet.stderr), "");
    damage(&place);
    let plain = output(&place, &args);
    let said = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert!(said.contains("damaged: ") && said.contains("1 cells run, 1 were there"), "{said}");
    damage(&place);
    let verbose = output(&place, &[&args[..], &["--verbose"]].concat());
    let said_more = String::from_utf8_lossy(&verbose.stderr).into_owned();
    assert!(
        said_more.contains("wrote r/s.csv\n") && said_more.contains("damaged: "),
        "{said_more}"
    );
    assert!(quiet.stdout == plain.stdout && quiet.stdout == verbose.stdout);
    assert!(!quiet.stdout.is_empty());
    place.run(&["--quiet", "run", "nowhere.toml"]).refused(&["nowhere.toml"]);
    place.run(&["--quiet", "--verbose", "list"]).refused(&["cannot be used with"]);
}

#[test]
fn colours_are_for_terminals() {
    let said = |variables: &[(&str, &str)]| {
        let place = Place::new();
        let mut command = place.command(&["reprodce"]);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color").envs(variables.iter().copied());
        let output = command.output().expect("a process");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("text").contains('\x1b')
    };
    assert!(!said(&[]), "no terminal");
    assert!(said(&[("CLICOLOR_FORCE", "1")]));
    assert!(!said(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    let place = talkative();
    let output = output(&place, &["sweep", "s.toml", "--out", "r"]);
    assert!(!output.stderr.is_empty());
    assert!(![output.stdout, output.stderr].concat().contains(&0x1b));
}

/// Runs a command whose reader takes so many bytes of stdout and goes away.
fn left_alone_after(place: &Place, args: &[&str], bytes: usize) -> Ran {
    let mut command = place.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut vec![0; bytes]).expect("so much of the result");
    drop(stdout);
    Ran::of(args, child.wait_with_output().expect("a process"))
}

#[test]
fn a_reader_that_goes_away_in_the_middle_is_no_error() {
    let place = Place::with("a.toml", small_scenario(&POISSON.replace("400", "4000")));
    place.run(&["run", "a.toml", "--policy", "fifo[max_batch=1]", "--log", "a.log"]).ok();
    // More than fits into a pipe, so that the program meets the closed one.
    let pipe = 1 << 17;
    for (args, bytes) in [
        (&["log", "timeline", "a.log"][..], 100),
        (&["log", "timeline", "a.log", "--format", "csv"], 100),
        (&["log", "timeline", "a.log"], 0),
        (&["log", "explain", "a.log", "--worst", "4000"], 1),
    ] {
        assert!(output(&place, args).stdout.len() > pipe, "{args:?}");
        left_alone_after(&place, args, bytes).ok();
    }
    for args in [&["list"][..], &["--help"], &["self", "completions", "bash"], &["trace", "list"]] {
        left_alone_after(&place, args, 1).ok();
    }
}

/// Not `/dev/null`, which is somewhere.
#[test]
#[cfg(target_os = "linux")]
fn a_stdout_that_is_closed_or_cannot_be_written_is_an_error() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let program = super::process::program();
    for args in [
        &["list"][..],
        &["run", "a.toml"],
        &["log", "timeline", "a.log"],
        &["self", "completions", "bash"],
        &["--help"],
        &["--version"],
    ] {
        for (to, says) in [(">&-", "it is closed"), ("1</dev/null", "for reading only")] {
            let mut command = std::process::Command::new("sh");
            let script = format!("exec \"$0\" \"$@\" {to}");
            command.arg("-c").arg(script).arg(program).args(args).current_dir(place.path(""));
            let output = command.output().expect("a shell");
            Ran::of(args, output).refused(&["error: stdout: ", says, "remedy:"]);
        }
    }
    assert_eq!(place.files(), ["a.toml"]);
    // Open for both, as some shells and programs have it.
    let null = std::fs::File::options().read(true).write(true).open("/dev/null").expect("a device");
    let status = place.command(&["list"]).stdout(null).status().expect("a process");
    assert_eq!(status.code(), Some(0));
}

#[test]
#[cfg(unix)]
fn nobody_on_stderr_is_no_error() {
    let place = talkative();
    let code = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = place.command(args);
        command.stdout(Stdio::null()).stderr(writer);
        command.status().expect("a process").code()
    };
    assert_eq!(code(&["sweep", "s.toml", "--out", "r", "-v"]), Some(0));
    assert_eq!(code(&["run", "nowhere.toml"]), Some(2));
    assert_eq!(code(&["regress", "nowhere.toml"]), Some(2));
    assert_eq!(code(&["reprodce"]), Some(2));
}
