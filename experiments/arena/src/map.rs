//! Who leads where on two axes.

use crate::board::Board;
use crate::suite::{Asked, Suite};
use orrery_plots::{Winner, WinnersGrid};

/// A cell of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its values on both axes.
    pub at: (String, String),
    /// How many scenarios are in it.
    pub scenarios: usize,
    /// The policy with the highest mean over them.
    pub best: usize,
    /// How far the next one is behind.
    pub lead: f64,
    /// Those that cannot be told apart from it.
    pub tied: Vec<usize>,
}

/// A map.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The axis to the right, with its values.
    pub x: (String, Vec<String>),
    /// The axis upwards, with its values.
    pub y: (String, Vec<String>),
    /// Its cells; where nothing was asked there is none.
    pub cells: Vec<Cell>,
}

/// The maps of a suite: its pairs of axes that scenarios differ in.
pub fn maps(suite: &Suite, board: &Board) -> Vec<Map> {
    let all = suite.maps.iter().map(|(x, y)| map(suite, board, x, y));
    all.filter(|m| m.x.1.len() > 1 && m.y.1.len() > 1).collect()
}

fn map(suite: &Suite, board: &Board, x: &str, y: &str) -> Map {
    let on_both = |a: &&Asked| a.at(x).is_some() && a.at(y).is_some();
    let of = |axis: &str| {
        let own = suite.scenarios.iter().filter(on_both);
        in_order(own.filter_map(|a| a.at(axis)))
    };
    let (xs, ys) = (of(x), of(y));
    let mut cells = Vec::new();
    for at_y in &ys {
        for at_x in &xs {
            let is_here = |s: &usize| {
                let asked = &suite.scenarios[*s];
                asked.at(x) == Some(at_x) && asked.at(y) == Some(at_y)
            };
            let here: Vec<usize> = (0..suite.scenarios.len()).filter(is_here).collect();
            let Some(best) = board.best(&here) else { continue };
            cells.push(Cell {
                at: (at_x.clone(), at_y.clone()),
                scenarios: here.len(),
                best: best.best,
                lead: best.next.map_or(0.0, |n| n.1),
                tied: best.tied,
            });
        }
    }
    Map { x: (x.to_string(), xs), y: (y.to_string(), ys), cells }
}

/// Each value once: numbers in order, words as they come.
pub fn in_order<'a>(values: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for value in values {
        if !out.iter().any(|v| v == value) {
            out.push(value.to_string());
        }
    }
    let number = |v: &String| v.parse::<f64>().ok().filter(|x| x.is_finite());
    if out.iter().all(|v| number(v).is_some()) {
        out.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    out
}

/// A map as a figure has it.
pub fn grid(map: &Map, names: &[String]) -> WinnersGrid {
    let place = |values: &[String], v: &str| values.iter().position(|x| x == v).unwrap_or(0);
    let winner = |c: &Cell| Winner {
        at: (place(&map.x.1, &c.at.0), place(&map.y.1, &c.at.1)),
        system: names[c.best].clone(),
        lead: c.lead,
        tied: !c.tied.is_empty(),
    };
    let cells = map.cells.iter().map(winner).collect();
    WinnersGrid { x: map.x.clone(), y: map.y.clone(), cells }
}
