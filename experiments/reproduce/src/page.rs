//! An experiment's page: what was asked, the paper's sentences and numbers beside ours, and what was
//! assumed. It formats; claims and errors are computed elsewhere.

use super::claims::{self, Checked, Claim, Verdict};
use super::errors::{NOT_COUNTED, is_endless};
use super::experiment::Experiment;
use super::groups::{self, Group};
use super::numbers::{Number, axes, is_withheld};
use super::{figure, report};
use orrery_report::page::{self, Field, Page, Part, TO_KNOW, Table, Tone};
use orrery_results::{Row, UNITLESS, metric, unit};
use orrery_sweep::notes::notes_of;

/// Where a share is this far off the paper's number, or another value by this much of it, it is marked.
const OFF: f64 = 0.1;

/// The page of an experiment's rows.
pub fn of(e: &Experiment, rows: &[Row]) -> Page {
    let mut page = Page::new("experiment", format!("{}: {}", e.id, e.title));
    page.subtitle.clone_from(&e.source);
    ask(&mut page, e);
    let checked: Vec<Checked> = claims::judged(&e.claim, &e.left_out, rows);
    verdict(&mut page, e, &checked, rows);
    let drawn = figure::of(e, rows).ok().map(|f| Part::figure(&f, ""));
    page.section("Figure", drawn);
    page.section("The paper's sentences", claim_table(&e.claim, &checked).part());
    page.section("Against the paper's numbers", scores(e, rows).part());
    page.section("Results", results(e, rows));
    page.section("Intervals", page::intervals(rows));
    let assumed = Part::list(e.assumption.clone());
    page.section("Assumptions, where the paper says nothing", assumed);
    page.section(TO_KNOW, Part::list(notes_of(rows)));
    page
}

fn ask(page: &mut Page, e: &Experiment) {
    page.ask("what is run", e.kind.in_words(e.seeds));
    let mut axes: Vec<String> = Vec::new();
    let cases = e.cases();
    if !cases.is_empty() && e.point.is_empty() {
        axes.push(format!("case: {}", cases.join(", ")));
    }
    for axis in e.axis.iter().filter(|a| a.name != "case") {
        let values: Vec<String> = axis.values.iter().map(orrery_sweep::grid::word).collect();
        axes.push(format!("{}: {}", axis.name, values.join(", ")));
    }
    let points: Vec<&str> = e.point.iter().map(|p| p.name.as_str()).collect();
    if !points.is_empty() {
        axes.push(format!("{}: {}", e.point_axis, points.join(", ")));
    }
    page.ask("settings", axes.join("\n"));
    let system = |s: &super::experiment::System| match s.preset.word() {
        "" => format!("{}: {}", s.name, s.policy),
        preset => format!("{} ({preset}): {}", s.name, s.policy),
    };
    page.ask("systems", e.system.iter().map(system).collect::<Vec<_>>().join("\n"));
    let measures: Vec<String> =
        e.show.iter().map(|m| format!("{}{}", metric::words(m), in_unit(m))).collect();
    page.ask("measured", measures.join("\n"));
}

/// How far the paper is reproduced, in sentences.
fn verdict(page: &mut Page, e: &Experiment, checked: &[Checked], rows: &[Row]) {
    let count = |verdict: Verdict| checked.iter().filter(|c| c.verdict == verdict).count();
    let (good, bad) = (count(Verdict::Holds), count(Verdict::DoesNotHold));
    let unsure = count(Verdict::Undecided);
    let none = count(Verdict::NotJudged) + count(Verdict::NotRun);
    if !checked.is_empty() {
        let tone = match (good, bad + unsure + none) {
            (_, 0) => Tone::Good,
            (0, _) => Tone::Bad,
            _ => Tone::Mixed,
        };
        let of = checked.len();
        let mut text = match of {
            1 if good == 1 => "The paper's sentence holds".to_string(),
            1 if bad == 1 => "The paper's sentence does not hold".to_string(),
            1 if unsure == 1 => "Whether the paper's sentence holds is undecided".to_string(),
            1 => "The paper's sentence was not checked".to_string(),
            2 if good == 2 => "Both of the paper's sentences hold".to_string(),
            _ if good == of => format!("All {of} of the paper's sentences hold"),
            _ => format!("{good} of the paper's {of} sentences hold, {bad} do not"),
        };
        if unsure > 0 && of > 1 {
            text += &format!("; {unsure} are undecided, because a 95 % interval crosses the bound");
        }
        if none > 0 && of > 1 {
            text += &format!(
                "; {none} could not be checked, because not all of their cells and seeds were run"
            );
        }
        page.say(tone, text + ".");
    }
    for Against { whose, numbers, endless, off } in against(e, rows) {
        let endless = match endless {
            0 => String::new(),
            n => format!("in {n} more the queue grows without end"),
        };
        let whose = [whose, endless].iter().filter(|w| !w.is_empty()).cloned().collect::<Vec<_>>();
        let whose =
            if whose.is_empty() { String::new() } else { format!(" ({})", whose.join("; ")) };
        let n = match (numbers, e.errors.as_ref().map(|f| f.beside.as_str())) {
            (1, _) => "one number".to_string(),
            (n, None | Some("paper")) => format!("{n} numbers of the paper"),
            (n, Some(beside)) => format!("{n} {beside} numbers"),
        };
        let text = match off {
            Off::Mean(mean) => format!("The mean error against {n} is {mean:.3}{whose}."),
            Off::Relative { median, most } => format!(
                "Against {n} the median error is {median:.1} %, the largest {most:.1} %{whose}."
            ),
        };
        page.say(Tone::Plain, text);
    }
    if page.verdict.is_empty() {
        let cells = places(rows).len();
        let text = format!("{cells} settings were run; the paper has no numbers for them.");
        page.say(Tone::Plain, text);
    }
}

/// How far the main metric is off the paper's numbers, for some of the systems.
pub(super) struct Against {
    /// The systems, in words; empty for all.
    pub whose: String,
    /// How many numbers are compared.
    pub numbers: usize,
    /// How many cannot be: their latencies grow as long as the run goes on.
    pub endless: usize,
    /// How far off.
    pub off: Off,
}

/// An error in the metric's own measure.
pub(super) enum Off {
    /// Of shares: the mean of the absolute errors.
    Mean(f64),
    /// Of the others: absolute errors in per cent of the paper's number.
    Relative {
        /// Half of them are at most this.
        median: f64,
        /// The largest.
        most: f64,
    },
}

/// The errors: by preset, what was made to come near the paper first; by system where the file says how errors
/// are printed (`[errors]`), because systems are ways to predict the same number there.
pub(super) fn against(e: &Experiment, rows: &[Row]) -> Vec<Against> {
    let main = |r: &&Row| r.metric == e.main() && r.scope == "all" && r.versus.is_empty();
    let is_counted = |r: &&Row| r.axis(NOT_COUNTED).is_none() && r.value.and(r.paper).is_some();
    let mut groups: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(main).filter(is_counted) {
        let whose = match (&e.errors, row.preset.as_str()) {
            (Some(_), _) if e.system.len() > 1 => row.system.clone(),
            (_, "") | (Some(_), _) => String::new(),
            (None, preset) => format!("{preset} settings"),
        };
        match groups.iter_mut().find(|g| g.0 == whose) {
            Some(known) => known.1.push(row),
            None => groups.push((whose, vec![row])),
        }
    }
    groups.sort_by_key(|g| e.errors.is_none() && g.0 != "calibrated settings");
    let of = |(whose, own): (String, Vec<&Row>)| {
        let ended = |r: &&&Row| e.errors.is_none() || !is_endless(r);
        let pairs = own.iter().filter(ended).filter_map(|r| r.value.zip(r.paper));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let endless = own.len() - pairs.len();
        let off = off(&pairs, unit(e.main()) == UNITLESS)?;
        Some(Against { whose, numbers: pairs.len(), endless, off })
    };
    groups.into_iter().filter_map(of).collect()
}

/// The error of pairs of ours and the paper's; none where there is nothing to compare.
fn off(pairs: &[(f64, f64)], is_share: bool) -> Option<Off> {
    if is_share {
        let sum = pairs.iter().map(|(a, b)| (a - b).abs()).sum::<f64>();
        return (!pairs.is_empty()).then(|| Off::Mean(sum / pairs.len() as f64));
    }
    let own = pairs.iter().filter(|p| p.1 != 0.0);
    let mut off: Vec<f64> = own.map(|(a, b)| 100.0 * (a / b - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    let median = *off.get(off.len() / 2)?;
    Some(Off::Relative { median, most: off.last().copied().unwrap_or(median) })
}

/// Claims with what came of them.
pub fn claim_table(claims: &[Claim], checked: &[Checked]) -> Table {
    let mut table = Table::new("", &["verdict", "the paper's sentence", "what is checked", "ours"]);
    for (claim, c) in claims.iter().zip(checked) {
        let word = match c.verdict {
            Verdict::Holds => Field::text("\u{2713} holds").marked(Tone::Good),
            Verdict::DoesNotHold => Field::text("\u{2717} does not hold").marked(Tone::Bad),
            other => Field::text(other.words()).marked(Tone::Mixed),
        };
        let word = word.with(c.why.clone());
        let some = c.verdict == Verdict::DoesNotHold && c.taken.is_none() && c.good > 0;
        let word =
            if some { word.with(format!("{} of {} do", c.good, c.cells.len())) } else { word };
        let ours = claims::came_out(claim, c);
        let ours = ours.trim_start_matches([',', ':', ' ']);
        let ours = ours.strip_prefix("is ").unwrap_or(ours).to_string();
        let ours = match c.unanswered {
            0 => ours,
            n => format!("{ours}; no answer in {n} more"),
        };
        let fields = [
            word,
            Field { key: None, ..Field::text(&*claim.text) },
            Field { key: None, ..Field::text(claims::asked(claim)) },
            Field { key: None, ..Field::text(ours) },
        ];
        table.rows.push(fields.to_vec());
    }
    table
}

/// The errors of each system.
fn scores(e: &Experiment, rows: &[Row]) -> Table {
    let caption = format!(
        "mean absolute error of {}; beside it that of predicting each number by the median of the \
         paper's other cases, and our skill over that",
        e.main().replace('_', " ")
    );
    let columns = ["system", "preset", "numbers", "mean error", "the median's", "skill"];
    let mut table = Table::new(caption, &columns);
    for s in report::scores(e, rows) {
        let number = |x: Option<f64>| {
            x.map_or(Field::default(), |x| Field::number(x, page::reading(e.main(), x)))
        };
        let skill = s.skill.map_or(Field::default(), |x| {
            let tone = if x < 0.0 { Tone::Bad } else { Tone::Plain };
            Field::number(x, format!("{x:+.2}")).marked(tone)
        });
        table.rows.push(vec![
            Field::text(s.system),
            Field::text(s.preset),
            Field::number(s.cells as f64, s.cells.to_string()),
            number(Some(s.mae)),
            number(s.median_mae),
            skill,
        ]);
    }
    table
}

/// The settings of rows, by case and axes.
fn places(rows: &[Row]) -> Vec<&Row> {
    let mut seen = std::collections::BTreeSet::new();
    let own = rows.iter().filter(|r| r.scope == "all" && r.versus.is_empty());
    own.filter(|r| seen.insert((&r.case, &r.axes))).collect()
}

/// For each metric that is shown and group of systems a table: a line for each setting, a column for each
/// system, the paper's number and the error below ours.
fn results(e: &Experiment, rows: &[Row]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut metrics: Vec<&str> = e.show.iter().map(String::as_str).collect();
    if !e.kind.metrics().is_empty() {
        metrics = e.kind.metrics().to_vec();
    }
    for metric in metrics {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|r| r.metric == metric && r.scope == "all" && r.versus.is_empty())
            .collect();
        for group in groups::of(e) {
            parts.extend(pivot(metric, &group, &own, &e.withheld).part());
        }
    }
    if parts.is_empty() {
        parts = page::cells(rows);
    }
    parts
}

fn pivot(metric: &str, group: &Group<'_>, own: &[&Row], withheld: &[Number]) -> Table {
    let is_of = |r: &Row, i: usize| {
        let s = group.systems[i];
        r.system == s.name && r.preset == s.preset.word()
    };
    let with: Vec<usize> =
        (0..group.systems.len()).filter(|i| own.iter().any(|r| is_of(r, *i))).collect();
    let own: Vec<&Row> =
        own.iter().copied().filter(|r| with.iter().any(|i| is_of(r, *i))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in own.iter().flat_map(|r| axes(r)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let has_paper = own.iter().any(|r| r.paper.is_some());
    let title = if group.title.is_empty() { String::new() } else { format!("{}: ", group.title) };
    let below = if has_paper { "; below ours the paper's number and our error" } else { "" };
    let caption = format!("{title}{}{}{below}", metric::words(metric), in_unit(metric));
    let columns: Vec<&str> =
        names.iter().copied().chain(with.iter().map(|i| &*group.systems[*i].name)).collect();
    let mut table = Table::new(caption, &columns);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for place in &own {
        if seen.contains(&(&place.case, &place.axes)) {
            continue;
        }
        seen.push((&place.case, &place.axes));
        let at = |name: &&str| axes(place).find(|a| a.0 == *name).map_or("", |a| a.1);
        let mut line: Vec<Field> = names.iter().map(|n| Field::text(at(n))).collect();
        for i in &with {
            let here = |r: &&&Row| is_of(r, *i) && (&r.case, &r.axes) == (&place.case, &place.axes);
            line.push(own.iter().find(here).map_or(Field::default(), |r| beside(r, withheld)));
        }
        table.rows.push(line);
    }
    table
}

/// Its unit, after a comma, as values are written.
fn in_unit(metric: &str) -> String {
    match unit(metric) {
        UNITLESS => String::new(),
        _ => format!(", {}", metric::reading(metric).unit),
    }
}

/// Our value with the paper's below it.
fn beside(row: &Row, withheld: &[Number]) -> Field {
    let Some(ours) = row.value else { return Field::text("no answer").with(&*row.reason) };
    let digits = |x: f64| match unit(&row.metric) {
        UNITLESS if x.abs() <= 1.0 => format!("{x:.3}"),
        _ => page::reading(&row.metric, x),
    };
    let field = Field::number(ours, digits(ours));
    let Some(paper) = row.paper else {
        let kept_away = is_withheld(row, withheld);
        return if kept_away { field.with("withheld from this project") } else { field };
    };
    let (off, words) = match unit(&row.metric) {
        UNITLESS => (ours - paper, format!("{:+.2}", ours - paper)),
        _ if paper != 0.0 => {
            (ours / paper - 1.0, format!("{:+.1} %", 100.0 * (ours / paper - 1.0)))
        }
        _ => (0.0, String::new()),
    };
    let tone = if off.abs() > OFF { Tone::Mixed } else { Tone::Plain };
    field.with(format!("{} ({words})", digits(paper))).marked(tone)
}
