//! Each format's sample becomes what it should, and no mutation of one makes a reader panic.

mod load;

use super::*;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_traces::quirks::QUIRKS;

/// A sample, its format, and the CSV that it becomes, which is in `tests/becomes/`.
type Sample = (&'static str, &'static [u8], &'static str, Kind, &'static str);

macro_rules! sample {
    ($name:literal, $format:literal, $kind:expr, $word:literal) => {
        (
            $name,
            include_bytes!(concat!("../samples/", $name)),
            $format,
            $kind,
            include_str!(concat!("tests/becomes/", $name, ".", $word, ".csv")),
        )
    };
}

const SAMPLES: &[Sample] = &[
    sample!("perf_analyzer.csv", "perf-analyzer", Kind::Measured, "measured"),
    sample!("perf_analyzer.csv", "perf-analyzer", Kind::Profile, "profile"),
    sample!("genai_perf.json", "genai-perf", Kind::Measured, "measured"),
    sample!("aiperf.json", "genai-perf", Kind::Measured, "measured"),
    sample!("trtexec.json", "trtexec", Kind::Profile, "profile"),
    sample!("vllm_serving.json", "vllm-serving", Kind::Measured, "measured"),
    sample!("vllm_latency.json", "vllm-latency", Kind::Profile, "profile"),
    sample!("mlperf_log_summary.txt", "mlperf-summary", Kind::Measured, "measured"),
    sample!("mlperf_log_detail.txt", "mlperf-detail", Kind::Measured, "measured"),
    sample!("azure2021.csv", "azure-2021", Kind::Workload, "workload"),
    sample!("azure_llm2024.csv", "azure-llm", Kind::Prompts, "prompts"),
    sample!("burstgpt.csv", "burstgpt", Kind::Prompts, "prompts"),
    sample!("mooncake.jsonl", "mooncake", Kind::Prompts, "prompts"),
    sample!("servegen.jsonl", "servegen", Kind::Prompts, "prompts"),
    sample!("prompts.csv", "prompts", Kind::Prompts, "prompts"),
    sample!("servegen_offline.jsonl", "servegen", Kind::Prompts, "prompts"),
    sample!("measured.csv", "measured-table", Kind::Measured, "measured"),
    sample!("latencies.csv", "latencies", Kind::Profile, "profile"),
    sample!("access_log.csv", "access-log", Kind::Workload, "workload"),
];

fn options() -> Options {
    Options { batch: Some(8), ..Options::default() }
}

fn opened(name: &str, bytes: &[u8]) -> impl Fn() -> Result<Input, TraceError> {
    let (name, bytes) = (name.to_string(), bytes.to_vec());
    move || Input::from_bytes(&name, bytes.clone())
}

fn read_bytes(name: &str, bytes: &[u8], options: &Options) -> Result<Reading, ImportError> {
    read(&File::new(name, &opened(name, bytes)), options)
}

#[test]
fn every_sample_becomes_what_it_should() {
    for (name, bytes, format, kind, csv) in SAMPLES {
        // What perf_analyzer's requests are is not in its file.
        let batch = (*format != "perf-analyzer").then_some(8);
        let reading = read_bytes(name, bytes, &Options { batch, ..Options::default() });
        let reading = reading.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(reading.format.unwrap().name, *format, "{name}");
        let content = reading.content(Some(*kind)).unwrap();
        assert_eq!(content.csv(Span::from_ms(5)), *csv, "{name}");
        assert!(!reading.taken.is_empty(), "{name}");
    }
    for format in FORMATS {
        assert!(SAMPLES.iter().any(|s| s.2 == format.name), "no sample of {}", format.name);
    }
}

#[test]
fn what_is_written_is_read_again_as_the_same() {
    for (name, bytes, ..) in SAMPLES {
        let reading = read_bytes(name, bytes, &options()).unwrap();
        for content in &reading.contents {
            // Recorded arrivals are in their log, and a workload is what scenarios read.
            let as_recorded = matches!(content, Content::Measured(m)
                if m.points.iter().any(|p| matches!(p.load, Offered::Arrivals(_))));
            if as_recorded || content.kind() == Kind::Workload {
                continue;
            }
            let csv = content.csv(Span::from_ms(5));
            let again = read_bytes("again.csv", csv.as_bytes(), &Options::default());
            let again = again.unwrap_or_else(|e| panic!("{name}: {e}\n{csv}"));
            assert_eq!(again.contents[0].csv(Span::ZERO), csv, "{name}");
        }
    }
}

#[test]
fn what_a_file_does_not_say_is_asked_for() {
    for name in ["trtexec.json", "vllm_latency.json"] {
        let bytes = SAMPLES.iter().find(|s| s.0 == name).unwrap().1;
        let error = read_bytes(name, bytes, &Options::default()).unwrap_err().to_string();
        assert!(error.contains("--batch N") && error.starts_with(name), "{error}");
    }
    let error = read_bytes("x.csv", b"a,b\n1,2\n", &options()).unwrap_err().to_string();
    assert!(error.contains("`a,b`") && error.contains("`access-log`"), "{error}");
    let log = b"timestamp,name,latency\n1,a,5\n";
    let error = read_bytes("log.csv", log, &options()).unwrap_err().to_string();
    assert!(error.contains("latency_ms") && error.contains("line 1"), "{error}");
    let reading = read_bytes("log.csv", b"timestamp,name\n1,a\n", &options()).unwrap();
    let error = reading.content(Some(Kind::Profile)).unwrap_err().to_string();
    assert!(error.contains("`profile`") && error.contains("workload"), "{error}");
}

#[test]
fn a_named_format_says_what_it_lacks() {
    let format = FORMATS.iter().find(|f| f.name == "burstgpt");
    let options = Options { format, ..options() };
    let text = b"Timestamp,Request token,Response tokens\n1,2,3\n";
    let error = read_bytes("b.csv", text, &options).unwrap_err().to_string();
    assert!(error.contains("`Request tokens` is missing"), "{error}");
    assert!(error.contains("is `Request token` meant?"), "{error}");
}

#[test]
fn damage_is_named_with_its_line_and_column() {
    for (name, text, says) in [
        (
            "a.csv",
            "Concurrency,Inferences/Second,Client Send\n0,1,2\n",
            "line 2: column `Concurrency`",
        ),
        (
            "a.csv",
            "Concurrency,Inferences/Second,Client Send\n1,-1,2\n",
            "line 2: column `Inferences/Second`",
        ),
        ("a.json", "[{\"latencyMs\": 1},\n{\"latencyMs\": \"x\"}]", "a.json: line 2"),
        ("a.json", "[{\"latencyMs\": -1}]", "record 1 key `latencyMs`"),
        (
            "a.jsonl",
            "{\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n{\"timestamp\":-1,\"input_length\":1,\"output_length\":1}",
            "a.jsonl: line 2",
        ),
        (
            "a.txt",
            "MLPerf Results Summary\nScenario : Server\nScheduled samples per second : fast\n",
            "line 3: column `Scheduled samples per second`",
        ),
        ("a.txt", ":::MLLOG {\"key\":\n", "a.txt: line 1"),
        (
            "a.csv",
            "timestamp,name\n2026-11-01 12:00:00,a\nnoon,a\n",
            "line 3: column `timestamp`: found `noon`",
        ),
        ("a.csv", "timestamp,name\n1,\n", "line 2: column `name`"),
        ("a.csv", "clients,p50_ms\n,5\n", "line 2: column `clients`"),
        ("a.csv", "batch,latency_ms\n1,0\n", "line 2: column `latency_ms`"),
    ] {
        let error = read_bytes(name, text.as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(says) && error.starts_with(name), "{text}: {error}");
    }
}

/// A sample as a program with a quirk writes it; nothing where its form cannot have it.
type Oddly = fn(&str) -> Option<String>;

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '['])
}

fn is_csv(text: &str) -> bool {
    !is_json(text) && !text.starts_with(':') && text.lines().all(|line| line.contains(','))
}

/// A CSV with each field of its rows as another.
fn by_field(text: &str, odd: impl Fn(&str) -> String) -> Option<String> {
    let (header, rows) = text.split_once('\n')?;
    let row = |row: &str| row.split(',').map(&odd).collect::<Vec<_>>().join(",") + "\n";
    let changed: String = rows.lines().map(row).collect();
    (is_csv(text) && changed != rows).then(|| format!("{header}\n{changed}"))
}

/// A CSV with another sign between its fields.
fn separated(text: &str, sign: &str) -> Option<String> {
    (is_csv(text) && !text.contains('"')).then(|| text.replace(',', sign))
}

/// Each quirk of [`orrery_traces::quirks::QUIRKS`] that is read, and how a file gets it.
const ODDLY: &[(Quirk, Oddly)] = &[
    (Quirk::Separator, |text| separated(text, "\t")),
    (Quirk::Separator, |text| separated(text, ";")),
    (Quirk::Whole, |text| {
        let whole = |field: &str| !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit());
        let odd = |field: &str| match whole(field) {
            true => format!("{field}.0"),
            false => field.to_string(),
        };
        by_field(text, odd)
    }),
    (Quirk::DecimalComma, |text| {
        let is_one = |field: &str| field.contains('.') && field.parse::<f64>().is_ok();
        let odd = |field: &str| match is_one(field) {
            true => format!("\"{}\"", field.replace('.', ",")),
            false => field.to_string(),
        };
        by_field(text, odd)
    }),
    (Quirk::Thousands, |text| {
        let odd = |field: &str| match field.parse::<u64>() {
            Ok(n @ 1_000_000..) => {
                format!("\"{},{:03},{:03}\"", n / 1_000_000, n / 1000 % 1000, n % 1000)
            }
            _ => field.to_string(),
        };
        by_field(text, odd)
    }),
    (Quirk::Preamble, |text| {
        is_csv(text).then(|| format!("Processing [run] with [tool.py]...\n\n{text}"))
    }),
    (Quirk::SecondTable, |text| {
        is_csv(text).then(|| format!("{text}\nMetric,Value\nRequests,7\n"))
    }),
    (Quirk::SecondTable, |text| {
        let name = text.split_once(',')?.0;
        let more = ",x".repeat(text.lines().next()?.matches(',').count());
        is_csv(text).then(|| format!("{text}\n{name}{more}\n"))
    }),
    (Quirk::HeaderAgain, |text| {
        let header = text.lines().next()?;
        is_csv(text).then(|| format!("{text}{header}\n"))
    }),
    (Quirk::TrailingComma, |text| {
        let (header, rows) = text.split_once('\n')?;
        let rows = rows.lines().map(|row| format!("{row},\n")).collect::<String>();
        is_csv(text).then(|| format!("{header}\n{rows}"))
    }),
    (Quirk::NotANumber, |text| {
        let odd = |text: &str| text.replacen('{', "{\"odd\\\"NaN\": NaN, \"odder\": -Infinity,", 1);
        is_json(text).then(|| odd(text))
    }),
];

#[test]
fn every_reader_reads_every_quirk_the_same_and_says_it() {
    for (quirk, oddly) in ODDLY {
        // A number may be in a column that is left.
        let of_numbers = [Quirk::Whole, Quirk::DecimalComma, Quirk::Thousands].contains(quirk);
        let mut readers = 0;
        for (name, bytes, format, kind, csv) in SAMPLES {
            let Some(odd) = oddly(std::str::from_utf8(bytes).unwrap()) else { continue };
            let batch = (*format != "perf-analyzer").then_some(8);
            let reading =
                read_bytes(name, odd.as_bytes(), &Options { batch, ..Options::default() });
            let reading = reading.unwrap_or_else(|e| panic!("{name} {quirk:?}: {e}\n{odd}"));
            assert_eq!(reading.format.unwrap().name, *format, "{name} {quirk:?}");
            let content = reading.content(Some(*kind)).unwrap();
            assert_eq!(content.csv(Span::from_ms(5)), *csv, "{name} {quirk:?}");
            let what = QUIRKS.iter().find(|row| row.quirk == *quirk).unwrap().what;
            let said = reading.assumed.iter().filter(|note| note.starts_with(what)).count();
            assert!(said == 1 || of_numbers, "{name} {quirk:?}: {:?}", reading.assumed);
            readers += said;
        }
        assert!(readers >= 1, "{quirk:?}: {readers}");
    }
    for row in QUIRKS {
        // Those of Azure's traces have their tests beside their readers.
        let elsewhere = row.quirk == Quirk::Utf16 || row.readers.starts_with("Azure");
        assert!(
            elsewhere || ODDLY.iter().any(|o| o.0 == row.quirk),
            "{:?} is not tried",
            row.quirk
        );
    }
}

#[test]
fn every_reader_says_that_a_file_is_utf_16() {
    for (name, bytes, ..) in SAMPLES {
        for mark in ["\u{feff}", ""] {
            let text = format!("{mark}{}", std::str::from_utf8(bytes).unwrap());
            for swap in [u16::to_le_bytes, u16::to_be_bytes] {
                let odd: Vec<u8> = text.encode_utf16().flat_map(swap).collect();
                let error = read_bytes(name, &odd, &options()).unwrap_err().to_string();
                assert!(
                    error.contains("UTF-16") && error.contains("save the file as UTF-8"),
                    "{error}"
                );
            }
        }
    }
}

/// What a table becomes, with what is said of it; or the error.
fn said(name: &str, text: &str, options: &Options) -> Result<(Vec<Content>, String), String> {
    let reading = read_bytes(name, text.as_bytes(), options).map_err(|e| e.to_string())?;
    let all: Vec<String> = reading.assumed.into_iter().chain(reading.notes).collect();
    Ok((reading.contents, all.join("\n")))
}

/// The arrivals of what a file becomes, in milliseconds.
fn at_ms(contents: &[Content]) -> Vec<u64> {
    let ms = |at: orrery_sim::time::Time| at.ns() / 1_000_000;
    match &contents[0] {
        Content::Workload(w) => w.requests.iter().map(|r| ms(r.at)).collect(),
        Content::Prompts(p) => p.rows.iter().map(|r| ms(r.0)).collect(),
        _ => panic!("no load"),
    }
}

#[test]
fn a_table_that_is_no_log_of_requests_is_refused_by_name() {
    for (header, says) in [
        ("timestamp, name, utilization.gpu [%], memory.used [MiB]", "nvidia-smi"),
        ("timestamp,name,utilization.gpu", "nvidia-smi"),
        ("Timestamp,User Count,Type,Name,Requests/s,50%,Total Request Count", "Locust"),
        ("metric_name,timestamp,metric_value,url", "k6"),
        ("_timestamp,name,_step", "Weights & Biases"),
        ("Time (%),Total Time (ns),Num Calls,Avg (ns),Name", "nsys"),
        ("Time (%),Total Time (ns),Instances,Avg (ns),Name", "nsys"),
        ("Model,Batch,Concurrency,Throughput (infer/sec),p99 Latency (ms)", "perf_analyzer -m"),
        ("timestamp,job_id,name,gpus", "trace of jobs"),
        ("Name,Self CPU %,Self CPU,time", "PyTorch"),
        ("time,service,cpu_percent", "`cpu_percent`"),
        ("timestamp,count", "`count` for each period"),
        ("timestamp,name,latency_ms,p99_ms", "`p99_ms`"),
        ("timestamp,endpoint,p99_ms", "`p99_ms`"),
        ("Time,name,Value", "`Value`"),
    ] {
        let row = header.split(',').map(|_| "1").collect::<Vec<_>>().join(",");
        let error = said("t.csv", &format!("{header}\n{row}\n"), &options()).unwrap_err();
        assert!(error.contains(says) && error.contains("remedy: "), "{header}: {error}");
    }
    // Who knows better says so.
    let format = FORMATS.iter().find(|f| f.name == "access-log");
    let named = Options { format, ..options() };
    assert!(said("t.csv", "time,service,retry_count\n1,a,0\n", &named).is_ok());
}

#[test]
fn a_log_says_what_a_request_is_and_whether_its_time_is_the_end() {
    let end = Options { time_is_end: Some(true), ..options() };
    let start = Options { time_is_end: Some(false), ..options() };
    let rows = "0.3,a,300\n0.4,b,200\n";
    for (header, options, at, says) in [
        ("timestamp,name,latency_ms", options(), [0, 100], "`--time-is end`"),
        ("timestamp,name,latency_ms", start.clone(), [0, 100], "is the start of"),
        ("timestamp,name,latency_ms", end, [0, 200], "is the end of"),
        ("start_time,name,latency_ms", options(), [0, 100], "is the start of"),
        ("time_local,uri,request_time_ms", options(), [0, 200], "is the end of"),
        ("time_local,uri,request_time_ms", start, [0, 100], "is the start of"),
    ] {
        let (contents, notes) = said("l.csv", &format!("{header}\n{rows}"), &options).unwrap();
        assert_eq!(at_ms(&contents), at, "{header}");
        assert!(notes.contains(says), "{header}: {notes}");
        assert!(notes.contains("each of 2 rows is one request, of 2 names: a, b"), "{notes}");
    }
    // The units of nginx and JMeter are known; the end of a request without its duration is said.
    let nginx = said("n.csv", "time_local,uri,request_time\n0.5,a,0.25\n0.6,a,0.1\n", &options());
    assert_eq!(at_ms(&nginx.unwrap().0), [0, 250]);
    let jmeter =
        "timeStamp,elapsed,label,responseCode\n1793534400000,250,a,200\n1793534400500,9,a,503\n";
    let (contents, notes) = said("j.csv", jmeter, &options()).unwrap();
    let Content::Measured(measured) = &contents[1] else { panic!("a measured table") };
    assert_eq!(
        (measured.points[0].mean_ms, measured.points[0].drop_share),
        (Some(250.0), Some(0.5))
    );
    assert!(notes.contains("1 request (`responseCode` 503: 1) failed"), "{notes}");
    let (_, notes) = said("e.csv", "end_time,name\n1,a\n2,a\n", &options()).unwrap();
    assert!(notes.contains("no column says how long it took"), "{notes}");
    // A single column of times is a log of one application.
    let (contents, notes) = said("shop.csv", "arrival_s\n1.5\n2.5\n", &options()).unwrap();
    assert_eq!(at_ms(&contents), [0, 1000]);
    assert!(notes.contains("of 1 name: shop"), "{notes}");
}

#[test]
fn the_unit_of_prompts_is_known_or_said() {
    let lines = |times: [&str; 3], more: &str| -> String {
        let line = |at| {
            format!("{{\"timestamp\": {at}, \"input_length\": 5, \"output_length\": 4.0{more}}}\n")
        };
        times.map(line).concat()
    };
    let given = |unit| Options { time_unit: Some(unit), ..options() };
    let whole = ["0", "2", "4"];
    for (text, options, at, says) in [
        (lines(whole, ", \"hash_ids\": []"), options(), [0, 2, 4], ""),
        (lines(whole, ", \"hash_ids\": [], \"chat_id\": 1"), options(), [0, 2000, 4000], ""),
        (lines(whole, ""), options(), [0, 2000, 4000], "seconds, as they would come too fast"),
        (lines(whole, ""), given(1e6), [0, 2, 4], ""),
        (lines(["0", "0.5", "9"], ""), options(), [0, 500, 9000], "some have a fraction"),
        (
            lines(["0", "200", "400"], ""),
            options(),
            [0, 200, 400],
            "milliseconds, as all are whole",
        ),
        (lines(["0", "200", "400"], ""), given(1e9), [0, 200_000, 400_000], ""),
        (
            lines(["1793534400", "1793534401", "1793534402"], ""),
            options(),
            [0, 1000, 2000],
            "since 1970",
        ),
        (
            lines(["1793534400000", "1793534400001", "1793534400002"], ""),
            options(),
            [0, 1, 2],
            "since 1970",
        ),
    ] {
        let (contents, notes) = said("p.jsonl", &text, &options).unwrap();
        assert_eq!(at_ms(&contents), at, "{text}");
        assert!(notes.contains(says), "{text}: {notes}");
        assert_eq!(notes.contains("are taken as"), !says.is_empty(), "{text}: {notes}");
        assert_eq!(notes.matches("written as `57.0`: 3").count(), 1, "{notes}");
    }
    for key in ["timestamp", "output_length"] {
        let text = lines(whole, "").replacen(key, "other", 1);
        let error = said("p.jsonl", &text, &options()).unwrap_err();
        assert!(error.contains(&format!("line 1: key `{key}`: found no such key")), "{error}");
        let text = lines(whole, "").replace(key, "other");
        let error = said("p.jsonl", &text, &options()).unwrap_err();
        assert!(error.contains(&format!("line 1: key `{key}`")), "{error}");
    }
}

#[test]
fn a_file_of_no_format_gets_the_three_nearest_with_what_they_lack() {
    for (text, first, lacks) in [
        ("timestamp,endpoin,latency_ms\n1,a,2\n", "`access-log`", "a column of times"),
        ("Timestamp,Request tokens,Tokens\n1,a,2\n", "`burstgpt`", "no `Response tokens`"),
        ("[{\"compute\": 1}]", "", "JSON"),
        ("batch,latenzy_ms\n1,2\n", "`latencies`", "no `latency`"),
    ] {
        let error = said("x", text, &options()).unwrap_err();
        let nearest = error.split("the nearest: ").nth(1).unwrap_or_else(|| panic!("{error}"));
        assert!(nearest.starts_with(first) && error.contains(lacks), "{text}: {error}");
        let names = FORMATS.iter().filter(|f| nearest.contains(&format!("`{}` (", f.name)));
        assert_eq!(names.count(), 3, "{error}");
    }
    let own = "arrival_ns,app,model,size,slo_ns,alone_ns\n0,0,0,1,,1\n";
    assert!(
        said("w.csv", own, &options()).unwrap_err().contains("`workload` of a scenario reads it")
    );
}

/// Bytes of a sample changed, cut out, doubled, or put in from elsewhere.
fn mutated(bytes: &[u8], draws: &mut Stream) -> Vec<u8> {
    const PIECES: [&str; 14] = [
        "",
        "-1",
        "0",
        "1e308",
        "NaN",
        "\"",
        ",",
        "\n",
        "{",
        "}",
        "é",
        "99999999999999999999",
        "null",
        "\u{0}",
    ];
    let mut out = bytes.to_vec();
    for _ in 0..=draws.below(3) {
        let at = draws.below(out.len() as u64 + 1) as usize;
        let to = (at + draws.below(12) as usize).min(out.len());
        match draws.below(4) {
            0 => drop(out.splice(at..to, [])),
            1 => {
                let copy = out[at..to].to_vec();
                drop(out.splice(at..at, copy));
            }
            2 => out.truncate(at.max(1)),
            _ => {
                let piece = PIECES[draws.below(PIECES.len() as u64) as usize];
                drop(out.splice(at..to, piece.bytes()));
            }
        }
    }
    out
}

#[test]
fn mutated_samples_are_read_or_refused() {
    let mut draws = Stream::named(1, "mutated samples", 0);
    let (mut read, mut refused) = (0, 0);
    for (name, bytes, format, ..) in SAMPLES {
        for number in 0..300 {
            let bytes = mutated(bytes, &mut draws);
            // Every other one is given to the reader even where nobody recognises it.
            let format = FORMATS.iter().find(|f| f.name == *format && number % 2 == 0);
            let options = Options { format, ..options() };
            match read_bytes(name, &bytes, &options) {
                Ok(reading) => {
                    read += 1;
                    reading.contents.iter().for_each(|c| drop(c.csv(Span::from_ms(1))));
                }
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    assert!(text.starts_with(name), "{text}");
                    assert!(text.contains("found") || text.contains("the file ends"), "{text}");
                    assert!(text.len() < 3_000, "{text}");
                }
            }
        }
    }
    assert!(read > 500 && refused > 1_000, "{read} {refused}");
}

/// The measured table of a log.
fn log_of(name: &str, text: &str) -> (Point, String) {
    let (contents, notes) =
        said(name, text, &options()).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    let Some(Content::Measured(table)) = contents.get(1) else { panic!("{name}: {notes}") };
    (table.points[0].clone(), notes)
}

/// Two requests in three are answered, in 10 and 12 ms; one fails in 1 ms, as each tool writes it.
#[test]
fn a_failed_request_is_no_answer_whatever_the_tool_calls_it() {
    let csv = |header: &str, ok: &str, failed: &str| {
        let row = |at: f64, ms: u64, how: &str| format!("{at},a,{ms},{how}\n");
        let rows = [row(0.0, 10, ok), row(0.1, 1, failed), row(0.2, 12, ok)].concat();
        format!("start_time,name,latency_ms,{header}\n{rows}")
    };
    for (header, ok, failed) in [
        ("status", "200", "0"),
        ("status", "200", "-1"),
        ("status", "200", "499"),
        ("status", "204", "404"),
        ("status", "OK", "KO"),
        ("status", "ok", "cancelled"),
        ("status", "OK", "DeadlineExceeded"),
        ("status", "done", "aborted"),
        ("status", "200", "never heard of"),
        ("responseCode", "200", "Non HTTP response code: java.net.SocketException"),
        ("success", "true", "false"),
        ("expected_response", "True", "False"),
        ("error", "", "dial tcp: connection refused"),
        ("exception", "None", "ConnectionError(104)"),
        ("code,error", "200,", "200,body too short"),
        ("responseCode,success", "200,true", "200,false"),
    ] {
        let text = csv(header, ok, failed);
        // JSON lines say the same as the table.
        let keys: Vec<String> =
            text.lines().next().unwrap().split(',').map(str::to_string).collect();
        let line = |row: &str| {
            let fields = keys.iter().zip(row.split(','));
            let fields: Vec<String> = fields.map(|(key, v)| format!("{key:?}: {v:?}")).collect();
            format!("{{{}}}\n", fields.join(", "))
        };
        let lines: String = text.lines().skip(1).map(line).collect();
        for (name, text) in [("l.csv", &text), ("l.jsonl", &lines)] {
            let (point, notes) = log_of(name, text);
            let drops = point.drop_share.unwrap();
            assert!((drops - 1.0 / 3.0).abs() < 1e-12, "{header} {failed}: {drops}");
            assert_eq!(
                (point.mean_ms, point.p50_ms),
                (Some(11.0), Some(10.0)),
                "{header} {failed}"
            );
            let word = failed.rsplit(',').next().unwrap();
            assert!(notes.contains("1 request (") && notes.contains(word), "{failed}: {notes}");
        }
    }
    let (_, notes) = log_of("l.csv", &csv("status", "200", "never heard of"));
    assert!(notes.contains("a word that is not known"), "{notes}");
}

#[test]
fn vegeta_s_lines_are_a_log_in_nanoseconds() {
    let line = |seq: u64, code: u64, latency: u64, error: &str| {
        format!(
            "{{\"seq\":{seq},\"code\":{code},\"timestamp\":\"2024-06-01T10:00:00.{seq}Z\",\"latency\":{latency},\
             \"error\":\"{error}\",\"method\":\"GET\",\"url\":\"http://h/infer\"}}\n"
        )
    };
    let text = line(0, 200, 12_500_000, "")
        + "\n"
        + &line(1, 200, 22_500_000, "")
        + &line(2, 0, 100_000, "connection, \\\"refused\\\"");
    let (point, notes) = log_of("attack.jsonl", &text);
    assert_eq!((point.mean_ms, point.p99_ms), (Some(17.5), Some(22.5)));
    assert!(notes.contains("of 1 name: http://h/infer"), "{notes}");
    // Lines are those of the file.
    let error = said("attack.jsonl", &text.replace("00.1Z", "00.1Q"), &options()).unwrap_err();
    assert!(error.contains("attack.jsonl: line 3: column `timestamp`"), "{error}");
}

#[test]
fn json_that_is_not_known_is_never_a_table_nor_near_to_one() {
    for text in [
        "{\"cpu\": 1, \"time\": 2, \"name\": \"x\"}\n",
        "{\"load\": {\"count\": 2, \"rate\": 2.0}, \"time\": 1}\n",
        "[{\"time\": 1, \"count\": 2}]",
        "{\n  \"timestamp, name, utilization.gpu\": 1\n}\n",
    ] {
        let error = said("x.json", text, &options()).unwrap_err();
        assert!(
            error.contains("JSON that is not known") && !error.contains("table with"),
            "{error}"
        );
        let nearest = error.split("the nearest: ").nth(1).unwrap();
        let is_near = |f: &&Format| nearest.contains(&format!("`{}` (", f.name));
        let near: Vec<_> = FORMATS.iter().filter(is_near).collect();
        assert!(near.len() == 3 && near.iter().all(|f| f.how.contains("JSON")), "{error}");
    }
}

#[test]
fn a_log_with_one_more_column_is_a_log() {
    for more in ["gpu", "cpu", "memory", "node", "temp", "step", "size", "method", "job"] {
        let text = format!("timestamp,model,latency_ms,{more}\n1,m,10,0\n2,m,11,1\n");
        assert_eq!(log_of("l.csv", &text).0.mean_ms, Some(10.5), "{more}");
    }
}

#[test]
fn what_is_to_become_prompts_is_near_to_prompts() {
    let options = Options { kind: Some(Kind::Prompts), ..Options::default() };
    for text in ["at_s,tokens_in,tokens\n0,1,2\n", "{\"timestamp\": 1, \"tokens_in\": 2}\n"] {
        let error = said("p", text, &options).unwrap_err();
        let nearest = error.split("the nearest: ").nth(1).unwrap_or_else(|| panic!("{error}"));
        let is_near = |f: &&Format| nearest.contains(&format!("`{}` (", f.name));
        let mut near = FORMATS.iter().filter(is_near);
        assert!(near.all(|f| f.becomes.contains(&Kind::Prompts)), "{error}");
    }
    // Times whose name says no unit are judged as those of other prompts are.
    let vidur = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.5,374,44\n4.5,396,109\n";
    let (contents, notes) = said("p.csv", vidur, &Options::default()).unwrap();
    assert_eq!(at_ms(&contents), [0, 4000]);
    assert!(notes.contains("times are taken as seconds"), "{notes}");
}

/// A measured table needs a measurement: each quantity alone is one, a load and what a server is configured with none.
#[test]
fn a_load_alone_is_no_measurement() {
    let table = |column: &str, value: &str| {
        let columns =
            "clients,size,requests,rate_per_s,mean_ms,p50_ms,p90_ms,p95_ms,p99_ms,batch,drop_share";
        let columns: Vec<&str> = columns.split(',').collect();
        let known = |c: &&str| match *c {
            "clients" => "4".to_string(),
            "size" => "1".to_string(),
            "requests" => "100".to_string(),
            own if own == column => value.to_string(),
            _ => String::new(),
        };
        let row: Vec<String> = columns.iter().map(known).collect();
        said("m.csv", &format!("{}\n{}\n", columns.join(","), row.join(",")), &Options::default())
    };
    for column in
        ["rate_per_s", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "batch", "drop_share"]
    {
        assert!(table(column, "0.5").is_ok(), "{column}");
    }
    for (column, value) in [("", ""), ("rate_per_s", "0")] {
        let error = table(column, value).unwrap_err();
        assert!(error.contains("nothing measured in 1 rows"), "{error}");
    }
    let format = FORMATS.iter().find(|f| f.name == "measured-table");
    let named = Options { format, ..Options::default() };
    let server = "Concurrency,Batch size,TS throughput,TS latency mean\n10,8,434.5,23.0\n";
    let error = said("server.csv", server, &named).unwrap_err();
    assert!(error.contains("`Batch size`, `TS throughput`, `TS latency mean`"), "{error}");
}

#[test]
fn a_rate_is_completed_over_duration_where_nothing_else_says_it() {
    let sglang = "{\"backend\": \"sglang\", \"request_rate\": 1.0, \"max_concurrency\": null, \
                  \"mean_e2e_latency_ms\": 7800.5, \"duration\": 300.0, \"completed\": 150}\n";
    let (contents, _) = said("s.jsonl", sglang, &Options::default()).unwrap();
    let Content::Measured(table) = &contents[0] else { panic!("a measured table") };
    assert_eq!(table.points[0].rate_per_s, Some(0.5));
    let error = said("s.jsonl", &sglang.replace("300.0", "0.0"), &Options::default()).unwrap_err();
    assert!(error.contains("request_throughput"), "{error}");
}

/// What `--as` says, only `orrery import` takes: elsewhere it is no remedy.
#[test]
fn a_remedy_can_be_taken_where_it_is_given() {
    let texts = [
        "time,service,cpu_percent\n1,a,1\n",
        "timestamp,name,latency_ms,p99_ms\n1,a,1,1\n",
        "{\"timestamp\": 1, \"input_length\": 2\n",
        "============ Serving Benchmark Result ============\nBackend: sglang\n",
        "timestamp,count\n1,120\n",
    ];
    for text in texts {
        let error = said("x", text, &options()).unwrap_err();
        let is_import = |before: &str| before.rsplit('`').next().unwrap().contains("orrery import");
        let parts: Vec<&str> = error.split("--as ").collect();
        let (_, before) = parts.split_last().unwrap();
        assert!(before.iter().all(|part| is_import(part)), "{error}");
    }
    let reading = read_bytes("log.csv", b"timestamp,name\n1,a\n", &options()).unwrap();
    let error = reading.content(Some(Kind::Measured)).unwrap_err().to_string();
    assert!(error.contains("orrery import --as"), "{error}");
}
