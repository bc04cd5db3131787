//! The pages use the words of `docs/glossary.md`, and none that its third column replaces; and they stay short.

use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const GLOSSARY: &str = "docs/glossary.md";

/// Pages that still have replaced words, and are longer than others. Remove a page here when its last such word is
/// gone: the test says so.
const NOT_YET: [&str; 1] = ["docs/replay.md"];

/// Names that have a replaced word in them.
const NAMES: [&str; 1] = ["Little's law"];

fn read(page: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap_or_else(|e| panic!("{page}: {e}"))
}

/// Every page at the root and in `docs/`, but the glossary.
fn pages() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "docs/"] {
        for entry in std::fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder") {
            let name = entry.expect("a file").file_name().into_string().expect("a name");
            let page = format!("{folder}{name}");
            if name.ends_with(".md") && page != GLOSSARY {
                found.push(page);
            }
        }
    }
    found.sort();
    found
}

/// The words of the glossary's third column.
fn replaced() -> Vec<String> {
    let text = read(GLOSSARY);
    let third = |line: &str| line.split('|').nth(3).map(str::trim).map(str::to_string);
    let rows = text.lines().filter(|l| l.starts_with("| ")).skip(1).filter_map(third);
    let words = rows.flat_map(|r| r.split(", ").map(str::to_string).collect::<Vec<_>>());
    words.filter(|w| !w.is_empty()).collect()
}

/// The lines that somebody wrote, with their numbers: without blocks, generated parts, inline code and links' targets.
fn written(text: &str) -> Vec<(usize, String)> {
    if text.contains("<!-- Generated from ") {
        return Vec::new();
    }
    let (mut in_block, mut is_generated) = (false, false);
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match line.trim() {
            l if l.starts_with("```") => in_block = !in_block,
            l if l.starts_with("<!-- generated: ") => is_generated = true,
            "<!-- end -->" => is_generated = false,
            _ if in_block || is_generated => {}
            _ => found.push((number, prose(line))),
        }
    }
    found
}

fn prose(line: &str) -> String {
    let outside: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut parts = outside.split("](");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        out.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    NAMES.iter().fold(out, |text, name| text.replace(name, ""))
}

/// Whether a line has a word or phrase as a whole.
fn has(line: &str, word: &str) -> bool {
    let line = line.to_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    line.match_indices(word).any(|(at, _)| {
        !is_letter(line[..at].chars().next_back())
            && !is_letter(line[at + word.len()..].chars().next())
    })
}

/// A number without its leading zero, such as a point and 036.
fn lacks_zero(line: &str) -> bool {
    line.match_indices('.').any(|(at, _)| {
        let before = line[..at].chars().next_back();
        line[at + 1..].starts_with(|c: char| c.is_ascii_digit())
            && before.is_none_or(|c| c.is_whitespace() || "(+-±|/".contains(c))
    })
}

fn faults(page: &str, replaced: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in written(&read(page)) {
        let words = replaced.iter().filter(|w| has(&line, w));
        found.extend(words.map(|w| format!("{page}:{number}: \"{w}\" is replaced ({GLOSSARY})")));
        if lacks_zero(&line) {
            found.push(format!("{page}:{number}: a number without its leading zero"));
        }
    }
    found
}

#[test]
fn no_page_has_a_word_that_the_glossary_replaces() {
    let replaced = replaced();
    assert!(replaced.len() > 30 && replaced.iter().any(|w| w == "trivial"), "{replaced:?}");
    let is_done = |p: &&String| !NOT_YET.contains(&p.as_str());
    let found: Vec<String> =
        pages().iter().filter(is_done).flat_map(|p| faults(p, &replaced)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    for page in NOT_YET {
        assert!(!faults(page, &replaced).is_empty(), "{page} is done: take it out of NOT_YET");
    }
}

#[test]
fn quoted_words_are_allowed_and_whole_ones_are_found() {
    let page = "told `told`\n```text\ntold\n```\n<!-- generated: x -->\ntold\n<!-- end -->\n[a](told.md) untold";
    let lines: Vec<usize> =
        written(page).iter().filter(|(_, l)| has(l, "told")).map(|(n, _)| *n).collect();
    assert_eq!(lines, [1]);
    assert!(has("What it CARRIES.", "carries") && !has("miscarries", "carries"));
    assert!(
        lacks_zero("off by .036") && lacks_zero("| .5 |") && !lacks_zero("0.036, docs.rs, a.5b")
    );
}

/// The words of a page outside of its generated parts.
fn length(text: &str) -> usize {
    let mut parts = text.split("<!-- generated: ");
    let first = parts.next().unwrap_or_default().split_whitespace().count();
    let after = parts.filter_map(|part| part.split_once("<!-- end -->"));
    first + after.map(|(_, rest)| rest.split_whitespace().count()).sum::<usize>()
}

#[test]
fn readme_has_at_most_900_words_and_no_page_more_than_3500() {
    for page in pages().iter().filter(|p| !NOT_YET.contains(&p.as_str())) {
        let text = read(page);
        let most = if page == "README.md" { 900 } else { 3_500 };
        let is_made = text.contains("<!-- Generated from ");
        assert!(
            is_made || length(&text) <= most,
            "{page}: {} words, at most {most}",
            length(&text)
        );
    }
}
