//! The registry of policies: from a name such as `clockwork[estimator=static-mean]` to a policy.
//!
//! A bare name is the system as released (as published, where nothing was released).
//! `preset=paper` starts from what the paper's text says. Every other parameter changes one value.
//! It is the one place that knows all policies; what they do is in `sim/src/policy/`.

use crate::error::{SpecError, nearest};
use orrery_sim::policy::{Policy, clipper, clockwork, fifo, nexus, oracle, orloj};
use orrery_sim::profile::ModelProfile;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A policy and its parameters, ready to be built.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySpec {
    text: String,
    config: Config,
}

#[derive(Clone, Debug, PartialEq)]
enum Config {
    Fifo(fifo::Config),
    Oracle(oracle::Config),
    Clipper(clipper::Config),
    Nexus(nexus::Config),
    Clockwork(clockwork::Config),
    Orloj(orloj::Config),
}

/// The names of all policies.
pub const NAMES: [&str; 6] = ["clipper", "clockwork", "fifo", "nexus", "oracle", "orloj"];

impl PolicySpec {
    /// Reads a policy's name and parameters.
    ///
    /// # Errors
    /// When the name or a parameter is unknown (the nearest one is offered), or a value is wrong.
    pub fn parse(text: &str) -> Result<PolicySpec, SpecError> {
        let mut params = Params::parse(text)?;
        let config = match params.name {
            "fifo" => Config::Fifo(fifo_config(&mut params)?),
            "oracle" => {
                Config::Oracle(oracle::Config { max_batch: params.count("max_batch", 16)? })
            }
            "clipper" => Config::Clipper(clipper_config(&mut params)?),
            "nexus" => Config::Nexus(nexus_config(&mut params)?),
            "clockwork" => Config::Clockwork(clockwork_config(&mut params)?),
            "orloj" => Config::Orloj(orloj_config(&mut params)?),
            other => {
                let hint = nearest(other, NAMES)
                    .map_or(String::new(), |n| format!("did you mean `{n}`? "));
                let message = format!("there is no policy `{other}`");
                return Err(params.error(message, format!("{hint}known: {}", NAMES.join(", "))));
            }
        };
        params.finish()?;
        Ok(PolicySpec { text: text.to_string(), config })
    }

    /// The system's name.
    pub fn system(&self) -> &str {
        self.text.split('[').next().unwrap_or(&self.text)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The policy before its start. `seed` names the streams of policies that draw numbers.
    pub fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        match &self.config {
            Config::Fifo(c) => Box::new(fifo::Fifo::new(*c)),
            Config::Oracle(c) => Box::new(oracle::Oracle::new(*c, profiles)),
            Config::Clipper(c) => {
                let draws = Stream::named(seed, "clipper exploration", 0);
                Box::new(clipper::Clipper::new(*c, profiles, draws))
            }
            Config::Nexus(c) => Box::new(nexus::Nexus::new(*c, profiles)),
            Config::Clockwork(c) => Box::new(clockwork::Clockwork::new(*c, profiles)),
            Config::Orloj(c) => Box::new(orloj::Orloj::new(*c, profiles)),
        }
    }
}

impl fmt::Display for PolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PolicySpec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        PolicySpec::parse(text)
    }
}

fn fifo_config(p: &mut Params) -> Result<fifo::Config, SpecError> {
    Ok(fifo::Config {
        max_batch: p.count("max_batch", 16)?,
        drop_expired: p.flag("drop_expired", false)?,
    })
}

fn clipper_config(p: &mut Params) -> Result<clipper::Config, SpecError> {
    let default = p.preset("adaptive", "aimd")?;
    let sizing = match p.word("sizing", default, &["adaptive", "aimd", "fixed"])? {
        "adaptive" => clipper::Sizing::Adaptive,
        "aimd" => clipper::Sizing::Aimd {
            step: p.count("step", 1)?,
            backoff: p.number("backoff", 0.9, 0.01..=0.99)?,
        },
        _ => clipper::Sizing::Fixed(p.count("size", 16)?),
    };
    let default_reply = p.flag("default_reply", true)?;
    Ok(clipper::Config { sizing, default_reply, max_batch: p.count("max_batch", 64)? })
}

fn nexus_config(p: &mut Params) -> Result<nexus::Config, SpecError> {
    let rules = ["sliding-window", "earliest", "elapsed", "none"];
    let drop = match p.word("drop", "sliding-window", &rules)? {
        "sliding-window" => nexus::DropRule::SlidingWindow,
        "earliest" => nexus::DropRule::Earliest,
        "elapsed" => nexus::DropRule::Elapsed,
        _ => nexus::DropRule::None,
    };
    let batch = match p.take("batch") {
        None | Some("plan") => None,
        Some(text) => Some(p.parse_count("batch", text)?),
    };
    Ok(nexus::Config {
        drop,
        std_factor: p.number("std_factor", 1.0, 0.0..=10.0)?,
        profile_factor: p.number("profile_factor", 1.15, 0.01..=100.0)?,
        margin: p.span_ms("margin_ms", Span::from_ms(2))?,
        batch,
    })
}

fn clockwork_config(p: &mut Params) -> Result<clockwork::Config, SpecError> {
    let mut config = clockwork::Config::released();
    if p.preset("released", "paper")? == "paper" {
        config.ahead = Span::from_ms(5);
        config.max_batch = 16;
    }
    config.estimator =
        match p.word("estimator", "p99-of-10", &["p99-of-10", "window-mean", "static-mean"])? {
            "p99-of-10" => clockwork::Estimator::P99Of10,
            "window-mean" => clockwork::Estimator::WindowMean,
            _ => clockwork::Estimator::StaticMean,
        };
    Ok(clockwork::Config {
        estimator: config.estimator,
        ahead: p.span_ms("ahead_ms", config.ahead)?,
        width: p.span_ms("width_ms", config.width)?,
        buffer: p.span_ms("buffer_ms", config.buffer)?,
        lead: p.span_ms("lead_ms", config.lead)?,
        lag: p.span_ms("lag_ms", config.lag)?,
        max_batch: p.count("max_batch", config.max_batch)?,
        max_exec: p.span_ms("max_exec_ms", config.max_exec)?,
    })
}

fn orloj_config(p: &mut Params) -> Result<orloj::Config, SpecError> {
    let estimate = match p.word("estimate", "mean", &["mean", "quantile"])? {
        "mean" => orloj::Estimate::Mean,
        _ => orloj::Estimate::Quantile(p.number("quantile", 0.999, 0.0..=1.0)?),
    };
    let order = match p.word("order", "descending", &["descending", "ascending"])? {
        "descending" => orloj::SizeOrder::Descending,
        _ => orloj::SizeOrder::Ascending,
    };
    Ok(orloj::Config {
        estimate,
        order,
        b_per_ms: p.number("b_per_ms", 1e-4, 1e-12..=1e3)?,
        max_batch: p.count("max_batch", 16)?,
        max_exec: p.span_ms("max_exec_ms", Span::ZERO)?,
        relearn_every: p.parse_or("relearn_every", 0)?,
    })
}

/// The parameters in the brackets; each is asked for once, and what is left is unknown.
struct Params<'a> {
    text: &'a str,
    name: &'a str,
    given: BTreeMap<&'a str, &'a str>,
    asked: Vec<&'static str>,
}

impl<'a> Params<'a> {
    fn parse(text: &'a str) -> Result<Params<'a>, SpecError> {
        let mut params =
            Params { text, name: text.trim(), given: BTreeMap::new(), asked: Vec::new() };
        let Some((name, rest)) = text.split_once('[') else { return Ok(params) };
        params.name = name.trim();
        let remedy = || "write it as name[key=value,key=value]".to_string();
        let Some(inner) = rest.trim_end().strip_suffix(']') else {
            return Err(params.error("the bracket is not closed".into(), remedy()));
        };
        for part in inner.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(params.error(format!("`{part}` has no `=`"), remedy()));
            };
            if params.given.insert(key.trim(), value.trim()).is_some() {
                let message = format!("`{}` is given twice", key.trim());
                return Err(params.error(message, "give each parameter once".into()));
            }
        }
        Ok(params)
    }

    fn error(&self, message: String, remedy: String) -> SpecError {
        SpecError::Policy { policy: self.text.to_string(), message, remedy }
    }

    fn wrong(&self, key: &str, found: &str, allowed: &str) -> SpecError {
        let message = format!("`{key}`: found `{found}`; allowed: {allowed}");
        self.error(message, format!("correct `{key}` or leave it out"))
    }

    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.asked.push(key);
        self.given.remove(key)
    }

    fn word(
        &mut self,
        key: &'static str,
        default: &'static str,
        allowed: &[&'static str],
    ) -> Result<&'static str, SpecError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        let word = allowed.iter().find(|a| **a == found);
        word.copied().ok_or_else(|| self.wrong(key, found, &allowed.join(", ")))
    }

    /// The default word of the preset that was asked for.
    fn preset(
        &mut self,
        released: &'static str,
        paper: &'static str,
    ) -> Result<&'static str, SpecError> {
        let preset = self.word("preset", "released", &["released", "paper"])?;
        Ok(if preset == "paper" { paper } else { released })
    }

    fn parse_or<T: FromStr + fmt::Display>(
        &mut self,
        key: &'static str,
        default: T,
    ) -> Result<T, SpecError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        found.parse().map_err(|_| self.wrong(key, found, &format!("a value such as {default}")))
    }

    fn parse_count(&self, key: &str, found: &str) -> Result<u32, SpecError> {
        let count = found.parse().ok().filter(|n| (1..=4096).contains(n));
        count.ok_or_else(|| self.wrong(key, found, "a whole number from 1 to 4096"))
    }

    fn count(&mut self, key: &'static str, default: u32) -> Result<u32, SpecError> {
        self.take(key).map_or(Ok(default), |found| self.parse_count(key, found))
    }

    fn flag(&mut self, key: &'static str, default: bool) -> Result<bool, SpecError> {
        let default = if default { "true" } else { "false" };
        Ok(self.word(key, default, &["true", "false"])? == "true")
    }

    fn number(
        &mut self,
        key: &'static str,
        default: f64,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, SpecError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        let number = found.parse().ok().filter(|x| range.contains(x));
        let allowed = || format!("a number from {} to {}", range.start(), range.end());
        number.ok_or_else(|| self.wrong(key, found, &allowed()))
    }

    fn span_ms(&mut self, key: &'static str, default: Span) -> Result<Span, SpecError> {
        let ms = self.number(key, default.as_ms_f64(), 0.0..=86_400e3)?;
        Ok(Span::from_ms_f64(ms))
    }

    fn finish(self) -> Result<(), SpecError> {
        let Some(unknown) = self.given.keys().next() else { return Ok(()) };
        let hint = nearest(unknown, self.asked.iter().copied());
        let hint = hint.map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let message = format!("there is no parameter `{unknown}` here");
        Err(self.error(message, format!("{hint}allowed: {}", self.asked.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::latency::Latency;

    fn profile() -> ModelProfile {
        let draw = || (0, Span::from_ms(10));
        let law = Latency::Proportional { c1: 0.1 };
        ModelProfile::measure(&law, Span::from_ms(100), &[1, 2, 4, 8, 16], 2, draw, 4)
    }

    #[test]
    fn a_policy_s_own_name_builds_the_same_policy() {
        let texts = [
            "fifo",
            "fifo[max_batch=4,drop_expired=true]",
            "oracle",
            "clipper",
            "clipper[preset=paper]",
            "clipper[sizing=fixed,size=3,default_reply=false]",
            "nexus",
            "nexus[drop=elapsed,batch=16]",
            "clockwork",
            "clockwork[preset=paper]",
            "clockwork[estimator=static-mean,max_batch=16]",
            "orloj",
            "orloj[estimate=quantile,quantile=0.99,order=ascending,relearn_every=100]",
        ];
        for text in texts {
            let spec = PolicySpec::parse(text).unwrap();
            let name = spec.build(&[profile()], 1).name();
            let again = PolicySpec::parse(&name).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(again.config, spec.config, "{text} became {name}");
            assert_eq!(again.build(&[profile()], 1).name(), name);
            assert!(name.starts_with(spec.system()));
        }
    }

    #[test]
    fn errors_offer_the_nearest_name_and_the_allowed_values() {
        let error = |text: &str| PolicySpec::parse(text).unwrap_err().to_string();
        assert!(error("clockwrok").contains("did you mean `clockwork`"));
        assert!(error("clockwork[estimater=static-mean]").contains("did you mean `estimator`"));
        assert!(
            error("clockwork[estimator=median]")
                .contains("allowed: p99-of-10, window-mean, static-mean")
        );
        assert!(error("nexus[batch=0]").contains("a whole number from 1 to 4096"));
        assert!(error("nexus[batch=4").contains("not closed"));
        assert!(error("nexus[batch=4,batch=5]").contains("twice"));
        assert!(error("orloj[b_per_ms=-1]").contains("a number from"));
        assert!(error("").contains("there is no policy"));
    }
}
