//! The same of a log of tokens: what happened to a request that is answered token by token, from the log alone.
//!
//! Steps that give it a token each are told together: a request may have thousands.

use super::words::{at, ms};
use orrery_scenario::tokens::TokenPolicySpec;
use orrery_sim::time::{Span, Time};
use orrery_sim::tokens::log::{ReadLog, Terms};
use orrery_sim::tokens::metrics::Life;
use orrery_sim::tokens::record::Record;
use orrery_sim::tokens::request::{RequestId, TokenRequest};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What happened to a request, as text; of one that the log does not have, how many it has.
///
/// # Errors
/// When there is no such request.
pub fn explain((terms, records): &ReadLog, request: u64) -> Result<String, u64> {
    let mut story = Story::new(terms, request);
    for (now, record, _) in records {
        story.now = *now;
        story.record(record);
        if story.end.is_some() {
            break;
        }
    }
    story.text().ok_or(story.arrived)
}

/// The requests that fared worst, a line each, the worst first: those without an answer, the longest wait first; then
/// those that were answered, by the share of an SLO that they took.
pub fn worst((_, records): &ReadLog, count: usize) -> String {
    let mut lives: BTreeMap<RequestId, (Life, Option<Time>)> = BTreeMap::new();
    let mut now = Time::ZERO;
    for (time, record, _) in records {
        now = *time;
        let mut of = |request: &RequestId, change: &dyn Fn(&mut Life)| {
            lives.entry(*request).and_modify(|l| change(&mut l.0));
        };
        match record {
            Record::Arrive { request, what } => {
                lives.insert(*request, (Life { what: *what, ..Life::default() }, None));
            }
            Record::First { request } => of(request, &|l| l.first = Some(*time)),
            Record::Done { request } => of(request, &|l| l.last = Some(*time)),
            Record::Drop { request } => {
                lives
                    .entry(*request)
                    .and_modify(|l| *l = (Life { dropped: true, ..l.0 }, Some(now)));
            }
            Record::Evict { .. } | Record::Step { .. } | Record::Finish => {}
        }
    }
    let waited =
        |(life, dropped): &(Life, Option<Time>)| dropped.unwrap_or(now).since(life.what.at);
    // In the order of badness: no answer, then the larger.
    let key = |fate: &(Life, Option<Time>)| match fate.0.last {
        None => (false, Reverse(waited(fate).ns())),
        Some(_) => (true, Reverse(used(&fate.0))),
    };
    let mut all: Vec<_> = lives.into_iter().collect();
    all.sort_by_key(|(id, fate)| (key(fate), *id));
    let mut out = String::new();
    for (id, fate) in all.iter().take(count) {
        let _ = writeln!(out, "{}", line(*id, &fate.0, waited(fate)));
    }
    if out.is_empty() {
        out.push_str("the log has no request\n");
    }
    out
}

/// The larger of the shares of its two SLOs that an answer took, in millionths; without an SLO its latency.
fn used(life: &Life) -> u64 {
    let share = |took: Option<Span>, slo: Span| {
        took.filter(|_| slo != Span::MAX)
            .map(|took| u128::from(took.ns()) * 1_000_000 / u128::from(slo.ns().max(1)))
    };
    let slo = life.what.slo;
    let most = share(life.ttft(), slo.first).max(share(life.tpot(), slo.each));
    let latency = || u128::from(life.latency().unwrap_or(Span::ZERO).ns());
    u64::try_from(most.unwrap_or_else(latency)).unwrap_or(u64::MAX)
}

fn line(id: RequestId, life: &Life, waited: Span) -> String {
    let TokenRequest { tokens_in, tokens_out, slo, .. } = life.what;
    let how = match (life.last, life.dropped) {
        (Some(_), _) if life.is_in_time() => "in time",
        (Some(_), _) => "late",
        (None, true) => "dropped",
        (None, false) => "pending",
    };
    let first = match life.ttft() {
        Some(ttft) => format!("first token after {}", of(ttft, slo.first)),
        None => format!("no token after {}", of(waited, slo.first)),
    };
    let each = life
        .tpot()
        .map_or(String::new(), |tpot| format!(", each further one {}", of(tpot, slo.each)));
    format!("r{:<8} {how:8} {tokens_in} tokens in, {tokens_out} out: {first}{each}", id.0)
}

/// A time, and the SLO that it has.
fn of(time: Span, slo: Span) -> String {
    match slo {
        Span::MAX => ms(time),
        slo => format!("{} of {}", ms(time), ms(slo)),
    }
}

/// What a request's time went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Prompt,
    Answer,
    LeftOut,
    WaitingAgain,
    Again,
}

impl Phase {
    fn words(self) -> &'static str {
        match self {
            Phase::Waiting => "it waited to be admitted",
            Phase::Prompt => "its prompt was read",
            Phase::Answer => "its answer came, token by token",
            Phase::LeftOut => "it was admitted, and steps had no room for it",
            Phase::WaitingAgain => "it had lost its blocks, and waited to be admitted again",
            Phase::Again => "it had lost its blocks, and its tokens were computed again",
        }
    }
}

/// What the log says of a request until now.
#[derive(Clone, Copy, Default)]
struct Known {
    what: TokenRequest,
    out: u32,
    computed: u32,
    /// Whether it was admitted, and not evicted since.
    runs: bool,
}

struct Story<'a> {
    terms: &'a Terms,
    id: RequestId,
    now: Time,
    arrived: u64,
    here: BTreeMap<RequestId, Known>,
    /// The request, when it has come.
    life: Option<Life>,
    end: Option<Time>,
    evictions: u32,
    lines: Vec<(Time, String)>,
    spent: Vec<(Phase, Span)>,
    /// Up to here its time is accounted for, and when the running step ends.
    accounted: Time,
    step_end: Time,
    /// Since the last line: steps without it, and those that gave it a token each, with the longest.
    without: u32,
    tokens: (u32, Span, Span),
}

impl<'a> Story<'a> {
    fn new(terms: &'a Terms, request: u64) -> Story<'a> {
        Story {
            terms,
            id: RequestId(u32::try_from(request).unwrap_or(u32::MAX)),
            now: Time::ZERO,
            arrived: 0,
            here: BTreeMap::new(),
            life: None,
            end: None,
            evictions: 0,
            lines: Vec::new(),
            spent: Vec::new(),
            accounted: Time::ZERO,
            step_end: Time::ZERO,
            without: 0,
            tokens: Default::default(),
        }
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::Arrive { request, what } => self.arrive(*request, *what),
            Record::Step { end, parts } => self.step(*end, parts),
            Record::Evict { request } => {
                let lost = self.here.get_mut(request).map(|known| {
                    let before = *known;
                    (known.computed, known.runs) = (0, false);
                    before
                });
                if let Some(known) = lost.filter(|_| *request == self.id) {
                    self.evict(&known);
                }
            }
            Record::First { request } => {
                if let Some(life) = self.life.as_mut().filter(|_| *request == self.id) {
                    life.first = Some(self.now);
                    let slo = life.what.slo.first;
                    let when = by(self.now.since(life.what.at), slo, "its SLO for it");
                    self.tell(format!("its first token{when}"));
                }
            }
            Record::Done { request } => {
                self.here.remove(request);
                if *request == self.id {
                    self.done();
                }
            }
            Record::Drop { request } => {
                self.here.remove(request);
                if *request == self.id {
                    self.drop();
                }
            }
            Record::Finish => {}
        }
    }

    fn arrive(&mut self, request: RequestId, what: TokenRequest) {
        self.arrived = self.arrived.max(u64::from(request.0) + 1);
        if request == self.id && self.life.is_none() {
            self.life = Some(Life { what, ..Life::default() });
            self.accounted = self.now;
            let wants = match (what.slo.first, what.slo.each) {
                (Span::MAX, Span::MAX) => "without an SLO".to_string(),
                (first, each) => format!(
                    "wants the first token within {}, each further one {}",
                    ms(first),
                    ms(each)
                ),
            };
            let running = self.here.values().filter(|k| k.runs).count();
            let waiting = self.here.len() - running;
            let free = self.free();
            self.tell(format!(
                "arrives at {} of the run with {} tokens in; {wants}; {running} requests run and {waiting} wait \
                 before it, {free} of {} blocks are free",
                at(self.now),
                what.tokens_in,
                self.terms.machine.blocks,
            ));
            if self.now < self.step_end {
                let left = ms(self.step_end.since(self.now));
                self.tell(format!("a step runs, for {left} more"));
            }
        }
        self.here.insert(request, Known { what, ..Known::default() });
    }

    /// Blocks that nobody has.
    fn free(&self) -> u32 {
        let machine = &self.terms.machine;
        let of = |k: &Known| k.computed.div_ceil(machine.block_tokens.max(1));
        let taken = self.here.values().map(of).fold(0_u32, u32::saturating_add);
        machine.blocks.saturating_sub(taken)
    }

    fn step(&mut self, end: Time, parts: &[(RequestId, u32)]) {
        let before = self.here.get(&self.id).copied();
        let free = before.map_or(0, |_| self.free());
        self.step_end = end;
        for (request, tokens) in parts {
            let Some(known) = self.here.get_mut(request) else { continue };
            known.runs = true;
            known.computed = known.computed.saturating_add(*tokens);
            known.out +=
                u32::from(known.computed == known.what.tokens_in.saturating_add(known.out));
        }
        let Some(before) = before else { return };
        let took = end.since(self.now);
        let Some((_, tokens)) = parts.iter().find(|p| p.0 == self.id) else {
            let phase = match (before.runs, self.evictions) {
                (true, _) => Phase::LeftOut,
                (false, 0) => Phase::Waiting,
                (false, _) => Phase::WaitingAgain,
            };
            self.spend(self.now, phase);
            self.spend(end, phase);
            self.without += 1;
            return;
        };
        let all = before.what.tokens_in.saturating_add(before.out);
        let is_again = self.evictions > 0 && before.computed.saturating_add(1) < all;
        let phase = match (before.out, is_again) {
            (_, true) => Phase::Again,
            (0, _) => Phase::Prompt,
            _ => Phase::Answer,
        };
        self.spend(self.now, if self.evictions > 0 { Phase::WaitingAgain } else { Phase::Waiting });
        self.spend(end, phase);
        if phase == Phase::Answer {
            let (n, sum, longest) = self.tokens;
            self.tokens = (n + 1, sum + took, longest.max(took));
            return;
        }
        let (from, to) =
            (before.computed.saturating_add(1), before.computed.saturating_add(*tokens));
        let what = match (before.runs, is_again) {
            (true, _) => "goes on",
            (false, true) => "is admitted again",
            (false, false) => "is admitted",
        };
        let room = if before.runs { String::new() } else { format!(", with {free} blocks free") };
        let others = parts.len() - 1;
        self.tell(format!(
            "{what}{room}: its tokens {from} to {to} of {all}, in a step of {} beside {others} others",
            ms(took)
        ));
    }

    fn evict(&mut self, lost: &Known) {
        let blocks = lost.computed.div_ceil(self.terms.machine.block_tokens.max(1));
        self.evictions += 1;
        let all = lost.what.tokens_in.saturating_add(lost.out);
        self.tell(format!(
            "is evicted: it loses {blocks} blocks, and its {all} tokens must be computed again"
        ));
    }

    fn done(&mut self) {
        let Some(mut life) = self.life else { return };
        life.last = Some(self.now);
        (self.life, self.end) = (Some(life), Some(self.now));
        let each = life.tpot().map_or(String::new(), |tpot| {
            format!(
                ": {} for each after the first{}",
                ms(tpot),
                by(tpot, life.what.slo.each, "its SLO for them")
            )
        });
        self.tell(format!("its last token, number {}{each}", life.what.tokens_out));
    }

    fn drop(&mut self) {
        let Some(mut life) = self.life else { return };
        life.dropped = true;
        (self.life, self.end) = (Some(life), Some(self.now));
        let phase = if self.evictions > 0 { Phase::WaitingAgain } else { Phase::Waiting };
        self.spend(self.now, phase);
        let due = life.what.first_by();
        let text = if self.now > due {
            format!("is dropped: its first token was due {} ago", ms(self.now.since(due)))
        } else {
            let alone = self.budget().map(|budget| {
                let alone = self.terms.machine.law.prompt_alone(life.what.tokens_in, budget);
                format!(", and its prompt takes {} even alone", ms(alone))
            });
            let left = ms(due.since(self.now));
            format!("is dropped: its first token is due in {left}{}", alone.unwrap_or_default())
        };
        self.tell(text);
    }

    /// The most tokens of a step, as the policy's name has it.
    fn budget(&self) -> Option<u32> {
        TokenPolicySpec::parse(&self.terms.policy).ok().map(|policy| policy.most().0)
    }

    fn spend(&mut self, until: Time, phase: Phase) {
        let span = until.since(self.accounted);
        self.accounted = self.accounted.max(until);
        match self.spent.iter_mut().find(|s| s.0 == phase) {
            Some(spent) => spent.1 += span,
            None => self.spent.push((phase, span)),
        }
    }

    /// A line, after what happened since the last one.
    fn tell(&mut self, text: String) {
        let (n, sum, longest) = std::mem::take(&mut self.tokens);
        if n > 0 {
            let mean = ms(Span::from_ns(sum.ns() / u64::from(n)));
            let longest = ms(longest);
            self.lines.push((
                self.now,
                format!(
                    "{n} steps have given it a token each: {mean} on average, the longest {longest}"
                ),
            ));
        }
        let without = std::mem::take(&mut self.without);
        if without > 0 {
            self.lines.push((self.now, format!("{without} steps have run without it")));
        }
        self.lines.push((self.now, text));
    }

    fn text(&self) -> Option<String> {
        let life = self.life?;
        let mut out = format!("r{} under {}\n", self.id.0, self.terms.policy);
        for (time, text) in &self.lines {
            let _ = writeln!(out, "{:>14}  {text}", ms(time.since(life.what.at)));
        }
        let how = match (life.last, life.dropped) {
            _ if self.end.is_none() => "the log ends before it did",
            (None, _) => "dropped",
            _ if life.is_in_time() => "in time",
            _ => "late",
        };
        let after =
            self.end.map_or(String::new(), |end| format!(" after {}", ms(end.since(life.what.at))));
        // Of equal parts the first.
        let longest = self.spent.iter().rev().max_by_key(|s| s.1).filter(|s| s.1 > Span::ZERO);
        let _ = match longest {
            Some((phase, span)) => {
                writeln!(
                    out,
                    "verdict: {how}{after}; the longest part, {}: {}",
                    ms(*span),
                    phase.words()
                )
            }
            None => writeln!(out, "verdict: {how}, at once"),
        };
        Some(out)
    }
}

/// By how much a time is within an SLO, or over it.
fn by(time: Span, slo: Span, what: &str) -> String {
    match slo {
        Span::MAX => String::new(),
        slo if time <= slo => format!(", {} within {what}", ms(slo.minus(time))),
        slo => format!(", {} over {what}", ms(time.minus(slo))),
    }
}
