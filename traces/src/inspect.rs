//! What a file is and what is in it: the format by its header, then named facts.
//!
//! It checks the whole file as the readers do, but judges nothing.

use crate::azure_llm::LlmReader;
use crate::azure2019::InvocationsReader;
use crate::azure2019_durations::DurationsReader;
use crate::azure2021::Trace2021;
use crate::error::TraceError;
use crate::open::Input;
use crate::query_list::{Asked, QueryList, timed};
use crate::quirks::Met;
use crate::stats::{BinStats, RateStats};
use crate::table::Table;
use crate::workload_file::CsvSource;
use orrery_sim::ordered::{sort_by, sort_by_key};
use orrery_sim::request::{AppId, ModelId, Source};
use orrery_sim::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// The formats that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Azure Functions 2019, calls per minute.
    Azure2019Invocations,
    /// Azure Functions 2019, durations.
    Azure2019Durations,
    /// Azure Functions 2021.
    Azure2021,
    /// Azure LLM inference.
    AzureLlm,
    /// A workload written by [`crate::workload_file::record`].
    Workload,
    /// A list of queries.
    Queries,
    /// A list of requests that are answered token by token.
    Tokens,
    /// One of another tool that is read elsewhere: who writes it, and what of a scenario reads it.
    Other(&'static str, Option<&'static str>),
}

impl Format {
    /// The format in words.
    pub fn name(self) -> &'static str {
        match self {
            Format::Azure2019Invocations => "Azure Functions 2019, invocations",
            Format::Azure2019Durations => "Azure Functions 2019, durations",
            Format::Azure2021 => "Azure Functions 2021",
            Format::AzureLlm => "Azure LLM inference",
            Format::Workload => "orrery workload",
            Format::Queries => "a list of queries",
            Format::Tokens => "a list of requests with tokens",
            Format::Other(name, _) => name,
        }
    }

    /// The arrival process of a scenario that reads it, where there is one.
    pub fn arrivals(self) -> Option<&'static str> {
        match self {
            Format::Azure2019Invocations => Some("trace"),
            Format::AzureLlm => Some("llm"),
            Format::Workload | Format::Azure2021 => Some("workload"),
            Format::Queries => Some("queries"),
            Format::Tokens => Some("[tokens] requests"),
            Format::Other(_, direct) => direct,
            Format::Azure2019Durations => None,
        }
    }

    /// The format whose columns the file has.
    fn of(table: &Table) -> Result<Format, TraceError> {
        let has = |names: &[&str]| names.iter().all(|name| table.find(name).is_some());
        if has(&["HashFunction", "Trigger"]) {
            Ok(Format::Azure2019Invocations)
        } else if has(&["HashFunction", "Average"]) {
            Ok(Format::Azure2019Durations)
        } else if has(&["func", "end_timestamp"]) {
            Ok(Format::Azure2021)
        } else if has(&["TIMESTAMP", "ContextTokens"]) {
            Ok(Format::AzureLlm)
        } else if timed(table, "arrival")?.is_some() && timed(table, "alone")?.is_some() {
            Ok(Format::Workload)
        } else if has(&["at_s", "tokens_in", "tokens_out"]) {
            Ok(Format::Tokens)
        } else if has(&["size"]) && table.header().iter().any(|c| c.starts_with("arrival_")) {
            Ok(Format::Queries)
        } else {
            Err(table.unknown_format())
        }
    }
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// Words.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x:.4}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Whole(n)
    }
}

impl From<usize> for Value {
    fn from(n: usize) -> Value {
        Value::Whole(n as u64)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Real(x)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

/// What a file holds. Its `Display` is one line a fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// Names and values, in the order they are printed.
    pub facts: Vec<(&'static str, Value)>,
}

impl Inspection {
    /// The fact of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.facts.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The fact of that name as a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Whole(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            Value::Text(_) => None,
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(8);
        writeln!(f, "{:width$}  {}", "file", self.file)?;
        writeln!(f, "{:width$}  {}", "format", self.format.name())?;
        let read_by = self.format.arrivals().unwrap_or("none: no arrival process reads it");
        write!(f, "{:width$}  {read_by}", "arrivals")?;
        for (name, value) in &self.facts {
            write!(f, "\n{name:width$}  {value}")?;
        }
        Ok(())
    }
}

/// Facts as they are gathered.
#[derive(Default)]
struct Facts(Vec<(&'static str, Value)>);

impl Facts {
    fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.0.push((name, value.into()));
    }

    /// What was odd.
    fn met(&mut self, met: &Met) {
        met.notes().into_iter().for_each(|note| self.add("odd", note));
    }

    fn rates(&mut self, stats: &RateStats) {
        let s = stats.summary(Time::ZERO);
        self.add("span s", s.span.as_secs_f64());
        match s.span {
            Span::ZERO if s.count > 1 => self.add("rate per s, mean", "-, all at once".to_string()),
            _ => self.add("rate per s, mean", s.mean_per_s),
        }
        if let Some(bins) = s.second {
            self.add("rate per s, CoV", bins.cov);
            self.add("rate per s, peak/mean", bins.peak_to_mean());
        }
        if let Some(bins) = s.minute {
            self.add("rate per min, CoV", bins.cov);
            self.add("rate per min, peak/mean", bins.peak_to_mean());
        }
        if let Some(cv) = s.gap_cv {
            self.add("gap between arrivals, CV", cv);
        }
    }
}

/// The format of a file, of which only the header is read.
///
/// # Errors
/// When it is of no known format.
pub fn format_of(input: Input) -> Result<Format, TraceError> {
    Format::of(&Table::open(input)?)
}

/// Inspects a file.
///
/// # Errors
/// When it is damaged or of no known format.
pub fn inspect(path: impl AsRef<Path>) -> Result<Inspection, TraceError> {
    inspect_with(|| Input::open(path.as_ref()))
}

/// Inspects what `open` opens; some formats are read twice.
///
/// # Errors
/// When it is damaged or of no known format.
pub fn inspect_with(
    open: impl Fn() -> Result<Input, TraceError>,
) -> Result<Inspection, TraceError> {
    let table = Table::open(open()?)?;
    let file = table.file().to_string();
    let format = Format::of(&table)?;
    let facts = match format {
        Format::Azure2019Invocations => invocations(table, open)?,
        Format::Azure2019Durations => durations(table)?,
        Format::Azure2021 => azure2021(table)?,
        Format::AzureLlm => llm(table)?,
        Format::Tokens => tokens(open()?)?,
        Format::Queries => queries(open()?)?,
        // `Format::of` has none of these.
        Format::Other(..) => Facts::default(),
        Format::Workload => workload(table)?,
    };
    Ok(Inspection { file, format, facts: facts.0 })
}

fn invocations(
    table: Table,
    again: impl Fn() -> Result<Input, TraceError>,
) -> Result<Facts, TraceError> {
    let mut reader = InvocationsReader::from_table(table, None)?;
    let minutes = reader.minutes();
    let mut totals: Vec<(u64, usize)> = Vec::new();
    let (mut triggers, mut sums) = (BTreeMap::new(), vec![0u64; minutes.minutes()]);
    while let Some((number, row)) = reader.next_numbered()? {
        add_counts(&mut sums, &row.counts);
        match totals.get_mut(number) {
            Some(first) => first.0 += row.total,
            None => {
                *triggers.entry(row.trigger).or_insert(0u64) += 1;
                totals.push((row.total, number));
            }
        }
    }
    let idle = totals.iter().filter(|(total, _)| *total == 0).count();
    let all: u64 = totals.iter().map(|(total, _)| total).sum();
    sort_by_key(&mut totals, |&(total, row)| (std::cmp::Reverse(total), row));
    let top = |share: usize| &totals[..(totals.len() / share).max(1).min(totals.len())];
    let share = |rows: &[(u64, usize)]| {
        rows.iter().map(|(total, _)| total).sum::<u64>() as f64 / (all as f64).max(1.0)
    };

    let mut facts = Facts::default();
    facts.add("functions", totals.len());
    let words: Vec<String> = triggers.iter().map(|(word, n)| format!("{word} {n}")).collect();
    facts.add("triggers", words.join(", "));
    facts.add("first minute label", u64::from(minutes.first_label));
    facts.add("last minute label", u64::from(minutes.last_label));
    facts.add("minutes", minutes.minutes());
    facts.add("calls", all);
    facts.add("functions without a call", idle);
    facts.add("share of the top 1 % of functions", share(top(100)));
    facts.add("share of the top 10 % of functions", share(top(10)));
    per_minute(&mut facts, &sums, PER_MINUTE);

    let hot: BTreeSet<usize> = top(100).iter().map(|(_, row)| *row).collect();
    let mut second = InvocationsReader::open(again()?, None)?;
    let mut rest = vec![0u64; minutes.minutes()];
    while let Some((number, row)) = second.next_numbered()? {
        if !hot.contains(&number) {
            add_counts(&mut rest, &row.counts);
        }
    }
    per_minute(&mut facts, &rest, PER_MINUTE_REST);
    facts.met(&reader.met());
    Ok(facts)
}

const PER_MINUTE: [&str; 3] =
    ["calls per min, mean", "calls per min, CoV", "calls per min, peak/mean"];
const PER_MINUTE_REST: [&str; 3] = [
    "without the top 1 %: calls per min, mean",
    "without the top 1 %: calls per min, CoV",
    "without the top 1 %: calls per min, peak/mean",
];

fn add_counts(sums: &mut [u64], counts: &[u32]) {
    for (sum, &count) in sums.iter_mut().zip(counts) {
        *sum += u64::from(count);
    }
}

fn per_minute(facts: &mut Facts, counts: &[u64], [mean, cov, peak]: [&'static str; 3]) {
    if let Some(bins) = BinStats::of(counts.iter().copied()) {
        facts.add(mean, bins.mean);
        facts.add(cov, bins.cov);
        facts.add(peak, bins.peak_to_mean());
    }
}

fn durations(table: Table) -> Result<Facts, TraceError> {
    let (rows, met) = DurationsReader::from_table(table)?.read_all()?;
    let executions: u128 = rows.iter().map(|r| u128::from(r.count)).sum();
    let weighted: f64 = rows.iter().map(|r| r.average_ms * r.count as f64).sum();
    let mut averages: Vec<f64> = rows.iter().map(|r| r.average_ms).collect();
    sort_by(&mut averages, f64::total_cmp);
    let mut facts = Facts::default();
    facts.add("functions", rows.len());
    facts.add("executions", executions.min(u128::from(u64::MAX)) as u64);
    if let (Some(&first), Some(&last)) = (averages.first(), averages.last()) {
        facts.add("average of a function ms, least", first);
        facts.add("average of a function ms, median", averages[averages.len() / 2]);
        facts.add("average of a function ms, most", last);
    }
    if executions > 0 {
        facts.add("average of an execution ms", weighted / executions as f64);
    }
    facts.met(&met);
    Ok(facts)
}

fn azure2021(table: Table) -> Result<Facts, TraceError> {
    let trace = Trace2021::from_table(table)?;
    let (mut stats, mut ran_s) = (RateStats::new(), 0.0);
    for record in &trace.records {
        stats.push(record.arrival);
        ran_s += record.duration.as_secs_f64();
    }
    let zero = trace.records.iter().filter(|r| r.duration == Span::ZERO).count();
    let mut facts = Facts::default();
    facts.add("invocations", trace.records.len());
    facts.add("applications", trace.apps.len());
    facts.add("functions", trace.functions.len());
    facts.add("duration ms, mean", ran_s * 1e3 / trace.records.len() as f64);
    facts.add("durations of zero", zero);
    facts.rates(&stats);
    facts.met(&trace.met);
    Ok(facts)
}

fn llm(table: Table) -> Result<Facts, TraceError> {
    let mut reader = LlmReader::from_table(table)?;
    let mut sums = Prompts::default();
    while let Some(p) = reader.next_record()? {
        sums.add(p.at, p.context_tokens, p.generated_tokens);
    }
    let mut facts = sums.facts();
    facts.met(&reader.met());
    Ok(facts)
}

fn tokens(input: Input) -> Result<Facts, TraceError> {
    let mut list = crate::token_list::read(input)?;
    sort_by_key(&mut list, |r| r.at);
    let mut sums = Prompts::default();
    list.iter().for_each(|r| sums.add(r.at, r.tokens_in, r.tokens_out));
    Ok(sums.facts())
}

fn queries(input: Input) -> Result<Facts, TraceError> {
    let alone = Span::from_us(1);
    let asked = Asked { app: AppId(0), model: ModelId(0), slo: Span::MAX, alone };
    let mut list = QueryList::open(input, asked)?;
    let (mut stats, mut rows, mut items) = (RateStats::new(), 0u64, 0u64);
    while let Some(query) = list.pop() {
        stats.push(query.at);
        rows += 1;
        items += u64::from(query.size);
    }
    list.take_error().map_or(Ok(()), Err)?;
    let mut facts = Facts::default();
    facts.add("queries", rows);
    facts.add("size, mean", items as f64 / rows as f64);
    facts.add("service times", if list.has_service_times() { "yes" } else { "no" }.to_string());
    facts.rates(&stats);
    facts.met(&list.met());
    Ok(facts)
}

/// Prompts as they are added up.
#[derive(Default)]
struct Prompts {
    stats: RateStats,
    rows: u64,
    context: (u64, u32),
    generated: (u64, u32),
}

impl Prompts {
    fn add(&mut self, at: Time, context: u32, generated: u32) {
        self.stats.push(at);
        self.rows += 1;
        for (sums, n) in [(&mut self.context, context), (&mut self.generated, generated)] {
            *sums = (sums.0 + u64::from(n), sums.1.max(n));
        }
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("prompts", self.rows);
        facts.add("tokens in, mean", self.context.0 as f64 / self.rows as f64);
        facts.add("tokens in, most", u64::from(self.context.1));
        facts.add("tokens out, mean", self.generated.0 as f64 / self.rows as f64);
        facts.add("tokens out, most", u64::from(self.generated.1));
        facts.rates(&self.stats);
        facts
    }
}

impl Inspection {
    /// Of prompts in order of arrival that were read elsewhere: when, tokens in, tokens out.
    pub fn of_prompts(file: &str, format: Format, rows: &[(Time, u32, u32)]) -> Inspection {
        let mut sums = Prompts::default();
        rows.iter().for_each(|&(at, context, generated)| sums.add(at, context, generated));
        Inspection { file: file.to_string(), format, facts: sums.facts().0 }
    }

    /// Of requests in order of arrival that were read elsewhere: when, and how long each took.
    pub fn of_requests(
        file: &str,
        format: Format,
        names: usize,
        rows: impl Iterator<Item = (Time, Option<Span>)>,
    ) -> Inspection {
        let (mut stats, mut n, mut took_ms, mut timed) = (RateStats::new(), 0u64, 0.0, 0u64);
        for (at, took) in rows {
            stats.push(at);
            n += 1;
            timed += u64::from(took.is_some());
            took_ms += took.map_or(0.0, Span::as_ms_f64);
        }
        let mut facts = Facts::default();
        facts.add("requests", n);
        facts.add("names", names);
        if timed > 0 {
            facts.add("requests with a duration", timed);
            facts.add("duration ms, mean", took_ms / timed as f64);
        }
        facts.rates(&stats);
        Inspection { file: file.to_string(), format, facts: facts.0 }
    }

    /// The same with more that is known of it.
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Inspection {
        self.facts.push((name, value.into()));
        self
    }
}

fn workload(table: Table) -> Result<Facts, TraceError> {
    let mut source = CsvSource::whole(table, None)?;
    let (mut stats, mut alone_ns, mut rows, mut free) = (RateStats::new(), 0u128, 0u64, 0u64);
    let (mut apps, mut models) = (BTreeSet::new(), BTreeSet::new());
    while let Some(arrival) = source.pop() {
        stats.push(arrival.at);
        rows += 1;
        alone_ns += u128::from(arrival.alone.ns());
        free += u64::from(arrival.slo == Span::MAX);
        apps.insert(arrival.app);
        models.insert(arrival.model);
    }
    if let Some(error) = source.take_error() {
        return Err(error);
    }
    let span_s = stats.summary(Time::ZERO).span.as_secs_f64();
    let mut facts = Facts::default();
    facts.add("arrivals", rows);
    facts.add("applications", apps.len());
    facts.add("models", models.len());
    facts.add("arrivals without an SLO", free);
    facts.add("alone ms, mean", alone_ns as f64 / 1e6 / rows as f64);
    if span_s > 0.0 {
        facts.add("offered load (rate x mean alone)", alone_ns as f64 / 1e9 / span_s);
    }
    facts.rates(&stats);
    facts.met(&source.met());
    Ok(facts)
}

#[cfg(test)]
mod tests;
