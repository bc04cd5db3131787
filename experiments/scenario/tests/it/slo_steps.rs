//! SLOs that change in steps: which request has which, and steps that leave no time.

use super::base::{NAME, line, refused};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::request::{Drop, End};
use orrery_sim::time::Span;
use std::collections::BTreeMap;

fn text(head: &str, model: &str, app: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n{head}\n\
         [[model]]\nname = \"m\"\nslo_ms = 50.0\nlatency = {{ table = [[1, 2.0], [2, 3.0]] }}\n{model}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\n{app}\n\
         [[app]]\nname = \"b\"\nmodel = \"m\"\nslo_ms = 40.0\n\
         [arrivals]\npoisson = {{ rate_per_s = 100.0 }}\nduration_s = 4.0\n\
         [closed_loop]\nclients = 2\nthink = {{ exponential_ms = 20.0 }}\nduration_s = 3.0\n"
    )
}

const STEPS: &str = "slo_steps = { first_ms = 2.9, factor = 1.5, every_s = 1.0, count = 3 }";

/// 2.9 ms x 1.5^k, to the nanosecond.
const NS: [u64; 3] = [2_900_000, 4_350_000, 6_525_000];

fn records(text: &str) -> Vec<Record> {
    let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
    let policy = PolicySpec::parse("fifo").unwrap();
    let setup = scenario.setup(1).unwrap();
    let records = setup.run_with(&policy, 1, MemoryLog::default()).unwrap().observer.1.records;
    // The head of the log promises an SLO only to those who keep it.
    let slos: Vec<Option<Span>> = setup.terms().apps.iter().map(|a| a.slo).collect();
    assert_eq!(slos, [None, Some(Span::from_ms(40))]);
    records
}

#[test]
fn requests_have_the_slo_of_their_step_in_open_and_closed_loops() {
    for (model, app) in [(STEPS, ""), ("", STEPS)] {
        let mut seen = BTreeMap::new();
        for record in records(&text("", model, app)) {
            let Record::Arrive { request, .. } = record else { continue };
            let step = (request.arrival.ns() / 1_000_000_000).min(2) as usize;
            let slo = if request.app.0 == 0 { Span::from_ns(NS[step]) } else { Span::from_ms(40) };
            assert_eq!(request.slo(), slo, "at {}", request.arrival);
            *seen.entry((request.app.0, request.source.0, step)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 12, "{seen:?}");
    }
}

/// A step in which nothing fits is refused by Clockwork, the next is met: the estimates carry over.
#[test]
fn a_policy_meets_the_steps_that_leave_time() {
    let steps = "slo_steps = { first_ms = 1.9, factor = 10.0, every_s = 1.0, count = 3 }";
    let text = text("allow_hopeless_slo = true", steps, "");
    let scenario = Scenario::from_text(NAME, &text).unwrap();
    let policy = PolicySpec::parse("clockwork[preset=paper]").unwrap();
    let run = scenario.setup(1).unwrap().run_with(&policy, 1, MemoryLog::default()).unwrap();
    let (mut step_of, mut ends) = (BTreeMap::new(), BTreeMap::<(usize, bool), u32>::new());
    for record in run.observer.1.records {
        match record {
            Record::Arrive { request, .. } if request.app.0 == 0 => {
                step_of.insert(request.id, (request.arrival.ns() / 1_000_000_000).min(2) as usize);
            }
            Record::End { request, end, .. } => {
                let Some(&step) = step_of.get(&request) else { continue };
                assert_ne!(end, End::Dropped(Drop::Shed));
                *ends.entry((step, end == End::InTime)).or_default() += 1;
            }
            _ => {}
        }
    }
    assert!(ends.keys().all(|&(step, in_time)| in_time == (step > 0)), "{ends:?}");
}

#[test]
fn steps_of_a_zoo_and_of_a_scaled_model_are_written_out() {
    let zoo = "policies = [\"fifo\"]\n[[zoo]]\nname = \"clockwork-v100\"\nmodels = [\"resnet50\"]\n\
               copies = 2\nslo_steps = { first_ms = 5.0, factor = 2, every_s = 1, count = 2 }\n\
               [arrivals]\npoisson = { rate_per_s = 9 }\nduration_s = 4\n";
    let setup = Scenario::from_text(NAME, zoo).unwrap().setup(1).unwrap();
    let longest: Vec<Span> = setup.apps.iter().map(|a| a.slo).collect();
    assert_eq!(longest, [Span::from_ms(10); 2]);
    let scaled = text("", &format!("slo_scale = 2.0\n{STEPS}"), "");
    let setup = Scenario::from_text(NAME, &scaled).unwrap().setup(1).unwrap();
    assert_eq!(setup.apps[0].slo, Span::from_ns(2 * NS[2]));
}

#[test]
fn steps_that_leave_no_time_are_errors() {
    let wrong = |steps: &str, words: &[&str]| {
        let text = text("", "", steps);
        refused(&text, line(&text, "slo_steps"), words);
    };
    let steps = |first: f64, factor: f64, every: f64, count: u32| {
        format!(
            "slo_steps = {{ first_ms = {first:?}, factor = {factor:?}, every_s = {every:?}, count = {count} }}"
        )
    };
    wrong(
        &steps(1.5, 1.5, 1.0, 3),
        &["app[0].slo_steps", "1.500000ms for `a` in step 0", "at least 2"],
    );
    wrong(&steps(9.0, 0.4, 1.0, 3), &["in step 2", "allow_hopeless_slo"]);
    wrong(
        &steps(9.0, 1.5, 2.0, 3),
        &["slo_steps.count", "3 steps of 2 s", "before the load ends, at 4 s"],
    );
    wrong(&steps(9.0, 10.0, 0.1, 30), &["slo_steps.factor", "step 7", "lower `count`"]);
    wrong(&steps(9.0, 1.0, 0.0, 3), &["slo_steps.every_s"]);
    wrong(&steps(9.0, 1.0, 1.0, 0), &["slo_steps.count"]);
    wrong(&format!("slo_ms = 9.0\n{STEPS}"), &["app[0].slo_steps", "`slo_ms` or `slo_steps`"]);
    // With a shorter run, the last step has no time.
    let text = text("until_s = 2.0", STEPS, "");
    refused(&text, line(&text, "slo_steps"), &["model[0].slo_steps.count", "at 2 s"]);
}
