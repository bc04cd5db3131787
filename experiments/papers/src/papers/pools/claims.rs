//! The paper's sentences about pools, checked against rows: each holds or does not, with our figures.

use super::file::{Claim, Take};
use orrery_results::Row;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Whether it holds; none where no cell was run.
    pub holds: Option<bool>,
    /// The cells and their values.
    pub cells: Vec<(String, f64)>,
    /// Of how many cells it is true.
    pub good: usize,
    /// What was taken of them, where it is one number.
    pub taken: Option<f64>,
}

/// Checks a claim.
pub fn check(claim: &Claim, rows: &[Row]) -> Checked {
    let cells = cells(claim, rows);
    let is_good = |x: f64| {
        claim.at_least.is_none_or(|least| x >= least) && claim.at_most.is_none_or(|most| x <= most)
    };
    let good = cells.iter().filter(|c| is_good(c.1)).count();
    let values = || cells.iter().map(|c| c.1);
    let taken = match claim.take {
        Take::Each => None,
        Take::Largest => values().reduce(f64::max),
        Take::Smallest => values().reduce(f64::min),
        Take::Mean => (!cells.is_empty()).then(|| values().sum::<f64>() / cells.len() as f64),
    };
    let holds = match (cells.is_empty(), taken) {
        (true, _) => None,
        (false, Some(x)) => Some(is_good(x)),
        (false, None) => Some(good == cells.len()),
    };
    Checked { holds, good, taken, cells }
}

fn cells(claim: &Claim, rows: &[Row]) -> Vec<(String, f64)> {
    let find = |name: &str, setting: &str, model: &str, pool: &str, metric: &str| {
        let fits = |r: &&Row, axis: &str, value: &str| {
            value.is_empty() || r.axis(axis).unwrap_or_default() == value
        };
        let all = rows.iter().filter(|r| r.system == name && r.metric == metric);
        all.filter(|r| r.axis("evaluation").is_none())
            .filter(|r| fits(r, "setting", setting) && fits(r, "model", model))
            .filter(|r| fits(r, "pool", pool))
            .collect::<Vec<&Row>>()
    };
    // Divided by `relative_to` in its own setting.
    let value = |r: &Row| {
        if claim.relative_to.is_empty() {
            return r.value;
        }
        let (setting, model) = (r.axis("setting"), r.axis("model"));
        let by = find(
            &claim.relative_to,
            setting.unwrap_or_default(),
            model.unwrap_or_default(),
            "",
            &claim.metric,
        );
        let by = by.first().and_then(|b| b.value).filter(|b| *b != 0.0)?;
        Some(r.value? / by)
    };
    // A search that never got there has no number of evaluations: it is beyond any.
    let never = |r: &Row| {
        let (value, metric) = (Some(f64::INFINITY), claim.metric.clone());
        Row { value, metric, ..r.clone() }
    };
    let with_never = |name: &str, setting: &str, model: &str, pool: &str| -> Vec<Row> {
        let own = find(name, setting, model, pool, &claim.metric);
        if !claim.metric.starts_with("evaluations_") {
            return own.into_iter().cloned().collect();
        }
        let all = find(name, setting, model, pool, super::ALLOWABLE);
        let has = |r: &Row| own.iter().find(|o| o.axes == r.axes).map(|o| (*o).clone());
        all.into_iter().map(|r| has(r).unwrap_or_else(|| never(r))).collect()
    };
    let mut out = Vec::new();
    for a in &with_never(&claim.of, &claim.setting, &claim.model, &claim.pool) {
        let label = ["setting", "model", "pool"].map(|axis| a.axis(axis).unwrap_or_default());
        let label = label.map(str::to_string);
        let Some(above) = value(a) else { continue };
        if claim.over.is_empty() {
            out.push((label, above));
            continue;
        }
        let (own, model) = (a.axis("setting").unwrap_or_default(), a.axis("model"));
        let model = model.unwrap_or_default();
        let setting = if claim.over_setting.is_empty() { own } else { &claim.over_setting };
        let mut below = with_never(&claim.over, setting, model, &claim.over_pool);
        if below.len() > 1 && claim.over_pool.is_empty() {
            below.retain(|b| b.axis("pool") == a.axis("pool"));
        }
        let by = below.first().and_then(&value).filter(|b| *b != 0.0);
        out.extend(by.map(|by| (label, above / by)));
    }
    labelled(out)
}

/// Cells are called by setting, model and pool, as far as these tell them apart.
fn labelled(cells: Vec<([String; 3], f64)>) -> Vec<(String, f64)> {
    let one_setting = cells.windows(2).all(|w| w[0].0[0] == w[1].0[0]);
    let place = |c: &([String; 3], f64)| (c.0[0].clone(), c.0[1].clone());
    let places: BTreeSet<(String, String)> = cells.iter().map(place).collect();
    let one_pool = places.len() == cells.len();
    let label = |[setting, model, pool]: [String; 3]| {
        let setting = if one_setting { String::new() } else { setting };
        let pool = if one_pool { String::new() } else { pool };
        let parts = [setting, model, pool];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
    };
    cells.into_iter().map(|(l, x)| (label(l), x)).collect()
}

fn figure(x: f64) -> String {
    if x.is_infinite() { "never".to_string() } else { format!("{x:.3}") }
}

/// A line for each claim.
pub fn text(claims: &[Claim], rows: &[Row], out: &mut String) {
    if claims.is_empty() {
        return;
    }
    out.push_str("\nthe paper's sentences, and what came out:\n");
    for claim in claims {
        let c = check(claim, rows);
        let verdict = match c.holds {
            None => "not run",
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
        };
        let _ = write!(out, "- {} -> {verdict}", claim.text);
        if c.taken.is_none() && c.holds == Some(false) && c.good > 0 {
            let _ = write!(out, " ({} of {} do)", c.good, c.cells.len());
        }
        let (what, least, most) = (subject(claim), claim.at_least, claim.at_most);
        let asked = match (least, most) {
            (Some(a), Some(b)) => format!("{a} to {b}"),
            (Some(a), None) => format!("at least {a}"),
            (None, Some(b)) => format!("at most {b}"),
            (None, None) => String::new(),
        };
        let taken = match claim.take {
            Take::Each => String::new(),
            Take::Largest => "largest ".to_string(),
            Take::Smallest => "smallest ".to_string(),
            Take::Mean => "mean ".to_string(),
        };
        let _ = write!(out, "\n    {taken}{what}, asked {asked}");
        if let Some(x) = c.taken {
            let _ = write!(out, ", is {}", figure(x));
        }
        if c.cells.len() <= 10 {
            let list: Vec<String> =
                c.cells.iter().map(|(l, x)| format!("{l} {}", figure(*x))).collect();
            let _ = write!(out, ": {}", list.join(", "));
        } else {
            let least = c.cells.iter().map(|x| x.1).fold(f64::INFINITY, f64::min);
            let most = c.cells.iter().map(|x| x.1).fold(f64::NEG_INFINITY, f64::max);
            let _ = write!(out, ": {least:.3} to {most:.3} in {} cells", c.cells.len());
        }
        out.push('\n');
    }
}

fn subject(claim: &Claim) -> String {
    let mut what = claim.of.clone();
    if !claim.over.is_empty() {
        let _ = write!(what, " / {}", claim.over);
    }
    if !claim.relative_to.is_empty() {
        let _ = write!(what, ", each over {}", claim.relative_to);
    }
    if claim.metric != super::ALLOWABLE {
        let _ = write!(what, ", {}", claim.metric);
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &str, axes: &str, value: f64) -> Row {
        Row {
            system: system.into(),
            axes: axes.into(),
            metric: super::super::ALLOWABLE.into(),
            value: Some(value),
            ..Row::default()
        }
    }

    fn claim(text: &str) -> Claim {
        toml::from_str(&format!("text = \"t\"\n{text}")).unwrap()
    }

    #[test]
    fn a_ratio_is_of_the_same_model_setting_and_pool() {
        let rows = [
            row("a", "setting=x;model=m;pool=1-0", 10.0),
            row("a", "setting=x;model=m;pool=0-1", 30.0),
            row("a", "setting=y;model=m;pool=1-0", 70.0),
            row("b", "setting=x;model=m;pool=1-0", 5.0),
            row("b", "setting=x;model=m;pool=0-1", 10.0),
            row("c", "setting=x;model=m;pool=2-2", 2.0),
            row("c", "setting=y;model=m;pool=2-2", 7.0),
        ];
        let values =
            |text: &str| check(&claim(text), &rows).cells.iter().map(|c| c.1).collect::<Vec<f64>>();
        assert_eq!(values("of = \"a\"\nover = \"b\"\nat_least = 1.0"), [2.0, 3.0]);
        assert_eq!(values("of = \"a\"\nover = \"c\"\nat_least = 1.0"), [5.0, 15.0, 10.0]);
        assert_eq!(values("of = \"a\"\npool = \"0-1\"\nat_least = 1.0"), [30.0]);
        let across = "of = \"a\"\nover = \"a\"\nsetting = \"y\"\nover_setting = \"x\"\n\
                      relative_to = \"c\"\npool = \"1-0\"\nover_pool = \"1-0\"\nat_most = 2.0";
        assert_eq!(values(across), [2.0], "70 / 7 over 10 / 2");
    }

    #[test]
    fn a_search_that_never_got_there_fails() {
        let rows = [row("s", "model=m", 5.0), row("s", "model=n", 5.0), {
            let metric = "evaluations_until_reached".to_string();
            Row { metric, ..row("s", "model=n", 9.0) }
        }];
        let of = "of = \"s\"\nmetric = \"evaluations_until_reached\"\nat_most = 12.0";
        let c = check(&claim(of), &rows);
        assert_eq!((c.holds, c.good, c.cells.len()), (Some(false), 1, 2));
        let mut text = String::new();
        super::text(&[claim(of)], &rows, &mut text);
        assert!(text.contains("m never, n 9.000"), "{text}");
    }

    #[test]
    fn a_claim_holds_in_each_cell_or_for_what_is_taken() {
        let rows = [row("a", "model=m", 1.0), row("a", "model=n", 3.0)];
        let holds = |text: &str| check(&claim(&format!("of = \"a\"\n{text}")), &rows).holds;
        assert_eq!(holds("at_least = 1.0"), Some(true));
        assert_eq!(holds("at_least = 1.1"), Some(false));
        assert_eq!(holds("take = \"largest\"\nat_least = 2.9\nat_most = 3.1"), Some(true));
        assert_eq!(holds("take = \"smallest\"\nat_least = 2.9"), Some(false));
        assert_eq!(holds("take = \"mean\"\nat_least = 2.0\nat_most = 2.0"), Some(true));
        assert_eq!(holds("model = \"n\"\nat_most = 2.0"), Some(false));
        assert_eq!(holds("model = \"none\"\nat_most = 2.0"), None);
        let mut text = String::new();
        let failing = claim("of = \"a\"\nat_least = 2.0");
        super::text(&[failing], &rows, &mut text);
        assert!(text.contains("t -> DOES NOT HOLD (1 of 2 do)"), "{text}");
        assert!(text.contains("asked at least 2: m 1.000, n 3.000"), "{text}");
    }
}
