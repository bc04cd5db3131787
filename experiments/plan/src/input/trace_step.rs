//! The arrivals that a trace itself has in a step of its day, with its bursts.
//!
//! ```text
//!  trace   |··step 0··|··step 1··|··step 2··|   at a rate: its counts are scaled, of a list there are
//!                                              more copies, or it is as much faster
//!                     └── run ───┘              repeated while it has fewer requests than a simulation
//! ```
//!
//! A pool of all models has the trace in its own scenario. One of some models gets those requests of the whole trace that
//! are for them: what they get follows from the trace, and not from a process of the same kind at a part of the rate.

use crate::input::day::OwnSteps;
use crate::input::origin::written;
use orrery_run::{Setup, SpecError};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::ScenarioFile;
use orrery_sim::driver::Failure;
use orrery_sim::request::{AppId, Arrival, ModelId, Source, VecSource};
use orrery_sim::time::{Span, Time};
use orrery_sweep::hash::Hasher;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// A step is repeated so many times at most.
pub const REPEATED_MAX: u64 = 100;
/// Of one step in memory.
const ARRIVALS_MAX: usize = 10_000_000;
/// Between the seeds of two repetitions.
const NEXT_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The trace of all models, where pools have some of them.
#[derive(Clone, Debug)]
pub struct Trace {
    file: ScenarioFile,
    /// The plan's scenario: files that it has read are not read again.
    read: Scenario,
    /// Its mean rate at the plan's load.
    mean_per_s: f64,
    /// So many times as often do models with a rate of their own come as in the trace.
    own: BTreeMap<String, f64>,
}

/// A load, and the requests of it that a pool gets.
pub struct Load<'a> {
    setup: Cow<'a, Setup>,
    /// By application of the load, what the pool calls it and its model; all as they are where there is none.
    theirs: Option<Vec<Option<(AppId, ModelId)>>>,
}

impl Trace {
    /// Of a scenario with a trace, whatever its limits are: steps have their own.
    pub fn new(
        file: &ScenarioFile,
        read: &Scenario,
        mean_per_s: f64,
        own: BTreeMap<String, f64>,
    ) -> Trace {
        let mut file = file.clone();
        // Which device fits is not asked here.
        (file.allow_hopeless_slo, file.until_s) = (true, None);
        if let Some(arrivals) = &mut file.arrivals {
            (arrivals.requests, arrivals.duration_s) = (None, None);
        }
        Trace { file, read: read.clone(), mean_per_s, own }
    }

    /// Its mean rate, with so many times the load of a group.
    pub fn mean_per_s(&self, times: f64) -> f64 {
        self.mean_per_s * times
    }

    /// What a pool of some models gets of it with so many times its load: models that come as much more often together.
    /// An application is given the pool's own numbers of it and of its model, where it has it.
    ///
    /// # Errors
    /// When the trace cannot be read, or its rate is out of range.
    pub fn loads(
        &self,
        (models, app): (&[String], impl Fn(&str) -> Option<(AppId, ModelId)>),
        times: f64,
        seed: u64,
    ) -> Result<Vec<Load<'static>>, SpecError> {
        let factor = |model: &str| self.own.get(model).copied().unwrap_or(1.0);
        let mut factors: Vec<f64> = models.iter().map(|model| factor(model)).collect();
        factors.sort_by(f64::total_cmp);
        factors.dedup();
        let base = self.read.instead(&written(&self.file)?)?;
        let of = |by: f64| -> Result<_, SpecError> {
            let setup = base.with_rate(self.mean_per_s(times) * by)?.setup(seed)?;
            let apps = self.file.app.iter();
            let theirs = apps.map(|a| app(&a.name).filter(|_| factor(&a.model) == by));
            Ok(Load { setup: Cow::Owned(setup), theirs: Some(theirs.collect()) })
        };
        factors.into_iter().map(of).collect()
    }
}

impl<'a> Load<'a> {
    /// All of it.
    pub fn whole(setup: &'a Setup) -> Load<'a> {
        Load { setup: Cow::Borrowed(setup), theirs: None }
    }

    /// An arrival as the pool calls it; none where the pool does not get it.
    fn theirs(&self, arrival: Arrival) -> Option<Arrival> {
        let Some(theirs) = &self.theirs else { return Some(arrival) };
        let (app, model) = theirs.get(arrival.app.index()).copied().flatten()?;
        Some(Arrival { app, model, ..arrival })
    }
}

impl OwnSteps {
    /// When a step begins and the next one does, in a trace with this mean rate.
    pub fn window(&self, step: u32, mean_per_s: f64) -> (Time, Time) {
        let faster = self.list_per_s.map_or(1.0, |list| mean_per_s / list);
        let length = self.length.scale(1.0 / faster).ns();
        let at = |n: u32| u128::from(length) * u128::from(n) / u128::from(self.steps);
        (Time::from_ns(at(step) as u64), Time::from_ns(at(step + 1) as u64))
    }

    /// The arrivals of a step, from 0 on, of a trace that is set up with this mean rate; repeated until there are `least`,
    /// each time with the next draw where the trace leaves something to chance.
    ///
    /// # Errors
    /// When the trace cannot be read, or the step has too many.
    pub fn arrivals(
        &self,
        loads: &[Load<'_>],
        step: u32,
        (mean_per_s, least): (f64, u64),
        seed: u64,
    ) -> Result<Vec<Arrival>, SpecError> {
        let (from, to) = self.window(step, mean_per_s);
        let mut all = between(loads, seed, (from, to))?;
        let times = least.div_ceil((all.len() as u64).max(1)).clamp(1, REPEATED_MAX);
        for round in 1..times {
            if all.len() as u64 >= least {
                break;
            }
            let seed = seed.wrapping_add(round.wrapping_mul(NEXT_SEED));
            let next = between(loads, seed, (from, to))?;
            all.extend(later(next, to.since(from) * round));
        }
        Ok(all)
    }
}

/// The arrivals of a step that a pool meets: with which kinds of devices, in which step, at which rate, with which seed.
pub type Met = (Vec<bool>, u32, u64, u64);

/// Arrivals, and their hash.
#[derive(Clone, Debug)]
pub struct HashedArrivals {
    /// The arrivals in the order of time.
    pub all: Vec<Arrival>,
    /// The hash of all arrivals.
    pub sha256: String,
}

impl HashedArrivals {
    /// Hashes arrivals.
    pub fn new(all: Vec<Arrival>) -> HashedArrivals {
        let mut hash = Hasher::default();
        for Arrival { at, app, model, size, slo, alone } in &all {
            let (app, model, size) = (app.0.into(), model.0.into(), (*size).into());
            for number in [at.ns(), app, model, size, slo.ns(), alone.ns()] {
                hash.add(&number.to_le_bytes());
            }
        }
        HashedArrivals { sha256: hash.sha256(), all }
    }
}

/// The arrivals of steps that were asked for last: pools of any size meet the same, under every policy.
#[derive(Debug, Default)]
pub struct KeptSteps(Mutex<BTreeMap<Met, Arc<HashedArrivals>>>);

/// Of all kept steps together: 80 MB.
const KEPT_MAX: usize = 2_000_000;

/// A clone may be changed, and then has other arrivals: it keeps none.
impl Clone for KeptSteps {
    fn clone(&self) -> KeptSteps {
        KeptSteps::default()
    }
}

impl KeptSteps {
    /// The arrivals of a step, read if they are not kept.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn once(
        &self,
        met: Met,
        read: impl FnOnce() -> Result<Vec<Arrival>, SpecError>,
    ) -> Result<Arc<HashedArrivals>, SpecError> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(&met).cloned();
        if let Some(own) = known {
            return Ok(own);
        }
        let own = Arc::new(HashedArrivals::new(read()?));
        let mut kept = kept();
        if kept.values().map(|own| own.all.len()).sum::<usize>() + own.all.len() > KEPT_MAX {
            kept.clear();
        }
        kept.insert(met, own.clone());
        Ok(own)
    }
}

/// The arrivals of loads from a time on until another, counted from the first.
///
/// # Errors
/// When a file is damaged, or there are too many.
pub fn between(
    loads: &[Load<'_>],
    seed: u64,
    (from, to): (Time, Time),
) -> Result<Vec<Arrival>, SpecError> {
    let mut all = Vec::new();
    for load in loads {
        for mut source in load.setup.sources(seed)? {
            while source.peek().is_some_and(|at| at < to) {
                let Some(arrival) = source.pop() else { break };
                let Some(arrival) = load.theirs(arrival).filter(|a| a.at >= from) else { continue };
                if all.len() == ARRIVALS_MAX {
                    let found = format!("more than {ARRIVALS_MAX} requests in a step");
                    let remedy = "take more steps, or a shorter part of the trace";
                    let allowed = format!("at most {ARRIVALS_MAX}: they are kept in memory");
                    return Err(SpecError::value("day.trace_steps", found, allowed, remedy));
                }
                all.push(Arrival { at: Time::ZERO + arrival.at.since(from), ..arrival });
            }
            if let Some(why) = source.failure() {
                return Err(load.setup.failed(&Failure::Source(why)));
            }
        }
    }
    all.sort_by_key(|arrival| arrival.at);
    Ok(all)
}

/// All requests of a load, one after the other.
///
/// # Errors
/// When its file is damaged.
pub fn each(load: &Setup, seed: u64) -> Result<impl Iterator<Item = Arrival>, SpecError> {
    let all = |mut source: Box<dyn Source>| {
        std::iter::from_fn(move || source.peek().and_then(|_| source.pop()))
    };
    Ok(load.sources(seed)?.into_iter().flat_map(all))
}

/// By model, how many requests arrive from a time on.
pub fn counted(all: impl Iterator<Item = Arrival>, from: Time, models: usize) -> Vec<f64> {
    let mut counts = vec![0.0; models];
    for arrival in all.filter(|arrival| arrival.at >= from) {
        counts[arrival.model.index()] += 1.0;
    }
    counts
}

/// Arrivals that come so much later.
pub fn later(all: Vec<Arrival>, by: Span) -> impl Iterator<Item = Arrival> {
    all.into_iter().map(move |arrival| Arrival { at: arrival.at + by, ..arrival })
}

/// Puts arrivals in the place of a setup's load.
pub fn put(setup: &mut Setup, arrivals: Vec<Arrival>) {
    let source = VecSource::new(arrivals);
    setup.places.truncate(1);
    setup.workload = orrery_run::setup::Workload::Sources(Rc::new(move |_| {
        Ok(vec![Box::new(source.clone()) as Box<dyn Source>])
    }));
}
