//! Continuous batching under deadlines: vLLM v1's scheduler (`vllm/v1/core/sched/scheduler.py`), with the
//! order of Clockwork's queues and its dropping in place of first come, first served.
//!
//! Whoever runs goes on running, and a prompt is read in parts beside the answers of others. A policy that
//! knows deadlines has three places to use them: who is admitted next, who is given up, and nothing else.
//!
//! ```text
//! before each step, with `budget` tokens and the free blocks:
//!     with drop=expired:      drop those that wait and should have had their first token by now
//!     with drop=infeasible:   also those that could not have it in time, if they ran alone from now on
//!     for r in running, in the order of their admission, while tokens are left:
//!         n = min(tokens of r that are not computed, tokens left)
//!         while r needs more blocks than are free:
//!             evict the last of running; it waits again             # and computes all anew
//!         run n tokens of r
//!     if nobody was evicted:
//!         for r in waiting, by `order`, while tokens are left and fewer than `sequences` run:
//!             if not all tokens of r fit the free blocks: stop      # and nobody overtakes it
//!             admit r; run min(its tokens, tokens left) of it
//! ```
//!
//! `order`: `fcfs` by arrival, `edf` by the time by which the first token is wanted, `orloj` by Orloj's score
//! (Eq. 2), the highest first, then as `edf`. Ties go to the lowest number. Nobody who has a token is dropped: what was begun is paid for.
//!
//! # Differences from vLLM v1
//! - No cache of prefixes, no encoders, no drafts, no structured output, one model, one executor.
//! - An evicted request goes to its place in `order`. vLLM puts it at the head of the queue; with `fcfs`
//!   that is the same.
//! - vLLM's `priority` evicts the lowest priority; here every order evicts the last that was admitted.
//! - It waits for the step's end before it plans the next. vLLM can plan one step ahead.
//! - vLLM drops nothing and has no deadlines.
//!
//! # Differences from Orloj
//! - The law is that of the lengths of answers (`lengths`), of all requests together, learnt from those that
//!   have ended. Until 64 have, `orloj` is `edf`.
//! - A step is no batch that ends as a whole, so that nothing is chosen but who is admitted next: no batch
//!   sizes, no convex hull, and running requests are never weighed against waiting ones.
//!
//! # Differences from Clockwork
//! - Nobody knows how long an answer is. `infeasible` is about the first token only, and a lower bound:
//!   the prompt alone, without those that run beside it. It drops nobody who could have been in time.

use super::interface::{Action, Configured, Event, Known, TokenPolicy};
use super::lengths::Lengths;
use crate::ordered::sort_by;
use crate::policy::parameters::{About, Parameter, Preset, Settings, count, word, words};
use crate::time::{Span, Time};
use crate::tokens::request::RequestId;
use std::collections::BTreeSet;

words! {
    /// Who is admitted next.
    pub enum Order {
        Fcfs = "fcfs": "by arrival",
        Edf = "edf": "by the time by which the first token is wanted",
        Orloj = "orloj": "by Orloj's score, with the distribution of answers' lengths",
    }
}

words! {
    /// Who is given up.
    pub enum Giving {
        None = "none": "nobody",
        Expired = "expired": "who has no token when its first one is due",
        Infeasible = "infeasible": "who cannot have its first token in time even if it runs alone",
    }
}

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who is admitted next.
    pub order: Order,
    /// Who is given up.
    pub drop: Giving,
    /// The most tokens in a step.
    pub budget: u32,
    /// The most requests that run.
    pub sequences: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { order: Order::Fcfs, drop: Giving::None, budget: 2048, sequences: 128 }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "continuous",
        what: "continuous batching, token by token, with an order of admission and dropping",
        paper: "vLLM v1's scheduler (Kwon et al., SOSP 2023, as released), with deadlines",
    };
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "vLLM v1: first come, first served",
        make: Config::default,
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("order", |c: &mut Self| &mut c.order, "who is admitted next")
            .from("vLLM v1: `fcfs`; Clockwork: `edf`; Orloj, Eq. 2: `orloj`"),
        word("drop", |c: &mut Self| &mut c.drop, "who is given up while it waits")
            .from("vLLM v1: `none`; Clockwork: `infeasible`"),
        count("budget", |c: &mut Self| Some(&mut c.budget), "the most tokens in a step")
            .within(1, 1 << 20)
            .from("vLLM v1: `max_num_batched_tokens`"),
        count("sequences", |c: &mut Self| Some(&mut c.sequences), "the most requests that run")
            .from("vLLM v1: `max_num_seqs`"),
    ];
}

impl Configured for Config {
    fn build(&self) -> Box<dyn TokenPolicy> {
        Box::new(Continuous::new(*self))
    }

    fn most(&self) -> (u32, u32) {
        (self.budget, self.sequences)
    }
}

/// The policy. See the module's text.
#[derive(Debug)]
pub struct Continuous {
    config: Config,
    /// In the order of their admission.
    running: Vec<RequestId>,
    /// By what `order` goes by.
    waiting: BTreeSet<(Time, RequestId)>,
    /// Those of them that may be given up, by when that is.
    lost: BTreeSet<(Time, RequestId)>,
    lengths: Lengths,
    /// When the running step began, and how long the last one took.
    began: Time,
    step: Span,
}

impl Continuous {
    /// The policy before its start.
    pub fn new(config: Config) -> Continuous {
        Continuous {
            config,
            running: Vec::new(),
            waiting: BTreeSet::new(),
            lost: BTreeSet::new(),
            lengths: Lengths::default(),
            began: Time::ZERO,
            step: Span::ZERO,
        }
    }

    fn key(&self, request: RequestId, known: &Known<'_>) -> (Time, RequestId) {
        let own = known.of(request);
        let time = match self.config.order {
            Order::Fcfs => own.at,
            Order::Edf | Order::Orloj => own.first_by(),
        };
        (time, request)
    }

    /// From when on a request is given up; none if it never is.
    fn lost_from(&self, request: RequestId, known: &Known<'_>) -> Option<Time> {
        let own = known.of(request);
        if own.out > 0 || own.first_by() == Time::NEVER {
            return None;
        }
        let instant = Span::from_ns(1);
        match self.config.drop {
            Giving::None => None,
            Giving::Expired => Some(own.first_by() + instant),
            Giving::Infeasible => {
                let alone = known.law().prompt_alone(own.tokens_in, self.config.budget);
                let never = alone > own.slo.first;
                Some(if never { own.at } else { own.first_by().minus(alone) + instant })
            }
        }
    }

    /// A request waits, for the first time or again.
    fn wait(&mut self, request: RequestId, known: &Known<'_>) {
        self.waiting.insert(self.key(request, known));
        self.lost.extend(self.lost_from(request, known).map(|time| (time, request)));
    }

    fn no_longer_waits(&mut self, request: RequestId, known: &Known<'_>) {
        self.waiting.remove(&self.key(request, known));
        if let Some(time) = self.lost_from(request, known) {
            self.lost.remove(&(time, request));
        }
    }

    /// Who waits, the highest score last; none where `waiting` is in order already.
    fn ranked(&self, now: Time, known: &Known<'_>) -> Option<Vec<RequestId>> {
        if self.config.order != Order::Orloj {
            return None;
        }
        let scored = self.waiting.iter().rev().map(|(_, request)| {
            let own = known.of(*request);
            let alone = known.law().prompt_alone(own.tokens_in + own.out, self.config.budget);
            (self.lengths.score(now, &own, alone, self.step), *request)
        });
        let mut all: Vec<(f64, RequestId)> = scored.collect();
        // Equal scores stay as they are: the first to be due is last.
        sort_by(&mut all, |a, b| a.0.total_cmp(&b.0));
        Some(all.into_iter().map(|(_, request)| request).collect())
    }

    fn give_up(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        while let Some((_, request)) = self.lost.first().copied().filter(|l| l.0 <= now) {
            self.no_longer_waits(request, known);
            out.push(Action::Drop(request));
        }
    }
}

impl TokenPolicy for Continuous {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event, known: &Known<'_>) {
        match event {
            Event::Arrive(request) => self.wait(request, known),
            Event::Done(request) => {
                self.running.retain(|r| *r != request);
                self.step = now.since(self.began);
                if self.config.order == Order::Orloj {
                    self.lengths.learn(known.of(request).out);
                }
            }
        }
    }

    fn decide(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        if !self.running.is_empty() {
            self.step = now.since(self.began);
        }
        self.began = now;
        self.give_up(now, known, out);
        let (mut left, mut free, mut evicted) = (self.config.budget, known.free(), false);
        let mut i = 0;
        while i < self.running.len() && left > 0 {
            let own = known.of(self.running[i]);
            let tokens = own.left().min(left);
            let more = known.blocks_of(own.computed + tokens) - own.blocks;
            while more > free && i < self.running.len() {
                let last = self.running.pop().expect("it is longer than i");
                free += known.of(last).blocks;
                out.push(Action::Evict(last));
                self.wait(last, known);
                evicted = true;
            }
            let Some(request) = self.running.get(i) else { break };
            out.push(Action::Run(*request, tokens));
            (free, left, i) = (free - more, left - tokens, i + 1);
        }
        let is_room = !evicted && left > 0 && free > 0 && !self.waiting.is_empty();
        let mut ranked = if is_room { self.ranked(now, known) } else { None };
        while !evicted && left > 0 && self.running.len() < self.config.sequences as usize {
            let next = match &mut ranked {
                Some(all) => all.pop(),
                None => self.waiting.first().map(|w| w.1),
            };
            let Some(request) = next else { break };
            let own = known.of(request);
            if known.blocks_of(own.left()) > free {
                break;
            }
            let tokens = own.left().min(left);
            self.no_longer_waits(request, known);
            self.running.push(request);
            out.push(Action::Run(request, tokens));
            (free, left) = (free - known.blocks_of(tokens), left - tokens);
        }
    }
}
