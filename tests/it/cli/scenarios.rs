//! `orrery run`, `orrery log audit` and `orrery trace record`: from a scenario to metrics, to a log and
//! back, to a workload and back.

use super::process::Place;
use super::{POISSON, small_scenario};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let files = std::fs::read_dir(folder).expect("scenarios").map(|e| e.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_example_runs_from_another_folder_and_its_log_is_clean() {
    assert!(!examples().is_empty());
    for path in examples() {
        let place = Place::new();
        let scenario = path.to_str().expect("a path in UTF-8");
        // Jobs and tokens have policies of their own.
        let text = std::fs::read_to_string(&path).expect("a file");
        let (policy, head) = match (text.contains("\n[jobs]"), text.contains("\nworkers = ")) {
            (false, _) if text.contains("\n[tokens]") => {
                ("continuous", "finish_rate,in_time,requests,")
            }
            (false, _) => ("fifo", "requests,finish_rate,"),
            (true, true) => ("fluid", "jobs,makespan_ns,"),
            (true, false) => ("salus", "jobs,makespan_ns,"),
        };
        let args = ["run", scenario, "--policy", policy, "--format", "wide", "--log", "a.log"];
        let csv = place.run(&args).ok();
        let head = format!("experiment,case,system,preset,policy,scope,{head}");
        assert!(csv.starts_with(&head), "{csv}");
        // A log of an earlier run is written over.
        if policy != "fifo" {
            assert_eq!(place.run(&args).ok(), csv);
        }
        let audit = place.run(&["log", "audit", "a.log"]).ok();
        assert!(audit.starts_with("audit: clean; "), "{scenario}: {audit}");
        assert_eq!(place.files(), ["a.log"]);
    }
}

#[test]
fn a_scenario_runs_its_policies_and_prints_each() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let text = place.run(&["run", "a.toml"]).ok();
    assert!(text.starts_with("run small\nseed 1\n"), "{text}");
    for part in ["\n  orloj", "\n  clockwork", "\n  fifo", "app chat", "app search"] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    let json = place.run(&["run", "a.toml", "--format", "json", "--seed", "7"]).ok();
    let value: Value = serde_json::from_str(&json).expect("JSON");
    let rows = value["rows"].as_array().expect("rows");
    assert!(rows.iter().all(|r| r["seeds"] == "7-7"));
    let count =
        |metric: &str| rows.iter().filter(|r| r["metric"] == metric && r["scope"] == "all").count();
    assert_eq!((count("finish_rate"), count("finish_rate_difference")), (3, 2));
}

#[test]
fn the_results_in_out_are_those_on_stdout() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    for (format, ending) in [("table", "txt"), ("csv", "csv"), ("json", "json")] {
        let out = place.run(&["run", "a.toml", "--format", format, "--out", "results"]).ok();
        assert!(place.read(&format!("results/small.{ending}")) == out, "{format}");
    }
}

#[test]
fn the_seed_and_the_policy_can_be_chosen_and_the_log_changes_nothing() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let csv = |more: &[&str]| {
        let args = ["run", "a.toml", "--format", "wide", "--policy", "nexus[drop=elapsed]"];
        place.run(&[&args[..], more].concat()).ok()
    };
    let one = csv(&[]);
    assert!(
        one.lines().skip(1).all(|l| l.starts_with("small,,nexus,,nexus[drop=elapsed],")),
        "{one}"
    );
    assert!(one == csv(&["--seed", "1"]));
    assert!(one == csv(&["--log", "a.log"]));
    let values = |csv: &str| -> Vec<String> { csv.lines().map(String::from).collect() };
    assert_ne!(values(&one), values(&csv(&["--seed", "2"])));
    let log = place.read("a.log");
    csv(&["--log", "a.log"]);
    assert!(log == place.read("a.log"), "the same run writes the same log");
}

#[test]
fn a_log_that_lost_a_line_fails_its_audit() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    for policy in ["orloj", "clockwork", "fifo"] {
        place.run(&["run", "a.toml", "--policy", policy, "--log", "a.log"]).ok();
        assert!(place.run(&["log", "audit", "a.log"]).ok().starts_with("audit: clean; "));
        let log = place.read("a.log");
        for word in ["arrive", "begin", "close", "issue", "end", "finish"] {
            let is = |l: &&str| l.starts_with(word) && l.as_bytes()[word.len()] == b',';
            let lines: Vec<&str> = log.lines().collect();
            let lost = lines.iter().skip(lines.len() / 2).find(|l| is(l)).expect("such a line");
            let kept: String =
                lines.iter().filter(|l| *l != lost).map(|l| format!("{l}\n")).collect();
            place.write("b.log", kept);
            let found = place.run(&["log", "audit", "b.log"]).failed_a_check();
            assert!(found.starts_with("audit: ") && !found.contains("clean"), "{word}: {found}");
            assert!(found.contains("record "), "{word}: {found}");
        }
    }
}

/// A log's text with one field of the first line that `is` replaced, and the number of that line.
fn with_field(log: &str, is: impl Fn(&str) -> bool, field: usize, value: &str) -> (String, usize) {
    let at = log.lines().position(is).expect("such a line");
    let changed = |(i, line): (usize, &str)| {
        let mut fields: Vec<&str> = line.split(',').collect();
        if i == at {
            fields[field] = value;
        }
        fields.join(",") + "\n"
    };
    (log.lines().enumerate().map(changed).collect(), at + 1)
}

#[test]
fn lanes_applications_deadlines_and_preemption_are_held_to_the_head_of_the_log() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.run(&["run", "a.toml", "--policy", "fifo", "--log", "a.log"]).ok();
    let log = place.read("a.log");
    let terms: Vec<&str> = log.lines().filter(|l| l.starts_with("terms,")).collect();
    let expected =
        ["terms,device,0,1,cannot_preempt,", "terms,app,0,0,100000000", "terms,app,1,0,60000000"];
    assert_eq!(terms, expected);
    let done = |line: &str| line.starts_with("close,") && line.contains(",done,");
    let stopped = |log: &str| {
        let at = log.lines().position(done).expect("a batch that was done");
        let line = log.lines().nth(at).expect("it is there");
        let (head, _) = line.split_once(",done,").expect("it was done");
        (log.replacen(line, &format!("{head},preempted,"), 1), at + 1)
    };
    for ((changed, line), fault) in [
        (with_field(&log, |l| l.starts_with("issue,"), 4, "1"), "NoSuchLane"),
        (with_field(&log, |l| l.starts_with("arrive,"), 3, "2"), "UnknownApp"),
        (with_field(&log, |l| l.starts_with("arrive,"), 8, "999999999"), "DeadlineMoved"),
        (stopped(&log), "PreemptedWhereItCannot"),
    ] {
        place.write("b.log", &changed);
        let found = place.run(&["log", "audit", "b.log"]).failed_a_check();
        assert!(found.contains(&format!("(line {line}), at ")), "{fault}, line {line}: {found}");
        assert!(found.contains(&format!(": {fault}: ")), "{found}");
        assert!(found.contains("not seen by an audit:"), "{found}");
    }
    // A workload's requests carry deadlines of their own.
    place.run(&["trace", "record", "a.toml", "--out", "w.csv"]).ok();
    place.write("w.toml", small_scenario("workload = { file = \"w.csv\" }"));
    place.run(&["run", "w.toml", "--policy", "fifo", "--log", "w.log"]).ok();
    assert!(place.read("w.log").contains("\nterms,app,0,0,own\n"));
    place.run(&["log", "audit", "w.log"]).ok();
}

#[test]
fn a_workload_that_was_recorded_gives_the_metrics_of_its_scenario() {
    for arrivals in [POISSON, "gamma = { rate_per_s = 150.0, shape = 0.3 }\nduration_s = 2.0"] {
        let place = Place::with("original.toml", small_scenario(arrivals));
        let said = place.run(&["trace", "record", "original.toml", "--out", "w.csv"]).ok();
        let rows = place.read("w.csv").lines().count() - 1;
        assert_eq!(said, format!("{rows} requests in w.csv\n"));
        place.write("replayed.toml", small_scenario("workload = { file = \"w.csv\" }"));
        let csv = |name: &str| place.run(&["run", name, "--format", "wide"]).ok();
        assert_eq!(csv("original.toml"), csv("replayed.toml"));
    }
}

#[test]
fn a_workload_of_another_seed_is_another_workload() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    place.run(&["trace", "record", "a.toml", "--out", "default.csv"]).ok();
    place.run(&["trace", "record", "a.toml", "--out", "one.csv", "--seed", "1"]).ok();
    place.run(&["trace", "record", "a.toml", "--out", "two.csv", "--seed", "2"]).ok();
    assert_eq!(place.read("default.csv"), place.read("one.csv"));
    assert_ne!(place.read("one.csv"), place.read("two.csv"));
}

#[test]
fn a_scenario_that_is_wrong_is_told_line_key_and_remedy() {
    let good = small_scenario(POISSON);
    for (from, to, says) in [
        (
            "slo_ms = 100.0",
            "slo_mss = 100.0",
            &["a.toml:6", "`slo_mss`", "did you mean `slo_ms`?"][..],
        ),
        ("slo_ms = 100.0", "slo_ms = -1.0", &["a.toml:6", "key `model[0].slo_ms`", "found -1"]),
        ("slo_ms = 60.0", "slo_ms = \"60\"", &["a.toml:", "expected f64"]),
        ("c1 = 0.4", "c1 = -0.4", &["a.toml:7", "c1"]),
        ("\"orloj\",", "\"orlo\",", &["a.toml:2", "policies[0]", "did you mean `orloj`?"]),
        ("model = \"bert\"\nweight", "model = \"brt\"\nweight", &["app[1].model", "bert"]),
        ("rate_per_s = 200.0", "rate_per_s = -2.0", &["arrivals.poisson", "rate_per_s", "-2"]),
        ("requests = 400", "requests = 0", &["key `arrivals.requests`"]),
        ("requests = 400", "", &["neither requests nor duration_s"]),
    ] {
        assert!(good.contains(from), "{from}");
        let place = Place::with("a.toml", good.replacen(from, to, 1));
        for args in [&["run", "a.toml"][..], &["trace", "record", "a.toml", "--out", "w.csv"]] {
            place.run(args).refused(&[says, &["a.toml", "remedy:"]].concat());
        }
        assert_eq!(place.files(), ["a.toml"]);
    }
}

#[test]
fn a_log_or_a_policy_that_cannot_be_is_refused() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let log = ["run", "a.toml", "--log"];
    place.run(&[&log[..], &["a.log"]].concat()).refused(&["--log", "3 policies", "--policy"]);
    let one = ["a.toml/a.log", "--policy", "fifo"];
    place.run(&[&log[..], &one].concat()).refused(&["--log", "a.toml/a.log", "remedy:"]);
    let unknown = ["run", "a.toml", "--policy", "fifi"];
    place.run(&unknown).refused(&["`fifi`", "did you mean `fifo`?", "remedy:"]);
    let out = ["trace", "record", "a.toml", "--out", "a.toml/w.csv"];
    place.run(&out).refused(&["--out", "a.toml/w.csv", "remedy:"]);
    place.run(&["run", "a.toml", "--seed=-1"]).refused(&["--seed", "'-1'"]);
    assert_eq!(place.files(), ["a.toml"]);
}

/// A warm-up that is longer than the run, and a list that begins late: what is missing has a reason, and what is
/// averaged over nothing says so.
#[test]
fn a_run_of_which_little_or_nothing_counts_says_so() {
    let place = Place::with("a.toml", format!("warm_up_s = 1000.0\n{}", small_scenario(POISSON)));
    for seeds in ["1", "2"] {
        let text = place.run(&["run", "a.toml", "--seeds", seeds, "--out", "out", "--wide"]).ok();
        assert!(text.contains("No policy has an answer for the finish rate"), "{text}");
        assert!(text.contains("no request arrived after the warm-up: the run ended at"), "{text}");
        let csv = place.read("out/small.csv");
        let of = |name: &str| csv.lines().find(|l| l.contains(name)).map(str::to_string);
        assert!(of(",all,requests,requests,,0.0,").is_some(), "{csv}");
        for metric in ["all,finish_rate,unitless,,,", "finish_rate_difference,unitless,"] {
            let row = of(metric).unwrap_or_else(|| panic!("{metric}: {csv}"));
            assert!(row.contains("no request arrived after the warm-up"), "{row}");
        }
    }
    let rows: String = (0..200)
        .map(|i| format!("{},0,0,1,100000000,5000000\n", 60_000_000_000_u64 + i * 50_000_000))
        .collect();
    place.write("w.csv", format!("arrival_ns,app,model,size,slo_ns,alone_ns\n{rows}"));
    let run = |slice: &str| {
        place.write("b.toml", small_scenario(&format!("workload = {{ file = \"w.csv\"{slice} }}")));
        place.run(&["run", "b.toml", "--policy", "fifo", "--format", "csv"]).ok()
    };
    let flagged = |csv: &str| csv.lines().filter(|l| l.contains("late-start")).count();
    assert_eq!(flagged(&run("")), 3, "goodput, of the one application too, and utilisation");
    assert_eq!(flagged(&run(", from_row = 0")), 0);
}

/// The scenario has execution times that vary; a paper of one of its policies has none.
#[test]
fn an_assumption_that_does_not_hold_is_said_in_every_form() {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let note = "assumes-known-times: the policy assumes one latency";
    let place_out =
        ["--out", "out", "--html", "a.html", "--policy", "symphony", "--policy", "fifo"];
    let text = place.run(&[&["run", "a.toml", "--wide"], &place_out[..]].concat()).ok();
    let line =
        text.lines().find(|l| l.trim_start().starts_with(note)).unwrap_or_else(|| panic!("{text}"));
    assert!(line.ends_with("(symphony)"), "{line}");
    let csv = place.read("out/small.csv");
    let flagged: Vec<&str> = csv.lines().filter(|l| l.contains("assumes-known-times")).collect();
    assert!(flagged.len() == 1 && flagged[0].contains(",symphony,all,finish_rate,"), "{csv}");
    let json: Value = serde_json::from_str(&place.read("out/small.json")).expect("JSON");
    let notes = json["notes"].as_array().expect("notes");
    assert!(notes.iter().any(|n| n.as_str().is_some_and(|n| n.starts_with(note))), "{notes:?}");
    assert!(place.read("a.html").contains("assumes-known-times: the policy assumes"));
    let found =
        place.run(&["goodput", "a.toml", "--policy", "symphony", "--seeds", "1", "--wide"]).ok();
    assert!(found.contains(note), "{found}");
    place.write(
        "s.toml",
        "name = 's'\nscenario = 'a.toml'\npolicies = ['symphony', 'fifo']\nseeds = 1\n\
         [[axis]]\nkey = 'model[0].slo_ms'\nvalues = [100.0, 50.0]\n",
    );
    let swept = place.run(&["-q", "--wide", "sweep", "s.toml", "--out", "swept"]).ok();
    assert!(swept.contains(note), "{swept}");
    place.run(&["-q", "sweep", "s.toml", "--out", "shared", "--shard", "1/1"]).ok();
    assert_eq!(place.run(&["-q", "--wide", "sweep", "merge", "shared"]).ok(), swept);
    let fifo = place.run(&["run", "a.toml", "--policy", "fifo"]).ok();
    assert!(!fifo.contains("assumes"), "{fifo}");
}

/// Twice what a device can do without any gain from batches: no scheduler finishes more than half.
#[test]
fn a_run_says_what_no_scheduler_can_exceed_and_refuses_where_nobody_knows() {
    let scenario = "policies = [\"fifo\", \"best-yield\"]\n[[model]]\nname = \"m\"\nslo_ms = 20\n\
        latency = { proportional = { c1 = 1.0 } }\n[[app]]\nname = \"a\"\nmodel = \"m\"\n\
        time = { constant = { ms = 10 } }\n[arrivals]\nrequests = 4000\npoisson = { rate_per_s = 200 }\n";
    let place = Place::with("a.toml", scenario);
    let text = place.run(&["run", "a.toml", "--bound"]).ok();
    let bound = text.lines().find_map(|line| line.trim().strip_prefix("bound: "));
    let bound: f64 = bound.and_then(|b| b.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    assert!((0.45..0.5).contains(&bound), "{text}");
    let csv = place.run(&["run", "a.toml", "--bound", "--format", "csv"]).ok();
    assert!(csv.contains(",finish_rate_bound,unitless,,0.4"), "{csv}");
    let closed =
        "[closed_loop]\nclients = 4\nthink = { exponential_ms = 40.0 }\nduration_s = 4.0\n";
    let at = scenario.find("[arrivals]").expect("the load");
    let place = Place::with("a.toml", &(scenario[..at].to_string() + closed));
    place.run(&["run", "a.toml", "--bound"]).refused(&[
        "a.toml",
        "bound",
        "closed loop",
        "remedy: ",
    ]);
}
