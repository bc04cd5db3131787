//! Orloj's queue as a list that is scanned and as dynamic convex hulls: the same log, byte by byte, on every
//! row of its tables. `sim/src/policy/orloj/hulls/tests.rs` has the same for random small worlds, with
//! relearning, several models and resets of the base.

use orrery_reproduce::kinds::applications::run::{OneCell, Tested, World};
use orrery_reproduce::kinds::applications::table::Applications;
use orrery_reproduce::registry::find;
use orrery_run::{PolicySpec, Setup};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sweep::grid::{combinations, word};

/// The log, without the line that names the policy.
fn log(setup: &Setup, policy: &str, seed: u64) -> Vec<Record> {
    let spec = PolicySpec::parse(policy).unwrap_or_else(|e| panic!("{e}"));
    let run = setup.run_with(&spec, seed, MemoryLog::default()).unwrap_or_else(|e| panic!("{e}"));
    run.observer.1.records.into_iter().skip(1).collect()
}

/// Every row of a table, with Orloj as in the paper and as calibrated by either reading; how many logs were compared.
fn same_on_every_row(id: &str) -> u32 {
    let e = find(id).expect("a shipped table");
    let applications = e.resolved.get("applications").cloned().expect("applications");
    let mut applications: Applications = applications.try_into().expect("a table of applications");
    if option_env!("ORRERY_WHOLE").is_none() {
        applications.load.requests = 500;
    }
    let world = World::new(applications).expect("a trace");
    let policies = e.system.iter().map(|s| s.policy.as_str()).filter(|p| p.starts_with("orloj"));
    let mut policies: Vec<&str> = policies.collect();
    policies.extend(["orloj[b_per_ms=1e-6]", "orloj[b_per_ms=0.1]"]);
    let mut compared = 0;
    for row in combinations(&e.point, &e.axis, e.sample) {
        let value = |key: &str| &row.changes.iter().find(|(k, _)| k == key).expect("an axis").1;
        let (case, load) = world.case(&word(value("case"))).expect("a case");
        let slo_x_p99 = value("slo_x_p99").as_float().expect("a number");
        for policy in &policies {
            let tested = Tested {
                policy: policy.to_string(),
                host_ms_per_request: 0.0,
                message_ms: 1.0,
                c1_of: Default::default(),
            };
            let cell =
                OneCell { world: &world, case: &case, load: &load, slo_x_p99, tested: &tested };
            let setup = cell.setup(0).expect("a setup");
            let with = |queue: &str| match policy.strip_suffix(']') {
                Some(open) => format!("{open},queue={queue}]"),
                None => format!("{policy}[queue={queue}]"),
            };
            let (scan, hull) = (log(&setup, &with("scan"), 0), log(&setup, &with("hull"), 0));
            assert!(scan.len() > 1_000, "{} {slo_x_p99} {policy}", case.name);
            assert!(scan == hull, "{} {slo_x_p99} {policy}", case.name);
            compared += 1;
        }
    }
    compared
}

#[test]
fn every_row_of_tables_2_to_5_has_the_same_log_with_both_forms() {
    let rows = [2, 3, 4, 5].map(|table| same_on_every_row(&format!("orloj-table-{table}")));
    assert_eq!(rows, [100, 175, 50, 250]);
}
