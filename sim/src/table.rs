//! A table keyed by ids that only grow: a ring of slots, and a map for the few entries that outlive it.
//!
//! It holds what is alive of a stream of any length. An id's slot is its last bits, so that a lookup is
//! one comparison; an entry that is in the way of a much later one moves to the map, and one that stays
//! for ever costs one entry, not everything that came after it. It is not a general map.

use crate::ordered::{ById, sort_by_key};

/// Slots at the start.
const LEAST: usize = 64;

#[derive(Clone, Debug)]
struct Slot<T> {
    /// Of a free slot, an id that belongs into another one, so that none is found here.
    id: u64,
    /// Of a free slot, what was there last: [`Table::claim`] reuses what it has allocated.
    value: T,
}

/// A table keyed by growing ids. See the module's text.
#[derive(Clone, Debug)]
pub struct Table<T> {
    /// A power of two of them.
    slots: Vec<Slot<T>>,
    stragglers: ById<T>,
    next: u64,
    live: usize,
}

impl<T: Default> Default for Table<T> {
    fn default() -> Self {
        Table { slots: free_slots(LEAST), stragglers: ById::default(), next: 0, live: 0 }
    }
}

fn free_slots<T: Default>(count: usize) -> Vec<Slot<T>> {
    (0..count).map(|place| Slot { id: nobody(place), value: T::default() }).collect()
}

/// The id of a free slot.
fn nobody(place: usize) -> u64 {
    !(place as u64)
}

impl<T: Default> Table<T> {
    /// The id that the next insertion gets.
    pub fn next_id(&self) -> u64 {
        self.next
    }

    /// Entries alive.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether no entry is alive.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Adds a value under the next id.
    #[inline]
    pub fn insert(&mut self, value: T) -> u64 {
        let (id, place) = self.claim();
        *place = value;
        id
    }

    /// Adds an entry under the next id and shows its place, which holds a value that was removed or a
    /// default one: to be written over.
    #[inline]
    pub fn claim(&mut self) -> (u64, &mut T) {
        let id = self.next;
        if self.is_taken(self.place(id)) {
            self.clear_place(id);
        }
        self.next += 1;
        self.live += 1;
        let place = self.place(id);
        let slot = &mut self.slots[place];
        slot.id = id;
        (id, &mut slot.value)
    }

    #[inline]
    fn place(&self, id: u64) -> usize {
        id as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn is_taken(&self, place: usize) -> bool {
        self.place(self.slots[place].id) == place
    }

    /// Makes room for an id: with more slots if half of them are in use, else by moving what is in its way.
    #[cold]
    fn clear_place(&mut self, id: u64) {
        while self.is_taken(self.place(id)) {
            if 2 * self.live >= self.slots.len() {
                self.grow();
            } else {
                let place = self.place(id);
                let slot = &mut self.slots[place];
                self.stragglers.insert(slot.id, std::mem::take(&mut slot.value));
                slot.id = nobody(place);
            }
        }
    }

    /// Twice as many slots.
    fn grow(&mut self) {
        let taken: Vec<bool> = (0..self.slots.len()).map(|place| self.is_taken(place)).collect();
        let slots = free_slots(2 * self.slots.len());
        for (slot, taken) in std::mem::replace(&mut self.slots, slots).into_iter().zip(taken) {
            if taken {
                let place = self.place(slot.id);
                self.slots[place] = slot;
            }
        }
    }

    /// The entry of that id, if it is alive.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&T> {
        let slot = &self.slots[self.place(id)];
        if slot.id == id { Some(&slot.value) } else { self.straggler(id) }
    }

    /// The entry of that id, if it is alive.
    #[inline]
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        let place = self.place(id);
        if self.slots[place].id == id {
            return Some(&mut self.slots[place].value);
        }
        self.straggler_mut(id)
    }

    #[cold]
    fn straggler(&self, id: u64) -> Option<&T> {
        self.stragglers.get(id)
    }

    #[cold]
    fn straggler_mut(&mut self, id: u64) -> Option<&mut T> {
        self.stragglers.get_mut(id)
    }

    /// Takes the entry out.
    pub fn remove(&mut self, id: u64) -> Option<T> {
        let value = std::mem::take(self.get_mut(id)?);
        self.discard(id);
        Some(value)
    }

    /// The entry of that id is no longer alive; its place keeps its value for [`Table::claim`].
    ///
    /// # Panics
    /// When it was not alive.
    #[inline(always)]
    pub fn discard(&mut self, id: u64) {
        let place = self.place(id);
        let slot = &mut self.slots[place];
        self.live -= 1;
        if slot.id == id {
            slot.id = nobody(place);
        } else {
            self.discard_straggler(id);
        }
    }

    #[cold]
    fn discard_straggler(&mut self, id: u64) {
        let straggler = self.stragglers.remove(id);
        assert!(straggler.is_some(), "entry {id} is not alive");
    }

    /// What is alive, by id.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let taken = self.slots.iter().enumerate().filter(|(place, _)| self.is_taken(*place));
        let mut all: Vec<(u64, &T)> = taken.map(|(_, slot)| (slot.id, &slot.value)).collect();
        all.extend(self.stragglers.iter());
        sort_by_key(&mut all, |entry| entry.0);
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn one_that_stays_costs_one_entry() {
        let mut table = Table::default();
        let stays = table.insert(0u64);
        for i in 1..100_000u64 {
            let id = table.insert(i);
            assert_eq!(table.get(id), Some(&i));
            assert_eq!(table.remove(id), Some(i));
        }
        assert_eq!((table.slots.len(), table.stragglers.iter().count()), (LEAST, 1));
        assert_eq!(table.get(stays), Some(&0));
        assert_eq!(table.iter().collect::<Vec<_>>(), vec![(stays, &0)]);
        assert_eq!(table.get(99_999), None);
        assert_eq!((table.get(1 << 40), table.get(u64::MAX)), (None, None));
        assert_eq!(table.remove(5), None);
        assert_eq!(table.remove(stays), Some(0));
        assert!(table.is_empty());
    }

    #[test]
    fn slots_follow_what_is_alive_and_stay_below_four_times_as_many() {
        let mut table = Table::default();
        for i in 0..100_000u64 {
            table.insert(i);
            if let Some(old) = i.checked_sub(5_000) {
                assert_eq!(table.remove(old), Some(old));
            }
        }
        assert!(table.slots.len() <= 4 * 5_001 && table.stragglers.is_empty());
    }

    #[test]
    fn agrees_with_a_map_when_entries_leave_in_any_order() {
        let mut table = Table::default();
        let mut map = BTreeMap::new();
        let mut rng = crate::rng::Stream::named(1, "table", 0);
        for i in 0..20_000u64 {
            let id = table.insert(i);
            map.insert(id, i);
            if rng.below(100) < 98 {
                let k = rng.below(map.len() as u64) as usize;
                let id = *map.keys().nth(k.min(50)).unwrap();
                assert_eq!(table.get_mut(id).copied(), map.get(&id).copied());
                assert_eq!(table.remove(id), map.remove(&id));
            }
            assert_eq!(table.len(), map.len());
        }
        assert!(table.iter().map(|(k, v)| (k, *v)).eq(map.into_iter()));
    }
}
