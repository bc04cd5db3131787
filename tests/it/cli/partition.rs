//! The figure about partitions.

use super::process::{Place, run};
use orrery_results::{Row, read_csv};

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

#[test]
fn hopeless_problems_name_the_key_and_the_remedy() {
    let of = |key: &str, value: &str| {
        let place = Place::with(
            "p.toml",
            format!(
                "extends = \"symphony-fig-16\"\nid = \"mine\"\nseeds = 1\n[partition]\n{key} = {value}\n"
            ),
        );
        place.run(&["reproduce", "p.toml", "--case", "local-search"])
    };
    of("clusters", "0").refused(&["clusters", "from 1 to 4096", "remedy"]);
    of("memory_max_mb", "1.0").refused(&["memory_max_mb", "a backend has only 1", "remedy"]);
    of("rate_max_per_s", "1.0").refused(&["rate_max_per_s", "sustains only 1", "remedy"]);
    of("cost_max", "1.0").refused(&["cost_max", "remedy"]);
}
