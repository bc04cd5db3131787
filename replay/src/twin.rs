//! The twin of a run: the prediction on a machine that does what this one did.
//!
//! ```text
//!  actions.csv ─> speed of each lane over time, and when it was away ─┐
//!  inputs.csv ──> when the controller was away ───────────────────────┴─> Machine ─> draws of the prediction
//! ```
//!
//! The speed at an instant is the median, over the run's own batches around it, of how long they took in comparison
//! with their law. How long one batch took is not used, nor how sizes differ: laws, noise and policy are the
//! prediction's. So a twin tests the shape of a law and not its level, which is the a-priori judgement's.
//!
//! Short reference batches between the run's own were tried, and are gone: on a shared core neither a batch of one
//! item (it waits for its weights, so it depends on what ran before it) nor one of a millisecond tells the speed to better
//! than 3 %.

use crate::compare::{ActionRow, Side};
use crate::driver::Handled;
use orrery_sim::core::{Begin, kind_of_rank};
use orrery_sim::driver::{Machine, Next, Took};
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The speed at an instant is the median of the batches that are nearer than this.
const NEAR: Span = Span::from_ms(500);
/// No two batches of a lane may be further apart, nor the first from the start or the last from the end.
const GAP_MAX: Span = Span::from_secs(1);
/// The median error of the speed may not be larger.
const ERROR_MAX_PERCENT: f64 = 1.0;

/// What a launch and a result usually take: the prediction has it already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Overheads {
    pub launch: Span,
    pub result: Span,
}

/// How well the machine of a run is known.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Knowledge {
    /// Batches that show how fast their lanes were; none on a device that is always as fast.
    #[serde(default)]
    pub batches: u64,
    /// The longest time without one.
    pub gap_s: f64,
    /// How much longer batches took than their laws say, by the median batch.
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
    /// From each batch to half-way to the next, the median of those around it, with the median of
    /// their standard errors.
    fn of(samples: &[(Time, f64)]) -> (Speed, f64) {
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for (i, (at, _)) in samples.iter().enumerate() {
            let first = samples.partition_point(|s| s.0 + NEAR <= *at);
            let end = samples.partition_point(|s| s.0 < *at + NEAR);
            let mut around: Vec<f64> = samples[first..end].iter().map(|s| s.1).collect();
            let middle = median(&mut around);
            let n = around.len() as f64;
            let off = around.iter().map(|f| (f - middle).abs()).sum::<f64>() / n;
            // Of a normal law: from the mean distance to sigma, and from sigma to the error of a median. One alone
            // says nothing of its error.
            let error = 1.2533 * off * 1.2533 / n.sqrt();
            errors.push(if around.len() > 1 { error / middle } else { 1.0 });
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
    /// How much longer work takes because the host takes a share of the lane away.
    host: Speed,
    /// How much longer it takes on the device.
    speed: Speed,
}

impl Lane {
    /// When work that begins at an instant is done, and how long it took without what was away.
    fn advance(&self, now: Time, work: Span) -> (Time, Span) {
        let (mut at, mut left, mut ran) = (now, work.ns() as f64, Span::ZERO);
        loop {
            at = self.away.there(at);
            let ((slower, change), (stretch, other)) = (self.speed.at(at), self.host.at(at));
            let until = self.away.after(at).map_or(Time::NEVER, |a| a.0).min(change).min(other);
            let takes = Span::from_ns_f64(left * slower * stretch);
            if until == Time::NEVER || at + takes <= until {
                return (at + takes, ran + Span::from_ns_f64(left * slower));
            }
            let piece = until.since(at).ns() as f64;
            ran += Span::from_ns_f64(piece / stretch);
            left = (left - piece / (slower * stretch)).max(0.0);
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

impl Twin {
    /// The machine of a run, and how well it is known. Where a device `is_timed`, it may be faster or slower than
    /// its laws say.
    pub fn of(
        run: &Side,
        inputs: &[Handled],
        is_timed: bool,
        usual: Overheads,
        end: Time,
    ) -> (Arc<Twin>, Knowledge) {
        let (controller, lanes) = (controller(inputs, usual), lanes(run, usual));
        let mut twin = Twin { controller, lanes };
        let share = |away: Span, n: usize| {
            away.as_secs_f64() / (end.as_secs_f64() * n.max(1) as f64).max(1e-9)
        };
        let taken = run.actions.iter().flatten().map(|a| Span::from_ns(a.away_ns));
        let late = twin.lanes.values().map(|lane| lane.away.total());
        let total = taken.chain(late).fold(Span::ZERO, |sum, away| sum + away);
        let mut knowledge = Knowledge {
            controller_away: share(twin.controller.total(), 1),
            lanes_away: share(total, twin.lanes.len()),
            ..Knowledge::default()
        };
        if !is_timed {
            return (Arc::new(twin), knowledge);
        }
        let mut samples: BTreeMap<(u32, u8), Vec<(Time, f64)>> = BTreeMap::new();
        // One that was stopped says nothing of a whole batch.
        let whole = |a: &&ActionRow| !a.load && !a.stopped && a.predicted_ns > 0;
        for a in run.actions.iter().flatten().filter(whole) {
            let slower = a.device_ns as f64 / a.predicted_ns as f64;
            let of_lane = samples.entry((a.device, a.executor)).or_default();
            of_lane.push((Time::from_ns(a.start_ns), slower));
        }
        let mut all: Vec<f64> = samples.values().flatten().map(|s| s.1).collect();
        knowledge.batches = all.len() as u64;
        knowledge.slower_percent = 100.0 * (median(&mut all) - 1.0);
        for (place, samples) in &mut samples {
            samples.sort_by_key(|s| s.0);
            let (speed, error) = Speed::of(samples);
            twin.lanes.entry(*place).or_default().speed = speed;
            knowledge.error_percent = knowledge.error_percent.max(100.0 * error);
            knowledge.gap_s = knowledge.gap_s.max(gap(samples, end).as_secs_f64());
        }
        knowledge.unknown = knowledge.doubt();
        (Arc::new(twin), knowledge)
    }
}

/// When the controller was away: from when an input was due, or a result was to be known, to when it was handled.
fn controller(inputs: &[Handled], usual: Overheads) -> Calendar {
    let away = inputs.iter().map(|Handled { due, at, rank }| match kind_of_rank(*rank).0 {
        "result" => (*due + usual.result, *at),
        _ => (*due, *at),
    });
    Calendar::of(away.collect())
}

/// A lane's actions: from, to, time on the device, time away.
type Pieces = Vec<(Time, Time, Span, Span)>;

/// What is known of each lane, but for how fast it computes. It was away when a launch was late. What the host took away within a batch slows down all of it, and what is around it up to the middle
/// of the time to the next: when it was, and what happened while the lane was idle, is not known.
fn lanes(run: &Side, usual: Overheads) -> BTreeMap<(u32, u8), Lane> {
    let mut away: BTreeMap<(u32, u8), Vec<(Time, Time)>> = BTreeMap::new();
    let mut pieces: BTreeMap<(u32, u8), Pieces> = BTreeMap::new();
    let ns = Time::from_ns;
    for a in run.actions.iter().flatten() {
        let place = (a.device, a.executor);
        away.entry(place).or_default().push((ns(a.began_ns) + usual.launch, ns(a.start_ns)));
        let (ran, away) = (Span::from_ns(a.device_ns), Span::from_ns(a.away_ns));
        pieces.entry(place).or_default().push((ns(a.start_ns), ns(a.end_ns), ran, away));
    }
    let lane = |(place, away)| {
        let mut pieces: Pieces = pieces.remove(&place).unwrap_or_default();
        pieces.sort_unstable();
        let stretch = |p: &(Time, Time, Span, Span)| {
            let ran = p.2.ns().max(1) as f64;
            (ran + p.3.ns() as f64) / ran
        };
        let from = |i: usize| match i.checked_sub(1).map(|before| pieces[before].1) {
            Some(before) => before + pieces[i].0.since(before).scale(0.5),
            None => Time::ZERO,
        };
        let steps = (0..pieces.len()).map(|i| (from(i), stretch(&pieces[i]))).collect();
        let (away, host) = (Calendar::of(away), Speed(steps));
        (place, Lane { away, host, speed: Speed::default() })
    };
    away.into_iter().map(lane).collect()
}

/// The longest time without a batch.
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
        let Knowledge { batches, gap_s, error_percent, .. } = self;
        if *batches == 0 {
            return Some("no batch ran to its end".to_string());
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

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::core::{Input, Wake, rank_of_arrival, rank_of_result};
    use orrery_sim::policy::TimerKey;
    use orrery_sim::request::{ActionId, SourceId};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn absences_that_meet_are_one() {
        let calendar = Calendar::of(vec![
            (at(50), at(60)),
            (at(10), at(20)),
            (at(15), at(30)),
            (at(70), at(70)),
        ]);
        assert_eq!(calendar.0, [(at(10), at(30)), (at(50), at(60))]);
        assert_eq!([9, 10, 29, 30, 55].map(|t| calendar.there(at(t))), [9, 30, 30, 30, 60].map(at));
        assert_eq!(calendar.total(), us(30));
    }

    #[test]
    fn work_takes_what_the_lane_took() {
        let away = Calendar::of(vec![(at(100), at(150))]);
        // Twice as long from 200 on; from 300 on the host takes half of the lane.
        let speed = Speed(vec![(Time::ZERO, 1.0), (at(200), 2.0)]);
        let host = Speed(vec![(Time::ZERO, 1.0), (at(300), 2.0)]);
        let lane = Lane { away, host, speed };
        assert_eq!(
            lane.advance(at(0), us(100)),
            (at(100), us(100)),
            "it ends as the absence begins"
        );
        assert_eq!(lane.advance(at(120), us(10)), (at(160), us(10)));
        // 100 until 100, 50 from 150 to 200, 50 of work until 300, and then a quarter as fast.
        assert_eq!(lane.advance(at(0), us(210)), (at(340), us(270)));
        assert_eq!(Lane::default().advance(at(7), us(5)), (at(12), us(5)));
    }

    /// Batches that take 10 % longer for the second half, and one that is far off.
    #[test]
    fn the_speed_is_the_median_of_the_batches_around() {
        let factor = |i: u64| {
            if i == 13 {
                9.0
            } else if i < 20 {
                1.0
            } else {
                1.1
            }
        };
        let samples: Vec<_> = (0..40).map(|i| (at(100_000 * i), factor(i))).collect();
        let (speed, error) = Speed::of(&samples);
        assert_eq!((speed.at(at(0)).0, speed.at(at(1_300_000)).0), (1.0, 1.0));
        assert_eq!(speed.at(at(3_900_000)).0, 1.1);
        assert_eq!(error, 0.0);
        assert_eq!(gap(&samples, at(4_500_000)), us(600_000));
    }

    fn action(start: u64, end: u64, device: u64) -> ActionRow {
        ActionRow {
            action: start,
            device: 0,
            executor: 0,
            load: false,
            model: "m".to_string(),
            units: 1,
            longest_ns: 0,
            issued_ns: 1_000 * (start - 30),
            earliest_ns: 0,
            began_ns: 1_000 * (start - 30),
            start_ns: 1_000 * start,
            end_ns: 1_000 * end,
            device_ns: 1_000 * device,
            away_ns: 1_000 * (end - start - device),
            predicted_ns: 100_000,
            stopped: false,
            learned: 0,
        }
    }

    /// Work of 100 us each, on a core that is 10 % slower than profiled, and away for a third of the second batch.
    #[test]
    fn the_machine_of_a_run_does_what_the_run_s_did() {
        let mut rows = vec![action(1_000, 1_110, 110), action(2_000, 2_165, 110)];
        rows.extend((1..10).map(|i| action(400_000 * i, 400_000 * i + 110, 110)));
        // What was stopped, or only loaded weights, tells no speed.
        rows.push(ActionRow { stopped: true, ..action(3_000_000, 3_000_010, 10) });
        rows.push(ActionRow { load: true, ..action(3_100_000, 3_109_000, 9_000) });
        let of = |rows: &[ActionRow]| Side::of(Vec::new(), Some(rows.to_vec()), 0);
        let run = of(&rows);
        let timer = Input::Wake(Wake::Timer(TimerKey(3))).rank();
        let (result, arrival) = (rank_of_result(ActionId(1)), rank_of_arrival(SourceId(0)));
        let inputs = [(500, 520, arrival), (1_110, 1_170, result), (3_000, 3_400, timer)]
            .map(|(due, to, rank)| Handled { due: at(due), at: at(to), rank });
        let usual = Overheads { launch: us(20), result: us(10) };
        let go = |run: &Side, end: u64| Twin::of(run, &inputs, true, usual, at(end));
        let (twin, knowledge) = go(&run, 4_000_000);
        assert_eq!(
            twin.controller.0,
            [(at(500), at(520)), (at(1_120), at(1_170)), (at(3_000), at(3_400))]
        );
        let lane = &twin.lanes[&(0, 0)];
        assert_eq!(lane.advance(at(1_000), us(100)), (at(1_110), us(110)));
        assert_eq!(lane.advance(at(2_000), us(100)), (at(2_165), us(110)));
        // The launches were 10 us later than usual, and so is a batch that begins then.
        assert_eq!(lane.advance(at(995), us(1)).0, at(1_001) + Span::from_ns(100));
        assert_eq!((knowledge.unknown.clone(), knowledge.batches), (None, 11));
        assert!((knowledge.slower_percent - 10.0).abs() < 1e-9, "{knowledge:?}");
        let doubt = |rows: &[ActionRow], end| go(&of(rows), end).1.unknown.unwrap();
        assert!(doubt(&rows, 6_000_000).contains("not known for"));
        assert!(doubt(&[], 1_000).contains("no batch"));
        let mut noisy = rows.clone();
        noisy.iter_mut().step_by(2).for_each(|a| a.device_ns += 10_000);
        assert!(doubt(&noisy, 4_000_000).contains("known to"));
        let emulated = Twin::of(&run, &inputs, false, usual, at(4_000_000)).1;
        assert_eq!((emulated.batches, emulated.slower_percent, emulated.unknown), (0, 0.0, None));
    }
}
