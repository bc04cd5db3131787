//! The network: its weights and inputs, and its layers on a lane's buffers.

use super::encoder::Buffers;
use crate::device::encoder::plan::{self, Buffer, Shape, Step};
use crate::device::encoder::{EncoderConfig, reference};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::Span;
use std::collections::BTreeMap;

/// What a batch computes: a transformer encoder.
#[derive(Clone, Debug)]
pub struct Network(pub EncoderConfig);

/// A lane's buffers for a network, with all its plans.
pub struct Work {
    pub buffers: Buffers,
    /// By items and padded length: the steps of each layer.
    plans: BTreeMap<(u32, u32), Vec<Vec<Step>>>,
    /// The plan of the batch that was taken.
    pub current: (u32, u32),
}

impl Network {
    /// Its random weights.
    pub fn weights(&self, seed: u64) -> Vec<f32> {
        reference::weights(&shape(&self.0), seed)
    }

    /// A random input of its largest batch.
    pub fn input(&self, seed: u64) -> Vec<f32> {
        let e = &self.0;
        reference::input(&shape(e), e.max_batch, e.padded(e.max_len), seed)
    }

    /// The largest batch.
    pub fn max_batch(&self) -> u32 {
        self.0.max_batch
    }

    /// Floats of its weights and of a lane's buffers, some of them counted generously.
    pub fn floats(&self) -> u64 {
        let e = &self.0;
        let (shape, length) = (shape(e), e.padded(e.max_len));
        let of = |b: &Buffer| shape.floats(*b, e.max_batch, length);
        shape.weight_floats() + 2 * Buffer::WORK.iter().map(of).sum::<u64>()
    }

    /// In words.
    pub fn describe(&self) -> String {
        let e = &self.0;
        format!("encoder of {} layers, width {}, {} heads", e.layers, e.hidden, e.heads)
    }

    /// The longest times at which its work changes: a batch is padded to the next.
    pub fn steps(&self) -> Vec<Span> {
        self.0.steps()
    }

    /// The buffers of a lane.
    pub fn work(&self) -> Work {
        let e = &self.0;
        let (shape, longest) = (shape(e), e.padded(e.max_len));
        let mut plans = BTreeMap::new();
        for items in 1..=e.max_batch {
            for n in 1..=longest / e.pad_to {
                let length = n * e.pad_to;
                plans.insert((items, length), plan::forward(&shape, items, length));
            }
        }
        let buffers = Buffers::new(&shape, e.max_batch, longest);
        Work { buffers, plans, current: (1, longest) }
    }

    /// Copies a batch's input: `units` items, the longest of which takes `longest` alone. The others'
    /// lengths are drawn by `first`; they change no cost, only the mask. False when it is too large.
    pub fn take(
        &self,
        work: &mut Work,
        input: &[f32],
        units: u32,
        longest: Span,
        first: u64,
    ) -> bool {
        let e = &self.0;
        if units == 0 || units > e.max_batch {
            return false;
        }
        let real = e.length(longest).max(1);
        let length = e.padded(real);
        let drawn = |i: u32| {
            let share = keyed_uniform(1, fnv1a("encoder lengths"), first + u64::from(i));
            if i == 0 { real } else { 1 + (share * f64::from(real)) as u32 }
        };
        let floats = shape(e).activation_floats(units, length) as usize;
        work.buffers.take(&input[..floats], (0..units).map(|i| drawn(i).min(real)));
        work.current = (units, length);
        true
    }
}

impl Work {
    /// Layers of the batch that was taken.
    pub fn layers(&self) -> usize {
        self.plans.get(&self.current).map_or(0, Vec::len)
    }

    /// Runs a layer of it.
    pub fn run(&mut self, layer: usize, weights: &[f32]) {
        if let Some(steps) = self.plans.get(&self.current).and_then(|layers| layers.get(layer)) {
            steps.iter().for_each(|step| self.buffers.run(step, weights));
        }
    }

    /// The output, once every layer has run.
    pub fn output(&self, network: &Network) -> &[f32] {
        let (items, length) = self.current;
        self.buffers.output(shape(&network.0).activation_floats(items, length) as usize)
    }
}

/// The shape of an encoder.
pub fn shape(e: &EncoderConfig) -> Shape {
    Shape { layers: e.layers, heads: e.heads, hidden: e.hidden }
}
