//! The executor for loads: copies a model's weights into the page cache, on a stream of its own
//! (Clockwork, §5.2).
//!
//! The weights come from one ring of pinned pages: what they are changes nothing about a copy, and the
//! encoder keeps its own weights beside the cache, since a device is not told when a model's pages are
//! given away.
#![allow(unsafe_code)]

use super::driver::{Memory, Pinned};
use super::pages::{PAGE_BYTES, PageCache};
use super::shared::Shared;
use super::wait::wait;
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use cudarc::driver::{CudaEvent, CudaStream};
use orrery_sim::time::Span;
use std::sync::Arc;

/// Pinned pages: more than a processor's cache holds, so that copies read memory.
const RING: usize = 16;

/// See the module's text.
pub struct Loader {
    shared: Arc<Shared>,
    stream: Arc<CudaStream>,
    first: CudaEvent,
    last: CudaEvent,
    pages: PageCache,
    cache: Memory,
    ring: Vec<Pinned>,
    next: usize,
    /// The least that a page ever took.
    page: Option<Span>,
}

impl Loader {
    /// The page cache and what fills it.
    pub fn new(shared: Arc<Shared>) -> Result<Loader, DeviceError> {
        let gpu = &shared.gpu;
        let cache = gpu.memory("the page cache", u64::from(shared.cache_pages) * PAGE_BYTES)?;
        let pinned = RING.min(shared.cache_pages as usize);
        let ring = (0..pinned).map(|_| gpu.pinned(PAGE_BYTES)).collect::<Result<Vec<_>, _>>()?;
        Ok(Loader {
            stream: gpu.stream(false)?,
            first: gpu.event()?,
            last: gpu.event()?,
            pages: PageCache::new(shared.cache_pages),
            cache,
            ring,
            next: 0,
            page: None,
            shared,
        })
    }
}

impl Worker for Loader {
    fn start(&mut self) -> Result<(), DeviceError> {
        self.shared.gpu.bind()
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, _stop: &Stop) -> Result<Ran, DeviceError> {
        let start = place.clock.now();
        let gpu = &self.shared.gpu;
        let doing = format!("loading a model (action {})", job.action.0);
        let fault =
            |said: String, remedy| Err(DeviceError::new(gpu.device(), &doing, said, remedy));
        let Work::Load { model, .. } = job.work else {
            return fault("it is no load".to_string(), "report a bug");
        };
        let Some(config) = self.shared.models.get(model.index()) else {
            let said = format!("model {} has no entry in the device's configuration", model.0);
            return fault(said, "give every model of the scenario an entry in `models`");
        };
        let Some(pages) = self.pages.place(model, config.pages) else {
            let said =
                format!("it has {} pages, the cache {}", config.pages, self.shared.cache_pages);
            return fault(said, "raise `cache_pages`");
        };
        gpu.check(&doing, self.first.record(&self.stream))?;
        for &page in pages {
            let from = &self.ring[self.next % self.ring.len()];
            self.next = self.next.wrapping_add(1);
            // SAFETY: the ring is not written to; both sides live as long as this loader, which waits
            // below. Kernels do not use the cache.
            unsafe {
                gpu.copy(&self.stream, from, &self.cache, u64::from(page) * PAGE_BYTES, PAGE_BYTES)?
            };
        }
        gpu.check(&doing, self.last.record(&self.stream))?;
        let count = pages.len() as u64;
        let expected = self.page.map_or(Span::ZERO, |page| (page * count).scale(0.75));
        wait(gpu, &self.last, &doing, expected, Some(place))?;
        let end = place.clock.now();
        let device = gpu.between(&self.first, &self.last)?;
        if let Some(page) = device.ns().checked_div(count).map(Span::from_ns) {
            self.page = Some(self.page.map_or(page, |least| least.min(page)));
        }
        Ok(Ran { start, end, device, away: Span::ZERO, stopped: false })
    }
}
