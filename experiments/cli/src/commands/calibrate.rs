//! `orrery calibrate`: a measured load replayed, and the assumption that explains most of what is left.

use super::set::Set;
use clap::Args;
use orrery_calibrate::{Asked, Measurements, calibrate};
use orrery_import::{Arriving, Options};
use orrery_report::page::WITHOUT_EFFECT;
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_report::{Answer, Forms, Output};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use std::path::PathBuf;

/// `orrery calibrate`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery calibrate scenarios/triton/server.toml scenarios/triton/perf_analyzer.csv
  orrery calibrate scenarios/triton/server.toml scenarios/triton/perf_analyzer.csv --out results/ --html page.html

Every other row is fitted on, and each assumption is judged on the rows between. `orrery import --help` lists the
formats of MEASURED.")]
pub struct Calibrate {
    /// The scenario: models, devices, policy. Its load is replaced by the measured one.
    pub scenario: PathBuf,
    /// What was measured: a file of a tool, an access log with latencies, or a table of your own.
    pub measured: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// The policy, instead of the scenario's first.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Number of requests in a run at a rate or with clients.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub requests: u64,
    /// Items in a measured request, where the file does not say it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub batch: Option<u32>,
    /// The model that was measured, where the file does not name it and the scenario has several.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// How the measured requests arrived, where the file does not say it: even, poisson, gamma:SHAPE, at-once or
    /// clients:N.
    #[arg(long, value_name = "HOW", value_parser = super::import::arriving)]
    pub arrivals: Option<Arriving>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub times: super::import::Times,
    /// The seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Write the answer as Markdown.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub markdown: Option<PathBuf>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
}

/// `orrery calibrate`.
///
/// # Errors
/// When the scenario or the measurements are wrong, or a file cannot be written.
pub fn command(args: &Calibrate) -> Result<Answer, SpecError> {
    let scenario = Scenario::load(&args.scenario)?.with(args.set.changes()?)?;
    let name = format!("{}-calibrated", scenario.name);
    args.output.check(&name)?;
    args.markdown.as_deref().map_or(Ok(()), |path| check_place("--markdown", path))?;
    let (batch, arrivals, model) = (args.batch, args.arrivals, args.model.clone());
    let options = Options { batch, arrivals, model, ..Options::default() };
    let measured = Measurements::load(&args.measured, options, args.times.timestamps()?)?;
    let asked = Asked {
        policy: args.policy.as_deref().map(PolicySpec::parse).transpose()?,
        requests: args.requests,
        seed: args.seed.unwrap_or(scenario.seed),
    };
    let pool = orrery_report::threads::pool(args.jobs.unwrap_or(0).into())?;
    let found = pool.install(|| calibrate(&scenario, &measured, asked))?;
    let document = found.document();
    if let Some(path) = &args.markdown {
        write_atomically(path, document.to_markdown().as_bytes())?;
    }
    if let Some(folder) = &args.output.out {
        write_atomically(&folder.join(format!("{name}.md")), document.to_markdown().as_bytes())?;
        if let Some(text) = found.recommended_text(folder) {
            write_atomically(&folder.join(format!("{name}.scenario.toml")), text.as_bytes())?;
        }
    }
    let mut rows = found.rows()?;
    args.set.tell(&mut rows);
    let forms = Forms {
        table: document.to_text(),
        more: vec![("calibration", found.in_json())],
        page: args.output.html.is_some().then_some(document),
        rows,
    };
    forms.answer(&name, &args.output)
}
