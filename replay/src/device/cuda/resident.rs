//! What all lanes of a device read.

use super::driver::{Gpu, Memory};
use crate::device::DeviceError;
use crate::device::encoder::plan::Shape;
use crate::device::encoder::random;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An encoder's weights, and an input of its largest batch.
#[derive(Debug)]
pub struct Resident {
    /// Its size.
    pub shape: Shape,
    /// Its weights.
    pub weights: Memory,
    /// An input of its largest batch.
    pub input: Memory,
    /// The size of that.
    pub max_batch: u32,
}

impl Resident {
    /// Makes random weights and input, and copies them to the device.
    pub fn new(
        gpu: &Gpu,
        shape: Shape,
        max_batch: u32,
        max_len: u32,
        seed: u64,
    ) -> Result<Resident, DeviceError> {
        let input = random::input(&shape, max_batch, max_len, seed);
        let floats = shape.weight_floats();
        let resident = Resident {
            weights: gpu.memory("an encoder's weights", floats * 4)?,
            input: gpu.memory("an encoder's input", input.len() as u64 * 4)?,
            max_batch,
            shape,
        };
        gpu.write(&resident.weights, &weights(shape, seed))?;
        gpu.write(&resident.input, &input)?;
        Ok(resident)
    }
}

/// By shape and seed.
type Drawn = BTreeMap<(Shape, u64), Arc<Vec<f32>>>;

/// An encoder's weights, drawn once: every run of a campaign opens the device anew, while a GPU waits.
fn weights(shape: Shape, seed: u64) -> Arc<Vec<f32>> {
    static DRAWN: Mutex<Drawn> = Mutex::new(Drawn::new());
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let of = drawn.entry((shape, seed)).or_insert_with(|| Arc::new(random::weights(&shape, seed)));
    Arc::clone(of)
}
