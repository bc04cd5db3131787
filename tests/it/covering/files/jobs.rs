//! Files of jobs: every key beside every other and with every policy of jobs.
//!
//! The laws of each world: the log is read back as it was written, and the auditor finds nothing in it; the result's
//! numbers are those of the log, counted again; jobs that are made in any way may be listed one by one; with all
//! times doubled, everything happens at twice the time.

mod recount;
mod table;

use super::{by_the_laws, with_each_parameter};
use crate::covering::judge::{Fault, fault};
use crate::covering::run::folder;
use crate::covering::world::Choices;
use crate::covering::{alone, schema};
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_run::policies;
use orrery_scenario::jobs::JobsFile;
use orrery_scenario::own::WorldFile;
use orrery_scenario::reference;
use orrery_sim::jobs::audit::audit;
use orrery_sim::jobs::job::{Job, MB, WHOLE};
use orrery_sim::jobs::log::{LogWriter, Terms, read_log};
use orrery_sim::jobs::record::{JobObserver, Record};
use orrery_sim::jobs::world::simulate;
use orrery_sim::time::Time;
use orrery_sweep::own::rows_of_file;
use orrery_sweep::seeds::Seeds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toml::{Table, Value};

/// A run of a file's first policy.
pub struct Ran {
    workers: u32,
    jobs: Vec<Job>,
    records: Vec<(Time, Record)>,
    log: Vec<u8>,
    rows: Vec<Row>,
}

fn run(text: &str) -> Result<Ran, SpecError> {
    let file = JobsFile::from_text(&format!("{}jobs.toml", folder()), text)?;
    let policies = file.policies()?;
    let made = file.runs(file.seed, &policies)?;
    let policy = &policies[0];
    let log = LogWriter::new(Vec::new(), &Terms::new(&made.cluster, &policy.name()));
    let ran = simulate(&made.cluster, &made.jobs, policy.build(), (Vec::new(), log));
    let (records, log) = ran.observer;
    let seeds = Seeds { first: file.seed, count: 1, until_ci: None };
    let rows = rows_of_file(&file, &policies[..1], seeds, None)?;
    let log = log.finish().expect("memory can be written");
    Ok(Ran { workers: made.cluster.workers, jobs: made.jobs, records, log, rows })
}

/// The rows without the hash of the file, and the log.
fn shown(text: &str) -> alone::Shown {
    let ran = run(text).map_err(|e| e.to_string())?;
    let rows = ran.rows.into_iter().map(|row| Row { spec_sha256: String::new(), ..row });
    Ok(format!("{:?}\n{}", rows.collect::<Vec<_>>(), String::from_utf8_lossy(&ran.log)))
}

/// Every policy of jobs, and each of its parameters off its default.
fn choices() -> Choices {
    let names = with_each_parameter(policies::of_jobs(), "3");
    let policies = names.into_iter().map(|name| (name.clone(), format!("{name:?}")));
    Choices::in_file(table::BASE, table::KEYS.to_vec(), policies)
}

#[test]
fn every_key_of_jobs_is_drawn_or_excused() {
    let keys = schema::keys(reference::schema::<JobsFile>().as_value());
    schema::all_drawn_or_excused(&keys, table::KEYS, table::EXCUSED);
}

#[test]
fn a_key_of_jobs_off_its_default_changes_the_result_of_some_policy() {
    alone::check(&choices(), shown);
}

/// What is wrong with a world; `None` where it is refused.
fn judged(text: &str) -> Option<Vec<Fault>> {
    let faults = || match run(text) {
        Ok(ran) => Some(faults(text, &ran)),
        Err(error) if error.to_string().contains("remedy: ") => None,
        Err(error) => Some(vec![fault("a refusal has a remedy", error.to_string())]),
    };
    let panicked = |_| Some(vec![fault("nothing panics", "see above")]);
    catch_unwind(AssertUnwindSafe(faults)).unwrap_or_else(panicked)
}

fn faults(text: &str, ran: &Ran) -> Vec<Fault> {
    let mut faults = audited(ran);
    faults.extend(recount::recount(ran));
    faults.extend(listed(text, ran));
    faults.extend(doubled(text, ran));
    faults
}

/// The log says what happened, and the auditor finds nothing in it.
fn audited(ran: &Ran) -> Vec<Fault> {
    let (terms, read) = match read_log(&ran.log[..], "the log") {
        Ok(log) => log,
        Err(error) => return vec![fault("the log can be read", error.to_string())],
    };
    let records: Vec<(Time, Record)> = read.into_iter().map(|(now, r, _)| (now, r)).collect();
    let mut again = LogWriter::new(Vec::new(), &terms);
    records.iter().for_each(|(now, record)| again.record(*now, record));
    let mut faults = Vec::new();
    if again.finish().expect("memory can be written") != ran.log {
        faults.push(fault("a log that is read and written again is the same", ""));
    }
    let report = audit(terms, records);
    faults.extend(report.faults.iter().map(|f| fault("auditor", format!("{f:?}"))));
    faults
}

/// The table `[jobs]` of a file.
fn jobs_of(file: &mut Table) -> &mut Table {
    file["jobs"].as_table_mut().expect("a table")
}

/// Jobs of a list, of a rule or with counts are the same jobs one by one.
fn listed(text: &str, ran: &Ran) -> Option<Fault> {
    let law = "jobs may be listed one by one";
    let mut file: Table = text.parse().expect("it has run");
    let entry = |job: &Job| {
        let number = |key: &str, x: f64| (key.to_string(), Value::Float(x));
        let mb = |bytes: u64| bytes as f64 / MB as f64;
        let mut entry = Table::from_iter([
            number("at_s", job.submitted.as_secs_f64()),
            number("iteration_ms", job.iteration.as_ms_f64()),
            number("persistent_mb", mb(job.persistent)),
            number("ephemeral_mb", mb(job.ephemeral)),
            number("busy", f64::from(job.busy) / f64::from(WHOLE)),
        ]);
        entry.insert("iterations".into(), Value::Integer(job.iterations as i64));
        entry.insert("stage".into(), Value::Integer(job.stage.into()));
        Value::Table(entry)
    };
    let jobs = jobs_of(&mut file);
    ["file", "generate", "halving"].iter().for_each(|way| drop(jobs.remove(*way)));
    jobs.insert("job".into(), Value::Array(ran.jobs.iter().map(entry).collect()));
    match run(&file.to_string()) {
        Err(error) => Some(fault(law, error.to_string())),
        Ok(other) if other.log == ran.log => None,
        Ok(other) => Some(fault(law, first_difference(&ran.records, &other.records))),
    }
}

fn first_difference(one: &[(Time, Record)], other: &[(Time, Record)]) -> String {
    let at = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    format!("record {at}: {:?}, and {:?}", one.get(at), other.get(at))
}

/// Twice all times of a file whose times are in it. Times are rounded at one scale and at the other.
fn doubled(text: &str, ran: &Ran) -> Option<Fault> {
    const SLACK_NS: u64 = 1_000;
    let law = "with all times doubled, everything happens at twice the time";
    let mut file: Table = text.parse().expect("it has run");
    let jobs = jobs_of(&mut file);
    if jobs.contains_key("file") || jobs.contains_key("generate") {
        return None;
    }
    let entries = jobs.get_mut("job").and_then(Value::as_array_mut).into_iter().flatten();
    let tables = entries.filter_map(Value::as_table_mut).collect::<Vec<_>>();
    let twice = |table: &mut Table| {
        for (_, value) in table.iter_mut().filter(|(k, _)| k.ends_with("_s") || k.ends_with("_ms"))
        {
            *value = Value::Float(value.as_float().expect("a time") * 2.0);
        }
    };
    tables.into_iter().for_each(twice);
    jobs.get_mut("halving").and_then(Value::as_table_mut).into_iter().for_each(twice);
    let text = file.to_string().replace("epsilon_ms=3", "epsilon_ms=6");
    let other = match run(&text) {
        Ok(other) => other,
        Err(error) => return Some(fault(law, error.to_string())),
    };
    let same = |(a, b): (&(Time, Record), &(Time, Record))| {
        (a.0.ns() * 2).abs_diff(b.0.ns()) <= SLACK_NS && gist(&a.1) == gist(&b.1)
    };
    let pairs = ran.records.iter().zip(&other.records);
    let at = pairs.take_while(|pair| same(*pair)).count();
    let all = at == ran.records.len().max(other.records.len());
    let found = || format!("record {at}: {:?}, {:?}", ran.records.get(at), other.records.get(at));
    (!all).then(|| fault(law, found()))
}

/// A record without times.
fn gist(record: &Record) -> String {
    match record {
        Record::Submit { job, .. } => format!("submit {job:?}"),
        Record::Stop { job, .. } => format!("stop {job:?}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn every_pair_of_keys_of_jobs_and_policies_runs_by_the_laws() {
    let ran = by_the_laws(&choices(), judged);
    assert!(ran > 30, "{ran} ran");
}
