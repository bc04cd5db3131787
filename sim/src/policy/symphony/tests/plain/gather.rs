//! What batch a model can make, written down plainly.

use super::{Candidate, Plain};
use crate::policy::Actions;
use crate::policy::symphony::{Dispatch, Gather};
use crate::request::Drop;
use crate::time::{Span, Time};

impl Plain {
    pub fn l(&self, model: usize, b: usize) -> Span {
        if b > self.config.max_batch as usize {
            return Span::MAX;
        }
        let law = &self.profiles[model].law;
        (1..=b).map(|b| law.batch(b as u32, Span::ZERO)).max().unwrap_or(Span::ZERO)
    }

    pub fn lead(&self, b: usize) -> Span {
        self.config.ctrl + self.config.data * b as u64
    }

    fn target(&self, model: usize, now: Time) -> usize {
        let c = &self.config;
        let slo = self.profiles[model].slo;
        if c.gather == Gather::Head {
            return 1;
        }
        let sample = |t: Time| t.ns() / c.sample.ns();
        let hits = &self.models[model].hits;
        let over = sample(now);
        let Some(first) = hits.first().map(|&t| sample(t)).filter(|&s| s < over) else {
            let budget = Span::from_ns(slo.ns() / 2).minus(c.margin);
            let mut b = 1;
            while b < c.max_batch as usize && self.l(model, b + 1) <= budget {
                b += 1;
            }
            return b;
        };
        let from = first.max(over.saturating_sub(u64::from(c.window)));
        let counted = hits.iter().filter(|&&t| (from..over).contains(&sample(t))).count();
        let rate = counted as f64 / (c.sample * (over - from)).as_secs_f64();
        let budget = slo.minus(c.ctrl).minus(c.resp).as_secs_f64();
        let data = c.data.as_secs_f64();
        for b in 1.. {
            let l = self.l(model, b).as_secs_f64();
            let n = rate * l / b as f64;
            if b > c.max_batch as usize || l * (1.0 + 1.0 / n.max(1.0)) > budget - data * b as f64 {
                if n > 1.0 {
                    return (b - 1).max(1);
                }
                break;
            }
        }
        for b in 2..=c.max_batch as usize {
            let l = self.l(model, b).as_secs_f64();
            if l + b as f64 / rate + data * b as f64 > budget {
                return b - 1;
            }
        }
        c.max_batch as usize
    }

    pub fn update(
        &mut self,
        now: Time,
        model: usize,
        free: Time,
        out: &mut Actions,
    ) -> Option<Candidate> {
        let config = self.config;
        let target = self.target(model, now);
        let table: Vec<Span> =
            (0..=config.max_batch as usize + 1).map(|b| self.l(model, b)).collect();
        let l = |b: usize| table[b.min(table.len() - 1)];
        let lead = |b: usize| config.ctrl + config.data * b as u64;
        let finish = |b: usize| (now + lead(b)).max(free) + l(b);
        let m = &mut self.models[model];
        let fcfs = config.gather == Gather::Fcfs;
        let late = m.timeout.len();
        while let Some(&head) = m.suffix.first() {
            if head.0 >= finish(late + m.suffix.len()) {
                break;
            }
            m.prefix.insert(head);
            m.suffix.remove(&head);
        }
        let mut b = target.min(late + m.suffix.len());
        let head = config.gather == Gather::Head;
        let due = if b == 0 && !head { now } else { finish(b.max(1)) };
        while let Some(&head) = m.prefix.first() {
            if head.0 >= due {
                break;
            }
            m.prefix.remove(&head);
            m.timeout.insert(head);
        }
        if !fcfs {
            m.timeout.iter().for_each(|w| out.end(w.1, Drop::Infeasible));
            m.timeout.clear();
        }
        if b == 0 {
            b = target.min(m.timeout.len());
            return (b > 0).then_some((b, Time::NEVER, Time::ZERO));
        }
        if b <= late {
            return Some((b, Time::NEVER, Time::ZERO));
        }
        let &head = m.prefix.first().or(m.suffix.first()).unwrap();
        let total = late + m.prefix.len() + m.suffix.len();
        while b < total.min(config.max_batch as usize) && head.0 >= finish(b + 1) {
            b += 1;
        }
        let moment = match config.dispatch {
            _ if head.0 == Time::NEVER => Time::ZERO,
            Dispatch::Eager => Time::ZERO,
            Dispatch::Latest => head.0.minus(config.jitter).minus(l(b)),
            Dispatch::Frontrun => head.0.minus(config.jitter).minus(l(b + 1)).minus(config.data),
            Dispatch::Timeout(percent) => {
                head.2 + (head.0.since(head.2) + config.resp).scale(percent / 100.0)
            }
        };
        Some((b, head.0, moment))
    }
}
