//! What an answer stands on, in words and as a table.

use crate::answer::percent;
use crate::robust::{Held, Robust, Strained};
use crate::solved::Solved;
use orrery_output::page::{Field, Part, Table, Tone};

/// Under what an answer breaks, for the first sentence.
pub fn breaks(target: f64, robust: &Robust) -> Option<String> {
    let (worst, bad_rate) = robust.worst(target)?;
    let (bad, allowed) = (percent(bad_rate), percent(target));
    Some(format!("it does not hold when {}: {bad} % bad of {allowed} % allowed", worst.words()))
}

/// The machines of the answer under each change, and what else carries the load under the worst.
pub fn stands_on(solved: &Solved, robust: Option<&Robust>) -> Vec<Part> {
    let target = solved.problem.plan.target();
    let Some(robust) = robust.filter(|robust| !robust.all.is_empty()) else {
        let words = "Not tried: whether the answer holds when execution times vary, messages take longer, SLOs are \
                     tighter, or the load is higher.";
        return vec![Part::Text(words.to_string())];
    };
    let mut table =
        Table::new("", &["the same machines when", "what-if", "model", "bad %", "the answer"]);
    for (i, strained) in robust.all.iter().enumerate() {
        let alike = |other: &Strained| strained.is_untried() && other.what_if == strained.what_if;
        // What cannot be tried cannot be tried for any model.
        if robust.all[..i].iter().any(alike) {
            continue;
        }
        let several = robust.all[i + 1..].iter().any(alike);
        let (bad, answer) = match &strained.held {
            Held::Untried(why) => {
                (Field::none(), Field::text(format!("not tried: {why}")).marked(Tone::Mixed))
            }
            Held::Tried(check) => {
                let words = if check.is_sure(target) {
                    Field::text("holds").marked(Tone::Good)
                } else if check.meets(target) {
                    Field::text("not sure").marked(Tone::Mixed)
                } else {
                    Field::text("does not hold").marked(Tone::Bad)
                };
                (Field::number(check.bad_rate, format!("{:.2}", 100.0 * check.bad_rate)), words)
            }
        };
        let words = |text: &str| Field::text(text);
        let line = vec![
            words(strained.words()),
            words(&strained.what_if),
            words(if several { "all" } else { &strained.group }),
            bad,
            answer,
        ];
        table.rows.push(line);
    }
    let mut points = Vec::new();
    if let Some((what_if, carriers)) = &robust.instead {
        points.push(match carriers.as_slice() {
            [] => format!("With {what_if}, no other scheduler carries the load on these machines, by one seed."),
            some => format!(
                "With {what_if}, these schedulers carry the load on the same machines, by one seed: {}.",
                some.join(", ")
            ),
        });
        points.push(format!("`--what-if {what_if}` looks for the machines that carry it then."));
    }
    table.part().into_iter().chain(Part::list(points)).collect()
}
