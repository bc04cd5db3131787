//! A convolutional network of residual stages: two 3 x 3 convolutions each, around them a 1 x 1 one.
//!
//! Images lie pixel by pixel, channels last. A stage after the first halves the side. A convolution
//! copies the neighbourhood of each pixel into a row and multiplies.

use super::product::product;
use orrery_sim::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Channels of an input image.
pub(super) const COLOURS: usize = 3;

/// The size of a network: fp32, random weights, on square images of three colours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CnnConfig {
    /// The channels of each stage.
    pub stages: Vec<u32>,
    /// The side of an input image, in pixels.
    pub side: u32,
    /// The largest batch.
    pub max_batch: u32,
}

/// A convolution: sizes of what it reads and writes, and where its weights lie.
#[derive(Clone, Copy, Debug)]
struct Conv {
    side: usize,
    from: usize,
    to: usize,
    kernel: usize,
    stride: usize,
    weights: usize,
}

impl Conv {
    fn out_side(&self) -> usize {
        self.side.div_ceil(self.stride)
    }

    /// Floats of a pixel's neighbourhood.
    fn row(&self) -> usize {
        self.kernel * self.kernel * self.from
    }

    fn floats(&self) -> usize {
        self.row() * self.to
    }
}

impl CnnConfig {
    /// What is wrong with its numbers.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        if self.stages.is_empty() || self.stages.len() > 8 {
            return Err(format!("`stages` has {}; it can have 1 to 8", self.stages.len()));
        }
        let stages = self.stages.iter().map(|c| ("stages", *c, 1, 4_096));
        let rest = [("side", self.side, 8, 1_024), ("max_batch", self.max_batch, 1, 4_096)];
        match stages.chain(rest).find(|(_, found, low, high)| !(low..=high).contains(&found)) {
            Some((key, found, low, high)) => {
                Err(format!("`{key}` is {found}; it can be {low} to {high}"))
            }
            None => Ok(()),
        }
    }

    /// The convolutions of each stage: two, and the one around them.
    fn convs(&self) -> Vec<[Conv; 3]> {
        let (mut side, mut from, mut weights) = (self.side as usize, COLOURS, 0);
        let stage = |(number, channels): (usize, &u32)| {
            let (to, stride) = (*channels as usize, if number == 0 { 1 } else { 2 });
            let mut conv = |side, from, kernel, stride| {
                let conv = Conv { side, from, to, kernel, stride, weights };
                weights += conv.floats();
                conv
            };
            let first = conv(side, from, 3, stride);
            let half = first.out_side();
            let all = [first, conv(half, to, 3, 1), conv(side, from, 1, stride)];
            (side, from) = (half, to);
            all
        };
        self.stages.iter().enumerate().map(stage).collect()
    }

    /// Floats of an input image.
    pub fn image(&self) -> usize {
        (self.side * self.side) as usize * COLOURS
    }

    /// Floats of the weights.
    pub fn weight_floats(&self) -> usize {
        self.convs().iter().flatten().map(Conv::floats).sum()
    }

    /// Floats of the output of an item: the mean of each channel of the last stage.
    pub fn output_floats(&self) -> usize {
        self.stages.last().map_or(0, |c| *c as usize)
    }

    /// Random weights: uniform, of variance 2 / inputs (halved where two branches are added).
    pub fn weights(&self, seed: u64) -> Vec<f32> {
        let mut stream = Stream::named(seed, "cnn weights", 0);
        let mut all = Vec::with_capacity(self.weight_floats());
        for conv in self.convs().iter().flatten() {
            let reach = (3.0 / conv.row() as f64).sqrt();
            all.extend((0..conv.floats()).map(|_| (reach * (2.0 * stream.uniform() - 1.0)) as f32));
        }
        all
    }

    /// Random images for the largest batch.
    pub fn input(&self, seed: u64) -> Vec<f32> {
        let mut stream = Stream::named(seed, "cnn input", 0);
        let floats = self.max_batch as usize * self.image();
        (0..floats).map(|_| (2.0 * stream.uniform() - 1.0) as f32).collect()
    }
}

/// A lane's buffers for one network.
#[derive(Debug)]
pub struct Buffers {
    convs: Vec<[Conv; 3]>,
    image: usize,
    /// Of all items: the stage's input, the result of its first convolution, and its output.
    x: Vec<f32>,
    middle: Vec<f32>,
    y: Vec<f32>,
    /// Of one item: the neighbourhoods, and what goes around.
    rows: Vec<f32>,
    around: Vec<f32>,
}

impl Buffers {
    /// Buffers for the largest batch, every page of them touched.
    pub fn new(config: &CnnConfig) -> Buffers {
        let convs = config.convs();
        let items = config.max_batch as usize;
        let outs = |c: &Conv| c.out_side() * c.out_side() * c.to;
        let largest = convs.iter().flatten().map(outs).chain([config.image()]).max().unwrap_or(0);
        let rows = |c: &Conv| c.out_side() * c.out_side() * c.row();
        let rows = convs.iter().flatten().map(rows).max().unwrap_or(0);
        let [x, middle, y] = [(); 3].map(|()| vec![0.25; items * largest]);
        let around = vec![0.25; largest];
        Buffers { image: config.image(), convs, x, middle, y, rows: vec![0.25; rows], around }
    }

    /// Floats of all.
    pub fn floats(config: &CnnConfig) -> u64 {
        let items = u64::from(config.max_batch);
        let pixels = u64::from(config.side).pow(2);
        let widest = u64::from(config.stages.iter().copied().max().unwrap_or(0));
        (3 * items + 10) * pixels * widest.max(COLOURS as u64) + config.weight_floats() as u64
    }

    /// Takes a batch of images.
    pub fn take(&mut self, input: &[f32]) {
        self.x[..input.len()].copy_from_slice(input);
    }

    /// Layers: a convolution of a stage each, and the mean at the end.
    pub fn layers(&self) -> usize {
        2 * self.convs.len() + 1
    }

    /// Runs a layer for so many items.
    pub fn run(&mut self, layer: usize, items: usize, weights: &[f32]) {
        let Some([first, second, around]) = self.convs.get(layer / 2).copied() else {
            return self.mean(items);
        };
        let inputs = first.side * first.side * first.from;
        let outs = first.out_side() * first.out_side() * first.to;
        if layer.is_multiple_of(2) {
            for item in 0..items {
                let to = &mut self.middle[item * outs..][..outs];
                convolve(&first, &self.x[item * inputs..][..inputs], weights, &mut self.rows, to);
                to.iter_mut().for_each(|v| *v = v.max(0.0));
            }
            return;
        }
        for item in 0..items {
            let to = &mut self.y[item * outs..][..outs];
            convolve(&second, &self.middle[item * outs..][..outs], weights, &mut self.rows, to);
            let skip = &mut self.around[..outs];
            convolve(&around, &self.x[item * inputs..][..inputs], weights, &mut self.rows, skip);
            to.iter_mut().zip(skip).for_each(|(v, skip)| *v = (*v + *skip).max(0.0));
        }
        std::mem::swap(&mut self.x, &mut self.y);
    }

    /// The mean of each channel, at the front of `x`.
    fn mean(&mut self, items: usize) {
        let Some([_, last, _]) = self.convs.last() else { return };
        let (pixels, channels) = (last.out_side() * last.out_side(), last.to);
        for item in 0..items {
            for channel in 0..channels {
                let of = |p: usize| self.x[(item * pixels + p) * channels + channel];
                let sum: f32 = (0..pixels).map(of).sum();
                self.middle[item * channels + channel] = sum / pixels as f32;
            }
        }
        std::mem::swap(&mut self.x, &mut self.middle);
    }

    /// The output of the last batch.
    pub fn output(&self, floats: usize) -> &[f32] {
        &self.x[..floats]
    }

    /// Floats of an input image.
    pub fn image(&self) -> usize {
        self.image
    }
}

fn convolve(conv: &Conv, x: &[f32], weights: &[f32], rows: &mut [f32], to: &mut [f32]) {
    let (side, row) = (conv.out_side(), conv.row());
    let reach = (conv.kernel / 2) as isize;
    for (pixel, row) in rows.chunks_exact_mut(row).take(side * side).enumerate() {
        let (down, right) = (pixel / side * conv.stride, pixel % side * conv.stride);
        let parts = row.chunks_exact_mut(conv.from);
        for (i, part) in parts.enumerate() {
            let y = (down + i / conv.kernel) as isize - reach;
            let z = (right + i % conv.kernel) as isize - reach;
            let inside = 0..conv.side as isize;
            if inside.contains(&y) && inside.contains(&z) {
                let from = (y as usize * conv.side + z as usize) * conv.from;
                part.copy_from_slice(&x[from..from + conv.from]);
            } else {
                part.fill(0.0);
            }
        }
    }
    let weights = &weights[conv.weights..][..conv.floats()];
    product((side * side, row, conv.to), 1.0, rows, (weights, false), to);
}
