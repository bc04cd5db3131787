//! Pages and all that leaves the program use the words of `docs/glossary.md`, and none that its third column
//! replaces; and pages stay short.

use super::manifests::files;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const GLOSSARY: &str = "docs/glossary.md";

/// Names that have a replaced word in them.
const NAMES: [&str; 2] = ["Little's law", "carry-load"];

/// Where the texts of the program are: folders with an extension, and whether `///` leaves it too, as help does.
const TEXTS: [(&str, &str, bool); 11] = [
    ("sim/src", "rs", false),
    ("traces", "rs", false),
    ("results/src", "rs", false),
    ("plots/src", "rs", false),
    ("experiments", "rs", false),
    ("experiments/cli/src", "rs", true),
    ("python/src", "rs", true),
    ("python/python/orrery", "py", false),
    ("experiments/reproduce/files", "toml", false),
    ("experiments/arena/claims", "toml", false),
    ("scenarios", "toml", false),
];

/// Keys of files and names of axes, which a text in quotes may be.
const KEYS: [&str; 4] = ["law", "laws", "believed", "trivial"];

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

/// The lines to read, with their numbers: without blocks but outputs', inline code and links' targets.
fn written(text: &str) -> Vec<(usize, String)> {
    let mut block = None;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let l = line.trim();
        match (l.strip_prefix("```"), block) {
            (Some(kind), None) => block = Some(kind),
            (Some(_), Some(_)) => block = None,
            (None, None | Some("text")) if !l.starts_with("<!--") => {
                found.push((number, prose(line)))
            }
            _ => {}
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

/// What is wrong with the lines of a file.
fn faults(file: &str, lines: &[(usize, String)], replaced: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in lines {
        let words = replaced.iter().filter(|w| has(line, w));
        found.extend(words.map(|w| format!("{file}:{number}: \"{w}\" is replaced ({GLOSSARY})")));
        if lacks_zero(line) {
            found.push(format!("{file}:{number}: a number without its leading zero"));
        }
    }
    found
}

fn faults_of_page(page: &str, replaced: &[String]) -> Vec<String> {
    faults(page, &written(&read(page)), replaced)
}

/// The texts in quotes of a source before its tests, with their lines; and its `///`, where that is `documented`.
fn quoted(source: &str, documented: bool) -> Vec<(usize, String)> {
    let (mut rest, mut line, mut found) = (source, 1, Vec::new());
    rest = rest.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, from) = rest.split_at(at);
        line += before.matches('\n').count();
        let end = if from.starts_with("//") {
            let end = from.find('\n').unwrap_or(from.len());
            let doc = from[..end].strip_prefix("///").filter(|_| documented);
            found.extend(doc.map(|doc| (line, prose(doc))));
            end
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") {
            from[1..].find('"').map_or(2, |quote| quote + 3)
        } else if let Some(rest) = from.strip_prefix('"') {
            let body = before.trim_end_matches('#');
            let raw = body.ends_with('r').then(|| format!("\"{}", &before[body.len()..]));
            let close = raw.as_ref().map_or(1, String::len);
            let end = match raw {
                Some(raw) => rest.find(&raw).map_or(from.len(), |n| n + 1 + close),
                None => end_of_text(from),
            };
            found.push((line, spoken(&rest[..end.saturating_sub(close + 1)])));
            end
        } else {
            1
        };
        line += from[..end].matches('\n').count();
        rest = &from[end..];
    }
    found.retain(|(_, text)| !is_key(text));
    found
}

/// The length of a text with its quotes, in which `\\"` is no end.
fn end_of_text(from: &str) -> usize {
    let mut escaped = false;
    let end = from.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        is_end
    });
    end.map_or(from.len(), |(at, _)| at + 1)
}

/// A text without its line breaks, inline code and the names of what is put in.
fn spoken(text: &str) -> String {
    let lines = text.split("\\\n").map(str::trim_start).collect::<Vec<_>>().concat();
    let mut parts = lines.split('{');
    let mut out = parts.next().unwrap_or_default().to_string();
    parts.for_each(|part| {
        out.push('_');
        out.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    });
    prose(&out.replace("\\n", " "))
}

/// Whether a text is a key or an option in place of words.
fn is_key(text: &str) -> bool {
    let is_path = |t: &str| t.starts_with("--") || t.contains(['.', '_', '[', '=']);
    KEYS.contains(&text) || (!text.trim().contains(' ') && is_path(text))
}

/// The texts of an input file: titles, claims, notes and comments, and no names.
fn texts_of_toml(text: &str) -> Vec<(usize, String)> {
    let heads = ["text = ", "title = ", "source = ", "x_label = ", "\"", "#"];
    let is_text = |l: &str| heads.iter().any(|head| l.starts_with(head)) && !l.contains("\" = ");
    let lines = (1..).zip(text.lines().map(str::trim_start));
    lines.filter(|(_, l)| is_text(l)).map(|(number, l)| (number, prose(l))).collect()
}

#[test]
fn nothing_that_leaves_the_program_has_a_word_that_the_glossary_replaces() {
    let replaced = replaced();
    let (mut found, mut read_of) = (Vec::new(), 0);
    for (folder, extension, documented) in TEXTS {
        let mut paths = Vec::new();
        files(&Path::new(ROOT).join(folder), extension, &mut paths);
        paths.sort();
        for path in paths {
            let name = path.strip_prefix(ROOT).expect("below the root").to_str().expect("a name");
            let text = std::fs::read_to_string(&path).expect("a source");
            if name.contains("tests") || name.contains("/build.rs") {
                continue;
            }
            let lines = match extension {
                "toml" => texts_of_toml(&text),
                _ => quoted(&text, documented),
            };
            read_of += lines.len();
            found.extend(faults(name, &lines, &replaced));
        }
    }
    assert!(read_of > 10_000, "{read_of} texts");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_page_has_a_word_that_the_glossary_replaces() {
    let replaced = replaced();
    assert!(replaced.len() > 30 && replaced.iter().any(|w| w == "trivial"), "{replaced:?}");
    let found: Vec<String> = pages().iter().flat_map(|p| faults_of_page(p, &replaced)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn quoted_words_are_allowed_and_whole_ones_are_found() {
    let page =
        "told `told`\n```sh\ntold\n```\n```text\ntold\n```\n<!-- told -->\n[a](told.md) untold";
    let lines: Vec<usize> =
        written(page).iter().filter(|(_, l)| has(l, "told")).map(|(n, _)| *n).collect();
    assert_eq!(lines, [1, 6]);
    let source = "// told \"a b\"\nf('\"', \"it \\\"is\\\" {told} \\\n    told\", \"a.told\", r#\"a \"b\" c\"#); /// a law\n";
    let texts = quoted(source, true);
    let texts: Vec<(usize, &str)> = texts.iter().map(|(n, t)| (*n, t.as_str())).collect();
    assert_eq!(texts, [(2, "it \\\"is\\\" _ told"), (3, "a \"b\" c"), (3, " a law")]);
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
    for page in pages() {
        let text = read(&page);
        // README's generated parts are read as the others are.
        let (words, most) = match page == "README.md" {
            true => (text.split_whitespace().count(), 900),
            false => (length(&text), 3_500),
        };
        let is_made = text.contains("<!-- Generated from ");
        assert!(is_made || words <= most, "{page}: {words} words, at most {most}");
    }
}
