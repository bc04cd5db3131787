//! One experiment by its id or file.

use super::all;
use super::args::Reproduce;
use orrery_report::Answer;
use orrery_report::whole_file::check_place;
use orrery_reproduce::experiment::Experiment;
use orrery_reproduce::figure;
use orrery_reproduce::options::CliOption;
use orrery_reproduce::registry;
use orrery_reproduce::reproduce::{self, Asked, How, Outcome};
use orrery_run::SpecError;

/// `orrery reproduce`.
///
/// # Errors
/// When the id or one of its parts does not exist, an option does not apply, or `--out` cannot be
/// written.
pub fn command(args: &Reproduce) -> Result<Answer, SpecError> {
    let Some(id) = &args.id else { return all::command(args) };
    let mut e = registry::find(id)?;
    check(&e, args)?;
    e.change(args.set.changes()?, &args.set.axes())?;
    let until_ci = args.until.pair(args.seeds.unwrap_or(e.seeds))?;
    args.output.check(&e.id)?;
    args.plot.as_deref().map_or(Ok(()), |path| check_place("--plot", path))?;
    // Shards may be joined from another folder.
    let paper = args.paper.as_ref().map(|file| std::path::absolute(file).unwrap_or(file.clone()));
    let (cases, seeds) = (args.cases.clone(), args.seeds);
    let asked = Asked { cases, paper, seeds, until_ci, details: args.details, ..Asked::default() };
    let how = How {
        jobs: args.jobs.unwrap_or(0).into(),
        out: args.output.out.clone(),
        shard: args.shard,
        plot: args.plot.clone(),
        html: args.output.html.is_some(),
        ..How::default()
    };
    match reproduce::run(&e, &asked, &how)? {
        Outcome::Whole(forms) => {
            let rows = args.plot.as_ref().map(|_| forms.rows.clone());
            let mut answer = forms.answer(&e.id, &args.output)?;
            // The result leaves first: hours of runs are not lost to a picture.
            if let (Some(path), Some(rows)) = (&args.plot, rows) {
                answer.error =
                    figure::draw(&reproduce::with(&e, &asked)?, &rows, args.size, path).err();
            }
            Ok(answer)
        }
        Outcome::Interrupted => Ok(Answer { interrupted: true, ..Answer::default() }),
        Outcome::Shard(parts) => {
            let folder = args.output.out.clone().unwrap_or_default();
            let shard = args.shard.map_or(String::new(), |s| s.to_string());
            Ok(Answer::of(format!(
                "shard {shard}: {parts} parts of {}; `orrery sweep merge {}` joins the shards\n",
                e.id,
                folder.display()
            )))
        }
    }
}

/// Passes when every option that was given applies. `--jobs`, `--format`, `--out` and `--shard` have a meaning for
/// every kind.
fn check(e: &Experiment, args: &Reproduce) -> Result<(), SpecError> {
    let text = |x: &dyn ToString| x.to_string();
    let given = [
        (
            CliOption::Case,
            (!args.cases.is_empty()).then(|| format!("`{}`", args.cases.join("`, `"))),
        ),
        (CliOption::Paper, args.paper.as_ref().map(|p| text(&p.display()))),
        (CliOption::Seeds, args.seeds.as_ref().map(|n| text(n))),
        (CliOption::UntilCi, args.until.until_ci.as_ref().map(|w| text(w))),
        (CliOption::MaxSeeds, args.until.max_seeds.as_ref().map(|n| text(n))),
        (CliOption::Set, (!args.set.is_empty()).then(|| format!("`{}`", args.set.axes()))),
        (CliOption::Details, args.details.then(|| "given".to_string())),
        (CliOption::Plot, args.plot.as_ref().map(|p| text(&p.display()))),
    ];
    for (option, value) in given {
        let Some(value) = value else { continue };
        reproduce::check_option(e, option, &value)?;
    }
    args.size.check(args.plot.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command};

    /// A new option has to be put into the table of those that apply.
    #[test]
    fn the_table_has_every_option_of_the_command_line() {
        let command = Reproduce::augment_args(Command::new("reproduce"));
        // These choose experiments: they are not asked of one.
        let is_of_one = |l: &&str| !["all", "of", "under"].contains(l);
        let longs = command.get_arguments().filter_map(|a| a.get_long()).filter(is_of_one);
        let mut longs: Vec<String> = longs.map(|l| format!("--{l}")).collect();
        let mut known: Vec<&str> = CliOption::ALL.map(CliOption::name).to_vec();
        longs.sort();
        known.sort_unstable();
        assert_eq!(longs, known);
    }
}
