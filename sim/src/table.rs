//! A table keyed by ids that only grow, in pages that are given back when they are empty.
//!
//! It holds what is alive of a stream of any length: a lookup is two indexings, and one entry that
//! stays for ever keeps one page, not everything that came after it. It is not a general map.

use std::collections::VecDeque;

const PAGE: u64 = 1024;

struct Page<T> {
    live: u32,
    slots: Vec<Option<T>>,
}

/// A table keyed by growing ids. See the module's text.
pub struct Table<T> {
    pages: VecDeque<Option<Page<T>>>,
    first_page: u64,
    next: u64,
    live: usize,
    spare: Option<Page<T>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { pages: VecDeque::new(), first_page: 0, next: 0, live: 0, spare: None }
    }
}

impl<T> Table<T> {
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
    pub fn insert(&mut self, value: T) -> u64 {
        let id = self.next;
        self.next += 1;
        self.live += 1;
        if id.is_multiple_of(PAGE) {
            self.start_page(id / PAGE);
        }
        let page = self.pages.back_mut().and_then(Option::as_mut).expect("the last page is kept");
        page.slots[(id % PAGE) as usize] = Some(value);
        page.live += 1;
        id
    }

    fn page(&self, id: u64) -> Option<usize> {
        (id / PAGE).checked_sub(self.first_page).map(|p| p as usize)
    }

    /// The entry of that id, if it is alive.
    #[inline]
    pub fn get(&self, id: u64) -> Option<&T> {
        self.pages.get(self.page(id)?)?.as_ref()?.slots[(id % PAGE) as usize].as_ref()
    }

    /// The entry of that id, if it is alive.
    #[inline]
    pub fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        let page = self.page(id)?;
        self.pages.get_mut(page)?.as_mut()?.slots[(id % PAGE) as usize].as_mut()
    }

    /// Takes the entry out.
    pub fn remove(&mut self, id: u64) -> Option<T> {
        let at = self.page(id)?;
        let page = self.pages.get_mut(at)?.as_mut()?;
        let value = page.slots[(id % PAGE) as usize].take()?;
        page.live -= 1;
        self.live -= 1;
        if page.live == 0 && at + 1 < self.pages.len() {
            self.give_back(at);
        }
        Some(value)
    }

    /// The page being filled is kept even when it is empty; the next one relieves it.
    fn start_page(&mut self, number: u64) {
        if let Some(Some(page)) = self.pages.back()
            && page.live == 0
        {
            self.give_back(self.pages.len() - 1);
        }
        if self.pages.is_empty() {
            self.first_page = number;
        }
        let empty = || Page { live: 0, slots: (0..PAGE).map(|_| None).collect() };
        self.pages.push_back(Some(self.spare.take().unwrap_or_else(empty)));
    }

    fn give_back(&mut self, at: usize) {
        self.spare = self.pages[at].take();
        while let Some(None) = self.pages.front() {
            self.pages.pop_front();
            self.first_page += 1;
        }
    }

    /// What is alive, by id.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let first = self.first_page;
        self.pages.iter().enumerate().flat_map(move |(p, page)| {
            page.iter().flat_map(move |page| {
                page.slots.iter().enumerate().filter_map(move |(i, slot)| {
                    slot.as_ref().map(|v| ((first + p as u64) * PAGE + i as u64, v))
                })
            })
        })
    }

    /// Pages held, empty ones included: for the test that memory does not grow.
    #[cfg(test)]
    fn pages_held(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_stays_keeps_one_page() {
        let mut table = Table::default();
        let stays = table.insert(0u64);
        for i in 1..100_000u64 {
            let id = table.insert(i);
            assert_eq!(table.get(id), Some(&i));
            assert_eq!(table.remove(id), Some(i));
            assert!(table.pages_held() <= 3);
        }
        assert_eq!(table.get(stays), Some(&0));
        assert_eq!(table.iter().collect::<Vec<_>>(), vec![(stays, &0)]);
        assert_eq!(table.get(99_999), None);
        assert_eq!(table.get(1 << 40), None);
        assert_eq!(table.remove(5), None);
        assert_eq!(table.remove(stays), Some(0));
        assert!(table.is_empty());
    }

    #[test]
    fn agrees_with_a_map_when_entries_leave_in_any_order() {
        let mut table = Table::default();
        let mut map = std::collections::BTreeMap::new();
        let mut rng = crate::rng::Stream::named(1, "table", 0);
        for i in 0..20_000u64 {
            let id = table.insert(i);
            map.insert(id, i);
            if rng.below(100) < 98 {
                let k = rng.below(map.len() as u64) as usize;
                let id = *map.keys().nth(k.min(50)).unwrap();
                assert_eq!(table.remove(id), map.remove(&id));
            }
            assert_eq!(table.len(), map.len());
        }
        assert!(table.iter().map(|(k, v)| (k, *v)).eq(map.into_iter()));
    }
}
