//! `[scheduler]` through a scenario.

use super::base::{NAME, VALID, line, refused};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::log::MemoryLog;
use orrery_sim::time::Span;

fn log(text: &str) -> Vec<String> {
    let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
    let setup = scenario.setup(1).unwrap();
    let policy = PolicySpec::parse("fifo").unwrap();
    let run = setup.run_with(&policy, 1, MemoryLog::default()).unwrap();
    run.observer.1.records.iter().map(ToString::to_string).collect()
}

fn with(scheduler: &str) -> String {
    VALID.replace("[noise]", &format!("[scheduler]\n{scheduler}\n\n[noise]"))
}

#[test]
fn it_is_off_by_default_and_at_no_cost() {
    let off = log(VALID);
    assert_eq!(off, log(&with("")));
    assert_eq!(off, log(&with("request_us = 0.0")));
    assert_ne!(off, log(&with("request_us = 0.5")));
}

#[test]
fn microseconds_are_rounded_to_nanoseconds() {
    let text = with("request_us = 1.2346\naction_us = 2\nresult_us = 1e3");
    let cost = Scenario::from_text(NAME, &text).unwrap().setup(1).unwrap().scheduler;
    assert_eq!(cost.request, Span::from_ns(1_235));
    assert_eq!((cost.action, cost.result), (Span::from_us(2), Span::from_ms(1)));
}

#[test]
fn a_cost_is_not_negative_and_at_most_a_minute() {
    for (key, value) in [("request_us", "-1.0"), ("action_us", "nan"), ("result_us", "6.1e7")] {
        let to = format!("[scheduler]\n{key} = {value}\n[noise]");
        let text = VALID.replace("[noise]", &to);
        refused(&text, line(&text, key), &[&format!("scheduler.{key}"), "0 to 6e7"]);
    }
}
