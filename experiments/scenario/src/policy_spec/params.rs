//! A policy's parameters in their brackets: `[key=value,...]`.
//!
//! It knows no policy.

use crate::error::{SpecError, nearest};
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The parameters in the brackets; each is asked for once, and what is left is unknown.
pub(super) struct Params<'a> {
    text: &'a str,
    pub(super) name: &'a str,
    given: BTreeMap<&'a str, &'a str>,
    asked: Vec<&'static str>,
}

impl<'a> Params<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Params<'a>, SpecError> {
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

    pub(super) fn error(&self, message: String, remedy: String) -> SpecError {
        SpecError::Policy { policy: self.text.to_string(), message, remedy }
    }

    pub(super) fn wrong(&self, key: &str, found: &str, allowed: &str) -> SpecError {
        let message = format!("`{key}`: found `{found}`; allowed: {allowed}");
        self.error(message, format!("correct `{key}` or leave it out"))
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.asked.push(key);
        self.given.remove(key)
    }

    pub(super) fn word(
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
    pub(super) fn preset(
        &mut self,
        released: &'static str,
        paper: &'static str,
    ) -> Result<&'static str, SpecError> {
        let preset = self.word("preset", "released", &["released", "paper"])?;
        Ok(if preset == "paper" { paper } else { released })
    }

    pub(super) fn parse_or<T: FromStr + fmt::Display>(
        &mut self,
        key: &'static str,
        default: T,
    ) -> Result<T, SpecError> {
        let Some(found) = self.take(key) else { return Ok(default) };
        found.parse().map_err(|_| self.wrong(key, found, &format!("a value such as {default}")))
    }

    pub(super) fn parse_count(&self, key: &str, found: &str) -> Result<u32, SpecError> {
        let count = found.parse().ok().filter(|n| (1..=4096).contains(n));
        count.ok_or_else(|| self.wrong(key, found, "a whole number from 1 to 4096"))
    }

    pub(super) fn count(&mut self, key: &'static str, default: u32) -> Result<u32, SpecError> {
        self.take(key).map_or(Ok(default), |found| self.parse_count(key, found))
    }

    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> Result<bool, SpecError> {
        let default = if default { "true" } else { "false" };
        Ok(self.word(key, default, &["true", "false"])? == "true")
    }

    pub(super) fn number(
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

    pub(super) fn span_ms(&mut self, key: &'static str, default: Span) -> Result<Span, SpecError> {
        let ms = self.number(key, default.as_ms_f64(), 0.0..=86_400e3)?;
        Ok(Span::from_ms_f64(ms))
    }

    pub(super) fn finish(self) -> Result<(), SpecError> {
        let Some(unknown) = self.given.keys().next() else { return Ok(()) };
        let hint = nearest(unknown, self.asked.iter().copied());
        let hint = hint.map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let message = format!("there is no parameter `{unknown}` here");
        Err(self.error(message, format!("{hint}allowed: {}", self.asked.join(", "))))
    }
}
