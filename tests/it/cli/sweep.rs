//! `orrery sweep` and `orrery sweep merge`: killed, damaged, split, on any number of threads: the same
//! bytes.

use super::process::{Place, Ran};
use super::{POISSON, small_scenario};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

pub(super) const SWEEP: &str = "scenario = \"a.toml\"\nseeds = 2\npolicies = [\"fifo\", \"nexus\"]\n\
    [[axis]]\nname = \"slo_ms\"\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 100.0, 200.0]\n\
    [[axis]]\nkey = \"arrivals.poisson.rate_per_s\"\nvalues = [50.0, 100.0]\n";

pub(super) fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("s.toml", SWEEP);
    place
}

/// Every file of a folder but those of killed runs, and what has no part in a result: the seconds that
/// cells took.
pub(super) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name == "work" {
            continue;
        }
        if path.is_dir() {
            out.extend(tree(&path).into_iter().map(|(k, v)| (format!("{name}/{k}"), v)));
        } else if !name.ends_with(".tmp") {
            out.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
    out
}

/// Keys that change nothing are looked for in each value of an axis; where there are too many, that is said.
#[test]
fn a_long_axis_says_that_keys_are_not_looked_for() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let sweep = |n: usize| {
        let values: Vec<f64> = (0..n).map(|i| 60.0 + i as f64).collect();
        let axis = format!("[[axis]]\nkey = \"model.bert.slo_ms\"\nvalues = {values:?}\n");
        place.write("s.toml", format!("scenario = \"a.toml\"\npolicies = [\"fifo\"]\n{axis}"));
        place.run(&["sweep", "s.toml", "--out", &format!("r{n}"), "--manifest"])
    };
    sweep(256).ok();
    sweep(257)
        .ok_but(&["keys that change nothing are not looked for: there are more than 256 values"]);
}

#[test]
fn shards_and_jobs_and_their_order_change_no_byte() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "one", "--jobs", "1"]).ok();
    let one = place.run(&["sweep", "merge", "one", "--format", "csv"]).ok();
    place.run(&["-q", "sweep", "s.toml", "--out", "two", "--jobs", "2"]).ok();
    for shard in ["3/3", "1/3", "2/3"] {
        place.run(&["-q", "sweep", "s.toml", "--out", "parts", "--shard", shard]).ok();
    }
    assert_eq!(place.run(&["sweep", "merge", "parts", "--format", "csv"]).ok(), one);
    let expected = tree(&place.path("one"));
    assert!(expected.keys().filter(|k| k.starts_with("cells/")).count() == 12, "{expected:?}");
    assert!(expected == tree(&place.path("two")));
    assert!(expected == tree(&place.path("parts")));
}

#[test]
fn a_sweep_that_is_killed_again_and_again_loses_nothing_and_ends_with_the_same_bytes() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "calm"]).ok();
    // Not random: spread over the run's first moments, so that kills fall before, in and between
    // writes.
    for i in 0..20u64 {
        let before = cells(&place);
        let said = std::fs::File::create(place.path("said.txt")).expect("a file");
        let mut child = place
            .command(&["-v", "sweep", "s.toml", "--out", "killed", "--jobs", "2"])
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .expect("a process");
        std::thread::sleep(Duration::from_millis(5 + 7 * i % 60));
        child.kill().expect("a process to kill");
        child.wait().expect("its end");
        let after = cells(&place);
        assert!(before.iter().all(|c| after.contains(c)), "a finished cell was lost");
        // A cell that began and is not there is run again: at most one for each worker.
        let begun = place.read("said.txt").matches(" begins: ").count();
        let kept = after.len() - before.len();
        assert!(kept <= begun && begun <= kept + 2, "{begun} begun, {kept} kept");
    }
    place.run(&["-q", "sweep", "s.toml", "--out", "killed"]).ok();
    assert!(tree(&place.path("calm")) == tree(&place.path("killed")));
}

/// Runs the sweep into `stopped` and presses Ctrl-C once it has finished a cell.
#[cfg(unix)]
fn stopped(place: &Place) -> Ran {
    let args = ["sweep", "s.toml", "--out", "stopped", "--jobs", "1"];
    let mut command = place.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    // It has installed its handler before it writes a cell.
    while cells_of(place, "stopped").is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = child.id().to_string();
    let kill = std::process::Command::new("kill").args(["-INT", &pid]).output();
    // It fails when the sweep has come to its end.
    kill.expect("the program `kill`");
    Ran::of(&args, child.wait_with_output().expect("its end"))
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_what_is_finished_and_the_same_command_ends_with_the_same_bytes() {
    let place = place();
    // A fast machine may finish before it is interrupted: then there is more to do.
    let mut seeds = 2;
    let said = loop {
        place.write("s.toml", SWEEP.replace("seeds = 2", &format!("seeds = {seeds}")));
        let ran = stopped(&place);
        if !ran.is_ok() {
            break ran.interrupted();
        }
        assert!(seeds < 1000, "the sweep was never interrupted");
        seeds *= 4;
        std::fs::remove_dir_all(place.path("stopped")).expect("a folder");
    };
    let expected = "stopping: cells that end within 1.5 s are kept; press Ctrl-C again to stop at once\n\
                    stopped; finished cells are kept in stopped: the same command continues\n";
    assert_eq!(said, expected);
    let kept = cells_of(&place, "stopped");
    assert!(!place.path("stopped/s.csv").exists(), "no results of half a sweep");
    let names = tree(&place.path("stopped"));
    assert_eq!(names.len(), kept.len() + 1, "the manifest and the cells: {:?}", names.keys());
    place.run(&["sweep", "merge", "stopped"]).failed_a_check_saying(&["cells missing", "remedy:"]);

    let output = place.command(&["sweep", "s.toml", "--out", "stopped"]).output();
    let said = String::from_utf8(output.expect("a process").stderr).expect("text");
    let (run, there) = (12 - kept.len(), kept.len());
    assert!(said.contains(&format!("{run} cells run, {there} were there")), "{said}");
    place.run(&["-q", "sweep", "s.toml", "--out", "calm"]).ok();
    assert!(tree(&place.path("calm")) == tree(&place.path("stopped")));
}

#[test]
#[cfg(unix)]
fn a_long_cell_is_given_up_soon_after_sigterm() {
    let place = place();
    // Minutes of a run, in one cell.
    let set = "set = { \"arrivals.requests\" = 2000000000 }\n[[axis]]";
    place.write("s.toml", SWEEP.replacen("[[axis]]", set, 1));
    let args = ["sweep", "s.toml", "--out", "stopped", "--jobs", "1"];
    let mut command = place.command(&args);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
    while !place.path("stopped/manifest.jsonl").exists()
        && child.try_wait().is_ok_and(|s| s.is_none())
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let began = std::time::Instant::now();
    let kill = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).output();
    kill.expect("the program `kill`");
    let said = Ran::of(&args, child.wait_with_output().expect("its end")).interrupted();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(said.contains("the running cells were given up"), "{said}");
}

/// The finished cells of the folder `killed`, with their bytes.
fn cells(place: &Place) -> Vec<(String, Vec<u8>)> {
    cells_of(place, "killed")
}

/// The finished cells of a folder.
fn cells_of(place: &Place, folder: &str) -> Vec<(String, Vec<u8>)> {
    if !place.path(folder).exists() {
        return Vec::new();
    }
    tree(&place.path(folder)).into_iter().filter(|(k, _)| k.ends_with(".cell")).collect()
}

#[test]
fn a_damaged_entry_is_reported_and_run_again() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    let whole = tree(&place.path("r"));
    let name = whole.keys().find(|k| k.starts_with("cells/")).expect("a cell").clone();
    let path = place.path("r").join(&name);
    let bytes = &whole[&name];
    for damage in
        [&bytes[..bytes.len() / 2], &b""[..], &[&bytes[..200], b"7", &bytes[201..]].concat()]
    {
        std::fs::write(&path, damage).expect("a file");
        place.run(&["sweep", "merge", "r"]).failed_a_check_saying(&["1 of 12 cells missing"]);
        let output = place.command(&["sweep", "s.toml", "--out", "r"]).output().expect("a process");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("damaged: ") && said.contains("1 cells run, 11 were there"),
            "{said}"
        );
        assert!(tree(&place.path("r")) == whole);
    }
}

#[test]
fn a_manifest_of_another_result_version_is_refused_with_what_to_do() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r", "--shard", "1/4"]).ok();
    let manifest = place.read("r/manifest.jsonl");
    let now = format!("\"result_version\":{}", orrery_results::RESULT_VERSION);
    assert!(manifest.contains(&now));
    let other = manifest.replacen(&now, "\"result_version\":99", 1);
    place.write("r/manifest.jsonl", other);
    let says = ["r/manifest.jsonl", "`result_version`", "found 99", "run the sweep again"];
    place.run(&["sweep", "merge", "r"]).refused(&says);
    place.write("r/manifest.jsonl", &manifest[..manifest.len() / 2]);
    place.run(&["sweep", "merge", "r"]).refused(&["r/manifest.jsonl", "remedy:"]);
}

/// Two labels exchanged: the numbers of one SLO under the name of another.
#[test]
fn a_manifest_that_was_edited_is_refused() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    let manifest = place.read("r/manifest.jsonl");
    let exchanged = manifest.replace("slo_ms=60", "slo_ms=?").replace("slo_ms=100", "slo_ms=60");
    place.write("r/manifest.jsonl", exchanged.replace("slo_ms=?", "slo_ms=100"));
    let says =
        ["r/manifest.jsonl", "key `manifest_sha256`", "changed after it was written", "remedy:"];
    place.run(&["sweep", "merge", "r"]).refused(&says);
    place.run(&["sweep", "s.toml", "--out", "r"]).refused(&says);
    place.write("r/manifest.jsonl", manifest.replace("\n", "\n "));
    place.run(&["sweep", "merge", "r"]).refused(&says);
    std::fs::remove_file(place.path("r/manifest.jsonl")).expect("a file");
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    assert_eq!(place.read("r/manifest.jsonl"), manifest);
}

#[test]
fn a_folder_with_another_manifest_is_refused_with_the_first_difference() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r", "--shard", "1/2"]).ok();
    let manifest = place.read("r/manifest.jsonl");
    let second = ["sweep", "s.toml", "--out", "r", "--shard", "2/2"];
    let says = [
        "r/manifest.jsonl",
        "another sweep: seeds: ",
        "count 2, in this sweep first 1, count 3",
        "remedy:",
    ];
    place.run(&[&second[..], &["--seeds", "3"]].concat()).refused(&says);
    for (from, to, says) in [
        ("200.0]", "200.0, 300.0]", "number of cells: 12, in this sweep 16"),
        ("[60.0", "[50.0", "combination of cell 1: slo_ms=60"),
        ("seeds = 2", "seeds = 2\nset = { \"warm_up_s\" = 0.5 }", "specification of cell 1"),
        (
            "seeds = 2",
            "seeds = 2\ncompare_to = \"nexus\"",
            "`compare_to`: fifo, in this sweep nexus",
        ),
        ("seeds = 2", "seeds = 2\nname = \"other\"", "name: s, in this sweep other"),
    ] {
        place.write("s.toml", SWEEP.replace(from, to));
        place.run(&second).refused(&["r/manifest.jsonl", "another sweep", says]);
        place.run(&["sweep", "s.toml", "--out", "r"]).refused(&["another sweep", says]);
    }
    place.write("s.toml", SWEEP);
    assert_eq!(place.read("r/manifest.jsonl"), manifest);
    place.run(&["-q", "sweep", "s.toml", "--out", "r", "--shard", "2/2"]).ok();
    place.run(&["sweep", "merge", "r"]).ok();
}

/// Equal cells are one file, written by several workers: as by two containers whose processes have
/// the same id.
#[test]
fn writers_with_the_same_process_id_do_not_meet() {
    let place = place();
    let points = (0..100).map(|i| format!("[[point]]\nname = \"{i}\"\n")).collect::<String>();
    let sweep = "scenario = \"a.toml\"\nseeds = 1\npolicies = [\"fifo\"]\n\
                 set = { \"arrivals.requests\" = 5 }\n";
    place.write("s.toml", format!("{sweep}{points}"));
    for out in ["one", "two", "three"] {
        place.run(&["-q", "sweep", "s.toml", "--out", out, "--jobs", "4"]).ok();
        let left = tree(&place.path(out)).into_keys().filter(|k| k.starts_with("cells/")).count();
        assert_eq!(left, 1);
    }
}

#[test]
fn a_merge_without_all_cells_fails_and_names_the_manifest() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r", "--shard", "1/3"]).ok();
    let says = ["r/manifest.jsonl", "8 of 12 cells missing: ", "sweep s, 12 cells", "count 2"];
    place.run(&["sweep", "merge", "r"]).failed_a_check_saying(&says);
    assert!(!place.path("r/s.csv").exists());
}

/// Of one that was killed; while somebody works in the folder they may be of a run that is alive.
#[test]
#[cfg(unix)]
fn what_a_killed_run_left_behind_is_removed_by_whoever_is_alone() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r", "--shard", "1/2"]).ok();
    let left = ["r/.manifest.jsonl.1.tmp", "r/work/.x.cell.1.tmp"];
    let there = || left.iter().filter(|l| place.path(l).exists()).count();
    for args in [&["-q", "sweep", "s.toml", "--out", "r"][..], &["sweep", "merge", "r"]] {
        left.iter().for_each(|l| place.write(l, "half"));
        let cells = std::fs::File::open(place.path("r/cells")).expect("a folder");
        let lock = std::process::Command::new("flock")
            .args(["--shared", "--nonblock", "0"])
            .stdin(cells.try_clone().expect("a file"))
            .status();
        assert!(lock.expect("the program `flock`").success());
        place.run(args).ok();
        assert_eq!(there(), 2, "somebody else was there");
        drop(cells);
        place.run(args).ok();
        assert_eq!(there(), 0);
    }
}

#[test]
fn seeds_are_added_until_the_interval_is_narrow_or_the_limit_is_hit() {
    let place = place();
    let run = |more: &[&str]| {
        let args = ["run", "a.toml", "--policy", "fifo", "--format", "csv"];
        place.run(&[&args[..], more].concat()).ok()
    };
    let narrow = run(&["--until-ci", "0.9"]);
    assert!(narrow.contains(",1-3,") && !narrow.contains("wide"), "{narrow}");
    let wide = run(&["--until-ci", "0.000001", "--max-seeds", "4"]);
    assert!(wide.contains(",1-4,") && wide.contains("wide"), "{wide}");
    let alone = ["run", "a.toml", "--max-seeds", "4"];
    place.run(&alone).refused(&["--max-seeds", "only with `--until-ci`", "remedy:"]);
    let table = ["reproduce", "orloj-table-3", "--max-seeds", "4"];
    place.run(&table).refused(&["--max-seeds", "only with `--until-ci`"]);
}

#[test]
fn cells_of_an_earlier_file_are_listed_and_removed() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    let cells = || tree(&place.path("r")).keys().filter(|k| k.ends_with(".cell")).count();
    assert_eq!(cells(), 12);
    let prune = ["sweep", "s.toml", "--out", "r", "--prune"];
    assert!(place.run(&prune).ok().starts_with("0 old cells removed"));
    place.write("s.toml", SWEEP.replace("60.0, 100.0, 200.0", "60.0, 100.0"));
    let told = place.run(&prune).ok();
    assert_eq!(told.lines().filter(|l| l.starts_with("removed ")).count(), 4, "{told}");
    assert_eq!(cells(), 8);
    // As a version before this one kept them: in no folder of their own.
    place.write("r/cells/0123.cell", "old");
    assert!(place.run(&prune).ok().starts_with("removed 0123\n1 old cells removed"));
    place.run(&["sweep", "s.toml", "--out", "none", "--prune"]).refused(&["--out", "`cells`"]);
}

/// A key that is set by hand is an axis of one value: every row has it.
#[test]
fn a_key_of_a_sweep_s_scenario_that_is_set_is_an_axis() {
    let place = place();
    let args = ["-q", "sweep", "s.toml", "--seeds", "1", "--format", "csv"];
    let csv = place.run(&[&args[..], &["--set", "warm_up_s=0.5"]].concat()).ok();
    assert!(csv.lines().skip(1).all(|line| line.contains("warm_up_s=0.5")), "{csv}");
    let twice = ["sweep", "s.toml", "--set", "model.bert.slo_ms=80"];
    place.run(&twice).refused(&["--set model.bert.slo_ms", "a key of an axis", "remedy"]);
}
