//! The answer as one document: text, Markdown and a page. The verdict comes first, then what changed in the input,
//! then a line for each value that moved beyond its interval.

use super::compare::{Change, Kind, by_rank};
use super::input::Difference;
use super::outcome::{Compared, Outcome, Says, requirements, verdict};
use super::require::Judged;
use super::row::BaselineRow;
use orrery_report::page::{self, Field, Page, Part, Table, Tone, capital, counted};
use orrery_results::metric;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Values that are shown at once, and on the page when it is opened; the JUnit file has all.
const SHOWN: usize = 20;
const SHOWN_MAX: usize = 2000;
/// Keys of the input that are shown at once.
const KEYS_SHOWN: usize = 8;

/// How it was compared.
pub struct How {
    /// Differences that are ignored, as a share of the larger value.
    pub tolerance: f64,
    /// Whether the baselines have the new values now.
    pub blessed: bool,
}

/// The document.
pub fn page(outcomes: &[Outcome], how: &How) -> Page {
    let title = match outcomes {
        [one] => one.name.clone(),
        all => format!("{} baselines", all.len()),
    };
    let mut page = Page::new("regress", title);
    if how.tolerance > 0.0 {
        let words = format!("differences up to {} of the larger value are none", how.tolerance);
        page.ask("tolerance", words);
    }
    say(&mut page, outcomes, how.blessed);
    let names = names(outcomes);
    page.section(failed_title(outcomes), failed(outcomes, &names));
    if outcomes.len() > 1 {
        page.section("Baselines", baselines(outcomes, &names, how.blessed).part());
    }
    let broken = outcomes.iter().filter_map(|o| Some((&o.name, o.result.as_ref().err()?)));
    let broken = broken.flat_map(|(name, e)| [Part::Text(name.clone()), Part::Plain(e.clone())]);
    page.section("What could not be run", broken);
    page.section("What changed in the input", all_inputs(outcomes, &names));
    page.section("Requirements", all_requirements(outcomes, &names));
    page.section("Every value that moved", all_moved(outcomes, &names));
    page.provenance.push(("command".to_string(), page::command_line()));
    page.provenance.extend(page::provenance(&[]));
    page
}

/// The text: the document without its name, so that its first line is the verdict.
pub fn text(page: &Page) -> String {
    let text = Page { title: String::new(), ..page.clone() }.to_text();
    text.strip_prefix("regress \n").map_or(text.clone(), str::to_string)
}

/// First the verdict, then what differs in the input, then what to do.
fn say(page: &mut Page, outcomes: &[Outcome], blessed: bool) {
    let (tone, text) = verdict(outcomes, blessed);
    page.say(tone, text);
    inputs(page, outcomes);
    let compared = || outcomes.iter().filter_map(Outcome::compared);
    let is = |says: Says| compared().any(|c| c.says() == says);
    let is_of_seeds = |c: &Compared| matches!(c.says(), Says::Seeds | Says::Passed);
    if is(Says::Seeds) && compared().all(is_of_seeds) {
        page.say(
            Tone::Plain,
            "Only the seeds changed: the differences are chance, and show no regression.",
        );
    }
    if !is(Says::Failed) && !blessed {
        seeds(page, outcomes);
    }
    if blessed {
        let text = match compared().any(|c| c.records) {
            true => "The baselines have these values now.",
            false => {
                "Nothing is recorded of requirements alone: `metrics` under `[rerun]` names what shall be."
            }
        };
        page.say(Tone::Plain, text);
    } else if compared().any(|c| c.counts().moved() > 0) {
        page.say(Tone::Plain, "To accept the values: the same command with `--bless`.");
    }
}

/// How many seeds would tell the largest move within noise.
fn seeds(page: &mut Page, outcomes: &[Outcome]) {
    let told = outcomes.iter().filter_map(|o| o.compared()?.seeds_to_tell());
    let largest = told.min_by(|(a, _), (b, _)| a.rank().1.total_cmp(&b.rank().1));
    let Some((change, n)) = largest else { return };
    let Change::Moved(_, new, _) = change else { return };
    let share = change.share().map_or(String::new(), |share| format!(", {}", in_percent(share)));
    let now = if new.seeds == 1 { "1 was".to_string() } else { format!("{} were", new.seeds) };
    page.say(
        Tone::Plain,
        format!(
            "About {n} seeds would distinguish the largest change within noise ({} of {}{share}) from chance; {now} run.",
            new.metric,
            new.subject()
        ),
    );
}

/// Names of baselines that tell them apart: without folders and ending where that is enough, and nothing of one.
fn names(outcomes: &[Outcome]) -> Vec<String> {
    if outcomes.len() == 1 {
        return vec![String::new()];
    }
    let stem = |o: &Outcome| {
        let stem = Path::new(&o.name).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    };
    let stems: Vec<String> = outcomes.iter().map(stem).collect();
    let distinct: BTreeSet<&String> = stems.iter().collect();
    match distinct.len() == stems.len() {
        true => stems,
        false => outcomes.iter().map(|o| o.name.clone()).collect(),
    }
}

/// What differs in the input of a baseline, a line each.
pub fn inputs_of(compared: &Compared) -> Vec<String> {
    if compared.is_first() {
        return Vec::new();
    }
    let Some(differs) = &compared.differs else {
        let text = "What changed is not known: the baseline keeps no record of its input; `--bless` \
                    writes one.";
        return vec![text.to_string()];
    };
    if differs.is_empty() {
        return vec!["The input is the same.".to_string()];
    }
    let same =
        differs.iter().all(Difference::is_of_program).then(|| "The input is the same.".to_string());
    let changed = differs.iter().map(|difference| format!("Changed: {difference}."));
    same.into_iter().chain(changed).collect()
}

/// What differs in the input, each line once with the baselines that have it.
fn inputs(page: &mut Page, outcomes: &[Outcome]) {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    let names = names(outcomes);
    let compared = outcomes.iter().zip(&names).filter_map(|(o, n)| Some((o.compared()?, n)));
    let (passed, moved): (Vec<_>, Vec<_>) = compared.partition(|(c, _)| c.says() == Says::Passed);
    for (compared, name) in passed {
        let differs = compared.differs.iter().flatten().filter(|d| !d.is_of_program());
        let differs: Vec<String> = differs.map(Difference::to_string).collect();
        let left = differs.len().saturating_sub(KEYS_SHOWN);
        let more = if left > 0 { format!("; and {left} more") } else { String::new() };
        let whose = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let shown = differs[..differs.len() - left].join("; ");
        if !shown.is_empty() {
            let line = format!("Changed, and no value moved{whose}: {shown}{more}.");
            page.say(Tone::Plain, line);
        }
    }
    for (compared, name) in &moved {
        // Requirements alone are judged without any record.
        if compared.comparison.groups.is_empty() && compared.differs.is_none() {
            continue;
        }
        for line in inputs_of(compared) {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(name),
                None => lines.push((line, vec![name])),
            }
        }
    }
    let left = lines.len().saturating_sub(KEYS_SHOWN);
    for (line, names) in lines.into_iter().take(KEYS_SHOWN) {
        let whose = match names.len() == moved.len() {
            true => String::new(),
            false => format!(" ({})", names.join(", ")),
        };
        page.say(Tone::Plain, format!("{}{whose}{}", line.trim_end_matches('.'), "."));
    }
    if left > 0 {
        page.say(Tone::Plain, format!("And {left} more changes in the input; the page has all."));
    }
}

/// All that differs in the input, where it was not all said.
fn all_inputs(outcomes: &[Outcome], names: &[String]) -> Option<Part> {
    let mut table = Table::new("", &["baseline", "changed"]);
    for (outcome, name) in outcomes.iter().zip(names) {
        let differs = outcome.compared().and_then(|c| c.differs.as_ref());
        for difference in differs.into_iter().flatten() {
            table.rows.push(vec![words(name), words(&difference.to_string())]);
        }
    }
    let n = table.rows.len();
    (n > KEYS_SHOWN).then(|| folded(format!("All {n}"), table))
}

fn folded(title: String, table: Table) -> Part {
    Part::Folded(title, table.part().into_iter().collect())
}

fn baselines(outcomes: &[Outcome], names: &[String], blessed: bool) -> Table {
    let heads = ["baseline", "", "values", "worse", "better", "other", "noise", "same", "met"];
    let mut table = Table::new("", &heads);
    for (Outcome { result, .. }, name) in outcomes.iter().zip(names) {
        let mut line = vec![words(name)];
        match result {
            Err(_) => {
                line.push(Field::text("could not run").marked(Tone::Bad));
                line.resize(table.columns.len(), Field::default());
            }
            Ok(compared) => {
                let counts = compared.counts();
                let (word, tone) = compared.marked(blessed);
                line.push(Field::text(word).marked(tone));
                let is = |kind: Kind| counts.get(kind);
                let other = is(Kind::Gone) + is(Kind::Changed) + is(Kind::New);
                let moved = [is(Kind::Worse), is(Kind::Better), other, is(Kind::Noise)];
                let all = [counts.all()].into_iter().chain(moved).chain([counts.same]);
                line.extend(all.map(|n| Field::text(n.to_string())));
                let met = compared.judged.len() - compared.unmet().count();
                line.push(match compared.judged.len() {
                    0 => Field::default(),
                    n => words(&format!("{met} of {n}")),
                });
            }
        }
        table.rows.push(line);
    }
    table
}

fn failed_title(outcomes: &[Outcome]) -> &'static str {
    let is_unmet = outcomes.iter().filter_map(Outcome::compared).any(|c| c.unmet().count() > 0);
    if is_unmet { "What failed" } else { "What moved, the worst first" }
}

/// Requirements that are not met, and the values that moved: beyond their intervals, where any did.
fn failed(outcomes: &[Outcome], names: &[String]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    parts.extend(Part::list(unmet(outcomes, names)));
    let mut lines = Vec::new();
    let mut groups: BTreeMap<(Kind, String), usize> = BTreeMap::new();
    // What is within noise is listed where nothing else moved.
    let is_beyond = changes(outcomes, names).any(|(change, _)| change.kind() != Kind::Noise);
    for (change, name) in changes(outcomes, names) {
        match change.kind() {
            Kind::Noise if is_beyond => {}
            kind @ (Kind::Gone | Kind::New) => {
                *groups.entry((kind, whose(name, &change.row().cell()))).or_default() += 1;
            }
            _ => lines.push((change, line(name, change))),
        }
    }
    lines.sort_by(|a: &(&Change, _), b| by_rank(&a.0.rank(), &b.0.rank()));
    let left = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    for of_kind in lines.chunk_by(|a, b| a.0.kind() == b.0.kind()) {
        let with = of_kind.iter().filter(|(change, _)| change.has_interval()).count();
        let kind = of_kind[0].0.kind();
        let how_far = match with {
            _ if kind == Kind::Noise => "inside the 95 % interval",
            0 => "without an interval",
            n if n == of_kind.len() => "beyond the 95 % interval",
            _ => "beyond the 95 % interval, or without one",
        };
        let caption = format!("{}, {how_far}", capital(kind.word()));
        let rows = of_kind.iter().map(|(_, line)| line.clone()).collect();
        let columns = ["by", "metric", "before", "now", "of"];
        parts.extend(Table { rows, ..Table::new(caption, &columns) }.part());
    }
    if left > 0 {
        let how_far = if is_beyond { "beyond" } else { "within" };
        parts.push(Part::Text(format!("{left} more moved {how_far} their intervals.")));
    }
    let more = groups.len().saturating_sub(SHOWN);
    let group = |((kind, whose), n): ((Kind, String), usize)| {
        format!("{}: {} of {whose}", kind.word(), counted(n as u64, "value"))
    };
    let mut groups: Vec<String> = groups.into_iter().take(SHOWN).map(group).collect();
    groups.extend((more > 0).then(|| format!("and {more} more groups of values, gone or new")));
    parts.extend(Part::list(groups));
    parts
}

/// Requirements that are not met, a sentence each.
fn unmet(outcomes: &[Outcome], names: &[String]) -> Vec<String> {
    let each = outcomes.iter().zip(names).filter_map(|(o, n)| Some((o.compared()?, n)));
    let mut all: Vec<_> = each.flat_map(|(c, name)| c.unmet().map(move |j| (j, name))).collect();
    all.sort_by_key(|(j, _)| j.verdict);
    let left = all.len().saturating_sub(SHOWN);
    let line = |(j, name): &(&Judged, &String)| {
        let remedy = j.remedy();
        let remedy = if remedy.is_empty() { remedy } else { format!("; {remedy}") };
        let whose = if name.is_empty() { String::new() } else { format!(" ({name})") };
        format!("{}: {}: found {}{remedy}{whose}", j.verdict.word(), j.asked(), j.found())
    };
    let mut lines: Vec<String> = all.iter().take(SHOWN).map(line).collect();
    lines.extend((left > 0).then(|| format!("and {left} more requirements that are not met")));
    lines
}

/// All changes, each with its baseline's name.
fn changes<'a>(
    outcomes: &'a [Outcome],
    names: &'a [String],
) -> impl Iterator<Item = (&'a Change, &'a str)> {
    let each = outcomes.iter().zip(names).filter_map(|(o, n)| Some((o.compared()?, n.as_str())));
    // Of what was never recorded nothing moved.
    let each = each.filter(|(c, _)| !c.is_first());
    each.flat_map(|(c, name)| c.comparison.changes.iter().map(move |change| (change, name)))
}

/// What a value is of, with its baseline where there are several.
fn whose(name: &str, subject: &str) -> String {
    if name.is_empty() { subject.to_string() } else { format!("{name}: {subject}") }
}

fn all_requirements(outcomes: &[Outcome], names: &[String]) -> Option<Part> {
    let judged = outcomes.iter().filter_map(Outcome::compared).flat_map(|c| &c.judged);
    let title = requirements(judged)?;
    Some(folded(capital(&title), requirement_table(outcomes, names)))
}

fn requirement_table(outcomes: &[Outcome], names: &[String]) -> Table {
    let mut table = Table::new("", &["", "required", "found", "remedy"]);
    for (outcome, name) in outcomes.iter().zip(names) {
        let judged = outcome.compared().into_iter().flat_map(|c| &c.judged);
        for j in judged.take(SHOWN_MAX) {
            table.rows.push(vec![
                words(j.verdict.word()).marked(j.verdict.tone()),
                words(&whose(name, &j.asked())),
                words(&j.found()),
                words(&j.remedy()),
            ]);
        }
    }
    table
}

/// Every change with its intervals, closed at first.
fn all_moved(outcomes: &[Outcome], names: &[String]) -> Option<Part> {
    let columns = ["", "of", "metric", "before", "95 % from", "to", "now", "95 % from", "to", "by"];
    let mut all: Vec<_> = changes(outcomes, names).map(|(c, name)| (c.rank(), c, name)).collect();
    all.sort_by(|a, b| by_rank(&a.0, &b.0));
    let n = all.len();
    let ends = |r: Option<&BaselineRow>| {
        let end = |x: Option<f64>| {
            let number = |x: f64| r.map(|r| Field::number(x, page::reading(&r.metric, x)));
            x.and_then(number).unwrap_or_default()
        };
        let (low, high) = r.and_then(BaselineRow::interval).unzip();
        [end(low), end(high)]
    };
    let row = |(_, change, name): &(_, &Change, &str)| {
        let (old, new) = match change {
            Change::Moved(old, new, _) => (Some(old), Some(&**new)),
            Change::Gone(old) => (Some(old), None),
            Change::New(new) => (None, Some(new)),
        };
        let [kind, by, metric, ..] = parts_of(change);
        let mut cells = vec![kind, words(&whose(name, &change.row().subject())), metric];
        for row in [old, new] {
            cells.push(row.map_or_else(Field::default, field));
            cells.extend(ends(row));
        }
        cells.push(by);
        cells
    };
    let rows: Vec<Vec<Field>> = all.iter().take(SHOWN_MAX).map(row).collect();
    let mut parts: Vec<Part> =
        Table { rows, ..Table::new("", &columns) }.part().into_iter().collect();
    if n > SHOWN_MAX {
        parts.push(Part::Text(format!(
            "{} more are in the JUnit file that `--junit` writes.",
            n - SHOWN_MAX
        )));
    }
    (n > 0).then(|| Part::Folded(format!("All {n}, those within noise too"), parts))
}

/// A share in percent with two digits that matter: `-3.1 %`, `+0.0042 %`.
fn in_percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = match percent.abs() {
        a if a < 0.000_05 => return format!("{percent:+.1e} %"),
        a if a >= 10.0 => 0,
        a if a >= 1.0 => 1,
        a if a >= 0.1 => 2,
        _ => 4,
    };
    format!("{percent:+.digits$} %")
}

fn words(text: &str) -> Field {
    Field { key: None, ..Field::text(text) }
}

/// A value for reading.
fn field(r: &BaselineRow) -> Field {
    match r.value {
        Some(x) => Field::number(x, page::reading(&r.metric, x)),
        None => words("no answer").with(r.reason.clone()),
    }
}

/// A value's field with all digits, in the unit of its heading.
fn in_full(r: &BaselineRow, short: Field) -> Field {
    let number = |x| Field::number(x, (x / metric::reading(&r.metric).divisor).to_string());
    r.value.map_or(short, number)
}

/// How a change is counted, by how much it moved, its metric, before and now.
fn parts_of(change: &Change) -> [Field; 5] {
    let row = change.row();
    let (before, now) = match change {
        // Where they differ in a later digit only, all digits are shown.
        Change::Moved(old, new, _) => match (field(old), field(new)) {
            (before, now) if before.text == now.text => (in_full(old, before), in_full(new, now)),
            both => both,
        },
        Change::Gone(old) => (field(old), words("gone")),
        Change::New(new) => (words("new"), field(new)),
    };
    let share = change.share();
    let by = share.map_or_else(Field::default, |share| Field::number(share, in_percent(share)));
    let kind = change.kind();
    let tone = match kind {
        Kind::Better => Tone::Good,
        Kind::Worse | Kind::Gone => Tone::Bad,
        _ => Tone::Plain,
    };
    [words(kind.word()).marked(tone), by, words(&heading(&row.metric)), before, now]
}

/// A change in a line: `worse: p99, ms of orloj: 12.31 -> 14.02 (+14 %)`.
pub fn in_a_line(change: &Change) -> String {
    let [kind, by, metric, before, now] =
        parts_of(change).map(|field| match field.below.as_str() {
            "" => field.text,
            why => format!("{} ({why})", field.text),
        });
    let by = if by.is_empty() { by } else { format!(" ({by})") };
    format!("{kind}: {metric} of {}: {before} -> {now}{by}", change.row().subject())
}

/// A metric as tables head it, with its unit.
fn heading(name: &str) -> String {
    let known = metric::find(name).and_then(|m| m.page);
    known.map_or_else(
        || match metric::reading(name).unit {
            "" | "share" => name.to_string(),
            unit => format!("{}, {unit}", name.trim_end_matches("_ns")),
        },
        str::to_string,
    )
}

/// A change without its kind, which is the caption's.
fn line(name: &str, change: &Change) -> Vec<Field> {
    let [kind, by, metric, before, now] = parts_of(change);
    vec![by.marked(kind.tone), metric, before, now, words(&whose(name, &change.row().subject()))]
}
