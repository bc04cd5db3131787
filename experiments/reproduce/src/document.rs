//! An experiment's document: its verdict, the paper's claims and numbers beside ours, what was asked and what was
//! assumed. Text, Markdown and page come of the same parts. It formats; claims and errors are computed elsewhere.

use super::claims::{self, Checked, Claim, Verdict};
use super::errors::{self, NOT_COUNTED, is_endless};
use super::experiment::{Experiment, Preset};
use super::runner::KindDocument;
use super::scores::is_relative;
use super::{figure, groups, numbers, registry, results, scores};
use orrery_report::page::{self, Field, Page, Part, TO_KNOW, Table, Tone, capital, counted};
use orrery_results::{Row, distinct, metric};
use orrery_sweep::goodput::FLAGS;
use orrery_sweep::notes::notes_of;
use orrery_sweep::replication::{DEVICES, PEAK};

/// Titles of sections that the atlas has, too.
pub const CLAIMS: &str = "The paper's claims";
/// That of claims that are no sentence of the paper.
pub const OWN_CLAIMS: &str = "Our own claims";
/// That of a region.
pub const REGION: &str = "Where the claims hold";
/// What a paper leaves open.
pub const ASSUMPTIONS: &str = "Assumptions, where the paper says nothing";

/// The document of an experiment's rows alone.
pub fn of(e: &Experiment, rows: &[Row]) -> Page {
    let mut page = with(e, rows, KindDocument::default());
    draw(&mut page, e, rows);
    page
}

/// The document of an experiment's rows, with what its kind has to say. A text has what is read first; the rest with
/// `--details`. A page has all.
pub fn with(e: &Experiment, rows: &[Row], own: KindDocument) -> Page {
    let mut page = Page::new("experiment", format!("{}: {}", e.id, e.title));
    page.subtitle.clone_from(&e.source);
    let mut checked: Vec<Checked> = Vec::new();
    if e.region.is_empty() {
        checked = claims::judged(&e.claim, &e.left_out, rows);
        explain(e, &mut checked);
        let part = |own| claims::part(&e.claim, &checked, own, !e.details);
        page.section_open(CLAIMS, part(false));
        page.section_open(OWN_CLAIMS, part(true));
    } else {
        let regions = claims::within(&e.claim, &e.region, &e.left_out, rows);
        page.say(Tone::Plain, claims::region_in_words(&e.region, &regions));
        let map = claims::region_part(&e.claim, &e.region, &regions);
        page.section_open(REGION, map);
    }
    let others = verdict(&mut page, e, &checked, rows);
    page.section_open("Results", results::of(e, rows, own.results));
    let against = Part::list(others).into_iter().chain(against_paper(e, rows)).collect();
    let mut more: Vec<(String, Vec<Part>)> = vec![
        ("Against the paper's numbers".into(), against),
        ("Errors".into(), errors::parts(e, rows)),
    ];
    more.extend(own.sections);
    more.push((ASSUMPTIONS.into(), Part::list(e.assumption.clone()).into_iter().collect()));
    more.push(("What was asked".into(), asked(e, own.asked)));
    more.retain(|section| !section.1.is_empty());
    let titles: Vec<String> = more.iter().map(|section| section.0.clone()).collect();
    for (title, parts) in more {
        let is_open = ["Against the paper's numbers", "Errors"].contains(&&*title);
        let parts =
            if e.details { parts } else { vec![Part::Views { page: parts, text: Vec::new() }] };
        if is_open { page.section_open(&title, parts) } else { page.section(&title, parts) }
    }
    page.section("Intervals", page::intervals(rows));
    let notes =
        notes_of(rows).into_iter().chain(flagged(rows)).chain(numbers::beside_none(&e.paper, rows));
    let notes = Part::list(notes.collect());
    let more = format!("With --details, and on the page: {}.", titles.join("; "));
    let more = Part::Views { page: Vec::new(), text: vec![Part::Text(more)] };
    page.section(TO_KNOW, notes.into_iter().chain((!e.details).then_some(more)));
    page
}

/// The causes of what does not hold in a shipped experiment as it is.
fn explain(e: &Experiment, checked: &mut [Checked]) {
    // A damaged file of causes is an error before anything runs.
    let causes = registry::causes().ok().filter(|_| e.changed.is_empty()).unwrap_or_default();
    for cause in causes.into_iter().filter(|cause| cause.id == e.id) {
        for n in cause.numbers() {
            let claim = n.checked_sub(1).and_then(|i| Some((e.claim.get(i)?, checked.get_mut(i)?)));
            let Some((claim, c)) = claim else { continue };
            if c.verdict == Verdict::DoesNotHold || claim.fitted && c.verdict == Verdict::Holds {
                c.cause = Some((cause.cause.clone(), cause.why.clone()));
            }
        }
    }
}

/// Adds the figure as the first section.
pub fn draw(page: &mut Page, e: &Experiment, rows: &[Row]) {
    let drawn = figure::of(e, rows).ok().map(|f| Part::figure(&f, ""));
    page.section_first("Figure", drawn);
}

/// The values of an axis that are listed one by one; the results have all.
const SETTINGS_MAX: usize = 20;

/// What was asked: a point for each.
fn asked(e: &Experiment, own: Vec<(&'static str, String)>) -> Vec<Part> {
    let mut points = vec![format!("what is run: {}", e.kind.in_words(e.seeds))];
    points.extend(own.into_iter().map(|(what, is)| format!("{what}: {is}")));
    let cases = e.cases();
    if !cases.is_empty() && e.point.is_empty() {
        points.push(format!("case: {}", listed(cases.clone())));
    }
    for axis in e.axis.iter().filter(|a| a.name != "case") {
        let values: Vec<String> = axis.values.iter().map(orrery_sweep::grid::word).collect();
        // The axis that the cases are of.
        if values != cases {
            points.push(format!("{}: {}", axis.name, listed(values)));
        }
    }
    if !e.point.is_empty() {
        let names = e.point.iter().map(|p| p.name.clone());
        points.push(format!("{}: {}", e.point_axis, listed(names.collect())));
    }
    points.extend(e.system.iter().map(|s| match s.preset.word() {
        "" => format!("{}: {}", s.name, s.policy),
        preset => format!("{} ({preset}): {}", s.name, s.policy),
    }));
    let measure = |m: &String| format!("{}{}", metric::words(m), results::in_unit(m));
    points.push(format!("measured: {}", e.show.iter().map(measure).collect::<Vec<_>>().join("; ")));
    Part::list(points).into_iter().collect()
}

/// Values with commas between them, in quotes where one has a comma itself.
fn listed(values: Vec<String>) -> String {
    let is_quoted = values.iter().any(|v| v.contains(','));
    let word = |v: String| if is_quoted { format!("\"{v}\"") } else { v };
    if let [first, .., last] = &values[..]
        && values.len() > SETTINGS_MAX
    {
        let [first, last] = [first, last].map(|v| word(v.clone()));
        return format!("{} in all, from {first} to {last}", values.len());
    }
    values.into_iter().map(word).collect::<Vec<_>>().join(", ")
}

/// How far the paper is reproduced, in sentences; and the errors of other settings.
fn verdict(page: &mut Page, e: &Experiment, checked: &[Checked], rows: &[Row]) -> Vec<String> {
    for (whose, own) in [("the paper's", false), ("our own", true)] {
        let of = |fitted: bool| -> Vec<Verdict> {
            let is = |claim: &Claim| claim.own == own && claim.fitted == fitted;
            let both = e.claim.iter().zip(checked).filter(|(claim, _)| is(claim));
            both.map(|(_, c)| c.verdict).collect()
        };
        let (tested, fitted) = (of(false), of(true));
        if !tested.is_empty() {
            let (tone, text) = in_a_sentence(&tested, whose);
            page.say(tone, text);
        }
        page.verdict.extend(counted_apart(&fitted, whose));
    }
    let mut others = Vec::new();
    let all = against(e, rows);
    let compared = all.len();
    for (place, own) in all.into_iter().enumerate() {
        match place > 0 {
            true => others.push(own.in_short()),
            false => page.say(Tone::Plain, own.sentence(e, rows)),
        }
        // What was made to come near the paper is the reproduction.
        if place == 0 && compared > 1 && own.whose == Preset::Calibrated.word() {
            page.say(Tone::Plain, CALIBRATED);
        }
    }
    if compared == 0 {
        let is_judged = |(c, out): (&Claim, &Checked)| !c.own && !out.verdict.is_of_a_part();
        let has_claims = e.claim.iter().zip(checked).any(is_judged);
        page.say(Tone::Plain, nothing_compared(rows, has_claims));
    }
    if others.is_empty() { others } else { vec![format!("others: {}", others.join("; "))] }
}

/// Why the main metric stands beside no number of the paper.
fn nothing_compared(rows: &[Row], has_claims: bool) -> String {
    let compared = rows.iter().filter(|r| r.metric == metric::MEAN_ABS_ERROR).map(|r| r.samples);
    if let (Some(least), Some(most)) = (compared.clone().min(), compared.max()) {
        let n = if least == most { most.to_string() } else { format!("{least} to {most}") };
        return format!("Mean errors are below, each against {n} numbers of the paper.");
    }
    let with_paper = rows.iter().filter(|r| r.paper.is_some());
    let beside = distinct(with_paper.map(|r| metric::words(&r.metric)));
    match beside.is_empty() {
        true if has_claims => ONLY_CLAIMS.to_string(),
        true => "The paper has no numbers for what was run.".to_string(),
        false => {
            format!("The paper's numbers of {} stand beside ours below.", beside.join(", "))
        }
    }
}

/// A claim may have a number of the paper, as a bound.
const ONLY_CLAIMS: &str =
    "The paper is compared by its claims alone: no number stands beside ours.";

/// Why the error of what is calibrated is the reproduction's.
const CALIBRATED: &str =
    "Calibrated is the reproduction: what is not given is fitted once for all tables.";

/// Why claims are not judged.
const ONLY_A_PART: &str = "only a part was run";

/// What came of claims to which something was fitted, which are no test; none without any.
fn counted_apart(fitted: &[Verdict], whose: &str) -> Option<page::Verdict> {
    let hold = fitted.iter().filter(|v| **v == Verdict::Holds).count();
    let came_out = match (fitted, hold) {
        ([], _) => return None,
        ([one], _) => one.words().to_string(),
        (all, n) if n == all.len() => "all hold".to_string(),
        (_, 1) => "1 holds".to_string(),
        (_, n) => format!("{n} hold"),
    };
    let claims = counted(fitted.len() as u64, "claim");
    let text =
        format!("Counted apart: {claims} of {whose} to which something was fitted ({came_out}).");
    Some(page::Verdict { tone: Tone::Plain, text, who: String::new() })
}

/// What came of claims; `whose` they are: the paper's, our own.
fn in_a_sentence(verdicts: &[Verdict], whose: &str) -> (Tone, String) {
    let count = |verdict: Verdict| verdicts.iter().filter(|v| **v == verdict).count();
    let of = verdicts.len();
    let (good, bad) = (count(Verdict::Holds), count(Verdict::DoesNotHold));
    let unsure = count(Verdict::Undecided);
    let none = verdicts.iter().filter(|v| v.is_of_a_part()).count();
    let tone = match (good, bad) {
        // What was not run says nothing, good or bad.
        (_, 0) if good + none == of => {
            if none == 0 {
                Tone::Good
            } else {
                Tone::Plain
            }
        }
        (0, 1..) => Tone::Bad,
        _ => Tone::Mixed,
    };
    let unanswered = count(Verdict::NoAnswer);
    let the = capital(whose);
    let mut text = match of {
        1 if good == 1 => format!("{the} claim holds"),
        1 if bad == 1 => format!("{the} claim does not hold"),
        1 if unsure == 1 => format!("Whether {whose} claim holds is undecided"),
        1 if unanswered == 1 => {
            format!("{the} claim has no verdict, because no search found an answer")
        }
        1 => format!("{the} claim is not judged: {ONLY_A_PART}"),
        _ if none == of => format!("{the} {of} claims are not judged: {ONLY_A_PART}"),
        2 if good == 2 => format!("Both of {whose} claims hold"),
        _ if bad == of => format!("None of {whose} {of} claims holds"),
        _ if good == of => format!("All {of} of {whose} claims hold"),
        _ => {
            let hold = if good == 1 { "holds" } else { "hold" };
            let not = match bad {
                0 => String::new(),
                1 => ", 1 does not".to_string(),
                _ => format!(", {bad} do not"),
            };
            format!("{good} of {whose} {of} claims {hold}{not}")
        }
    };
    if unsure > 0 && of > 1 {
        let are = if unsure == 1 { "is" } else { "are" };
        text += &format!("; {unsure} {are} undecided");
    }
    if none > 0 && none < of {
        let are = if none == 1 { "is" } else { "are" };
        text += &format!("; {none} {are} not judged: {ONLY_A_PART}");
    }
    if unanswered > 0 && of > 1 {
        let have = if unanswered == 1 { "has" } else { "have" };
        text += &format!("; {unanswered} {have} no verdict, because no search found an answer");
    }
    (tone, text + ".")
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

impl Against {
    /// In a sentence, beside what a naive baseline is off.
    fn sentence(&self, e: &Experiment, rows: &[Row]) -> String {
        let endless = match self.endless {
            0 => String::new(),
            n => format!("in {n} more the queue grows without end"),
        };
        let whose = [&self.whose, &endless].into_iter().filter(|w| !w.is_empty());
        let whose = whose.cloned().collect::<Vec<_>>().join("; ");
        let whose = if whose.is_empty() { whose } else { format!(" ({whose})") };
        let n = match (self.numbers, e.errors.as_ref().map(|f| f.beside.as_str())) {
            (1, _) => "one number".to_string(),
            (n, None | Some("paper")) => format!("{n} numbers of the paper"),
            (n, Some(beside)) => format!("{n} {beside} numbers"),
        };
        match self.off {
            Off::Mean(mean) => {
                let naive = scores::naive(e, rows, &self.whose);
                let naive =
                    naive.map_or(String::new(), |x| format!("; a naive baseline's is {x:.3}"));
                format!("The mean error against {n} is {mean:.3}{whose}{naive}.")
            }
            Off::Relative { median, .. } if self.numbers == 1 => {
                format!("Against {n} the error is {median:.1} %{whose}.")
            }
            Off::Relative { median, most } => format!(
                "Against {n} the median error is {median:.1} %, the largest {most:.1} %{whose}."
            ),
        }
    }

    /// In a few words.
    fn in_short(&self) -> String {
        let numbers = if self.numbers == 1 { "number" } else { "numbers" };
        let of = format!("({} {numbers})", self.numbers);
        match self.off {
            Off::Mean(mean) => format!("{} {mean:.3} {of}", self.whose),
            Off::Relative { median, .. } => format!("{} {median:.1} % {of}", self.whose),
        }
    }
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
    let has_presets = e.system.iter().any(|s| !s.preset.word().is_empty());
    for row in rows.iter().filter(main).filter(is_counted) {
        let whose = match (&e.errors, row.preset.as_str()) {
            (Some(_), _) if e.system.len() > 1 => row.system.clone(),
            (None, "") if has_presets => row.system.clone(),
            (_, "") | (Some(_), _) => String::new(),
            (None, preset) => preset.to_string(),
        };
        match groups.iter_mut().find(|g| g.0 == whose) {
            Some(known) => known.1.push(row),
            None => groups.push((whose, vec![row])),
        }
    }
    groups.sort_by_key(|g| e.errors.is_none() && g.0 != "calibrated");
    let of = |(whose, own): (String, Vec<&Row>)| {
        let ended = |r: &&&Row| e.errors.is_none() || !is_endless(r);
        let pairs = own.iter().filter(ended).filter_map(|r| r.value.zip(r.paper));
        let pairs: Vec<(f64, f64)> = pairs.collect();
        let endless = own.len() - pairs.len();
        let off = off(&pairs, !is_relative(e))?;
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

/// The errors of each system, and how orders agree.
fn against_paper(e: &Experiment, rows: &[Row]) -> Vec<Part> {
    let has_naive = scores::of(e, rows).iter().any(|s| s.median_mae.is_some());
    let naive = match has_naive {
        true => {
            "; beside it that of a naive baseline, which predicts each number by the median of the paper's other cases, \
             and our skill: 1 - error / that error"
        }
        false => "",
    };
    let relative = if is_relative(e) { ", in per cent of the paper's number" } else { "" };
    let caption = format!("mean absolute error of {}{relative}{naive}", metric::words(e.main()));
    let columns = ["system", "preset", "numbers", "mean error", "naive", "skill"];
    let mut table = Table { keys: 2, ..Table::new(caption, &columns) };
    let mut points = Vec::new();
    let groups = groups::of(e);
    for group in &groups {
        let own = scores::score(e, group, rows);
        table.rows.extend(own.systems.iter().map(|s| score_line(e, s)));
        let short = group.title.split([',', '(']).next().unwrap_or_default().trim();
        let title = if groups.len() > 1 { format!("{short}: ") } else { String::new() };
        points.extend(own.lines(e).into_iter().map(|line| format!("{title}{line}")));
    }
    table.part().into_iter().chain(Part::list(points)).collect()
}

fn score_line(e: &Experiment, s: &scores::SystemScore) -> Vec<Field> {
    let number = |x: Option<f64>| {
        let in_words = |x: f64| match is_relative(e) {
            true => format!("{:.1} %", 100.0 * x),
            false => page::reading(e.main(), x),
        };
        x.map_or(Field::default(), |x| Field::number(x, in_words(x)))
    };
    let skill = s.skill.map_or(Field::default(), |x| {
        let tone = if x < 0.0 { Tone::Bad } else { Tone::Plain };
        Field::number(x, format!("{x:+.2}")).marked(tone)
    });
    vec![
        Field::text(&*s.system),
        Field::text(&*s.preset),
        Field::number(s.cells as f64, s.cells.to_string()),
        number(Some(s.mae)),
        number(s.median_mae),
        skill,
    ]
}

/// The most cells that are named below a flag.
const FLAGGED_MAX: usize = 24;

/// What is to be known of answers before they are believed, by the cells that it is about.
fn flagged(rows: &[Row]) -> Vec<String> {
    let main = |r: &&Row| r.metric == PEAK || r.metric == DEVICES;
    let place = |r: &Row| match &*r.case {
        "" => format!("{} at {}", r.system, r.axes.replace(';', " ")),
        case => format!("{} at {case}", r.system),
    };
    let none = |r: &Row| format!("no answer: {}: {}", place(r), r.reason);
    let mut out: Vec<String> =
        rows.iter().filter(main).filter(|r| r.value.is_none()).map(none).collect();
    for (flag, _) in FLAGS {
        let is = |r: &&Row| r.has_flag(flag) && (flag != "never-good" || r.value.is_some());
        let who: Vec<String> = rows.iter().filter(main).filter(is).map(place).collect();
        let named = &who[..who.len().min(FLAGGED_MAX)];
        let more = match who.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        if !who.is_empty() {
            out.push(format!("{flag}: {}{more}", named.join("; ")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, NoAnswer, NotJudged, NotRun, Undecided};

    #[test]
    fn settings_are_listed_while_they_are_few() {
        let of = |n: u32| super::listed((1..=n).map(|i| i.to_string()).collect());
        assert_eq!((&*of(3), &*of(21)), ("1, 2, 3", "21 in all, from 1 to 21"));
    }

    #[test]
    fn every_verdict_is_in_the_sentence_once() {
        let said = |verdicts: &[Verdict]| in_a_sentence(verdicts, "the paper's").1;
        assert_eq!(said(&[Holds; 3]), "All 3 of the paper's claims hold.");
        assert_eq!(said(&[DoesNotHold; 2]), "None of the paper's 2 claims holds.");
        assert_eq!(said(&[Holds, DoesNotHold]), "1 of the paper's 2 claims holds, 1 does not.");
        let undecided = "2 of the paper's 3 claims hold; 1 is undecided.";
        assert_eq!(said(&[Holds, Holds, Undecided]), undecided);
        let none = "has no verdict, because no search found an answer.";
        assert_eq!(said(&[NoAnswer]), format!("The paper's claim {none}"));
        assert_eq!(said(&[Holds, NoAnswer]), format!("1 of the paper's 2 claims holds; 1 {none}"));
        let part = "not judged: only a part was run.";
        assert_eq!(said(&[NotRun]), format!("The paper's claim is {part}"));
        assert_eq!(said(&[NotJudged; 3]), format!("The paper's 3 claims are {part}"));
        let some = format!("1 of the paper's 2 claims holds; 1 is {part}");
        assert_eq!(said(&[Holds, NotJudged]), some);
    }

    /// What was not run, or is open, is no failure.
    #[test]
    fn only_what_failed_is_red_and_only_what_was_run_is_green() {
        let tone = |verdicts: &[Verdict]| in_a_sentence(verdicts, "the paper's").0;
        assert_eq!([tone(&[NotJudged; 5]), tone(&[Holds, NotRun])], [Tone::Plain; 2]);
        assert_eq!([tone(&[DoesNotHold, NotJudged]), tone(&[DoesNotHold])], [Tone::Bad; 2]);
        assert_eq!([tone(&[Undecided]), tone(&[Holds, DoesNotHold])], [Tone::Mixed; 2]);
        assert_eq!(tone(&[Holds; 2]), Tone::Good);
    }

    /// Of the paper's 140 numbers, `orloj-table-3-readings` runs the system of 35.
    #[test]
    fn mean_errors_are_against_the_numbers_that_were_compared() {
        let of = |samples| Row {
            metric: metric::MEAN_ABS_ERROR.into(),
            samples,
            value: Some(0.02),
            ..Row::default()
        };
        let said = "Mean errors are below, each against 35 numbers of the paper.";
        assert_eq!(nothing_compared(&[of(35), of(35)], true), said);
        assert!(nothing_compared(&[of(35), of(5)], true).contains("against 5 to 35 numbers"));
    }

    /// The numbers of Symphony's Table 2 are bounds of claims.
    #[test]
    fn a_paper_whose_numbers_are_in_its_claims_has_some() {
        let e = crate::registry::find("symphony-table-2-analytic").expect("a shipped experiment");
        let said = |verdict| {
            let checked = Checked { verdict, ..claims::check(&e.claim[0], &[]) };
            let mut page = Page::new("experiment", "");
            super::verdict(&mut page, &e, &vec![checked; e.claim.len()], &[]);
            page.verdict.pop().expect("a sentence").text
        };
        assert_eq!(said(Holds), ONLY_CLAIMS);
        assert!(said(NotRun).starts_with("The paper has no numbers"), "{}", said(NotRun));
    }

    /// `busy` of `salus-fig-2-10` is fitted to both of its claims.
    #[test]
    fn claims_to_which_something_was_fitted_are_counted_apart() {
        let e = crate::registry::find("salus-fig-2-10").unwrap_or_else(|e| panic!("{e}"));
        let holds = Checked { verdict: Holds, ..claims::check(&e.claim[0], &[]) };
        let mut page = Page::new("experiment", "");
        verdict(&mut page, &e, &[holds.clone(), holds], &[]);
        let first = &page.verdict[0];
        let says =
            "Counted apart: 2 claims of the paper's to which something was fitted (all hold).";
        assert_eq!((first.text.as_str(), first.tone), (says, Tone::Plain));
        assert!(page.verdict.iter().all(|v| v.tone != Tone::Good), "{:?}", page.verdict);
    }
}
