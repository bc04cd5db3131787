//! The answer as one document: the text, the Markdown and the page are made from it.

use crate::document::answers::Answers;
use crate::document::asked;
use crate::document::cells::{
    carries, headroom, more_usd, name, per_million, rate, scheduler, share, usd, usd_month,
};
use crate::document::facts::facts;
use crate::document::figure;
use crate::document::fleet;
use crate::document::loss::{breaks_on_loss, holds_for_want, what_if_for_want};
use crate::document::money::{bought, month, source, turns_in_words};
use crate::document::sensitivity::{breaks, for_little_more, holds, stands_on};
use crate::document::sentences::{confidence, doubts, of_group, search, too_few, whole};
use crate::input::file::Pools;
use crate::input::problem::{Group, Problem};
use crate::search::answer::{Answer, Choice, money};
use crate::search::sensitivity::Robust;
use crate::search::solved::Solved;
use orrery_report::page::{Field, Page, Part, Table, Tone, values};
use orrery_results::{Row, grouped};
use orrery_solvers::Price;
use orrery_sweep::notes::caveats_of;

/// The text of the page that `--html` writes.
pub fn page_of(answers: &Answers, command: String) -> String {
    orrery_report::whole_page(answers.document(), &answers.rows, command)
}

impl Answers {
    /// The document, for its text, its Markdown and its page: the question, the answer, what breaks first, the
    /// alternatives, and how far all that can be trusted.
    pub fn document(&self) -> Page {
        let Answers { plan: first, what_ifs, robust, rows } = self;
        let p = &first.problem;
        let mut page = Page::new("plan", p.plan.name());
        asked(&mut page, first, what_ifs);
        verdict(&mut page, first, robust.as_ref());
        let caption = "Cost against throughput. Points to the left and above are better.";
        let drawn = figure::of(first).ok().map(|f| Part::figure(&f, caption));
        page.section("Figure", drawn);
        let about = whole(first).into_iter().map(|line| line + ".").chain(prices(first));
        let little = first.answers.iter().filter_map(|a| for_little_more(p, a, robust.as_ref()));
        let of = |a: &Answer, line: String| of_group(first, a, &line);
        let few =
            first.answers.iter().flat_map(|a| too_few(p, a).into_iter().map(move |l| of(a, l)));
        let about = little.map(|line| line + ".").chain(about).chain(few).collect();
        page.section("The answer", answers(first).part().into_iter().chain(Part::list(about)));
        let best = |(group, a): (&Group, &Answer)| Some(of(a, a.best()?.breaks(p, group)));
        let breaks = p.groups.iter().zip(&first.answers).filter_map(best).collect();
        page.section_open("What breaks first", Part::list(breaks));
        page.section_open("Robustness", stands_on(first, robust.as_ref()));
        page.section_open("Alternatives", alternatives(first).part());
        if !what_ifs.is_empty() {
            let for_want = Part::list(what_ifs.iter().flat_map(what_if_for_want).collect());
            let table = side_by_side(first, what_ifs).part();
            page.section_open("What if", table.into_iter().chain(for_want));
        }
        page.section_open("How sure this is", Part::list(sure(first, what_ifs, rows)));
        let searched = first.answers.iter().filter(|_| p.plan.pools != Pools::Fleet);
        let found = searched.map(|a| of(a, search(p, a))).collect();
        let knows = "Not modelled: failures beyond the loss of a machine, the network beyond the delays of the \
                     scenario, the start of machines.";
        let found = Part::list(found).into_iter().chain([Part::Text(knows.to_string())]);
        page.section("How it was found", found);
        let own: Vec<&Row> = rows.iter().collect();
        page.section("Every value", values("With its interval", &own));
        page
    }

    /// The plan and its what-ifs, a row for each group.
    pub fn side_by_side(&self) -> Table {
        side_by_side(&self.plan, &self.what_ifs)
    }
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
    let breaks = robust.and_then(|robust| breaks(p, robust));
    let all = &first.answers;
    let lost = breaks_on_loss(p, all);
    let tone = match (first.is_answered(), breaks.as_ref().or(lost.as_ref())) {
        (false, _) => Tone::Bad,
        (true, Some(_)) => Tone::Mixed,
        (true, None) => Tone::Good,
    };
    let holds = || robust.and_then(|robust| holds(p, robust));
    // Of a fleet some pool may have the type.
    let want: Option<Vec<String>> = all.iter().map(|a| holds_for_want(p, a)).collect();
    let want = want.and_then(|all| all.into_iter().next());
    let breaks: String = [breaks.or_else(holds), want.or(lost)]
        .into_iter()
        .flatten()
        .map(|words| format!("; {words}"))
        .collect();
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
        let (words, cost) = (p.words(&best.counts), by_hour_and_month(best.cost));
        let text = format!(" under {} for {cost}; {headroom}{breaks}.", best.policy);
        return page.say_of(&words, tone, text);
    }
    let total: Price = best().map(|(_, b)| b.cost).sum();
    let distrust = |(a, b): (&Answer, &Choice)| {
        Some(format!("; {} is not trusted: {}", a.group, b.not_trusted(p, a.load_per_s)?))
    };
    let distrust: String = best().filter_map(distrust).collect();
    let cost = by_hour_and_month(total);
    page.say(tone, format!("{} pools for {cost}{distrust}{breaks}.", all.len()));
}

/// `4.80 $/h, 3504 $/month of 730 hours`.
fn by_hour_and_month(cost: Price) -> String {
    format!("{} $/h, {} $ for a month of 730 hours", money(cost), month(cost))
}

/// The pool of each group.
fn answers(solved: &Solved) -> Table {
    let p = &solved.problem;
    let million = if p.budget.is_some() { "$/M at capacity" } else { "$/M good" };
    let head = [
        p.group_head(),
        "pool",
        "scheduler",
        "$/h",
        "$/month",
        "load/s",
        "capacity/s",
        "headroom",
        million,
    ];
    let of = |a: &Answer| {
        let Some(best) = a.best() else {
            let mut row = vec![group(p, a), Field::text("none meets the goal")];
            row.resize(head.len(), Field::default());
            row[5] = rate(a.load_per_s);
            return row;
        };
        vec![
            group(p, a),
            name(&p.words(&best.counts)),
            scheduler(p, best),
            usd(best.cost),
            usd_month(best.cost),
            rate(a.load_per_s),
            carries(best),
            headroom(a.load_per_s, best),
            per_million(p, a.load_per_s, best),
        ]
    };
    Table { rows: solved.answers.iter().map(of).collect(), ..Table::new("", &head) }
}

/// The name of a group, where there may be several.
fn group(p: &Problem, answer: &Answer) -> Field {
    match p.plan.pools {
        Pools::Homogeneous => Field::default(),
        _ => name(&answer.group),
    }
}

/// Other pools: runners-up, and the base type alone.
fn alternatives(solved: &Solved) -> Table {
    let p = &solved.problem;
    let head = [p.group_head(), "", "pool", "scheduler", "$/h", "capacity/s", "headroom", "$/M"];
    let mut table = Table::new("", &head);
    for a in &solved.answers {
        // Of many models one each, or it is more than a page.
        let most = if solved.answers.len() > 2 { 1 } else { usize::MAX };
        let others = a.choices.iter().skip(1).take(most).map(|c| ("runner-up", c));
        for (what, c) in others.chain(a.homogeneous.iter().map(|c| ("base type alone", c))) {
            table.rows.push(vec![
                group(p, a),
                Field::text(what),
                name(&p.words(&c.counts)),
                scheduler(p, c),
                usd(c.cost),
                carries(c),
                headroom(a.load_per_s, c),
                per_million(p, a.load_per_s, c),
            ]);
        }
    }
    table
}

/// The plan and its what-ifs: a row for each of them and group.
pub fn side_by_side(first: &Solved, what_ifs: &[Solved]) -> Table {
    let head = [
        "what if",
        first.problem.group_head(),
        "pool",
        "$/h",
        "$/month",
        "load/s",
        "capacity/s",
        "headroom",
        "$/M",
        "$/h vs. now",
        "capacity vs. now",
    ];
    let mut table = Table::new("", &head);
    for solved in std::iter::once(first).chain(what_ifs) {
        if let Some(fleet) = &solved.fleet {
            let now = first.fleet.as_ref().and_then(|f| f.cost);
            table.rows.push(fleet::what_if_row(solved, fleet, now));
            continue;
        }
        let groups = solved.answers.iter().zip(&first.answers);
        table.rows.extend(groups.map(|(a, now)| what_if_row(solved, a, now)));
    }
    table.said()
}

fn what_if_row(solved: &Solved, a: &Answer, now: &Answer) -> Vec<Field> {
    let p = &solved.problem;
    let what = name(solved.what_if.as_deref().unwrap_or("(as it is)"));
    let Some(best) = a.best() else {
        let none = Field::text("none meets the goal");
        let mut row = vec![what, group(p, a), none, Field::default(), Field::default()];
        row.push(rate(a.load_per_s));
        row.resize(11, Field::default());
        return row;
    };
    let pool = match p.policies.len() {
        1 => p.words(&best.counts),
        _ => format!("{}, {}", p.words(&best.counts), best.policy),
    };
    let cost = |now: &Choice| more_usd(best.cost, now.cost);
    let carried = |now: &Choice| share(best.edge.rate_per_s / now.edge.rate_per_s - 1.0);
    vec![
        what,
        group(p, a),
        name(&pool),
        usd(best.cost),
        usd_month(best.cost),
        rate(a.load_per_s),
        rate(best.edge.rate_per_s),
        headroom(a.load_per_s, best),
        per_million(p, a.load_per_s, best),
        now.best().map_or_else(Field::default, cost),
        now.best().map_or_else(Field::default, carried),
    ]
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
        let of = of.chain(facts(p, a)).chain(doubts(p, a));
        out.extend(of.map(|line| of_group(first, a, &line)));
    }
    out.extend(caveats_of(rows));
    // What is so of several what-ifs is said once.
    let lines = what_ifs.iter().flat_map(|solved| {
        let about = solved.what_if.as_deref().unwrap_or_default();
        let p = &solved.problem;
        let of = move |a| too_few(p, a).into_iter().chain(doubts(p, a));
        let of = solved.answers.iter().flat_map(move |a| of(a).map(move |line| (a, line)));
        of.map(move |(a, line)| (of_group(solved, a, &line), about))
    });
    let all = grouped(lines).into_iter();
    out.extend(all.map(|(line, about)| format!("What if {}: {line}", about.join("; "))));
    out
}
