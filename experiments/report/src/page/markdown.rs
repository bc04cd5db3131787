//! A page as Markdown, for a job's summary or a mail. Figures, cards and what is folded are left out.
//!
//! Every text is escaped here, once: what a file gives is shown as it is, and makes no tag, link, heading or cell.

use super::parts::{Page, Part, Table};
use super::text::{explained, is_marked, words_of};
use std::fmt::Write;

/// The Markdown: what it is, what came of it, what was asked, the rest.
pub fn markdown(page: &Page) -> String {
    // By the comment a file is known as one that may be written over.
    let mut out = format!("<!-- orrery -->\n# {}: {}\n", capital(page.kind), escaped(&page.title));
    if !page.subtitle.is_empty() {
        let _ = write!(out, "\n{}\n", block(&page.subtitle));
    }
    for v in page.verdict.iter().filter(|v| !v.text.trim().is_empty()) {
        let _ = write!(out, "\n**{}**\n", escaped(&v.text));
    }
    if !page.asked.is_empty() {
        out.push_str("\n## What was asked\n\n");
    }
    for (what, is) in &page.asked {
        let is = is.lines().collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "- {}: {}", block(what), escaped(&is));
    }
    let is_shown = page.sections.iter().any(|s| s.parts.iter().any(|p| is_marked(&part(p))));
    for section in &page.sections {
        let own = section.parts.iter().filter_map(|p| explained(p, is_shown));
        let parts: String = own.map(|p| part(&p)).collect();
        if !parts.is_empty() {
            let _ = write!(out, "\n## {}\n{parts}", escaped(&section.title));
        }
    }
    out
}

/// A word with a capital letter.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// So many of them: `1 seed`, `5 seeds`.
pub fn counted(n: impl Into<u64>, what: &str) -> String {
    let n = n.into();
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("\n{}\n", block(text)),
        Part::List(points) => {
            let points: String =
                points.iter().map(|point| format!("- {}\n", block(point))).collect();
            format!("\n{points}")
        }
        Part::Plain(text) => plain(text),
        Part::Table(t) => table(t),
        Part::Views { text, .. } => text.iter().map(self::part).collect(),
        Part::Figure(..) | Part::Folded(..) | Part::Cards(..) => String::new(),
    }
}

/// Text in columns, within a fence that is longer than any in it.
fn plain(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}\n{}\n{fence}\n", text.trim_end())
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let ends = (0..table.columns.len()).map(|i| if table.is_number(i) { "---:|" } else { "---|" });
    let mut out = match table.caption.is_empty() {
        true => "\n".to_string(),
        false => format!("\n{}\n\n", block(&table.caption)),
    };
    out.push_str(&line(table.columns.iter().map(|c| escaped(c)).collect()));
    let _ = writeln!(out, "|{}", ends.collect::<String>());
    for row in &table.rows {
        out.push_str(&line(row.iter().map(|field| escaped(&words_of(field))).collect()));
    }
    out
}

/// A text that begins a block: a list or a heading in it is none.
fn block(text: &str) -> String {
    let text = escaped(text);
    let marks = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = marks.len() < text.len() && marks.starts_with(['.', ')']);
    let after = if numbered { &marks[1..] } else { text.trim_start_matches(['#', '-', '+', '=']) };
    let is_mark = after.len() < text.len() && (after.is_empty() || after.starts_with(' '));
    match is_mark {
        true if numbered => format!("{}\\{marks}", &text[..text.len() - marks.len()]),
        true => format!("\\{text}"),
        false => text,
    }
}

/// A text in one line, in which nothing is Markdown but code between two backticks: in that nothing else is.
fn escaped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<&str> = text.split('`').collect();
    // Every second part is code, where backticks come in pairs and what is between them is plain.
    let is_code = |part: &&str| !part.is_empty() && !part.contains(['<', '>', '&', '|', '\\']);
    let is_paired = parts.len() % 2 == 1 && parts.iter().skip(1).step_by(2).all(is_code);
    if !is_paired {
        return parts.into_iter().map(in_text).collect::<Vec<_>>().join("\\`");
    }
    let part = |(i, part): (usize, &&str)| match i % 2 {
        0 => in_text(part),
        _ => format!("`{part}`"),
    };
    parts.iter().enumerate().map(part).collect()
}

/// The same of what is no code.
fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' if next == '#' || next.is_ascii_alphabetic() => out.push_str("&amp;"),
            '\\' | '*' | '|' => out.extend(['\\', c]),
            // Within a word it marks nothing.
            '_' if !(before.is_alphanumeric() && next.is_alphanumeric()) => out.push_str("\\_"),
            '~' if before == '~' || next == '~' => out.push_str("\\~"),
            // A link has an address behind it.
            ']' if "([:".contains(next) => out.push_str("\\]"),
            c => out.push(c),
        }
        before = c;
    }
    out
}
