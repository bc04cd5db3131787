//! Aligned text tables.

use super::width::{least, width, wrapped};

/// Behind these a cell may go on in the next line: policies are long, and have no spaces.
const ENDS: &[char] = &[' ', ',', '['];

/// A heading of numbers goes on behind a hyphen, too: it is no wider than they are.
const HEADING_ENDS: &[char] = &[' ', ',', '[', '-'];

/// Between columns.
const GAP: &str = "  ";

/// A table that is read on a terminal.
#[derive(Clone, Debug, Default)]
pub struct Text {
    lines: Vec<Vec<String>>,
    left: Vec<usize>,
}

impl Text {
    /// One with this header.
    pub fn new(header: &[&str]) -> Text {
        let lines = vec![header.iter().map(ToString::to_string).collect()];
        Text { lines, left: Vec::new() }
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

    /// The table with two spaces between columns and none at the end of a line. One that is wider than text may
    /// be is folded: words go on in the next line, and columns that still do not fit stand below, beside the
    /// first ones again.
    pub fn text(&self) -> String {
        self.in_width(width())
    }

    /// [`Text::text`] with at most so many columns.
    pub fn in_width(&self, width: usize) -> String {
        let all: Vec<usize> = (0..self.columns()).collect();
        let natural: Vec<usize> = all.iter().map(|&c| self.natural(c)).collect();
        if self.total(&all, &natural) <= width {
            return self.block(&all, &natural);
        }
        let mut widths: Vec<usize> = all.iter().map(|&c| self.narrow(c)).collect();
        self.share_out(&all, &natural, &mut widths, width);
        if self.total(&all, &widths) <= width {
            return self.block(&all, &widths);
        }
        // The first words say what a line is of: they stand in each block, and take half of it.
        let mut keys: Vec<usize> =
            all.iter().copied().take_while(|c| self.left.contains(c)).collect();
        // Where all are words, the first column is what a line is of.
        if keys.len() == all.len() {
            keys.truncate(1);
        }
        let mut widths: Vec<usize> = all.iter().map(|&c| self.narrow(c)).collect();
        self.share_out(&keys, &natural, &mut widths, width / 2);
        let blocks = self.blocks(&keys, &widths, width);
        if blocks.is_empty() {
            return self.block(&all, &widths);
        }
        let mut texts = Vec::new();
        for block in blocks {
            let mut widths = widths.clone();
            self.share_out(&block, &natural, &mut widths, width);
            texts.push(self.block(&block, &widths));
        }
        texts.join("\n")
    }

    /// The columns of the longest line, where nothing is folded.
    pub fn natural_width(&self) -> usize {
        let all: Vec<usize> = (0..self.columns()).collect();
        self.total(&all, &all.iter().map(|&c| self.natural(c)).collect::<Vec<_>>())
    }

    /// Whether all columns fit beside each other, with their words folded.
    pub fn fits(&self, width: usize) -> bool {
        let all: Vec<usize> = (0..self.columns()).collect();
        self.total(&all, &all.iter().map(|&c| self.narrow(c)).collect::<Vec<_>>()) <= width
    }

    fn columns(&self) -> usize {
        self.lines.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(move |l| l.get(column)).map(String::as_str)
    }

    /// The columns of the longest cell.
    fn natural(&self, column: usize) -> usize {
        self.cells(column).map(|t| t.chars().count()).max().unwrap_or(0)
    }

    /// The fewest columns: words and headings are folded, numbers are not.
    fn narrow(&self, column: usize) -> usize {
        let hang = self.hang(column);
        let words = |cell: &str| least(cell, ENDS, hang);
        if self.left.contains(&column) {
            return self.cells(column).map(words).max().unwrap_or(0);
        }
        let number = |cell: &str| cell.chars().count();
        let heading = self.cells(column).take(1).map(|cell| least(cell, HEADING_ENDS, hang));
        heading.chain(self.cells(column).skip(1).map(number)).max().unwrap_or(0)
    }

    /// Behind what the cell of a line may go on.
    fn ends(&self, column: usize, line: usize) -> &'static [char] {
        if line == 0 && !self.left.contains(&column) { HEADING_ENDS } else { ENDS }
    }

    /// A first word that goes on is not taken for another line.
    fn hang(&self, column: usize) -> usize {
        if column == 0 { 2 } else { 0 }
    }

    /// How wide these columns are together.
    fn total(&self, columns: &[usize], widths: &[usize]) -> usize {
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        gaps + columns.iter().map(|&c| widths[c]).sum::<usize>()
    }

    /// Lets columns grow towards their natural width while all stay within `width`: those of words before headings
    /// of numbers, and of each the narrowest first.
    fn share_out(&self, columns: &[usize], natural: &[usize], widths: &mut [usize], width: usize) {
        let mut left = width.saturating_sub(self.total(columns, widths));
        let grows = |c: &&usize, widths: &[usize]| widths[**c] < natural[**c];
        let first = |c: &&usize, widths: &[usize]| (!self.left.contains(c), widths[**c]);
        while left > 0 {
            let growing = columns.iter().filter(|c| grows(c, widths));
            let Some(&next) = growing.min_by_key(|c| first(c, widths)) else { break };
            widths[next] += 1;
            left -= 1;
        }
        // What does not make a line longer is not needed.
        for &c in columns {
            let own = self.cells(c).enumerate();
            let folded =
                own.flat_map(|(i, cell)| wrapped(cell, self.ends(c, i), widths[c], self.hang(c)));
            widths[c] = folded.map(|line| line.chars().count()).max().unwrap_or(0);
        }
    }

    /// The other columns in blocks that fit beside the keys.
    fn blocks(&self, keys: &[usize], widths: &[usize], width: usize) -> Vec<Vec<usize>> {
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for next in keys.len()..self.columns() {
            match blocks.last_mut() {
                Some(last) if self.total(&[&last[..], &[next]].concat(), widths) <= width => {
                    last.push(next);
                }
                _ => blocks.push([keys, &[next]].concat()),
            }
        }
        blocks
    }

    /// These columns, in these widths.
    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let mut out = String::new();
        for (n, line) in self.lines.iter().enumerate() {
            let cell = |c: usize| line.get(c).map_or("", String::as_str);
            let folded: Vec<Vec<String>> = columns
                .iter()
                .map(|&c| match cell(c).chars().count() <= widths[c] {
                    true => vec![cell(c).to_string()],
                    false => wrapped(cell(c), self.ends(c, n), widths[c], self.hang(c)),
                })
                .collect();
            for i in 0..folded.iter().map(Vec::len).max().unwrap_or(0) {
                let mut text = String::new();
                for (n, (&c, parts)) in columns.iter().zip(&folded).enumerate() {
                    let part = parts.get(i).map_or("", String::as_str);
                    // Not by a format's width, which ends at 65,535: names come from files.
                    let spaces = " ".repeat(widths[c].saturating_sub(part.chars().count()));
                    let gap = if n == 0 { "" } else { GAP };
                    let parts = match self.left.contains(&c) {
                        true => [gap, part, &spaces],
                        false => [gap, &spaces, part],
                    };
                    parts.into_iter().for_each(|part| text.push_str(part));
                }
                out.push_str(text.trim_end());
                out.push('\n');
            }
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

    fn table(head: &[&str], line: &[&str]) -> Text {
        let mut table = Text::new(head);
        table.line(line.iter().map(ToString::to_string).collect());
        table
    }

    #[test]
    fn words_go_on_in_the_next_line() {
        let table = table(&["id", "n", "what"], &["fig-1", "7", "a figure of many words"]);
        let text = table.left(&["id", "what"]).in_width(24);
        assert_eq!(text, "id     n  what\nfig-1  7  a figure of\n          many words\n");
    }

    #[test]
    fn words_are_folded_before_a_table_is_cut() {
        let numbers = ["0.5000 ±0.1", "1234.5", "0.99"];
        let table = table(
            &["policy", "finish rate", "good/s", "busy"],
            &["nexus[drop=elapsed,batch=16]", numbers[0], numbers[1], numbers[2]],
        );
        let text = table.left(&["policy"]).in_width(42);
        let expected = "policy           finish rate  good/s  busy\n\
                        nexus[           0.5000 ±0.1  1234.5  0.99\n  drop=elapsed,\n  batch=16]\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_heading_of_numbers_is_folded_behind_a_hyphen() {
        let table = table(&["load", "shepherd-mended", "nexus"], &["a", "0.25", "0.99"]);
        let text = table.left(&["load"]).in_width(22);
        assert_eq!(text, "load  shepherd-  nexus\n         mended\na          0.25   0.99\n");
    }

    #[test]
    fn no_table_of_words_alone_is_lost() {
        let words = ["arrivals", "symphony-a", "symphony-b", "symphony-c"];
        let table =
            table(&words, &["gamma", "nexus-cluster", "clockwork", "shepherd"]).left(&words);
        let text = table.in_width(30);
        for word in words.iter().chain(&["nexus-cluster", "clockwork", "shepherd"]) {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.lines().all(|line| line.len() <= 30), "{text}");
        let one = self::table(&["name"], &["a-name-without-an-end"]).left(&["name"]);
        assert!(one.in_width(10).contains("a-name-without-an-end"));
    }
}
