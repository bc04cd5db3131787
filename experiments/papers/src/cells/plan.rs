//! From a sweep file to its cells, in one fixed order: points, then axes (the first changes
//! slowest), then policies.

use super::grid::combinations;
use super::scenario_cell::{ScenarioCell, inputs_sha256};
use super::seeds::Seeds;
use super::sweep_file::SweepFile;
use orrery_results::{RESULT_VERSION, Row};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};
use serde::{Deserialize, Serialize};
use toml::Value;

/// All that is needed to make results from stored cells.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Plan {
    /// The sweep's name.
    pub name: String,
    /// The version of the results.
    pub result_version: u32,
    /// The policy that the others are compared with.
    pub compare_to: String,
    /// In the order of results.
    pub cells: Vec<PlannedCell>,
}

/// A cell of a plan.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct PlannedCell {
    /// The name of its entry: the hash of its specification, whatever the number of seeds.
    pub entry_sha256: String,
    /// Its seeds.
    pub seeds: Seeds,
    /// What its rows have in common.
    pub place: Row,
}

impl Plan {
    /// What it is of, for messages.
    pub fn words(&self) -> String {
        let seeds = self.cells.first().map_or(String::new(), |c| c.seeds.words());
        let Plan { name, result_version, cells, .. } = self;
        format!(
            "sweep {name}, {} cells, seeds {seeds}, results version {result_version}",
            cells.len()
        )
    }

    /// The first difference from another plan, for messages; `self` is what was found.
    pub fn difference(&self, other: &Plan) -> Option<String> {
        let differ = |what: &str, here: &str, there: &str| {
            (here != there).then(|| {
                format!("the plan of another sweep: {what}: {here}, in this sweep {there}")
            })
        };
        let count = |plan: &Plan| plan.cells.len().to_string();
        let cell = |(i, (a, b)): (usize, (&PlannedCell, &PlannedCell))| {
            let in_cell = |what: &str| format!("{what} of cell {}", i + 1);
            let specification = format!("specification of cell {} ({})", i + 1, b.words());
            differ(&in_cell("seeds"), &a.seeds.words(), &b.seeds.words())
                .or_else(|| differ(&in_cell("combination"), &a.words(), &b.words()))
                .or_else(|| differ(&specification, &a.place.spec_sha256, &b.place.spec_sha256))
                .or_else(|| {
                    differ(&in_cell("row"), &format!("{:?}", a.place), &format!("{:?}", b.place))
                })
        };
        differ("name", &self.name, &other.name)
            .or_else(|| self.cells.iter().zip(&other.cells).enumerate().find_map(cell))
            .or_else(|| differ("number of cells", &count(self), &count(other)))
            .or_else(|| differ("`compare_to`", &self.compare_to, &other.compare_to))
    }
}

impl PlannedCell {
    fn words(&self) -> String {
        format!("{} {}", self.place.axes, self.place.policy)
    }
}

/// The plan, and the cells to run.
///
/// # Errors
/// When the scenario, a key or a policy is wrong, or a file of the scenario cannot be read.
pub fn plan(file: &SweepFile, mut base: Scenario) -> Result<(Plan, Vec<ScenarioCell>), SpecError> {
    let in_file = |e: SpecError| file.placed(e);
    if !file.policies.is_empty() {
        let list = Value::Array(file.policies.iter().cloned().map(Value::String).collect());
        base = base.with(&[("policies".to_string(), list)]).map_err(in_file)?;
    }
    let seeds = Seeds {
        first: file.first_seed.unwrap_or(base.seed),
        count: file.seeds,
        until_ci: file.until_ci.map(|w| (w, file.max_seeds)),
    };
    let compare_to = compared(file, &base)?;
    let mut cells = Vec::new();
    for combination in combinations(&file.point, &file.axis, file.sample) {
        let fixed = file.set.iter().map(|(k, v)| (k.clone(), v.clone()));
        let changes: Vec<(String, Value)> = fixed.chain(combination.changes).collect();
        let scenario = base.with(&changes).map_err(in_file)?;
        // The scenario is set up once here, so that a wrong value is found before hours of runs.
        let cell = combination.axes.join(";");
        scenario.setup(seeds.first).map_err(|e| within(file, &cell, e))?;
        let inputs = inputs_sha256(&scenario)?;
        for policy in scenario.policies()? {
            cells.push(ScenarioCell {
                scenario: scenario.clone(),
                axes: cell.clone(),
                policy,
                seeds,
                inputs_sha256: inputs.clone(),
                search: file.goodput.clone(),
            });
        }
    }
    let planned = |c: &ScenarioCell| {
        let place = c.place(&file.name);
        PlannedCell { entry_sha256: c.entry_sha256(), seeds, place }
    };
    let (name, cells_planned) = (file.name.clone(), cells.iter().map(planned).collect());
    let plan = Plan { name, result_version: RESULT_VERSION, compare_to, cells: cells_planned };
    Ok((plan, cells))
}

/// What is wrong with a scenario that was changed may be the change.
fn within(file: &SweepFile, cell: &str, error: SpecError) -> SpecError {
    if cell.is_empty() {
        return error;
    }
    let file = format!("{}, at {cell}", file.path.display());
    SpecError::Within { file, source: Box::new(error) }
}

/// The policy that the others are compared with.
fn compared(file: &SweepFile, base: &Scenario) -> Result<String, SpecError> {
    let policies: Vec<String> =
        base.policies()?.iter().map(|p: &PolicySpec| p.text().to_string()).collect();
    match &file.compare_to {
        None => Ok(policies.first().cloned().unwrap_or_default()),
        Some(name) if policies.contains(name) => Ok(name.clone()),
        Some(name) => {
            let allowed = format!("one of {}", policies.join(", "));
            let error = SpecError::value("compare_to", format!("`{name}`"), allowed, "correct it");
            Err(file.placed(error))
        }
    }
}
