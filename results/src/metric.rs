//! What is known of a metric by its name: whether there is one, its unit, and which way is better.

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger.
    Higher,
    /// The smaller.
    Lower,
    /// Neither is.
    Neither,
}

/// The unit of what has none. A word: `1` would be a number where all of a table's metrics have none.
pub const UNITLESS: &str = "unitless";

/// How the metric of a difference ends. It has a name of its own, so that whoever takes all rows of a
/// metric never averages values with differences.
const DIFFERENCE: &str = "_difference";

/// Every metric that a row may have, but for those of [`FAMILIES`] and differences.
const METRICS: &[&str] = &[
    // A run.
    "requests",
    "finish_rate",
    "mean_cost",
    "goodput_per_s",
    "latency_p50_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_p99.9_ns",
    "latency_mean_ns",
    "queueing_mean_ns",
    "in_time",
    "late",
    "pending",
    "dropped_expired",
    "dropped_infeasible",
    "dropped_refused",
    "dropped_default_reply",
    "dropped_shed",
    "cold_starts",
    "mean_batch_size",
    "utilisation",
    "loads",
    "load_utilisation",
    "milestones",
    // What follows from a run.
    "bad_rate",
    "idle_fraction",
    "advice_devices",
    "flat_top_bad_rate",
    // A search.
    "peak_goodput_per_s",
    "devices_needed",
    "worst_bad_rate",
    "clearly_good_per_s",
    "clearly_bad_per_s",
    "devices_clearly_enough",
    "devices_clearly_too_few",
    "refuted_per_s",
    "bad_below_per_s",
    "bad_rate_above",
    "probe_s",
    "probes",
    // A run over time.
    "from_s",
    "offered_per_s",
    "dropped_per_s",
    "cold_per_s",
    "cold_share",
    "loads_per_s",
    "unloads_per_s",
    "cold_models",
    "warm_models",
    "weighted_batch_size",
    "first_unload_s",
    "latency_p99.99_ns",
    "latency_max_ns",
    "end_max_ns",
    "devices_up",
    "devices_busy",
    "asked_devices",
    "released_devices",
    "not_overloaded_time_share",
    "low_bad_rate_time_share",
    // Jobs.
    "jobs",
    "makespan_ns",
    "jct_mean_ns",
    "job_queueing_mean_ns",
    "first_service_mean_ns",
    "gpu_busy_fraction",
    "jobs_resident_mean",
    "switches",
    "gpus_held",
    // Pools.
    "allowable_throughput_per_s",
    "best_so_far_per_s",
    "upper_bound_per_s",
    "bound_rank",
    "picked",
    "drs_threshold",
    "pools",
    "evaluations",
    "evaluations_share",
    "evaluations_to_best",
    "evaluations_to_best_share",
    "evaluations_until_reached",
    "reached_share",
    "best_over_optimum",
    "below_homogeneous_share",
    "below_unscaled_homogeneous_share",
    // Applications.
    "mean_finish_rate",
    "mean_abs_error",
    "left_out_abs_error",
    "median_abs_error",
    // Laws and scores.
    "share",
    "cost",
    "score_per_ms",
    "milestone",
    "mean_ns",
    "p99_ns",
    // Plans.
    "cost_usd_per_hour",
    "cost_usd_per_month",
    "cost_at_peak_usd_per_hour",
    "lower_bound_usd_per_hour",
    "price_turn_usd_per_hour",
    "load_per_s",
    "mean_load_share",
    "headroom",
    "allowable_per_s",
    "allowable_per_s_with_one_less",
    "frontier_per_s",
    "worst_bad_rate_at_load",
    "worst_bad_rate_at_level",
    "worst_bad_rate_above_edge",
    "worst_bad_rate_with_one_less",
    "usd_per_million_good_at_load",
    "usd_per_million_good_at_edge",
    "utilisation_above_edge",
];

/// Metrics of one name with several parts: each first part with each second.
const FAMILIES: &[(&[&str], &[&str])] = &[
    (&["batch_size_"], &["p10", "p50", "p90"]),
    (&["queueing_"], &["p50_ns", "p90_ns", "p99_ns"]),
    (&["rate_imbalance_", "memory_imbalance_"], &["p10", "p50", "p90", "max"]),
    (
        &["jct_"],
        &[
            "min_ns", "p10_ns", "p20_ns", "p30_ns", "p40_ns", "p50_ns", "p60_ns", "p70_ns",
            "p80_ns", "p90_ns", "p95_ns", "max_ns",
        ],
    ),
    (
        &["evaluations_to_", "reached_"],
        &["optimum", "near_optimum", "optimum_share", "near_optimum_share"],
    ),
    (
        &[
            "infer_duration_over_",
            "infer_duration_under_",
            "infer_completion_over_",
            "infer_completion_under_",
            "load_duration_over_",
            "load_duration_under_",
            "load_completion_over_",
            "load_completion_under_",
        ],
        &["p50_ns", "p99_ns", "p99.9_ns", "p99.99_ns", "max_ns"],
    ),
];

/// Every metric that a row may have, but for differences.
pub fn metrics() -> Vec<String> {
    let of = |(firsts, seconds): &(&[&str], &[&str])| -> Vec<String> {
        let all = firsts.iter().flat_map(|a| seconds.iter().map(move |b| format!("{a}{b}")));
        all.collect()
    };
    METRICS.iter().map(|m| m.to_string()).chain(FAMILIES.iter().flat_map(of)).collect()
}

/// Whether a row may have this metric: one of [`metrics`], or a difference of one.
pub fn is_metric(name: &str) -> bool {
    let name = difference_in(name).unwrap_or(name);
    METRICS.contains(&name) || metrics().iter().any(|m| m == name)
}

/// The metric of a difference of this one: `finish_rate_difference`.
pub fn difference_of(metric: &str) -> String {
    format!("{metric}{DIFFERENCE}")
}

/// The metric of which this one is a difference.
pub fn difference_in(metric: &str) -> Option<&str> {
    metric.strip_suffix(DIFFERENCE)
}

/// The unit of a metric; a difference has that of what is subtracted: times end in `_ns` in their name, rates in `_per_s`.
pub fn unit(metric: &str) -> &'static str {
    match difference_in(metric).unwrap_or(metric) {
        m if m.contains("_ns") => "ns",
        m if m.ends_with("_per_s") => "1/s",
        m if m.ends_with("_s") => "s",
        "requests" | "in_time" | "late" | "pending" => "requests",
        m if m.starts_with("drop") => "requests",
        m if m.contains("batch_size") => "requests",
        m if m.contains("devices_") || m.ends_with("_devices") => "devices",
        m if m.ends_with("_models") => "models",
        "batches" => "batches",
        "jobs" | "jobs_resident_mean" => "jobs",
        "switches" => "switches",
        "loads" => "loads",
        "cold_starts" => "requests",
        "milestones" => "milestones",
        "score_per_ms" => "1/ms",
        _ => UNITLESS,
    }
}

/// Which way a metric is better; a difference is as what is subtracted.
pub fn better(metric: &str) -> Better {
    match difference_in(metric).unwrap_or(metric) {
        "finish_rate" | "goodput_per_s" | "peak_goodput_per_s" | "in_time" => Better::Higher,
        "devices_needed" | "worst_bad_rate" | "bad_rate" => Better::Lower,
        m if m.starts_with("latency_") || m.starts_with("queueing_") => Better::Lower,
        "late" | "pending" | "mean_cost" => Better::Lower,
        m if m.starts_with("drop") => Better::Lower,
        m if m.starts_with("jct_") || m.starts_with("makespan_") => Better::Lower,
        m if m.starts_with("job_queueing_") || m.starts_with("first_service_") => Better::Lower,
        _ => Better::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_apart_and_is_in_the_same_unit() {
        let metric = difference_of("peak_goodput_per_s");
        assert_eq!(metric, "peak_goodput_per_s_difference");
        assert_eq!(difference_in(&metric), Some("peak_goodput_per_s"));
        assert_eq!((unit(&metric), better(&metric)), ("1/s", Better::Higher));
        assert_eq!(difference_in("finish_rate"), None);
    }

    #[test]
    fn each_metric_is_listed_once() {
        let mut all = metrics();
        all.sort();
        let twice = all.windows(2).find(|two| two[0] == two[1]);
        assert_eq!(twice, None);
        for name in ["latency_p99_ns", "finish_rate_difference", "rate_imbalance_max"] {
            assert!(is_metric(name), "{name}");
        }
        for name in ["latency_p98_ns", "finish_rat", "", "_difference", "policy"] {
            assert!(!is_metric(name), "{name}");
        }
    }
}
