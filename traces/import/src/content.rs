//! What a file becomes: a profile, a workload, prompts, or a measured table, each with its CSV.

use crate::load::Spacing;
use orrery_sim::time::{Span, Time};
use std::fmt::Write;

/// What a model is called that neither its file nor an option names.
pub(crate) const UNNAMED: &str = "model";

/// What a file becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Latency by batch size.
    Profile,
    /// What arrives when.
    Workload,
    /// The same with tokens in place of execution times.
    Prompts,
    /// Load, rate and latencies that somebody measured.
    Measured,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 4] = [Kind::Profile, Kind::Workload, Kind::Prompts, Kind::Measured];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Profile => "profile",
            Kind::Workload => "workload",
            Kind::Prompts => "prompts",
            Kind::Measured => "measured",
        }
    }

    /// What reads its CSV.
    pub fn read_by(self) -> &'static str {
        match self {
            Kind::Profile => "`latency = { profile = { file = \"FILE\" } }` of a model",
            Kind::Workload => "`workload = { file = \"FILE\" }` of `[arrivals]`",
            Kind::Prompts => "`llm = { file = \"FILE\", ... }` of `[arrivals]`",
            Kind::Measured => "`orrery calibrate SCENARIO FILE`",
        }
    }
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Latency by batch size.
    Profile(Profile),
    /// What arrives when.
    Workload(Workload),
    /// Prompts.
    Prompts(Prompts),
    /// A measured table.
    Measured(Measured),
}

impl Content {
    /// Which of the kinds of content it is.
    pub fn kind(&self) -> Kind {
        match self {
            Content::Profile(_) => Kind::Profile,
            Content::Workload(_) => Kind::Workload,
            Content::Prompts(_) => Kind::Prompts,
            Content::Measured(_) => Kind::Measured,
        }
    }

    /// Whether some of it is of a model that nobody has named.
    pub(crate) fn lacks_model(&self) -> bool {
        match self {
            Content::Profile(p) => p.rows.iter().any(|r| r.0 == UNNAMED),
            Content::Measured(m) => m.points.iter().any(|p| p.model.is_none()),
            Content::Workload(_) | Content::Prompts(_) => false,
        }
    }

    /// How many rows its CSV has.
    pub fn rows(&self) -> usize {
        match self {
            Content::Profile(p) => p.rows.len(),
            Content::Workload(w) => w.requests.len(),
            Content::Prompts(p) => p.rows.len(),
            Content::Measured(m) => m.points.len(),
        }
    }

    /// Its CSV. `alone` is the execution time of requests that say none.
    pub fn csv(&self, alone: Span) -> String {
        match self {
            Content::Profile(p) => p.csv(),
            Content::Workload(w) => w.csv(alone),
            Content::Prompts(p) => p.csv(),
            Content::Measured(m) => m.csv(),
        }
    }
}

/// Latencies by model and batch size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Model, batch size, milliseconds.
    pub rows: Vec<(String, u32, f64)>,
}

impl Profile {
    /// The models, each once.
    pub fn models(&self) -> Vec<&str> {
        let mut models: Vec<&str> = self.rows.iter().map(|r| r.0.as_str()).collect();
        models.sort_unstable();
        models.dedup();
        models
    }

    /// The latencies of a model by batch size, each size once with all that was measured.
    pub fn of(&self, model: &str) -> Vec<(u32, Vec<f64>)> {
        let mut by_size = std::collections::BTreeMap::<u32, Vec<f64>>::new();
        for (_, size, ms) in self.rows.iter().filter(|r| r.0 == model) {
            by_size.entry(*size).or_default().push(*ms);
        }
        by_size.into_iter().collect()
    }

    fn csv(&self) -> String {
        let line =
            |(model, size, ms): &(String, u32, f64)| format!("{},{size},{ms}\n", quoted(model));
        "model,batch,latency_ms\n".to_string() + &self.rows.iter().map(line).collect::<String>()
    }
}

/// A name as a field of a CSV.
pub(crate) fn quoted(name: &str) -> String {
    match name.contains(['"', ',']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// When it arrived, from the first.
    pub at: Time,
    /// Whose it is: an index into [`Workload::names`].
    pub name: u32,
    /// How long it ran alone, where that is known.
    pub alone: Option<Span>,
    /// How long it took from arrival to answer, where that is known.
    pub latency: Option<Span>,
}

/// What arrives when, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// Names of applications, in order of first appearance.
    pub names: Vec<String>,
    /// The requests.
    pub requests: Vec<Request>,
}

impl Workload {
    /// From requests in any order at any time: the first arrives at zero, equal times stay in order.
    pub(crate) fn of(names: Vec<String>, mut requests: Vec<Request>) -> Workload {
        requests.sort_by_key(|r| r.at);
        let first = requests.first().map_or(Time::ZERO, |r| r.at);
        for request in &mut requests {
            request.at = Time::ZERO + (request.at - first);
        }
        Workload { names, requests }
    }

    fn csv(&self, alone: Span) -> String {
        let mut out = String::new();
        let names = self.names.iter().enumerate();
        let names: Vec<String> = names.map(|(i, name)| format!("{i} {name}")).collect();
        let _ = writeln!(out, "# applications: {}", names.join("; ").replace(['\n', '\r'], " "));
        out.push_str("arrival_ns,app,model,size,slo_ns,alone_ns\n");
        for r in &self.requests {
            let alone = r.alone.unwrap_or(alone).ns();
            let _ = writeln!(out, "{},{app},{app},1,,{alone}", r.at.ns(), app = r.name);
        }
        out
    }
}

/// Prompts, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompts {
    /// When, tokens in, tokens out.
    pub rows: Vec<(Time, u32, u32)>,
}

impl Prompts {
    /// From prompts in any order: the first comes at zero.
    pub(crate) fn of(mut rows: Vec<(Time, u32, u32)>) -> Prompts {
        rows.sort_by_key(|r| r.0);
        let first = rows.first().map_or(Time::ZERO, |r| r.0);
        rows.iter_mut().for_each(|r| r.0 = Time::ZERO + (r.0 - first));
        Prompts { rows }
    }

    fn csv(&self) -> String {
        let mut out = "TIMESTAMP,ContextTokens,GeneratedTokens\n".to_string();
        for (at, context, generated) in &self.rows {
            let (s, ns) = (at.ns() / 1_000_000_000, at.ns() % 1_000_000_000);
            let day = chrono::DateTime::from_timestamp(s as i64, ns as u32).unwrap_or_default();
            let stamp = day.format("%Y-%m-%d %H:%M:%S");
            let _ = writeln!(out, "{stamp}.{ns:09},{context},{generated}");
        }
        out
    }
}

/// How load was offered.
#[derive(Clone, Debug, PartialEq)]
pub enum Offered {
    /// So many requests at once.
    AtOnce(u32),
    /// So many clients, each with one request in flight.
    Clients(u32),
    /// Requests at a rate.
    Rate {
        /// Requests a second.
        per_s: f64,
        /// How they are spaced.
        spacing: Spacing,
        /// The most requests in flight: one more waits in the generator for an answer.
        in_flight_max: Option<u32>,
    },
    /// Exactly these arrivals.
    Arrivals(Workload),
}

impl Offered {
    /// Requests at a rate, however many are in flight.
    pub(crate) fn at(per_s: f64, spacing: Spacing) -> Offered {
        Offered::Rate { per_s, spacing, in_flight_max: None }
    }
}

/// A measured run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What was offered.
    pub load: Offered,
    /// Why the load is taken for this, where the file does not say how its requests arrived.
    pub assumed: Option<&'static str>,
    /// The model, where the file names it.
    pub model: Option<String>,
    /// Items in a request.
    pub size: u32,
    /// Requests answered a second.
    pub rate_per_s: Option<f64>,
    /// Latency from the client's request to its answer: mean.
    pub mean_ms: Option<f64>,
    /// Median.
    pub p50_ms: Option<f64>,
    /// 90 % quantile.
    pub p90_ms: Option<f64>,
    /// 95 % quantile.
    pub p95_ms: Option<f64>,
    /// 99 % quantile.
    pub p99_ms: Option<f64>,
    /// Mean size of the batches.
    pub batch: Option<f64>,
    /// Share of requests without an answer.
    pub drop_share: Option<f64>,
    /// The answered requests behind the numbers.
    pub requests: Option<u64>,
}

/// Less than this share of the offered rate is answered: the server or the generator lags.
const KEEPS_UP: f64 = 0.9;
/// How long a run is that does not say it: perf_analyzer's window.
const RUN_S: f64 = 5.0;

impl Point {
    /// A point of which nothing is known but its load.
    pub fn new(load: Offered) -> Point {
        Point {
            load,
            assumed: None,
            model: None,
            size: 1,
            rate_per_s: None,
            mean_ms: None,
            p50_ms: None,
            p90_ms: None,
            p95_ms: None,
            p99_ms: None,
            batch: None,
            drop_share: None,
            requests: None,
        }
    }

    /// The quantiles that are known, with their names.
    pub fn quantiles(&self) -> Vec<(&'static str, f64)> {
        let all = [("p50", self.p50_ms), ("p90", self.p90_ms), ("p95", self.p95_ms)];
        let all = all.into_iter().chain([("p99", self.p99_ms)]);
        all.filter_map(|(name, ms)| Some((name, ms?))).collect()
    }

    /// Whether anything was measured, whatever the load: a rate, a latency, a batch or a share without an answer.
    pub fn is_measured(&self) -> bool {
        let is = |value: Option<f64>| value.is_some_and(|x| x > 0.0);
        let own = [self.rate_per_s, self.mean_ms, self.batch].into_iter().any(is);
        own || !self.quantiles().is_empty() || self.drop_share.is_some()
    }

    /// Whether much less was answered than offered while no latency grew: then the generator did not keep up, or
    /// requests failed, and the load was not what it says.
    pub fn lags(&self) -> bool {
        let (Offered::Rate { per_s, in_flight_max: None, .. }, Some(rate)) =
            (&self.load, self.rate_per_s)
        else {
            return false;
        };
        let ended = rate / (1.0 - self.drop_share.unwrap_or(0.0)).max(1e-9);
        let longest = self.quantiles().into_iter().map(|q| q.1).chain(self.mean_ms);
        let run_s = self.requests.map_or(RUN_S, |n| n as f64 / rate.max(1e-9));
        // A server that lags makes the last request wait for all that is missing.
        let waits_s = (1.0 - ended / per_s) * run_s;
        ended < KEEPS_UP * per_s && longest.fold(0.0, f64::max) < 250.0 * waits_s
    }
}

/// A measured table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Its rows.
    pub points: Vec<Point>,
}

impl Measured {
    fn csv(&self) -> String {
        let columns = "model,clients,offered_per_s,arrivals,size,rate_per_s,mean_ms,p50_ms,p90_ms,\
                       p95_ms,p99_ms,batch,drop_share,requests\n";
        // Sums and differences end in what floats leave.
        let some =
            |x: Option<f64>| x.map_or(String::new(), |x| ((x * 1e9).round() / 1e9).to_string());
        let mut out = columns.to_string();
        for p in &self.points {
            let (clients, offered, arrivals) = match &p.load {
                Offered::AtOnce(_) => (None, None, "at-once".to_string()),
                Offered::Clients(n) => (Some(*n), None, String::new()),
                Offered::Rate { per_s, spacing, in_flight_max } => {
                    (*in_flight_max, Some(*per_s), spacing.to_string())
                }
                Offered::Arrivals(w) => (None, Some(rate_of(w)), "as-recorded".to_string()),
            };
            let clients = clients.map_or(String::new(), |n| n.to_string());
            let offered = offered.map_or(String::new(), |x| x.to_string());
            let assumed = if p.assumed.is_some() { ASSUMED } else { "" };
            let model = quoted(p.model.as_deref().unwrap_or_default());
            let numbers = [p.rate_per_s, p.mean_ms, p.p50_ms, p.p90_ms, p.p95_ms, p.p99_ms];
            let numbers = numbers.into_iter().chain([p.batch, p.drop_share]).map(some);
            let requests = match p.load {
                Offered::AtOnce(n) => Some(u64::from(n)),
                _ => p.requests,
            };
            let requests = requests.map_or(String::new(), |n| n.to_string());
            let numbers: Vec<String> = numbers.chain([requests]).collect();
            let (size, numbers) = (p.size, numbers.join(","));
            let _ =
                writeln!(out, "{model},{clients},{offered},{arrivals}{assumed},{size},{numbers}");
        }
        out
    }
}

/// What follows the arrivals in a measured table where they are assumed.
pub(crate) const ASSUMED: &str = " (assumed)";

/// The mean rate of arrivals.
pub(crate) fn rate_of(w: &Workload) -> f64 {
    let last = w.requests.last().map_or(Time::ZERO, |r| r.at);
    let seconds = (last - Time::ZERO).as_secs_f64();
    if seconds > 0.0 { (w.requests.len() as f64 - 1.0) / seconds } else { 0.0 }
}
