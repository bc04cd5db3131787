//! `orrery sweep` and `orrery merge`: killed, damaged, split, on any number of threads: the same
//! bytes.

use super::process::Place;
use super::{POISSON, small_scenario};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const SWEEP: &str = "scenario = \"a.toml\"\nseeds = 2\npolicies = [\"fifo\", \"nexus\"]\n\
    [[axis]]\nname = \"slo_ms\"\nkey = \"model.bert.slo_ms\"\nvalues = [60.0, 100.0, 200.0]\n\
    [[axis]]\nkey = \"arrivals.poisson.rate_per_s\"\nvalues = [50.0, 100.0]\n";

fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.write("s.toml", SWEEP);
    place
}

/// Every file of a folder but those of killed runs.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            out.extend(tree(&path).into_iter().map(|(k, v)| (format!("{name}/{k}"), v)));
        } else if !name.ends_with(".tmp") {
            out.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
    out
}

#[test]
fn shards_and_jobs_and_their_order_change_no_byte() {
    let place = place();
    place.run(&["-q", "sweep", "s.toml", "--out", "one", "--jobs", "1"]).ok();
    let one = place.run(&["merge", "one", "--format", "csv"]).ok();
    place.run(&["-q", "sweep", "s.toml", "--out", "two", "--jobs", "2"]).ok();
    for shard in ["3/3", "1/3", "2/3"] {
        place.run(&["-q", "sweep", "s.toml", "--out", "parts", "--shard", shard]).ok();
    }
    assert_eq!(place.run(&["merge", "parts", "--format", "csv"]).ok(), one);
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
        let mut child = place
            .command(&["-q", "sweep", "s.toml", "--out", "killed", "--jobs", "2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        std::thread::sleep(Duration::from_millis(5 + 7 * i % 60));
        child.kill().expect("a process to kill");
        child.wait().expect("its end");
        let after = cells(&place);
        assert!(before.iter().all(|c| after.contains(c)), "a finished cell was lost");
    }
    place.run(&["-q", "sweep", "s.toml", "--out", "killed"]).ok();
    assert!(tree(&place.path("calm")) == tree(&place.path("killed")));
}

/// The finished cells of the folder `killed`, with their bytes.
fn cells(place: &Place) -> Vec<(String, Vec<u8>)> {
    if !place.path("killed").exists() {
        return Vec::new();
    }
    tree(&place.path("killed")).into_iter().filter(|(k, _)| k.ends_with(".cell")).collect()
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
        place.run(&["merge", "r"]).refused(&["1 of 12 cells missing"]);
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
fn what_is_wrong_with_a_sweep_is_said_before_anything_runs() {
    let place = place();
    for (from, to, says) in [
        ("[[axis]]\nname", "[[axes]]\nname", "did you mean `axis`"),
        ("model.bert.slo_ms", "model.brt.slo_ms", "did you mean `bert`"),
        ("poisson.rate_per_s", "poisson.rate_per", "rate_per_s"),
        ("[60.0, 100.0, 200.0]", "[]", "empty"),
        ("\"nexus\"", "\"nexsu\"", "did you mean `nexus`"),
        ("seeds = 2", "seeds = 0", "seeds"),
        ("a.toml", "b.toml", "b.toml"),
        ("60.0", "0.001", "allow_hopeless_slo"),
    ] {
        place.write("s.toml", SWEEP.replace(from, to));
        place.run(&["sweep", "s.toml", "--out", "r"]).refused(&[says]);
    }
    place.write("s.toml", "scenario = \"a.toml\"\n");
    place.run(&["sweep", "s.toml", "--out", "r"]).refused(&["an empty sweep"]);
    place.write("s.toml", SWEEP);
    place.write("file", "");
    place.run(&["sweep", "s.toml", "--out", "file/r"]).refused(&["file/r", "can be written"]);
    place.run(&["sweep", "s.toml", "--out", "r", "--shard", "3/2"]).refused(&["K from 1 to N"]);
    place.run(&["merge", "nowhere"]).refused(&["plan.json"]);
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
}
