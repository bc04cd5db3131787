//! An encoder on a lane: its buffers, and its layers on them.

use super::encoder::Buffers;
use crate::device::encoder::EncoderConfig;
use crate::device::encoder::plan::{self, Buffer, Step};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::Span;
use std::collections::BTreeMap;

/// A lane's buffers for an encoder, with all its plans.
pub struct Work {
    pub buffers: Buffers,
    /// By items and padded length: the steps of each layer.
    plans: BTreeMap<(u32, u32), Vec<Vec<Step>>>,
    /// The plan of the batch that was taken.
    pub current: (u32, u32),
}

impl EncoderConfig {
    /// Floats of its weights and of a lane's buffers, some of them counted generously.
    pub(super) fn floats(&self) -> u64 {
        let (shape, length) = (self.shape(), self.padded(self.max_len));
        let of = |b: &Buffer| shape.floats(*b, self.max_batch, length);
        shape.weight_floats() + 2 * Buffer::WORK.iter().map(of).sum::<u64>()
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        let EncoderConfig { layers, hidden, heads, .. } = self;
        format!("encoder of {layers} layers, width {hidden}, {heads} heads")
    }

    /// The buffers of a lane.
    pub(super) fn work(&self) -> Work {
        let (shape, longest) = (self.shape(), self.padded(self.max_len));
        let mut plans = BTreeMap::new();
        for items in 1..=self.max_batch {
            for n in 1..=longest / self.pad_to {
                let length = n * self.pad_to;
                plans.insert((items, length), plan::forward(&shape, items, length));
            }
        }
        let buffers = Buffers::new(&shape, self.max_batch, longest);
        Work { buffers, plans, current: (1, longest) }
    }

    /// Copies a batch's input: `units` items, the longest of which takes `longest` alone. The others'
    /// lengths are drawn by `first`; they change no cost, only the mask. False when it is too large.
    pub(super) fn take(
        &self,
        work: &mut Work,
        input: &[f32],
        units: u32,
        longest: Span,
        first: u64,
    ) -> bool {
        if units == 0 || units > self.max_batch {
            return false;
        }
        let real = self.length(longest).max(1);
        let length = self.padded(real);
        let drawn = |i: u32| {
            let share = keyed_uniform(1, fnv1a("encoder lengths"), first + u64::from(i));
            if i == 0 { real } else { 1 + (share * f64::from(real)) as u32 }
        };
        let floats = self.shape().activation_floats(units, length) as usize;
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
    pub fn output(&self, encoder: &EncoderConfig) -> &[f32] {
        let (items, length) = self.current;
        self.buffers.output(encoder.shape().activation_floats(items, length) as usize)
    }
}
