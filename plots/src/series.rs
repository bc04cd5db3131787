//! Time series: stacked panels over one time axis.

use crate::choice::RowFilter;
use crate::curves::CHOOSE_FEWER;
use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Mark, Panel};
use crate::scale::{Scale, range};
use crate::scene::{Color, Stroke};
use crate::sheet::Sheet;
use crate::style::{SERIES_MAX, Style};
use crate::systems::Looks;
use orrery_results::{SeriesRow, metric, system_of};

mod bins;

pub use bins::binned;

use bins::{FIGURE, in_order};

/// Quantities that have a panel only when they are asked for, and that the others do without.
const ON_REQUEST: [&str; 4] =
    [metric::ADVICE_DEVICES, metric::ASKED_DEVICES, metric::RELEASED_DEVICES, metric::ENDED];

/// What is shown of a time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesView {
    /// The width of bins, nanoseconds; without one, a width that leaves at most 64.
    pub bin_ns: Option<u64>,
    /// Only this quantity; without one, those that most readers look for.
    pub quantity: Option<String>,
}

/// What was offered: the same for every policy, so it is drawn once, in grey.
const OFFERED: Stroke = Stroke::solid(Color::MIDDLE, 2.4);

/// Offered load and goodput, devices busy and up, utilisation, and requests in the system over time, a
/// line for each policy; other quantities get a panel each.
///
/// # Errors
/// When the table is empty, lacks the quantity, has bins wider than asked for, or too many policies or
/// quantities for one figure.
pub fn time_series(
    rows: &[SeriesRow],
    choice: &RowFilter,
    view: &SeriesView,
) -> Result<Figure, PlotError> {
    let (rows, not_finite) = chosen(rows, choice)?;
    let width = view.bin_ns.or_else(|| bins::few(&rows));
    let wider = width.map(|width| bins::wider(&rows, width)).transpose()?;
    let rows: Vec<&SeriesRow> = wider.as_ref().map_or(rows, |wider| wider.iter().collect());
    let (rows, left_out) = of_quantity(rows, view.quantity.as_deref())?;
    let several = rows.iter().any(|r| r.experiment != rows[0].experiment);
    let name = |r: &SeriesRow| match (several, r.policy.is_empty()) {
        (false, false) => r.policy.clone(),
        (false, true) => "all".into(),
        (true, _) => format!("{}: {}", r.experiment, r.policy),
    };
    let names = distinct(rows.iter().map(|r| name(r)));
    PlotError::limit(FIGURE, "policies", names.len(), SERIES_MAX, CHOOSE_FEWER)?;
    let quantities = distinct(rows.iter().map(|r| r.quantity.as_str()));
    PlotError::limit(FIGURE, "quantities", quantities.len(), 12, "give a table with fewer")?;
    let looks = Looks::of(&names);
    let mut lines = Vec::new();
    for quantity in &quantities {
        for (place, wanted) in names.iter().enumerate() {
            let own = rows.iter().filter(|r| r.quantity == *quantity && name(r) == *wanted);
            lines.push(Line::of(
                quantity,
                (place, looks.style(wanted)),
                wanted,
                own.copied().collect(),
            )?);
        }
    }
    lines.retain(|l| !l.bins.is_empty());
    let offered_once = offered_is_common(&lines);
    let longest = rows.iter().map(|r| r.to_ns).max().unwrap_or(0) as f64;
    let (unit, divisor) = names::time_unit(longest);
    let (low, high) = range(rows.iter().flat_map(|r| [r.from_ns as f64, r.to_ns as f64]));
    let x = Scale::Linear { low: low / divisor, high: high / divisor };
    let mut panels = Vec::new();
    for group in panel_groups(&quantities) {
        let own: Vec<&Line> = lines.iter().filter(|l| group.contains(&l.quantity)).collect();
        panels.push(panel(
            &own,
            &group,
            offered_once,
            divisor,
            Axis { label: format!("time ({unit})"), scale: x, ticks: x.ticks(8) },
        ));
    }
    let sheet = Sheet {
        title: format!(
            "{}: over time",
            distinct(rows.iter().map(|r| r.experiment.as_str())).join(", ")
        ),
        subtitle: bins_in_words(&rows),
        panels,
        columns: 1,
        plot: (640.0, 150.0),
        wrap_x: false,
        share_x: true,
        share_y: false,
        legend: legend(&names, &looks, offered_once, quantities.contains(&metric::OFFERED)),
        notes: left_out_in_words(&left_out).into_iter().chain(not_finite).collect(),
    };
    Ok(sheet.figure())
}

/// The policies, and the offered load: one for all of them, or each its own.
fn legend(names: &[String], looks: &Looks, offered_once: bool, offered: bool) -> Legend {
    let mut keys: Vec<(String, Key)> =
        names.iter().map(|n| (n.clone(), Key::Series(looks.style(n)))).collect();
    if offered_once {
        keys.push(("offered load".into(), Key::Line(OFFERED)));
    } else if offered {
        let thin = Stroke { width: 0.8, dash: OFFERED_EACH, color: Color::BLACK };
        keys.push(("offered load, in its policy's colour".into(), Key::Line(thin)));
    }
    Legend::Flow(keys)
}

/// The rows that are drawn, and the quantities of the others.
fn of_quantity<'a>(
    mut rows: Vec<&'a SeriesRow>,
    wanted: Option<&str>,
) -> Result<(Vec<&'a SeriesRow>, Vec<&'a str>), PlotError> {
    let all = distinct(rows.iter().map(|r| r.quantity.as_str()));
    if let Some(wanted) = wanted {
        if !all.contains(&wanted) {
            let remedy = "choose a quantity that the table has (`--metric`)";
            return Err(PlotError::missing(FIGURE, format!("quantity `{wanted}`"), &all, remedy));
        }
        rows.retain(|r| r.quantity == wanted);
        return Ok((rows, Vec::new()));
    }
    // Devices busy and up say what the utilisation says, and how many there are.
    let devices = all.contains(&metric::DEVICES_BUSY) && all.contains(&metric::DEVICES_UP);
    let on_request = |q: &str| ON_REQUEST.contains(&q) || (devices && q == metric::UTILISATION);
    let (left_out, shown): (Vec<&str>, Vec<&str>) = all.iter().partition(|q| on_request(q));
    if shown.is_empty() {
        return Ok((rows, Vec::new()));
    }
    rows.retain(|r| shown.contains(&r.quantity.as_str()));
    Ok((rows, left_out))
}

/// How wide the bins are, where all but the last are equal.
fn bins_in_words(rows: &[&SeriesRow]) -> String {
    let widest = rows.iter().map(|r| r.to_ns - r.from_ns).max().unwrap_or(0);
    let (unit, divisor) = match widest {
        100_000_000.. => ("s", 1e9),
        _ => names::time_unit(widest as f64),
    };
    let width = (widest as f64 / divisor * 1000.0).round() / 1000.0;
    format!("means over bins of {} {unit}", names::plain(width))
}

fn left_out_in_words(quantities: &[&str]) -> Vec<String> {
    match quantities {
        [] => Vec::new(),
        names => vec![format!("Also in the table, for --metric: {}.", names.join(", "))],
    }
}

/// The dashes of what was offered, where it differs between policies.
const OFFERED_EACH: &[f64] = &[1.2, 2.0];

/// The chosen rows that have a number, and a note on the others.
fn chosen<'a>(
    rows: &'a [SeriesRow],
    choice: &RowFilter,
) -> Result<(Vec<&'a SeriesRow>, Option<String>), PlotError> {
    let found: Vec<&str> = rows.iter().map(|r| r.policy.as_str()).collect();
    for wanted in &choice.systems {
        if !found.iter().any(|p| p == wanted || system_of(p) == wanted) {
            let remedy = "choose a policy that the table has (`--system`)";
            return Err(PlotError::missing(FIGURE, format!("policy `{wanted}`"), &found, remedy));
        }
    }
    let wanted = |r: &&SeriesRow| {
        let named = |w: &String| *w == r.policy || w == system_of(&r.policy);
        choice.systems.is_empty() || choice.systems.iter().any(named)
    };
    let (kept, without): (Vec<&SeriesRow>, Vec<&SeriesRow>) = rows
        .iter()
        .filter(wanted)
        .filter(|r| r.to_ns > r.from_ns)
        .partition(|r| r.value.is_finite());
    if kept.is_empty() {
        let found = if rows.is_empty() { "an empty table" } else { "bins without length or value" };
        return Err(PlotError::missing(
            FIGURE,
            "a bin",
            &[found],
            "give a table with a time series",
        ));
    }
    let note = format!("{} bins are NaN or infinite in the table: gaps.", without.len());
    Ok((kept, (!without.is_empty()).then_some(note)))
}

/// One policy's values of one quantity.
struct Line<'a> {
    quantity: &'a str,
    place: usize,
    style: Style,
    bins: Vec<&'a SeriesRow>,
}

impl<'a> Line<'a> {
    fn of(
        quantity: &'a str,
        (place, style): (usize, Style),
        name: &str,
        mut bins: Vec<&'a SeriesRow>,
    ) -> Result<Line<'a>, PlotError> {
        in_order(&mut bins, name)?;
        Ok(Line { quantity, place, style, bins })
    }

    /// Steps, in one piece for bins that follow each other.
    fn steps(&self, divisor: f64) -> Vec<Vec<(f64, f64)>> {
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut end = None;
        for bin in &self.bins {
            if end != Some(bin.from_ns) {
                pieces.push(Vec::new());
            }
            end = Some(bin.to_ns);
            if let Some(piece) = pieces.last_mut() {
                let (from, to) = (bin.from_ns as f64 / divisor, bin.to_ns as f64 / divisor);
                piece.extend([(from, bin.value), (to, bin.value)]);
            }
        }
        pieces
    }

    /// Eight markers at most, at different bins for each series.
    fn markers(&self, divisor: f64) -> Vec<((f64, f64), bool)> {
        let every = self.bins.len().div_ceil(8).max(1);
        let middle = |b: &&SeriesRow| (b.from_ns as f64 + b.to_ns as f64) / 2.0 / divisor;
        let from = (self.place * every.div_ceil(4)) % every;
        self.bins.iter().skip(from).step_by(every).map(|b| ((middle(b), b.value), false)).collect()
    }
}

/// Whether every policy was offered the same, up to what a printed number leaves open. The last bin
/// of each line is not compared: it ends with the run, and that with the policy's last answer.
fn offered_is_common(lines: &[Line<'_>]) -> bool {
    let mut offered = lines.iter().filter(|l| l.quantity == metric::OFFERED);
    let Some(first) = offered.next() else { return false };
    let whole = |l: &Line<'_>| l.bins.len().saturating_sub(1);
    let same = |a: &SeriesRow, b: &SeriesRow| {
        (a.from_ns, a.to_ns) == (b.from_ns, b.to_ns)
            && (a.value - b.value).abs() <= 1e-9 * a.value.abs()
    };
    let alike = |l: &Line<'_>| {
        let both = whole(l).min(whole(first));
        // What goes on after the other has ended is a run that only answers.
        let rest = |l: &Line<'_>| l.bins[both..].iter().skip(1).all(|b| b.value == 0.0);
        let mut begin = l.bins.iter().zip(&first.bins).take(both);
        begin.all(|(a, b)| same(a, b)) && rest(l) && rest(first)
    };
    offered.all(alike)
}

/// Which quantities share a panel, in reading order.
fn panel_groups<'a>(quantities: &[&'a str]) -> Vec<Vec<&'a str>> {
    let known: [&[&str]; 6] = [
        &[metric::OFFERED, metric::GOODPUT],
        &[metric::DEVICES_BUSY, metric::DEVICES_UP],
        &[metric::ADVICE_DEVICES],
        &[metric::BAD_RATE],
        &[metric::UTILISATION],
        &["in_system"],
    ];
    let here = |group: &&[&str]| -> Vec<&'a str> {
        quantities.iter().filter(|q| group.contains(q)).copied().collect()
    };
    let mut groups: Vec<Vec<&str>> = known.iter().map(here).filter(|g| !g.is_empty()).collect();
    let others = quantities.iter().filter(|q| !known.iter().any(|g| g.contains(q)));
    groups.extend(others.map(|q| vec![*q]));
    groups
}

fn panel(lines: &[&Line<'_>], group: &[&str], offered_once: bool, divisor: f64, x: Axis) -> Panel {
    let values = lines.iter().flat_map(|l| l.bins.iter().map(|b| b.value));
    let (low, high) = range(values);
    let utilisation = group.contains(&metric::UTILISATION);
    let y = match (utilisation, low >= 0.0) {
        (true, true) => Scale::Linear { low: 0.0, high: high.max(1.0) * 1.04 },
        (false, true) => {
            Scale::Linear { low: 0.0, high: if high > 0.0 { high * 1.08 } else { 1.0 } }
        }
        _ => Scale::linear([low, high].into_iter()),
    };
    let mut marks = Vec::new();
    let is_frame = |l: &&&Line<'_>| [metric::OFFERED, metric::DEVICES_UP].contains(&l.quantity);
    let (frames, others): (Vec<&&Line<'_>>, Vec<&&Line<'_>>) = lines.iter().partition(is_frame);
    let (offered, up): (Vec<&&Line<'_>>, Vec<&&Line<'_>>) =
        frames.into_iter().partition(|l| l.quantity == metric::OFFERED);
    for line in up {
        let stroke = Stroke { width: 0.8, dash: OFFERED_EACH, color: line.style.color };
        marks.extend(line.steps(divisor).into_iter().map(|points| Mark::Line { points, stroke }));
    }
    let longest = offered.iter().map(|l| l.bins.len()).max();
    let drawn = offered.iter().filter(|l| !offered_once || Some(l.bins.len()) == longest);
    for line in drawn.take(if offered_once { 1 } else { usize::MAX }) {
        let each = Stroke { width: 0.8, dash: OFFERED_EACH, color: line.style.color };
        let stroke = if offered_once { OFFERED } else { each };
        marks.extend(line.steps(divisor).into_iter().map(|points| Mark::Line { points, stroke }));
    }
    for line in &others {
        let style = line.style;
        let stroke = Stroke { width: 1.3, ..style.stroke };
        marks.extend(line.steps(divisor).into_iter().map(|points| Mark::Line { points, stroke }));
    }
    for line in others {
        let (points, style) = (line.markers(divisor), line.style);
        marks.push(Mark::Markers { points, style, radius: 3.2 });
    }
    let (label, title) = match group {
        [one] => (quantity_label(one), String::new()),
        _ if group.contains(&metric::DEVICES_UP) => {
            ("devices".into(), "busy, and up (dotted)".into())
        }
        _ => ("requests/s".into(), "offered load and goodput".into()),
    };
    Panel { title, x, y: Axis { label, scale: y, ticks: y.ticks(4) }, marks }
}

fn quantity_label(quantity: &str) -> String {
    match quantity {
        "in_system" => "requests in system".into(),
        metric::ASKED_DEVICES => "asked for (devices)".into(),
        other => names::metric(other, orrery_results::unit(other), 0.0).label,
    }
}
