//! The models that want a load, in groups, each group ordered by what its models ask for.
//!
//! A group is a heap that knows where each model is, so that a change moves one model. It knows
//! neither devices nor priorities: what a group means is its user's business.

use crate::policy::numbers::Numbers;

/// Not in any group.
const OUT: u32 = u32::MAX;

/// What a model asks for, and which it is: the larger first, of equal ones the lower number.
type Entry = (u64, u32);

fn before(a: Entry, b: Entry) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// See the module's text.
#[derive(Default)]
pub(super) struct Wants {
    groups: Vec<Vec<Entry>>,
    /// Which of them are not empty.
    filled: Numbers,
    /// By model: its group, and where it is in there.
    place: Vec<(u32, u32)>,
}

impl Wants {
    pub fn new(models: usize) -> Wants {
        let place = vec![(OUT, 0); models];
        Wants { place, ..Wants::default() }
    }

    /// Takes a model to a group with what it asks for, or out of all.
    pub fn put(&mut self, model: usize, group: Option<usize>, asks: u64) {
        let (old, at) = self.place[model];
        let entry = (asks, model as u32);
        if old != OUT && group == Some(old as usize) {
            self.settle(old as usize, at as usize, entry);
            return;
        }
        if old != OUT {
            self.take(old as usize, at as usize);
            self.place[model].0 = OUT;
        }
        if let Some(group) = group {
            if self.groups.len() <= group {
                self.groups.resize_with(group + 1, Vec::new);
            }
            if self.groups[group].is_empty() {
                self.filled.flip(group);
            }
            self.groups[group].push(entry);
            self.settle(group, self.groups[group].len() - 1, entry);
        }
    }

    pub fn is_empty(&self, group: usize) -> bool {
        self.groups.get(group).is_none_or(Vec::is_empty)
    }

    /// The groups from `first` on that are not empty, growing.
    pub fn filled(&self, first: usize) -> impl Iterator<Item = usize> {
        self.filled.from(first)
    }

    /// All models of a group with what they ask for, in no order.
    pub fn all(&self, group: usize) -> impl Iterator<Item = (u64, usize)> {
        self.groups.get(group).into_iter().flatten().map(|e| (e.0, e.1 as usize))
    }

    /// Visits a group from the top. `visit` is given what a model asks for and its number, and says
    /// whether those that ask for less than it are worth a visit.
    pub fn walk(&self, group: usize, mut visit: impl FnMut(u64, usize) -> bool) {
        if let Some(heap) = self.groups.get(group) {
            below(heap, 0, &mut visit);
        }
    }

    fn take(&mut self, group: usize, at: usize) {
        let heap = &mut self.groups[group];
        let last = heap.pop().expect("the model is there");
        if heap.is_empty() {
            self.filled.flip(group);
        }
        if at < heap.len() {
            self.settle(group, at, last);
        }
    }

    /// Puts an entry where it belongs, beginning at a place that is its own to fill.
    fn settle(&mut self, group: usize, mut at: usize, entry: Entry) {
        let heap = &mut self.groups[group];
        let mut set = |heap: &mut Vec<Entry>, at: usize, entry: Entry| {
            heap[at] = entry;
            self.place[entry.1 as usize] = (group as u32, at as u32);
        };
        while at > 0 && before(entry, heap[(at - 1) / 2]) {
            let parent = heap[(at - 1) / 2];
            set(heap, at, parent);
            at = (at - 1) / 2;
        }
        loop {
            let mut child = 2 * at + 1;
            if child + 1 < heap.len() && before(heap[child + 1], heap[child]) {
                child += 1;
            }
            if child >= heap.len() || !before(heap[child], entry) {
                break;
            }
            let up = heap[child];
            set(heap, at, up);
            at = child;
        }
        set(heap, at, entry);
    }
}

fn below(heap: &[Entry], at: usize, visit: &mut impl FnMut(u64, usize) -> bool) {
    if let Some(&(asks, model)) = heap.get(at)
        && visit(asks, model as usize)
    {
        below(heap, 2 * at + 1, visit);
        below(heap, 2 * at + 2, visit);
    }
}
