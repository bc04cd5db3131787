//! A league as one document: the table, a sentence for each policy, the maps, each scenario.

mod claims;
mod rates;

use crate::board::{COLLAPSE, LEAST_LEAD, Line};
use crate::claims::{Judged, SEEDS};
use crate::league::League;
use crate::map::{Cell, Map, grid};
use crate::tuned::Tuned;
use crate::words::{sentence, short};
use orrery_plots::{Figure, PlotError, winners};
use orrery_report::page::{Field, Page, Part, TO_KNOW, Table, Tone};

/// So many policies, the first ones, have a column in the table of families.
const FAMILIES_OF: usize = 6;

/// The document.
pub fn document(league: &League, tuned: Option<&Tuned>, verdicts: &[Judged]) -> Page {
    let suite = &league.asked.suite;
    let mut page = Page::new("arena", suite.name.clone());
    page.subtitle = subtitle(league);
    verdict(league, &mut page);
    page.ask("suite", format!("{}, SHA-256 {}", suite.name, suite.sha256));
    page.ask("seeds", format!("{} of each scenario, from its own on", league.asked.seeds));
    if let Some(tuned) = tuned {
        page.ask("tuned", tuned.words());
    }
    page.section("League", table(league).part());
    page.section("Regret by family", families(league).part());
    page.section("Rates", league.rates.as_ref().and_then(|r| rates::table(r, league).part()));
    page.section("What was found", tuned.and_then(|t| found(t).part()));
    page.section("What the papers claim, asked here", claims::parts(verdicts, is_part(league)));
    page.section("In one line each", Part::list(sentences(league)));
    page.section("Where yours loses most", losses(league));
    let maps = league.maps.iter().filter_map(|map| map_table(league, map).part());
    let figure = figure(league).ok().map(|f| {
        let words = "Who leads where; paler where the lead is small, hatched where it is no lead.";
        Part::figure(&f, words)
    });
    let text: Vec<Part> = maps.collect();
    let folded = Part::Folded("The maps as tables".to_string(), text.clone());
    let tables = (!text.is_empty()).then_some(Part::Views { page: vec![folded], text });
    page.section("Maps", figure.into_iter().chain(tables));
    let scenarios = scenarios(league).part().map(|part| {
        Part::Folded("The best of each scenario, and all that is asked".to_string(), vec![part])
    });
    page.section("Scenarios", scenarios);
    page.section("Not run", Part::list(refusals(league)));
    page.section(TO_KNOW, Part::list(notes(league, verdicts)));
    page
}

/// Whether some of the suite was left out.
fn is_part(league: &League) -> bool {
    league.asked.suite.scenarios.len() < league.asked.suite.whole || league.asked.seeds < SEEDS
}

fn subtitle(league: &League) -> String {
    let (suite, policies) = (&league.asked.suite, league.names.len());
    let own = suite.scenarios.len();
    let of = if own == suite.whole { String::new() } else { format!(" of {}", suite.whole) };
    format!("{own}{of} scenarios, {policies} policies")
}

fn verdict(league: &League, page: &mut Page) {
    let placed: Vec<&Line> = league.lines.iter().filter(|l| l.place.is_some()).collect();
    let Some(first) = placed.first() else {
        page.say(Tone::Mixed, "No policy ran every scenario.");
        return;
    };
    let name = league.name(first.policy);
    let regret = short(first.behind);
    page.say_of(
        name,
        Tone::Plain,
        format!(" has the smallest mean regret: {regret} below the best policy of each scenario."),
    );
    let others = |is: &dyn Fn(&Line) -> bool| {
        let found = placed[1..].iter().filter(|l| is(l));
        found.map(|l| league.name(l.policy).to_string()).collect::<Vec<_>>().join(", ")
    };
    let near = others(&|l: &Line| l.place.is_some_and(|p| p.by_scenarios.0 == 1));
    if !near.is_empty() {
        let text = format!("With other scenarios of this kind, rank 1 could also go to {near}.");
        page.say(Tone::Mixed, text);
    }
    for &own in &league.own {
        let line = league.lines.iter().find(|l| l.policy == own);
        let place = line.and_then(|l| Some((l, l.place?)));
        let (name, of) = (league.name(own), placed.len());
        page.say(Tone::Plain, match place {
            None => format!("{name} has no rank: it did not run every scenario."),
            Some((l, p)) => format!(
                "{name} has rank {} of {of}, with a mean regret of {} (95 %: rank {} over seeds, {} over scenarios).",
                p.place,
                short(l.behind),
                range(p.by_seeds),
                range(p.by_scenarios)
            ),
        });
    }
}

/// `2` or `2 to 4`.
fn range((first, last): (usize, usize)) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn count(n: usize) -> Field {
    Field::number(n as f64, n.to_string())
}

fn table(league: &League) -> Table {
    let has_bounds = league.has_bounds();
    let mut columns =
        vec!["policy", "rank", "seeds", "wider", "ran", "regret", "led", "tied", "<half", "worst"];
    columns.extend(has_bounds.then_some("possible"));
    let caption =
        "Regret: mean distance of the score to the best policy's, over the scenarios that it ran";
    let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
    for line in &league.lines {
        let place =
            |of: &dyn Fn(crate::board::Place) -> Field| line.place.map_or_else(Field::none, of);
        let between =
            |(a, b): (usize, usize)| Field::number(a as f64, range((a, b)).replace(" to ", "-"));
        let half =
            if league.asked.seeds > 1 { format!(" ±{}", short(line.half)) } else { String::new() };
        let mut row = vec![
            Field::text(league.name(line.policy)),
            place(&|p| count(p.place)),
            place(&|p| between(p.by_seeds)),
            place(&|p| between(p.by_scenarios)),
            count(line.ran),
            Field::number(line.behind, format!("{}{half}", short(line.behind))),
            count(line.leads),
            count(line.tied),
            count(line.collapses),
            league.worst_app(line.policy).map_or_else(Field::none, |w| Field::number(w, short(w))),
        ];
        let possible = |(part, n)| Field::number(part, format!("{} of {n}", short(part)));
        let part = || league.of_the_possible(line.policy).map_or_else(Field::none, possible);
        row.extend(has_bounds.then(part));
        table.rows.push(row);
    }
    table
}

/// The regret of the first policies in each family of scenarios: a mean over all hides where one loses.
fn families(league: &League) -> Table {
    let ranked = league.lines.iter().filter(|l| l.place.is_some());
    let shown: Vec<usize> = ranked.map(|l| l.policy).take(FAMILIES_OF).collect();
    let names = shown.iter().map(|p| league.name(*p));
    let columns: Vec<&str> = ["family", "scenarios"].into_iter().chain(names).collect();
    let mut table = Table { keys: 1, ..Table::new("", &columns) };
    for (family, scenarios) in league.families() {
        let regret = |p: &usize| {
            let regret = league.regret(*p, &scenarios);
            regret.map_or_else(Field::none, |r| Field::number(r, short(r)))
        };
        let keys = [Field::text(family), count(scenarios.len())];
        table.rows.push(keys.into_iter().chain(shown.iter().map(regret)).collect());
    }
    table
}

/// What tuning found: on the half that it saw, and on the other.
fn found(tuned: &Tuned) -> Table {
    let columns = ["policy", "tried", "training", "judging", "setting"];
    let caption =
        "Mean score as released -> tuned, on the half that the search saw and on the other";
    let mut table = Table { keys: 1, ..Table::new(caption, &columns) };
    let moved = |(before, after): (f64, f64)| {
        Field::number(after - before, format!("{} -> {}", short(before), short(after)))
    };
    for f in &tuned.found {
        table.rows.push(vec![
            Field::text(&f.policy),
            count(f.tried),
            moved(f.training),
            f.judging.map_or_else(Field::none, moved),
            Field::text(f.best.text()),
        ]);
    }
    table
}

fn sentences(league: &League) -> Vec<String> {
    league.lines.iter().filter_map(|l| sentence(league, l.policy)).collect()
}

fn losses(league: &League) -> Option<Part> {
    let columns = ["policy", "scenario", "score", "best", "by"];
    let mut table = Table { keys: 2, ..Table::new("", &columns) };
    for &own in &league.own {
        for (s, lost) in league.losses(own) {
            let Some(best) = &league.bests[s] else { continue };
            table.rows.push(vec![
                Field::text(league.name(own)),
                Field::text(&league.asked.suite.scenarios[s].name),
                Field::number(best.mean - lost, short(best.mean - lost)),
                Field::number(best.mean, short(best.mean)),
                Field::text(league.name(best.best)),
            ]);
        }
    }
    table.part()
}

/// A map as a table: `nexus .04`, `orloj =` where others are tied.
fn map_table(league: &League, map: &Map) -> Table {
    let first = format!("{} \\ {}", words(&map.y.0), words(&map.x.0));
    let columns: Vec<&str> =
        std::iter::once(first.as_str()).chain(map.x.1.iter().map(String::as_str)).collect();
    let mut table = Table { keys: 1, ..Table::new("", &columns) };
    for y in map.y.1.iter().rev() {
        let cell = |x: &String| {
            let found = map.cells.iter().find(|c| c.at == (x.clone(), y.clone()));
            found.map_or_else(Field::none, |c| Field::text(in_cell(league, c)))
        };
        table.rows.push(std::iter::once(Field::text(y)).chain(map.x.1.iter().map(cell)).collect());
    }
    table
}

fn in_cell(league: &League, cell: &Cell) -> String {
    let lead = if cell.tied.is_empty() { short(cell.lead) } else { "tied".to_string() };
    format!("{} {lead}", league.name(cell.best))
}

fn words(axis: &str) -> String {
    axis.replace('_', " ")
}

fn scenarios(league: &League) -> Table {
    let columns = ["scenario", "best", "score", "lead", "tied with it", "bound", "asks"];
    let mut table = Table { keys: 1, ..Table::new("", &columns) };
    for (s, (asked, best)) in league.asked.suite.scenarios.iter().zip(&league.bests).enumerate() {
        let Some(best) = best else { continue };
        let tied: Vec<&str> = best.tied.iter().map(|p| league.name(*p)).collect();
        table.rows.push(vec![
            Field::text(&asked.name),
            Field::text(league.name(best.best)),
            Field::number(best.mean, short(best.mean)),
            best.next.map_or_else(Field::none, |n| Field::number(n.1, short(n.1))),
            Field::text(tied.join(", ")),
            league.bound(s).map_or_else(Field::none, |b| Field::number(b, short(b))),
            Field::text(&asked.asks),
        ]);
    }
    table
}

/// Who did not run what, and why: a line for each reason.
fn refusals(league: &League) -> Vec<String> {
    let mut out = Vec::new();
    for policy in 0..league.names.len() {
        let mut reasons: Vec<(&str, usize)> = Vec::new();
        for cell in league.cells.iter().map(|row| &row[policy]).filter(|c| c.runs.is_empty()) {
            match reasons.iter_mut().find(|r| r.0 == cell.reason) {
                Some(known) => known.1 += 1,
                None => reasons.push((&cell.reason, 1)),
            }
        }
        let name = league.name(policy);
        let line = |(reason, n): (&str, usize)| {
            let scenarios =
                if n == 1 { "1 scenario".to_string() } else { format!("{n} scenarios") };
            format!("{name}, {scenarios}: {reason}")
        };
        out.extend(reasons.into_iter().map(line));
    }
    out
}

fn notes(league: &League, verdicts: &[Judged]) -> Vec<String> {
    let percent = 100.0 * COLLAPSE;
    let mut out = vec![
        "Score: the finish rate, or 1 less the mean cost where the scenario has `penalties`; in a closed loop the answers in \
         time per second over those of the best policy."
            .to_string(),
        format!(
            "Differences are paired seed by seed; tied: the 95 % interval reaches zero, or the difference is below {}.",
            short(LEAST_LEAD)
        ),
        "Rank: by mean regret, of those that ran every scenario. Seeds: the ranks that paired 95 % intervals over \
         seeds leave open; wider: those over scenarios, as if these were a sample of others."
            .to_string(),
        format!(
            "Led: nobody is tied with it; tied: not distinguished from the best; <half: a score below {percent} % of the \
             best one's. Worst: the worst application's finish rate, mean over scenarios of 1 to 100 applications."
        ),
        "Policies are as released, or tuned by the search described above: defaults were made for their authors' \
         systems, not for these scenarios."
            .to_string(),
    ];
    if league.has_bounds() {
        out.push(
            "Possible: the score over what no scheduler can exceed (docs/bound.md), seed by seed, mean over the N \
             scenarios that it ran and that have such a bound."
                .to_string(),
        );
    }
    if !verdicts.is_empty() {
        out.push(
            "The papers' headlines are judged as experiments' claims are: one holds or does not where the 95 % \
             intervals of its scenarios are clear of its bound. A regime is a part of the suite, not the paper's own load; \
             values are ratios, of each scenario the least where the headline is of each."
                .to_string(),
        );
    }
    out.extend(league.rates.iter().flat_map(|r| rates::notes(r, league)));
    let mut flagged: Vec<(&str, Vec<&str>)> = Vec::new();
    for (policy, name) in league.names.iter().enumerate() {
        for flag in league
            .cells
            .iter()
            .filter(|r| !r[policy].runs.is_empty())
            .flat_map(|r| r[policy].place.flags.split(' '))
        {
            match flagged.iter_mut().find(|f| f.0 == flag) {
                Some(known) if known.1.contains(&name.as_str()) => {}
                Some(known) => known.1.push(name),
                None => flagged.push((flag, vec![name])),
            }
        }
    }
    for (flag, says) in orrery_scenario::scenario::caveats::CAVEATS {
        if let Some((_, names)) = flagged.iter().find(|f| f.0 == flag) {
            out.push(format!("{flag}, in some scenarios: {says} ({})", names.join(", ")));
        }
    }
    out
}

/// The maps as one figure.
///
/// # Errors
/// When the scenarios do not differ in two axes of any map.
pub fn figure(league: &League) -> Result<Figure, PlotError> {
    let grids: Vec<_> = league.maps.iter().map(|m| grid(m, &league.names)).collect();
    let suite = &league.asked.suite;
    let subtitle =
        format!("suite {}, {}, {} seeds", suite.name, subtitle(league), league.asked.seeds);
    winners("Who leads where", &subtitle, &grids)
}
