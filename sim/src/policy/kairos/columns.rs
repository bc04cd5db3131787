//! The instances as columns, in the order of the tie rule: idle ones by rank, then busy ones by the
//! instant at which they are to be free, then by rank; or all of them by rank (`ties=listed`).

use crate::policy::pool::{Instance, Rank};
use crate::time::Time;

/// The columns. See the module's text.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Sorted; the idle ones are in front.
    order: Vec<u32>,
    idle: usize,
    /// By instance: when it is to be free ([`Time::ZERO`] for idle ones), and its rank.
    free_at: Vec<(Time, Rank)>,
    busy: Vec<bool>,
    of_kind: Vec<usize>,
}

impl Columns {
    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// How many of them are idle.
    pub fn idle(&self) -> usize {
        self.idle
    }

    pub fn is_busy(&self, instance: u32) -> bool {
        self.busy[instance as usize]
    }

    /// What a busy instance still has to do, as estimated, in ns.
    #[inline]
    pub fn left_ns(&self, instance: u32, now: Time) -> i64 {
        let at = self.free_at[instance as usize].0;
        (at.ns() as i64 - now.ns() as i64).max(0)
    }

    fn key(&self, instance: u32) -> (bool, Time, Rank) {
        let (at, rank) = self.free_at[instance as usize];
        (self.busy[instance as usize], at, rank)
    }

    fn insert(&mut self, instance: u32) {
        let key = self.key(instance);
        let at = self.order.partition_point(|&o| self.key(o) < key);
        self.order.insert(at, instance);
    }

    /// Takes an instance out.
    pub fn remove(&mut self, instance: u32) {
        let Some(at) = self.order.iter().position(|&o| o == instance) else { return };
        self.order.remove(at);
        self.idle -= usize::from(at < self.idle);
    }

    /// An instance is new, or has ended what it did.
    pub fn add(&mut self, instance: u32, rank: Rank) {
        self.remove(instance);
        let i = instance as usize;
        if self.free_at.len() <= i {
            self.free_at.resize(i + 1, (Time::ZERO, 0));
            self.busy.resize(i + 1, false);
        }
        (self.free_at[i], self.busy[i]) = ((Time::ZERO, rank), false);
        self.insert(instance);
        self.idle += 1;
    }

    /// An idle instance got a query.
    pub fn dispatched(&mut self, instance: u32, free_at: Time) {
        self.remove(instance);
        let i = instance as usize;
        (self.free_at[i].0, self.busy[i]) = (free_at, true);
        self.insert(instance);
    }

    /// All instances in the order of the list, busy or not.
    pub fn listed(&self, into: &mut Vec<u32>) {
        into.clone_from(&self.order);
        into.sort_unstable_by_key(|&o| self.free_at[o as usize].1);
    }

    /// At most `most` instances of each kind, in order.
    pub fn first_of_each_kind(&mut self, most: usize, instances: &[Instance], into: &mut Vec<u32>) {
        into.clear();
        if most >= self.order.len() {
            into.extend_from_slice(&self.order);
            return;
        }
        self.of_kind.fill(0);
        for &o in &self.order {
            let kind = instances[o as usize].kind;
            if self.of_kind.len() <= kind {
                self.of_kind.resize(kind + 1, 0);
            }
            if self.of_kind[kind] < most {
                self.of_kind[kind] += 1;
                into.push(o);
            }
        }
    }
}
