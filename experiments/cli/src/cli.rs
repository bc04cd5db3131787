//! The command line: what can be asked, and the dispatch. Nothing imports it.
//!
//! stdout is the result and nothing else; stderr is progress and diagnostics. Exit codes: 0 fine, 1
//! a check failed, 2 usage or input.

use crate::commands;
use crate::groups::grouped;
use clap::error::{ContextKind, ContextValue};
use clap::{
    ArgAction, ArgMatches, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand,
};
use orrery_report::manual::{Shell, completions};
use orrery_report::page::{WITHOUT_EFFECT, version_of};
use orrery_report::{self as output, Answer};
use orrery_run::SpecError;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// A deterministic simulator of the published DNN-inference schedulers.
#[derive(Debug, Parser)]
#[command(name = "orrery", version, arg_required_else_help = true)]
#[command(after_help = "Examples:
  orrery run scenarios/one-gpu-bert.toml --policy orloj --log bert.log --why
  orrery log explain bert.log --worst 5
  orrery sweep scenarios/sweeps/bert-slo.toml
  orrery plan --model resnet50 --rate 4000 --slo 100ms
  orrery reproduce orloj-table-3 --plot table-3.svg
  orrery regress tests/baselines/*.toml

`orrery COMMAND --help` has the options of a command, and examples. `orrery self` has schemas, completions, man pages.
Exit codes: 0 success, 1 a check failed, 2 wrong usage or input, 130 stopped by Ctrl-C.
stdout is the result; stderr is progress and diagnostics.")]
#[command(disable_help_flag = true)]
pub struct Cli {
    /// Print help; `--help` prints more.
    #[arg(long, short, global = true, action = ArgAction::Help)]
    help: Option<bool>,
    /// Print only errors on stderr.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = WITHOUT_EFFECT)]
    quiet: bool,
    /// Print more on stderr.
    #[arg(long, short, global = true, help_heading = WITHOUT_EFFECT)]
    verbose: bool,
    /// Overwrite files that orrery did not write.
    #[arg(long, global = true, help_heading = WITHOUT_EFFECT)]
    force: bool,
    /// Print tables and lines as wide as they are; by default they are folded to the terminal, and to 80 columns
    /// in a file or a pipe.
    #[arg(long, global = true, help_heading = WITHOUT_EFFECT)]
    wide: bool,
    /// Colours and bold type: on a terminal (unless NO_COLOR is set), always, or never; no file has them.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = WITHOUT_EFFECT)]
    color: ColorChoice,
    #[command(subcommand)]
    command: Command,
}

/// A command with commands below it: without one of these, its own arguments are required.
#[derive(Debug)]
enum Above<A, S> {
    Own(A),
    Below(S),
}

impl<A: Args, S: Subcommand> Args for Above<A, S> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = S::augment_subcommands(A::augment_args(command));
        command
            .subcommand_required(false)
            .arg_required_else_help(false)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<A: Args, S: Subcommand> FromArgMatches for Above<A, S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        match matches.subcommand_name() {
            Some(_) => S::from_arg_matches(matches).map(Above::Below),
            None => A::from_arg_matches(matches).map(Above::Own),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<A: Args, S: Subcommand> Above<A, S> {
    fn answer(
        self,
        own: fn(&A) -> Result<Answer, SpecError>,
        below: impl Fn(S) -> Result<Answer, SpecError>,
    ) -> Result<Answer, SpecError> {
        match self {
            Above::Below(asked) => below(asked),
            Above::Own(args) => own(&args),
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a paper's table or figure, or your own experiment, and compare with published numbers.
    Reproduce(commands::reproduce::Reproduce),
    /// List experiments, model zoos and policies, or describe one of them.
    List(commands::list::List),
    /// Run a scenario and compare its policies.
    Run(commands::run::Run),
    /// Find the highest rate that a scenario's devices sustain, or the fewest devices for a rate.
    Goodput(commands::goodput::Goodput),
    /// Open a page on this machine where a scenario's load, SLOs, devices and policies can be changed.
    Serve(commands::serve::Serve),
    /// Run a scenario with many parameter values, in parallel; resumes if stopped.
    Sweep(Above<commands::sweep::Sweep, OfSweep>),
    /// Let all schedulers compete on a frozen suite of scenarios, and say who leads where.
    Arena(commands::arena::Arena),
    /// Inspect traces, or record a scenario's workload in a file.
    #[command(subcommand)]
    Trace(commands::trace::Trace),
    /// Turn measurements and traces of other tools into profiles, workloads and measured tables.
    Import(commands::import::Import),
    /// Replay a measured load, compare, and find the assumption that explains most of the error.
    Calibrate(commands::calibrate::Calibrate),
    /// Explain, convert or check the log of a run.
    #[command(subcommand)]
    Log(OfLog),
    /// Draw figures from result tables.
    Plot(commands::plot::Plot),
    /// Select, group and pivot the rows of many result files, or show them on one page.
    Results(Above<commands::results::Results, OfResults>),
    /// Find the cheapest pool of machines for a load, or the best one under a budget.
    Plan(commands::plan::Plan),
    /// Rerun baselines and fail if a number changed.
    Regress(commands::regress::Regress),
    /// Schemas, completions and man pages of this program.
    #[command(subcommand, name = "self")]
    Own(OfSelf),
}

#[derive(Debug, Subcommand)]
enum OfSweep {
    /// List the cells of a planned sweep, with their state and cost.
    Cells(commands::cells::Cells),
    /// Run one cell of a planned sweep.
    Cell(commands::cells::Cell),
    /// Join the shards of a sweep or an experiment.
    Merge(commands::sweep::Merge),
}

#[derive(Debug, Subcommand)]
enum OfLog {
    /// Explain what happened to a request, step by step.
    Explain(commands::explain::Explain),
    /// Convert a schedule log to a timeline for ui.perfetto.dev.
    Timeline(commands::timeline::Timeline),
    /// Check a schedule log for broken rules: conservation, causality, windows, outcomes.
    Audit(commands::audit::Audit),
}

#[derive(Debug, Subcommand)]
enum OfResults {
    /// Make one HTML page from existing results.
    Page(commands::page::PageOf),
}

#[derive(Debug, Subcommand)]
enum OfSelf {
    /// Print the JSON Schema of a kind of input file, for editors.
    Schema(commands::schema::Schema),
    /// Print completions for a shell.
    #[command(after_help = "Example:
  orrery self completions bash > ~/.local/share/bash-completion/completions/orrery")]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man pages, one for each command.
    Man(commands::man::Man),
}

/// The command line of a program that was built from this commit.
fn program(commit: &str) -> clap::Command {
    // Once in a run: clap wants a text that stays.
    ordered(Cli::command().version(&*version_of(commit).leak()))
}

/// Its help with `-h` first, then its own options as they are written, and those of every command last.
fn ordered(command: clap::Command) -> clap::Command {
    const OF_EVERY_COMMAND: usize = 1_000;
    let mut place = 0;
    let command = command.mut_args(|arg| {
        place += 1;
        let first = if arg.is_global_set() { OF_EVERY_COMMAND } else { 0 };
        let is_help = arg.get_id() == "help";
        arg.display_order(if is_help { 0 } else { first + place })
    });
    command.mut_subcommands(ordered)
}

/// The colours that words ask for, before they are read.
fn color_of(words: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let after = words.windows(2).filter(|pair| pair[0] == "--color").map(|pair| pair[1]);
    let given = words.iter().filter_map(|word| word.strip_prefix("--color="));
    after.chain(given).find_map(|word| word.parse().ok()).unwrap_or_default()
}

/// Whether text for this stream has colours.
fn is_coloured(color: ColorChoice, is_terminal: bool) -> bool {
    let is_plain = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !is_plain(),
    }
}

/// Runs the command line of a program that was built from this commit.
pub fn main(commit: &str) -> ExitCode {
    ExitCode::from(run(commit, std::env::args_os()))
}

/// Runs a command, given with the program's name before it; its exit code.
pub fn run(commit: &str, args: impl IntoIterator<Item = OsString>) -> u8 {
    // Before hours of runs, and before help is printed.
    if let Some(why) = orrery_report::why_stdout_is_closed() {
        output::tell(&format!(
            "error: stdout: {why}\n  remedy: to discard the result, write `>/dev/null`"
        ));
        return 2;
    }
    let args: Vec<OsString> = args.into_iter().collect();
    let is_of_all =
        args.get(1).is_none_or(|word| ["-h", "--help", "help"].iter().any(|h| word == h));
    // One that was asked has commands of its own for help.
    let color = color_of(&args);
    let mut asked = program(commit).color(color);
    if is_of_all && args.len() < 3 {
        asked = grouped(asked);
    }
    let matches = asked.try_get_matches_from_mut(args.clone());
    let matches = matches.unwrap_or_else(|e| with_its_option(e, &asked, &args).exit());
    let cli = Cli::from_arg_matches(&matches);
    let cli = cli.unwrap_or_else(|e| e.format(&mut asked).exit());
    if cli.force {
        output::whole_file::allow_overwriting();
    }
    output::page::asked(&asked, &matches);
    let is_red = is_coloured(cli.color, std::io::stderr().is_terminal());
    // As clap writes it.
    let word = if is_red { "\x1b[1m\x1b[31merror:\x1b[0m" } else { "error:" };
    if is_coloured(cli.color, std::io::stdout().is_terminal()) && !is_of_files(&matches) {
        output::width::set_styled();
    }
    if let Some(columns) = columns(cli.wide, &matches) {
        output::width::set_width(columns);
    }
    output::set_verbosity(if cli.quiet { 0 } else { 1 + u8::from(cli.verbose) });
    match answer(cli.command, commit) {
        Ok(answer) => match print(&answer) {
            Ok(()) if answer.interrupted => 130,
            Ok(()) if answer.error.is_some() => {
                answer.error.iter().for_each(|e| output::tell(&format!("{word} {e}")));
                2
            }
            Ok(()) => u8::from(answer.failed),
            Err(e) => {
                output::tell(&format!("{word} stdout: {e}"));
                2
            }
        },
        Err(e) => {
            output::tell(&format!("{word} {e}"));
            2
        }
    }
}

/// The error of a `--format` that is an option of its own, such as `junit`, with that option.
fn with_its_option(
    mut error: clap::Error,
    asked: &clap::Command,
    args: &[OsString],
) -> clap::Error {
    let word = |of: ContextKind| match error.get(of) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    };
    let [option, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue].map(word);
    let below = |of, word| clap::Command::find_subcommand(of, word).unwrap_or(of);
    let of = args.iter().fold(asked, below);
    let own = of.get_arguments().find(|arg| arg.get_long() == Some(&*value));
    if let Some(own) = own.filter(|_| option.starts_with("--format")) {
        let tip = format!("it is an option of its own: '{own}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// What a command answers.
fn answer(command: Command, commit: &str) -> Result<Answer, SpecError> {
    match command {
        Command::Reproduce(args) => commands::reproduce::command(&args),
        Command::List(args) => commands::list::command(&args),
        Command::Run(args) => commands::run::command(&args),
        Command::Goodput(args) => commands::goodput::command(&args),
        Command::Serve(args) => commands::serve::command(&args),
        Command::Sweep(above) => above.answer(commands::sweep::command, |below| match below {
            OfSweep::Cells(args) => commands::cells::command(&args),
            OfSweep::Cell(args) => commands::cells::one(&args),
            OfSweep::Merge(args) => commands::sweep::merge(&args),
        }),
        Command::Arena(args) => commands::arena::command(&args),
        Command::Trace(args) => commands::trace::command(&args),
        Command::Import(args) => commands::import::command(&args),
        Command::Calibrate(args) => commands::calibrate::command(&args),
        Command::Log(OfLog::Audit(args)) => commands::audit::command(&args),
        Command::Log(OfLog::Timeline(args)) => commands::timeline::command(&args),
        Command::Log(OfLog::Explain(args)) => commands::explain::command(&args),
        Command::Plot(args) => commands::plot::command(&args),
        Command::Results(above) => above.answer(commands::results::command, |below| match below {
            OfResults::Page(args) => commands::page::command(&args),
        }),
        Command::Plan(args) => commands::plan::command(&args),
        Command::Regress(args) => commands::regress::command(&args),
        Command::Own(OfSelf::Schema(args)) => Ok(commands::schema::command(&args)),
        Command::Own(OfSelf::Completions { shell }) => {
            Ok(Answer::of(completions(shell, program(commit))))
        }
        Command::Own(OfSelf::Man(args)) => commands::man::command(&args, program(commit)),
    }
}

/// The columns of text, unless they are those of a file: one has the same bytes wherever it was made.
fn columns(wide: bool, matches: &ArgMatches) -> Option<usize> {
    if wide {
        return Some(usize::MAX);
    }
    if is_of_files(matches) {
        return None;
    }
    let (columns, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(columns.0.into())
}

/// Whether the text is also written into a file, or onto a page.
fn is_of_files(matches: &ArgMatches) -> bool {
    let Some((name, mut asked)) = matches.subcommand() else { return true };
    while let Some((_, below)) = asked.subcommand() {
        asked = below;
    }
    name == "serve" || asked.ids().any(|id| id == "out" || id == "html")
}

/// Prints; a reader that went away is no error.
fn print(answer: &Answer) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let mut print = || {
        stdout.write_all(answer.stdout.as_bytes())?;
        if let Some(path) = &answer.file {
            std::io::copy(&mut std::fs::File::open(path)?, &mut stdout)?;
        }
        stdout.flush()
    };
    match print() {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_report::page::again;

    /// The command on a page, of words that are accepted.
    fn printed(words: &[String]) -> Option<String> {
        let mut program = program("a commit");
        let matches = program.try_get_matches_from_mut(words).ok()?;
        Some(again(&program, &matches))
    }

    /// Each option of each command that makes a page, beside what it needs: the page's command is accepted, it is
    /// the command of its own page too, and it has the option unless that changes no number.
    #[test]
    fn the_command_on_a_page_is_accepted_whatever_option_was_given() {
        let mut all = program("a commit");
        all.build();
        let has_page = |c: &&clap::Command| c.get_arguments().any(|a| a.get_id() == "html");
        let commands: Vec<&clap::Command> = all.get_subcommands().filter(has_page).collect();
        assert!(commands.len() > 6, "{}", commands.len());
        for command in commands {
            let name = command.get_name();
            for option in command.get_arguments() {
                let Some(long) = option.get_long().filter(|long| *long != "help") else { continue };
                let values: Vec<String> = match option.get_action().takes_values() {
                    true => {
                        let known = option.get_possible_values();
                        let known = known.iter().map(|v| v.get_name().to_string());
                        known
                            .chain(["a=1", "5", "0.5", "1/2", "1", "5s", "even"].map(String::from))
                            .collect()
                    }
                    false => vec![String::new()],
                };
                // What it may need, and what it may not stand beside.
                let beside = [
                    &["--html", "p.html"][..],
                    &[],
                    &["--out", "o"],
                    &["--log", "l", "--out", "o"],
                ];
                let tried =
                    beside.iter().flat_map(|beside| values.iter().map(move |v| (beside, v)));
                let mut accepted = tried.filter_map(|(beside, value)| {
                    let own = match (beside.contains(&&*format!("--{long}")), value.as_str()) {
                        (true, _) => vec![],
                        (_, "") => vec![format!("--{long}")],
                        (_, value) => vec![format!("--{long}"), value.to_string()],
                    };
                    // A plan in one line has no file, and needs a model, a rate and an SLO.
                    let in_line = option.get_help_heading() == Some("In place of a plan file");
                    let files = match (name, in_line, long) {
                        ("arena", _, "alone") => &["--policy", "p"][..],
                        ("arena", ..) => &[],
                        ("reproduce", _, "all") => &[],
                        ("reproduce", _, "of" | "under") => &["--all"],
                        ("calibrate", ..) => &["f.toml", "m.csv"],
                        ("import", _, "plan") => &["f.toml", "--scenario", "s"],
                        ("plan", true, "model") => &["--rate", "5", "--slo", "5ms"],
                        ("plan", true, "rate") => &["--model", "m", "--slo", "5ms"],
                        ("plan", true, "slo") => &["--model", "m", "--rate", "5"],
                        ("plan", true, "profile") => {
                            &["--rate", "5", "--slo", "5ms", "--kinds", "k"]
                        }
                        ("plan", true, _) => &["--model", "m", "--rate", "5", "--slo", "5ms"],
                        _ => &["f.toml"],
                    };
                    let words = ["orrery", name].into_iter().chain(files.iter().copied());
                    let words = words.chain(beside.iter().copied());
                    let words: Vec<String> = words.map(String::from).chain(own).collect();
                    Some((printed(&words)?, words))
                });
                let (once, words) = accepted.next().unwrap_or_else(|| panic!("{name} --{long}"));
                let is_there = once.contains(&format!(" --{long}"));
                let changes = option.get_help_heading() != Some(WITHOUT_EFFECT);
                assert_eq!(is_there, changes, "{words:?}: {once}");
                let again: Vec<String> = once.split(' ').map(String::from).collect();
                // One that needs `--out` makes no page: its command cannot do without.
                let Some(twice) = printed(&again) else {
                    assert!(words.contains(&"--out".to_string()), "{words:?}: {once}");
                    continue;
                };
                assert_eq!(twice, once);
            }
        }
    }
}
