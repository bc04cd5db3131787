//! Tables as a naive reader takes them: filter on the metric, average by policy; columns by their types.

use super::process::Place;
use super::small_table;
use orrery_results::{COLUMNS, ColumnType, Row, read_rows};

const SCENARIO: &str = r#"
name = "small"
policies = ["fifo", "clockwork"]
[[model]]
name = "bert"
slo_ms = 40.0
latency = { proportional = { c1 = 0.4 } }
[[app]]
name = "chat"
model = "bert"
time = { lognormal = { mean_ms = 8.0, sd_ms = 5.0 } }
[[device]]
count = 1
[arrivals]
poisson = { rate_per_s = 110.0 }
requests = 2000
"#;

/// The rows that a naive reader takes for a metric, averaged by policy.
fn naive(csv: &str, metric: &str) -> Vec<(String, f64)> {
    let rows = read_rows("t.csv", csv).expect("a table");
    let is_it = |r: &&Row| r.metric == metric && r.scope == "all";
    let mut policies: Vec<String> = rows.iter().filter(is_it).map(|r| r.policy.clone()).collect();
    policies.sort();
    policies.dedup();
    let mean = |policy: String| {
        let own = rows.iter().filter(is_it).filter(|r| r.policy == policy);
        let values: Vec<f64> = own.filter_map(|r| r.value).collect();
        (policy, values.iter().sum::<f64>() / values.len() as f64)
    };
    policies.into_iter().map(mean).collect()
}

/// Of a policy that is compared, the mean of value and difference is neither.
#[test]
fn a_naive_mean_by_policy_is_of_values_only() {
    let place = Place::with("small.toml", SCENARIO);
    let csv = place.run(&["-q", "run", "small.toml", "--seeds", "3", "--format", "csv"]).ok();
    let found = naive(&csv, "finish_rate");
    for (policy, rate) in &found {
        let alone = ["-q", "run", "small.toml", "--seeds", "3", "--format", "csv", "--policy"];
        let own = place.run(&[&alone[..], &[policy]].concat()).ok();
        assert_eq!(naive(&own, "finish_rate"), [(policy.clone(), *rate)], "alone, uncompared");
    }
    let difference = naive(&csv, "finish_rate_difference");
    let [(_, clockwork), (_, fifo)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(difference.len(), 1);
    assert!((difference[0].1 - (clockwork - fifo)).abs() < 1e-12, "{difference:?}");
}

#[test]
fn a_difference_can_be_drawn_by_its_name() {
    let place = Place::with("small.toml", SCENARIO);
    let axis = "[[axis]]\nname = \"slo_ms\"\nkey = \"model.bert.slo_ms\"\nvalues = [30.0, 60.0]\n";
    place.write("s.toml", format!("name = \"s\"\nscenario = \"small.toml\"\nseeds = 2\n{axis}"));
    place.run(&["-q", "sweep", "s.toml", "--out", "o"]).ok();
    let plot = ["plot", "o/s.csv", "--metric", "finish_rate_difference", "--out", "d.svg"];
    place.run(&plot).ok();
    assert!(place.read("d.svg").contains("difference of finish rate"), "{}", place.read("d.svg"));
    // The name of the value itself is refused.
    place.write("old.csv", place.read("o/s.csv").replace("finish_rate_difference", "finish_rate"));
    let plot = ["plot", "old.csv", "--out", "d.svg"];
    place.run(&plot).refused(&["old.csv", "line ", "`finish_rate_difference`", "remedy"]);
}

/// Every table of rows that the program writes, small.
fn tables() -> Vec<(&'static str, String)> {
    let place = Place::with("small.toml", SCENARIO);
    place.write("t.toml", small_table(""));
    let partition = ["reproduce", "symphony-fig-16", "--seeds", "1", "--case", "random"];
    let goodput = [
        "goodput",
        "small.toml",
        "--requests-per-model",
        "1000",
        "--seeds",
        "1",
        "--tolerance",
        "0.2",
    ];
    let commands: [(&str, &[&str]); 6] = [
        ("run", &["run", "small.toml"]),
        ("seeds", &["run", "small.toml", "--seeds", "3"]),
        ("table", &["reproduce", "t.toml"]),
        ("goodput", &goodput),
        ("partition", &partition),
        ("bounds", &["reproduce", "kairos-upper-bounds", "--case", "ncf"]),
    ];
    let run = |args: &[&str]| place.run(&[&["-q"], args, &["--format", "csv"]].concat()).ok();
    commands.into_iter().map(|(name, args)| (name, run(args))).collect()
}

#[test]
fn the_types_of_columns_are_the_same_in_every_table() {
    for (name, csv) in tables() {
        let head: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        assert_eq!(head, COLUMNS.map(|c| c.0), "{name}");
        let json: Vec<serde_json::Value> = read_rows(name, &csv)
            .expect("a table")
            .iter()
            .map(|r| serde_json::to_value(r).expect("JSON"))
            .collect();
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        for (record, json) in reader.records().zip(&json) {
            let record = record.expect("a row");
            for (cell, (column, kind)) in record.iter().zip(COLUMNS) {
                let number = cell.parse::<f64>().is_ok();
                let right = match kind {
                    ColumnType::Text => !number && json[column].is_string(),
                    ColumnType::Count => cell.parse::<u64>().is_ok() && json[column].is_u64(),
                    ColumnType::Number if cell.is_empty() => json[column].is_null(),
                    ColumnType::Number => {
                        number && cell.contains(['.', 'e']) && json[column].is_f64()
                    }
                };
                assert!(right, "{name}: `{cell}` in `{column}`: {record:?}");
            }
        }
    }
}
