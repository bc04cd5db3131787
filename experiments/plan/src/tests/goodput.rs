//! A pool's capacity and `orrery goodput` of the file that a plan writes are one number.

use crate::PlanFile;
use crate::input::problem::Problem;
use crate::search::runs::Runs;
use crate::search::trial::Bench;
use orrery_results::Row;
use orrery_scenario::Scenario;
use orrery_sweep::goodput::Search;
use orrery_sweep::replication::{PEAK, Replication};
use orrery_sweep::rows::rows;
use orrery_sweep::seeds::Seeds;
use std::path::Path;

/// Of every shipped plan, on a small pool of its first type.
#[test]
fn a_pool_and_its_scenario_have_one_capacity_to_the_digit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/plans");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let (mut plan, source) = PlanFile::load(&entry.unwrap().path()).unwrap();
        (plan.seeds, plan.requests_per_model, plan.precision) = (2, 1_000, 0.02);
        let (problem, runs) = (Problem::new(&plan, &source).unwrap(), Runs::new(None));
        for group in &problem.groups {
            let bench = Bench::new(&problem, group, &problem.policies[0], &runs);
            let counts = crate::search::size::counts(&problem, group.base.unwrap_or(0), 2);
            let edge = bench.edge(&counts).unwrap();
            let policy = &problem.policies[0];
            let text = group.scenario_text(&problem, &counts, policy.text(), 1).unwrap();
            let scenario = Scenario::from_text("written.toml", &text).unwrap();
            let search = Search {
                target: plan.target(),
                tolerance: plan.precision,
                requests_per_model: plan.requests_per_model,
                ..Search::default()
            };
            let of = |seed: &u64| search.run(&scenario, policy, *seed).unwrap();
            let found: Vec<Replication> = problem.seeds().iter().map(of).collect();
            let values: Vec<f64> = found.iter().filter_map(|r| r.value("all", PEAK)).collect();
            let name = format!("{}, {}", plan.name(), group.name);
            assert_eq!(values, edge.by_seed_per_s, "{name}");
            // And so is what is printed of it.
            let seeds = Seeds { first: 1, count: 2, until_ci: None };
            let rows = rows(&Row::default(), &seeds, &found);
            let row = rows.iter().find(|r| r.metric == PEAK).unwrap();
            assert_eq!(row.ci95(), edge.interval.map(|i| (i.low, i.high)), "{name}");
            assert_eq!(row.has_flag("undecided"), edge.undecided.is_some(), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}
