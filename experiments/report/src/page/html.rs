//! How a page looks: HTML made by `maud`, which escapes every text.

use super::parts::{Field, Page, Part, Section, TO_KNOW, Table, Tone, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// Nothing may be fetched, whatever is on the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// What is printed of where a page is from.
const PRINTED: [&str; 2] = ["command", "orrery"];

/// Tables with more rows get a frame of their own to scroll in.
const TALL: usize = 30;

/// The whole file.
pub fn document(title: &str, pages: &[Page]) -> String {
    let single = pages.len() == 1;
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="orrery";
                link rel="icon" href="data:,";
                title { (title) " \u{2013} orrery" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @if !single {
                        header { h1 { (title) } }
                        (contents(pages))
                    }
                    @for (i, page) in pages.iter().enumerate() {
                        (article(page, i, single))
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    text.into_string() + "\n"
}

/// What is on a page of several results, with a verdict each.
fn contents(pages: &[Page]) -> Markup {
    html! {
        nav {
            ul.contents {
                @for (i, page) in pages.iter().enumerate() {
                    li {
                        a href=(format!("#r{i}")) { (page.title) }
                        @if let Some(first) = page.verdict.first() {
                            " " span class=(class(first.tone)) { (first.text) }
                        }
                    }
                }
            }
        }
    }
}

/// The answer, one look at it, one table, what it stands on; all else is closed at first.
fn article(page: &Page, number: usize, single: bool) -> Markup {
    let id = format!("r{number}");
    let (open, closed): (Vec<&Section>, Vec<&Section>) =
        page.sections.iter().partition(|s| is_open(page, s));
    html! {
        article id=(id) {
            header {
                p.kind { (page.kind) }
                @if single { h1 { (page.title) } } @else { h2 { (page.title) } }
                @if !page.subtitle.is_empty() { p.subtitle { (page.subtitle) } }
            }
            @if !page.verdict.is_empty() {
                div.verdict {
                    @for (i, v) in page.verdict.iter().enumerate() {
                        p class=(class(v.tone)) { @if i == 0 { (answer(v)) } @else { (v.text) } }
                    }
                }
            }
            @for s in open { (section(&s.title, single, &parts(s))) }
            @if !page.asked.is_empty() {
                (section("What was asked", single, &list(&page.asked)))
            }
            @for s in closed { (folded(&s.title, single, &parts(s))) }
            @if !page.provenance.is_empty() {
                (folded("Where this is from", single, &list(&page.provenance)))
                (printed(page))
            }
        }
    }
}

/// On paper what is closed is not there: how to have the same again in one line.
fn printed(page: &Page) -> Markup {
    let some = page.provenance.iter().filter(|(what, _)| PRINTED.contains(&what.as_str()));
    let text: Vec<String> = some
        .map(|(what, is)| format!("{what} {}", is.lines().collect::<Vec<_>>().join("; ")))
        .collect();
    html! { @if !text.is_empty() { p.printed { (text.join(" \u{b7} ")) } } }
}

/// What begins with a figure, the first section that does not, what is to be known before anything is believed, and
/// what says so itself.
fn is_open(page: &Page, section: &Section) -> bool {
    let is_drawn = |s: &Section| matches!(s.parts.first(), Some(Part::Figure(..)));
    let first = page.sections.iter().find(|s| !is_drawn(s));
    section.open
        || is_drawn(section)
        || section.title == TO_KNOW
        || first.is_some_and(|f| std::ptr::eq(f, section))
}

/// A sentence with whom it is about large, or else its first number; digits within a name are none.
fn answer(verdict: &Verdict) -> Markup {
    let text = verdict.text.as_str();
    if let Some(rest) = text.strip_prefix(&*verdict.who).filter(|_| !verdict.who.is_empty()) {
        return html! { b.number { (verdict.who) } (rest) };
    }
    let is_of_number = |c: char| c.is_ascii_digit() || ",.".contains(c);
    let number = |word: &str| -> Option<(usize, usize)> {
        let from = word.find(is_of_number)?;
        let long = word[from..].find(|c| !is_of_number(c)).unwrap_or(word.len() - from);
        let long = word[from..from + long].trim_end_matches(['.', ',']).len();
        let is_alone = word[..from].chars().all(|c| "($+".contains(c));
        let is_whole = word[from + long..].chars().all(|c| "%,.;:)".contains(c));
        (long > 0 && is_alone && is_whole).then_some((from, from + long))
    };
    let mut at = 0;
    for word in text.split_inclusive(' ') {
        if let Some((from, to)) = number(word.trim_end()) {
            let (from, to) = (at + from, at + to);
            return html! { (text[..from]) b.number { (text[from..to]) } (text[to..]) };
        }
        at += word.len();
    }
    html! { (text) }
}

fn section(title: &str, single: bool, body: &Markup) -> Markup {
    html! {
        section {
            (heading(title, single))
            (body)
        }
    }
}

/// A section that is closed at first.
fn folded(title: &str, single: bool, body: &Markup) -> Markup {
    html! {
        details.section {
            summary { (heading(title, single)) }
            (body)
        }
    }
}

fn heading(title: &str, single: bool) -> Markup {
    html! { @if single { h2 { (title) } } @else { h3 { (title) } } }
}

fn parts(section: &Section) -> Markup {
    html! { @for p in &section.parts { (part(p)) } }
}

fn list(pairs: &[(String, String)]) -> Markup {
    html! {
        dl {
            @for (what, is) in pairs {
                dt { (what) }
                dd { @for line in is.lines() { div { (line) } } }
            }
        }
    }
}

fn part(part: &Part) -> Markup {
    match part {
        Part::Text(text) => html! { p { (text) } },
        Part::List(points) => html! { ul { @for p in points { li { (p) } } } },
        Part::Plain(text) => html! { pre tabindex="0" { (text) } },
        Part::Figure([wide, narrow], caption) => html! {
            figure {
                // Our own writer's SVG: its texts are escaped there.
                div.drawing.wide tabindex="0" { (PreEscaped(inline(wide))) }
                div.drawing.narrow tabindex="0" { (PreEscaped(inline(narrow))) }
                @if !caption.is_empty() { figcaption { (caption) } }
            }
        },
        Part::Table(t) => table(t),
        Part::Folded(title, inner) => html! {
            details {
                summary { (title) }
                @for p in inner { (self::part(p)) }
            }
        },
        Part::Views { page, .. } => html! { @for p in page { (self::part(p)) } },
        Part::Cards(cards) => html! {
            div.cards {
                @for card in cards {
                    div.card {
                        h3 { (card.title) }
                        (parts(card))
                    }
                }
            }
        },
    }
}

fn table(table: &Table) -> Markup {
    let numeric: Vec<bool> = (0..table.columns.len()).map(|i| table.is_number(i)).collect();
    let frame = if table.rows.len() > TALL { "frame tall" } else { "frame" };
    html! {
        div class=(frame) tabindex="0" {
            table {
                @if !table.caption.is_empty() { caption { (table.caption) } }
                thead {
                    tr {
                        @for (i, c) in table.columns.iter().enumerate() {
                            th scope="col" class=[numeric[i].then_some("n")] { (c) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (i, f) in row.iter().enumerate() { (field(f, numeric[i])) } }
                    }
                }
            }
        }
    }
}

fn field(f: &Field, numeric: bool) -> Markup {
    let classes = match (numeric, class(f.tone)) {
        (true, "") => "n".to_string(),
        (true, tone) => format!("n {tone}"),
        (false, tone) => tone.to_string(),
    };
    let classes = (!classes.is_empty()).then_some(classes);
    // What is written may be rounded.
    let key = f.key.filter(|k| f.text.parse() != Ok(*k)).map(|k| k.to_string());
    html! {
        td class=[classes] data-k=[key] {
            @if f.tone == Tone::Plain { (parameters(&f.text)) } @else { span { (f.text) } }
            @if !f.below.is_empty() { small { (f.below) } }
        }
    }
}

/// A policy's parameters have line ends where they have no room: `clockwork[`, `max_batch=4]`.
fn parameters(text: &str) -> Markup {
    let ends: &[char] = if text.contains('[') { &['[', '=', ','] } else { &[] };
    html! {
        @for (i, piece) in text.split_inclusive(ends).enumerate() {
            @if i > 0 { wbr; }
            (piece)
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Mixed => "mixed",
        Tone::Bad => "bad",
    }
}

/// The SVG without the prolog of a file.
fn inline(svg: &str) -> &str {
    svg.find("<svg").map_or("", |at| svg[at..].trim_end())
}
