//! The first decision that differed, and what each side knew when it was taken.

use super::logs::Side;
use orrery_sim::log::{Closed, Record};
use orrery_sim::request::{ActionId, End, RequestId};
use orrery_sim::time::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Records shown before and after the decision.
const BEFORE: usize = 6;
const AFTER: usize = 3;
/// Ids shown of a queue.
const SHOWN: usize = 8;

/// A decision, without its instant: two clocks never agree to the nanosecond.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    Run { device: u32, lane: u8, model: u32, units: u32, requests: Vec<RequestId> },
    Drop { request: RequestId, how: End },
    Stop { requests: Vec<RequestId> },
}

impl Decision {
    fn words(&self, side: &Side) -> String {
        match self {
            Decision::Run { device, lane, model, units, requests } => {
                let number = model.to_string();
                let model = side.names.models.get(*model as usize).unwrap_or(&number);
                format!(
                    "run {} of `{model}` ({units} units) on device {device}, lane {lane}: {}",
                    requests.len(),
                    ids(requests.iter())
                )
            }
            Decision::Drop { request, how } => format!("end request {}: {}", request.0, how.word()),
            Decision::Stop { requests } => format!("stop the batch of {}", ids(requests.iter())),
        }
    }
}

fn ids<'a>(all: impl ExactSizeIterator<Item = &'a RequestId>) -> String {
    let count = all.len();
    let shown: Vec<String> = all.take(SHOWN).map(|r| r.0.to_string()).collect();
    let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(" "))
}

/// Decisions with the number of their record, one at a time.
struct Decisions<'a> {
    records: &'a [Record],
    next: usize,
    open: BTreeMap<ActionId, &'a [RequestId]>,
}

impl<'a> Decisions<'a> {
    fn of(side: &'a Side) -> Decisions<'a> {
        Decisions { records: &side.records, next: 0, open: BTreeMap::new() }
    }
}

impl Iterator for Decisions<'_> {
    type Item = (usize, Decision);

    fn next(&mut self) -> Option<(usize, Decision)> {
        while let Some(record) = self.records.get(self.next) {
            let at = self.next;
            self.next += 1;
            match record {
                Record::Issue { batch: b, .. } => {
                    self.open.insert(b.action, &b.requests);
                    let requests = b.requests.clone();
                    let (device, lane, model) = (b.device.0, b.lane, b.model.0);
                    return Some((
                        at,
                        Decision::Run { device, lane, model, units: b.units, requests },
                    ));
                }
                Record::End { request, end: how @ End::Dropped(_), .. } => {
                    return Some((at, Decision::Drop { request: *request, how: *how }));
                }
                Record::Close { action, outcome, .. } => {
                    // A load is no decision about requests.
                    let Some(requests) = self.open.remove(action) else { continue };
                    let requests = requests.to_vec();
                    if matches!(outcome, Closed::Preempted | Closed::Cancelled) {
                        return Some((at, Decision::Stop { requests }));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// How many decisions a side took.
pub fn decisions(side: &Side) -> u64 {
    Decisions::of(side).count() as u64
}

/// Tells the first decision that differed; `None` when the decisions are the same.
pub fn first_difference(predicted: &Side, measured: &Side) -> Option<String> {
    let (mut ours, mut theirs) = (Decisions::of(predicted), Decisions::of(measured));
    for number in 1u64.. {
        let (a, b) = (ours.next(), theirs.next());
        let same = match (&a, &b) {
            (None, None) => return None,
            (Some(a), Some(b)) => a.1 == b.1,
            _ => false,
        };
        if !same {
            let mut text = format!("decision {number} is the first that differed\n");
            tell(&mut text, "predicted", predicted, a);
            tell(&mut text, "measured", measured, b);
            return Some(text);
        }
    }
    None
}

fn tell(text: &mut String, what: &str, side: &Side, decision: Option<(usize, Decision)>) {
    let at = decision.as_ref().map_or(side.records.len(), |d| d.0);
    let when = side.records.get(at).map_or(Time::NEVER, Record::time);
    let words = decision.map_or("nothing more".to_string(), |d| d.1.words(side));
    let _ = writeln!(text, "\n{what}, at {when}: {words}");
    let known = Known::before(side, at);
    let queue = known.waiting.iter();
    let _ = writeln!(text, "  waiting: {} requests: {}", queue.len(), ids(queue));
    for (action, (device, lane, began, size)) in &known.issued {
        let state = match began {
            Some(began) => format!("runs since {began}"),
            None => "was issued".to_string(),
        };
        let _ = writeln!(text, "  device {device}, lane {lane}: action {action} of {size} {state}");
    }
    if known.issued.is_empty() {
        let _ = writeln!(text, "  devices: idle");
    }
    let from = at.saturating_sub(BEFORE);
    let to = (at + 1 + AFTER).min(side.records.len());
    for (i, record) in side.records[from..to].iter().enumerate() {
        let mark = if from + i == at { '>' } else { ' ' };
        let _ = writeln!(text, "  {mark} {record}");
    }
}

/// What a side knew: requests that wait, and actions that are out.
#[derive(Default)]
struct Known {
    waiting: BTreeSet<RequestId>,
    /// Device, lane, when it began, requests.
    issued: BTreeMap<u64, (u32, u8, Option<Time>, usize)>,
}

impl Known {
    fn before(side: &Side, at: usize) -> Known {
        let mut known = Known::default();
        let mut batches: BTreeMap<ActionId, &[RequestId]> = BTreeMap::new();
        for record in &side.records[..at] {
            match record {
                Record::Arrive { request, .. } => {
                    known.waiting.insert(request.id);
                }
                Record::Issue { batch: b, .. } => {
                    for request in &b.requests {
                        known.waiting.remove(request);
                    }
                    batches.insert(b.action, &b.requests);
                    let what = (b.device.0, b.lane, None, b.requests.len());
                    known.issued.insert(b.action.0, what);
                }
                Record::Begin { time, action } => {
                    if let Some(issued) = known.issued.get_mut(&action.0) {
                        issued.2 = Some(*time);
                    }
                }
                Record::Close { action, outcome, .. } => {
                    known.issued.remove(&action.0);
                    let requests = batches.remove(action).unwrap_or_default();
                    if !matches!(outcome, Closed::Done(_)) {
                        known.waiting.extend(requests);
                    }
                }
                Record::End { request, .. } => {
                    known.waiting.remove(request);
                }
                _ => {}
            }
        }
        known
    }
}
