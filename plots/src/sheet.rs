//! From panels to a figure: a grid with a title above, the legend and the notes below.
//!
//! Every margin is measured from the labels that stand in it, so that none is cut off.

use crate::font;
use crate::legend::{Laid, Legend};
use crate::panel::{LABEL, Panel, Place, TICK, TICK_LINE, TITLE, widest};
use crate::scene::{Anchor, Color, Scene};

/// Around everything.
const MARGIN: f64 = 12.0;
/// Size of the figure's title.
const HEAD: f64 = 14.0;
/// Size of the line below it, and of notes.
const SMALL: f64 = 10.5;
/// No figure is narrower: its title needs room.
const NARROWEST: f64 = 360.0;

/// A figure before its layout.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub title: String,
    pub subtitle: String,
    pub panels: Vec<Panel>,
    pub columns: usize,
    /// Width and height between the axes, the same for all panels.
    pub plot: (f64, f64),
    /// The labels of x ticks are words: they are broken into lines, and none is left out.
    pub wrap_x: bool,
    /// The panels of a column show the same x axis: only the lowest is labelled.
    pub share_x: bool,
    /// The panels of a row show the same y axis: only the first is labelled.
    pub share_y: bool,
    pub legend: Legend,
    pub notes: Vec<String>,
}

/// Columns, and the width and height between axes, for a number of panels.
pub(crate) fn grid_for(panels: usize) -> (usize, (f64, f64)) {
    match panels {
        0 | 1 => (1, (480.0, 300.0)),
        2 => (2, (360.0, 260.0)),
        4 => (2, (360.0, 220.0)),
        3 | 5 | 6 | 9 => (3, (285.0, 200.0)),
        _ => (4, (230.0, 180.0)),
    }
}

/// Breaks the labels of a panel's x ticks so that they fit between each other.
fn wrap(panel: &mut Panel, width: f64) {
    let room = (width / panel.x.ticks.len().max(1) as f64 - 7.0).max(20.0);
    for tick in &mut panel.x.ticks {
        let words = tick.label.replace('\n', " ");
        // A policy's parameters stand below its name where both have no room.
        let is_long = words.split(' ').any(|w| font::width(w, TICK) > room);
        let words = if is_long { words.replace('[', " [").replace('=', "= ") } else { words };
        tick.label = font::wrapped(&words, TICK, room).join("\n");
    }
}

/// The least width between a panel's axes.
const PANEL_LEAST: f64 = 70.0;
/// The least height, half an inch.
const PANEL_LOWEST: f64 = 48.0;

struct Grid {
    columns: usize,
    /// Left edge of each column's axes.
    lefts: Vec<f64>,
    /// Upper edge of each row's axes.
    tops: Vec<f64>,
    width: f64,
    bottom: f64,
}

impl Sheet {
    /// The sheet of a width and a height, in pixels, and its scene: panels are made wider or narrower, and where they would
    /// be too narrow, fewer stand beside each other.
    pub(crate) fn fitted(&self, width: Option<f64>, height: Option<f64>) -> (Sheet, Scene) {
        let mut sheet = self.clone();
        if let Some(width) = width {
            sheet.widen(self.plot, width);
        }
        let narrowest = width.map_or(NARROWEST, |w| w.min(NARROWEST));
        let drawn = |sheet: &Sheet| {
            let mut wrapped = sheet.clone();
            if sheet.wrap_x {
                wrapped.panels.iter_mut().for_each(|p| wrap(p, sheet.plot.0));
            }
            wrapped.drawn(narrowest)
        };
        if let Some(height) = height {
            let rows = sheet.panels.len().div_ceil(sheet.columns.max(1)).max(1) as f64;
            let rest = height - drawn(&sheet).height;
            sheet.plot.1 = (sheet.plot.1 + rest / rows).max(PANEL_LOWEST);
        }
        let scene = drawn(&sheet);
        (sheet, scene)
    }

    /// Panels of another width, from the size that they would have.
    fn widen(&mut self, plot: (f64, f64), width: f64) {
        for columns in (1..=self.columns.clamp(1, self.panels.len().max(1))).rev() {
            self.columns = columns;
            self.plot = plot;
            // The room for labels depends a little on the width itself.
            for _ in 0..3 {
                let fixed = self.grid(0.0).width - columns as f64 * self.plot.0;
                self.plot.0 = ((width - fixed) / columns as f64).max(PANEL_LEAST);
            }
            if self.plot.0 >= 1.6 * PANEL_LEAST {
                break;
            }
        }
        self.plot.1 *= (self.plot.0 / plot.0).clamp(0.7, 1.3);
    }

    fn drawn(&self, narrowest: f64) -> Scene {
        let head_room = self.grid(0.0).width.max(narrowest) - 2.0 * MARGIN;
        let lines = |text: &str, size: f64| match text {
            "" => Vec::new(),
            text => font::wrapped(text, size, head_room),
        };
        let (title, subtitle) = (lines(&self.title, HEAD), lines(&self.subtitle, SMALL));
        let head = MARGIN + title.len() as f64 * 19.0 + subtitle.len() as f64 * 15.0 + 4.0;
        let grid = self.grid(head);
        let mut scene = Scene { width: grid.width.max(narrowest), ..Scene::default() };
        scene.title = self.title.clone();
        let mut y = MARGIN + HEAD;
        for (lines, size, step, color) in
            [(&title, HEAD, 19.0, Color::BLACK), (&subtitle, SMALL, 15.0, Color::DARK)]
        {
            for line in lines {
                scene.text((MARGIN, y), line, size, Anchor::Start, color);
                y += step;
            }
        }
        for (i, panel) in self.panels.iter().enumerate() {
            panel.draw(self.place(i, &grid), &mut scene);
            self.draw_labels(i, &grid, &mut scene);
        }
        let below = self.draw_legend(&grid, &mut scene);
        scene.height = self.draw_notes(below, &mut scene);
        scene
    }

    fn grid(&self, head: f64) -> Grid {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let (mut lefts, mut x) = (Vec::new(), MARGIN);
        for c in 0..columns {
            x += self.left_of(c, columns);
            lefts.push(x);
            x += self.plot.0 + self.right_of(c, columns);
        }
        let (mut tops, mut y) = (Vec::new(), head);
        for r in 0..rows {
            let cells = r * columns..((r + 1) * columns).min(self.panels.len());
            let titled = self.panels[cells.clone()].iter().any(|p| !p.title.is_empty());
            y += if titled { TITLE + 10.0 } else { 8.0 };
            tops.push(y);
            let labelled = cells.clone().filter(|i| self.shows_x(*i));
            y += self.plot.1 + labelled.map(|i| self.tick_room(i)).fold(6.0, f64::max);
            y += if cells.clone().any(|i| self.labels_x(i)) { LABEL + 5.0 } else { 0.0 };
        }
        Grid { columns, lefts, tops, width: x + MARGIN, bottom: y }
    }

    /// Room that a column needs left of its axes.
    fn left_of(&self, column: usize, columns: usize) -> f64 {
        let panels = self.panels.iter().skip(column).step_by(columns);
        if self.share_y && column > 0 {
            // The first tick's label may stand out to the left.
            let before = |p: &Panel| {
                let ticks =
                    p.x.ticks
                        .iter()
                        .map(|t| widest(&t.label) / 2.0 - p.x.scale.share(t.at) * self.plot.0);
                ticks.fold(0.0, f64::max)
            };
            return 8.0 + panels.map(before).fold(0.0, f64::max);
        }
        let ticks = panels.clone().flat_map(|p| &p.y.ticks);
        let widest = ticks.map(|t| font::width(&t.label, TICK)).fold(0.0, f64::max);
        let labelled = panels.clone().any(|p| !p.y.label.is_empty()) && self.labels_y(column);
        widest + 10.0 + if labelled { LABEL + 6.0 } else { 0.0 }
    }

    /// Room right of a column's axes: the last tick's label may stand out.
    fn right_of(&self, column: usize, columns: usize) -> f64 {
        let panels = self.panels.iter().skip(column).step_by(columns);
        let beyond = |p: &Panel| {
            let ticks = p.x.ticks.iter().map(|t| {
                let end = p.x.scale.share(t.at) * self.plot.0 + widest(&t.label) / 2.0;
                end - self.plot.0
            });
            ticks.fold(0.0, f64::max)
        };
        panels.map(beyond).fold(6.0, f64::max) + 2.0
    }

    fn is_lowest(&self, i: usize) -> bool {
        i + self.columns.clamp(1, self.panels.len().max(1)) >= self.panels.len()
    }

    /// Room for the labels of a panel's x ticks.
    fn tick_room(&self, i: usize) -> f64 {
        let lines = self.panels[i].x.ticks.iter().map(|t| t.label.lines().count());
        20.0 + TICK_LINE * lines.max().unwrap_or(1).saturating_sub(1) as f64
    }

    fn shows_x(&self, i: usize) -> bool {
        !self.share_x || self.is_lowest(i)
    }

    fn labels_x(&self, i: usize) -> bool {
        let differs = self.panels.iter().any(|p| p.x.label != self.panels[i].x.label);
        !self.panels[i].x.label.is_empty() && (self.is_lowest(i) || (!self.share_x && differs))
    }

    /// What all panels show is said at the left.
    fn labels_y(&self, column: usize) -> bool {
        column == 0 || self.panels.iter().any(|p| p.y.label != self.panels[0].y.label)
    }

    fn place(&self, i: usize, grid: &Grid) -> Place {
        let (row, column) = (i / grid.columns, i % grid.columns);
        Place {
            left: grid.lefts[column],
            top: grid.tops[row],
            width: self.plot.0,
            height: self.plot.1,
            x_labels: self.shows_x(i),
            y_labels: !self.share_y || column == 0,
        }
    }

    fn draw_labels(&self, i: usize, grid: &Grid, scene: &mut Scene) {
        let (panel, place) = (&self.panels[i], self.place(i, grid));
        if self.labels_x(i) {
            // Labels beside each other do not touch.
            let beside = if grid.columns > 1 { 0.0 } else { 2.0 * MARGIN };
            let label = font::fitted(&panel.x.label, LABEL, place.width + beside);
            let at = (
                place.left + place.width / 2.0,
                place.top + place.height + self.tick_room(i) + LABEL,
            );
            scene.text(at, &label, LABEL, Anchor::Middle, Color::BLACK);
        }
        if place.y_labels && self.labels_y(i % grid.columns) {
            // Smaller letters rather than fewer.
            let room = place.height + 12.0;
            let is_long = font::width(&panel.y.label, LABEL) > room;
            let size = if is_long { 0.8 * LABEL } else { LABEL };
            let label = font::fitted(&panel.y.label, size, room);
            let column = i % grid.columns;
            let x = place.left - self.left_of(column, grid.columns) + LABEL;
            scene.rotated((x, place.top + place.height / 2.0), &label, size, Color::BLACK);
        }
    }

    /// In the empty place of the grid when it fits there, else below; returns where notes may begin.
    fn draw_legend(&self, grid: &Grid, scene: &mut Scene) -> f64 {
        let spare = self.panels.len() % grid.columns;
        if spare > 0 && grid.tops.len() > 1 {
            let left = grid.lefts[spare] + 4.0;
            // The panel above the empty place has its labels there.
            let above = grid.tops[grid.tops.len() - 2] + self.plot.1 + 20.0 + LABEL + 14.0;
            let laid = self.legend.laid(grid.width - left - MARGIN);
            if above + laid.height <= grid.bottom && !laid.is_cut() {
                laid.draw((left, above), scene);
                return grid.bottom + 2.0;
            }
        }
        let room = scene.width - 2.0 * MARGIN;
        let laid: Laid = self.legend.laid(room);
        if laid.height == 0.0 {
            return grid.bottom + 2.0;
        }
        let left = MARGIN + ((room - laid.width) / 2.0).max(0.0);
        laid.draw((left, grid.bottom + 8.0), scene);
        grid.bottom + 10.0 + laid.height
    }

    /// Returns the figure's height.
    fn draw_notes(&self, below: f64, scene: &mut Scene) -> f64 {
        let mut y = below;
        for note in &self.notes {
            for line in font::wrapped(note, SMALL, scene.width - 2.0 * MARGIN) {
                y += 15.0;
                scene.text((MARGIN, y), &line, SMALL, Anchor::Start, Color::DARK);
            }
        }
        (y + MARGIN).ceil()
    }
}
