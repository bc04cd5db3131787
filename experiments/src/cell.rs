//! A cell: one specification and one policy, run with one or more seeds, and its rows.
//!
//! `reproduce`, `run` and `sweep` all come down to cells; their results are the same rows.

use crate::goodput::{DEVICES, PEAK};
use orrery_results::{Flags, RESULT_VERSION, Row, difference_of, seed_list, unit};
use orrery_scenario::SpecError;
use orrery_sim::metrics::{BatchMeans, Batches, Figures, Metrics, TimeSeries};
use orrery_sim::request::End;
use orrery_sim::stats::{self, Batched, Interval};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The quantiles of latency that are reported.
pub const QUANTILES: [(f64, &str); 4] = [
    (0.5, "latency_p50_ns"),
    (0.9, "latency_p90_ns"),
    (0.99, "latency_p99_ns"),
    (0.999, "latency_p99.9_ns"),
];

/// What watches every run beside its metrics.
pub type Watch = (BatchMeans, TimeSeries);

/// One value of one run.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Measure {
    /// As in [`Row::scope`].
    pub scope: String,
    /// As in [`Row::metric`].
    pub metric: String,
    /// In the metric's unit; none where there is no answer.
    pub value: Option<f64>,
    /// Why there is no value; empty where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Samples behind it.
    pub samples: u64,
    /// 95 % confidence interval within the run, by batch means.
    pub within: Option<(f64, f64)>,
    /// Whether the batch means are still correlated.
    pub correlated: bool,
}

impl Measure {
    /// A value without an interval of its own.
    pub fn of(scope: &str, metric: &str, value: f64, samples: u64) -> Measure {
        Measure {
            scope: scope.to_string(),
            metric: metric.to_string(),
            value: Some(value),
            reason: String::new(),
            samples,
            within: None,
            correlated: false,
        }
    }

    /// No answer, and why.
    pub fn unanswered(scope: &str, metric: &str, reason: String, samples: u64) -> Measure {
        Measure { value: None, reason, ..Measure::of(scope, metric, 0.0, samples) }
    }
}

/// One run of a cell.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Replication {
    /// The seed.
    pub seed: u64,
    /// All values, in the order of rows.
    pub measures: Vec<Measure>,
    /// Whether the run was still diverging at its end.
    pub diverging: bool,
    /// Requests still in the system at the end.
    pub pending: u64,
    /// Requests that arrived, by batch in the order of arrival.
    pub offered: Vec<u64>,
    /// Of these, those finished in time.
    pub in_time: Vec<u64>,
    /// More flags of its rows: what a search noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Names of models and applications, by number.
#[derive(Clone, Debug, Default)]
pub struct ScopeNames {
    /// Of models.
    pub models: Vec<String>,
    /// Of applications.
    pub apps: Vec<String>,
}

impl Replication {
    /// What a run was measured to be. Scopes with one member are left out: they equal `all`.
    pub fn of(seed: u64, metrics: &Metrics, watch: &Watch, names: &ScopeNames) -> Replication {
        let (means, series) = watch;
        let total = metrics.total();
        let seconds = metrics.measured().as_secs_f64();
        let mut measures = Vec::new();
        of_scope("all", &total, &means.total(), seconds, &mut measures);
        add_run(metrics, series, &mut measures);
        for (kind, names, figures, means) in [
            ("model", &names.models, metrics.models(), means.models()),
            ("app", &names.apps, metrics.apps(), means.apps()),
        ] {
            if names.len() < 2 {
                continue;
            }
            for ((name, figures), means) in names.iter().zip(&figures).zip(&means) {
                let scope = format!("{kind} {name}");
                of_scope(&scope, figures, means, seconds, &mut measures);
            }
        }
        let (offered, in_time) = means.total().offered_and_in_time();
        let pending = total.ended(End::Pending);
        let (diverging, notes) = (series.diverging(), Vec::new());
        Replication { seed, measures, diverging, pending, offered, in_time, notes }
    }

    fn measure(&self, scope: &str, metric: &str) -> Option<&Measure> {
        self.measures.iter().find(|m| m.scope == scope && m.metric == metric)
    }

    /// A value, if the run has it.
    pub fn value(&self, scope: &str, metric: &str) -> Option<f64> {
        self.measure(scope, metric)?.value
    }

    /// Whether a value is missing without a reason: JSON has no word for what is not a number.
    pub fn has_gap(&self) -> bool {
        self.measures.iter().any(|m| m.value.is_none() && m.reason.is_empty())
    }

    /// Why a search found nothing, if that is so. What is measured at an answer is missing then.
    pub fn no_answer(&self) -> Option<&str> {
        let searched = |m: &&Measure| [PEAK, DEVICES].contains(&m.metric.as_str());
        let found = self.measures.iter().find(searched)?;
        found.value.is_none().then_some(found.reason.as_str())
    }

    /// The finish rate of all requests.
    pub fn finish_rate(&self) -> f64 {
        self.value("all", "finish_rate").unwrap_or(1.0)
    }
}

fn within(mut measure: Measure, batched: Option<Batched>) -> Measure {
    if let Some(b) = batched {
        measure.within = Some((b.interval.low, b.interval.high));
        measure.correlated = b.correlated;
    }
    measure
}

fn of_scope(scope: &str, f: &Figures, means: &Batches, seconds: f64, out: &mut Vec<Measure>) {
    if f.offered == 0 {
        return;
    }
    let answered = f.latency.count();
    out.push(Measure::of(scope, "requests", f.offered as f64, f.offered));
    out.push(within(
        Measure::of(scope, "finish_rate", f.finish_rate(), f.offered),
        means.finish_rate(),
    ));
    let good = if seconds > 0.0 { f.ended(End::InTime) as f64 / seconds } else { 0.0 };
    out.push(within(Measure::of(scope, "goodput_per_s", good, f.offered), means.goodput_per_s()));
    if answered > 0 {
        for (q, name) in QUANTILES {
            let value = f.latency.quantile(q).ns() as f64;
            let interval = means.latency_quantile_ms(q, &f.latency);
            out.push(within(Measure::of(scope, name, value, answered), ns(interval)));
        }
        let latency = f.latency.sum_ns() as f64 / answered as f64;
        out.push(within(
            Measure::of(scope, "latency_mean_ns", latency, answered),
            ns(means.mean_latency_ms()),
        ));
        let queueing = f.queueing.sum_ns() as f64 / answered as f64;
        out.push(within(
            Measure::of(scope, "queueing_mean_ns", queueing, answered),
            ns(means.mean_queueing_ms()),
        ));
    }
    for end in End::ALL {
        out.push(Measure::of(scope, end.word(), f.ended(end) as f64, f.offered));
    }
}

/// Milliseconds as nanoseconds.
fn ns(batched: Option<Batched>) -> Option<Batched> {
    batched.map(|b| {
        let Interval { mean, low, high } = b.interval;
        let interval = Interval { mean: mean * 1e6, low: low * 1e6, high: high * 1e6 };
        Batched { interval, ..b }
    })
}

/// What only the whole run has.
fn add_run(metrics: &Metrics, series: &TimeSeries, out: &mut Vec<Measure>) {
    let batches: u64 = metrics.batch_sizes().iter().sum();
    let size = metrics.mean_batch_size();
    out.push(within(
        Measure::of("all", "mean_batch_size", size, batches),
        series.mean_batch_size(),
    ));
    let (busy, up) = metrics
        .devices()
        .iter()
        .fold((0u128, 0u128), |(b, u), d| (b + u128::from(d.busy.ns()), u + u128::from(d.up.ns())));
    let utilisation = if up == 0 { 0.0 } else { busy as f64 / up as f64 };
    out.push(within(Measure::of("all", "utilisation", utilisation, batches), series.utilisation()));
    if metrics.devices().len() > 1 {
        for (i, d) in metrics.devices().iter().enumerate() {
            out.push(Measure::of(
                &format!("device {i}"),
                "utilisation",
                d.utilisation(),
                d.batches,
            ));
        }
    }
}

/// Which seeds a cell is run with.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
pub struct Seeds {
    /// The first; the others follow it.
    pub first: u64,
    /// How many, at least.
    pub count: u32,
    /// Go on until the finish rate's interval is at most so wide, or so many seeds were run.
    pub until_ci: Option<(f64, u32)>,
}

impl Seeds {
    /// Runs seed after seed. With `until_ci`, at least two are run.
    ///
    /// # Errors
    /// The first error of a run.
    pub fn run(
        &self,
        mut one: impl FnMut(u64) -> Result<Replication, SpecError>,
    ) -> Result<Vec<Replication>, SpecError> {
        let (least, most) = match self.until_ci {
            None => (self.count, self.count),
            Some((_, most)) => (self.count.max(2), most.max(2)),
        };
        let mut done: Vec<Replication> = Vec::new();
        while (done.len() as u32) < most {
            if done.len() as u32 >= least && self.narrow_enough(&done) {
                break;
            }
            done.push(one(self.first.wrapping_add(done.len() as u64))?);
        }
        Ok(done)
    }

    /// Whether the interval of the finish rate is as narrow as was asked for.
    pub fn narrow_enough(&self, done: &[Replication]) -> bool {
        let Some((width, _)) = self.until_ci else { return true };
        // Where one seed has no answer the cell has no mean, and more seeds cannot give it one.
        if done.iter().any(|r| r.no_answer().is_some()) {
            return true;
        }
        let rates: Vec<f64> = done.iter().map(Replication::finish_rate).collect();
        stats::replications(&rates).is_some_and(|i| i.width() <= width)
    }

    /// For reading: `5 seed(s)`, or `5 to 100 seeds, until an interval is at most 0.01 wide`.
    pub fn in_words(&self) -> String {
        match self.until_ci {
            None => format!("{} seed(s)", self.count),
            Some((width, most)) => {
                let least = self.count.max(2);
                format!("{least} to {most} seeds, until the interval is at most {width} wide")
            }
        }
    }

    /// As part of a specification.
    pub fn words(&self) -> String {
        let Seeds { first, count, until_ci } = self;
        match until_ci {
            None => format!("first {first}, count {count}"),
            Some((w, most)) => format!("first {first}, count {count}, until {w}, at most {most}"),
        }
    }
}

/// The rows of a cell. `place` carries what they have in common: experiment, case, axes, system,
/// preset, policy, warm-up, provenance.
pub fn rows(place: &Row, seeds: &Seeds, runs: &[Replication]) -> Vec<Row> {
    let Some(first) = runs.first() else { return Vec::new() };
    let list: Vec<u64> = runs.iter().map(|r| r.seed).collect();
    let wide = !seeds.narrow_enough(runs);
    let row = |m: &Measure| {
        let all: Vec<Measure> =
            runs.iter().filter_map(|r| r.measure(&m.scope, &m.metric).cloned()).collect();
        let mut row = Row {
            scope: m.scope.clone(),
            metric: m.metric.clone(),
            unit: unit(&m.metric).to_string(),
            samples: all.iter().map(|m| m.samples).sum(),
            seeds: seed_list(&list),
            ..place.clone()
        };
        match unanswered(runs, m) {
            Some(reason) => row.without_answer(reason),
            None => {
                let values: Vec<f64> = all.iter().filter_map(|m| m.value).collect();
                row.value = Some(mean(&values));
                interval_of(&mut row, &all, &values);
            }
        }
        flags_of(&mut row, &all, runs, wide);
        row
    };
    // A scope or a quantile that only some seeds have still gets its row.
    let mut named: Vec<&Measure> = first.measures.iter().collect();
    for m in runs[1..].iter().flat_map(|r| &r.measures) {
        if !named.iter().any(|n| n.scope == m.scope && n.metric == m.metric) {
            named.push(m);
        }
    }
    named.into_iter().map(row).collect()
}

/// Why a mean over the runs is not given: some have no answer. A mean of the others would be of the
/// easier seeds alone.
fn unanswered(runs: &[Replication], m: &Measure) -> Option<String> {
    let none = |r: &Replication| match r.measure(&m.scope, &m.metric) {
        Some(Measure { value: Some(_), .. }) => None,
        Some(measure) => Some(measure.reason.clone()),
        // What is measured at the answer only.
        None => r.no_answer().map(str::to_string),
    };
    let reasons: Vec<String> = runs.iter().filter_map(none).collect();
    counted(&reasons, runs.len())
}

/// The reason for all, with their number where there are several seeds.
fn counted(reasons: &[String], seeds: usize) -> Option<String> {
    let first = reasons.first()?;
    Some(match seeds {
        1 => first.clone(),
        _ => format!("{} of {seeds} seeds have no answer: {first}", reasons.len()),
    })
}

fn is_count(metric: &str) -> bool {
    unit(metric) == "requests" && !metric.contains("batch_size")
}

fn interval_of(row: &mut Row, all: &[Measure], values: &[f64]) {
    let (interval, method) = match all {
        _ if is_count(&row.metric) => (None, ""),
        [one] => (one.within, "batch-means"),
        _ => (stats::replications(values).map(|i| (i.low, i.high)), "replications"),
    };
    if let Some((low, high)) = interval {
        (row.ci95_low, row.ci95_high) = (Some(low), Some(high));
        row.ci_method = method.to_string();
    }
    // A share is never outside [0, 1], whatever Student's t makes of a few seeds.
    if ["finish_rate", "utilisation"].contains(&row.metric.as_str()) {
        row.ci95_low = row.ci95_low.map(|x| x.max(0.0));
        row.ci95_high = row.ci95_high.map(|x| x.min(1.0));
    }
}

fn flags_of(row: &mut Row, all: &[Measure], runs: &[Replication], wide: bool) {
    if let Some((q, _)) = QUANTILES.iter().find(|q| q.1 == row.metric) {
        let fewest = all.iter().map(|m| m.samples).min().unwrap_or(0);
        if !stats::enough_for_quantile(*q, fewest) {
            row.flag(Flags::FEW_SAMPLES);
        }
    }
    if all.len() == 1 && all[0].correlated && row.ci95_low.is_some() {
        row.flag(Flags::CORRELATED);
    }
    if runs.iter().any(|r| r.diverging) {
        row.flag(Flags::DIVERGING);
    }
    if row.metric == PEAK || row.metric == DEVICES {
        runs.iter().flat_map(|r| &r.notes).for_each(|note| row.flag(note));
    }
    if runs.iter().any(|r| r.pending > 0) {
        row.flag(Flags::PENDING);
    }
    if wide && row.metric == "finish_rate" && row.scope == "all" {
        row.flag(Flags::WIDE);
    }
}

/// The difference of two policies on the same arrivals, `runs` less `base`: of their finish rates, or
/// of what they were searched for. Finish rates at two policies' own peaks are not compared. It has a
/// metric of its own, such as `finish_rate_difference`.
pub fn difference(
    place: &Row,
    versus: &str,
    runs: &[Replication],
    base: &[Replication],
) -> Option<Row> {
    let has = |m: &&str| runs.iter().any(|r| r.measure("all", m).is_some());
    let searched = [PEAK, DEVICES].into_iter().find(has);
    let metric = searched.unwrap_or("finish_rate");
    let pairs = runs.len().min(base.len());
    if pairs == 0 {
        return None;
    }
    let (runs, base) = (&runs[..pairs], &base[..pairs]);
    let seeds: Vec<u64> = runs.iter().map(|r| r.seed).collect();
    let mut row = Row {
        scope: "all".into(),
        metric: difference_of(metric),
        unit: unit(metric).into(),
        versus: versus.to_string(),
        samples: runs.iter().map(|r| r.offered.iter().sum::<u64>()).sum(),
        seeds: seed_list(&seeds),
        ..place.clone()
    };
    let none = |(a, b): (&Replication, &Replication)| {
        a.no_answer().or_else(|| b.no_answer()).map(str::to_string)
    };
    let reasons: Vec<String> = runs.iter().zip(base).filter_map(none).collect();
    if let Some(reason) = counted(&reasons, pairs) {
        row.without_answer(reason);
        return Some(row);
    }
    let value = |r: &Replication| match searched {
        Some(metric) => r.value("all", metric),
        None => Some(r.finish_rate()),
    };
    let values = |r: &[Replication]| r.iter().map(value).collect::<Option<Vec<f64>>>();
    let (a, b) = (values(runs)?, values(base)?);
    row.value = Some(mean(&a) - mean(&b));
    let (interval, method) = match (runs, base) {
        ([a], [b]) if searched.is_none() => (within_one_run(a, b), "paired-batch-means"),
        _ => (stats::paired(&a, &b), "paired-replications"),
    };
    if let Some(Interval { low, high, .. }) = interval {
        (row.ci95_low, row.ci95_high) = (Some(low), Some(high));
        row.ci_method = method.to_string();
    }
    Some(row)
}

/// Batch by batch, where both policies met the same arrivals.
fn within_one_run(a: &Replication, b: &Replication) -> Option<Interval> {
    if a.offered != b.offered {
        return None;
    }
    let floats = |v: &[u64]| v.iter().map(|x| *x as f64).collect::<Vec<f64>>();
    let of = floats(&a.offered);
    let (a, b) = (floats(&a.in_time), floats(&b.in_time));
    stats::paired_ratios_of_batches((&a, &of), (&b, &of)).map(|p| p.interval)
}

/// The seeds of rows, for reading: where they differ, the fewest and the most.
pub fn seeds_of(rows: &[Row]) -> String {
    let mut all: Vec<String> = Vec::new();
    for row in rows.iter().filter(|r| r.scope == "all" && !r.seeds.is_empty()) {
        let seeds = row.seeds_in_words();
        if !all.contains(&seeds) {
            all.push(seeds);
        }
    }
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        // Of ranges that begin alike the shorter word, or the smaller, is the shorter range.
        _ => {
            all.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
            format!("{} to {}, by cell", all[0], all[all.len() - 1])
        }
    }
}

/// In the order given: the sum of a result never depends on anything else.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The hash of a complete specification: everything that its results depend on.
pub fn spec_sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("orrery result version {RESULT_VERSION}\n"));
    for part in parts {
        // The length keeps two lists of parts from reading alike.
        hash.update(format!("{}\n{part}\n", part.len()));
    }
    hex(&hash.finalize())
}

/// SHA-256 of bytes, as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file, which may be longer than memory.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of_file(path: &std::path::Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests;
