//! One queue Q_bs: its hull, the requests at each point, and when something changes.

use super::agenda::{Agenda, Item, Slot};
use super::members::{Member, Members};
use crate::policy::orloj::entry::Entry;
use crate::policy::orloj::hull::{Hull, Leaf, Point};
use crate::policy::orloj::pending::{Scored, higher_score};
use crate::policy::orloj::tables::Tables;
use crate::request::RequestId;
use crate::time::Time;
use std::collections::BTreeSet;

/// Scores that differ by less than this, relative to the larger, are told apart by Eq. 2 computed
/// directly. It is far above the relative error of alpha u, 3e-13.
const CLOSE: f64 = 1e-9;

/// What a queue looks at.
pub(super) struct View<'a> {
    pub now: Time,
    /// Which queue this is.
    pub size: usize,
    pub b_per_ns: f64,
    /// The largest b (t - T0).
    pub reach: f64,
    pub tables: &'a Tables,
    /// By slot.
    pub entries: &'a [Option<Entry>],
}

impl View<'_> {
    fn entry(&self, slot: Slot) -> &Entry {
        self.entries[slot as usize].as_ref().expect("it waits")
    }

    /// Whether an item of an agenda is of a request that is in this queue.
    fn has(&self, item: &Item) -> bool {
        has(self.entries, self.size, item)
    }

    /// Eq. 2, computed directly.
    fn score(&self, e: &Entry) -> f64 {
        self.tables.score(e, self.size, self.now)
    }

    /// b (t - T0).
    fn since(&self, base: Time) -> f64 {
        self.b_per_ns * self.now.since(base).ns() as f64
    }

    /// The point of a request, and Milestone(r), when it has another. None if its score is zero for good.
    fn point(&self, e: &Entry, base: Time) -> Option<(Point, Time)> {
        let (line, milestone) = self.tables.line(e, self.size, (self.now, base), self.reach)?;
        Some((Point { alpha: line.alpha, beta: line.beta + line.doubt }, milestone))
    }
}

fn has(entries: &[Option<Entry>], size: usize, &(_, id, slot): &Item) -> bool {
    entries[slot as usize].as_ref().is_some_and(|e| e.id == id && e.is_in(size))
}

fn member(slot: Slot, e: &Entry) -> Member {
    Member { deadline: e.deadline, app: e.app, cost: e.cost, id: e.id, slot }
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    /// In the queue since the hull was brought up to date.
    Fresh,
    On(Leaf),
    Lost,
}

/// The queue.
#[derive(Default)]
pub(super) struct Queue {
    /// How many requests it has.
    len: usize,
    /// Of those that are not in every queue.
    pub deadlines: Agenda,
    /// Whether the hull, and where requests are, are up to date but for those in `fresh` and `emptied`.
    kept: bool,
    /// T0.
    base: Time,
    hull: Hull,
    /// By leaf.
    members: Vec<Members>,
    /// Those whose score is zero for good, by deadline, then by id.
    lost: BTreeSet<(Time, RequestId, Slot)>,
    /// By slot.
    places: Vec<Place>,
    milestones: Agenda,
    /// Since the hull was brought up to date: those that came, and leaves whose requests have left.
    fresh: Vec<Slot>,
    emptied: Vec<Leaf>,
    /// Scratch: the best so far, in order; and what was taken off the hull to look at it.
    best: Vec<Best>,
    aside: Vec<(Point, Members)>,
}

impl Queue {
    /// How many requests it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// D_Qbs: the earliest deadline of its requests that are not in every queue.
    pub fn earliest(&mut self, size: usize, entries: &[Option<Entry>]) -> Time {
        // An item with a deadline that it could not meet any more is of no use.
        let own = |item: &Item| {
            has(entries, size, item)
                && entries[item.2 as usize].as_ref().is_some_and(|e| e.deadline == item.0)
        };
        self.deadlines.trim(self.len, own);
        self.deadlines.first(own).map_or(Time::NEVER, |item| item.0)
    }

    /// Adds a request.
    pub fn enter(&mut self, slot: Slot) {
        self.len += 1;
        if self.kept {
            self.set_place(slot, Place::Fresh);
            self.fresh.push(slot);
        }
    }

    /// Takes a request out.
    pub fn leave(&mut self, slot: Slot, e: &Entry) {
        self.len -= 1;
        if self.kept {
            self.displace(slot, e);
            // A queue that is seldom chosen: the hull is built anew when it is.
            if self.fresh.len() + self.emptied.len() > self.len + 64 {
                self.forget();
            }
        }
    }

    /// The points are of no use any more.
    pub fn forget(&mut self) {
        self.kept = false;
        self.fresh.clear();
        self.emptied.clear();
    }

    /// Lines 1-9: every request is at the point that it has now.
    pub fn update(&mut self, view: &View<'_>) {
        if !self.kept || view.since(self.base) > view.reach {
            return self.rebuild(view);
        }
        let mut moved = std::mem::take(&mut self.fresh);
        // A slot is there twice if its first request has left.
        let mut place =
            |slot: Slot| std::mem::replace(&mut self.places[slot as usize], Place::Nowhere);
        moved.retain(|slot| place(*slot) == Place::Fresh);
        while let Some(item) = self.milestones.pop_due(view.now) {
            // One that came again may have a milestone of its first time, and is moved once.
            let placed = |slot: Slot| self.places[slot as usize] != Place::Nowhere;
            if view.has(&item) && placed(item.2) {
                self.displace(item.2, view.entry(item.2));
                moved.push(item.2);
            }
        }
        if 4 * (moved.len() + self.emptied.len()) > self.len {
            return self.rebuild(view);
        }
        self.emptied.drain(..).for_each(|leaf| self.hull.remove(leaf));
        for slot in moved.drain(..) {
            let e = view.entry(slot);
            match view.point(e, self.base) {
                Some((point, milestone)) => {
                    self.milestones.push((milestone, e.id, slot));
                    let leaf = self.hull.insert(point);
                    self.put(leaf, member(slot, e));
                }
                None => self.lose(slot, e),
            }
        }
        self.fresh = moved;
        self.milestones.trim(self.len, |item| view.has(item));
    }

    /// Lines 1-3: the base is reset, and every request gets a point.
    fn rebuild(&mut self, view: &View<'_>) {
        self.forget();
        self.kept = true;
        self.base = view.now;
        self.lost.clear();
        self.members.clear();
        self.places.clear();
        let mut points: Vec<(Point, Slot)> = Vec::with_capacity(self.len);
        let mut milestones = Vec::with_capacity(self.len);
        for (slot, e) in view.entries.iter().enumerate() {
            let Some(e) = e.as_ref().filter(|e| e.is_in(view.size)) else { continue };
            let slot = slot as Slot;
            match view.point(e, self.base) {
                Some((point, milestone)) => {
                    milestones.push((milestone, e.id, slot));
                    points.push((point, slot));
                }
                None => self.lose(slot, e),
            }
        }
        self.milestones = Agenda::of(milestones);
        points.sort_unstable_by(|a, b| a.0.order(&b.0).then(a.1.cmp(&b.1)));
        let (points, slots): (Vec<Point>, Vec<Slot>) = points.into_iter().unzip();
        for (leaf, slot) in self.hull.build(&points).into_iter().zip(slots) {
            self.put(leaf, member(slot, view.entry(slot)));
        }
    }

    /// Takes a request off its place.
    fn displace(&mut self, slot: Slot, e: &Entry) {
        match std::mem::replace(&mut self.places[slot as usize], Place::Nowhere) {
            Place::On(leaf) => {
                if self.members[leaf.index()].remove(&member(slot, e)) {
                    self.members[leaf.index()] = Members::None;
                    self.emptied.push(leaf);
                }
            }
            Place::Lost => _ = self.lost.remove(&(e.deadline, e.id, slot)),
            Place::Fresh => {}
            Place::Nowhere => unreachable!("it is in the queue"),
        }
    }

    /// Line 22, after `update`: takes out the `k` requests with the highest scores; of equal ones, those with
    /// the earliest deadlines, then the lowest ids.
    pub fn pop_batch(&mut self, view: &View<'_>, k: usize, out: &mut Vec<Slot>) {
        #[cfg(test)]
        self.check(view);
        let u = libm::exp(view.since(self.base));
        self.best.clear();
        while let Some(leaf) = self.hull.top(u) {
            let most = self.hull.point(leaf).at(u);
            if self.worst_of(k).is_some_and(|score| most < score * (1.0 - CLOSE)) {
                break;
            }
            let members = std::mem::take(&mut self.members[leaf.index()]);
            // Score, deadline, id.
            let score = |m: &Member| (view.score(view.entry(m.slot)), m.deadline, m.id);
            let from = Some(self.aside.len());
            members.best(k).for_each(|m| better(&mut self.best, k, (score(m), m.slot, from)));
            self.aside.push((self.hull.point(leaf), members));
            self.hull.remove(leaf);
        }
        if self.worst_of(k).is_none_or(|score| score <= 0.0) {
            let lost = self.lost.iter().take(k);
            lost.for_each(|l| better(&mut self.best, k, ((0.0, l.0, l.1), l.2, None)));
        }
        for (_, slot, from) in self.best.drain(..) {
            let e = view.entry(slot);
            match from {
                Some(from) => self.aside[from].1.remove(&member(slot, e)),
                None => self.lost.remove(&(e.deadline, e.id, slot)),
            };
            self.places[slot as usize] = Place::Nowhere;
            self.len -= 1;
            out.push(slot);
        }
        // The others return to the hull.
        let mut aside = std::mem::take(&mut self.aside);
        for (point, members) in aside.drain(..) {
            let mut members = members.iter().peekable();
            if members.peek().is_some() {
                let leaf = self.hull.insert(point);
                members.for_each(|m| self.put(leaf, *m));
            }
        }
        self.aside = aside;
    }

    /// Every request is at the point that it has now, or lost, and all are counted.
    #[cfg(test)]
    fn check(&self, view: &View<'_>) {
        let mut on_hull = 0;
        for (leaf, members) in self.members.iter().enumerate() {
            for m in members.iter() {
                let Place::On(at) = self.places[m.slot as usize] else { panic!("{m:?}") };
                let point = view.point(view.entry(m.slot), self.base).map(|p| p.0);
                assert_eq!((at.index(), point), (leaf, Some(self.hull.point(at))), "{m:?}");
                on_hull += 1;
            }
        }
        for &(_, _, slot) in &self.lost {
            assert_eq!(self.places[slot as usize], Place::Lost);
            assert!(view.point(view.entry(slot), self.base).is_none());
        }
        assert_eq!(on_hull + self.lost.len(), self.len);
    }

    /// The lowest of the best `k` scores so far, if there are as many.
    fn worst_of(&self, k: usize) -> Option<f64> {
        self.best.get(k - 1).map(|best| best.0.0)
    }

    fn put(&mut self, leaf: Leaf, member: Member) {
        self.set_place(member.slot, Place::On(leaf));
        if self.members.len() <= leaf.index() {
            self.members.resize_with(leaf.index() + 1, Members::default);
        }
        self.members[leaf.index()].insert(member);
    }

    fn lose(&mut self, slot: Slot, e: &Entry) {
        self.set_place(slot, Place::Lost);
        self.lost.insert((e.deadline, e.id, slot));
    }

    fn set_place(&mut self, slot: Slot, place: Place) {
        let at = slot as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, Place::Nowhere);
        }
        self.places[at] = place;
    }
}

/// Its score and slot, and its place in `aside`; the lost have none.
type Best = (Scored, Slot, Option<usize>);

/// Puts one among the best `k`, if it is of them.
fn better(best: &mut Vec<Best>, k: usize, one: Best) {
    let at = best.partition_point(|other| higher_score(&other.0, &one.0).is_lt());
    if at < k {
        best.truncate(k - 1);
        best.insert(at, one);
    }
}
