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

/// The unit of a metric: times end in `_ns` in their name, rates in `_per_s`.
pub fn unit(metric: &str) -> &'static str {
    match metric {
        m if m.contains("_ns") => "ns",
        m if m.ends_with("_per_s") => "1/s",
        m if m.ends_with("_s") => "s",
        "requests" | "in_time" | "late" | "pending" => "requests",
        m if m.starts_with("drop") => "requests",
        m if m.contains("batch_size") => "requests",
        m if m.contains("devices_") || m.ends_with("_devices") => "devices",
        "batches" => "batches",
        _ => "1",
    }
}

/// Which way a metric is better.
pub fn better(metric: &str) -> Better {
    match metric {
        "finish_rate" | "goodput_per_s" | "peak_goodput_per_s" | "in_time" => Better::Higher,
        "devices_needed" | "worst_bad_rate" | "bad_rate" => Better::Lower,
        m if m.starts_with("latency_") || m.starts_with("queueing_") => Better::Lower,
        "late" | "pending" => Better::Lower,
        m if m.starts_with("drop") => Better::Lower,
        _ => Better::Neither,
    }
}
