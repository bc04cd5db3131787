//! What all lanes of a device read.

use super::driver::{Gpu, Memory};
use crate::device::DeviceError;
use crate::device::encoder::plan::Shape;
use crate::device::encoder::reference;

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
        let input = reference::input(&shape, max_batch, max_len, seed);
        let floats = shape.weight_floats();
        let resident = Resident {
            weights: gpu.memory("an encoder's weights", floats * 4)?,
            input: gpu.memory("an encoder's input", input.len() as u64 * 4)?,
            max_batch,
            shape,
        };
        gpu.write(&resident.weights, &reference::weights(&shape, seed))?;
        gpu.write(&resident.input, &input)?;
        Ok(resident)
    }
}
