//! Points of the plane.

use std::cmp::Ordering;

/// A point of the plane. Each coordinate is zero or between 2^-400 and 2^400 in magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Factor of u.
    pub alpha: f64,
    /// Constant term.
    pub beta: f64,
}

impl Point {
    /// Its value alpha u + beta.
    #[inline]
    pub fn at(self, u: f64) -> f64 {
        self.alpha * u + self.beta
    }

    /// By alpha, then by beta.
    #[inline]
    pub fn order(&self, other: &Point) -> Ordering {
        let by_alpha = self.alpha.partial_cmp(&other.alpha);
        by_alpha.zip(self.beta.partial_cmp(&other.beta)).map_or(Ordering::Equal, |(a, b)| a.then(b))
    }
}
