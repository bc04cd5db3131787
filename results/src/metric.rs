//! What is known of a metric: its unit, which way is better, which values it can have, and how it is read.
//!
//! Everything that shows or judges metrics asks here; [`table`] has the rows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

mod table;

pub use table::*;

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

/// How a value is read: divided, in this unit, with this number of digits after the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Nanoseconds are read in milliseconds, and so on.
    pub divisor: f64,
    /// `ms`, `requests/s`, `share`.
    pub unit: &'static str,
    /// Digits after the point, where a whole table has this metric.
    pub digits: usize,
}

/// A column beside others: its short heading, and the digits after the point there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// With the unit: `p99 ms`.
    pub heading: &'static str,
    /// Digits after the point.
    pub digits: usize,
}

/// A metric: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// As in a row's `metric`.
    pub name: &'static str,
    /// As in a row's `unit`.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The least and the largest value.
    pub range: (f64, f64),
    /// How it is read where a whole table has this metric.
    pub reading: Reading,
    /// Its column where policies are compared on requests.
    pub run: Option<Column>,
    /// Its column where policies are compared on jobs.
    pub jobs: Option<Column>,
    /// Its column where policies are compared on requests that are answered token by token.
    pub tokens: Option<Column>,
    /// Its long heading, on pages; none where pages list it among all values only.
    pub page: Option<&'static str>,
    /// The quantile of latencies that it is, where every run reports it.
    pub quantile: Option<f64>,
    /// Whether it is the share of some requests among its samples.
    pub is_share_of_requests: bool,
    /// Whether it counts requests: such a number has no interval.
    pub is_count: bool,
    /// Whether rows have it; what only a table over time has, or an axis is, is not in any.
    pub is_in_rows: bool,
    /// A line of help, as in `docs/formats.md`.
    pub help: &'static str,
}

/// Metrics of one name with parts: each `{}` of the name is one of the words listed for it.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    row: Metric,
    parts: &'static [&'static [&'static str]],
}

/// How a number without a unit is read, and one of no known metric.
const UNKNOWN: Reading = Reading { divisor: 1.0, unit: "share", digits: 3 };

const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The unit of what has none. A word: `1` would be a number where all of a table's metrics have none.
pub const UNITLESS: &str = "unitless";

/// How the metric of a difference ends. It has a name of its own, so that whoever takes all rows of a
/// metric never averages values with differences.
const DIFFERENCE: &str = "_difference";

/// Any number, in this unit.
const fn number(name: &'static str, unit: &'static str) -> Metric {
    Metric {
        name,
        unit,
        better: Better::Neither,
        range: ANY,
        reading: Reading { divisor: 1.0, unit, digits: 1 },
        run: None,
        jobs: None,
        tokens: None,
        page: None,
        quantile: None,
        is_share_of_requests: false,
        is_count: false,
        is_in_rows: true,
        help: "",
    }
}

/// Any number without a unit.
const fn plain(name: &'static str) -> Metric {
    Metric { reading: UNKNOWN, ..number(name, UNITLESS) }
}

/// From 0 to 1.
const fn share(name: &'static str) -> Metric {
    Metric { range: (0.0, 1.0), ..plain(name) }
}

/// How many of something there are, from 0.
const fn amount(name: &'static str, unit: &'static str) -> Metric {
    number(name, unit).at_least(0.0)
}

const fn devices(name: &'static str) -> Metric {
    amount(name, "devices")
}

/// Requests of a batch.
const fn size(name: &'static str) -> Metric {
    number(name, "requests").at_least(1.0)
}

/// Requests per second, or others.
const fn rate(name: &'static str) -> Metric {
    let reading = Reading { divisor: 1.0, unit: "requests/s", digits: 0 };
    Metric { reading, ..amount(name, "1/s") }
}

/// Nanoseconds, read in milliseconds.
const fn time(name: &'static str) -> Metric {
    let reading = Reading { divisor: 1e6, unit: "ms", digits: 2 };
    Metric { reading, ..amount(name, "ns") }
}

/// Whole seconds or parts of them.
const fn seconds(name: &'static str) -> Metric {
    amount(name, "s")
}

/// What a row says beside name and unit.
impl Metric {
    const fn higher(self) -> Metric {
        Metric { better: Better::Higher, ..self }
    }

    const fn lower(self) -> Metric {
        Metric { better: Better::Lower, ..self }
    }

    const fn at_least(self, least: f64) -> Metric {
        Metric { range: (least, f64::INFINITY), ..self }
    }

    const fn in_s(self) -> Metric {
        Metric { reading: Reading { divisor: 1e9, unit: "s", digits: 1 }, ..self }
    }

    const fn in_us(self) -> Metric {
        Metric { reading: Reading { divisor: 1e3, unit: "us", digits: 0 }, ..self }
    }

    const fn run(self, heading: &'static str, digits: usize) -> Metric {
        Metric { run: Some(Column { heading, digits }), ..self }
    }

    const fn jobs(self, heading: &'static str, digits: usize) -> Metric {
        Metric { jobs: Some(Column { heading, digits }), ..self }
    }

    const fn tokens(self, heading: &'static str, digits: usize) -> Metric {
        Metric { tokens: Some(Column { heading, digits }), ..self }
    }

    const fn page(self, heading: &'static str) -> Metric {
        Metric { page: Some(heading), ..self }
    }

    const fn quantile(self, quantile: f64) -> Metric {
        Metric { quantile: Some(quantile), ..self }
    }

    const fn of_requests(self) -> Metric {
        Metric { is_share_of_requests: true, ..self }
    }

    const fn count(self) -> Metric {
        Metric { is_count: true, ..self }
    }

    const fn not_in_rows(self) -> Metric {
        Metric { is_in_rows: false, ..self }
    }

    const fn help(self, help: &'static str) -> Metric {
        Metric { help, ..self }
    }
}

impl Family {
    /// The metric with these parts.
    ///
    /// # Panics
    /// When the family has no such part.
    pub fn name(&self, parts: &[&str]) -> String {
        assert_eq!(parts.len(), self.parts.len(), "parts of `{}`", self.row.name);
        let fill = |name: String, (part, allowed): (&&str, &&[&str])| {
            assert!(allowed.contains(part), "`{}` has no part `{part}`", self.row.name);
            name.replacen("{}", part, 1)
        };
        parts.iter().zip(self.parts).fold(self.row.name.to_string(), fill)
    }

    /// The names of all its metrics.
    fn names(&self) -> Vec<String> {
        let each = |names: Vec<String>, words: &&[&str]| {
            let with = |name: &String| words.iter().map(|w| name.replacen("{}", w, 1)).collect();
            names.iter().flat_map::<Vec<String>, _>(with).collect()
        };
        self.parts.iter().fold(vec![self.row.name.to_string()], each)
    }
}

/// Every metric, in the order of the table, and those of families after them.
static ALL: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let of = |family: &&Family| {
        let row = family.row;
        family.names().into_iter().map(move |name| Metric { name: name.leak(), ..row })
    };
    ROWS.iter().copied().chain(FAMILIES.iter().flat_map(of)).collect()
});

static BY_NAME: LazyLock<BTreeMap<&str, &Metric>> =
    LazyLock::new(|| ALL.iter().map(|m| (m.name, m)).collect());

/// Every metric, in the order in which tables show them; differences are not among them.
pub fn all() -> &'static [Metric] {
    &ALL
}

/// The metric of this name; a difference has no row of its own.
pub fn find(name: &str) -> Option<&'static Metric> {
    BY_NAME.get(name).copied()
}

/// The metric of this name, or of what is subtracted.
fn find_values(name: &str) -> Option<&'static Metric> {
    find(difference_in(name).unwrap_or(name))
}

/// The metrics of batches whose size was not measured.
pub const UNMEASURED: [&str; 3] = [INTERPOLATED, ROUNDED_UP, EXTRAPOLATED];

/// The quantiles of latency that every run reports, with their metrics.
pub fn quantiles() -> impl Iterator<Item = (f64, &'static str)> {
    ALL.iter().filter_map(|m| Some((m.quantile?, m.name)))
}

/// Every metric that a row may have, but for differences.
pub fn metrics() -> Vec<&'static str> {
    ALL.iter().filter(|m| m.is_in_rows).map(|m| m.name).collect()
}

/// Whether a row may have this metric: one of [`metrics`], or a difference of one.
pub fn is_metric(name: &str) -> bool {
    find_values(name).is_some_and(|m| m.is_in_rows)
}

/// The metric of a difference of this one: `finish_rate_difference`.
pub fn difference_of(metric: &str) -> String {
    format!("{metric}{DIFFERENCE}")
}

/// The metric of which this one is a difference.
pub fn difference_in(metric: &str) -> Option<&str> {
    metric.strip_suffix(DIFFERENCE)
}

/// The unit of a metric; a difference has that of what is subtracted.
pub fn unit(metric: &str) -> &'static str {
    find_values(metric).map_or(UNITLESS, |m| m.unit)
}

/// How a metric is read; a difference as what is subtracted.
pub fn reading(metric: &str) -> Reading {
    find_values(metric).map_or(UNKNOWN, |m| m.reading)
}

/// The name without its unit, in words: `goodput_per_s` is `goodput`.
pub fn words(metric: &str) -> String {
    metric.trim_end_matches("_ns").trim_end_matches("_per_s").replace('_', " ")
}

/// The least and the largest value that a metric can have; of a difference, how far two values can be apart.
pub fn range(metric: &str) -> (f64, f64) {
    let (least, most) = find_values(metric).map_or(ANY, |m| m.range);
    match difference_in(metric) {
        Some(_) => (least - most, most - least),
        None => (least, most),
    }
}

/// Which way a metric is better; a difference is as what is subtracted.
pub fn better(metric: &str) -> Better {
    find_values(metric).map_or(Better::Neither, |m| m.better)
}

/// The table as `docs/formats.md` shows it.
pub fn reference() -> String {
    let line = |m: &Metric, name: String| format!("| {name} | {} |\n", m.help.trim());
    let mut own: Vec<(&Metric, String)> = Vec::new();
    for m in ROWS.iter().filter(|m| m.is_in_rows) {
        match own.last_mut() {
            Some((_, names)) if m.help.ends_with("quantile of it") => {
                *names += &format!(", `{}`", m.name)
            }
            _ => own.push((m, format!("`{}`", m.name))),
        }
    }
    let own = own.into_iter().map(|(m, names)| line(m, names));
    let words = |words: &&[&str]| format!("{{{}}}", words.join(","));
    let pattern = |family: &Family| {
        let fill = |name: String, part: String| name.replacen("{}", &part, 1);
        family.parts.iter().map(words).fold(family.row.name.to_string(), fill)
    };
    let families = FAMILIES.iter().map(|f| line(&f.row, format!("`{}`", pattern(f))));
    let head = "| metric | meaning |\n|---|---|\n".to_string();
    std::iter::once(head).chain(own).chain(families).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_named_apart_and_is_in_the_same_unit() {
        let metric = difference_of(PEAK);
        assert_eq!(metric, "peak_goodput_per_s_difference");
        assert_eq!(difference_in(&metric), Some(PEAK));
        assert_eq!((unit(&metric), better(&metric)), ("1/s", Better::Higher));
        assert_eq!(difference_in(FINISH_RATE), None);
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

    #[test]
    fn each_metric_has_one_row() {
        assert_eq!(BY_NAME.len(), ALL.len());
        for name in ["latency_p99_ns", "finish_rate_difference", "rate_imbalance_max"] {
            assert!(is_metric(name), "{name}");
        }
        for name in ["latency_p98_ns", "finish_rat", "", "_difference", "policy", ENDED] {
            assert!(!is_metric(name), "{name}");
        }
    }

    #[test]
    fn a_name_ends_in_its_unit() {
        for metric in all() {
            let ends = |end: &str| metric.name.ends_with(end);
            assert_eq!(ends("_ns"), metric.unit == "ns", "{}", metric.name);
            assert!(!ends("_per_s") || metric.unit == "1/s", "{}", metric.name);
            assert!(!ends("_share") || metric.range == (0.0, 1.0), "{}", metric.name);
        }
    }

    #[test]
    fn a_family_has_the_metrics_of_its_parts() {
        let name = PREDICTION_ERROR.name(&["infer", "duration", "over", "p99.9"]);
        assert_eq!(name, "infer_duration_over_p99.9_ns");
        assert_eq!((unit(&name), reading(&name).unit), ("ns", "us"));
        for family in FAMILIES {
            assert_eq!(family.row.name.matches("{}").count(), family.parts.len());
        }
    }

    #[test]
    #[should_panic(expected = "has no part `p98`")]
    fn a_part_that_a_family_lacks_is_a_bug() {
        JCT.name(&["p98"]);
    }
}
