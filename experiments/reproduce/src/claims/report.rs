//! All claims of an experiment as text.

use super::claim::{Claim, LeftOut, Verdict};
use super::judge::judged;
use super::words::{asked, came_out};
use orrery_results::Row;
use std::fmt::Write;

/// All claims as text: two lines for each.
pub fn text(claims: &[Claim], left_out: &LeftOut, rows: &[Row]) -> String {
    let mut out = String::new();
    if claims.is_empty() {
        return out;
    }
    out.push_str("\nthe paper's sentences, and our results:\n");
    for (claim, c) in claims.iter().zip(judged(claims, left_out, rows)) {
        let verdict = match c.verdict {
            Verdict::DoesNotHold => "DOES NOT HOLD".to_string(),
            verdict if c.why.is_empty() => verdict.words().to_string(),
            verdict => format!("{}: {}", verdict.words(), c.why),
        };
        let _ = write!(out, "- {} -> {verdict}", claim.text);
        if c.taken.is_none() && c.verdict == Verdict::DoesNotHold && c.good > 0 {
            let _ = write!(out, " ({} of {} do)", c.good, c.cells.len());
        }
        let _ = write!(out, "\n    {}", asked(claim));
        out.push_str(&came_out(claim, &c));
        if c.unanswered > 0 {
            let _ = write!(out, "; no answer in {} more", c.unanswered);
        }
        out.push('\n');
    }
    out
}
