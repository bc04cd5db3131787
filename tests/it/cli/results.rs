//! `orrery results`: one table from many files.

use super::process::Place;
use super::{POISSON, small_scenario};
use orrery_results::RESULT_VERSION;

/// Two results of different names, with everything that `--out` writes beside them.
fn results() -> Place {
    let place = Place::new();
    for (name, requests) in [("a", "400"), ("b", "300")] {
        let (file, out) = (format!("{name}.toml"), format!("out/{name}"));
        let text = small_scenario(POISSON).replace("\"small\"", &format!("\"{name}\""));
        place.write(&file, text.replace("400", requests));
        place.run(&["run", &file, "--out", &out, "--details"]).ok();
    }
    place
}

#[test]
fn a_pattern_a_folder_and_single_files_give_the_same_table() {
    let place = results();
    let ask = |what: &[&str]| {
        place.run(&[&["results"], what, &["--where", "metric=finish_rate"]].concat()).ok()
    };
    let table = ask(&["out/**/*.csv"]);
    assert!(table.lines().count() >= 3, "{table}");
    assert_eq!(table, ask(&["out/a", "out/b"]), "JSON and CSV");
    assert_eq!(table, ask(&["out/a/a.csv", "out/b/b.csv", "out/a/a.csv"]), "a file twice");
    assert_eq!(table, ask(&["out/*/?.csv"]));
}

#[test]
fn numbers_are_those_of_the_files_and_means_are_over_the_rows_of_a_group() {
    let place = results();
    let csv = |more: &[&str]| {
        let begin =
            ["-q", "results", "out/**/*.csv", "--format", "csv", "--where", "metric=finish_rate"];
        place.run(&[&begin, more].concat()).ok()
    };
    let one = csv(&["--group-by", "experiment,policy"]);
    let rows = place.read("out/a/a.csv");
    let mut values: Vec<f64> = Vec::new();
    for line in one.lines().skip(1) {
        values.push(line.rsplit(',').next().unwrap().parse().expect("a number"));
    }
    assert!(values.len() >= 2 && rows.contains(&values[0].to_string()), "{one}\n{rows}");
    let mean: f64 = values.iter().sum::<f64>() / values.len() as f64;
    let all = csv(&["--group-by", "metric"]);
    let asked =
        ["results", "out/**/*.csv", "--where", "metric=finish_rate", "--group-by", "metric"];
    place.run(&asked).ok_but(&["1 number is a mean over rows that differ in: experiment"]);
    let found: f64 = all.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!((found - mean).abs() < 1e-12, "{all} {mean}");
    let wide = csv(&["--group-by", "metric", "--pivot", "experiment"]);
    assert_eq!(wide.lines().count(), 2);
    let names = wide.lines().next().unwrap().split(',').count();
    assert_eq!(names, 3, "{wide}");
    let json =
        place.run(&["results", "out/a", "--where", "metric=finish_rate", "--format", "json"]);
    assert!(json.ok().starts_with("[\n"));
}

#[test]
fn a_header_with_quotes_is_read_by_results_and_plot() {
    let place = results();
    for table in ["a.csv", "a.series.csv"] {
        let text = place.read(&format!("out/a/{table}"));
        let (head, rest) = text.split_once('\n').unwrap();
        let quoted: Vec<String> = head.split(',').map(|n| format!("\"{n}\"")).collect();
        place.write(&format!("quoted-{table}"), format!("{}\n{rest}", quoted.join(",")));
    }
    let ask = |file: &str| place.run(&["results", file, "--where", "metric=finish_rate"]).ok();
    assert_eq!(ask("quoted-a.csv"), ask("out/a/a.csv"));
    place.run(&["plot", "quoted-a.series.csv", "--bin", "1", "--out", "s.svg"]).ok();
    place.run(&["plot", "out/a/a.series.csv", "--bin", "1", "--out", "t.svg"]).ok();
    assert_eq!(place.read("s.svg"), place.read("t.svg"));
}

#[test]
fn what_cannot_be_asked_is_said_with_what_can() {
    let place = results();
    let ask = |more: &[&str]| place.run(&[&["results", "out/**/*.csv"], more].concat());
    ask(&["--where", "metirc=x"]).refused(&["--where", "`metirc`", "did you mean `metric`"]);
    ask(&["--where", "metric=x"]).refused(&["--where", "`metric=x`", "finish_rate"]);
    ask(&["--where", "metric=finsh_rate"]).refused(&["did you mean `finish_rate`?"]);
    ask(&["--where", "metric"]).refused(&["metric=finish_rate"]);
    ask(&["--group-by", "polcy"]).refused(&["--group-by", "did you mean `policy`"]);
    ask(&["--pivot", "polcy"]).refused(&["--pivot", "did you mean `policy`"]);
    ask(&["--value", "policy"]).refused(&["--value", "a column of words", "ci95_low"]);
    ask(&["--group-by", "policy"]).refused(&["one metric in a group", "--where metric="]);
    place.run(&["results", "none/*.csv"]).refused(&["none/*.csv", "no results"]);
    place.run(&["results", "a.toml"]).refused(&["a.toml", "no results"]);
    place.run(&["results", "none.csv"]).refused(&["none.csv"]);
    place.write("broken.csv", place.read("out/a/a.csv").replacen(",unitless,", ",", 1));
    place.run(&["results", "*.csv"]).refused(&["broken.csv", "line"]);
    let version = |number: u32| format!(",{number},");
    let (now, before) = (version(RESULT_VERSION), version(RESULT_VERSION - 1));
    place.write("old.csv", place.read("out/a/a.csv").replace(&now, &before));
    place.run(&["results", "out/a/a.csv", "old.csv"]).refused(&["old.csv", "result_version"]);
}
