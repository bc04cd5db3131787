//! Explanations of requests, and the policies' reasons behind them.

use crate::determinism::{crowded, every_policy, policy};
use crate::differential::{cases::Case, policies};
use crate::timeline::BY_HAND;
use orrery_explain::explain::{Failure, explain, worst};
use orrery_sim::audit::audit_log;
use orrery_sim::driver::simulate;
use orrery_sim::log::{LogWriter, MemoryLog, Names, Record, read_log};
use orrery_sim::request::RequestId;

fn by_hand(text: &str, request: u64) -> String {
    let mut log = read_log(text.as_bytes(), "hand.log");
    let names = log.names().expect("names").clone();
    match explain(&names, log, RequestId(request)) {
        Ok(text) => text,
        Err(e) => panic!("{e:?}"),
    }
}

#[test]
fn the_log_by_hand_is_told_step_by_step() {
    // It comes 1.5 us after r0 began, waits 8.5 us for r0's batch, runs for 10.5 us.
    assert_eq!(
        by_hand(BY_HAND, 1),
        "\
r1 under nexus[drop=none,batch=2]
      0.000 ms  arrives at 0.003 ms of the run for bert, from chat, with an SLO of 0.019 ms: until \
0.021 ms; nobody waits for bert before it; on d0 a0 (bert x1) runs for 0.002 ms
      0.009 ms  the policy: the earliest deadline
      0.009 ms  a1 is sent to d0 (v100) with it: bert x1 (r1)
      0.009 ms  a1 begins on d0 (v100), at once
      0.019 ms  a1 ends on d0 (v100) after 0.011 ms
      0.019 ms  it is answered 500 ns late
verdict: late after 0.019 ms; the longest part, 0.011 ms: its batch ran
"
    );
    assert_eq!(
        by_hand(BY_HAND, 2),
        "\
r2 under nexus[drop=none,batch=2]
      0.000 ms  arrives at 0.003 ms of the run for bert, from chat, with an SLO of 0.009 ms: until \
0.012 ms; 1 request waits for bert before it; on d0 a0 (bert x1) runs for 0.002 ms
      0.008 ms  the policy: it would end 9500 ns after its deadline
      0.008 ms  it is dropped, 0.001 ms before its deadline: the policy estimated that it could no longer \
meet its deadline
verdict: dropped (infeasible) after 0.008 ms; the longest part, 0.008 ms: it waited while every \
device had other batches
"
    );
    assert_eq!(
        by_hand(BY_HAND, 3),
        "\
r3 under nexus[drop=none,batch=2]
      0.000 ms  arrives at 0.022 ms of the run for bert, from chat, without an SLO; nobody waits \
for bert before it; d0 is idle
      0.000 ms  a2 is sent to d0 (v100) with it: bert x1 (r3); it must begin within 0.000 ms
      0.000 ms  d0 (v100) refuses a2: it could not start within its window any more
      0.001 ms  a3 is sent to d0 (v100) with it: bert x1 (r3)
      0.001 ms  a3 begins on d0 (v100), at once
      0.008 ms  the run ends before the request does
verdict: pending after 0.008 ms; the longest part, 0.007 ms: its batch ran
"
    );
}

#[test]
fn a_log_without_reasons_says_how_to_get_them() {
    let without: String =
        BY_HAND.lines().filter(|l| !l.starts_with("why")).map(|l| format!("{l}\n")).collect();
    let hint = "(run with --why to see the policy's reasons)\n";
    let told = by_hand(&without, 1);
    assert!(told.contains(hint), "{told}");
    assert!(!by_hand(BY_HAND, 1).contains(hint));
    // A log may have neither names nor reasons.
    let first = without.lines().filter(|l| !l.starts_with("name"));
    let first: String = first.map(|l| format!("{l}\n")).collect();
    let told = by_hand(&first, 1);
    assert!(told.starts_with("r1\n") && told.contains("for m0, from app0"), "{told}");
}

#[test]
fn a_request_that_is_not_there_is_told_with_the_ids_that_are() {
    let log = read_log(BY_HAND.as_bytes(), "hand.log");
    let unknown = explain(&Names::default(), log, RequestId(4));
    assert!(matches!(unknown, Err(Failure::Unknown { requests: 4 })));
}

#[test]
fn the_worst_are_those_without_an_answer_and_then_the_latest() {
    let worst = |count| {
        let log = read_log(BY_HAND.as_bytes(), "hand.log");
        worst(&Names::default(), log, count).expect("a log")
    };
    let ids: Vec<String> =
        worst(9).lines().map(|l| l.split(' ').next().expect("an id").to_string()).collect();
    assert_eq!(ids, ["r3", "r2", "r1", "r0"]);
    assert_eq!(worst(2).lines().count(), 2);
    assert!(worst(9).starts_with(&worst(2)));
}

#[test]
fn reasons_change_nothing_else_and_every_policy_gives_some() {
    let setup = crowded(600);
    for text in every_policy() {
        let log = |reasons: bool| {
            let log = LogWriter::new(Vec::new()).ask_for_reasons(reasons);
            let run = setup.run_with(&policy(&text), 1, log).unwrap_or_else(|e| panic!("{e}"));
            let bytes = run.observer.1.finish().expect("memory can be written");
            String::from_utf8(bytes).expect("text")
        };
        let (with, without) = (log(true), log(false));
        let (reasons, rest): (Vec<&str>, Vec<&str>) =
            with.lines().partition(|l| l.starts_with("why,"));
        assert_eq!(rest, without.lines().collect::<Vec<_>>(), "{text}");
        // Whatever is sent or dropped has a reason.
        let dropped = rest.iter().filter(|l| l.starts_with("end,") && l.contains(",dropped"));
        let sent = rest.iter().filter(|l| l.starts_with("issue,"));
        assert!(reasons.len() >= dropped.count() + sent.count(), "{text}");
        let audited = audit_log(read_log(with.as_bytes(), "a.log")).expect("a log");
        assert!(audited.is_clean(), "{text}: {audited}");
    }
}

#[test]
fn every_request_of_a_random_log_has_a_story_that_ends_with_a_verdict() {
    for entry in policies() {
        for seed in 0..30 {
            let case = Case::new(seed);
            let log = MemoryLog { reasons: true, ..MemoryLog::default() };
            let run = simulate(&case.world, case.sources(), (entry.make)(&case), log);
            let records = run.observer.records;
            let ends = records.iter().filter(|r| matches!(r, Record::End { .. })).count() as u64;
            for id in 0..ends {
                let all = records.iter().cloned().map(Ok);
                let text = explain(&Names::default(), all, RequestId(id)).expect("a request");
                let last = text.lines().last().expect("a line");
                assert!(last.starts_with("verdict: "), "{} seed {seed} r{id}: {text}", entry.name);
            }
        }
    }
}

/// A batch that drops what is late has only the others: the reason counted the late ones, too.
#[test]
fn the_reason_of_a_batch_counts_the_items_that_run() {
    let policy = policy("timeout[max_batch=4,max_wait_ms=2,window=triton,drop_expired=true]");
    let log = MemoryLog { reasons: true, ..MemoryLog::default() };
    let run = crowded(600).run_with(&policy, 1, log).unwrap_or_else(|e| panic!("{e}"));
    let records = run.observer.1.records;
    let why = |wanted: RequestId| {
        let of = |r: &Record| match r {
            Record::Why { request, text, .. } if *request == wanted => Some(text.clone()),
            _ => None,
        };
        records.iter().find_map(of).expect("a reason")
    };
    let mut partial = 0;
    for record in &records {
        let Record::Issue { batch, .. } = record else { continue };
        let text = why(batch.requests[0]);
        let items = batch.requests.len();
        let says = [format!("filled with {items}"), format!("a batch of {items} ")];
        assert!(says.iter().any(|says| text.contains(says)), "{items}: {text}");
        partial += usize::from(items < 4);
    }
    let is_late =
        |r: &&Record| matches!(r, Record::End { .. }) && format!("{r:?}").contains("Expired");
    let dropped = records.iter().filter(is_late).count();
    assert!(partial > 5 && dropped > 20, "{partial} {dropped}");
}
