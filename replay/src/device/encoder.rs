//! A transformer encoder: its size, its forward pass as a list of steps, and random weights for it.
//!
//! A GPU and a processor run the same steps on the same weights: [`plan`] is pure, and each device
//! executes it. So one checks the other.

pub mod plan;
pub mod random;

use orrery_sim::time::Span;
use plan::Shape;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transformer encoder: fp32, random weights, a feed-forward part of four times the width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EncoderConfig {
    /// Layers.
    pub layers: u32,
    /// Attention heads; they divide `hidden`.
    pub heads: u32,
    /// Width.
    pub hidden: u32,
    /// The longest sequence.
    pub max_len: u32,
    /// The largest batch.
    pub max_batch: u32,
    /// A batch is padded to its longest sequence, and that to a multiple of this.
    #[serde(default = "pad_to")]
    pub pad_to: u32,
    /// `[length, alone_us]`, growing in both: the time alone of a sequence so long, as `profile`
    /// measured it. A request's time alone is turned into its length with it.
    pub lengths: Vec<(u32, f64)>,
}

fn pad_to() -> u32 {
    16
}

impl EncoderConfig {
    /// Its size.
    pub fn shape(&self) -> Shape {
        Shape { layers: self.layers, heads: self.heads, hidden: self.hidden }
    }

    /// The length of the sequence that takes `alone`, between the table's ends.
    pub fn length(&self, alone: Span) -> u32 {
        let alone_us = alone.ns() as f64 / 1e3;
        let Some(above) = self.lengths.iter().position(|&(_, us)| us >= alone_us) else {
            return self.lengths.last().map_or(1, |&(length, _)| length);
        };
        let (length, us) = self.lengths[above];
        let Some(&(before, before_us)) = above.checked_sub(1).and_then(|i| self.lengths.get(i))
        else {
            return length;
        };
        let share = (alone_us - before_us) / (us - before_us);
        before + (f64::from(length - before) * share + 0.5) as u32
    }

    /// The time alone of a sequence so long; none outside the table.
    pub fn alone(&self, length: u32) -> Option<Span> {
        let above = self.lengths.iter().position(|&(l, _)| l >= length)?;
        let (high, high_us) = self.lengths[above];
        let (low, low_us) = match above.checked_sub(1) {
            Some(i) => self.lengths[i],
            None if high == length => (high - 1, 0.0),
            None => return None,
        };
        let share = f64::from(length - low) / f64::from(high - low);
        Some(Span::from_ns_f64(1e3 * (low_us + share * (high_us - low_us))))
    }

    /// A length as it is computed.
    pub fn padded(&self, length: u32) -> u32 {
        length.next_multiple_of(self.pad_to)
    }

    /// The times alone at which its work changes, growing: a batch is padded to the next.
    pub fn steps(&self) -> Vec<Span> {
        let padded = 1..=self.padded(self.max_len) / self.pad_to;
        let padded = padded.map(|n| (n * self.pad_to).min(self.max_len));
        padded.filter_map(|length| self.alone(length)).collect()
    }

    /// A table in which a token takes 1 us, so that a job's `longest` in microseconds is its length:
    /// for measuring the real table.
    pub fn one_us_a_token(max_len: u32) -> Vec<(u32, f64)> {
        (1..=max_len).map(|length| (length, f64::from(length))).collect()
    }

    /// What is wrong with its numbers.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let sizes = [
            ("layers", self.layers, 256),
            ("heads", self.heads, 256),
            ("hidden", self.hidden, 16_384),
            ("max_len", self.max_len, 16_384),
            ("max_batch", self.max_batch, 4_096),
            ("pad_to", self.pad_to, 256),
        ];
        for (key, value, most) in sizes {
            if value == 0 || value > most {
                return Err(format!("`{key}` is {value}; it can be 1 to {most}"));
            }
        }
        if !self.hidden.is_multiple_of(self.heads) {
            let (heads, hidden) = (self.heads, self.hidden);
            return Err(format!("`heads` is {heads}, which does not divide `hidden` ({hidden})"));
        }
        let batches = u64::from(self.max_batch) * u64::from(self.heads);
        if batches > 65_535 {
            return Err(format!("`max_batch` times `heads` is {batches}; it can be 65535 at most"));
        }
        // The grid of our matrix product: 65,535 tiles of 64 rows.
        let tokens = u64::from(self.max_batch) * u64::from(self.padded(self.max_len));
        if tokens > 65_535 * 64 {
            return Err(format!(
                "`max_batch` times the padded `max_len` is {tokens}; it can be 4194240 at most"
            ));
        }
        if self.lengths.is_empty() {
            return Err("`lengths` is empty; it is a list of [length, alone_us], as \
                        `orrery-replay profile` prints it"
                .to_string());
        }
        let mut last = (0, 0.0);
        for &(length, us) in &self.lengths {
            if length <= last.0 || us.partial_cmp(&last.1) != Some(std::cmp::Ordering::Greater) {
                return Err(format!(
                    "`lengths` has [{length}, {us}] after [{}, {}]; both must grow",
                    last.0, last.1
                ));
            }
            if length > self.max_len || !us.is_finite() {
                return Err(format!(
                    "`lengths` has [{length}, {us}]; lengths go to `max_len` ({}), times are finite",
                    self.max_len
                ));
            }
            last = (length, us);
        }
        Ok(())
    }
}
