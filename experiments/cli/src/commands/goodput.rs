//! `orrery goodput`: searches for each policy of a scenario or a file of tokens, and says what was found.

use super::set::Set;
use crate::commands::names::POLICIES;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orrery_report::Forms;
use orrery_report::page::WITHOUT_EFFECT;
use orrery_report::{Answer, Output};
use orrery_run::SpecError;
use orrery_scenario::kind;
use orrery_scenario::own::WorldFile;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::tokens::TokensFile;
use orrery_sweep::answers::answers;
use orrery_sweep::goodput::{Criterion, Find, Search};
use orrery_sweep::goodput_report as report;
use orrery_sweep::notes::{notes_of, say_slow};
use orrery_sweep::page::drawn;
use orrery_sweep::scenario_cell::{Cell, Subject};
use orrery_sweep::seeds::Seeds;
use std::path::PathBuf;

/// `orrery goodput`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery goodput scenarios/resnet50-8gpu.toml
  orrery goodput scenarios/resnet50-8gpu.toml --policy symphony --requests-per-model 200000 --seeds 5
  orrery goodput scenarios/resnet50-8gpu.toml --criterion p99
  orrery goodput scenarios/cluster-1080ti.toml --find devices --rate 5000
  orrery goodput scenarios/tokens.toml --target 0.05")]
pub struct Goodput {
    /// The scenario file, or a file of tokens. The search starts at its rate, or its number of devices.
    pub scenario: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// Search with this policy instead of the file's; may be repeated.
    #[arg(long = "policy", value_name = "POLICY", value_parser = POLICIES, hide_possible_values = true)]
    pub policies: Vec<String>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    /// The quantity to search for.
    #[arg(long, value_enum, default_value_t = Find::Rate)]
    pub find: Find,
    /// The criterion that every model must meet.
    #[arg(long, default_value = Criterion::NAMES[0])]
    #[arg(value_parser = PossibleValuesParser::new(Criterion::NAMES)
        .map(|name| Criterion::named(&name).unwrap_or_default()))]
    pub criterion: Criterion,
    /// Maximum share of SLO violations of the worst model [default: 0.01].
    #[arg(long, value_name = "SHARE")]
    pub target: Option<f64>,
    /// The offered rate in requests/s, instead of the file's.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<f64>,
    /// A probe without a clear verdict after this many requests per model is decided by its estimate
    /// [default: 20000].
    #[arg(long, value_name = "N")]
    pub requests_per_model: Option<u64>,
    /// Fixed length of a probe after its warm-up. By default a probe is as long as its verdict needs: the
    /// longest delay divided by the tolerance. If this is shorter, the answer says so.
    #[arg(long, value_name = "SECONDS")]
    pub probe_s: Option<f64>,
    /// Relative width of the final bracket [default: 0.005].
    #[arg(long, value_name = "SHARE")]
    pub tolerance: Option<f64>,
    /// The first seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of searches, each with its own seed; their spread is printed.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub seeds: u32,
    /// Number of parallel searches; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
}

impl Goodput {
    fn search(&self) -> Result<Search, SpecError> {
        let default = Search::default();
        let search = Search {
            find: self.find,
            criterion: self.criterion,
            target: self.target.unwrap_or(default.target),
            requests_per_model: self.requests_per_model.unwrap_or(default.requests_per_model),
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            probe_s: self.probe_s,
            ..default
        };
        search.check()?;
        Ok(search)
    }
}

/// `orrery goodput`.
///
/// # Errors
/// When the file is wrong, has no rate that can be changed, or a run cannot be made.
pub fn command(args: &Goodput) -> Result<Answer, SpecError> {
    let search = args.search()?;
    if kind::is_of(kind::TOKENS, &args.scenario) {
        return searched(args, &search, TokensFile::load(&args.scenario)?);
    }
    searched(args, &search, Scenario::load(&args.scenario)?)
}

fn searched<S: Subject>(args: &Goodput, search: &Search, file: S) -> Result<Answer, SpecError> {
    args.policies.iter().try_for_each(|p| p.parse::<S::Policy>().map(drop))?;
    // Changes are of these policies too.
    let file = file.with_policies(&args.policies)?;
    let file = if args.set.is_empty() { file } else { file.changed(args.set.changes()?)? };
    let file = match args.rate {
        Some(rate) => file.with_rate(rate)?,
        None => file,
    };
    let policies = file.policies()?;
    let (name, seed) = file.about();
    args.output.check(name)?;
    let first = args.seed.unwrap_or(seed);
    file.check(first, &policies, Some(search))?;
    let seeds = Seeds { first, count: args.seeds, until_ci: None };
    let pool = orrery_report::threads::pool(args.jobs.unwrap_or(0).into())?;
    say_slow::<S>(&policies);
    let cells = Cell::of_policies(&file, &policies, seeds, Some(search))?;
    let answers = pool.install(|| answers(name, &cells))?;
    let mut out = answers.rows;
    args.set.tell(&mut out);
    let document = report::document(&file, search, &out, &policies, &answers.each)?;
    let forms = Forms {
        table: document.to_text(),
        more: vec![(S::KIND, name.into()), ("notes", notes_of(&out).into())],
        page: args.output.html.as_ref().map(|_| drawn(document, &out)),
        rows: out,
    };
    forms.answer(name, &args.output)
}
