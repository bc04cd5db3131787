//! How an encoder's weights and buffers lie, and how large they are.

/// The size of an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Layers.
    pub layers: u32,
    /// Attention heads; they divide `hidden`.
    pub heads: u32,
    /// Width.
    pub hidden: u32,
}

/// The parts of a layer's weights, in the order in which they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Query, key and value: hidden x 3 hidden, and its bias.
    Qkv,
    /// See [`Part::Qkv`].
    QkvBias,
    /// After the heads: hidden x hidden, and its bias.
    Out,
    /// See [`Part::Out`].
    OutBias,
    /// The first layer norm.
    Gain,
    /// See [`Part::Gain`].
    Shift,
    /// Hidden x 4 hidden, and its bias.
    Up,
    /// See [`Part::Up`].
    UpBias,
    /// 4 hidden x hidden, and its bias.
    Down,
    /// See [`Part::Down`].
    DownBias,
    /// The second layer norm.
    Gain2,
    /// See [`Part::Gain2`].
    Shift2,
}

impl Part {
    /// All parts, in order.
    pub const ALL: [Part; 12] = [
        Part::Qkv,
        Part::QkvBias,
        Part::Out,
        Part::OutBias,
        Part::Gain,
        Part::Shift,
        Part::Up,
        Part::UpBias,
        Part::Down,
        Part::DownBias,
        Part::Gain2,
        Part::Shift2,
    ];

    /// Its number of floats in units of hidden and of hidden squared.
    fn size(self, hidden: u64) -> u64 {
        match self {
            Part::Qkv => 3 * hidden * hidden,
            Part::Out => hidden * hidden,
            Part::Up | Part::Down => 4 * hidden * hidden,
            Part::QkvBias => 3 * hidden,
            Part::UpBias => 4 * hidden,
            _ => hidden,
        }
    }
}

impl Shape {
    /// Where a part of a layer lies in the weights, and how long it is, in floats.
    pub fn part(&self, layer: u32, part: Part) -> (u64, u64) {
        let hidden = u64::from(self.hidden);
        let before: u64 =
            Part::ALL.iter().take_while(|p| **p != part).map(|p| p.size(hidden)).sum();
        (u64::from(layer) * self.layer_floats() + before, part.size(hidden))
    }

    fn layer_floats(&self) -> u64 {
        Part::ALL.iter().map(|p| p.size(u64::from(self.hidden))).sum()
    }

    /// Floats of all weights.
    pub fn weight_floats(&self) -> u64 {
        u64::from(self.layers) * self.layer_floats()
    }

    /// Floats of a batch's input or output.
    pub fn activation_floats(&self, items: u32, length: u32) -> u64 {
        u64::from(items) * u64::from(length) * u64::from(self.hidden)
    }

    /// Floats of a buffer for the largest batch.
    pub fn floats(&self, buffer: Buffer, items: u32, length: u32) -> u64 {
        let activation = self.activation_floats(items, length);
        match buffer {
            Buffer::Weights => self.weight_floats(),
            Buffer::Lengths => u64::from(items),
            Buffer::Wide => 4 * activation,
            Buffer::Scores => {
                u64::from(items) * u64::from(self.heads) * u64::from(length) * u64::from(length)
            }
            Buffer::Input | Buffer::X | Buffer::Y | Buffer::Q | Buffer::K | Buffer::V => activation,
        }
    }
}

/// What a launch reads and writes. All are fp32 but the lengths, which are 32-bit whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// The weights.
    Weights,
    /// The input: items x length x hidden.
    Input,
    /// The length of each item without its padding, at least 1.
    Lengths,
    /// The state, and at the end the output.
    X,
    /// The result of a part, before it is added.
    Y,
    /// Queries; later what the heads gave, merged.
    Q,
    /// Keys.
    K,
    /// Values.
    V,
    /// Queries, keys and values before they are split; the middle of the feed-forward part.
    Wide,
    /// Attention: items x heads x length x length.
    Scores,
}

impl Buffer {
    /// Those that every lane has for itself, but for the lengths.
    pub const WORK: [Buffer; 7] =
        [Buffer::X, Buffer::Y, Buffer::Q, Buffer::K, Buffer::V, Buffer::Wide, Buffer::Scores];
}
