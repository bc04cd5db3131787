//! `orrery import` and `orrery calibrate`: what leaves, in which form, and what is refused.

use super::process::Place;
use super::small_scenario;
use orrery_results::{Row, read_csv};

const PERF: &str = include_str!("../../../scenarios/triton/perf_analyzer.csv");
const SERVER: &str = include_str!("../../../scenarios/triton/server.toml");
const TRT: &str = "[{\"computeMs\": 2.0, \"latencyMs\": 2.2}]";

fn place() -> Place {
    let place = Place::with("perf_analyzer.csv", PERF);
    place.write("server.toml", SERVER);
    place.write("t.json", TRT);
    place
}

#[test]
fn an_import_leaves_in_every_form_and_a_scenario_reads_what_it_wrote() {
    let place = place();
    let args = ["import", "perf_analyzer.csv", "--as", "profile", "--model", "m", "--out", "p.csv"];
    let more = ["--markdown", "p.md", "--html", "p.html"];
    let text = place.run(&[&args[..], &more].concat()).ok();
    for says in ["Server Compute Infer", "taken: ", "What was assumed", "m,1,11.781"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let csv =
        place.run(&["import", "perf_analyzer.csv", "--as", "profile", "--format", "csv"]).ok();
    assert!(csv.starts_with("# orrery import, from perf_analyzer.csv (perf-analyzer)\n"), "{csv}");
    assert_eq!(place.read("p.csv"), csv.replace("model,1,", "m,1,"));
    assert!(place.read("p.md").contains("| column or key | becomes |"));
    assert!(place.read("p.html").contains("<!DOCTYPE html>"));
    // A file that it wrote itself is overwritten; another is not.
    place.run(&args).ok();
    place
        .run(&["import", "t.json", "--batch", "1", "--out", "server.toml"])
        .refused(&["--out", "--force"]);
    let json = place.run(&["import", "perf_analyzer.csv", "--format", "json"]).ok();
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((json["kind"].as_str(), json["rows"].as_u64()), (Some("measured"), Some(3)));
    place.write("s.toml", SERVER.replace("perf_analyzer.csv\" }", "p.csv\", model = \"m\" }"));
    let same = |name: &str| place.run(&["run", name, "--format", "csv"]).ok();
    let (direct, imported) = (same("server.toml"), same("s.toml"));
    assert_eq!(direct, imported.replace("\ns,,", "\nserver,,"));
}

/// Every sample, as the crate has it.
const SAMPLES: &str = "../traces/import/samples";

/// A table of perf_analyzer with the columns and the comma more that it writes with GPU metrics on.
fn with_gpus(table: &str) -> String {
    let gpus = ",Avg GPU Utilization,Avg GPU Power Usage,Max GPU Memory Usage,Total GPU Memory";
    let mut lines = table.lines();
    let head = lines.next().unwrap_or_default();
    let row = |line: &str| format!("{line},GPU-0:0.5;,GPU-0:70.1;,GPU-0:1.2e9;,GPU-0:8e9;,\n");
    format!("{head}{gpus}\n{}", lines.map(row).collect::<String>())
}

#[test]
fn the_report_of_a_usual_file_has_at_most_20_lines_and_inspect_describes_it() {
    let mut samples = 0;
    for sample in std::fs::read_dir(SAMPLES).unwrap() {
        let path = sample.unwrap().path();
        let (path, name) = (path.to_str().unwrap(), path.file_name().unwrap().to_str().unwrap());
        if name.ends_with(".md") {
            continue;
        }
        samples += 1;
        let mut text = std::fs::read(path).unwrap();
        if name == "perf_analyzer.csv" {
            text = with_gpus(&String::from_utf8(text).unwrap()).into_bytes();
        }
        let place = Place::with(name, text);
        let is_batches = ["trtexec.json", "vllm_latency.json"].contains(&name);
        let batch: &[&str] = if is_batches { &["--batch", "8"] } else { &[] };
        let text = place.run(&[&["import", name], batch].concat()).ok();
        assert!(text.lines().count() <= 20, "{name}: {}\n{text}", text.lines().count());
        // A profile whose batch size an option says is no load.
        if !is_batches {
            assert!(place.run(&["trace", "inspect", name]).ok().contains("\nformat "), "{name}");
        }
    }
    assert!(samples >= 17, "{samples}");
}

#[test]
fn prompts_of_any_tool_are_requests_with_tokens() {
    let toml = "policies = [\"continuous\"]\n[tokens]\nprofile = \"step-rtx4090-llama-3.1-8b\"\n\
                kv_blocks = 100000\nrequests = \"FILE\"\ncount = 1\n";
    let lists = ["mooncake.jsonl", "servegen.jsonl", "burstgpt.csv", "azure_llm2024.csv"];
    for name in lists {
        let text = std::fs::read_to_string(format!("{SAMPLES}/{name}")).unwrap();
        let place = Place::with(name, text);
        place.write("t.toml", toml.replace("FILE", name));
        place.run(&["run", "t.toml"]).ok();
    }
    let place = Place::with("log.csv", "timestamp,name\n1,a\n2,a\n");
    place.write("t.toml", toml.replace("FILE", "log.csv"));
    place.run(&["run", "t.toml"]).refused(&["an access log", "`workload` of a scenario"]);
}

#[test]
fn what_a_log_does_not_say_is_in_the_report_and_in_every_form_of_a_run() {
    let place = Place::with("log.csv", "timestamp,name,retries\n1,a,0\n2,a,0\n");
    let told = "2 requests have no execution time: 3 ms each (`--alone-ms`); none has an SLO";
    let of = |form: &str| {
        place.run(&["--wide", "import", "log.csv", "--alone-ms", "3", "--format", form]).ok()
    };
    assert!(["table", "json"].iter().all(|form| of(form).contains(told)));
    place.write("a.toml", small_scenario("workload = { file = \"log.csv\" }"));
    let notes = ["log.csv: times are taken as seconds from a start", "log.csv: ignored: retries"];
    let text = place.run(&["--quiet", "--wide", "run", "a.toml", "--html", "a.html"]).ok();
    let json = place.run(&["--quiet", "run", "a.toml", "--format", "json"]).ok();
    for form in [text, json, place.read("a.html")] {
        assert!(notes.iter().all(|note| form.contains(note)), "{form}");
    }
}

/// From files to a run, a calibration and a plan, without a line by hand; what nobody said is marked as assumed.
#[test]
fn a_scenario_and_a_plan_are_written_from_what_files_say() {
    let place = Place::with("l.csv", "batch,latency_ms\n1,5.0\n2,6.0\n4,8.0\n");
    let log: String = (0..400).map(|i| format!("{},a,5.1\n", f64::from(i) * 0.004)).collect();
    place.write("log.csv", format!("arrival_s,name,latency_ms\n{log}"));
    let import = |files: &[&str]| {
        let made = ["--model", "m", "--scenario", "s.toml", "--plan", "p.toml", "--force"];
        place.run(&[&["-q", "import"], files, &made].concat())
    };
    let told =
        place.run(&["import", "l.csv", "--model", "m", "--scenario", "s.toml", "--plan", "p.toml"]);
    told.ok_but(&["s.toml: written; assumed: ", "an SLO of twice"]);
    import(&["l.csv"]).ok();
    let text = place.read("s.toml");
    for says in
        ["policies = [\"fifo[max_batch=4]\"]", "[1, 5.0]", "# Assumed: half of what one device"]
    {
        assert!(text.contains(says), "{says}: {text}");
    }
    place.run(&["run", "s.toml"]).ok();
    place.run(&["-q", "plan", "p.toml", "--exact", "--seeds", "2"]).ok();
    import(&["l.csv", "log.csv"]).ok();
    let text = place.read("s.toml");
    assert!(text.contains("name = \"a\"\n# Assumed: its model.\nmodel = \"m\""), "{text}");
    let run = place.run(&["run", "s.toml", "--format", "csv"]).ok();
    let rows: Vec<Row> = read_csv("s", &run).expect("rows");
    let requests = rows.iter().find(|r| r.metric == "requests" && r.scope == "all");
    assert_eq!(requests.and_then(|r| r.value), Some(400.0));
    place.run(&["calibrate", "s.toml", "log.csv"]).ok();
    place.run(&["-q", "plan", "p.toml", "--exact", "--seeds", "2"]).ok();
    import(&["log.csv"]).refused(&["--scenario", "workload of log.csv", "latencies by batch size"]);
    // A file that was changed by hand stays.
    place.run(&["import", "l.csv", "--scenario", "s.toml"]).refused(&["--scenario", "--force"]);
}

#[test]
fn an_import_that_lacks_something_is_refused_with_the_remedy() {
    let place = place();
    place.run(&["import", "t.json"]).refused(&["t.json", "--batch N"]);
    let log = "timestamp,endpoin,latency_ms\n1,a,2\n";
    place.write("near.csv", log);
    place.run(&["import", "near.csv"]).refused(&["the nearest: `access-log`", "remedy"]);
    place.run(&["import", "t.json", "--as", "trtexe"]).refused(&["did you mean `trtexec`?"]);
    place.run(&["import", "none.csv"]).refused(&["none.csv", "cannot be read"]);
    let two = ["import", "t.json", "t.json", "t.json", "--batch", "1", "--batch", "2"];
    place.run(&two).refused(&["2 sizes for 3 files"]);
    place.run(&["import", "t.json", "--batch", "1", "--alone-ms", "0"]).refused(&["--alone-ms"]);
    let two = ["import", "t.json", "t.json", "--batch", "1", "--batch", "2"];
    place.run(&two).refused(&["no name of a model", "`--model NAME` once"]);
    place.run(&[&two[..], &["--model", "m"]].concat()).ok();
    place.run(&[&two[..], &["--model", "a", "--model", "b"]].concat()).ok();
    let three = ["--model", "a", "--model", "b", "--model", "c"];
    place.run(&[&two[..], &three].concat()).refused(&["3 names for 2 files"]);
    let both = ["import", "t.json", "perf_analyzer.csv", "--batch", "1", "--model", "m"];
    place.run(&both).refused(&["a measured beside a profile", "one by one"]);
    place.run(&["run", "perf_analyzer.csv"]).refused(&["perf_analyzer", "orrery import"]);
}

#[test]
fn a_calibration_leaves_in_every_form_and_its_scenario_runs() {
    let place = place();
    let args = ["calibrate", "server.toml", "perf_analyzer.csv", "--requests", "1500"];
    let more = ["--out", "deep/o", "--html", "c.html", "--markdown", "c.md"];
    let text = place.run(&[&args[..], &more].concat()).ok();
    for says in ["reply delay", "delays.reply_ms = 2.1", "clients*", "sharing of a device"] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert_eq!(place.read("deep/o/server-calibrated.txt"), text);
    assert_eq!(place.read("deep/o/server-calibrated.md"), place.read("c.md"));
    let again = "orrery calibrate server.toml perf_analyzer.csv --requests 1500";
    assert!(place.read("c.html").contains(again));
    let rows: Vec<Row> = read_csv("c", &place.read("deep/o/server-calibrated.csv")).unwrap();
    let p50 = |load: &str| {
        let is_it = |r: &&Row| {
            r.metric == "latency_p50_ns"
                && r.axis("load") == Some(load)
                && r.axis("assumption").is_some_and(|a| a.starts_with("reply delay"))
        };
        let row = rows.iter().find(is_it).unwrap();
        row.value.unwrap() / row.paper.unwrap() - 1.0
    };
    for load in ["1 client", "3 clients", "4 clients"] {
        assert!(p50(load).abs() < 0.02, "{load}: {}", p50(load));
    }
    place.run(&["run", "deep/o/server-calibrated.scenario.toml"]).ok();
    assert_eq!(place.run(&[&args[..], &["--jobs", "1"]].concat()).ok(), text);
    place
        .run(&["calibrate", "server.toml", "t.json", "--batch", "1"])
        .refused(&["`measured`", "profile"]);
    place.run(&[&args[..], &["--policy", "fif"]].concat()).refused(&["did you mean"]);
    place.write("busy.toml", SERVER.replace("warm_up_s = 1.0", "warm_up_s = 10000.0"));
    let busy = ["calibrate", "busy.toml", "perf_analyzer.csv", "--requests", "100"];
    place.run(&busy).refused(&["warm_up_s", "--requests"]);
    // A key that is set is that of the file, and each row says it.
    place.write("busy.toml", SERVER.replace("warm_up_s = 1.0", "warm_up_s = 0.5"));
    let csv = |file: &str, set: &[&str]| {
        let args =
            ["calibrate", file, "perf_analyzer.csv", "--requests", "1500", "--format", "csv"];
        place.run(&[&args[..], set].concat()).ok()
    };
    let (own, set) = (csv("busy.toml", &[]), csv("server.toml", &["--set", "warm_up_s=0.5"]));
    let rows = |text: &str| -> Vec<(String, Option<f64>)> {
        let rows: Vec<Row> = read_csv("c", text).unwrap();
        rows.into_iter().map(|row| (row.axes, row.value)).collect()
    };
    let with = |(axes, value): (String, Option<f64>)| (format!("{axes};warm_up_s=0.5"), value);
    assert_eq!(rows(&own).into_iter().map(with).collect::<Vec<_>>(), rows(&set));
}
