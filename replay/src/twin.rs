//! The twin of a run: the prediction on a machine that does what this one did.
//!
//! ```text
//!  references.csv ─> speed of each lane, over time ─────┐
//!  actions.csv ────> when a lane was away ──────────────┼─> Machine ─> draws of the prediction
//!  inputs.csv ─────> when the controller was away ──────┘
//! ```
//!
//! Laws, noise and policy are the prediction's; how long the run's own batches took is not used. So what is left
//! of an error is the prediction's, and what the machine did is not.

use crate::compare::Side;
use crate::driver::{Handled, ReferenceRan};
use orrery_sim::core::{Begin, kind_of_rank};
use orrery_sim::driver::{Machine, Next, Took};
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A lateness of more than this beyond twice the median of its kind is an absence: the rest is in the profile's
/// overheads.
const ABSENCE: Span = Span::from_us(50);
/// The speed at an instant is the median of the reference batches that are nearer than this.
const NEAR: Span = Span::from_ms(500);
/// No two reference batches of a lane may be further apart, nor the first from the start or the last from the end.
const GAP_MAX: Span = Span::from_secs(1);
/// The median error of the speed may not be larger.
const ERROR_MAX_PERCENT: f64 = 1.0;

/// How well the machine of a run is known.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Knowledge {
    /// Reference batches.
    pub references: u64,
    /// The longest time without one.
    pub gap_s: f64,
    /// How much longer batches took than when they were profiled, by the median reference batch.
    pub slower_percent: f64,
    /// The standard error of the speed at an instant, at the median of them.
    pub error_percent: f64,
    /// The share of the run in which the controller was away.
    pub controller_away: f64,
    /// The share of the run in which a lane was.
    pub lanes_away: f64,
    /// Why too little is known, if so.
    pub unknown: Option<String>,
}

/// Times at which a thread was away, in order and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Calendar(Vec<(Time, Time)>);

impl Calendar {
    fn of(mut away: Vec<(Time, Time)>) -> Calendar {
        away.retain(|(from, to)| from < to);
        away.sort_unstable();
        let mut all: Vec<(Time, Time)> = Vec::new();
        for (from, to) in away {
            match all.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => all.push((from, to)),
            }
        }
        Calendar(all)
    }

    /// The first absence that ends after an instant.
    fn after(&self, at: Time) -> Option<(Time, Time)> {
        self.0.get(self.0.partition_point(|a| a.1 <= at)).copied()
    }

    /// When a thread that is asked for at an instant is there.
    fn there(&self, at: Time) -> Time {
        self.after(at).filter(|a| a.0 <= at).map_or(at, |a| a.1)
    }

    fn total(&self) -> Span {
        self.0.iter().fold(Span::ZERO, |sum, (from, to)| sum + to.since(*from))
    }
}

/// How much longer than profiled work takes, from each instant to the next.
#[derive(Clone, Debug, Default, PartialEq)]
struct Speed(Vec<(Time, f64)>);

impl Speed {
    /// From each reference batch to half-way to the next, the median of those around it, with the median of
    /// their standard errors.
    fn of(samples: &[(Time, f64)]) -> (Speed, f64) {
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for (i, (at, _)) in samples.iter().enumerate() {
            let near = |s: &&(Time, f64)| s.0.since(*at) < NEAR && at.since(s.0) < NEAR;
            let mut around: Vec<f64> = samples.iter().filter(near).map(|s| s.1).collect();
            let middle = median(&mut around);
            let mut off: Vec<f64> = around.iter().map(|f| (f - middle).abs()).collect();
            // Of a normal law: from the median distance to sigma, and from sigma to the error of a median.
            let error = 1.4826 * median(&mut off) * 1.2533 / (around.len() as f64).sqrt();
            errors.push(error / middle);
            let from = match i.checked_sub(1).map(|before| samples[before].0) {
                Some(before) => before + at.since(before).scale(0.5),
                None => Time::ZERO,
            };
            steps.push((from, middle));
        }
        (Speed(steps), median(&mut errors))
    }

    /// How much longer work takes at an instant, and until when.
    fn at(&self, at: Time) -> (f64, Time) {
        let next = self.0.partition_point(|s| s.0 <= at);
        let until = self.0.get(next).map_or(Time::NEVER, |s| s.0);
        let now = next.checked_sub(1).map_or(1.0, |i| self.0[i].1);
        (now, until)
    }
}

/// The median of values; sorts them.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Lane {
    away: Calendar,
    speed: Speed,
}

impl Lane {
    /// When work that begins at an instant is done, and how long it took without what was away.
    fn advance(&self, now: Time, work: Span) -> (Time, Span) {
        let (mut at, mut left, mut ran) = (now, work.ns() as f64, Span::ZERO);
        loop {
            at = self.away.there(at);
            let (slower, until) = self.speed.at(at);
            let until = self.away.after(at).map_or(until, |a| a.0.min(until));
            let takes = Span::from_ns_f64(left * slower);
            if until == Time::NEVER || at + takes <= until {
                return (at + takes, ran + takes);
            }
            let piece = until.since(at);
            ran += piece;
            left = (left - piece.ns() as f64 / slower).max(0.0);
            at = until;
        }
    }
}

/// The machine of a run.
#[derive(Clone, Debug, Default)]
pub struct Twin {
    controller: Calendar,
    /// By device and executor.
    lanes: BTreeMap<(u32, u8), Lane>,
}

impl Machine for Twin {
    fn handles(&self, next: Next) -> Option<Time> {
        Some(self.controller.there(next.due))
    }

    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took> {
        let lane = self.lanes.get(&(begin.device.0, begin.executor));
        let (end, device) = lane.map_or((now + busy, busy), |lane| lane.advance(now, busy));
        Some(Took { end, device: device.minus(begin.fetch), learned: None })
    }
}

/// The absences in latenesses of one kind: what was more than usual.
fn absences(mut late: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    let mut ns: Vec<f64> = late.iter().map(|(due, at)| at.since(*due).ns() as f64).collect();
    let most = Span::from_ns_f64(2.0 * median(&mut ns)) + ABSENCE;
    late.retain(|(due, at)| at.since(*due) > most);
    late
}

impl Twin {
    /// The machine of a run, and how well it is known. `nominal` is what a reference batch took when it was
    /// profiled; none where no reference batches are run, because the device is always as fast.
    pub fn of(
        run: &Side,
        inputs: &[Handled],
        references: &[ReferenceRan],
        nominal: Option<Span>,
        end: Time,
    ) -> (Arc<Twin>, Knowledge) {
        let mut twin = Twin { controller: controller(inputs), lanes: away(run, references) };
        let share = |away: Span, n: usize| {
            away.as_secs_f64() / (end.as_secs_f64() * n.max(1) as f64).max(1e-9)
        };
        let total = twin.lanes.values().fold(Span::ZERO, |sum, lane| sum + lane.away.total());
        let mut knowledge = Knowledge {
            references: references.len() as u64,
            controller_away: share(twin.controller.total(), 1),
            lanes_away: share(total, twin.lanes.len()),
            ..Knowledge::default()
        };
        let Some(nominal) = nominal else { return (Arc::new(twin), knowledge) };
        let mut samples: BTreeMap<(u32, u8), Vec<(Time, f64)>> = BTreeMap::new();
        for r in references {
            let slower = r.device_ns as f64 / nominal.ns() as f64;
            let of_lane = samples.entry((r.device, r.executor)).or_default();
            of_lane.push((Time::from_ns(r.start_ns), slower));
        }
        let mut all: Vec<f64> = samples.values().flatten().map(|s| s.1).collect();
        knowledge.slower_percent = 100.0 * (median(&mut all) - 1.0);
        for (place, samples) in &samples {
            let (speed, error) = Speed::of(samples);
            twin.lanes.entry(*place).or_default().speed = speed;
            knowledge.error_percent = knowledge.error_percent.max(100.0 * error);
            knowledge.gap_s = knowledge.gap_s.max(gap(samples, end).as_secs_f64());
        }
        knowledge.unknown = knowledge.doubt();
        (Arc::new(twin), knowledge)
    }
}

/// When the controller was away: of inputs of each kind, what was later than usual.
fn controller(inputs: &[Handled]) -> Calendar {
    let mut late: BTreeMap<&str, Vec<(Time, Time)>> = BTreeMap::new();
    for Handled { due, at, rank } in inputs {
        late.entry(kind_of_rank(*rank).0).or_default().push((*due, *at));
    }
    Calendar::of(late.into_values().flat_map(absences).collect())
}

/// When lanes were away: late launches, what the host took away in a batch, reference batches.
fn away(run: &Side, references: &[ReferenceRan]) -> BTreeMap<(u32, u8), Lane> {
    let mut away: BTreeMap<(u32, u8), Vec<(Time, Time)>> = BTreeMap::new();
    let mut launches: BTreeMap<(u32, u8), Vec<(Time, Time)>> = BTreeMap::new();
    let ns = Time::from_ns;
    for a in run.actions.iter().flatten() {
        let place = (a.device, a.executor);
        launches.entry(place).or_default().push((ns(a.began_ns), ns(a.start_ns)));
        // When in the batch is not known: in its middle.
        let from = a.start_ns + a.end_ns.saturating_sub(a.start_ns + a.away_ns) / 2;
        away.entry(place).or_default().push((ns(from), ns(from + a.away_ns)));
    }
    for (place, launches) in launches {
        away.entry(place).or_default().extend(absences(launches));
    }
    for r in references {
        away.entry((r.device, r.executor)).or_default().push((ns(r.start_ns), ns(r.end_ns)));
    }
    let lane = |away| Lane { away: Calendar::of(away), speed: Speed::default() };
    away.into_iter().map(|(place, away)| (place, lane(away))).collect()
}

/// The longest time without a reference batch.
fn gap(samples: &[(Time, f64)], end: Time) -> Span {
    let mut before = Time::ZERO;
    let mut longest = Span::ZERO;
    for at in samples.iter().map(|s| s.0).chain([end]) {
        longest = longest.max(at.since(before));
        before = at;
    }
    longest
}

impl Knowledge {
    fn doubt(&self) -> Option<String> {
        let Knowledge { references, gap_s, error_percent, .. } = self;
        if *references == 0 {
            return Some("no reference batch was run".to_string());
        }
        if *gap_s > GAP_MAX.as_secs_f64() {
            return Some(format!("the speed was not known for {gap_s:.2} s (at most 1 s)"));
        }
        (*error_percent > ERROR_MAX_PERCENT).then(|| {
            format!(
                "the speed is known to {error_percent:.2} % only (at most {ERROR_MAX_PERCENT} %)"
            )
        })
    }
}
