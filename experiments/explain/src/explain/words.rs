//! Times and names in words.

use orrery_sim::log::{BatchRecord, Names};
use orrery_sim::policy::Refusal;
use orrery_sim::request::{Drop, End, ModelId, RequestId};
use orrery_sim::time::{NS_PER_MS, NS_PER_US, Span, Time};

/// `12.346 ms`, rounded to the nearest microsecond; below one microsecond `345 ns`.
pub fn ms(span: Span) -> String {
    let ns = span.ns();
    if ns > 0 && ns < NS_PER_US {
        return format!("{ns} ns");
    }
    let us = ns / NS_PER_US + u64::from(ns % NS_PER_US >= NS_PER_US / 2);
    let per_ms = NS_PER_MS / NS_PER_US;
    format!("{}.{:03} ms", us / per_ms, us % per_ms)
}

/// An instant of the run.
pub fn at(time: Time) -> String {
    ms(time.since(Time::ZERO))
}

pub fn model(names: &Names, id: ModelId) -> String {
    names.model(id).map_or_else(|| id.to_string(), str::to_string)
}

pub fn device(names: &Names, batch: &BatchRecord) -> String {
    let id = batch.device;
    let lane = if batch.lane == 0 { String::new() } else { format!(" lane {}", batch.lane) };
    names.device(id).map_or_else(|| format!("{id}{lane}"), |name| format!("{id}{lane} ({name})"))
}

/// Requests shown of a batch.
const SHOWN: usize = 8;

/// `r3 r5 and 7 more`.
pub fn requests(ids: &[RequestId]) -> String {
    let mut words: Vec<String> = ids.iter().take(SHOWN).map(RequestId::to_string).collect();
    if ids.len() > SHOWN {
        words.push(format!("and {} more", ids.len() - SHOWN));
    }
    words.join(" ")
}

/// Why a request was dropped.
pub fn drop_reason(why: Drop) -> &'static str {
    match why {
        Drop::Expired => "its deadline had passed while it waited",
        Drop::Infeasible => "the policy estimated that it could no longer meet its deadline",
        Drop::Refused => "the device did not run its batch",
        Drop::DefaultReply => "a default reply went out at its deadline",
        Drop::Shed => "the policy would not take it",
    }
}

/// Why a device refused a batch.
pub fn refusal_reason(why: Refusal) -> &'static str {
    match why {
        Refusal::Late => "it could not start within its window any more",
        Refusal::NotLoaded => "the model was not in its memory",
        Refusal::NoMemory => "its memory was full",
        Refusal::DeviceDown => "it was not up",
    }
}

/// How a request ended, in short.
pub fn end(end: End) -> &'static str {
    match end {
        End::InTime => "in time",
        End::Late => "late",
        End::Dropped(Drop::Expired) => "dropped (expired)",
        End::Dropped(Drop::Infeasible) => "dropped (infeasible)",
        End::Dropped(Drop::Refused) => "dropped (refused)",
        End::Dropped(Drop::DefaultReply) => "default reply",
        End::Dropped(Drop::Shed) => "dropped (shed)",
        End::Pending => "pending",
    }
}
