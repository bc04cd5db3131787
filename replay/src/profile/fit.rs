//! From medians to a law: alpha and beta, c0 and c1, or a table, with the error of each point.
//!
//! A line is fitted to relative residuals, reweighted so that the sum of their absolute values is
//! least: one size that is off moves it little. Points that are held out take no part.

use crate::device::emulated::Curve;
use crate::quantiles::median;
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_sim::time::Span;

/// A measured point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Items in the batch.
    pub units: u32,
    /// The longest of its requests alone.
    pub longest: Span,
    /// The median time on the device.
    pub median_ns: f64,
    /// Not fitted: only judged.
    pub held_out: bool,
}

/// Which law to fit.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The law nearest to the held-out points; the simpler one if two are equally near.
    #[default]
    Auto,
    /// `alpha k + beta`.
    Affine,
    /// `c0 + c1 k l`.
    Eq3,
    /// `(1 - c1 + c1 k) l`.
    Proportional,
    /// `c0 + k (c1 l + c2 l^2)`.
    Poly,
    /// Medians by size, with straight lines between them.
    Table,
    /// Medians by size and by length: straight lines between sizes, and each length padded to the next.
    Grid,
}

/// A law with its errors, in percent of the measured median.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The law.
    pub law: LatencyLaw,
    /// Predicted over measured less one, in percent, in the order of the points.
    pub errors_percent: Vec<f64>,
}

/// Two laws nearer to each other than this, in percent, are told apart by being simple.
const TIE_PERCENT: f64 = 0.05;

/// The largest size for which a table has a row for every size.
const TABLE_MAX: u32 = 512;

impl Fit {
    /// The median and the largest absolute error of the points for which `held_out` is so.
    pub fn errors(&self, points: &[Point], held_out: bool) -> Option<(f64, f64)> {
        let chosen = self.errors_percent.iter().zip(points).filter(|(_, p)| p.held_out == held_out);
        let mut errors: Vec<f64> = chosen.map(|(e, _)| e.abs()).collect();
        let middle = median(&mut errors);
        Some((middle, *errors.last()?))
    }
}

/// Fits a law; `None` when the points do not determine one of that form.
pub fn fit(points: &[Point], form: Form) -> Option<Fit> {
    let used: Vec<Point> = points.iter().filter(|p| !p.held_out).copied().collect();
    let law = match form {
        Form::Auto => return best(points),
        Form::Affine => {
            let (beta, alpha) = line(&used, |p| f64::from(p.units))?;
            LatencyLaw::Affine { alpha_ms: alpha / 1e6, beta_ms: beta / 1e6 }
        }
        Form::Eq3 => {
            let (c0, c1) = line(&used, |p| f64::from(p.units) * p.longest.ns() as f64)?;
            (c1 > 0.0).then_some(LatencyLaw::Eq3 { c0_ms: c0 / 1e6, c1 })?
        }
        Form::Proportional => LatencyLaw::Proportional { c1: slope(&used)? },
        Form::Table => LatencyLaw::Table(table(&used)?),
        Form::Poly => poly(&used)?,
        Form::Grid => grid(&used)?,
    };
    Some(judged(law, points))
}

fn judged(law: LatencyLaw, points: &[Point]) -> Fit {
    let curve = Curve::of(&law);
    let error = |p: &Point| 100.0 * (curve.ns(p.units, p.longest) / p.median_ns - 1.0);
    Fit { errors_percent: points.iter().map(error).collect(), law }
}

/// The law that is nearest to the points held out (to all, where none was).
fn best(points: &[Point]) -> Option<Fit> {
    let lengths = points.iter().any(|p| p.longest != points[0].longest);
    // A law that looks at its requests is only told from others by requests that differ.
    let forms: &[Form] = match lengths {
        true => &[Form::Affine, Form::Eq3, Form::Proportional, Form::Poly, Form::Table, Form::Grid],
        false => &[Form::Affine, Form::Table],
    };
    let held_out = points.iter().any(|p| p.held_out);
    let fits = forms.iter().filter_map(|form| fit(points, *form));
    let mut judged = fits.filter_map(|f| Some((f.errors(points, held_out)?.0, f)));
    let first = judged.next()?;
    let better = |best: (f64, Fit), next: (f64, Fit)| {
        if next.0 + TIE_PERCENT < best.0 { next } else { best }
    };
    Some(judged.fold(first, better).1)
}

/// `y = a + b x`, neither below zero, by iteratively reweighted least squares on relative residuals.
fn line(points: &[Point], x: impl Fn(&Point) -> f64) -> Option<(f64, f64)> {
    let data: Vec<(f64, f64)> = points.iter().map(|p| (x(p), p.median_ns)).collect();
    let first = data.first()?.0;
    if data.iter().all(|d| d.0 == first) || data.iter().any(|d| d.1 <= 0.0) {
        return None;
    }
    let mut weights: Vec<f64> = data.iter().map(|d| 1.0 / (d.1 * d.1)).collect();
    let mut found = least_squares(&data, &weights);
    for _ in 0..60 {
        let (a, b) = found;
        for (w, (x, y)) in weights.iter_mut().zip(&data) {
            let relative = ((a + b * x - y) / y).abs();
            *w = 1.0 / (y * y * relative.max(1e-4));
        }
        found = least_squares(&data, &weights);
    }
    Some(found)
}

fn least_squares(data: &[(f64, f64)], weights: &[f64]) -> (f64, f64) {
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        weights.iter().zip(data).map(|(w, (x, y))| w * f(*x, *y)).sum()
    };
    let n = sum(&|_, _| 1.0);
    let (mean_x, mean_y) = (sum(&|x, _| x) / n, sum(&|_, y| y) / n);
    let spread = sum(&|x, _| (x - mean_x) * (x - mean_x));
    let b = sum(&|x, y| (x - mean_x) * (y - mean_y)) / spread;
    let a = mean_y - b * mean_x;
    if a < 0.0 {
        return (0.0, sum(&|x, y| x * y) / sum(&|x, _| x * x));
    }
    if b < 0.0 { (mean_y, 0.0) } else { (a, b) }
}

/// `c0 + k (c1 l + c2 l^2)` with numbers from 0, by the same reweighting: of all choices of terms with
/// no number below zero, the one with the least sum of absolute relative residuals.
fn poly(points: &[Point]) -> Option<LatencyLaw> {
    let ms = |p: &Point| p.longest.ns() as f64 / 1e6;
    let terms = |p: &Point| {
        let (k, l) = (f64::from(p.units), ms(p));
        [1.0, k * l, k * l * l]
    };
    let first = points.first()?.longest;
    if points.iter().all(|p| p.longest == first) || points.iter().any(|p| p.median_ns <= 0.0) {
        return None;
    }
    let fits = [[0, 1, 2].as_slice(), &[0, 1], &[0, 2], &[1, 2], &[1], &[2]]
        .into_iter()
        .filter_map(|chosen| reweighted(points, chosen, terms));
    let cost = |c: &[f64; 3]| -> f64 {
        let off = |p: &Point| {
            let says: f64 = terms(p).iter().zip(c).map(|(x, c)| x * c).sum();
            (says / (p.median_ns / 1e6) - 1.0).abs()
        };
        points.iter().map(off).sum()
    };
    let best = fits.min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let [c0_ms, c1, c2_per_ms] = best;
    Some(LatencyLaw::Poly { c0_ms, c1, c2_per_ms })
}

/// The coefficients of the chosen terms, the others being zero; none when one would be below zero.
fn reweighted(
    points: &[Point],
    chosen: &[usize],
    terms: impl Fn(&Point) -> [f64; 3],
) -> Option<[f64; 3]> {
    let y = |p: &Point| p.median_ns / 1e6;
    let mut weights: Vec<f64> = points.iter().map(|p| 1.0 / (y(p) * y(p))).collect();
    let mut found = [0.0; 3];
    for _ in 0..60 {
        let n = chosen.len();
        // The normal equations, with the right side as the last column.
        let mut rows = vec![vec![0.0; n + 1]; n];
        for (p, w) in points.iter().zip(&weights) {
            let x = terms(p);
            for (i, row) in rows.iter_mut().enumerate() {
                for (j, cell) in row.iter_mut().enumerate() {
                    let right = chosen.get(j).map_or(y(p), |term| x[*term]);
                    *cell += w * x[chosen[i]] * right;
                }
            }
        }
        let solved = solve(rows)?;
        found = [0.0; 3];
        chosen.iter().zip(solved).for_each(|(term, value)| found[*term] = value);
        for (w, p) in weights.iter_mut().zip(points) {
            let says: f64 = terms(p).iter().zip(&found).map(|(x, c)| x * c).sum();
            let relative = (says / y(p) - 1.0).abs();
            *w = 1.0 / (y(p) * y(p) * relative.max(1e-4));
        }
    }
    found.iter().all(|c| *c >= 0.0 && c.is_finite()).then_some(found)
}

/// Gauss's elimination with the largest pivot; none of a singular system.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|a, b| rows[*a][i].abs().total_cmp(&rows[*b][i].abs()))?;
        rows.swap(i, pivot);
        if rows[i][i].abs() < 1e-300 {
            return None;
        }
        let row = rows[i].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = other[i] / row[i];
            other.iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    Some((0..n).map(|i| rows[i][n] / rows[i][i]).collect())
}

/// Medians by size and length: every size up to the largest, straight lines between those measured.
fn grid(points: &[Point]) -> Option<LatencyLaw> {
    let mut lengths: Vec<Span> = points.iter().map(|p| p.longest).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let columns = lengths.iter().map(|length| {
        let of: Vec<Point> = points.iter().filter(|p| p.longest == *length).copied().collect();
        table(&of)
    });
    let columns: Vec<Vec<(u32, f64)>> = columns.collect::<Option<_>>()?;
    let sizes: Vec<u32> = columns.first()?.iter().map(|row| row.0).collect();
    let whole = |column: &Vec<(u32, f64)>| column.iter().map(|row| row.0).eq(sizes.iter().copied());
    if lengths.len() < 2 || !columns.iter().all(whole) {
        return None;
    }
    let row = |(i, size): (usize, &u32)| {
        // A longer batch takes no less: what says otherwise is noise.
        let mut most = 0.0;
        let latency = |column: &Vec<(u32, f64)>| {
            most = column[i].1.max(most);
            most
        };
        (*size, columns.iter().map(latency).collect())
    };
    Some(LatencyLaw::Grid {
        lengths_ms: lengths.iter().map(|l| l.ns() as f64 / 1e6).collect(),
        rows: sizes.iter().enumerate().map(row).collect(),
    })
}

/// The c1 of `(1 - c1 + c1 k) l`: the median of what each point says.
fn slope(points: &[Point]) -> Option<f64> {
    let says = points
        .iter()
        .filter(|p| p.units > 1 && p.longest > Span::ZERO)
        .map(|p| (p.median_ns / p.longest.ns() as f64 - 1.0) / f64::from(p.units - 1));
    let mut says: Vec<f64> = says.collect();
    Some(median(&mut says)).filter(|c1| *c1 >= 1e-9)
}

/// Medians by size, and straight lines between them, in ms.
fn table(points: &[Point]) -> Option<Vec<(u32, f64)>> {
    let mut sizes: Vec<u32> = points.iter().map(|p| p.units).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |size: u32| {
        let mut all: Vec<f64> =
            points.iter().filter(|p| p.units == size).map(|p| p.median_ns / 1e6).collect();
        median(&mut all)
    };
    let knots: Vec<(u32, f64)> = sizes.iter().map(|s| (*s, of(*s))).collect();
    let last = *knots.last()?;
    if last.0 > TABLE_MAX {
        return Some(knots);
    }
    let at = |k: u32| {
        let above = knots.iter().position(|n| n.0 >= k).unwrap_or(knots.len() - 1);
        let (high, low) = (knots[above], knots[above.saturating_sub(1)]);
        if high.0 <= k || low.0 >= high.0 {
            return (k, high.1);
        }
        let share = f64::from(k - low.0) / f64::from(high.0 - low.0);
        (k, low.1 + share * (high.1 - low.1))
    };
    Some((knots[0].0..=last.0).map(at).collect())
}

#[cfg(test)]
mod tests;
