//! A page as text for a terminal. Figures, cards and what is folded are left out.

use super::parts::{Field, Page, Part, Table};
use crate::tables::Text;
use crate::width::width;
use std::fmt::Write;

/// The text: what it is, what came of it, what was asked, the rest.
pub fn text(page: &Page) -> String {
    let mut out = format!("{} {}\n", page.kind, page.title);
    if !page.subtitle.is_empty() {
        let _ = writeln!(out, "{}", page.subtitle);
    }
    for v in &page.verdict {
        let _ = writeln!(out, "{}", v.text);
    }
    if !page.asked.is_empty() {
        out.push_str("\nWhat was asked\n");
    }
    for (what, is) in &page.asked {
        let _ = writeln!(out, "  {what}: {}", is.lines().collect::<Vec<_>>().join(", "));
    }
    for section in &page.sections {
        let own = in_text(&section.parts);
        let parts: Vec<String> = own.iter().map(|p| part(p)).collect();
        // A table after another begins with a line of its own.
        let is_table = |i: &usize| matches!(own[*i], Part::Table(_));
        let gap = |i: usize| if i > 0 && is_table(&i) && is_table(&(i - 1)) { "\n" } else { "" };
        let parts: String =
            parts.iter().enumerate().map(|(i, part)| format!("{}{part}", gap(i))).collect();
        if !parts.is_empty() {
            let _ = write!(out, "\n{}\n{parts}", section.title);
        }
    }
    out
}

/// Parts as text has them.
fn in_text(parts: &[Part]) -> Vec<&Part> {
    fn views(part: &Part) -> &[Part] {
        match part {
            Part::Views { text, .. } => text,
            other => std::slice::from_ref(other),
        }
    }
    parts.iter().flat_map(views).collect()
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("  {text}\n"),
        Part::List(points) => points.iter().map(|point| format!("  {point}\n")).collect(),
        Part::Plain(text) => text.lines().map(|line| format!("  {line}\n")).collect(),
        Part::Table(t) => table(t),
        Part::Views { text, .. } => text.iter().map(self::part).collect(),
        Part::Figure(..) | Part::Folded(..) | Part::Cards(..) => String::new(),
    }
}

fn table(table: &Table) -> String {
    let head: Vec<&str> = table.columns.iter().map(String::as_str).collect();
    let words: Vec<&str> = (0..head.len())
        .filter(|i| *i < table.keys || !table.is_number(*i))
        .map(|i| head[i])
        .collect();
    let mut text = Text::new(&head);
    table.rows.iter().for_each(|row| text.line(row.iter().map(words_of).collect()));
    let caption =
        if table.caption.is_empty() { String::new() } else { format!("  {}\n", table.caption) };
    let rows = text.left(&words).in_width(width().saturating_sub(2));
    caption
        + &rows
            .lines()
            .map(|line| format!("  {line}").trim_end().to_string() + "\n")
            .collect::<String>()
}

/// A cell in one line: `6314 (6230 to 6399)`.
pub fn words_of(field: &Field) -> String {
    match field.below.is_empty() {
        true => field.text.clone(),
        false => format!("{} ({})", field.text, field.below),
    }
}
