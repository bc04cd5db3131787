//! Which device ran which batch when: a lane for each device, a box for each batch.

use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::heat::shade;
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Look, Mark, Panel};
use crate::scale::{Scale, Tick};
use crate::scene::{Color, Stroke};
use crate::sheet::Sheet;
use crate::style::{self, AREAS_MAX};
use orrery_results::BatchRow;

const FIGURE: &str = "timeline";
/// Batches that are outlined: more would be thinner than a line, and are summed up.
const BATCHES_MAX: usize = 5_000;
/// Parts of the time of a summary.
const PARTS: usize = 160;
/// Lanes that one figure can show, and policies with their own panels.
const LANES_MAX: usize = 64;
const POLICIES_MAX: usize = 8;
/// Batches whose deadlines are drawn, and drops that get a mark each.
const DEADLINES_MAX: usize = 200;
const DROPS_MAX: usize = 400;
/// Height of a lane.
const LANE: f64 = 30.0;

/// The part of a schedule that is shown; without an end, up to the last batch's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: Option<u64>,
}

/// A box for each batch in the colour of its model, with its size where it fits; a lane for each
/// device, a panel for each policy. Where there are few, the earliest deadline of each batch and the
/// requests that were dropped; too many batches to outline become the share of the time in which a device is
/// busy.
///
/// # Errors
/// When there is no batch in the window, or too many devices for one figure.
pub fn device_timeline(rows: &[BatchRow], window: Window) -> Result<Figure, PlotError> {
    let (drops, batches): (Vec<&BatchRow>, Vec<&BatchRow>) = rows.iter().partition(|r| r.is_drop());
    let (from, to, inside) = cut(&batches, window)?;
    let drops: Vec<&BatchRow> =
        drops.into_iter().filter(|d| (from..=to).contains(&d.end_ns)).collect();
    let shorter = shorter(from, to, inside.len());
    let models = models(rows);
    let policies = distinct(inside.iter().map(|b| b.policy.as_str()));
    let fewer = "give a table with fewer policies";
    PlotError::limit(FIGURE, "policies", policies.len(), POLICIES_MAX, fewer)?;
    // A device that does nothing in the window is still there.
    let mut lanes = distinct(batches.iter().map(|b| lane_of(b)));
    lanes.sort_unstable();
    PlotError::limit(FIGURE, "lanes", lanes.len(), LANES_MAX, "give a table with fewer devices")?;
    let (unit, divisor) = names::time_unit(to as f64);
    let x = Scale::Linear { low: from as f64 / divisor, high: to as f64 / divisor };
    let outlined = inside.len() <= BATCHES_MAX;
    let has_deadlines =
        inside.len() <= DEADLINES_MAX && inside.iter().any(|b| b.deadline_ns.is_some());
    let has_drops = outlined && !drops.is_empty() && drops.len() <= DROPS_MAX;
    let mut labels = lane_labels(&lanes);
    labels.extend(has_drops.then(|| "dropped".to_string()));
    let height = labels.len() as f64;
    let y = rows_of(labels);
    let marks = |policy: &str| {
        let own = inside.iter().copied().filter(|b| b.policy == policy);
        if !outlined {
            return busy_shares(&own.collect::<Vec<_>>(), &lanes, (from, to), divisor);
        }
        let mark = |b: &BatchRow| batch_mark(b, lane_at(b, &lanes), (from, to), divisor, &models);
        let mut marks: Vec<Mark> = own.clone().map(mark).collect();
        if has_deadlines {
            let of = |b: &BatchRow| deadline(b, lane_at(b, &lanes), (from, to), divisor);
            marks.extend(own.filter_map(of).flatten());
        }
        if has_drops {
            let own = drops.iter().filter(|d| d.policy == policy);
            let at = |d: &&BatchRow| (d.end_ns as f64 / divisor, lanes.len() as f64 + 0.5);
            marks.push(Mark::Crosses(own.map(at).collect()));
        }
        marks
    };
    let panel = |policy: &&str| Panel {
        title: policy.to_string(),
        x: Axis { label: format!("time ({unit})"), scale: x, ticks: x.ticks(9) },
        y: y.clone(),
        marks: marks(policy),
    };
    let sheet = Sheet {
        title: "batches on devices".into(),
        subtitle: match outlined {
            true => "in each box: the model where it fits, and the batch's size".into(),
            false => format!("share of the time in which a device is busy; {}", shorter),
        },
        panels: policies.iter().map(panel).collect(),
        columns: 1,
        plot: (820.0, LANE * height),
        wrap_x: false,
        share_x: true,
        share_y: false,
        legend: match outlined {
            true => legend(&models, &inside, has_deadlines, has_drops),
            false => busy_legend(),
        },
        notes: dropped_in_words(if has_drops { 0 } else { drops.len() }),
    };
    Ok(sheet.figure())
}

/// Drops that are not drawn.
fn dropped_in_words(n: usize) -> Vec<String> {
    (n > 0).then(|| format!("{n} requests were dropped in this time.")).into_iter().collect()
}

/// An axis with a row for each label, from the top.
fn rows_of(labels: Vec<String>) -> Axis {
    let scale = Scale::Linear { low: labels.len() as f64, high: 0.0 };
    let tick = |(i, label): (usize, String)| Tick { at: i as f64 + 0.5, label };
    let ticks = labels.into_iter().enumerate().map(tick).collect();
    Axis { label: String::new(), scale, ticks }
}

/// The window's ends and the batches that meet it.
fn cut<'a>(
    batches: &[&'a BatchRow],
    window: Window,
) -> Result<(u64, u64, Vec<&'a BatchRow>), PlotError> {
    let first_ns = batches.iter().map(|b| b.start_ns).min();
    let last_ns = batches.iter().map(|b| b.end_ns).max();
    let (Some(first_ns), Some(last_ns)) = (first_ns, last_ns) else {
        let remedy = "give a table with batches";
        return Err(PlotError::missing(FIGURE, "a batch", &["an empty table"], remedy));
    };
    let (from_ns, to_ns) = (window.from_ns, window.to_ns.unwrap_or(last_ns.max(1)));
    let meets = |b: &&BatchRow| b.end_ns > from_ns && b.start_ns < to_ns && b.end_ns >= b.start_ns;
    let inside: Vec<&BatchRow> = batches.iter().copied().filter(meets).collect();
    if from_ns >= to_ns || inside.is_empty() {
        return Err(PlotError::Window { figure: FIGURE, from_ns, to_ns, first_ns, last_ns });
    }
    Ok((from_ns, to_ns, inside))
}

/// How to see single batches.
fn shorter(from_ns: u64, to_ns: u64, batches: usize) -> String {
    let length = (to_ns - from_ns) as f64 * 200.0 / batches.max(1) as f64 / 1e6;
    let end = from_ns as f64 / 1e6 + length;
    format!(
        "{batches} batches are too many to outline: for single ones choose a shorter window, for \
         example --from-ms {} --to-ms {}",
        names::plain(from_ns as f64 / 1e6),
        names::plain((end * 100.0).round() / 100.0)
    )
}

/// Device, lane and the device's name.
type Lane<'a> = (u32, u32, &'a str);

fn lane_of(b: &BatchRow) -> Lane<'_> {
    (b.device.unwrap_or(0), b.lane, &b.device_name)
}

fn lane_at(b: &BatchRow, lanes: &[Lane<'_>]) -> usize {
    lanes.iter().position(|l| *l == lane_of(b)).unwrap_or(0)
}

/// A batch's earliest deadline, as a tick below its lane and a line to it from the batch's end: black and
/// thick where the batch ended after it.
fn deadline(b: &BatchRow, lane: usize, (from, to): (u64, u64), divisor: f64) -> Option<[Mark; 2]> {
    let at_ns = b.deadline_ns.filter(|at| (from..=to).contains(at))?;
    let stroke = if b.end_ns > at_ns { MISSED } else { DEADLINE };
    let (at, end) = (at_ns as f64 / divisor, b.end_ns.clamp(from, to) as f64 / divisor);
    let lane = lane as f64;
    let line = |points: Vec<(f64, f64)>, stroke| Mark::Line { points, stroke };
    let tick = line(vec![(at, lane + 0.88), (at, lane + 1.04)], stroke);
    let thin = Stroke { width: 0.6, ..stroke };
    Some([line(vec![(end, lane + 0.96), (at, lane + 0.96)], thin), tick])
}

/// The strokes of deadlines, those that a batch kept and those that it did not.
const DEADLINE: Stroke = Stroke::solid(Color::MIDDLE, 1.4);
const MISSED: Stroke = Stroke::solid(Color::BLACK, 2.4);

/// A lane's busy time in each part of the window, as a shade.
fn busy_shares(
    own: &[&BatchRow],
    lanes: &[Lane<'_>],
    (from, to): (u64, u64),
    divisor: f64,
) -> Vec<Mark> {
    let length = ((to - from) as f64 / PARTS as f64).max(1.0);
    let mut busy = vec![0.0; lanes.len() * PARTS];
    for b in own {
        let lane = lane_at(b, lanes);
        let (start, end) = (b.start_ns.max(from) - from, b.end_ns.min(to) - from);
        let first = (start as f64 / length) as usize;
        for part in first..PARTS {
            let (low, high) = (part as f64 * length, (part + 1) as f64 * length);
            if low >= end as f64 {
                break;
            }
            busy[lane * PARTS + part] += (high.min(end as f64) - low.max(start as f64)).max(0.0);
        }
    }
    let mark = |(i, time): (usize, &f64)| {
        let (lane, part) = ((i / PARTS) as f64, (i % PARTS) as f64);
        let at = |part: f64| (from as f64 + part * length) / divisor;
        Mark::Area {
            from: (at(part), lane + 0.14),
            to: (at(part + 1.0), lane + 0.86),
            look: Look { fill: shade(time / length), outline: None, hatched: false },
            labels: Vec::new(),
        }
    };
    busy.iter().enumerate().map(mark).collect()
}

fn busy_legend() -> Legend {
    let entry = |percent: u32| {
        let outline = Some(Stroke::solid(Color::MIDDLE, 0.6));
        let fill = shade(f64::from(percent) / 100.0);
        (format!("{percent} % busy"), Key::Swatch(Look { fill, outline, hatched: false }))
    };
    Legend::Flow([0, 25, 50, 75, 100].map(entry).to_vec())
}

/// All models of the table, so that a model has the same colour in every window; numbers in order.
fn models(batches: &[BatchRow]) -> Vec<&str> {
    let mut models: Vec<&str> = batches.iter().map(|b| b.model.as_str()).collect();
    models.sort_unstable_by_key(|m| (m.parse::<u64>().unwrap_or(u64::MAX), *m));
    models.dedup();
    models
}

fn lane_labels(lanes: &[Lane<'_>]) -> Vec<String> {
    let label = |&(device, lane, name): &Lane<'_>| {
        let several = lanes.iter().filter(|l| l.0 == device).count() > 1;
        let name = if name.is_empty() { "device" } else { name };
        let words = format!("{name} {device}");
        if several { format!("{words}, lane {lane}") } else { words }
    };
    lanes.iter().map(label).collect()
}

/// So many models have a look of their own; the others share one.
fn look(place: usize) -> Look {
    let (fill, outline) = if place < AREAS_MAX {
        style::area(place)
    } else {
        (Color::LIGHT, Stroke::solid(Color::MIDDLE, 0.8))
    };
    Look { fill, outline: Some(outline), hatched: false }
}

fn outcome_look(look: Look, outcome: &str) -> Look {
    match outcome {
        "preempted" => Look { fill: look.fill.tint(0.4), hatched: true, ..look },
        "running" => Look {
            outline: Some(Stroke { color: Color::BLACK, width: 1.2, dash: &[3.0, 2.0] }),
            ..look
        },
        _ => look,
    }
}

fn batch_mark(
    b: &BatchRow,
    lane: usize,
    (from, to): (u64, u64),
    divisor: f64,
    models: &[&str],
) -> Mark {
    let place = models.iter().position(|m| *m == b.model).unwrap_or(usize::MAX);
    let (start, end) = (b.start_ns.max(from) as f64 / divisor, b.end_ns.min(to) as f64 / divisor);
    Mark::Area {
        from: (start, lane as f64 + 0.14),
        to: (end, lane as f64 + 0.86),
        look: outcome_look(look(place), &b.outcome),
        labels: vec![format!("{} × {}", b.model, b.size), b.size.to_string()],
    }
}

fn legend(models: &[&str], inside: &[&BatchRow], deadlines: bool, drops: bool) -> Legend {
    let shown = |m: &str| inside.iter().any(|b| b.model == m);
    let mut entries = Vec::new();
    for (i, model) in models.iter().enumerate().take(AREAS_MAX).filter(|m| shown(m.1)) {
        let name =
            if model.parse::<u64>().is_ok() { format!("model {model}") } else { model.to_string() };
        entries.push((name, Key::Swatch(look(i))));
    }
    if models.iter().skip(AREAS_MAX).any(|m| shown(m)) {
        entries.push(("other models".into(), Key::Swatch(look(usize::MAX))));
    }
    let plain = Look { fill: Color::MIDDLE, outline: look(0).outline, hatched: false };
    for (outcome, words) in [("preempted", "preempted"), ("running", "running at the log's end")] {
        if inside.iter().any(|b| b.outcome == outcome) {
            entries.push((words.into(), Key::Swatch(outcome_look(plain, outcome))));
        }
    }
    if deadlines {
        let ends = |b: &&&BatchRow| b.deadline_ns.is_some_and(|at| at < b.end_ns);
        entries.push(("earliest deadline of a batch".into(), Key::Line(DEADLINE)));
        if inside.iter().any(|b| ends(&b)) {
            entries.push(("deadline missed".into(), Key::Line(MISSED)));
        }
    }
    if drops {
        entries.push(("request dropped".into(), Key::Cross));
    }
    Legend::Flow(entries)
}
