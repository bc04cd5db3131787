//! Files of tokens: every key beside every other and with every policy of tokens.
//!
//! The laws of each world: the log is read back as it was written, and the auditor finds nothing in it; the result's
//! numbers are those of the log, counted again; requests may be listed one by one; a sweep and an experiment of it
//! give the numbers of `run`.

mod table;

use super::sweeps::swept;
use super::{by_the_laws, with_each_parameter};
use crate::covering::judge::{Fault, fault};
use crate::covering::run::folder;
use crate::covering::world::Choices;
use crate::covering::{alone, schema};
use orrery_report::threads::pool;
use orrery_reproduce::registry;
use orrery_reproduce::reproduce::{Asked, rows_of};
use orrery_results::{Row, metric, read_csv};
use orrery_run::SpecError;
use orrery_run::policies;
use orrery_scenario::own::WorldFile;
use orrery_scenario::reference;
use orrery_scenario::tokens::TokensFile;
use orrery_sim::time::Time;
use orrery_sim::tokens::audit::Auditor;
use orrery_sim::tokens::log::{LogWriter, Terms, read_log};
use orrery_sim::tokens::record::{Record, TokenObserver};
use orrery_sim::tokens::request::TokenRequest;
use orrery_sim::tokens::world::simulate;
use orrery_sweep::own::rows_of_file;
use orrery_sweep::seeds::Seeds;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tempfile::TempDir;
use toml::{Table, Value};

/// A run of a file's first policy.
struct Ran {
    requests: Vec<TokenRequest>,
    records: Vec<(Time, Record)>,
    log: Vec<u8>,
    rows: Vec<Row>,
}

fn run(folder: &str, text: &str) -> Result<Ran, SpecError> {
    let file = TokensFile::from_text(&format!("{folder}tokens.toml"), text)?;
    let policies = file.policies()?;
    let made = file.runs(file.seed, &policies)?;
    let policy = &policies[0];
    let terms = Terms { policy: policy.name(), machine: made.machine.clone() };
    let log = LogWriter::new(Vec::new(), &terms);
    let ran = simulate(&made.machine, &made.requests, policy.build(), (Vec::new(), log));
    let (records, log) = ran.observer;
    let seeds = Seeds { first: file.seed, count: 1, until_ci: None };
    let rows = rows_of_file(&file, &policies[..1], seeds, None)?;
    let log = log.finish().expect("memory can be written");
    Ok(Ran { requests: made.requests, records, log, rows })
}

/// The rows without the hash of the file, and the log.
fn shown(text: &str) -> alone::Shown {
    let ran = run(&folder(), text).map_err(|e| e.to_string())?;
    let rows = ran.rows.into_iter().map(|row| Row { spec_sha256: String::new(), ..row });
    Ok(format!("{:?}\n{}", rows.collect::<Vec<_>>(), String::from_utf8_lossy(&ran.log)))
}

/// Every policy of tokens, and each of its parameters off its default; and two at once.
fn choices() -> Choices {
    let mut names = with_each_parameter(policies::of_tokens(), "7");
    names.push("continuous[order=edf,drop=infeasible]".to_string());
    let policies = names.into_iter().map(|name| (name.clone(), format!("{name:?}")));
    Choices::in_file(table::BASE, table::KEYS.to_vec(), policies)
}

#[test]
fn every_key_of_tokens_is_drawn_or_excused() {
    let keys = schema::keys(reference::schema::<TokensFile>().as_value());
    schema::all_drawn_or_excused(&keys, table::KEYS, table::EXCUSED);
}

#[test]
fn a_key_of_tokens_off_its_default_changes_the_result_of_some_policy() {
    alone::check(&choices(), shown);
}

/// What is wrong with a world; `None` where it is refused.
fn judged(text: &str) -> Option<Vec<Fault>> {
    let faults = || match run(&folder(), text) {
        Ok(ran) => Some(faults(text, &ran)),
        Err(error) if error.to_string().contains("remedy: ") => None,
        Err(error) => Some(vec![fault("a refusal has a remedy", error.to_string())]),
    };
    let panicked = |_| Some(vec![fault("nothing panics", "see above")]);
    catch_unwind(AssertUnwindSafe(faults)).unwrap_or_else(panicked)
}

fn faults(text: &str, ran: &Ran) -> Vec<Fault> {
    let mut faults = audited(ran);
    faults.extend(recounted(ran));
    faults.extend(listed(text, ran));
    faults.extend(other_ways(text));
    faults
}

/// The log says what happened, and the auditor finds nothing in it.
fn audited(ran: &Ran) -> Vec<Fault> {
    let (terms, read) = match read_log(&ran.log[..], "the log") {
        Ok(log) => log,
        Err(error) => return vec![fault("the log can be read", error.to_string())],
    };
    let mut again = LogWriter::new(Vec::new(), &terms);
    let mut auditor = Auditor::new(terms);
    for (now, record, line) in read {
        again.record(now, &record);
        auditor.at_line(line);
        auditor.record(now, &record);
    }
    let mut faults = Vec::new();
    if again.finish().expect("memory can be written") != ran.log {
        faults.push(fault("a log that is read and written again is the same", ""));
    }
    let report = auditor.finish();
    faults.extend((!report.is_clean()).then(|| fault("auditor", report.to_string())));
    faults
}

/// The numbers of the records, counted by plain loops.
fn recounted(ran: &Ran) -> Vec<Fault> {
    let mut ends: BTreeMap<u32, (Option<u64>, Option<u64>)> = BTreeMap::new();
    let (mut steps, mut evictions, mut dropped) = (0.0, 0.0, 0.0);
    for (now, record) in &ran.records {
        match record {
            Record::First { request } => ends.entry(request.0).or_default().0 = Some(now.ns()),
            Record::Done { request } => ends.entry(request.0).or_default().1 = Some(now.ns()),
            Record::Drop { .. } => dropped += 1.0,
            Record::Evict { .. } => evictions += 1.0,
            Record::Step { .. } => steps += 1.0,
            Record::Arrive { .. } | Record::Finish => {}
        }
    }
    let all = ran.requests.len() as f64;
    let (mut ttft, mut tpot, mut latency, mut in_time) = (0, Vec::new(), 0, 0.0);
    let answered = |(i, r): (usize, &TokenRequest)| {
        let (first, last) = ends.get(&(i as u32)).copied().unwrap_or_default();
        let (first, last, more) = (first?, last?, u64::from(r.tokens_out) - 1);
        let each = (more > 0).then(|| (last - first) / more);
        Some((*r, first - r.at.ns(), each, last - r.at.ns()))
    };
    let answered: Vec<_> = ran.requests.iter().enumerate().filter_map(answered).collect();
    for (what, first, each, whole) in &answered {
        (ttft, latency) = (ttft + first, latency + whole);
        tpot.extend(each);
        let each_in_time = each.is_none_or(|each| each <= what.slo.each.ns());
        in_time += f64::from(u8::from(*first <= what.slo.first.ns() && each_in_time));
    }
    let n = answered.len() as u64;
    let mean = |sum: u64| sum.checked_div(n).map(|mean| mean as f64);
    let expected = [
        (metric::REQUESTS, Some(all)),
        (metric::FINISH_RATE, Some(in_time / all)),
        (metric::DROP_SHARE, Some(dropped / all)),
        (metric::EVICTIONS, Some(evictions)),
        (metric::STEPS, Some(steps)),
        (metric::TTFT_MEAN, mean(ttft)),
        (
            metric::TPOT_MEAN,
            tpot.iter().sum::<u64>().checked_div(tpot.len() as u64).map(|t| t as f64),
        ),
        (metric::LATENCY_MEAN, mean(latency)),
    ];
    let value = |name: &str| ran.rows.iter().find(|r| r.metric == name).and_then(|r| r.value);
    let wrong = expected.into_iter().filter(|(name, of_log)| value(name) != *of_log);
    let found = |(name, of_log): (&str, Option<f64>)| {
        fault("numbers are those of the log", format!("{name}: {:?}, {of_log:?}", value(name)))
    };
    wrong.map(found).collect()
}

/// The table `[tokens]` of a file.
fn tokens_of(file: &mut Table) -> &mut Table {
    file["tokens"].as_table_mut().expect("a table")
}

/// Requests that are drawn, stretched or the first of a list are the same when they are listed one by one.
fn listed(text: &str, ran: &Ran) -> Option<Fault> {
    let law = "requests may be listed one by one";
    let folder = TempDir::new().expect("a temporary folder");
    let mut list = String::from("at_s,tokens_in,tokens_out\n");
    for r in &ran.requests {
        let (s, ns) = (r.at.ns() / 1_000_000_000, r.at.ns() % 1_000_000_000);
        let _ = writeln!(list, "{s}.{ns:09},{},{}", r.tokens_in, r.tokens_out);
    }
    std::fs::write(folder.path().join("list.csv"), list).expect("a temporary file");
    let mut file: Table = text.parse().expect("it has run");
    let tokens = tokens_of(&mut file);
    ["count", "rate_per_s", "stretch", "from_s", "to_s"]
        .iter()
        .for_each(|way| drop(tokens.remove(*way)));
    tokens.insert("requests".into(), Value::String("list.csv".into()));
    match run(&format!("{}/", folder.path().display()), &file.to_string()) {
        Err(error) => Some(fault(law, error.to_string())),
        Ok(other) if other.log == ran.log => None,
        Ok(_) => Some(fault(law, "another log")),
    }
}

/// A number of a result, whatever made it.
type Number = (String, String, Option<f64>, Option<(f64, f64)>, u64, String);

fn numbers(rows: Vec<Row>) -> Vec<Number> {
    let own = rows.into_iter().filter(|r| r.versus.is_empty());
    own.map(|r| (r.policy.clone(), r.metric.clone(), r.value, r.ci95(), r.samples, r.seeds.clone()))
        .collect()
}

/// Two seeds of it by `run`, `sweep` and `reproduce`, on a thread and in a pool of its own: a worker that waits for
/// another pool takes further worlds meanwhile, each deeper on its stack.
fn other_ways(text: &str) -> Vec<Fault> {
    let own = || pool(1).expect("a thread").install(|| by_other_ways(text));
    std::thread::scope(|s| s.spawn(own).join()).expect("nothing panics")
}

fn by_other_ways(text: &str) -> Vec<Fault> {
    let folder = TempDir::new().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path
    };
    let path = write("world.toml", text);
    let file = TokensFile::load(&path).expect("it has run");
    let policies = file.policies().expect("it has run");
    let seeds = Seeds { first: 1, count: 2, until_ci: None };
    let of_run = numbers(rows_of_file(&file, &policies, seeds, None).expect("it has run"));
    let sweep = "scenario = \"world.toml\"\nseeds = 2\nfirst_seed = 1\n\
                 [[axis]]\nkey = \"tokens.kv_blocks\"\n";
    let sweep = format!("{sweep}values = [{}]\n", file.tokens.kv_blocks);
    let sweep = write("sweep.toml", &sweep);
    let mut faults = Vec::new();
    match swept::<TokensFile>(&sweep, &folder.path().join("out")) {
        Err(error) => faults.push(fault("a sweep of it runs", error.to_string())),
        Ok(answer) => {
            let csv = std::fs::read_to_string(answer.file.expect("a file")).expect("the result");
            let of_sweep = numbers(read_csv("the result", &csv).expect("rows"));
            if of_sweep != of_run {
                faults.push(fault("a sweep has the numbers of `run`", format!("{of_sweep:?}")));
            }
        }
    }
    let table: Table = text.parse().expect("it has run");
    let experiment = Table::from_iter([("tokens".to_string(), table["tokens"].clone())]);
    let policy = policies[0].text();
    let head = "id = \"w\"\ntitle = \"w\"\nsource = \"none\"\nseeds = 2\nshow = [\"requests\"]\n";
    let system = format!("[[system]]\nname = \"s\"\npolicy = {policy:?}\n");
    let e = registry::from_text("w.toml", &format!("{head}{experiment}\n{system}"));
    match e.and_then(|e| rows_of(&e, &Asked::default())) {
        Err(error) => faults.push(fault("an experiment of it runs", error.to_string())),
        Ok(rows) => {
            let of_experiment = numbers(rows);
            if of_experiment != of_run {
                let found = format!("{of_experiment:?}, {of_run:?}");
                faults.push(fault("an experiment has the numbers of `run`", found));
            }
        }
    }
    faults
}

#[test]
fn every_pair_of_keys_of_tokens_and_policies_runs_by_the_laws() {
    let ran = by_the_laws(&choices(), judged);
    assert!(ran > 20, "{ran} ran");
}
