//! `action.yml` and `docs/ci-workflow.yml`: the lines that they run, run here, and the names that they share.

#[cfg(target_os = "linux")]
use super::manual::{pack, stand_ins};
#[cfg(target_os = "linux")]
use super::process::{Place, Ran};
#[cfg(target_os = "linux")]
use super::regress::scenario;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
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

/// A runner's folders, with an archive of a release as `scripts/release` packs it.
#[cfg(target_os = "linux")]
fn runner() -> Place {
    let place = Place::with("a.toml", scenario());
    place.write(
        "b.toml",
        "[rerun]\nscenario = \"a.toml\"\npolicies = [\"fifo\"]\n\
         metrics = [\"finish_rate\", \"latency_p99_ns\"]\n",
    );
    place.run(&["regress", "b.toml", "--bless"]).ok();
    stand_ins(&place);
    let packed = pack(&place, "release");
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    place
}

/// The archive's name: what the workflow downloads, for another target.
#[cfg(target_os = "linux")]
fn archive() -> String {
    format!("release/orrery-{}-x86_64-unknown-linux-musl.tar.gz", env!("CARGO_PKG_VERSION"))
}

/// Runs a step as a runner does, with the outputs of the steps before it.
#[cfg(target_os = "linux")]
fn step(place: &Place, step: &str, env: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(step)]);
    command.current_dir(place.path("."));
    for (name, value) in
        [("RUNNER_TEMP", "."), ("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")]
    {
        command.env(name, place.path(value));
    }
    if place.path("output").exists() {
        for line in place.read("output").lines() {
            let (name, value) = line.split_once('=').expect("an output");
            command.env(name.to_uppercase(), value);
        }
    }
    command.env("BASELINES", "*b.toml").env("TOLERANCE", "0").envs(env.iter().copied());
    Ran::of(&[step], command.output().expect("bash"))
}

#[cfg(target_os = "linux")]
#[test]
fn the_action_compares_fails_when_a_value_moved_and_leaves_every_report() {
    let place = runner();
    let url = format!("file://{}", place.path(&archive()).display());
    let said = step(&place, "Install orrery", &[("INSTALL", &url), ("SHA256", "")]).ok();
    assert!(said.starts_with("orrery "), "{said}");
    let said = step(&place, "Compare with the baselines", &[]).ok();
    assert_eq!(said, "::notice title=orrery regress::Passed: all 6 values are the same.\n");
    assert!(place.read("summary").contains("Passed: all 6 values are the same"));
    place.write("a.toml", scenario().replace("c1 = 0.4", "c1 = 0.6"));
    let said = step(&place, "Compare with the baselines", &[]).failed_a_check();
    assert!(said.starts_with("::error file=b.toml,line="), "{said}");
    let reports = |name: &str| place.read(&format!("orrery-reports/{name}"));
    assert!(place.read("summary").contains("c1: 0.4 -&gt; 0.6"));
    assert!(reports("junit.xml").contains("classname=\"b\" time=\""));
    assert!(reports("report.html").starts_with("<!DOCTYPE html>"));
}

/// An archive that is another than its checksum says is not run.
#[cfg(target_os = "linux")]
#[test]
fn the_action_installs_a_path_too_and_nothing_with_another_checksum() {
    let place = runner();
    let archive = archive();
    let sum = place.read(&format!("{archive}.sha256"));
    let sum = sum.split(' ').next().expect("a sum");
    std::fs::remove_file(place.path(&format!("{archive}.sha256"))).expect("a file");
    step(&place, "Install orrery", &[("INSTALL", &archive), ("SHA256", sum)]).ok();
    for sum in [&"0".repeat(64), ""] {
        let ran = step(&place, "Install orrery", &[("INSTALL", &archive), ("SHA256", sum)]);
        assert!(!ran.is_ok(), "{sum}");
    }
}

#[test]
fn the_workflow_gives_the_action_what_it_takes() {
    let (action, workflow) = (file("action.yml"), file("docs/ci-workflow.yml"));
    let inputs = keys(&below(&action, "inputs:"));
    let at = workflow.find("- uses: OWNER/orrery@v").expect("the action");
    let given = keys(&below(&workflow[at..], "with:"));
    assert!(!given.is_empty() && given.iter().all(|g| inputs.contains(g)), "{given:?}, {inputs:?}");
    for input in &inputs {
        assert!(action.contains(&format!("${{{{ inputs.{input} }}}}")), "{input} is not used");
        let own = below(&action, &format!("{input}:"));
        assert!(own.contains("default:") || given.contains(input), "{input} is required");
    }
    // Nothing is built: what is installed is what `scripts/release` packs, of this version.
    assert!(!action.contains("cargo") && !workflow.contains("cargo"));
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("/v{version}/orrery-{version}-x86_64-unknown-linux-gnu.tar.gz\n");
    assert!(workflow.contains(&name) && workflow.contains(&format!("OWNER/orrery@v{version}\n")));
    assert!(file("scripts/release").contains("name=orrery-$version-$target"));
    assert!(file("scripts/release").contains("\"$name.tar.gz.sha256\""));
    assert_eq!(workflow.matches("OWNER/").count(), 2, "the comment says how many");
}
