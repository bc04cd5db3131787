//! The tables behind figures: distributions and time series of a scenario's policies.
//!
//! They are of one run, that of the first seed: for looking at, not for comparing.

use crate::advice;
use orrery_plots::{Figure, RowFilter, latency_cdf};
use orrery_report::whole_file::write_atomically;
use orrery_results::{DistributionRow, SeriesRow, metric, to_csv};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_sim::metrics::{Metrics, Sketch, TimeSeries};
use orrery_sim::observer::Observer;
use orrery_sim::request::Request;
use orrery_sim::time::Time;
use std::collections::BTreeMap;
use std::path::Path;

/// The shares at which a distribution is written down; the tail more finely.
fn shares(samples: u64) -> Vec<f64> {
    let mut all: Vec<f64> = (1..200u32).map(|i| f64::from(i) / 200.0).collect();
    let mut step = 1e-3;
    while step * samples as f64 >= 1.0 && step > 1e-9 {
        all.extend((1..10u32).rev().map(|i| 1.0 - f64::from(i) * step));
        step /= 10.0;
    }
    all.push(1.0);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Counts the requests by what they ask for: SLOs of those that count.
#[derive(Default)]
struct Slos {
    from: Time,
    to: Time,
    by_ns: BTreeMap<u64, u64>,
    requests: u64,
}

impl Observer for Slos {
    fn arrived(&mut self, _now: Time, request: &Request) {
        if request.arrival < self.from || request.arrival >= self.to {
            return;
        }
        self.requests += 1;
        if request.deadline != Time::NEVER {
            *self.by_ns.entry(request.deadline.since(request.arrival).ns()).or_default() += 1;
        }
    }
}

/// Runs every policy once more and writes `NAME.distributions.csv` and `NAME.series.csv`.
///
/// # Errors
/// When a run cannot be made or the folder cannot be written.
pub fn write(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seed: u64,
    folder: &Path,
) -> Result<(), SpecError> {
    let (distributions, series) = tables(scenario, policies, seed)?;
    let name = &scenario.name;
    let path = folder.join(format!("{name}.distributions.csv"));
    write_atomically(&path, to_csv(&distributions).as_bytes())?;
    write_atomically(&folder.join(format!("{name}.series.csv")), to_csv(&series).as_bytes())
}

/// Runs every policy once more and draws the distribution of its latencies, where there is one.
///
/// # Errors
/// When a run cannot be made.
pub fn latencies(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seed: u64,
) -> Result<Option<Figure>, SpecError> {
    let (distributions, _) = tables(scenario, policies, seed)?;
    Ok(latency_cdf(&distributions, "latency_ns", &RowFilter::default()).ok())
}

/// The tables of a run of every policy.
///
/// # Errors
/// When a run cannot be made.
pub fn tables(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seed: u64,
) -> Result<(Vec<DistributionRow>, Vec<SeriesRow>), SpecError> {
    let mut distributions = alone(scenario, seed)?;
    let mut series = Vec::new();
    for (i, policy) in policies.iter().enumerate() {
        let setup = scenario.setup(seed)?;
        let slos = Slos { from: setup.window.from, to: setup.window.to, ..Slos::default() };
        let (metrics, slos) = setup.run_with(policy, seed, slos)?.observer;
        // All policies meet the same requests.
        if i == 0 {
            distributions.extend(of_slos(scenario, &slos));
        }
        distributions.extend(of_run(scenario, policy, &metrics));
        series.extend(over_time(&scenario.name, policy.text(), metrics.series()));
    }
    Ok((distributions, series))
}

/// Execution times alone, by application.
fn alone(scenario: &Scenario, seed: u64) -> Result<Vec<DistributionRow>, SpecError> {
    let setup = scenario.setup(seed)?;
    let mut out = Vec::new();
    for (app, name) in setup.apps.iter().zip(scenario.app_names()) {
        for i in 1..=1000u32 {
            let share = (f64::from(i) - 0.5) / 1000.0;
            out.push(DistributionRow {
                experiment: scenario.name.clone(),
                scope: format!("app {name}"),
                quantity: "alone_ns".to_string(),
                x: app.law.quantile_ns(share),
                share,
                samples: 0,
                ..DistributionRow::default()
            });
        }
    }
    Ok(out)
}

/// What the requests ask for: a row for each SLO, with the share of requests whose SLO is at most that.
fn of_slos(scenario: &Scenario, slos: &Slos) -> Vec<DistributionRow> {
    let with_one: u64 = slos.by_ns.values().sum();
    let mut below = 0;
    let row = |(ns, count): (&u64, &u64)| {
        below += count;
        DistributionRow {
            experiment: scenario.name.clone(),
            scope: "all".to_string(),
            quantity: "slo_ns".to_string(),
            x: *ns as f64,
            share: below as f64 / slos.requests as f64,
            samples: with_one,
            requests: slos.requests,
            ..DistributionRow::default()
        }
    };
    slos.by_ns.iter().map(row).collect()
}

fn of_run(scenario: &Scenario, policy: &PolicySpec, metrics: &Metrics) -> Vec<DistributionRow> {
    let place = |quantity: &str, samples: u64, requests: u64| DistributionRow {
        experiment: scenario.name.clone(),
        policy: policy.text().to_string(),
        scope: "all".to_string(),
        quantity: quantity.to_string(),
        samples,
        requests,
        ..DistributionRow::default()
    };
    let total = metrics.total();
    let spans = |quantity: &str, sketch: &Sketch| {
        let (n, all) = (sketch.count(), total.offered);
        let row = place(quantity, n, all);
        if n == 0 {
            // A curve that never leaves the ground, so that it is not missing.
            return if all == 0 { Vec::new() } else { vec![row] };
        }
        let answered = n as f64 / all as f64;
        let mut points = shares(all);
        points.retain(|share| *share < answered);
        points.push(answered);
        let point = |share: f64| {
            let x = sketch.quantile((share / answered).min(1.0)).ns() as f64;
            DistributionRow { x, share, ..row.clone() }
        };
        points.into_iter().map(point).collect::<Vec<_>>()
    };
    let mut out = spans("latency_ns", &total.latency);
    out.extend(spans("queueing_ns", &total.queueing));
    let batches: u64 = metrics.batch_sizes().iter().sum();
    let mut seen = 0;
    for (size, count) in metrics.batch_sizes().iter().enumerate().filter(|(_, n)| **n > 0) {
        seen += count;
        let (x, share) = (size as f64, seen as f64 / batches as f64);
        out.push(DistributionRow { x, share, ..place("batch_size", batches, batches) });
    }
    out
}

/// A run over time, under these names.
pub fn over_time(experiment: &str, policy: &str, times: &TimeSeries) -> Vec<SeriesRow> {
    let mut out = Vec::new();
    let is_cluster = times.bins().any(|b| b.up > b.span());
    let loads = times.bins().any(|b| b.loads > 0);
    let changes = times.bins().any(|b| b.asked + b.released > 0);
    for bin in times.bins() {
        let mut all = vec![
            (metric::OFFERED, bin.per_s(bin.offered)),
            (metric::GOODPUT, bin.per_s(bin.in_time)),
            (metric::UTILISATION, bin.utilisation()),
            ("in_system", bin.mean_in_system()),
        ];
        if loads {
            all.extend([
                (metric::LOADS_PER_S, bin.per_s(bin.loads)),
                (metric::LOAD_UTILISATION, bin.load_utilisation()),
                (metric::COLD, bin.per_s(bin.cold)),
            ]);
        }
        if is_cluster {
            all.extend([
                (metric::DEVICES_UP, bin.devices_up()),
                (metric::DEVICES_BUSY, bin.devices_busy()),
                (metric::BAD_RATE, bin.bad_rate()),
                (metric::ENDED, bin.per_s(bin.in_time + bin.late + bin.dropped)),
            ]);
            all.extend(advice::of_bin(&bin).map(|n| (metric::ADVICE_DEVICES, n)));
        }
        if changes {
            all.push((metric::ASKED_DEVICES, bin.asked as f64));
            all.push((metric::RELEASED_DEVICES, bin.released as f64));
        }
        for (quantity, value) in all {
            out.push(SeriesRow {
                experiment: experiment.to_string(),
                policy: policy.to_string(),
                from_ns: bin.from.ns(),
                to_ns: bin.to.ns(),
                quantity: quantity.to_string(),
                value,
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_plots::binned;

    /// The bad rate of one bin over a whole run is that of all its requests.
    #[test]
    fn the_bad_rate_of_one_bin_is_the_run_s() {
        let text = "
            policies = ['clockwork']
            [[model]]
            name = 'm'
            slo_ms = 12.0
            latency = { affine = { alpha_ms = 1.0, beta_ms = 5.0 } }
            [[device]]
            count = 2
            [[app]]
            name = 'a'
            model = 'm'
            time = { constant = { ms = 1.0 } }
            [arrivals]
            poisson = { rate_per_s = 900.0 }
            requests = 3000
        ";
        let scenario = Scenario::from_text("t.toml", text).expect("a scenario");
        let setup = scenario.setup(1).expect("a setup");
        let policy = PolicySpec::parse("clockwork").expect("a policy");
        let metrics = setup.run(&policy, 1).expect("a run");
        let times = metrics.series();
        let rows = over_time("t", "clockwork", times);
        let bins = || rows.iter().filter(|r| r.quantity == "bad_rate");
        let (mut ended, mut bad) = (0, 0);
        for bin in times.bins() {
            bad += bin.late + bin.dropped;
            ended += bin.in_time + bin.late + bin.dropped;
        }
        assert!(bins().count() > 10 && bad > 0 && bad < ended && ended == 3000);
        let whole = binned(&rows, u64::MAX / 2).expect("one bin");
        let one = whole.iter().find(|r| r.quantity == "bad_rate").expect("a bad rate").value;
        let true_rate = bad as f64 / ended as f64;
        assert!((one - true_rate).abs() < 1e-12, "{one} {true_rate}");
        let mean = bins().map(|r| r.value).sum::<f64>() / bins().count() as f64;
        assert!((mean - true_rate).abs() > 1e-6, "the mean of the bins is another number");
    }
}
