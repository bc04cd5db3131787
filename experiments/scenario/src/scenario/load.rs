//! The open load of a scenario: from `[arrivals]` to sources, made anew for each seed.
//!
//! ```text
//! [arrivals] ── check ──> process (a law, a trace, a list) ── changes ──> OpenLoad ── source(seed) ──> requests
//! ```
//!
//! It reads the files that the arrivals name; what can be checked without them, [`check`] has checked. [`clients`] is the
//! closed load.

pub(super) mod changes;
pub(super) mod check;
pub(super) mod clients;
pub(super) mod imported;
pub(super) mod sent;
mod trace;

use super::file::{
    Arrivals, LlmArrivals, Order, QueryArrivals, ReplayArrivals, Rule, ScenarioFile, Timestamps,
    WorkloadArrivals,
};
use super::laws::Files;
use super::process::{Process, steady_law};
use super::value::{at_key, duration_s, requests, span_ms};
use crate::listed::slice;
use check::{carried, chosen};
use imported::Alone;
use orrery_run::SpecError;
use orrery_run::sources::Bounded;
use orrery_sim::request::{Arrival, ModelId, Source};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, Limited};
use orrery_traces::azure_llm::{LlmSource, TokenCost};
use orrery_traces::azure2019::Counted;
use orrery_traces::changed::Changed;
use orrery_traces::dealt::Dealt;
use orrery_traces::exec_time::ExecLaw;
use orrery_traces::part::{Part, Slice};
use orrery_traces::per_app::per_app;
use orrery_traces::phases::Phase;
use orrery_traces::query_list::{Asked, QueryList};
use orrery_traces::replayed::{self, List, Replayed};
use orrery_traces::samples::Histogram;
use orrery_traces::spread::Spreading;
use orrery_traces::workload::{Application, MergedFunctions, OpenWorkload};
use orrery_traces::workload_file::CsvSource;
use std::collections::BTreeMap;
use std::rc::Rc;
pub(super) use trace::dealt_rate_per_s;

/// Arrivals that a law of carried execution times is made from, at most.
const CARRIED_MAX: usize = 200_000;
/// So many such laws are kept.
const CARRIED_KEPT: usize = 8;
/// Requests of all lists together that are kept: 160 MB. A list of more is read each time.
const LISTS_MAX: usize = 4_000_000;

/// Applications whose share of a dealt trace is told: as many as Clockwork has copies of a model.
const HEAD: usize = 66;

/// The open load of a scenario.
#[derive(Clone)]
pub(super) struct OpenLoad {
    pub process: Process,
    /// The numbers of the applications that send.
    chosen: Vec<usize>,
    /// Their names.
    names: Rc<[String]>,
    /// The times of their requests where the arrivals bring none.
    alone: Rc<[Alone]>,
    pub requests: u64,
    pub until: Time,
    /// From when on they have other weights and times.
    pub phases: Vec<Phase>,
    replay: Option<ReplayArrivals>,
    files: Files,
}

impl OpenLoad {
    /// Reads what the arrivals need.
    pub(super) fn read(
        file: &ScenarioFile,
        a: &Arrivals,
        files: &Files,
    ) -> Result<OpenLoad, SpecError> {
        let chosen = chosen(file, "arrivals.apps", a.apps.as_deref())?;
        let process = match (steady_law(a), &a.spread, &a.trace, &a.llm, &a.workload) {
            (Some((law, _)), ..) if a.per_app => Process::PerApp(law),
            (Some((law, _)), ..) => Process::Law(law),
            (_, Some(s), ..) => {
                let (spread, sharing, others) = check::spread(file, a, s)?;
                Process::Spread { spread, sharing, others }
            }
            (_, _, Some(trace), ..) => trace::read(trace, files, chosen.len())?,
            (_, _, _, Some(llm), _) => Process::Llm(llm.clone()),
            (_, _, _, _, Some(workload)) => Process::Workload(workload.clone()),
            _ => {
                let remedy = "add one, such as `poisson = { rate_per_s = 100 }`";
                let none = || SpecError::value("arrivals", "no process", "one process", remedy);
                Process::Queries(a.queries.clone().ok_or_else(none)?)
            }
        };
        let phases = changes::phases(file, &chosen)?;
        if !phases.is_empty() && !matches!(process, Process::Law(_)) {
            return Err(changes::not_shared(file));
        }
        Ok(OpenLoad {
            process,
            alone: chosen.iter().map(|&i| Alone::of(file, i)).collect(),
            names: chosen.iter().map(|&i| file.app[i].name.clone()).collect(),
            phases,
            replay: a.replay.clone(),
            chosen,
            requests: requests("arrivals.requests", a.requests)?,
            until: duration_s("arrivals.duration_s", a.duration_s)?,
            files: files.clone(),
        })
    }

    /// The law of the arrivals, where there is one.
    pub(super) fn law(&self) -> Option<&ArrivalLaw> {
        match &self.process {
            Process::Law(law) | Process::PerApp(law) => Some(law),
            _ => None,
        }
    }

    /// What a reader of the results should know of the load.
    pub(super) fn notes(&self, file: &ScenarioFile) -> Vec<String> {
        let arrivals = file.arrivals.as_ref();
        let name = match &self.process {
            Process::Workload(w) => Some(&w.file),
            Process::Llm(llm) => Some(&llm.file),
            _ => arrivals.and_then(|a| a.trace.as_ref()).map(|t| &t.file),
        };
        let note = self.note(file);
        note.into_iter().chain(name.map_or(Vec::new(), |name| self.files.said(name))).collect()
    }

    fn note(&self, file: &ScenarioFile) -> Option<String> {
        if let Process::Llm(llm) = &self.process {
            // Read for what is said of it.
            self.files.prompts("arrivals.llm.file", llm).ok()?;
        }
        if let Process::Workload(w) = &self.process {
            let foreign = self.files.workload("arrivals.workload.file", w).ok()??;
            return imported::note(w, &foreign.names, &self.names, &self.chosen);
        }
        let Process::Dealt { blocks, shape, order, .. } = &self.process else { return None };
        let trace = file.arrivals.as_ref()?.trace.as_ref()?;
        let rate = dealt_rate_per_s(blocks, shape);
        let mut shares = blocks.shares();
        let head: f64 = shares.iter().take(HEAD).sum();
        shares.sort_by(f64::total_cmp);
        let rule = match trace.rule {
            Some(Rule::Azure46000) => format!(", rule azure-46000 with sigma {}", trace.sigma),
            None => String::new(),
        };
        let order = match order {
            Order::Released => "released",
            Order::Shuffled => "shuffled",
        };
        Some(format!(
            "{}{rule}: {} functions in blocks on {} applications, order {order}, {rate:.1} requests/s; the busiest application has {:.1} % of the calls, the first {} have {:.1} %",
            trace.file,
            blocks.functions(),
            blocks.instances(),
            100.0 * shares.last().copied().unwrap_or(0.0),
            HEAD.min(blocks.instances()),
            100.0 * head,
        ))
    }

    /// The applications that send, among all of them.
    pub(super) fn senders(&self, apps: &[Application]) -> Vec<Application> {
        self.chosen.iter().filter_map(|&i| apps.get(i).cloned()).collect()
    }

    /// The source of a seed.
    pub(super) fn source(
        &self,
        apps: &[Application],
        seed: u64,
    ) -> Result<Box<dyn Source>, SpecError> {
        if let Some(replay) = &self.replay {
            return Ok(self.bounded(replayed(self.list(apps, seed)?, replay, seed)?, apps));
        }
        let senders = self.senders(apps);
        let inner: Box<dyn Source> = match &self.process {
            Process::Law(law) => {
                let process =
                    law.start_with(seed, 0, &self.files.gaps).map_err(|e| at_key("arrivals", e))?;
                let limited = Limited::new(process, self.until, self.requests);
                let open = OpenWorkload::in_phases(Box::new(limited), senders, &self.phases, seed);
                return Ok(Box::new(open.map_err(|e| at_key("arrivals", e))?));
            }
            Process::PerApp(law) => {
                let source = per_app(law, senders, seed, &self.files.gaps);
                Box::new(source.map_err(|e| at_key("arrivals", e))?)
            }
            Process::Functions { counted, shape } => {
                let Counted { invocations, ranks, .. } = &**counted;
                let of = |i: usize, _: &_| senders[ranks[i] % senders.len()].clone();
                let merged = MergedFunctions::from_invocations(invocations, *shape, seed, of);
                Box::new(merged.map_err(|e| at_key("arrivals.trace", e))?)
            }
            Process::Dealt { blocks, shape, order, seed: own } => {
                let order = trace::dealt_to(&self.names, *order, own.unwrap_or(seed));
                let apps = order.into_iter().map(|i| senders[i].clone()).collect();
                let dealt = Dealt::new(blocks.clone(), *shape, apps, seed);
                Box::new(dealt.map_err(|e| at_key("arrivals.trace", e))?)
            }
            Process::Spread { spread, sharing, others } => {
                let of = |numbers: &[usize]| -> Vec<Application> {
                    numbers.iter().filter_map(|&i| apps.get(i).cloned()).collect()
                };
                let source = Spreading::new(*spread, of(sharing), of(others), seed);
                Box::new(source.map_err(|e| at_key("arrivals.spread", e))?)
            }
            Process::Llm(llm) => self.prompts(llm, &senders)?,
            Process::Workload(workload) => self.written(workload, apps, seed)?,
            Process::Queries(queries) => self.recorded(queries, &senders)?,
        };
        Ok(self.bounded(inner, apps))
    }

    fn bounded(&self, inner: Box<dyn Source>, apps: &[Application]) -> Box<dyn Source> {
        let models: Vec<ModelId> = apps.iter().map(|a| a.model).collect();
        Box::new(Bounded::new(inner, self.requests, self.until, models))
    }

    /// All of the list behind `replay`, as it was written down.
    ///
    /// # Errors
    /// When it cannot be read, or has no rate.
    pub(super) fn list(&self, apps: &[Application], seed: u64) -> Result<List, SpecError> {
        let (requests, until) = (u64::MAX, Time::NEVER);
        let plain = OpenLoad { replay: None, requests, until, ..self.clone() };
        let read = || read_list(plain.source(apps, seed)?);
        match self.name(seed) {
            Some(name) => self.files.lists.last((name, apps), (List::requests, LISTS_MAX), read),
            None => read(),
        }
    }

    /// What tells its requests from others of the same applications, where files name them.
    fn name(&self, seed: u64) -> Option<String> {
        let file = match &self.process {
            Process::Llm(llm) => format!("{llm:?}"),
            Process::Workload(workload) => format!("{workload:?}"),
            Process::Queries(queries) => format!("{queries:?}"),
            _ => return None,
        };
        // Without times that are drawn every seed has the same.
        let seed_of_times = self.alone.contains(&Alone::Drawn).then_some(seed);
        Some(format!("{file}\n{:?}\n{:?}\n{seed_of_times:?}", self.chosen, self.alone))
    }

    fn prompts(
        &self,
        llm: &LlmArrivals,
        senders: &[Application],
    ) -> Result<Box<dyn Source>, SpecError> {
        let cost = TokenCost {
            base: span_ms("arrivals.llm.base_ms", llm.base_ms)?,
            per_context: span_ms("arrivals.llm.per_context_ms", llm.per_context_ms)?,
            per_generated: span_ms("arrivals.llm.per_generated_ms", llm.per_generated_ms)?,
        };
        let Some(a) = senders.first() else {
            return Err(SpecError::value("arrivals.apps", "none", "one application", "name it"));
        };
        let key = "arrivals.llm.file";
        let source = match self.files.prompts(key, llm)? {
            Some(records) => LlmSource::of(records, cost, a.app, a.model, a.slo),
            None => {
                Timestamps::only_foreign(llm.timestamps.as_ref(), "arrivals.llm.timestamps")?;
                let input = self.files.open(key, &llm.file)?;
                LlmSource::open(input, cost, a.app, a.model, a.slo)
            }
        };
        let source = source.map_err(self.files.unread("llm", &llm.file))?;
        let slice = slice("arrivals.llm.", llm.from_s, llm.to_s)?;
        part(source, slice, &llm.file)
    }

    fn written(
        &self,
        w: &WorkloadArrivals,
        apps: &[Application],
        seed: u64,
    ) -> Result<Box<dyn Source>, SpecError> {
        let key = "arrivals.workload.file";
        let foreign = self.files.workload(key, w)?;
        let slice = if w.from_row.is_some() || w.to_row.is_some() {
            Slice::Rows { from: w.from_row.unwrap_or(0), to: w.to_row.unwrap_or(u64::MAX) }
        } else {
            slice("arrivals.workload.", w.from_s, w.to_s)?
        };
        if let Some(foreign) = foreign {
            let senders = self.senders(apps);
            let whose = imported::whose(w, &foreign.names, &self.names, &self.chosen)?;
            let senders = whose.into_iter().map(|i| (senders[i].clone(), self.alone[i])).collect();
            return imported::source(w, &foreign, slice, senders, seed);
        }
        Timestamps::only_foreign(w.timestamps.as_ref(), "arrivals.workload.timestamps")?;
        let input = self.files.open(key, &w.file)?;
        let models = apps.iter().map(|a| a.model).collect();
        let source = CsvSource::open_for(input, slice, models);
        let source = source.map_err(self.files.unread("workload", &w.file))?;
        if !w.scenario_slos {
            return Ok(source);
        }
        let slos: Vec<Span> = apps.iter().map(|a| a.slo).collect();
        // `Bounded` refuses applications that the scenario lacks.
        let with_slo = move |arrival: &mut Arrival| {
            arrival.slo = slos.get(arrival.app.index()).copied().unwrap_or(arrival.slo);
        };
        Ok(Box::new(Changed::new(source, with_slo)))
    }

    fn recorded(
        &self,
        queries: &QueryArrivals,
        senders: &[Application],
    ) -> Result<Box<dyn Source>, SpecError> {
        let Some(a) = senders.first() else {
            return Err(SpecError::value("arrivals.apps", "none", "one application", "name it"));
        };
        let input = self.files.open("arrivals.queries.file", &queries.file)?;
        let alone = Span::from_ns_f64(a.law.quantile_ns(0.5));
        let asked = Asked { app: a.app, model: a.model, slo: a.slo, alone };
        let list = QueryList::open(input, asked);
        let list = list.map_err(self.files.unread("queries", &queries.file))?;
        let slice = slice("arrivals.queries.", queries.from_s, queries.to_s)?;
        part(list, slice, &queries.file)
    }

    /// The laws of the execution times that the arrivals carry, by application: every time with
    /// the frequency that it has among the first arrivals.
    pub(super) fn carried_laws(
        &self,
        file: &ScenarioFile,
        arrivals: &Arrivals,
        apps: &[Application],
    ) -> Result<BTreeMap<usize, ExecLaw>, SpecError> {
        let missing: Vec<usize> = carried(file, arrivals)
            .into_iter()
            .filter(|&i| file.app.get(i).is_some_and(|a| a.time.is_none()))
            .collect();
        let read = || self.laws_of(&missing, apps);
        match self.name(0).filter(|_| !missing.is_empty()) {
            Some(name) => self.files.carried.last((name, apps), (|_| 1, CARRIED_KEPT), read),
            None => Ok(BTreeMap::new()),
        }
    }

    fn laws_of(
        &self,
        missing: &[usize],
        apps: &[Application],
    ) -> Result<BTreeMap<usize, ExecLaw>, SpecError> {
        let mut counts: BTreeMap<usize, BTreeMap<u64, u64>> = BTreeMap::new();
        // Of the list itself: what is replayed, and how fast, changes no law.
        let mut source = OpenLoad { replay: None, ..self.clone() }.source(apps, 0)?;
        for _ in 0..CARRIED_MAX {
            let Some(a) = source.pop() else { break };
            *counts.entry(a.app.index()).or_default().entry(a.alone.ns()).or_insert(0) += 1;
        }
        if let Some(why) = source.failure() {
            let remedy = "repair the file, or choose a part that leaves the damage out";
            return Err(SpecError::value(
                "arrivals",
                why,
                "arrivals that fit the scenario",
                remedy,
            ));
        }
        let law = |i: usize| match counts.get(&i).and_then(Histogram::new) {
            Some(times) => Ok((i, ExecLaw::empirical(times))),
            None => {
                let remedy = "give it a `time`, so that policies get a profile, or remove it";
                let found = "nothing, and the arrivals have no request of it";
                let key = format!("app[{i}].time");
                Err(SpecError::value(key, found, "a distribution of execution times", remedy))
            }
        };
        missing.iter().copied().map(law).collect()
    }
}

/// The part of a list.
fn part(
    list: impl Source + 'static,
    slice: Slice,
    file: &str,
) -> Result<Box<dyn Source>, SpecError> {
    if slice == Slice::All {
        return Ok(Box::new(list));
    }
    Ok(Box::new(Part::of(list, slice, file).map_err(|e| at_key("arrivals", e))?))
}

fn read_list(source: Box<dyn Source>) -> Result<List, SpecError> {
    List::read(source).map_err(|e| at_key("arrivals", e))
}

/// The list as `replay` says.
fn replayed(list: List, replay: &ReplayArrivals, seed: u64) -> Result<Box<dyn Source>, SpecError> {
    let pace = replay.pace(list.rate_per_s());
    let how = replayed::How {
        stretch: 1.0 / pace.speed,
        copies: pace.copies,
        window: Span::from_secs_f64(replay.shift_s()),
        times: replay.times,
        block: replay.block_s.map(Span::from_secs_f64),
    };
    let source = Replayed::new(list, how, seed).map_err(|e| at_key("arrivals.replay", e))?;
    Ok(Box::new(source))
}
