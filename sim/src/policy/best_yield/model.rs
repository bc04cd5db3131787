//! What waits for a model, and the best batch of it.

use super::row::{Candidate, From, Row};
use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::policy::Actions;
use crate::profile::{AppProfile, ModelProfile};
use crate::request::{Drop, RequestId};
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A request that waits: by deadline, then by order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub deadline: Time,
    pub id: RequestId,
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

/// An application of a model.
pub(super) struct Class {
    pub law: Rc<Histogram>,
    /// By size less one: batches whose slowest request is of this class.
    pub rows: Vec<Rc<Row>>,
    /// By size less one: the largest yield of that size or a smaller one, without a deadline.
    pub most: Vec<f64>,
    /// Sizes less one, those that may yield most first.
    order: Vec<usize>,
    pub queue: Vec<Waiting>,
}

/// A request whose batch was stopped.
pub(super) struct Suspect {
    pub waiting: Waiting,
    pub law: Rc<Histogram>,
    pub row: Rc<Row>,
}

pub(super) struct Model {
    max_batch: usize,
    pub law: Latency,
    /// The class of an application.
    pub places: BTreeMap<usize, usize>,
    pub classes: Vec<Class>,
    pub suspects: Vec<Suspect>,
    /// Whether a batch's time follows from its size, on any device.
    pub is_certain: bool,
    pub best: Option<Candidate>,
    /// The device time that all that waits takes in the best batches that it can form, ns.
    pub work_ns: f64,
    pub latest: Time,
    /// Deadlines of the classes that were looked at, as many as a batch may have.
    latest_first: Vec<Time>,
}

impl Model {
    pub fn new(max_batch: u32, p: &ModelProfile) -> Model {
        let mut apps: Vec<&AppProfile> = p.apps.iter().collect();
        apps.sort_by(|a, b| a.law.mean_ns().total_cmp(&b.law.mean_ns()).then(a.app.cmp(&b.app)));
        let class = |c: usize| {
            let parts: Vec<_> = apps[..=c].iter().map(|a| (a.weight, &a.law)).collect();
            let others = Histogram::mixture(&parts);
            let row = |k| Row::of(&p.law, k, &apps[c].law.max_with(&[(&others, k - 1)]));
            let fits = |row: &Row| row.size == 1 || row.stops[0].after <= p.slo;
            let rows: Vec<Rc<Row>> =
                (1..=max_batch).map(row).take_while(fits).map(Rc::new).collect();
            let mut most = 0.0_f64;
            let most = rows.iter().map(|row| {
                most = most.max(row.most);
                most
            });
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|&a, &b| rows[b].most.total_cmp(&rows[a].most).then(a.cmp(&b)));
            Class {
                most: most.collect(),
                order,
                rows,
                law: Rc::new(apps[c].law.clone()),
                queue: Vec::new(),
            }
        };
        let classes: Vec<Class> = (0..apps.len()).map(class).collect();
        let equal = |laws: &[Latency]| laws.windows(2).all(|two| two[0] == two[1]);
        let of_one_kind = p.kinds.as_ref().is_none_or(|kinds| equal(&kinds.laws));
        let one_stop = matches!(&classes[..], [one] if one.rows[0].stops.len() == 1);
        Model {
            max_batch: max_batch as usize,
            is_certain: of_one_kind && one_stop && !matches!(p.law, Latency::Samples(_)),
            law: p.law.clone(),
            places: apps.iter().enumerate().map(|(i, a)| (a.app, i)).collect(),
            classes,
            suspects: Vec::new(),
            best: None,
            work_ns: 0.0,
            latest: Time::ZERO,
            latest_first: Vec::new(),
        }
    }

    pub fn insert(&mut self, class: usize, waiting: Waiting) {
        let queue = &mut self.classes[class].queue;
        let at = queue.partition_point(|w| *w < waiting);
        queue.insert(at, waiting);
        self.best = None;
    }

    /// Looks for the best batch, if it is not known; whether there is one.
    pub fn look(&mut self, now: Time, out: &mut Actions) -> bool {
        if self.best.is_none_or(|best| now > best.until) {
            self.drop_hopeless(now, out);
            self.best = self.candidate(now);
            let fresh = self.classes.iter().filter(|c| !c.queue.is_empty());
            self.work_ns = fresh
                .map(|c| c.queue.len() as f64 / c.most[c.queue.len().min(c.most.len()) - 1])
                .sum::<f64>()
                + self.suspects.iter().map(|s| 1.0 / s.row.most).sum::<f64>();
            let fresh = self.classes.iter().filter_map(|c| c.queue.last()).map(|w| w.deadline);
            let latest = fresh.chain(self.suspects.iter().map(|s| s.waiting.deadline)).max();
            self.latest = latest.unwrap_or(Time::ZERO);
        }
        self.best.is_some()
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        let mut lost = |waiting: &Waiting, row: &Row| {
            let is_lost = now + row.stops[0].after > waiting.deadline;
            if is_lost {
                let least = row.stops[0].after;
                out.why(waiting.id, || {
                    format!("even alone, now, it would take {least} at least, and be late")
                });
                out.end(waiting.id, Drop::Infeasible);
            }
            is_lost
        };
        for class in &mut self.classes {
            let n = class.queue.iter().take_while(|w| lost(w, &class.rows[0])).count();
            class.queue.drain(..n);
        }
        self.suspects.retain(|s| !lost(&s.waiting, &s.row));
    }

    /// The best batch: by its slowest class, the fastest first, or of a request that waits alone. Of equals the first
    /// and smallest.
    fn candidate(&mut self, now: Time) -> Option<Candidate> {
        let mut best: Option<Candidate> = None;
        self.latest_first.clear();
        for (c, class) in self.classes.iter().enumerate() {
            if class.queue.is_empty() {
                continue;
            }
            merge(&mut self.latest_first, &class.queue, self.max_batch);
            let mut of_class: Option<Candidate> = None;
            for &k in &class.order {
                let row = &class.rows[k];
                if of_class.iter().chain(&best).any(|b| row.most < b.yields) {
                    break;
                }
                let Some(&deadline) = self.latest_first.get(k) else { continue };
                let own = row.candidate(From::Classes(c), deadline, now);
                of_class = match of_class.is_some_and(|b| b.size <= k) {
                    true => better(of_class, own),
                    false => better(own, of_class),
                };
            }
            best = better(best, of_class);
        }
        for (i, s) in self.suspects.iter().enumerate() {
            if best.is_none_or(|b| s.row.most > b.yields) {
                best = better(best, s.row.candidate(From::Suspect(i), s.waiting.deadline, now));
            }
        }
        best
    }

    /// Takes a batch out of what waits.
    pub fn take(&mut self, now: Time, c: &Candidate) -> Batch {
        self.best = None;
        let class = match c.from {
            From::Suspect(i) => {
                let Suspect { waiting, law, row } = self.suspects.remove(i);
                return Batch { members: vec![Member { waiting, law }], row };
            }
            From::Classes(class) => class,
        };
        let mut taken: Vec<(Waiting, usize)> = Vec::new();
        for (i, class) in self.classes[..=class].iter().enumerate() {
            let first = class.queue.partition_point(|w| w.deadline < now + c.after);
            taken.extend(class.queue[first..].iter().take(c.size).map(|w| (*w, i)));
        }
        taken.sort_unstable();
        taken.truncate(c.size);
        let slowest = taken.iter().map(|t| t.1).max().unwrap_or(class);
        let member = |(waiting, i): (Waiting, usize)| {
            let class = &mut self.classes[i];
            if let Ok(at) = class.queue.binary_search(&waiting) {
                class.queue.remove(at);
            }
            Member { waiting, law: Rc::clone(&class.law) }
        };
        let members = taken.into_iter().map(member).collect();
        Batch { members, row: Rc::clone(&self.classes[slowest].rows[c.size - 1]) }
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
fn merge(latest_first: &mut Vec<Time>, queue: &[Waiting], most: usize) {
    let own = queue.iter().rev().take(most).map(|w| w.deadline);
    let others = latest_first.len();
    latest_first.extend(own);
    if others > 0 {
        latest_first.sort_unstable_by_key(|deadline| Reverse(*deadline));
        latest_first.truncate(most);
    }
}
