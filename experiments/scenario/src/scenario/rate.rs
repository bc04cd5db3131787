//! The offered rate of a scenario as one number, whatever its process is.
//!
//! It is for open loads: how fast closed-loop clients send depends on the replies.

use super::Scenario;
use super::file::{Arrivals, Pace, RateBy, ReplayArrivals, ScenarioFile};
use super::load::{OpenLoad, dealt_rate_per_s};
use super::process::{Process, steady_law};
use super::value::{at_key, within};
use orrery_run::SpecError;
use orrery_sim::time::Span;
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::gaps::Gaps;
use orrery_traces::rate::Minutes;
use orrery_traces::replayed::List;
use std::sync::Arc;
use toml::Value;

impl Scenario {
    /// The mean rate of `[arrivals]`, all applications together, in requests per second. Clients of
    /// a closed loop beside them are not counted.
    ///
    /// # Errors
    /// When there is no such rate (a closed loop alone, prompts or arrivals as they were written
    /// down), or a trace cannot be read.
    pub fn rate(&self) -> Result<f64, SpecError> {
        self.rate_of_arrivals().map_err(|e| self.placed(e))
    }

    /// This scenario at another rate. The arrivals' random numbers stay the same: gaps of constant,
    /// Poisson and gamma arrivals are scaled; a rate that varies is scaled at every instant; of a list there are more
    /// copies, or it is faster (`rate_by`).
    ///
    /// # Errors
    /// As [`Scenario::rate`], and when the rate is out of range.
    pub fn with_rate(&self, rate_per_s: f64) -> Result<Scenario, SpecError> {
        within("arrivals", rate_per_s, 1e-9, 1e9)?;
        let a = self.arrivals().map_err(|e| self.placed(e))?;
        let one = |key: &str, x: f64| vec![(format!("arrivals.{key}"), Value::Float(x))];
        let changes = if let Some(trace) = &a.trace {
            match trace.rate_factor {
                Some(factor) => one("trace.rate_factor", factor * (rate_per_s / self.rate()?)),
                None => one("trace.rate_per_s", rate_per_s),
            }
        } else if let Some(replay) = &a.replay {
            let (key, given) = match replay.rate_by {
                RateBy::Copies => ("replay.copies", replay.copies),
                RateBy::Speed => ("replay.speed", replay.speed),
            };
            match given {
                Some(factor) => one(key, factor * (rate_per_s / self.rate()?)),
                None => one("replay.rate_per_s", rate_per_s),
            }
        } else if let Some(mmpp) = &a.mmpp {
            let factor = rate_per_s / self.rate()?;
            let rates = mmpp.rates_per_s.iter().map(|r| Value::Float(r * factor)).collect();
            vec![("arrivals.mmpp.rates_per_s".to_string(), Value::Array(rates))]
        } else {
            match steady_law(a) {
                Some((_, name)) => one(&format!("{name}.rate_per_s"), rate_per_s),
                None => return Err(self.placed(no_rate("arrivals", "arrivals without a rate"))),
            }
        };
        self.with(&changes)
    }

    /// Whether its rate can rise within a run, so that each instant is as in a scenario of that rate: its gaps are
    /// independent of time, and so are its devices.
    pub fn can_rise(&self) -> bool {
        let file = &self.file;
        let is_renewal =
            |a: &Arrivals| a.constant.is_some() || a.poisson.is_some() || a.gamma.is_some();
        file.arrivals.as_ref().is_some_and(is_renewal)
            && file.closed_loop.is_none()
            && file.autoscale.is_none()
    }

    /// This scenario for a search: it and those made from it draw the gaps of their arrivals once, and stretch them.
    pub fn keeping_gaps(&self) -> Scenario {
        let mut scenario = self.clone();
        scenario.files.gaps = Gaps::kept();
        scenario
    }

    /// About how many requests a run of `[arrivals]` has, where the file tells.
    pub fn requests_expected(&self) -> Option<u64> {
        let arrivals = self.file.arrivals.as_ref()?;
        let until_s = || match (arrivals.duration_s, self.file.until_s) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let by_time = || until_s().and_then(|s| Some((self.rate().ok()? * s) as u64));
        arrivals.requests.or_else(by_time)
    }

    /// How long the trace of `[arrivals]` is: all of its minutes, quiet ones at its ends included.
    ///
    /// # Errors
    /// When the arrivals are no trace, or it cannot be read.
    pub fn trace_length(&self) -> Result<Span, SpecError> {
        let a = self.arrivals().map_err(|e| self.placed(e))?;
        self.length_of_arrivals(a).map_err(|e| self.placed(e))
    }

    /// How fast the list behind `replay` runs, and in how many copies; none without one.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn pace(&self) -> Result<Option<Pace>, SpecError> {
        let list = self.file.arrivals.as_ref().and_then(|a| Some((a, a.replay.as_ref()?)));
        let pace = |(a, replay): (&Arrivals, &ReplayArrivals)| {
            // Only a rate is relative to that of the list.
            let list_per_s = match replay.rate_per_s {
                Some(_) => self.list_of(a)?.rate_per_s(),
                None => 1.0,
            };
            Ok(replay.pace(list_per_s))
        };
        list.map(pace).transpose().map_err(|e| self.placed(e))
    }

    /// The recorded list behind `replay`.
    fn list_of(&self, a: &Arrivals) -> Result<List, SpecError> {
        let open = OpenLoad::read(&self.file, a, &self.files)?;
        let apps = self.apps(Some(&open), &self.steps()?)?;
        open.list(&apps, 0)
    }

    fn length_of_arrivals(&self, a: &Arrivals) -> Result<Span, SpecError> {
        if let Some(replay) = &a.replay {
            let list = self.list_of(a)?;
            let seconds = list.length().as_secs_f64() * replay.times as f64;
            return Ok(Span::from_secs_f64(seconds / replay.pace(list.rate_per_s()).speed));
        }
        let minutes = |n: usize, shape| Minutes { counts: Arc::from([]), shape }.starts(n);
        match OpenLoad::read(&self.file, a, &self.files)?.process {
            Process::Law(ArrivalLaw::Minutes(all)) => Ok(all.starts(all.counts.len())),
            Process::Functions { counted, shape } => Ok(minutes(counted.sum.len(), shape)),
            Process::Dealt { blocks, shape, .. } => Ok(minutes(blocks.minutes(), shape)),
            _ => {
                let remedy =
                    "give `trace` or a list with `replay`, or leave out what is counted in it";
                Err(SpecError::value("arrivals", "arrivals without a trace", "a trace", remedy))
            }
        }
    }

    fn arrivals(&self) -> Result<&Arrivals, SpecError> {
        let none = || no_rate("closed_loop", "a closed loop, which sends when it is answered");
        self.file.arrivals.as_ref().ok_or_else(none)
    }

    fn rate_of_arrivals(&self) -> Result<f64, SpecError> {
        let a = self.arrivals()?;
        if let Some((law, name)) = steady_law(a) {
            return law.mean_rate_per_s().map_err(|e| at_key(&format!("arrivals.{name}"), e));
        }
        if let Some(replay) = &a.replay {
            return match replay.rate_per_s {
                Some(rate) => Ok(rate),
                None => {
                    let list_per_s = self.list_of(a)?.rate_per_s();
                    Ok(list_per_s * replay.pace(list_per_s).factor())
                }
            };
        }
        let Some(trace) = &a.trace else {
            let name = match (&a.llm, &a.queries) {
                _ if a.spread.is_some() => "spread",
                (Some(_), _) => "llm",
                (_, Some(_)) => "queries",
                _ => "workload",
            };
            let found = match name {
                "spread" => "`spread`, whose applications become active one by one".to_string(),
                _ => format!("`{name}`, whose arrivals come as they were written down"),
            };
            return Err(no_rate(&format!("arrivals.{name}"), found));
        };
        if let Some(rate) = trace.rate_per_s {
            return Ok(rate);
        }
        match OpenLoad::read(&self.file, a, &self.files)?.process {
            Process::Law(law) => law.mean_rate_per_s().map_err(|e| at_key("arrivals.trace", e)),
            Process::Functions { counted, shape } => {
                Ok(Minutes { counts: counted.sum.clone(), shape }.mean_rate_per_s())
            }
            Process::Dealt { blocks, shape, .. } => Ok(dealt_rate_per_s(&blocks, &shape)),
            _ => Err(no_rate("arrivals.trace", "arrivals without a rate")),
        }
    }
}

impl ScenarioFile {
    /// Whether a probe of its load means the same however long it is: searches make probes as long as their verdicts
    /// need. What ends by itself is judged whole.
    ///
    /// # Errors
    /// Where part of its load is a closed loop, or something happens at a time of the run.
    pub fn searchable(&self) -> Result<(), SpecError> {
        if self.arrivals.as_ref().is_none_or(Arrivals::is_finite) {
            return Ok(());
        }
        if self.closed_loop.is_some() {
            let found = "a closed loop, which sends when it is answered";
            let remedy = "remove `[closed_loop]`";
            return Err(SpecError::value("closed_loop", found, "`[arrivals]` alone", remedy));
        }
        let key =
            |list: &str, i: Option<usize>, what: &str| i.map(|i| format!("{list}[{i}].{what}"));
        let changed = self.app.iter().position(|a| !a.changes.is_empty());
        let stepped = self.app.iter().position(|a| a.slo_steps.is_some());
        let of_model = self.model.iter().position(|m| m.slo_steps.is_some());
        let timed = key("app", changed, "changes").or(key("app", stepped, "slo_steps"));
        let Some(key) = timed.or(key("model", of_model, "slo_steps")) else { return Ok(()) };
        let found = "something that happens at a time of the run, which one probe reaches and another does not";
        let allowed = "a load that stays the same: probes are as long as their verdicts need";
        let remedy =
            "remove it, and search each state alone; or compare runs at several rates with a sweep";
        Err(SpecError::value(key, found, allowed, remedy))
    }
}

fn no_rate(key: &str, found: impl ToString) -> SpecError {
    let allowed = "arrivals whose rate can be set: constant, poisson, integer_poisson, gamma, mmpp, \
                   trace, or a list with `replay`";
    let remedy = match key {
        "arrivals.workload" | "arrivals.queries" | "arrivals.llm" => {
            "add `replay = {}` to `[arrivals]`: there are then as many copies of the list as the rate needs"
        }
        _ => "use one of these processes, or vary something else",
    };
    SpecError::value(key, found, allowed, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Own processes and a shared one; a search goes up, down, and runs for longer.
    #[test]
    fn kept_gaps_are_the_same_arrivals() {
        for (shape, per_app) in [(0.2, true), (0.2, false), (1.0, true), (3.0, true)] {
            let text = format!(
                "policies = [\"fifo\"]\n[[device]]\ncount = 1\n[[model]]\nname = \"m\"\nslo_ms = 50.0\n\
                 copies = 3\nlatency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}\n\
                 [[app]]\nname = \"a\"\nmodel = \"m\"\n[arrivals]\ngamma = {{ rate_per_s = 100.0, shape = {shape} }}\nper_app = {per_app}\n\
                 requests = 4000\n"
            );
            let plain = Scenario::from_text("t.toml", &text).unwrap();
            let keeping = plain.keeping_gaps();
            let arrivals = |scenario: &Scenario, rate: f64, n: usize| -> Vec<(u64, u32)> {
                let setup = scenario.with_rate(rate).unwrap().setup(9).unwrap();
                let mut sources = setup.sources(9).unwrap();
                (0..n).map(|_| sources[0].pop().unwrap()).map(|a| (a.at.ns(), a.app.0)).collect()
            };
            for (rate, n) in [(100.0, 700), (933.3, 2_000), (57.1, 40), (57.1, 3_900)] {
                let (ours, fresh) = (arrivals(&keeping, rate, n), arrivals(&plain, rate, n));
                assert_eq!(ours, fresh, "shape {shape}, {rate}/s");
            }
        }
    }
}
