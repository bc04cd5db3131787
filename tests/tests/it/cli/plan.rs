//! `orrery plan`: what leaves, in which form, with which exit code.

use super::process::Place;
use orrery_results::{Row, read_csv};

const SMALL: &str = r#"pools = "heterogeneous"
goal = "carry-load"
seeds = 2
requests_per_model = 1000
policies = ["ribbon"]

[[instance]]
kind = "g4dn.xlarge"
price_usd_per_hour = 0.526
count_max = 3

[[instance]]
kind = "r5n.large"
price_usd_per_hour = 0.149
count_max = 4

[scenario]
arrivals = { poisson = { rate_per_s = 20.0 } }

[[scenario.zoo]]
name = "kairos"
models = ["rm2"]
"#;

#[test]
fn an_answer_leaves_as_table_summary_figure_rows_and_scenario() {
    let place = Place::with("p.toml", SMALL);
    let args = ["plan", "p.toml", "--out", "o", "--plot", "f.svg", "--markdown", "s.md"];
    let out = place.run(&[&args[..], &["--what-if", "load=1.5"]].concat()).ok();
    for part in
        ["plan p:", "rm2", "g4dn.xlarge", "breaks first", "confidence", "what if", "load=1.5"]
    {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
    }
    assert!(place.read("f.svg").contains("</svg>"));
    let summary = place.read("s.md");
    for part in ["# Capacity plan: p", "## What breaks first", "## What if", "## How sure is this"]
    {
        assert!(summary.contains(part), "no `{part}` in:\n{summary}");
    }
    assert_eq!(summary, place.read("o/p.md"));
    let rows: Vec<Row> = read_csv("p.csv", &place.read("o/p.csv")).unwrap();
    let cost =
        rows.iter().find(|r| r.metric == "cost_usd_per_hour" && r.axis("place") == Some("1"));
    assert!(cost.is_some_and(|r| r.value > Some(0.5)), "{rows:?}");
    assert!(rows.iter().any(|r| r.axis("what_if") == Some("load=1.5")));
    // The chosen pool, as a scenario, is within the target.
    let run = place.run(&["run", "o/p.rm2.scenario.toml", "--format", "csv"]).ok();
    let rows: Vec<Row> = read_csv("run", &run).unwrap();
    let finish = rows.iter().find(|r| r.metric == "finish_rate" && r.scope == "all").unwrap();
    assert!(finish.value >= Some(0.99), "{finish:?}");
}

#[test]
fn without_a_pool_that_meets_the_goal_the_exit_code_is_1() {
    let place = Place::with("p.toml", SMALL.replace("= 20.0", "= 20000.0"));
    let out = place.run(&["plan", "p.toml"]).failed_a_check();
    assert!(out.contains("outside what was simulated"), "{out}");
}

#[test]
fn a_wrong_plan_is_a_matter_of_usage() {
    let place = Place::with("p.toml", SMALL.replace("0.149", "-0.149"));
    place.run(&["plan", "p.toml"]).refused(&[
        "p.toml:14",
        "price_usd_per_hour",
        "-0.149",
        "from 0",
    ]);
    let place = Place::with("p.toml", SMALL);
    let what_if = ["plan", "p.toml", "--what-if", "sloo=1ms"];
    place.run(&what_if).refused(&["sloo", "did you mean `slo`", "remedy"]);
}
