//! The encoder on the CPU, in plain loops and doubles: what a device's output must equal.
//!
//! Shares the layout of the weights with the device's plan, and nothing else. Slow.

use super::{EncoderConfig, Part, Shape, random};

/// The largest difference between two values of a device's output for a batch with these lengths, and of the reference's.
pub fn off_by(encoder: &EncoderConfig, seed: u64, lengths: &[u32], got: &[f32]) -> f64 {
    let (shape, largest) = (encoder.shape(), encoder.padded(encoder.max_len));
    let length = encoder.padded(lengths.iter().copied().max().unwrap_or(0));
    let input = random::input(&shape, encoder.max_batch, largest, seed);
    let weights = random::weights(&shape, seed);
    let wanted = forward(&shape, &weights, &input[..got.len()], lengths, length);
    assert_eq!(got.len(), wanted.len());
    let off = got.iter().zip(&wanted).map(|(got, wanted)| (f64::from(*got) - wanted).abs());
    // Not `max`: that would hide NaN.
    off.fold(0.0, |worst, off| if off <= worst { worst } else { off })
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
