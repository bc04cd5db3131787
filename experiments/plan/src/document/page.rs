//! The answer as one document: the text, the Markdown and the page are made from it.

use crate::document::answers::Answers;
use crate::document::asked;
use crate::document::cells::{
    carries, headroom, more_usd, name, per_million, rate, share, usd, usd_month,
};
use crate::document::facts::{facts, not_modelled};
use crate::document::figure;
use crate::document::fleet::total;
use crate::document::money::{bought, month, source, turns_in_words};
use crate::document::sentences::{confidence, doubts, in_turn, of_group, search, too_few, whole};
use crate::document::variants::{breaks, for_little_more, holds, stands_on};
use crate::input::file::Pools;
use crate::input::problem::{Group, Problem};
use crate::search::answer::{Answer, Choice, money};
use crate::search::robust::Robust;
use crate::search::solved::Solved;
use orrery_report::page::{Field, Page, Part, Table, Tone, values};
use orrery_results::Row;
use orrery_solvers::Price;
use orrery_sweep::notes::caveats_of;

/// The text of the page that `--html` writes.
pub fn page_of(answers: &Answers, command: String) -> String {
    orrery_report::whole_page(answers.document(), &answers.rows, command)
}

impl Answers {
    /// The document, for its text, its Markdown and its page: the question, the answer beside its alternatives, what
    /// breaks first, where it must also hold, and how far all that can be trusted.
    pub fn document(&self) -> Page {
        let Answers { plan: first, what_ifs, robust, rows } = self;
        let p = &first.problem;
        let mut page = Page::new("plan", p.plan.name());
        asked(&mut page, first, what_ifs);
        verdict(&mut page, first, robust.as_ref());
        let caption = "Cost against throughput. Points to the left and above are better.";
        let drawn = figure::of(first).ok().map(|f| Part::figure(&f, caption));
        let caption = "The answer of each what-if over the number that it changes.";
        let over = figure::over(self).ok().map(|f| Part::figure(&f, caption));
        page.section("Figure", drawn.into_iter().chain(over));
        let about = whole(first).into_iter().map(|line| line + ".").chain(prices(first));
        let little = first.answers.iter().filter_map(|a| for_little_more(p, a, robust.as_ref()));
        let of = |a: &Answer, line: String| of_group(first, a, &line);
        let few =
            first.answers.iter().flat_map(|a| too_few(p, a).into_iter().map(move |l| of(a, l)));
        let about = little.map(|line| line + ".").chain(about).chain(few).collect();
        page.section("The answer", self.table().part().into_iter().chain(Part::list(about)));
        let best = |(group, a): (&Group, &Answer)| Some(of(a, a.best()?.breaks(p, group)));
        let breaks = p.groups.iter().zip(&first.answers).filter_map(best).collect();
        page.section_open("What breaks first", Part::list(breaks));
        page.section_open("Robustness", stands_on(first, robust.as_ref()));
        page.section_open("How sure this is", Part::list(sure(first, what_ifs, rows)));
        let searched = first.answers.iter().filter(|_| p.plan.pools != Pools::Fleet);
        let found = searched.map(|a| of(a, search(p, a))).collect();
        let found = Part::list(found).into_iter().chain([Part::Text(not_modelled(p))]);
        page.section("How it was found", found);
        let own: Vec<&Row> = rows.iter().collect();
        page.section("Every value", values("With its interval", &own));
        page
    }

    /// The answers, their runners-up and the base type alone, then the what-ifs.
    pub fn table(&self) -> Table {
        let Answers { plan: first, what_ifs, .. } = self;
        let p = &first.problem;
        let million = if p.budget.is_some() { "$/M at capacity" } else { "$/M good" };
        let head = [
            "",
            p.group_head(),
            if p.day.follows() { "peak pool" } else { "pool" },
            "scheduler",
            if p.day.follows() { "mean $/h" } else { "$/h" },
            "load/s",
            "capacity/s",
            "headroom",
            million,
            "$/month",
            "$/h vs. now",
            "capacity vs. now",
        ];
        let own = first.fleet.iter().filter(|_| !what_ifs.is_empty());
        let mut rows: Vec<_> = own.map(|fleet| total(first, "fleet", fleet, None)).collect();
        // Of many models one each, or it is more than a page.
        let most = if first.answers.len() > 2 { 1 } else { usize::MAX };
        for a in &first.answers {
            let others = a.choices.iter().skip(1).take(most).map(|c| ("runner-up", c));
            let others = others.chain(a.homogeneous.iter().map(|c| ("base type alone", c)));
            rows.extend(others.map(|(what, c)| line(p, what, (a, Some(c)), None)));
        }
        for solved in what_ifs {
            let what = solved.what_if.as_deref().unwrap_or_default();
            if let Some(fleet) = &solved.fleet {
                let now = first.fleet.as_ref().and_then(|fleet| fleet.cost);
                rows.push(total(solved, what, fleet, now));
                continue;
            }
            let groups = solved.answers.iter().zip(&first.answers);
            let of = |(a, now): (&Answer, &Answer)| {
                line(&solved.problem, what, (a, a.best()), now.best())
            };
            rows.extend(groups.map(of));
        }
        let what = if rows.is_empty() { "" } else { "answer" };
        let own = first.answers.iter().map(|a| line(p, what, (a, a.best()), None));
        Table { rows: own.chain(rows).collect(), ..Table::new("", &head) }.said()
    }
}

/// A pool, beside the answer as it is now.
fn line(
    p: &Problem,
    what: &str,
    (a, choice): (&Answer, Option<&Choice>),
    now: Option<&Choice>,
) -> Vec<Field> {
    let load = a.load_per_s;
    let of = |of: &dyn Fn(&Choice) -> Field| choice.map_or_else(Field::default, of);
    let pool = choice.map_or("none meets the goal".to_string(), |c| p.words(&c.counts));
    let beside = |of: &dyn Fn(&Choice, &Choice) -> Field| {
        choice.zip(now).map_or_else(Field::default, |(c, now)| of(c, now))
    };
    // The name of a group, where there may be several.
    let is_one = p.plan.pools == Pools::Homogeneous;
    vec![
        name(what),
        name(if is_one { "" } else { &a.group }),
        name(&pool),
        of(&|c| if p.policies.len() > 1 { name(&c.policy) } else { Field::default() }),
        of(&|c| usd(c.cost)),
        rate(load),
        of(&carries),
        of(&|c| headroom(load, c)),
        of(&|c| per_million(p, load, c)),
        of(&|c| usd_month(c.cost)),
        beside(&|c, now| more_usd(c.cost, now.cost)),
        beside(&|c, now| share(c.edge.rate_per_s / now.edge.rate_per_s - 1.0)),
    ]
}

fn asked(page: &mut Page, first: &Solved, what_ifs: &[Solved]) {
    let p = &first.problem;
    page.ask("goal", p.question());
    page.ask("load", asked::load(first));
    page.ask("models", asked::models(p));
    page.ask("types", asked::types(p));
    page.ask("execution times vary", asked::noise(p));
    let policies: Vec<&str> = p.policies.iter().map(|p| p.text()).collect();
    page.ask("schedulers", policies.join("\n"));
    let length = match p.groups.iter().any(|g| g.is_trace) {
        true if p.day.own.is_some() => "each step of the trace".to_string(),
        true => "the whole trace".to_string(),
        false => format!("{} requests for each model", p.plan.requests_per_model),
    };
    page.ask("simulated", format!("{} seeds of {length}", p.plan.seeds));
    page.ask("prices", source(first).unwrap_or_default());
    page.ask("without effect", p.without_effect().join("\n"));
    page.ask("also tried", asked::robust(p));
    let asked: Vec<&str> = what_ifs.iter().filter_map(|s| s.what_if.as_deref()).collect();
    page.ask("what if", asked.join("\n"));
}

/// The pool of each group, and what all cost.
fn verdict(page: &mut Page, first: &Solved, robust: Option<&Robust>) {
    let p = &first.problem;
    let all = &first.answers;
    let [what_if, loss] = breaks(first, robust);
    let tone = match (first.is_answered(), what_if.as_ref().or(loss.as_ref())) {
        (false, _) => Tone::Bad,
        (true, Some(_)) => Tone::Mixed,
        (true, None) => Tone::Good,
    };
    let holds = || robust.and_then(|robust| holds(robust, p.plan.target()));
    let breaks = what_if.or_else(holds).into_iter().chain(loss);
    let breaks: String = breaks.map(|words| format!("; {words}")).collect();
    let none = all.iter().filter(|a| a.best().is_none()).count();
    if none > 0 {
        let text = match all.len() {
            1 => "No pool of the plan meets the goal.".to_string(),
            n => format!("{none} of {n} models have no pool that meets the goal."),
        };
        return page.say(Tone::Bad, text);
    }
    let best = || all.iter().filter_map(|a| Some((a, a.best()?)));
    if let [(a, best)] = best().collect::<Vec<_>>().as_slice() {
        let headroom = match best.not_trusted(p, a.load_per_s) {
            Some(why) => format!("not trusted: {why}"),
            None => format!("headroom over the load: {}", headroom(a.load_per_s, best).text),
        };
        let cost = costs(p, p.cost(&best.counts), best.cost);
        let text = format!(" under {}{cost}; {headroom}{breaks}.", best.policy);
        return page.say_of(&p.words(&best.counts), tone, text);
    }
    let total: Price = best().map(|(_, b)| b.cost).sum();
    let peak: Price = best().map(|(_, b)| p.cost(&b.counts)).sum();
    let distrust = |(a, b): (&Answer, &Choice)| {
        Some(format!("; {} is not trusted: {}", a.group, b.not_trusted(p, a.load_per_s)?))
    };
    let distrust: String = best().filter_map(distrust).collect();
    let cost = costs(p, peak, total);
    let pools: Vec<String> = best().map(|(_, b)| p.words(&b.counts)).collect();
    page.say(tone, format!("{}{cost}{distrust}{breaks}.", pools.join(" + ")));
}

/// `for 4.80 $/h, 3504 $ for a month of 730 hours`; of a day also what the peak's machines cost.
fn costs(p: &Problem, peak: Price, mean: Price) -> String {
    let (usd, month) = (money(mean), format!("{} $ for a month of 730 hours", month(mean)));
    match &p.plan.day {
        None => format!(" for {usd} $/h, {month}"),
        Some(_) if p.day.follows() => format!(
            " at the peak for {} $/h; the {} costs {usd} $/h on average, {month}",
            money(peak),
            p.day.name()
        ),
        Some(_) => format!(" for the whole {} at {usd} $/h, {month}", p.day.name()),
    }
}

/// What is bought in packs, and at which prices the answer changes.
fn prices(solved: &Solved) -> Vec<String> {
    let p = &solved.problem;
    let mut lines = Vec::new();
    for a in &solved.answers {
        let packs = a.best().and_then(|b| bought(p, &b.counts));
        lines.extend(packs.map(|packs| of_group(solved, a, &format!("bought as {packs}"))));
        let words = turns_in_words(p, &a.turns);
        lines.extend(words.map(|words| of_group(solved, a, &words)));
    }
    lines
}

fn sure(first: &Solved, what_ifs: &[Solved], rows: &[Row]) -> Vec<String> {
    let p = &first.problem;
    let mut out = Vec::new();
    for a in &first.answers {
        let of = [confidence(p, a)].into_iter().filter(|words| !words.is_empty());
        let of = of.chain(facts(p, a)).chain(doubts(p, a, None));
        out.extend(of.map(|line| of_group(first, a, &line)));
    }
    out.extend(caveats_of(rows));
    // What is so of the plan itself was said.
    let own = |a| {
        let of = too_few(p, a).into_iter().chain(doubts(p, a, None));
        of.map(move |line| of_group(first, a, &line))
    };
    let own: Vec<String> = first.answers.iter().flat_map(own).collect();
    let lines = what_ifs.iter().flat_map(|solved| {
        let about = solved.what_if.as_deref().unwrap_or_default();
        let p = &solved.problem;
        let now = |a: &Answer| first.answers.iter().find(|now| now.group == a.group)?.best();
        let of = move |a| too_few(p, a).into_iter().chain(doubts(p, a, now(a)));
        let of = solved.answers.iter().flat_map(move |a| of(a).map(move |line| (a, line)));
        of.map(move |(a, line)| (of_group(solved, a, &line), about))
    });
    out.extend(in_turn(lines.filter(|(line, _)| !own.contains(line))));
    out
}
