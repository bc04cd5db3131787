//! Thousands of functions as one source: a Poisson process at the sum of their rates, and for each
//! arrival a draw of whose it is.
//!
//! It is the same in law as a process for each application, and costs the same for ten applications as
//! for ten thousand. It keeps no arrivals: memory is that of [`Blocks`], a table of one minute and an
//! application each.

use crate::arrivals::{ArrivalProcess, Modulated};
use crate::blocks::Blocks;
use crate::error::{TraceError, parameter, within};
use crate::query_sizes::largest;
use crate::rate::{Minutes, Rate, Segment, Shape};
use crate::workload::Application;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::Time;
use std::sync::Arc;

/// The calls of all instances together, minute by minute.
#[derive(Clone, Debug)]
struct TotalRate {
    blocks: Arc<Blocks>,
    /// Without counts: where minutes begin.
    minutes: Minutes,
    next: usize,
}

impl Rate for TotalRate {
    fn next_segment(&mut self) -> Option<Segment> {
        let i = self.next;
        if i == self.blocks.minutes() {
            return None;
        }
        self.next += 1;
        let calls: f64 = self.blocks.minute(i).iter().sum();
        let len = self.minutes.starts(i + 1).minus(self.minutes.starts(i));
        Some(Segment { len, per_s: calls * self.minutes.shape.rate_factor / len.as_secs_f64() })
    }
}

/// Draws an index by weight in a time that does not depend on their number (Walker 1977, in the form of
/// Vose 1991).
#[derive(Clone, Debug, Default)]
struct Alias {
    /// The share of each place that is its own, and whose the rest is.
    places: Vec<(f64, u32)>,
    small: Vec<u32>,
    large: Vec<u32>,
}

impl Alias {
    /// Makes the table anew; some weight is above 0.
    fn fill(&mut self, weights: &[f64]) {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        self.places.clear();
        self.places.extend(weights.iter().enumerate().map(|(i, w)| (w / mean, i as u32)));
        self.small.clear();
        self.large.clear();
        for (i, (share, _)) in self.places.iter().enumerate() {
            if *share < 1.0 { self.small.push(i as u32) } else { self.large.push(i as u32) }
        }
        while let (Some(&less), Some(&more)) = (self.small.last(), self.large.last()) {
            self.small.pop();
            self.places[less as usize].1 = more;
            let taken = 1.0 - self.places[less as usize].0;
            let left = &mut self.places[more as usize].0;
            *left -= taken;
            if *left < 1.0 {
                self.large.pop();
                self.small.push(more);
            }
        }
        // What rounding leaves is whole.
        for &i in self.small.iter().chain(&self.large) {
            self.places[i as usize].0 = 1.0;
        }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> usize {
        let u = stream.uniform() * self.places.len() as f64;
        let i = (u as usize).min(self.places.len() - 1);
        let (own, other) = self.places[i];
        if u - (i as f64) < own { i } else { other as usize }
    }
}

/// The source. See the module's text.
pub struct Dealt {
    process: Modulated<TotalRate>,
    blocks: Arc<Blocks>,
    /// By instance.
    apps: Vec<Application>,
    exec: Vec<Stream>,
    choose: Stream,
    alias: Alias,
    /// The minute that `alias` is for.
    minute: usize,
    /// When, and in which minute.
    next: Option<(Time, usize)>,
}

impl Dealt {
    /// The calls of instance i are those of `apps[i]`. Within a minute arrivals are a Poisson process at
    /// the minute's rate. Times come from the stream `"arrivals"`, whose they are from `"apps"`,
    /// execution times from `("exec", app)`.
    ///
    /// # Errors
    /// When there is not an application for each instance, no call at all, or a factor or a size is out of
    /// range.
    pub fn new(
        blocks: Arc<Blocks>,
        shape: Shape,
        apps: Vec<Application>,
        seed: u64,
    ) -> Result<Dealt, TraceError> {
        if apps.len() != blocks.instances() {
            let allowed = format!("{}, one for each instance", blocks.instances());
            return Err(parameter("applications", apps.len(), allowed, "name as many"));
        }
        for app in &apps {
            largest(app.size)?;
        }
        within("rate_factor", shape.rate_factor, 1e-9, 1e9)?;
        within("compress", shape.compress, 1e-6, 1e6)?;
        if blocks.total() <= 0.0 {
            let found = format!("no call in {} minutes", blocks.minutes());
            return Err(parameter("minutes", found, "at least one call", "choose other minutes"));
        }
        let minutes = Minutes { counts: Arc::from([]), shape };
        let rate = TotalRate { blocks: blocks.clone(), minutes, next: 0 };
        let process = Modulated::new(rate, Stream::named(seed, "arrivals", 0));
        let exec = apps.iter().map(|a| Stream::named(seed, "exec", u64::from(a.app.0))).collect();
        let choose = Stream::named(seed, "apps", 0);
        let (alias, minute) = (Alias::default(), usize::MAX);
        let mut dealt = Dealt { process, blocks, apps, exec, choose, alias, minute, next: None };
        dealt.advance();
        Ok(dealt)
    }

    #[inline]
    fn advance(&mut self) {
        let at = self.process.next();
        self.next = at.map(|at| (at, self.process.rate().next - 1));
    }
}

impl Source for Dealt {
    fn peek(&mut self) -> Option<Time> {
        self.next.map(|(at, _)| at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let (at, minute) = self.next?;
        if self.minute != minute {
            self.minute = minute;
            self.alias.fill(self.blocks.minute(minute));
        }
        self.advance();
        let i = self.alias.draw(&mut self.choose);
        Some(self.apps[i].arrival(at, &mut self.exec[i]))
    }
}

#[cfg(test)]
mod tests;
