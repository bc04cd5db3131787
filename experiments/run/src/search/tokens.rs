//! A probe of requests that are answered token by token: their records, told to the one judge.
//!
//! Bad is who is not in time: its first token or its further ones come too late, or it is dropped. Until when it may
//! still be in time ([`TokenRequest::last_by`]) is its deadline. All requests are one model: the target is for all of
//! them together.

use super::{Judge, Moves, Probe};
use orrery_sim::observer::Observer;
use orrery_sim::request::{Drop, End, Request, RequestId};
use orrery_sim::time::Time;
use orrery_sim::tokens::metrics::Life;
use orrery_sim::tokens::policy::TokenPolicy;
use orrery_sim::tokens::record::{Record, TokenObserver};
use orrery_sim::tokens::request::{Machine, TokenRequest};
use orrery_sim::tokens::world::stream;
use std::collections::BTreeMap;

/// Probes the load of an executor. Requests are in the order of arrival.
///
/// Compiled here, as the other probes are.
pub fn on_tokens(
    machine: &Machine,
    requests: &mut dyn Iterator<Item = TokenRequest>,
    policy: Box<dyn TokenPolicy>,
    judge: Judge,
) -> Probe {
    let moves = judge.moves();
    let at =
        |r: TokenRequest| TokenRequest { at: moves.map_or(r.at, |m: Moves| m.when(r.at)), ..r };
    let told = Told { judge, here: BTreeMap::new() };
    stream(machine, &mut requests.map(at), policy, told).observer.judge.verdict()
}

/// Tells the judge.
struct Told {
    judge: Judge,
    here: BTreeMap<u32, Life>,
}

impl TokenObserver for Told {
    fn record(&mut self, now: Time, record: &Record) {
        match record {
            Record::Arrive { request, what } => {
                self.here.insert(request.0, Life { what: *what, ..Life::default() });
                self.judge.arrived(now, &as_told(request.0, what));
            }
            Record::First { request } => {
                if let Some(life) = self.here.get_mut(&request.0) {
                    life.first = Some(now);
                }
            }
            Record::Done { request } => self.ended(now, request.0, |life| {
                let is_in_time = Life { last: Some(now), ..*life }.is_in_time();
                if is_in_time { End::InTime } else { End::Late }
            }),
            // The judge does not ask why.
            Record::Drop { request } => {
                self.ended(now, request.0, |_| End::Dropped(Drop::Expired));
            }
            Record::Evict { .. } | Record::Step { .. } | Record::Finish => {}
        }
    }

    fn stop(&self) -> bool {
        self.judge.stop()
    }
}

impl Told {
    fn ended(&mut self, now: Time, request: u32, end: impl Fn(&Life) -> End) {
        let Some(life) = self.here.remove(&request) else { return };
        self.judge.ended(now, &as_told(request, &life.what), end(&life), None);
    }
}

/// A request as the judge knows requests.
fn as_told(id: u32, what: &TokenRequest) -> Request {
    let (arrival, deadline) = (what.at, what.last_by());
    Request { id: RequestId(id.into()), size: 1, arrival, deadline, ..Request::default() }
}
