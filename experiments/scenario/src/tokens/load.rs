//! The requests of a seed: a list as it is, stretched, or drawn from; and what each of them wants.

use super::input::input;
use super::table::{SloShare, Tokens};
use crate::error::SpecError;
use crate::range::within;
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use orrery_sim::tokens::request::{Slo, TokenRequest};
use orrery_traces::token_list::{self, REQUESTS_MAX};
use std::path::Path;

/// The highest rate, and the longest SLO in milliseconds: a day.
const RATE_MAX: f64 = 1e6;
const SLO_MS_MAX: f64 = 86_400e3;

impl Tokens {
    /// The requests, in the order of their arrival.
    pub(super) fn load(&self, seed: u64, folder: &Path) -> Result<Vec<TokenRequest>, SpecError> {
        self.check_load()?;
        let list = token_list::read(input(&self.requests, folder)?)?;
        let mut all = match self.rate_per_s {
            Some(rate) => self.drawn(seed, rate, &list),
            None => self.stretched(list),
        };
        let mut which = Stream::named(seed, "slo of a request", 0);
        let sum: f64 = self.slo.iter().map(|s| s.share).sum();
        for request in all.iter_mut().filter(|_| !self.slo.is_empty()) {
            let mut left = which.uniform() * sum;
            let is_it = |s: &&SloShare| {
                left -= s.share;
                left < 0.0
            };
            let last = self.slo.last();
            if let Some(slo) = self.slo.iter().find(is_it).or(last) {
                let ms = Span::from_ms_f64;
                request.slo = Slo { first: ms(slo.ttft_ms), each: ms(slo.tpot_ms) };
            }
        }
        Ok(all)
    }

    fn check_load(&self) -> Result<(), SpecError> {
        within("stretch", self.stretch, 1e-6, 1e6, "")?;
        if let Some(count) = self.count.filter(|c| *c == 0 || *c as usize > REQUESTS_MAX) {
            let allowed = format!("a whole number from 1 to {REQUESTS_MAX}");
            return Err(SpecError::value("count", count, allowed, "correct `count`"));
        }
        if let Some(rate) = self.rate_per_s {
            within("rate_per_s", rate, 1e-6, RATE_MAX, " requests/s")?;
            if self.stretch != 1.0 {
                let allowed = "one of `stretch` and `rate_per_s`";
                let remedy = "remove it: Poisson arrivals are not the list's own";
                return Err(SpecError::value("stretch", self.stretch, allowed, remedy));
            }
        }
        for (i, slo) in self.slo.iter().enumerate() {
            within(&format!("slo[{i}].share"), slo.share, 1e-9, 1e9, "")?;
            within(&format!("slo[{i}].ttft_ms"), slo.ttft_ms, 1e-3, SLO_MS_MAX, " ms")?;
            within(&format!("slo[{i}].tpot_ms"), slo.tpot_ms, 1e-3, SLO_MS_MAX, " ms")?;
        }
        Ok(())
    }

    /// As the list has them, at stretched times.
    fn stretched(&self, mut list: Vec<TokenRequest>) -> Vec<TokenRequest> {
        list.sort_by_key(|r| r.at);
        list.truncate(self.count.map_or(usize::MAX, |c| c as usize));
        for request in list.iter_mut().filter(|_| self.stretch != 1.0) {
            request.at = Time::ZERO + request.at.since(Time::ZERO).scale(self.stretch);
        }
        list
    }

    /// Poisson arrivals; the requests are drawn from the list, each as likely as any other.
    fn drawn(&self, seed: u64, rate: f64, list: &[TokenRequest]) -> Vec<TokenRequest> {
        let mut gaps = Stream::named(seed, "arrivals of tokens", 0);
        let mut which = Stream::named(seed, "tokens of a request", 0);
        let count = self.count.map_or(list.len(), |c| c as usize);
        let mut at = Time::ZERO;
        let one = |_| {
            at += Span::from_secs_f64(-libm::log1p(-gaps.uniform()) / rate);
            TokenRequest { at, ..list[which.below(list.len() as u64) as usize] }
        };
        (0..count).map(one).collect()
    }
}
