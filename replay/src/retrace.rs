//! Decision by decision: the simulator, fed with what was measured of a run, must take the same decisions.
//!
//! ```text
//!  run ──┬─ inputs.csv:  when each was due, and when the controller handled it ─┐
//!        ├─ actions.csv: when each ended, its time on the device                ├─> simulate ─> the same log?
//!        └─ scenario, profile, policy, seed ────────────────────────────────────┘
//! ```
//!
//! The simulator finds by itself what is due next: it has its own queue, timers, windows and devices. It takes
//! only durations and instants from the run. So this needs no quiet machine: lateness is in both. It parts from
//! the run where the order of inputs differs or a decision does, and the first difference is told.

use crate::compare::{ActionRow, Side, decisions, first_difference, rows_csv};
use crate::driver::Handled;
use crate::error::Error;
use orrery_scenario::read_text;
use orrery_sim::core::{Begin, kind_of_rank, rank_of_kind};
use orrery_sim::driver::{Failure, Machine, Next, Took, World, simulate};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::Policy;
use orrery_sim::request::{ActionId, End, Source};
use orrery_sim::stalls::Stalls;
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What came out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct Retraced {
    /// Decisions of the run: batches, drops and stops.
    pub decisions: u64,
    /// The first difference; none where the simulator took the same decisions at the same instants.
    pub difference: Option<String>,
}

impl Retraced {
    /// In a sentence.
    pub fn line(&self) -> String {
        let Retraced { decisions, difference } = self;
        match difference {
            None => format!(
                "fed with what was measured, the simulator takes the same {decisions} decisions\n"
            ),
            Some(first) => format!(
                "fed with what was measured, the simulator does not take the same {decisions} \
                 decisions:\n{first}"
            ),
        }
    }
}

/// A line of `inputs.csv`.
#[derive(Deserialize, Serialize)]
struct Row {
    due_ns: u64,
    handled_ns: u64,
    kind: String,
    key: u64,
}

/// The text of `inputs.csv`.
pub fn inputs_csv(inputs: &[Handled]) -> String {
    rows_csv(inputs.iter().map(|Handled { due, at, rank }| {
        let (kind, key) = kind_of_rank(*rank);
        Row { due_ns: due.ns(), handled_ns: at.ns(), kind: kind.to_string(), key }
    }))
}

/// Reads an `inputs.csv`.
///
/// # Errors
/// When it cannot be read or a line is damaged.
pub fn read_inputs(file: &Path) -> Result<Vec<Handled>, Error> {
    let text = read_text(file)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let remedy = "run the replay again";
    let damaged = |line: u64, found: String| {
        let allowed = "the columns of docs/replay.md, whole";
        Error::in_file(file, format!("line {line}"), found, allowed, remedy)
    };
    let rows = reader.deserialize().zip(2u64..).map(|(row, line)| {
        let Row { due_ns, handled_ns, kind, key } =
            row.map_err(|e: csv::Error| damaged(line, e.to_string()))?;
        let rank = rank_of_kind(&kind, key);
        let rank = rank.ok_or_else(|| damaged(line, format!("an input `{kind}` {key}")))?;
        Ok(Handled { due: Time::from_ns(due_ns), at: Time::from_ns(handled_ns), rank })
    });
    rows.collect()
}

/// The machine of a run: it does again what was measured of it.
#[derive(Debug)]
struct Recorded {
    inputs: Vec<Handled>,
    took: BTreeMap<ActionId, Took>,
    /// A device failed, which ended the run.
    failed: bool,
    /// What the simulator had next, where it was not what the run had.
    parted: Mutex<Option<String>>,
}

impl Recorded {
    fn of(actions: &[ActionRow], inputs: &[Handled], failed: bool) -> Recorded {
        let took = actions.iter().zip(0u64..).map(|(a, number)| {
            let (end, device) = (Time::from_ns(a.end_ns), Span::from_ns(a.device_ns));
            (ActionId(a.action), Took { end, device, learned: Some((a.learned, number)) })
        });
        let (inputs, took) = (inputs.to_vec(), took.collect());
        Recorded { inputs, took, failed, parted: Mutex::new(None) }
    }

    fn part(&self, why: String) -> Option<Time> {
        *self.parted.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        None
    }
}

fn words(due: Time, rank: u64) -> String {
    let (kind, key) = kind_of_rank(rank);
    format!("{kind} {key}, due at {due}")
}

impl Machine for Recorded {
    fn handles(&self, next: Next) -> Option<Time> {
        let Next { number, due, rank } = next;
        match self.inputs.get(number as usize) {
            Some(theirs) if (theirs.due, theirs.rank) == (due, rank) && theirs.at >= due => {
                Some(theirs.at)
            }
            Some(theirs) => {
                let (run, at) = (words(theirs.due, theirs.rank), theirs.at);
                let ours = words(due, rank);
                self.part(format!(
                    "input {number}: the run handled {run}, at {at}; the simulator has {ours}, next\n"
                ))
            }
            None if self.failed => None,
            None => {
                let ours = words(due, rank);
                self.part(format!(
                    "the run was over after {number} inputs; the simulator has {ours}, next\n"
                ))
            }
        }
    }

    fn takes(&self, _: Time, begin: &Begin, _: Span) -> Option<Took> {
        self.took.get(&begin.action).copied()
    }
}

/// What is told of a run: everything but what is still alive at its end, and the end.
fn told(records: &[Record]) -> &[Record] {
    let over =
        |r: &Record| matches!(r, Record::Finish { .. } | Record::End { end: End::Pending, .. });
    let left = records.iter().rev().take_while(|r| over(r)).count();
    &records[..records.len() - left]
}

/// Simulates a measured run again, in the world of its driver. Sources and policy are the run's, in their first
/// state; a run that a failing device ended is followed up to there.
///
/// # Errors
/// When a source fails.
pub fn retrace<'w>(
    world: &World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: Box<dyn Policy>,
    run: &Side,
    inputs: &[Handled],
    failed: bool,
) -> Result<Retraced, Failure> {
    let actions = run.actions.as_deref().unwrap_or_default();
    let machine = Arc::new(Recorded::of(actions, inputs, failed));
    let known: Arc<dyn Machine> = machine.clone();
    let world = World { machine: Some(known), stalls: Stalls::default(), ..world.clone() };
    let again = simulate(&world, sources, policy, MemoryLog::default());
    if let Some(failure) = again.failure {
        return Err(failure);
    }
    let parted = machine.parted.lock().unwrap_or_else(PoisonError::into_inner).take();
    let handled = again.events as usize;
    let parted = parted.or((handled < inputs.len()).then(|| {
        let Handled { due, rank, .. } = inputs[handled];
        format!(
            "input {handled}: the run handled {}; the simulator has nothing more\n",
            words(due, rank)
        )
    }));
    let ours = Side { names: run.names.clone(), ..Side::of(again.observer.records, None, 0) };
    let (a, b) = (told(&ours.records), told(&run.records));
    let same = parted.is_none() && a == b;
    let difference = (!same).then(|| {
        let text = parted.unwrap_or_default();
        let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let show = |r: Option<&Record>| r.map_or("nothing".to_string(), Record::to_string);
        let records = format!(
            "record {at}: the run has {}, the simulator {}\n",
            show(b.get(at)),
            show(a.get(at))
        );
        text + &first_difference(&ours, run).unwrap_or(records)
    });
    Ok(Retraced { decisions: decisions(run), difference })
}
