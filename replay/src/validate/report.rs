//! The report of a campaign, in Markdown.

use super::Standing;
use super::campaign::Campaign;
use super::outcome::{Band, Differences, PointResult, Repetition};
use super::twins;
use super::verdict::{Verdict, differences, verdict};
use crate::profile::{Errors, ProfileFile};
use crate::target::Target;
use orrery_plots::Figure;
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

/// The report.
pub fn markdown(
    campaign: &Campaign,
    standing: &Standing,
    context: &Context,
    figures: &[(String, String, Figure)],
) -> String {
    let v = verdict(campaign, standing);
    let mut text = format!("# Validation: {}\n\n", campaign.title());
    text += &headline(campaign, &v, context);
    text += &circumstances(campaign, standing, context);
    for (file, says, _) in figures {
        let _ = writeln!(text, "![{says}]({file})\n\n{says}\n");
    }
    text += &bands(standing, &v);
    text += &actions(standing);
    text += &table(standing);
    text += &twins::table(standing);
    text += &invalid(standing);
    text += &profiles(standing);
    text
}

fn headline(campaign: &Campaign, v: &Verdict, context: &Context) -> String {
    let mut text = String::new();
    let is_gpu = v.on_a_gpu && v.all.points > 0;
    if campaign.file.virtual_clock {
        text += "**A test of the harness under a virtual clock: no device was timed.**\n\n";
    } else if !is_gpu && !context.has_gpu {
        text += "**Not validated on a GPU.**";
        text += match campaign.device.target {
            Target::Emulated => " The device is emulated: it waits.\n\n",
            Target::Cpu(_) => " The device is a core of a processor, which computes.\n\n",
            Target::Worker(_) => " The device is a program.\n\n",
            Target::Cuda(_) => "\n\n",
        };
    }
    if !campaign.file.note.is_empty() {
        let _ = writeln!(text, "{}\n", campaign.file.note.trim());
    }
    text += &twins::headline(campaign, &v.twin);
    text += "**A priori**, by the profile alone:\n\n";
    if !v.not_validated.is_empty() {
        let _ = writeln!(text, "**Not validated a priori**: {}.\n", v.not_validated.join("; "));
    }
    let none = "No run of a stable point is valid.";
    let against = v.all.against(campaign.file.targets).unwrap_or(none.to_string());
    let _ = writeln!(text, "{against}");
    if let Some(told) = v.sensitive.told() {
        let _ = writeln!(text, "{told}");
    }
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
    row("draws of a prediction", &f.draws.to_string());
    if !standing.waited.is_zero() {
        let waited = format!("{:.0} s in this session", standing.waited.as_secs_f64());
        row("waited for a quiet machine", &waited);
    }
    let mut notes: Vec<&String> = runs().flat_map(|r| &r.notes).collect();
    notes.sort_unstable();
    notes.dedup();
    for note in notes {
        row("not granted", note);
    }
    row("a run", &format!("{} s, seed {}, {} repetitions", f.seconds, f.seed, f.repetitions));
    row("overhead in the simulation", &format!("{:?}", f.overhead).to_lowercase());
    text.push('\n');
    text
}

fn bands(standing: &Standing, v: &Verdict) -> String {
    let mut text = String::from(
        "## By load\n\nPercentage points of the finish rate, of stable points. Spread is the largest less the smallest of \
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
    let mut away: Vec<(f64, u64)> = valid.iter().map(|r| (r.away_share, r.away_max_ns)).collect();
    away.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut busy: Vec<u64> = valid.iter().map(|r| r.controller_busy_per_request_ns).collect();
    busy.sort_unstable();
    let us = |ns: u64| ns as f64 / 1e3;
    let (middle, most) = (us(busy[(busy.len() - 1) / 2]), us(busy[busy.len() - 1]));
    let _ = writeln!(
        text,
        "\nThe controller worked {middle:.1} us for each request in the median run, {most:.1} us in \
         the worst.\n"
    );
    let (share, longest) = (away[(away.len() - 1) / 2].0, away.iter().map(|a| a.1).max());
    let _ = writeln!(
        text,
        "The host took the device's cores away for {:.3} % of the busy time in the median run, {:.3} % in \
         the worst; the longest absence in an action was {:.1} us.\n",
        100.0 * share,
        100.0 * away[away.len() - 1].0,
        us(longest.unwrap_or(0))
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
        "## By point\n\nFinish rates in percent: the mean of the draws with the middle 95 % of them, and \
         the mean of the valid runs; the difference is that of the means, in percentage points. A \
         sensitive point has none: it says how many of its runs lie in the middle 95 %.\n\n\
         | policy | time alone (ms) | SLO (ms) | load | rate (1/s) | predicted | 95 % of draws | measured \
         | difference | spread | mean batch, simulated | measured |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (point, result) in &standing.points {
        let Some(r) = result else { continue };
        let rates: Vec<f64> = r.valid().map(|v| 100.0 * v.measured.finish_rate).collect();
        let batches: Vec<f64> = r.valid().map(|v| v.measured.mean_batch).collect();
        let mean = |xs: &[f64]| xs.iter().sum::<f64>() / xs.len() as f64;
        let number = |x: Option<f64>| x.map_or("none".to_string(), |x| format!("{x:.2}"));
        let shown = |xs: &[f64]| number((!xs.is_empty()).then(|| mean(xs)));
        let (low, high) = r.middle_percent();
        let difference = match (r.is_sensitive(), r.inside()) {
            (true, (inside, runs)) => format!("sensitive, {inside} of {runs} inside"),
            _ => r.difference_points().map_or("none".to_string(), |d| format!("{d:+.2}")),
        };
        let exec = r.exec_ms.map_or("of the scenario".to_string(), |ms| ms.to_string());
        let _ = writeln!(
            text,
            "| {} | {exec} | {:.2} | {:.2} | {:.1} | {:.2} | {low:.2} to {high:.2} | {} | {} | {} | {:.2} | {} |",
            point.policy,
            r.slo_ms,
            r.load,
            r.rate_per_s,
            r.predicted_percent(),
            shown(&rates),
            difference,
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
    let mut differences: Vec<f64> = Vec::new();
    for (point, result) in &standing.points {
        let Some(result) = result else { continue };
        // A run that a device ended early has no figures.
        let ran = |r: &&Repetition| r.measured.requests > 0;
        for (i, run) in result.runs.iter().enumerate() {
            let Some(why) = result.invalid(run) else { continue };
            let rate = 100.0 * run.measured.finish_rate;
            let measured = Some(run).filter(ran).map(|_| format!(" (measured {rate:.2} %)"));
            let measured = measured.unwrap_or_default();
            let _ = writeln!(text, "- {}, run {}{measured}: {why}", point.name, i + 1);
        }
        let rates: Vec<f64> =
            result.runs.iter().filter(ran).map(|r| r.measured.finish_rate).collect();
        if !rates.is_empty() && !result.is_sensitive() {
            let mean = 100.0 * rates.iter().sum::<f64>() / rates.len() as f64;
            differences.push((mean - result.predicted_percent()).abs());
        }
    }
    if text.is_empty() {
        return "## Invalid runs\n\nNone.\n\n".to_string();
    }
    let mean = differences.iter().sum::<f64>() / differences.len().max(1) as f64;
    let most = differences.iter().copied().fold(0.0, f64::max);
    format!(
        "## Invalid runs\n\nThey are not counted above. If every run had counted, {} stable points would be \
         {mean:.2} percentage points apart on average, {most:.2} at most: this validates nothing.\n\n{text}\n",
        differences.len()
    )
}

fn profiles(standing: &Standing) -> String {
    let mut text = String::from(
        "## Profiles\n\nErrors of the fitted law in percent of the measured median: at the points it \
         was fitted to, and at sizes and lengths that it did not see.\n\n\
         | profile | model | fitted: median | largest | not seen: median | largest | launch, median \
         (us) | result, median (us) | sigma of batches (%) | cores away (%) | drift (%) |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, profile) in &standing.profiles {
        let ProfileFile { overhead, model, .. } = profile;
        let number = |x: Option<f64>| x.map_or("none".to_string(), |x| format!("{x:.2}"));
        for m in model {
            let pair = |e: Option<Errors>| {
                e.map_or("none | none".to_string(), |e| {
                    format!("{:.2} | {:.2}", e.median_percent, e.max_percent)
                })
            };
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {:.1} | {:.1} | {} | {} | {} |",
                m.name,
                pair(m.fitted),
                pair(m.held_out),
                overhead.launch.median_us,
                overhead.result.median_us,
                number(m.noise.as_ref().map(|n| 100.0 * n.sigma)),
                number(profile.stalls.as_ref().map(|s| 100.0 * s.share_away)),
                number(profile.drift.map(|d| d.median_percent)),
            );
        }
    }
    text
}
