//! `[scheduler]` with every policy: at no cost it changes nothing, and at any cost the books balance.

use crate::determinism::{crowded, every_policy, policy};
use orrery_run::Setup;
use orrery_sim::audit::audit;
use orrery_sim::driver::simulate;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::served::{Cost, Served};
use orrery_sim::time::Span;

fn behind_a_server(setup: &Setup, text: &str, cost: Cost) -> Vec<Record> {
    let served = Served::new(cost, setup.policy(&policy(text), 1));
    let sources = setup.sources(1).unwrap_or_else(|e| panic!("{e}"));
    simulate(&setup.world, sources, served, MemoryLog::default()).observer.records
}

#[test]
fn a_server_without_cost_changes_no_record_of_any_policy() {
    let setup = crowded(400);
    for text in every_policy() {
        let run = setup.run_with(&policy(&text), 1, MemoryLog::default());
        let plain = run.unwrap_or_else(|e| panic!("{e}")).observer.1.records;
        assert!(plain == behind_a_server(&setup, &text, Cost::default()), "{text}");
    }
}

/// From little to a server that is four times too slow: policies learn late of what has long
/// happened, and their actions leave later than they think.
#[test]
fn every_policy_keeps_the_books_behind_a_slow_server() {
    let setup = crowded(400);
    for us in [300, 20_000] {
        let span = Span::from_us(us);
        let costs = [
            Cost { request: span, action: span, result: span },
            Cost { action: span, ..Cost::default() },
            Cost { result: span, ..Cost::default() },
        ];
        for text in every_policy() {
            for cost in costs {
                let records = behind_a_server(&setup, &text, cost);
                let report = audit(records.iter().cloned());
                assert!(report.is_clean(), "{text} {cost:?}: {report}");
                let arrived = records.iter().filter(|r| matches!(r, Record::Arrive { .. })).count();
                let ended = records.iter().filter(|r| matches!(r, Record::End { .. })).count();
                assert_eq!((arrived, ended), (400, 400), "{text} {cost:?}");
            }
        }
    }
}
