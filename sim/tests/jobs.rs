//! Jobs that share devices: laws to the nanosecond, and a naive engine in fixed small steps that shares no
//! code.

#![expect(
    clippy::too_many_lines,
    reason = "a table of cases, or a reference that reads in one piece"
)]

#[path = "jobs/fluid.rs"]
mod fluid;
#[path = "jobs/naive.rs"]
mod naive;
#[path = "jobs/reference.rs"]
mod reference;
#[path = "jobs/salus.rs"]
mod salus;

use orrery_sim::jobs::audit::Auditor;
use orrery_sim::jobs::job::{Cluster, Job, JobId};
use orrery_sim::jobs::log::Terms;
use orrery_sim::jobs::metrics::{Metrics, Total};
use orrery_sim::jobs::policy::{ALL, Configured};
use orrery_sim::jobs::record::{JobObserver, Record};
use orrery_sim::jobs::world::simulate;
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

/// A policy by its text.
fn named(text: &str) -> Box<dyn Configured> {
    let (name, inner) = text.trim_end_matches(']').split_once('[').unwrap_or((text, ""));
    let given: Vec<(&str, &str)> = inner.split(',').filter_map(|g| g.split_once('=')).collect();
    ALL.iter().find(|p| p.about.name == name).unwrap().parse(&given).unwrap()
}

/// Runs jobs, audits the run, and gives the metrics.
fn run_with<O: JobObserver>(
    cluster: &Cluster,
    jobs: &[Job],
    policy: &str,
    more: O,
) -> (Metrics, O) {
    let policy = named(policy);
    let auditor = Auditor::new(Terms::new(cluster, &policy.name()));
    let observer = (Metrics::default(), (auditor, more));
    let (metrics, (auditor, more)) = simulate(cluster, jobs, policy.build(), observer).observer;
    let report = auditor.finish();
    assert!(report.is_clean(), "{}: {report}", policy.name());
    assert_eq!(metrics.total().work, jobs.iter().map(Job::work).sum(), "work is conserved");
    (metrics, more)
}

fn run(cluster: &Cluster, jobs: &[Job], policy: &str) -> Metrics {
    run_with(cluster, jobs, policy, ()).0
}

fn total(cluster: &Cluster, jobs: &[Job], policy: &str) -> Total {
    run(cluster, jobs, policy).total_of(cluster.workers)
}

/// The ends of all jobs, in nanoseconds.
fn ends(metrics: &Metrics) -> Vec<u64> {
    metrics.jobs().iter().map(|l| l.end.expect("it has ended").ns()).collect()
}

fn job(at_ns: u64, iterations: u64, iteration_ns: u64) -> Job {
    let (submitted, iteration) = (Time::from_ns(at_ns), Span::from_ns(iteration_ns));
    Job { submitted, iterations, iteration, ..Job::default() }
}

/// Whole numbers from a range.
struct Dice(Stream);

impl Dice {
    fn of(case: u64) -> Dice {
        Dice(Stream::named(case, "jobs test", 0))
    }

    fn from(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }
}
