//! What is known is found again: measurements that this simulator made with one thing changed, and a table of
//! others.

mod law;

use super::*;
use orrery_import::{File, Options, read};
use orrery_scenario::scenario::file::Timestamps;

const SCENARIO: &str = r#"
policies = ["fifo[max_batch=8]"]
seed = 1
[[model]]
name = "m"
slo_ms = 10_000.0
latency = { table = [[1, 5.0], [2, 7.0], [4, 11.0], [8, 19.0]] }
between = "next"
[[app]]
name = "a"
model = "m"
[arrivals]
poisson = { rate_per_s = 100.0 }
requests = 1000
"#;

fn scenario(edit: (&str, &str)) -> Scenario {
    Scenario::from_text("s.toml", &SCENARIO.replace(edit.0, edit.1)).unwrap()
}

fn asked(requests: u64) -> Asked {
    Asked { policy: None, requests, seed: 1 }
}

fn measured(name: &str, text: &str, path: &Path) -> Measurements {
    let open = || orrery_import_input(name, text);
    let reading = read(&File::new(name, &open), &Options::default()).unwrap();
    let content = reading.content(Some(orrery_import::Kind::Measured)).unwrap();
    let orrery_import::Content::Measured(table) = content.clone() else { unreachable!() };
    Measurements {
        name: name.to_string(),
        path: path.to_path_buf(),
        table,
        notes: [reading.assumed.clone(), reading.notes.clone()].concat(),
        is_of_one: false,
        timestamps: Timestamps::default(),
    }
}

fn orrery_import_input(
    name: &str,
    text: &str,
) -> Result<orrery_traces::Input, orrery_traces::TraceError> {
    orrery_traces::Input::from_bytes(name, text.as_bytes().to_vec())
}

const LOADS: &str = "clients,p50_ms\n1,1\n2,1\n4,1\n8,1\n16,1\n32,1\n";

/// A table that this simulator makes of a scenario, with another seed than it is calibrated with.
fn made(of: &Scenario) -> Measurements {
    let loads = measured("loads.csv", LOADS, Path::new("loads.csv"));
    let policy = of.policies().unwrap().remove(0);
    let mut table = loads.table.clone();
    let cases = case::cases(of, &loads, &policy, &asked(6_000)).unwrap();
    for (point, case) in table.points.iter_mut().zip(&cases) {
        let values = case.run(&[], 7).unwrap();
        let of = |what| values.of(what);
        point.rate_per_s = of(value::What::Rate);
        point.mean_ms = of(value::What::Mean);
        point.p50_ms = of(value::What::P50);
        point.p90_ms = of(value::What::P90);
        point.p99_ms = of(value::What::P99);
        point.batch = of(value::What::Batch);
    }
    Measurements { name: "made.csv".to_string(), table, ..loads }
}

/// The assumption that explains most, and its value.
fn found(edit: (&str, &str)) -> (Calibration, &'static str, f64) {
    let c = calibrate(&scenario(("", "")), &made(&scenario(edit)), asked(4_000)).unwrap();
    let best = c.best.unwrap_or_else(|| panic!("{edit:?}: {:?}", c.tried));
    let (name, value) = (c.tried[best].name, c.tried[best].fitted.as_ref().unwrap().value);
    (c, name, value)
}

#[test]
fn a_known_reply_delay_is_found_again() {
    let (c, name, value) = found(("[arrivals]", "[delays]\nreply_ms = 2.5\n[arrivals]"));
    assert_eq!(name, "reply delay");
    assert!((value - 2.5).abs() < 0.05, "{value}");
    let fitted = c.tried[c.best.unwrap()].fitted.as_ref().unwrap();
    let (low, high) = fitted.interval;
    assert!(low <= value && value <= high && high - low < 1.0, "{low} to {high}");
    let left = errors::error(&c.cases, &fitted.ours, errors::Part::HeldOut, value::MIDDLE);
    assert!(left.unwrap().mean < 0.002, "{left:?}");
    assert!(
        errors::error(&c.cases, &c.ours, errors::Part::All, value::MIDDLE).unwrap().mean > 0.04
    );
    let again = c.recommended.as_ref().unwrap();
    assert!((again.file.delays.reply_ms - 2.5).abs() < 0.05);
    let text = c.recommended_text(Path::new("")).unwrap();
    assert!(text.starts_with("# orrery calibrate: ") && text.contains("reply_ms = 2."), "{text}");
    Scenario::from_text("again.toml", &text).unwrap();
}

#[test]
fn a_known_overhead_of_batches_is_found_again() {
    let slower = "[[1, 6.5], [2, 8.5], [4, 12.5], [8, 20.5]]";
    let (_, name, value) = found(("[[1, 5.0], [2, 7.0], [4, 11.0], [8, 19.0]]", slower));
    assert_eq!(name, "overhead per batch");
    assert!((value - 1.5).abs() < 0.05, "{value}");
    let faster = "[[1, 4.0], [2, 6.0], [4, 10.0], [8, 18.0]]";
    let (_, name, value) = found(("[[1, 5.0], [2, 7.0], [4, 11.0], [8, 19.0]]", faster));
    assert_eq!(name, "overhead per batch");
    assert!((value + 1.0).abs() < 0.05, "{value}");
}

#[test]
fn a_known_limit_of_batches_is_found_again() {
    let (c, name, value) = found(("max_batch=8", "max_batch=4"));
    assert_eq!((name, value), ("batch limit", 4.0));
    assert_eq!(c.recommended.unwrap().file.policies, ["fifo[max_batch=4]"]);
}

#[test]
fn batches_between_measured_sizes_are_said() {
    let own = scenario(("[2, 7.0], [4, 11.0], ", ""));
    let c = calibrate(&own, &made(&own), asked(600)).unwrap();
    assert!(c.notes.iter().any(|n| n.starts_with("sizes: batches of ")), "{:?}", c.notes);
}

#[test]
fn known_noise_is_found_again() {
    let (_, name, value) = found(("[arrivals]", "[noise]\nlognormal = 0.2\n[arrivals]"));
    assert_eq!(name, "noise of execution times");
    assert!((value - 0.2).abs() < 0.03, "{value}");
}

#[test]
fn where_nothing_is_left_nothing_is_recommended() {
    let own = scenario(("", ""));
    let c = calibrate(&own, &made(&own), asked(1_000)).unwrap();
    assert_eq!(c.best, None, "{:?}", c.tried);
    assert!(
        errors::error(&c.cases, &c.ours, errors::Part::All, value::MIDDLE).unwrap().mean < 0.005
    );
    assert!(c.document().to_text().contains("No single assumption"));
}

/// perf_analyzer's documented table: a profile and a delay, both of its first row, predict the others within 2 %.
#[test]
fn perf_analyzer_s_documented_table_follows_from_its_first_row() {
    let sample = "../../traces/import/samples/perf_analyzer.csv";
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(sample);
    let text = std::fs::read_to_string(sample).unwrap();
    let measured = measured("perf_analyzer.csv", &text, Path::new("perf_analyzer.csv"));
    let law = "{ table = [[1, 11.781]] }";
    let table = "{ table = [[1, 5.0], [2, 7.0], [4, 11.0], [8, 19.0]] }";
    let triton = SCENARIO.replace(table, law).replace("max_batch=8", "max_batch=1");
    let triton = Scenario::from_text("triton.toml", &triton).unwrap();
    let c = calibrate(&triton, &measured, asked(2_000)).unwrap();
    let best = &c.tried[c.best.unwrap()];
    assert_eq!(best.name, "reply delay");
    let fitted = best.fitted.as_ref().unwrap();
    assert!((fitted.value - 2.11).abs() < 0.05, "{}", fitted.value);
    for (case, ours) in c.cases.iter().zip(&fitted.ours) {
        let error = ours.error(&case.theirs, value::What::P50).unwrap();
        assert!(error.abs() < 0.02, "{}: {error}", case.name);
    }
}

/// The recorded arrivals of a log, with the latencies that this simulator gives them and a delay.
#[test]
fn a_log_is_replayed_arrival_by_arrival() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log.csv");
    let late = scenario(("[arrivals]", "[delays]\nreply_ms = 4.0\n[arrivals]"));
    let setup = late.setup(3).unwrap();
    let mut sources = setup.sources(3).unwrap();
    let mut text = "timestamp_us,name,latency_ms\n".to_string();
    while let Some(a) = sources[0].pop() {
        text.push_str(&format!("{},a,9\n", a.at.ns() / 1_000));
    }
    std::fs::write(&path, &text).unwrap();
    let of = measured("log.csv", &text, &path);
    let c = calibrate(&late, &of, asked(100)).unwrap();
    assert_eq!(c.cases.len(), 2);
    assert_eq!(c.cases[1].name, "recorded arrivals 501 to 1000");
    assert!(c.cases[0].is_fitted && !c.cases[1].is_fitted);
    // All latencies are 9 ms: that of a batch of one with the delay.
    assert!((c.ours[0].of(value::What::P50).unwrap() - 9.0).abs() < 1.0);
}

#[test]
fn the_document_has_ours_theirs_and_every_assumption() {
    let (c, ..) = found(("[arrivals]", "[delays]\nreply_ms = 2.5\n[arrivals]"));
    let page = c.document();
    let text = page.to_text();
    for says in
        ["reply delay", "overhead per batch", "sharing of a device", "32 clients*", "p99, ms"]
    {
        assert!(text.contains(says), "{says}: {text}");
    }
    // First what tells how good it is elsewhere, and the model in each row, in every form.
    let (markdown, html) = (page.to_markdown(), page.to_html());
    for form in [&text, &markdown, &html] {
        let at = |words: &str| form.find(words).unwrap_or_else(|| panic!("{words}: {form}"));
        assert!(at("mean error in rate") < at("All rows"), "{form}");
        let model = &c.scenario.model_names()[0];
        assert!(form.matches(model.as_str()).count() >= 5 * c.cases.len(), "{model}: {form}");
    }
    assert!(page.verdict[0].text.contains("on held-out rows"));
    assert!(markdown.contains("| reply delay |"));
    assert!(html.contains("delays.reply_ms = 2."));
    let rows = c.rows().unwrap();
    assert!(rows.iter().all(|r| orrery_results::is_metric(&r.metric)), "{rows:?}");
    assert!(rows.iter().any(|r| r.paper.is_some() && r.axes.contains("rows=held out")));
    assert_eq!(c.in_json()["explains_most"], "reply delay");
}

/// Each quantity alone: what was not measured beside it is no error of 0, in any form of the answer.
#[test]
fn what_was_not_measured_has_no_error() {
    let own = scenario(("", ""));
    for (column, value) in [
        ("rate_per_s", "90"),
        ("mean_ms", "9"),
        ("p50_ms", "9"),
        ("p90_ms", "9"),
        ("p99_ms", "9"),
        ("batch", "1.5"),
        ("drop_share", "0.1"),
    ] {
        let text = format!("clients,p95_ms,{column}\n1,,{value}\n4,,{value}\n");
        let c = calibrate(&own, &measured("m.csv", &text, Path::new("m.csv")), asked(200)).unwrap();
        let is_tail = column.starts_with("p9");
        let json = c.in_json();
        for (of, is_measured) in [("middle", !is_tail), ("tail", is_tail)] {
            let is_null = |value: &serde_json::Value| value.is_null();
            let errors = &json["as_it_is"]["mean_error"][of];
            let all = ["all", "fitted", "held_out"].map(|part| is_null(&errors[part]));
            assert_eq!(all, [!is_measured; 3], "{column}: {errors}");
            assert_eq!(is_null(&json["noise"][of]), !is_measured, "{column}");
        }
        let text = c.document().to_text().replace("\n ", "");
        let none = if is_tail { "not measured in rate" } else { "not measured in p90" };
        assert!(text.contains(none) && !text.contains("NaN"), "{column}: {text}");
    }
    // A row without any of them is left out and named; a table without any is refused.
    let rows = |text: &str| {
        let mut of = measured("m.csv", "clients,p50_ms\n1,9\n4,9\n", Path::new("m.csv"));
        of.table.points[1].p50_ms = None;
        of.table.points.truncate(if text == "one" { 2 } else { 1 });
        of.table.points[0].p50_ms = of.table.points[0].p50_ms.filter(|_| text == "one");
        calibrate(&own, &of, asked(200))
    };
    let c = rows("one").unwrap();
    assert_eq!(c.cases.len(), 1);
    assert!(
        c.notes.iter().any(|n| n.contains("4 clients, nothing that is compared")),
        "{:?}",
        c.notes
    );
    let error = rows("none").unwrap_err().to_string();
    assert!(error.contains("nothing that is compared was measured"), "{error}");
}

#[test]
fn rows_of_another_model_are_refused() {
    let own = scenario(("", ""));
    let text = "model,clients,p50_ms\nother-net,1,12\nother-net,4,20\n";
    let of = measured("m.csv", text, Path::new("m.csv"));
    let error = calibrate(&own, &of, asked(200)).unwrap_err().to_string();
    assert!(error.contains("`other-net`") && error.contains("m.csv"), "{error}");
    let of = measured("m.csv", &text.replace("other-net", "m"), Path::new("m.csv"));
    assert!(calibrate(&own, &of, asked(200)).is_ok());
}

/// One row is explained by an assumption that contradicts the other.
#[test]
fn nothing_is_recommended_that_makes_the_held_out_rows_worse() {
    let own = scenario(("", ""));
    let text = "clients,p95_ms,batch\n10,,1\n100,,8\n";
    let c = calibrate(&own, &measured("m.csv", text, Path::new("m.csv")), asked(1_000)).unwrap();
    assert_eq!((c.best, c.evidence.found.clone()), (None, Found::Unexplained), "{:?}", c.tried);
    // It does explain the training row.
    let limit = c.tried.iter().find(|t| t.name == "batch limit").unwrap();
    let mean =
        |ours: &[Values], part| errors::error(&c.cases, ours, part, value::MIDDLE).unwrap().mean;
    let ours = &limit.fitted.as_ref().unwrap().ours;
    assert!(mean(ours, errors::Part::Fitted) < 0.01 && mean(ours, errors::Part::HeldOut) > 0.5);
}

/// A row says how many clients there are; what they do stays the scenario's, whatever key says it.
#[test]
fn what_clients_do_stays_the_scenario_s() {
    let clients = "[closed_loop]\nclients = 3\npause_ms = 2.5\nramp_ms = 40.0\nthink = { exponential_ms = 5.0 }\n";
    let own = SCENARIO.replace("[arrivals]\npoisson = { rate_per_s = 100.0 }\n", clients);
    let own = Scenario::from_text("s.toml", &own).unwrap();
    let loads = measured("loads.csv", LOADS, Path::new("loads.csv"));
    let policy = own.policies().unwrap().remove(0);
    let cases = case::cases(&own, &loads, &policy, &asked(600)).unwrap();
    let wanted = own.file.closed_loop.unwrap();
    for (case, clients) in cases.iter().zip([1, 2, 4, 8, 16, 32]) {
        let theirs = case.scenario.file.closed_loop.clone().unwrap();
        let same = orrery_scenario::scenario::file::ClosedLoop {
            clients,
            requests: theirs.requests,
            ..wanted.clone()
        };
        assert_eq!(theirs, same);
    }
}

/// Two models at one load are two rows of the answer; they were told apart by nothing.
#[test]
fn rows_of_several_models_are_told_apart() {
    let two = SCENARIO.replacen(
        "[[app]]",
        "[[model]]\nname = \"other\"\nslo_ms = 500.0\nlatency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }\n\
         [[app]]\nname = \"second\"\nmodel = \"other\"\n[[app]]",
        1,
    );
    let scenario = Scenario::from_text("s.toml", &two).unwrap();
    let first = scenario.model_names()[0].clone();
    let text = format!("model,clients,rate_per_s,p50_ms\n{first},1,90.0,8.0\nother,1,100.0,6.0\n");
    let c =
        calibrate(&scenario, &measured("m.csv", &text, Path::new("m.csv")), asked(300)).unwrap();
    let rows = c.rows().unwrap();
    let keys: std::collections::BTreeSet<_> = rows.iter().map(|r| r.key()).collect();
    assert_eq!(keys.len(), rows.len());
    assert!(rows.iter().any(|r| r.axis("model") == Some("other")));
    assert!(c.document().to_text().contains(&format!("1 client of {first}")));
}

/// Of a zoo and of copies as of a listed model.
#[test]
fn padding_up_to_a_measured_size_is_tried_for_every_model_with_gaps() {
    let zoo = "[[zoo]]\nname = \"nvidia\"\ngpu = \"A100-80GB\"\nmodels = [\"resnet50-fp16\"]\nslo_ms = 50.0\n";
    let (model, rest) = SCENARIO.split_once("[arrivals]").unwrap();
    let head = model.split_once("[[model]]").unwrap().0;
    let of_zoo = format!("{head}{zoo}[arrivals]{rest}");
    let copies = SCENARIO.replace("name = \"m\"", "name = \"m\"\ncopies = 2");
    let all_measured = SCENARIO.replace("[4, 11.0], [8, 19.0]", "[3, 11.0], [4, 19.0]");
    let all_measured = all_measured.replace("between = \"next\"\n", "");
    let padding = assumption::all().into_iter().find(|a| a.key.ends_with("between")).unwrap();
    for (text, key) in [
        (of_zoo, Some("zoo[0].between")),
        (copies, Some("model.m.between")),
        (SCENARIO.to_string(), Some("model.m.between")),
        (all_measured, None),
    ] {
        let scenario = Scenario::from_text("s.toml", &text).unwrap();
        let policy = scenario.policies().unwrap().remove(0);
        let world = assumption::World { scenario: &scenario, policy: &policy, fitted: &[] };
        assert_eq!((padding.range)(&world).is_ok(), key.is_some(), "{text}");
        let changes = (padding.changes)(&world, 1.0);
        assert_eq!(changes.first().map(|c| c.0.as_str()), key, "{text}");
        scenario.with(&changes).unwrap();
    }
}
