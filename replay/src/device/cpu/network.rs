//! A network, whichever it is: its weights and inputs, and its layers on a lane's buffers.

use super::cnn::{self, CnnConfig};
use super::config::Workload;
use super::encoder;
use crate::device::encoder::plan::{self, Buffer, Shape, Step};
use crate::device::encoder::{EncoderConfig, reference};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::Span;
use std::collections::BTreeMap;

/// What a batch computes.
#[derive(Clone, Debug)]
pub enum Network {
    /// A transformer encoder.
    Encoder(EncoderConfig),
    /// A convolutional network.
    Cnn(CnnConfig),
}

/// A lane's buffers for one network, with all its plans.
pub enum Work {
    /// Of an encoder.
    Encoder {
        /// Its buffers.
        buffers: encoder::Buffers,
        /// By items and padded length: the steps of each layer.
        plans: BTreeMap<(u32, u32), Vec<Vec<Step>>>,
        /// The plan of the batch that was taken.
        current: (u32, u32),
    },
    /// Of a convolutional network.
    Cnn {
        /// Its buffers.
        buffers: cnn::Buffers,
        /// The items of the batch that was taken.
        items: usize,
    },
}

impl Network {
    /// Of a configuration.
    pub fn of(workload: &Workload) -> Network {
        match workload {
            Workload::Encoder(config) => Network::Encoder(config.clone()),
            Workload::Cnn(config) => Network::Cnn(config.clone()),
        }
    }

    /// Its random weights.
    pub fn weights(&self, seed: u64) -> Vec<f32> {
        match self {
            Network::Encoder(e) => reference::weights(&shape(e), seed),
            Network::Cnn(c) => c.weights(seed),
        }
    }

    /// A random input of its largest batch.
    pub fn input(&self, seed: u64) -> Vec<f32> {
        match self {
            Network::Encoder(e) => {
                reference::input(&shape(e), e.max_batch, e.padded(e.max_len), seed)
            }
            Network::Cnn(c) => c.input(seed),
        }
    }

    /// The largest batch.
    pub fn max_batch(&self) -> u32 {
        match self {
            Network::Encoder(e) => e.max_batch,
            Network::Cnn(c) => c.max_batch,
        }
    }

    /// Floats of its weights and of a lane's buffers, some of them counted generously.
    pub fn floats(&self) -> u64 {
        match self {
            Network::Encoder(e) => {
                let (shape, length) = (shape(e), e.padded(e.max_len));
                let of = |b: &Buffer| shape.floats(*b, e.max_batch, length);
                shape.weight_floats() + 2 * Buffer::WORK.iter().map(of).sum::<u64>()
            }
            Network::Cnn(c) => cnn::Buffers::floats(c),
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Network::Encoder(e) => {
                format!("encoder of {} layers, width {}, {} heads", e.layers, e.hidden, e.heads)
            }
            Network::Cnn(c) => {
                format!("CNN of stages {:?} on {} x {} pixels", c.stages, c.side, c.side)
            }
        }
    }

    /// The longest times at which its work changes: a batch is padded to the next. None where only the
    /// number of items counts.
    pub fn steps(&self) -> Vec<Span> {
        match self {
            Network::Encoder(e) => e.steps(),
            Network::Cnn(_) => Vec::new(),
        }
    }

    /// The buffers of a lane.
    pub fn work(&self) -> Work {
        match self {
            Network::Encoder(e) => {
                let (shape, longest) = (shape(e), e.padded(e.max_len));
                let mut plans = BTreeMap::new();
                for items in 1..=e.max_batch {
                    for n in 1..=longest / e.pad_to {
                        let length = n * e.pad_to;
                        plans.insert((items, length), plan::forward(&shape, items, length));
                    }
                }
                let buffers = encoder::Buffers::new(&shape, e.max_batch, longest);
                Work::Encoder { buffers, plans, current: (1, longest) }
            }
            Network::Cnn(c) => Work::Cnn { buffers: cnn::Buffers::new(c), items: 0 },
        }
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
        if units == 0 || units > self.max_batch() {
            return false;
        }
        match (self, work) {
            (Network::Encoder(e), Work::Encoder { buffers, current, .. }) => {
                let real = e.length(longest).max(1);
                let length = e.padded(real);
                let drawn = |i: u32| {
                    let share = keyed_uniform(1, fnv1a("encoder lengths"), first + u64::from(i));
                    if i == 0 { real } else { 1 + (share * f64::from(real)) as u32 }
                };
                let floats = shape(e).activation_floats(units, length) as usize;
                buffers.take(&input[..floats], (0..units).map(|i| drawn(i).min(real)));
                *current = (units, length);
                true
            }
            (Network::Cnn(_), Work::Cnn { buffers, items }) => {
                buffers.take(&input[..units as usize * buffers.image()]);
                *items = units as usize;
                true
            }
            _ => false,
        }
    }
}

impl Work {
    /// Layers of the batch that was taken.
    pub fn layers(&self) -> usize {
        match self {
            Work::Encoder { plans, current, .. } => plans.get(current).map_or(0, Vec::len),
            Work::Cnn { buffers, .. } => buffers.layers(),
        }
    }

    /// Runs a layer of it.
    pub fn run(&mut self, layer: usize, weights: &[f32]) {
        match self {
            Work::Encoder { buffers, plans, current } => {
                if let Some(steps) = plans.get(current).and_then(|layers| layers.get(layer)) {
                    steps.iter().for_each(|step| buffers.run(step, weights));
                }
            }
            Work::Cnn { buffers, items } => buffers.run(layer, *items, weights),
        }
    }

    /// The output, once every layer has run.
    pub fn output(&self, network: &Network) -> &[f32] {
        match (self, network) {
            (Work::Encoder { buffers, current, .. }, Network::Encoder(e)) => {
                buffers.output(shape(e).activation_floats(current.0, current.1) as usize)
            }
            (Work::Cnn { buffers, items }, Network::Cnn(c)) => {
                buffers.output(items * c.output_floats())
            }
            _ => &[],
        }
    }
}

/// The shape of an encoder.
pub fn shape(e: &EncoderConfig) -> Shape {
    Shape { layers: e.layers, heads: e.heads, hidden: e.hidden }
}
