//! What axes and metrics are called in a figure, and in which unit their numbers are shown.

use orrery_results::{UNITLESS, difference_in};

/// A name with its unit, and what values are divided by to be in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub label: String,
    pub divisor: f64,
}

/// Nanoseconds in the unit in which `largest` reads best: (unit, divisor).
pub(crate) fn time_unit(largest_ns: f64) -> (&'static str, f64) {
    match largest_ns.abs() {
        x if x >= 1e10 => ("s", 1e9),
        x if x >= 1e5 => ("ms", 1e6),
        x if x >= 1e3 => ("µs", 1e3),
        _ => ("ns", 1.0),
    }
}

/// A metric or a quantity with its unit, as in the tables' `unit`.
pub(crate) fn metric(name: &str, unit: &str, largest: f64) -> Named {
    if let Some(of) = difference_in(name) {
        let Named { label, divisor } = metric(of, unit, largest);
        return Named { label: format!("difference of {label}"), divisor };
    }
    let words = words(name.trim_end_matches("_ns").trim_end_matches("_per_s"));
    // Of Clockwork's predictions: `infer_duration_over_p99_ns`.
    let words =
        words.replace(" over P", " over-prediction P").replace(" under P", " under-prediction P");
    let words = match words.strip_suffix(" mean") {
        Some(stem) => format!("mean {stem}"),
        None => words,
    };
    let with = |unit: &str, divisor: f64| Named { label: format!("{words} ({unit})"), divisor };
    match unit {
        "ns" => {
            let (unit, divisor) = time_unit(largest);
            with(unit, divisor)
        }
        "" | UNITLESS => Named { label: words, divisor: 1.0 },
        // Devices that are so are named so; what is counted in devices is not.
        "devices" if words.starts_with("devices") => Named { label: words, divisor: 1.0 },
        "devices" => {
            let words = words.trim_end_matches(" devices");
            Named { label: format!("{words} (devices)"), divisor: 1.0 }
        }
        "1/s" if ["goodput", "offered", "ended"].iter().any(|w| words.contains(w)) => {
            with("requests/s", 1.0)
        }
        unit if words.contains(unit) => Named { label: words, divisor: 1.0 },
        unit => with(unit, 1.0),
    }
}

/// An axis of a sweep, by the unit at the end of its name.
pub(crate) fn axis(name: &str, largest: f64) -> Named {
    let (words, unit, divisor) = axis_parts(name, largest);
    let label = if unit.is_empty() { words } else { format!("{words} ({unit})") };
    Named { label, divisor }
}

/// Axes whose values are names that say what they are.
const NAMING: [&str; 10] = [
    "model",
    "models",
    "setting",
    "point",
    "cluster",
    "gpu",
    "system",
    "changed",
    "of",
    "precision",
];

/// Axes that count: `12 models`.
const COUNTED: [&str; 8] =
    ["models", "gpus", "workers", "clients", "applications", "bins", "frontends", "accelerators"];

/// The place of a panel: its setting, or where that is a name or several words, these alone.
pub fn place(name: &str, value: &str) -> String {
    if name == "system" {
        return system(value);
    }
    // `50 %` are two words that say nothing without the axis.
    let is_share = value.strip_suffix(" %").is_some_and(|number| number.parse::<f64>().is_ok());
    let is_words = value.contains(' ') && !value.contains('=') && !is_share;
    let says = NAMING.contains(&name) || is_words;
    let is_name = says && value.parse::<f64>().is_err();
    if is_name { value.to_string() } else { setting(name, value) }
}

/// What a system is called: `NAME-paper` has the settings of its paper, and is no number of the paper's.
pub(crate) fn system(name: &str) -> String {
    match name.strip_suffix("-paper") {
        Some(system) => format!("{system} (preset paper)"),
        None => name.to_string(),
    }
}

/// An axis with one of its values: `slo_ms=50` is `SLO 50 ms`.
pub(crate) fn setting(name: &str, value: &str) -> String {
    let number = value.parse::<f64>().ok().filter(|v| v.is_finite());
    let (words, unit, divisor) = axis_parts(name, number.unwrap_or(0.0));
    // A table of one key, as in `{ zipf = 0.9 }`, is read without its signs.
    let plain_words = || value.trim_matches(['{', '}', ' ']).replace(" = ", " ");
    let value = number.map_or_else(plain_words, |v| plain(v / divisor));
    match unit {
        "" if COUNTED.contains(&name) && number.is_some() => format!("{value} {words}"),
        "" => format!("{words} {value}"),
        "1/s" => format!("{words} {value}/s"),
        unit => format!("{words} {value} {unit}"),
    }
}

/// (words, unit, divisor)
fn axis_parts(name: &str, largest: f64) -> (String, &'static str, f64) {
    let ends: [(&str, &str); 7] = [
        ("_per_s", "1/s"),
        ("_usd_per_hour", "$/h"),
        ("_ms", "ms"),
        ("_us", "µs"),
        ("_s", "s"),
        ("_x_p99", "× P99"),
        ("_percent", "%"),
    ];
    if let Some(stem) = name.strip_suffix("_ns") {
        let (unit, divisor) = time_unit(largest);
        return (words(stem), unit, divisor);
    }
    let found = ends.iter().find_map(|(end, unit)| Some((name.strip_suffix(end)?, *unit)));
    found.map_or_else(|| (words(name), "", 1.0), |(stem, unit)| (words(stem), unit, 1.0))
}

/// An identifier as words: `latency_p99` is `latency P99`.
pub(crate) fn words(name: &str) -> String {
    let word = |w: &str| match w {
        "slo" | "gpu" | "cpu" | "jct" => w.to_uppercase(),
        "gpus" => "GPUs".into(),
        "abs" => "absolute".into(),
        w if w.len() > 1 && w.starts_with('p') && w[1..].chars().all(|c| c.is_ascii_digit()) => {
            percentile(&w[1..])
        }
        w => w.to_string(),
    };
    name.split(['_', '.']).map(word).collect::<Vec<_>>().join(" ")
}

/// `p99` is P99, `p999` is P99.9.
fn percentile(digits: &str) -> String {
    match digits.split_at_checked(2) {
        Some((whole, part)) if !part.is_empty() && digits != "100" => format!("P{whole}.{part}"),
        _ => format!("P{digits}"),
    }
}

/// A number as short as it can be, with a minus sign that is as wide as a plus.
pub(crate) fn plain(x: f64) -> String {
    // Nine significant digits: 0.1 + 0.2 is 0.3 to a reader.
    let short: f64 = format!("{x:.8e}").parse().unwrap_or(x);
    let size = short.abs();
    let text = if size != 0.0 && !(1e-6..1e9).contains(&size) {
        format!("{short:e}")
    } else {
        format!("{short}")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words_with_units() {
        assert_eq!(axis("slo_x_p99", 5.0).label, "SLO (× P99)");
        assert_eq!(axis("slo_ms", 5.0).label, "SLO (ms)");
        assert_eq!(axis("rate_per_s", 5.0).label, "rate (1/s)");
        assert_eq!(axis("load.offered", 5.0).label, "load offered");
        assert_eq!(axis("slo_ns", 5e7), Named { label: "SLO (ms)".into(), divisor: 1e6 });
        assert_eq!(metric("finish_rate", UNITLESS, 1.0).label, "finish rate");
        assert_eq!(metric("latency_p999_ns", "ns", 3e10).label, "latency P99.9 (s)");
        assert_eq!(metric("devices_up", "devices", 2.0).label, "devices up");
        assert_eq!(metric("advice_devices", "devices", 2.0).label, "advice (devices)");
        assert_eq!(metric("goodput_per_s", "1/s", 10.0).label, "goodput (requests/s)");
    }

    #[test]
    fn a_setting_is_a_name_with_its_value_and_unit() {
        assert_eq!(setting("slo_ms", "50"), "SLO 50 ms");
        assert_eq!(setting("slo_x_p99", "1.5"), "SLO 1.5 × P99");
        assert_eq!(setting("rate_per_s", "80.0"), "rate 80/s");
        assert_eq!(setting("slo_ns", "50000000"), "SLO 50 ms");
        assert_eq!(setting("estimator", "static-mean"), "estimator static-mean");
        assert_eq!(setting("load", "0.90"), "load 0.9");
        assert_eq!(place("law", "own"), "law own");
        assert_eq!(
            (place("models", "12"), place("models", "mixed")),
            ("12 models".into(), "mixed".into())
        );
        assert_eq!(place("law", "each application's own law"), "each application's own law");
        assert_eq!(place("in_a_hurry", "50 %"), "in a hurry 50 %");
        assert_eq!(place("changed", "50 %"), "50 %");
        assert_eq!(place("popularity", "{ zipf = 0.9 }"), "popularity zipf 0.9");
    }

    #[test]
    fn numbers_are_short() {
        let cases = [(0.1 + 0.2, "0.3"), (5.0, "5"), (-1.5, "−1.5"), (2e12, "2e12"), (0.0, "0")];
        cases.iter().for_each(|(x, text)| assert_eq!(plain(*x), *text));
    }
}
