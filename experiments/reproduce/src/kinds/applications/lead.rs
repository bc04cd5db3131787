//! Where is a system needed? How far it is ahead of the best other system, over the axes that all have in common;
//! and how near one place of these comes to the paper's columns, each system with its best setting there.
//!
//! The settings are the axes `leave_one_out.own`. A lead is of means over cases at one SLO, and both sides take the
//! setting that finishes most. An error is of all cells of a system, under the setting with the smallest.

use super::left_out::LeaveOneOut;
use super::means::{SLO, change, errors, rate};
use crate::experiment::Experiment;
use crate::runner::Cell;
use orrery_report::page::{Field, Part, Table};
use orrery_results::metric::{COLUMN_ABS_ERROR as COLUMN, LEAD, WORST_ABS_ERROR as WORST};
use orrery_results::{Row, distinct, seed_list};
use orrery_sim::stats::mean;
use orrery_sweep::hash::spec_sha256;
use std::collections::BTreeMap;

/// The axis that says which systems' columns are meant: all, or all but the one that is ahead.
const COLUMNS: &str = "columns";
/// How a policy's name begins that knows every execution time: it is no rival.
const ORACLE: &str = "oracle";
/// A lead that counts.
const NEEDED: f64 = 0.05;

/// The cells of a system at a place, by setting.
type Settings<'a> = BTreeMap<String, Vec<&'a Cell>>;

/// A place of the axes that all systems have in common.
struct Place<'a> {
    axes: String,
    systems: Vec<(&'a Row, Settings<'a>)>,
}

fn places<'a>(leave: &LeaveOneOut, cells: &'a [Cell]) -> Vec<Place<'a>> {
    let mut places: Vec<Place<'a>> = Vec::new();
    for cell in cells {
        let (axes, setting) = leave.parts(&change(&cell.place));
        let at = places.iter().position(|p| p.axes == axes).unwrap_or_else(|| {
            places.push(Place { axes, systems: Vec::new() });
            places.len() - 1
        });
        let systems = &mut places[at].systems;
        let is = |s: &(&Row, Settings<'_>)| s.0.system == cell.place.system;
        let own = systems.iter().position(is).unwrap_or_else(|| {
            systems.push((&cell.place, Settings::new()));
            systems.len() - 1
        });
        systems[own].1.entry(setting).or_default().push(cell);
    }
    places
}

impl Place<'_> {
    fn slos(&self) -> Vec<&str> {
        let cells = self.systems.iter().flat_map(|s| s.1.values().flatten());
        distinct(cells.filter_map(|c| c.place.axis(SLO)))
    }

    /// How far a system is ahead at an SLO.
    fn lead(&self, base: &str, slo: &str) -> Option<f64> {
        let of = |cells: &Vec<&Cell>| {
            let own = cells.iter().filter(|c| c.place.axis(SLO) == Some(slo));
            mean(&own.map(|c| rate(c)).collect::<Option<Vec<_>>>()?)
        };
        let best = |is_base: bool| {
            let is = |row: &Row| (row.system == base) == is_base && !row.policy.starts_with(ORACLE);
            let systems = self.systems.iter().filter(|s| is(s.0));
            systems.flat_map(|s| s.1.values().filter_map(of)).reduce(f64::max)
        };
        Some(best(true)? - best(false)?)
    }

    /// The error of each system that the paper has numbers for.
    fn columns(&self, e: &Experiment) -> Vec<(&Row, f64)> {
        let of = |cells: &Vec<&Cell>| mean(&errors(cells, &e.paper));
        let best = |s: &Settings<'_>| s.values().filter_map(of).reduce(f64::min);
        self.systems.iter().filter_map(|(row, s)| Some((*row, best(s)?))).collect()
    }
}

/// The rows: leads by SLO, the error of each system's column, and the largest of them.
pub(super) fn rows(e: &Experiment, leave: &LeaveOneOut, cells: &[Cell]) -> Vec<Row> {
    let (Some(first), Some(base)) = (cells.first(), e.compare_to.as_deref()) else {
        return Vec::new();
    };
    let all: Vec<&str> = cells.iter().map(|c| c.place.spec_sha256.as_str()).collect();
    let seeds: Vec<u64> = first.runs.iter().map(|r| r.seed).collect();
    let (spec_sha256, seeds) = (spec_sha256(&all), seed_list(&seeds));
    let row = |of: &Row, axes: String, metric: &str, value: f64| Row {
        case: String::new(),
        policy: String::new(),
        samples: cells.len() as u64,
        seeds: seeds.clone(),
        spec_sha256: spec_sha256.clone(),
        axes,
        ..of.of_all(metric, value)
    };
    let mut out = Vec::new();
    for place in &places(leave, cells) {
        let Some(of_base) = place.systems.iter().find(|s| s.0.system == base) else { continue };
        let at = |more: String| [place.axes.clone(), more].join(";");
        for slo in place.slos() {
            let lead = place.lead(base, slo);
            out.extend(lead.map(|x| row(of_base.0, at(format!("{SLO}={slo}")), LEAD, x)));
        }
        let columns = place.columns(e);
        out.extend(columns.iter().map(|(of, x)| row(of, place.axes.clone(), COLUMN, *x)));
        for (name, all) in [("all", true), ("others", false)] {
            let own = columns.iter().filter(|c| all || c.0.system != base).map(|c| c.1);
            let axes = at(format!("{COLUMNS}={name}"));
            out.extend(own.reduce(f64::max).map(|x| row(of_base.0, axes, WORST, x)));
        }
    }
    out
}

/// Where a figure's values will stand.
pub(super) fn drawn(e: &Experiment, leave: &LeaveOneOut, places: &[Row]) -> Vec<Row> {
    let own = places.iter().filter(|p| Some(&p.system) == e.compare_to.as_ref());
    let mut out: Vec<Row> = Vec::new();
    for place in own {
        let axes = leave.parts(&place.axes).0;
        if out.iter().all(|r| r.axes != axes) {
            out.push(Row { case: String::new(), axes, ..place.clone() });
        }
    }
    out
}

/// The places that come nearest to the columns; then a line for each place: the leads, and the errors.
pub(super) fn parts(base: &str, rows: &[Row]) -> Option<Vec<Part>> {
    let of = |metric: &'static str| rows.iter().filter(move |r| r.metric == metric);
    let slos = distinct(of(LEAD).map(|r| r.axis(SLO).unwrap_or_default().to_string()));
    let systems = distinct(of(COLUMN).map(|r| r.system.clone()));
    let at = distinct(of(COLUMN).map(|r| r.axes.clone()));
    let names: Vec<&str> = of(COLUMN).next()?.axis_list().map(|a| a.0).collect();
    let value = |metric: &'static str, axes: &str, system: &str| {
        of(metric).find(|r| r.axes == axes && r.system == system).and_then(|r| r.value)
    };
    let leads = |axes: &String| -> Vec<Option<f64>> {
        slos.iter().map(|slo| value(LEAD, &format!("{axes};{SLO}={slo}"), base)).collect()
    };
    let keys = |axes: &str| -> Vec<Field> {
        orrery_results::pairs(axes).map(|a| Field::text(a.1)).collect()
    };
    let table = |caption: String, columns: &[String], values: &dyn Fn(&String) -> Vec<Field>| {
        let heads: Vec<&str> =
            names.iter().copied().chain(columns.iter().map(String::as_str)).collect();
        let mut table = Table { keys: names.len(), ..Table::new(caption, &heads) };
        table.rows = at.iter().map(|axes| [keys(axes), values(axes)].concat()).collect();
        table.part()
    };
    let caption = format!(
        "how much more of the requests {base} finishes than the best other system, by SLO (x P99), each with its \
         best setting"
    );
    let lead = |x: Option<f64>| x.map_or(Field::none(), |x| Field::number(x, format!("{x:+.3}")));
    let ahead = table(caption, &slos, &|axes| leads(axes).into_iter().map(lead).collect());
    let error = |axes: &String, s: &String| {
        value(COLUMN, axes, s).map_or(Field::none(), |x| Field::number(x, format!("{x:.3}")))
    };
    let caption = "mean absolute error of each system's column of the paper, with its best setting"
        .to_string();
    let columns =
        table(caption, &systems, &|axes| systems.iter().map(|s| error(axes, s)).collect());
    let needed: Vec<&String> = at
        .iter()
        .filter(|axes| leads(axes).iter().all(|x| x.is_some_and(|x| x > NEEDED)))
        .collect();
    let mut said = vec![format!(
        "{base} is ahead of every other system by more than {NEEDED} at every SLO in {} of {} places",
        needed.len(),
        at.len()
    )];
    for (name, whose) in [("others", format!("all but {base}")), ("all", "all".to_string())] {
        let worst = |axes: &&String| {
            value(WORST, &format!("{axes};{COLUMNS}={name}"), base).unwrap_or(f64::INFINITY)
        };
        let nearest = at.iter().min_by(|a, b| worst(a).total_cmp(&worst(b)))?;
        let known: Vec<f64> = leads(nearest).into_iter().flatten().collect();
        let mean_lead = mean(&known).map_or("-".to_string(), |x| format!("{x:.3}"));
        said.push(format!(
            "the largest error of the columns of {whose} is smallest at {}: {:.3}; {base} is ahead by {mean_lead} \
             there, in the mean over SLOs",
            nearest.replace(';', ", "),
            worst(&nearest)
        ));
    }
    Some([Part::List(said), ahead?, columns?].to_vec())
}
