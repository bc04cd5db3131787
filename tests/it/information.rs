//! What a policy may know: the past and its profile. Nothing of a truth before it is out.
//!
//! ```text
//!             a run                 T
//!   ──────────────────────────────────┼──────────────────────────────────>
//!    decisions: must not change       │  may change
//!    times of requests done before T: │  times of the others are changed
//!    untouched                        │
//! ```
//!
//! It cannot see what a policy would know of a request that it never looks at.

use crate::determinism::{crowded, every_policy, policy};
use orrery_run::setup::{Setup, Workload};
use orrery_sim::latency::Noise;
use orrery_sim::log::{Closed, MemoryLog, Record};
use orrery_sim::request::{ActionId, Arrival, RequestId, Source, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const REQUESTS: u64 = 300;
const SEEDS: u64 = 8;

/// The setup of these tests: the profile is measured with few batches, so that it differs by seed.
fn setup() -> Setup {
    let mut setup = crowded(REQUESTS);
    setup.profile.batches = 20;
    setup
}

fn arrivals(setup: &Setup, seed: u64) -> Vec<Arrival> {
    let mut sources = setup.sources(seed).expect("sources");
    std::iter::from_fn(|| sources[0].pop()).collect()
}

/// The setup with these arrivals and no others.
fn with_arrivals(setup: &Setup, arrivals: Vec<Arrival>) -> Setup {
    let make = move |_: u64| {
        let source: Box<dyn Source> = Box::new(VecSource::new(arrivals.clone()));
        Ok(vec![source])
    };
    Setup { workload: Workload::Sources(Rc::new(make)), ..setup.clone() }
}

fn log(setup: &Setup, text: &str, seed: u64) -> Vec<Record> {
    let run = setup.run_with(&policy(text), seed, MemoryLog::default());
    run.unwrap_or_else(|e| panic!("{e}")).observer.1.records
}

fn lines(records: &[Record]) -> Vec<String> {
    records.iter().map(Record::to_string).collect()
}

fn before(records: &[Record], t: Time) -> &[Record] {
    let n = records.iter().take_while(|r| r.time() < t).count();
    &records[..n]
}

/// When each batch began and closed as done, and what was in it.
#[derive(Default)]
struct Batches {
    requests: BTreeMap<ActionId, Vec<RequestId>>,
    began: BTreeMap<ActionId, Time>,
    done: BTreeMap<ActionId, (Time, Span)>,
}

impl Batches {
    fn of(records: &[Record]) -> Batches {
        let mut all = Batches::default();
        for record in records {
            match record {
                Record::Issue { batch, .. } => {
                    all.requests.insert(batch.action, batch.requests.clone());
                }
                Record::Begin { time, action } if all.requests.contains_key(action) => {
                    all.began.insert(*action, *time);
                }
                Record::Close { time, action, outcome: Closed::Done(device) }
                    if all.requests.contains_key(action) =>
                {
                    all.done.insert(*action, (*time, *device));
                }
                _ => {}
            }
        }
        all
    }

    fn requests_of<'a>(&'a self, actions: impl Iterator<Item = &'a ActionId>) -> BTreeSet<usize> {
        actions.flat_map(|a| &self.requests[a]).map(|r| r.index()).collect()
    }

    /// The requests of batches that began before `t`.
    fn begun_before(&self, t: Time) -> BTreeSet<usize> {
        self.requests_of(self.began.iter().filter(|b| *b.1 < t).map(|b| b.0))
    }

    /// The requests of batches that were done before `t`.
    fn done_before(&self, t: Time) -> BTreeSet<usize> {
        self.requests_of(self.done.iter().filter(|d| d.1.0 < t).map(|d| d.0))
    }
}

/// A change of truths that are not out by an instant.
type Change = fn(&mut [Arrival], &Batches, Time, &mut Stream);

/// Shuffles the times of the requests that no batch had begun with.
fn shuffle_waiting(arrivals: &mut [Arrival], batches: &Batches, t: Time, stream: &mut Stream) {
    let begun = batches.begun_before(t);
    let waiting: Vec<usize> = (0..arrivals.len()).filter(|i| !begun.contains(i)).collect();
    for i in (1..waiting.len()).rev() {
        let j = stream.below(i as u64 + 1) as usize;
        let (a, b) = (waiting[i], waiting[j]);
        (arrivals[a].alone, arrivals[b].alone) = (arrivals[b].alone, arrivals[a].alone);
    }
}

/// Lengthens the requests that are not done: those that run then end later still.
fn lengthen_unfinished(arrivals: &mut [Arrival], batches: &Batches, t: Time, _: &mut Stream) {
    let done = batches.done_before(t);
    for (_, arrival) in arrivals.iter_mut().enumerate().filter(|(i, _)| !done.contains(i)) {
        arrival.alone = arrival.alone.scale(3.0);
    }
}

/// What a change did to a run: whether the records before the instant, and those after it, differ.
struct Effect {
    t: Time,
    before: (Vec<String>, Vec<String>),
    after: bool,
    decisions: usize,
}

fn effect(text: &str, seed: u64, change: Change) -> Effect {
    let setup = setup();
    let mut truths = arrivals(&setup, seed);
    let original = log(&with_arrivals(&setup, truths.clone()), text, seed);
    let batches = Batches::of(&original);
    let mut stream = Stream::named(seed, "information", 0);
    let end = original.last().map_or(Time::ZERO, Record::time);
    let t = Time::ZERO + (end - Time::ZERO).scale(0.1 + 0.7 * stream.uniform());
    change(&mut truths, &batches, t, &mut stream);
    let changed = log(&with_arrivals(&setup, truths), text, seed);
    let is_decision = |r: &&Record| matches!(r, Record::Issue { .. });
    Effect {
        t,
        before: (lines(before(&original, t)), lines(before(&changed, t))),
        after: original != changed,
        decisions: before(&original, t).iter().filter(is_decision).count(),
    }
}

fn no_decision_depends_on_the_future(change: Change) {
    // As released Shepherd soon runs nothing more here, so that no change can matter.
    let mended = ["preset=paper", "expired_head_bug=false"];
    let stalls = |p: &str| p.starts_with("shepherd") && !mended.iter().any(|m| p.contains(m));
    for text in every_policy().iter().filter(|p| *p != "oracle" && !stalls(p)) {
        let (mut decisions, mut after) = (0, 0);
        for seed in 0..SEEDS {
            let effect = effect(text, seed, change);
            let (old, new) = &effect.before;
            if let Some(i) = (0..old.len().max(new.len())).find(|&i| old.get(i) != new.get(i)) {
                let (old, new) = (old.get(i), new.get(i));
                panic!(
                    "{text}, seed {seed}: record {i}, before {}: {old:?}, now {new:?}",
                    effect.t
                );
            }
            decisions += effect.decisions;
            after += u64::from(effect.after);
        }
        assert!(decisions as u64 > 5 * SEEDS, "{text}: {decisions} decisions are too few");
        assert!(after > SEEDS / 2, "{text}: the change mattered in {after} of {SEEDS} runs");
    }
}

#[test]
fn no_decision_depends_on_the_times_of_requests_that_still_wait() {
    no_decision_depends_on_the_future(shuffle_waiting);
}

#[test]
fn no_decision_depends_on_the_times_of_requests_that_still_run() {
    no_decision_depends_on_the_future(lengthen_unfinished);
}

#[test]
fn the_oracle_does_look_at_the_times_of_requests_that_wait() {
    let looked = (0..SEEDS).filter(|&seed| {
        let (old, new) = effect("oracle", seed, shuffle_waiting).before;
        old != new
    });
    assert!(looked.count() > 0);
}

/// The setup with a profile that was measured by another stream.
fn with_profile(seed: u64) -> Setup {
    let mut setup = setup();
    setup.profile.seed = Some(seed);
    setup
}

#[test]
fn another_profile_changes_decisions_and_no_truth() {
    let arrive = |records: &[Record]| -> Vec<Record> {
        records.iter().filter(|r| matches!(r, Record::Arrive { .. })).cloned().collect()
    };
    for text in [
        "orloj",
        "clockwork[estimator=static-mean]",
        "nexus",
        "symphony",
        "nexus-cluster",
        "shepherd",
        "eager",
    ] {
        let first = log(&with_profile(0), text, 1);
        let mut changed = 0;
        for seed in 1..10 {
            let setup = with_profile(seed);
            assert_eq!(arrivals(&setup, 1), arrivals(&with_profile(0), 1));
            let other = log(&setup, text, 1);
            assert_eq!(arrive(&other), arrive(&first), "{text}");
            changed += u32::from(other != first);
        }
        assert!(changed > 0, "{text} decides the same whatever its profile says");
    }
}

#[test]
fn what_does_not_plan_does_not_depend_on_the_profile() {
    let texts = [
        "fifo",
        "fifo[drop_expired=true]",
        "clipper[sizing=fixed,size=16]",
        "oracle",
        "timeout",
        "ribbon",
        "drs",
    ];
    for text in texts {
        for seed in 1..4 {
            assert!(log(&with_profile(seed), text, 1) == log(&with_profile(0), text, 1), "{text}");
        }
    }
}

/// What each request took in a batch of its own.
fn took_alone(setup: &Setup, text: &str) -> BTreeMap<RequestId, Span> {
    let batches = Batches::of(&log(setup, text, 1));
    let alone = batches.done.iter().filter_map(|(action, (_, device))| {
        let [request] = batches.requests[action][..] else { return None };
        Some((request, *device))
    });
    alone.collect()
}

#[test]
fn a_request_meets_the_same_noise_under_every_policy() {
    let mut setup = setup();
    let truths = arrivals(&setup, 1);
    for noise in [Noise::Uniform { spread: 0.2, seed: 7 }, Noise::Lognormal { sigma: 0.2, seed: 7 }]
    {
        setup.world.noise = noise;
        let first = took_alone(&setup, "fifo[max_batch=1]");
        let noisy = first.iter().filter(|(r, took)| truths[r.index()].alone != **took).count();
        assert!(noisy > 250, "{noisy} of {REQUESTS} meet noise");
        for text in [
            "clipper[sizing=fixed,size=1]",
            "clockwork[max_batch=1]",
            "eager[max_batch=1]",
            "nexus[batch=1]",
            "nexus-cluster[batch=1]",
            "oracle[max_batch=1]",
            "orloj[max_batch=1]",
            "symphony[max_batch=1]",
            "shepherd[max_batch=1,expired_head_bug=false]",
            "timeout[max_batch=1]",
            "infaas[max_batch=1]",
        ] {
            let other = took_alone(&setup, text);
            for (request, took) in &other {
                assert_eq!(first.get(request), Some(took), "{text}, {request}");
            }
            assert!(other.len() > 20, "{text}: {} batches of one", other.len());
        }
    }
}
