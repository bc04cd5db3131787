//! Metrics of jobs, on records that are worked by hand.

use super::{Metrics, Total};
use crate::jobs::job::{Job, JobId, WHOLE};
use crate::jobs::record::{JobObserver, LaneId, On, Record};
use crate::time::{Span, Time};

fn secs(s: u64) -> Span {
    Span::from_secs(s)
}

fn of(records: Vec<(u64, Record)>) -> Metrics {
    let mut metrics = Metrics::default();
    for (at_s, record) in records {
        metrics.record(Time::ZERO + secs(at_s), &record);
    }
    metrics
}

fn submit(job: u32, work_s: u64, busy: u32) -> Record {
    let what = Job { iterations: work_s, busy, ..Job::default() };
    Record::Submit { job: JobId(job), what }
}

fn place(job: u32, lane: u32) -> Record {
    Record::Place { job: JobId(job), lane: LaneId(lane) }
}

fn run(job: u32, on: On) -> Record {
    Record::Run { job: JobId(job), on }
}

fn stop(job: u32) -> Record {
    Record::Stop { job: JobId(job), left: Span::ZERO }
}

fn done(job: u32) -> Record {
    Record::Done { job: JobId(job) }
}

/// Two jobs take turns in lane 0, and one is alone in lane 1. A fourth never runs and counts nowhere.
#[test]
fn lanes_by_hand() {
    let metrics = of(vec![
        (0, submit(0, 2, WHOLE / 2)),
        (0, submit(1, 1, WHOLE)),
        (1, place(0, 0)),
        (1, place(1, 0)),
        (1, run(0, On::Lane)),
        (2, submit(2, 3, WHOLE)),
        (2, place(2, 1)),
        (2, run(1, On::Lane)),
        (2, run(2, On::Lane)),
        (3, done(1)),
        (3, run(0, On::Lane)),
        (3, run(2, On::Lane)),
        (4, submit(3, 9, WHOLE)),
        (4, done(0)),
        (5, done(2)),
        (5, Record::Finish),
    ]);
    let thirds = |n: u64| Span::from_ns(n * 1_000_000_000 / 3);
    let expected = Total {
        jobs: 3,
        makespan: secs(5),
        jct_mean: thirds(4 + 3 + 3),
        queueing_mean: thirds(1 + 1),
        first_service_mean: thirds(1 + 2),
        // Half of 2 s, 1 s and 3 s.
        busy_fraction: 1.0,
        // 2, 3, 2 and 1 from 1 s on.
        resident_mean: 1.6,
        // In lane 0 to job 1 and back; job 2 follows itself.
        switches: 2,
        work: secs(6),
    };
    assert_eq!(metrics.total(), expected);
    let jcts: Vec<Option<Span>> = metrics.jobs().iter().map(|life| life.jct()).collect();
    assert_eq!(jcts, [Some(secs(4)), Some(secs(3)), Some(secs(3)), None]);
}

/// A trial's first width is its admission; another width is a switch, the same one again is none.
#[test]
fn workers_by_hand() {
    let metrics = of(vec![
        (0, submit(0, 8, WHOLE)),
        (0, submit(1, 2, WHOLE)),
        (0, run(0, On::Workers(vec![0, 1]))),
        (1, run(1, On::Workers(vec![2]))),
        (2, stop(0)),
        (2, run(0, On::Workers(vec![1, 3]))),
        (3, stop(0)),
        (3, run(0, On::Part { worker: 0, parts: 2 })),
        (3, stop(1)),
        (3, done(1)),
        (5, stop(0)),
        (5, done(0)),
        (5, Record::Finish),
    ]);
    let expected = Total {
        jobs: 2,
        makespan: secs(5),
        jct_mean: secs(4),
        queueing_mean: Span::from_ms(500),
        first_service_mean: Span::from_ms(500),
        // 2, then 3 twice, then 1/2 twice, of 4 workers in 5 s.
        busy_fraction: 9.0 / 20.0,
        // Both from 1 s to 3 s, job 0 alone in the other three.
        resident_mean: 7.0 / 5.0,
        switches: 1,
        work: secs(10),
    };
    assert_eq!(metrics.total_of(4), expected);
}

#[test]
fn a_quantile_lies_between_its_neighbours_in_proportion() {
    let jobs = [40, 10, 30, 20];
    let submits = (0..4).map(|j| (0, submit(j, 1, WHOLE)));
    let places = (0..4).flat_map(|j| [(0, place(j, j)), (0, run(j, On::Lane))]);
    let mut ends: Vec<(u64, Record)> = (0..4).map(|j| (jobs[j as usize], done(j))).collect();
    ends.sort_by_key(|e| e.0);
    let metrics = of(submits.chain(places).chain(ends).collect());
    let ms = |of_100| metrics.jct_quantile(of_100).ns() / 1_000_000;
    // Places 0, 1, 2 and 3 of 3: one is worth 33 1/3 of 100.
    assert_eq!([0, 1, 50, 95, 99, 100].map(ms), [10_000, 10_300, 25_000, 38_500, 39_700, 40_000]);
    assert_eq!(ms(101), 40_000, "nothing is above the largest");
    assert_eq!(Metrics::default().jct_quantile(50), Span::ZERO);
}

#[test]
fn nothing_at_all_is_zero() {
    assert_eq!(Metrics::default().total(), Total::default());
    let only = of(vec![(7, submit(0, 1, WHOLE)), (9, Record::Finish)]);
    assert_eq!(only.total(), Total { makespan: secs(2), ..Total::default() });
}
