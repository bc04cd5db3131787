//! `action.yml` and `docs/ci-workflow.yml`: the lines that they run, run here, and the names that they share.

use super::process::{Place, Ran, program};
use super::{POISSON, small_scenario};
use orrery_results::RESULT_VERSION;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn file(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines below the first that begins so, without their indent.
fn below(text: &str, begin: &str) -> String {
    let mut lines = text.lines().skip_while(|l| !l.trim_start().starts_with(begin));
    let head = lines.next().unwrap_or_else(|| panic!("no `{begin}`"));
    let inner = lines.take_while(|l| l.is_empty() || indent(l) > indent(head));
    let inner: Vec<&str> = inner.collect();
    let depth = inner.iter().filter(|l| !l.is_empty()).map(|l| indent(l)).min().unwrap_or(0);
    inner.iter().map(|l| format!("{}\n", l.get(depth..).unwrap_or(""))).collect()
}

/// The script of a step of the action.
fn script(step: &str) -> String {
    let action = file("action.yml");
    let at = action.find(step).unwrap_or_else(|| panic!("no step `{step}`"));
    below(&action[at..], "run: |")
}

/// The keys of a mapping.
fn keys(text: &str) -> Vec<String> {
    let own = text.lines().filter(|l| indent(l) == 0 && !l.starts_with('#'));
    own.filter_map(|l| l.split_once(':')).map(|(key, _)| key.to_string()).collect()
}

/// A runner's folders, with the program where the action installs it.
fn runner() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let baseline = format!(
        "result_version = {RESULT_VERSION}\n[rerun]\nscenario = \"a.toml\"\npolicies = [\"fifo\"]\n\
         metrics = [\"finish_rate\", \"latency_p99_ns\"]\n"
    );
    place.write("b.toml", baseline);
    place.run(&["regress", "b.toml", "--bless"]).ok();
    for folder in ["program/bin", "reports", "action/src", "action/.git"] {
        std::fs::create_dir_all(place.path(folder)).expect("a folder");
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(program(), place.path("program/bin/orrery")).expect("a link");
    place
}

/// Runs a step as a runner does.
fn step(place: &Place, step: &str) -> Ran {
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(step)]);
    command.current_dir(place.path("."));
    for (name, value) in [
        ("ROOT", "program"),
        ("REPORTS", "reports"),
        ("RUNNER_TEMP", "."),
        ("GITHUB_ACTION_PATH", "action"),
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_STEP_SUMMARY", "summary"),
    ] {
        command.env(name, place.path(value));
    }
    command.env("BASELINES", "*b.toml").env("TOLERANCE", "0");
    Ran::of(&[step], command.output().expect("bash"))
}

#[cfg(unix)]
#[test]
fn the_action_compares_fails_when_a_value_moved_and_leaves_every_report() {
    let place = runner();
    step(&place, "Compare with the baselines").ok();
    assert!(place.read("summary").contains("all 6 values are the same"));
    place.write("a.toml", small_scenario(POISSON).replace("c1 = 0.4", "c1 = 0.41"));
    step(&place, "Compare with the baselines").failed_a_check();
    assert!(place.read("summary").contains("values moved"));
    assert!(place.read("reports/junit.xml").contains("classname=\"b\" time=\""));
    assert!(place.read("reports/report.html").starts_with("<!DOCTYPE html>"));
}

#[cfg(unix)]
#[test]
fn the_action_keeps_a_program_until_a_file_of_it_changes() {
    let place = runner();
    let key = || {
        step(&place, "id: place").ok();
        let output = place.read("output");
        output.lines().last().expect("a line").strip_prefix("files=").expect("a key").to_string()
    };
    place.write("action/src/paper.toml", "a");
    let first = key();
    assert_eq!(first.len(), 40);
    place.write("action/.git/index", "a");
    assert_eq!(key(), first);
    place.write("action/src/paper.toml", "b");
    assert_ne!(key(), first);
}

#[test]
fn the_workflow_gives_the_action_what_it_takes() {
    let (action, workflow) = (file("action.yml"), file("docs/ci-workflow.yml"));
    let inputs = keys(&below(&action, "inputs:"));
    let at = workflow.find("- uses: ./.orrery").expect("the action");
    let given = keys(&below(&workflow[at..], "with:"));
    assert!(!given.is_empty() && given.iter().all(|g| inputs.contains(g)), "{given:?}, {inputs:?}");
    assert!(workflow.contains("path: .orrery\n"));
    for input in &inputs {
        assert!(action.contains(&format!("${{{{ inputs.{input} }}}}")), "{input} is not used");
    }
    // What it installs is here.
    assert!(
        action.contains("--path \"$GITHUB_ACTION_PATH/experiments/cli\"")
            && root().join("experiments/cli/Cargo.toml").exists()
    );
}
