//! `--plot`: cost against throughput, with the pools' names and the load; with `--over` the cost over what was asked.

use crate::document::answers::Answers;
use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::input::what_if::milliseconds;
use crate::search::answer::{Answer, Choice, Point};
use crate::search::solved::Solved;
use orrery_plots::{Figure, Picture, RowFilter, Steps, picture};
use orrery_report::figure::{Size, save, unsuitable};
use orrery_results::{Row, grouped};
use orrery_run::SpecError;
use orrery_solvers::Price;
use std::path::Path;

const COST: &str = orrery_results::metric::COST_PER_HOUR;
const RATE: &str = "throughput_per_s";
const LOAD: &str = "the load";
const TODAY: &str = "the load before its growth";
/// Pools that cost more than so many times the answer are not drawn: they would stretch the axis.
const FAR: f64 = 3.0;
/// What the points are, in the place of a preset.
const ANSWER: &str = "answer";
/// Points of one pool that are this near by their rates coincide.
const NEAR: f64 = 0.05;
const OTHERS: &str = "frontier (one seed)";

/// Draws the what-ifs over what they change into a file, or the frontier.
///
/// # Errors
/// When there is nothing to draw or the file cannot be written.
pub fn draw(answers: &Answers, is_over: bool, size: Size, path: &Path) -> Result<(), SpecError> {
    let figure = if is_over { over(answers) } else { of(&answers.plan) };
    save(&size.of(&figure?), path)
}

/// The frontier: a panel for each model, in it a curve for each type of a homogeneous plan, or for each
/// policy.
///
/// # Errors
/// When there is nothing to draw.
pub fn of(solved: &Solved) -> Result<Figure, SpecError> {
    let p = &solved.problem;
    let (mut rows, mut words, mut far) = (Vec::new(), Vec::new(), 0);
    for answer in &solved.answers {
        rows.push(row(p, answer, "", LOAD, "", answer.load_per_s));
        let own = words.len();
        let growth = p.plan.growth.factor();
        if growth != 1.0 {
            rows.push(row(p, answer, "", TODAY, "", answer.load_per_s / growth));
        }
        // The answer first: what comes first is drawn strongest, and its word finds room.
        if let Some(b) = answer.best() {
            let interval = b.edge.interval.map(|i| (i.low, i.high)).unzip();
            let (cost, rate) = (b.cost.to_string(), b.edge.rate_per_s);
            let policy = &b.policy;
            let who = series(p, &b.counts, policy);
            let one = row(p, answer, &cost, &who, ANSWER, rate);
            rows.push(Row { ci95_low: interval.0, ci95_high: interval.1, ..one });
            words.push((number(&cost), rate, name(p, &b.counts)));
        }
        let limit = answer.best().map_or(f64::INFINITY, |b| FAR * number(&b.cost.to_string()));
        for Point { counts, policy, cost, rate_per_s } in &answer.frontier {
            let cost = cost.to_string();
            if number(&cost) > limit {
                far += 1;
                continue;
            }
            let who = series(p, counts, policy);
            rows.push(row(p, answer, &cost, &who, OTHERS, *rate_per_s));
            // Points that coincide have one word.
            let word = (number(&cost), *rate_per_s, name(p, counts));
            let is_same = |w: &(f64, f64, String)| {
                (w.0, &w.2) == (word.0, &word.2) && (w.1 / word.1 - 1.0).abs() < NEAR
            };
            if answer.best().is_none_or(|best| best.counts != *counts)
                && !words[own..].iter().any(is_same)
            {
                words.push(word);
            }
        }
    }
    let mut source = match p.plan.pools {
        Pools::Homogeneous | Pools::Fleet => "beside a point: its machines".to_string(),
        Pools::Heterogeneous => {
            let kinds: Vec<&str> = p.plan.instance.iter().map(|i| i.kind.as_str()).collect();
            format!("beside a point: its machines of {}", kinds.join(", "))
        }
    };
    if far > 0 {
        source += &format!("; {far} pools above {FAR} times the answer's cost are not drawn");
    }
    let shown = Picture {
        title: format!("{}: sustainable throughput over cost", p.plan.name()),
        source,
        metrics: vec![RATE.to_string()],
        x: COST.to_string(),
        panels: Some(vec![axis(p)]),
        lines: vec![LOAD.to_string(), TODAY.to_string()],
        words,
        names: [(ANSWER, "the answer"), (OTHERS, "others, with one seed")]
            .map(|(name, words)| (name.to_string(), words.to_string()))
            .to_vec(),
        own_y: true,
        steps: Steps::Of(steps(p)),
        ..Picture::default()
    };
    picture(&rows, &shown, &RowFilter::default()).map_err(|e| unsuitable(p.plan.name(), &e))
}

/// The cost of each what-if over the number that it changes; a curve for each of what else it changes. Of a plan under a
/// budget the capacity.
///
/// # Errors
/// When no two of them give one key a number and have an answer.
pub fn over(answers: &Answers) -> Result<Figure, SpecError> {
    let p = &answers.plan.problem;
    let texts = answers.what_ifs.iter().filter_map(|solved| solved.what_if.as_deref());
    let label = label_of(texts).unwrap_or_default();
    let (metric, y_label) = match p.budget {
        None => (COST, if p.day.follows() { "mean $/h" } else { "$/h" }),
        Some(_) => (RATE, "capacity, requests/s"),
    };
    let (mut rows, mut words) = (Vec::<Row>::new(), Vec::new());
    for solved in &answers.what_ifs {
        let asked = solved.what_if.as_deref().and_then(asked).filter(|asked| asked.label == label);
        let best: Vec<&Choice> = solved.answers.iter().filter_map(Answer::best).collect();
        let Some(Asked { x, rest, .. }) = asked.filter(|_| solved.is_answered()) else { continue };
        let cost: Price = best.iter().map(|b| b.cost).sum();
        let y = match (p.budget, best.as_slice()) {
            (None, [_, ..]) => cost.as_usd_per_hour(),
            (Some(_), [one]) => one.edge.rate_per_s,
            _ => continue,
        };
        let axes = format!("asked={x}");
        if rows.iter().any(|row| row.axes == axes && row.system == rest) {
            continue;
        }
        let pools: Vec<String> = best.iter().map(|b| solved.problem.words(&b.counts)).collect();
        words.push((x, y, pools.join(" + ")));
        rows.push(Row {
            experiment: p.plan.name().to_string(),
            axes,
            policy: rest.to_string(),
            system: rest.to_string(),
            scope: "all".to_string(),
            metric: metric.to_string(),
            value: Some(y),
            ..Row::default()
        });
    }
    let shown = Picture {
        title: format!("{}: {y_label} over {label}", p.plan.name()),
        source: "beside a point: its machines".to_string(),
        metrics: vec![metric.to_string()],
        x: "asked".to_string(),
        x_label: label,
        y_label: y_label.to_string(),
        panels: Some(Vec::new()),
        words,
        ..Picture::default()
    };
    picture(&rows, &shown, &RowFilter::default()).map_err(|e| unsuitable(p.plan.name(), &e))
}

/// The key that most of some what-ifs give a number, at least two of them: what [`over`] draws along x.
pub fn label_of<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let all = grouped(texts.filter_map(asked).map(|asked| (asked.label, asked.x.to_bits())));
    let several = all.into_iter().filter(|(_, numbers)| numbers.len() > 1);
    several.max_by_key(|(_, numbers)| numbers.len()).map(|(label, _)| label)
}

/// What a what-if gives its first key, where that is a number.
struct Asked<'a> {
    label: String,
    x: f64,
    rest: &'a str,
}

fn asked(text: &str) -> Option<Asked<'_>> {
    let (first, rest) = text.split_once(',').unwrap_or((text, ""));
    let (key, value) = first.split_once('=')?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let of = |x: f64, unit: &str| Asked { label: format!("{key}{unit}"), x, rest };
    match (milliseconds(key, value), value.strip_suffix('%')) {
        (Ok(ms), _) => Some(of(ms, ", ms")),
        (_, Some(percent)) => Some(of(number(percent)?, ", % of what it is")),
        _ => Some(of(number(value)?, if key.starts_with("price") { ", $/h" } else { "" })),
    }
}

/// The series that are drawn as steps. Packs cannot be bought in parts; between sizes of single machines there are others,
/// which were not simulated.
fn steps(p: &Problem) -> Vec<String> {
    let in_packs = |kind: &usize| p.sales[*kind].tariff.packs().iter().all(|pack| pack.devices > 1);
    let of_kind = |kind: usize| {
        let counts = crate::search::size::counts(p, kind, 1);
        p.policies.iter().map(move |policy| series(p, &counts, policy.text())).collect::<Vec<_>>()
    };
    match p.plan.pools {
        // Of these every pool within the limits competes.
        Pools::Heterogeneous => p.policies.iter().map(|p| p.text().to_string()).collect(),
        _ => (0..p.sales.len()).filter(in_packs).flat_map(of_kind).collect(),
    }
}

/// The curve that a pool belongs to.
fn series(p: &Problem, counts: &[u32], policy: &str) -> String {
    let kind = counts.iter().position(|n| *n > 0).map_or("none", |i| p.kind(i));
    match (p.plan.pools, p.policies.len() > 1) {
        (Pools::Homogeneous | Pools::Fleet, false) => kind.to_string(),
        (Pools::Homogeneous | Pools::Fleet, true) => format!("{kind}, {policy}"),
        (Pools::Heterogeneous, _) => policy.to_string(),
    }
}

/// A pool in few letters: the number of machines, of each type where a pool has several.
fn name(p: &Problem, counts: &[u32]) -> String {
    match p.plan.pools {
        Pools::Homogeneous | Pools::Fleet => counts.iter().sum::<u32>().to_string(),
        Pools::Heterogeneous => {
            let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
            format!("({})", counts.join(","))
        }
    }
}

/// The axis of the panels.
fn axis(p: &Problem) -> String {
    p.group_head().replace(' ', "_")
}

fn number(cost: &str) -> f64 {
    cost.parse().unwrap_or(f64::NAN)
}

fn row(p: &Problem, answer: &Answer, cost: &str, who: &str, what: &str, rate_per_s: f64) -> Row {
    let at = if cost.is_empty() { String::new() } else { format!(";{COST}={cost}") };
    Row {
        experiment: p.plan.name().to_string(),
        axes: format!("{}={}{at}", axis(p), answer.group),
        policy: who.to_string(),
        system: who.to_string(),
        preset: what.to_string(),
        scope: "all".to_string(),
        metric: RATE.to_string(),
        unit: "1/s".to_string(),
        value: Some(rate_per_s),
        ..Row::default()
    }
}
