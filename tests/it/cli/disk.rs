//! Disks that are full and places that cannot be written: exit code 2, the path, no panic, and
//! nothing half written.

use super::process::{Place, Ran};
use super::{POISSON, small_scenario, small_table};

const BASELINE: &str = "[rerun]\nscenario = \"a.toml\"\n\
                        policies = [\"fifo\"]\nmetrics = [\"finish_rate\"]\n";
const SWEEP: &str = "scenario = \"a.toml\"\nseeds = 2\npolicies = [\"fifo\"]\n\
    [[axis]]\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 200.0]\n";

/// A scenario, its log and tables, a baseline and a sweep.
fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("b.toml", BASELINE);
    place.write("s.toml", SWEEP);
    place.write("small.toml", small_table("").replace("= 300", "= 50"));
    let run = ["run", "a.toml", "--policy", "fifo", "--log", "a.log", "--details", "--out", "t"];
    place.run(&run).ok();
    place.run(&["regress", "b.toml", "--bless"]).ok();
    place
}

/// Every command that writes a file, with the option and the file's name.
const WRITERS: [(&[&str], &str); 9] = [
    (&["run", "a.toml", "--policy", "fifo", "--log"], "x.log"),
    (&["trace", "record", "a.toml", "--out"], "x.csv"),
    (&["log", "timeline", "a.log", "--out"], "x.json"),
    (&["log", "timeline", "a.log", "--format", "csv", "--out"], "x.csv"),
    (&["plot", "t/small.series.csv", "--out"], "x.svg"),
    (&["plot", "t/small.series.csv", "--out"], "x.png"),
    (&["reproduce", "small.toml", "--seeds", "1", "--plot"], "x.svg"),
    (&["regress", "b.toml", "--junit"], "x.xml"),
    (&["regress", "b.toml", "--markdown"], "x.md"),
];

/// Every command that writes into a folder.
const FOLDERS: [&[&str]; 5] = [
    &["run", "a.toml", "--policy", "fifo", "--out"],
    &["run", "a.toml", "--policy", "fifo", "--details", "--out"],
    &["reproduce", "small.toml", "--seeds", "1", "--out"],
    &["sweep", "s.toml", "--out"],
    &["self", "man", "--out"],
];

#[test]
fn a_place_that_cannot_be_written_is_named_with_a_remedy() {
    let place = place();
    let before = place.files();
    for (args, name) in WRITERS {
        let path = format!("a.toml/{name}");
        place.run(&[args, &[&path]].concat()).refused(&[&path, "remedy:"]);
    }
    for args in FOLDERS {
        place.run(&[args, &["a.toml"]].concat()).refused(&["--out", "a.toml", "remedy:"]);
    }
    assert_eq!(place.files(), before);
}

/// Runs a command that may write no more than so many blocks of 512 or 1024 bytes into a file. It is
/// what a full disk is like, but for the error's name.
#[cfg(unix)]
fn with_little_room(place: &Place, blocks: u32, args: &[&str]) -> Ran {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let program = super::process::program();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(script).arg(program).args(args).current_dir(place.path(""));
    Ran::of(args, command.output().expect("a shell"))
}

#[test]
#[cfg(unix)]
fn a_file_that_outgrows_the_disk_is_named_and_not_left_half_written() {
    let place = place();
    let text = place.read("b.toml");
    let before = place.files();
    for (args, name) in &WRITERS[..7] {
        let refused = with_little_room(&place, 1, &[args, &[*name][..]].concat());
        match args[0] {
            "reproduce" => refused.refused_after_its_result(&[name, "too large"]),
            _ => refused.refused(&[name, "too large"]),
        }
        assert_eq!(place.files(), before, "{args:?}");
    }
    for (args, name) in [(FOLDERS[0], "small.csv"), (FOLDERS[3], "manifest.jsonl")] {
        let ran = with_little_room(&place, 1, &[args, &["new"]].concat());
        ran.refused(&[&format!("new/{name}"), "too large", "remedy:"]);
        assert!(!place.path(&format!("new/{name}")).exists());
    }
    // A baseline that cannot be rewritten stays as it was.
    let longer = text.replace("[\"finish_rate\"]", &format!("[{}]", METRICS.join(", ")));
    place.write("b.toml", &longer);
    let ran = with_little_room(&place, 1, &["regress", "b.toml", "--bless"]);
    ran.refused(&["b.toml", "too large"]);
    assert_eq!(place.read("b.toml"), longer);
}

#[cfg(unix)]
const METRICS: [&str; 9] = [
    "\"requests\"",
    "\"finish_rate\"",
    "\"goodput_per_s\"",
    "\"latency_p50_ns\"",
    "\"latency_p90_ns\"",
    "\"latency_p99_ns\"",
    "\"latency_mean_ns\"",
    "\"utilisation\"",
    "\"mean_batch_size\"",
];

#[test]
#[cfg(unix)]
fn a_sweep_whose_disk_fills_up_keeps_what_is_finished_and_continues() {
    let place = place();
    place.write("s.toml", SWEEP.replace("60.0, 200.0", "60.0"));
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    let results = place.read("r/s.csv");
    // There is room for the plan, and none for a cell.
    place.write("s.toml", SWEEP);
    std::fs::remove_file(place.path("r/manifest.jsonl")).expect("the manifest");
    let sweep = ["sweep", "s.toml", "--out", "r"];
    with_little_room(&place, 6, &sweep)
        .refused_after("finished cells are kept in r", &[".cell: ", "too large", "remedy:"]);
    assert_eq!(place.read("r/s.csv"), results);
    let said = place.command(&sweep).output().expect("a process").stderr;
    let said = String::from_utf8(said).expect("text");
    assert!(said.contains("1 cells run, 1 were there"), "{said}");
    assert!(place.read("r/s.csv").starts_with(results.lines().next().expect("a header")));
}

/// Writing there goes as far as the device, and the device stays what it is.
#[test]
#[cfg(target_os = "linux")]
fn a_device_is_written_as_it_is_and_a_full_one_is_an_error() {
    let place = place();
    for (args, name) in WRITERS {
        // Links, so that a program that puts a file in the device's place does no harm.
        for device in ["full", "null"] {
            let link = place.path(name);
            std::os::unix::fs::symlink(format!("/dev/{device}"), &link).expect("a link");
            let ran = place.run(&[args, &[name]].concat());
            if device == "full" {
                match args[0] {
                    "reproduce" => ran.refused_after_its_result(&[name, "No space left"]),
                    _ => ran.refused(&[name, "No space left"]),
                }
            } else {
                ran.ok();
            }
            let kind = std::fs::symlink_metadata(&link).expect("the link").file_type();
            assert!(kind.is_symlink(), "orrery {args:?} replaced {device}");
            std::fs::remove_file(link).expect("the link");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_does_not_fit_on_stdout_is_an_error() {
    let place = place();
    for args in [
        &["list"][..],
        &["run", "a.toml", "--policy", "fifo"],
        &["log", "timeline", "a.log"],
        &["log", "timeline", "a.log", "--format", "csv"],
        &["log", "explain", "a.log", "--worst", "2"],
        &["self", "completions", "bash"],
    ] {
        let full = std::fs::File::create("/dev/full").expect("a device");
        let mut command = place.command(args);
        let output = command.stdout(full).output().expect("a process");
        Ran::of(args, output).refused(&["stdout", "No space left"]);
    }
}
