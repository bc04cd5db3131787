//! The wall-clock driver against the simulator: on a clock that goes from instant to instant, and
//! with a device that takes as long as the model says, both tell the same story.
//!
//! Real threads, queues, executors and lateness code are under test; only clock and durations are
//! not real. Three faults put into the driver must each break the equality.

use crate::differential::cases::{Case, ticks};
use crate::differential::{Make, policies};
use orrery_replay::clock::VirtualClock;
use orrery_replay::compare::{ActionRow, Side};
use orrery_replay::device::emulated::{Durations, Emulated};
use orrery_replay::device::{Device, DeviceError, Job, Work};
use orrery_replay::driver::planned::Plan;
use orrery_replay::driver::{Mutation, Options, Replayed, Verdict, replay};
use orrery_replay::quantiles::Quantiles;
use orrery_replay::retrace::{Retraced, retrace};
use orrery_sim::audit::Auditor;
use orrery_sim::cluster::{DeviceSpec, Sharing};
use orrery_sim::core::DeviceChange;
use orrery_sim::driver::{World, simulate};
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::policy::Policy;
use orrery_sim::request::DeviceId;
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Takes exactly as long as the simulator's device: for this test and no other use.
struct AsSimulated(World);

impl Durations for AsSimulated {
    fn duration(&self, job: &Job) -> Span {
        match job.work {
            Work::Batch { model, units, longest, first, .. } => {
                let law = &self.0.latency[job.kind as usize][model.index()];
                self.0.noise.apply(law.of_batch(units, longest, first), first.0)
            }
            Work::Load { time, .. } => time,
        }
    }
    fn describe(&self) -> String {
        "as simulated".to_string()
    }
}

/// A case in which every action takes time, as it does on every device: what ends at the instant at
/// which it begins has no place of its own in that instant.
fn case(seed: u64) -> Case {
    let mut case = Case::new(seed);
    let delays = &mut case.world.core.delays;
    if delays.fetch_per_request == Span::ZERO {
        delays.fetch_per_request = ticks(1);
    }
    for model in &mut case.world.core.models {
        model.load = model.load.max(ticks(1));
    }
    // A device of its own takes as long as it takes: the replay refuses those that batches share.
    let world = &mut case.world;
    let of_changes = world.changes.iter_mut().filter_map(|(_, change)| match change {
        DeviceChange::Added(spec) => Some(spec),
        _ => None,
    });
    let later = world.provision.iter_mut().map(|p| &mut p.0).chain(of_changes);
    world.core.devices.iter_mut().chain(later).for_each(|spec| spec.sharing = Sharing::None);
    case
}

type Replay = Replayed<Box<dyn Policy>, MemoryLog>;

fn replayed(case: &Case, policy: Box<dyn Policy>, mutation: Option<Mutation>) -> Replay {
    let clock = VirtualClock::new();
    let world = &case.world;
    let mut rig = |_: DeviceId, spec: &DeviceSpec| -> Result<Box<dyn Device>, DeviceError> {
        let durations = Arc::new(AsSimulated(world.clone()));
        Ok(Box::new(Emulated::new(durations, spec.can_preempt)))
    };
    let options = Options { mutation, ..Options::default() };
    let log = MemoryLog::default();
    replay(world, case.sources(), policy, log, &mut rig, &clock, &options).expect("a device")
}

fn first_difference(case: &Case, make: &Make, m: Option<Mutation>) -> Option<String> {
    let ours = replayed(case, make(case), m).run.observer.records;
    let theirs = simulate(&case.world, case.sources(), make(case), MemoryLog::default());
    let theirs = theirs.observer.records;
    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b);
    let at = at.or((ours.len() != theirs.len()).then(|| ours.len().min(theirs.len())))?;
    let show = |r: Option<&Record>| r.map_or("nothing".to_string(), Record::to_string);
    Some(format!(
        "record {at}: replayed {}, simulated {}",
        show(ours.get(at)),
        show(theirs.get(at))
    ))
}

fn cases() -> u64 {
    std::env::var("ORRERY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(80)
}

#[test]
fn on_a_virtual_clock_the_replay_is_the_simulation() {
    for seed in 0..cases() {
        for policy in policies() {
            let case = case(seed);
            if let Some(difference) = first_difference(&case, &policy.make, None) {
                panic!("{} on case {seed}: {difference}", policy.name);
            }
        }
    }
}

#[test]
fn three_faults_in_the_driver_are_seen() {
    let faults = [Mutation::ResultsAfterArrivals, Mutation::LateWindows, Mutation::TimersStay];
    for fault in faults {
        let seen = (0..50).any(|seed| {
            policies().iter().any(|p| first_difference(&case(seed), &p.make, Some(fault)).is_some())
        });
        assert!(seen, "{fault:?} changes nothing");
    }
}

#[test]
fn nobody_is_late_on_a_virtual_clock_and_all_that_ran_is_measured() {
    for seed in 0..20 {
        let case = case(seed);
        let fifo = policies().into_iter().find(|p| p.name == "fifo").expect("fifo");
        let replay = replayed(&case, (fifo.make)(&case), None);
        let on_time = |q: &Quantiles| q.max_ns == 0;
        let late = &replay.lateness;
        assert!(on_time(&late.arrivals) && on_time(&late.decisions) && on_time(&late.launches));
        assert_eq!(late.verdict, Verdict::Valid);
        let records = &replay.run.observer.records;
        let begun = records.iter().filter(|r| matches!(r, Record::Begin { .. })).count();
        let measured = replay.actions.iter().filter(|a| !a.load && !a.stopped).count();
        // Devices that fail, and a run that is stopped, leave jobs that nobody waits for.
        let is_cut = case.world.until.is_some() || !case.world.changes.is_empty();
        assert!(measured == begun || is_cut && measured < begun, "{measured} of {begun}");
        let mut auditor = Auditor::on_a_wall_clock();
        records.iter().cloned().for_each(|r| auditor.record(r));
        assert!(auditor.finish().is_clean());
    }
}

/// What the simulator makes of a replay when it is fed with what was measured of it.
fn retraced(case: &Case, make: &Make, mutation: Option<Mutation>) -> Retraced {
    let replay = replayed(case, make(case), mutation);
    let actions = replay.actions.iter().map(|a| ActionRow::of(a, &[])).collect();
    let run = Side::of(replay.run.observer.records, Some(actions), 0);
    retrace(&case.world, case.sources(), make(case), &run, &replay.inputs, false)
        .expect("sources that do not fail")
}

#[test]
fn fed_with_what_was_measured_the_simulator_takes_the_same_decisions() {
    let mut decisions = 0;
    for seed in 0..cases() / 4 {
        for policy in policies() {
            let retraced = retraced(&case(seed), &policy.make, None);
            if let Some(difference) = retraced.difference {
                panic!("{} on case {seed}: {difference}", policy.name);
            }
            decisions += retraced.decisions;
        }
    }
    assert!(decisions > 1_000, "{decisions}");
}

#[test]
fn a_fault_in_the_driver_parts_the_simulator_from_the_run() {
    let faults = [Mutation::ResultsAfterArrivals, Mutation::LateWindows, Mutation::TimersStay];
    for fault in faults {
        let told = (0..50).find_map(|seed| {
            let policies = policies();
            policies.iter().find_map(|p| retraced(&case(seed), &p.make, Some(fault)).difference)
        });
        let told = told.unwrap_or_else(|| panic!("{fault:?} changes nothing"));
        assert!(told.contains("the simulator has"), "{fault:?}: {told}");
    }
}

/// When each batch of which requests began where, and how and when each request ended.
fn facts(records: &[Record]) -> Vec<String> {
    let mut batches = BTreeMap::new();
    let mut facts = Vec::new();
    for record in records {
        match record {
            Record::Issue { batch, .. } => {
                batches.insert(batch.action, (batch.device, batch.lane, &batch.requests));
            }
            Record::Begin { time, action } => facts.push(format!("{time} {:?}", batches[action])),
            Record::End { .. } => facts.push(record.to_string()),
            _ => {}
        }
    }
    facts.sort();
    facts
}

#[test]
fn a_plan_that_is_followed_exactly_gives_the_same_batches() {
    let mut followed = 0;
    for seed in 0..60 {
        let mut case = case(seed);
        let simple = case.world.changes.is_empty()
            && case.world.until.is_none()
            && case.world.core.devices.iter().all(|d| d.memory_pages.is_none());
        if !simple {
            continue;
        }
        let fetch = case.world.core.delays.fetch_per_request;
        case.world.core.delays = Default::default();
        case.world.core.delays.fetch_per_request = fetch;
        let fifo = policies().into_iter().find(|p| p.name == "fifo").expect("fifo");
        let log = simulate(&case.world, case.sources(), (fifo.make)(&case), MemoryLog::default());
        let plan = Plan::from_records(&log.observer.records);
        let again = replayed(&case, Box::new(plan.policy()), None).run.observer.records;
        let replayed = facts(&again);
        assert_eq!(facts(&log.observer.records), replayed, "case {seed}");
        followed += 1;
    }
    assert!(followed > 5, "only {followed} cases were simple enough");
}
