//! One probe: is this load within the target?
//!
//! Requests stream in, and the run is stopped when it is decided. A request is judged when it has ended or
//! its deadline has passed, in the order of arrival, so that what waits for ever counts too. At some
//! arrivals, each time twice as many as before, each model's share of bad requests is looked at:
//!
//! ```text
//! bad:        some model's interval lies above the target, or that of all models' requests together, or the
//!             backlog grows, or not even the share that must be in time can ever be computed
//! good:       every model's interval lies below it, and the probe is long enough
//! undecided:  after `requests_per_model`; the worst model's estimate says where it leans
//! ```
//!
//! A probe near the answer ([`Stop::Exact`]) is asked for its share instead: it goes on until ln(share) is exact enough,
//! its batches are not alike any more, and it is long enough; or until the share is far from the target.
//!
//! The interval is that of batch means, 95 % stretched to 99.9 %. For *good* its upper end is also that of bad requests
//! in clumps ([`Share::most`]): who shares a backlog or a batch is late together, so a thousand requests without a bad
//! one may be a single lucky moment. *Good* is wrong only if the interval of a model that is bad errs: however many
//! models there are, it needs no other confidence. *Bad* is wrong if any of all the intervals errs: there they are as
//! much wider as `M` intervals need to be for 99.9 % together. The estimate is not the largest of `M` samples, which
//! chance puts above the target the sooner the shorter the probe is: see [`worst`].
//!
//! **Long enough.** With a load that is a share e above what can be served, a queue's delay is e · t after t. So a
//! probe that lasted t, and whose longest delay was d, shows that e is at most d / t. It is long enough
//! when that is the tolerance of the search; a delay beyond the SLO is a bad request and shows by itself.
//! Hence with an SLO of 10 s and a tolerance of 0.5 % a probe near the edge lasts 2,000 s. Where the rule says so
//! (`by_flow`), it is also long enough when arrivals and departures show beyond doubt that no share e of them stays:
//! how many requests that takes does not depend on the SLO.

use super::tally::{Decided, ERR, Fate, Flow, MILLION, Share, Tally, must_be_in_time, odds, worst};
use super::{Criterion, Load, Moves, Ramp, Rule, Stop};
use orrery_sim::observer::Observer;
use orrery_sim::request::{End, Request};
use orrery_sim::stats::normal_upper;
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The first look, in arrivals for each model.
const FIRST_LOOK: u64 = 1000;

/// A probe that is not long enough after so many requests is undecided, and not good.
const REQUESTS_MAX: u64 = 20_000_000;

/// A probe near the answer has at least this part of `requests_per_model`, and at most so many times as many; one that
/// would leave its answer undecided, at most the second, or `REQUESTS_NEAR` of all models if that is less.
const EXACT: (f64, [u64; 2]) = (0.5, [8, 64]);
const REQUESTS_NEAR: u64 = 2_000_000;

/// With more than so many times the error that was asked for an answer may be undecided.
const UNDECIDED: f64 = 2.0;

/// A share is far from the target where ln of its odds is so much off.
const FAR: f64 = 1.0;

/// A system fills as long as its first requests wait: its backlog is looked at after so many times that.
const DELAYS: u64 = 3;

/// Why a probe is not sure.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub enum Doubt {
    /// The interval still held the target after all requests: it goes by the estimate.
    Undecided,
    /// The run was told to be shorter than its verdict needs, or ended within its warm-up.
    Short,
    /// It was not long enough after the most requests that a probe may have.
    TooLong,
}

/// What a probe said.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Probe {
    /// Whether the load is within the target.
    pub good: bool,
    /// Why that is not beyond doubt.
    pub doubt: Option<Doubt>,
    /// Whether the backlog grew, or more was offered than can ever be served.
    pub diverging: bool,
    /// The worst model's share of bad requests, less what chance adds to the largest of several.
    pub bad_rate: f64,
    /// Each model's.
    pub shares: Vec<Share>,
    /// The share of all requests that were answered in time.
    pub good_share: f64,
    /// Which model that is.
    pub worst_model: usize,
    /// Requests simulated.
    pub requests: u64,
    /// How long the part that counts lasted.
    pub measured_s: f64,
    /// The standard error of ln(`bad_rate`).
    pub log_error: f64,
    /// What became of requests at each rate, where it rises.
    pub ramp: Option<Ramp>,
}

impl Probe {
    /// Whether its verdict is beyond doubt.
    pub fn is_sure(&self) -> bool {
        self.doubt.is_none()
    }
}

/// A request that counts and is not judged yet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    arrival: Time,
    deadline: Time,
    /// Without an answer until then it is late.
    overdue: Time,
    model: u32,
    fate: Fate,
    /// The millionths of its SLO that it took.
    used: u64,
}

/// Watches a probe and stops it.
pub struct Judge {
    rule: Rule,
    from: Time,
    models: Vec<Tally>,
    /// Of all models together.
    overall: Tally,
    /// By how much intervals of one among all models are wider.
    wider: f64,
    flow: Flow,
    /// In the order of arrival, from request number `first` on.
    waiting: VecDeque<Waiting>,
    first: Option<u64>,
    /// The longest delay of a request that was answered, up to its SLO.
    longest: Span,
    arrived: u64,
    all: u64,
    /// Look again at so many arrivals; the last look is at `last`.
    look: u64,
    last: u64,
    now: Time,
    ramp: Option<Ramp>,
    said: Option<Probe>,
}

impl Judge {
    /// For so many models.
    pub fn new(rule: Rule, models: usize) -> Judge {
        let m = models.max(1) as u64;
        let last = rule.requests_per_model.saturating_mul(m);
        Judge {
            from: Time::ZERO + rule.warm_up,
            models: vec![Tally::default(); models.max(1)],
            overall: Tally::default(),
            wider: normal_upper(ERR / m as f64) / normal_upper(ERR),
            flow: Flow::default(),
            waiting: VecDeque::new(),
            first: None,
            longest: Span::ZERO,
            arrived: 0,
            all: 0,
            look: (FIRST_LOOK * m).min(last),
            last,
            now: Time::ZERO,
            ramp: match rule.moves {
                Some(Moves::Rise(rise)) => Some(Ramp::new(rise, rule.target)),
                _ => None,
            },
            said: None,
            rule,
        }
    }

    /// How its arrivals are moved.
    pub(super) fn moves(&self) -> Option<Moves> {
        self.rule.moves
    }

    /// What is said of the probe, once it has ended.
    pub fn verdict(mut self) -> Probe {
        if self.said.is_none() {
            // The source ended first: what there is decides.
            self.judge_all(Time::NEVER);
            let over = self.is_hopeless() || self.flow_grows();
            // A list that runs so fast that it ends within the warm-up shows nothing.
            let none = self.arrived == 0;
            let sure = over || (matches!(self.rule.load, Load::Finite { .. }) && !none);
            let doubt = (!sure).then_some(Doubt::Short);
            let good = !over && !none && self.estimate().1 <= self.rule.target;
            self.say(good, doubt, over);
        }
        let said = self.said.take().expect("just said");
        Probe { requests: self.all, ..said }
    }

    /// The worst model and its share of bad requests; of a load that ends by itself there is no chance in it.
    fn estimate(&self) -> (usize, f64) {
        worst(&self.shares(), self.overall.share().rate, self.is_steady())
    }

    fn shares(&self) -> Vec<Share> {
        self.models.iter().map(Tally::share).collect()
    }

    /// Whether some model's share is above the target beyond doubt, and whether each is below it.
    fn clear(&self) -> (bool, bool) {
        let (target, each, all) = (self.rule.target, self.shares(), self.overall.share());
        let above = |s: &Share| s.rate - s.half * self.wider > target;
        let bad = each.iter().any(above) || all.rate - all.half > target;
        (bad, each.iter().all(|s| (s.rate + s.half).max(s.most) < target))
    }

    fn measured(&self) -> Span {
        self.now.since(self.from)
    }

    fn is_steady(&self) -> bool {
        matches!(self.rule.load, Load::Steady { .. })
    }

    /// The longest delay until now, up to the SLO; who still waits counts.
    fn delay(&self) -> Span {
        let oldest = self
            .waiting
            .front()
            .map_or(Span::ZERO, |w| self.now.since(w.arrival).min(w.deadline.since(w.arrival)));
        self.longest.max(oldest)
    }

    /// Whether the measured part shows that no share above the tolerance is left behind.
    fn is_long_enough(&self) -> bool {
        let (measured, delay) = (self.measured(), self.delay());
        let by_delay = || measured.ns() as f64 * self.rule.tolerance >= delay.ns() as f64;
        let by_flow = || {
            let is_seen = self.rule.by_flow && measured >= delay * DELAYS;
            is_seen && self.flow.stays_within(self.rule.tolerance)
        };
        measured >= self.rule.least && self.is_steady() && (by_delay() || by_flow())
    }

    fn flow_grows(&self) -> bool {
        self.is_steady()
            && self.measured() >= self.delay() * DELAYS
            && self.flow.grows(self.rule.tolerance / 2.0)
    }

    /// Not even what must be in time can ever be computed: of each model the target leaves so much, whatever is answered
    /// of the others.
    fn is_hopeless(&self) -> bool {
        let Load::Steady { rate_per_s, capacity_per_s: Some(capacity) } = self.rule.load else {
            return false;
        };
        rate_per_s * must_be_in_time(self.rule.criterion, self.rule.target) > capacity
    }

    /// The share of all judged requests that were answered in time.
    fn good_share(&self) -> f64 {
        let (of, bad) = self
            .models
            .iter()
            .map(Tally::bad_of)
            .fold((0, 0), |sum, this| (sum.0 + this.0, sum.1 + this.1));
        if of == 0 { 1.0 } else { 1.0 - bad as f64 / of as f64 }
    }

    /// A look at a share that is asked for.
    fn look_near(&mut self, error: f64) {
        let ((bad, within), (model, rate)) = (self.clear(), self.estimate());
        let (grows, over) = (self.flow_grows(), self.is_hopeless());
        let enough = self.is_long_enough();
        let log_error = self.models[model].log_error();
        let off = (odds(rate) - odds(self.rule.target)).abs();
        // Where few clumps were bad, or none, the next one may say otherwise.
        let is_below = |s: &Share| s.likely() < self.rule.target;
        let is_seen = rate > self.rule.target || self.shares().iter().all(is_below);
        let is_far = off > FAR + 2.0 * log_error && is_seen;
        let least = (self.last as f64 * EXACT.0) as u64;
        let [usual, most] = EXACT.1.map(|times| self.last.saturating_mul(times));
        let is_open = log_error > UNDECIDED * error;
        let most = if is_open { most.min(REQUESTS_NEAR).max(usual) } else { usual };
        let is_exact = || self.arrived >= least && log_error <= error;
        let good = rate <= self.rule.target;
        if grows || over || (bad && is_far) {
            self.say(false, None, grows || over);
        } else if enough && ((within && is_far) || is_exact()) {
            self.say(good, None, false);
        } else if is_far && enough && self.arrived >= self.last {
            // Far enough for the next rate, though not beyond doubt.
            self.say(good, Some(Doubt::Short), false);
        } else if self.arrived >= most && (enough || self.arrived >= REQUESTS_MAX) {
            let doubt = if enough { Doubt::Undecided } else { Doubt::TooLong };
            self.say(good && enough, Some(doubt), false);
        }
        // Few looks until a verdict may be clear, more where the length is what is waited for.
        self.look = match self.arrived < self.last {
            true => self.arrived.saturating_mul(2).min(self.last),
            false => self.arrived + self.arrived / 4 + 1,
        };
    }

    fn look(&mut self) {
        if let Stop::Exact(error) = self.rule.stop {
            return self.look_near(error);
        }
        let (bad, within) = self.clear();
        let grows = self.flow_grows();
        let clear = bad && self.is_steady();
        let enough = self.rule.exactly.is_none() && self.is_long_enough();
        let over = self.is_hopeless();
        if (clear || grows || over) && self.rule.stop != Stop::AtEnd {
            self.say(false, None, grows || over);
        } else if enough && within && self.rule.stop == Stop::Clear {
            self.say(true, None, false);
        } else if enough && self.arrived >= self.last {
            let good = !over && !grows && !clear && self.estimate().1 <= self.rule.target;
            let sure = over || grows || clear || within;
            self.say(good, (!sure).then_some(Doubt::Undecided), over || grows);
        } else if self.arrived >= self.last.max(REQUESTS_MAX)
            && self.rule.exactly.is_none()
            && self.is_steady()
        {
            self.say(false, Some(Doubt::TooLong), false);
        }
        while self.look <= self.arrived {
            self.look = self.look.saturating_mul(2);
            if self.arrived < self.last {
                self.look = self.look.min(self.last);
            }
        }
        // Once all requests have been seen, the length is what is waited for.
        if self.arrived >= self.last {
            self.look = self.look.min(self.arrived + self.arrived / 8 + 1);
        }
    }

    /// The length that was asked for has been reached.
    fn end_exactly(&mut self) {
        let over = self.is_hopeless() || self.flow_grows();
        let (bad, good) = self.clear();
        let doubt = match (over || bad, self.is_long_enough()) {
            (true, _) => None,
            (false, false) => Some(Doubt::Short),
            (false, true) => (!good).then_some(Doubt::Undecided),
        };
        self.say(!over && !bad && self.estimate().1 <= self.rule.target, doubt, over);
    }

    fn say(&mut self, good: bool, doubt: Option<Doubt>, diverging: bool) {
        let (worst_model, bad_rate) = self.estimate();
        let measured_s = self.measured().as_secs_f64();
        let (requests, good_share) = (self.all, self.good_share());
        self.said = Some(Probe {
            good,
            doubt,
            diverging,
            bad_rate,
            shares: self.shares(),
            good_share,
            worst_model,
            requests,
            measured_s,
            log_error: self.models[worst_model].log_error(),
            ramp: self.ramp.take(),
        });
    }

    /// Judges the requests that have ended or whose deadline is before `now`, in the order of arrival.
    fn judge_all(&mut self, now: Time) {
        while let Some(&w) = self.waiting.front() {
            let fate = match w.fate {
                Fate::Open if w.overdue < now => Fate::Late,
                Fate::Open => break,
                fate => fate,
            };
            self.waiting.pop_front();
            self.first = self.first.map(|first| first + 1);
            let Waiting { arrival, deadline, used, .. } = w;
            let decided = Decided { fate, arrival, slo: deadline.since(arrival), used };
            let judged = self.models[w.model as usize].add(decided, self.rule.criterion);
            self.overall.count(fate, self.rule.criterion);
            let ramp = self.ramp.as_mut().filter(|_| self.said.is_none());
            if ramp.is_some_and(|ramp| ramp.add((arrival, w.model as usize), fate, judged)) {
                return self.say(false, None, false);
            }
        }
        if let Load::Finite { bad_max } = &self.rule.load
            && self.said.is_none()
            && self.rule.stop != Stop::AtEnd
            && now < Time::NEVER
        {
            // More bad ones than the share of all that will come.
            let beyond = |(t, most): (&Tally, &f64)| t.bad_of().1 as f64 > *most;
            if self.models.iter().zip(bad_max).any(beyond) {
                self.say(false, None, false);
            }
        }
    }
}

impl Observer for Judge {
    #[inline]
    fn arrived(&mut self, _now: Time, request: &Request) {
        self.all += 1;
        self.now = request.arrival;
        if request.arrival < self.from || self.said.is_some() {
            return;
        }
        if self.rule.exactly.is_some_and(|length| self.measured() >= length) {
            self.judge_all(self.now);
            if self.said.is_none() {
                self.end_exactly();
            }
            return;
        }
        self.first.get_or_insert(request.id.0);
        self.models[request.model.index()].arrived += 1;
        self.overall.arrived += 1;
        self.flow.arrived();
        // Who has no deadline is never late.
        let slo = if request.deadline == Time::NEVER { Span::ZERO } else { request.slo() };
        let fate = if request.deadline == Time::NEVER { Fate::Good } else { Fate::Open };
        let (arrival, deadline) = (request.arrival, request.deadline);
        // Where drops do not count, they may come after the deadline.
        let patience = if self.rule.criterion == Criterion::P99 { slo } else { Span::ZERO };
        let (overdue, model) = (deadline + patience, request.model.0);
        self.waiting.push_back(Waiting { arrival, deadline, overdue, model, fate, used: 0 });
        self.arrived += 1;
        self.judge_all(self.now);
        if self.arrived >= self.look && self.said.is_none() {
            self.look();
        }
    }

    #[inline]
    fn ended(&mut self, now: Time, request: &Request, end: End, _start: Option<Time>) {
        if self.said.is_some() || request.arrival < self.from {
            return;
        }
        self.flow.left();
        self.models[request.model.index()].ended(now);
        let delay = now.since(request.arrival);
        let mut used = 0;
        if request.deadline != Time::NEVER {
            let slo = request.slo();
            self.longest = self.longest.max(delay.min(slo));
            used = (delay.ns() as f64 / slo.ns().max(1) as f64 * MILLION as f64) as u64;
        }
        // A request before the first that waits was late, and has been judged so.
        let place = self.first.and_then(|first| request.id.0.checked_sub(first));
        if let Some(w) = place.and_then(|i| self.waiting.get_mut(i as usize)) {
            w.used = used.min(MILLION);
            w.fate = match end {
                End::InTime => Fate::Good,
                End::Dropped(_) => Fate::Dropped,
                _ => Fate::Late,
            };
        }
    }

    fn stop(&self) -> bool {
        self.said.is_some()
    }
}

#[cfg(test)]
mod tests;
