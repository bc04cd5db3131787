//! A small ordered set of instants with indices: devices, or models with requests.
//!
//! There are tens or hundreds of them, and most leave at the front; a plain vector then beats a tree.

use crate::time::Time;

/// The set, the first one last.
#[derive(Default)]
pub(super) struct Sorted(Vec<(Time, usize)>);

impl Sorted {
    fn place(&self, entry: (Time, usize)) -> usize {
        self.0.partition_point(|e| *e > entry)
    }

    pub fn insert(&mut self, entry: (Time, usize)) {
        self.0.insert(self.place(entry), entry);
    }

    /// Takes out an entry that is there.
    pub fn remove(&mut self, entry: (Time, usize)) {
        let at = self.place(entry);
        debug_assert_eq!(self.0.get(at), Some(&entry));
        self.0.remove(at);
    }

    /// An entry that is there becomes another.
    pub fn change(&mut self, before: (Time, usize), after: (Time, usize)) {
        let (from, to) = (self.place(before), self.place(after));
        debug_assert_eq!(self.0.get(from), Some(&before));
        if from < to {
            self.0.copy_within(from + 1..to, from);
            self.0[to - 1] = after;
        } else {
            self.0.copy_within(to..from, to + 1);
            self.0[to] = after;
        }
    }

    pub fn first(&self) -> Option<(Time, usize)> {
        self.0.last().copied()
    }

    pub fn pop_first(&mut self) -> Option<(Time, usize)> {
        self.0.pop()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The first after an entry, which need not be there.
    pub fn after(&self, entry: (Time, usize)) -> Option<(Time, usize)> {
        self.place(entry).checked_sub(1).map(|at| self.0[at])
    }
}
