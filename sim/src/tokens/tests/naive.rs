//! The same once more, as plainly as possible: everything is worked out anew from lists at every step, with
//! no sets, no running counts of blocks, and the law of a step from its text.

use super::Fates;
use crate::distribution::Histogram;
use crate::policy::score::ScoreTable;
use crate::time::Span;
use crate::tokens::law::{Curve, StepLaw};
use crate::tokens::policy::continuous::{Config, Giving, Order};
use crate::tokens::policy::lengths::{BINS, DELAY, RELEARN, TOKEN, WINDOW};
use crate::tokens::request::{Machine, TokenRequest};

pub struct Plain {
    pub fates: Fates,
    pub steps: u64,
    pub evictions: u64,
}

struct One {
    at: u64,
    prompt: u64,
    answer: u64,
    first_by: u64,
    each: Span,
    given: u64,
    computed: u64,
    first: Option<u64>,
    last: Option<u64>,
    dropped: bool,
    /// Its place among those that run.
    ticket: Option<u64>,
}

/// A curve by rational numbers: (above, below) the line of a fraction.
fn at(curve: &Curve, x: u64) -> i128 {
    let p = curve.points();
    let x = x as i128;
    if x <= p[0].0 as i128 {
        return p[0].1 as i128;
    }
    for pair in p.windows(2).rev() {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if x > x0 as i128 {
            let weighted = (x1 as i128 - x) * y0 as i128 + (x - x0 as i128) * y1 as i128;
            return weighted / (x1 as i128 - x0 as i128);
        }
    }
    unreachable!()
}

/// A step of parts (tokens, computed before, prompt), in nanoseconds.
fn lasts(law: &StepLaw, parts: &[(u64, u64, u64)]) -> u64 {
    let decodes: Vec<_> = parts.iter().filter(|p| p.0 == 1 && p.1 >= p.2).collect();
    let prompts: Vec<_> = parts.iter().filter(|p| !(p.0 == 1 && p.1 >= p.2)).collect();
    let all: u64 = parts.iter().map(|p| p.0).sum();
    let n = decodes.len() as i128;
    let kv: i128 = decodes.iter().map(|p| p.1 as i128 + 1).sum();
    let read: i128 = prompts.iter().map(|p| p.0 as i128).sum();
    let twice: i128 = prompts.iter().map(|p| (p.0 * (2 * p.1 + p.0)) as i128).sum();
    let a = &law.attention;
    let c = |c: i64| c as i128;
    let attention = if prompts.is_empty() {
        c(a.decode[0]) + c(a.decode[1]) * n + c(a.decode[2]) * kv
    } else if decodes.is_empty() {
        c(a.prompt[0]) + c(a.prompt[1]) * read + c(a.prompt[2]) * twice / 2
    } else {
        let decode = c(a.mixed[0]) + c(a.mixed[1]) * n + c(a.mixed[2]) * kv;
        decode + c(a.mixed[3]) * read + c(a.mixed[4]) * twice / 2
    };
    let ps = at(&law.dense, all)
        + at(&law.head, parts.len() as u64)
        + attention.max(c(a.floor))
        + c(law.all_reduce[0])
        + c(law.all_reduce[1]) * all as i128;
    ((ps + 500) / 1_000) as u64
}

fn alone(law: &StepLaw, prompt: u64, budget: u64) -> u64 {
    let (mut before, mut time) = (0, 0);
    while before < prompt {
        let n = budget.min(prompt - before);
        time += lasts(law, &[(n, before, prompt)]);
        before += n;
    }
    time
}

/// Orloj's score of a request, by the lengths that were learnt.
fn score(learnt: &[u64], r: &One, now: u64, step: u64, law: &StepLaw, config: Config) -> f64 {
    if learnt.is_empty() {
        return 0.0;
    }
    let lengths: Vec<Span> = learnt.iter().map(|n| TOKEN * *n).collect();
    let lengths = Histogram::from_samples(&lengths, BINS);
    let mean = lengths.mean_ns() / 1e6;
    let prompt = alone(law, r.prompt + r.given, u64::from(config.budget));
    let by = r.first_by + r.each.scale(mean).ns();
    let slack = by.saturating_sub(now).saturating_sub(prompt) as f64 / step.max(1) as f64;
    ScoreTable::new(&lengths, DELAY).at(Span::from_ns_f64(slack * 1e6))
}

pub fn run(machine: &Machine, requests: &[TokenRequest], config: Config) -> Plain {
    let one = |r: &TokenRequest| One {
        at: r.at.ns(),
        prompt: u64::from(r.tokens_in),
        answer: u64::from(r.tokens_out),
        first_by: r.at.ns() + r.slo.first.ns(),
        each: r.slo.each,
        given: 0,
        computed: 0,
        first: None,
        last: None,
        dropped: false,
        ticket: None,
    };
    let mut all: Vec<One> = requests.iter().map(one).collect();
    let size = u64::from(machine.block_tokens);
    let blocks = |tokens: u64| tokens.div_ceil(size);
    let (mut now, mut tickets, mut steps, mut evictions) = (0, 0, 0, 0);
    let (mut ended, mut learnt, mut last_step): (Vec<u64>, Vec<u64>, u64) = Default::default();
    while all.iter().any(|r| r.last.is_none() && !r.dropped) {
        for r in all.iter_mut().filter(|r| r.ticket.is_none() && r.last.is_none()) {
            let here = r.at <= now && r.given == 0;
            let lost = match config.drop {
                Giving::None => false,
                Giving::Expired => now > r.first_by,
                Giving::Infeasible => {
                    let prompt = alone(&machine.law, r.prompt, u64::from(config.budget));
                    now + prompt > r.first_by
                }
            };
            r.dropped |= here && lost;
        }
        // Parts: (request, tokens, tokens in blocks after the step).
        let mut parts: Vec<(usize, u64)> = Vec::new();
        let mut left = u64::from(config.budget);
        let mut evicted = false;
        let taken = |all: &[One], parts: &[(usize, u64)]| -> u64 {
            let more = |i: usize| parts.iter().filter(|p| p.0 == i).map(|p| p.1).sum::<u64>();
            all.iter().enumerate().map(|(i, r)| blocks(r.computed + more(i))).sum()
        };
        let running = |all: &[One]| {
            let mut who: Vec<usize> = (0..all.len()).filter(|i| all[*i].ticket.is_some()).collect();
            who.sort_by_key(|i| all[*i].ticket);
            who
        };
        loop {
            let next = running(&all).into_iter().find(|i| parts.iter().all(|p| p.0 != *i));
            let Some(i) = next.filter(|_| left > 0) else { break };
            let r = &all[i];
            let n = (r.prompt + r.given - r.computed).min(left);
            parts.push((i, n));
            if taken(&all, &parts) <= u64::from(machine.blocks) {
                left -= n;
                continue;
            }
            parts.pop();
            let last = *running(&all).last().unwrap();
            (all[last].ticket, all[last].computed) = (None, 0);
            evicted = true;
            evictions += 1;
        }
        while !evicted && left > 0 && running(&all).len() < config.sequences as usize {
            let waits =
                |r: &One| r.at <= now && r.ticket.is_none() && r.last.is_none() && !r.dropped;
            let mut who: Vec<usize> = (0..all.len()).filter(|i| waits(&all[*i])).collect();
            who.sort_by_key(|i| match config.order {
                Order::Fcfs => all[*i].at,
                Order::Edf | Order::Orloj => all[*i].first_by,
            });
            if config.order == Order::Orloj {
                let score =
                    |i: &usize| score(&learnt, &all[*i], now, last_step, &machine.law, config);
                who.sort_by(|a, b| score(b).total_cmp(&score(a)));
            }
            let Some(&i) = who.first() else { break };
            let wants = all[i].prompt + all[i].given;
            if taken(&all, &parts) + blocks(wants) > u64::from(machine.blocks) {
                break;
            }
            tickets += 1;
            all[i].ticket = Some(tickets);
            parts.push((i, wants.min(left)));
            left -= wants.min(left);
        }
        if parts.is_empty() {
            let next = all.iter().filter(|r| r.at > now).map(|r| r.at).min();
            now = next.unwrap_or(now);
            continue;
        }
        let in_law: Vec<_> =
            parts.iter().map(|(i, n)| (*n, all[*i].computed, all[*i].prompt)).collect();
        last_step = lasts(&machine.law, &in_law);
        now += last_step;
        steps += 1;
        for (i, n) in parts {
            let r = &mut all[i];
            r.computed += n;
            if r.computed == r.prompt + r.given {
                r.given += 1;
                r.first = r.first.or(Some(now));
                if r.given == r.answer {
                    ended.push(r.given);
                    if ended.len() % RELEARN == 0 {
                        learnt = ended[ended.len().saturating_sub(WINDOW)..].to_vec();
                    }
                    (r.last, r.ticket, r.computed) = (Some(now), None, 0);
                }
            }
        }
    }
    let fate = |r: &One| (r.first, r.last, r.dropped);
    Plain { fates: all.iter().map(fate).collect(), steps, evictions }
}
