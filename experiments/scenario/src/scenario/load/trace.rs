//! The counts per minute of a trace: read, selected, and dealt to applications.

use super::check::selection;
use crate::scenario::file::{Inside, Order, Rule, TraceArrivals};
use crate::scenario::laws::Files;
use crate::scenario::process::Process;
use crate::scenario::value::{at_key, without_copy};
use orrery_run::SpecError;
use orrery_sim::rng::Stream;
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::azure2019::{Counted, Invocations, InvocationsReader, MinuteRange};
use orrery_traces::azure2019_days::Days;
use orrery_traces::blocks::Blocks;
use orrery_traces::rate::{Minutes, Shape, Spacing};
use std::sync::Arc;

/// Reads the counts of a trace.
pub(super) fn read(t: &TraceArrivals, files: &Files, apps: usize) -> Result<Process, SpecError> {
    if t.order.is_some() || t.rule.is_some() || files.is_folder(&t.file) {
        return read_blocks(t, files, apps);
    }
    let TraceArrivals { file, functions, first_minute, minutes, per_function, .. } = t;
    let what = format!("{file:?} {functions:?} {first_minute:?} {minutes:?} {per_function}");
    let read = || Ok(Arc::new(counted(t, files)?));
    let counted = files.counted.last((what, &[]), (|_| 1, 1), read)?;
    let spacing = match t.inside {
        Inside::Poisson => Spacing::Poisson,
        Inside::Even => Spacing::Even,
    };
    let shape = Shape { spacing, rate_factor: t.rate_factor.unwrap_or(1.0), compress: t.compress };
    let wrong = |e| at_key("arrivals.trace", e);
    let mut sum = Minutes { counts: counted.sum.clone(), shape };
    sum.check().map_err(wrong)?;
    if let Some(rate) = t.rate_per_s {
        sum.shape.rate_factor = rate / sum.mean_rate_per_s();
        sum.check().map_err(wrong)?;
    }
    Ok(match t.per_function {
        true => Process::Functions { counted, shape: sum.shape },
        false => Process::Law(ArrivalLaw::Minutes(sum)),
    })
}

/// Reads the functions that are selected.
fn counted(t: &TraceArrivals, files: &Files) -> Result<Counted, SpecError> {
    let input = || files.open("arrivals.trace.file", &t.file);
    let wrong = |e| at_key("arrivals.trace", e);
    let unread = files.unread("trace", &t.file);
    let range = minutes(t, || {
        let reader = InvocationsReader::open(input()?, None).map_err(&unread)?;
        Ok(reader.minutes())
    })?;
    let all = Invocations::read(input()?, range).map_err(&unread)?;
    files.say(&t.file, all.met.notes());
    let selected = selection("arrivals.trace.functions", &t.functions)?;
    let mut counted = all.select(&selected).and_then(Counted::of).map_err(wrong)?;
    if !t.per_function {
        // Their sum is all that is asked.
        counted.invocations.functions = Vec::new();
    }
    Ok(counted)
}

/// The counts of a trace whose functions are dealt out in blocks.
fn read_blocks(t: &TraceArrivals, files: &Files, apps: usize) -> Result<Process, SpecError> {
    let TraceArrivals { file, rule, sigma, functions, first_minute, minutes, .. } = t;
    let what =
        format!("{file:?} {rule:?} {sigma} {functions:?} {first_minute:?} {minutes:?} {apps}");
    let dealt = || Ok(Arc::new(deal(t, files, apps)?));
    let blocks = files.dealt.last((what, &[]), (|_| 1, 1), dealt)?;
    let factor = match t.rate_per_s {
        None => t.rate_factor.unwrap_or(1.0),
        Some(rate) => rate * 60.0 * blocks.minutes() as f64 / (t.compress * blocks.total()),
    };
    let shape = Shape { spacing: Spacing::Poisson, rate_factor: factor, compress: t.compress };
    let order = t.order.unwrap_or(Order::Released);
    Ok(Process::Dealt { blocks, shape, order, seed: t.order_seed })
}

/// Reads them.
fn deal(t: &TraceArrivals, files: &Files, apps: usize) -> Result<Blocks, SpecError> {
    let wrong = |e| at_key("arrivals.trace", e);
    let selected = selection("arrivals.trace.functions", &t.functions)?;
    if files.is_folder(&t.file) {
        if let Some(key) = [("rule", t.rule.is_some()), ("functions", t.functions != "all")]
            .iter()
            .find_map(|(key, given)| given.then_some(*key))
        {
            let found = format!("`{key}`, where `file` is a folder");
            let allowed = "a file, or all functions of a folder's days";
            let remedy = format!("remove `{key}`, or name one file");
            return Err(SpecError::value(format!("arrivals.trace.{key}"), found, allowed, remedy));
        }
        let days = Days::in_folder(&files.folder.join(&t.file)).map_err(wrong)?;
        let range = minutes(t, || Ok(days.minutes()))?.unwrap_or(days.minutes());
        let blocks = days.blocks(range, apps).map_err(wrong)?;
        files.say(&t.file, blocks.met.notes());
        Ok(blocks)
    } else {
        let input = files.open("arrivals.trace.file", &t.file)?;
        let all = Invocations::read(input, None).map_err(files.unread("trace", &t.file))?;
        files.say(&t.file, all.met.notes());
        let all = all.select(&selected).map_err(wrong)?;
        let first_label = all.first_label;
        let last_label = first_label + all.functions[0].counts.len() as u32 - 1;
        let whole = MinuteRange { first_label, last_label };
        let range = minutes(t, || Ok(whole))?.unwrap_or(whole);
        let blocks = match t.rule {
            Some(Rule::Azure46000) => Blocks::azure_46000(&all, range, t.sigma, apps),
            None => Blocks::of_file(&all, range, apps),
        };
        blocks.map_err(wrong)
    }
}

/// The mean rate of a trace that is dealt out.
pub(crate) fn dealt_rate_per_s(blocks: &Blocks, shape: &Shape) -> f64 {
    let seconds = 60.0 * blocks.minutes() as f64 / shape.compress;
    blocks.total() * shape.rate_factor / seconds
}

/// The order in which applications get their blocks.
pub(super) fn dealt_to(names: &[String], order: Order, seed: u64) -> Vec<usize> {
    let number = |i: usize| names[i].rsplit_once('#').and_then(|(_, n)| n.parse::<u32>().ok());
    let mut all: Vec<usize> = (0..names.len()).collect();
    all.sort_by_key(|&i| (without_copy(&names[i]), number(i)));
    if order == Order::Shuffled {
        let mut stream = Stream::named(seed, "order of applications", 0);
        for i in (1..all.len()).rev() {
            all.swap(i, stream.below(i as u64 + 1) as usize);
        }
    }
    all
}

/// The minutes that a trace is read for; `None` for all.
fn minutes(
    t: &TraceArrivals,
    whole: impl Fn() -> Result<MinuteRange, SpecError>,
) -> Result<Option<MinuteRange>, SpecError> {
    if t.first_minute.is_none() && t.minutes.is_none() {
        return Ok(None);
    }
    let whole = whole()?;
    let first_label = t.first_minute.unwrap_or(whole.first_label);
    let (first, last) = (whole.first_label, whole.last_label);
    if first_label < first || first_label > last {
        let allowed = format!("{first} to {last}, the minutes of `{}`", t.file);
        let key = "arrivals.trace.first_minute";
        return Err(SpecError::value(key, first_label, allowed, "choose a minute of the file"));
    }
    let most = last - first_label + 1;
    let minutes = t.minutes.unwrap_or(most);
    if minutes > most {
        let allowed = format!("1 to {most}: `{}` ends with minute {last}", t.file);
        let remedy = "lower minutes, or begin with an earlier first_minute";
        return Err(SpecError::value("arrivals.trace.minutes", minutes, allowed, remedy));
    }
    Ok(Some(MinuteRange { first_label, last_label: first_label + minutes - 1 }))
}
