//! What can be asked of `orrery reproduce`.

use crate::commands::names::IDS;
use crate::commands::set::Set;
use clap::Args;
use orrery_report::Output;
use orrery_report::figure::Size;
use orrery_report::page::WITHOUT_EFFECT;
use orrery_sweep::seeds::Until;
use orrery_sweep::shard::Shard;
use std::path::PathBuf;

/// `orrery reproduce`.
///
/// Which options apply to which kind of experiment is said in one place: `papers/options.rs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3
  orrery reproduce orloj-table-3 --case six-modal --seeds 10 --format wide
  orrery reproduce orloj-table-3 --set load.offered=1.5 --case one-modal
  orrery reproduce orloj-generality --paper more-cases.csv
  orrery reproduce orloj-table-5 --out results/ --plot results/table-5.png
  orrery reproduce symphony-fig-7 --out shared/ --shard 1/4  # 2/4, 3/4, 4/4 on other machines, then:
  orrery sweep merge shared/
  orrery reproduce --all --under 1m --out all/ --html all/atlas.html
  orrery reproduce --all --of salus --out salus/")]
pub struct Reproduce {
    /// The experiment's id (see `orrery list`), or an experiment file.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    #[arg(value_parser = IDS, hide_possible_values = true)]
    pub id: Option<String>,
    /// Everything that is shipped, one after another, and what came out in one table and with `--html` on one page.
    /// With `--out` each id's files and times are kept, and the same command continues where it was stopped.
    #[arg(long, conflicts_with_all = ["cases", "paper", "seeds", "until_ci", "max_seeds", "shard", "plot", "details", "set"])]
    pub all: bool,
    /// With `--all`: only this paper (see `orrery list`).
    #[arg(long, value_name = "PAPER", requires = "all")]
    pub of: Option<String>,
    /// With `--all`: only what takes at most so long, by `orrery list`: `90s`, `2m`, `1h`.
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "all")]
    pub under: Option<u64>,
    /// Run only this case (see `orrery list ID`); may be repeated. For applications, it may be a case
    /// that is not in the paper.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Numbers to compare with, in place of the paper's: a CSV file with the columns of the experiment's
    /// `paper_csv` (docs/experiments.md). Its cases are run, unless `--case` names some.
    #[arg(long, value_name = "FILE")]
    pub paper: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// Number of replications (configurations of a partition), instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub until: Until,
    /// Print all of the result, not only what is read first; and make rows for each model, application and device.
    #[arg(long, help_heading = WITHOUT_EFFECT)]
    pub details: bool,
    /// Run only the K-th of N disjoint parts into `--out`; `orrery sweep merge` joins them.
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["plot", "html", "set"])]
    pub shard: Option<Shard>,
    /// Draw the experiment's figure: `.svg`, `.png` or `.pdf`.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub plot: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub size: Size,
}

/// `90s`, `2m`, `1h` in seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let (number, unit) =
        text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let unit = ["s", "m", "h"].into_iter().zip([1, 60, 3600]).find(|u| u.0 == unit);
    let time = unit.and_then(|(_, s)| number.parse::<u64>().ok()?.checked_mul(s));
    time.ok_or_else(|| {
        "a whole number of seconds, minutes or hours, such as `90s`, `2m` or `1h`".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(["90s", "2m", "1h"].map(|t| seconds(t).ok()), [Some(90), Some(120), Some(3600)]);
        for wrong in ["", "2", "m", "1.5m", "2 m", "2µ", "-1s", "99999999999999999999h"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
