//! The commands that documents show: those of their blocks, and those in their sentences.

use std::path::{Path, PathBuf};

/// A command of a document.
pub struct Command {
    /// Its line, counted from 1.
    pub line: usize,
    /// The command, without its comment and in one line.
    pub text: String,
    /// The output that the document shows below it, where it does.
    pub output: Option<String>,
}

/// The repository's root.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("a package of the workspace").to_path_buf()
}

/// README, ARTIFACT, the kept runs and all of `docs/`, by their paths from the root: README first, the others in order.
pub fn documents() -> Vec<String> {
    let first = ["README.md", "ARTIFACT.md", "replay/validated/README.md"];
    let mut found = first.map(str::to_string).to_vec();
    let mut folders = vec!["docs".to_string()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(root().join(&folder)).expect("a folder of documents");
        let mut names: Vec<_> = entries.flatten().map(|e| (e.file_name(), e.path())).collect();
        names.sort();
        for (name, path) in names {
            let name = format!("{folder}/{}", name.to_string_lossy());
            if path.is_dir() {
                folders.push(name);
            } else if name.ends_with(".md") {
                found.push(name);
            }
        }
    }
    found
}

/// A document's text.
pub fn read(document: &str) -> String {
    std::fs::read_to_string(root().join(document)).expect("a document")
}

/// A fenced block: its language, and its lines with their numbers.
type Block<'a> = (&'a str, Vec<(usize, &'a str)>);

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        match line.strip_prefix("```") {
            Some(_) if inside => inside = false,
            Some(language) => {
                inside = true;
                blocks.push((language, Vec::new()));
            }
            None if inside => blocks.last_mut().expect("an open block").1.push((number, line)),
            None => {}
        }
    }
    blocks
}

/// The commands of a document's blocks, in their order: every line of a block `sh` or without a language,
/// and each line behind `$` of a block `text`, whose output follows.
pub fn of_blocks(document: &str) -> Vec<Command> {
    let text = read(document);
    let mut found = Vec::new();
    for (language, lines) in blocks(&text) {
        match language {
            "sh" | "" => found.extend(of_shell(&lines)),
            "text" => found.extend(of_session(&lines)),
            _ => {}
        }
    }
    found
}

fn of_shell(lines: &[(usize, &str)]) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut continues = false;
    for &(line, code) in lines {
        let code = code.split(" # ").next().unwrap_or_default().trim();
        let part = code.trim_end_matches('\\').trim_end();
        match found.last_mut() {
            Some(last) if continues => last.text += &format!(" {part}"),
            _ if part.is_empty() || part.starts_with('#') => {}
            _ => found.push(command(line, part, None)),
        }
        continues = code.ends_with('\\');
    }
    found
}

fn of_session(lines: &[(usize, &str)]) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    for &(line, text) in lines {
        match (text.strip_prefix("$ "), found.last_mut().and_then(|c| c.output.as_mut())) {
            (Some(code), _) => found.push(command(line, code, Some(String::new()))),
            (None, Some(output)) => *output += &format!("{text}\n"),
            (None, None) => {}
        }
    }
    found
}

fn command(line: usize, text: &str, output: Option<String>) -> Command {
    Command { line, text: text.to_string(), output }
}

/// What stands between backquotes in a document's sentences, with its line.
pub fn in_sentences(document: &str) -> Vec<(usize, String)> {
    let text = read(document);
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim().starts_with("```") {
            inside = !inside;
        } else if !inside {
            let spans = line.split('`').skip(1).step_by(2);
            found.extend(spans.map(|span| (number + 1, span.to_string())));
        }
    }
    found
}
