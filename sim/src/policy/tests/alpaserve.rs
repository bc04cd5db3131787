//! AlpaServe: worked cases, closed forms, and random placements against a plain simulator of it that
//! shares no code.

use super::ms;
use crate::audit::audit;
use crate::cluster::DeviceSpec;
use crate::core::{CoreSpec, Delays, DeviceChange};
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::policy::alpaserve::{AlpaServe, Config};
use crate::profile::{KindsProfile, ModelProfile};
use crate::request::{AppId, Arrival, DeviceId, Drop, End, ModelId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};

/// Groups with their stages and models, latencies by model, and what arrives: (instant, model, SLO).
#[derive(Clone, Debug)]
struct Case {
    groups: Vec<(u8, Vec<u32>)>,
    latency: Vec<Span>,
    arrivals: Vec<(Span, u32, Span)>,
    config: Config,
    /// From the end of a request to its answer.
    overhead: Span,
}

const PLAIN: Config = Config { margin: Span::ZERO, controller: Span::ZERO, longest_stage: 1.0 };

/// What became of a request: where and when it began, and how it ended.
type Fate = (Option<(u32, Time)>, End);

impl Case {
    fn one_group(stages: u8, latency: Span, arrivals: Vec<(Span, u32, Span)>) -> Case {
        let groups = vec![(stages, vec![0])];
        Case { groups, latency: vec![latency], arrivals, config: PLAIN, overhead: Span::ZERO }
    }

    fn world(&self) -> World {
        let device = |(stages, models): &(u8, Vec<u32>)| DeviceSpec {
            holds: Some(models.iter().map(|&m| ModelId(m)).collect()),
            stages: *stages,
            lanes: *stages,
            ..DeviceSpec::default()
        };
        let delays = Delays {
            dispatch: self.config.controller.into(),
            result: self.overhead.into(),
            reply: self.overhead.into(),
            ..Delays::default()
        };
        World {
            core: CoreSpec {
                devices: self.groups.iter().map(device).collect(),
                models: vec![Default::default(); self.latency.len()],
                delays,
                ..CoreSpec::default()
            },
            latency: vec![self.latency.iter().map(|&l| Latency::Table(vec![(1, l)])).collect()],
            ..World::default()
        }
    }

    fn run(&self) -> Vec<Fate> {
        self.run_in(&self.world())
    }

    fn run_in(&self, world: &World) -> Vec<Fate> {
        let profile = |law: &Latency| {
            let kinds = KindsProfile { laws: vec![law.clone()], base: 0, largest: 1 };
            ModelProfile::of_kinds(kinds, Span::MAX)
        };
        let profiles: Vec<ModelProfile> = world.latency[0].iter().map(profile).collect();
        let arrival = |&(at, model, slo): &(Span, u32, Span)| Arrival {
            at: Time::ZERO + at,
            app: AppId(model),
            model: ModelId(model),
            size: 1,
            slo,
            alone: ms(1),
        };
        let source = VecSource::new(self.arrivals.iter().map(arrival).collect());
        let policy = AlpaServe::new(self.config, &profiles);
        let log = simulate(world, vec![Box::new(source)], policy, MemoryLog::default()).observer;
        assert!(audit(log.records.clone()).is_clean());
        let mut fates = vec![(None, End::Pending); self.arrivals.len()];
        let mut batches = std::collections::BTreeMap::new();
        for record in log.records {
            match record {
                Record::Issue { batch, .. } => {
                    batches.insert(batch.action, (batch.requests[0], batch.device.0));
                    assert_eq!(batch.requests.len(), 1, "no batching");
                }
                Record::Begin { time, action } => {
                    let (request, device) = batches[&action];
                    fates[request.index()].0 = Some((device, time));
                }
                Record::End { request, end, .. } => fates[request.index()].1 = end,
                _ => {}
            }
        }
        fates
    }

    /// The same by a loop over the arrivals: a list of the ends of what each group has in flight.
    fn plain(&self) -> Vec<Fate> {
        let mut in_flight: Vec<Vec<Time>> = vec![Vec::new(); self.groups.len()];
        let mut free = vec![Time::ZERO; self.groups.len()];
        let fate = |&(at, model, slo): &(Span, u32, Span)| {
            let (now, deadline) = (Time::ZERO + at, Time::ZERO + at + slo);
            let mut best: Option<(usize, usize)> = None;
            for (g, (_, models)) in self.groups.iter().enumerate() {
                // What is reported at this instant has been heard of: results come before arrivals.
                in_flight[g].retain(|&reported| reported > now);
                let n = in_flight[g].len();
                if models.contains(&model) && best.is_none_or(|(least, _)| n < least) {
                    best = Some((n, g));
                }
            }
            let Some((_, g)) = best else { return (None, End::Dropped(Drop::Shed)) };
            let begin = free[g].max(now + self.config.controller);
            let end = begin + self.latency[model as usize];
            if end + self.config.margin > deadline {
                return (None, End::Dropped(Drop::Infeasible));
            }
            let stages = u64::from(self.groups[g].0);
            free[g] = begin + Span::from_ns(self.latency[model as usize].ns().div_ceil(stages));
            in_flight[g].push(end + self.overhead);
            let answered = if end + self.overhead <= deadline { End::InTime } else { End::Late };
            (Some((g as u32, begin)), answered)
        };
        self.arrivals.iter().map(fate).collect()
    }

    fn draw(seed: u64) -> Case {
        let mut draws = Stream::named(seed, "alpaserve case", 0);
        let mut below = |n: u64| draws.below(n);
        let models = 1 + below(4) as u32;
        let unit = Span::from_us([1_000, 777][below(2) as usize]);
        // All models take the same time on a pipeline: a shorter one would overtake.
        let (takes, same) = (8 + below(8), below(2) == 0);
        let latency: Vec<Span> =
            (0..models).map(|_| unit * (takes + if same { 0 } else { below(5) })).collect();
        let mut group = |_| {
            let stages = if same { [1, 1, 2, 8][below(4) as usize] } else { 1 };
            (stages, (0..models).filter(|_| below(3) > 0).collect())
        };
        let groups = (0..1 + seed % 4).map(&mut group).collect();
        let mut at = Span::ZERO;
        let mut arrival = |_| {
            at += unit * below(8);
            (at, below(u64::from(models)) as u32, unit * (8 + below(60)))
        };
        let arrivals = (0..120).map(&mut arrival).collect();
        let config = Config { margin: unit * below(3), controller: unit * below(3), ..PLAIN };
        Case { groups, latency, arrivals, config, overhead: unit * below(3) }
    }
}

/// Arrivals of model 0, `gap` ms apart.
fn every(gap: u64, n: u64, slo: Span) -> Vec<(Span, u32, Span)> {
    (0..n).map(|i| (ms(gap) * i, 0, slo)).collect()
}

fn ends(fates: &[Fate]) -> Vec<End> {
    fates.iter().map(|f| f.1).collect()
}

#[test]
fn it_is_the_plain_simulator_on_random_placements() {
    let (mut refused, mut failed, mut served) = (0, 0, 0);
    for seed in 0..400 {
        let case = Case::draw(seed);
        let fates = case.run();
        assert_eq!(fates, case.plain(), "case {seed}: {case:?}");
        let count = |end| fates.iter().filter(|f| f.1 == end).count();
        refused += count(End::Dropped(Drop::Infeasible));
        failed += count(End::Dropped(Drop::Shed));
        served += count(End::InTime);
    }
    assert!(refused > 2_000 && failed > 500 && served > 5_000, "{refused} {failed} {served}");
}

/// Work of 10 ms every 6 ms, refused when more than 15 ms wait before it: 0, 4, 8, 12 wait, then 16 is
/// too much; from 10 on it goes round in 30 ms with three of five.
#[test]
fn an_overloaded_group_answers_one_request_a_latency_and_all_in_time() {
    let case = Case::one_group(1, ms(10), every(6, 504, ms(25)));
    let fates = case.run();
    let (yes, no) = (End::InTime, End::Dropped(Drop::Infeasible));
    assert_eq!(ends(&fates[..5]), [yes, yes, yes, yes, no]);
    for round in fates[5..500].chunks(5) {
        assert_eq!(ends(round), [yes, yes, no, yes, no]);
    }
    let begun: Vec<Time> = fates.iter().filter_map(|f| Some(f.0?.1)).collect();
    assert!(begun.windows(2).all(|w| w[1] == w[0] + ms(10)), "it is never idle");
}

#[test]
fn the_expected_end_counts_controller_and_margin_and_may_fall_on_the_deadline() {
    let mut case = Case::one_group(1, ms(10), vec![(Span::ZERO, 0, ms(16))]);
    case.config = Config { margin: ms(4), controller: ms(2), ..PLAIN };
    assert_eq!(ends(&case.run()), [End::InTime]);
    case.arrivals[0].2 = ms(16).minus(Span::from_ns(1));
    assert_eq!(ends(&case.run()), [End::Dropped(Drop::Infeasible)]);
    // The margin is what an overhead may take: more, and what was let in is late.
    case.arrivals[0].2 = ms(16);
    case.overhead = ms(5);
    assert_eq!(ends(&case.run()), [End::Late]);
}

#[test]
fn a_request_goes_to_the_first_of_the_groups_with_the_fewest_in_flight_that_hold_its_model() {
    let groups = vec![(1, vec![0]), (1, vec![0, 1]), (1, vec![1])];
    let at = |t, model| (ms(t), model, Span::MAX);
    let arrivals = vec![at(0, 0), at(1, 0), at(2, 0), at(3, 1), at(4, 1), at(5, 0), at(12, 1)];
    let latency = vec![ms(10); 2];
    let case = Case { groups, latency, arrivals, config: PLAIN, overhead: Span::ZERO };
    let devices: Vec<u32> = case.run().iter().map(|f| f.0.unwrap().0).collect();
    // 0: both idle, the first; 1: the second; 2: one each, the first; 3: group 2 has none; 4: one each,
    // the first of 1 and 2; 5: two each, the first; 12: 0 ended 2, 1 ended 1, so 1 and 2 have one each.
    assert_eq!(devices, [0, 1, 0, 2, 1, 0, 1]);
}

#[test]
fn a_model_that_no_group_holds_fails() {
    let arrivals = vec![(ms(0), 1, Span::MAX), (ms(0), 0, Span::MAX)];
    let case = Case { latency: vec![ms(10); 2], ..Case::one_group(1, ms(10), arrivals) };
    let fates = case.run();
    assert_eq!(ends(&fates), [End::Dropped(Drop::Shed), End::InTime]);
    assert_eq!(fates[0].0, None);
}

#[test]
fn a_pipeline_takes_a_request_each_stage_time_and_each_takes_the_whole_latency() {
    let case = Case::one_group(8, ms(80), vec![(Span::ZERO, 0, Span::MAX); 100]);
    let begun: Vec<Time> = case.run().iter().map(|f| f.0.unwrap().1).collect();
    let expected: Vec<Time> = (0..100).map(|i| Time::ZERO + ms(10) * i).collect();
    assert_eq!(begun, expected, "8 / 80 ms");
    // A request of SLO 149 ms finds room for seven before it, whose 70 ms and its own 80 are too much.
    let tight = Case { arrivals: vec![(Span::ZERO, 0, ms(149)); 9], ..case };
    let in_time = ends(&tight.run()).iter().filter(|e| **e == End::InTime).count();
    assert_eq!(in_time, 7);
}

/// Stages of 80 ms in all, the longest of 15: one request each 15 ms, and never longer than the whole.
#[test]
fn a_pipeline_of_unequal_stages_takes_a_request_each_longest_stage() {
    let mut case = Case::one_group(8, ms(80), vec![(Span::ZERO, 0, Span::MAX); 50]);
    for (longest_stage, gap) in [(1.5, 15), (8.0, 80), (64.0, 80)] {
        case.config = Config { longest_stage, ..PLAIN };
        let begun: Vec<Time> = case.run().iter().map(|f| f.0.unwrap().1).collect();
        let expected: Vec<Time> = (0..50).map(|i| Time::ZERO + ms(gap) * i).collect();
        assert_eq!(begun, expected, "{longest_stage}");
    }
    let alone = Case { groups: vec![(1, vec![0])], ..case };
    assert_eq!(ends(&alone.run()), vec![End::InTime; 50], "one GPU has one stage");
}

#[test]
fn a_pipeline_of_one_stage_is_a_plain_device() {
    for seed in 0..50 {
        let mut case = Case::draw(seed);
        case.groups.iter_mut().for_each(|g| g.0 = 1);
        let mut world = case.world();
        let spec = &mut world.core.devices[0];
        assert_eq!((spec.stages, spec.lanes), (1, 1));
        spec.holds = None;
        assert_eq!(*spec, DeviceSpec::default());
        // And one stage of a device with lanes leaves the other lanes empty.
        assert_eq!(case.run(), case.plain());
    }
}

#[test]
fn a_group_that_fails_loses_what_it_has_and_a_new_one_gets_requests() {
    let at = |t| (ms(t), 0, Span::MAX);
    let arrivals = vec![at(0), at(1), at(2), at(12), at(13), at(15), at(30)];
    let groups = vec![(1, vec![0]), (1, vec![0])];
    let latency = vec![ms(10)];
    let case = Case { groups, latency, arrivals, config: PLAIN, overhead: Span::ZERO };
    let mut world = case.world();
    let like_it = DeviceChange::Added(world.core.devices[1].clone());
    let changes = [(5, DeviceChange::Fail(DeviceId(0))), (14, like_it)];
    world.changes = changes.map(|(at, change)| (Time::ZERO + ms(at), change)).to_vec();
    let fates = case.run_in(&world);
    // 0 and 2 were sent to group 0. Then group 1 is alone, until group 2 has fewer in flight.
    let (yes, lost) = (End::InTime, End::Dropped(Drop::Refused));
    assert_eq!(ends(&fates), [lost, yes, lost, yes, yes, yes, yes]);
    let devices: Vec<Option<u32>> = fates.iter().map(|f| f.0.map(|b| b.0)).collect();
    assert_eq!(devices, [Some(0), Some(1), None, Some(1), Some(1), Some(2), Some(2)]);
}
