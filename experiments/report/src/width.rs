//! How wide text is: 80 columns, so that the same run writes the same bytes; as wide as the terminal where it is
//! read on one; and whatever it needs with `--wide`.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Columns of text that is not read on a terminal.
const COLUMNS: usize = 80;
/// A terminal that is narrower gets text as if it had these.
const LEAST: usize = 40;

static WIDTH: AtomicUsize = AtomicUsize::new(COLUMNS);

/// Whether headings are bold and verdicts coloured.
static IS_STYLED: AtomicBool = AtomicBool::new(false);

/// Text has bold headings and coloured verdicts from now on: on a terminal.
pub fn set_styled() {
    IS_STYLED.store(true, Ordering::Relaxed);
}

/// A line in the style of this number (1 is bold, 31 to 33 are red, green and yellow), where text has styles.
pub fn styled(line: &str, style: u8) -> String {
    match IS_STYLED.load(Ordering::Relaxed) && style > 0 {
        true => format!("\x1b[{style}m{line}\x1b[0m"),
        false => line.to_string(),
    }
}

/// Text has these columns from now on.
pub fn set_width(columns: usize) {
    WIDTH.store(columns.max(LEAST), Ordering::Relaxed);
}

/// The columns that text has.
pub fn width() -> usize {
    WIDTH.load(Ordering::Relaxed)
}

/// Text with its long lines folded at spaces; what follows is indented by two more.
pub fn folded(text: &str) -> String {
    text.split_inclusive('\n').map(|line| fold(line, width())).collect()
}

fn fold(line: &str, width: usize) -> String {
    let text = line.trim_end();
    if text.chars().count() <= width {
        return line.to_string();
    }
    let words = text.trim_start();
    let indent = " ".repeat(text.len() - words.len());
    let lines = wrapped(words, &[' '], width.saturating_sub(indent.len()), 2);
    let lines: Vec<String> = lines.iter().map(|l| format!("{indent}{l}")).collect();
    lines.join("\n") + &line[text.len()..]
}

/// Lines of at most `width` columns, broken behind one of `ends`; all but the first begin with `hang` spaces. A
/// word that is longer has a line of its own. The work grows with the length of the text, not with its square: a
/// line of a table may have as many spaces as a name has letters.
pub fn wrapped(text: &str, ends: &[char], width: usize, hang: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut columns, mut is_blank) = (String::new(), 0, true);
    // A number stays with its percent sign.
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split_inclusive(ends) {
        let bare = word.trim_end().chars().count();
        if columns + bare > width && !is_blank {
            lines.push(line.trim_end().to_string());
            (line, columns, is_blank) = (" ".repeat(hang), hang, true);
        }
        line.push_str(word);
        columns += word.chars().count();
        is_blank &= word.trim().is_empty();
    }
    lines.push(line.trim_end().to_string());
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// The columns that a text needs at least when it is [`wrapped`].
pub fn least(text: &str, ends: &[char], hang: usize) -> usize {
    let text = text.replace(" %", "\u{a0}%");
    let words = text.split_inclusive(ends).enumerate();
    let columns =
        |(i, word): (usize, &str)| word.trim_end().chars().count() + if i == 0 { 0 } else { hang };
    words.map(columns).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_at_spaces() {
        let text = "short\n  - one two three four\n";
        let folded: String = text.split_inclusive('\n').map(|l| fold(l, 14)).collect();
        assert_eq!(folded, "short\n  - one two\n    three four\n");
        assert_eq!(fold("it is a 94 % busy", 10), "it is a\n  94 %\n  busy");
        assert_eq!(fold("a word-that-cannot-be-broken", 10), "a\n  word-that-cannot-be-broken");
    }

    #[test]
    fn a_long_text_is_folded_in_one_walk() {
        // With work that grows with the square, this test would not end: 4 million spaces, then as many words.
        const MANY: usize = 4_000_000;
        let spaces = format!("{}end", " ".repeat(MANY));
        assert_eq!(wrapped(&spaces, &[' '], 40, 2), [spaces.trim_end().to_string()]);
        let words = "a ".repeat(MANY);
        let lines = wrapped(&words, &[' '], MANY, 2);
        assert_eq!(lines.iter().map(|l| l.trim_start().len() + 1).sum::<usize>(), 2 * MANY);
        assert!(lines.iter().all(|line| line.len() <= MANY));
    }

    #[test]
    fn a_policy_is_broken_behind_a_comma() {
        let lines = wrapped("nexus[drop=elapsed,batch=16]", &[' ', ','], 20, 2);
        assert_eq!(lines, ["nexus[drop=elapsed,", "  batch=16]"]);
        assert_eq!(least("nexus[drop=elapsed,batch=16]", &[' ', ','], 2), 19);
    }
}
