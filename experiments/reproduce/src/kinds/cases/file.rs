//! `[cases]`: which rows of a file are cases, and the points and numbers that they become.

use super::table::Table;
use crate::errors::NOT_COUNTED;
use crate::experiment::{CaseRows, Experiment, System};
use crate::numbers::Number;
use crate::shipped;
use orrery_run::SpecError;
use orrery_scenario::read_text;
use orrery_sweep::grid::Point;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// By scenario key or metric: an expression over the columns of a row.
pub type Expressions = BTreeMap<String, String>;

/// `[cases]`: measured cases, one in each row of a CSV file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CasesFile {
    /// Its path relative to the experiment's folder, or the name of a shipped file; `--paper` gives another.
    pub file: String,
    /// Use only rows for which this expression is true.
    #[serde(default, rename = "where")]
    #[schemars(extend("x-default" = "all rows"))]
    pub only: String,
    /// The name of a case: text with `{{ expressions }}`, different for each row.
    pub name: String,
    /// Axes of results: `{ NAME = "EXPRESSION" }`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub axes: Expressions,
    /// The text of the scenario that each row changes.
    pub scenario: Option<String>,
    /// The scenario keys that a row sets: `{ "DOTTED.KEY" = "EXPRESSION" }`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub set: Expressions,
    /// Keys of `[goodput]`, with expressions: each case is a search for its highest rate.
    pub search: Option<Expressions>,
    /// Scenario keys that are set in runs at the measured load, beside a `search`; a row without their values has no
    /// such run.
    pub run: Option<Expressions>,
    /// What was measured: `{ METRIC = "EXPRESSION" }`, in the metric's unit.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub measured: Expressions,
    /// Rows that are printed and not counted: `{ NAME = "EXPRESSION" }`, true for them; the name says why.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub not_counted: Expressions,
}

impl CasesFile {
    /// The rows: of the file that `--paper` names, of a shipped one, or of one beside the experiment's.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn table(&self, e: &Experiment, paper: Option<&Path>) -> Result<Table<'static>, SpecError> {
        if let Some(path) = paper {
            return Table::read(&path.display().to_string(), &read_text(path)?);
        }
        let text = match shipped::numbers(&self.file) {
            Some(text) => text.to_string(),
            None => read_text(e.folder().join(&self.file))?,
        };
        Table::read(&self.file, &text)
    }

    /// The points that its rows are, and what was measured of them.
    ///
    /// # Errors
    /// When an expression is wrong, a name is of two rows, or no row is a case.
    pub fn points(&self, e: &Experiment, table: &Table<'_>) -> Result<CaseRows, SpecError> {
        let (mut points, mut numbers): CaseRows = Default::default();
        for row in table.rows() {
            let is = |key: &str, text: &str| -> Result<bool, SpecError> {
                Ok(table.eval(row, key, text)?.is_some_and(|value| value.is_true()))
            };
            if !self.only.is_empty() && !is("cases.where", &self.only)? {
                continue;
            }
            let word = |text: String| text.replace([';', '='], ",");
            let name = word(table.text(row, "cases.name", &self.name)?);
            if points.iter().any(|p: &Point| p.name == name) {
                let remedy = "add what tells the rows apart, such as `{{ row }}`";
                let found = format!("`{name}` twice");
                return Err(SpecError::value("cases.name", found, "a name for each row", remedy));
            }
            let mut axes = Vec::new();
            for (axis, text) in &self.axes {
                let value = table.eval(row, &format!("cases.axes.{axis}"), text)?;
                axes.push(format!("{axis}={}", word(value.map_or("-".into(), |v| v.to_string()))));
            }
            for (why, text) in &self.not_counted {
                if is(&format!("cases.not_counted.{why}"), text)? {
                    axes.push(format!("{NOT_COUNTED}={}", word(why.clone())));
                }
            }
            for (metric, text) in &self.measured {
                let key = format!("cases.measured.{metric}");
                let value = match table.number(row, &key, text)? {
                    Some(value) => value,
                    None if table.withholds(row, text) => f64::NAN,
                    None => continue,
                };
                let of = |s: &System| Number {
                    at: format!("case={name}"),
                    system: s.name.clone(),
                    metric: metric.clone(),
                    value,
                    source: e.source.clone(),
                };
                numbers.extend(e.system.iter().map(of));
            }
            // The row by which the runner finds its expressions' values.
            let set = BTreeMap::from([("row".to_string(), toml::Value::Integer(row as i64))]);
            points.push(Point { name, axes: axes.join(";"), set });
        }
        if points.is_empty() {
            let remedy = "change `where`, or remove it";
            return Err(SpecError::value("cases.where", &self.only, "true for a row", remedy));
        }
        Ok((points, numbers))
    }
}
