//! A small Gaussian process: what the pools evaluated say of the others.
//!
//! Kernel: Matérn with nu = 5/2 over the counts as they are, one length scale for all types,
//! variance 1, and `1e-6` on the diagonal. Values are standardised first. The length scale is the
//! one of [`LENGTH_SCALES`] with the highest marginal likelihood; of several, the shortest. Kernel
//! and diagonal are those of the library that Ribbon uses; that searches length scales by gradients
//! instead of from a list.

/// Length scales, in instances.
pub const LENGTH_SCALES: [f64; 8] = [0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0];
const NUGGET: f64 = 1e-6;

pub(crate) struct GaussianProcess {
    points: Vec<Vec<f64>>,
    length_scale: f64,
    cholesky: Lower,
    /// K^-1 y, with y standardised.
    weights: Vec<f64>,
    mean: f64,
    deviation: f64,
}

/// A lower triangular matrix, by rows.
struct Lower(Vec<Vec<f64>>);

impl GaussianProcess {
    /// Fits values at distinct points; at least one.
    pub fn fit(points: Vec<Vec<f64>>, values: &[f64]) -> GaussianProcess {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
        let deviation = if variance > 0.0 { variance.sqrt() } else { 1.0 };
        let y: Vec<f64> = values.iter().map(|y| (y - mean) / deviation).collect();
        let mut best: Option<(f64, f64, Lower, Vec<f64>)> = None;
        for length_scale in LENGTH_SCALES {
            // Matérn kernels of distinct points are positive definite, but floats may not be.
            let Some(cholesky) = Lower::cholesky(&points, length_scale) else { continue };
            let weights = cholesky.solve_transposed(cholesky.solve(&y));
            let fit: f64 = y.iter().zip(&weights).map(|(a, b)| a * b).sum();
            let volume: f64 = cholesky.0.iter().map(|row| libm::log(row[row.len() - 1])).sum();
            let likelihood = -0.5 * fit - volume;
            if best.as_ref().is_none_or(|(most, ..)| likelihood > *most) {
                best = Some((likelihood, length_scale, cholesky, weights));
            }
        }
        let (_, length_scale, cholesky, weights) = best.expect("the shortest scale has a factor");
        GaussianProcess { points, length_scale, cholesky, weights, mean, deviation }
    }

    /// The mean and the standard deviation of the value at a point.
    pub fn predict(&self, point: &[f64]) -> (f64, f64) {
        let near = |p: &Vec<f64>| matern(p, point, self.length_scale);
        let k: Vec<f64> = self.points.iter().map(near).collect();
        let mean: f64 = k.iter().zip(&self.weights).map(|(a, b)| a * b).sum();
        let explained: f64 = self.cholesky.solve(&k).iter().map(|v| v * v).sum();
        let deviation = (1.0 - explained).max(0.0).sqrt();
        (self.mean + self.deviation * mean, self.deviation * deviation)
    }
}

/// How much a value with this mean and deviation is expected to be above `best + xi`, counting 0
/// where it is not.
pub(crate) fn expected_improvement(mean: f64, deviation: f64, best: f64, xi: f64) -> f64 {
    let above = mean - best - xi;
    if deviation <= 0.0 {
        return above.max(0.0);
    }
    let z = above / deviation;
    let density = libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
    let probability = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    above * probability + deviation * density
}

fn matern(a: &[f64], b: &[f64], length_scale: f64) -> f64 {
    let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    let r = (5.0 * squared).sqrt() / length_scale;
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

impl Lower {
    /// The Cholesky factor of the kernel matrix; none when that is not positive definite.
    fn cholesky(points: &[Vec<f64>], length_scale: f64) -> Option<Lower> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(points.len());
        for (i, p) in points.iter().enumerate() {
            let mut row = Vec::with_capacity(i + 1);
            for (j, q) in points[..i].iter().enumerate() {
                let other: &Vec<f64> = &rows[j];
                let known: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                row.push((matern(p, q, length_scale) - known) / other[j]);
            }
            let known: f64 = row.iter().map(|a: &f64| a * a).sum();
            let left = 1.0 + NUGGET - known;
            if left <= 0.0 {
                return None;
            }
            row.push(left.sqrt());
            rows.push(row);
        }
        Some(Lower(rows))
    }

    /// x of L x = y.
    fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = Vec::with_capacity(y.len());
        for (row, y) in self.0.iter().zip(y) {
            let known: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            x.push((y - known) / row[x.len()]);
        }
        x
    }

    /// x of L^T x = y.
    fn solve_transposed(&self, mut y: Vec<f64>) -> Vec<f64> {
        for i in (0..y.len()).rev() {
            let row = &self.0[i];
            y[i] /= row[i];
            let x = y[i];
            y[..i].iter_mut().zip(row).for_each(|(y, a)| *y -= a * x);
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[[f64; 2]]) -> Vec<Vec<f64>> {
        list.iter().map(|p| p.to_vec()).collect()
    }

    #[test]
    fn the_factor_solves_the_kernel_matrix() {
        let points = points(&[[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]);
        let factor = Lower::cholesky(&points, 2.0).unwrap();
        let y = [1.0, -2.0, 0.5, 3.0];
        let x = factor.solve_transposed(factor.solve(&y));
        for (i, p) in points.iter().enumerate() {
            let nugget = NUGGET * x[i];
            let back: f64 = points.iter().zip(&x).map(|(q, x)| matern(p, q, 2.0) * x).sum();
            assert!((back + nugget - y[i]).abs() < 1e-9);
        }
    }

    #[test]
    fn two_points_by_hand() {
        // Distance 1 and length scale 1: k = (1 + sqrt 5 + 5/3) exp(-sqrt 5).
        let k = matern(&[0.0], &[1.0], 1.0);
        assert!((k - 0.523_994_108_831_820_3).abs() < 1e-12, "{k}");
        let at = |x: f64| {
            let gp = GaussianProcess::fit(vec![vec![0.0], vec![1.0]], &[10.0, 14.0]);
            gp.predict(&[x])
        };
        // It goes through what is known, and half-way lies the mean, by symmetry.
        let (mean, deviation) = at(0.0);
        assert!((mean - 10.0).abs() < 1e-4 && deviation < 0.01, "{mean} {deviation}");
        assert!((at(0.5).0 - 12.0).abs() < 1e-9);
        // Far away it knows nothing: mean 12, deviation 2.
        let (mean, deviation) = at(1e6);
        assert!((mean - 12.0).abs() < 1e-9 && (deviation - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_smooth_function_is_met_between_its_points() {
        let f = |x: f64, y: f64| 3.0 * x - 0.2 * x * x + 0.5 * y;
        let grid: Vec<[f64; 2]> = (0..9)
            .step_by(2)
            .flat_map(|x| [0, 2, 4].map(|y| [f64::from(x), f64::from(y)]))
            .collect();
        let values: Vec<f64> = grid.iter().map(|p| f(p[0], p[1])).collect();
        let gp = GaussianProcess::fit(points(&grid), &values);
        for (x, y) in [(1.0, 1.0), (3.0, 3.0), (5.0, 2.0), (7.0, 1.0)] {
            let (mean, deviation) = gp.predict(&[x, y]);
            // Values go from 0 to 13.
            assert!((mean - f(x, y)).abs() < 0.25, "{mean} at {x}, {y}");
            assert!((mean - f(x, y)).abs() < 4.0 * deviation);
        }
    }

    #[test]
    fn values_that_are_all_the_same_are_expected_everywhere() {
        let gp = GaussianProcess::fit(points(&[[0.0, 0.0], [5.0, 5.0]]), &[7.0, 7.0]);
        assert_eq!(gp.predict(&[2.0, 2.0]).0, 7.0);
    }

    #[test]
    fn expected_improvement_against_a_sum() {
        for (mean, deviation, best, xi) in [(1.0, 0.5, 1.2, 0.0), (0.0, 2.0, -1.0, 0.1)] {
            // The integral of max(v - best - xi, 0) over the normal density, by midpoints.
            let step = 1e-3;
            let sum: f64 = (-8_000..8_000)
                .map(|i| (f64::from(i) + 0.5) * step)
                .map(|z| {
                    let gain = (mean + deviation * z - best - xi).max(0.0);
                    gain * libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt() * step
                })
                .sum();
            let ours = expected_improvement(mean, deviation, best, xi);
            assert!((ours - sum).abs() < 1e-6, "{ours} is not {sum}");
        }
        assert_eq!(expected_improvement(3.0, 0.0, 1.0, 0.5), 1.5);
        assert_eq!(expected_improvement(1.0, 0.0, 2.0, 0.0), 0.0);
    }
}
