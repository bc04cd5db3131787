//! Measured cases: each row of a CSV file is a scenario, predicted by each system and compared with what was
//! measured. Nothing is fitted here, and no row is dropped.

mod file;
pub mod keys;
mod table;

use crate::experiment::{Experiment, System};
use crate::runner::{Cell, Runner};
use file::{CasesFile, Expressions};
use orrery_results::Row;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_sweep::goodput::Search;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::{Measure, PEAK, Replication};
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::seeds::Seeds;
use table::Table;
use toml::Value;

/// Each system at each case is a part.
pub struct Runs<'a> {
    experiment: &'a Experiment,
    cells: Vec<CaseCell<'a>>,
}

/// A system at a case.
struct CaseCell<'a> {
    place: Row,
    system: &'a System,
    search: Option<ScenarioCell>,
    run: Option<ScenarioCell>,
    /// In place of runs.
    computed: Vec<(String, f64)>,
}

impl<'a> Runs<'a> {
    /// Sets up every cell.
    ///
    /// # Errors
    /// When an expression, a key, or a policy is wrong.
    pub fn new(experiment: &'a Experiment, cases: &'a CasesFile) -> Result<Runs<'a>, SpecError> {
        let table = cases.table(experiment, experiment.cases_from.as_deref())?;
        let name = format!("{} (cases.scenario)", experiment.origin.path);
        let from =
            |text: &String| Scenario::from_text(&name, &format!("policies = [\"fifo\"]\n{text}"));
        let base = cases.scenario.as_ref().map(from).transpose()?;
        let maker = Maker { experiment, cases, table: &table, base: base.as_ref() };
        let mut cells = Vec::new();
        for point in &experiment.point {
            // `CasesFile::points` put it there.
            let row = point.set.get("row").and_then(Value::as_integer).unwrap_or_default() as usize;
            for system in &experiment.system {
                let place = Row {
                    case: point.name.clone(),
                    axes: point.axes.clone(),
                    ..experiment.place()
                };
                let place = system.row(&place);
                if system.is_run_at(&place) {
                    cells.push(maker.cell(row, place, system)?);
                }
            }
        }
        Ok(Runs { experiment, cells })
    }

    fn merged(
        cell: &CaseCell<'_>,
        shown: &[String],
        kept: &Kept,
        seeds: &Seeds,
    ) -> Result<Vec<Replication>, SpecError> {
        let runs = |of: &Option<ScenarioCell>, what: &str| {
            let Some(made) = of else { return Ok(Vec::new()) };
            let what = format!("{what} of {} ({})", cell.place.case, cell.system.name);
            kept.seeds(&made.hashes().0, &what, seeds, |seed| made.one(seed))
        };
        let (found, mut ran) = (runs(&cell.search, "search")?, runs(&cell.run, "run")?);
        // What was to be measured and was not is said, not left out.
        for run in &mut ran {
            for metric in shown.iter().filter(|m| *m != PEAK) {
                if run.value("all", metric).is_none() {
                    let reason = "no request was counted".to_string();
                    run.measures.push(Measure::unanswered("all", metric, reason, 0));
                }
            }
        }
        for (i, found) in found.into_iter().enumerate() {
            let peak = found.measures.into_iter().filter(|m| m.metric == PEAK);
            if ran.len() <= i {
                ran.push(Replication { seed: found.seed, ..Replication::default() });
            }
            ran[i].measures.extend(peak);
            ran[i].notes.extend(found.notes);
        }
        Ok(ran)
    }
}

/// Makes the cells of rows.
struct Maker<'a, 't> {
    experiment: &'a Experiment,
    cases: &'a CasesFile,
    table: &'t Table<'t>,
    base: Option<&'t Scenario>,
}

impl<'a> Maker<'a, '_> {
    fn cell(&self, row: usize, place: Row, system: &'a System) -> Result<CaseCell<'a>, SpecError> {
        if !system.computed.is_empty() {
            let mut computed = Vec::new();
            for (metric, text) in &system.computed {
                let key = format!("system `{}`: computed.{metric}", system.name);
                computed.extend(self.table.number(row, &key, text)?.map(|x| (metric.clone(), x)));
            }
            let words = format!("{computed:?}");
            let spec_sha256 = spec_sha256(&["computed", &place.case, &place.policy, &words]);
            let place = Row { spec_sha256, ..place };
            return Ok(CaseCell { place, system, search: None, run: None, computed });
        }
        let within = |error: SpecError| SpecError::Within {
            file: format!(
                "{}, case `{}`, system `{}`",
                self.experiment.origin.path, place.case, system.name
            ),
            source: Box::new(error),
        };
        let (search, run) = self.made(row, &place, system).map_err(within)?;
        let hash =
            |cell: &Option<ScenarioCell>| cell.as_ref().map_or(String::new(), |c| c.hashes().1);
        let first = search.as_ref().or(run.as_ref());
        let of_cell = first.map(|c| c.place(&self.experiment.id)).unwrap_or_default();
        let place = Row {
            policy: of_cell.policy,
            warm_up: of_cell.warm_up,
            flags: of_cell.flags,
            spec_sha256: spec_sha256(&["case", &hash(&search), &hash(&run)]),
            ..place
        };
        Ok(CaseCell { place, system, search, run, computed: Vec::new() })
    }

    /// The search and the run of a case.
    #[allow(clippy::type_complexity)]
    fn made(
        &self,
        row: usize,
        place: &Row,
        system: &System,
    ) -> Result<(Option<ScenarioCell>, Option<ScenarioCell>), SpecError> {
        let Some(base) = self.base else { return Ok((None, None)) };
        let text =
            self.table.text(row, &format!("system `{}`: policy", system.name), &system.policy)?;
        let policy = PolicySpec::parse(&text)?;
        let Some(mut changes) = self.values("cases.set", row, &self.cases.set)? else {
            return Ok((None, None));
        };
        changes.extend(system.set.iter().map(|(k, v)| (k.clone(), v.clone())));
        let cell = |scenario: Scenario, search: Option<Search>| {
            scenario.setup(1)?.check_policy(&policy)?;
            let seeds = Seeds { first: 1, count: self.experiment.seeds, until_ci: None };
            let (axes, policy) = (place.axes.clone(), policy.clone());
            let inputs_sha256 = String::new();
            Ok::<_, SpecError>(ScenarioCell {
                scenario,
                axes,
                policy,
                seeds,
                inputs_sha256,
                search,
            })
        };
        let scenario = base.with(&changes)?;
        let search = match &self.cases.search {
            Some(keys) => Some(cell(scenario.clone(), Some(self.search(row, keys)?))?),
            None => None,
        };
        let run = match (&self.cases.search, &self.cases.run) {
            (None, _) => Some(cell(scenario, None)?),
            (Some(_), None) => None,
            (Some(_), Some(keys)) => match self.values("cases.run", row, keys)? {
                Some(more) => Some(cell(scenario.with(&more)?, None)?),
                None => None,
            },
        };
        Ok((search, run))
    }

    /// The values of keys; none where one is not known.
    fn values(
        &self,
        key: &str,
        row: usize,
        keys: &Expressions,
    ) -> Result<Option<Vec<(String, Value)>>, SpecError> {
        let mut values = Vec::new();
        for (name, text) in keys {
            let Some(value) = self.table.eval(row, &format!("{key}.{name}"), text)? else {
                return Ok(None);
            };
            let key = format!("{key}.{name}");
            values.push((name.clone(), toml_of(&key, text, &value)?));
        }
        Ok(Some(values))
    }

    fn search(&self, row: usize, keys: &Expressions) -> Result<Search, SpecError> {
        let values = self.values("cases.search", row, keys)?.unwrap_or_default();
        let table = Value::Table(values.into_iter().collect());
        let search: Search = table.try_into().map_err(|e: toml::de::Error| {
            let found = e.message().to_string();
            SpecError::value(
                "cases.search",
                found,
                "keys of `[goodput]`",
                "docs/experiments.md lists them",
            )
        })?;
        search.check()?;
        Ok(search)
    }
}

/// A value as TOML: a number, a word, or what the text of a list or a table says.
fn toml_of(key: &str, text: &str, value: &minijinja::Value) -> Result<Value, SpecError> {
    let wrong = |found: String| {
        let allowed = "a number, a word, or the text of a TOML list or table";
        SpecError::value(
            key,
            found,
            allowed,
            format!("correct `{text}`, or the column that it names"),
        )
    };
    if value.is_integer() {
        return i64::try_from(value.clone()).map(Value::Integer).map_err(|e| wrong(e.to_string()));
    }
    if value.is_number() {
        return f64::try_from(value.clone()).map(Value::Float).map_err(|e| wrong(e.to_string()));
    }
    let word = value.as_str().ok_or_else(|| wrong(value.to_string()))?;
    if !word.starts_with(['[', '{']) {
        return Ok(Value::String(word.to_string()));
    }
    let table: Result<toml::Table, _> = toml::from_str(&format!("value = {word}"));
    let parsed = table.ok().and_then(|mut table| table.remove("value"));
    parsed.ok_or_else(|| wrong(format!("`{word}`")))
}

impl Runner for Runs<'_> {
    fn parts(&self) -> Vec<String> {
        self.cells.iter().map(|c| format!("{} {}", c.place.case, c.system.name)).collect()
    }

    fn places(&self) -> Vec<Row> {
        self.cells.iter().map(|c| c.place.clone()).collect()
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let cell = &self.cells[part];
        let of = |(metric, value): &(String, f64)| cell.place.of_all(metric, *value);
        let more = cell.computed.iter().map(of).collect();
        let seeds = Seeds { first: 1, count: self.experiment.seeds, until_ci: None };
        let runs = Self::merged(cell, &self.experiment.show, kept, &seeds)?;
        let is_run = !runs.is_empty();
        Ok(vec![Cell { place: cell.place.clone(), seeds: is_run.then_some(seeds), runs, more }])
    }
}
