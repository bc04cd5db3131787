//! Histograms of execution times, from their cumulative distributions.

use crate::choice::RowFilter;
use crate::curves::CHOOSE_FEWER;
use crate::error::PlotError;
use crate::figure::Figure;
use crate::groups::{Distribution, Groups};
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Look, Mark, Panel};
use crate::scale::Scale;
use crate::scene::{Color, Stroke};
use crate::sheet::{Sheet, grid_for};
use crate::style;
use orrery_results::DistributionRow;

/// Bins of a histogram.
const BINS: usize = 48;
const MEAN: Stroke = Stroke::solid(Color::BLACK, 1.3);
const P99: Stroke = Stroke { color: Color::BLACK, width: 1.3, dash: &[4.0, 2.5] };

/// Histograms of execution times in isolation (quantity `alone_ns`) with mean and P99, a panel for each
/// case and scope (as Orloj Fig. 2).
///
/// # Errors
/// When the table has no such distribution, or too many for one figure.
pub fn execution_time_histogram(
    rows: &[DistributionRow],
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    let figure = "histogram";
    let groups = Groups::of(figure, &choice.distributions(figure, rows, "alone_ns")?)?;
    // Execution times alone do not depend on the policy: one that takes part is one too many.
    PlotError::limit(figure, "policies", groups.names.len(), 1, CHOOSE_FEWER)?;
    let (unit, divisor) = names::time_unit(groups.largest());
    let (columns, plot) = grid_for(groups.panels.len());
    let mut beyond = Vec::new();
    let mut panels = Vec::new();
    for (title, own) in &groups.panels {
        let histogram = Histogram::of(&own[0], divisor);
        beyond.extend(histogram.beyond);
        panels.push(histogram.panel(title, unit));
    }
    let largest = beyond.iter().copied().fold(0.0, f64::max);
    let note = format!(
        "The axes end at the 99.9 % quantile where the largest value is more than twice that; up to \
         {} % of the samples lie beyond.",
        names::plain(libm::round(largest * 1e4) / 100.0)
    );
    let sheet = Sheet {
        title: format!("{}: execution times in isolation", groups.experiments.join(", ")),
        subtitle: groups.common.join(" · "),
        panels,
        columns,
        plot,
        wrap_x: false,
        share_x: false,
        share_y: false,
        legend: Legend::Flow(vec![
            ("mean".into(), Key::Line(MEAN)),
            ("P99".into(), Key::Line(P99)),
        ]),
        notes: if beyond.is_empty() { Vec::new() } else { vec![note] },
    };
    Ok(sheet.figure())
}

/// What a panel shows, in the figure's unit of time.
struct Histogram {
    low: f64,
    width: f64,
    /// Share per unit of time.
    densities: Vec<f64>,
    mean: f64,
    p99: f64,
    /// The share of samples right of the axis, when it was cut.
    beyond: Option<f64>,
}

impl Histogram {
    /// The mass of each point is what its share adds to that of the one before.
    fn of(d: &Distribution, divisor: f64) -> Histogram {
        let mut share = 0.0;
        let mass = |&(x, s): &(f64, f64)| {
            let m = (s - share).max(0.0);
            share = s;
            (x / divisor, m)
        };
        let masses: Vec<(f64, f64)> = d.points.iter().map(mass).collect();
        let quantile = |q: f64| {
            let found = d.points.iter().find(|p| p.1 >= q - 1e-12).or(d.points.last());
            found.map_or(0.0, |p| p.0 / divisor)
        };
        let last = masses.last().map_or(0.0, |m| m.0);
        let cut = last > 2.0 * quantile(0.999);
        let (low, high) =
            (masses.first().map_or(0.0, |m| m.0), if cut { quantile(0.999) } else { last });
        // A constant is a bar of its own, a tenth of its value wide.
        let (low, width, bins) = match (high - low) / BINS as f64 {
            w if w > 0.0 => (low, w, BINS),
            _ => (low * 0.95, (0.1 * low).max(1e-9), 1),
        };
        let mut densities = vec![0.0; bins];
        let inside = |x: f64| !cut || x <= high;
        for (x, m) in masses.iter().filter(|m| inside(m.0)) {
            let bin = (((x - low) / width) as usize).min(densities.len() - 1);
            densities[bin] += m / width;
        }
        let beyond: f64 = masses.iter().filter(|m| !inside(m.0)).map(|m| m.1).sum();
        let mean = masses.iter().map(|m| m.0 * m.1).sum();
        Histogram {
            low,
            width,
            densities,
            mean,
            p99: quantile(0.99),
            beyond: cut.then_some(beyond),
        }
    }

    fn panel(&self, title: &str, unit: &str) -> Panel {
        let high = self.low + self.width * self.densities.len() as f64;
        // From zero where zero is near: the spread is then seen beside the size. A constant has none,
        // and stays a thin bar.
        let constant = self.densities.len() == 1;
        let room = if constant { 0.5 * high } else { 0.04 * (high - self.low) };
        let low = if constant || self.low < 0.5 * high { 0.0 } else { self.low - room };
        let x = Scale::Linear { low, high: high + room };
        let top = self.densities.iter().copied().fold(0.0, f64::max);
        let y = Scale::Linear { low: 0.0, high: if top > 0.0 { 1.22 * top } else { 1.0 } };
        let blue = style::area(0).0;
        let fill = blue.tint(0.45);
        let look = Look { fill, outline: Some(Stroke::solid(blue, 0.6)), hatched: false };
        let bar = |(i, d): (usize, &f64)| {
            let from = self.low + i as f64 * self.width;
            let (from, to) = ((from, 0.0), (from + self.width, *d));
            Mark::Area { from, to, look, labels: Vec::new() }
        };
        let bars = self.densities.iter().enumerate().filter(|b| *b.1 > 0.0);
        let mut marks: Vec<Mark> = bars.map(bar).collect();
        let lines = [("mean", self.mean, MEAN, 0), ("P99", self.p99, P99, 1)];
        for (word, x, stroke, line) in lines {
            marks.push(Mark::Vertical { x, stroke });
            let text = format!("{word} {} {unit}", three_digits(x));
            marks.push(Mark::Word { x, line, left: word == "mean", text });
        }
        let axis =
            |label: String, scale: Scale, count| Axis { label, scale, ticks: scale.ticks(count) };
        Panel {
            title: title.into(),
            x: axis(format!("execution time ({unit})"), x, 6),
            y: axis(format!("density (1/{unit})"), y, 4),
            marks,
        }
    }
}

/// A number to three significant digits.
fn three_digits(x: f64) -> String {
    let before = if x > 0.0 { libm::floor(libm::log10(x)) as i32 } else { 0 };
    let digits = (2 - before).clamp(0, 9) as usize;
    format!("{x:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(points: &[(f64, f64)]) -> Distribution {
        Distribution { name: String::new(), points: points.to_vec(), samples: 100 }
    }

    #[test]
    fn the_area_of_a_histogram_is_one() {
        let points: Vec<(f64, f64)> =
            (1..=500).map(|i| (1e6 + f64::from(i) * 1e3, f64::from(i) / 500.0)).collect();
        let h = Histogram::of(&distribution(&points), 1e6);
        let area: f64 = h.densities.iter().map(|d| d * h.width).sum();
        assert!((area - 1.0).abs() < 1e-9, "{area}");
        assert!((h.mean - 1.2505).abs() < 1e-9 && (h.p99 - 1.495).abs() < 1e-9);
    }

    #[test]
    fn a_constant_is_one_bar() {
        let h = Histogram::of(&distribution(&[(5e6, 1.0)]), 1e6);
        assert_eq!((h.densities.len(), h.mean, h.p99), (1, 5.0, 5.0));
        assert!((h.densities[0] * h.width - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_far_tail_is_cut_and_counted() {
        let h = Histogram::of(&distribution(&[(1e6, 0.5), (2e6, 0.9995), (1e9, 1.0)]), 1e6);
        assert!((h.beyond.unwrap() - 0.0005).abs() < 1e-9);
        assert!(h.low + h.width * h.densities.len() as f64 <= 2.0 + 1e-9);
    }
}
