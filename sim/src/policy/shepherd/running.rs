//! The batches that may be stopped, kept in order, so that an arrival need not look at every GPU to
//! see that none of them would be.

use crate::ordered::SortedSet;
use crate::policy::numbers::Numbers;
use crate::time::Time;

/// A running batch: size, its earliest deadline, GPU.
pub type Batch = (usize, Time, usize);

/// Running batches on GPUs that can stop them.
#[derive(Default)]
pub struct Running {
    by_model: Vec<SortedSet<Batch>>,
    /// The size of each model's smallest batch, and the model.
    smallest: SortedSet<(usize, usize)>,
    /// By size: which GPUs run one.
    of_size: Vec<Numbers>,
}

impl Running {
    pub fn insert(&mut self, model: usize, batch: Batch) {
        if self.by_model.len() <= model {
            self.by_model.resize_with(model + 1, SortedSet::default);
        }
        if self.of_size.len() <= batch.0 {
            self.of_size.resize_with(batch.0 + 1, Numbers::default);
        }
        self.of_size[batch.0].flip(batch.2);
        self.change(model, |batches| batches.insert(batch));
    }

    pub fn remove(&mut self, model: usize, batch: Batch) {
        self.of_size[batch.0].flip(batch.2);
        self.change(model, |batches| batches.remove(&batch));
    }

    fn change(&mut self, model: usize, change: impl FnOnce(&mut SortedSet<Batch>) -> bool) {
        let batches = &mut self.by_model[model];
        let smallest = |batches: &SortedSet<Batch>| batches.first().map(|b| b.0);
        let before = smallest(batches);
        let changed = change(batches);
        debug_assert!(changed, "a batch comes once and goes once");
        let after = smallest(batches);
        if before != after {
            before.map(|size| self.smallest.remove(&(size, model)));
            after.map(|size| self.smallest.insert((size, model)));
        }
    }

    /// The size of the smallest batch of any other model.
    pub fn smallest_of_others(&self, model: usize) -> Option<usize> {
        self.smallest.iter().find(|s| s.1 != model).map(|s| s.0)
    }

    /// The GPUs from `from` on that run a batch of that size, growing.
    pub fn of_size(&self, size: usize, from: usize) -> impl Iterator<Item = usize> {
        self.of_size.get(size).into_iter().flat_map(move |gpus| gpus.from(from))
    }

    /// The largest size that any batch has had.
    pub fn largest(&self) -> usize {
        self.of_size.len().saturating_sub(1)
    }

    /// A model's batches by size: size, earliest deadline, GPU.
    pub fn of_model(&self, model: usize) -> impl Iterator<Item = &Batch> {
        self.by_model.get(model).into_iter().flat_map(|batches| batches.iter())
    }

    /// For each size of a model's batches, growing: the size and the latest of their earliest
    /// deadlines. Of equal batches, that one has the most time left.
    pub fn sizes(&self, model: usize) -> impl Iterator<Item = (usize, Time)> {
        let batches = self.by_model.get(model);
        let of_size = move |size| {
            let next = batches?.range((size, Time::ZERO, 0)..).first()?.0;
            let last = batches?.range(..(next + 1, Time::ZERO, 0)).last()?;
            Some((last.0, last.1))
        };
        std::iter::successors(of_size(0), move |&(size, _)| of_size(size + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_of_others_and_the_sizes_follow_what_comes_and_goes() {
        let at = Time::from_ns;
        let mut running = Running::default();
        running.insert(1, (4, at(50), 0));
        running.insert(1, (4, at(70), 1));
        running.insert(1, (9, at(60), 2));
        running.insert(0, (2, at(10), 3));
        assert_eq!(running.smallest_of_others(1), Some(2));
        assert_eq!(running.smallest_of_others(0), Some(4));
        assert_eq!(running.sizes(1).collect::<Vec<_>>(), [(4, at(70)), (9, at(60))]);
        assert_eq!(running.of_size(4, 0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(running.of_size(4, 1).collect::<Vec<_>>(), [1]);
        running.remove(1, (4, at(70), 1));
        running.remove(0, (2, at(10), 3));
        assert_eq!(running.sizes(1).collect::<Vec<_>>(), [(4, at(50)), (9, at(60))]);
        assert_eq!(running.of_size(4, 0).collect::<Vec<_>>(), [0]);
        assert_eq!(running.smallest_of_others(1), None);
        assert_eq!(running.sizes(7).count(), 0);
    }
}
