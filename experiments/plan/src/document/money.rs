//! What a pool costs beyond an hour: by the month, in packs, and at which prices another is the answer.

use crate::input::problem::Problem;
use crate::search::answer::Turn;
use crate::search::solved::Solved;
use orrery_results::distinct;
use orrery_solvers::Price;

/// Hours of a month: 365 days of 24 hours, by 12.
pub const HOURS_OF_MONTH: f64 = 730.0;

/// Dollars for a month, without cents.
pub fn month(cost: Price) -> String {
    format!("{:.0}", usd_per_month(cost))
}

/// Dollars for a month.
pub fn usd_per_month(cost: Price) -> f64 {
    cost.as_usd_per_hour() * HOURS_OF_MONTH
}

/// In words: `1080ti stays the cheapest up to 0.90 $/h each (now 0.30); a100 would win below 0.53 $/h each (now 1.60)`.
pub fn turns_in_words(problem: &Problem, turns: &[Turn]) -> Option<String> {
    let words = |t: &Turn| {
        let kind = problem.kind(t.kind);
        let (at, now) = beside(t.at_usd_per_hour, t.now_usd_per_hour);
        match t.is_answer {
            true => format!("{kind} stays the cheapest up to {at} $/h each (now {now})"),
            false => format!("{kind} would win below {at} $/h each (now {now})"),
        }
    };
    (!turns.is_empty()).then(|| turns.iter().map(words).collect::<Vec<_>>().join("; "))
}

/// A price and that of today, with as many digits as show that they differ.
fn beside(at: f64, now: f64) -> (String, String) {
    let short = (cents(at), cents(now));
    if short.0 == short.1 && at != now {
        return (format!("{at:.4}"), format!("{now:.4}"));
    }
    short
}

/// A price of one device: small ones with more digits.
fn cents(usd: f64) -> String {
    if usd < 0.1 { format!("{usd:.4}") } else { format!("{usd:.2}") }
}

/// What is bought, where it is not one by one: `1 gpu_8x_v100_n`.
pub fn bought(problem: &Problem, counts: &[u32]) -> Option<String> {
    let some = counts.iter().enumerate().filter(|(_, n)| **n > 0);
    let words: Vec<String> = some.filter_map(|(kind, n)| problem.sales[kind].words(*n)).collect();
    (!words.is_empty()).then(|| words.join(" + "))
}

/// Where the prices are from; none where the plan itself gives them all.
pub fn source(solved: &Solved) -> Option<String> {
    let p = &solved.problem;
    let list = p.plan.list.as_ref()?;
    let terms = distinct(p.sales.iter().filter_map(|sale| Some(sale.buy?.name())));
    if terms.is_empty() {
        return None;
    }
    let own = p.sales.iter().filter(|s| s.buy.is_none()).count();
    let own = match own {
        0 => String::new(),
        1 => "; one price is the plan's own".to_string(),
        n => format!("; {n} prices are the plan's own"),
    };
    Some(format!("{list}, {}{own}; {}", terms.join(" and "), list.source))
}
