//! `validation.csv`: a row for every run.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{PointResult, Repetition};
use super::point::Point;
use crate::compare::Naive;

/// The rows of all runs.
pub fn to_csv(campaign: &Campaign, standing: &Standing) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let results = standing.points.iter().filter_map(|(point, r)| Some((point, r.as_ref()?)));
    let runs =
        results.flat_map(|(p, r)| r.runs.iter().enumerate().map(move |(i, run)| (p, r, i, run)));
    for (at, (point, r, i, run)) in runs.enumerate() {
        let row = row(campaign, point, r, i, run);
        // Into memory: it cannot fail.
        if at == 0 {
            let _ = writer.write_record(row.iter().map(|(name, _)| name));
        }
        let _ = writer.write_record(row.iter().map(|(_, value)| value));
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

/// A line of it: each column's name and value.
fn row(
    campaign: &Campaign,
    point: &Point,
    r: &PointResult,
    i: usize,
    run: &Repetition,
) -> Vec<(&'static str, String)> {
    let (s, m) = (&r.simulated, &run.measured);
    // What a virtual clock says of a device is nothing.
    let untimed = if campaign.file.virtual_clock { " (virtual clock)" } else { "" };
    let naive = |of: fn(&Naive) -> Option<f64>| number(r.naive.as_ref().and_then(of));
    vec![
        ("campaign", campaign.file.name.to_string()),
        ("point", point.name.to_string()),
        ("device", run.device.device.clone() + untimed),
        ("device_name", run.device.name.to_string()),
        ("policy", r.policy.to_string()),
        ("exec_ms", number(r.exec_ms)),
        ("slo_ms", number(Some(r.slo_ms))),
        ("load", number(Some(r.load))),
        ("rate_per_s", number(Some(r.rate_per_s))),
        ("run", (i + 1).to_string()),
        ("invalid", r.invalid(run).unwrap_or_default()),
        ("requests", m.requests.to_string()),
        ("simulated_finish_rate", number(Some(r.predicted_percent() / 100.0))),
        ("laws_alone_finish_rate", naive(|n| Some(n.law.finish_rate))),
        ("queue_finish_rate", naive(|n| Some(n.queue.as_ref()?.finish_rate))),
        ("draws", r.draws.len().to_string()),
        ("draws_sd_points", number(Some(r.draws_sd_points()))),
        ("draws_low_percent", number(Some(r.middle_percent().0))),
        ("draws_high_percent", number(Some(r.middle_percent().1))),
        ("sensitive", r.is_sensitive().to_string()),
        ("measured_finish_rate", number(Some(m.finish_rate))),
        ("difference_points", number(Some(100.0 * m.finish_rate - r.predicted_percent()))),
        ("simulated_goodput_per_s", number(Some(s.goodput_per_s))),
        ("measured_goodput_per_s", number(Some(m.goodput_per_s))),
        ("simulated_latency_p50_ns", s.latency.p50_ns.to_string()),
        ("simulated_latency_p90_ns", whole(s.latency.p90_ns)),
        ("measured_latency_p50_ns", m.latency.p50_ns.to_string()),
        ("measured_latency_p90_ns", whole(m.latency.p90_ns)),
        ("simulated_latency_p99_ns", s.latency.p99_ns.to_string()),
        ("measured_latency_p99_ns", m.latency.p99_ns.to_string()),
        ("simulated_mean_batch", number(Some(s.mean_batch))),
        ("measured_mean_batch", number(Some(m.mean_batch))),
        ("duration_over_p99_ns", run.duration_over.p99_ns.to_string()),
        ("duration_under_p99_ns", run.duration_under.p99_ns.to_string()),
        ("completion_under_p99_ns", run.completion_under.p99_ns.to_string()),
        ("on_time_percent", number(run.on_time_percent)),
        ("launches_late_p99_ns", run.lateness.launches.p99_ns.to_string()),
        ("decisions_late_p99_ns", run.lateness.decisions.p99_ns.to_string()),
        ("arrivals_late_p99_ns", run.lateness.arrivals.p99_ns.to_string()),
        ("controller_busy_per_request_ns", run.controller_busy_per_request_ns.to_string()),
        ("away_share", number(Some(run.away_share))),
        ("away_max_ns", run.away_max_ns.to_string()),
        ("drift_percent", number(r.drift_percent)),
        ("load_average", run.load_average.to_string()),
        ("date", r.date.to_string()),
    ]
}

/// As tables write it; empty where there is none.
fn number(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| format!("{x:?}"))
}

fn whole(x: Option<u64>) -> String {
    x.map_or(String::new(), |x| x.to_string())
}
