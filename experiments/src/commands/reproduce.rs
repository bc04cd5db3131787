//! `orrery reproduce`: what an id names, which of the options apply to it, and its run.
//!
//! ```text
//!  id ──> Subject::find ──> options::check ──> a picture of no data ──> run ──> --plot, the forms
//! ```
//!
//! What can be refused is refused before hours of runs.

pub mod options;

use crate::cli::{Answer, Reproduce};
use crate::commands::{forms_of_table, pool};
use crate::output::Forms;
use crate::over_time::OverTime;
use crate::sensitivity::Sensitivity;
use crate::study::Study;
use crate::table_figure;
use crate::table_file::TableFile;
use crate::{partition, pools, study};
use options::Kind;
use orrery_results::Row;
use orrery_scenario::SpecError;

/// What an id names.
#[derive(Debug)]
pub enum Subject {
    /// Models divided among sub-clusters.
    Partition(Box<partition::Figure>),
    /// Pools of several instance types.
    Pools(Box<pools::Figure>),
    /// A sweep with the paper's numbers.
    Study(Box<Study>),
    /// One run over time.
    OverTime(Box<OverTime>),
    /// One of Orloj's tables.
    Table(Box<TableFile>),
}

impl Subject {
    /// What a shipped id, or a file, names.
    ///
    /// # Errors
    /// When there is none, or it is wrong.
    pub fn find(id: &str) -> Result<Subject, SpecError> {
        if let Some(figure) = partition::Figure::find(id)? {
            return Ok(Subject::Partition(Box::new(figure)));
        }
        if let Some(figure) = pools::Figure::find(id)? {
            return Ok(Subject::Pools(Box::new(figure)));
        }
        if let Some(study) = Study::find(id)? {
            return Ok(Subject::Study(Box::new(study)));
        }
        let figure = OverTime::shipped()?;
        if figure.id == id {
            return Ok(Subject::OverTime(Box::new(figure)));
        }
        TableFile::load(id).map(|table| Subject::Table(Box::new(table)))
    }

    /// The ids of all that is shipped, in the order of `orrery list`.
    pub fn ids() -> Vec<&'static str> {
        let tables = TableFile::ids().chain(Study::ids()).chain([OverTime::ID]);
        tables.chain(partition::Figure::IDS.iter().copied()).chain(pools::Figure::ids()).collect()
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Subject::Partition(_) => Kind::Partition,
            Subject::Pools(f) if f.bounds => Kind::Bounds,
            Subject::Pools(_) => Kind::Pools,
            Subject::Study(s) if s.goodput.is_some() => Kind::Search,
            Subject::Study(_) => Kind::Study,
            Subject::OverTime(_) => Kind::OverTime,
            Subject::Table(t) if t.vary.is_empty() => Kind::Table,
            Subject::Table(_) => Kind::Sensitivity,
        }
    }

    fn id(&self) -> &str {
        match self {
            Subject::Partition(f) => &f.id,
            Subject::Pools(f) => &f.id,
            Subject::Study(s) => &s.id,
            Subject::OverTime(f) => &f.id,
            Subject::Table(t) => &t.id,
        }
    }

    /// Passes when every option applies, and a picture of such rows can be drawn.
    ///
    /// # Errors
    /// Names the option, what is allowed, and the remedy.
    fn check(&self, args: &Reproduce) -> Result<(), SpecError> {
        options::check(self.id(), self.kind(), args)?;
        args.until.pair(args.seeds.unwrap_or(self.seeds()))?;
        let Some(path) = &args.plot else { return Ok(()) };
        crate::plot::check_name(path)?;
        match self {
            Subject::Study(s) => study::with_options(s, args)?.check_figure(),
            Subject::Table(t) => table_figure::check(&rows_of_no_data(&with_options(t, args))),
            Subject::Partition(_) | Subject::Pools(_) | Subject::OverTime(_) => Ok(()),
        }
    }

    /// Replications, where `--seeds` does not say.
    fn seeds(&self) -> u32 {
        match self {
            Subject::Study(s) => s.seeds,
            Subject::Table(t) => t.seeds,
            Subject::Pools(f) => f.seeds,
            Subject::Partition(_) | Subject::OverTime(_) => 1,
        }
    }

    fn run(&self, args: &Reproduce) -> Result<Forms, SpecError> {
        let forms = match self {
            Subject::Partition(f) => return f.reproduce(args),
            Subject::Pools(f) => return f.reproduce(args),
            Subject::OverTime(f) => return f.reproduce(args),
            Subject::Study(s) => study::reproduce(s, args)?,
            Subject::Table(t) => {
                let until_ci = args.until.pair(args.seeds.unwrap_or(t.seeds))?;
                forms_of_table(&with_options(t, args), until_ci)?
            }
        };
        if let Some(path) = &args.plot {
            match self {
                Subject::Study(s) => table_figure::draw_metric(&forms.rows, s.main(), path)?,
                _ => table_figure::draw(&forms.rows, path)?,
            }
        }
        Ok(forms)
    }
}

/// A table with the cases and seeds that were asked for.
fn with_options(table: &TableFile, args: &Reproduce) -> TableFile {
    let mut table = table.clone();
    table.seeds = args.seeds.unwrap_or(table.seeds);
    if !args.cases.is_empty() {
        table.cases.names.clone_from(&args.cases);
    }
    table
}

/// Rows as the table will have them, all values 0.5: whether they can be drawn does not depend on values.
fn rows_of_no_data(table: &TableFile) -> Vec<Row> {
    if !table.vary.is_empty() {
        return Sensitivity::rows_of_no_data(table);
    }
    let mut rows = Vec::new();
    for case in &table.cases.names {
        for slo in &table.slo_x_p99 {
            rows.extend(table.system.iter().map(|system| Row {
                experiment: table.id.clone(),
                case: case.clone(),
                axes: format!("slo_x_p99={slo}"),
                system: system.name.clone(),
                preset: system.preset.word().to_string(),
                policy: system.policy.clone(),
                scope: "all".to_string(),
                metric: "finish_rate".to_string(),
                value: Some(0.5),
                ..Row::default()
            }));
        }
    }
    rows
}

/// `orrery reproduce`.
///
/// # Errors
/// When the id or one of its parts does not exist, an option does not apply, or `--out` cannot be
/// written.
pub fn command(args: &Reproduce) -> Result<Answer, SpecError> {
    let subject = Subject::find(&args.id)?;
    subject.check(args)?;
    args.output.check()?;
    let forms = pool(args.jobs.unwrap_or(0).into())?.install(|| subject.run(args))?;
    forms.answer(subject.id(), &args.output)
}
