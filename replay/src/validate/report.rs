//! The report of a campaign.

use super::Standing;
use super::campaign::Campaign;
use super::errors;
use super::outcome::{BANDS, PointResult, Repetition};
use super::remarks::{NOT_A_PRIORI, UNTIMED};
use super::twins;
use super::verdict::{Verdict, differences, verdict};
use crate::card;
use crate::profile::ProfileFile;
use crate::quantiles::{Quantiles, quantile};
use crate::table::{largest, table as text_table, two};
use crate::target::Target;
use orrery_plots::Figure;
use orrery_report::Page;
use orrery_report::page::{Part, Table, Tone};
use orrery_sim::stats::mean;
use std::collections::BTreeSet;

/// Runs that count fewer requests than this are said to.
const REQUESTS_MIN: u64 = 4_000;

/// The report as Markdown. It has no date and no machine of its own: all in it is what was measured, so that the same
/// folder gives the same bytes.
pub fn markdown(
    campaign: &Campaign,
    standing: &Standing,
    figures: &[(String, String, Figure)],
) -> String {
    let v = verdict(campaign, standing);
    let mut page = Page::new("validation", campaign.title());
    campaign.file.note.trim().clone_into(&mut page.subtitle);
    headline(campaign, &v).into_iter().for_each(|line| page.say(Tone::Plain, line));
    let results: Vec<&PointResult> = standing.finished().collect();
    let lead = errors::table(&results).part();
    page.section("Errors", lead.into_iter().chain([Part::Text(requests(&results))]));
    page.section("By action", actions(&results));
    page.section("By load", [Part::Table(bands(&results))]);
    page.section("By point", [Part::Table(table(standing))]);
    page.section("By run, re-simulated", twins::table(standing).part());
    page.section("Invalid runs", invalid(standing));
    page.section("Profiles", [Part::Table(profiles(standing))]);
    let facts = circumstances(campaign, standing, v.on_a_gpu);
    page.section("What it ran on", [Part::Table(text_table("", "what|is", facts))]);
    let shown = figures.iter().map(|(file, says, _)| format!("\n![{says}]({file})\n\n{says}\n"));
    page.to_markdown() + &shown.collect::<String>()
}

fn headline(campaign: &Campaign, v: &Verdict) -> Vec<String> {
    let mut all = Vec::new();
    if campaign.file.virtual_clock {
        all.push(format!("A test of the harness under a virtual clock: {UNTIMED}."));
    } else if !(v.on_a_gpu && v.all.points > 0) {
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
        all.push(format!("{NOT_A_PRIORI}: {}.", v.not_validated.join("; ")));
    }
    all
}

/// How much a request of a run is.
fn requests(results: &[&PointResult]) -> String {
    let runs = results.iter().flat_map(|r| &r.runs);
    let counts: BTreeSet<u64> = runs.map(|r| r.measured.requests).filter(|n| *n > 0).collect();
    let (Some(least), Some(most)) = (counts.first(), counts.last()) else {
        return "No run has a request that counts.".to_string();
    };
    let points = |n: u64| 100.0 / n as f64;
    let few = *least < REQUESTS_MIN;
    let few = if few { format!(", some fewer than {REQUESTS_MIN}") } else { String::new() };
    format!(
        "A run counts {least} to {most} requests{few}: one request is {:.3} to {:.3} percentage points.",
        points(*most),
        points(*least)
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

fn circumstances(campaign: &Campaign, standing: &Standing, on_a_gpu: bool) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = |what: &str, value: String| {
        rows.extend((!value.is_empty()).then(|| vec![what.to_string(), value]));
    };
    let runs = || standing.finished().flat_map(|r| &r.runs);
    let device = runs().map(|r| &r.device).find(|d| !d.device.is_empty());
    let named = device.map(|d| format!("{}: {}", d.device, d.name));
    row("device", named.unwrap_or(campaign.file.device.clone()));
    if let Some(d) = device {
        row("driver", if d.driver.is_empty() { "none".to_string() } else { d.driver.clone() });
        d.facts.iter().for_each(|(name, value)| row(name, value.clone()));
    }
    for (i, when) in ["before runs", "after runs"].into_iter().enumerate() {
        let keys: BTreeSet<&String> = runs().flat_map(|r| r.card[i].keys()).collect();
        for key in keys {
            let said = runs().filter_map(|r| r.card[i].get(key).cloned());
            row(&format!("{key} {when}"), span_of(said));
        }
    }
    if on_a_gpu && runs().all(|r| card::is_unknown(&r.card)) {
        row("clocks, power and throttling", "not in the record of these runs".to_string());
    }
    row("host", span_of(standing.profiles.values().map(|p| p.host.line())));
    row("load averages as runs began", span_of(runs().map(|r| r.load_average.clone())));
    row("runs of", span_of(standing.finished().map(|r| r.date.clone())));
    let commands: BTreeSet<&String> = standing.profiles.values().map(|p| &p.command).collect();
    commands.into_iter().for_each(|command| row("measured by", format!("`{command}`")));
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
    rows
}

fn bands(results: &[&PointResult]) -> Table {
    let row = |what: &str, of: &dyn Fn(&PointResult) -> bool| {
        let d = differences(results.iter().copied().filter(|r| of(r)));
        let figures = [d.mean, d.max, d.spread_mean, d.spread_max];
        let cells = figures.map(two);
        [&[what.to_string(), d.points.to_string()], &cells[..]].concat()
    };
    let from = |i: usize| i.checked_sub(1).map_or(0.0, |below| BANDS[below].0);
    let own = BANDS.iter().enumerate();
    let own = own.map(|(i, (to, name))| row(name, &|r| r.load > from(i) && r.load <= *to));
    text_table(
        "Percentage points of the finish rate, of stable points. Spread is the largest less the smallest of a point's \
         repeated runs.",
        "load|points|mean difference|largest|mean spread|largest spread",
        own.chain([row("all", &|_| true)]),
    )
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
    // The middle run and the worst.
    let ends = |of: &dyn Fn(&Repetition) -> f64| {
        let mut all: Vec<f64> = valid.iter().map(|r| of(r)).collect();
        all.sort_by(f64::total_cmp);
        [quantile(&all, 0.5), quantile(&all, 1.0)]
    };
    let us = |of: &dyn Fn(&Repetition) -> u64| {
        ends(&|r| of(r) as f64 / 1e3).map(|us| format!("{us:.1}"))
    };
    let row = |(what, of, clockwork): Action| {
        let [p50, _] = us(&|r| of(r).p50_ns);
        let [p99, worst] = us(&|r| of(r).p99_ns);
        let [_, most] = us(&|r| of(r).max_ns);
        vec![what.to_string(), p50, p99, worst, most, clockwork.to_string()]
    };
    let table = text_table(
        "Each run has its own quantiles over its actions; the median and the largest over all valid runs, microseconds. \
         Beside them the p99 of Clockwork's Fig. 10, on V100s.",
        "what|p50, median run|p99, median run|p99, worst run|maximum|Clockwork, p99",
        ACTIONS.map(row),
    );
    let [busy, busiest] = us(&|r| r.controller_busy_per_request_ns);
    let [_, longest] = us(&|r| r.away_max_ns);
    let [share, most] = ends(&|r| 100.0 * r.away_share);
    let mut told = vec![
        format!(
            "The controller worked {busy} us for each request in the median run, {busiest} us in the worst."
        ),
        format!(
            "The host took the device's cores away for {share:.3} % of the busy time in the median run, {most:.3} % in \
             the worst; the longest absence in an action was {longest} us."
        ),
    ];
    if valid.iter().any(|r| r.on_time_percent.is_some()) {
        let [usual, worst] = ends(&|r| 100.0 - r.on_time_percent.unwrap_or(100.0));
        told.push(format!(
            "{:.2} % of the batches in the median run, {:.2} % in the worst, began within 100 us of their planned start \
             or of the end of the one before.",
            100.0 - usual,
            100.0 - worst
        ));
    }
    [Part::Table(table)].into_iter().chain(told.into_iter().map(Part::Text)).collect()
}

fn table(standing: &Standing) -> Table {
    let results = standing.finished().map(|r| {
        let mean = |of: fn(&Repetition) -> f64| two(mean(&r.valid().map(of).collect::<Vec<_>>()));
        let (low, high) = r.middle_percent();
        let difference = match (r.is_sensitive(), r.inside()) {
            (true, (inside, runs)) => format!("sensitive, {inside} of {runs} inside"),
            _ => r.difference_points().map_or("-".to_string(), |d| format!("{d:+.2}")),
        };
        let exec = r.exec_ms.map_or("of the scenario".to_string(), |ms| ms.to_string());
        let naive = r.naive.as_ref();
        vec![
            r.policy.clone(),
            exec,
            two(r.slo_ms),
            two(r.load),
            format!("{:.1}", r.rate_per_s),
            two(r.predicted_percent()),
            format!("{low:.2} to {high:.2}"),
            mean(|v| 100.0 * v.measured.finish_rate),
            difference,
            two(r.spread_points()),
            two(naive.map(|n| 100.0 * n.law.finish_rate)),
            two(naive.and_then(|n| n.queue.as_ref()).map(|q| 100.0 * q.finish_rate)),
            two(r.simulated.mean_batch),
            mean(|v| v.measured.mean_batch),
        ]
    });
    text_table(
        "Finish rates in percent: the mean of the draws with the middle 95 % of them, and the mean of the valid runs; the \
         difference is that of the means, in percentage points. A sensitive point has none: it says how many of its runs \
         lie in the middle 95 %. Beside them the naive predictions.",
        "policy|time alone (ms)|SLO (ms)|load|rate (1/s)|predicted|95 % of draws|measured|difference|spread|latency model alone\
         |queue|mean batch, simulated|measured batch",
        results,
    )
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
        let rates = result.runs.iter().filter(ran).map(|r| 100.0 * r.measured.finish_rate);
        let mean = mean(&rates.collect::<Vec<f64>>()).filter(|_| !result.is_sensitive());
        differences.extend(mean.map(|mean| (mean - result.predicted_percent()).abs()));
    }
    if lines.is_empty() {
        return vec![Part::Text("None.".to_string())];
    }
    let told = format!(
        "They are not counted a priori. If every run had counted, {} stable points would be {} percentage points apart on \
         average, {} at most: this validates nothing.",
        differences.len(),
        two(mean(&differences)),
        two(largest(&differences))
    );
    vec![Part::Text(told), Part::List(lines)]
}

fn profiles(standing: &Standing) -> Table {
    let rows =
        standing.profiles.iter().flat_map(|(name, profile)| {
            let ProfileFile { overhead, model, .. } = profile;
            model.iter().map(move |m| {
                let mut row = vec![name.clone(), m.name.clone()];
                row.extend([m.fitted, m.held_out].iter().flat_map(|e| {
                    [two(e.map(|e| e.median_percent)), two(e.map(|e| e.max_percent))]
                }));
                let delays = [overhead.launch.median_us, overhead.result.median_us];
                row.extend(delays.map(|us| format!("{us:.1}")));
                row.push(two(m.noise.as_ref().map(|n| 100.0 * n.sigma)));
                row.push(two(profile.stalls.as_ref().map(|s| 100.0 * s.share_away)));
                row.push(two(profile.drift.map(|d| d.median_percent)));
                row
            })
        });
    text_table(
        "Errors of the fitted latency model in percent of the measured median: at the points it was fitted to, and at sizes and \
         lengths that it did not see.",
        "profile|model|fitted: median|largest|not seen: median|largest not seen|launch, median (us)|result, median (us)\
         |sigma of batches (%)|cores away (%)|drift (%)",
        rows,
    )
}
