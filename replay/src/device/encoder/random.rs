//! An encoder's random weights, and a random input.

use super::plan::{Part, Shape};
use orrery_sim::rng::Stream;

/// Random weights: matrices and biases uniform, of variance 1 / rows of the matrix; gains around 1.
pub fn weights(shape: &Shape, seed: u64) -> Vec<f32> {
    let mut stream = Stream::named(seed, "encoder weights", 0);
    let mut all = Vec::with_capacity(shape.weight_floats() as usize);
    for layer in 0..shape.layers {
        for part in Part::ALL {
            let floats = shape.part(layer, part).1;
            let rows = if part == Part::Down { 4 * shape.hidden } else { shape.hidden };
            let reach = (3.0 / f64::from(rows)).sqrt();
            let middle = if matches!(part, Part::Gain | Part::Gain2) { 1.0 } else { 0.0 };
            all.extend((0..floats).map(|_| uniform(&mut stream, middle, reach)));
        }
    }
    all
}

/// A random input, uniform with variance 1.
pub fn input(shape: &Shape, items: u32, length: u32, seed: u64) -> Vec<f32> {
    let mut stream = Stream::named(seed, "encoder input", 0);
    let floats = shape.activation_floats(items, length);
    (0..floats).map(|_| uniform(&mut stream, 0.0, 3f64.sqrt())).collect()
}

fn uniform(stream: &mut Stream, middle: f64, reach: f64) -> f32 {
    (middle + reach * (2.0 * stream.uniform() - 1.0)) as f32
}
