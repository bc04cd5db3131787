//! Maps and sets in the order of their keys, for few entries or many, and a sort.
//!
//! The standard library's B-trees and sorts are compiled anew for each type. [`SortedMap`] and [`SortedSet`] are
//! lists, where a change costs as much as it moves: for devices, models, what runs. [`ById`] is for what grows with
//! the requests that wait: all of its types share one B-tree. [`sort_by`] is one for all types too, and half as fast
//! as the standard library's: for what is sorted once a run, or a few entries at a time.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Bound, Deref, Index, Range, RangeBounds};

/// A map of few entries: a sorted list.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|entry| entry.0.cmp(key))
    }

    /// The value that was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// The value of a key, made where there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let found = self.find(&key);
        let at = found.unwrap_or_else(|at| {
            self.0.insert(at, (key, make()));
            at
        });
        &mut self.0[at].1
    }

    /// The value of a key, a default one where there is none.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(self.0.remove(at).1)
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// The entries in a range of keys.
    pub fn range(&self, range: impl RangeBounds<K>) -> &[(K, V)] {
        &self.0[places(&self.0, |entry| &entry.0, range)]
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Takes out the entries that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    pub fn pop_first(&mut self) -> Option<(K, V)> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }
}

impl<K, V> Deref for SortedMap<K, V> {
    type Target = [(K, V)];

    fn deref(&self) -> &[(K, V)] {
        &self.0
    }
}

impl<K: Ord, V> Index<&K> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is there")
    }
}

/// A set of few entries: a sorted list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SortedSet<K>(Vec<K>);

impl<K> Default for SortedSet<K> {
    fn default() -> Self {
        SortedSet(Vec::new())
    }
}

impl<K: Ord> SortedSet<K> {
    /// Whether it was not there.
    pub fn insert(&mut self, key: K) -> bool {
        let place = self.0.binary_search(&key);
        if let Err(at) = place {
            self.0.insert(at, key);
        }
        place.is_err()
    }

    /// Whether it was there.
    pub fn remove(&mut self, key: &K) -> bool {
        self.0.binary_search(key).map(|at| self.0.remove(at)).is_ok()
    }

    pub fn contains(&self, key: &K) -> bool {
        self.0.binary_search(key).is_ok()
    }

    /// Those in a range.
    pub fn range(&self, range: impl RangeBounds<K>) -> &[K] {
        &self.0[places(&self.0, |key| key, range)]
    }

    pub fn pop_first(&mut self) -> Option<K> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    pub fn pop_last(&mut self) -> Option<K> {
        self.0.pop()
    }
}

impl<K> Deref for SortedSet<K> {
    type Target = [K];

    fn deref(&self) -> &[K] {
        &self.0
    }
}

impl<K: Ord> FromIterator<K> for SortedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = SortedSet::default();
        keys.into_iter().for_each(|key| _ = set.insert(key));
        set
    }
}

/// Where a list has the keys of a range.
fn places<E, K: Ord>(
    list: &[E],
    key: impl Fn(&E) -> &K,
    range: impl RangeBounds<K>,
) -> Range<usize> {
    let up_to = |bound: &K, included: bool| {
        list.partition_point(|e| key(e) < bound || included && key(e) == bound)
    };
    let from = match range.start_bound() {
        Bound::Unbounded => 0,
        Bound::Included(bound) => up_to(bound, false),
        Bound::Excluded(bound) => up_to(bound, true),
    };
    let to = match range.end_bound() {
        Bound::Unbounded => list.len(),
        Bound::Included(bound) => up_to(bound, true),
        Bound::Excluded(bound) => up_to(bound, false),
    };
    from..to
}

/// A map keyed by ids, of any number of entries: a B-tree of their places in a list.
#[derive(Clone, Debug)]
pub(crate) struct ById<V> {
    places: BTreeMap<u64, usize>,
    values: Vec<Option<V>>,
    free: Vec<usize>,
}

impl<V> Default for ById<V> {
    fn default() -> Self {
        ById { places: BTreeMap::new(), values: Vec::new(), free: Vec::new() }
    }
}

impl<V> ById<V> {
    /// The place of an id, a free one where it is not there.
    fn place(&mut self, id: u64) -> &mut Option<V> {
        let place = *self.places.entry(id).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.values.push(None);
                self.values.len() - 1
            })
        });
        &mut self.values[place]
    }

    /// The value that was there before.
    pub fn insert(&mut self, id: u64, value: V) -> Option<V> {
        self.place(id).replace(value)
    }

    /// The value of an id, a default one where it is not there.
    pub fn get_or_default(&mut self, id: u64) -> &mut V
    where
        V: Default,
    {
        self.place(id).get_or_insert_default()
    }

    pub fn remove(&mut self, id: u64) -> Option<V> {
        let place = self.places.remove(&id)?;
        self.free.push(place);
        self.values[place].take()
    }

    pub fn get(&self, id: u64) -> Option<&V> {
        self.values[*self.places.get(&id)?].as_ref()
    }

    pub fn get_mut(&mut self, id: u64) -> Option<&mut V> {
        self.values[*self.places.get(&id)?].as_mut()
    }

    pub fn contains(&self, id: u64) -> bool {
        self.places.contains_key(&id)
    }

    /// Its entries, by id.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        self.places.iter().filter_map(|(id, place)| Some((*id, self.values[*place].as_ref()?)))
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// Sorts a list; equals stay in their order.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = order(list.len(), &|a, b| compare(&list[a], &list[b]));
    for first in 0..list.len() {
        // Around a cycle of places, each of which gets what another has.
        let mut place = first;
        loop {
            let from = std::mem::replace(&mut order[place], place);
            if from == first || from == place {
                break;
            }
            list.swap(place, from);
            place = from;
        }
    }
}

/// [`sort_by`] a key.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Where what comes first, second and so on is in a list of that length.
fn order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::BTreeSet;

    #[test]
    fn they_agree_with_the_maps_and_sets_of_the_standard_library() {
        let mut rng = Stream::named(1, "ordered", 0);
        let (mut list, mut by_id, mut map) =
            (SortedMap::default(), ById::default(), BTreeMap::new());
        let (mut keys, mut set) = (SortedSet::default(), BTreeSet::new());
        for value in 0..20_000u64 {
            let [key, other] = [(); 2].map(|()| rng.below(60));
            match rng.below(6) {
                0..3 => {
                    let before = map.insert(key, value);
                    assert_eq!(
                        (list.insert(key, value), by_id.insert(key, value)),
                        (before, before)
                    );
                    assert_eq!(keys.insert(key), set.insert(key));
                }
                3 => {
                    let gone = map.remove(&key);
                    assert_eq!((list.remove(&key), by_id.remove(key)), (gone, gone));
                    assert_eq!(keys.remove(&key), set.remove(&key));
                }
                4 => {
                    assert_eq!(by_id.contains(key), map.contains_key(&key));
                    let value = map.get_mut(&key);
                    assert_eq!(list.get_mut(&key), value);
                    assert_eq!(by_id.get_mut(key), value);
                }
                _ => {
                    let first = map.pop_first();
                    assert_eq!((list.pop_first(), keys.pop_first()), (first, set.pop_first()));
                    first.map(|(id, _)| by_id.remove(id));
                }
            }
            assert_eq!((list.len(), by_id.is_empty()), (map.len(), map.is_empty()));
            let (from, to) = (key.min(other), key.max(other));
            assert!(keys.range(from..=to).iter().eq(set.range(from..=to)));
            let after = (Bound::Excluded(from), Bound::Unbounded);
            assert!(list.range(after).iter().map(|e| (&e.0, &e.1)).eq(map.range(after)));
        }
        assert!(by_id.iter().eq(map.iter().map(|(id, value)| (*id, value))));
        assert!(by_id.values.len() <= 60, "places are used again");
    }

    #[test]
    fn the_sort_is_that_of_the_standard_library() {
        let mut rng = Stream::named(1, "sort", 0);
        for len in 0..200u64 {
            let list: Vec<_> = (0..len).map(|place| (rng.below(1 + len / 3), place)).collect();
            let (mut ours, mut theirs) = (list.clone(), list);
            sort_by_key(&mut ours, |entry| entry.0);
            theirs.sort_by_key(|entry| entry.0);
            assert_eq!(ours, theirs);
        }
    }
}
