//! The numbers of a run of jobs from its records, as plain loops.

use super::Ran;
use crate::covering::judge::{Fault, fault};
use orrery_sim::jobs::job::{Job, JobId};
use orrery_sim::jobs::record::{LaneId, On, Record};
use std::collections::BTreeMap;

/// What is known of a job; times in nanoseconds.
#[derive(Default)]
struct Life {
    what: Job,
    submitted: u64,
    admitted: Option<u64>,
    first: Option<u64>,
    end: Option<u64>,
    lane: Option<LaneId>,
    /// Workers that it has had, and since when it has them.
    workers: Option<(f64, u64)>,
}

#[derive(Default)]
struct Found {
    lives: BTreeMap<u32, Life>,
    switches: u64,
    /// Nanoseconds of a GPU, or of one worker.
    busy: f64,
    finish: u64,
}

fn found(ran: &Ran) -> Found {
    let mut found = Found::default();
    let mut in_lane: BTreeMap<u32, JobId> = BTreeMap::new();
    for (now, record) in &ran.records {
        let now = now.ns();
        match record {
            Record::Submit { job, what } => {
                let life = Life { what: *what, submitted: now, ..Life::default() };
                found.lives.insert(job.0, life);
            }
            Record::Place { job, lane } => {
                let life = found.lives.get_mut(&job.0).expect("it was submitted");
                (life.admitted, life.lane) = (Some(now), Some(*lane));
            }
            Record::Run { job, on } => {
                let life = found.lives.get_mut(&job.0).expect("it was submitted");
                life.admitted.get_or_insert(now);
                life.first.get_or_insert(now);
                let width = match on {
                    On::Lane => {
                        let lane = life.lane.expect("it was placed");
                        let before = in_lane.insert(lane.0, *job);
                        found.switches += u64::from(before.is_some_and(|other| other != *job));
                        continue;
                    }
                    On::Part { parts, .. } => 1.0 / f64::from(*parts),
                    On::Workers(workers) => workers.len() as f64,
                };
                let before = life.workers.replace((width, now));
                found.switches += u64::from(before.is_some_and(|(other, _)| other != width));
            }
            Record::Stop { job, .. } => {
                if let Some((width, since)) = found.lives[&job.0].workers {
                    found.busy += width * (now - since) as f64;
                }
            }
            Record::Done { job } => {
                let life = found.lives.get_mut(&job.0).expect("it was submitted");
                life.end = Some(now);
                if life.lane.is_some() {
                    let work = life.what.iterations as f64 * life.what.iteration.ns() as f64;
                    found.busy += work * f64::from(life.what.busy) / 1e6;
                }
            }
            Record::Lane { .. } => (),
            Record::Finish => found.finish = now,
        }
    }
    found
}

/// Compares the result's numbers with those of the records.
pub fn recount(ran: &Ran) -> Vec<Fault> {
    let found = found(ran);
    let lives: Vec<&Life> = found.lives.values().collect();
    let ended: Vec<&&Life> = lives.iter().filter(|life| life.end.is_some()).collect();
    let of = |time: &dyn Fn(&Life) -> Option<u64>| -> Vec<f64> {
        let spans = ended.iter().filter_map(|life| Some((time(life)? - life.submitted) as f64));
        let mut spans: Vec<f64> = spans.collect();
        spans.sort_by(f64::total_cmp);
        spans
    };
    let mean = |spans: &[f64]| spans.iter().sum::<f64>() / spans.len().max(1) as f64;
    let jct = of(&|life| life.end);
    let begin = lives.iter().map(|life| life.submitted).min().unwrap_or_default();
    let span = (found.finish - begin) as f64;
    let in_lanes = lives.iter().any(|life| life.lane.is_some());
    let devices = if in_lanes { 1.0 } else { f64::from(ran.workers) };
    let resident: f64 =
        ended.iter().filter_map(|life| Some((life.end? - life.admitted?) as f64)).sum();
    let at = |share: f64| {
        let place = share * (jct.len() - 1) as f64;
        let (low, part) = (place.floor(), place.fract());
        let next = jct[(low as usize + 1).min(jct.len() - 1)];
        jct[low as usize] + (next - jct[low as usize]) * part
    };
    // Rounded down to nanoseconds, but for shares and counts.
    let expected = [
        ("jobs", ended.len() as f64, 0.0),
        ("makespan_ns", span, 0.0),
        ("jct_mean_ns", mean(&jct), 1.0),
        ("jct_p95_ns", at(0.95), 1.0),
        ("jct_p50_ns", at(0.5), 1.0),
        ("jct_min_ns", jct[0], 0.0),
        ("jct_max_ns", jct[jct.len() - 1], 0.0),
        ("job_queueing_mean_ns", mean(&of(&|life| life.admitted)), 1.0),
        ("first_service_mean_ns", mean(&of(&|life| life.first)), 1.0),
        ("gpu_busy_fraction", found.busy / span / devices, 1e-6),
        ("jobs_resident_mean", resident / span, 1e-9),
        ("switches", found.switches as f64, 0.0),
    ];
    let mut wrong = Vec::new();
    for (metric, value, slack) in expected {
        let printed = ran.rows.iter().find(|row| row.metric == metric).and_then(|row| row.value);
        if printed.is_none_or(|printed| (printed - value).abs() > slack + 1e-12 * value.abs()) {
            let found = format!("{printed:?}, and the log says {value}");
            wrong.push(fault(format!("{metric} is that of the log"), found));
        }
    }
    let busy = found.busy / span / devices;
    if !(0.0..=1.0 + 1e-9).contains(&busy) {
        wrong.push(fault("a device is busy at most all of the time", busy.to_string()));
    }
    wrong
}
