//! `orrery goodput`, sweeps of searches, and studies.

use super::process::Place;
use orrery_results::{Row, read_csv};

/// One request at a time in 10 ms on two devices: 200 requests a second.
const TWO: &str = r#"
name = "two"
policies = ["fifo[max_batch=1]"]
[[model]]
name = "m"
slo_ms = 25.0
latency = { affine = { alpha_ms = 0.0, beta_ms = 10.0 } }
[[app]]
name = "a"
model = "m"
time = { constant = { ms = 10.0 } }
[[device]]
count = 2
[arrivals]
constant = { rate_per_s = 40.0 }
requests = 100
"#;

const QUICK: [&str; 6] = ["--requests-per-model", "1000", "--seeds", "2", "--tolerance", "0.05"];

fn goodput<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["-q", "goodput", "two.toml"], &QUICK[..], more].concat()
}

/// The values of a metric in CSV rows.
fn values(csv: &str, metric: &str) -> Vec<f64> {
    let mut lines = csv.lines();
    let heads: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let at = |name: &str| heads.iter().position(|h| *h == name).expect("a column");
    let (metric_at, value_at) = (at("metric"), at("value"));
    // No cell before these has a comma in it here.
    let cells = lines.map(|l| l.split(',').collect::<Vec<_>>());
    cells.filter(|c| c[metric_at] == metric).filter_map(|c| c[value_at].parse().ok()).collect()
}

#[test]
fn the_peak_is_the_capacity_and_is_the_same_bytes_on_any_number_of_jobs() {
    let place = Place::with("two.toml", TWO);
    let csv = place.run(&goodput(&["--format", "csv", "--jobs", "1"])).ok();
    let peak = values(&csv, "peak_goodput_per_s");
    assert!(peak.len() == 1 && (190.0..=200.0).contains(&peak[0]), "{peak:?}");
    assert!(values(&csv, "finish_rate").iter().all(|r| *r > 0.99), "{csv}");
    assert_eq!(place.run(&goodput(&["--format", "csv", "--jobs", "2"])).ok(), csv);
    let text = place.run(&goodput(&[])).ok();
    assert!(text.contains("on 2 devices") && text.contains("Seeds: 1-2"), "{text}");
    assert!(text.contains("fifo[max_batch=1]: `clearly_good_per_s` 1"), "{text}");
}

#[test]
fn the_fewest_devices_for_a_rate() {
    let place = Place::with("two.toml", TWO);
    let more = ["--find", "devices", "--rate", "520", "--format", "csv"];
    let csv = place.run(&goodput(&more)).ok();
    assert_eq!(values(&csv, "devices_needed"), [6.0]);
    let text = place.run(&goodput(&more[..4])).ok();
    assert!(text.contains("`devices_clearly_too_few` 5") && !text.contains("6.0"), "{text}");
    assert!(!text.contains("a line through the share"), "{text}");
}

#[test]
fn an_slo_that_can_never_be_met_gives_zero_and_says_so() {
    let place = Place::new();
    let hopeless = TWO.replace("slo_ms = 25.0", "slo_ms = 9.0");
    place.write("two.toml", &hopeless);
    place.run(&goodput(&[])).refused(&["allow_hopeless_slo"]);
    place.write("two.toml", format!("allow_hopeless_slo = true\n{hopeless}"));
    let text = place.run(&goodput(&[])).ok();
    assert!(text.contains("never-good: no load") && text.contains("goodput is 0"), "{text}");
}

#[test]
fn a_sweep_of_searches_keeps_its_cells() {
    let place = Place::with("two.toml", TWO);
    place.write(
        "s.toml",
        "scenario = \"two.toml\"\nseeds = 1\n\
         policies = [\"fifo[max_batch=1]\", \"fifo[max_batch=2]\"]\n[goodput]\nrequests_per_model = 1000\n\
         tolerance = 0.05\n[[axis]]\nname = \"gpus\"\nkey = \"device[0].count\"\nvalues = [1, 3]\n",
    );
    let csv = place.run(&["-q", "sweep", "s.toml", "--out", "r", "--format", "csv"]).ok();
    let peaks = values(&csv, "peak_goodput_per_s");
    // Of each point both policies' peaks; the second's less the first's have a name of their own.
    let [one, two, three, _] = peaks[..] else { panic!("{peaks:?}") };
    assert!((2.8..3.2).contains(&(three / one)), "{peaks:?}");
    let more = values(&csv, "peak_goodput_per_s_difference");
    assert!(more.len() == 2 && two - one == more[0] && more[0] > 50.0, "{peaks:?} {more:?}");
    assert!(!csv.contains("finish_rate_difference"), "not at their own peaks");
    let again = place.run(&["-q", "sweep", "s.toml", "--out", "r", "--format", "csv"]).ok();
    assert_eq!(again, csv);
    let inside = |folder| {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|e| e.expect("an entry").path())
    };
    let cells = inside(place.path("r/cells")).flat_map(inside);
    assert_eq!(cells.count(), 4);
}

#[test]
fn a_study_stands_beside_the_paper_s_numbers_and_sentences() {
    let place = Place::new();
    let scenario = TWO.replace("name = \"two\"\npolicies = [\"fifo[max_batch=1]\"]\n", "");
    place.write(
        "study.toml",
        format!(
            r#"
id = "small"
title = "two systems"
source = "nobody, Table 0"
expected_s = 1
seeds = 1
show = ["peak_goodput_per_s"]
scenario = '''{scenario}'''
[goodput]
requests_per_model = 1000
tolerance = 0.05
[[system]]
name = "one"
preset = "reference"
policy = "fifo[max_batch=1]"
[[system]]
name = "many"
preset = "reference"
policy = "fifo[max_batch=2]"
[[point]]
name = "two"
axes = "gpus=2"
set = {{}}
[[paper]]
system = "one"
value = 160.0
source = "Table 0"
[[claim]]
text = "many carry half as much again"
of = "many"
over = "one"
at_least = 1.5
[[claim]]
text = "many carry less"
of = "many"
over = "one"
at_most = 0.9
"#
        ),
    );
    let text = place.run(&["-q", "reproduce", "study.toml"]).ok();
    assert!(text.contains("160") && text.contains("+2"), "{text}");
    assert!(text.contains("\u{2713} many carry half as much again ["), "{text}");
    assert!(text.contains("\u{2717} many carry less ["), "{text}");
    let wide = place.run(&["-q", "reproduce", "study.toml", "--format", "wide"]).ok();
    let head = "experiment,case,gpus,system,preset,policy,scope,peak_goodput_per_s,";
    assert!(wide.starts_with(head), "{wide}");
    let unknown = ["-q", "reproduce", "study.toml", "--case", "nine"];
    place.run(&unknown).refused(&["--case", "one of two"]);
}

/// The row of a metric.
fn row_of(csv: &str, metric: &str) -> Row {
    let rows: Vec<Row> = read_csv("two.csv", csv).expect("a table");
    rows.into_iter().find(|r| r.metric == metric).expect("a row of the metric")
}

/// What takes 10 ms is never within 9: no number of devices is enough, which is not 0 devices.
#[test]
fn no_answer_is_an_empty_cell_with_a_reason_in_every_form() {
    let hopeless = TWO.replace("slo_ms = 25.0", "slo_ms = 9.0");
    let place = Place::with("two.toml", format!("allow_hopeless_slo = true\n{hopeless}"));
    let reason = "2 of 2 seeds have no answer: not even 4096 devices are enough";
    let text = place.run(&goodput(&["--find", "devices", "--out", "o", "--wide"])).ok();
    assert!(text.contains(reason) && !text.contains(" 0.0 "), "{text}");
    let row = row_of(&place.read("o/two.csv"), "devices_needed");
    assert_eq!((row.value, row.reason.as_str(), row.ci95_low), (None, reason, None));
    assert!(row.has_flag("no-answer") && row.has_flag("never-good"), "{row:?}");
    let wide = place.read("o/two.wide.csv");
    assert!(wide.contains("devices_needed,devices_needed_reason"), "{wide}");
    assert!(wide.contains(&format!(",all,,{reason}")), "{wide}");
    let json: serde_json::Value = serde_json::from_str(&place.read("o/two.json")).expect("JSON");
    let of = |r: &&serde_json::Value| r["metric"] == "devices_needed";
    let row = json["rows"].as_array().and_then(|rows| rows.iter().find(of)).expect("a row");
    assert!(row["value"].is_null() && row["reason"] == reason, "{row}");
    // Nothing can be drawn, and that is said.
    place.write("two.csv", place.read("o/two.csv"));
    let plot = ["plot", "two.csv", "--out", "a.svg", "--metric", "devices_needed", "--x", "n"];
    place.run(&plot).refused(&["two.csv", "remedy"]);
}

/// 4096 devices carry 409,600 of these a second: the first point has an answer, the second none.
#[test]
fn a_sweep_keeps_what_has_no_answer_apart() {
    let place = Place::with("two.toml", TWO);
    let sweep = "name = \"s\"\nscenario = \"two.toml\"\nseeds = 2\n\
                 [goodput]\nfind = \"devices\"\nrequests_per_model = 1000\n\
                 [[axis]]\nname = \"slo\"\nkey = \"model.m.slo_ms\"\nvalues = [25.0, 9.0]\n\
                 [set]\nallow_hopeless_slo = true\n";
    place.write("s.toml", sweep);
    let text = place.run(&["-q", "--wide", "sweep", "s.toml", "--out", "o"]).ok();
    assert!(text.lines().any(|l| l.split_whitespace().eq(["25", "1.000"])), "{text}");
    let reason = "2 of 2 seeds have no answer: not even 4096 devices are enough";
    assert!(text.contains(&format!("fifo[max_batch=1] at slo=9: {reason}")), "{text}");
    let rows: Vec<Row> = read_csv("s.csv", &place.read("o/s.csv")).expect("a table");
    let found: Vec<Option<f64>> =
        rows.iter().filter(|r| r.metric == "devices_needed").map(|r| r.value).collect();
    assert_eq!(found, [Some(1.0), None]);
    // The curve has one point and a gap, and says so.
    let plot = ["plot", "o/s.csv", "--metric", "devices_needed", "--x", "slo", "--out", "a.svg"];
    place.run(&plot).ok();
    assert!(place.read("a.svg").contains("(no-answer): 1 of 2 points"), "{}", place.read("a.svg"));
}
