//! The small worlds beside that of requests, such as jobs: one seed of one policy, the rows of a file's
//! policies, and the document of them.
//!
//! `orrery run` and the experiments of such worlds come down to this; their results are the same rows.

use super::hash;
use super::notes::notes_of;
use super::replication::Replication;
use super::rows::{rows, which_seeds};
use super::seeds::Seeds;
use orrery_report::Progress;
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table, with_interval};
use orrery_report::whole_file::{Unfinished, unwritable};
use orrery_results::metric::{Column, Metric};
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::policy_spec;
use orrery_scenario::own::{World, WorldFile};
use orrery_sim::policy::parameters::Named;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A world of its own that is run.
pub trait OwnWorld: World {
    /// What to know of the columns.
    const WORDS: &'static str;

    /// What its files have, for the hash of a specification.
    ///
    /// # Errors
    /// When one cannot be read.
    fn inputs(&self, folder: &Path) -> Result<String, SpecError>;

    /// Runs it and measures the run.
    fn one(made: &Self::Made, policy: &Spec<Self>, seed: u64) -> Replication;

    /// The same, with the run's log.
    ///
    /// # Errors
    /// When the log cannot be written.
    fn logged(
        made: &Self::Made,
        policy: &Spec<Self>,
        seed: u64,
        log: BufWriter<File>,
    ) -> io::Result<Replication>;

    /// A metric's column, if it has one.
    fn column(metric: &Metric) -> Option<Column>;
}

/// A policy of a world.
pub type Spec<W> = policy_spec::Spec<<W as World>::Policy>;

/// The hash of everything that a run depends on but its seed. What its files have is in it.
///
/// # Errors
/// When a file cannot be read.
pub fn spec_sha256<W: OwnWorld>(
    world: &W,
    folder: &Path,
    policy: &Spec<W>,
) -> Result<String, SpecError> {
    // A table of plain values can always be written.
    let table = toml::to_string(world).unwrap_or_default();
    Ok(hash::spec_sha256(&[W::KEY, &table, &world.inputs(folder)?, &policy.name()]))
}

/// A run with its log in a file: whole, or not there at all.
fn logged<W: OwnWorld>(
    made: &W::Made,
    policy: &Spec<W>,
    seed: u64,
    path: &Path,
) -> Result<Replication, SpecError> {
    let unwritable = |e: io::Error| unwritable("--log", path, &e);
    let text = Unfinished::beside(path).map_err(unwritable)?;
    let file = BufWriter::new(File::create(text.path()).map_err(unwritable)?);
    let one = W::logged(made, policy, seed, file).map_err(unwritable)?;
    text.rename(path).map_err(unwritable)?;
    Ok(one)
}

/// Ends a log: all that was written is in the file.
///
/// # Errors
/// The first error of writing.
pub(crate) fn flushed(log: io::Result<BufWriter<File>>) -> io::Result<()> {
    log.and_then(|mut file| file.flush())
}

/// The rows of a file's policies. `log` is where the first seed's log goes, of the only policy.
///
/// # Errors
/// When a run cannot be made, or a log cannot be written.
pub fn rows_of_file<F: WorldFile<World: OwnWorld>>(
    file: &F,
    policies: &[Spec<F::World>],
    seeds: Seeds,
    log: Option<&Path>,
) -> Result<Vec<Row>, SpecError> {
    let progress = Progress::new(policies.len() as u64, "policies");
    let of_policy = |policy: &Spec<F::World>| {
        let runs = seeds.run(|seed| {
            let made = file.runs(seed, std::slice::from_ref(policy))?;
            match log.filter(|_| seed == seeds.first) {
                Some(path) => logged::<F::World>(&made, policy, seed, path),
                None => Ok(F::World::one(&made, policy, seed)),
            }
        })?;
        let place = Row {
            experiment: file.name().to_string(),
            system: policy.system().to_string(),
            policy: policy.name(),
            warm_up: "none".to_string(),
            spec_sha256: spec_sha256(file.world(), file.folder(), policy)?,
            result_version: orrery_results::RESULT_VERSION,
            ..Row::default()
        };
        progress.step();
        Ok(rows(&place, &seeds, &runs))
    };
    let all: Vec<Vec<Row>> =
        policies.par_iter().map(of_policy).collect::<Result<_, SpecError>>()?;
    Ok(all.concat())
}

/// The document of a run: a line for each policy.
pub fn document<F: WorldFile<World: OwnWorld>>(file: &F, rows: &[Row]) -> Page {
    let has = |m: &&Metric| rows.iter().any(|r| r.metric == m.name);
    let columns: Vec<(&Metric, Column)> =
        metric::all().iter().filter(has).filter_map(|m| Some((m, F::World::column(m)?))).collect();
    let mut head = vec!["policy"];
    head.extend(columns.iter().map(|c| c.1.heading));
    let mut table = Table::new("", &head);
    for cell in rows.chunk_by(|a, b| a.policy == b.policy) {
        let field = |(metric, column): &(&Metric, Column)| {
            let (scale, digits) = (metric.reading.divisor, column.digits);
            let row = cell.iter().find(|r| r.metric == metric.name);
            let interval =
                row.and_then(|r| r.ci95()).map(|(low, high)| (low / scale, high / scale));
            let value = row.and_then(|r| r.value);
            value.map_or(Field::none(), |x| {
                Field::number(x, with_interval(x / scale, interval, digits))
            })
        };
        let line = std::iter::once(Field::text(&*cell[0].policy));
        table.rows.push(line.chain(columns.iter().map(field)).collect());
    }
    let mut page = Page::new(F::World::KEY, file.name());
    page.subtitle = which_seeds(rows);
    page.section("Results", table.part());
    let mut notes = vec![F::World::WORDS.to_string()];
    notes.extend(notes_of(rows));
    page.section(TO_KNOW, Part::list(notes));
    page
}
