//! `orrery reproduce` for figures and tables over clusters: a sweep, the paper's numbers beside ours,
//! and the paper's sentences as checks that are printed whatever comes out.

mod derived;
mod file;
mod report;

pub use file::{Claim, Paper, Study, System};

use crate::cells::cell::{Replication, rows};
use crate::cli::Reproduce;
use crate::output::{Forms, Progress, say};
use crate::cells::{Entry, Store, plan};
use orrery_results::{Row, to_json};
use orrery_scenario::SpecError;
use rayon::prelude::*;

/// The study with the seeds and points that were asked for.
///
/// # Errors
/// When a point is unknown.
pub fn with_options(study: &Study, args: &Reproduce) -> Result<Study, SpecError> {
    let mut study = study.clone();
    study.seeds = args.seeds.unwrap_or(study.seeds);
    if !args.cases.is_empty() {
        keep_cases(&mut study, &args.cases)?;
    }
    Ok(study)
}

/// Runs a study. With `--out`, cells that are finished are kept there, and found again.
///
/// # Errors
/// When a part of it is wrong, or `--out` cannot be written.
pub fn reproduce(study: &Study, args: &Reproduce) -> Result<Forms, SpecError> {
    let study = with_options(study, args)?;
    let (mut file, base) = study.sweep()?;
    if let Some((width, most)) = args.until.pair(study.seeds)? {
        (file.until_ci, file.max_seeds) = (Some(width), most);
    }
    let (plan, cells) = plan(&file, base)?;
    let store = args.output.out.as_ref().map(|folder| Store::open(folder)).transpose()?;
    let progress = Progress::new(cells.len() as u64, "cells");
    let run = |i: usize| -> Result<Vec<Replication>, SpecError> {
        let hash = &plan.cells[i].spec_sha256;
        let kept = store.as_ref().map(|s| s.read(hash));
        if let Some(Entry::Damaged(why)) = &kept {
            say(&format!("damaged: {why}; that cell is run again"));
        }
        let runs = match kept {
            Some(Entry::Good(runs)) => runs,
            _ => {
                let runs = cells[i].run()?;
                if let Some(store) = &store {
                    store.write(hash, &runs)?;
                }
                runs
            }
        };
        progress.step();
        Ok(runs)
    };
    let runs: Vec<Vec<Replication>> =
        (0..cells.len()).into_par_iter().with_max_len(1).map(run).collect::<Result<_, _>>()?;
    drop(progress);
    let mut all = Vec::new();
    for (i, (cell, own)) in plan.cells.iter().zip(&runs).enumerate() {
        let mut place = cell.place.clone();
        let system = study.system_of(i);
        (place.system, place.preset) = (system.name.clone(), system.preset.clone());
        all.extend(rows(&place, &cell.seeds, own));
    }
    derived::add(&study, &mut all);
    all.iter_mut().for_each(|row| beside(&study, row));
    Ok(Forms {
        table: report::text(&study, &all),
        wide: report::wide(&study, &all),
        json: to_json(&all, &[("study", study.id.clone().into())]),
        rows: all,
    })
}

impl Study {
    /// The metric that it is about: the first that it shows.
    pub fn main(&self) -> &str {
        self.show.first().map_or("finish_rate", String::as_str)
    }

    /// Passes when its main metric can be drawn. That depends on cells and systems, not on values.
    ///
    /// # Errors
    /// When there is no axis to draw along, or too much for one figure.
    pub fn check_figure(&self) -> Result<(), SpecError> {
        let (file, base) = self.sweep()?;
        let (plan, _) = plan(&file, base)?;
        let row = |(i, cell): (usize, &crate::cells::PlannedCell)| Row {
            system: self.system_of(i).name.clone(),
            preset: self.system_of(i).preset.clone(),
            scope: "all".to_string(),
            metric: self.main().to_string(),
            value: Some(0.5),
            ..cell.place.clone()
        };
        let rows: Vec<Row> = plan.cells.iter().enumerate().map(row).collect();
        crate::table_figure::check_metric(&rows, self.main())
    }
}

/// Only these points.
fn keep_cases(study: &mut Study, cases: &[String]) -> Result<(), SpecError> {
    let known: Vec<String> = study.point.iter().map(|p| p.name.clone()).collect();
    if let Some(unknown) = cases.iter().find(|c| !known.contains(c)) {
        let allowed = if known.is_empty() {
            "nothing: this study has no points to choose from".to_string()
        } else {
            format!("one of {}", known.join(", "))
        };
        let remedy = "leave `--case` out to run all";
        return Err(SpecError::value("--case", format!("`{unknown}`"), allowed, remedy));
    }
    study.point.retain(|p| cases.contains(&p.name));
    Ok(())
}

/// Puts the paper's number beside a row.
fn beside(study: &Study, row: &mut Row) {
    let is_it = |p: &&Paper| {
        row.scope == "all"
            && row.versus.is_empty()
            && p.metric == row.metric
            && p.system == row.system
            && has(&row.axes, &p.at)
    };
    if let Some(paper) = study.paper.iter().find(is_it) {
        row.paper = Some(paper.value);
        row.paper_source = paper.source.clone();
        row.abs_error = row.value.map(|ours| (ours - paper.value).abs());
    }
}

/// Whether a cell's axes contain all of `at`, written as `name=value;name=value`.
fn has(axes: &str, at: &str) -> bool {
    at.split(';').filter(|a| !a.is_empty()).all(|a| axes.split(';').any(|b| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_axes_is_enough() {
        assert!(has("model=a;gpus=8", "gpus=8") && has("model=a;gpus=8", ""));
        assert!(!has("model=a;gpus=80", "gpus=8"));
    }

    #[test]
    fn every_shipped_study_is_sound() {
        for study in Study::shipped().unwrap_or_else(|e| panic!("{e}")) {
            let (file, base) = study.sweep().unwrap_or_else(|e| panic!("{}: {e}", study.id));
            let (plan, _) = plan(&file, base).unwrap_or_else(|e| panic!("{}: {e}", study.id));
            for paper in &study.paper {
                let at = |c: &&crate::cells::PlannedCell| has(&c.place.axes, &paper.at);
                assert!(plan.cells.iter().any(|c| at(&c)), "{}: {}", study.id, paper.at);
            }
            for claim in &study.claim {
                let at = |c: &&crate::cells::PlannedCell| has(&c.place.axes, &claim.at);
                assert!(plan.cells.iter().any(|c| at(&c)), "{}: {}", study.id, claim.text);
            }
        }
    }
}
