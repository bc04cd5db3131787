//! Listed sweeps: `--manifest`, `orrery sweep cells`, `orrery sweep cell`, and shards that are killed.

use super::process::Place;
use super::sweep::{SWEEP, place, tree};
use super::{POISSON, small_scenario};
use serde_json::Value;
#[cfg(unix)]
use std::process::{Child, Stdio};
#[cfg(unix)]
use std::time::Duration;

/// The cells of the folder `r`, as listed.
fn listed(place: &Place) -> Vec<Value> {
    let lines = place.run(&["sweep", "cells", "r", "--format", "json"]).ok();
    lines.lines().map(|l| serde_json::from_str(l).expect("JSON lines")).collect()
}

fn in_state(cells: &[Value], state: &str) -> usize {
    cells.iter().filter(|c| c["state"] == state).count()
}

#[test]
fn a_manifest_is_listed_and_a_cell_runs_by_its_hash() {
    let place = place();
    let told = place.run(&["sweep", "s.toml", "--out", "r", "--manifest"]).ok();
    assert_eq!(told, "12 cells are listed in r/manifest.jsonl\n");
    let cells = listed(&place);
    assert_eq!((cells.len(), in_state(&cells, "absent")), (12, 12));
    assert_eq!(cells[1]["axes"], "slo_ms=60;rate_per_s=50");
    assert_eq!((&cells[1]["policy"], &cells[1]["estimated_s"]), (&"nexus".into(), &Value::Null));
    // Neither the sweep's file nor any other cell is needed.
    std::fs::remove_file(place.path("s.toml")).expect("the sweep's file");
    let hash = cells[1]["entry_sha256"].as_str().expect("a hash");
    let one = place.run(&["sweep", "cell", "r", &hash[..8]]).ok();
    let one: Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!((&one["state"], &one["entry_sha256"]), (&"done".into(), &hash.into()));
    place.run(&["sweep", "cell", "r", hash]).ok();
    let cells = listed(&place);
    assert_eq!((in_state(&cells, "done"), in_state(&cells, "absent")), (1, 11));
    assert!(cells[1]["used_s"].as_f64().expect("seconds") > 0.0);
    assert!(cells[0]["estimated_s"].as_f64().expect("at the rate of the one that ran") > 0.0);
    assert!(place.run(&["sweep", "cells", "r"]).ok().contains("absent"));
    for (hash, says) in [("abc", "3 digits"), (&"0".repeat(64)[..], "of no cell")] {
        place.run(&["sweep", "cell", "r", hash]).refused(&["key `HASH`", says, "remedy:"]);
    }
    place.write("s.toml", SWEEP);
    let said =
        place.run(&["sweep", "s.toml", "--out", "r"]).ok_but(&["11 cells run, 1 were there"]);
    place.run(&["-q", "sweep", "s.toml", "--out", "calm"]).ok();
    assert!(!said.is_empty() && tree(&place.path("calm")) == tree(&place.path("r")));
}

/// The sums of traces are part of a cell: one that changed after the manifest is not run under its name.
#[test]
fn a_cell_whose_files_changed_after_the_manifest_is_refused() {
    let lengths = "n,tokens\n0,10\n1,20\n";
    let scenario = small_scenario(POISSON).replace(
        "lognormal = { mean_ms = 8.0, sd_ms = 5.0 }",
        "lengths = { file = \"l.csv\", column = \"tokens\", base_ms = 1.0, per_token_ms = 0.1 }",
    );
    let place = Place::with("a.toml", scenario);
    place.write("s.toml", SWEEP);
    place.write("l.csv", lengths);
    place.run(&["sweep", "s.toml", "--out", "r", "--manifest"]).ok();
    place.write("l.csv", lengths.replace("20", "30"));
    let hash = listed(&place)[0]["entry_sha256"].as_str().expect("a hash").to_string();
    let says = ["key `manifest`", "l.csv=", "the files that the manifest was made with", "remedy:"];
    place.run(&["sweep", "cell", "r", &hash]).refused(&says);
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).refused(&says);
    place.write("l.csv", lengths);
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
}

/// Starts the K-th of four shards in the folder `r`.
#[cfg(unix)]
fn shard(place: &Place, k: usize) -> Child {
    let shard = format!("{k}/4");
    let args = ["-q", "sweep", "s.toml", "--out", "r", "--shard", &shard, "--jobs", "1"];
    let mut command = place.command(&args);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process")
}

/// `ORRERY_TRIALS` sets the number of trials, and `ORRERY_KILL_MS` how long the killed ones live.
#[test]
#[cfg(unix)]
fn shards_that_are_killed_lose_no_finished_cell_and_their_merge_has_the_bytes_of_one() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
    };
    let (trials, life_ms) = (number("ORRERY_TRIALS", 1), number("ORRERY_KILL_MS", 100));
    // About as much work as the killed ones live: several rounds of killing.
    let seeds = number("ORRERY_SEEDS", 30);
    let place = place();
    place.write("s.toml", SWEEP.replace("seeds = 2", &format!("seeds = {seeds}")));
    place.run(&["-q", "sweep", "s.toml", "--out", "one"]).ok();
    for trial in 0..trials {
        place.run(&["-q", "sweep", "s.toml", "--out", "r", "--manifest"]).ok();
        let mut done = 0;
        for round in 0..2 {
            let mut victims: Vec<Child> = (1..=4).map(|k| shard(&place, k)).collect();
            let spread = 7 * (round + 13 * trial) % (life_ms / 2).max(1);
            std::thread::sleep(Duration::from_millis(life_ms / 2 + spread));
            for victim in &mut victims {
                victim.kill().expect("a process to kill");
                victim.wait().expect("its end");
            }
            let now = in_state(&listed(&place), "done");
            assert!(now >= done, "trial {trial}: {now} of {done} cells are left");
            done = now;
        }
        for k in 1..=4 {
            assert!(shard(&place, k).wait().expect("its end").success());
        }
        place.run(&["sweep", "merge", "r"]).ok();
        assert!(tree(&place.path("one")) == tree(&place.path("r")), "trial {trial}");
        std::fs::remove_dir_all(place.path("r")).expect("a folder");
    }
}

/// Equal cells have one entry, so that many cells are soon run.
#[test]
fn a_sweep_too_large_for_a_table_has_its_rows() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let write = |cells: usize| {
        let points = (1..cells).map(|i| format!("[[point]]\nname = \"{i}\"\n")).collect::<String>();
        let sweep = "scenario = \"a.toml\"\nseeds = 1\npolicies = [\"fifo\"]\n\
                     set = { \"arrivals.requests\" = 5, \"profile.batches\" = 1 }\n\
                     [[point]]\nname = \"short\"\nset = { \"model.bert.slo_ms\" = 50.0 }\n";
        place.write("s.toml", format!("{sweep}{points}"));
    };
    write(50);
    place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    assert!(place.path("r/s.txt").exists() && place.path("r/s.json").exists());
    let lines = |name: &str| place.read(name).lines().count();
    let (few, wide) = (lines("r/s.csv") - 1, lines("r/s.wide.csv") - 1);
    std::fs::remove_file(place.path("r/manifest.jsonl")).expect("the manifest");
    write(5001);
    let said = place.run(&["-q", "sweep", "s.toml", "--out", "r"]).ok();
    assert!(said.contains("5001 cells: too many for a table"), "{said}");
    assert_eq!(lines("r/s.csv") - 1, few / 50 * 5001);
    assert_eq!(lines("r/s.wide.csv") - 1, wide / 50 * 5001);
    assert!(!place.path("r/s.txt").exists() && !place.path("r/s.json").exists());
    let csv = place.run(&["sweep", "merge", "r", "--format", "csv"]).ok();
    assert_eq!(csv, place.read("r/s.csv"));
    let json = ["sweep", "merge", "r", "--format", "json"];
    place.run(&json).refused(&["--format", "of 5001 cells", "at most 5000", "remedy:"]);
}
