//! Files of other tools that a scenario names directly.

use orrery_scenario::{Scenario, kind};
use orrery_sim::request::{AppId, Arrival};
use orrery_sim::time::Span;

const PERF: &str = include_str!("../../../../traces/import/samples/perf_analyzer.csv");
const LOG: &str = include_str!("../../../../traces/import/samples/access_log.csv");
const BURST: &str = include_str!("../../../../traces/import/samples/burstgpt.csv");
const TRT: &str = include_str!("../../../../traces/import/samples/trtexec.json");
const VLLM: &str = include_str!("../../../../traces/import/samples/vllm_serving.json");

/// A scenario of two applications with this latency and these arrivals, beside a file of this text, and its notes.
fn noted(
    latency: &str,
    arrivals: &str,
    apps: [&str; 2],
    file: &str,
) -> Result<(Scenario, Vec<String>), String> {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("file"), file).unwrap();
    std::fs::write(place.path().join("file.json"), file).unwrap();
    let [a, b] = apps;
    let text = format!(
        "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = 900.0\nlatency = {latency}\n\
         [[app]]\nname = \"{a}\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 3.0 }} }}\n\
         [[app]]\nname = \"{b}\"\nmodel = \"m\"\nslo_ms = 800.0\ntime = {{ constant = {{ ms = 4.0 }} }}\n\
         [arrivals]\n{arrivals}\n"
    );
    let name = place.path().join("s.toml").display().to_string();
    let scenario = Scenario::from_text(&name, &text).map_err(|e| e.to_string())?;
    // While the folder is there.
    scenario.setup(1).map_err(|e| e.to_string())?;
    let notes = scenario.notes();
    Ok((scenario, notes))
}

/// The same without its notes.
fn scenario(
    latency: &str,
    arrivals: &str,
    apps: [&str; 2],
    file: &str,
) -> Result<Scenario, String> {
    noted(latency, arrivals, apps, file).map(|read| read.0)
}

fn arrivals(scenario: &Scenario) -> Vec<Arrival> {
    let mut sources = scenario.setup(1).unwrap().sources(1).unwrap();
    std::iter::from_fn(|| sources[0].pop()).collect()
}

const AFFINE: &str = "{ affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
const POISSON: &str = "poisson = { rate_per_s = 10.0 }\nrequests = 10";

#[test]
fn a_perf_analyzer_table_is_the_latency_of_a_batch() {
    let read = scenario("{ profile = { file = \"file\" } }", POISSON, ["a", "b"], PERF).unwrap();
    let by_hand = scenario("{ table = [[1, 11.781]] }", POISSON, ["a", "b"], "").unwrap();
    assert_eq!(read.canonical(), by_hand.canonical());
}

/// The file is gone once the first was set up. A plan made thousands of scenarios of one list, and read it for each.
#[test]
fn another_text_reads_no_file_again_and_has_its_own_requests() {
    let law = "workload = { file = \"file\" }\nreplay = {}";
    let first = scenario(AFFINE, law, ["v1-embed", "v1-classify"], LOG).unwrap();
    let at = |scenario: &Scenario| {
        arrivals(scenario).into_iter().map(|a| (a.at, a.slo, a.alone)).collect::<Vec<_>>()
    };
    let same = first.instead(&first.text()).unwrap();
    assert_eq!(at(&same), at(&first));
    let twice = same.with_rate(2.0 * same.rate().unwrap()).unwrap();
    assert_eq!(at(&twice).len(), 2 * at(&first).len());
    let longer =
        first.text().replace("slo_ms = 800.0", "slo_ms = 850.0").replace("ms = 3.0", "ms = 3.5");
    let longer = at(&first.instead(&longer).unwrap());
    let changed = at(&first).into_iter().map(|(at, slo, alone)| match alone.as_ms_f64() {
        3.0 => (at, slo, Span::from_us(3500)),
        _ => (at, Span::from_ms(850), alone),
    });
    assert_eq!(longer, changed.collect::<Vec<_>>());
}

#[test]
fn the_names_of_a_log_are_applications_or_go_round_them() {
    let of = |apps: [&str; 2], more: &str| {
        let law = format!("workload = {{ file = \"file\"{more} }}");
        scenario(AFFINE, &law, apps, LOG)
    };
    let named = of(["v1-embed", "v1-classify"], "").unwrap();
    let got: Vec<_> = arrivals(&named).iter().map(|a| (a.at.ns(), a.app, a.slo, a.alone)).collect();
    let classify = (AppId(1), Span::from_ms(800), Span::from_ms(4));
    let expected = [(0, classify), (60_000_000, classify)].map(|(at, (a, s, t))| (at, a, s, t));
    assert_eq!(got[..2], expected);
    assert_eq!((got[2].0, got[2].1), (1_000_000_000, AppId(0)));
    let notes = named.notes();
    assert!(notes.len() == 1 && notes[0].contains("`--time-is end`"), "{notes:?}");
    let dealt = of(["a", "b"], "").unwrap();
    let apps: Vec<AppId> = arrivals(&dealt).iter().map(|a| a.app).collect();
    assert_eq!(apps, [AppId(0), AppId(0), AppId(1)]);
    assert!(dealt.notes()[0].contains("`/v1/classify` is `a`"));
    let wrong = of(["v1-embed", "v1-classfy"], "").unwrap_err();
    assert!(wrong.contains("`/v1/classify`") && wrong.contains("name `v1-classify`"), "{wrong}");
    let slice = of(["a", "b"], ", from_row = 1, to_row = 2").unwrap();
    assert_eq!(arrivals(&slice).len(), 1);
    let none = of(["a", "b"], ", from_s = 60.0").unwrap_err();
    assert!(none.contains("no request of the 3"), "{none}");
}

#[test]
fn numbers_are_applications_and_what_is_left_out_is_noted() {
    let read =
        |file: &str| noted(AFFINE, "workload = { file = \"file\" }", ["a", "b"], file).unwrap();
    let (log, notes) = read("arrival_ms,app,model\n0,1,0\n500,0,0\n");
    let apps: Vec<AppId> = arrivals(&log).iter().map(|a| a.app).collect();
    assert_eq!(apps, [AppId(1), AppId(0)], "not in order of appearance");
    let expected = ["file: names are numbers of applications: `1` is `b`", "file: ignored: model"];
    assert_eq!(notes, expected);
    // A workload of our own in another unit is no log.
    assert_eq!(read("arrival_ms,app,model,size,slo_ms,alone_ms\n0,1,0,8,1,50\n").1, [""; 0]);
}

#[test]
fn what_a_file_does_not_say_of_its_times_is_a_key() {
    let at_ms = |law: &str, file: &str| {
        let read = scenario(AFFINE, law, ["a", "b"], file).unwrap();
        arrivals(&read).iter().map(|a| a.at.ns() / 1_000_000).collect::<Vec<u64>>()
    };
    let log = "timestamp,name,latency_ms\n0.3,a,300\n0.4,b,200\n0.9,a,1\n";
    let of = |more: &str| at_ms(&format!("workload = {{ file = \"file\"{more} }}"), log);
    assert_eq!(of(""), [0, 100, 600]);
    assert_eq!(of(", timestamps = { is = \"end\" }"), [0, 200, 899]);
    assert_eq!(of(", from_s = 0.1, to_s = 0.5"), [0]);
    let prompts =
        |at: &str| format!("{{\"timestamp\": {at}, \"input_length\": 5, \"output_length\": 4}}\n");
    let prompts = ["0", "200", "400"].map(prompts).concat();
    let llm = |more: &str| {
        let costs = "base_ms = 1.0, per_context_ms = 0.01, per_generated_ms = 0.1";
        at_ms(&format!("llm = {{ file = \"file\", {costs}{more} }}"), &prompts)
    };
    assert_eq!(llm(""), [0, 200, 400]);
    assert_eq!(llm(", timestamps = { unit = \"s\" }"), [0, 200_000, 400_000]);
    assert_eq!(llm(", from_s = 0.1"), [100, 300]);
    // What needs no such word says so, and a file of our own has none.
    let law = "workload = { file = \"azure2021-head199\", timestamps = { is = \"end\" } }";
    let notes = noted(AFFINE, law, ["a", "b"], "").unwrap().1;
    assert!(notes.iter().any(|n| n.contains("`--time-is` changes nothing")), "{notes:?}");
    let own = "arrival_ns,app,model,size,slo_ns,alone_ns\n1,0,0,1,,5\n";
    let law = "workload = { file = \"file\", timestamps = { unit = \"ms\" } }";
    let wrong = scenario(AFFINE, law, ["a", "b"], own).unwrap_err();
    assert!(wrong.contains("arrivals.workload.timestamps"), "{wrong}");
}

#[test]
fn azure_2021_is_a_workload_and_its_durations_are_execution_times() {
    let law = "workload = { file = \"azure2021-head199\" }";
    let read = scenario(AFFINE, law, ["a", "b"], "").unwrap();
    let all = arrivals(&read);
    assert_eq!(all.len(), 199);
    assert_eq!(all[0].at.ns(), 0);
    let twelfths = all.iter().filter(|a| a.app == AppId(1)).count();
    assert!(twelfths > 20, "thirteen names go round two applications: {twelfths}");
    assert!(all.iter().any(|a| a.alone > Span::from_secs(1)));
}

#[test]
fn what_was_odd_or_assumed_is_a_note_of_the_run() {
    let trace = "HashFunction,Trigger,1\nf,http,60\ng,http,30\nf,http,30.0\n";
    let counts = "trace = { file = \"file\" }\nduration_s = 60.0";
    let notes = noted(AFFINE, counts, ["a", "b"], trace).unwrap().1;
    assert!(notes.iter().any(|n| n.starts_with("file: functions given twice: 1")), "{notes:?}");
    let blocks = counts.replace("\" }", "\", order = \"released\" }");
    let notes = noted(AFFINE, &blocks, ["a", "b"], trace).unwrap().1;
    assert!(notes.iter().any(|n| n.starts_with("file: functions given twice: 1")), "{notes:?}");
    let prompts = "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 4}\n\
                   {\"timestamp\": 2, \"input_length\": 5, \"output_length\": 4}\n";
    let llm =
        "llm = { file = \"file\", base_ms = 1.0, per_context_ms = 0.01, per_generated_ms = 0.1 }";
    let (read, notes) = noted(AFFINE, llm, ["a", "b"], prompts).unwrap();
    assert_eq!(arrivals(&read)[1].at.ns(), 2_000_000_000);
    assert!(notes[0].starts_with("file: times are taken as seconds"), "{notes:?}");
    // What is no load is refused by name.
    let history = "Timestamp,User Count,Type,Name,Total Request Count\n1,1,,a,1\n";
    let wrong =
        scenario(AFFINE, "workload = { file = \"file\" }", ["a", "b"], history).unwrap_err();
    assert!(wrong.contains("Locust") && wrong.contains("arrivals.workload.file"), "{wrong}");
}

#[test]
fn prompts_of_burstgpt_are_read_by_llm() {
    let law =
        "llm = { file = \"file\", base_ms = 1.0, per_context_ms = 0.01, per_generated_ms = 0.1 }";
    let all = arrivals(&scenario(AFFINE, law, ["a", "b"], BURST).unwrap());
    let got: Vec<u64> = all.iter().map(|a| a.alone.ns()).collect();
    assert_eq!(got, [7_520_000, 34_870_000, 79_300_000]);
    let wrong = scenario(AFFINE, "workload = { file = \"file\" }", ["a", "b"], BURST).unwrap_err();
    assert!(wrong.contains("BurstGPT") && wrong.contains("use `llm`"), "{wrong}");
}

#[test]
fn a_file_that_does_not_say_enough_or_is_something_else_is_refused_with_the_remedy() {
    let profile = "{ profile = { file = \"file.json\" } }";
    let wrong = scenario(profile, POISSON, ["a", "b"], TRT).unwrap_err();
    assert!(wrong.contains("model[0].latency.profile.file"), "{wrong}");
    assert!(wrong.contains("orrery import FILE --batch N"), "{wrong}");
    let wrong = scenario(profile, POISSON, ["a", "b"], VLLM).unwrap_err();
    assert!(wrong.contains("vllm bench serve") && wrong.contains("by batch size"), "{wrong}");
    let found = kind::of(PERF).unwrap();
    assert_eq!(found.command, "orrery import FILE");
    assert!(kind::of(TRT).is_some() && kind::of("hello").is_none());
}
