//! A program as the device: that it works, and that whatever it does wrong is said and ends it.
//!
//! A scene is played by this very program in another process. Its stdout is the harness's of tests, so a shell gives it
//! the pipe as file 3.
#![cfg(target_os = "linux")]

use super::campaign::campaigns;
use super::cli::replay;
use super::documents::root;
use nix::sys::signal::{Signal, kill};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

const MS: u64 = 1_000_000;

/// A worker that does as it should until its fifth batch, and then what its file `scene` says.
#[test]
#[ignore = "played by the other tests"]
fn scene() {
    let Ok(scene) = std::fs::read_to_string("scene") else { return };
    let note = |what: &str, pid: u32| {
        let mut pids = OpenOptions::new().create(true).append(true).open("pids").unwrap();
        writeln!(pids, "{what} {pid}").unwrap();
    };
    note("worker", std::process::id());
    let mut out = Some(OpenOptions::new().write(true).open("/dev/fd/3").unwrap());
    let mut batches = 0;
    for line in std::io::stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, what) = (question["id"].as_u64().unwrap(), question["do"].as_str().unwrap());
        let start = now_ns();
        let mut answer = json!({ "id": id });
        match what {
            "hello" => {
                answer = hello(&scene, id);
                if scene == "numbered" {
                    answer["name"] = json!(format!("scene {}", question["device"]));
                }
            }
            "prepare" if scene == "prepares" => {
                note("child", std::process::id());
                std::thread::sleep(Duration::from_secs(1000));
            }
            "prepare" if scene == "unprepared" => answer["error"] = json!("no such model"),
            "run" => {
                std::thread::sleep(Duration::from_millis(2));
                batches += 1;
                (answer["start_ns"], answer["end_ns"]) = (json!(start), json!(now_ns()));
                if scene == "half" {
                    answer["device_ns"] = json!((now_ns() - start) / 2);
                }
                if batches == 5 {
                    misbehave(&scene, &mut answer, &mut out, &note);
                }
            }
            "load" => (answer["start_ns"], answer["end_ns"]) = (json!(start), json!(now_ns())),
            _ => {}
        }
        if let Some(out) = &mut out {
            writeln!(out, "{answer}").unwrap();
        }
    }
    if scene == "stays" {
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        note("child", child.id());
        child.wait().unwrap();
    }
}

fn hello(scene: &str, id: u64) -> Value {
    match scene {
        "silent" => std::thread::sleep(Duration::from_secs(1000)),
        "unable" => {
            eprintln!("ModuleNotFoundError: No module named 'torch'");
            std::process::exit(3);
        }
        _ => {}
    }
    let version = if scene == "newer" { 2 } else { 1 };
    json!({ "id": id, "orrery_worker": version, "name": "scene", "facts": { "runtime": 1.5 }, "can_load": scene == "loads" })
}

fn misbehave(scene: &str, answer: &mut Value, out: &mut Option<File>, note: &dyn Fn(&str, u32)) {
    let id = answer["id"].as_u64().unwrap();
    let ns = |key: &str, answer: &Value| answer[key].as_u64().unwrap();
    let mut print = |text: &str| out.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    match scene {
        "dies" => {
            eprintln!("terminate called\n  what():  CUDA error: an illegal memory access");
            std::process::exit(7);
        }
        "aborts" => std::process::abort(),
        "closes" => {
            *out = None;
            nix::unistd::close(3).unwrap();
        }
        "hangs" => {
            let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
            note("child", child.id());
            child.wait().unwrap();
        }
        "other" => answer["id"] = json!(id + 3),
        "twice" => print(&format!("{answer}\n")),
        "nameless" => *answer = json!({ "start_ns": 1, "end_ns": 2 }),
        "timeless" => *answer = json!({ "id": id }),
        "misspelt" => answer["device_us"] = json!(3),
        "backwards" => answer["start_ns"] = json!(ns("end_ns", answer) + 1),
        "early" => answer["start_ns"] = json!(ns("start_ns", answer) - 1_000 * MS),
        "late" => answer["end_ns"] = json!(ns("end_ns", answer) + 1_000 * MS),
        "other_clock" => answer["device_ns"] = json!(5_000 * MS),
        "prints" => print("Downloading weights: 100 %\n"),
        "endless" => print(&"x".repeat(2 << 20)),
        "instant" => answer["end_ns"] = answer["start_ns"].clone(),
        "instant_device" => answer["device_ns"] = json!(0),
        "verbose" => {
            let said = "\u{1b}[31mx\n".to_string() + &"x".repeat(5_000);
            *answer = json!({ "id": id, "error": said });
        }
        "fails" => *answer = json!({ "id": id, "error": "out of memory" }),
        _ => {}
    }
}

fn home(scene: &str, keys: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    let scenario = std::fs::read_to_string(campaigns().join("one-model.toml")).unwrap();
    let scenario = scenario.replace("duration_s = 20.0", "duration_s = 1.2");
    std::fs::write(at.join("s.toml"), scenario.replace("can_preempt = true", "")).unwrap();
    std::fs::write(at.join("scene"), scene).unwrap();
    let program = std::env::current_exe().unwrap();
    let line =
        r#"exec \"$0\" --exact harness::worker::scene --ignored --nocapture 3>&1 >/dev/null"#;
    let config = format!(
        "[worker]\ncommand = [\"sh\", \"-c\", \"{line}\", {program:?}]\n{keys}\n[[worker.models]]\nrun = \"m\"\nmax_batch = 64\n"
    );
    std::fs::write(at.join("w.toml"), config).unwrap();
    home
}

const RUN: &[&str] = &["run", "s.toml", "--policy", "fifo", "--out", "r", "--quiet"];

fn run(at: &Path, args: &[&str]) -> Output {
    replay(at, &[args, &["--device", "worker:0", "--device-config", "w.toml"]].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Nothing that a scene started still runs.
fn nobody_is_left(at: &Path, scene: &str, exactly: usize) {
    let pids = std::fs::read_to_string(at.join("pids")).unwrap_or_default();
    assert_eq!(pids.lines().count(), exactly, "{scene}: {pids}");
    for line in pids.lines() {
        let pid = line.split(' ').nth(1).unwrap();
        let is_left = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.split(") ").nth(1).is_some_and(|rest| !rest.starts_with('Z'))
        };
        let until = Instant::now() + Duration::from_secs(5);
        while is_left() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!is_left(), "{scene}: {line} is left");
    }
}

#[test]
fn a_worker_runs_batches_and_its_record_has_what_it_says() {
    let home = home("well", "log = \"worker.log\"");
    let at = home.path();
    let output = run(at, RUN);
    let said = text(&output.stdout) + &text(&output.stderr);
    // A busy machine may be too late for a valid run.
    assert!(output.status.code().is_some_and(|c| c < 2), "{said}");
    assert!(!said.contains("worker:0: "), "{said}");
    assert!(said.contains("the simulator takes the same"), "{said}");
    let record = std::fs::read_to_string(at.join("r/run.json")).unwrap();
    for words in [
        "\"device\": \"worker:0\"",
        "\"name\": \"scene\"",
        "\"runtime\",\n          \"1.5\"",
        "pipes",
    ] {
        assert!(record.contains(words), "no {words} in {record}");
    }
    let mut actions = csv::Reader::from_path(at.join("r/actions.csv")).unwrap();
    let headers = actions.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|h| h == name).unwrap();
    let (began, start, end) = (column("began_ns"), column("start_ns"), column("end_ns"));
    let mut rows = 0;
    for row in actions.records() {
        let row = row.unwrap();
        let ns = |i: usize| row[i].parse::<u64>().unwrap();
        // It sleeps for 2 ms, after it was asked.
        assert!(ns(began) < ns(start) && ns(end) - ns(start) >= 2 * MS, "{row:?}");
        rows += 1;
    }
    assert!(rows > 20, "{rows}");
    assert!(at.join("worker.log").is_file());
    // One process answers for the check before the run, and in it.
    nobody_is_left(at, "well", 1);
}

#[test]
fn what_is_wrong_before_a_run_refuses_it() {
    let refused = |scene: &str, keys: &str, change: [&str; 2], words: &[&str]| {
        let home = home(scene, keys);
        let at = home.path();
        let config = std::fs::read_to_string(at.join("w.toml")).unwrap();
        std::fs::write(at.join("w.toml"), config.replace(change[0], change[1])).unwrap();
        let output = run(at, RUN);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{scene}: {said}");
        assert!(!at.join("r").exists(), "{scene}");
        for word in words {
            assert!(said.contains(word), "{scene}: no {word:?} in {said}");
        }
        let starts = ["newer", "silent", "unable", "unprepared"].contains(&scene);
        nobody_is_left(at, scene, usize::from(starts));
    };
    let none = ["\"sh\"", "\"nonesuch\""];
    refused(
        "none",
        "",
        none,
        &["worker:0: starting `nonesuch", "No such file", "correct `command`"],
    );
    let by_path = ["\"sh\"", "\"./nonesuch\""];
    refused("none", "", by_path, &["No such file", "in the folder of its file"]);
    let same = ["", ""];
    refused("newer", "", same, &["saying hello", "version 2 of the protocol, and this is 1"]);
    refused("silent", "hello_s = 0.3", same, &["no answer after 0.3 s (`hello_s`)", "killed"]);
    let words =
        ["ended with code 3", "its last words: ModuleNotFoundError: No module named 'torch'"];
    refused("unable", "", same, &words);
    refused("unprepared", "", same, &["preparing its models: no such model"]);
    refused("well", "", ["max_batch = 64", "max_batch = 0"], &["max_batch` is 0; it can be 1 to"]);
    refused("well", "hello_s = -1.0", same, &["`hello_s` is -1"]);
    refused("well", "", ["[[worker.models]]", "[[worker.model]]"], &["w.toml", "model"]);
    let lengths = ["max_batch = 64", "max_batch = 64\nlengths = [[16, 1.0], [16, 2.0]]"];
    refused("well", "", lengths, &["`models[0].lengths` has [16, 2]", "must grow"]);
    let short = ["max_batch = 64", "max_batch = 64\nlengths = [[16, 1000.0]]"];
    refused("well", "", short, &["worker.models[0].lengths", "up to 1000 us", "extend `lengths`"]);
}

/// Each ends the run, which is INVALID and keeps the four batches that were right.
#[test]
fn what_goes_wrong_in_a_run_is_said_and_what_was_measured_is_kept() {
    let scenes: [(&str, &[&str]); 20] = [
        ("dies", &["it ended with code 7; its last words: terminate called | what():  CUDA error"]),
        ("aborts", &["it was killed by SIGABRT"]),
        ("closes", &["it closed its stdin or stdout"]),
        ("hangs", &["no answer after 1.5 s (`patience_s`)", "it was killed"]),
        ("other", &["it answered question", "was asked; answer each question once, in order"]),
        ("twice", &["it answered question", "again;"]),
        ("nameless", &["has no `id`"]),
        ("timeless", &["missing field `start_ns`", "answer with `id`, `start_ns`"]),
        ("misspelt", &["unknown field `device_us`"]),
        ("backwards", &["it ended 1 ns before it started", "CLOCK_MONOTONIC"]),
        ("early", &["ns before it was asked", "CLOCK_MONOTONIC"]),
        ("late", &["ns after its answer came", "CLOCK_MONOTONIC"]),
        ("other_clock", &["`device_ns` and `away_ns` are 5000000000 ns of"]),
        ("prints", &["it printed `Downloading weights: 100 %` to stdout, which is for answers"]),
        ("endless", &["a line of more than 1048576 bytes"]),
        ("instant", &["the batch took 0 ns"]),
        ("instant_device", &["the batch took 0 ns"]),
        ("verbose", &["\\u{1b}[31mx\\nxx", "x...; it is what the worker itself says"]),
        ("fails", &["out of memory; it is what the worker itself says"]),
        ("stays", &[]),
    ];
    std::thread::scope(|threads| {
        for (scene, words) in scenes {
            threads.spawn(move || {
                let home = home(scene, "patience_s = 1.5");
                let at = home.path();
                let output = run(at, RUN);
                let said = text(&output.stdout) + &text(&output.stderr);
                assert!(at.join("r/run.json").is_file(), "{scene}: {said}");
                for word in words {
                    assert!(said.contains("INVALID: worker:0: running a batch (action"), "{said}");
                    assert_eq!(output.status.code(), Some(1), "{scene}: {said}");
                    assert!(said.contains(word), "{scene}: no {word:?} in {said}");
                }
                let compared = replay(at, &["compare", "r/predicted.log", "r"]);
                let (told, code) = (text(&compared.stdout), compared.status.code());
                let cut = told.contains("INVALID: the run was cut off: worker:0");
                let is_cut = !words.is_empty();
                assert_eq!(cut, is_cut, "{scene}: {told}");
                // A busy machine may be too late for a run to be valid.
                assert!(code == Some(1) || (code == Some(0) && !is_cut), "{scene}: {told}");
                let actions = std::fs::read_to_string(at.join("r/actions.csv")).unwrap();
                // A second answer is seen with the question after it.
                let kept = if scene == "twice" { 6 } else { 5 };
                let kept_all = words.is_empty() && actions.lines().count() > 20;
                assert!(kept_all || actions.lines().count() == kept, "{scene}: {actions}");
                nobody_is_left(at, scene, if scene == "stays" || scene == "hangs" { 2 } else { 1 });
            });
        }
    });
}

#[test]
fn a_signal_ends_a_worker_with_its_run_and_with_its_profile() {
    let profile = &["profile", "s.toml", "--out", "p.toml"][..];
    for (scene, args, code) in [("hangs", RUN, 1), ("hangs", profile, 130), ("prepares", RUN, 2)] {
        let batches = code == 1;
        let home = home(scene, "");
        let at = home.path();
        let mut child = Command::new(env!("CARGO_BIN_EXE_orrery-replay"))
            .args(args)
            .args(["--device", "worker:0", "--device-config", "w.toml"])
            .current_dir(at)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let hangs = || std::fs::read_to_string(at.join("pids")).is_ok_and(|p| p.contains("child"));
        while !hangs() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(said.contains("stopped by a signal"), batches, "{said}");
        assert_eq!(at.join("r/run.json").is_file(), batches);
        nobody_is_left(at, scene, 2);
    }
}

/// A worker that takes a part of what it is given would be measured as if it had taken all.
#[test]
fn a_batch_larger_than_the_model_takes_is_never_asked_for() {
    let home = home("well", "");
    let config = std::fs::read_to_string(home.path().join("w.toml")).unwrap();
    let smaller = config.replace("max_batch = 64", "max_batch = 3");
    std::fs::write(home.path().join("w.toml"), smaller).unwrap();
    let output = run(home.path(), &["profile", "s.toml", "--out", "p.toml", "--sizes", "4"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("running a batch") && said.contains("a batch of 4; `max_batch` is 3"));
    nobody_is_left(home.path(), "well", 1);
}

#[test]
fn models_are_loaded_by_a_process_that_says_that_it_can() {
    let loads = |scene: &str| {
        let home = home(scene, "");
        let path = home.path().join("s.toml");
        let scenario = std::fs::read_to_string(&path).unwrap();
        let scenario = scenario.replace("slo_ms = 100.0", "slo_ms = 100.0\nload_ms = 3.0");
        std::fs::write(&path, scenario).unwrap();
        home
    };
    let home = loads("well");
    let output = run(home.path(), RUN);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it says that it cannot load models, and the scenario has `load_ms`"));
    let home = loads("loads");
    let output = run(home.path(), &[&["profile", "s.toml", "--out", "p.toml"], QUICK].concat());
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("(7 loads)"), "{said}");
    assert!(said.contains("question and answer through pipes: median"), "{said}");
    nobody_is_left(home.path(), "loads", 2);
}

const QUICK: &[&str] =
    &["--sizes", "1,2", "--rounds", "3", "--noise-batches", "0", "--stall-s", "0"];

/// What is in neither `device_ns` nor `away_ns` would be in no prediction.
#[test]
fn a_worker_that_counts_half_of_its_batches_gets_no_profile_that_is_fit() {
    let home = home("half", "");
    let profile = ["profile", "s.toml", "--out", "p.toml"];
    let output = run(home.path(), &[&profile[..], QUICK].concat());
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("longer from start to end than on the device"), "{said}");
}

/// Each device is held against the profile of its own kind.
#[test]
fn two_kinds_of_worker_have_a_profile_each() {
    let home = home("numbered", "");
    let at = home.path();
    let scenario = std::fs::read_to_string(at.join("s.toml")).unwrap();
    let (device, rest) = scenario.split_once("[[device]]\n").unwrap();
    let kinds = |kinds: &str| std::fs::write(at.join("s.toml"), format!("{device}{kinds}{rest}"));
    for (number, kind) in ["a", "b"].into_iter().enumerate() {
        kinds(&format!("[[device]]\nkind = \"{kind}\"\n")).unwrap();
        let (worker, out) = (format!("worker:{number}"), format!("{kind}.toml"));
        let args = ["profile", "s.toml", "--device-config", "w.toml", "--device", &worker];
        let output = replay(at, &[&args[..], &["--out", &out], QUICK].concat());
        assert!(output.status.code().is_some_and(|c| c < 2), "{}", text(&output.stderr));
        let profile = std::fs::read_to_string(at.join(&out)).unwrap();
        let from = profile.find("verdict = [").unwrap();
        let to = from + profile[from..].find("\n[").unwrap();
        // A busy machine may not be fit to predict with.
        let fit = profile.replace(&profile[from..to], "verdict = []\n");
        std::fs::write(at.join(&out), fit).unwrap();
    }
    kinds("[[device]]\nkind = \"a\"\n[[device]]\nkind = \"b\"\n").unwrap();
    let output = run(at, &[RUN, &["--profile", "b.toml", "--profile", "a.toml"]].concat());
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.code().is_some_and(|c| c < 2), "{said}");
    let swapped = |kind: &str| std::fs::read_to_string(at.join(format!("{kind}.toml"))).unwrap();
    std::fs::write(at.join("b.toml"), swapped("b").replace("scene 1", "scene 0")).unwrap();
    let output =
        run(at, &[RUN, &["--force", "--profile", "b.toml", "--profile", "a.toml"]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("b.toml") && said.contains("worker:1, scene 1"), "{said}");
}

/// The page's worker, its file and its commands, shortened; on a machine that is busy no profile is fit.
#[test]
#[cfg_attr(not(has_python), ignore = "there was no python3 when the tests were compiled")]
fn the_worker_of_the_page_is_profiled_and_run() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    let page = std::fs::read_to_string(root().join("docs/worker.md")).unwrap();
    let block = |language: &str| {
        let begin = format!("```{language}\n");
        page.split(&begin).nth(1).unwrap().split("```").next().unwrap()
    };
    std::fs::write(at.join("sleeper.py"), block("py")).unwrap();
    std::fs::write(at.join("worker.toml"), block("toml")).unwrap();
    std::fs::create_dir_all(at.join("replay/campaigns")).unwrap();
    let scenario = std::fs::read_to_string(campaigns().join("one-gpu.toml")).unwrap();
    let short = scenario.replace("duration_s = 20.0", "duration_s = 2.0");
    std::fs::write(at.join("replay/campaigns/one-gpu.toml"), short).unwrap();
    let quick = "--sizes 1,2,8 --rounds 3 --noise-batches 0 --stall-s 0";
    for (command, more) in block("sh").lines().zip([quick, "--any-profile"]) {
        let words = command.split_whitespace().skip(1).chain(more.split(' ')).collect::<Vec<_>>();
        let output = replay(at, &words);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.code().is_some_and(|c| c < 2), "{said}");
        assert!(!said.contains("INVALID: worker"), "{said}");
        let words = if more == quick { "worker:0: sleeper" } else { "takes the same" };
        assert!(said.contains(words), "{said}");
    }
    let actions = std::fs::read_to_string(at.join("run/actions.csv")).unwrap();
    // A busy machine runs fewer.
    assert!(actions.lines().count() > 5, "{actions}");
    // The scenario's sizes end at 16, this worker's at 6.
    let small = block("toml").replace("max_batch = 16", "max_batch = 6");
    std::fs::write(at.join("worker.toml"), small).unwrap();
    let command = block("sh").lines().next().unwrap().replace("p.toml", "six.toml");
    let more = quick.trim_start_matches("--sizes 1,2,8 ").split(' ');
    let words = command.split_whitespace().skip(1).chain(more).collect::<Vec<_>>();
    let output = replay(at, &words);
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(said.contains("\n      6 ") && !said.contains("\n      8 "), "{said}");
}
