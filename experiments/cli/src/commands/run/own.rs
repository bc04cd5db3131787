//! `orrery run` of a file of a world of its own: of jobs, or of tokens.

use super::args::Run;
use orrery_report::say;
use orrery_report::threads::pool;
use orrery_report::whole_file::check_place;
use orrery_report::{Answer, Forms};
use orrery_run::SpecError;
use orrery_scenario::own::{World, WorldFile};
use orrery_sweep::own::{OwnWorld, document, rows_of_file};
use orrery_sweep::page::drawn;
use orrery_sweep::seeds::Seeds;

/// `orrery run` of such a file.
///
/// # Errors
/// When the file is wrong, an option does not apply, or a file cannot be written.
pub fn command<F: WorldFile<World: OwnWorld>>(args: &Run) -> Result<Answer, SpecError> {
    let file = F::load(&args.scenario)?;
    let (name, (_, seed, _)) = (file.name(), file.head());
    args.output.check(name)?;
    let until = args.until.pair(args.seeds)?.is_some();
    let is_set = !args.set.is_empty();
    let refused = [
        ("--until-ci", until),
        ("--why", args.why),
        ("--details", args.details),
        ("--set", is_set),
        ("--bound", args.bound),
    ];
    if let Some((option, _)) = refused.iter().find(|o| o.1) {
        let allowed = format!(
            "`--seeds`, `--policy`, `--log`, `--format`, `--out`, `--html` with a file of {}",
            F::World::KEY
        );
        return Err(SpecError::value(*option, "given", allowed, format!("remove `{option}`")));
    }
    let policies = match args.policies.as_slice() {
        [] => file.policies()?,
        given => given.iter().map(|p| p.parse()).collect::<Result<_, _>>()?,
    };
    let first = args.seed.unwrap_or(seed);
    file.runs(first, &policies)?;
    let unused = file.without_effect(&policies, 1, |file, _| Ok(file));
    file.notes(&policies)?.iter().chain(&unused).for_each(|note| say(note));
    if let Some(path) = &args.log {
        if policies.len() != 1 {
            let found = format!("{} policies", policies.len());
            let remedy = "name the one to log with `--policy`";
            return Err(SpecError::value("--log", found, "one policy", remedy));
        }
        check_place("--log", path)?;
    }
    let seeds = Seeds { first, count: args.seeds, until_ci: None };
    let pool = pool(args.jobs.unwrap_or(0).into())?;
    let rows = pool.install(|| rows_of_file(&file, &policies, seeds, args.log.as_deref()))?;
    let document = document(&file, &rows);
    let forms = Forms {
        table: document.to_text(),
        more: vec![(F::World::KEY, name.to_string().into())],
        page: args.output.html.as_ref().map(|_| drawn(document, &rows)),
        rows,
    };
    forms.answer(name, &args.output)
}
