//! What is computed without a run: a toy example of scores, and the laws of execution times of a paper's tables.

use crate::experiment::{Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::options::{CliOption, Refused};
use crate::runner::{Cell, Runner};
use orrery_report::tables;
use orrery_results::{Row, metric, unit};
use orrery_scenario::SpecError;
use orrery_sweep::applications::Applications;
use orrery_sweep::applications::cases::Case;
use orrery_sweep::arithmetic::laws::{LawsFile, SHARE};
use orrery_sweep::arithmetic::score::{ScoreFile, Toy};
use orrery_sweep::grid::word;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;

/// What is allowed of seeds where nothing is run.
pub(super) const COMPUTED: &str = "nothing: it is computed, without chance";
/// The name that laws of execution times go by where systems have theirs.
pub(super) const LAW: &str = "time alone";

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
        let allowed = "none with `score`: its laws and requests are its curves";
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
        let row = |p: orrery_sweep::arithmetic::Point| Row {
            axes: format!("at_ms={}", p.at),
            system: p.of,
            scope: "all".to_string(),
            metric: p.metric.to_string(),
            unit: unit(p.metric).to_string(),
            value: Some(p.value),
            spec_sha256: hash.clone(),
            ..self.experiment.place()
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

    fn blocks(&self, _: &[Row]) -> Option<String> {
        let mut out = String::from("\nmeans\n");
        let mut table = tables::Text::new(&["law", "mean ms"]);
        for (name, mean) in self.toy.means_ms() {
            table.line(vec![name.to_string(), format!("{mean:.3}")]);
        }
        out.push_str(&table.left(&["law"]).text());
        out.push_str("\nmilestones: where the form of a request's score changes, ms\n");
        for (i, name) in self.toy.requests().into_iter().enumerate() {
            let all: Vec<String> =
                self.toy.milestones(i).iter().map(|t| format!("{t:.2}")).collect();
            let _ = writeln!(out, "{name}: {}", all.join(" "));
        }
        out.push_str("\nthe order of scores above zero, highest first\n");
        let mut table = tables::Text::new(&["from ms", "requests"]);
        for (from, order) in self.toy.orders() {
            let order = if order.is_empty() { "none".to_string() } else { order.join(", ") };
            table.line(vec![format!("{from:.2}"), order]);
        }
        out.push_str(&table.left(&["requests"]).text());
        Some(out)
    }
}

/// The laws of cases, a part each.
pub struct Laws<'a> {
    experiment: &'a Experiment,
    applications: &'a Applications,
    file: LawsFile,
    cases: Vec<Case>,
}

impl<'a> Laws<'a> {
    /// Makes every case.
    ///
    /// # Errors
    /// When a number or the name of a case is wrong.
    pub fn new(
        experiment: &'a Experiment,
        applications: &'a Applications,
        file: LawsFile,
    ) -> Result<Laws<'a>, SpecError> {
        without_axes(experiment, "laws", &["case"])?;
        file.check()?;
        applications.check().map_err(|e| {
            let key = e.key().unwrap_or_default().to_string();
            e.at(format!("applications.{key}"))
        })?;
        let names = experiment.axis.iter().flat_map(|a| a.values.iter().map(word));
        let cases: Vec<Case> = names
            .map(|name| Case::make(&applications.cases, &name))
            .collect::<Result<_, SpecError>>()?;
        if cases.is_empty() {
            let remedy = "add an `[[axis]]` with `key = \"case\"` and `values`";
            return Err(SpecError::value("axis", "no `case`", "an axis for it", remedy));
        }
        Ok(Laws { experiment, applications, file, cases })
    }

    fn rows(&self, case: &Case) -> Vec<Row> {
        let rules = toml::to_string(&self.applications.cases).unwrap_or_default();
        let file = toml::to_string(&self.file).unwrap_or_default();
        let hash = spec_sha256(&["laws", &rules, &file, &case.name]);
        let row = |axes: String, metric: &str, value: f64| Row {
            case: case.name.clone(),
            axes,
            system: LAW.to_string(),
            scope: "all".to_string(),
            metric: metric.to_string(),
            unit: unit(metric).to_string(),
            value: Some(value),
            spec_sha256: hash.clone(),
            ..self.experiment.place()
        };
        let mut rows = vec![
            row(String::new(), metric::MEAN, case.law.mean_ns()),
            row(String::new(), metric::P99, case.law.quantile_ns(0.99)),
        ];
        let points = self.file.points(case).into_iter();
        rows.extend(points.map(|p| row(format!("time_x_p99={:.4}", p.at), SHARE, p.value)));
        rows
    }
}

impl Runner for Laws<'_> {
    fn parts(&self) -> Vec<String> {
        self.cases.iter().map(|c| c.name.clone()).collect()
    }

    fn places(&self) -> Vec<Row> {
        self.cases.iter().flat_map(|c| self.rows(c)).collect()
    }

    fn run(&self, part: usize, _: &Kept) -> Result<Vec<Cell>, SpecError> {
        Ok(vec![Cell { more: self.rows(&self.cases[part]), ..Cell::default() }])
    }

    fn blocks(&self, rows: &[Row]) -> Option<String> {
        let find = |case: &Case, metric: &str| {
            rows.iter().find(|r| r.case == case.name && r.metric == metric)
        };
        let mut out = String::from("\nexecution time alone, ms: ours / the paper's\n");
        let mut table = tables::Text::new(&["case", "mean", "P99"]);
        for case in &self.cases {
            let both = |metric: &str| {
                let row = find(case, metric);
                let ms = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{:.2}", x / 1e6));
                format!("{} / {}", ms(row.and_then(|r| r.value)), ms(row.and_then(|r| r.paper)))
            };
            table.line(vec![case.name.clone(), both(metric::MEAN), both(metric::P99)]);
        }
        out.push_str(&table.left(&["case"]).text());
        Some(out)
    }
}

/// Only these axes are varied, and nothing is set.
fn without_axes(e: &Experiment, kind: &str, allowed: &[&str]) -> Result<(), SpecError> {
    let other = e.axis.iter().find(|a| !allowed.contains(&a.name.as_str()));
    let key = match (other, e.point.is_empty(), e.set.is_empty()) {
        (Some(_), ..) => "axis",
        (None, false, _) => "point",
        (None, true, false) => "set",
        _ => return Ok(()),
    };
    let found = other.map_or("settings".to_string(), |a| format!("`{}`", a.name));
    let allowed = match allowed {
        [] => format!("none with `{kind}`"),
        _ => format!("with `{kind}` only the axis `{}`", allowed.join("`, `")),
    };
    Err(SpecError::value(key, found, allowed, "remove it: nothing is run"))
}
