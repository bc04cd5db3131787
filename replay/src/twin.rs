//! The twin of a run: the prediction on a machine that does what this one did.
//!
//! ```text
//!  actions.csv ─> speed of each lane over time, what the host took away, how late launches were ─┐
//!  inputs.csv ──> how late the controller handled each kind of input ────────────────────────────┴─> Machine ─> draws
//! ```
//!
//! The speed at an instant is the median, over the run's own batches around it, of how long they took in comparison
//! with their law. The noise is drawn from what is left of them beside the speed, for a batch from those of the run
//! whose law is the same or nearest. Which batch took how long is not used, nor how sizes differ: laws and policy are the prediction's. So a
//! twin tests the shape of a law and not its level, nor the noise; these are the a-priori judgement's.
//!
//! A launch is as late as the run's launch that is nearest in time, and so is a result, a timer and every other input. An
//! arrival comes when it came in the run: it is as late as it was. Being late belongs to the event: a thread has to be
//! woken for it, and the policy has to decide. A calendar of the times at which the controller was away loses most of
//! that, because a twin's events come at other instants.
//!
//! Short reference batches between the run's own were tried, and are gone: on a shared core neither a batch of one
//! item (it waits for its weights, so it depends on what ran before it) nor one of a millisecond tells the speed to better
//! than 3 %.

use crate::compare::{ActionRow, Side};
use crate::driver::Handled;
use crate::quantiles::median;
use crate::speed::{ERROR_MAX_PERCENT, Speed};
use orrery_sim::core::{Begin, BeginWork, kind_of_rank};
use orrery_sim::driver::{Machine, Next, Took};
use orrery_sim::request::RequestId;
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// No two batches of a lane may be further apart, nor the first from the start or the last from the end.
const GAP_MAX: Span = Span::from_secs(1);
/// The noise of a batch is that of one whose law is the same, or of so many of the nearest laws.
const ALIKE: usize = 100;

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
    /// The share of the run in which an input waited for the controller.
    pub controller_away: f64,
    /// The share of the run in which a lane had a batch and did not compute: the launch, and what the host took away.
    pub lanes_away: f64,
    /// Why too little is known, if so.
    pub unknown: Option<String>,
}

/// How late events of one kind were: when each was due, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Late(Vec<(Time, Span)>);

impl Late {
    fn of(mut events: Vec<(Time, Span)>) -> Late {
        events.sort_unstable();
        Late(events)
    }

    /// How late the one that is nearest in time was; of two, the earlier.
    fn at(&self, due: Time) -> Span {
        let next = self.0.partition_point(|e| e.0 < due);
        let before = next.checked_sub(1).map(|i| self.0[i]);
        match (before, self.0.get(next)) {
            (Some(before), Some(after)) if due.since(before.0) <= after.0.since(due) => before.1,
            (_, Some(after)) => after.1,
            (Some(before), None) => before.1,
            (None, None) => Span::ZERO,
        }
    }

    /// The time in which one of them waited or more.
    fn total(&self) -> Span {
        let (mut sum, mut until) = (Span::ZERO, Time::ZERO);
        for (due, late) in &self.0 {
            let end = *due + *late;
            sum += end.since(until.max(*due));
            until = until.max(end);
        }
        sum
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Lane {
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
            let ((slower, change), (stretch, other)) = (self.speed.at(at), self.host.at(at));
            let until = change.min(other);
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
    /// From the controller beginning an action to its worker beginning it.
    launches: Late,
    /// Inputs, by kind.
    inputs: BTreeMap<&'static str, Late>,
    /// By device and executor.
    lanes: BTreeMap<(u32, u8), Lane>,
    /// Batches by the time that their law says: how much longer they took beside the speed.
    noise: Vec<(Span, f64)>,
}

/// A twin with a draw of its noise.
#[derive(Debug)]
struct Drawn {
    twin: Arc<Twin>,
    draw: u32,
}

const RESULT: &str = "result";

impl Machine for Drawn {
    fn handles(&self, next: Next) -> Option<Time> {
        let kind = kind_of_rank(next.rank).0;
        // The controller learns of a result late; until then it handles what else is due.
        let late = self.twin.inputs.get(kind).filter(|_| kind != RESULT);
        Some(next.due + late.map_or(Span::ZERO, |late| late.at(next.due)))
    }

    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took> {
        let twin = &self.twin;
        let start = now + twin.launches.at(now) + begin.fetch;
        let busy = match begin.work {
            BeginWork::Batch { first, .. } => busy.scale(twin.noise(busy, self.draw, first)),
            BeginWork::Load { .. } => busy,
        };
        let lane = twin.lanes.get(&(begin.device.0, begin.executor));
        let (end, device) = lane.map_or((start + busy, busy), |lane| lane.advance(start, busy));
        let late = twin.inputs.get(RESULT).map_or(Span::ZERO, |late| late.at(end));
        Some(Took { end: end + late, device, learned: None })
    }
}

impl Twin {
    /// It with a draw of its noise.
    pub fn drawn(self: &Arc<Twin>, draw: u32) -> Arc<dyn Machine> {
        Arc::new(Drawn { twin: Arc::clone(self), draw })
    }

    /// How much longer a batch takes beside the speed: as one of those that are alike. It depends
    /// on the draw and the batch's first request alone.
    fn noise(&self, law: Span, draw: u32, first: RequestId) -> f64 {
        let alike = alike(&self.noise, law);
        if alike.is_empty() {
            return 1.0;
        }
        let uniform = keyed_uniform(u64::from(draw), fnv1a("twin noise"), first.0);
        alike[((uniform * alike.len() as f64) as usize).min(alike.len() - 1)].1
    }

    /// Whether it knows how fast its devices were.
    pub fn knows_speed(&self) -> bool {
        self.lanes.values().any(|lane| lane.speed != Speed::default())
    }

    /// The machine of a run, and how well it is known. Where a device `is_timed`, it may be faster or slower than
    /// its laws say.
    pub fn of(run: &Side, inputs: &[Handled], is_timed: bool, end: Time) -> (Arc<Twin>, Knowledge) {
        let actions = || run.actions.iter().flatten();
        let launch = |a: &ActionRow| {
            let began = Time::from_ns(a.began_ns);
            (began, Time::from_ns(a.start_ns).since(began))
        };
        let launches = Late::of(actions().map(launch).collect());
        let (inputs_late, noise) = (by_kind(inputs), Vec::new());
        let mut twin = Twin { launches, inputs: inputs_late, lanes: lanes(run), noise };
        let share = |away: Span, n: usize| {
            away.as_secs_f64() / (end.as_secs_f64() * n.max(1) as f64).max(1e-9)
        };
        let taken =
            actions().map(|a| Span::from_ns(a.away_ns)).chain(actions().map(|a| launch(a).1));
        let waited = Late::of(inputs.iter().map(|i| (i.due, i.at.since(i.due))).collect());
        let mut knowledge = Knowledge {
            controller_away: share(waited.total(), 1),
            lanes_away: share(taken.fold(Span::ZERO, |sum, away| sum + away), twin.lanes.len()),
            ..Knowledge::default()
        };
        if !is_timed {
            return (Arc::new(twin), knowledge);
        }
        let mut samples: BTreeMap<(u32, u8), Vec<(Time, f64)>> = BTreeMap::new();
        let mut batches = Vec::new();
        // One that was stopped says nothing of a whole batch.
        let whole = |a: &&ActionRow| !a.load && !a.stopped && a.predicted_ns > 0;
        for a in actions().filter(whole) {
            let slower = a.device_ns as f64 / a.predicted_ns as f64;
            let of_lane = samples.entry((a.device, a.executor)).or_default();
            of_lane.push((Time::from_ns(a.start_ns), slower));
            batches.push(a);
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
        twin.noise = beside(&batches, &twin.lanes);
        knowledge.unknown = knowledge.doubt();
        (Arc::new(twin), knowledge)
    }
}

/// Of batches sorted by law, those of one law, or as many as are alike of the nearest.
fn alike(batches: &[(Span, f64)], law: Span) -> &[(Span, f64)] {
    let (low, high) =
        (batches.partition_point(|b| b.0 < law), batches.partition_point(|b| b.0 <= law));
    let count = batches.len().min(ALIKE);
    if high - low >= count {
        return &batches[low..high];
    }
    let from = usize::midpoint(low, high).saturating_sub(count / 2).min(batches.len() - count);
    &batches[from..from + count]
}

/// How much longer each batch took than its law says, over the speed of its lane, and over the median of this among those
/// that are alike; sorted by law.
fn beside(batches: &[&ActionRow], lanes: &BTreeMap<(u32, u8), Lane>) -> Vec<(Span, f64)> {
    let left = |a: &&ActionRow| {
        let speed = lanes[&(a.device, a.executor)].speed.at(Time::from_ns(a.start_ns)).0;
        (Span::from_ns(a.predicted_ns), a.device_ns as f64 / a.predicted_ns as f64 / speed)
    };
    let mut all: Vec<(Span, f64)> = batches.iter().map(left).collect();
    // Those of one law stay in order of time: any part of them is a fair one.
    all.sort_by_key(|b| b.0);
    let of_law = |same: &[(Span, f64)]| {
        let mut factors: Vec<f64> = alike(&all, same[0].0).iter().map(|b| b.1).collect();
        let usual = median(&mut factors);
        same.iter().map(|(law, left)| (*law, left / usual)).collect::<Vec<_>>()
    };
    all.chunk_by(|a, b| a.0 == b.0).flat_map(of_law).collect()
}

/// How late the controller handled each kind of input.
fn by_kind(inputs: &[Handled]) -> BTreeMap<&'static str, Late> {
    let mut kinds: BTreeMap<&'static str, Vec<(Time, Span)>> = BTreeMap::new();
    for Handled { due, at, rank } in inputs {
        kinds.entry(kind_of_rank(*rank).0).or_default().push((*due, at.since(*due)));
    }
    kinds.into_iter().map(|(kind, events)| (kind, Late::of(events))).collect()
}

/// A lane's actions: from, to, time on the device, time away.
type Pieces = Vec<(Time, Time, Span, Span)>;

/// What is known of each lane, but for how fast it computes. What the host took away within a batch slows down all of it,
/// and what is around it up to the middle of the time to the next: when it was, and what happened while the lane was
/// idle, is not known.
fn lanes(run: &Side) -> BTreeMap<(u32, u8), Lane> {
    let mut lanes: BTreeMap<(u32, u8), Pieces> = BTreeMap::new();
    let ns = Time::from_ns;
    for a in run.actions.iter().flatten() {
        let (ran, away) = (Span::from_ns(a.device_ns), Span::from_ns(a.away_ns));
        let piece = (ns(a.start_ns), ns(a.end_ns), ran, away);
        lanes.entry((a.device, a.executor)).or_default().push(piece);
    }
    let lane = |(place, mut pieces): (_, Pieces)| {
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
        (place, Lane { host: Speed(steps), speed: Speed::default() })
    };
    lanes.into_iter().map(lane).collect()
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
    use orrery_sim::cluster::Sharing;
    use orrery_sim::core::{Input, Wake, rank_of_arrival, rank_of_result};
    use orrery_sim::policy::TimerKey;
    use orrery_sim::request::{ActionId, DeviceId, ModelId, SourceId};

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn us(us: u64) -> Span {
        Span::from_us(us)
    }

    #[test]
    fn an_event_is_as_late_as_the_one_nearest_in_time() {
        let late = Late::of(vec![(at(50), us(10)), (at(10), us(30)), (at(70), us(0))]);
        assert_eq!(
            [0, 10, 30, 31, 60, 61, 90].map(|t| late.at(at(t))),
            [30, 30, 30, 10, 10, 0, 0].map(us)
        );
        assert_eq!(Late::default().at(at(5)), Span::ZERO);
        // From 10 to 40 and from 50 to 60.
        assert_eq!(late.total(), us(40));
        assert_eq!(Late::of(vec![(at(0), us(9)), (at(5), us(9)), (at(6), us(1))]).total(), us(14));
    }

    #[test]
    fn work_takes_what_the_lane_took() {
        // Twice as long from 200 on; from 300 on the host takes half of the lane.
        let speed = Speed(vec![(Time::ZERO, 1.0), (at(200), 2.0)]);
        let host = Speed(vec![(Time::ZERO, 1.0), (at(300), 2.0)]);
        let lane = Lane { host, speed };
        assert_eq!(lane.advance(at(0), us(100)), (at(100), us(100)));
        // 150 until 200, 50 of work until 300, and then a quarter as fast.
        assert_eq!(lane.advance(at(50), us(210)), (at(340), us(270)));
        assert_eq!(Lane::default().advance(at(7), us(5)), (at(12), us(5)));
    }

    /// Long batches differ by 1 %, short ones by 20 %, and long ones take longer than their law says.
    #[test]
    fn the_noise_of_a_batch_is_that_of_batches_of_its_length() {
        let row = |i: u64| {
            let (law, off) = if i.is_multiple_of(2) { (100, 0.2) } else { (1_000, 0.01) };
            let level = if law == 1_000 { 1.1 } else { 1.0 };
            let factor = level * (1.0 + off * ((i / 2 % 3) as f64 - 1.0));
            let device = (law as f64 * factor).round() as u64;
            ActionRow {
                predicted_ns: 1_000 * law,
                ..action(2_000 * (i + 1), 2_000 * (i + 1) + device, device)
            }
        };
        let run = Side::of(Vec::new(), Some((0..1_000).map(row).collect()), 0);
        let (twin, _) = Twin::of(&run, &[], true, at(2_002_000));
        let drawn = |law: u64| {
            let mut all: Vec<f64> =
                (0..300).map(|first| twin.noise(us(law), 1, RequestId(first))).collect();
            let middle = median(&mut all);
            (all[0], middle, all[299])
        };
        let near = |a: (f64, f64, f64), b: (f64, f64, f64)| {
            (a.0 - b.0).abs() < 0.03 && (a.1 - b.1).abs() < 0.03 && (a.2 - b.2).abs() < 0.03
        };
        assert!(near(drawn(100), (0.8, 1.0, 1.2)), "{:?}", drawn(100));
        assert!(near(drawn(1_000), (0.99, 1.0, 1.01)), "{:?}", drawn(1_000));
        assert_eq!(Twin::default().noise(us(100), 1, RequestId(0)), 1.0);
    }

    #[test]
    fn the_longest_time_without_a_batch() {
        let samples: Vec<_> = (0..40).map(|i| (at(100_000 * i), 1.0)).collect();
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
        let go = |run: &Side, end: u64| Twin::of(run, &inputs, true, at(end));
        let (twin, knowledge) = go(&run, 4_000_000);
        let begin = Begin {
            action: ActionId(0),
            device: DeviceId(0),
            kind: 0,
            sharing: Sharing::None,
            executor: 0,
            fetch: Span::ZERO,
            work: BeginWork::Load { model: ModelId(0), time: us(100) },
        };
        // Launched 30 us after it began, and known 60 us after its end; policies see what it took on the device.
        let takes =
            |now: u64| twin.drawn(0).takes(at(now), &begin, us(100)).map(|t| (t.end, t.device));
        assert_eq!(takes(970), Some((at(1_170), us(110))));
        assert_eq!(takes(1_970), Some((at(2_225), us(110))));
        let handles =
            |due: u64, rank| twin.drawn(0).handles(Next { number: 7, due: at(due), rank });
        let due = [(480, arrival), (3_100, timer), (1_170, result)];
        assert_eq!(
            due.map(|(due, rank)| handles(due, rank)),
            [500, 3_500, 1_170].map(|t| Some(at(t)))
        );
        // From 500 to 520, from 1,110 to 1,170 and from 3,000 to 3,400.
        assert!((knowledge.controller_away - 480e-6 / 4.0).abs() < 1e-12, "{knowledge:?}");
        assert_eq!((knowledge.unknown.clone(), knowledge.batches), (None, 11));
        assert!((knowledge.slower_percent - 10.0).abs() < 1e-9, "{knowledge:?}");
        let doubt = |rows: &[ActionRow], end| go(&of(rows), end).1.unknown.unwrap();
        assert!(doubt(&rows, 6_000_000).contains("not known for"));
        assert!(doubt(&[], 1_000).contains("no batch"));
        let mut noisy = rows.clone();
        noisy.iter_mut().step_by(2).for_each(|a| a.device_ns += 10_000);
        assert!(doubt(&noisy, 4_000_000).contains("known to"));
        let (waits, emulated) = Twin::of(&run, &inputs, false, at(4_000_000));
        assert_eq!((twin.knows_speed(), waits.knows_speed()), (true, false));
        assert_eq!((emulated.batches, emulated.slower_percent, emulated.unknown), (0, 0.0, None));
    }
}
