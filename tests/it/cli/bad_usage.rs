//! Arguments that are wrong: exit code 2, no result, and a message that says what to do.

use super::process::{Place, run};
use super::small_table;
use super::{POISSON, small_scenario};

/// A key that is set is one of the world: the run is that of a file that says so, and each row says it.
#[test]
fn a_key_that_is_set_is_that_of_the_file_and_one_that_would_change_nothing_is_refused() {
    let text = std::fs::read_to_string("../scenarios/md1.toml").unwrap();
    let (before, after) = ("requests = 200_000", "requests = 2000");
    assert!(text.contains(before));
    let place = Place::with("md1.toml", text.replace(before, after));
    let csv = |args: &[&str]| {
        let all = [&["run", "md1.toml", "--format", "csv", "--policy", "fifo"], args].concat();
        place.run(&all).ok()
    };
    let own = csv(&[]);
    place.write("md1.toml", &text);
    let axes = "arrivals.requests=2000";
    let set = csv(&["--set", axes]);
    assert_eq!(set.replace(axes, ""), own);
    assert!(set.lines().skip(1).all(|line| line.contains(axes)), "{set}");
    for (key, says) in
        [("seed=9", "`--seed N`"), ("name=x", "rename the file"), ("policies=[]", "--policy")]
    {
        place.run(&["run", "md1.toml", "--set", key]).refused(&[says]);
    }
    let twice = ["run", "md1.toml", "--set", "warm_up_s=1", "--set", "warm_up_s=2"];
    place.run(&twice).refused(&["given twice"]);
    let slow = ["run", "md1.toml", "--policy", "kairos[rows=all]", "--set", axes];
    place.run(&slow).ok_but(&["slow: kairos[rows=all]: every query that waits"]);
    // A parameter is that of the policies which `--policy` names, and of no other.
    for command in ["run", "goodput"] {
        let set = |key: &str| {
            let given = ["--policy", "eager", "--set", key, "--format", "csv", "--seeds", "1"];
            place.run(&[&[command, "md1.toml"], &given[..]].concat())
        };
        let csv = set("policy.eager.max_batch=3").ok();
        assert!(csv.lines().skip(1).all(|line| line.contains("eager[max_batch=3]")), "{csv}");
        set("policy.fifo.max_batch=3").refused(&["policy.fifo", "eager"]);
    }
}

#[test]
fn a_folder_is_no_file() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder.toml")).expect("a folder");
    for args in [
        &["reproduce", "folder.toml"][..],
        &["run", "folder.toml"],
        &["log", "audit", "folder.toml"],
        &["trace", "inspect", "folder.toml"],
    ] {
        place.run(args).refused(&["folder.toml"]);
    }
}

#[test]
fn an_out_that_cannot_be_written_is_named() {
    let place = Place::with("small.toml", small_table(""));
    for out in ["small.toml", "small.toml/folder"] {
        let args = ["reproduce", "small.toml", "--seeds", "1", "--out", out];
        place.run(&args).refused(&["key `--out`", out, "a folder that can be written", "remedy:"]);
    }
    assert_eq!(place.files(), ["small.toml"], "nothing is left behind");
}

/// What a user wrote is never overwritten; what an earlier run wrote is.
#[test]
fn a_file_of_the_user_s_is_overwritten_with_force_only() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let log = ["-q", "run", "a.toml", "--policy", "fifo", "--log"];
    place.run(&[&log[..], &["a.log"]].concat()).ok();
    place.run(&[&log[..], &["a.log"]].concat()).ok();
    place.write("notes.txt", "mine");
    place.write("notes.html", "mine");
    std::fs::create_dir_all(place.path("own")).expect("a folder");
    place.write("own/small.txt", "mine");
    for args in [
        &["run", "a.toml", "--policy", "fifo", "--log", "notes.txt"][..],
        &["run", "a.toml", "--policy", "fifo", "--log", "a.toml"],
        &["log", "timeline", "a.log", "--out", "notes.txt"],
        &["reproduce", "orloj-table-3", "--plot", "notes.svg"],
        &["reproduce", "orloj-table-3", "--html", "notes.html"],
        &["regress", "a.toml", "--junit", "notes.txt"],
        &["run", "a.toml", "--policy", "fifo", "--out", "own"],
        &["regress", "a.toml", "--markdown", "notes.txt"],
    ] {
        place.write("notes.svg", "mine");
        place.run(args).refused(&["a file that orrery did not write", "--force"]);
        assert_eq!(place.read("notes.txt"), "mine");
    }
    place.run(&["--force", "log", "timeline", "a.log", "--out", "notes.txt"]).ok();
    assert!(place.read("notes.txt").starts_with('{'));
    let out = ["run", "a.toml", "--policy", "fifo", "--out", "own"];
    place.run(&[&["--force"], &out[..]].concat()).ok();
    place.run(&out).ok();
    place.write("own/small.csv", "mine");
    place.run(&out).refused(&["own/small.csv", "a file that orrery did not write", "--force"]);
}

/// A scenario without `[[device]]` has one of the default kind, and its count is what is looked for.
#[test]
fn a_search_for_devices_needs_no_device_in_the_file() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let args = ["-q", "goodput", "a.toml", "--find", "devices", "--policy", "fifo", "--seeds", "1"];
    let text = place.run(&args).ok();
    assert!(text.contains("devices"), "{text}");
}

/// Help is the first option, and what is asked of every command the last; colours are as asked, also of errors.
#[test]
fn help_is_first_and_colours_are_those_that_were_asked_for() {
    for command in ["run", "plan", "list"] {
        let help = run(&[command, "-h"]).ok();
        let options = help.split("\nOptions:\n").nth(1).expect("options").trim_start();
        assert!(options.starts_with("-h, --help"), "{help}");
        assert!(help.find("--wide") > help.find("(these change no number)"), "{help}");
    }
    let place = Place::with("a.toml", small_scenario(POISSON));
    let coloured = |color: &str| {
        let said = place.run(&["run", "a.toml", "--color", color]).ok();
        said.contains("\u{1b}[1m")
    };
    assert_eq!(["auto", "never", "always"].map(coloured), [false, false, true]);
    let wrong = ["run", "none.toml", "--color=always"];
    place.run(&wrong).refused_in_colours();
    place.run(&["run", "a.toml", "--seeds", "x", "--color", "always"]).refused_in_colours();
}
