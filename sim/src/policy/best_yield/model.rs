//! What waits for a model, and the best batch of it.

use super::row::{Candidate, From, Row};
use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::ordered::sort_by;
use crate::policy::Actions;
use crate::profile::{AppProfile, ModelProfile};
use crate::request::{Drop, RequestId};
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A request that waits: by deadline, then by order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub deadline: Time,
    pub id: RequestId,
    /// Its items.
    pub items: u32,
}

/// A request of a batch, with the law of its time alone.
pub(super) struct Member {
    pub waiting: Waiting,
    pub law: Rc<Histogram>,
}

/// A batch, and what it yields.
pub(super) struct Batch {
    pub members: Vec<Member>,
    pub row: Rc<Row>,
}

/// A kind of device, as a model's batches run on it.
#[derive(Clone)]
pub(super) struct Kind {
    pub law: Latency,
    pub can_stop: bool,
    /// Its part of the devices.
    pub share: f64,
}

/// Batches of a class on a kind of device.
pub(super) struct Table {
    /// By size less one, of requests of one item: batches whose slowest request is of this class.
    pub rows: Vec<Rc<Row>>,
    /// By size less one: the largest yield of that size or a smaller one, without a deadline.
    pub most: Vec<f64>,
    /// Sizes less one, those that may yield most first.
    order: Vec<usize>,
    /// Of more items than requests, by both.
    of_items: BTreeMap<(u32, u32), Rc<Row>>,
}

/// An application of a model.
pub(super) struct Class {
    max_batch: u32,
    slo: Span,
    pub law: Rc<Histogram>,
    /// Of a request of this class or a faster one.
    others: Histogram,
    /// By kind of device.
    pub on: Vec<Table>,
    pub queue: Vec<Waiting>,
}

/// A request whose batch was stopped.
pub(super) struct Suspect {
    pub waiting: Waiting,
    pub law: Rc<Histogram>,
    /// By kind of device.
    pub rows: Vec<Rc<Row>>,
}

/// A model, or what of it is late already and still worth something.
pub(super) struct Model {
    /// Its number in the cluster.
    pub id: usize,
    /// What an answer is worth, as part of one in time.
    pub worth: f64,
    /// Where requests wait that could be answered late alone, and those that are to go there.
    pub later: Option<usize>,
    pub late: Vec<Waiting>,
    max_batch: usize,
    pub slo: Span,
    pub kinds: Vec<Kind>,
    /// The class of an application.
    pub places: BTreeMap<usize, usize>,
    pub classes: Vec<Class>,
    pub suspects: Vec<Suspect>,
    /// Whether a batch's time follows from its size and its device.
    pub is_certain: bool,
    /// Whether a request had several items.
    has_items: bool,
    /// By kind of device.
    best: Vec<Option<Candidate>>,
    /// The device time that all that waits takes in the best batches that it can form, ns.
    pub work_ns: f64,
    pub latest: Time,
    /// Deadlines and items of the classes that were looked at, as many as a batch may have.
    latest_first: Vec<(Time, u32)>,
}

impl Table {
    fn of(max_batch: u32, slo: Span, kind: &Kind, law: &Histogram, others: &Histogram) -> Table {
        let row = |k| Row::of(&kind.law, (k, k), &law.max_with(&[(others, k - 1)]), kind.can_stop);
        let fits = |row: &Row| row.size == 1 || row.stops[0].after <= slo;
        let rows: Vec<Rc<Row>> = (1..=max_batch).map(row).take_while(fits).map(Rc::new).collect();
        let mut most = 0.0_f64;
        let most = rows.iter().map(|row| {
            most = most.max(row.most);
            most
        });
        let most = most.collect();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        sort_by(&mut order, |&a, &b| rows[b].most.total_cmp(&rows[a].most).then(a.cmp(&b)));
        Table { most, order, rows, of_items: BTreeMap::new() }
    }
}

impl Class {
    /// A batch of `n` requests whose slowest is of this class; none if it does not fit the SLO.
    pub fn row(&mut self, kinds: &[Kind], kind: usize, (n, items): (u32, u32)) -> Option<Rc<Row>> {
        let on = &mut self.on[kind];
        if items == n {
            return on.rows.get(n as usize - 1).cloned();
        }
        if n > self.max_batch {
            return None;
        }
        // Of many, thirty sizes for each doubling are told apart.
        let step = if n > 1 { (items / 32).next_power_of_two() } else { 1 };
        let items = items.next_multiple_of(step.max(1));
        let row = on.of_items.entry((n, items)).or_insert_with(|| {
            let longest = self.law.max_with(&[(&self.others, n - 1)]);
            Rc::new(Row::of(&kinds[kind].law, (n, items), &longest, kinds[kind].can_stop))
        });
        (n == 1 || row.stops[0].after <= self.slo).then(|| Rc::clone(row))
    }
}

impl Model {
    pub fn new(id: usize, max_batch: u32, p: &ModelProfile, kinds: Vec<Kind>) -> Model {
        let mut apps: Vec<&AppProfile> = p.apps.iter().collect();
        sort_by(&mut apps, |a, b| {
            a.law.mean_ns().total_cmp(&b.law.mean_ns()).then(a.app.cmp(&b.app))
        });
        let class = |c: usize| {
            let parts: Vec<_> = apps[..=c].iter().map(|a| (a.weight, &a.law)).collect();
            let others = Histogram::mixture(&parts);
            let table = |kind| Table::of(max_batch, p.slo, kind, &apps[c].law, &others);
            let on = kinds.iter().map(table).collect();
            let law = Rc::new(apps[c].law.clone());
            Class { max_batch, slo: p.slo, on, law, others, queue: Vec::new() }
        };
        let classes: Vec<Class> = (0..apps.len()).map(class).collect();
        let one_stop =
            matches!(&classes[..], [one] if one.on.iter().all(|on| on.rows[0].stops.len() == 1));
        let are_samples = kinds.iter().any(|kind| matches!(kind.law, Latency::Samples(_)));
        Model {
            id,
            worth: 1.0,
            later: None,
            late: Vec::new(),
            max_batch: max_batch as usize,
            slo: p.slo,
            is_certain: one_stop && !are_samples,
            places: apps.iter().enumerate().map(|(i, a)| (a.app, i)).collect(),
            classes,
            suspects: Vec::new(),
            has_items: false,
            best: vec![None; kinds.len()],
            kinds,
            work_ns: 0.0,
            latest: Time::ZERO,
            latest_first: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.suspects.is_empty() && self.classes.iter().all(|class| class.queue.is_empty())
    }

    /// How many requests that wait would be in time alone on the fastest device from then on.
    pub fn waiting_from(&self, from: Time) -> usize {
        let of_class = |class: &Class| {
            let least = class.on.iter().map(|on| on.rows[0].stops[0].after).min();
            let least = from + least.unwrap_or(Span::ZERO);
            class.queue.len() - class.queue.partition_point(|w| w.deadline < least)
        };
        self.suspects.len() + self.classes.iter().map(of_class).sum::<usize>()
    }

    /// What waits has changed.
    pub fn changed(&mut self) {
        self.best.fill(None);
    }

    pub fn insert(&mut self, class: usize, waiting: Waiting) {
        let queue = &mut self.classes[class].queue;
        let at = queue.partition_point(|w| *w < waiting);
        queue.insert(at, waiting);
        self.has_items |= waiting.items > 1;
        self.changed();
    }

    /// The best batch on a kind of device of those that keep `reserve` free before their deadlines.
    pub fn best(
        &mut self,
        now: Time,
        reserve: Span,
        kind: usize,
        out: &mut Actions,
    ) -> Option<Candidate> {
        let from = now + reserve;
        if self.best[kind].is_none_or(|best| from > best.until) {
            self.drop_hopeless(now, out);
            let best = self.candidate(from, kind);
            self.best[kind] = best.map(|b| Candidate { yields: self.worth * b.yields, ..b });
            let per_ns = |of: &dyn Fn(usize) -> f64| -> f64 {
                self.kinds.iter().enumerate().map(|(i, kind)| kind.share * of(i)).sum()
            };
            let fresh = self.classes.iter().filter(|c| !c.queue.is_empty()).map(|c| {
                let most = |on: &Table| on.most[c.queue.len().min(on.most.len()) - 1];
                c.queue.len() as f64 / per_ns(&|kind| most(&c.on[kind]))
            });
            let suspects = self.suspects.iter().map(|s| 1.0 / per_ns(&|kind| s.rows[kind].most));
            self.work_ns = fresh.chain(suspects).sum();
            let fresh = self.classes.iter().filter_map(|c| c.queue.last()).map(|w| w.deadline);
            let latest = fresh.chain(self.suspects.iter().map(|s| s.waiting.deadline)).max();
            self.latest = latest.unwrap_or(Time::ZERO);
        }
        self.best[kind]
    }

    /// Drops what would be late even alone, now, on the fastest device, by its law: what batches took beyond it is no
    /// reason, as nothing more would be learned of it.
    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        let (is_last, late) = (self.later.is_none(), &mut self.late);
        let mut lost = |waiting: &Waiting, least: Span| {
            let is_lost = now + least > waiting.deadline;
            if is_lost && !is_last {
                late.push(*waiting);
            } else if is_lost {
                out.why(waiting.id, || {
                    format!("even alone, now, it would take {least} at least, and be late")
                });
                out.end(waiting.id, Drop::Infeasible);
            }
            is_lost
        };
        let mut dropped = 0;
        let first = |row: Option<Rc<Row>>| row.map_or(Span::ZERO, |row| row.stops[0].after);
        for class in &mut self.classes {
            let mut n = 0;
            while let Some(head) = class.queue.get(n).copied() {
                let kinds = 0..self.kinds.len();
                let of = (1, head.items);
                let least = kinds.map(|kind| first(class.row(&self.kinds, kind, of)));
                if !lost(&head, least.min().unwrap_or(Span::ZERO)) {
                    break;
                }
                n += 1;
            }
            class.queue.drain(..n);
            dropped += n;
        }
        let least = |s: &Suspect| s.rows.iter().map(|row| row.stops[0].after).min();
        let before = self.suspects.len();
        self.suspects.retain(|s| !lost(&s.waiting, least(s).unwrap_or(Span::ZERO)));
        if dropped + before > self.suspects.len() {
            self.changed();
        }
    }

    /// The best batch: by its slowest class, the fastest first, or of a request that waits alone. Of equals the first
    /// and smallest.
    fn candidate(&mut self, now: Time, kind: usize) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        self.latest_first.clear();
        for (c, class) in self.classes.iter_mut().enumerate() {
            if class.queue.is_empty() {
                continue;
            }
            merge(&mut self.latest_first, &class.queue, self.max_batch);
            let mut of_class: Option<Candidate> = None;
            let mut items = 0;
            for (n, &(deadline, own)) in self.latest_first.iter().enumerate() {
                if !self.has_items {
                    break;
                }
                items += own;
                let of = (n as u32 + 1, items);
                let Some(row) = class.row(&self.kinds, kind, of) else { break };
                of_class = better(of_class, row.candidate(From::Classes(c), deadline, now));
            }
            let Table { rows, order, .. } = &class.on[kind];
            for &k in order.iter().filter(|_| !self.has_items) {
                let row = &rows[k];
                if of_class.iter().chain(&best).any(|b| row.most < b.yields) {
                    break;
                }
                let Some(&(deadline, _)) = self.latest_first.get(k) else { continue };
                let own = row.candidate(From::Classes(c), deadline, now);
                of_class = match of_class.is_some_and(|b| b.size <= k) {
                    true => better(of_class, own),
                    false => better(own, of_class),
                };
            }
            best = better(best, of_class);
        }
        for (i, s) in self.suspects.iter().enumerate() {
            let row = &s.rows[kind];
            if best.is_none_or(|b| row.most > b.yields) {
                best = better(best, row.candidate(From::Suspect(i), s.waiting.deadline, now));
            }
        }
        best
    }

    /// Takes a batch out of what waits.
    pub fn take(&mut self, now: Time, kind: usize, c: &Candidate) -> Batch {
        self.changed();
        let class = match c.from {
            From::Suspect(i) => {
                let Suspect { waiting, law, rows } = self.suspects.remove(i);
                let row = Rc::clone(&rows[kind]);
                return Batch { members: vec![Member { waiting, law }], row };
            }
            From::Classes(class) => class,
        };
        let mut taken: Vec<(Waiting, usize)> = Vec::new();
        for (i, class) in self.classes[..=class].iter().enumerate() {
            let first = class.queue.partition_point(|w| w.deadline < now + c.after);
            // A long request may be left for one behind it.
            let most = if self.has_items { usize::MAX } else { c.size };
            taken.extend(class.queue[first..].iter().take(most).map(|w| (*w, i)));
        }
        taken.sort_unstable();
        let mut items = 0;
        if self.has_items {
            taken.retain(|t| {
                let fits = items + t.0.items <= c.items;
                items += if fits { t.0.items } else { 0 };
                fits
            });
        }
        taken.truncate(c.size);
        let of = (taken.len() as u32, taken.iter().map(|t| t.0.items).sum());
        let slowest = taken.iter().map(|t| t.1).max().unwrap_or(class);
        let row = self.classes[slowest].row(&self.kinds, kind, of);
        let member = |(waiting, i): (Waiting, usize)| {
            let class = &mut self.classes[i];
            if let Ok(at) = class.queue.binary_search(&waiting) {
                class.queue.remove(at);
            }
            Member { waiting, law: Rc::clone(&class.law) }
        };
        let members = taken.into_iter().map(member).collect();
        Batch {
            members,
            row: row.unwrap_or_else(|| {
                panic!("a batch that was looked at, or a smaller one {of:?} {c:?} {kind}")
            }),
        }
    }
}

/// The first one, unless the second yields more.
fn better(a: Option<Candidate>, b: Option<Candidate>) -> Option<Candidate> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.yields > a.yields { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Puts the latest deadlines of a queue among others, `most` of them in all.
fn merge(latest_first: &mut Vec<(Time, u32)>, queue: &[Waiting], most: usize) {
    let own = queue.iter().rev().take(most).map(|w| (w.deadline, w.items));
    let others = latest_first.len();
    latest_first.extend(own);
    if others > 0 {
        latest_first.sort_by_key(|waiting| Reverse(waiting.0));
        latest_first.truncate(most);
    }
}
