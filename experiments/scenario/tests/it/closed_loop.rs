//! Clients of an application each, beside open arrivals; loops that would not end.

use super::base::{NAME, line, refused};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::audit::Auditor;
use orrery_sim::driver::simulate;
use orrery_sim::log::{MemoryLog, Names, Record};
use orrery_sim::policy::{Actions, Event, Known, Policy};
use orrery_sim::request::Drop;
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

/// Clockwork's Fig. 8 in small: two sensitive copies with open arrivals, four batch copies with clients.
fn text(closed: &str) -> String {
    format!(
        "policies = [\"fifo\"]\n\
         [[zoo]]\nname = \"clockwork-zoo-v100\"\nmodels = [\"resnet50_v2\"]\nprefix = \"sensitive-\"\n\
         copies = 2\nslo_ms = 22.0\n\
         [[zoo]]\nname = \"clockwork-zoo-v100\"\nmodels = [\"resnet50_v2\"]\nprefix = \"batch-\"\n\
         copies = 4\nslo_ms = 86_400_000.0\n\
         [[device]]\ncount = 3\n\
         [arrivals]\npoisson = {{ rate_per_s = 50.0 }}\nper_app = true\nduration_s = 2.0\n\
         apps = [\"sensitive-resnet50_v2\"]\n\
         [closed_loop]\nthink = {{ constant_ms = 0.0 }}\nduration_s = 2.0\n{closed}\n"
    )
}

const BATCH: &str = "apps = [\"batch-resnet50_v2\"]";

fn records(text: &str, policy: &str) -> Vec<Record> {
    let scenario = Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"));
    let policy = PolicySpec::parse(policy).unwrap();
    let run = scenario.setup(1).unwrap().run_with(&policy, 1, MemoryLog::default());
    run.unwrap_or_else(|e| panic!("{e}")).observer.1.records
}

/// The most requests in the system at once, and all requests, of each application.
fn in_system(records: &[Record]) -> BTreeMap<u32, (i64, u64)> {
    let (mut apps, mut now, mut all) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for record in records {
        match record {
            Record::Arrive { request, .. } => {
                apps.insert(request.id, request.app.0);
                let n = now.entry(request.app.0).or_insert(0);
                *n += 1;
                let (most, sum): &mut (i64, u64) = all.entry(request.app.0).or_default();
                (*most, *sum) = ((*most).max(*n), *sum + 1);
            }
            Record::End { request, .. } => *now.get_mut(&apps[request]).unwrap() -= 1,
            _ => {}
        }
    }
    all
}

#[test]
fn each_application_has_its_clients_beside_open_arrivals() {
    let closed = format!("{BATCH}\nclients = 5\nper_app = true");
    let found = in_system(&records(&text(&closed), "fifo"));
    let batch: Vec<i64> = (2..6).map(|app| found[&app].0).collect();
    assert_eq!(batch, [5; 4], "as many as it has clients, and never more");
    assert!((60..140).contains(&(found[&0].1 + found[&1].1)), "{found:?}");
    // One client of an application alone: as many requests as fit one after another.
    let one =
        text(&format!("{BATCH}\nclients = 1\nper_app = true")).replace("count = 3", "count = 9");
    let one = one.replace("poisson = { rate_per_s = 50.0 }", "poisson = { rate_per_s = 0.001 }");
    let found = in_system(&records(&one, "fifo"));
    let each: Vec<u64> = (2..6).map(|app| found[&app].1).collect();
    assert_eq!(each, [(2_000.0f64 / 2.73).ceil() as u64; 4]);
}

#[test]
fn clients_may_differ_by_application_and_copy() {
    let closed = format!(
        "{BATCH}\nclients = 2\nper_app = true\n\
         clients_of = {{ \"batch-resnet50_v2\" = 3, \"batch-resnet50_v2#2\" = 7 }}"
    );
    let found = in_system(&records(&text(&closed), "fifo"));
    let most: Vec<i64> = (2..6).map(|app| found[&app].0).collect();
    assert_eq!(most, [3, 7, 3, 3]);
}

#[test]
fn a_closed_loop_has_sizes_drawn_from_laws() {
    let text = "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 1000\n\
                latency = { affine = { alpha_ms = 0.01, beta_ms = 1 } }\n\
                [[app]]\nname = \"a\"\nmodel = \"m\"\nsizes = \"kairos\"\ntime = { constant = { ms = 1 } }\n\
                [closed_loop]\nclients = 4\nthink = { constant_ms = 0.5 }\nduration_s = 0.5\n";
    assert!(records(text, "fifo").len() > 500);
}

/// Drops whatever arrives, at once.
struct RefuseAll;

impl Policy for RefuseAll {
    fn name(&self) -> String {
        "refuse-all".to_string()
    }

    fn on(&mut self, _: Time, event: Event<'_>, _: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(request) = event {
            out.end(request.id, Drop::Shed);
        }
    }
}

#[test]
fn a_loop_whose_requests_are_all_refused_at_once_goes_on_in_time() {
    for (pause, every_ms) in [("", 1), ("pause_ms = 20.0", 20)] {
        let text = text(&format!("{BATCH}\nclients = 3\nper_app = true\n{pause}"));
        let setup = Scenario::from_text(NAME, &text).unwrap().setup(1).unwrap();
        let sources = setup.sources(1).unwrap();
        let run = simulate(&setup.world, sources, RefuseAll, MemoryLog::default());
        let mut sent = BTreeMap::<u64, u32>::new();
        for record in &run.observer.records {
            if let Record::Arrive { request, time } = record
                && request.app.0 >= 2
            {
                *sent.entry(time.ns()).or_default() += 1;
            }
        }
        let at = |i: u64| (Time::ZERO + Span::from_ms(every_ms * i)).ns();
        let expected: BTreeMap<u64, u32> = (0..2_000 / every_ms).map(|i| (at(i), 12)).collect();
        assert_eq!(sent, expected);
    }
}

#[test]
fn clients_of_unknown_or_other_applications_are_errors() {
    let wrong = |closed: &str, piece: &str, words: &[&str]| {
        let text = text(closed);
        refused(&text, line(&text, piece), words);
    };
    let per_app = format!("{BATCH}\nclients = 2\nper_app = true\n");
    let unknown = format!("{per_app}clients_of = {{ \"batch-resnet50_v3\" = 3 }}");
    let key = "closed_loop.clients_of.batch-resnet50_v3";
    wrong(&unknown, "clients_of", &[key, "did you mean `batch-resnet50_v2`"]);
    let other = format!("{per_app}clients_of = {{ \"sensitive-resnet50_v2\" = 3 }}");
    wrong(&other, "clients_of", &["3 clients of `sensitive-resnet50_v2#1`", "closed_loop.apps"]);
    let none = format!("{per_app}clients_of = {{ \"batch-resnet50_v2\" = 0 }}");
    wrong(&none, "clients_of", &["clients_of.batch-resnet50_v2", "found 0"]);
    let shared = format!("{BATCH}\nclients = 2\nclients_of = {{ \"batch-resnet50_v2\" = 3 }}");
    wrong(&shared, "clients_of", &["add `per_app = true`"]);
    let many = format!("{BATCH}\nclients = 300000\nper_app = true");
    wrong(&many, "clients = 300000", &["1200000 clients of 4", "at most 1000000"]);
    let unknown = "clients = 2\napps = [\"batch-resnet50_v3\"]";
    wrong(unknown, "apps = [\"batch", &["closed_loop.apps[0]", "did you mean `batch-resnet50_v2`"]);
}

/// While the controller is away, another client sends: its request waits beside the answer.
#[test]
fn clients_that_wait_for_answers_meet_stalls() {
    let text = r#"
policies = ["fifo"]
[[model]]
name = "m"
slo_ms = 50.0
latency = { affine = { alpha_ms = 1.0, beta_ms = 1.0 } }
[[app]]
name = "a"
model = "m"
[closed_loop]
clients = 5
think = { constant_ms = 3.0 }
requests = 2000
[stalls]
lengths_ms = [4.0]
quiet_per_s = 50.0
shared = 0.3
[delays]
reply_ms = 0.5
"#;
    let scenario = Scenario::from_text("stalls.toml", text).unwrap();
    let setup = scenario.setup(1).unwrap();
    let policy = PolicySpec::parse("fifo").unwrap();
    let auditor = Auditor::default().with_terms(&Names::default(), setup.terms());
    let (metrics, auditor) = setup.run_with(&policy, 1, auditor).unwrap().observer;
    assert_eq!(metrics.total().offered, 2_000);
    let report = auditor.finish();
    assert!(report.is_clean(), "{report}");
}
