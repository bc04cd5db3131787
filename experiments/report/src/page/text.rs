//! A page as text for a terminal. Figures, cards and what is folded are left out.

use super::parts::{Field, Page, Part, Table, Tone};
use crate::tables::Text;
use crate::width::{styled, width};
use std::fmt::Write;

/// The style of headings.
const BOLD: u8 = 1;

/// The text: what it is, what came of it, what was asked, the rest.
pub fn text(page: &Page) -> String {
    let mut out = styled(&format!("{} {}", page.kind, page.title), BOLD) + "\n";
    if !page.subtitle.is_empty() {
        let _ = writeln!(out, "{}", page.subtitle);
    }
    for v in &page.verdict {
        let style = match v.tone {
            Tone::Plain => 0,
            Tone::Good => 32,
            Tone::Mixed => 33,
            Tone::Bad => 31,
        };
        let _ = writeln!(out, "{}", styled(&v.text, style));
    }
    let asked = if page.asked_on_page_alone { &[] } else { &page.asked[..] };
    if !asked.is_empty() {
        let _ = writeln!(out, "\n{}", styled("What was asked", BOLD));
    }
    for (what, is) in asked {
        let _ = writeln!(out, "  {what}: {}", is.lines().collect::<Vec<_>>().join("; "));
    }
    let is_shown = page.sections.iter().any(|s| s.parts.iter().any(|p| is_marked(&part(p))));
    for section in &page.sections {
        let own = in_text(&section.parts);
        let own: Vec<Part> = own.into_iter().filter_map(|p| explained(p, is_shown)).collect();
        let parts: Vec<String> = own.iter().map(part).collect();
        // A table after another begins with a line of its own.
        let is_table = |i: &usize| matches!(own[*i], Part::Table(_));
        let gap = |i: usize| if i > 0 && is_table(&i) && is_table(&(i - 1)) { "\n" } else { "" };
        let parts: String =
            parts.iter().enumerate().map(|(i, part)| format!("{}{part}", gap(i))).collect();
        if !parts.is_empty() {
            let _ = write!(out, "\n{}\n{parts}", styled(&section.title, BOLD));
        }
    }
    out
}

/// A column that stands in its table even where all cost the same.
const COST: &str = "$/h";

/// How the note of a value with too few samples begins.
const FEW_SAMPLES: &str = "?: ";

/// Whether a text has a value with too few samples: `?12.3`.
pub(super) fn is_marked(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[0] == b'?' && pair[1].is_ascii_digit())
}

/// A part without the note that explains the sign of too few samples, where no value with that sign is shown.
pub(super) fn explained(part: &Part, is_shown: bool) -> Option<Part> {
    match part {
        Part::List(points) if !is_shown => {
            let points = points.iter().filter(|point| !point.starts_with(FEW_SAMPLES));
            Part::list(points.cloned().collect())
        }
        other => Some(other.clone()),
    }
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

/// One table, whatever its width: one that is too wide has shorter cells; if that is not enough, a column of one value
/// in a line below, and no more of the last numbers than fit.
fn table(table: &Table) -> String {
    let within = width().saturating_sub(2);
    let is_number = |i: &usize| *i >= table.keys && table.is_number(*i);
    let mut shown: Vec<usize> = (0..table.columns.len()).collect();
    let of = |shown: &[usize], cell: fn(&Field) -> String| {
        let head: Vec<&str> = shown.iter().map(|i| table.columns[*i].as_str()).collect();
        let words = shown.iter().filter(|i| !is_number(i)).map(|i| table.columns[*i].as_str());
        let mut text = Text::new(&head);
        let line = |row: &Vec<Field>| shown.iter().map(|i| cell(&row[*i])).collect();
        table.rows.iter().for_each(|row| text.line(line(row)));
        text.left(&words.collect::<Vec<_>>())
    };
    let (mut text, mut below) = (of(&shown, words_of), Vec::new());
    if text.natural_width() > within {
        text = of(&shown, short);
    }
    if !text.fits(within) {
        let first = |i: &usize| words_of(&table.rows[0][*i]);
        let is_same = |i: &usize| table.rows.iter().all(|row| words_of(&row[*i]) == first(i));
        let is_constant = |i: &mut usize| {
            table.rows.len() > 1 && is_number(i) && table.columns[*i] != COST && is_same(i)
        };
        let same = shown.extract_if(.., is_constant).collect::<Vec<_>>();
        below = same.iter().map(|i| format!("{}: {}", table.columns[*i], first(i))).collect();
        text = of(&shown, short);
        let mut cut = Vec::new();
        while !text.fits(within) && shown.iter().filter(|i| is_number(i)).count() > 1 {
            let last = shown.iter().rposition(is_number).unwrap_or_default();
            cut.insert(0, table.columns[shown.remove(last)].as_str());
            text = of(&shown, short);
        }
        below.extend((!cut.is_empty()).then(|| format!("with --wide: {}", cut.join(", "))));
    }
    let caption = (!table.caption.is_empty()).then_some(&table.caption);
    let rows = text.in_width(within);
    let lines = caption.into_iter().map(String::as_str).chain(rows.lines());
    let lines = lines.chain(below.iter().map(String::as_str));
    lines.map(|line| format!("  {line}").trim_end().to_string() + "\n").collect()
}

/// A cell in fewer columns: `6314 ±85` where the interval is as long on either side.
fn short(field: &Field) -> String {
    let even = || {
        let (low, high) = field.below.split_once(" to ")?;
        let digits = low.split_once('.').map_or(0, |(_, d)| d.len());
        let [value, low, high] = [&field.text, low, high].map(|x| x.parse::<f64>().ok());
        let half = half(value?, (low?, high?), digits)?;
        Some(format!("{} ±{half:.digits$}", field.text))
    };
    even().unwrap_or_else(|| words_of(field))
}

/// A value with its interval: `0.93 ±0.02` where that is as long on either side, else `0.93 (0.07 to 1.00)`.
pub fn with_interval(value: f64, interval: Option<(f64, f64)>, digits: usize) -> String {
    let around = interval.map(|(low, high)| match half(value, (low, high), digits) {
        Some(half) => format!(" ±{half:.digits$}"),
        None => format!(" ({low:.digits$} to {high:.digits$})"),
    });
    format!("{value:.digits$}{}", around.unwrap_or_default())
}

/// Half an interval that is as long on either side, as far as so many digits show.
fn half(value: f64, (low, high): (f64, f64), digits: usize) -> Option<f64> {
    let (below, above) = (value - low, high - value);
    let is_even = (above - below).abs() < (0..digits).fold(2.5, |x, _| 0.1 * x);
    is_even.then(|| below.max(above))
}

/// A cell in one line: `6314 (6230 to 6399)`.
pub fn words_of(field: &Field) -> String {
    match field.below.is_empty() {
        true => field.text.clone(),
        false => format!("{} ({})", field.text, field.below),
    }
}
