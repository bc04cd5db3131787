//! The laws of execution times alone that Orloj's tables assume, as histograms (its Fig. 2, and the laws beside
//! Fig. 7 to 9).

use super::cases::Case;
use super::table::Applications;
use crate::experiment::Experiment;
use crate::kinds::computed::{Point, without_axes};
use crate::runner::{Cell, KindDocument, Runner};
use orrery_report::page::{Field, Table};
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::limits::within;
use orrery_sweep::grid::word;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name that laws of execution times go by where systems have theirs.
pub(super) const LAW: &str = "time alone";

/// `[laws]`: with `applications`, the laws of its cases in place of runs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LawsFile {
    /// Number of bins of a histogram.
    pub bins: u32,
    /// Where it ends, as a multiple of the distribution's P99.
    pub to_x_p99: f64,
}

/// The metric of a histogram: the share of the requests in a bin.
pub use orrery_results::metric::SHARE;

impl LawsFile {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), SpecError> {
        within("laws.bins", f64::from(self.bins), 1.0, 1_000.0)?;
        within("laws.to_x_p99", self.to_x_p99, 1e-3, 1e3)
    }

    /// The shares of a case's requests by bins, at their middles as multiples of P99; then its mean and P99.
    pub fn points(&self, case: &Case) -> Vec<Point> {
        let p99 = case.law.quantile_ns(0.99);
        let width = self.to_x_p99 / f64::from(self.bins);
        let cdf = |edge: u32| case.law.cdf_ns(f64::from(edge) * width * p99);
        let point = |metric, at, value| Point { of: case.name.clone(), metric, at, value };
        // A constant is in the bin that ends above it.
        let share = |i: u32| {
            let below = if i == 0 { 0.0 } else { cdf(i) };
            point(SHARE, (f64::from(i) + 0.5) * width, cdf(i + 1) - below)
        };
        (0..self.bins).map(share).collect()
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
        applications.check().map_err(|e| e.in_table("applications"))?;
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
            spec_sha256: hash.clone(),
            ..self.experiment.place().of_all(metric, value)
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

    fn document(&self, _: &[Cell], rows: &[Row]) -> KindDocument {
        let find = |case: &Case, metric: &str| {
            rows.iter().find(|r| r.case == case.name && r.metric == metric)
        };
        let caption = "execution time in isolation, ms; in brackets the paper's";
        let mut table = Table { keys: 1, ..Table::new(caption, &["case", "mean", "P99"]) };
        for case in &self.cases {
            let both = |metric: &str| {
                let row = find(case, metric);
                let ms = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{:.2}", x / 1e6));
                let ours = row.and_then(|r| r.value);
                Field { key: ours, ..Field::text(ms(ours)) }.with(ms(row.and_then(|r| r.paper)))
            };
            table.rows.push(vec![Field::text(&*case.name), both(metric::MEAN), both(metric::P99)]);
        }
        KindDocument {
            results: Some(table.part().into_iter().collect()),
            ..KindDocument::default()
        }
    }
}
