//! Runs of requests that are answered token by token: what one is measured to be, and its log.

use super::hash::sha256_of_file;
use super::own::{OwnWorld, Spec, flushed};
use super::replication::Replication;
use orrery_results::metric;
use orrery_results::metric::{Column, Metric};
use orrery_run::SpecError;
use orrery_scenario::tokens::{MadeTokens, Tokens};
use orrery_sim::time::Span;
use orrery_sim::tokens::log::{LogWriter, Terms};
use orrery_sim::tokens::metrics::{Life, Metrics};
use orrery_sim::tokens::world::{self, simulate};
use orrery_traces::shipped::SHIPPED;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

impl OwnWorld for Tokens {
    const WORDS: &'static str = "TTFT: arrival to the first token; TPOT: for each token after it. Times are of answered requests; \
         the finish rate counts those with both within their SLOs, of all requests.";

    fn inputs(&self, folder: &Path) -> Result<String, SpecError> {
        let one = |name: &String| {
            if let Some(shipped) = SHIPPED.iter().find(|s| s.name == name) {
                return Ok(shipped.sha256.to_string());
            }
            let path = folder.join(name);
            let file = path.display().to_string();
            sha256_of_file(&path).map_err(|source| SpecError::Read { file, source })
        };
        Ok(format!("{} {}", one(&self.profile)?, one(&self.requests)?))
    }

    fn one(made: &MadeTokens, policy: &Spec<Self>, seed: u64) -> Replication {
        let run = world::measured(&made.machine, &made.requests, policy.build());
        measured(&run.observer, made, seed)
    }

    fn logged(
        made: &MadeTokens,
        policy: &Spec<Self>,
        seed: u64,
        log: BufWriter<File>,
    ) -> io::Result<Replication> {
        let terms = Terms { policy: policy.name(), machine: made.machine.clone() };
        let observer = (Metrics::default(), LogWriter::new(log, &terms));
        let run = simulate(&made.machine, &made.requests, policy.build(), observer);
        let (metrics, log) = run.observer;
        flushed(log.finish())?;
        Ok(measured(&metrics, made, seed))
    }

    fn column(metric: &Metric) -> Option<Column> {
        metric.tokens
    }
}

/// A time of a request: the metric of its mean, those of its quantiles, and itself.
type TimeOf = (&'static str, fn(u64) -> String, fn(&Life) -> Option<Span>);

const TIMES: [TimeOf; 3] = [
    (metric::TTFT_MEAN, |q| metric::TTFT.name(&[&format!("p{q}")]), Life::ttft),
    (metric::TPOT_MEAN, |q| metric::TPOT.name(&[&format!("p{q}")]), Life::tpot),
    (metric::LATENCY_MEAN, |q| format!("latency_p{q}_ns"), Life::latency),
];

/// Finish rate and dropped ones are of all requests, times of those that were answered.
fn measured(metrics: &Metrics, made: &MadeTokens, seed: u64) -> Replication {
    let total = metrics.total();
    let answered = total.requests - total.dropped;
    let mut one = Replication { seed, ..Replication::default() };
    let mut push = |metric: &str, value: f64, n: u64| one.push("all", metric, value, n);
    if made.has_slo {
        push(metric::FINISH_RATE, total.finish_rate, total.requests);
        push(metric::IN_TIME, total.in_time as f64, total.requests);
    }
    push(metric::REQUESTS, total.requests as f64, total.requests);
    let dropped = total.dropped as f64 / total.requests.max(1) as f64;
    push(metric::DROP_SHARE, dropped, total.requests);
    for (mean, quantile, of) in TIMES {
        let all = metrics.times(of);
        if all.count() == 0 {
            continue;
        }
        push(mean, all.mean().ns() as f64, all.count());
        for of_100 in [50, 90, 99] {
            push(&quantile(of_100), all.quantile(of_100).ns() as f64, all.count());
        }
    }
    let seconds = total.makespan.as_secs_f64();
    push(metric::MAKESPAN, total.makespan.ns() as f64, total.requests);
    push(metric::TOKENS_OUT, total.out as f64 / seconds.max(1e-9), answered);
    push(metric::EVICTIONS, total.evictions as f64, total.requests);
    push(metric::STEPS, total.steps as f64, total.steps);
    one
}
