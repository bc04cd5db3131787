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
        // Downwards: it is the cheapest up to the one, and wins below the other.
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
    let digits = if at < 0.1 { 4 } else { 2 };
    let short = (down(at, digits), cents(now));
    // Nor on the other side of today's price.
    let [shown, shown_now] = [&short.0, &short.1].map(|text| text.parse().unwrap_or(f64::NAN));
    if at != now && shown.partial_cmp(&shown_now) != at.partial_cmp(&now) {
        return (down(at, 4), format!("{now:.4}"));
    }
    short
}

/// A number rounded down: of a lower bound a lower bound.
fn down(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    let is_above = text.parse().is_ok_and(|rounded: f64| rounded > x);
    let unit = (0..digits).fold(1.0, |unit, _| unit / 10.0);
    if is_above { format!("{:.digits$}", x - unit / 2.0) } else { text }
}

/// What costs at least so many dollars: never above the bound.
pub fn at_least(usd: f64) -> String {
    down(usd, 3)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of 1.326 $/h is no cheaper than the least that any costs.
    #[test]
    fn bounds_of_prices_are_rounded_down() {
        assert_eq!(at_least(1.326), "1.326");
        assert_eq!([at_least(1.325_999), at_least(2.0)], ["1.325", "2.000"]);
        assert_eq!(beside(0.0667, 0.3), ("0.0667".to_string(), "0.30".to_string()));
        assert_eq!(beside(0.789, 0.8), ("0.78".to_string(), "0.80".to_string()));
        assert_eq!(beside(0.533_39, 0.526), ("0.5333".to_string(), "0.5260".to_string()));
        for n in 1..10_000 {
            let x = f64::from(n) / 7_000.0;
            let shown: f64 = at_least(x).parse().unwrap();
            assert!(shown <= x && x < shown + 0.001 + 1e-12, "{x}: {shown}");
        }
    }
}
