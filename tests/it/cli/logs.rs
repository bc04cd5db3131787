//! `orrery log timeline` and `orrery log explain`: a log that the program wrote, read by the program.
//!
//! What they make of a log is tested in `timeline` and `explain`; here is how it leaves.

use super::process::{Place, run};
use super::{POISSON, small_scenario};
use serde_json::Value;

/// A log with reasons, `a.log`, and the same without, `plain.log`.
fn place() -> Place {
    let place = Place::with("a.toml", small_scenario(POISSON));
    let args = ["run", "a.toml", "--policy", "clockwork", "--log"];
    place.run(&[&args[..], &["a.log", "--why"]].concat()).ok();
    place.run(&[&args[..], &["plain.log"]].concat()).ok();
    place
}

fn events(trace: &str, kind: &str) -> usize {
    let value: Value = serde_json::from_str(trace).expect("JSON");
    let events = value["traceEvents"].as_array().expect("events");
    events.iter().filter(|e| e["ph"] == kind).count()
}

#[test]
fn a_timeline_is_json_and_the_same_bytes_on_stdout_and_in_a_file() {
    let place = place();
    let trace = place.run(&["log", "timeline", "a.log"]).ok();
    assert!(events(&trace, "X") > 50 && events(&trace, "C") > 50, "{trace}");
    assert_eq!(events(&trace, "s"), 0, "no request was asked for");
    assert!(place.run(&["log", "timeline", "a.log"]).ok() == trace);
    assert_eq!(place.run(&["log", "timeline", "a.log", "--out", "a.json"]).ok(), "");
    assert!(place.read("a.json") == trace);
    // Reasons are for `explain`.
    assert!(place.run(&["log", "timeline", "plain.log"]).ok() == trace);
    assert_eq!(place.files(), ["a.json", "a.log", "a.toml", "plain.log"]);
}

#[test]
fn a_timeline_does_not_overwrite_its_log() {
    let place = place();
    let log = place.read("a.log");
    place
        .run(&["log", "timeline", "a.log", "--out", "./a.log"])
        .refused(&["--out", "the log itself"]);
    assert!(place.read("a.log") == log);
}

#[test]
fn a_window_keeps_a_timeline_small() {
    let place = place();
    let of = |more: &[&str]| {
        let trace = place.run(&[&["log", "timeline", "a.log"], more].concat()).ok();
        (events(&trace, "X"), trace.len())
    };
    let (all, bytes) = of(&[]);
    let (some, fewer_bytes) = of(&["--from-ms", "500", "--to-ms", "600"]);
    assert!(some > 0 && some * 5 < all && fewer_bytes * 5 < bytes, "{some} of {all}");
    assert_eq!(of(&["--from-ms", "0", "--to-ms", "1e9"]), (all, bytes));
    assert_eq!(of(&["--from-ms", "1e9"]).0, 0);
}

#[test]
fn a_request_that_is_asked_for_has_arrows_to_its_batches() {
    let place = place();
    let log = place.read("a.log");
    let batch = log.lines().find(|l| l.starts_with("begin,")).expect("a batch that began");
    let action = batch.split(',').nth(2).expect("its action");
    let issue = log
        .lines()
        .find(|l| l.starts_with("issue,") && l.split(',').nth(2) == Some(action))
        .expect("its issue");
    let request = issue.rsplit(',').next().and_then(|r| r.split(' ').next()).expect("a request");
    let trace = place.run(&["log", "timeline", "a.log", "--request", request]).ok();
    assert!(events(&trace, "s") >= 1, "{trace}");
    assert_eq!(events(&trace, "s"), events(&trace, "f"));
    assert!(trace.contains(&format!("\"name\":\"r{request} bert\"")), "{trace}");
    // One that comes after the window is in the log, and not shown.
    let last = place.run(&["log", "timeline", "a.log", "--request", "399", "--to-ms", "1"]).ok();
    assert_eq!(events(&last, "s"), 0);
}

#[test]
fn a_log_that_cannot_be_read_is_named_and_leaves_no_file() {
    let place = place();
    let log = place.read("a.log");
    let at = log.lines().position(|l| l.starts_with("begin,")).expect("a batch that began");
    let damaged: Vec<&str> =
        log.lines().enumerate().map(|(i, l)| if i == at { "begin,soon,0" } else { l }).collect();
    place.write("damaged.log", damaged.join("\n") + "\n");
    place.write("cut.log", &log[..log.len() - 3]);
    place.write("noise.log", [0xff, 0x00, b'\n', 7]);
    place.write("empty.log", "");
    let line = format!("damaged.log, line {}", at + 1);
    let before = place.files();
    for (file, says) in [
        ("nowhere.log", &["nowhere.log", "No such file", "remedy: give the path"][..]),
        ("a.toml", &["a.toml", "found a scenario; allowed: a schedule log", "orrery run a.toml"]),
        ("noise.log", &["noise.log, line 1", "orrery-log,4"]),
        ("empty.log", &["empty.log, line 1", "orrery-log,4"]),
        ("damaged.log", &[&line, "soon"]),
        ("cut.log", &["cut.log, line ", "the log was cut off"]),
    ] {
        place.run(&["log", "timeline", file, "--out", "t.json"]).refused(says);
        place.run(&["log", "timeline", file, "--format", "csv", "--out", "t.csv"]).refused(says);
        // A story is read to its end only, which a log that is cut off may hold.
        if file != "cut.log" {
            place.run(&["log", "explain", file, "--request", "399"]).refused(says);
        }
        place.run(&["log", "explain", file, "--worst", "3"]).refused(says);
    }
    assert_eq!(place.files(), before, "nothing is left behind");
}

#[test]
fn a_request_that_is_not_there_is_told_with_the_ids_that_are() {
    let place = place();
    let says = [
        "a.log",
        "key `--request`",
        "found 400",
        "from 0 to 399",
        "orrery log explain LOG --worst",
    ];
    place.run(&["log", "explain", "a.log", "--request", "400"]).refused(&says);
    place.run(&["log", "explain", "a.log"]).refused(&["--request", "--worst"]);
    place.run(&["log", "timeline", "a.log", "--request", "400", "--out", "t.json"]).refused(&says);
    let window =
        ["log", "timeline", "a.log", "--request", "400", "--to-ms", "1", "--out", "t.json"];
    place.run(&window).refused(&says);
    place
        .run(&["log", "explain", "a.log", "--request", "first"])
        .refused(&["--request", "invalid digit"]);
    place.run(&["log", "explain", "a.log"]).refused(&["--request <ID>", "--help"]);
    place.write("none.log", "orrery-log,4\nfinish,0\n");
    place
        .run(&["log", "explain", "none.log", "--request", "0"])
        .refused(&["the log has no requests"]);
    assert!(!place.files().contains(&"t.json".to_string()));
}

#[test]
fn the_batches_of_a_timeline_are_csv_with_a_row_for_each_batch_that_began_and_each_drop() {
    let place = place();
    let csv = place.run(&["log", "timeline", "a.log", "--format", "csv"]).ok();
    let began = place.read("a.log").lines().filter(|l| l.starts_with("begin,")).count();
    let dropped = |l: &&str| l.starts_with("end,") && l.contains(",dropped_");
    let dropped = place.read("a.log").lines().filter(dropped).count();
    assert!(began > 50 && dropped > 0);
    assert_eq!(csv.lines().count(), 1 + began + dropped);
    let head =
        "policy,device,device_name,lane,model,action,size,start_ns,end_ns,deadline_ns,outcome";
    assert_eq!(csv.lines().next(), Some(head));
    place.run(&["log", "timeline", "a.log", "--format", "csv", "--out", "b.csv"]).ok();
    assert!(place.read("b.csv") == csv);
}

#[test]
fn an_explanation_is_words_with_the_policy_s_reasons_or_how_to_get_them() {
    let place = place();
    let explain =
        |log: &str, more: &[&str]| place.run(&[&["log", "explain", log], more].concat()).ok();
    let told = explain("a.log", &["--request", "7"]);
    assert!(told.starts_with("r7 under clockwork\n"), "{told}");
    for part in ["arrives at ", " for bert", "the policy: ", "\nverdict: "] {
        assert!(told.contains(part), "no `{part}` in:\n{told}");
    }
    let plain = explain("plain.log", &["--request", "7"]);
    assert!(plain.contains("(run with --why to see the policy's reasons)"), "{plain}");
    assert!(!plain.contains("the policy: ") && plain.contains("\nverdict: "), "{plain}");
}

#[test]
fn the_worst_requests_are_lines_that_can_be_asked_for() {
    let place = place();
    let worst = place.run(&["log", "explain", "a.log", "--worst", "5", "--wide"]).ok();
    assert_eq!(worst.lines().count(), 5, "{worst}");
    assert_eq!(worst, place.run(&["log", "explain", "plain.log", "--worst", "5", "--wide"]).ok());
    for line in worst.lines() {
        let id = line.strip_prefix('r').and_then(|l| l.split(' ').next()).expect("an id");
        let told = place.run(&["log", "explain", "a.log", "--request", id]).ok();
        assert!(told.starts_with(&format!("r{id} under clockwork\n")), "{told}");
        // Five requests fared so badly that none of them was answered in time.
        assert!(!told.contains("verdict: in time"), "{told}");
    }
    let all = place.run(&["log", "explain", "a.log", "--worst", "1000000", "--wide"]).ok();
    assert_eq!(all.lines().count(), 400);
    run(&["log", "explain", "a.log", "--worst", "0"]).refused(&["--worst", "0 is not in 1..="]);
    let both = ["log", "explain", "a.log", "--worst", "1", "--request", "1"];
    place.run(&both).refused(&["cannot be used with"]);
}
