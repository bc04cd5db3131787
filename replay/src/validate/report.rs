//! The verdict of a campaign: Markdown for people, CSV for everything else.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{Band, PointResult, Repetition};
use super::point::Point;
use crate::profile::{Errors, ProfileFile};
use serde::Serialize;
use std::fmt::Write;

/// What a report says besides the results.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// When it was made.
    pub date: String,
    /// How.
    pub command: String,
    /// The machine.
    pub host: String,
    /// A GPU campaign stands beside it.
    pub has_gpu: bool,
}

/// Differences of some points, in percentage points of the finish rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Differences {
    pub points: usize,
    pub mean: f64,
    pub max: f64,
    /// The mean over points of largest less smallest of their repeated runs.
    pub spread_mean: f64,
    pub spread_max: f64,
}

/// A campaign, judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Points with a valid run, all together.
    pub all: Differences,
    /// Points of the plan.
    pub planned: usize,
    /// Points that are finished.
    pub finished: usize,
    /// Runs that do not count.
    pub invalid_runs: usize,
    /// Runs that do.
    pub valid_runs: usize,
    /// Mean and maximum are within the campaign's targets.
    pub within_targets: bool,
}

/// Judges what is finished.
pub fn verdict(campaign: &Campaign, standing: &Standing) -> Verdict {
    let finished: Vec<&PointResult> = standing.points.iter().filter_map(|p| p.1.as_ref()).collect();
    let all = differences(finished.iter().copied());
    let targets = campaign.file.targets;
    let runs = || finished.iter().flat_map(|r| &r.runs);
    Verdict {
        all,
        planned: standing.points.len(),
        finished: finished.len(),
        invalid_runs: runs().filter(|r| r.invalid.is_some()).count(),
        valid_runs: runs().filter(|r| r.invalid.is_none()).count(),
        within_targets: all.points > 0
            && all.mean <= targets.mean_points
            && all.max <= targets.max_points,
    }
}

fn differences<'a>(results: impl Iterator<Item = &'a PointResult>) -> Differences {
    let (mut d, mut spreads) = (Differences::default(), Vec::new());
    for r in results {
        let Some(difference) = r.difference_points().map(f64::abs) else { continue };
        d.points += 1;
        d.mean += difference;
        d.max = d.max.max(difference);
        spreads.extend(r.spread_points());
    }
    d.mean /= d.points.max(1) as f64;
    d.spread_mean = spreads.iter().sum::<f64>() / spreads.len().max(1) as f64;
    d.spread_max = spreads.iter().copied().fold(0.0, f64::max);
    d
}

/// The report.
pub fn markdown(campaign: &Campaign, standing: &Standing, context: &Context) -> String {
    let v = verdict(campaign, standing);
    let mut text = format!("# Validation: {}\n\n", campaign.file.name);
    text += &headline(campaign, &v, context);
    text += &circumstances(campaign, standing, context);
    text += &bands(standing, &v);
    text += &actions(standing);
    text += &table(standing);
    text += &invalid(standing);
    text += &profiles(standing);
    text
}

fn headline(campaign: &Campaign, v: &Verdict, context: &Context) -> String {
    let mut text = String::new();
    let is_gpu = campaign.file.device.starts_with("cuda");
    if campaign.file.virtual_clock {
        text += "**A test of the harness under a virtual clock: no device was timed.**\n\n";
    } else if !is_gpu && !context.has_gpu {
        text += "**Not validated on a GPU.** The device is emulated: it waits.\n\n";
    }
    if !campaign.file.note.is_empty() {
        let _ = writeln!(text, "{}\n", campaign.file.note.trim());
    }
    let targets = campaign.file.targets;
    let word = if v.within_targets { "within" } else { "**not within**" };
    let _ = writeln!(
        text,
        "Finish rate, measured against simulated, over {} points: {:.2} percentage points apart on \
         average, {:.2} at most; {word} the targets of {} and {}.",
        v.all.points, v.all.mean, v.all.max, targets.mean_points, targets.max_points
    );
    let _ = writeln!(
        text,
        "{} of {} points are finished; {} runs count, {} are invalid.\n",
        v.finished, v.planned, v.valid_runs, v.invalid_runs
    );
    text
}

fn circumstances(campaign: &Campaign, standing: &Standing, context: &Context) -> String {
    let mut text = String::from("| what | |\n|---|---|\n");
    let mut row = |what: &str, value: &str| {
        let _ = writeln!(text, "| {what} | {} |", value.replace('|', "/"));
    };
    let runs = || standing.points.iter().filter_map(|p| p.1.as_ref()).flat_map(|r| &r.runs);
    if let Some(device) = runs().map(|r| &r.device).find(|d| !d.device.is_empty()) {
        row("device", &format!("{}: {}", device.device, device.name));
        row("driver", if device.driver.is_empty() { "none" } else { &device.driver });
        for (name, value) in &device.facts {
            row(name, value);
        }
    } else {
        row("device", &campaign.file.device);
    }
    row("host", &context.host);
    let mut loads: Vec<&str> = runs().map(|r| r.load_average.as_str()).collect();
    loads.sort_unstable();
    loads.dedup();
    if let (Some(first), Some(last)) = (loads.first(), loads.last()) {
        row("load averages as runs began", &format!("from {first} to {last}"));
    }
    let mut dates: Vec<&str> =
        standing.points.iter().filter_map(|p| Some(p.1.as_ref()?.date.as_str())).collect();
    dates.sort_unstable();
    dates.dedup();
    row("runs of", &dates.join(", "));
    row("report of", &context.date);
    row("command", &format!("`{}`", context.command));
    let f = &campaign.file;
    row("a run", &format!("{} s, seed {}, {} repetitions", f.seconds, f.seed, f.repetitions));
    row("overhead in the simulation", &format!("{:?}", f.overhead).to_lowercase());
    text.push('\n');
    text
}

fn bands(standing: &Standing, v: &Verdict) -> String {
    let mut text = String::from(
        "## By load\n\nPercentage points of the finish rate. Spread is the largest less the smallest of \
         a point's repeated runs.\n\n\
         | load | points | mean difference | largest | mean spread | largest |\n|---|---|---|---|---|---|\n",
    );
    let mut row = |what: &str, d: &Differences| {
        if d.points == 0 {
            let _ = writeln!(text, "| {what} | 0 | | | | |");
            return;
        }
        let _ = writeln!(
            text,
            "| {what} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
            d.points, d.mean, d.max, d.spread_mean, d.spread_max
        );
    };
    for band in Band::ALL {
        let results = standing.points.iter().filter_map(|p| p.1.as_ref());
        row(band.words(), &differences(results.filter(|r| Band::of(r.load) == band)));
    }
    row("all", &v.all);
    text.push('\n');
    text
}

/// The worst and the typical run, for the figures that are quantiles of a run's actions.
fn actions(standing: &Standing) -> String {
    let valid: Vec<&Repetition> =
        standing.points.iter().filter_map(|p| p.1.as_ref()).flat_map(PointResult::valid).collect();
    if valid.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "## By action\n\nEach run has its own quantiles over its actions; the median and the largest \
         over all valid runs, microseconds.\n\n\
         | what | p50, median run | p99, median run | p99, worst run | maximum |\n|---|---|---|---|---|\n",
    );
    let mut row = |what: &str, of: &dyn Fn(&Repetition) -> [u64; 3]| {
        let column = |i: usize| {
            let mut all: Vec<u64> = valid.iter().map(|r| of(r)[i]).collect();
            all.sort_unstable();
            all
        };
        let us = |ns: u64| ns as f64 / 1e3;
        let (p50, p99, max) = (column(0), column(1), column(2));
        let middle = |c: &[u64]| us(c[(c.len() - 1) / 2]);
        let most = |c: &[u64]| us(c[c.len() - 1]);
        let _ = writeln!(
            text,
            "| {what} | {:.1} | {:.1} | {:.1} | {:.1} |",
            middle(&p50),
            middle(&p99),
            most(&p99),
            most(&max)
        );
    };
    row("time on the device, over-predicted by", &|r| tail(&r.duration_over));
    row("time on the device, under-predicted by", &|r| tail(&r.duration_under));
    row("completion, earlier than predicted by", &|r| tail(&r.completion_over));
    row("completion, later than predicted by", &|r| tail(&r.completion_under));
    row("lateness of launches", &|r| late(&r.lateness.launches));
    row("lateness of decisions", &|r| late(&r.lateness.decisions));
    row("lateness of arrivals", &|r| late(&r.lateness.arrivals));
    let mut busy: Vec<u64> = valid.iter().map(|r| r.controller_busy_per_request_ns).collect();
    busy.sort_unstable();
    let us = |ns: u64| ns as f64 / 1e3;
    let (middle, most) = (us(busy[(busy.len() - 1) / 2]), us(busy[busy.len() - 1]));
    let _ = writeln!(
        text,
        "\nThe controller worked {middle:.1} us for each request in the median run, {most:.1} us in \
         the worst.\n"
    );
    text
}

fn tail(t: &crate::compare::Tail) -> [u64; 3] {
    [t.p50_ns, t.p99_ns, t.max_ns]
}

fn late(q: &crate::driver::Quantiles) -> [u64; 3] {
    [q.p50_ns, q.p99_ns, q.max_ns]
}

fn table(standing: &Standing) -> String {
    let mut text = String::from(
        "## By point\n\nFinish rates in percent; the difference is that of the mean, in percentage \
         points.\n\n\
         | policy | time alone (ms) | SLO (ms) | load | rate (1/s) | simulated | measured | difference \
         | spread | mean batch, simulated | measured |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (point, result) in &standing.points {
        let Some(r) = result else { continue };
        let rates: Vec<f64> = r.valid().map(|v| 100.0 * v.measured.finish_rate).collect();
        let batches: Vec<f64> = r.valid().map(|v| v.measured.mean_batch).collect();
        let mean = |xs: &[f64]| xs.iter().sum::<f64>() / xs.len() as f64;
        let number = |x: Option<f64>| x.map_or("none".to_string(), |x| format!("{x:.2}"));
        let shown = |xs: &[f64]| number((!xs.is_empty()).then(|| mean(xs)));
        let exec = r.exec_ms.map_or("of the scenario".to_string(), |ms| ms.to_string());
        let _ = writeln!(
            text,
            "| {} | {exec} | {:.2} | {:.2} | {:.1} | {:.2} | {} | {} | {} | {:.2} | {} |",
            point.policy,
            r.slo_ms,
            r.load,
            r.rate_per_s,
            100.0 * r.simulated.finish_rate,
            shown(&rates),
            r.difference_points().map_or("none".to_string(), |d| format!("{d:+.2}")),
            number(r.spread_points()),
            r.simulated.mean_batch,
            shown(&batches),
        );
    }
    text.push('\n');
    text
}

fn invalid(standing: &Standing) -> String {
    let mut text = String::new();
    for (point, result) in &standing.points {
        for (i, run) in result.iter().flat_map(|r| r.runs.iter().enumerate()) {
            if let Some(why) = &run.invalid {
                let _ = writeln!(text, "- {}, run {}: {why}", point.name, i + 1);
            }
        }
    }
    match text.is_empty() {
        true => "## Invalid runs\n\nNone.\n\n".to_string(),
        false => format!("## Invalid runs\n\nThey count nowhere above.\n\n{text}\n"),
    }
}

fn profiles(standing: &Standing) -> String {
    let mut text = String::from(
        "## Profiles\n\nErrors of the fitted law in percent of the measured median: at the points it \
         was fitted to, and at sizes and lengths that it did not see.\n\n\
         | profile | model | fitted: median | largest | not seen: median | largest | launch, median \
         (us) | result, median (us) |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (name, profile) in &standing.profiles {
        let ProfileFile { overhead, model, .. } = profile;
        for m in model {
            let pair = |e: Option<Errors>| {
                e.map_or("none | none".to_string(), |e| {
                    format!("{:.2} | {:.2}", e.median_percent, e.max_percent)
                })
            };
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {:.1} | {:.1} |",
                m.name,
                pair(m.fitted),
                pair(m.held_out),
                overhead.launch.median_us,
                overhead.result.median_us
            );
        }
    }
    text
}

/// A line of `validation.csv`: a run.
#[derive(Serialize)]
struct Row<'a> {
    campaign: &'a str,
    point: &'a str,
    policy: &'a str,
    exec_ms: Option<f64>,
    slo_ms: f64,
    load: f64,
    rate_per_s: f64,
    run: usize,
    invalid: &'a str,
    requests: u64,
    simulated_finish_rate: f64,
    measured_finish_rate: f64,
    difference_points: f64,
    simulated_goodput_per_s: f64,
    measured_goodput_per_s: f64,
    simulated_latency_p50_ns: u64,
    measured_latency_p50_ns: u64,
    simulated_latency_p99_ns: u64,
    measured_latency_p99_ns: u64,
    simulated_mean_batch: f64,
    measured_mean_batch: f64,
    duration_over_p99_ns: u64,
    duration_under_p99_ns: u64,
    completion_under_p99_ns: u64,
    launches_late_p99_ns: u64,
    decisions_late_p99_ns: u64,
    arrivals_late_p99_ns: u64,
    controller_busy_per_request_ns: u64,
    load_average: &'a str,
    date: &'a str,
}

/// The rows of all runs.
pub fn to_csv(campaign: &Campaign, standing: &Standing) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (point, result) in &standing.points {
        let Some(r) = result else { continue };
        for (i, run) in r.runs.iter().enumerate() {
            // Into memory: it cannot fail.
            let _ = writer.serialize(row(campaign, point, r, i, run));
        }
    }
    String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
}

fn row<'a>(
    campaign: &'a Campaign,
    point: &'a Point,
    r: &'a PointResult,
    i: usize,
    run: &'a Repetition,
) -> Row<'a> {
    let (s, m) = (&r.simulated, &run.measured);
    Row {
        campaign: &campaign.file.name,
        point: &point.name,
        policy: &r.policy,
        exec_ms: r.exec_ms,
        slo_ms: r.slo_ms,
        load: r.load,
        rate_per_s: r.rate_per_s,
        run: i + 1,
        invalid: run.invalid.as_deref().unwrap_or_default(),
        requests: m.requests,
        simulated_finish_rate: s.finish_rate,
        measured_finish_rate: m.finish_rate,
        difference_points: 100.0 * (m.finish_rate - s.finish_rate),
        simulated_goodput_per_s: s.goodput_per_s,
        measured_goodput_per_s: m.goodput_per_s,
        simulated_latency_p50_ns: s.latency.p50_ns,
        measured_latency_p50_ns: m.latency.p50_ns,
        simulated_latency_p99_ns: s.latency.p99_ns,
        measured_latency_p99_ns: m.latency.p99_ns,
        simulated_mean_batch: s.mean_batch,
        measured_mean_batch: m.mean_batch,
        duration_over_p99_ns: run.duration_over.p99_ns,
        duration_under_p99_ns: run.duration_under.p99_ns,
        completion_under_p99_ns: run.completion_under.p99_ns,
        launches_late_p99_ns: run.lateness.launches.p99_ns,
        decisions_late_p99_ns: run.lateness.decisions.p99_ns,
        arrivals_late_p99_ns: run.lateness.arrivals.p99_ns,
        controller_busy_per_request_ns: run.controller_busy_per_request_ns,
        load_average: &run.load_average,
        date: &r.date,
    }
}
