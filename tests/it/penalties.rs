//! Costs of late answers: from a scenario to policies, rows, logs and the auditor.

use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::audit::audit_log;
use orrery_sim::log::{LogWriter, Names, read_log};
use orrery_sim::metrics::Metrics;
use orrery_sweep::replication::Replication;

const POLICIES: [&str; 5] =
    ["orloj", "orloj[score_law=own,estimate_law=own]", "clockwork", "nexus", "fifo"];

/// The shipped example, shorter, with the steps of `chat`, and without a warm-up.
fn scenario(steps: &str) -> Scenario {
    let text = include_str!("../../scenarios/late-costs.toml");
    let (head, _) = text.split_once("penalties = ").expect("the first is of chat");
    let (_, tail) = text.split_once("cost = 1 }]\n").expect("its end");
    let text = format!("{head}{steps}\n{tail}")
        .replace("20_000", "4_000")
        .replace("warm_up_s = 2.0", "warm_up_s = 0.0");
    Scenario::from_text("late-costs.toml", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn run(scenario: &Scenario, policy: &str) -> (Metrics, Replication, Vec<u8>) {
    let spec = PolicySpec::parse(policy).expect("a policy");
    let setup = scenario.setup(1).expect("a scenario");
    let metrics = setup.run(&spec, 1).expect("a run");
    let rows = Replication::of(1, &metrics, &scenario.scope_names());
    let writer = LogWriter::with_names(Vec::new(), &Names::default()).with_terms(&setup.terms());
    let log = setup.run_with(&spec, 1, writer).expect("a run").observer.1;
    (metrics, rows, log.finish().expect("memory"))
}

/// Without a penalty nothing is counted; with one of 1 after the SLO it is the same run and one more row.
#[test]
fn one_step_costs_one_less_the_finish_rate() {
    let (one, none) = ("penalties = [{ deadline_x_slo = 1, cost = 1 }]", "");
    for policy in POLICIES {
        let (metrics, with, log) = run(&scenario(one), policy);
        let text = scenario(none);
        let mut plain = text.clone();
        plain.file.app.iter_mut().for_each(|a| a.penalties = None);
        let (_, without, plain_log) = run(&plain, policy);
        let f = metrics.total();
        assert_eq!(f.mean_cost(), Some(1.0 - f.finish_rate()), "{policy}");
        let cost_of =
            |r: &Replication, scope: &str| r.value(scope, "mean_cost").expect("it is counted");
        for scope in ["all", "app chat", "app search"] {
            let rate = with.value(scope, "finish_rate").expect("requests");
            assert_eq!(cost_of(&with, scope), 1.0 - rate, "{policy}, {scope}");
        }
        let others: Vec<_> = with.measures.iter().filter(|m| m.metric != "mean_cost").collect();
        assert_eq!(others, without.measures.iter().collect::<Vec<_>>(), "{policy}");
        let records = |log: &[u8]| {
            let text = String::from_utf8(log.to_vec()).expect("text");
            text.lines()
                .filter(|l| !l.starts_with("terms,penalties"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(records(&log), records(&plain_log), "{policy}");
    }
}

/// The auditor sums costs from the log by its own rule.
#[test]
fn the_auditor_finds_the_cost_that_was_counted() {
    let steps = "penalties = [{ deadline_x_slo = 1, cost = 0.25 }, { deadline_x_slo = 1.5, cost = 0.75 }, { deadline_x_slo = 6, cost = 3 }]";
    let scenario = scenario(steps);
    for policy in POLICIES {
        let (metrics, _, log) = run(&scenario, policy);
        let report = audit_log(read_log(&log[..], "run.log")).expect("a log");
        assert!(report.is_clean(), "{policy}: {report}");
        let f = metrics.total();
        assert_eq!(report.cost, Some(f.at_stake - f.saved), "{policy}");
        assert!(report.to_string().contains("mean cost"), "{report}");
    }
}

#[test]
fn both_queues_of_orloj_write_the_same_log() {
    let steps = "penalties = [{ deadline_x_slo = 1, cost = 0.25 }, { deadline_x_slo = 1.5, cost = 0.75 }, { deadline_x_slo = 6, cost = 3 }]";
    let scenario = scenario(steps);
    for keys in ["", "score_law=own,estimate_law=own", "b_per_ms=0.01", "order=ascending"] {
        let comma = if keys.is_empty() { "" } else { "," };
        let [(scan, _, scanned), (hull, _, by_hull)] = ["scan", "hull"]
            .map(|queue| run(&scenario, &format!("orloj[{keys}{comma}queue={queue}]")));
        assert_eq!(scan.total(), hull.total(), "{keys}");
        assert!(scanned == by_hull, "{keys}: the logs differ");
    }
}

/// What a cost buys: requests with a later, costly step are kept where a single deadline drops them.
#[test]
fn orloj_keeps_what_can_still_meet_its_last_deadline() {
    let two = "penalties = [{ deadline_x_slo = 1, cost = 0.5 }, { deadline_x_slo = 4, cost = 1 }]";
    let one = "penalties = [{ deadline_x_slo = 1, cost = 1 }]";
    let [stepped, single] = [two, one].map(|steps| run(&scenario(steps), "orloj").0.total());
    let late = |f: &orrery_sim::metrics::Figures| f.ended(orrery_sim::request::End::Late);
    assert!(late(&stepped) > late(&single), "{} {}", late(&stepped), late(&single));
    assert!(stepped.dropped() < single.dropped(), "{} {}", stepped.dropped(), single.dropped());
    // One that sees the first deadline alone makes the run of a single step.
    let blind = run(&scenario(two), "orloj[deadlines=first]").0.total();
    assert_eq!((blind.ends, &blind.latency), (single.ends, &single.latency));
}
