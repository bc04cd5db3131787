//! What the workers of a device share.

use super::bench::Calibration;
use super::config::{Graphs, ModelConfig};
use super::driver::Gpu;
use super::resident::Resident;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the workers of a device share.
pub(super) struct Shared {
    pub gpu: Gpu,
    pub models: Vec<ModelConfig>,
    pub encoders: BTreeMap<ModelId, Arc<Resident>>,
    pub calibration: Calibration,
    pub multiprocessors: u32,
    pub cache_pages: u32,
    pub chunk: Option<Span>,
    pub graphs: Graphs,
    pub without_cublas: bool,
    pub seed: u64,
}
