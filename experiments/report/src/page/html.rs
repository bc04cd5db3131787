//! How a page looks.

use super::markup::Markup;
use super::parts::{Field, Page, Part, Section, TO_KNOW, Table, Tone, Verdict};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// Nothing may be fetched, whatever is on the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// What is printed of where a page is from.
const PRINTED: [&str; 2] = ["command", "orrery"];

/// Tables with more rows get a frame of their own to scroll in.
const TALL: usize = 30;
/// On a narrow page, cells of words stand below each other where one has so many letters.
const LONG: usize = 60;

/// The whole file.
pub fn document(title: &str, pages: &[Page]) -> String {
    let single = pages.len() == 1;
    let mut m = Markup::default();
    m.html("<!DOCTYPE html>");
    m.element("html", &[("lang", "en")], |m| {
        m.plain("head", |m| {
            m.empty("meta", &[("charset", "utf-8")]);
            m.empty("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
            let width = "width=device-width, initial-scale=1";
            m.empty("meta", &[("name", "viewport"), ("content", width)]);
            m.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            m.empty("meta", &[("name", "generator"), ("content", "orrery")]);
            m.empty("link", &[("rel", "icon"), ("href", "data:,")]);
            m.of_text("title", &format!("{title} \u{2013} orrery"));
            m.plain("style", |m| m.html(STYLE));
        });
        m.plain("body", |m| {
            m.plain("main", |m| {
                if !single {
                    m.plain("header", |m| m.of_text("h1", title));
                    contents(m, pages);
                }
                for (i, page) in pages.iter().enumerate() {
                    article(m, page, i, single);
                }
            });
            m.plain("script", |m| m.html(SCRIPT));
        });
    });
    m.into_string() + "\n"
}

/// What is on a page of several results, with a verdict each.
fn contents(m: &mut Markup, pages: &[Page]) {
    let link = |m: &mut Markup, i: usize, page: &Page| {
        m.element("a", &[("href", &format!("#r{i}"))], |m| m.text(&page.title));
        if let Some(first) = page.verdict.first() {
            m.text(" ");
            m.of_class("span", class(first.tone), |m| m.text(&first.text));
        }
    };
    m.plain("nav", |m| {
        m.of_class("ul", "contents", |m| {
            for (i, page) in pages.iter().enumerate() {
                m.plain("li", |m| link(m, i, page));
            }
        });
    });
}

/// The answer, one look at it, one table, what it stands on; all else is closed at first.
fn article(m: &mut Markup, page: &Page, number: usize, single: bool) {
    let (open, closed): (Vec<&Section>, Vec<&Section>) =
        page.sections.iter().partition(|s| is_open(page, s));
    m.element("article", &[("id", &format!("r{number}"))], |m| {
        m.plain("header", |m| {
            m.of_class("p", "kind", |m| m.text(page.kind));
            m.of_text(if single { "h1" } else { "h2" }, &page.title);
            if !page.subtitle.is_empty() {
                m.of_class("p", "subtitle", |m| m.text(&page.subtitle));
            }
        });
        if !page.verdict.is_empty() {
            m.of_class("div", "verdict", |m| {
                for (i, v) in page.verdict.iter().enumerate() {
                    let say = |m: &mut Markup| if i == 0 { answer(m, v) } else { m.text(&v.text) };
                    m.of_class("p", class(v.tone), say);
                }
            });
        }
        for s in open {
            section(m, &s.title, single, |m| parts(m, s));
        }
        if !page.asked.is_empty() {
            section(m, "What was asked", single, |m| list(m, &page.asked));
        }
        for s in closed {
            folded(m, &s.title, single, |m| parts(m, s));
        }
        if !page.provenance.is_empty() {
            folded(m, "Where this is from", single, |m| list(m, &page.provenance));
            printed(m, page);
        }
    });
}

/// On paper what is closed is not there: how to have the same again in one line.
fn printed(m: &mut Markup, page: &Page) {
    let some = page.provenance.iter().filter(|(what, _)| PRINTED.contains(&what.as_str()));
    let text: Vec<String> = some
        .map(|(what, is)| format!("{what} {}", is.lines().collect::<Vec<_>>().join("; ")))
        .collect();
    if !text.is_empty() {
        m.of_class("p", "printed", |m| m.text(&text.join(" \u{b7} ")));
    }
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
fn answer(m: &mut Markup, verdict: &Verdict) {
    let text = verdict.text.as_str();
    if let Some(rest) = text.strip_prefix(&*verdict.who).filter(|_| !verdict.who.is_empty()) {
        m.of_class("b", "number", |m| m.text(&verdict.who));
        return m.text(rest);
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
            m.text(&text[..from]);
            m.of_class("b", "number", |m| m.text(&text[from..to]));
            return m.text(&text[to..]);
        }
        at += word.len();
    }
    m.text(text);
}

fn section(m: &mut Markup, title: &str, single: bool, body: impl FnOnce(&mut Markup)) {
    m.plain("section", |m| {
        heading(m, title, single);
        body(m);
    });
}

/// A section that is closed at first.
fn folded(m: &mut Markup, title: &str, single: bool, body: impl FnOnce(&mut Markup)) {
    m.of_class("details", "section", |m| {
        m.plain("summary", |m| heading(m, title, single));
        body(m);
    });
}

fn heading(m: &mut Markup, title: &str, single: bool) {
    m.of_text(if single { "h2" } else { "h3" }, title);
}

fn parts(m: &mut Markup, section: &Section) {
    section.parts.iter().for_each(|p| part(m, p));
}

fn list(m: &mut Markup, pairs: &[(String, String)]) {
    m.plain("dl", |m| {
        for (what, is) in pairs {
            m.of_text("dt", what);
            m.plain("dd", |m| is.lines().for_each(|line| m.of_text("div", line)));
        }
    });
}

fn part(m: &mut Markup, part: &Part) {
    match part {
        Part::Text(text) => m.of_text("p", text),
        Part::List(points) => {
            m.plain("ul", |m| points.iter().for_each(|p| m.of_text("li", p)));
        }
        Part::Plain(text) => m.element("pre", &[("tabindex", "0")], |m| m.text(text)),
        Part::Figure(drawings, caption) => m.plain("figure", |m| {
            for (svg, class) in drawings.iter().zip(["drawing wide", "drawing narrow"]) {
                // Our own writer's SVG: its texts are escaped there.
                let attributes = [("class", class), ("tabindex", "0")];
                m.element("div", &attributes, |m| m.html(inline(svg)));
            }
            if !caption.is_empty() {
                m.of_text("figcaption", caption);
            }
        }),
        Part::Table(t) => table(m, t),
        Part::Folded(title, inner) => m.plain("details", |m| {
            m.of_text("summary", title);
            inner.iter().for_each(|p| self::part(m, p));
        }),
        Part::Views { page, .. } => page.iter().for_each(|p| self::part(m, p)),
        Part::Cards(cards) => m.of_class("div", "cards", |m| {
            for card in cards {
                m.element("div", &[("class", "card"), ("id", &card.id)], |m| {
                    m.plain("h3", |m| {
                        link(m, &card.link, &card.id);
                        m.text(&format!(": {}", card.title));
                    });
                    parts(m, card);
                });
            }
        }),
    }
}

fn table(m: &mut Markup, table: &Table) {
    let numeric: Vec<bool> = (0..table.columns.len()).map(|i| table.is_number(i)).collect();
    let is_long = |f: &Field| f.text.len() > LONG;
    let is_words = !numeric.contains(&true) && table.rows.iter().flatten().any(is_long);
    let frame = match is_words {
        true => "frame words",
        false if table.rows.len() > TALL => "frame tall",
        false => "frame",
    };
    let head = |m: &mut Markup| {
        for (c, numeric) in table.columns.iter().zip(&numeric) {
            let attributes = [("scope", "col"), ("class", "n")];
            m.element("th", &attributes[..1 + usize::from(*numeric)], |m| m.text(c));
        }
    };
    let rows = |m: &mut Markup| {
        for row in &table.rows {
            let cells = row.iter().zip(&numeric).zip(&table.columns);
            let head = |c| if is_words { c } else { "" };
            m.plain("tr", |m| cells.for_each(|((f, n), c)| field(m, f, *n, head(c))));
        }
    };
    m.element("div", &[("class", frame), ("tabindex", "0")], |m| {
        m.plain("table", |m| {
            if !table.caption.is_empty() {
                m.of_text("caption", &table.caption);
            }
            m.plain("thead", |m| m.plain("tr", head));
            m.plain("tbody", rows);
        });
    });
}

/// A cell; with the heading that it has in a column of its own.
fn field(m: &mut Markup, f: &Field, numeric: bool, head: &str) {
    let classes = match (numeric, class(f.tone)) {
        (true, "") => "n".to_string(),
        (true, tone) => format!("n {tone}"),
        (false, tone) => tone.to_string(),
    };
    // What is written may be rounded.
    let key = f.key.filter(|k| f.text.parse() != Ok(*k)).map(|k| k.to_string());
    let mut attributes = Vec::new();
    if !classes.is_empty() {
        attributes.push(("class", classes.as_str()));
    }
    attributes.extend(key.as_deref().map(|key| ("data-k", key)));
    attributes.extend((!head.is_empty() && !f.text.is_empty()).then_some(("data-h", head)));
    m.element("td", &attributes, |m| {
        if !f.link.is_empty() {
            link(m, &f.link, &f.text);
        } else if f.tone == Tone::Plain {
            parameters(m, &f.text);
        } else {
            m.of_text("span", &f.text);
        }
        if !f.below.is_empty() {
            m.of_text("small", &f.below);
        }
    });
}

/// Text that leads somewhere, if there is a place.
fn link(m: &mut Markup, to: &str, text: &str) {
    match to {
        "" => m.text(text),
        _ => m.element("a", &[("href", to)], |m| m.text(text)),
    }
}

/// A policy's parameters have line ends where they have no room: `clockwork[`, `max_batch=4]`.
fn parameters(m: &mut Markup, text: &str) {
    let ends: &[char] = if text.contains('[') { &['[', '=', ','] } else { &[] };
    for (i, piece) in text.split_inclusive(ends).enumerate() {
        if i > 0 {
            m.empty("wbr", &[]);
        }
        m.text(piece);
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
