//! How the requests of measured tables arrived, and what makes a measured row one: over all measured formats.

use super::{options, read_bytes};
use crate::*;
use orrery_sim::time::Span;

/// A measured run in each format: latencies p50, p90, p99 and mean in milliseconds, and what is at a rate.
struct Row {
    latencies: [&'static str; 4],
    offered: f64,
    answered: f64,
}

const USUAL: Row = Row { latencies: ["10", "12", "15", "10.5"], offered: 50.0, answered: 50.0 };

type Written = (&'static str, fn(&Row) -> String);

/// Every measured format with a rate.
const WRITTEN: [Written; 7] = [
    ("perf-analyzer", |r| {
        let [p50, p90, p99, mean] = r.latencies.map(|ms| thousand(ms, "000"));
        let head = "Request Rate,Inferences/Second,Client Send,p50 latency,p90 latency,p99 latency,Avg latency";
        format!("{head}\n{},{},0,{p50},{p90},{p99},{mean}\n", r.offered, r.answered)
    }),
    ("genai-perf", |r| {
        let [p50, p90, p99, mean] = r.latencies;
        format!(
            "{{\"request_throughput\": {{\"avg\": {}}}, \"request_latency\": {{\"unit\": \"ms\", \"avg\": {mean}, \"p50\": \
             {p50}, \"p90\": {p90}, \"p99\": {p99}}}, \"input_config\": {{\"request_rate\": {}}}}}",
            r.answered, r.offered
        )
    }),
    ("vllm-serving", |r| {
        let [p50, p90, p99, mean] = r.latencies;
        format!(
            "{{\"num_prompts\": 500, \"request_rate\": {}, \"request_throughput\": {}, \"mean_e2el_ms\": {mean}, \
             \"median_e2el_ms\": {p50}, \"p90_e2el_ms\": {p90}, \"p99_e2el_ms\": {p99}}}",
            r.offered, r.answered
        )
    }),
    ("vllm-serving", |r| {
        let [p50, p90, p99, mean] = r.latencies;
        format!(
            "{{\"completed\": 500, \"request_rate\": {}, \"request_throughput\": {}, \"mean_e2e_latency_ms\": {mean}, \
             \"median_e2e_latency_ms\": {p50}, \"p90_e2e_latency_ms\": {p90}, \"p99_e2e_latency_ms\": {p99}}}\n",
            r.offered, r.answered
        )
    }),
    ("mlperf-summary", |r| {
        let [p50, p90, p99, mean] = r.latencies.map(|ms| thousand(ms, "000000"));
        format!(
            "MLPerf Results Summary\nScenario : Server\nCompleted samples per second : {}\nScheduled samples per second : \
             {}\nMean latency (ns) : {mean}\n50.00 percentile latency (ns) : {p50}\n90.00 percentile latency (ns) : {p90}\n\
             99.00 percentile latency (ns) : {p99}\n",
            r.answered, r.offered
        )
    }),
    ("mlperf-detail", |r| {
        let [p50, p90, p99, mean] = r.latencies.map(|ms| thousand(ms, "000000"));
        let line = |key: &str, value: &str| {
            format!(":::MLLOG {{\"key\": \"{key}\", \"value\": {value}}}\n")
        };
        let (offered, answered) = (r.offered.to_string(), r.answered.to_string());
        [
            ("effective_scenario", "\"Server\""),
            ("result_scheduled_samples_per_sec", &offered),
            ("result_completed_samples_per_sec", &answered),
            ("result_mean_latency_ns", &mean),
            ("result_50.00_percentile_latency_ns", &p50),
            ("result_90.00_percentile_latency_ns", &p90),
            ("result_99.00_percentile_latency_ns", &p99),
        ]
        .map(|(key, value)| line(key, value))
        .concat()
    }),
    ("measured-table", |r| {
        let [p50, p90, p99, mean] = r.latencies;
        let head = "offered_per_s,rate_per_s,p50_ms,p90_ms,p99_ms,mean_ms";
        format!("{head}\n{},{},{p50},{p90},{p99},{mean}\n", r.offered, r.answered)
    }),
];

/// Milliseconds in a smaller unit, as text: a number that is none stays as it is.
fn thousand(ms: &str, zeros: &str) -> String {
    match ms.split_once('.') {
        Some((whole, tenth)) => format!("{whole}{tenth}{}", &zeros[tenth.len()..]),
        None if ms.contains('e') || ms == "0" => ms.to_string(),
        None => format!("{ms}{zeros}"),
    }
}

fn read_row(written: &Written, row: &Row, options: &Options) -> Result<Reading, ImportError> {
    read_bytes("f", (written.1)(row).as_bytes(), options)
}

fn point(reading: &Reading) -> Point {
    match reading.content(Some(Kind::Measured)) {
        Ok(Content::Measured(table)) => table.points[0].clone(),
        other => panic!("{other:?}"),
    }
}

fn said(reading: &Reading, what: &str) -> bool {
    reading.assumed.iter().chain(&reading.notes).any(|note| note.contains(what))
}

fn measured(name: &str, text: &str) -> Reading {
    let reading = read_bytes(name, text.as_bytes(), &Options::default());
    reading.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn the_arrivals_are_the_tool_s_and_where_the_file_does_not_say_them_that_is_said_first() {
    for format in FORMATS.iter().filter(|f| f.becomes.contains(&Kind::Measured)) {
        let has = WRITTEN.iter().any(|w| w.0 == format.name);
        assert!(has || format.name == "access-log", "{}", format.name);
    }
    for written in WRITTEN {
        let reading = read_row(&written, &USUAL, &Options::default()).unwrap();
        assert_eq!(reading.format.unwrap().name, written.0);
        let (point, is_mlperf) = (point(&reading), written.0.starts_with("mlperf"));
        let is_even = ["perf-analyzer", "genai-perf"].contains(&written.0);
        let spacing = if is_even { Spacing::Even } else { Spacing::Poisson };
        let load = Offered::Rate { per_s: 50.0, spacing, in_flight_max: None };
        assert_eq!(point.load, load, "{}", written.0);
        // LoadGen's Server scenario is a Poisson process by its rules; the others do not say it.
        assert_eq!(point.assumed.is_none(), is_mlperf, "{}", written.0);
        if !is_mlperf {
            let first = &reading.assumed[0];
            assert!(
                first.contains("how its requests arrived") && first.contains("--arrivals"),
                "{first}"
            );
        }
        for words in ["even", "poisson", "gamma:0.25", "clients:8"] {
            let given = Options { arrivals: Arriving::parse(words), ..Options::default() };
            let reading = read_row(&written, &USUAL, &given);
            if is_mlperf {
                let error = reading.unwrap_err().to_string();
                assert!(error.contains("--arrivals") && error.contains("leave it out"), "{error}");
                continue;
            }
            let reading = reading.unwrap();
            let csv = reading.content(Some(Kind::Measured)).unwrap().csv(Span::ZERO);
            let column =
                if words == "clients:8" { ",8,,,".to_string() } else { format!(",50,{words},") };
            assert!(csv.contains(&column) && !csv.contains("assumed"), "{csv}");
            assert!(!said(&reading, "how its requests arrived"), "{:?}", reading.notes);
        }
    }
    for words in ["", "gamma", "gamma:0", "gamma:nan", "clients:0", "even:1", "at-once:3", "burst"]
    {
        assert_eq!(Arriving::parse(words), None, "{words}");
    }
}

#[test]
fn what_a_latency_cannot_be_is_refused_with_the_remedy() {
    for written in WRITTEN {
        for (at, bad) in [(0, "0"), (3, "0"), (2, "1e308"), (0, "-5"), (3, "1e300")] {
            let mut latencies = USUAL.latencies;
            latencies[at] = bad;
            let error = read_row(&written, &Row { latencies, ..USUAL }, &Options::default());
            let error = error.map(|r| r.contents).unwrap_err().to_string();
            assert!(
                error.starts_with('f') && (error.contains("remedy") || error.contains("correct")),
                "{}: {error}",
                written.0
            );
            assert!(
                error.to_lowercase().contains("latency") || error.contains("_ms"),
                "{}: {error}",
                written.0
            );
        }
    }
}

#[test]
fn quantiles_out_of_order_and_a_generator_that_lags_are_said() {
    for written in WRITTEN {
        let usual = read_row(&written, &USUAL, &Options::default()).unwrap();
        let falling = Row { latencies: ["100", "50", "10", "60"], ..USUAL };
        let falling = read_row(&written, &falling, &Options::default()).unwrap();
        let lagging =
            read_row(&written, &Row { answered: 30.0, ..USUAL }, &Options::default()).unwrap();
        // A server that lags has long latencies.
        let full = Row { latencies: ["5000", "6000", "7000", "5000"], answered: 30.0, ..USUAL };
        let full = read_row(&written, &full, &Options::default()).unwrap();
        for (reading, falls, lags) in [
            (&usual, false, false),
            (&falling, true, false),
            (&lagging, false, true),
            (&full, false, false),
        ] {
            assert_eq!(
                said(reading, "quantiles out of order"),
                falls,
                "{} {:?}",
                written.0,
                reading.notes
            );
            assert_eq!(said(reading, "did not keep up"), lags, "{} {:?}", written.0, reading.notes);
            assert_eq!(point(reading).lags(), lags, "{}", written.0);
        }
        assert!(said(&falling, "p50 100, ") || said(&falling, "p90 100, "), "{:?}", falling.notes);
    }
}

#[test]
fn a_measured_csv_says_how_the_load_came() {
    let text = "clients,offered_per_s,arrivals,p50_ms,requests\n4,,,1,\n,,at-once,1,480\n,60,even,1,\n,60,poisson,1,9\n\
                ,60,gamma:0.25,1,\n16,60,gamma:2,1,\n,60,,1,\n";
    let reading = measured("m.csv", text);
    let csv = reading.contents[0].csv(Span::ZERO);
    let arrivals: Vec<&str> =
        csv.lines().skip(1).map(|line| line.split(',').nth(3).unwrap()).collect();
    let wanted = ["", "at-once", "even", "poisson", "gamma:0.25", "gamma:2", "poisson (assumed)"];
    assert_eq!(arrivals, wanted);
    assert_eq!(measured("again.csv", &csv).contents[0].csv(Span::ZERO), csv);
    let load = |row: usize| match &reading.contents[0] {
        Content::Measured(table) => table.points[row].load.to_string(),
        _ => unreachable!(),
    };
    assert_eq!(load(1), "480 at once");
    assert_eq!(load(5), "60/s in gamma gaps of shape 2 and at most 16 in flight");
    for (bad, says) in [
        (",,at-once,1,\n", "requests"),
        (",60,often,1,\n", "gamma:SHAPE"),
        (",60,at-once,1,5\n", "beside a rate"),
        ("4,,even,1,\n", "beside a rate"),
        (",60,gamma:-1,1,\n", "gamma:SHAPE"),
    ] {
        let text = format!("clients,offered_per_s,arrivals,p50_ms,requests\n{bad}");
        let error = read_bytes("m.csv", text.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("line 2"), "{bad}: {error}");
    }
}

#[test]
fn one_quantity_in_two_units_is_asked_about() {
    for text in [
        "clients,p50_ms,p50_us\n1,5,5000\n",
        "Concurrency,Inferences/Second,Client Send,p99 latency,p99 latency (ms)\n1,5,0,5000,5\n",
        "batch,latency_ms,latency_us\n1,5,5000\n",
    ] {
        let error = read_bytes("f.csv", text.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains("two units") && error.contains("remedy: remove"), "{error}");
    }
}

#[test]
fn r55_loadgen_offline_is_at_once_and_multistream_one_client() {
    let text = |words: &str| {
        format!("MLPerf Results Summary\nScenario : {words}\nMean latency (ns) : 800000\n")
    };
    let offline = measured("o.txt", &(text("Offline") + "samples_per_query : 48000\n"));
    assert_eq!(point(&offline).load, Offered::AtOnce(48_000));
    let stream = measured("m.txt", &(text("MultiStream") + "samples_per_query : 8\n"));
    assert_eq!((point(&stream).load, point(&stream).size), (Offered::Clients(1), 8));
    let error =
        read_bytes("o.txt", text("Offline").as_bytes(), &options()).unwrap_err().to_string();
    assert!(
        error.contains("samples_per_query") && error.contains("write a table by hand"),
        "{error}"
    );
}

#[test]
fn r55_loadgen_says_whether_a_result_is_valid() {
    let summary = "MLPerf Results Summary\nScenario : SingleStream\nMean latency (ns) : 800000\n";
    let detail = ":::MLLOG {\"key\": \"effective_scenario\", \"value\": \"SingleStream\"}\n\
                  :::MLLOG {\"key\": \"result_mean_latency_ns\", \"value\": 800000}\n";
    for (text, invalid, accuracy) in [
        (summary, "Result is : INVALID\n", "Mode     : AccuracyOnly\n"),
        (
            detail,
            ":::MLLOG {\"key\": \"result_validity\", \"value\": \"INVALID\"}\n",
            ":::MLLOG {\"key\": \"effective_test_mode\", \"value\": \"AccuracyOnly\"}\n",
        ),
    ] {
        assert!(!said(&measured("l.txt", text), "not valid"));
        assert!(said(&measured("l.txt", &(text.to_string() + invalid)), "not valid"));
        let error = read_bytes("l.txt", (text.to_string() + accuracy).as_bytes(), &options());
        assert!(error.unwrap_err().to_string().contains("PerformanceOnly"));
    }
}

#[test]
fn r55_a_mean_is_a_sum_of_all_its_parts_or_none() {
    let head = "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,\
                Server Compute Infer,Server Compute Output,Client Recv,p50 latency";
    let mean = |text: &str| {
        let reading = measured("p.csv", text);
        let mean = point(&reading).mean_ms.map(|ms| (ms * 1e6).round() / 1e6);
        (mean, said(&reading, "no mean latency"))
    };
    assert_eq!(
        mean(&format!("{head}\n1,80,100,900,50,100,11000,50,300,12500\n")),
        (Some(12.5), false)
    );
    assert_eq!(mean(&format!("{head}\n1,80,100,900,50,100,,50,300,12500\n")), (None, true));
    let cache = head.replace("Client Recv", "Server Cache Hit,Server Cache Miss,Client Recv");
    let all = format!("{cache}\n1,80,100,900,50,100,4000,50,300,7000,0,12500\n");
    assert_eq!(mean(&all), (Some(12.5), false));
    assert_eq!(mean(&all.replace(",7000,", ",,")), (None, true));
    // An older file has one column in place of three.
    let older = "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute,Client Recv";
    assert_eq!(mean(&format!("{older}\n1,80,100,900,50,11150,300\n")), (Some(12.5), false));
    assert_eq!(mean("Concurrency,Inferences/Second,Client Send\n1,80,100\n"), (None, true));
}

#[test]
fn r55_a_profile_is_of_batches_of_one_request() {
    let perf = |load: &str, rows: &str| {
        let text = format!(
            "Batch Size,{load},Inferences/Second,Client Send,Server Compute Infer,Avg latency\n{rows}"
        );
        let reading = measured("p.csv", &text);
        let csv = reading.content(Some(Kind::Profile)).map(|c| c.csv(Span::ZERO));
        csv.map_err(|e| e.to_string())
    };
    let sizes =
        perf("Concurrency", "1,1,160,0,4719,6000\n2,1,250,0,6519,8000\n4,1,380,0,9119,10000\n");
    assert_eq!(
        sizes.unwrap(),
        "model,batch,latency_ms\nmodel,1,4.719\nmodel,2,6.519\nmodel,4,9.119\n"
    );
    let error = perf("Concurrency", "1,64,160,0,4719,6000\n").unwrap_err();
    assert!(error.contains("64 clients") && error.contains("one client"), "{error}");
    assert!(perf("Request Rate", "1,20,20,0,4719,6000\n").is_ok());
    assert!(perf("Request Rate", "1,400,400,0,4719,6000\n").is_err());
}

#[test]
fn r55_vllm_and_sglang() {
    let with = |keys: &str| {
        format!(
            "{{\"request_throughput\": 5.0, \"num_prompts\": 10, \"mean_e2el_ms\": 9.0, {keys}}}"
        )
    };
    let load = |keys: &str| point(&measured("v.json", &with(keys))).load.to_string();
    assert_eq!(load("\"request_rate\": 5.0, \"burstiness\": 1.0"), "5/s at random");
    assert_eq!(
        load("\"request_rate\": 5.0, \"burstiness\": 0.25"),
        "5/s in gamma gaps of shape 0.25"
    );
    assert_eq!(load("\"request_rate\": \"inf\", \"max_concurrency\": 4"), "4 clients");
    assert_eq!(load("\"request_rate\": Infinity, \"max_concurrency\": null"), "10 at once");
    let capped = "\"request_rate\": 5.0, \"burstiness\": 1.0, \"max_concurrency\": 4";
    assert_eq!(load(capped), "5/s at random and at most 4 in flight");
    // Both names of the median, as `--metric-percentiles 50` writes them.
    let both = with(
        "\"request_rate\": 5.0, \"median_e2el_ms\": 8.0, \"p50_e2el_ms\": 8.5, \"failed\": 1, \"completed\": 9",
    );
    let reading = measured("v.json", &both);
    let drops = point(&reading).drop_share.unwrap();
    assert!(point(&reading).p50_ms == Some(8.0) && (drops - 0.1).abs() < 1e-12);
    assert!(reading.ignored.contains(&"p50_e2el_ms".to_string()), "{:?}", reading.ignored);
    let error = read_bytes(
        "v.json",
        with("\"request_rate\": 5.0, \"burstiness\": -1.0").as_bytes(),
        &options(),
    );
    assert!(error.unwrap_err().to_string().contains("burstiness"));
}

#[test]
fn r55_genai_perf_s_csv_is_its_json() {
    let csv = "Metric,avg,min,max,p99,p95,p90,p75,p50,p25\nTime To First Token (ms),13,1,2,1,1,1,1,1,1\n\
               Request Latency (ms),\"1,240.11\",1,2,1300.11,1280.32,1270.41,1250.11,1236.11,1229.14\n\nMetric,Value\n\
               Request Throughput (per sec),3.21\nRequest Count (count),100.00\n";
    let json = "{\"request_latency\": {\"unit\": \"ms\", \"avg\": 1240.11, \"p50\": 1236.11, \"p90\": 1270.41, \"p95\": \
                1280.32, \"p99\": 1300.11}, \"request_throughput\": {\"avg\": 3.21}, \"request_count\": {\"avg\": 100.0}, \
                \"input_config\": {\"concurrency\": 4}}";
    let (csv, json) = (measured("g.csv", csv), measured("g.json", json));
    assert_eq!(Point { assumed: None, ..point(&csv) }, point(&json));
    assert!(csv.assumed[0].contains("`4 clients` is assumed"), "{:?}", csv.assumed);
    let errors = "{\"request_latency\": {\"avg\": 12.0}, \"request_throughput\": {\"avg\": 3.2}, \"request_count\": {\"avg\": \
                  90}, \"error_request_count\": {\"avg\": 10}, \"was_cancelled\": true, \"input_config\": {\"loadgen\": \
                  {\"concurrency\": 4, \"request_rate\": 5.0, \"arrival_pattern\": \"gamma\", \"arrival_smoothness\": 0.5}}}";
    let reading = measured("a.json", errors);
    assert_eq!(
        point(&reading).load.to_string(),
        "5/s in gamma gaps of shape 0.5 and at most 4 in flight"
    );
    assert_eq!((point(&reading).drop_share, point(&reading).requests), (Some(0.1), Some(90)));
    assert!(said(&reading, "was cancelled"));
    let unknown = errors.replace("gamma", "burst");
    let error = read_bytes("a.json", unknown.as_bytes(), &options()).unwrap_err().to_string();
    assert!(error.contains("`burst`") && error.contains("--arrivals"), "{error}");
}
