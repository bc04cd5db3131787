//! `orrery plan partition` and the figure about partitions.

use super::process::{Place, run};
use orrery_results::{Row, read_csv};

const SMALL: &str = r#"clusters = 2
rate_max_per_s = 100.0
memory_max_mb = 500.0
cost_max = 2.0

[[model]]
name = "a"
rate_per_s = 60.0
static_mb = 100.0
current = 0

[[model]]
name = "b"
rate_per_s = 30.0
static_mb = 100.0
current = 0

[[model]]
name = "c"
rate_per_s = 30.0
static_mb = 200.0
current = 0
"#;

#[test]
fn models_are_divided_and_moves_are_counted() {
    let place = Place::with("p.toml", SMALL.replace("cost_max = 2.0", "cost_max = 4.0"));
    let out = place.run(&["plan", "partition", "p.toml"]).ok();
    for part in ["3 models, 2 sub-clusters, local-search[", "moves 1, cost 2 (allowed: 4)", "a*"] {
        assert!(out.contains(part), "no `{part}` in:\n{out}");
    }
    // One of three must go, and one move is all that is allowed.
    let out = Place::with("p.toml", SMALL).run(&["plan", "partition", "p.toml"]).ok();
    assert!(out.contains("moves 1, cost 2 (allowed: 2)"), "{out}");
}

#[test]
fn a_generated_problem_depends_on_its_seed_alone() {
    let file = "clusters = 4\nevaluations = 20000\n[generate]\nmodels = 40\n\
                zoo = \"symphony-a100\"\nmean_rate_per_s = 10.0\n\
                static_mb = { median = 70.0, sigma = 0.8 }\n\
                dynamic_mb = { median = 70.0, sigma = 0.8 }\n";
    let place = Place::with("p.toml", file);
    let out = |seed: &str| place.run(&["plan", "partition", "p.toml", "--seed", seed]).ok();
    assert_eq!(out("1"), out("1"));
    assert_ne!(out("1"), out("2"));
}

#[test]
fn hopeless_problems_name_the_key_and_the_remedy() {
    for (from, to, says) in [
        ("clusters = 2", "clusters = 0", ["clusters", "from 1 to 4096", "remedy"]),
        (
            "memory_max_mb = 500.0",
            "memory_max_mb = 150.0",
            ["key `model[2].static_mb`: found `c`", "200", "150"],
        ),
        (
            "rate_max_per_s = 100.0",
            "rate_max_per_s = 59.0",
            ["key `model[0].rate_per_s`: found `a`", "60", "twice"],
        ),
        ("clusters = 2", "clusters = 1", ["rate_max_per_s", "120", "raise"]),
        ("cost_max = 2.0", "cost_max = 1.0", ["method", "evaluations", "cost_max"]),
        ("cost_max", "cost_mx", ["cost_mx", "docs/partition.md", "remedy"]),
        ("static_mb = 200.0", "static_mb = -1.0", ["model[2].static_mb", "-1", "at least 0"]),
    ] {
        let place = Place::with("p.toml", SMALL.replace(from, to));
        place.run(&["plan", "partition", "p.toml"]).refused(&[&["p.toml"], &says[..]].concat());
    }
    run(&["plan", "partition", "not-there.toml"]).refused(&["not-there.toml", "remedy"]);
}

#[test]
fn the_figure_has_its_quantiles_and_no_other_cases() {
    let arguments = ["reproduce", "symphony-fig-16", "--seeds", "1", "--case", "random"];
    let csv = run(&[&arguments[..], &["--format", "csv"]].concat()).ok();
    let rows: Vec<Row> = read_csv("csv", &csv).unwrap();
    let metrics: Vec<&str> = rows.iter().map(|r| r.metric.as_str()).collect();
    assert_eq!(metrics.len(), 8);
    assert!(metrics.contains(&"rate_imbalance_p50") && metrics.contains(&"memory_imbalance_max"));
    assert!(rows.iter().all(|r| r.value > Some(0.05) && r.value < Some(2.0)), "{csv}");
    run(&["reproduce", "symphony-fig-16", "--case", "cplex"]).refused(&["cplex", "local-search"]);
}
