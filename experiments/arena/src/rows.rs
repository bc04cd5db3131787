//! A league as result rows, and as JSON.

use crate::fight::Fought;
use crate::league::League;
use crate::tuned::Tuned;
use orrery_results::{Row, difference_of, metric, seed_list, unit};
use orrery_sweep::rows::rows;
use orrery_sweep::seeds::Seeds;
use serde_json::{Value, json};

/// The rows: of each cell, and its difference to the best of the scenario; then those of the highest rates.
pub fn of(league: &League) -> Vec<Row> {
    let mut out = Vec::new();
    for (s, cells) in league.cells.iter().enumerate() {
        for (p, cell) in cells.iter().enumerate() {
            let place = place(league, s, cell);
            if cell.runs.is_empty() {
                out.push(refused(place, metric::ARENA_SCORE, &cell.reason));
                continue;
            }
            out.extend(of_cell(&place, cell));
            out.extend(behind(league, s, p, &place));
        }
    }
    if let Some(rates) = &league.rates {
        for (s, cells) in rates.scenarios.iter().zip(&rates.cells) {
            for cell in cells {
                let place = place(league, *s, cell);
                match cell.runs.is_empty() {
                    true => out.push(refused(place, metric::PEAK, &cell.reason)),
                    false => out.extend(of_cell(&place, cell)),
                }
            }
        }
    }
    out
}

/// What the rows of a cell have in common.
pub(crate) fn place(league: &League, s: usize, cell: &Fought) -> Row {
    let suite = &league.asked.suite;
    let hash = format!("suite-{}={}", suite.name, suite.sha256);
    let mut place = cell.place.clone();
    place.experiment.clone_from(&league.id);
    place.case.clone_from(&suite.scenarios[s].name);
    let inputs = [hash.as_str(), &place.inputs_sha256];
    let inputs: Vec<&str> = inputs.into_iter().filter(|i| !i.is_empty()).collect();
    place.inputs_sha256 = inputs.join(";");
    place
}

fn of_cell(place: &Row, cell: &Fought) -> Vec<Row> {
    let first = cell.runs.first().map_or(0, |r| r.seed);
    let seeds = Seeds { first, count: cell.runs.len() as u32, until_ci: None };
    rows(place, &seeds, &cell.runs)
}

fn refused(place: Row, metric: &str, reason: &str) -> Row {
    let unit = unit(metric).to_string();
    let mut row = Row { scope: "all".into(), metric: metric.into(), unit, ..place };
    row.flags = String::new();
    row.without_answer(reason);
    row
}

/// The difference of a policy to the best one of its scenario.
fn behind(league: &League, s: usize, p: usize, place: &Row) -> Option<Row> {
    let best = league.bests[s].as_ref().filter(|b| b.best != p)?;
    let (_, behind, interval) = league.board.standing(s, p, best)?;
    let seeds: Vec<u64> = league.cells[s][p].runs.iter().map(|r| r.seed).collect();
    let metric = difference_of(metric::ARENA_SCORE);
    let mut row = Row {
        versus: league.name(best.best).to_string(),
        seeds: seed_list(&seeds),
        flags: String::new(),
        ..place.of_all(&metric, -behind)
    };
    if let Some(i) = interval {
        row.set_interval(-i.high, -i.low, "paired-replications");
    }
    Some(row)
}

/// What JSON has beside the rows; `claims` is what came of the papers' headlines.
pub fn json(league: &League, tuned: Option<&Tuned>, claims: Value) -> Value {
    let suite = &league.asked.suite;
    let names = |all: &[usize]| all.iter().map(|p| league.name(*p)).collect::<Vec<_>>();
    let line = |l: &crate::board::Line| {
        json!({
            "policy": league.name(l.policy), "ran": l.ran, "behind": l.behind, "behind_half_ci95": l.half,
            "leads": l.leads, "tied": l.tied, "collapses": l.collapses,
            "place": l.place.map(|p| p.place), "place_by_seeds": l.place.map(|p| p.by_seeds),
            "place_by_scenarios": l.place.map(|p| p.by_scenarios),
            "worst_app_finish_rate": league.worst_app(l.policy),
            "of_the_possible": league.of_the_possible(l.policy).map(|p| p.0),
            "scenarios_with_bound": league.of_the_possible(l.policy).map_or(0, |p| p.1),
        })
    };
    let scenario = |(s, asked): (usize, &crate::suite::Asked)| {
        let best = league.bests[s].as_ref();
        let standing = |p: usize| {
            let (standing, ..) = league.board.standing(s, p, best?)?;
            Some((league.name(p).to_string(), Value::from(standing.word())))
        };
        let standings: serde_json::Map<String, Value> =
            (0..league.names.len()).filter_map(standing).collect();
        json!({
            "name": asked.name, "asks": asked.asks, "axes": asked.axes,
            "best": best.map(|b| league.name(b.best)), "score": best.map(|b| b.mean),
            "tied": best.map(|b| names(&b.tied)), "standings": standings,
            "finish_rate_bound": league.bound(s),
        })
    };
    let map = |m: &crate::map::Map| {
        let cell = |c: &crate::map::Cell| {
            json!({
                "x": c.at.0, "y": c.at.1, "scenarios": c.scenarios, "best": league.name(c.best),
                "lead": c.lead, "tied": names(&c.tied),
            })
        };
        json!({ "x": m.x.0, "y": m.y.0, "cells": m.cells.iter().map(cell).collect::<Vec<_>>() })
    };
    json!({
        "suite": suite.name, "suite_sha256": suite.sha256, "scenarios": suite.scenarios.len(),
        "scenarios_of_whole": suite.whole, "seeds": league.asked.seeds,
        "tuned": tuned.map(tuned_json),
        "league": league.lines.iter().map(line).collect::<Vec<_>>(),
        "by_scenario": suite.scenarios.iter().enumerate().map(scenario).collect::<Vec<_>>(),
        "by_family": league.families().iter().map(|(family, scenarios)| {
            let regrets = league.lines.iter().filter_map(|l| {
                Some((league.name(l.policy).to_string(), Value::from(league.regret(l.policy, scenarios)?)))
            });
            json!({ "family": family, "scenarios": scenarios.len(), "regret": regrets.collect::<serde_json::Map<_, _>>() })
        }).collect::<Vec<_>>(),
        "claims": claims,
        "maps": league.maps.iter().map(map).collect::<Vec<_>>(),
    })
}

fn tuned_json(tuned: &Tuned) -> Value {
    let found = |f: &crate::tuned::Found| {
        json!({
            "policy": f.policy, "tried": f.tried, "setting": f.best.text(), "training": f.training,
            "judging": f.judging,
        })
    };
    json!({
        "budget": tuned.tuning.budget, "draw": tuned.tuning.draw, "scenarios": tuned.halves,
        "found": tuned.found.iter().map(found).collect::<Vec<_>>(),
    })
}
