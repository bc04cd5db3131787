//! The law of calibration, over every measured format: our own run, exported in the format and calibrated against its
//! own scenario, is no evidence for anything; with one assumption changed, that one is found and no other.

use super::{asked, measured, scenario};
use crate::case::cases;
use crate::value::{Values, What};
use crate::{Calibration, Found, Measurements, calibrate};
use orrery_import::{
    Content, FORMATS, File, Kind, Measured, Offered, Options, Point, Spacing, read,
};
use orrery_scenario::Scenario;
use std::path::Path;

/// Requests of a run that is exported.
const REQUESTS: u64 = 2_500;

/// A run: its load, and what came of it.
struct Run {
    load: Offered,
    values: Values,
}

impl Run {
    fn of(&self, what: What) -> f64 {
        self.values.of(what).unwrap()
    }

    fn rate(&self) -> f64 {
        self.of(What::Rate)
    }

    /// Mean, p50, p90, p99 in a unit of so many of it a millisecond.
    fn latencies(&self, units: f64) -> [f64; 4] {
        [What::Mean, What::P50, What::P90, What::P99].map(|what| self.of(what) * units)
    }
}

/// How a format is written, and the loads that it can say.
struct Written {
    format: &'static str,
    name: &'static str,
    loads: &'static str,
    /// Files of these runs.
    write: fn(&[Run]) -> Vec<String>,
}

const CLIENTS: &str = "clients,p50_ms\n1,1\n2,1\n6,1\n16,1\n32,1\n";
const EVEN: &str =
    "offered_per_s,arrivals,p50_ms\n60,even,1\n180,even,1\n290,even,1\n330,even,1\n390,even,1\n";
const RANDOM: &str = "offered_per_s,arrivals,p50_ms\n60,poisson,1\n180,poisson,1\n270,poisson,1\n\
    315,poisson,1\n340,poisson,1\n";
const GAMMA: &str = "offered_per_s,arrivals,p50_ms\n60,gamma:0.5,1\n180,gamma:0.5,1\n270,gamma:4,1\n\
    315,gamma:4,1\n340,gamma:4,1\n";
const AT_ONCE: &str = "clients,offered_per_s,arrivals,p50_ms,requests\n,,at-once,1,2000\n";
const MIXED: &str = "clients,offered_per_s,arrivals,p50_ms,requests\n1,,,1,\n,180,poisson,1,\n,290,gamma:0.5,1,\n\
                     ,380,even,1,\n32,,,1,\n,,at-once,1,2000\n";

const WRITTEN: &[Written] = &[
    Written { format: "perf-analyzer", name: "p.csv", loads: CLIENTS, write: perf },
    Written { format: "perf-analyzer", name: "r.csv", loads: EVEN, write: perf },
    Written { format: "genai-perf", name: "g.json", loads: EVEN, write: genai },
    Written { format: "genai-perf", name: "aiperf.json", loads: GAMMA, write: aiperf },
    Written { format: "genai-perf", name: "g.csv", loads: CLIENTS, write: genai_csv },
    Written { format: "vllm-serving", name: "v.json", loads: GAMMA, write: vllm },
    Written { format: "vllm-serving", name: "s.jsonl", loads: RANDOM, write: sglang },
    Written { format: "vllm-serving", name: "inf.json", loads: AT_ONCE, write: vllm },
    Written { format: "mlperf-summary", name: "l.txt", loads: RANDOM, write: summary },
    Written { format: "mlperf-summary", name: "o.txt", loads: AT_ONCE, write: summary },
    Written { format: "mlperf-detail", name: "d.txt", loads: RANDOM, write: detail },
    Written { format: "measured-table", name: "m.csv", loads: MIXED, write: table },
];

fn perf(runs: &[Run]) -> Vec<String> {
    let (at, values) = match runs[0].load {
        Offered::Clients(_) => ("Concurrency", clients(runs)),
        _ => ("Request Rate", rates(runs)),
    };
    let mut out = format!(
        "{at},Inferences/Second,Client Send,p50 latency,p90 latency,p99 latency,Avg latency\n"
    );
    for (run, load) in runs.iter().zip(values) {
        let [mean, p50, p90, p99] = run.latencies(1e3).map(f64::round);
        out += &format!("{load},{:.2},0,{p50},{p90},{p99},{mean}\n", run.rate());
    }
    vec![out]
}

fn clients(runs: &[Run]) -> Vec<f64> {
    let of = |run: &Run| match run.load {
        Offered::Clients(n) => f64::from(n),
        _ => panic!("{}", run.load),
    };
    runs.iter().map(of).collect()
}

fn rates(runs: &[Run]) -> Vec<f64> {
    let of = |run: &Run| match run.load {
        Offered::Rate { per_s, .. } => per_s,
        _ => panic!("{}", run.load),
    };
    runs.iter().map(of).collect()
}

fn statistics(run: &Run) -> String {
    let [mean, p50, p90, p99] = run.latencies(1.0);
    format!(
        "\"request_throughput\": {{\"unit\": \"requests/sec\", \"avg\": {}}}, \"request_latency\": {{\"unit\": \"ms\", \
         \"avg\": {mean}, \"p50\": {p50}, \"p90\": {p90}, \"p99\": {p99}}}, \"request_count\": {{\"avg\": {REQUESTS}}}",
        run.rate()
    )
}

fn genai(runs: &[Run]) -> Vec<String> {
    let of = |(run, rate): (&Run, f64)| {
        let stimulus = format!("\"perf_analyzer\": {{\"stimulus\": {{\"request_rate\": {rate}}}}}");
        format!("{{{}, \"input_config\": {{{stimulus}}}}}", statistics(run))
    };
    runs.iter().zip(rates(runs)).map(of).collect()
}

fn aiperf(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| {
        let Offered::Rate { per_s, spacing: Spacing::Gamma(shape), .. } = run.load else {
            panic!()
        };
        format!(
            "{{\"records\": {{{}}}, \"input_config\": {{\"loadgen\": {{\"request_rate\": {per_s}, \"arrival_pattern\": \
             \"gamma\", \"arrival_smoothness\": {shape}}}}}}}",
            statistics(run)
        )
    };
    runs.iter().map(of).collect()
}

fn genai_csv(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| {
        let [mean, p50, p90, p99] = run.latencies(1.0);
        format!(
            "Metric,avg,p99,p90,p50\nTime To First Token (ms),1,1,1,1\nRequest Latency (ms),{mean:.2},{p99:.2},{p90:.2},\
             {p50:.2}\n\nMetric,Value\nRequest Throughput (per sec),{:.2}\nRequest Count (count),\"2,500\"\n",
            run.rate()
        )
    };
    runs.iter().map(of).collect()
}

fn vllm(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| {
        let [mean, p50, p90, p99] = run.latencies(1.0);
        let (n, rate, shape) = match run.load {
            Offered::AtOnce(n) => (u64::from(n), "\"inf\"".to_string(), 1.0),
            Offered::Rate { per_s, spacing: Spacing::Gamma(shape), .. } => {
                (REQUESTS, per_s.to_string(), shape)
            }
            _ => panic!("{}", run.load),
        };
        format!(
            "{{\"num_prompts\": {n}, \"completed\": {n}, \"request_rate\": {rate}, \"burstiness\": {shape}, \
             \"max_concurrency\": null, \"mean_tpot_ms\": NaN, \"request_throughput\": {}, \"mean_e2el_ms\": {mean}, \
             \"median_e2el_ms\": {p50}, \"p50_e2el_ms\": {p50}, \"p90_e2el_ms\": {p90}, \"p99_e2el_ms\": {p99}}}",
            run.rate()
        )
    };
    vec![runs.iter().map(of).collect::<Vec<_>>().join("\n")]
}

fn sglang(runs: &[Run]) -> Vec<String> {
    let of = |(run, rate): (&Run, f64)| {
        let [mean, p50, _, p99] = run.latencies(1.0);
        format!(
            "{{\"backend\": \"sglang\", \"request_rate\": {rate}, \"max_concurrency\": null, \"completed\": {REQUESTS}, \
             \"accept_length\": NaN, \"request_throughput\": {}, \"mean_e2e_latency_ms\": {mean}, \
             \"median_e2e_latency_ms\": {p50}, \"p99_e2e_latency_ms\": {p99}}}\n",
            run.rate()
        )
    };
    vec![runs.iter().zip(rates(runs)).map(of).collect()]
}

fn summary(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| {
        let [mean, p50, p90, p99] = run.latencies(1e6).map(f64::round);
        let (words, rates, n) = match run.load {
            Offered::AtOnce(n) => ("Offline", format!("Samples per second: {}\n", run.rate()), n),
            Offered::Rate { per_s, .. } => {
                let done = format!("Completed samples per second : {}\n", run.rate());
                ("Server", format!("{done}Scheduled samples per second : {per_s}\n"), 1)
            }
            _ => panic!("{}", run.load),
        };
        format!(
            "MLPerf Results Summary\nScenario : {words}\nMode     : PerformanceOnly\n{rates}Result is : VALID\n\
             Mean latency (ns) : {mean}\n50.00 percentile latency (ns) : {p50}\n90.00 percentile latency (ns) : {p90}\n\
             99.00 percentile latency (ns) : {p99}\nsamples_per_query : {n}\nmin_query_count : {REQUESTS}\n"
        )
    };
    runs.iter().map(of).collect()
}

fn detail(runs: &[Run]) -> Vec<String> {
    let of = |(run, rate): (&Run, f64)| {
        let [mean, p50, p90, p99] = run.latencies(1e6).map(f64::round);
        let numbers = [
            ("effective_min_query_count", REQUESTS as f64),
            ("result_scheduled_samples_per_sec", rate),
            ("result_completed_samples_per_sec", run.rate()),
            ("result_mean_latency_ns", mean),
            ("result_50.00_percentile_latency_ns", p50),
            ("result_90.00_percentile_latency_ns", p90),
            ("result_99.00_percentile_latency_ns", p99),
        ];
        let line = |(key, value): (&str, f64)| {
            format!(":::MLLOG {{\"key\": \"{key}\", \"value\": {value}}}\n")
        };
        let first = ":::MLLOG {\"key\": \"effective_scenario\", \"value\": \"Server\"}\n\
                     :::MLLOG {\"key\": \"result_validity\", \"value\": \"VALID\"}\n";
        first.to_string() + &numbers.into_iter().map(line).collect::<String>()
    };
    runs.iter().zip(rates(runs)).map(of).collect()
}

/// As `orrery import` writes it.
fn table(runs: &[Run]) -> Vec<String> {
    let of = |run: &Run| {
        let [mean_ms, p50_ms, p90_ms, p99_ms] = run.latencies(1.0).map(Some);
        let rate_per_s = Some(run.rate());
        let batch = run.values.of(What::Batch);
        let point = Point::new(run.load.clone());
        Point {
            rate_per_s,
            mean_ms,
            p50_ms,
            p90_ms,
            p99_ms,
            batch,
            requests: Some(REQUESTS),
            ..point
        }
    };
    let points = runs.iter().map(of).collect();
    vec![Content::Measured(Measured { points }).csv(orrery_sim::time::Span::ZERO)]
}

/// Runs of a scenario, exported in a format and read again.
fn exported(of: &Scenario, written: &Written, seed: u64) -> Measurements {
    let loads = measured("loads.csv", written.loads, Path::new("loads.csv"));
    let policy = of.policies().unwrap().remove(0);
    let all = cases(of, &loads, &policy, &asked(REQUESTS)).unwrap();
    let run = |(case, name): (&crate::Case, &String)| {
        let point = loads.table.points.iter().find(|p| p.load.to_string() == *name).unwrap();
        Run { load: point.load.clone(), values: case.run(&[], seed).unwrap() }
    };
    let names: Vec<String> = all.iter().map(|case| case.name.clone()).collect();
    let runs: Vec<Run> = all.iter().zip(&names).map(run).collect();
    let mut table = Measured::default();
    for text in (written.write)(&runs) {
        let open = || super::orrery_import_input(written.name, &text);
        let reading = read(&File::new(written.name, &open), &Options::default());
        let reading = reading.unwrap_or_else(|e| panic!("{}: {e}\n{text}", written.name));
        assert_eq!(reading.format.unwrap().name, written.format, "{}", written.name);
        let Content::Measured(read) = reading.content(Some(Kind::Measured)).unwrap().clone() else {
            panic!()
        };
        table.points.extend(read.points);
    }
    assert_eq!(table.points.len(), runs.len(), "{}", written.name);
    for (point, run) in table.points.iter().zip(&runs) {
        assert_eq!(point.load, run.load, "{}", written.name);
    }
    Measurements { name: written.name.to_string(), table, ..loads }
}

fn calibrated(edit: (&str, &str), written: &Written, seed: u64) -> Calibration {
    let measured = exported(&scenario(edit), written, seed);
    calibrate(&scenario(("", "")), &measured, asked(REQUESTS)).unwrap()
}

#[test]
fn every_measured_format_has_a_writer_here() {
    for format in FORMATS.iter().filter(|f| f.becomes.contains(&Kind::Measured)) {
        let is_log = format.name == "access-log";
        assert!(is_log || WRITTEN.iter().any(|w| w.format == format.name), "{}", format.name);
    }
}

#[test]
fn a_scenario_that_is_exactly_right_is_left_alone_in_every_form() {
    for (seed, written) in (2..).zip(WRITTEN) {
        let c = calibrated(("", ""), written, seed);
        let evidence = (c.evidence.middle, c.evidence.tail);
        assert_eq!(c.evidence.found, Found::Nothing, "{} {seed}: {evidence:?}", written.name);
        assert!(c.recommended.is_none() && c.recommended_text(Path::new("")).is_none());
        let page = c.document();
        for form in [page.to_text(), page.to_markdown(), page.to_html()] {
            for says in ["Keep the scenario.", "none is recommended", "is no evidence against"] {
                assert!(form.contains(says), "{}: {form}", written.name);
            }
            assert!(!form.contains("One assumption at a time"), "{form}");
        }
        let json = c.in_json();
        assert!(json["explains_most"].is_null() && json["assumptions"] == serde_json::json!([]));
        for row in c.rows().unwrap() {
            assert_eq!(
                (row.flags.as_str(), row.axis("assumption")),
                ("within-noise", Some("none"))
            );
        }
    }
}

/// Each assumption of the table that can be tried, changed.
const CHANGED: [(&str, (&str, &str)); 5] = [
    ("reply delay", ("[arrivals]", "[delays]\nreply_ms = 2.5\n[arrivals]")),
    (
        "overhead per batch",
        (
            "[[1, 5.0], [2, 7.0], [4, 11.0], [8, 19.0]]",
            "[[1, 6.5], [2, 8.5], [4, 12.5], [8, 20.5]]",
        ),
    ),
    ("batch limit", ("max_batch=8", "max_batch=4")),
    ("noise of execution times", ("[arrivals]", "[noise]\nlognormal = 0.3\n[arrivals]")),
    ("padding up to a measured size", ("between = \"next\"", "between = \"linear\"")),
];

/// At once there is nothing but a rate, which tells no assumption from another: then none is recommended.
#[test]
fn the_assumption_that_is_wrong_is_found_and_no_other() {
    let mut names: Vec<&str> = crate::assumption::all().iter().map(|a| a.name).collect();
    names.retain(|name| *name != "sharing of a device");
    assert_eq!(names, CHANGED.map(|c| c.0));
    for (i, written) in WRITTEN.iter().enumerate() {
        // One for each form, as each run takes its time.
        let (name, edit) = CHANGED.into_iter().skip(i % 2).step_by(2).cycle().nth(i / 2).unwrap();
        let c = calibrated(edit, written, 7);
        let what =
            || format!("{} {name}: {:?}\n{}", written.name, c.evidence, c.document().to_text());
        let found = c.best.map(|i| c.tried[i].name);
        assert_eq!(found, Some(name).filter(|_| written.loads != AT_ONCE), "{}", what());
        assert_eq!(c.recommended.is_some(), found.is_some(), "{}", what());
        let is_flagged = c.rows().unwrap().iter().any(|row| row.has_flag("recommended"));
        assert_eq!(is_flagged, found.is_some(), "{}", what());
    }
}
