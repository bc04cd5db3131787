//! What differs between kinds of experiments: how a point is run. Everything else, from the file's frame
//! to the report, is the same for all.

use orrery_report::page::Part;
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::Replication;
use orrery_sweep::seeds::Seeds;

/// What a part of an experiment comes to: a system at a point, and its runs.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What its rows have in common.
    pub place: Row,
    /// The seeds that were asked for.
    pub seeds: Option<Seeds>,
    /// Its runs, by seed.
    pub runs: Vec<Replication>,
    /// Rows that come with it and are of no run, in their final form.
    pub more: Vec<Row>,
}

/// What a kind of experiment has of its own to say.
#[derive(Default)]
pub struct KindDocument {
    /// What was asked besides: a word, and what it is.
    pub asked: Vec<(&'static str, String)>,
    /// The results, where they are not a table for each metric that is shown.
    pub results: Option<Vec<Part>>,
    /// Sections after the results, by their headings.
    pub sections: Vec<(String, Vec<Part>)>,
}

/// How the points of an experiment are run.
pub trait Runner: Sync {
    /// The parts that can be run apart, in the order of results, as messages name them.
    fn parts(&self) -> Vec<String>;

    /// What the rows of each cell have in common, where that is known before the run.
    fn places(&self) -> Vec<Row> {
        Vec::new()
    }

    /// Where the values of a figure of these metrics will stand, with made-up pools and parts of the time.
    /// What is known before the run has its metric and value. If there are none: each system at each point.
    fn drawn(&self, _metrics: &[String]) -> Vec<Row> {
        self.places()
    }

    /// Runs a part, or finds it.
    ///
    /// # Errors
    /// When a run cannot be made or kept.
    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError>;

    /// The rows of all cells, where they are not each cell's own with what follows from them.
    fn rows(&self, _cells: &[Cell]) -> Option<Vec<Row>> {
        None
    }

    /// What its document has of its own.
    fn document(&self, _cells: &[Cell], _rows: &[Row]) -> KindDocument {
        KindDocument::default()
    }
}

/// A row at a part of its place: with one more axis.
pub fn within(row: &Row, axis: &str) -> Row {
    let before = if row.axes.is_empty() { String::new() } else { format!("{};", row.axes) };
    Row { axes: format!("{before}{axis}"), ..row.clone() }
}

/// The place of a value in a list, at whose end it is put if it is new.
pub fn place_in<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|x| *x == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
