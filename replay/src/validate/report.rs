//! The report of a campaign.

use super::Standing;
use super::campaign::Campaign;
use super::errors;
use super::outcome::{Band, Differences, PointResult, Repetition};
use super::twins;
use super::verdict::{Verdict, differences, verdict};
use crate::card;
use crate::profile::{Errors, ProfileFile};
use crate::quantiles::{Quantiles, quantile};
use crate::target::Target;
use orrery_plots::Figure;
use orrery_report::Page;
use orrery_report::page::{Field, Part, Table, Tone};
use std::collections::{BTreeMap, BTreeSet};

/// Runs that count fewer requests than this are said to.
const REQUESTS_MIN: u64 = 4_000;

/// The report as Markdown. It has no date and no machine of its own: all in it is what was measured, so that the same folder
/// gives the same bytes. `has_gpu`: a GPU campaign stands beside it.
pub fn markdown(
    campaign: &Campaign,
    standing: &Standing,
    has_gpu: bool,
    figures: &[(String, String, Figure)],
) -> String {
    let v = verdict(campaign, standing);
    let mut page = Page::new("validation", campaign.title());
    campaign.file.note.trim().clone_into(&mut page.subtitle);
    headline(campaign, &v, has_gpu).into_iter().for_each(|line| page.say(Tone::Plain, line));
    let results: Vec<&PointResult> = standing.finished().collect();
    let lead = errors::table(&results).part();
    page.section("Errors", lead.into_iter().chain([Part::Text(requests(&results))]));
    page.section("By action", actions(&results));
    page.section("By load", [Part::Table(bands(&results, &v))]);
    page.section("By point", [Part::Table(table(standing))]);
    page.section("By run, as twins", twins::table(standing).part());
    page.section("Invalid runs", invalid(standing));
    page.section("Profiles", [Part::Table(profiles(standing))]);
    page.section("What it ran on", [Part::Table(circumstances(campaign, standing, v.on_a_gpu))]);
    let shown = figures.iter().map(|(file, says, _)| format!("\n![{says}]({file})\n\n{says}\n"));
    page.to_markdown() + &shown.collect::<String>()
}

fn headline(campaign: &Campaign, v: &Verdict, has_gpu: bool) -> Vec<String> {
    let mut all = Vec::new();
    if campaign.file.virtual_clock {
        all.push("A test of the harness under a virtual clock: no device was timed.".to_string());
    } else if !has_gpu && !(v.on_a_gpu && v.all.points > 0) {
        let what = match campaign.device.target {
            Target::Emulated => " The device is emulated: it waits.",
            Target::Cpu(_) => " The device is a core of a processor, which computes.",
            Target::Worker(_) => " The device is a program.",
            Target::Cuda(_) => "",
        };
        all.push(format!("Not validated on a GPU.{what}"));
    }
    all.extend(twins::headline(campaign, &v.twin));
    let none = "no run of a stable point is valid.";
    let against = v.all.against(campaign.file.targets).unwrap_or(none.to_string());
    let told = v.sensitive.told().map_or(String::new(), |told| format!(" {told}"));
    all.push(format!(
        "A priori, by the profile alone: {against}{told} {} of {} points are finished; {} runs count, {} are invalid.",
        v.finished, v.planned, v.valid_runs, v.invalid_runs
    ));
    if !v.not_validated.is_empty() {
        all.push(format!("Not validated a priori: {}.", v.not_validated.join("; ")));
    }
    all
}

/// How much a request of a run is.
fn requests(results: &[&PointResult]) -> String {
    let counts =
        || results.iter().flat_map(|r| &r.runs).map(|r| r.measured.requests).filter(|n| *n > 0);
    let (Some(least), Some(most)) = (counts().min(), counts().max()) else {
        return "No run has a request that counts.".to_string();
    };
    let points = |n: u64| 100.0 / n as f64;
    let few = if least < REQUESTS_MIN {
        format!(", some fewer than {REQUESTS_MIN}")
    } else {
        String::new()
    };
    format!(
        "A run counts {least} to {most} requests{few}: one request is {:.3} to {:.3} percentage points.",
        points(most),
        points(least)
    )
}

/// What several runs said, from the least to the most where they differ.
fn span_of(values: impl Iterator<Item = String>) -> String {
    let all: BTreeSet<String> = values.filter(|v| !v.is_empty()).collect();
    match (all.first(), all.last()) {
        (Some(first), Some(last)) if first != last => format!("from {first} to {last}"),
        (first, _) => first.cloned().unwrap_or_default(),
    }
}

fn circumstances(campaign: &Campaign, standing: &Standing, on_a_gpu: bool) -> Table {
    let mut table = Table { keys: 1, ..Table::new("", &["what", "is"]) };
    let mut row = |what: &str, value: String| {
        if !value.is_empty() {
            table.rows.push(vec![Field::text(what), Field::text(value)]);
        }
    };
    let runs = || standing.finished().flat_map(|r| &r.runs);
    let device = runs().map(|r| &r.device).find(|d| !d.device.is_empty());
    row(
        "device",
        device.map_or(campaign.file.device.clone(), |d| format!("{}: {}", d.device, d.name)),
    );
    if let Some(d) = device {
        row("driver", if d.driver.is_empty() { "none".to_string() } else { d.driver.clone() });
        d.facts.iter().for_each(|(name, value)| row(name, value.clone()));
    }
    for (i, when) in ["before runs", "after runs"].into_iter().enumerate() {
        let keys: BTreeSet<&String> = runs().flat_map(|r| r.card[i].keys()).collect();
        for key in keys {
            row(
                &format!("{key} {when}"),
                span_of(runs().filter_map(|r| r.card[i].get(key).cloned())),
            );
        }
    }
    if on_a_gpu && runs().all(|r| card::is_unknown(&r.card)) {
        row("clocks, power and throttling", "not in the record of these runs".to_string());
    }
    row("host", span_of(standing.profiles.values().map(|p| p.host.line())));
    row("load averages as runs began", span_of(runs().map(|r| r.load_average.clone())));
    row("runs of", span_of(standing.finished().map(|r| r.date.clone())));
    let commands: BTreeMap<&str, ()> =
        standing.profiles.values().map(|p| (p.command.as_str(), ())).collect();
    commands.keys().for_each(|command| row("measured by", format!("`{command}`")));
    let f = &campaign.file;
    row("mode", format!("{:?}", f.mode).to_lowercase());
    row("draws of a prediction", f.draws.to_string());
    let notes: BTreeSet<&String> = runs().flat_map(|r| &r.notes).collect();
    notes.into_iter().for_each(|note| row("not granted", note.clone()));
    row(
        "a run",
        format!("{} s at least, seed {}, {} repetitions", f.seconds, f.seed, f.repetitions),
    );
    row("overhead in the simulation", format!("{:?}", f.overhead).to_lowercase());
    table
}

fn bands(results: &[&PointResult], v: &Verdict) -> Table {
    let mut table = Table::new(
        "Percentage points of the finish rate, of stable points. Spread is the largest less the smallest of a point's repeated runs.",
        &["load", "points", "mean difference", "largest", "mean spread", "largest spread"],
    );
    let mut row = |what: &str, d: &Differences| {
        let mut cells = vec![Field::text(what), Field::text(d.points.to_string())];
        let figures = [d.mean, d.max, d.spread_mean, d.spread_max];
        cells.extend(figures.map(|x| if d.points > 0 { two(Some(x)) } else { Field::none() }));
        table.rows.push(cells);
    };
    for band in Band::ALL {
        let within = results.iter().copied().filter(|r| Band::of(r.load) == band);
        row(band.words(), &differences(within));
    }
    row("all", &v.all);
    table
}

/// What a figure of a run's actions is, which it is, and what Clockwork's Fig. 10 has.
type Action = (&'static str, fn(&Repetition) -> Quantiles, &'static str);

const ACTIONS: [Action; 7] = [
    ("time on the device, over-predicted by", |r| r.duration_over, "144"),
    ("time on the device, under-predicted by", |r| r.duration_under, "55"),
    ("completion, earlier than predicted by", |r| r.completion_over, ""),
    ("completion, later than predicted by", |r| r.completion_under, "about 1000"),
    ("lateness of launches", |r| r.lateness.launches, ""),
    ("lateness of decisions", |r| r.lateness.decisions, ""),
    ("lateness of arrivals", |r| r.lateness.arrivals, ""),
];

/// The worst and the typical run, for the figures that are quantiles of a run's actions.
fn actions(results: &[&PointResult]) -> Vec<Part> {
    let valid: Vec<&Repetition> = results.iter().flat_map(|r| r.valid()).collect();
    if valid.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(
        "Each run has its own quantiles over its actions; the median and the largest over all valid runs, microseconds. Beside \
         them the p99 of Clockwork's Fig. 10, on V100s.",
        &[
            "what",
            "p50, median run",
            "p99, median run",
            "p99, worst run",
            "maximum",
            "Clockwork, p99",
        ],
    );
    let sorted = |of: &dyn Fn(&Repetition) -> u64| {
        let mut all: Vec<u64> = valid.iter().map(|r| of(r)).collect();
        all.sort_unstable();
        all
    };
    let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
    // The middle one, and the largest.
    let ends = |all: &[u64]| [0.5, 1.0].map(|q| us(quantile(all, q)));
    for (what, of, clockwork) in ACTIONS {
        let [p50, _] = ends(&sorted(&|r| of(r).p50_ns));
        let [p99, worst] = ends(&sorted(&|r| of(r).p99_ns));
        let [_, most] = ends(&sorted(&|r| of(r).max_ns));
        let cells = [what.to_string(), p50, p99, worst, most, clockwork.to_string()];
        table.rows.push(cells.map(Field::text).to_vec());
    }
    let [busy, busiest] = ends(&sorted(&|r| r.controller_busy_per_request_ns));
    let [_, longest] = ends(&sorted(&|r| r.away_max_ns));
    let mut away: Vec<f64> = valid.iter().map(|r| 100.0 * r.away_share).collect();
    away.sort_by(f64::total_cmp);
    let [share, most] = [0.5, 1.0].map(|q| quantile(&away, q));
    let mut parts = vec![
        Part::Table(table.said()),
        Part::Text(format!(
            "The controller worked {busy} us for each request in the median run, {busiest} us in the worst."
        )),
        Part::Text(format!(
            "The host took the device's cores away for {share:.3} % of the busy time in the median run, {most:.3} % in the \
             worst; the longest absence in an action was {longest} us."
        )),
    ];
    let mut on_time: Vec<f64> = valid.iter().filter_map(|r| r.on_time_percent).collect();
    on_time.sort_by(f64::total_cmp);
    if let Some(least) = on_time.first() {
        parts.push(Part::Text(format!(
            "{:.2} % of the batches in the median run, {least:.2} % in the worst, began within 100 us of their planned start or of \
             the end of the one before.",
            quantile(&on_time, 0.5)
        )));
    }
    parts
}

fn two(x: Option<f64>) -> Field {
    x.map_or(Field::none(), |x| Field::text(format!("{x:.2}")))
}

fn table(standing: &Standing) -> Table {
    let mut table = Table::new(
        "Finish rates in percent: the mean of the draws with the middle 95 % of them, and the mean of the valid runs; the \
         difference is that of the means, in percentage points. A sensitive point has none: it says how many of its runs lie in \
         the middle 95 %. Beside them the naive predictions.",
        &[
            "policy",
            "time alone (ms)",
            "SLO (ms)",
            "load",
            "rate (1/s)",
            "predicted",
            "95 % of draws",
            "measured",
            "difference",
            "spread",
            "laws alone",
            "queue",
            "mean batch, simulated",
            "measured batch",
        ],
    );
    for (point, result) in &standing.points {
        let Some(r) = result else { continue };
        let mean = |of: fn(&Repetition) -> f64| {
            let all: Vec<f64> = r.valid().map(of).collect();
            two((!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64))
        };
        let (low, high) = r.middle_percent();
        let difference = match (r.is_sensitive(), r.inside()) {
            (true, (inside, runs)) => format!("sensitive, {inside} of {runs} inside"),
            _ => r.difference_points().map_or("-".to_string(), |d| format!("{d:+.2}")),
        };
        let exec = r.exec_ms.map_or("of the scenario".to_string(), |ms| ms.to_string());
        let naive = r.naive.as_ref();
        table.rows.push(vec![
            Field::text(point.policy.to_string()),
            Field::text(exec),
            two(Some(r.slo_ms)),
            two(Some(r.load)),
            Field::text(format!("{:.1}", r.rate_per_s)),
            two(Some(r.predicted_percent())),
            Field::text(format!("{low:.2} to {high:.2}")),
            mean(|v| 100.0 * v.measured.finish_rate),
            Field::text(difference),
            two(r.spread_points()),
            two(naive.map(|n| 100.0 * n.law.finish_rate)),
            two(naive.map(|n| 100.0 * n.queue.finish_rate)),
            two(Some(r.simulated.mean_batch)),
            mean(|v| v.measured.mean_batch),
        ]);
    }
    table
}

fn invalid(standing: &Standing) -> Vec<Part> {
    let (mut lines, mut differences) = (Vec::new(), Vec::new());
    for (point, result) in &standing.points {
        let Some(result) = result else { continue };
        // A run that a device ended early has no figures.
        let ran = |r: &&Repetition| r.measured.requests > 0;
        for (i, run) in result.runs.iter().enumerate() {
            let Some(why) = result.invalid(run) else { continue };
            let rate = 100.0 * run.measured.finish_rate;
            let measured = Some(run).filter(ran).map(|_| format!(" (measured {rate:.2} %)"));
            let measured = measured.unwrap_or_default();
            lines.push(format!("{}, run {}{measured}: {why}", point.name, i + 1));
        }
        let rates: Vec<f64> =
            result.runs.iter().filter(ran).map(|r| 100.0 * r.measured.finish_rate).collect();
        if !rates.is_empty() && !result.is_sensitive() {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            differences.push((mean - result.predicted_percent()).abs());
        }
    }
    if lines.is_empty() {
        return vec![Part::Text("None.".to_string())];
    }
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    let most = differences.iter().copied().fold(0.0, f64::max);
    let told = format!(
        "They are not counted a priori. If every run had counted, {} stable points would be {mean:.2} percentage points apart on \
         average, {most:.2} at most: this validates nothing.",
        differences.len()
    );
    vec![Part::Text(told), Part::List(lines)]
}

fn profiles(standing: &Standing) -> Table {
    let mut table = Table::new(
        "Errors of the fitted law in percent of the measured median: at the points it was fitted to, and at sizes and lengths \
         that it did not see.",
        &[
            "profile",
            "model",
            "fitted: median",
            "largest",
            "not seen: median",
            "largest not seen",
            "launch, median (us)",
            "result, median (us)",
            "sigma of batches (%)",
            "cores away (%)",
            "drift (%)",
        ],
    );
    for (name, profile) in &standing.profiles {
        let ProfileFile { overhead, model, .. } = profile;
        for m in model {
            let pair = |e: Option<Errors>| {
                [two(e.map(|e| e.median_percent)), two(e.map(|e| e.max_percent))]
            };
            let us = |us: f64| Field::text(format!("{us:.1}"));
            let mut row = vec![Field::text(name), Field::text(&m.name)];
            row.extend(pair(m.fitted));
            row.extend(pair(m.held_out));
            row.extend([us(overhead.launch.median_us), us(overhead.result.median_us)]);
            row.push(two(m.noise.as_ref().map(|n| 100.0 * n.sigma)));
            row.push(two(profile.stalls.as_ref().map(|s| 100.0 * s.share_away)));
            row.push(two(profile.drift.map(|d| d.median_percent)));
            table.rows.push(row);
        }
    }
    table
}
