//! What is known of a metric by its name: its unit, and which way is better.

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

/// Whether a metric is a share, from 0 to 1.
pub fn is_share(metric: &str) -> bool {
    ["finish_rate", "bad_rate", "utilisation"].iter().any(|part| metric.contains(part))
        && difference_in(metric).is_none()
}

/// Whether a metric is the share of some requests among its samples.
pub fn is_share_of_requests(metric: &str) -> bool {
    metric == "finish_rate" || metric == "bad_rate"
}

/// The least and the largest value that a metric can have; of a difference, how far two values can be apart.
pub fn range(metric: &str) -> (f64, f64) {
    let of = difference_in(metric).unwrap_or(metric);
    let (least, most) = match of {
        m if is_share(m) => (0.0, 1.0),
        m if m.contains("batch_size") => (1.0, f64::INFINITY),
        "headroom" => (-1.0, f64::INFINITY),
        m if unit(m) != UNITLESS || m == "mean_cost" => (0.0, f64::INFINITY),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    if of == metric { (least, most) } else { (least - most, most - least) }
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
    fn a_metric_has_the_values_that_are_possible() {
        let above = |least: f64| (least, f64::INFINITY);
        assert_eq!(range("finish_rate"), (0.0, 1.0));
        assert_eq!(range("worst_bad_rate_at_load"), (0.0, 1.0));
        assert_eq!(range("finish_rate_difference"), (-1.0, 1.0));
        assert_eq!(range("peak_goodput_per_s"), above(0.0));
        assert_eq!(range("mean_batch_size"), above(1.0));
        assert_eq!(range("latency_p99.9_ns"), above(0.0));
        assert_eq!(range("headroom"), above(-1.0));
        assert_eq!(range("peak_goodput_per_s_difference"), above(f64::NEG_INFINITY));
    }
}
