//! Heat maps: a metric over a grid of two axes, a panel for each combination of others.

use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Look, Mark, Panel};
use crate::scale::{Scale, Tick, range};
use crate::scene::{Color, Stroke};
use crate::sheet::{Sheet, grid_for};
use crate::spec::{FIGURE, Picture, Prepared, Spacing};
use crate::{curves, flags};
use orrery_results::Row;

/// Values of an axis that one grid can show.
const VALUES_MAX: usize = 40;
/// Samples of the colours in the legend.
const SAMPLES: usize = 5;

/// From light to dark, so that a map reads in grey too. The ends are those of ColorBrewer's Blues.
const STOPS: [Color; 5] = [
    Color(0xf7, 0xfb, 0xff),
    Color(0xc6, 0xdb, 0xef),
    Color(0x6b, 0xae, 0xd6),
    Color(0x21, 0x71, 0xb5),
    Color(0x08, 0x30, 0x6b),
];

/// The colour of a share of the scale.
pub(crate) fn shade(share: f64) -> Color {
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let i = (at as usize).min(STOPS.len() - 2);
    let (a, b, t) = (STOPS[i], STOPS[i + 1], at - i as f64);
    let mix = |x: u8, y: u8| (f64::from(x) + (f64::from(y) - f64::from(x)) * t + 0.5) as u8;
    Color(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// The grid of a picture.
pub(crate) fn heat(prepared: &Prepared, p: &Picture) -> Result<Figure, PlotError> {
    let rows: Vec<&Row> = prepared.rows.iter().filter(|r| r.finite().is_some()).collect();
    let xs = grid_axis(&rows, &p.x, &p.x_label)?;
    let ys = grid_axis(&rows, &p.y, "")?;
    let keys = distinct(rows.iter().map(|r| title(r, p)));
    PlotError::limit(FIGURE, "panels", keys.len(), curves::PANELS_MAX, curves::CHOOSE_FEWER)?;
    let mut grids = Vec::new();
    for key in &keys {
        let own: Vec<&Row> = rows.iter().filter(|r| title(r, p) == *key).copied().collect();
        grids.push(medians(&own, (&xs.values, &p.x), (&ys.values, &p.y)));
    }
    let values = || grids.iter().flatten().map(|c| c.2);
    let colours = Colours::of(values(), p);
    let look = |fill: Color| Look {
        fill,
        outline: Some(Stroke::solid(Color::WHITE, 1.0)),
        hatched: false,
    };
    let cell = |&(i, j, value, _): &(usize, usize, f64, usize)| Mark::Area {
        from: (i as f64, j as f64),
        to: (i as f64 + 1.0, j as f64 + 1.0),
        look: look(colours.of_value(value)),
        labels: vec![short(value)],
    };
    let panel = |(key, grid): (&String, &Vec<(usize, usize, f64, usize)>)| Panel {
        title: key.clone(),
        x: xs.axis.clone(),
        y: ys.axis.clone(),
        marks: grid.iter().map(cell).collect(),
    };
    let panels: Vec<Panel> = keys.iter().zip(&grids).map(panel).collect();
    let counts: Vec<usize> = grids.iter().flatten().map(|c| c.3).collect();
    let most = counts.iter().copied().max().unwrap_or(1);
    let columns = if p.columns > 0 { p.columns } else { grid_for(keys.len()).0 };
    // A minus needs room too.
    let of_cell = if values().any(|v| short(v).starts_with('−')) { 40.0 } else { 34.0 };
    let wide = (of_cell * xs.values.len() as f64).clamp(150.0, 520.0);
    let high = (22.0 * ys.values.len() as f64).clamp(66.0, 400.0);
    let metric = names::metric(&p.metrics[0], &rows[0].unit, 0.0).label;
    let metric = match (p.y_label.is_empty(), prepared.over.is_empty()) {
        (false, _) => p.y_label.clone(),
        (true, true) => metric,
        (true, false) => format!("{metric}, relative to {}", prepared.over),
    };
    let experiments = distinct(rows.iter().map(|r| r.experiment.as_str()));
    let head = if p.title.is_empty() { experiments.join(", ") } else { p.title.clone() };
    let mut notes = flags::notes(&prepared.rows.iter().collect::<Vec<_>>(), flags::NO_PAPER);
    if most > 1 {
        notes.push(format!("A cell is the median of up to {most} values."));
    }
    let outside = values().filter(|v| *v < colours.low || *v > colours.high).count();
    if outside > 0 {
        notes.push(format!(
            "{outside} cells lie outside the colours and have that of the nearest end."
        ));
    }
    let sheet = Sheet {
        title: head,
        subtitle: flags::subtitle(&[p.source.clone(), format!("colour: {metric}")], &[]),
        panels,
        columns,
        plot: (wide, high),
        wrap_x: false,
        share_x: true,
        share_y: true,
        legend: Legend::Flow(samples(&colours)),
        notes,
    };
    Ok(sheet.figure())
}

/// Some of the colours, with their values.
fn samples(colours: &Colours) -> Vec<(String, Key)> {
    let sample = |i: usize| {
        let share = i as f64 / (SAMPLES - 1) as f64;
        let outline = Some(Stroke::solid(Color::MIDDLE, 0.6));
        let key = Key::Swatch(Look { fill: shade(share), outline, hatched: false });
        (short(colours.value_at(share)), key)
    };
    (0..SAMPLES).map(sample).collect()
}

struct GridAxis {
    values: Vec<String>,
    axis: Axis,
}

/// The values of an axis: numbers in order, words as they come.
fn grid_axis(rows: &[&Row], name: &str, label: &str) -> Result<GridAxis, PlotError> {
    let mut values = distinct(rows.iter().filter_map(|r| r.axis(name)).map(str::to_string));
    if values.is_empty() {
        let axes: Vec<&str> = rows.iter().flat_map(|r| r.axis_list().map(|a| a.0)).collect();
        let remedy = "name two axes that the table has";
        return Err(PlotError::missing(FIGURE, format!("axis `{name}`"), &axes, remedy));
    }
    PlotError::limit(FIGURE, "values of an axis", values.len(), VALUES_MAX, curves::CHOOSE_FEWER)?;
    let number = |v: &String| v.parse::<f64>().ok().filter(|x| x.is_finite());
    if values.iter().all(|v| number(v).is_some()) {
        values.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    let largest = values.iter().filter_map(number).fold(0.0, f64::max);
    let named = names::axis(name, largest);
    let word = |v: &String| number(v).map_or(v.clone(), |x| names::plain(x / named.divisor));
    let tick = |(i, v): (usize, &String)| Tick { at: i as f64 + 0.5, label: word(v) };
    let ticks = values.iter().enumerate().map(tick).collect();
    let label = if label.is_empty() { named.label } else { label.to_string() };
    let scale = Scale::Linear { low: 0.0, high: values.len() as f64 };
    Ok(GridAxis { axis: Axis { label, scale, ticks }, values })
}

/// What tells a panel from the others.
fn title(row: &Row, p: &Picture) -> String {
    let others = row.axis_list().filter(|a| a.0 != p.x && a.0 != p.y);
    let word = |(n, v): (&str, &str)| names::place(n, v);
    let case = (!row.case.is_empty()).then(|| row.case.clone());
    case.into_iter().chain(others.map(word)).collect::<Vec<_>>().join(" · ")
}

/// (column, row, median, how many) of each cell that has a value.
fn medians(
    rows: &[&Row],
    (xs, x): (&[String], &str),
    (ys, y): (&[String], &str),
) -> Vec<(usize, usize, f64, usize)> {
    let mut out = Vec::new();
    for (i, at_x) in xs.iter().enumerate() {
        for (j, at_y) in ys.iter().enumerate() {
            let here = |r: &&&Row| r.axis(x) == Some(at_x) && r.axis(y) == Some(at_y);
            let mut own: Vec<f64> = rows.iter().filter(here).filter_map(|r| r.finite()).collect();
            own.sort_by(f64::total_cmp);
            let n = own.len();
            if n > 0 {
                let median = (own[(n - 1) / 2] + own[n / 2]) / 2.0;
                out.push((i, j, median, n));
            }
        }
    }
    out
}

/// From values to colours.
struct Colours {
    low: f64,
    high: f64,
    log: bool,
}

impl Colours {
    fn of(values: impl Iterator<Item = f64>, p: &Picture) -> Colours {
        let (low, high) = p.y_range.unwrap_or_else(|| range(values));
        let log = p.y_scale == Some(Spacing::Log) && low > 0.0;
        Colours { low, high: if high > low { high } else { low + 1.0 }, log }
    }

    fn of_value(&self, value: f64) -> Color {
        let scale = match self.log {
            true => Scale::Log { low: self.low, high: self.high },
            false => Scale::Linear { low: self.low, high: self.high },
        };
        shade(scale.share(value))
    }

    fn value_at(&self, share: f64) -> f64 {
        match self.log {
            true => self.low * libm::pow(self.high / self.low, share),
            false => self.low + (self.high - self.low) * share,
        }
    }
}

/// Three digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        x if x >= 99.5 => 0,
        x if x >= 9.95 => 1,
        _ => 2,
    };
    format!("{value:.digits$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_darker_shade_is_a_larger_value() {
        let bright: Vec<f64> = (0..=20).map(|i| shade(f64::from(i) / 20.0).brightness()).collect();
        assert!(bright.windows(2).all(|w| w[0] - w[1] > 0.01), "{bright:?}");
    }

    #[test]
    fn cells_have_three_digits() {
        assert_eq!([0.5, 1.234, 12.34, 1234.5].map(short), ["0.50", "1.23", "12.3", "1234"]);
    }
}
