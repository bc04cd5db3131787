//! A tournament tree: the least of n keys, with any key changed in O(log n).
//!
//! It is not a heap: entries never move, so they need no handles, and a range of them can be asked
//! for the first that satisfies a bound. An update stops at the first match whose winner it does not
//! change, which most updates reach after a level or two.

/// The keys of entries `0..n`. An entry that is out of the game has the key `absent`, which must not
/// be less than any other.
#[derive(Debug)]
pub(super) struct Tournament<K> {
    /// Winners by match, the final at 1, then the entries themselves.
    nodes: Vec<K>,
    absent: K,
}

impl<K: Copy + Ord> Tournament<K> {
    pub fn new(entries: usize, absent: K) -> Tournament<K> {
        Tournament { nodes: vec![absent; 2 * entries.next_power_of_two()], absent }
    }

    fn half(&self) -> usize {
        self.nodes.len() / 2
    }

    /// The key of an entry.
    pub fn get(&self, entry: usize) -> K {
        self.nodes.get(self.half() + entry).copied().unwrap_or(self.absent)
    }

    /// The least key.
    #[inline]
    pub fn min(&self) -> K {
        self.nodes[1]
    }

    /// The entry with the least key, the first of equals; `None` when all are out.
    pub fn winner(&self) -> Option<usize> {
        (self.min() < self.absent).then(|| self.first(|key| key <= self.min())).flatten()
    }

    /// The first entry whose key satisfies `low`, which must be true of all keys up to a bound.
    pub fn first(&self, low: impl Fn(K) -> bool) -> Option<usize> {
        if !low(self.min()) {
            return None;
        }
        let mut at = 1;
        while at < self.half() {
            at = 2 * at + usize::from(!low(self.nodes[2 * at]));
        }
        Some(at - self.half())
    }

    /// Changes the key of an entry. Entries beyond the last are added as needed.
    #[inline]
    pub fn set(&mut self, entry: usize, key: K) {
        if entry >= self.half() {
            self.grow(entry + 1);
        }
        let mut at = self.half() + entry;
        self.nodes[at] = key;
        while at > 1 {
            let best = self.nodes[at].min(self.nodes[at ^ 1]);
            at /= 2;
            if self.nodes[at] == best {
                return;
            }
            self.nodes[at] = best;
        }
    }

    /// Takes an entry out of the game.
    pub fn remove(&mut self, entry: usize) {
        self.set(entry, self.absent);
    }

    #[cold]
    fn grow(&mut self, entries: usize) {
        let old = self.nodes.split_off(self.half());
        *self = Tournament::new(entries, self.absent);
        for (entry, key) in old.into_iter().enumerate() {
            self.set(entry, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn agrees_with_a_plain_list(
            first in 0usize..5,
            steps in prop::collection::vec((0usize..12, 0u32..6, 0u32..6), 0..100),
        ) {
            let mut tournament = Tournament::new(first, u32::MAX);
            let mut list = [u32::MAX; 12];
            for (entry, key, bound) in steps {
                let key = if key == 0 { u32::MAX } else { key };
                tournament.set(entry, key);
                list[entry] = key;
                let least = *list.iter().min().unwrap();
                prop_assert_eq!(tournament.min(), least);
                prop_assert_eq!(tournament.get(entry), key);
                let winner = list.iter().position(|&k| k == least && k < u32::MAX);
                prop_assert_eq!(tournament.winner(), winner);
                let low = list.iter().position(|&k| k <= bound);
                prop_assert_eq!(tournament.first(|k| k <= bound), low);
            }
        }
    }
}
