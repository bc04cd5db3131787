//! Arguments that are wrong: exit code 2, no result, and a message that says what to do.

use super::process::{Place, run};
use super::small_table;
use super::{POISSON, small_scenario};

#[test]
fn an_id_that_is_unknown_is_told_the_nearest_one() {
    run(&["reproduce", "orloj-tabel-3"]).refused(&[
        "orloj-tabel-3",
        "did you mean `orloj-table-3`?",
        "orrery list",
    ]);
    run(&["reproduce", "nothing-like-it"]).refused(&["nothing-like-it", " more", "list"]);
    // A beginning finds what goes on with it, and no list is longer than ten.
    run(&["reproduce", "kairos-fig-1x"]).refused(&["one of kairos-fig-1", " more"]);
}

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
fn a_base_that_is_no_table_is_no_id() {
    run(&["reproduce", "orloj"]).refused(&["found `orloj`;", "orloj-", "orrery list"]);
}

#[test]
fn a_case_that_is_unknown_is_told_what_cases_there_are() {
    for (table, case, allowed) in [
        ("orloj-table-2", "std-x", "std-A or std-A/B"),
        ("orloj-table-2", "std--1", "std-A or std-A/B"),
        ("orloj-table-3", "nine-modal", "seven, eight"),
        ("orloj-table-4", "vgg-imagenet", "inception-DATASET"),
        ("orloj-table-5", "gpt-imagenet", "gpt-cornell"),
    ] {
        let ran = run(&["reproduce", table, "--case", case]);
        ran.refused(&["key `case`", case, allowed, "remedy: correct the name of the case"]);
    }
}

#[test]
fn numbers_out_of_range_are_told_the_range() {
    let help = "try '--help'";
    for (option, value, says) in [
        ("--seeds", "0", "0 is not in 1..="),
        ("--seeds", "-1", "'-1'"),
        ("--seeds", "many", "invalid digit"),
        ("--seeds", "99999999999", "is not in"),
        ("--jobs", "0", "0 is not in 1..="),
        ("--jobs", "1.5", "invalid digit"),
        ("--jobs", "100000", "is not in"),
    ] {
        let argument = format!("{option}={value}");
        run(&["reproduce", "orloj-table-3", &argument]).refused(&[option, says, help]);
    }
}

#[test]
fn a_format_that_is_unknown_is_told_the_formats_there_are() {
    run(&["reproduce", "orloj-table-3", "--format", "xml"]).refused(&[
        "'xml'",
        "--format",
        "table, csv, wide, json",
    ]);
}

#[test]
fn a_command_that_is_unknown_is_told_the_nearest_one() {
    run(&["reprodce", "orloj-table-3"]).refused(&["'reprodce'", "'reproduce'", "--help"]);
    run(&["reproduce", "orloj-table-3", "--seed", "1"]).refused(&["'--seed'", "'--seeds'"]);
    run(&["reproduce"]).refused(&["<ID>", "--help"]);
}

#[test]
fn a_file_that_is_missing_is_named() {
    let missing = "No such file";
    run(&["reproduce", "nowhere.toml"]).refused(&[
        "nowhere.toml",
        missing,
        "remedy: give the path",
    ]);
    run(&["run", "nowhere.toml"]).refused(&["nowhere.toml", missing, "remedy: give the path"]);
    run(&["log", "audit", "nowhere.log"]).refused(&[
        "nowhere.log",
        missing,
        "remedy: give the path",
    ]);
    run(&["trace", "record", "nowhere.toml", "--out", "x.csv"]).refused(&["nowhere.toml", missing]);
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

#[test]
fn a_workload_is_recorded_into_a_file_of_its_kind() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let record = |out: &str| place.run(&["trace", "record", "a.toml", "--out", out]);
    record("w.xls").refused(&["--out", "w.xls", "ends in .csv"]);
    record("w.csv").ok();
    record("w.csv").ok();
}

/// A scenario without `[[device]]` has one of the default kind, and its count is what is looked for.
#[test]
fn a_search_for_devices_needs_no_device_in_the_file() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let args = ["-q", "goodput", "a.toml", "--find", "devices", "--policy", "fifo", "--seeds", "1"];
    let text = place.run(&args).ok();
    assert!(text.contains("devices"), "{text}");
}

/// The remedy is the nearest: of a share its fraction, of a path the folder that it is read from, of a file its own page.
#[test]
fn a_remedy_is_of_what_was_written() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let baseline = |scenario: &str, min: &str| {
        format!(
            "[rerun]\nscenario = \"{scenario}\"\n\n[[require]]\npolicy = \"fifo\"\nmetric = \"finish_rate\"\nmin = {min}\n"
        )
    };
    std::fs::create_dir(place.path("gates")).expect("a folder");
    place.write("gates/share.toml", baseline("../a.toml", "98"));
    let says = ["`finish_rate` is a share: for 98 % write `min = 0.98`"];
    place.run(&["regress", "gates/share.toml"]).refused(&says);
    place.write("gates/path.toml", baseline("a.toml", "0.98"));
    let says = ["rerun.scenario", "no file gates/a.toml", "from the folder of the baseline"];
    place.run(&["regress", "gates/path.toml"]).refused(&says);
    place.write("plan.toml", "pools = \"homogeneous\"\ngaol = \"carry-load\"\n");
    let says = ["gaol", "the keys of docs/plan.md", "remedy: correct the file\n"];
    place.run(&["plan", "plan.toml"]).refused(&says);
    place.write("own.csv", "case,system,value\na,orloj,0.5\n");
    let says = ["no column `table`", "one such as `table,case,system,value`"];
    place.run(&["reproduce", "orloj-table-3", "--paper", "own.csv"]).refused(&says);
    let python = ["run", "a.toml", "--policy", "mine.py:Mine"];
    place.run(&python).refused(&["a policy in Python", "`orrery.run`", "docs/python.md"]);
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
