//! The figure about partitions.

use super::process::run;
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
