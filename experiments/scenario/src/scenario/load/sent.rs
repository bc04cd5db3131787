//! The sizes of the requests that a scenario sends to each model: drawn from a law, always the same, or
//! as a recorded list has them. What a pool's base kind is chosen by, and how far policies are told
//! latencies.
//!
//! It is no source: nothing here moves what a run draws.

use super::OpenLoad;
use crate::scenario::file::ScenarioFile;
use crate::scenario::process::Process;
use orrery_run::SpecError;
use orrery_sim::request::SIZE_MAX;
use orrery_sim::rng::Stream;
use orrery_traces::query_sizes::SizeLaw;
use orrery_traces::workload::Application;
use std::collections::{BTreeMap, BTreeSet};

/// Sizes drawn from a law to see what is typical of it.
const DRAWS: u32 = 2_000;

/// The sizes of one model's requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sent {
    /// Each with its share of the model's requests, in any unit.
    parts: Vec<(f64, Sizes)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Sizes {
    Law(SizeLaw),
    /// How often each is in a list.
    Recorded(BTreeMap<u32, u64>),
    /// A list that was not read: any size.
    Any,
}

/// What is sent, by model. `laws` is by application; `closed` are those that send in a closed loop. A
/// list is read to its end where there is a kind to choose, and left alone where there is one only.
///
/// # Errors
/// When a recorded list cannot be opened. What is wrong further down in it is the run's to tell.
pub(crate) fn sent(
    file: &ScenarioFile,
    open: Option<&OpenLoad>,
    closed: &[Application],
    apps: &[Application],
    laws: &[Option<SizeLaw>],
) -> Result<Vec<Sent>, SpecError> {
    let law = |a: &Application| laws.get(a.app.index()).cloned().flatten();
    let own = |a: &Application| law(a).unwrap_or(SizeLaw::Constant(a.size));
    let mut all = vec![Sent::default(); file.model.len()];
    let mut add = |a: &Application, weight: f64, sizes: Sizes| {
        all[a.model.index()].parts.push((weight, sizes));
    };
    for a in closed {
        add(a, a.weight, Sizes::Law(own(a)));
    }
    let Some(open) = open else { return Ok(all) };
    let senders = open.senders(apps);
    let choice =
        file.device.len() > 1 || file.device.iter().any(|d| d.price_usd_per_hour.is_some());
    match &open.process {
        Process::Queries(_) | Process::Workload(_) if !choice => {
            senders.iter().for_each(|a| add(a, a.weight, Sizes::Any));
        }
        Process::Queries(_) | Process::Workload(_) => {
            // A list of queries has sizes of its own; of a workload's, a law takes the place.
            let is_list = matches!(open.process, Process::Queries(_));
            let recorded = recorded(open, apps)?;
            let requests = |counts: &BTreeMap<u32, u64>| counts.values().sum::<u64>() as f64;
            let total: f64 = recorded.values().map(requests).sum();
            let weight: f64 = apps.iter().map(|a| a.weight).sum();
            for (app, counts) in recorded {
                let share = weight * requests(&counts) / total;
                let sizes = match law(&apps[app]).filter(|_| !is_list) {
                    Some(law) => Sizes::Law(law),
                    None => Sizes::Recorded(counts),
                };
                add(&apps[app], share, sizes);
            }
        }
        Process::Llm(_) => {
            let a = senders.first();
            a.iter().for_each(|a| {
                add(a, a.weight, Sizes::Law(law(a).unwrap_or(SizeLaw::Constant(1))));
            });
        }
        Process::Law(_)
        | Process::PerApp(_)
        | Process::Functions { .. }
        | Process::Spread { .. }
        | Process::Dealt { .. } => {
            senders.iter().for_each(|a| add(a, a.weight, Sizes::Law(own(a))));
        }
    }
    Ok(all)
}

/// How often each size is in a list, by application.
fn recorded(
    open: &OpenLoad,
    apps: &[Application],
) -> Result<BTreeMap<usize, BTreeMap<u32, u64>>, SpecError> {
    let mut counts: BTreeMap<usize, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut source = open.source(apps, 0)?;
    while let Some(a) = source.pop() {
        *counts.entry(a.app.index()).or_default().entry(a.size).or_insert(0) += 1;
    }
    Ok(counts)
}

impl Sent {
    /// The largest size; none where nothing is sent.
    pub fn largest(&self) -> Option<u32> {
        let of = |sizes: &Sizes| match sizes {
            Sizes::Law(law) => Some(law.largest()),
            Sizes::Recorded(counts) => counts.keys().next_back().copied(),
            Sizes::Any => Some(SIZE_MAX),
        };
        self.parts.iter().filter_map(|(_, sizes)| of(sizes)).max()
    }

    /// Every size that may come.
    pub fn distinct(&self) -> BTreeSet<u32> {
        let of = |sizes: &Sizes| -> Vec<u32> {
            match sizes {
                Sizes::Law(SizeLaw::Constant(size)) => vec![*size],
                Sizes::Law(law) => (1..=law.largest()).collect(),
                Sizes::Recorded(counts) => counts.keys().copied().collect(),
                Sizes::Any => Vec::new(),
            }
        };
        self.parts.iter().flat_map(|(_, sizes)| of(sizes)).collect()
    }

    /// The sum over the applications of their weight times the mean of a quantity of the size. Draws
    /// are the model's own.
    pub fn mean(&self, model: usize, of: impl Fn(u32) -> f64) -> f64 {
        let mut drawn = Stream::named(0, "base kind", model as u64);
        let mut mean = |sizes: &Sizes| match sizes {
            Sizes::Law(SizeLaw::Constant(size)) => of(*size),
            Sizes::Law(law) => {
                (0..DRAWS).map(|_| of(law.draw(&mut drawn))).sum::<f64>() / f64::from(DRAWS)
            }
            Sizes::Recorded(counts) => {
                let sum: f64 = counts.iter().map(|(&size, &n)| n as f64 * of(size)).sum();
                sum / counts.values().sum::<u64>() as f64
            }
            Sizes::Any => 0.0,
        };
        self.parts.iter().map(|(weight, sizes)| weight * mean(sizes)).sum()
    }
}
