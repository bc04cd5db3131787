//! A cell of applications: its world, and one run with one seed.

use super::cases::Case;
use super::table::{Applications, Arrivals, Inside, LawName, Normalise, P99};
use orrery_run::setup::{Setup, Workload};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::selection;
use orrery_sim::core::Delays;
use orrery_sim::latency::Latency;
use orrery_sim::metrics::Window;
use orrery_sim::request::Source;
use orrery_sim::request::{AppId, ModelId};
use orrery_sim::time::{Span, Time};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::replication::{Replication, ScopeNames};
use orrery_sweep::seeds::Seeds;
use orrery_traces::arrivals::{ArrivalLaw, ArrivalProcess, Limited};
use orrery_traces::azure2019::{Invocations, MinuteRange};
use orrery_traces::open::Input;
use orrery_traces::rate::{Minutes, Shape, Spacing};
use orrery_traces::shipped::{SHIPPED, shipped, shipped_names};
use orrery_traces::stats::{RateStats, RateSummary};
use orrery_traces::workload::{Application, OpenWorkload};
use serde::Serialize;
use std::collections::BTreeMap;

/// The arrivals of a case, as every table prints them.
#[derive(Clone, Debug)]
pub struct CaseArrivals {
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// The law.
    pub law: ArrivalLaw,
    /// Functions and minutes, in words.
    pub origin: String,
    /// Mean and P99 alone, milliseconds.
    pub mean_ms: f64,
    /// P99 alone, milliseconds.
    pub p99_ms: f64,
    /// The arrivals of the first seed, described.
    pub stats: RateSummary,
}

/// Applications whose trace has been read.
pub struct World {
    /// What is assumed.
    pub applications: Applications,
    /// The trace's counts, read once; none of one that is drawn.
    trace: Option<Invocations>,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tested {
    /// The policy with its parameters.
    pub policy: String,
    /// The device waits for the host this long for each request of a batch.
    pub host_ms_per_request: f64,
    /// Between scheduler and device, each way.
    pub message_ms: f64,
    /// Marginal batch cost under this system, by model, where it is not that of the applications.
    pub c1_of: BTreeMap<String, f64>,
}

/// A case under an SLO, for a system.
pub struct OneCell<'a> {
    /// Where.
    pub world: &'a World,
    /// The case.
    pub case: &'a Case,
    /// Its arrivals.
    pub load: &'a CaseArrivals,
    /// The SLO as a multiple of P99.
    pub slo_x_p99: f64,
    /// The system.
    pub tested: &'a Tested,
}

impl World {
    /// Reads the trace.
    ///
    /// # Errors
    /// When there is no such trace, or it has no such minutes or functions.
    pub fn new(applications: Applications) -> Result<World, SpecError> {
        let trace = read(&applications.arrivals)?;
        Ok(World { applications, trace })
    }

    /// A case by its name, and its arrivals.
    ///
    /// # Errors
    /// When no rule knows such a case.
    pub fn case(&self, name: &str) -> Result<(Case, CaseArrivals), SpecError> {
        let case = Case::make(&self.applications.cases, name)?;
        let load = self.load(&case)?;
        Ok((case, load))
    }

    fn load(&self, case: &Case) -> Result<CaseArrivals, SpecError> {
        let table = &self.applications;
        let (mean_ms, p99_ms) = (case.mean_ms(), case.p99_ms());
        let by = match table.load.of {
            Normalise::Mean => mean_ms,
            Normalise::P99 => p99_ms,
            Normalise::Modes => case.modes_mean_ms,
        };
        let rate_per_s = table.load.offered / by * 1e3;
        let (law, origin) = match &self.trace {
            None => {
                (synthetic_law(&table.arrivals.trace, rate_per_s), table.arrivals.trace.clone())
            }
            Some(trace) => minutes_law(table, trace, rate_per_s)?,
        };
        let stats = describe(&law, table.load.requests)?;
        Ok(CaseArrivals { rate_per_s, law, origin, mean_ms, p99_ms, stats })
    }

    /// As in [`orrery_results::Row::inputs_sha256`].
    pub fn inputs_sha256(&self) -> String {
        let file = SHIPPED.iter().find(|s| s.name == self.applications.arrivals.trace);
        file.map_or(String::new(), |s| format!("{}={}", s.name, s.sha256))
    }
}

impl OneCell<'_> {
    /// The hash of everything that its results depend on.
    pub fn spec_sha256(&self, seeds: &Seeds) -> String {
        let common = toml::to_string(&self.world.applications).unwrap_or_default();
        let tested = toml::to_string(self.tested).unwrap_or_default();
        let (case, slo) = (&self.case.name, self.slo_x_p99.to_string());
        let inputs = self.world.inputs_sha256();
        spec_sha256(&["applications", &common, &tested, case, &slo, &seeds.words(), &inputs])
    }

    /// Runs it with one seed.
    ///
    /// # Errors
    /// When the policy is unknown or a run cannot be made.
    pub fn one(&self, seed: u64) -> Result<Replication, SpecError> {
        let policy = PolicySpec::parse(&self.tested.policy)?;
        let metrics = self.setup(seed)?.run(&policy, seed)?;
        Ok(Replication::of(seed, &metrics, &ScopeNames::default()))
    }

    /// What is simulated with one seed.
    ///
    /// # Errors
    /// When the arrivals cannot be made.
    pub fn setup(&self, seed: u64) -> Result<Setup, SpecError> {
        let table = &self.world.applications;
        let p99_ms = match table.load.p99 {
            P99::Law => self.load.p99_ms,
            P99::Draw => self.drawn_p99_ms(seed)?,
        };
        let slo = Span::from_ms_f64(self.slo_x_p99 * p99_ms);
        let model = &self.case.model;
        let c1 = self.tested.c1_of.get(model).or(table.latency.c1_of.get(model));
        let c1 = c1.copied().unwrap_or(table.latency.c1);
        let law = match table.latency.law {
            LawName::Proportional => Latency::Proportional { c1 },
            LawName::Eq3 => {
                let c0 = Span::from_ms_f64(table.latency.c0_share_of_mean * self.load.mean_ms);
                Latency::Eq3 { c0, c1 }
            }
        };
        let workload = Workload::Open {
            arrivals: self.load.law.clone(),
            requests: table.load.requests,
            until: Time::NEVER,
        };
        let mut setup = Setup::single(law, self.apps(slo), slo, workload);
        let message = Span::from_ms_f64(self.tested.message_ms);
        setup.set_delays(Delays {
            dispatch: message.into(),
            result: message.into(),
            fetch_per_request: Span::from_ms_f64(self.tested.host_ms_per_request),
            ..Delays::default()
        });
        setup.profile.sizes = table.profile.sizes.clone();
        setup.profile.batches = table.profile.batches;
        setup.profile.bins = table.profile.bins;
        let length_s = table.load.requests as f64 / self.load.rate_per_s;
        let from = Time::ZERO + Span::from_secs_f64(table.load.warm_up * length_s);
        setup.window = Window { from, to: Time::NEVER };
        Ok(setup)
    }

    fn apps(&self, slo: Span) -> Vec<Application> {
        Application::per_mode(&self.case.law, AppId(0), ModelId(0), slo, 1)
    }

    /// The 99th percentile of the execution times that the run will draw.
    fn drawn_p99_ms(&self, seed: u64) -> Result<f64, SpecError> {
        let process = Limited::new(
            self.load.law.start(seed, 0)?,
            Time::NEVER,
            self.world.applications.load.requests,
        );
        let mut source = OpenWorkload::new(Box::new(process), self.apps(Span::MAX), seed)?;
        let mut all: Vec<Span> = std::iter::from_fn(|| source.pop()).map(|a| a.alone).collect();
        all.sort_unstable();
        let rank = (0.99 * all.len() as f64).ceil() as usize;
        Ok(all[rank.clamp(1, all.len()) - 1].as_ms_f64())
    }
}

/// The counts of a trace's functions and minutes.
fn read(arrivals: &Arrivals) -> Result<Option<Invocations>, SpecError> {
    if synthetic(&arrivals.trace).is_some() {
        return Ok(None);
    }
    let (first, n) = (arrivals.first_minute, arrivals.minutes);
    let range = MinuteRange { first_label: first, last_label: first + n - 1 };
    let all = Invocations::read(trace_input(&arrivals.trace)?, Some(range))?;
    Ok(Some(all.select(&selection("arrivals.functions", &arrivals.functions)?)?))
}

/// The arrivals of the first seed.
fn describe(law: &ArrivalLaw, requests: u64) -> Result<RateSummary, SpecError> {
    let mut process = Limited::new(law.start(0, 0)?, Time::NEVER, requests);
    let mut stats = RateStats::new();
    let mut end = Time::ZERO;
    while let Some(at) = process.next() {
        stats.push(at);
        end = at;
    }
    Ok(stats.summary(end))
}

/// As many minutes as the run needs, scaled so that their mean is the wanted rate.
fn minutes_law(
    table: &Applications,
    trace: &Invocations,
    rate_per_s: f64,
) -> Result<(ArrivalLaw, String), SpecError> {
    let counts = trace.summed()?;
    // One minute more than the mean needs, so that a slow start does not end the run early.
    let needed = (table.load.requests as f64 / rate_per_s / 60.0).ceil() as usize + 1;
    let taken = &counts[..needed.min(counts.len())];
    let spacing = match table.arrivals.inside {
        Inside::Poisson => Spacing::Poisson,
        Inside::Even => Spacing::Even,
    };
    let mut minutes =
        Minutes { counts: taken.into(), shape: Shape { spacing, ..Shape::default() } };
    minutes.shape.rate_factor = rate_per_s / minutes.mean_rate_per_s();
    let first = table.arrivals.first_minute;
    let origin = format!(
        "{} {} of {} functions, minutes {first}-{}",
        table.arrivals.trace,
        table.arrivals.functions,
        trace.functions.len(),
        first + taken.len() as u32 - 1
    );
    Ok((ArrivalLaw::Minutes(minutes), origin))
}

fn trace_input(name: &str) -> Result<Input, SpecError> {
    let unknown = |_| {
        let known: Vec<&str> = shipped_names().filter(|n| n.starts_with("azure2019")).collect();
        let allowed = format!("{}, poisson, constant or gamma:SHAPE", known.join(", "));
        SpecError::value("arrivals.trace", format!("`{name}`"), allowed, "choose one of these")
    };
    shipped(name).map_err(unknown)
}

fn synthetic(name: &str) -> Option<(&str, f64)> {
    let (kind, shape) = name.split_once(':').unwrap_or((name, "1"));
    let shape = shape.parse().ok()?;
    ["poisson", "constant", "gamma"].contains(&kind).then_some((kind, shape))
}

fn synthetic_law(name: &str, rate_per_s: f64) -> ArrivalLaw {
    match synthetic(name) {
        Some(("constant", _)) => ArrivalLaw::Constant { rate_per_s },
        Some(("gamma", shape)) => ArrivalLaw::Gamma { rate_per_s, shape },
        _ => ArrivalLaw::Poisson { rate_per_s },
    }
}
