//! The requests that fared worst.

use super::words::{self, ms};
use orrery_sim::log::{LogError, Names, Record};
use orrery_sim::request::{ActionId, End, Request, RequestId};
use orrery_sim::time::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;

/// The larger, the worse: unanswered requests by their time in the system, then answered ones by
/// their lateness (how early they were counts backwards from the middle). Ties: the first one.
type Badness = (bool, u64, Reverse<RequestId>);

struct Fate {
    request: Request,
    ended: Time,
    end: End,
    began: Option<Time>,
}

fn badness(fate: &Fate) -> Badness {
    let id = Reverse(fate.request.id);
    match fate.end {
        End::InTime | End::Late => {
            let (late, early) =
                (fate.ended.since(fate.request.deadline), fate.request.deadline.since(fate.ended));
            let middle = u64::MAX / 2;
            (false, middle.saturating_add(late.ns()).saturating_sub(early.ns()), id)
        }
        End::Dropped(_) | End::Pending => (true, fate.ended.since(fate.request.arrival).ns(), id),
    }
}

/// How a request fared, in words.
#[derive(Clone, Debug)]
pub struct Fared {
    /// Its number.
    pub id: RequestId,
    /// How it ended: `dropped (infeasible)`.
    pub end: String,
    /// Its model.
    pub model: String,
    /// Its application.
    pub app: String,
    /// When it began after its arrival; empty when it never did.
    pub began: String,
    /// When it ended after its arrival.
    pub ended: String,
    /// When that was by its deadline.
    pub deadline: String,
}

pub fn list(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    count: usize,
) -> Result<String, LogError> {
    let mut out = String::new();
    for fared in find(names, records, count)? {
        let _ = writeln!(out, "{}", line(&fared));
    }
    if out.is_empty() {
        out.push_str("the log has no request that ended\n");
    }
    Ok(out)
}

/// The worst first.
pub fn find(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    count: usize,
) -> Result<Vec<Fared>, LogError> {
    let mut live: BTreeMap<RequestId, (Request, Option<Time>)> = BTreeMap::new();
    let mut batches: BTreeMap<ActionId, Vec<RequestId>> = BTreeMap::new();
    // The worst so far, the least bad of them on top.
    let mut worst: BinaryHeap<Reverse<(Badness, u64)>> = BinaryHeap::new();
    let mut fates: BTreeMap<u64, Fate> = BTreeMap::new();
    let mut ends = 0;
    for record in records {
        match record? {
            Record::Arrive { request, .. } => {
                live.insert(request.id, (request, None));
            }
            Record::Issue { batch, .. } => {
                batches.insert(batch.action, batch.requests);
            }
            Record::Begin { time, action } => {
                for id in batches.get(&action).into_iter().flatten() {
                    live.entry(*id).and_modify(|l| l.1 = Some(time));
                }
            }
            Record::Close { action, .. } => {
                batches.remove(&action);
            }
            Record::End { time, request, end } => {
                let Some((request, began)) = live.remove(&request) else { continue };
                let fate = Fate { request, ended: time, end, began };
                ends += 1;
                worst.push(Reverse((badness(&fate), ends)));
                fates.insert(ends, fate);
                if worst.len() > count
                    && let Some(Reverse((_, least))) = worst.pop()
                {
                    fates.remove(&least);
                }
            }
            Record::Load { .. } | Record::Unload { .. } | Record::Device { .. } => {}
            Record::Why { .. } | Record::Finish { .. } => {}
        }
    }
    let ranked = worst.into_sorted_vec();
    let fates = ranked.iter().filter_map(|Reverse((_, number))| fates.get(number));
    Ok(fates.map(|fate| fared(names, fate)).collect())
}

fn fared(names: &Names, fate: &Fate) -> Fared {
    let Fate { request: r, ended, end, began } = fate;
    let deadline = match r.deadline {
        Time::NEVER => "no deadline".to_string(),
        d if *ended > d => format!("{} after its deadline", ms(ended.since(d))),
        d => format!("{} before its deadline", ms(d.since(*ended))),
    };
    Fared {
        id: r.id,
        end: words::end(*end).to_string(),
        model: words::model(names, r.model).to_string(),
        app: names.app(r.app).map_or_else(|| r.app.to_string(), str::to_string),
        began: began.map_or(String::new(), |began| ms(began.since(r.arrival))),
        ended: ms(ended.since(r.arrival)),
        deadline,
    }
}

fn line(fared: &Fared) -> String {
    let Fared { id, end, model, app, began, ended, deadline } = fared;
    let waited = match began.as_str() {
        "" => "never began".to_string(),
        began => format!("began after {began}"),
    };
    format!("r{:<8} {end:20} {model} ({app}): {waited}, ended after {ended}, {deadline}", id.0)
}
