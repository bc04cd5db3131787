//! The page cache of a device (Clockwork, §5.2): which of its 16 MiB pages a load fills.
//!
//! The core decides what is loaded and what is not, and a device is told of loads only. When no page is
//! free, those of the model that was loaded longest ago are taken: the core has unloaded something.

use orrery_sim::request::ModelId;
use std::collections::VecDeque;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 16 << 20;

/// Which model holds which pages. Models are kept in the order of their loads.
#[derive(Debug)]
pub struct PageCache {
    free: Vec<u32>,
    held: VecDeque<(ModelId, Vec<u32>)>,
}

impl PageCache {
    /// A cache of so many pages, all free.
    pub fn new(pages: u32) -> PageCache {
        PageCache { free: (0..pages).rev().collect(), held: VecDeque::new() }
    }

    /// Pages for a load of `model`, in order; those it held are given back first. None when the cache
    /// has not so many.
    pub fn place(&mut self, model: ModelId, pages: u32) -> Option<&[u32]> {
        let total = self.free.len() + self.held.iter().map(|(_, p)| p.len()).sum::<usize>();
        let wanted = pages as usize;
        if wanted > total {
            return None;
        }
        if let Some(at) = self.held.iter().position(|(m, _)| *m == model) {
            self.give_back(at);
        }
        while self.free.len() < wanted {
            self.give_back(0);
        }
        let taken = self.free.split_off(self.free.len() - wanted);
        self.held.push_back((model, taken));
        self.held.back().map(|(_, pages)| pages.as_slice())
    }

    fn give_back(&mut self, at: usize) {
        if let Some((_, pages)) = self.held.remove(at) {
            self.free.extend(pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_page_is_held_twice_and_the_oldest_load_goes_first() {
        let mut cache = PageCache::new(10);
        let mut stream = orrery_sim::rng::Stream::named(1, "pages", 0);
        for _ in 0..2_000 {
            let model = ModelId(stream.below(6) as u32);
            let pages = stream.below(11) as u32;
            let before: Vec<_> =
                cache.held.iter().map(|(m, _)| *m).filter(|m| *m != model).collect();
            assert_eq!(cache.place(model, pages).map(<[u32]>::len), Some(pages as usize));
            let after: Vec<_> = cache.held.iter().map(|(m, _)| *m).collect();
            assert!(before.ends_with(&after[..after.len() - 1]), "{before:?} {after:?}");
            let all: Vec<u32> =
                cache.held.iter().flat_map(|(_, p)| p).chain(&cache.free).copied().collect();
            assert_eq!(all.len(), 10);
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 10);
        }
        assert_eq!(cache.place(ModelId(0), 11), None);
    }
}
