//! What the kinds of load give: numbers, limits, and execution times that arrivals carry.

use super::base::{NAME, VALID, changed, with_arrivals};
use orrery_run::setup::Workload;
use orrery_scenario::Scenario;
use orrery_sim::request::{Arrival, End, ModelId};
use orrery_sim::time::{Span, Time};

fn scenario(text: &str) -> Scenario {
    Scenario::from_text(NAME, text).unwrap_or_else(|e| panic!("{e}"))
}

/// All arrivals of the first source.
fn arrivals(text: &str) -> Vec<Arrival> {
    let mut sources = scenario(text).setup(1).unwrap().sources(1).unwrap();
    let all = std::iter::from_fn(|| sources[0].pop()).collect();
    assert_eq!(sources[0].failure(), None);
    all
}

#[test]
fn requests_and_duration_limit_every_kind_of_load() {
    let trace = "trace = { file = \"azure2019-f500\", minutes = 3, per_function = true }";
    let llm = "llm = { file = \"azure-llm2023-code\", base_ms = 1, per_context_ms = 0.01, \
               per_generated_ms = 0.1 }";
    for process in ["constant = { rate_per_s = 20 }", trace, llm] {
        let n = arrivals(&with_arrivals(&format!("{process}\nrequests = 7"))).len();
        assert_eq!(n, 7, "{process}");
        let all = arrivals(&with_arrivals(&format!("{process}\nduration_s = 9.5")));
        assert!(!all.is_empty() && all.len() < 5_000, "{process}");
        assert!(all.iter().all(|a| a.at < Time::ZERO + Span::from_ms(9_500)));
    }
}

#[test]
fn a_shared_process_for_all_apps_is_an_open_workload() {
    let setup = scenario(&with_arrivals("poisson = { rate_per_s = 9 }\nrequests = 9")).setup(1);
    assert!(matches!(setup.unwrap().workload, Workload::Open { requests: 9, .. }));
}

#[test]
fn arrivals_come_from_the_apps_that_are_named() {
    let load = "poisson = { rate_per_s = 9 }\nrequests = 50\napps = [\"photos\"]";
    assert!(arrivals(&with_arrivals(load)).iter().all(|a| a.app.0 == 1 && a.model.0 == 1));
}

#[test]
fn a_trace_has_the_rate_that_is_asked_for() {
    for per_function in [false, true] {
        let load = format!(
            "trace = {{ file = \"azure2019-f500\", minutes = 20, compress = 10, rate_per_s = 100, \
             inside = \"even\", per_function = {per_function} }}"
        );
        let all = arrivals(&with_arrivals(&load));
        // 20 minutes in 120 s; a function's own rounding loses a fraction of a call each.
        let rate = all.len() as f64 / 120.0;
        assert!((rate - 100.0).abs() < 3.0, "{rate}");
        assert!(all.iter().any(|a| a.app.0 == 0) && all.iter().any(|a| a.app.0 == 1));
    }
}

#[test]
fn prompts_are_of_one_app_and_bring_their_times() {
    let load = "llm = { file = \"azure-llm2023-code\", base_ms = 2, per_context_ms = 0.01, \
                per_generated_ms = 0.1 }\nrequests = 40\napps = [\"chat\"]";
    let text = with_arrivals(load);
    let text = text.replace("time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }\n", "");
    let all = arrivals(&text);
    assert!(all.iter().all(|a| a.app.0 == 0 && a.alone >= Span::from_ms(2)));
    let law = scenario(&text).setup(1).unwrap().apps[0].law.clone();
    let mean_ns = all.iter().map(|a| a.alone.ns() as f64).sum::<f64>() / all.len() as f64;
    assert!((law.mean_ns() - mean_ns).abs() < 1.0, "the law is that of the arrivals");
}

#[test]
fn a_closed_loop_may_run_beside_arrivals() {
    let scenario = scenario(VALID);
    let setup = scenario.setup(1).unwrap();
    let sources = setup.sources(1).unwrap();
    let closed: Vec<bool> = sources.iter().map(|s| s.is_closed_loop()).collect();
    assert_eq!(closed, [false, true]);
    let mut setup = setup;
    setup.window.from = Time::ZERO;
    let total = setup.run(&scenario.policies().unwrap()[0], 1).unwrap().total();
    assert_eq!(total.offered, 450);
}

#[test]
fn what_is_in_the_system_when_a_run_is_stopped_is_pending() {
    let text = with_arrivals("constant = { rate_per_s = 5000 }");
    let text = format!("until_s = 1.0\n{text}").replace("warm_up_s = 0.5\n", "");
    let scenario = scenario(&text);
    let fifo = &scenario.policies().unwrap()[0];
    let metrics = scenario.setup(1).unwrap().run(fifo, 1).unwrap();
    assert_eq!(metrics.end(), Time::ZERO + Span::from_secs(1));
    let total = metrics.total();
    // The first at 0, the last as the run is stopped.
    assert_eq!(total.offered, 5_001);
    assert!(total.ended(End::Pending) > 0);
    assert_eq!(total.offered, total.ends.iter().sum::<u64>());
}

/// A folder for this test, with a scenario in it that replays `w.csv`.
fn folder(workload: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), with_arrivals(workload)).unwrap();
    folder
}

/// The same load with the scenario's SLOs, which are scaled.
#[test]
fn a_recorded_workload_may_have_the_slos_of_the_scenario() {
    let folder = folder("workload = { file = \"w.csv\", scenario_slos = true }");
    let rows = "arrival_ns,app,model,size,slo_ns,alone_ns\n1,0,0,1,7,5\n2,1,1,1,,5\n3,0,0,1,9,5\n";
    std::fs::write(folder.path().join("w.csv"), rows).unwrap();
    let path = folder.path().join("s.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("slo_ms = 100.0", "slo_ms = 40.0\nslo_scale = 2.5"))
        .unwrap();
    let setup = Scenario::load(&path).unwrap().setup(1).unwrap();
    let mut sources = setup.sources(1).unwrap();
    let slos: Vec<Span> = std::iter::from_fn(|| sources[0].pop().map(|a| a.slo)).collect();
    assert_eq!(slos, [100, 60, 100].map(Span::from_ms), "60 is an application's own");
    assert!(!setup.own_slos, "so the head of a log has them");
}

/// Where models stand, and pipelines, reach the world.
#[test]
fn devices_hold_the_models_that_they_are_given() {
    let placed = "count = 2\nstages = 4\nholds = [[\"resnet\", \"bert\"], [\"resnet\"]]";
    let devices = scenario(&changed("count = 2", placed)).setup(1).unwrap().world.core.devices;
    let numbers = |all: &[u32]| Some(all.iter().map(|&m| ModelId(m)).collect::<Vec<_>>());
    let found: Vec<_> = devices.iter().map(|d| (d.holds.clone(), d.stages, d.lanes)).collect();
    assert_eq!(found, [(numbers(&[0, 1]), 4, 4), (numbers(&[1]), 4, 4), (None, 1, 1)]);
    let one = scenario(&changed("count = 2", "count = 2\nstages = 1")).setup(1).unwrap();
    assert_eq!(one.world.core.devices, scenario(VALID).setup(1).unwrap().world.core.devices);
}

#[test]
fn a_workload_that_does_not_fit_the_scenario_says_so() {
    let folder = folder("workload = { file = \"w.csv\" }");
    let header = "arrival_ns,app,model,size,slo_ns,alone_ns";
    std::fs::write(folder.path().join("w.csv"), format!("{header}\n1,0,0,1,,5\n2,7,0,1,,5\n"))
        .unwrap();
    let scenario = Scenario::load(folder.path().join("s.toml")).unwrap();
    let fifo = &scenario.policies().unwrap()[0];
    let error = scenario.setup(1).unwrap().run(fifo, 1).unwrap_err().to_string();
    assert!(error.contains("w.csv: line 3: column `app`: found `7`"), "{error}");
    std::fs::write(folder.path().join("w.csv"), format!("{header}\n1,0,0,1,x,5\n")).unwrap();
    let error = scenario.setup(1).err().unwrap().to_string();
    assert!(error.contains("s.toml:40") && error.contains("w.csv: line 2"), "{error}");
}

#[test]
fn a_part_of_a_list_of_queries_begins_at_its_first_instant() {
    let at_ms = |part: &str| {
        let folder = folder(&format!("queries = {{ file = \"q.csv\", {part} }}"));
        std::fs::write(folder.path().join("q.csv"), "arrival_ms,size\n0,1\n20,1\n30,1\n").unwrap();
        let setup = Scenario::load(folder.path().join("s.toml")).unwrap().setup(1)?;
        let mut sources = setup.sources(1)?;
        let all = std::iter::from_fn(|| sources[0].pop().map(|a| a.at.ns() / 1_000_000));
        Ok::<Vec<u64>, orrery_run::SpecError>(all.collect())
    };
    assert_eq!(at_ms("from_s = 0.02").unwrap(), [0, 10]);
    assert_eq!(at_ms("to_s = 0.03").unwrap(), [0, 20]);
    let error = at_ms("from_s = 9").unwrap_err().to_string();
    assert!(error.contains("3 were read"), "{error}");
}

#[test]
fn apps_without_a_time_learn_it_from_the_workload() {
    let folder = folder("workload = { file = \"w.csv\", from_row = 1 }");
    let header = "arrival_ns,app,model,size,slo_ns,alone_ns";
    let rows = "1,0,0,1,,5000\n2,0,0,1,,7000\n3,0,0,1,,9000\n";
    std::fs::write(folder.path().join("w.csv"), format!("{header}\n{rows}")).unwrap();
    let path = folder.path().join("s.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let chat = "time = { normal = { mean_ms = 5.0, sd_ms = 1.0 } }\n";
    std::fs::write(&path, text.replace(chat, "")).unwrap();
    let setup = Scenario::load(&path).unwrap().setup(1).unwrap();
    assert_eq!(setup.apps[0].law.mean_ns(), 8_000.0);
    let photos = "time = { modes = [[1.0, 2.0, 0.1], [3.0, 4.0, 0.2]] }\n";
    std::fs::write(&path, text.replace(photos, "")).unwrap();
    let error = Scenario::load(&path).unwrap().setup(1).err().unwrap().to_string();
    assert!(error.contains("app[1].time") && error.contains("no request of it"), "{error}");
}

#[test]
fn a_faster_kind_and_a_law_of_its_own_are_obeyed() {
    let latency = &scenario(VALID).setup(1).unwrap().world.latency;
    let at = |kind: usize, model: usize, k: u32| latency[kind][model].batch(k, Span::from_ms(1));
    assert_eq!(at(1, 0, 3), Span::from_ms(14), "half the speed");
    assert_eq!((at(0, 1, 2), at(1, 1, 2)), (Span::from_ms(4), Span::from_ms(8)));
}

/// M/M/1 at 80 %: the mean time in the system is service over 1 - load, 25 ms.
#[test]
fn exponential_times_make_a_queue_of_theory() {
    let text = "policies = [\"fifo[max_batch=1]\"]\n[[model]]\nname = \"m\"\nslo_ms = 100\n\
                latency = { proportional = { c1 = 1.0 } }\n[[app]]\nname = \"a\"\nmodel = \"m\"\n\
                time = { exponential = { mean_ms = 5.0 } }\n[arrivals]\npoisson = { rate_per_s = 160.0 }\n\
                requests = 200_000\n[profile]\nsizes = [1]\n";
    let scenario = scenario(text);
    let policy = scenario.policies().unwrap().remove(0);
    let total = scenario.setup(1).unwrap().run(&policy, 1).unwrap().total();
    let mean_ms = total.latency.mean().as_ms_f64();
    assert!((mean_ms / 25.0 - 1.0).abs() < 0.04, "{mean_ms}");
    let wrong = text.replace("mean_ms = 5.0", "mean_ms = 0.0");
    let error = Scenario::from_text(NAME, &wrong).unwrap_err().to_string();
    assert!(error.contains("app[0].time.exponential"), "{error}");
}
