//! Each rule's seeded faults are found by name, and clean runs are clean.

use super::*;
use crate::jobs::job::{Cluster, Curve, MB, WHOLE};
use crate::jobs::policy::{ALL, Configured};
use crate::jobs::world::simulate;

fn jobs() -> Vec<Job> {
    let job = |at_s, iterations, ephemeral| Job {
        submitted: Time::ZERO + Span::from_secs(at_s),
        iterations,
        iteration: Span::from_ms(300 + at_s * 7),
        persistent: 100 * MB,
        ephemeral: ephemeral * MB,
        busy: WHOLE / 3 * 2,
        ..Job::default()
    };
    vec![job(0, 20, 900), job(2, 5, 3000), job(3, 8, 200), job(3, 1, 200), job(4, 30, 3000)]
}

fn named(text: &str) -> Box<dyn Configured> {
    let (name, inner) = text.trim_end_matches(']').split_once('[').unwrap_or((text, ""));
    let given: Vec<(&str, &str)> = inner.split(',').filter_map(|g| g.split_once('=')).collect();
    ALL.iter().find(|p| p.about.name == name).unwrap().parse(&given).unwrap()
}

fn run(cluster: &Cluster, jobs: &[Job], policy: &str) -> (Terms, Vec<(Time, Record)>) {
    let policy = named(policy);
    let terms = Terms::new(cluster, &policy.name());
    (terms, simulate(cluster, jobs, policy.build(), Vec::new()).observer)
}

const SALUS: [&str; 6] = [
    "salus[order=fifo]",
    "salus[order=srtf]",
    "salus[order=las]",
    "salus[order=rr,lanes=printed]",
    "salus[order=pack]",
    "salus[order=pack,lanes=printed]",
];
const FLUID: [&str; 5] = [
    "fluid[rule=one]",
    "fluid[rule=static,c=3]",
    "fluid",
    "fluid[epsilon_ms=400,d=2]",
    "fluid[as=released]",
];

#[test]
fn clean_runs_are_clean() {
    for policy in SALUS {
        let (terms, records) = run(&Cluster::gpu(4000), &jobs(), policy);
        assert_eq!(audit(terms, records).faults, [], "{policy}");
    }
    let curve = Curve::eq_3_2(1.3, 1.1, 4);
    for policy in FLUID {
        let cluster = Cluster { curve: curve.clone(), ..Cluster::workers(4) };
        let (terms, records) = run(&cluster, &jobs(), policy);
        assert_eq!(audit(terms, records).faults, [], "{policy}");
    }
}

/// The names of the faults that a change to a clean run brings.
fn after(policy: &str, change: impl FnOnce(&mut Terms, &mut Vec<(Time, Record)>)) -> Vec<String> {
    let cluster = match SALUS.contains(&policy) {
        true => Cluster::gpu(4000),
        false => Cluster::workers(4),
    };
    let (mut terms, mut records) = run(&cluster, &jobs(), policy);
    change(&mut terms, &mut records);
    audit(terms, records).faults.iter().map(|f| f.name()).collect()
}

fn place(records: &[(Time, Record)], is: impl Fn(&Record) -> bool) -> usize {
    records.iter().position(|r| is(&r.1)).expect("such a record")
}

fn job_of(record: &Record) -> Option<u32> {
    match record {
        Record::Run { job, .. } | Record::Stop { job, .. } => Some(job.0),
        _ => None,
    }
}

#[test]
fn the_log_as_a_whole() {
    let names = after(SALUS[0], |_, r| r[4].0 = Time::from_ns(1 << 40));
    assert!(names.iter().any(|n| n == "TimeBackwards"), "{names:?}");
    assert_eq!(after(SALUS[0], |_, r| drop(r.pop())), ["NoFinish"]);
    let names = after(SALUS[0], |_, r| {
        let at = r.last().unwrap().0;
        r.push((at, Record::Submit { job: JobId(9), what: Job::default() }));
    });
    assert_eq!(names, ["AfterFinish", "LeftWithoutEnd"]);
}

#[test]
fn conservation() {
    let is_done = |r: &Record| matches!(r, Record::Done { .. });
    let names = after(SALUS[1], |_, r| r.insert(1, r[0].clone()));
    assert_eq!(names, ["SubmittedTwice"]);
    let names = after(SALUS[1], |_, r| drop(r.remove(place(r, is_done))));
    assert!(names.iter().any(|n| n == "LeftWithoutEnd"), "{names:?}");
    let names = after(SALUS[1], |_, r| r.insert(1, (Time::ZERO, Record::Done { job: JobId(0) })));
    assert!(
        names.iter().any(|n| n == "EndsEarly") && names.iter().any(|n| n == "NotHere"),
        "{names:?}"
    );
    let names = after(SALUS[1], |_, r| {
        if let Record::Submit { what, .. } = &mut r[0].1 {
            what.iterations = 0;
        }
    });
    assert_eq!(names[0], "NoWork");
    let names = after(SALUS[1], |_, r| {
        let first = place(r, |r| matches!(r, Record::Stop { .. }));
        if let Record::Stop { left, .. } = &mut r[first].1 {
            *left = Span::from_secs(300);
        }
    });
    assert!(names.iter().any(|n| n == "WorkComesBack"), "{names:?}");
    let names = after(SALUS[1], |_, r| r.last_mut().expect("a finish").0 += Span::from_ns(1));
    assert_eq!(names, ["FinishesLate"]);
}

/// The faults of a run in which these jobs are of these stages.
fn staged(stages: &[(u32, u32)]) -> Vec<String> {
    after(SALUS[1], |_, r| {
        for (_, record) in r {
            if let Record::Submit { job, what } = record {
                let found = stages.iter().find(|s| s.0 == job.0);
                what.stage = found.map_or(what.stage, |s| s.1);
            }
        }
    })
}

#[test]
fn stages_follow_one_another() {
    assert_eq!(staged(&[(4, 1)]), ["StageEarly"], "the others have not ended");
    assert_eq!(staged(&[(1, 1)]), ["StageEarly", "StageLate", "StageLate", "StageLate"]);
    assert_eq!(staged(&[(4, 2)]), ["StageEarly", "StageSkipped"], "there is no stage 1");
    assert_eq!(staged(&[(0, 1)])[..2], ["StageSkipped", "StageLate"], "stage 1 before stage 0");
}

#[test]
fn memory_and_lanes() {
    let names = after(SALUS[5], |terms, _| terms.memory = 3000 * MB);
    assert!(
        names.iter().any(|n| n == "Unsafe") && names.iter().any(|n| n == "LanesTooLarge"),
        "{names:?}"
    );
    let names = after(SALUS[5], |_, r| {
        if let Record::Lane { size, .. } = &mut r[1].1 {
            *size = 1;
        }
    });
    assert!(names.iter().any(|n| n == "LaneTooSmall"), "{names:?}");
    let is_place = |r: &Record| matches!(r, Record::Place { .. });
    let names = after(SALUS[5], |_, r| {
        let at = place(r, is_place);
        r.insert(at + 1, (r[at].0, Record::Place { job: JobId(0), lane: LaneId(1) }));
    });
    assert_eq!(names, ["InTwoLanes"]);
    let names = after(SALUS[5], |_, r| drop(r.remove(place(r, is_place))));
    assert!(names.iter().any(|n| n == "NoLane"), "{names:?}");
    // The short job runs in the lane of the one that it should have waited for.
    let names = after(SALUS[1], |_, r| {
        let stop = place(r, |r| matches!(r, Record::Stop { job: JobId(0), .. }));
        let stop = r.remove(stop);
        let at = place(r, |r| matches!(r, Record::Run { job: JobId(0), .. }));
        assert_eq!(job_of(&stop.1), Some(0));
        let next = r[at + 1..].iter().position(|r| matches!(r.1, Record::Run { .. })).unwrap();
        assert_ne!(job_of(&r[at + 1 + next].1), Some(0));
    });
    assert!(names.iter().any(|n| n == "LaneRunsTwo"), "{names:?}");
}

#[test]
fn widths() {
    let is_run = |r: &Record| matches!(r, Record::Run { .. });
    let on = |to: On| {
        after(FLUID[0], move |_, r| {
            let at = place(r, is_run);
            if let Record::Run { on, .. } = &mut r[at].1 {
                *on = to;
            }
        })
    };
    assert!(on(On::Workers(vec![7])).iter().any(|n| n == "NoSuchWorker"));
    assert!(on(On::Workers(vec![2, 2])).iter().any(|n| n == "SameWorkerTwice"));
    assert!(on(On::Part { worker: 0, parts: 99 }).iter().any(|n| n == "UnknownWidth"));
    assert!(on(On::Workers(vec![0, 1, 2, 3])).iter().any(|n| n == "WorkerTooFull"));
    assert!(more_than_one([2, 3, 5].into_iter()) && !more_than_one([2, 3, 6].into_iter()));
    // Five large primes: their product is no u128.
    let large = [4_294_967_291, 4_294_967_279, 4_294_967_231, 4_294_967_197, 4_294_967_189];
    assert!(!more_than_one(large.into_iter()) && more_than_one(large.into_iter().chain([1, 7])));
}

#[test]
fn rates_and_steps() {
    let later = |r: &mut Vec<(Time, Record)>, by_ns: u64| {
        let stop = place(r, |r| matches!(r, Record::Stop { .. }));
        for record in &mut r[stop..] {
            record.0 += Span::from_ns(by_ns);
        }
    };
    // A run loses a nanosecond for each change of its rate at most: thousands are too many.
    for policy in [SALUS[1], SALUS[4], FLUID[0]] {
        let names = after(policy, |_, r| later(r, 10_000));
        assert!(!names.is_empty() && names.iter().all(|n| n == "TooSlow"), "{policy}: {names:?}");
    }
    let names = after(SALUS[0], |_, r| {
        let stop = place(r, |r| matches!(r, Record::Stop { .. }));
        r[stop].0 = r[stop].0.minus(Span::from_ns(1));
    });
    assert_eq!(names, ["TooFast"]);
    let names = after(SALUS[1], |_, r| {
        let stop = place(r, |r| matches!(r, Record::Stop { .. }));
        if let Record::Stop { left, .. } = &mut r[stop].1 {
            *left += Span::from_ns(1);
        }
    });
    assert!(names.iter().any(|n| n == "StopsWithinAnIteration"), "{names:?}");
    let names = after(SALUS[0], |_, r| {
        let at = place(r, |r| matches!(r, Record::Run { .. }));
        r.insert(at, r[at].clone());
    });
    assert_eq!(names, ["RunsTwice"]);
    let names = after(SALUS[0], |_, r| {
        let at = place(r, |r| matches!(r, Record::Stop { .. }));
        r.insert(at, r[at].clone());
    });
    assert_eq!(names, ["StopsWithoutRunning"]);
}
