//! The future-event list: a 4-ary heap with handles, so that an event can be cancelled or moved.
//!
//! It is not a clock and runs nothing; the driver pops from it.
//!
//! # The total order
//!
//! Events leave the queue by
//!
//! 1. time;
//! 2. at one time: those scheduled *before* that instant began, by `rank` (the caller's class and
//!    id), then those scheduled *at* that instant, in the order in which they were scheduled;
//! 3. equal ranks: in the order in which they were scheduled.
//!
//! "That instant began" means that an event of that time has been popped. So what is created at
//! `now` never overtakes what was already due at `now`, and no order depends on memory addresses,
//! hashes or threads.

use crate::time::Time;

/// Names a scheduled event until it is popped or cancelled; stale handles are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

/// Where an event stands in the total order: its time and its rank as one number, which compares without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u128);

impl Place {
    /// After every event.
    pub const NONE: Place = Place(u128::MAX);

    /// The place of an event of that rank, scheduled before its instant began.
    #[inline]
    pub fn new(at: Time, rank: u64) -> Place {
        Place(u128::from(at.ns()) << 64 | u128::from(rank))
    }

    /// Its time; the end of time of none.
    #[inline]
    pub fn time(self) -> Time {
        Time::from_ns((self.0 >> 64) as u64)
    }
}

/// Ranks at or above this are the queue's own: events created at the instant they are due.
const AT_ONCE: u64 = 1 << 63;
const NOWHERE: u32 = u32::MAX;
const ARITY: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    place: Place,
    slot: u32,
}

struct Slot<E> {
    event: Option<E>,
    scheduled: u64,
    position: u32,
    generation: u32,
}

/// The future-event list. See the module's text for its order.
pub struct EventQueue<E> {
    heap: Vec<Entry>,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
    now: Time,
    began: bool,
    scheduled: u64,
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue::new()
    }
}

impl<E> EventQueue<E> {
    /// An empty queue at time zero, whose first instant has not begun.
    pub fn new() -> Self {
        EventQueue {
            heap: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            now: Time::ZERO,
            began: false,
            scheduled: 0,
        }
    }

    /// Events waiting.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The instant of the last event popped (or begun by [`EventQueue::begin`]).
    pub fn now(&self) -> Time {
        self.now
    }

    /// Declares that the instant `now` has begun although no event of this queue was popped: an
    /// arrival that a source held, say.
    pub fn begin(&mut self, now: Time) {
        assert!(now >= self.now, "time runs backwards: {now} after {}", self.now);
        self.now = now;
        self.began = true;
    }

    /// The place of an event that would be scheduled now, for one that is kept beside the queue.
    #[inline]
    pub fn stamp(&mut self, at: Time, rank: u64) -> Place {
        debug_assert!(rank < AT_ONCE, "rank {rank} is reserved");
        let (at, seq) = (at.max(self.now), self.scheduled);
        self.scheduled += 1;
        let at_once = self.began && at == self.now;
        Place::new(at, if at_once { AT_ONCE | seq } else { rank })
    }

    /// Schedules `event` at `at` (an instant that is past counts as now). `rank` orders events of
    /// one instant and must be below 2^63.
    #[inline]
    pub fn schedule(&mut self, at: Time, rank: u64, event: E) -> Handle {
        let seq = self.scheduled;
        let place = self.stamp(at, rank);
        let slot = match self.free.pop() {
            Some(slot) => {
                let s = &mut self.slots[slot as usize];
                s.event = Some(event);
                s.scheduled = seq;
                slot
            }
            None => {
                let slot = u32::try_from(self.slots.len()).expect("at most 2^32 pending events");
                self.slots.push(Slot {
                    event: Some(event),
                    scheduled: seq,
                    position: NOWHERE,
                    generation: 0,
                });
                slot
            }
        };
        self.heap.push(Entry { place, slot });
        self.sift_up(self.heap.len() - 1);
        Handle { slot, generation: self.slots[slot as usize].generation }
    }

    /// Moves the event of a handle; schedules it where it does not wait any more.
    pub fn set(&mut self, handle: &mut Option<Handle>, at: Time, rank: u64, event: E) {
        if !handle.is_some_and(|handle| self.reschedule(handle, at, rank)) {
            *handle = Some(self.schedule(at, rank, event));
        }
    }

    /// Takes the event back. `None` when it was already popped or cancelled.
    pub fn cancel(&mut self, handle: Handle) -> Option<E> {
        let position = self.position(handle)?;
        self.remove_at(position);
        self.release(handle.slot)
    }

    /// Moves the event to another instant, with the rank it would have if it were scheduled anew.
    /// False when it was already popped or cancelled.
    pub fn reschedule(&mut self, handle: Handle, at: Time, rank: u64) -> bool {
        let Some(position) = self.position(handle) else { return false };
        self.slots[handle.slot as usize].scheduled = self.scheduled;
        let place = self.stamp(at, rank);
        self.heap[position] = Entry { place, slot: handle.slot };
        self.sift_up(position);
        self.sift_down(self.slots[handle.slot as usize].position as usize);
        true
    }

    /// The next event's place.
    #[inline]
    pub fn peek(&self) -> Option<Place> {
        self.heap.first().map(|entry| entry.place)
    }

    /// Removes the next event and begins its instant.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let first = *self.heap.first()?;
        self.remove_at(0);
        self.begin(first.place.time());
        let event = self.release(first.slot).expect("a queued slot holds its event");
        Some((first.place.time(), event))
    }

    fn position(&self, handle: Handle) -> Option<usize> {
        let slot = self.slots.get(handle.slot as usize)?;
        (slot.generation == handle.generation && slot.position != NOWHERE)
            .then_some(slot.position as usize)
    }

    fn release(&mut self, slot: u32) -> Option<E> {
        let s = &mut self.slots[slot as usize];
        s.position = NOWHERE;
        s.generation = s.generation.wrapping_add(1);
        self.free.push(slot);
        s.event.take()
    }

    /// Fills the hole at `position` with the heap's last entry. The hole goes down to a leaf first
    /// and the last entry, which nearly always belongs near the leaves, up from there: that saves a
    /// comparison at each level.
    #[inline]
    fn remove_at(&mut self, position: usize) {
        let last = self.heap.pop().expect("the heap is not empty");
        if position < self.heap.len() {
            let hole = self.hole_down(position);
            self.heap[hole] = last;
            self.sift_up(hole);
        }
    }

    #[inline]
    fn before(&self, a: &Entry, b: &Entry) -> bool {
        if a.place == b.place {
            return self.was_scheduled_before(a, b);
        }
        a.place < b.place
    }

    #[cold]
    fn was_scheduled_before(&self, a: &Entry, b: &Entry) -> bool {
        self.slots[a.slot as usize].scheduled < self.slots[b.slot as usize].scheduled
    }

    #[inline]
    fn place(&mut self, position: usize, entry: Entry) {
        self.heap[position] = entry;
        self.slots[entry.slot as usize].position = position as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut position: usize) {
        let entry = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / ARITY;
            let above = self.heap[parent];
            if !self.before(&entry, &above) {
                break;
            }
            self.place(position, above);
            position = parent;
        }
        self.place(position, entry);
    }

    /// Moves the hole at `position` down to a leaf, the least child taking its place at each level.
    fn hole_down(&mut self, mut position: usize) -> usize {
        loop {
            let first = position * ARITY + 1;
            if first >= self.heap.len() {
                return position;
            }
            let least = self.least_child(first);
            self.place(position, self.heap[least]);
            position = least;
        }
    }

    /// A tournament whose comparisons are values, not branches: no processor predicts who wins.
    #[inline]
    fn least_child(&self, first: usize) -> usize {
        let rest = &self.heap[first..];
        if let Some(all) = rest.first_chunk::<ARITY>() {
            let a = usize::from(self.before(&all[1], &all[0]));
            let b = 2 + usize::from(self.before(&all[3], &all[2]));
            return first + if self.before(&all[b], &all[a]) { b } else { a };
        }
        let mut least = 0;
        for child in 1..rest.len() {
            if self.before(&rest[child], &rest[least]) {
                least = child;
            }
        }
        first + least
    }

    fn sift_down(&mut self, mut position: usize) {
        let entry = self.heap[position];
        loop {
            let first = position * ARITY + 1;
            if first >= self.heap.len() {
                break;
            }
            let least = self.least_child(first);
            let below = self.heap[least];
            if !self.before(&below, &entry) {
                break;
            }
            self.place(position, below);
            position = least;
        }
        self.place(position, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn what_is_created_at_now_comes_after_what_was_already_due() {
        let mut queue = EventQueue::new();
        queue.schedule(at(5), 9, "due, rank 9");
        queue.schedule(at(5), 1, "due, rank 1");
        assert_eq!(queue.pop(), Some((at(5), "due, rank 1")));
        queue.schedule(at(5), 0, "created at 5, first");
        queue.schedule(at(5), 0, "created at 5, second");
        assert_eq!(queue.pop(), Some((at(5), "due, rank 9")));
        assert_eq!(queue.pop(), Some((at(5), "created at 5, first")));
        assert_eq!(queue.pop(), Some((at(5), "created at 5, second")));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_stale_handle_does_nothing() {
        let mut queue = EventQueue::new();
        let old = queue.schedule(at(1), 0, 'a');
        queue.pop();
        let new = queue.schedule(at(2), 0, 'b');
        assert!(!queue.is_empty());
        assert_eq!(queue.cancel(old), None);
        assert!(!queue.reschedule(old, at(9), 0));
        assert_eq!(queue.cancel(new), Some('b'));
        assert!(queue.is_empty());
    }

    #[derive(Clone, Debug)]
    enum Step {
        Schedule(u64, u64),
        Pop,
        Cancel(usize),
        Move(usize, u64, u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0u64..6, 0u64..4).prop_map(|(t, r)| Step::Schedule(t, r)),
            3 => Just(Step::Pop),
            1 => (0usize..40).prop_map(Step::Cancel),
            1 => (0usize..40, 0u64..6, 0u64..4).prop_map(|(i, t, r)| Step::Move(i, t, r)),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Against a list that is searched from end to end.
        #[test]
        fn agrees_with_a_plain_list(steps in steps()) {
            let mut queue = EventQueue::new();
            let mut list: Vec<(u64, bool, u64, u64, usize)> = Vec::new();
            let mut handles = Vec::new();
            let (mut now, mut began, mut seq) = (0, false, 0u64);
            for step in steps {
                match step {
                    Step::Schedule(dt, rank) => {
                        let name = handles.len();
                        handles.push(queue.schedule(at(now + dt), rank, name));
                        let at_once = began && dt == 0;
                        list.push((now + dt, at_once, if at_once { 0 } else { rank }, seq, name));
                        seq += 1;
                    }
                    Step::Pop => {
                        let first = list.iter().min().copied();
                        list.retain(|e| Some(*e) != first);
                        let expected = first.map(|e| (at(e.0), e.4));
                        prop_assert_eq!(queue.pop(), expected);
                        if let Some(e) = first { now = e.0; began = true; }
                    }
                    Step::Cancel(i) => if let Some(handle) = handles.get(i) {
                        let had = list.iter().any(|e| e.4 == i);
                        list.retain(|e| e.4 != i);
                        prop_assert_eq!(queue.cancel(*handle).is_some(), had);
                    },
                    Step::Move(i, dt, rank) => if let Some(handle) = handles.get(i) {
                        let had = list.iter().any(|e| e.4 == i);
                        list.retain(|e| e.4 != i);
                        prop_assert_eq!(queue.reschedule(*handle, at(now + dt), rank), had);
                        if had {
                            let at_once = began && dt == 0;
                            list.push((now + dt, at_once, if at_once { 0 } else { rank }, seq, i));
                            seq += 1;
                        }
                    },
                }
                prop_assert_eq!(queue.len(), list.len());
            }
        }
    }
}
