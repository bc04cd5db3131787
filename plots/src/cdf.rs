//! Cumulative distributions: latencies with the tail stretched, batch sizes as steps.

use crate::choice::RowFilter;
use crate::error::PlotError;
use crate::figure::Figure;
use crate::groups::{Distribution, Groups, parts};
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Mark, Panel};
use crate::scale::{Scale, Tick, range, ticks_at};
use crate::scene::{Color, Stroke};
use crate::sheet::{Sheet, grid_for};
use crate::style::Style;
use crate::systems::Looks;
use orrery_results::DistributionRow;

/// The line of an SLO.
const SLO: Stroke = Stroke { color: Color::BLACK, width: 1.2, dash: &[4.0, 2.5] };
/// The axis is at most so many times as long as half of the curves and the SLOs need.
const FAR: f64 = 4.0;
/// SLOs that are drawn each.
const SLOS_MAX: usize = 6;

/// The distribution of a time over all requests, with its tail stretched: 0, 90, 99, 99.9 and 99.99 % at
/// equal distances (Clockwork Fig. 5). `quantity` is `latency_ns` or `queueing_ns`. A curve ends at the
/// share of requests that were answered, and the SLOs are vertical lines.
///
/// # Errors
/// When the table has no such distribution, or too many for one figure.
pub fn latency_cdf(
    rows: &[DistributionRow],
    quantity: &str,
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    let figure = "latency-cdf";
    let groups = Groups::of(figure, &choice.distributions(figure, rows, quantity)?)?;
    let (unit, divisor) = names::time_unit(groups.largest());
    let words = names::words(quantity.trim_end_matches("_ns"));
    let slos: Vec<Vec<f64>> = match quantity {
        "latency_ns" => groups.keys.iter().map(|key| slos_of(rows, key)).collect(),
        _ => vec![Vec::new(); groups.keys.len()],
    };
    let xs = groups.all().flat_map(|d| d.points.iter().map(move |p| p.0 / divisor));
    let lines = slos.iter().flatten().map(|slo| slo / divisor);
    let far = far(&groups, slos.iter().flatten().copied()) / divisor;
    let x = Scale::around(xs.chain(lines).filter(|x| *x > 0.0).map(|x| x.min(far)));
    let labels = [&format!("{words} ({unit})"), "share of all requests (%)"];
    let what = format!("distribution of {words}");
    let mut sheet = tails(&groups, what, labels, (x, far), divisor);
    draw_slos(&mut sheet, &slos, unit, divisor);
    let beyond = groups.all().filter(|d| d.last() > far * divisor).count();
    if beyond > 0 {
        let (all, largest) = (groups.all().count(), libm::round(groups.largest() / divisor));
        let words = format!("{beyond} of {all} curves go on right of the axis, up to");
        sheet.notes.push(format!("{words} {largest} {unit}."));
    }
    sheet.notes.extend(never_answered(&groups));
    Ok(sheet.figure())
}

/// Where the axis ends, so that the curve of a system that falls behind leaves room for the others.
fn far(groups: &Groups, slos: impl Iterator<Item = f64>) -> f64 {
    let mut ends: Vec<f64> = groups.all().map(Distribution::last).collect();
    ends.sort_by(f64::total_cmp);
    let half = ends.get(ends.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    FAR * slos.fold(half, f64::max)
}

/// The SLOs of a panel's requests, each once, in order.
fn slos_of(rows: &[DistributionRow], key: &[String; 4]) -> Vec<f64> {
    let of = |r: &&DistributionRow| r.quantity == "slo_ns" && parts(r) == *key && r.x.is_finite();
    let mut all: Vec<f64> = rows.iter().filter(of).map(|r| r.x).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    // Among many the smallest and the largest are what the eye needs.
    if all.len() > SLOS_MAX { vec![all[0], all[all.len() - 1]] } else { all }
}

fn draw_slos(sheet: &mut Sheet, slos: &[Vec<f64>], unit: &str, divisor: f64) {
    let mut all: Vec<f64> = slos.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    if all.is_empty() {
        return;
    }
    for (panel, slos) in sheet.panels.iter_mut().zip(slos) {
        let line = |slo: &f64| Mark::Vertical { x: slo / divisor, stroke: SLO };
        // Below the curves.
        panel.marks.splice(0..0, slos.iter().map(line));
    }
    let values: Vec<String> = all.iter().map(|slo| names::plain(slo / divisor)).collect();
    let values = match values.as_slice() {
        some if some.len() <= SLOS_MAX => some.join(", "),
        many => format!("{} to {}", many[0], many[many.len() - 1]),
    };
    if let Legend::Flow(keys) = &mut sheet.legend {
        keys.push((format!("SLO ({values} {unit})"), Key::Line(SLO)));
    }
}

/// Distributions with their tails stretched, up to `far`.
fn tails(
    groups: &Groups,
    what: String,
    labels: [&str; 2],
    (x, far): (Scale, f64),
    divisor: f64,
) -> Sheet {
    let nines = nines(groups);
    let y = Scale::Tail { nines };
    let looks = Looks::of(&groups.names);
    let panel = |(title, own): &(String, Vec<Distribution>)| Panel {
        title: title.clone(),
        x: axis(labels[0], x, x.ticks(6)),
        y: axis(labels[1], y, y.ticks(9)),
        marks: own
            .iter()
            .flat_map(|d| tail_marks(d, looks.style(&d.name), (divisor, far), nines))
            .collect(),
    };
    let panels = groups.panels.iter().map(panel).collect();
    let notes = too_short_for_the_tail(groups, nines);
    sheet(groups, what, panels, notes)
}

/// What of the requests a curve does not reach.
fn never_answered(groups: &Groups) -> Option<String> {
    let short: Vec<&Distribution> = groups.all().filter(|d| d.is_short()).collect();
    let least = short.iter().min_by(|a, b| a.end().total_cmp(&b.end()))?;
    let name = if least.name.is_empty() { "the curve" } else { &least.name };
    Some(format!(
        "× {} of {} curves end at the share of requests that were answered; the lowest, {name}, at \
         {:.1} %.",
        short.len(),
        groups.all().count(),
        100.0 * least.end()
    ))
}

/// How far off predictions were, on a logarithmic axis with the tail stretched: a panel for each case
/// (time on the device, completion), a curve for each side of the error (Clockwork Fig. 10). The rows'
/// quantity is `error_ns`, their policy the side.
///
/// # Errors
/// When the table has no such distribution, or too many for one figure.
pub fn error_cdf(rows: &[DistributionRow]) -> Result<Figure, PlotError> {
    let figure = "error-cdf";
    let kept = RowFilter::default().distributions(figure, rows, "error_ns")?;
    let groups = Groups::of(figure, &kept)?;
    let (unit, divisor) = names::time_unit(groups.largest());
    let xs = groups.all().flat_map(|d| d.points.iter().map(move |p| p.0 / divisor));
    // Errors below a nanosecond do not exist; what is exact stands at the left edge.
    let (low, high) = range(xs.filter(|x| *x > 0.0));
    let x = Scale::Log { low, high: (high * 1.2).max(low * 10.0) };
    let labels = [&format!("error ({unit})"), "share of these actions (%)"];
    Ok(tails(&groups, "errors of prediction".into(), labels, (x, f64::INFINITY), divisor).figure())
}

/// The distribution of batch sizes, as steps (Symphony Fig. 1).
///
/// # Errors
/// When the table has no such distribution, or too many for one figure.
pub fn batch_size_cdf(rows: &[DistributionRow], choice: &RowFilter) -> Result<Figure, PlotError> {
    let figure = "batch-size-cdf";
    let groups = Groups::of(figure, &choice.distributions(figure, rows, "batch_size")?)?;
    let high = groups.largest().max(1.0);
    let looks = Looks::of(&groups.names);
    let x = Scale::Linear { low: 0.0, high: high + (0.04 * high).max(0.5) };
    let whole: Vec<f64> = x.ticks(8).iter().map(|t| t.at).filter(|at| at.fract() == 0.0).collect();
    let ticks = ticks_at(&whole);
    let y = Scale::Linear { low: 0.0, high: 102.0 };
    let y_ticks = Scale::Linear { low: 0.0, high: 100.0 }.ticks(5);
    let panel = |(title, own): &(String, Vec<Distribution>)| Panel {
        title: title.clone(),
        x: axis("batch size (requests)", x, ticks.clone()),
        y: axis("share of batches (%)", y, y_ticks.clone()),
        marks: own.iter().flat_map(|d| step_marks(d, looks.style(&d.name), high * 2.0)).collect(),
    };
    let panels = groups.panels.iter().map(panel).collect();
    Ok(sheet(&groups, "distribution of batch sizes".into(), panels, Vec::new()).figure())
}

fn axis(label: &str, scale: Scale, ticks: Vec<Tick>) -> Axis {
    Axis { label: label.into(), scale, ticks }
}

fn sheet(groups: &Groups, what: String, panels: Vec<Panel>, notes: Vec<String>) -> Sheet {
    let (columns, plot) = grid_for(panels.len());
    let looks = Looks::of(&groups.names);
    let key = |n: &String| {
        let name = if n.is_empty() { "all" } else { n };
        (name.to_string(), Key::Series(looks.style(n)))
    };
    Sheet {
        title: format!("{}: {what}", groups.experiments.join(", ")),
        subtitle: groups.common.join(" · "),
        panels,
        columns,
        plot,
        wrap_x: false,
        share_x: true,
        share_y: true,
        legend: Legend::Flow(groups.names.iter().map(key).collect()),
        notes,
    }
}

/// As many nines as the largest number of samples can show, from two to five.
fn nines(groups: &Groups) -> f64 {
    let samples = groups.all().map(|d| d.samples).max().unwrap_or(0);
    let shown = groups.all().flat_map(|d| d.points.iter().map(|p| 1.0 - p.1));
    let smallest = shown.filter(|rest| *rest > 1e-9).fold(1.0, f64::min);
    let by_samples = libm::floor(libm::log10(samples.max(1) as f64));
    let by_points = libm::ceil(-libm::log10(smallest) - 1e-9);
    by_samples.min(by_points).clamp(2.0, 5.0)
}

/// A curve whose samples do not reach the top of the axis says nothing there.
fn too_short_for_the_tail(groups: &Groups, nines: f64) -> Vec<String> {
    let needed = libm::pow(10.0, nines);
    // Of curves that end at the share answered another note tells.
    let reach_the_top = groups.all().filter(|d| !d.is_short());
    let short: Vec<u64> =
        reach_the_top.map(|d| d.samples).filter(|s| (*s as f64) < needed).collect();
    match short.iter().min() {
        Some(least) => vec![format!(
            "{} of {} curves have fewer samples than the top of the axis needs (the least: \
             {least}); each ends at its largest sample.",
            short.len(),
            groups.all().count(),
        )],
        None => Vec::new(),
    }
}

fn tail_marks(d: &Distribution, style: Style, (divisor, far): (f64, f64), nines: f64) -> Vec<Mark> {
    let mut points: Vec<(f64, f64)> = d.points.iter().map(|p| (p.0 / divisor, p.1)).collect();
    if let Some(&(first, share)) = points.first()
        && share > 0.0
    {
        points.insert(0, (first, 0.0));
    }
    // Above the top of the axis there is nothing to see.
    let top = 1.0 - libm::pow(10.0, -nines) - 1e-12;
    let end = points.iter().position(|p| p.1 >= top).map_or(points.len(), |i| i + 1);
    points.truncate(end);
    points.retain(|p| p.0 <= far);
    // A marker where the curve first reaches each of these shares: dashes alone are hard to follow.
    let reached = |level: &f64| points.iter().find(|p| p.1 >= *level).copied();
    let markers = [0.5, 0.9, 0.99, 0.999, 0.9999].iter().filter_map(reached);
    let mut markers: Vec<((f64, f64), bool)> = markers.map(|p| (p, false)).collect();
    markers.dedup();
    if d.is_short() {
        // It may reach none of these shares: half of what it reaches tells it from the others.
        markers.extend(reached(&(0.5 * d.end())).map(|p| (p, false)));
        markers.extend(d.points.last().map(|p| ((p.0 / divisor, p.1), true)));
        markers.retain(|m| m.0.0 <= far);
    }
    vec![
        Mark::Line { points, stroke: style.stroke },
        Mark::Markers { points: markers, style, radius: 3.4 },
    ]
}

fn step_marks(d: &Distribution, style: Style, end: f64) -> Vec<Mark> {
    let (mut points, mut share) = (Vec::new(), 0.0);
    for &(x, s) in &d.points {
        points.extend([(x, 100.0 * share), (x, 100.0 * s)]);
        share = s;
    }
    points.push((end, 100.0 * share));
    let every = d.points.len().div_ceil(16).max(1);
    let tops = d.points.iter().step_by(every).map(|&(x, s)| ((x, 100.0 * s), false));
    vec![
        Mark::Line { points, stroke: style.stroke },
        Mark::Markers { points: tops.collect(), style, radius: 3.2 },
    ]
}
