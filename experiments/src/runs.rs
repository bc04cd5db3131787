//! Running a table: every case, SLO, system and seed, in parallel; results by place, never by the
//! order in which threads finish.

use crate::cases::Case;
use crate::cell::{Replication, ScopeNames, Seeds, spec_sha256};
use crate::scenario_cell::run_one;
use crate::table_file::{Arrivals, Inside, LawName, Normalise, P99, Preset, TableFile};
use orrery_scenario::scenario::selection;
use orrery_scenario::setup::{Setup, Workload};
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::core::Delays;
use orrery_sim::latency::Latency;
use orrery_sim::metrics::Window;
use orrery_sim::request::Source;
use orrery_sim::request::{AppId, ModelId};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, ArrivalProcess, Limited};
use orrery_traces::azure2019::{Invocations, MinuteRange};
use orrery_traces::open::Input;
use orrery_traces::rate::{Minutes, Shape, Spacing};
use orrery_traces::shipped::{SHIPPED, shipped, shipped_names};
use orrery_traces::stats::{RateStats, RateSummary};
use orrery_traces::workload::{Application, OpenWorkload};
use rayon::prelude::*;

/// One cell: a case, an SLO and a system, over all seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The row.
    pub case: String,
    /// The SLO as a multiple of P99.
    pub slo_x_p99: f64,
    /// The system's place in the file.
    pub system: usize,
    /// Its runs, by seed.
    pub runs: Vec<Replication>,
    /// The hash of its specification.
    pub spec_sha256: String,
}

impl Cell {
    /// Finish rate by seed.
    pub fn finish_rates(&self) -> Vec<f64> {
        self.runs.iter().map(Replication::finish_rate).collect()
    }
}

/// The arrivals of a case, as every table prints them.
#[derive(Clone, Debug)]
pub struct Load {
    /// The row.
    pub case: String,
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

/// A table that has been run.
#[derive(Clone, Debug)]
pub struct Results {
    /// In the order of cases, SLOs, systems.
    pub cells: Vec<Cell>,
    /// In the order of cases.
    pub loads: Vec<Load>,
    /// The seeds.
    pub seeds: Seeds,
    /// As in [`orrery_results::Row::inputs_sha256`].
    pub inputs_sha256: String,
}

/// What a run reports as it goes.
pub trait Progress: Sync {
    /// One more cell is done.
    fn step(&self);
}

impl Progress for () {
    fn step(&self) {}
}

/// The trace's counts, read once.
struct Trace {
    invocations: Option<Invocations>,
}

/// Runs a table with its own number of seeds.
///
/// # Errors
/// When the file names something that does not exist or a run cannot be made.
pub fn run(table: &TableFile, progress: &dyn Progress) -> Result<Results, SpecError> {
    run_until(table, None, progress)
}

/// Runs a table; with `until_ci`, adds seeds until each cell's interval is so narrow, or so many
/// seeds were run.
///
/// # Errors
/// As [`run`].
pub fn run_until(
    table: &TableFile,
    until_ci: Option<(f64, u32)>,
    progress: &dyn Progress,
) -> Result<Results, SpecError> {
    run_all(table, until_ci, progress).map_err(|e| table.origin.placed(e))
}

fn run_all(
    table: &TableFile,
    until_ci: Option<(f64, u32)>,
    progress: &dyn Progress,
) -> Result<Results, SpecError> {
    let cases: Vec<Case> =
        table.cases.names.iter().map(|n| Case::make(&table.cases, n)).collect::<Result<_, _>>()?;
    let policies: Vec<PolicySpec> =
        table.system.iter().map(|s| PolicySpec::parse(&s.policy)).collect::<Result<_, _>>()?;
    let trace = Trace::read(&table.arrivals)?;
    let loads: Vec<Load> = cases.iter().map(|c| trace.load(table, c)).collect::<Result<_, _>>()?;
    let seeds = Seeds { first: 0, count: table.seeds, until_ci };
    let inputs_sha256 = inputs_sha256(&table.arrivals);

    let (n_slo, n_sys) = (table.slo_x_p99.len(), policies.len());
    let one = |cell: usize| -> Result<Cell, SpecError> {
        let (case, slo, system) = (cell / (n_slo * n_sys), cell / n_sys % n_slo, cell % n_sys);
        let slo_x_p99 = table.slo_x_p99[slo];
        let run = OneRun { table, case: &cases[case], load: &loads[case] };
        let runs = seeds.run(|seed| {
            let setup = run.setup(slo_x_p99, system, seed)?;
            let (metrics, watch) = run_one(&setup, &policies[system], seed)?;
            Ok(Replication::of(seed, &metrics, &watch, &ScopeNames::default()))
        })?;
        progress.step();
        let spec = spec_of(table, &cases[case].name, slo_x_p99, system);
        let spec_sha256 = spec_sha256(&["table", &spec, &seeds.words(), &inputs_sha256]);
        Ok(Cell { case: cases[case].name.clone(), slo_x_p99, system, runs, spec_sha256 })
    };
    let cells = (0..cases.len() * n_slo * n_sys)
        .into_par_iter()
        .with_max_len(1)
        .map(one)
        .collect::<Result<_, _>>()?;
    Ok(Results { cells, loads, seeds, inputs_sha256 })
}

/// Everything that one cell depends on, but for seeds and the contents of files.
fn spec_of(table: &TableFile, case: &str, slo_x_p99: f64, system: usize) -> String {
    let mut one = table.clone();
    (one.id, one.title, one.source) = (String::new(), String::new(), String::new());
    (one.paper_table, one.expected_s, one.seeds) = (0, 0, 0);
    one.cases.names = vec![case.to_string()];
    one.slo_x_p99 = vec![slo_x_p99];
    one.system = vec![table.system[system].clone()];
    (one.system[0].name, one.system[0].preset) = (String::new(), Preset::Reference);
    one.vary.clear();
    toml::to_string(&one).unwrap_or_default()
}

/// The trace, by name and checksum.
fn inputs_sha256(arrivals: &Arrivals) -> String {
    let file = SHIPPED.iter().find(|s| s.name == arrivals.trace);
    file.map_or(String::new(), |s| format!("{}={}", s.name, s.sha256))
}

struct OneRun<'a> {
    table: &'a TableFile,
    case: &'a Case,
    load: &'a Load,
}

impl OneRun<'_> {
    fn setup(&self, slo_x_p99: f64, system: usize, seed: u64) -> Result<Setup, SpecError> {
        let table = self.table;
        let p99_ms = match table.load.p99 {
            P99::Law => self.load.p99_ms,
            P99::Draw => self.drawn_p99_ms(seed)?,
        };
        let slo = Span::from_ms_f64(slo_x_p99 * p99_ms);
        let system = &table.system[system];
        let c1 = system.c1_of.get(&self.case.model).copied().unwrap_or(table.latency.c1);
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
        setup.set_delays(Delays {
            fetch_per_request: Span::from_ms_f64(system.host_ms_per_request),
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
        let process =
            Limited::new(self.load.law.start(seed, 0)?, Time::NEVER, self.table.load.requests);
        let mut source = OpenWorkload::new(Box::new(process), self.apps(Span::MAX), seed)?;
        let mut all: Vec<Span> = std::iter::from_fn(|| source.pop()).map(|a| a.alone).collect();
        all.sort_unstable();
        let rank = (0.99 * all.len() as f64).ceil() as usize;
        Ok(all[rank.clamp(1, all.len()) - 1].as_ms_f64())
    }
}

impl Trace {
    fn read(arrivals: &Arrivals) -> Result<Trace, SpecError> {
        if synthetic(&arrivals.trace).is_some() {
            return Ok(Trace { invocations: None });
        }
        let (first, n) = (arrivals.first_minute, arrivals.minutes);
        let range = MinuteRange { first_label: first, last_label: first + n - 1 };
        let all = Invocations::read(trace_input(&arrivals.trace)?, Some(range))?;
        let selected = all.select(&selection("arrivals.functions", &arrivals.functions)?)?;
        Ok(Trace { invocations: Some(selected) })
    }

    fn load(&self, table: &TableFile, case: &Case) -> Result<Load, SpecError> {
        let (mean_ms, p99_ms) = (case.mean_ms(), case.p99_ms());
        let by = match table.load.of {
            Normalise::Mean => mean_ms,
            Normalise::P99 => p99_ms,
        };
        let rate_per_s = table.load.offered / by * 1e3;
        let (law, origin) = match &self.invocations {
            None => {
                (synthetic_law(&table.arrivals.trace, rate_per_s)?, table.arrivals.trace.clone())
            }
            Some(trace) => minutes_law(table, trace, rate_per_s)?,
        };
        let stats = describe(&law, table.load.requests)?;
        Ok(Load { case: case.name.clone(), rate_per_s, law, origin, mean_ms, p99_ms, stats })
    }
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
    table: &TableFile,
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

fn synthetic_law(name: &str, rate_per_s: f64) -> Result<ArrivalLaw, SpecError> {
    Ok(match synthetic(name) {
        Some(("constant", _)) => ArrivalLaw::Constant { rate_per_s },
        Some(("gamma", shape)) => ArrivalLaw::Gamma { rate_per_s, shape },
        _ => ArrivalLaw::Poisson { rate_per_s },
    })
}
