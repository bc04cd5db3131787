//! The small worlds beside that of requests, such as jobs: one seed of one policy, the rows of a file's
//! policies, and the document of them.
//!
//! `orrery run` and the experiments of such worlds come down to this; their results are the same rows.

use super::hash;
use super::notes::notes_of;
use super::replication::Replication;
use super::rows::rows;
use super::seeds::Seeds;
use orrery_report::Progress;
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table};
use orrery_report::whole_file::{Unfinished, unwritable};
use orrery_results::metric::{Column, Metric};
use orrery_results::{Row, metric, system_of};
use orrery_scenario::SpecError;
use orrery_scenario::own::{OwnPolicy, OwnPolicySpec};
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What is run in a world of its own: the table of a file that says so.
pub trait OwnWorld: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The key of the table.
    const KEY: &'static str;
    /// What to know of the columns.
    const WORDS: &'static str;
    /// A policy of the world.
    type Policy: OwnPolicy + ?Sized;
    /// What a seed makes of the table.
    type Made: Send + Sync;

    /// What a seed makes of it; `folder` is where its files are looked for.
    ///
    /// # Errors
    /// When a value is wrong, or a file cannot be read.
    fn make(&self, seed: u64, folder: &Path) -> Result<Self::Made, SpecError>;

    /// Whether a policy can run it at all.
    ///
    /// # Errors
    /// When it cannot.
    fn check_for(&self, policy: &Spec<Self>, made: &Self::Made) -> Result<(), SpecError>;

    /// The error, at a key of the table.
    fn in_table(error: SpecError) -> SpecError;

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
pub type Spec<W> = OwnPolicySpec<<W as OwnWorld>::Policy>;

/// A file for `orrery run` with such a table.
pub trait OwnFile: Sized + Sync {
    /// The world of its table.
    type World: OwnWorld;

    /// Reads a file and checks it with its policies.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    fn load(path: &Path) -> Result<Self, SpecError>;

    /// Its policies.
    ///
    /// # Errors
    /// When one is unknown or has a wrong parameter.
    fn policies(&self) -> Result<Vec<Spec<Self::World>>, SpecError>;

    /// What a seed makes of it, fit for these policies.
    ///
    /// # Errors
    /// When a value is wrong, with its line.
    fn runs(&self, seed: u64, policies: &[Spec<Self::World>]) -> Result<MadeOf<Self>, SpecError>;

    /// What a reader of the results should know of its files.
    ///
    /// # Errors
    /// When one cannot be read.
    fn notes(&self) -> Result<Vec<String>, SpecError> {
        Ok(Vec::new())
    }

    /// The table.
    fn world(&self) -> &Self::World;

    /// Its name in results, its path, and the seed of what is drawn.
    fn about(&self) -> (&str, &Path, u64);
}

/// What a seed makes of a file.
pub type MadeOf<F> = <<F as OwnFile>::World as OwnWorld>::Made;

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
pub fn rows_of_file<F: OwnFile>(
    file: &F,
    policies: &[Spec<F::World>],
    seeds: Seeds,
    log: Option<&Path>,
) -> Result<Vec<Row>, SpecError> {
    let (name, path, _) = file.about();
    let folder = path.parent().unwrap_or(Path::new(""));
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
            experiment: name.to_string(),
            system: system_of(policy.text()).to_string(),
            policy: policy.name(),
            warm_up: "none".to_string(),
            spec_sha256: spec_sha256(file.world(), folder, policy)?,
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
pub fn document<F: OwnFile>(file: &F, seed: u64, rows: &[Row]) -> Page {
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
            let half = row.and_then(|r| r.ci95()).map(|(low, high)| (high - low) / 2.0 / scale);
            let half = half.map_or(String::new(), |h| format!(" ±{h:.digits$}"));
            let value = row.and_then(|r| r.value);
            value.map_or(Field::none(), |x| {
                Field::number(x, format!("{:.digits$}{half}", x / scale))
            })
        };
        let line = std::iter::once(Field::text(&*cell[0].policy));
        table.rows.push(line.chain(columns.iter().map(field)).collect());
    }
    let mut page = Page::new(F::World::KEY, file.about().0);
    page.subtitle = format!("seed {seed}");
    page.section("Results", table.part());
    let mut notes = vec![F::World::WORDS.to_string()];
    notes.extend(notes_of(rows));
    page.section(TO_KNOW, Part::list(notes));
    page
}
