//! A model on the device.

use super::config::Copied;
use crate::device::encoder::EncoderConfig;
use std::sync::RwLock;

/// A model on the device: what its lanes share.
pub(super) struct Model {
    pub(super) encoder: EncoderConfig,
    pub(super) copied: Copied,
    /// What a load copies.
    pub(super) master: Vec<f32>,
    /// What the layers read.
    pub(super) weights: RwLock<Vec<f32>>,
    /// An input of the largest batch.
    pub(super) input: Vec<f32>,
}
