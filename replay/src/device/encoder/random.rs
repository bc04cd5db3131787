//! The encoder on the CPU, in plain loops and doubles: what the device's output must equal.
//!
//! Shares the layout of the weights with the device's plan, and nothing else. Slow.

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

/// The output for a batch of one sequence for each of `lengths`, padded to `length`.
pub fn forward(
    shape: &Shape,
    weights: &[f32],
    input: &[f32],
    lengths: &[u32],
    length: u32,
) -> Vec<f64> {
    let hidden = shape.hidden as usize;
    let mut x: Vec<f64> = input.iter().map(|v| f64::from(*v)).collect();
    for layer in 0..shape.layers {
        let part = |part| {
            let (from, floats) = shape.part(layer, part);
            &weights[from as usize..(from + floats) as usize]
        };
        let qkv = linear(&x, part(Part::Qkv), part(Part::QkvBias));
        let attended = attention(shape, &qkv, lengths, length as usize);
        let out = linear(&attended, part(Part::Out), part(Part::OutBias));
        add_norm(&mut x, &out, part(Part::Gain), part(Part::Shift), hidden);
        let mut wide = linear(&x, part(Part::Up), part(Part::UpBias));
        for v in &mut wide {
            *v = 0.5 * *v * (1.0 + libm::erf(*v / 2f64.sqrt()));
        }
        let down = linear(&wide, part(Part::Down), part(Part::DownBias));
        add_norm(&mut x, &down, part(Part::Gain2), part(Part::Shift2), hidden);
    }
    x
}

/// Rows of `x` times a matrix with as many columns as `bias` has entries, plus the bias.
fn linear(x: &[f64], matrix: &[f32], bias: &[f32]) -> Vec<f64> {
    let columns = bias.len();
    let rows = matrix.len() / columns;
    let mut out = Vec::with_capacity(x.len() / rows * columns);
    for row in x.chunks_exact(rows) {
        let from = out.len();
        out.extend(bias.iter().map(|b| f64::from(*b)));
        for (value, weights) in row.iter().zip(matrix.chunks_exact(columns)) {
            for (sum, weight) in out[from..].iter_mut().zip(weights) {
                *sum += value * f64::from(*weight);
            }
        }
    }
    out
}

fn attention(shape: &Shape, qkv: &[f64], lengths: &[u32], length: usize) -> Vec<f64> {
    let (hidden, heads) = (shape.hidden as usize, shape.heads as usize);
    let width = hidden / heads;
    let token =
        |item: usize, place: usize| &qkv[(item * length + place) * 3 * hidden..][..3 * hidden];
    let mut out = vec![0.0; lengths.len() * length * hidden];
    for (item, &real) in lengths.iter().enumerate() {
        for head in 0..heads {
            let columns =
                |which: usize| which * hidden + head * width..which * hidden + (head + 1) * width;
            for place in 0..length {
                let query = &token(item, place)[columns(0)];
                let score = |key: usize| {
                    let key = &token(item, key)[columns(1)];
                    query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() / (width as f64).sqrt()
                };
                let scores: Vec<f64> = (0..real as usize).map(score).collect();
                let largest = scores.iter().copied().fold(f64::MIN, f64::max);
                let shares: Vec<f64> = scores.iter().map(|s| libm::exp(s - largest)).collect();
                let sum: f64 = shares.iter().sum();
                let to = &mut out[(item * length + place) * hidden + head * width..][..width];
                for (key, share) in shares.iter().enumerate() {
                    for (o, v) in to.iter_mut().zip(&token(item, key)[columns(2)]) {
                        *o += share / sum * v;
                    }
                }
            }
        }
    }
    out
}

fn add_norm(x: &mut [f64], added: &[f64], gain: &[f32], shift: &[f32], hidden: usize) {
    for (x, added) in x.chunks_exact_mut(hidden).zip(added.chunks_exact(hidden)) {
        x.iter_mut().zip(added).for_each(|(x, a)| *x += a);
        let mean = x.iter().sum::<f64>() / hidden as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / hidden as f64;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        for ((x, gain), shift) in x.iter_mut().zip(gain).zip(shift) {
            *x = (*x - mean) * scale * f64::from(*gain) + f64::from(*shift);
        }
    }
}
