//! `orrery arena`: which scheduler leads where, and where is yours?

use clap::Args;
use orrery_arena::fight::{Asked, How, Outcome, fight};
use orrery_arena::{League, Suite, document, rows};
use orrery_cells::shard::Shard;
use orrery_output::figure::{Size, check_name, save, unsuitable};
use orrery_output::page::WITHOUT_EFFECT;
use orrery_output::whole_file::check_place;
use orrery_output::{Answer, Forms, Output, say};
use orrery_results::{to_json, wide};
use orrery_scenario::{PolicySpec, SpecError, policies};
use std::path::{Path, PathBuf};

/// `orrery arena`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery arena --quick
  orrery arena --out results/ --html arena.html --plot map.pdf     # resumes if stopped
  orrery arena --quick --policy 'clockwork[preset=paper]'
  orrery arena --out shared/ --share                               # on each of four machines

The policies shipped compete as released, by their bare names; `--policy` adds others. docs/arena.md says what the
result can tell and what not.")]
pub struct Arena {
    /// The suite: a shipped one, or a folder with a `suite.toml`.
    #[arg(long, value_name = "SUITE", default_value = "2026.1")]
    pub suite: String,
    /// Let this policy compete, too; may be repeated.
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<String>,
    /// Only the policies of `--policy`, without the shipped ones.
    #[arg(long, requires = "policies")]
    pub alone: bool,
    /// Run a sixth of the suite.
    #[arg(long)]
    pub quick: bool,
    /// Number of replications of each cell.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub seeds: u32,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
    /// Run only the K-th of N disjoint parts into `--out`; the same command without it makes the result.
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["plot", "html"])]
    pub shard: Option<Shard>,
    /// Share the cells with other workers on `--out`; the same command without it makes the result.
    #[arg(long, requires = "out", conflicts_with_all = ["shard", "plot", "html"])]
    pub share: bool,
    /// Draw the maps: `.svg`, `.png` or `.pdf`.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub plot: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub size: Size,
}

/// `orrery arena`.
///
/// # Errors
/// When there is no such suite or policy, or a file cannot be written.
pub fn command(args: &Arena) -> Result<Answer, SpecError> {
    let (asked, own) = asked(args)?;
    args.output.check()?;
    if let Some(path) = &args.plot {
        check_name(path)?;
        check_place("--plot", path)?;
    }
    if let (Some((option, value)), None) = (args.size.given(), &args.plot) {
        let allowed = "only beside --plot: it is about that picture";
        let remedy = "add `--plot FILE.svg`, or leave it out";
        return Err(SpecError::value(option, value, allowed, remedy));
    }
    let how = How {
        jobs: args.jobs.unwrap_or(0).into(),
        out: args.output.out.clone(),
        shard: args.shard,
        share: args.share,
    };
    let cells = match fight(&asked, &how)? {
        Outcome::Whole(cells) => cells,
        Outcome::Part(cells) => {
            let folder = args.output.out.as_deref().unwrap_or(Path::new("")).display();
            let left = if args.share { "`--share`" } else { "`--shard`" };
            return Ok(Answer::of(format!(
                "{cells} cells are done in {folder}; the same command without {left} makes the result\n"
            )));
        }
        Outcome::Interrupted => {
            if let Some(folder) = &args.output.out {
                let folder = folder.display();
                say(&format!("finished cells are kept in {folder}: the same command continues"));
            }
            return Ok(Answer { interrupted: true, ..Answer::default() });
        }
    };
    let league = League::of(asked, own, cells);
    let (document, rows) = (document::document(&league), rows::of(&league));
    let forms = Forms {
        table: document.to_text(),
        wide: wide(&rows),
        json: to_json(&rows, &[("arena", rows::json(&league))]),
        page: args.output.html.is_some().then_some(document),
        rows,
    };
    let mut answer = forms.answer(&rows::name(&league), &args.output)?;
    // The result leaves first.
    if let Some(path) = &args.plot {
        answer.error = plot(&league, args.size, path).err();
    }
    Ok(answer)
}

/// What is asked, and which policies are beside the shipped ones.
fn asked(args: &Arena) -> Result<(Asked, Vec<usize>), SpecError> {
    let suite = Suite::find(&args.suite)?;
    let suite = if args.quick { suite.quick() } else { suite };
    let shipped: Vec<String> = match args.alone {
        true => Vec::new(),
        false => policies::all().map(|table| table.about.name.to_string()).collect(),
    };
    let given = args.policies.iter().filter(|p| !shipped.contains(p));
    let names = shipped.iter().chain(given);
    let mut policies: Vec<PolicySpec> = Vec::new();
    for name in names {
        let policy = PolicySpec::parse(name).map_err(|e| e.at("--policy"))?;
        if !policies.contains(&policy) {
            policies.push(policy);
        }
    }
    let own = policies.iter().enumerate().filter(|(_, p)| args.policies.iter().any(|a| a == p.text()));
    let own = own.map(|(i, _)| i).collect();
    Ok((Asked { suite, policies, seeds: args.seeds }, own))
}

fn plot(league: &League, size: Size, path: &Path) -> Result<(), SpecError> {
    let name = rows::name(league);
    let figure = document::figure(league).map_err(|e| unsuitable(&name, &e))?;
    save(&size.of(&figure), path)
}
