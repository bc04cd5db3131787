//! Maps of who leads where: a panel for each pair of axes, each cell in the colour of the system that leads there.
//!
//! Paler where the lead is small, hatched where the first ones cannot be told apart.

use crate::curves;
use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Look, Mark, Panel};
use crate::scale::{Scale, Tick};
use crate::scene::{Color, Stroke};
use crate::sheet::Sheet;
use crate::systems::Looks;

/// The figure, as errors name it.
const FIGURE: &str = "winners";
/// A lead with the whole colour.
const LEAD_FULL: f64 = 0.1;
/// Panels beside each other: cells have room for names.
const COLUMNS: usize = 2;
/// How much of the colour no lead has.
const PALEST: f64 = 0.25;

/// A grid of two axes.
#[derive(Clone, Debug, Default)]
pub struct WinnersGrid {
    /// The axis to the right, with its values in order.
    pub x: (String, Vec<String>),
    /// The axis upwards.
    pub y: (String, Vec<String>),
    /// Its cells; where nothing was asked there is none.
    pub cells: Vec<Winner>,
}

/// Who leads in a cell.
#[derive(Clone, Debug, Default)]
pub struct Winner {
    /// The place of the cell by the values of both axes.
    pub at: (usize, usize),
    /// The system.
    pub system: String,
    /// How far the next one is behind.
    pub lead: f64,
    /// Whether others cannot be told apart from it.
    pub tied: bool,
}

/// The maps of a league.
///
/// # Errors
/// When there is no grid, or too many for one figure.
pub fn winners(title: &str, subtitle: &str, grids: &[WinnersGrid]) -> Result<Figure, PlotError> {
    if grids.is_empty() {
        let remedy = "ask for scenarios that differ in two axes of a map";
        return Err(PlotError::missing(FIGURE, "two axes of a map", &[], remedy));
    }
    PlotError::limit(FIGURE, "panels", grids.len(), curves::PANELS_MAX, curves::CHOOSE_FEWER)?;
    let systems = distinct(grids.iter().flat_map(|g| &g.cells).map(|c| c.system.as_str()));
    let looks = Looks::of(&systems);
    let panels: Vec<Panel> = grids.iter().map(|grid| panel(grid, &looks)).collect();
    let key = |s: &&str| ((*s).to_string(), Key::Swatch(looks.area(s)));
    let sheet = Sheet {
        title: title.to_string(),
        subtitle: subtitle.to_string(),
        columns: panels.len().min(COLUMNS),
        panels,
        plot: (430.0, 130.0),
        wrap_x: true,
        share_x: false,
        share_y: false,
        legend: Legend::Flow(systems.iter().map(key).collect()),
        notes: vec![format!(
            "Colour and word: who leads, with the distance to the next; from {LEAD_FULL} on the colour is whole. \
             Hatched: others are not distinguishable from it. Empty: not run."
        )],
    };
    Ok(sheet.figure())
}

fn panel(grid: &WinnersGrid, looks: &Looks) -> Panel {
    let mark = |c: &Winner| {
        let own = looks.area(&c.system);
        let share = PALEST + (1.0 - PALEST) * (c.lead / LEAD_FULL).clamp(0.0, 1.0);
        let look = Look {
            fill: own.fill.tint(share),
            outline: Some(Stroke::solid(Color::WHITE, 1.0)),
            hatched: c.tied,
        };
        let (x, y) = (c.at.0 as f64, c.at.1 as f64);
        let lead = format!("{:.2}", c.lead).trim_start_matches('0').to_string();
        // Where a cell is narrow, in lines; a name that does not fit then begins as it does.
        let broken = c.system.replace('-', "-\n");
        let cut = c.system.chars().take(3).chain(['…']).collect::<String>();
        let in_lines = [format!("{}\n{lead}", c.system), format!("{broken}\n{lead}"), broken];
        let words = [format!("{} {lead}", c.system)].into_iter().chain(in_lines).chain([cut]);
        Mark::Cell { from: (x, y), to: (x + 1.0, y + 1.0), look, words: words.collect() }
    };
    Panel {
        title: String::new(),
        x: axis(&grid.x),
        y: axis(&grid.y),
        marks: grid.cells.iter().map(mark).collect(),
    }
}

fn axis((name, values): &(String, Vec<String>)) -> Axis {
    let largest = values.iter().filter_map(|v| v.parse().ok()).fold(0.0, f64::max);
    let label = names::axis(name, largest).label;
    let tick = |(i, v): (usize, &String)| Tick { at: i as f64 + 0.5, label: v.clone() };
    let scale = Scale::Linear { low: 0.0, high: values.len() as f64 };
    Axis { label, scale, ticks: values.iter().enumerate().map(tick).collect() }
}
