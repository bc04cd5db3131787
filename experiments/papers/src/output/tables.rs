//! Aligned text tables.

use std::fmt::Write;

/// A table that is read on a terminal.
#[derive(Clone, Debug, Default)]
pub struct Text {
    lines: Vec<Vec<String>>,
    left: Vec<usize>,
    bars: Vec<usize>,
}

impl Text {
    /// One with this header.
    pub fn new(header: &[&str]) -> Text {
        let lines = vec![header.iter().map(ToString::to_string).collect()];
        Text { lines, left: Vec::new(), bars: Vec::new() }
    }

    /// Adds a line.
    pub fn line(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    /// Columns that begin on the left; the others are numbers and end on the right.
    #[must_use]
    pub fn left(mut self, names: &[&str]) -> Text {
        let head = &self.lines[0];
        self.left = (0..head.len()).filter(|&i| names.contains(&head[i].as_str())).collect();
        self
    }

    /// Columns with a bar before them, which keeps groups apart.
    #[must_use]
    pub fn bars(mut self, columns: Vec<usize>) -> Text {
        self.bars = columns;
        self
    }

    /// Two spaces between columns, none at the end of a line.
    pub fn text(&self) -> String {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.lines.iter().filter_map(|l| l.get(c));
            cells.map(|t| t.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for line in &self.lines {
            let mut text = String::new();
            for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let gap = match i {
                    0 => "",
                    _ if self.bars.contains(&i) => "  | ",
                    _ => "  ",
                };
                let _ = match self.left.contains(&i) {
                    true => write!(text, "{gap}{cell:<width$}"),
                    false => write!(text, "{gap}{cell:>width$}"),
                };
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
        out
    }
}
