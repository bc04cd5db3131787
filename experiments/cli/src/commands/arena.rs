//! `orrery arena`: which scheduler leads where, and where is yours?

use crate::commands::names::POLICIES;
use clap::{Args, ValueEnum};
use orrery_arena::fight::{Asked, Fought, How, Outcome, fight};
use orrery_arena::suite::Half;
use orrery_arena::tuned::{Tuned, Tuning, judge, tune};
use orrery_arena::{League, Suite, claims, document, possible, rates, rows};
use orrery_report::figure::{Size, check_name, save, unsuitable};
use orrery_report::page::WITHOUT_EFFECT;
use orrery_report::whole_file::check_place;
use orrery_report::{Answer, Forms, Output, say};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use orrery_sweep::notes::say_slow;
use orrery_sweep::shard::Shard;
use std::path::{Path, PathBuf};

/// Which settings compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Settings {
    /// As released: bare names.
    Released,
    /// Found by a random search on half of the suite, and judged on the other.
    Tuned,
}

/// `orrery arena`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery arena --quick
  orrery arena --out results/ --html arena.html --plot map.pdf     # resumes if stopped
  orrery arena --quick --policy 'clockwork[preset=paper]'
  orrery arena --out shared/ --shard 1/4                           # 2/4, 3/4, 4/4 on other machines

The policies shipped compete as released, by their bare names; `--policy` adds others. docs/arena.md says what the
result can tell and what not.")]
pub struct Arena {
    /// The suite: a shipped one, or a folder with a `suite.toml`.
    #[arg(long, value_name = "SUITE", default_value = "2026.1")]
    pub suite: String,
    /// Let this policy compete, too; may be repeated.
    #[arg(long = "policy", value_name = "POLICY", value_parser = POLICIES, hide_possible_values = true)]
    pub policies: Vec<String>,
    /// Only the policies of `--policy`, without the shipped ones.
    #[arg(long, requires = "policies")]
    pub alone: bool,
    /// Run a sixth of the suite.
    #[arg(long)]
    pub quick: bool,
    /// No device can stop a running batch, as few systems do.
    #[arg(long)]
    pub without_stops: bool,
    /// Which settings compete.
    #[arg(long, value_name = "LEAGUE", value_enum, default_value_t = Settings::Released)]
    #[arg(conflicts_with = "alone")]
    pub league: Settings,
    /// With `--league tuned`: number of settings tried of each policy [default: 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub budget: Option<u16>,
    /// With `--league tuned`: another draw of the half that is searched on [default: 0].
    #[arg(long, value_name = "N")]
    pub draw: Option<u32>,
    /// Number of replications of each cell.
    #[arg(long, value_name = "N", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub seeds: u32,
    /// Also search for the highest rate with at most 1 % SLO violations, where a scenario has one that can be changed.
    #[arg(long)]
    pub goodput: bool,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
    /// Run only the K-th of N disjoint parts into `--out`; the same command without it makes the result.
    #[arg(long, value_name = "K/N", requires = "out")]
    pub shard: Option<Shard>,
    /// Draw the maps: `.svg`, `.png` or `.pdf`.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub plot: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub size: Size,
}

/// `orrery arena`.
///
/// # Errors
/// When there is no such suite or policy, or a file cannot be written.
pub fn command(args: &Arena) -> Result<Answer, SpecError> {
    check(args)?;
    let how = How {
        jobs: args.jobs.unwrap_or(0).into(),
        out: args.output.out.clone(),
        shard: args.shard,
    };
    let (mut asked, mut own) = asked(args)?;
    let settings = if args.league == Settings::Tuned { "-tuned" } else { "" };
    args.output.check(&(League::id_of(&asked.suite) + settings))?;
    say_slow::<Scenario>(&asked.policies);
    let mut tuned = None;
    if args.league == Settings::Tuned {
        let tuning =
            Tuning { budget: args.budget.unwrap_or(16).into(), draw: args.draw.unwrap_or(0) };
        let Some(found) = tune(&asked.suite, tuning, &how)? else { return Ok(stopped(args)) };
        // Those released run beside: they are what tuning is compared with.
        let is_new = |p: &PolicySpec| !asked.policies.contains(p);
        let best: Vec<PolicySpec> =
            found.found.iter().map(|f| f.best.clone()).filter(is_new).collect();
        asked.policies.extend(best);
        asked.suite = asked.suite.half(Half::Judging, tuning.draw);
        tuned = Some(found);
    }
    let mut cells = match fight(&asked, &how)? {
        Outcome::Whole(cells) => cells,
        Outcome::Part(cells) if args.goodput => {
            let more = rates::part(&asked, &how)?;
            return Ok(more.map_or_else(|| stopped(args), |more| part(args, cells + more)));
        }
        Outcome::Part(cells) => return Ok(part(args, cells)),
        Outcome::Interrupted => return Ok(stopped(args)),
    };
    let mut names = None;
    if let Some(tuned) = &mut tuned {
        judge(tuned, &asked, &cells);
        names = Some(keep(tuned, &mut asked, &mut own, &mut cells));
    }
    let mut found = None;
    if args.goodput {
        found = rates::rates(&asked, &how)?;
        if found.is_none() {
            return Ok(stopped(args));
        }
    }
    if !possible::add(&asked, &mut cells, &how)? {
        return Ok(stopped(args));
    }
    let mut league = League::of(asked, own, cells);
    league.rates = found;
    if let Some(names) = names {
        league.names = names;
        league.id += settings;
    }
    answer(args, &league, tuned.as_ref())
}

/// Passes when every option that was given applies, and every file can be written.
fn check(args: &Arena) -> Result<(), SpecError> {
    let only = |option: &str, value: Option<String>| match value {
        Some(value) if args.league == Settings::Released => {
            let (allowed, remedy) =
                ("only with `--league tuned`", "add `--league tuned`, or leave it out");
            Err(SpecError::value(option, value, allowed, remedy))
        }
        _ => Ok(()),
    };
    only("--budget", args.budget.map(|n| n.to_string()))?;
    only("--draw", args.draw.map(|n| n.to_string()))?;
    if args.league == Settings::Tuned && args.shard.is_some() {
        let allowed = "the released league: the tuned one runs one half after the other";
        let remedy = "divide the released league, or run the tuned one on one machine";
        return Err(SpecError::value("--shard", "`--league tuned`", allowed, remedy));
    }
    let of_all = [("--html", &args.output.html), ("--plot", &args.plot)];
    if let Some((option, path)) = of_all.into_iter().find_map(|(o, p)| Some((o, p.as_ref()?)))
        && args.shard.is_some()
    {
        let (found, allowed) =
            (path.display(), "only without `--shard`, which runs cells and makes no result");
        let remedy =
            "run the parts without it; then the same command without `--shard` makes the result";
        return Err(SpecError::value(option, found, allowed, remedy));
    }
    if let Some(path) = &args.plot {
        check_name(path)?;
        check_place("--plot", path)?;
    }
    args.size.check(args.plot.as_deref())
}

fn part(args: &Arena, cells: usize) -> Answer {
    let folder = args.output.out.as_deref().unwrap_or(Path::new("")).display();
    Answer::of(format!(
        "{cells} cells are done in {folder}; the same command without `--shard` makes the result\n"
    ))
}

fn stopped(args: &Arena) -> Answer {
    if let Some(folder) = &args.output.out {
        let folder = folder.display();
        say(&format!("stopped; finished cells are kept in {folder}: the same command continues"));
    }
    Answer { interrupted: true, ..Answer::default() }
}

/// Keeps the tuned ones and one's own of all that ran; their names.
fn keep(
    tuned: &Tuned,
    asked: &mut Asked,
    own: &mut Vec<usize>,
    cells: &mut [Vec<Fought>],
) -> Vec<String> {
    let best = |p: &PolicySpec| tuned.found.iter().find(|f| f.best == *p);
    // One that ran nowhere stays, with the reasons.
    let is_found = |p: &PolicySpec| tuned.found.iter().any(|f| f.policy == p.system());
    let is_kept = |p: &PolicySpec| best(p).is_some() || !is_found(p);
    let kept: Vec<usize> = (0..asked.policies.len())
        .filter(|p| own.contains(p) || is_kept(&asked.policies[*p]))
        .collect();
    let name = |p: &usize| match best(&asked.policies[*p]) {
        Some(found) if !own.contains(p) => found.policy.clone(),
        _ => asked.policies[*p].text().to_string(),
    };
    let names = kept.iter().map(name).collect();
    asked.policies = kept.iter().map(|p| asked.policies[*p].clone()).collect();
    for row in cells {
        *row = kept.iter().map(|p| row[*p].clone()).collect();
    }
    *own = (0..kept.len()).filter(|i| own.contains(&kept[*i])).collect();
    names
}

fn answer(args: &Arena, league: &League, tuned: Option<&Tuned>) -> Result<Answer, SpecError> {
    let mut rows = rows::of(league);
    let verdicts = claims::judge(league, &rows)?;
    rows.extend(claims::rows(league, &verdicts));
    let document = document::document(league, tuned, &verdicts);
    let forms = Forms {
        table: document.to_text(),
        more: vec![("arena", rows::json(league, tuned, claims::json(&verdicts)))],
        page: args.output.html.is_some().then_some(document),
        rows,
    };
    let mut answer = forms.answer(&league.id, &args.output)?;
    // The result leaves first.
    if let Some(path) = &args.plot {
        answer.error = plot(league, args.size, path).err();
    }
    Ok(answer)
}

/// What is asked, and which policies are beside the shipped ones.
fn asked(args: &Arena) -> Result<(Asked, Vec<usize>), SpecError> {
    let suite = Suite::find(&args.suite)?;
    let suite = if args.quick { suite.quick() } else { suite };
    let suite = if args.without_stops { suite.without_stops() } else { suite };
    Asked::with(suite, &args.policies, args.alone, args.seeds).map_err(|e| e.at("--policy"))
}

fn plot(league: &League, size: Size, path: &Path) -> Result<(), SpecError> {
    let figure = document::figure(league).map_err(|e| unsuitable(&league.id, &e))?;
    save(&size.of(&figure), path)
}
