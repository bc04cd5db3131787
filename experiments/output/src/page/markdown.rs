//! A page as Markdown, for a job's summary or a mail. Figures, cards and what is folded are left out.

use super::parts::{Page, Part, Table};
use super::text::words_of;
use std::fmt::Write;

/// The Markdown: what it is, what came of it, what was asked, the rest.
pub fn markdown(page: &Page) -> String {
    // By the comment a file is known as one that may be written over.
    let mut out = format!("<!-- orrery -->\n# {}: {}\n", capital(page.kind), page.title);
    if !page.subtitle.is_empty() {
        let _ = write!(out, "\n{}\n", page.subtitle);
    }
    for v in &page.verdict {
        let _ = write!(out, "\n**{}**\n", v.text);
    }
    if !page.asked.is_empty() {
        out.push_str("\n## What was asked\n\n");
    }
    for (what, is) in &page.asked {
        let _ = writeln!(out, "- {what}: {}", is.lines().collect::<Vec<_>>().join(", "));
    }
    for section in &page.sections {
        let parts: String = section.parts.iter().map(part).collect();
        if !parts.is_empty() {
            let _ = write!(out, "\n## {}\n{parts}", section.title);
        }
    }
    out
}

/// A word with a capital letter.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("\n{text}\n"),
        Part::List(points) => {
            let points: String = points.iter().map(|point| format!("- {point}\n")).collect();
            format!("\n{points}")
        }
        Part::Plain(text) => format!("\n```\n{}\n```\n", text.trim_end()),
        Part::Table(t) => table(t),
        Part::Figure(..) | Part::Folded(..) | Part::Cards(..) => String::new(),
    }
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let ends = (0..table.columns.len()).map(|i| if table.is_number(i) { "---:|" } else { "---|" });
    let mut out = match table.caption.is_empty() {
        true => "\n".to_string(),
        false => format!("\n{}\n\n", table.caption),
    };
    out.push_str(&line(table.columns.iter().map(|c| escaped(c)).collect()));
    let _ = writeln!(out, "|{}", ends.collect::<String>());
    for row in &table.rows {
        out.push_str(&line(row.iter().map(|field| escaped(&words_of(field))).collect()));
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
