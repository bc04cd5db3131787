//! The answer as annotations of GitHub Actions: commands that a workflow's log understands, a line for each.

use super::outcome::{Outcome, Says, verdict};
use super::page::{in_a_line, inputs_of};
use orrery_report::page::Tone;

/// Values of one annotation.
const VALUES_MAX: usize = 20;

/// An annotation for each requirement that is not met, one for each baseline whose values moved and for each that
/// could not be run, and the verdict.
pub fn annotations(outcomes: &[Outcome], blessed: bool) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        let file = outcome.name.as_str();
        let compared = match &outcome.result {
            Ok(compared) => compared,
            Err(e) => {
                let title = "orrery regress: could not run";
                out.push_str(&annotation("error", file, line_in(file, e), title, e));
                continue;
            }
        };
        for judged in compared.unmet() {
            let title = format!("orrery regress: a requirement is {}", judged.verdict.word());
            let text = format!("{}: found {}", judged.asked(), judged.found());
            let text = [text, judged.remedy()].join("\n");
            out.push_str(&annotation("error", file, judged.line, &title, text.trim_end()));
        }
        let ranked = compared.ranked();
        let (false, Some((_, at))) = (blessed, ranked.first()) else { continue };
        let mut lines = inputs_of(compared);
        // What is within noise is listed where nothing else moved.
        let shown = match compared.counts().beyond() {
            0 => ranked.len(),
            beyond => beyond,
        };
        lines
            .extend(ranked.iter().take(shown.min(VALUES_MAX)).map(|(change, _)| in_a_line(change)));
        let more = shown.saturating_sub(VALUES_MAX);
        lines.extend((more > 0).then(|| format!("and {more} more")));
        let says = match compared.says() {
            // The requirements have annotations of their own.
            Says::Failed => "values moved",
            other => other.word(),
        };
        let title = format!("orrery regress: {says}: {}", compared.counts().words());
        let level = if compared.says() == Says::Failed { "error" } else { "warning" };
        out.push_str(&annotation(level, file, *at, &title, &lines.join("\n")));
    }
    let (tone, text) = verdict(outcomes, blessed);
    let level = match tone {
        Tone::Bad => "error",
        Tone::Mixed => "warning",
        _ => "notice",
    };
    out + &format!("::{level} title=orrery regress::{}\n", data(&text))
}

fn annotation(level: &str, file: &str, line: usize, title: &str, text: &str) -> String {
    format!(
        "::{level} file={},line={line},title={}::{}\n",
        property(file),
        property(title),
        data(text)
    )
}

/// The line that an error names: `b.toml:7: key ...`.
fn line_in(file: &str, error: &str) -> usize {
    let rest = error.strip_prefix(file).and_then(|rest| rest.strip_prefix(':'));
    rest.and_then(|rest| rest.split(':').next()?.trim().parse().ok()).unwrap_or(1)
}

/// A message, with what would end it escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property, with what would end it escaped.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_part_of_a_command_is_escaped() {
        let found = annotation("error", "a,b:c.toml", 3, "50 %: x\r\n", "50 %, a: b\r\n::error::");
        assert_eq!(
            found,
            "::error file=a%2Cb%3Ac.toml,line=3,title=50 %25%3A x%0D%0A::50 %25, a: b%0D%0A::error::\n"
        );
        assert_eq!(line_in("b.toml", "b.toml:7: key `x`"), 7);
        assert_eq!(line_in("b.toml", "a.toml:7: key `x`"), 1);
        assert_eq!(line_in("b.toml", "b.toml: cannot be read"), 1);
    }
}
