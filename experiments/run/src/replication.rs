//! What one run was measured to be.

use orrery_results::metric;
use orrery_sim::metrics::{Batches, Figures, Metrics, Ratio, View};
use orrery_sim::request::End;
use orrery_sim::stats::{Batched, Interval};
use orrery_sim::time::Time;
use serde::{Deserialize, Serialize};

/// The metrics of a search for a rate, and for devices.
pub use orrery_results::metric::{DEVICES, PEAK};

/// One value of one run.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Measure {
    /// As in [`orrery_results::Row::scope`].
    pub scope: String,
    /// As in [`orrery_results::Row::metric`].
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
    /// Whether no request came in so much of the measured time that chance does not explain it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late_start: bool,
    /// Whether no request came in more than a tenth of the measured time, at its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
    /// Whether for a long time requests came and nothing ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stuck: bool,
    /// Requests still in the system at the end.
    pub pending: u64,
    /// Requests that arrived, by batch in the order of arrival.
    pub offered: Vec<u64>,
    /// Of these, those finished in time.
    pub in_time: Vec<u64>,
    /// More flags of its rows: what a search noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The tolerance of the search for a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// Names of models and applications, by number.
#[derive(Clone, Debug, Default)]
pub struct ScopeNames {
    /// Of models.
    pub models: Vec<String>,
    /// Of applications.
    pub apps: Vec<String>,
    /// Of groups of applications; where there are any, models and applications have no rows.
    pub groups: Vec<String>,
    /// The batch sizes that were measured, by model and kind of device.
    pub measured: Vec<Vec<MeasuredSizes>>,
    /// Whether devices come and go with the load.
    pub scales: bool,
}

/// The batch sizes that a model's latencies were measured at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredSizes {
    /// The sizes, growing.
    pub sizes: Vec<u32>,
    /// The metric that counts batches of other sizes below the largest; none where a published system says what they
    /// take.
    pub between: Option<&'static str>,
}

/// Batches whose size was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmeasured {
    /// The metric of their share.
    pub metric: &'static str,
    /// Their share of all batches.
    pub share: f64,
    /// The smallest and the largest of their sizes; `None` without such a batch.
    pub sizes: Option<(u32, u32)>,
    /// All batches.
    batches: u64,
}

impl Unmeasured {
    /// The batches of a run, for each metric that a measured table gives a reason for.
    pub fn of(metrics: &Metrics, measured: &[Vec<MeasuredSizes>]) -> Vec<Unmeasured> {
        let batches: u64 = metrics.batch_sizes().iter().sum();
        let counted = || metrics.batch_units().iter().zip(measured);
        let has = |metric, kind: &MeasuredSizes| match metric {
            metric::EXTRAPOLATED => true,
            _ => kind.between == Some(metric),
        };
        let is_of = |metric, kind: &MeasuredSizes, size: u32| {
            let is_beyond = kind.sizes.last().is_some_and(|last| size > *last);
            has(metric, kind)
                && is_beyond == (metric == metric::EXTRAPOLATED)
                && kind.sizes.binary_search(&size).is_err()
        };
        let of = |metric: &'static str| {
            counted().any(|(_, kinds)| kinds.iter().any(|k| has(metric, k))).then(|| {
                let all = counted().flat_map(|(units, kinds)| {
                    let sizes = (0..).zip(units).filter(|(_, n)| **n > 0);
                    sizes.filter(|(size, _)| kinds.iter().any(|k| is_of(metric, k, *size)))
                });
                let fold = |(n, ends): (u64, Option<(u32, u32)>), (size, count): (u32, &u64)| {
                    let (least, most) = ends.unwrap_or((size, size));
                    (n + count, Some((least.min(size), most.max(size))))
                };
                let (n, sizes) = all.fold((0, None), fold);
                Unmeasured { metric, share: n as f64 / batches.max(1) as f64, sizes, batches }
            })
        };
        metric::UNMEASURED.into_iter().filter_map(of).collect()
    }
}

impl Replication {
    /// What a run was measured to be. Scopes with one member are left out: they equal `all`.
    pub fn of(seed: u64, metrics: &Metrics, names: &ScopeNames) -> Replication {
        let (total, means) = (metrics.total(), metrics.batches(View::Total).remove(0));
        let seconds = metrics.measured().as_secs_f64();
        let mut measures = Vec::new();
        if total.offered == 0 {
            measures.extend(nothing_counts(metrics));
        }
        of_scope("all", &total, &means, seconds, &mut measures);
        add_run(metrics, &mut measures);
        if names.scales {
            add_devices(metrics, &mut measures);
        }
        for (kind, names, view) in [
            ("group", &names.groups, View::Groups),
            ("model", &names.models, View::Models),
            ("app", &names.apps, View::Apps),
        ] {
            if names.len() < 2 {
                continue;
            }
            let figures = metrics.figures(view).into_iter().zip(metrics.batches(view));
            for (name, (figures, means)) in names.iter().zip(figures) {
                let scope = format!("{kind} {name}");
                of_scope(&scope, &figures, &means, seconds, &mut measures);
            }
        }
        let (offered, in_time) = means.offered_and_in_time();
        let pending = total.ended(End::Pending);
        let (diverging, mut notes) = (metrics.series().diverging(), Vec::new());
        for u in Unmeasured::of(metrics, &names.measured) {
            measures.push(Measure::of("all", u.metric, u.share, u.batches));
            notes.extend(u.sizes.map(|(least, most)| format!("{}:{least}-{most}", u.metric)));
        }
        let late_start = is_late(metrics.lead(), total.offered);
        let drain = metrics.drain() > 0.1;
        Replication {
            seed,
            measures,
            diverging,
            late_start,
            drain,
            stuck: metrics.stuck(),
            pending,
            offered,
            in_time,
            notes,
            tolerance: None,
        }
    }

    /// Keeps what is about the whole run, and about groups of applications: an experiment's rows are about these.
    pub fn drop_details(&mut self) {
        self.measures.retain(|m| m.scope == "all" || m.scope.starts_with("group "));
        self.measures.shrink_to_fit();
    }

    /// Adds a value without an interval of its own.
    pub fn push(&mut self, scope: &str, metric: &str, value: f64, samples: u64) {
        self.measures.push(Measure::of(scope, metric, value, samples));
    }

    /// What was measured of a metric of a scope.
    pub fn measure(&self, scope: &str, metric: &str) -> Option<&Measure> {
        self.measures.iter().find(|m| m.scope == scope && m.metric == metric)
    }

    /// A value, if the run has it.
    pub fn value(&self, scope: &str, metric: &str) -> Option<f64> {
        self.measure(scope, metric)?.value
    }

    /// Whether a value is missing without a reason, or is no number: JSON has no word for that.
    pub fn has_gap(&self) -> bool {
        let ends = |m: &Measure| m.within.map_or(0.0, |(low, high)| low + high);
        self.measures.iter().any(|m| match m.value {
            None => m.reason.is_empty(),
            Some(value) => !(value + ends(m)).is_finite(),
        })
    }

    /// The runs of a cell as they are kept.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_json(runs: &[Replication]) -> serde_json::Result<String> {
        serde_json::to_string(runs)
    }

    /// Why a search found nothing, if that is so. What is measured at an answer is missing then.
    pub fn no_answer(&self) -> Option<&str> {
        [PEAK, DEVICES].iter().find_map(|metric| self.why_missing(metric))
    }

    /// Why a value of the whole run is missing, if it is.
    pub fn why_missing(&self, metric: &str) -> Option<&str> {
        let found = self.measure("all", metric)?;
        found.value.is_none().then_some(found.reason.as_str())
    }

    /// The finish rate of all requests, if there were any.
    pub fn finish_rate(&self) -> Option<f64> {
        self.value("all", metric::FINISH_RATE)
    }
}

/// Of Poisson arrivals, one run in 20,000 begins like this.
fn is_late(lead: f64, requests: u64) -> bool {
    lead > 0.1 && lead * requests as f64 > 10.0
}

fn within(mut measure: Measure, batched: Option<Batched>) -> Measure {
    if let Some(b) = batched {
        measure.within = Some((b.interval.low, b.interval.high));
        measure.correlated = b.correlated;
    }
    measure
}

/// What is said of a run of which no request counts.
fn nothing_counts(metrics: &Metrics) -> [Measure; 2] {
    let end_s = metrics.end().since(Time::ZERO).as_secs_f64();
    let reason = format!("no request arrived after the warm-up: the run ended at {end_s:.1} s");
    [
        Measure::of("all", metric::REQUESTS, 0.0, 0),
        Measure::unanswered("all", metric::FINISH_RATE, reason, 0),
    ]
}

fn of_scope(scope: &str, f: &Figures, means: &Batches, seconds: f64, out: &mut Vec<Measure>) {
    if f.offered == 0 {
        return;
    }
    let answered = f.latency.count();
    out.push(Measure::of(scope, metric::REQUESTS, f.offered as f64, f.offered));
    out.push(within(
        Measure::of(scope, metric::FINISH_RATE, f.finish_rate(), f.offered),
        means.ratio(Ratio::FINISH_RATE),
    ));
    if let Some(cost) = f.mean_cost() {
        out.push(within(
            Measure::of(scope, metric::MEAN_COST, cost, f.offered),
            means.ratio(Ratio::MEAN_COST),
        ));
    }
    let good = if seconds > 0.0 { f.ended(End::InTime) as f64 / seconds } else { 0.0 };
    out.push(within(Measure::of(scope, metric::GOODPUT, good, f.offered), means.goodput_per_s()));
    if answered > 0 {
        for (q, name) in metric::quantiles() {
            let value = f.latency.quantile(q).ns() as f64;
            let interval = means.latency_quantile_ms(q, &f.latency);
            out.push(within(Measure::of(scope, name, value, answered), ns(interval)));
        }
        let latency = f.latency.sum_ns() as f64 / answered as f64;
        out.push(within(
            Measure::of(scope, metric::LATENCY_MEAN, latency, answered),
            ns(means.ratio(Ratio::MEAN_LATENCY_MS)),
        ));
        let queueing = f.queueing.sum_ns() as f64 / answered as f64;
        out.push(within(
            Measure::of(scope, metric::QUEUEING_MEAN, queueing, answered),
            ns(means.ratio(Ratio::MEAN_QUEUEING_MS)),
        ));
    }
    for end in End::ALL {
        out.push(Measure::of(scope, end.word(), f.ended(end) as f64, f.offered));
    }
    if f.cold > 0 {
        out.push(Measure::of(scope, metric::COLD_STARTS, f.cold as f64, f.offered));
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

/// What a cluster was that comes and goes.
fn add_devices(metrics: &Metrics, out: &mut Vec<Measure>) {
    let up: u128 = metrics.devices().iter().map(|d| u128::from(d.up.ns())).sum();
    let mean = up as f64 / metrics.end().ns().max(1) as f64;
    let [asked, released] = metrics.series().asked_and_released();
    for (name, value) in [
        (metric::DEVICES_UP, mean),
        (metric::DEVICES_UP_MAX, metrics.series().most_up() as f64),
        (metric::ASKED_DEVICES, asked as f64),
        (metric::RELEASED_DEVICES, released as f64),
    ] {
        out.push(Measure::of("all", name, value, asked + released));
    }
}

/// What only the whole run has.
fn add_run(metrics: &Metrics, out: &mut Vec<Measure>) {
    let series = metrics.series();
    let batches: u64 = metrics.batch_sizes().iter().sum();
    if batches > 0 {
        let size = metrics.mean_batch_size();
        let measure = Measure::of("all", metric::MEAN_BATCH_SIZE, size, batches);
        out.push(within(measure, series.mean_batch_size()));
    }
    if let Some(items) = metrics.largest_batch_items() {
        out.push(Measure::of("all", metric::LARGEST_BATCH, f64::from(items), batches));
    }
    let (busy, up) = metrics
        .devices()
        .iter()
        .fold((0u128, 0u128), |(b, u), d| (b + u128::from(d.busy.ns()), u + u128::from(d.up.ns())));
    if up > 0 {
        let measure = Measure::of("all", metric::UTILISATION, busy as f64 / up as f64, batches);
        out.push(within(measure, series.utilisation()));
    }
    let loads: u64 = metrics.devices().iter().map(|d| d.loads).sum();
    if loads > 0 {
        let loading: u128 = metrics.devices().iter().map(|d| u128::from(d.loading.ns())).sum();
        let share = if up == 0 { 0.0 } else { loading as f64 / up as f64 };
        out.push(Measure::of("all", metric::LOADS, loads as f64, loads));
        out.push(within(
            Measure::of("all", metric::LOAD_UTILISATION, share, loads),
            series.load_utilisation(),
        ));
    }
    if metrics.devices().len() > 1 {
        for (i, d) in metrics.devices().iter().enumerate() {
            out.push(Measure::of(
                &format!("device {i}"),
                metric::UTILISATION,
                d.utilisation(),
                d.batches,
            ));
        }
    }
}
