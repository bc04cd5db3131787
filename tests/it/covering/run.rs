//! One run of a world, with everything that it showed.

use orrery_results::Row;
use orrery_run::Setup;
use orrery_scenario::Scenario;
use orrery_sim::log::{LogWriter, MemoryLog, Record};
use orrery_sweep::logged;
use orrery_sweep::replication::Replication;
use orrery_sweep::rows::rows;
use orrery_sweep::seeds::Seeds;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What became of a world.
pub enum Ended {
    /// The file was refused, or the run gave up: with this message.
    Refused(String),
    /// A run.
    Ran(Box<Ran>),
    /// It must not happen.
    Panicked(String),
}

/// A run.
pub struct Ran {
    pub scenario: Scenario,
    pub setup: Setup,
    pub records: Vec<Record>,
    /// The same as text.
    pub log: Vec<u8>,
    /// What `run` prints.
    pub rows: Vec<Row>,
}

impl Ran {
    /// All that the run printed and logged.
    pub fn shown(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(|row| format!("{row:?}")).collect();
        let records: Vec<String> = self.records.iter().map(Record::to_string).collect();
        format!("{}\n{}", rows.join("\n"), records.join("\n"))
    }

    /// A number of all requests, or of the whole run.
    pub fn value(&self, metric: &str) -> f64 {
        let is = |row: &&Row| row.scope == "all" && row.metric == metric;
        self.rows.iter().find(is).and_then(|row| row.value).unwrap_or(f64::NAN)
    }
}

/// The folder in which a world's files are.
pub fn folder() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/it/covering/data/").to_string()
}

/// Runs the first policy of a file.
pub fn run(text: &str) -> Ended {
    match catch_unwind(AssertUnwindSafe(|| try_run(text))) {
        Ok(Ok(ran)) => Ended::Ran(Box::new(ran)),
        Ok(Err(error)) => Ended::Refused(error),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
            Ended::Panicked(text.unwrap_or_default())
        }
    }
}

fn try_run(text: &str) -> Result<Ran, String> {
    let whole = |e: orrery_run::SpecError| e.to_string();
    let scenario = Scenario::from_text(&format!("{}world.toml", folder()), text).map_err(whole)?;
    let policies = scenario.policies().map_err(whole)?;
    let (policy, seed) = (&policies[0], scenario.seed);
    let setup = scenario.setup(seed).map_err(whole)?;
    let names = logged::names(&scenario, policy.text().to_string());
    let log = LogWriter::with_names(Vec::new(), &names).with_terms(&setup.terms());
    let observer = (MemoryLog::default(), log);
    let run = setup.run_with(policy, seed, observer).map_err(whole)?;
    let (metrics, (memory, log)) = run.observer;
    let result = Replication::of(seed, &metrics, &scenario.scope_names());
    let place = Row { experiment: scenario.name.clone(), ..Row::default() };
    let rows = rows(&place, &Seeds { first: seed, count: 1, until_ci: None }, &[result]);
    let log = log.finish().map_err(|e| e.to_string())?;
    Ok(Ran { scenario, setup, records: memory.records, log, rows })
}
