//! A toy example of Orloj's scores, computed without a run.

mod toy;

use super::computed::{COMPUTED, Point, without_axes};
use crate::experiment::{Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::options::{CliOption, Refused};
use crate::runner::{Cell, KindDocument, Runner};
use orrery_report::page::{Field, Part, Table};
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_sweep::kept::Kept;
use schemars::JsonSchema;
use serde::Deserialize;
use toy::{ScoreFile, Toy};

/// The keys of an experiment that computes scores.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfScore {
    /// What is computed: a toy example of Orloj's scores, without a run.
    score: ScoreFile,
}

impl Keys for OfScore {
    const KEY: &'static str = "score";
}

impl Kind for OfScore {
    fn in_words(&self, _: u32) -> String {
        "no run: scores of a toy example".to_string()
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, Scores::new(e, &self.score))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        if e.system.is_empty() {
            return Ok(());
        }
        let allowed = "none with `score`: its distributions and requests are its curves";
        Err(SpecError::value("system", "systems", allowed, "remove them"))
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        Refused::computed(option, COMPUTED)
    }

    fn curves(&self) -> Vec<&str> {
        let requests = self.score.request.iter().map(|r| r.name.as_str());
        requests.chain(self.score.law.iter().map(|l| l.name.as_str())).collect()
    }
}

/// Curves of a toy example: one part.
pub struct Scores<'a> {
    experiment: &'a Experiment,
    toy: Toy,
}

impl<'a> Scores<'a> {
    /// Checks the example.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn new(experiment: &'a Experiment, file: &ScoreFile) -> Result<Scores<'a>, SpecError> {
        without_axes(experiment, "score", &[])?;
        Ok(Scores { experiment, toy: Toy::new(file)? })
    }

    fn rows(&self) -> Vec<Row> {
        let hash = self.toy.spec_sha256();
        let row = |p: Point| Row {
            axes: format!("at_ms={}", p.at),
            system: p.of,
            spec_sha256: hash.clone(),
            ..self.experiment.place().of_all(p.metric, p.value)
        };
        self.toy.points().into_iter().map(row).collect()
    }
}

impl Runner for Scores<'_> {
    fn parts(&self) -> Vec<String> {
        vec!["score".to_string()]
    }

    fn places(&self) -> Vec<Row> {
        // Each curve's own metrics are at its own places.
        self.rows()
    }

    fn run(&self, _: usize, _: &Kept) -> Result<Vec<Cell>, SpecError> {
        Ok(vec![Cell { more: self.rows(), ..Cell::default() }])
    }

    fn document(&self, _: &[Cell], _: &[Row]) -> KindDocument {
        let mut means = Table { keys: 1, ..Table::new("means", &["distribution", "mean ms"]) };
        for (name, mean) in self.toy.means_ms() {
            means.rows.push([name.to_string(), format!("{mean:.3}")].map(Field::text).to_vec());
        }
        let milestones = |(i, name): (usize, &str)| {
            let all = self.toy.milestones(i).iter().map(|t| format!("{t:.2}")).collect::<Vec<_>>();
            format!("{name}: {}", all.join(" "))
        };
        let milestones = self.toy.requests().into_iter().enumerate().map(milestones).collect();
        let caption = "the order of scores above zero, highest first";
        let mut orders = Table { keys: 1, ..Table::new(caption, &["from ms", "requests"]) };
        for (from, order) in self.toy.orders() {
            let order = if order.is_empty() { "none".to_string() } else { order.join(", ") };
            orders.rows.push([format!("{from:.2}"), order].map(Field::text).to_vec());
        }
        let what = "milestones: where the form of a request's score changes, ms";
        let milestones = [Part::Text(what.to_string()), Part::List(milestones)];
        let results = means.part().into_iter().chain(milestones).chain(orders.part());
        KindDocument { results: Some(results.collect()), ..KindDocument::default() }
    }
}
