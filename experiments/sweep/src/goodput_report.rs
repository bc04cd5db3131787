//! What a search found, as a document.

use crate::goodput::{Find, Search, flags};
use crate::notes::{flags_of, of_batches};
use crate::page::{asked, verdict};
use crate::scenario_cell::Subject;
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table, reading};
use orrery_results::{Row, metric};
use orrery_run::SpecError;

/// The document; `each` has the answers by policy and seed.
///
/// # Errors
/// When the scenario has no rate.
pub fn document<S: Subject>(
    scenario: &S,
    search: &Search,
    rows: &[Row],
    policies: &[S::Policy],
    each: &[Vec<f64>],
) -> Result<Page, SpecError> {
    let mut page = Page::new("goodput", scenario.about().0);
    page.subtitle = scenario.sought(search)?;
    asked(&mut page, rows);
    verdict(&mut page, rows);
    page.section("Results", table::<S>(search, rows, policies, each).part());
    let answers = || rows.iter().filter(|r| r.metric == search.metric());
    let none = answers().filter(|r| r.value.is_none());
    let why = none.map(|r| format!("{}: {}.", r.policy, r.reason)).collect();
    page.section("No answer", Part::list(why));
    let unused = scenario.without_effect(policies, Some(search), &[Vec::new()]);
    let notes = notes(rows, search, &scenario.warm_up(Some(search)));
    page.section(TO_KNOW, Part::list([notes, unused].concat()));
    Ok(page)
}

fn table<S: Subject>(
    search: &Search,
    rows: &[Row],
    policies: &[S::Policy],
    each: &[Vec<f64>],
) -> Table {
    let (at_answer, rate_digits) = S::AT_ANSWER;
    let is_devices = search.find == Find::Devices;
    let (heading, digits) = if is_devices { ("devices", 1) } else { ("rate/s", rate_digits) };
    let show = |x: f64| match is_devices && x.fract() == 0.0 {
        true => x.to_string(),
        false => format!("{x:.digits$}"),
    };
    let mut columns = vec!["policy", heading, "95 % interval", "least to most"];
    columns.extend(at_answer.iter().map(|c| c.0));
    // Where the rate rose to the answer there is no share at it but the target.
    let is_probed = rows.iter().any(|r| r.metric == metric::WORST_BAD_RATE);
    columns.extend(is_probed.then_some("violations %"));
    columns.push("flags");
    let mut table = Table::new("", &columns);
    for (policy, values) in policies.iter().zip(each) {
        let name = S::name_of(policy);
        let find = |metric: &str| {
            rows.iter().find(|r| r.policy == name && r.scope == "all" && r.metric == metric)
        };
        let Some(answer) = find(search.metric()) else { continue };
        let between = |(a, b): (f64, f64)| Field::text(format!("{} to {}", show(a), show(b)));
        let least = values.iter().copied().reduce(f64::min);
        let most = values.iter().copied().reduce(f64::max);
        let range = least.zip(most).filter(|_| answer.value.is_some());
        let number = |metric: &str, unit: f64, digits: usize| {
            let value = find(metric).and_then(|r| r.value);
            value.map_or(Field::none(), |x| Field::number(x, format!("{:.digits$}", x * unit)))
        };
        let mut line = vec![
            Field::text(&*name),
            answer.value.map_or(Field::none(), |x| Field::number(x, show(x))),
            answer.ci95().map_or(Field::none(), between),
            range.map_or(Field::none(), between),
        ];
        line.extend(at_answer.iter().map(|(_, name, unit, digits)| number(name, *unit, *digits)));
        line.extend(is_probed.then(|| number(metric::WORST_BAD_RATE, 100.0, 2)));
        line.push(Field::text(flags(answer).join(", ")));
        table.rows.push(line);
    }
    table
}

/// By policy, the loads or devices next to the answer that are clearly good and clearly bad.
fn clear(rows: &[Row], search: &Search) -> Vec<String> {
    let is_clear = |r: &Row| search.clear().contains(&&*r.metric) && r.scope == "all";
    let value = |r: &Row| Some(format!("`{}` {}", r.metric, reading(&r.metric, r.value?)));
    let of = |cell: &[Row]| {
        let all: Vec<String> = cell.iter().filter(|r| is_clear(r)).filter_map(value).collect();
        (!all.is_empty()).then(|| format!("{}: {}.", cell[0].policy, all.join(", ")))
    };
    rows.chunk_by(|a, b| a.policy == b.policy).filter_map(of).collect()
}

fn notes(rows: &[Row], search: &Search, warm_up: &str) -> Vec<String> {
    let (requests, [good, bad]) = (search.requests_per_model, search.clear());
    let answer = match search.find {
        Find::Rate => format!(
            "The answer is where a line through the odds of SLO violations over the rate meets the target, from probes at \
             single rates near it, of {requests} requests a model or as many more as the tolerance needs (up to 8 times, and \
             64 where the answer would be undecided); `{good}` and `{bad}` are six standard errors away from it, or where the share jumps the nearest clear probes \
             1.5 % away, with every seed. Any other probe"
        ),
        Find::Devices => format!(
            "The answer is the fewest devices whose probe met the target; `{good}` and `{bad}` are the nearest numbers \
             whose verdict was clear with every seed. A probe is undecided after {requests} requests a model; before, it"
        ),
    };
    let mut out = vec![format!(
        "{answer} ends when its interval is clear of the target, and lasts at least {:.0} times its longest delay, so \
         that an overload by the tolerance of {} % would show; {}.",
        1.0 / search.tolerance,
        search.tolerance * 100.0,
        warm_up
    )];
    out.extend(clear(rows, search));
    let seeds = rows.first().map(Row::seeds_in_words);
    out.extend(
        seeds
            .map(|seeds| format!("Intervals by replications of the whole search, at least as wide as the errors of each. Seeds: {seeds}.")),
    );
    // What has no answer has its reason, and no flag that says the same.
    let answered = |r: &&Row| r.metric == search.metric() && r.value.is_some();
    let answered: Vec<Row> = rows.iter().filter(answered).cloned().collect();
    out.extend(of_batches(rows));
    out.extend(flags_of(&answered));
    out
}
