//! Every reader against damage: nothing panics, and every error names the file.
//! Not here: what exactly a given damage says, which the readers' own tests check.

use flate2::{Compression, write::GzEncoder};
use orrery_sim::request::{AppId, Arrival, ModelId, Source, VecSource};
use orrery_sim::time::{Span, Time};
use orrery_traces::azure_llm::{LlmReader, LlmSource, TokenCost};
use orrery_traces::azure2019::{FunctionRow, Invocations, MinuteRange};
use orrery_traces::azure2019_durations::DurationsReader;
use orrery_traces::azure2021::Trace2021;
use orrery_traces::inspect::inspect_with;
use orrery_traces::part::{Part, Slice};
use orrery_traces::query_list::{Asked, QueryList};
use orrery_traces::quirks::Quirk;
use orrery_traces::samples::{Histogram, Unit};
use orrery_traces::workload_file::{CsvSource, record};
use orrery_traces::{Input, TraceError, job_list, token_list};
use proptest::prelude::*;
use std::io::Write;

const FILE: &str = "some folder/trace.csv";

type Reader = fn(Input) -> Result<(), String>;

fn text(error: TraceError) -> String {
    error.to_string()
}

/// Takes everything from a source; its failure as the error.
fn drain(mut source: impl Source) -> Result<(), String> {
    let mut last = Time::ZERO;
    while let Some(arrival) = source.pop() {
        assert!(arrival.at >= last && arrival.alone > Span::ZERO && arrival.size > 0);
        last = arrival.at;
    }
    source.failure().map_or(Ok(()), Err)
}

fn llm_source(input: Input) -> Result<(), String> {
    let us = Span::from_us(1);
    let cost = TokenCost { base: us, per_context: us, per_generated: us };
    drain(LlmSource::open(input, cost, AppId(0), ModelId(0), Span::MAX).map_err(text)?)
}

fn llm_records(input: Input) -> Result<(), String> {
    let mut reader = LlmReader::open(input).map_err(text)?;
    while reader.next_record().map_err(text)?.is_some() {}
    Ok(())
}

fn middle_minutes(input: Input) -> Result<(), String> {
    let range = MinuteRange { first_label: 481, last_label: 482 };
    Invocations::read(input, Some(range)).map(|_| ()).map_err(text)
}

fn durations(input: Input) -> Result<(), String> {
    DurationsReader::open(input).and_then(DurationsReader::read_all).map(|_| ()).map_err(text)
}

fn workload_slice(input: Input) -> Result<(), String> {
    let slice = Slice::Rows { from: 1, to: 3 };
    drain(Part::of(CsvSource::open(input).map_err(text)?, slice, FILE).map_err(text)?)
}

/// Readers, each with a file that it accepts.
const READERS: [(Reader, &str); 9] = [
    (|i| Invocations::read(i, None).map(|_| ()).map_err(text), INVOCATIONS),
    (middle_minutes, INVOCATIONS),
    (durations, DURATIONS),
    (|i| Trace2021::read(i).map(|_| ()).map_err(text), AZURE_2021),
    (llm_records, LLM),
    (llm_source, LLM),
    (|i| drain(CsvSource::open(i).map_err(text)?), WORKLOAD),
    (workload_slice, WORKLOAD),
    (|i| Histogram::read_times(i, "duration", Unit::S).map(|_| ()).map_err(text), AZURE_2021),
];

const INVOCATIONS: &str = "HashOwner,HashApp,HashFunction,Trigger,480,481,482\n\
    o1,a1,f1,http,1,0,5\no1,a1,f2,timer,2,2,2\no2,a2,f3,queue,0,0,9\n";
const DURATIONS: &str = "HashOwner,HashApp,HashFunction,Average,Count,Minimum,Maximum,\
    percentile_Average_0,percentile_Average_99\no,a,f,3,137430,0.0,6664.0,0,27\n\
    o,a,g,5,1,5.0,5.0,5,5\n";
const AZURE_2021: &str =
    "app,func,end_timestamp,duration\na,f,0.0794,0.078\nb,g,57.15786,57.154\na,g,0.5,0";
const LLM: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
    2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8\r\n\
    2023-11-16 18:17:04.0781,110,27";
const WORKLOAD: &str = "arrival_ns,app,model,size,slo_ns,alone_ns\n\
    0,0,0,1,5000,1000\n10,1,0,1,,2000\n10,0,3,8,7000,3000\n20,0,0,1,,1000\n";

/// A file of fields as a program with a quirk writes it.
type Oddly = fn(&str) -> String;

/// The quirks that every reader of a table can meet.
const ODDLY: [(Quirk, Oddly); 7] = [
    (Quirk::Separator, |text| text.replace(',', "\t")),
    (Quirk::Separator, |text| text.replace(',', ";")),
    (Quirk::TrailingComma, |text| {
        let (header, rows) = text.split_once('\n').unwrap();
        let rows: String = rows.lines().map(|row| format!("{},\n", row.trim_end())).collect();
        format!("{header}\n{rows}")
    }),
    (Quirk::HeaderAgain, |text| format!("{}\n{}\n", text.trim_end(), text.lines().next().unwrap())),
    (Quirk::SecondTable, |text| format!("{}\n\nMetric,Value\nrows,3\n", text.trim_end())),
    (Quirk::Whole, |text| {
        let (header, rows) = text.split_once('\n').unwrap();
        let whole = |f: &str| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit());
        let odd = |f: &str| if whole(f) { format!("{f}.0") } else { f.to_string() };
        let row = |row: &str| row.split(',').map(odd).collect::<Vec<_>>().join(",") + "\n";
        format!("{header}\n{}", rows.lines().map(row).collect::<String>())
    }),
    (Quirk::Thousands, |text| {
        let large = |f: &str| f == "137430";
        let odd = |f: &str| if large(f) { "\"1,137,430\"" } else { f }.to_string();
        let line = |line: &str| line.split(',').map(odd).collect::<Vec<_>>().join(",") + "\n";
        text.lines().map(line).collect()
    }),
];

#[test]
fn every_reader_of_a_table_reads_every_quirk() {
    let lists: [(Reader, &str); 3] = [
        (
            |i| token_list::read(i).map(|_| ()).map_err(text),
            "at_s,tokens_in,tokens_out\n0,1,2\n1,2,3\n",
        ),
        (|i| job_list::read(i).map(|_| ()).map_err(text), "iterations,iteration_ms\n5,2\n6,1\n"),
        (
            |i| {
                let (app, model, slo, alone) = (AppId(0), ModelId(0), Span::MAX, Span::from_us(1));
                drain(QueryList::open(i, Asked { app, model, slo, alone }).map_err(text)?)
            },
            "arrival_ms,size\n0,1\n2,3\n",
        ),
    ];
    for (i, (reader, file)) in READERS.into_iter().chain(lists).enumerate() {
        for (quirk, oddly) in ODDLY {
            let odd = oddly(file);
            let input = Input::from_bytes(FILE, odd.clone().into_bytes()).unwrap();
            // Lists of our own, whose readers tell nobody: what is behind the first table would be left out in silence.
            if quirk == Quirk::SecondTable && [6, 8, 9, 10, 11].contains(&i) {
                let error = reader(input).expect_err(&odd);
                assert!(error.contains("a second table (`Metric,Value`)"), "{error}");
                continue;
            }
            assert_eq!(reader(input), Ok(()), "{quirk:?}: {odd}");
        }
        let odd: Vec<u8> = file.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let error = Input::from_bytes(FILE, odd).map_err(text).and_then(reader).unwrap_err();
        assert!(error.contains("UTF-16"), "{error}");
    }
}

/// Reads; a failure must name the file.
fn survive(reader: Reader, bytes: Vec<u8>) {
    let result = Input::from_bytes(FILE, bytes).map_err(text).and_then(reader);
    if let Err(message) = result {
        assert!(message.contains(FILE), "{message}");
    }
}

fn survive_all(bytes: &[u8]) {
    for (reader, _) in READERS {
        survive(reader, bytes.to_vec());
    }
    if let Err(error) = inspect_with(|| Input::from_bytes(FILE, bytes.to_vec())) {
        assert!(error.to_string().contains(FILE), "{error}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One way to damage a file of lines and fields. The numbers pick places, modulo what there is.
#[derive(Clone, Debug)]
enum Damage {
    Truncate(usize),
    SwapLines(usize, usize),
    RepeatLine(usize),
    DropLine(usize),
    Replace(usize, usize, String),
    DropField(usize, usize),
    SwapColumns(usize, usize),
    Byte(usize, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    let n = || any::<u16>().prop_map(usize::from);
    let junk = prop_oneof![
        "[\\PC]{0,12}",
        prop::sample::select(vec![
            "",
            "-1",
            "0",
            "NaN",
            "inf",
            "-inf",
            "1e308",
            "1e-320",
            "99999999999999999999999",
            "\"",
            "18446744073709551615",
            "4294967296",
            "-0",
            "0x10",
            "1,2",
            "\u{0}",
            "1.5",
            "480",
            "HashFunction",
            "2023-02-30 00:00:00",
            "9999-12-31 23:59:59",
            "0000-01-01 00:00:00",
        ])
        .prop_map(String::from),
    ];
    prop_oneof![
        n().prop_map(Damage::Truncate),
        (n(), n()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        n().prop_map(Damage::RepeatLine),
        n().prop_map(Damage::DropLine),
        (n(), n(), junk).prop_map(|(a, b, text)| Damage::Replace(a, b, text)),
        (n(), n()).prop_map(|(a, b)| Damage::DropField(a, b)),
        (n(), n()).prop_map(|(a, b)| Damage::SwapColumns(a, b)),
        (n(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
    ]
}

fn apply(bytes: Vec<u8>, damage: &Damage) -> Vec<u8> {
    if let Damage::Truncate(at) = damage {
        return bytes[..at % (bytes.len() + 1)].to_vec();
    }
    if let Damage::Byte(at, byte) = damage {
        let mut bytes = bytes;
        if !bytes.is_empty() {
            let at = at % bytes.len();
            bytes[at] = *byte;
        }
        return bytes;
    }
    let whole = String::from_utf8_lossy(&bytes).into_owned();
    let mut rows: Vec<Vec<String>> =
        whole.split('\n').map(|l| l.split(',').map(String::from).collect()).collect();
    let n = rows.len(); // at least 1, as has each row
    match damage {
        Damage::SwapLines(a, b) => rows.swap(a % n, b % n),
        Damage::RepeatLine(a) => rows.insert(a % n, rows[a % n].clone()),
        Damage::DropLine(a) => drop(rows.remove(a % n)),
        Damage::Replace(a, b, text) => {
            let (row, fields) = (a % n, rows[a % n].len());
            rows[row][b % fields] = text.clone();
        }
        Damage::DropField(a, b) => {
            let (row, fields) = (a % n, rows[a % n].len());
            rows[row].remove(b % fields);
        }
        Damage::SwapColumns(a, b) => rows.iter_mut().for_each(|row| {
            let fields = row.len();
            row.swap(a % fields, b % fields);
        }),
        Damage::Truncate(_) | Damage::Byte(..) => unreachable!("handled above"),
    }
    rows.iter().map(|row| row.join(",")).collect::<Vec<_>>().join("\n").into_bytes()
}

#[test]
fn each_reader_accepts_its_own_file_plain_and_gzipped() {
    for (reader, file) in READERS {
        for bytes in [file.as_bytes().to_vec(), gzip(file.as_bytes())] {
            reader(Input::from_bytes(FILE, bytes).unwrap()).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        survive_all(&bytes);
    }

    #[test]
    fn random_bytes_after_a_true_header_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        for (reader, file) in READERS {
            let header = file.lines().next().unwrap();
            survive(reader, [header.as_bytes(), b"\n", &bytes].concat());
        }
    }

    #[test]
    fn damaged_files_never_panic(damages in prop::collection::vec(damage(), 1..4)) {
        for (_, file) in READERS {
            let bytes = damages.iter().fold(file.as_bytes().to_vec(), apply);
            survive_all(&bytes);
        }
    }

    #[test]
    fn damaged_gzip_never_panics(damages in prop::collection::vec(damage(), 1..3)) {
        for (reader, file) in READERS {
            let bytes = damages.iter().fold(gzip(file.as_bytes()), |bytes, damage| match damage {
                Damage::Truncate(_) | Damage::Byte(..) => apply(bytes, damage),
                _ => bytes,
            });
            survive(reader, bytes);
        }
    }

    #[test]
    fn a_truncated_gzip_is_an_error_for_each_reader_of_whole_files(cut in 1usize..1000) {
        for (reader, file) in READERS {
            if std::ptr::fn_addr_eq(reader, workload_slice as Reader) {
                continue; // it may end before the damage
            }
            let whole = gzip(file.as_bytes());
            let kept = whole.len() - 1 - cut % (whole.len() - 3);
            let input = Input::from_bytes(FILE, whole[..kept].to_vec()).map_err(text);
            let result = input.and_then(reader);
            prop_assert!(result.unwrap_err().contains("gzip"));
        }
    }

    #[test]
    fn a_generated_invocations_file_reads_back(
        first in 0u32..2000,
        counts in prop::collection::vec(prop::collection::vec(any::<u32>(), 5), 1..20),
    ) {
        let labels: Vec<String> = (first..first + 5).map(|k| k.to_string()).collect();
        let mut file = format!("HashOwner,HashApp,HashFunction,Trigger,{}\n", labels.join(","));
        let mut rows = vec![];
        for (i, counts) in counts.into_iter().enumerate() {
            let fields: Vec<String> = counts.iter().map(|c| c.to_string()).collect();
            file += &format!("o,a,f{i},http,{}\n", fields.join(","));
            let total = counts.iter().map(|&c| u64::from(c)).sum();
            let (owner, app, trigger) = ("o".to_string(), "a".to_string(), "http".to_string());
            let (function, counts) = (format!("f{i}"), counts.into());
            rows.push(FunctionRow { owner, app, function, trigger, total, counts });
        }
        let read = Invocations::read(Input::from_bytes(FILE, file.into_bytes()).unwrap(), None);
        let read = read.unwrap();
        prop_assert_eq!(read.first_label, first);
        prop_assert_eq!(read.functions, rows);
    }

    #[test]
    fn a_generated_workload_reads_back(
        // A file whose first arrival is later than 366 days counts from another start, and is refused.
        first in 0..=366 * 86_400 * 1_000_000_000u64,
        rows in prop::collection::vec(
            (0..=u64::MAX / 64, any::<u32>(), any::<u32>(), 1..=orrery_sim::request::SIZE_MAX, any::<u64>(), 1..u64::MAX),
            1..50,
        ),
    ) {
        let mut next = first;
        let arrivals: Vec<Arrival> = rows.into_iter().map(|(gap, app, model, size, slo, alone)| {
            let at = next;
            next += gap;
            let (slo, alone) = (Span::from_ns(slo), Span::from_ns(alone));
            let (app, model) = (AppId(app), ModelId(model));
            Arrival { at: Time::from_ns(at), app, model, size, slo, alone }
        }).collect();
        let mut bytes = vec![];
        record(&mut VecSource::new(arrivals.clone()), &mut bytes, FILE).unwrap();
        let input = Input::from_bytes(FILE, bytes).unwrap();
        let mut source = CsvSource::open(input).unwrap();
        let back: Vec<Arrival> = std::iter::from_fn(|| source.pop()).collect();
        prop_assert_eq!(source.failure(), None);
        prop_assert_eq!(back, arrivals);
    }

    #[test]
    fn a_generated_2021_file_reads_back_in_order_of_arrival(
        rows in prop::collection::vec((0u64..1_000_000_000, 0u64..1_000_000_000, 0u32..5), 1..50),
    ) {
        let mut file = String::from("app,func,end_timestamp,duration\n");
        for (start_us, ran_us, app) in &rows {
            let end = (start_us + ran_us) as f64 / 1e6;
            file += &format!("a{app},f,{end},{}\n", *ran_us as f64 / 1e6);
        }
        let trace = Trace2021::read(Input::from_bytes(FILE, file.into_bytes()).unwrap()).unwrap();
        let mut expected: Vec<(u64, u64)> = rows.iter().map(|r| (r.0 * 1000, r.1 * 1000)).collect();
        expected.sort_by_key(|r| r.0);
        let got: Vec<(u64, u64)> =
            trace.records.iter().map(|r| (r.arrival.ns(), r.duration.ns())).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn a_generated_llm_file_reads_back(
        rows in prop::collection::vec((0u64..90_000_000_000, 0u32..1_000_000, 0u32..100_000), 1..50),
    ) {
        // Gaps in steps of 100 ns, from a minute before midnight at the end of a leap February.
        let (mut file, mut at, mut expected) = (
            String::from("TIMESTAMP,ContextTokens,GeneratedTokens\r\n"), 0, vec![],
        );
        for (i, (gap, context, generated)) in rows.into_iter().enumerate() {
            at += if i == 0 { 0 } else { gap / 100 * 100 };
            let since_midnight = at + (86_400 - 60) * 1_000_000_000;
            let (day, rest) = (since_midnight / 86_400_000_000_000, since_midnight % 86_400_000_000_000);
            let date = ["2024-02-29", "2024-03-01"][day as usize];
            let s = rest / 1_000_000_000;
            let fraction = rest % 1_000_000_000 / 100;
            let clock = format!("{:02}:{:02}:{:02}.{fraction:07}", s / 3600, s / 60 % 60, s % 60);
            file += &format!("{date} {clock},{context},{generated}\r\n");
            expected.push((at, context, generated));
        }
        let mut reader = LlmReader::open(Input::from_bytes(FILE, file.into_bytes()).unwrap()).unwrap();
        let mut got = vec![];
        while let Some(r) = reader.next_record().unwrap() {
            got.push((r.at.ns(), r.context_tokens, r.generated_tokens));
        }
        prop_assert_eq!(got, expected);
    }
}
