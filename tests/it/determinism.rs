//! The same run gives the same bytes: on any number of threads, in debug and in release builds, now
//! and after any change that means to change no result.
//!
//! The expected SHA-256 are in `tests/golden/*-sha256.txt`. They are not a specification: a
//! change that is meant rewrites them with
//!
//! ```text
//! ORRERY_UPDATE=1 cargo test -p orrery-tests -- golden determinism
//! ```

use crate::golden::{check, forms, small};
use orrery_run::PolicySpec;
use orrery_run::setup::{Setup, Workload, applications};
use orrery_sim::core::{Delays, Profiler};
use orrery_sim::latency::{Latency, Noise};
use orrery_sim::log::LogWriter;
use orrery_sim::policy::parameters::Allowed;
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::exec_time::ExecLaw;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What changes a policy in more than one place, or by a number. The bare names, the presets and each word
/// and flag alone are in every test without being named: [`every_policy`].
const COMBINED: [&str; 21] = [
    "clipper[sizing=fixed,size=16,default_reply=false]",
    "clockwork[estimator=static-mean,max_batch=16]",
    "clockwork[sizes=all,max_batch=12]",
    "nexus[drop=elapsed,batch=16]",
    "nexus-cluster[beacon_ms=50,epoch_ms=400,early_ms=100,history=4,frontends=3,poll_us=50]",
    "nexus-cluster[preset=paper,beacon_ms=50,epoch_ms=100,history=2,frontends=2,deal=random]",
    "nexus-cluster[plan=full,drop=earliest]",
    "nexus-cluster[plan=static,batch=4,drop=elapsed]",
    "orloj[relearn_every=50]",
    "orloj[relearn_every=50,queue=hull]",
    "orloj[estimate=quantile,quantile=0.999,max_exec_ms=250]",
    "orloj[estimate_law=own,score_law=own,shares=counts]",
    "orloj[estimate_law=own,score_law=own,shares=counts,relearn_every=50]",
    "orloj[estimate=quantile,quantile=0.999,estimate_law=own,score_law=own,shares=counts,max_exec_ms=250]",
    "orloj[bins=4,relearn_every_s=1,window=64,memory=reset]",
    "symphony[dispatch=eager,resp_ms=0]",
    "symphony[gather=fcfs,dispatch=timeout,timeout_pct=20,gpu=smallest-id]",
    "shepherd[expired_head_bug=false,return=on-report,factor=2]",
    "drs[threshold=1]",
    "eager[gather=window,max_batch=4]",
    "timeout[max_batch=4,max_wait_ms=20,drop_expired=true]",
];

/// Every policy of the registry: bare, with each of its presets, with each word and flag that is not its
/// default, and [`COMBINED`]. A new policy is in it by being registered.
pub fn every_policy() -> Vec<String> {
    let mut all = Vec::new();
    for table in orrery_run::policies::all() {
        let name = table.about.name;
        all.push(name.to_string());
        all.extend(table.presets[1..].iter().map(|(preset, _)| format!("{name}[preset={preset}]")));
        for row in &table.rows {
            let words: Vec<&str> = match &row.allowed {
                Allowed::Words(words) => words.iter().map(|(word, _)| *word).collect(),
                Allowed::Flag => vec!["true", "false"],
                _ => continue,
            };
            let needs = row.needs.map_or(String::new(), |(key, value)| format!("{key}={value},"));
            let others = words.into_iter().filter(|word| *word != row.defaults[0]);
            all.extend(others.map(|word| format!("{name}[{needs}{}={word}]", row.name)));
        }
    }
    all.extend(COMBINED.map(String::from));
    all
}

/// A policy of the list.
pub fn policy(text: &str) -> PolicySpec {
    PolicySpec::parse(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Two applications on one GPU, which can preempt, at some 1.6 times what batches of one can carry,
/// with delays, noise and a profiler.
pub fn crowded(requests: u64) -> Setup {
    let slo = Span::from_ms(60);
    let short = ExecLaw::normal(5.0, 0.5).expect("a law");
    let long = ExecLaw::normal(15.0, 2.0).expect("a law");
    let arrivals = ArrivalLaw::Poisson { rate_per_s: 200.0 };
    let workload = Workload::Open { arrivals, requests, until: Time::NEVER };
    let apps = applications(vec![(7.0, short), (3.0, long)], slo);
    let mut setup = Setup::single(Latency::Proportional { c1: 0.2 }, apps, slo, workload);
    setup.world.core.devices[0].can_preempt = true;
    setup.set_delays(Delays {
        dispatch: Span::from_us(100).into(),
        fetch_per_request: Span::from_us(50),
        result: Span::from_us(200).into(),
        reply: Span::from_us(100).into(),
        seed: 0,
    });
    setup.world.core.profiler = Some(Profiler { every: 3, delay: Span::from_ms(40) });
    setup.world.noise = Noise::Lognormal { sigma: 0.05, seed: 3 };
    setup
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn log_of(setup: &Setup, text: &str, seed: u64) -> Vec<u8> {
    let run = setup.run_with(&policy(text), seed, LogWriter::new(Vec::new()));
    let (_, log) = run.unwrap_or_else(|e| panic!("{e}")).observer;
    log.finish().expect("memory can be written")
}

fn csv_on(threads: usize) -> String {
    forms(&small("orloj-table-3", &["one-modal", "five-modal"], 2), threads).wide()
}

#[test]
fn a_table_is_the_same_bytes_on_one_thread_and_on_two_and_as_it_was() {
    let one = csv_on(1);
    assert_eq!(one, csv_on(2));
    check("orloj-table-3-sha256.txt", &format!("{}\n", sha256(one.as_bytes())));
}

#[test]
fn the_log_of_every_policy_is_the_same_bytes_twice_and_as_it_was() {
    let setup = crowded(2_000);
    let mut lines = String::new();
    for text in every_policy() {
        let log = log_of(&setup, &text, 1);
        assert!(log == log_of(&setup, &text, 1), "{text}: two runs differ");
        let _ = writeln!(lines, "{} {text}", sha256(&log));
    }
    check("logs-sha256.txt", &lines);
}

#[test]
fn another_seed_gives_another_log() {
    let setup = crowded(200);
    assert!(log_of(&setup, "fifo", 1) != log_of(&setup, "fifo", 2));
}
