//! What Orloj computes, without a run: a batch's law, costs and scores over time ([`score`]), and the laws of
//! execution times that its tables assume ([`laws`]).

pub mod laws;
pub mod score;

use serde::Serialize;

/// A value at a place along x, of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The curve: a law or a request.
    pub of: String,
    /// As in [`orrery_results::Row::metric`].
    pub metric: &'static str,
    /// Along x.
    pub at: f64,
    /// In the metric's unit.
    pub value: f64,
}

/// What identifies it: all that its values depend on.
fn words(file: &impl Serialize) -> String {
    toml::to_string(file).unwrap_or_default()
}
