//! What `orrery run` is told.

use crate::commands::names::POLICIES;
use crate::commands::set::Set;
use clap::Args;
use orrery_report::Output;
use orrery_report::page::WITHOUT_EFFECT;
use orrery_sweep::seeds::Until;
use std::path::PathBuf;

/// `orrery run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery run scenarios/one-gpu-bert.toml
  orrery run scenarios/one-gpu-bert.toml --seeds 10 --format wide
  orrery run scenarios/one-gpu-bert.toml --policy 'clockwork[estimator=static-mean]' --until-ci 0.005
  orrery run scenarios/one-gpu-bert.toml --set model.bert.slo_ms=80
  orrery run scenarios/md1.toml --bound
  orrery run scenarios/md1.toml --policy fifo --log md1.log --why
  orrery run scenarios/jobs-on-a-gpu.toml
  orrery run scenarios/tokens.toml")]
pub struct Run {
    /// The scenario file, or a file of jobs or tokens.
    pub scenario: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    /// The seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run this policy instead of the file's; may be repeated.
    #[arg(long = "policy", value_name = "POLICY", value_parser = POLICIES, hide_possible_values = true)]
    pub policies: Vec<String>,
    /// Number of replications, with consecutive seeds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub until: Until,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
    /// Also print a finish rate that no scheduler can exceed on these requests, whatever it knows (docs/bound.md).
    #[arg(long)]
    pub bound: bool,
    /// Write the schedule log of the first seed to this file; needs exactly one policy.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub log: Option<PathBuf>,
    /// Also log the policy's reasons, for `orrery log explain`.
    #[arg(long, requires = "log", help_heading = WITHOUT_EFFECT)]
    pub why: bool,
    /// Print also every model and application, how requests ended and how busy devices were; with `--out`, write
    /// distributions and time series of the first seed, for `orrery plot`.
    #[arg(long, help_heading = WITHOUT_EFFECT)]
    pub details: bool,
}
