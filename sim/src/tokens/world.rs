//! The world of requests with tokens: one executor, step after step. It decides nothing, and refuses
//! nothing silently: an impossible action is a bug of the policy and panics.
//!
//! # Order within an instant
//! 1. The end of a step: its requests in the order of its parts; 2. requests that come, by number; 3. the
//!    policy's decision. While a step runs, requests that come are told at their own time.
//!
//! # What a step does
//! A part `(request, n)` puts the request's next `n` tokens into its blocks, which it gets as the step
//! begins. If all its tokens are there when the step ends, a new one comes out of it: the next to compute,
//! or the last.

use super::law::Sums;
use super::metrics::Metrics;
use super::policy::{Action, Event, Known, TokenPolicy};
use super::record::{Record, TokenObserver};
use super::request::{Machine, Progress, RequestId, TokenRequest};
use crate::ordered::sort_by_key;
use crate::time::Time;

/// A run that is over.
#[derive(Debug)]
pub struct Ran<O> {
    /// When the last request ended.
    pub end: Time,
    /// What watched it.
    pub observer: O,
}

struct World<'a, P, O> {
    machine: &'a Machine,
    /// Those that are known: all of a list, or of a source as many as have come, and the next.
    requests: Vec<TokenRequest>,
    source: &'a mut dyn Iterator<Item = TokenRequest>,
    /// Numbers in the order of arrival, and how many have come.
    order: Vec<RequestId>,
    come: usize,
    progress: Vec<Progress>,
    free: u32,
    /// Requests that are here.
    here: usize,
    policy: P,
    observer: O,
}

/// [`simulate`] with metrics, compiled here: a crate that is built quickly rather than well calls this one.
///
/// # Panics
/// As [`simulate`].
#[inline(never)]
pub fn measured(
    machine: &Machine,
    requests: &[TokenRequest],
    policy: Box<dyn TokenPolicy>,
) -> Ran<Metrics> {
    simulate(machine, requests, policy, Metrics::default())
}

/// Runs the requests to the last.
///
/// # Panics
/// When the policy asks for what cannot be, or leaves a request alone for ever: only a bug does. Requests
/// are checked by whoever reads them: each has a token in and out, and [`Machine::fits`].
pub fn simulate<P: TokenPolicy, O: TokenObserver>(
    machine: &Machine,
    requests: &[TokenRequest],
    policy: P,
    observer: O,
) -> Ran<O> {
    let mut order: Vec<RequestId> = (0..requests.len() as u32).map(RequestId).collect();
    sort_by_key(&mut order, |id| (requests[id.0 as usize].at, *id));
    World {
        machine,
        requests: requests.to_vec(),
        source: &mut std::iter::empty(),
        order,
        come: 0,
        progress: vec![Progress::default(); requests.len()],
        free: machine.blocks,
        here: 0,
        policy,
        observer,
    }
    .run()
}

/// The same with requests that are made as they come, in the order of arrival: they may go on without end, until
/// the observer has seen enough.
///
/// # Panics
/// As [`simulate`].
pub fn stream<P: TokenPolicy, O: TokenObserver>(
    machine: &Machine,
    source: &mut dyn Iterator<Item = TokenRequest>,
    policy: P,
    observer: O,
) -> Ran<O> {
    let (requests, order, progress) = Default::default();
    let (come, free, here) = (0, machine.blocks, 0);
    World { machine, requests, source, order, come, progress, free, here, policy, observer }.run()
}

impl<P: TokenPolicy, O: TokenObserver> World<'_, P, O> {
    fn run(mut self) -> Ran<O> {
        let (mut now, mut last) = (Time::ZERO, Time::ZERO);
        let (mut actions, mut parts) = (Vec::new(), Vec::new());
        while !self.observer.stop() {
            if self.here == 0 {
                let Some(next) = self.next_arrival() else { break };
                now = now.max(next);
            }
            self.arrivals(now);
            let before = self.here;
            self.decide(now, &mut actions, &mut parts);
            if self.here < before {
                last = now;
            }
            if !parts.is_empty() {
                now = self.step(now, &mut parts, &mut last);
            } else if self.here > 0 {
                // Nobody runs: the policy waits for somebody to come.
                let Some(next) = self.next_arrival() else {
                    panic!("{} leaves {} requests alone for ever", self.policy.name(), self.here);
                };
                now = next;
            }
        }
        self.observer.record(last, &Record::Finish);
        Ran { end: last, observer: self.observer }
    }

    fn next_arrival(&mut self) -> Option<Time> {
        if self.come == self.order.len() {
            let next = self.source.next()?;
            self.order.push(RequestId(self.requests.len() as u32));
            self.requests.push(next);
            self.progress.push(Progress::default());
        }
        Some(self.requests[self.order[self.come].0 as usize].at)
    }

    fn tell(&mut self, now: Time, event: Event) {
        let known = Known {
            machine: self.machine,
            requests: &self.requests,
            progress: &self.progress,
            free: self.free,
        };
        self.policy.on(now, event, &known);
    }

    /// Requests that come until now.
    fn arrivals(&mut self, until: Time) {
        while let Some(at) = self.next_arrival().filter(|at| *at <= until) {
            let request = self.order[self.come];
            self.come += 1;
            self.here += 1;
            self.progress[request.0 as usize].here = true;
            let what = self.requests[request.0 as usize];
            self.observer.record(at, &Record::Arrive { request, what });
            self.tell(at, Event::Arrive(request));
        }
    }

    /// Asks the policy, does what it says, and leaves the parts of the next step.
    fn decide(&mut self, now: Time, actions: &mut Vec<Action>, parts: &mut Vec<(RequestId, u32)>) {
        let known = Known {
            machine: self.machine,
            requests: &self.requests,
            progress: &self.progress,
            free: self.free,
        };
        self.policy.decide(now, &known, actions);
        for action in actions.drain(..) {
            match action {
                Action::Drop(request) => {
                    let own = &self.progress[request.0 as usize];
                    assert!(own.here && own.out == 0, "{request} is dropped with a token, or gone");
                    self.observer.record(now, &Record::Drop { request });
                    self.leave(request);
                }
                Action::Evict(request) => {
                    let own = &self.progress[request.0 as usize];
                    let is_in = parts.iter().any(|p| p.0 == request);
                    assert!(own.here && !is_in, "{request} is evicted and runs, or is gone");
                    self.observer.record(now, &Record::Evict { request });
                    self.release(request);
                }
                Action::Run(request, tokens) => {
                    self.grow(request, tokens);
                    parts.push((request, tokens));
                }
            }
        }
    }

    /// Blocks for a request's next tokens.
    fn grow(&mut self, request: RequestId, tokens: u32) {
        let own = &mut self.progress[request.0 as usize];
        let left = self.requests[request.0 as usize].tokens_in + own.out - own.computed;
        assert!(own.here && (1..=left).contains(&tokens), "{request} runs {tokens} of {left}");
        let blocks = self.machine.blocks_of(own.computed + tokens);
        let more = blocks - own.blocks;
        assert!(more <= self.free, "{request} needs {more} blocks, {} are free", self.free);
        self.free -= more;
        own.blocks = blocks;
    }

    /// Takes a request's blocks.
    fn release(&mut self, request: RequestId) {
        let own = &mut self.progress[request.0 as usize];
        self.free += own.blocks;
        (own.blocks, own.computed) = (0, 0);
    }

    fn leave(&mut self, request: RequestId) {
        self.release(request);
        self.progress[request.0 as usize].here = false;
        self.here -= 1;
    }

    /// Runs a step, and says when it ends.
    fn step(&mut self, now: Time, parts: &mut Vec<(RequestId, u32)>, last: &mut Time) -> Time {
        let mut sums = Sums::default();
        for &(request, tokens) in parts.iter() {
            let own = &self.progress[request.0 as usize];
            sums.add(tokens, own.computed, self.requests[request.0 as usize].tokens_in);
        }
        let end = now + self.machine.law.time(&sums);
        let record = Record::Step { end, parts: std::mem::take(parts) };
        self.observer.record(now, &record);
        // Those that come as it ends come after it.
        self.arrivals(Time::from_ns(end.ns() - 1));
        let Record::Step { parts: done, .. } = record else { unreachable!("it is a step") };
        for &(request, tokens) in &done {
            let own = &mut self.progress[request.0 as usize];
            let what = &self.requests[request.0 as usize];
            own.computed += tokens;
            if own.computed < what.tokens_in + own.out {
                continue;
            }
            own.out += 1;
            let (out, is_last) = (own.out, own.out == what.tokens_out);
            if out == 1 {
                self.observer.record(end, &Record::First { request });
            }
            if is_last {
                self.observer.record(end, &Record::Done { request });
                self.leave(request);
                self.tell(end, Event::Done(request));
                *last = end;
            }
        }
        *parts = done;
        parts.clear();
        end
    }
}
