//! `--html`: the summary of a plan as a page.

use super::answer::{Choice, money};
use super::facts::facts;
use super::figure;
use super::file::Pools;
use super::markdown::{alternative_rows, answer_rows, prices};
use super::money::month;
use super::report::{confidence, doubts, headroom, question, search, what_if_rows, whole};
use super::solved::Solved;
use orrery_output::page::{Field, Page, Part, Table, Tone, values};
use orrery_planner::Price;
use orrery_results::Row;

/// The page: the question, the answer, what breaks first, the alternatives, and how far all that can be
/// trusted.
pub fn page(first: &Solved, what_ifs: &[Solved], rows: &[Row]) -> Page {
    let p = &first.problem;
    let mut page = Page::new("plan", p.plan.name());
    page.ask("what is looked for", question(first));
    let policies: Vec<&str> = p.policies.iter().map(|p| p.text()).collect();
    page.ask("schedulers", policies.join("\n"));
    page.ask("seeds of each verification", p.plan.seeds.to_string());
    let asked: Vec<&str> = what_ifs.iter().filter_map(|s| s.what_if.as_deref()).collect();
    page.ask("what if", asked.join("\n"));
    verdict(&mut page, first);
    let caption = "Cost against throughput. Points to the left and above are better.";
    let drawn = figure::of(first).ok().map(|f| Part::Figure(f.to_svg(), caption.to_string()));
    page.section("Figure", drawn);
    let (head, lines) = answer_rows(first);
    let about = whole(first).into_iter().map(|line| line + ".").chain(prices(first)).collect();
    page.section("The answer", table(&head, lines).part().into_iter().chain(points(about)));
    let mut breaks = Vec::new();
    for (group, a) in p.groups.iter().zip(&first.answers) {
        if let Some(best) = a.best() {
            breaks.push(format!("{}: {}.", a.group, best.breaks(p, group)));
        }
    }
    page.section("What breaks first", points(breaks));
    let (head, lines) = alternative_rows(first);
    page.section("Alternatives", table(&head, lines).part());
    if !what_ifs.is_empty() {
        let (head, lines) = what_if_rows(first, what_ifs);
        page.section("What if", table(&head, lines).part());
    }
    page.section("How sure this is", points(sure(first, what_ifs)));
    let searched = first.answers.iter().filter(|_| p.plan.pools != Pools::Fleet);
    let found = searched.map(|a| format!("{}: {}.", a.group, search(p, a))).collect();
    let knows = "A simulation knows only its profiles: no moment of a failure, no network beyond the delays of the scenario, no startup.";
    let found = points(found).into_iter().chain([Part::Text(knows.to_string())]);
    page.section("How it was found", found);
    let own: Vec<&Row> = rows.iter().collect();
    page.section("Every value", values("With its interval", &own));
    page
}

/// The pool of each group, and what all cost.
fn verdict(page: &mut Page, first: &Solved) {
    let p = &first.problem;
    let goal = |best: &Choice, load: f64| {
        let price = money(best.cost);
        let words = p.words(&best.counts);
        format!(
            "{words} under {} for {price} $/h; headroom over the load: {}",
            best.policy,
            headroom(load, best)
        )
    };
    let none = first.answers.iter().filter(|a| a.best().is_none()).count();
    match first.answers.as_slice() {
        [one] => match one.best() {
            Some(best) if first.is_answered() => {
                page.say(Tone::Good, goal(best, one.load_per_s) + ".")
            }
            Some(best) => page.say(Tone::Bad, goal(best, one.load_per_s) + "."),
            None => page.say(Tone::Bad, "No pool of the plan meets the goal."),
        },
        all if none > 0 => {
            page.say(
                Tone::Bad,
                format!("{none} of {} models have no pool that meets the goal.", all.len()),
            );
        }
        all => {
            let total: Price = all.iter().filter_map(|a| a.best()).map(|b| b.cost).sum();
            let (month, total, n) = (month(total), money(total), all.len());
            let text =
                format!("{n} pools for {total} $/h, about {month} $ for a month of 730 hours.");
            let tone = if first.is_answered() { Tone::Good } else { Tone::Bad };
            page.say(tone, text);
        }
    }
}

fn sure(first: &Solved, what_ifs: &[Solved]) -> Vec<String> {
    let p = &first.problem;
    let mut out = Vec::new();
    for a in &first.answers {
        let words = confidence(p, a);
        if !words.is_empty() {
            out.push(format!("{}: {words}.", a.group));
        }
        out.extend(facts(p, a).into_iter().map(|line| format!("{}: {line}.", a.group)));
        out.extend(doubts(p, a).into_iter().map(|line| format!("{}: {line}.", a.group)));
    }
    for solved in what_ifs {
        let about = solved.what_if.as_deref().unwrap_or_default();
        for a in &solved.answers {
            let of = doubts(&solved.problem, a).into_iter();
            out.extend(of.map(|line| format!("What if {about}, {}: {line}.", a.group)));
        }
    }
    out
}

fn points(lines: Vec<String>) -> Option<Part> {
    (!lines.is_empty()).then_some(Part::List(lines))
}

/// Rows of words; a row may end early. What begins with a number is sorted by it.
fn table(head: &[&str], lines: Vec<Vec<String>>) -> Table {
    let mut table = Table::new("", head);
    for line in lines {
        let mut fields: Vec<Field> = line.iter().map(|text| field(text)).collect();
        fields.resize(head.len(), Field::default());
        table.rows.push(fields);
    }
    table
}

fn field(text: &str) -> Field {
    let (value, below) = match text.strip_suffix(')').and_then(|t| t.split_once(" (")) {
        Some((value, interval)) if interval.contains(" to ") => (value, interval),
        _ => (text, ""),
    };
    let number = value.trim_end_matches(" %").parse::<f64>().ok();
    let field = number.map_or_else(|| Field::text(value), |x| Field::number(x, value));
    field.with(below)
}
