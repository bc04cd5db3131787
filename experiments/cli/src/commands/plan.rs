//! `orrery plan`: which machines, how many, at what cost.

mod line;

use super::set::Set;
use clap::Args;
use line::LineArgs;
use orrery_plan::{PlanFile, SimulationCache, answers, draw, label_of, over};
use orrery_report::figure::{Size, check_name};
use orrery_report::page::WITHOUT_EFFECT;
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_report::{Answer, Forms, Output, say, tell};
use orrery_run::SpecError;
use std::path::PathBuf;

/// `orrery plan`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery plan scenarios/plans/kairos-five.toml
  orrery plan scenarios/plans/gpus-for-symphony.toml --what-if load=1.5 --what-if \"slo=50ms\"
  orrery plan --model resnet50 --rate 4000 --slo 100ms --kinds t4,a100 --price t4=0.526 --survive 1
  orrery plan --profile latencies.csv --rate 400 --slo 50ms --kinds t4 --price t4=0.526
  orrery plan my.toml --over slo=50ms,80ms,120ms --over load=1,2
  orrery plan my.toml --what-if \"price:g4dn.xlarge=0.4,budget=2\" --markdown summary.md --plot frontier.png

What-ifs: load=F, noise=SHARE, delay=TIME, latency=F, slo=TIME, slo=PERCENT%, slo:MODEL=TIME, price:TYPE=USD, limit:TYPE=N, buy=TERM, buy:TYPE=TERM,
budget=USD, bad_rate=SHARE, survive=N, survive=TYPE; separate several with commas to change them together.

Exit codes: 0 answered, 1 no pool meets the goal, 2 wrong usage or input.")]
pub struct Plan {
    /// The plan file (docs/plan.md); or ask in one line with `--model` or `--profile`.
    #[arg(required_unless_present = "asked", conflicts_with = "asked")]
    pub file: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub line: LineArgs,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// Also answer the question with something changed, side by side; may be repeated.
    #[arg(long = "what-if", value_name = "KEY=VALUE")]
    pub what_if: Vec<String>,
    /// One such question for each value, such as `slo=50ms,80ms,120ms`; given twice, for each pair.
    #[arg(long, value_name = "KEY=VALUES")]
    pub over: Vec<String>,
    /// Leave out the robustness check: noise, delays, tighter SLOs, more load, slower models.
    #[arg(long)]
    pub exact: bool,
    /// Of fleets and pools of several types, also look for the next answer under each change that the answer does
    /// not hold (a whole search for each; of clusters it always is).
    #[arg(long, conflicts_with = "exact")]
    pub next: bool,
    /// Draw cost against throughput, or with `--over` over the numbers asked: `.svg`, `.pdf` or `.png`.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub plot: Option<PathBuf>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub size: Size,
    /// Write a one-page summary as Markdown.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub markdown: Option<PathBuf>,
    /// The first seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of seeds for each verification, instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub seeds: Option<u32>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
}

/// `orrery plan`.
///
/// # Errors
/// When the plan or a what-if is wrong, or a file cannot be written.
pub fn command(args: &Plan) -> Result<Answer, SpecError> {
    let (mut plan, mut source) = match &args.file {
        Some(file) => PlanFile::load(file)?,
        None => args.line.plan()?,
    };
    if !args.set.is_empty() {
        (plan, source) = PlanFile::with(&source, args.set.changes()?)?;
    }
    args.output.check(plan.name())?;
    args.plot.as_deref().map_or(Ok(()), check_name)?;
    args.size.check(args.plot.as_deref())?;
    for (option, path) in [("--plot", &args.plot), ("--markdown", &args.markdown)] {
        path.as_deref().map_or(Ok(()), |path| check_place(option, path))?;
    }
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.seeds = args.seeds.unwrap_or(plan.seeds);
    if args.exact {
        plan.robust = Some(Vec::new());
    }
    if args.next && orrery_plan::is_quick(&plan) {
        tell("`--next` changes nothing: of clusters the next answer is always looked for");
    }
    plan.next = args.next;
    plan.cache = SimulationCache::at(args.output.out.as_deref())?;
    let pool = orrery_report::threads::pool(args.jobs.unwrap_or(0).into())?;
    let asked = over(&args.over)?;
    let is_over = label_of(asked.iter().map(String::as_str)).is_some();
    let frontier = args.plot.is_some() && !is_over || args.output.html.is_some();
    let what_ifs = [&args.what_if[..], &asked].concat();
    let mut all = pool.install(|| answers(&plan, &source, &what_ifs, frontier))?;
    let (found, made) = plan.cache.found_and_made();
    if found > 0 {
        say(&format!("{found} simulations are those of the folder of `--out`, {made} were made"));
    }
    args.set.tell(&mut all.rows);
    let problem = &all.plan.problem;
    let name = problem.plan.name().to_string();
    let mut document = all.document();
    document.ask("set", args.set.axes());
    if let Some(path) = &args.plot {
        draw(&all, is_over, args.size, path)?;
    }
    if let Some(path) = &args.markdown {
        write_atomically(path, document.to_markdown().as_bytes())?;
    }
    if let Some(folder) = &args.output.out {
        write_atomically(&folder.join(format!("{name}.md")), document.to_markdown().as_bytes())?;
        for (group, answer) in problem.groups.iter().zip(&all.plan.answers) {
            let Some(best) = answer.best() else { continue };
            let text = group.scenario_text(
                problem,
                &best.counts,
                &best.policy,
                best.at_load.seen.requests,
            )?;
            let file = format!("{name}.{}.scenario.toml", group.name.replace('#', "-"));
            write_atomically(&folder.join(file), text.as_bytes())?;
        }
    }
    let forms = Forms {
        table: document.to_text(),
        more: vec![("plan", name.clone().into())],
        page: args.output.html.is_some().then_some(document),
        rows: all.rows.clone(),
    };
    let answer = forms.answer(&name, &args.output)?;
    Ok(Answer { failed: !all.plan.is_answered(), ..answer })
}
