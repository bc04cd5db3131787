//! The encoder's steps on a core: the same list that a GPU launches.

use super::product::product;
use crate::device::encoder::plan::{Arg, Buffer, Gemm, Kernel, Launch, Shape, Spot, Step};

/// A lane's buffers, large enough for the largest batch.
#[derive(Debug, Default)]
pub struct Buffers {
    input: Vec<f32>,
    work: [Vec<f32>; Buffer::WORK.len()],
    lengths: Vec<u32>,
}

fn index(buffer: Buffer) -> Option<usize> {
    Buffer::WORK.iter().position(|b| *b == buffer)
}

impl Buffers {
    /// Buffers for so many items of a length, every page of them touched.
    pub fn new(shape: &Shape, items: u32, length: u32) -> Buffers {
        let floats = |buffer| shape.floats(buffer, items, length) as usize;
        Buffers {
            input: vec![0.25; floats(Buffer::Input)],
            work: Buffer::WORK.map(|buffer| vec![0.25; floats(buffer)]),
            lengths: vec![1; items as usize],
        }
    }

    /// Takes a batch: a sequence for each of `lengths`, the items of `input` one after another.
    pub fn take(&mut self, input: &[f32], lengths: impl Iterator<Item = u32>) {
        self.input[..input.len()].copy_from_slice(input);
        self.lengths.iter_mut().zip(lengths).for_each(|(to, length)| *to = length);
    }

    /// The output of the last batch.
    pub fn output(&self, floats: usize) -> &[f32] {
        &self.read(Buffer::X, &[])[..floats]
    }

    fn read<'a>(&'a self, buffer: Buffer, weights: &'a [f32]) -> &'a [f32] {
        match (buffer, index(buffer)) {
            (Buffer::Weights, _) => weights,
            (_, Some(at)) => &self.work[at],
            _ => &self.input,
        }
    }

    /// Takes a buffer out, to write to it while others are read.
    fn out(&mut self, buffer: Buffer) -> Vec<f32> {
        index(buffer).map_or(Vec::new(), |at| std::mem::take(&mut self.work[at]))
    }

    fn back(&mut self, buffer: Buffer, content: Vec<f32>) {
        if let Some(at) = index(buffer) {
            self.work[at] = content;
        }
    }

    /// Runs a step.
    pub fn run(&mut self, step: &Step, weights: &[f32]) {
        match step {
            Step::Gemm(gemm) => self.gemm(gemm, weights),
            Step::Launch(launch) => self.launch(launch, weights),
        }
    }

    fn gemm(&mut self, gemm: &Gemm, weights: &[f32]) {
        let mut out = self.out(gemm.c.0);
        let [a, b] = [gemm.a, gemm.b].map(|at| self.at(at, weights));
        let size = [gemm.m, gemm.k, gemm.n].map(|x| x as usize);
        let strides = gemm.strides().map(|s| s as usize);
        for i in 0..gemm.batch as usize {
            let c = &mut out[gemm.c.1 as usize + i * strides[2]..];
            let operands = (&b[i * strides[1]..], gemm.b_transposed);
            product((size[0], size[1], size[2]), gemm.alpha, &a[i * strides[0]..], operands, c);
        }
        self.back(gemm.c.0, out);
    }

    fn at<'a>(&'a self, (buffer, from): Spot, weights: &'a [f32]) -> &'a [f32] {
        &self.read(buffer, weights)[from as usize..]
    }

    fn launch(&mut self, launch: &Launch<Spot>, weights: &[f32]) {
        // The arguments are the kernels', in their order.
        let spot = |i: usize| match launch.args.get(i) {
            Some(Arg::At(spot)) => *spot,
            _ => (Buffer::Lengths, 0),
        };
        let number = |i: usize| match launch.args.get(i) {
            Some(Arg::U32(x)) => *x as usize,
            Some(Arg::U64(x)) => *x as usize,
            _ => 0,
        };
        match launch.kernel {
            Kernel::SplitHeads => {
                let outs = [0, 1, 2].map(|i| spot(i).0);
                let mut parts = outs.map(|buffer| self.out(buffer));
                let (wide, bias) = (self.at(spot(3), weights), self.at(spot(4), weights));
                split_heads(&mut parts, wide, bias, [5, 6, 7, 8].map(number));
                outs.into_iter().zip(parts).for_each(|(buffer, part)| self.back(buffer, part));
            }
            Kernel::MergeHeads => {
                let mut out = self.out(spot(0).0);
                merge_heads(&mut out, self.at(spot(1), weights), [2, 3, 4, 5].map(number));
                self.back(spot(0).0, out);
            }
            Kernel::Softmax => {
                let mut scores = self.out(spot(0).0);
                softmax(&mut scores, &self.lengths, launch.grid.0 as usize, number(2), number(3));
                self.back(spot(0).0, scores);
            }
            Kernel::AddNorm => {
                let (rows, hidden) = (launch.grid.0 as usize, number(6));
                let mut added = self.out(spot(1).0);
                let mut out = self.out(spot(0).0);
                // The output may be the residual.
                let own = spot(3).0 == spot(0).0;
                let residual = if own { &[] } else { self.at(spot(3), weights) };
                let parts = [2, 4, 5].map(|i| &self.at(spot(i), weights)[..hidden]);
                for row in 0..rows {
                    let at = row * hidden..(row + 1) * hidden;
                    let x = &mut out[at.clone()];
                    if !own {
                        x.copy_from_slice(&residual[at.clone()]);
                    }
                    add_norm(x, &added[at], parts);
                }
                self.back(spot(0).0, out);
                self.back(spot(1).0, std::mem::take(&mut added));
            }
            Kernel::BiasGelu => {
                let mut out = self.out(spot(0).0);
                let (count, width) = (number(2), number(3));
                let bias = &self.at(spot(1), weights)[..width];
                out[..count].chunks_exact_mut(width).for_each(|row| bias_gelu(row, bias));
                self.back(spot(0).0, out);
            }
            // Not of an encoder.
            _ => {}
        }
    }
}

type Heads = [usize; 4];

fn split_heads(parts: &mut [Vec<f32>; 3], wide: &[f32], bias: &[f32], sizes: Heads) {
    let [items, length, heads, width] = sizes;
    let hidden = heads * width;
    for (which, part) in parts.iter_mut().enumerate() {
        for item in 0..items {
            for place in 0..length {
                let token = (item * length + place) * 3 * hidden + which * hidden;
                for head in 0..heads {
                    let from = &wide[token + head * width..][..width];
                    let bias = &bias[which * hidden + head * width..][..width];
                    let to = &mut part[((item * heads + head) * length + place) * width..][..width];
                    for ((to, from), bias) in to.iter_mut().zip(from).zip(bias) {
                        *to = from + bias;
                    }
                }
            }
        }
    }
}

fn merge_heads(out: &mut [f32], parts: &[f32], sizes: Heads) {
    let [items, length, heads, width] = sizes;
    for item in 0..items {
        for head in 0..heads {
            for place in 0..length {
                let from = &parts[((item * heads + head) * length + place) * width..][..width];
                let to = ((item * length + place) * heads + head) * width;
                out[to..to + width].copy_from_slice(from);
            }
        }
    }
}

fn softmax(scores: &mut [f32], lengths: &[u32], rows: usize, heads: usize, length: usize) {
    for (row, scores) in scores.chunks_exact_mut(length).take(rows).enumerate() {
        let real = (lengths[row / (heads * length)] as usize).min(length);
        let (scores, padding) = scores.split_at_mut(real);
        let largest = scores.iter().copied().fold(f32::MIN, f32::max);
        scores.iter_mut().for_each(|s| *s = exp(*s - largest));
        let scale = 1.0 / scores.iter().sum::<f32>();
        scores.iter_mut().for_each(|s| *s *= scale);
        padding.fill(0.0);
    }
}

/// Layer norm of x + added + bias, with gain and shift.
fn add_norm(x: &mut [f32], added: &[f32], [bias, gain, shift]: [&[f32]; 3]) {
    for ((x, added), bias) in x.iter_mut().zip(added).zip(bias) {
        *x += added + bias;
    }
    let n = x.len() as f32;
    let mean = x.iter().sum::<f32>() / n;
    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / n;
    let scale = 1.0 / (variance + 1e-5).sqrt();
    for ((x, gain), shift) in x.iter_mut().zip(gain).zip(shift) {
        *x = (*x - mean) * scale * gain + shift;
    }
}

fn bias_gelu(row: &mut [f32], bias: &[f32]) {
    for (x, bias) in row.iter_mut().zip(bias) {
        let value = *x + bias;
        *x = 0.5 * value * (1.0 + erf(value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// e to the power of `x`, which is at most some 80, to seven digits. Without a branch, so that a compiler
/// works on several numbers at once.
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    // Adding and taking away this number rounds.
    const ROUND: f32 = 12_582_912.0;
    let n = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let r = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4 * r + 1.398_199_9e-3;
    let p = ((p * r + 8.333_452e-3) * r + 4.166_579_6e-2) * r + 0.166_666_65;
    let p = (p * r + 0.5) * r * r + r + 1.0;
    p * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

/// The error function: Abramowitz and Stegun, 7.1.26, within 1.5e-7.
fn erf(x: f32) -> f32 {
    let a = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let p = 1.061_405_4 * t - 1.453_152;
    let p = (((p * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    let y = 1.0 - p * exp(-a * a);
    y.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_near_the_library_s() {
        for i in -4_000..=4_000 {
            let x = f64::from(i) / 500.0;
            let e = f64::from(exp(x as f32));
            assert!((e / libm::exp(f64::from(x as f32)) - 1.0).abs() < 3e-7, "{x}");
            assert!((f64::from(erf(x as f32)) - libm::erf(x)).abs() < 6e-7, "{x}");
        }
        assert!(exp(-1e4) < 1e-37 && exp(-1e4) >= f32::MIN_POSITIVE / 2.0);
    }
}
