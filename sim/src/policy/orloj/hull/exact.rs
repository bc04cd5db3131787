//! Signs of small determinants, without rounding errors.
//!
//! A sign that rounding makes wrong breaks the tree. So a determinant is computed in floating point with
//! a bound of its error; where the bound does not decide, it is computed again as a sum of floats
//! without any error (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997).
//!
//! No product may underflow or overflow. That is so for coordinates that are zero or between 2^-400 and
//! 2^400 in magnitude: differences are then multiples of 2^-452, and their products of 2^-904.

use super::Point;
use std::cmp::Ordering;

/// Bound of the relative error of a difference of two products of differences: Shewchuk's 3 u, rounded up.
const UNSURE: f64 = 2.0 * f64::EPSILON;

/// How the slope of the line from `a` to `b` compares with that of the line from `c` to `d`, where `a`
/// comes before `b` and `c` before `d`. A vertical line is the steepest.
#[inline]
pub(super) fn slopes(a: Point, b: Point, c: Point, d: Point) -> Ordering {
    let (ux, uy) = (b.alpha - a.alpha, b.beta - a.beta);
    let (vx, vy) = (d.alpha - c.alpha, d.beta - c.beta);
    let (left, right) = (uy * vx, ux * vy);
    let sum = left.abs() + right.abs();
    let difference = left - right;
    // A product is zero only if a factor is; the other's sign is then right.
    if difference.abs() > UNSURE * sum || left == 0.0 || right == 0.0 {
        return sign(difference);
    }
    slopes_exactly(a, b, c, d)
}

#[cold]
fn slopes_exactly(a: Point, b: Point, c: Point, d: Point) -> Ordering {
    let (ux, uy) = (difference_of(b.alpha, a.alpha), difference_of(b.beta, a.beta));
    let (vx, vy) = (difference_of(d.alpha, c.alpha), difference_of(d.beta, c.beta));
    let mut parts = [0.0; 16];
    let factors = [(uy.0, vx.0), (uy.0, vx.1), (uy.1, vx.0), (uy.1, vx.1)];
    let minus = [(-ux.0, vy.0), (-ux.0, vy.1), (-ux.1, vy.0), (-ux.1, vy.1)];
    for (i, (a, b)) in factors.into_iter().chain(minus).enumerate() {
        (parts[2 * i], parts[2 * i + 1]) = product_of(a, b);
    }
    sign_of_sum(parts)
}

/// Whether `z` lies strictly above the line from `a` to `b`, where `a` comes before `b`.
#[inline]
pub(super) fn above(z: Point, a: Point, b: Point) -> bool {
    // On which side of the first does not matter: the determinant of z - a and b - a is the same.
    slopes(a, z, a, b) == Ordering::Greater
}

/// How alpha u + beta of `a` compares with that of `b`.
#[inline]
pub(super) fn values(a: Point, b: Point, u: f64) -> Ordering {
    let (x, y) = (a.alpha - b.alpha, a.beta - b.beta);
    let x_u = x * u;
    let difference = x_u + y;
    if difference.abs() > UNSURE * (x_u.abs() + y.abs()) || x == 0.0 {
        return sign(difference);
    }
    values_exactly(a, b, u)
}

#[cold]
fn values_exactly(a: Point, b: Point, u: f64) -> Ordering {
    let (x, y) = (difference_of(a.alpha, b.alpha), difference_of(a.beta, b.beta));
    let (high, low) = (product_of(x.0, u), product_of(x.1, u));
    sign_of_sum([y.0, y.1, low.0, low.1, high.0, high.1])
}

#[inline]
fn sign(x: f64) -> Ordering {
    x.partial_cmp(&0.0).expect("coordinates are finite")
}

/// a - b as a float and what it lacks.
fn difference_of(a: f64, b: f64) -> (f64, f64) {
    sum_of(a, -b)
}

/// a + b as a float and what it lacks (Knuth).
fn sum_of(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// a b as a float and what it lacks (Dekker; no fused multiply-add, which not every processor has).
fn product_of(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let lacks = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    (product, lacks)
}

/// A float as a sum of two with 26 bits each (Veltkamp).
fn halves(x: f64) -> (f64, f64) {
    let c = 134_217_729.0 * x;
    let high = c - (c - x);
    (high, x - high)
}

/// The sign of a sum: the partial sums are kept as floats that do not overlap, so the largest that is not
/// zero has it.
fn sign_of_sum<const N: usize>(parts: [f64; N]) -> Ordering {
    let mut sums = [0.0; N];
    for (n, part) in parts.into_iter().enumerate() {
        let mut carry = part;
        for sum in &mut sums[..n] {
            (carry, *sum) = sum_of(carry, *sum);
        }
        sums[n] = carry;
    }
    sums.iter().rev().find(|s| **s != 0.0).map_or(Ordering::Equal, |s| sign(*s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(alpha: f64, beta: f64) -> Point {
        Point { alpha, beta }
    }

    /// Points a few units in the last place beside a line, where floats alone are at a loss: compared
    /// with integers.
    #[test]
    fn signs_are_those_of_integer_arithmetic() {
        let ulp = f64::EPSILON;
        let mut unsure = 0;
        for i in 0..64i128 {
            for j in 0..64i128 {
                // In units of 2^-52, all near (1, 1).
                let whole = 1i128 << 52;
                let z = (whole + i, whole + j);
                let (a, b) = ((whole + 12, whole + 12), (whole * 24, whole * 24));
                let float = |p: (i128, i128)| at(p.0 as f64 * ulp, p.1 as f64 * ulp);
                let exact = (z.1 - a.1) * (b.0 - a.0) - (z.0 - a.0) * (b.1 - a.1);
                let (p, q, r) = (float(a), float(b), float(z));
                assert_eq!(slopes(p, r, p, q), exact.cmp(&0), "{i} {j}");
                assert_eq!(above(r, p, q), exact > 0);
                let naive = (r.beta - q.beta) * (p.alpha - q.alpha)
                    - (r.alpha - q.alpha) * (p.beta - q.beta);
                unsure += u32::from(sign(-naive) != exact.cmp(&0));
            }
        }
        assert!(unsure > 0, "plain floats would do");
    }

    /// alpha u differs from the float that it rounds to by 2^-104.
    #[test]
    fn values_are_compared_exactly() {
        let ulp = f64::EPSILON;
        for (u, beta, expected) in [
            (1.0 + ulp, -(1.0 + 2.0 * ulp), Ordering::Greater),
            (1.0 - ulp, -1.0, Ordering::Less),
            (1.0, -(1.0 + ulp), Ordering::Equal),
        ] {
            let (a, b) = (at(1.0 + ulp, beta), at(0.0, 0.0));
            assert_eq!(values(a, b, u), expected, "{u}");
            assert_eq!(values(b, a, u), expected.reverse(), "{u}");
            assert_eq!(a.at(u), 0.0, "plain floats see no difference");
        }
    }

    #[test]
    fn small_and_large_coordinates_lose_nothing() {
        let (tiny, huge) = (libm::ldexp(1.0, -400), libm::ldexp(1.0, 400));
        let a = at(tiny, huge);
        let b = at(tiny * (1.0 + f64::EPSILON), huge * (1.0 + f64::EPSILON));
        let c = at(tiny * (1.0 + 3.0 * f64::EPSILON), huge * (1.0 + 3.0 * f64::EPSILON));
        assert_eq!(slopes(a, b, a, c), Ordering::Equal);
        assert_eq!(slopes(a, c, b, c), Ordering::Equal);
        let higher = at(c.alpha, huge * (1.0 + 4.0 * f64::EPSILON));
        assert_eq!(slopes(a, b, a, higher), Ordering::Less);
    }
}
