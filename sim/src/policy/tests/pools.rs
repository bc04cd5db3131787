//! Kairos and those that it is compared with: the paper's examples by hand, and each policy against a
//! plain and slow one that shares no code with it (`plain`), query by query.

mod plain;

use crate::cluster::DeviceSpec;
use crate::core::{CoreSpec, DeviceChange};
use crate::driver::{World, simulate};
use crate::latency::{Latency, Replay, SampleTable};
use crate::observer::{Batch, Observer};
use crate::policy::pool::Learn;
use crate::policy::{Policy, clkwrk, drs, kairos, ribbon};
use crate::profile::{KindsProfile, ModelProfile};
use crate::request::{AppId, Arrival, DeviceId, ModelId, Request, RequestId, VecSource};
use crate::rng::Stream;
use crate::time::{Span, Time};
use plain::Plain;
use std::sync::Arc;

/// A pool with its queries, small enough for a slow simulator.
pub(super) struct Case {
    /// By kind: the truth.
    pub truth: Vec<Latency>,
    /// By kind: what is believed.
    pub believed: Vec<Latency>,
    pub base: usize,
    /// The kind of each instance.
    pub instances: Vec<usize>,
    /// Arrival and size.
    pub queries: Vec<(Time, u32)>,
    pub qos: Span,
    pub largest: u32,
}

/// What happened to a query: where it was served, from when to when.
pub(super) type Served = Option<(usize, Time, Time)>;

#[derive(Default)]
struct Watch(Vec<Served>);

impl Observer for Watch {
    fn arrived(&mut self, _: Time, _: &Request) {
        self.0.push(None);
    }
    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        assert_eq!(batch.requests.len(), 1, "one query at a time");
        self.0[batch.requests[0].index()] = Some((batch.device.index(), now, Time::NEVER));
    }
    fn ended(&mut self, now: Time, r: &Request, _: crate::request::End, _: Option<Time>) {
        if let Some(served) = &mut self.0[r.id.index()] {
            served.2 = now;
        }
    }
}

impl Case {
    fn profile(&self) -> ModelProfile {
        let (laws, base) = (self.believed.clone(), self.base as u32);
        ModelProfile::of_kinds(KindsProfile { laws, base, largest: self.largest }, self.qos)
    }

    fn run(&self, policy: impl Policy) -> Vec<Served> {
        self.run_with(policy, Vec::new())
    }

    fn run_with(&self, policy: impl Policy, changes: Vec<(Time, DeviceChange)>) -> Vec<Served> {
        let device = |&kind: &usize| DeviceSpec { kind: kind as u32, ..DeviceSpec::default() };
        let world = World {
            core: CoreSpec {
                devices: self.instances.iter().map(device).collect(),
                models: vec![Default::default()],
                ..CoreSpec::default()
            },
            latency: self.truth.iter().map(|law| vec![law.clone()]).collect(),
            changes,
            ..World::default()
        };
        let arrival = |&(at, size): &(Time, u32)| Arrival {
            at,
            app: AppId(0),
            model: ModelId(0),
            size,
            slo: self.qos,
            alone: Span::from_us(1),
        };
        let source = VecSource::new(self.queries.iter().map(arrival).collect());
        simulate(&world, vec![Box::new(source)], policy, Watch::default()).observer.0
    }

    /// How long a query really takes.
    pub fn takes(&self, query: usize, kind: usize) -> Span {
        self.truth[kind].of_batch(self.queries[query].1, Span::ZERO, RequestId(query as u64))
    }

    fn met(&self, served: &[Served]) -> usize {
        let in_time = |(s, q): (&Served, &(Time, u32))| s.unwrap().2 - q.0 <= self.qos;
        served.iter().zip(&self.queries).filter(|p| in_time(*p)).count()
    }

    /// Some pool, some queries: often too many, with ties of instants and of costs.
    fn draw(seed: u64) -> Case {
        let mut draws = Stream::named(seed, "pool case", 0);
        let mut below = |n: u64| draws.below(n);
        let (kinds, unit) =
            (1 + below(3) as usize, Span::from_us([1, 250, 1_000][below(3) as usize]));
        let base = below(kinds as u64) as usize;
        let mut laws = Vec::new();
        for _ in 0..kinds {
            let (alpha, beta) = (1 + below(4), below(20));
            let rows =
                (1..=10).map(|step| (10 * step, unit * (alpha * u64::from(step) + beta + 1)));
            laws.push(rows.collect::<Vec<(u32, Span)>>());
        }
        let noisy = below(2) == 0;
        let truth = |rows: &Vec<(u32, Span)>| {
            if !noisy {
                return Latency::Table(rows.clone());
            }
            let around = |span: Span| [span.scale(0.7), span, span, span.scale(1.4)].to_vec();
            let rows: Vec<_> = rows.iter().map(|&(size, span)| (size, around(span))).collect();
            let table = SampleTable::new(&rows).unwrap();
            Latency::Samples(Replay { table: Arc::new(table), seed })
        };
        let truth: Vec<Latency> = laws.iter().map(truth).collect();
        let instances = (0..1 + below(5)).map(|_| below(kinds as u64) as usize).collect();
        let qos = unit * (10 + below(80));
        let gap = 1 + below(30);
        let mut at = Time::ZERO;
        let query = |_| {
            at += Span::from_ns(unit.ns() * below(gap) / [1, 3][below(2) as usize]);
            (at, 1 + below(100) as u32)
        };
        let queries = (0..24).map(query).collect();
        let believed =
            if noisy { truth.clone() } else { laws.into_iter().map(Latency::Table).collect() };
        Case { truth, believed, base, instances, queries, qos, largest: 100 }
    }
}

fn agree(cases: std::ops::Range<u64>, check: impl Fn(&Case) -> (Vec<Served>, Vec<Served>)) {
    for seed in cases {
        let case = Case::draw(seed);
        let (ours, expected) = check(&case);
        assert!(expected.iter().all(Option::is_some), "case {seed}: the plain one serves all");
        assert_eq!(ours, expected, "case {seed}: instances {:?}", case.instances);
    }
}

#[test]
fn ribbon_is_the_plain_one_query_by_query() {
    agree(0..1_000, |case| {
        (case.run(ribbon::Ribbon::new(&[case.profile()])), Plain::new(case).ribbon())
    });
}

#[test]
fn drs_is_the_plain_one_query_by_query() {
    agree(0..1_000, |case| {
        let threshold = case.queries[0].1;
        let drs = drs::Drs::new(drs::Config { threshold }, &[case.profile()]);
        (case.run(drs), Plain::new(case).drs(threshold))
    });
}

#[test]
fn clkwrk_is_the_plain_one_query_by_query() {
    for choice in [clkwrk::InstanceChoice::EarliestFinish, clkwrk::InstanceChoice::SlowestFeasible]
    {
        agree(0..1_000, |case| {
            let policy = clkwrk::Clkwrk::new(clkwrk::Config { choice }, &[case.profile()]);
            (case.run(policy), Plain::new(case).clkwrk(choice))
        });
    }
}

#[test]
fn kairos_is_the_plain_one_query_by_query() {
    let released = kairos::Config::released();
    let mixed = kairos::Config {
        learn: Learn::Offline,
        penalty: kairos::Penalty::Constants,
        ..kairos::Config::paper()
    };
    let offline = kairos::Config { learn: Learn::Offline, ..kairos::Config::paper() };
    let listed = |config| kairos::Config { ties: kairos::Ties::Listed, ..config };
    let paper = kairos::Config::paper();
    for config in [paper, offline, mixed, released, listed(paper), listed(released)] {
        agree(0..500, |case| {
            let policy = kairos::Kairos::new(config, &[case.profile()]);
            (case.run(policy), Plain::new(case).kairos(config))
        });
    }
}

#[test]
fn kairos_that_looks_at_few_columns_decides_as_if_it_looked_at_all() {
    let penalties = [kairos::Penalty::TenQos, kairos::Penalty::Constants];
    for (seed, penalty) in (2_000..2_600).flat_map(|seed| penalties.map(|p| (seed, p))) {
        let case = Case::draw(seed);
        let config = kairos::Config { penalty, ..kairos::Config::paper() };
        let policy = || kairos::Kairos::new(config, &[case.profile()]);
        assert_eq!(case.run(policy()), case.run(policy().plain()), "case {seed}");
    }
}

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at(t: u64) -> Time {
    Time::ZERO + ms(t)
}

fn table(rows: &[(u32, u64)]) -> Latency {
    Latency::Table(rows.iter().map(|&(size, t)| (size, ms(t))).collect())
}

/// Fig. 5: two instances and four queries, two of which gain much more from the powerful instance than
/// the others. First come, first served gives it to the wrong one, and a query misses its QoS; Kairos
/// serves all four. The figure has no numbers: these are ours, chosen to make its picture.
fn figure_5() -> Case {
    let truth = vec![table(&[(100, 20), (400, 40)]), table(&[(100, 30), (400, 120)])];
    Case {
        believed: truth.clone(),
        truth,
        base: 0,
        instances: vec![0, 1],
        queries: vec![(at(0), 100), (at(1), 400), (at(31), 100), (at(32), 400)],
        qos: ms(62),
        largest: 400,
    }
}

#[test]
fn figure_5_kairos_serves_four_queries_where_first_come_first_served_serves_three() {
    let case = figure_5();
    let fcfs = case.run(ribbon::Ribbon::new(&[case.profile()]));
    let config = kairos::Config { learn: Learn::Offline, ..kairos::Config::paper() };
    let ours = case.run(kairos::Kairos::new(config, &[case.profile()]));
    assert_eq!((case.met(&fcfs), case.met(&ours)), (3, 4));
    let on = |served: &[Served]| served.iter().map(|s| s.unwrap().0).collect::<Vec<_>>();
    assert_eq!(on(&ours), [1, 0, 1, 0], "those that gain most are on the powerful instance");
}

/// §5.1: C_j of 100, 200 and 500 ms are 1, 0.5 and 0.2.
#[test]
fn the_coefficients_of_the_papers_example() {
    let laws = [100, 200, 500].map(|t| table(&[(1_000, t)])).to_vec();
    let kinds = KindsProfile { laws, base: 0, largest: 1_000 };
    let profile = ModelProfile::of_kinds(kinds, ms(350));
    let estimates = crate::policy::pool::Estimates::new(&[profile], Learn::Offline, |s| s);
    assert_eq!([0, 1, 2].map(|kind| estimates.coefficient(0, kind)), [1.0, 0.5, 0.2]);
}

/// Two instances of one kind, the first of which is busy, and two queries that wait: each pairing costs
/// the same. By the list the oldest query has the busy one, and the younger one is served at once.
#[test]
fn ties_are_broken_by_what_is_idle_or_by_the_list() {
    let truth = vec![table(&[(100, 20), (400, 40)])];
    let case = Case {
        believed: truth.clone(),
        truth,
        base: 0,
        instances: vec![0, 0],
        queries: vec![(at(0), 400), (at(1), 100), (at(2), 100), (at(3), 100)],
        qos: ms(200),
        largest: 400,
    };
    let served = |ties| {
        let config = kairos::Config { ties, ..kairos::Config::released() };
        let served = case.run(kairos::Kairos::new(config, &[case.profile()]));
        served.into_iter().map(|s| s.map(|(i, start, _)| (i, start))).collect::<Vec<_>>()
    };
    // Until 21 ms both are busy. Then instance 1 is idle and instance 0 is not until 40 ms.
    let first = [Some((0, at(0))), Some((1, at(1)))];
    let idle_first = served(kairos::Ties::IdleFirst);
    assert_eq!(idle_first, [first[0], first[1], Some((1, at(21))), Some((0, at(40)))]);
    let listed = served(kairos::Ties::Listed);
    assert_eq!(listed, [first[0], first[1], Some((0, at(40))), Some((1, at(21)))]);
}

#[test]
fn a_query_waits_for_a_busy_instance_rather_than_miss_its_qos_on_an_idle_one() {
    let truth = vec![table(&[(400, 40)]), table(&[(400, 120)])];
    let case = Case {
        believed: truth.clone(),
        truth,
        base: 0,
        instances: vec![0, 1],
        queries: vec![(at(0), 400), (at(10), 400)],
        qos: ms(80),
        largest: 400,
    };
    let config = kairos::Config { learn: Learn::Offline, ..kairos::Config::paper() };
    let served = case.run(kairos::Kairos::new(config, &[case.profile()]));
    assert_eq!(served[1], Some((0, at(40), at(80))));
    // With the released constants, too.
    let served = case.run(kairos::Kairos::new(kairos::Config::released(), &[case.profile()]));
    assert_eq!(served[1], Some((0, at(40), at(80))));
}

#[test]
fn queries_that_find_no_instance_are_served_in_their_order_by_the_next_one() {
    let law = table(&[(10, 5), (100, 5)]);
    let case = Case {
        truth: vec![law.clone()],
        believed: vec![law],
        base: 0,
        instances: vec![0],
        queries: (10..15).map(|t| (at(t), 10)).collect(),
        qos: ms(500),
        largest: 100,
    };
    let changes = vec![
        (at(1), DeviceChange::Fail(DeviceId(0))),
        (at(50), DeviceChange::Added(DeviceSpec::default())),
    ];
    let config = clkwrk::Config { choice: clkwrk::InstanceChoice::EarliestFinish };
    let policy = clkwrk::Clkwrk::new(config, &[case.profile()]);
    let served = case.run_with(policy, changes);
    let expected: Vec<Served> = (0..5).map(|i| Some((1, at(50 + 5 * i), at(55 + 5 * i)))).collect();
    assert_eq!(served, expected);
}
