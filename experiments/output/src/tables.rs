//! Aligned text tables.

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
                // Not by a format's width, which ends at 65,535: names come from files.
                let spaces = " ".repeat(width - cell.chars().count());
                let parts = match self.left.contains(&i) {
                    true => [gap, cell, &spaces],
                    false => [gap, &spaces, cell],
                };
                parts.into_iter().for_each(|part| text.push_str(part));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_however_long_a_name_is() {
        let mut table = Text::new(&["name", "n"]);
        table.line(vec!["a".into(), "10".into()]);
        assert_eq!(table.left(&["name"]).text(), "name   n\na     10\n");
        let mut table = Text::new(&["name", "n"]);
        table.line(vec!["x".repeat(70_000), "1".into()]);
        table.line(vec!["y".into(), "2".into()]);
        let text = table.left(&["name"]).text();
        assert!(
            text.lines().all(|line| line.len() == 70_003),
            "a group may have a name of any length"
        );
    }
}
