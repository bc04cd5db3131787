//! The requests of a seed: a list as it is, stretched, or drawn from; and what each of them wants.

use super::input::requests;
use super::table::{SloShare, Tokens};
use crate::range::within;
use orrery_run::SpecError;
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use orrery_sim::tokens::request::{Machine, Slo, TokenRequest};
use orrery_traces::token_list::REQUESTS_MAX;
use std::path::Path;

/// The highest rate, and the longest SLO in milliseconds: a day.
const RATE_MAX: f64 = 1e6;
const SLO_MS_MAX: f64 = 86_400e3;
/// The least and the largest factor of times.
const STRETCH: (f64, f64) = (1e-9, 1e9);

/// Requests in the order of their arrival, made one by one: all of a list at its own times, or drawn from it without
/// end.
#[derive(Debug)]
pub struct Coming {
    list: Vec<TokenRequest>,
    process: Process,
    /// Which of the SLOs a request has.
    of_slo: Stream,
    slo: Vec<SloShare>,
}

#[derive(Debug)]
enum Process {
    /// The place of the next in the list, and the factor of its times.
    Listed(usize, f64),
    /// Poisson arrivals; each is as likely as any other of the list.
    Drawn { at: Time, rate_per_s: f64, gaps: Box<Stream>, which: Box<Stream> },
}

impl Coming {
    /// Arrivals a second of the list, as it was written down; none at a single instant.
    fn own_rate_per_s(list: &[TokenRequest]) -> Option<f64> {
        let (first, last) = (list.first()?.at, list.last()?.at);
        let gaps = list.len() as f64 - 1.0;
        let length_s = last.as_secs_f64() + last.since(first).as_secs_f64() / gaps;
        (last > first).then(|| list.len() as f64 / length_s)
    }

    /// Of all that may come: the longest time in which an answer may be given and be in time.
    pub(super) fn longest(&self) -> Span {
        let of = |slo: &SloShare| {
            let one = |r: &TokenRequest| {
                let alone = TokenRequest { at: Time::ZERO, slo: slo.slo(), ..*r };
                alone.last_by().since(Time::ZERO)
            };
            self.list.iter().map(one).max()
        };
        self.slo.iter().filter_map(of).max().unwrap_or(Span::MAX)
    }

    /// All that may come, as they are listed.
    pub(super) fn list(&self) -> &[TokenRequest] {
        &self.list
    }
}

impl Iterator for Coming {
    type Item = TokenRequest;

    fn next(&mut self) -> Option<TokenRequest> {
        let mut request = match &mut self.process {
            Process::Listed(next, stretch) => {
                let mut request = *self.list.get(*next)?;
                *next += 1;
                if *stretch != 1.0 {
                    request.at = Time::ZERO + request.at.since(Time::ZERO).scale(*stretch);
                }
                request
            }
            Process::Drawn { at, rate_per_s, gaps, which } => {
                *at += Span::from_secs_f64(-libm::log1p(-gaps.uniform()) / *rate_per_s);
                TokenRequest { at: *at, ..self.list[which.below(self.list.len() as u64) as usize] }
            }
        };
        if let Some(last) = self.slo.last() {
            let sum: f64 = self.slo.iter().map(|s| s.share).sum();
            let mut left = self.of_slo.uniform() * sum;
            let is_it = |s: &&SloShare| {
                left -= s.share;
                left < 0.0
            };
            request.slo = self.slo.iter().find(is_it).unwrap_or(last).slo();
        }
        Some(request)
    }
}

/// What a search probes: the executor, and requests as they come.
#[derive(Debug)]
pub struct Offered {
    /// The executor.
    pub machine: Machine,
    /// In the order of their arrival.
    pub coming: Coming,
    /// The longest time in which an answer may be given and be in time.
    pub longest: Span,
}

impl SloShare {
    fn slo(&self) -> Slo {
        let ms = Span::from_ms_f64;
        Slo { first: ms(self.ttft_ms), each: ms(self.tpot_ms) }
    }
}

impl Tokens {
    /// The requests, in the order of their arrival.
    pub(super) fn load(&self, seed: u64, folder: &Path) -> Result<Vec<TokenRequest>, SpecError> {
        let coming = self.coming(seed, folder)?;
        let count = self.count.map_or(coming.list.len(), |c| c as usize);
        Ok(coming.take(count).collect())
    }

    /// What a reader of the results should know of its list.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn notes(&self, folder: &Path) -> Result<Vec<String>, SpecError> {
        Ok(requests(self, folder)?.1)
    }

    /// The same one by one; those that are drawn without end.
    pub(super) fn coming(&self, seed: u64, folder: &Path) -> Result<Coming, SpecError> {
        self.check_load()?;
        let (mut list, _) = requests(self, folder)?;
        let process = match self.rate_per_s {
            Some(rate_per_s) => Process::Drawn {
                at: Time::ZERO,
                rate_per_s,
                gaps: Stream::named(seed, "arrivals of tokens", 0).into(),
                which: Stream::named(seed, "tokens of a request", 0).into(),
            },
            None => {
                list.sort_by_key(|r| r.at);
                list.truncate(self.count.map_or(usize::MAX, |c| c as usize));
                Process::Listed(0, self.stretch)
            }
        };
        let of_slo = Stream::named(seed, "slo of a request", 0);
        Ok(Coming { list, process, of_slo, slo: self.slo.clone() })
    }

    /// The mean rate of its requests, a second.
    ///
    /// # Errors
    /// When its list cannot be read, or all of it comes at one instant.
    pub fn rate(&self, folder: &Path) -> Result<f64, SpecError> {
        if let Some(rate) = self.rate_per_s {
            return Ok(rate);
        }
        Ok(self.listed_rate_per_s(folder)? / self.stretch)
    }

    /// The same table at another rate: arrivals that are drawn stay the same but for their gaps' scale, and so do
    /// a list's own.
    ///
    /// # Errors
    /// As [`Tokens::rate`].
    pub fn with_rate(&self, rate_per_s: f64, folder: &Path) -> Result<Tokens, SpecError> {
        let mut other = self.clone();
        match &mut other.rate_per_s {
            Some(rate) => *rate = rate_per_s,
            None => other.stretch = self.listed_rate_per_s(folder)? / rate_per_s,
        }
        Ok(other)
    }

    fn listed_rate_per_s(&self, folder: &Path) -> Result<f64, SpecError> {
        let coming = self.coming(0, folder)?;
        Coming::own_rate_per_s(&coming.list).ok_or_else(|| {
            let found = format!("{} requests at one instant", coming.list.len());
            let allowed = "requests at two instants or more, which have a rate";
            let remedy = "set `rate_per_s`: Poisson arrivals, of requests drawn from the list";
            SpecError::value("requests", found, allowed, remedy)
        })
    }

    fn check_load(&self) -> Result<(), SpecError> {
        within("stretch", self.stretch, STRETCH.0, STRETCH.1, "")?;
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
}
