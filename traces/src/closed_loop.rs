//! A closed loop: clients that each wait for a reply, think, and send the next request.
//!
//! Its arrivals depend on the policy under test, so it cannot be recorded and replayed. Each client
//! draws from streams of its own: what one draws does not depend on the order of replies.

use crate::error::{TraceError, parameter, within};
use crate::rate::exponential;
use crate::workload::{Application, Mix};
use orrery_sim::request::{AppId, Arrival, End, ModelId, Request, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// How long a client waits from a reply to its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always the same time.
    Constant(Span),
    /// An exponential time with this mean.
    Exponential(Span),
}

/// The clients of a closed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clients {
    /// How many: each has one request in the system at most. Not used where each application has
    /// clients of its own.
    pub count: u32,
    /// How long they think, before the first request too.
    pub think: Think,
    /// How long a client waits that would otherwise send in the very instant in which its last request
    /// came: one without thought, whose request was dropped at once. Not zero, or it would send for ever
    /// in that instant.
    pub pause: Span,
    /// Client i of n begins i/n of this span after the start of the run.
    pub ramp: Span,
    /// No request at or after this instant; [`Time::NEVER`] for no end.
    pub horizon: Time,
    /// At most so many requests of all clients together.
    pub max_requests: u64,
}

impl Clients {
    /// So many clients from time zero, without limit, with a pause of 1 ms.
    pub fn new(count: u32, think: Think) -> Clients {
        let (ramp, horizon, max_requests) = (Span::ZERO, Time::NEVER, u64::MAX);
        Clients { count, think, pause: Span::from_ms(1), ramp, horizon, max_requests }
    }
}

/// What a reply is known by: clients whose requests agree in it may change places. The size is not in
/// it: a law of sizes may have changed it.
type Key = (Time, AppId, ModelId);

struct Client {
    /// The mix that it chooses from.
    mix: usize,
    think: Stream,
    exec: Stream,
}

/// A closed loop as a source.
pub struct ClosedLoop {
    config: Clients,
    /// One for all clients, or one for each application.
    mixes: Vec<Mix>,
    clients: Vec<Client>,
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    waiting: BTreeMap<Key, VecDeque<u32>>,
    sent: u64,
}

impl ClosedLoop {
    /// Clients that choose among the applications by weight for each request.
    ///
    /// # Errors
    /// When there is no client or no application, or a weight or size is out of range.
    pub fn new(
        config: Clients,
        apps: Vec<Application>,
        seed: u64,
    ) -> Result<ClosedLoop, TraceError> {
        let mut source = ClosedLoop::empty(config)?;
        source.add(Mix::new(apps)?, config.count, seed)?;
        Ok(source)
    }

    /// Clients that belong to one application each: so many of each. What they draw does not depend on
    /// the other applications.
    ///
    /// # Errors
    /// When there is no application, one has no client, or a size is out of range.
    pub fn per_app(
        config: Clients,
        apps: Vec<(Application, u32)>,
        seed: u64,
    ) -> Result<ClosedLoop, TraceError> {
        if apps.is_empty() {
            return Err(parameter("applications", "none", "at least one", "add an application"));
        }
        let mut source = ClosedLoop::empty(config)?;
        for (app, clients) in apps {
            source.add(Mix::new(vec![app])?, clients, seed)?;
        }
        Ok(source)
    }

    /// Without clients.
    fn empty(config: Clients) -> Result<ClosedLoop, TraceError> {
        if config.max_requests == 0 {
            return Err(parameter("max_requests", 0, "1 or more", "raise the limit"));
        }
        within("pause_ms", config.pause.as_ms_f64(), 1e-6, 86_400e3)?;
        let (mixes, clients) = (Vec::new(), Vec::new());
        let (ready, waiting) = (BinaryHeap::new(), BTreeMap::new());
        Ok(ClosedLoop { config, mixes, clients, ready, waiting, sent: 0 })
    }

    /// Adds clients of a mix, who begin to think.
    fn add(&mut self, mix: Mix, count: u32, seed: u64) -> Result<(), TraceError> {
        within("clients", f64::from(count), 1.0, 1e8)?;
        let (number, first_app) = (self.mixes.len(), mix.first_app());
        self.mixes.push(mix);
        for i in 0..count {
            let index = u64::from(first_app.0) << 32 | u64::from(i);
            let think = Stream::named(seed, "client think", index);
            let exec = Stream::named(seed, "client exec", index);
            let client = self.clients.len() as u32;
            self.clients.push(Client { mix: number, think, exec });
            let share = f64::from(i) / f64::from(count);
            self.think_from(Time::ZERO + self.config.ramp.scale(share), client);
        }
        Ok(())
    }

    /// Lets a client think from `now` on.
    fn think_from(&mut self, now: Time, client: u32) {
        let at = self.thought(now, client);
        self.sends(at, client);
    }

    /// When a client that begins to think `now` has thought.
    fn thought(&mut self, now: Time, client: u32) -> Time {
        let think = match self.config.think {
            Think::Constant(span) => span,
            Think::Exponential(mean) => {
                mean.scale(exponential(&mut self.clients[client as usize].think))
            }
        };
        now + think
    }

    /// A client is to send at an instant, if the loop goes on until then.
    fn sends(&mut self, at: Time, client: u32) {
        if at < self.config.horizon || self.config.horizon == Time::NEVER {
            self.ready.push(Reverse((at, client)));
        }
    }
}

impl Source for ClosedLoop {
    fn peek(&mut self) -> Option<Time> {
        if self.sent == self.config.max_requests {
            return None;
        }
        self.ready.peek().map(|Reverse((at, _))| *at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        self.peek()?;
        let Reverse((at, client)) = self.ready.pop()?;
        self.sent += 1;
        let Client { mix, exec, .. } = &mut self.clients[client as usize];
        let arrival = self.mixes[*mix].arrival_from_one(at, exec);
        let key = (at, arrival.app, arrival.model);
        self.waiting.entry(key).or_default().push_back(client);
        Some(arrival)
    }

    /// # Panics
    /// When the request is not one that this source sent and that still waits.
    fn on_reply(&mut self, request: &Request, now: Time, _end: End) {
        let key = (request.arrival, request.app, request.model);
        let waiting = self.waiting.get_mut(&key).expect("a reply is to a request of this source");
        let client = waiting.pop_front().expect("a request has one reply");
        if waiting.is_empty() {
            self.waiting.remove(&key);
        }
        let at = self.thought(now, client);
        // No client sends twice in one instant.
        let at = if at > request.arrival { at } else { at + self.config.pause };
        self.sends(at, client);
    }

    fn is_closed_loop(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::app;
    use orrery_sim::request::{RequestId, SourceId};

    fn request(a: &Arrival) -> Request {
        Request {
            id: RequestId(0),
            app: a.app,
            model: a.model,
            size: a.size,
            source: SourceId(0),
            arrival: a.at,
            deadline: a.at + a.slo,
        }
    }

    /// Answers each request after `service`, by the order of replies; the arrivals.
    fn run(source: &mut ClosedLoop, service: Span, n: usize) -> Vec<Arrival> {
        let (mut arrivals, mut replies) = (vec![], BTreeMap::new());
        let mut most = 0;
        while arrivals.len() < n {
            let reply = replies.first_key_value().map(|(&(at, _), _)| at);
            match (source.peek(), reply) {
                (Some(next), reply) if reply.is_none_or(|at| next < at) => {
                    let a = source.pop().unwrap();
                    assert_eq!(a.at, next);
                    replies.insert((a.at + service, arrivals.len()), a);
                    most = most.max(replies.len());
                    arrivals.push(a);
                }
                (_, Some(_)) => {
                    let ((now, _), a) = replies.pop_first().unwrap();
                    source.on_reply(&request(&a), now, End::InTime);
                }
                _ => break,
            }
        }
        assert!(most <= source.config.count as usize);
        assert!(arrivals.is_sorted_by_key(|a| a.at));
        arrivals
    }

    #[test]
    fn one_client_sends_after_reply_and_thought() {
        let clients = Clients::new(1, Think::Constant(Span::from_ms(3)));
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        let arrivals = run(&mut source, Span::from_ms(7), 4);
        let ms: Vec<u64> = arrivals.iter().map(|a| a.at.ns() / 1_000_000).collect();
        assert_eq!(ms, [3, 13, 23, 33]);
        assert!(source.is_closed_loop());
    }

    #[test]
    fn throughput_is_clients_over_response_plus_thought() {
        let clients = Clients::new(20, Think::Exponential(Span::from_ms(30)));
        let apps = vec![app(0, 1.0, 1.0), app(1, 1.0, 2.0)];
        let mut source = ClosedLoop::new(clients, apps, 1).unwrap();
        let arrivals = run(&mut source, Span::from_ms(10), 50_000);
        let rate = arrivals.len() as f64 / arrivals[arrivals.len() - 1].at.as_secs_f64();
        assert!((rate / 500.0 - 1.0).abs() < 0.02, "{rate}"); // 20 / 40 ms
    }

    #[test]
    fn what_a_client_draws_does_not_depend_on_the_speed_of_replies() {
        let alone = |service| {
            let clients = Clients::new(1, Think::Exponential(Span::from_ms(5)));
            let apps = vec![app(0, 1.0, 1.0), app(1, 1.0, 9.0)];
            let mut source = ClosedLoop::new(clients, apps, 1).unwrap();
            let arrivals = run(&mut source, service, 100);
            arrivals.iter().map(|a| (a.app, a.alone)).collect::<Vec<_>>()
        };
        assert_eq!(alone(Span::from_ms(1)), alone(Span::from_ms(50)));
    }

    #[test]
    fn clients_of_one_instant_go_by_number_and_limits_end_the_loop() {
        let mut clients = Clients::new(3, Think::Constant(Span::ZERO));
        clients.max_requests = 8;
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        assert_eq!(run(&mut source, Span::from_ms(1), 100).len(), 8);
        assert_eq!((source.peek(), source.pop()), (None, None));
        clients = Clients { max_requests: u64::MAX, horizon: Time::from_ns(2_500_000), ..clients };
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        assert_eq!(run(&mut source, Span::from_ms(1), 100).len(), 9);
    }

    #[test]
    fn thought_that_runs_over_the_end_of_time_is_shown() {
        let clients = Clients::new(1, Think::Constant(Span::from_ns(u64::MAX / 2)));
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        let first = source.pop().unwrap();
        source.on_reply(&request(&first), first.at, End::InTime);
        let second = source.pop().unwrap();
        assert!(second.at < Time::NEVER);
        source.on_reply(&request(&second), second.at + Span::from_ms(1), End::InTime);
        assert_eq!(source.peek(), Some(Time::NEVER));
    }

    #[test]
    fn a_client_that_is_refused_at_once_comes_back_after_a_pause() {
        let mut clients = Clients::new(3, Think::Constant(Span::ZERO));
        clients.pause = Span::from_us(250);
        clients.horizon = Time::ZERO + Span::from_ms(2);
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        let mut sent = Vec::new();
        while let Some(a) = source.pop() {
            sent.push(a.at.ns() / 1_000);
            source.on_reply(&request(&a), a.at, End::Dropped(orrery_sim::request::Drop::Shed));
        }
        let expected: Vec<u64> = (0..8).flat_map(|i| [250 * i; 3]).collect();
        assert_eq!(sent, expected);
        clients.pause = Span::ZERO;
        assert!(ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).is_err());
    }

    #[test]
    fn clients_of_an_application_send_for_it_and_draw_the_same_whoever_else_is_there() {
        let config = Clients::new(99, Think::Exponential(Span::from_ms(5)));
        let of = |apps: Vec<(Application, u32)>, seed| {
            let mut source = ClosedLoop::per_app(config, apps, seed).unwrap();
            (source.clients.len(), run(&mut source, Span::from_ms(2), 4_000))
        };
        let (two, five) = (app(1, 9.0, 1.0), app(4, 1.0, 3.0));
        let (clients, both) = of(vec![(two.clone(), 2), (five.clone(), 3)], 1);
        assert_eq!(clients, 5);
        // Shares are those of the clients, not of the weights.
        let share = both.iter().filter(|a| a.app == AppId(1)).count() as f64 / both.len() as f64;
        assert!((share - 0.4).abs() < 0.02, "{share}");
        let (_, alone) = of(vec![(five.clone(), 3)], 1);
        let of_five: Vec<&Arrival> = both.iter().filter(|a| a.app == AppId(4)).collect();
        assert!(of_five.iter().zip(&alone).all(|(a, b)| *a == b) && of_five.len() > 1_000);
        // With one application, it is the loop that all clients share.
        let shared = Clients { count: 3, ..config };
        let mut shared = ClosedLoop::new(shared, vec![five], 1).unwrap();
        assert_eq!(run(&mut shared, Span::from_ms(2), 4_000), alone);
        assert!(ClosedLoop::per_app(config, vec![(two, 0)], 1).is_err());
        assert!(ClosedLoop::per_app(config, vec![], 1).is_err());
    }

    #[test]
    fn the_ramp_spreads_the_first_requests() {
        let mut clients = Clients::new(4, Think::Constant(Span::ZERO));
        clients.ramp = Span::from_ms(8);
        let mut source = ClosedLoop::new(clients, vec![app(0, 1.0, 1.0)], 1).unwrap();
        let ms: Vec<u64> = (0..4).map(|_| source.pop().unwrap().at.ns() / 1_000_000).collect();
        assert_eq!(ms, [0, 2, 4, 6]);
    }

    #[test]
    fn a_loop_without_clients_or_applications_is_an_error() {
        let think = Think::Constant(Span::ZERO);
        assert!(ClosedLoop::new(Clients::new(0, think), vec![app(0, 1.0, 1.0)], 1).is_err());
        assert!(ClosedLoop::new(Clients::new(1, think), vec![], 1).is_err());
    }
}
