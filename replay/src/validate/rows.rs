//! `validation.csv`: a row for every run.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{PointResult, Repetition};
use super::point::Point;
use super::verdict::is_gpu;
use serde::Serialize;

/// A line of `validation.csv`: a run.
#[derive(Serialize)]
struct Row<'a> {
    campaign: &'a str,
    point: &'a str,
    device: &'a str,
    device_name: &'a str,
    policy: &'a str,
    exec_ms: Option<f64>,
    slo_ms: f64,
    load: f64,
    rate_per_s: f64,
    run: usize,
    invalid: String,
    requests: u64,
    simulated_finish_rate: f64,
    draws: usize,
    draws_sd_points: f64,
    draws_low_percent: f64,
    draws_high_percent: f64,
    sensitive: bool,
    measured_finish_rate: f64,
    difference_points: f64,
    simulated_goodput_per_s: f64,
    measured_goodput_per_s: f64,
    simulated_latency_p50_ns: u64,
    measured_latency_p50_ns: u64,
    simulated_latency_p99_ns: u64,
    measured_latency_p99_ns: u64,
    simulated_mean_batch: f64,
    measured_mean_batch: f64,
    duration_over_p99_ns: u64,
    duration_under_p99_ns: u64,
    completion_under_p99_ns: u64,
    launches_late_p99_ns: u64,
    decisions_late_p99_ns: u64,
    arrivals_late_p99_ns: u64,
    controller_busy_per_request_ns: u64,
    away_share: f64,
    away_max_ns: u64,
    drift_percent: Option<f64>,
    load_average: &'a str,
    date: &'a str,
}

/// The rows of all runs.
pub fn to_csv(campaign: &Campaign, standing: &Standing) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (point, result) in &standing.points {
        let Some(r) = result else { continue };
        for (i, run) in r.runs.iter().enumerate() {
            // Into memory: it cannot fail.
            let _ = writer.serialize(row(campaign, point, r, i, run));
        }
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

fn row<'a>(
    campaign: &'a Campaign,
    point: &'a Point,
    r: &'a PointResult,
    i: usize,
    run: &'a Repetition,
) -> Row<'a> {
    let (s, m) = (&r.simulated, &run.measured);
    Row {
        campaign: &campaign.file.name,
        point: &point.name,
        device: &run.device.device,
        device_name: &run.device.name,
        policy: &r.policy,
        exec_ms: r.exec_ms,
        slo_ms: r.slo_ms,
        load: r.load,
        rate_per_s: r.rate_per_s,
        run: i + 1,
        invalid: r.invalid(run).unwrap_or_default(),
        requests: m.requests,
        simulated_finish_rate: r.predicted_percent() / 100.0,
        draws: r.draws.len(),
        draws_sd_points: r.draws_sd_points(),
        draws_low_percent: r.middle_percent().0,
        draws_high_percent: r.middle_percent().1,
        sensitive: r.is_sensitive(),
        measured_finish_rate: m.finish_rate,
        difference_points: 100.0 * m.finish_rate - r.predicted_percent(),
        simulated_goodput_per_s: s.goodput_per_s,
        measured_goodput_per_s: m.goodput_per_s,
        simulated_latency_p50_ns: s.latency.p50_ns,
        measured_latency_p50_ns: m.latency.p50_ns,
        simulated_latency_p99_ns: s.latency.p99_ns,
        measured_latency_p99_ns: m.latency.p99_ns,
        simulated_mean_batch: s.mean_batch,
        measured_mean_batch: m.mean_batch,
        duration_over_p99_ns: run.duration_over.p99_ns,
        duration_under_p99_ns: run.duration_under.p99_ns,
        completion_under_p99_ns: run.completion_under.p99_ns,
        launches_late_p99_ns: run.lateness.launches.p99_ns,
        decisions_late_p99_ns: run.lateness.decisions.p99_ns,
        arrivals_late_p99_ns: run.lateness.arrivals.p99_ns,
        controller_busy_per_request_ns: run.controller_busy_per_request_ns,
        away_share: run.away_share,
        away_max_ns: run.away_max_ns,
        drift_percent: r.drift_percent,
        load_average: &run.load_average,
        date: &r.date,
    }
}

/// Whether a `validation.csv` has a run on a GPU that counts.
pub fn has_gpu_run(csv: &str) -> bool {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let Ok(head) = reader.headers().cloned() else { return false };
    let at = |name: &str| head.iter().position(|h| h == name);
    let (Some(device), Some(name), Some(invalid)) =
        (at("device"), at("device_name"), at("invalid"))
    else {
        return false;
    };
    let field = |r: &csv::StringRecord, i: usize| r.get(i).unwrap_or_default().to_string();
    reader
        .records()
        .flatten()
        .any(|r| field(&r, invalid).is_empty() && is_gpu(&field(&r, device), &field(&r, name)))
}
