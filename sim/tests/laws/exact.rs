//! Laws that hold to the nanosecond: queues without chance, Little's law, utilisation, and books
//! that balance.

use super::harness::*;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::{Delays, DeviceChange};
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::metrics::{Figures, Metrics, Window};
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::{AppId, Arrival, DeviceId, Drop, End, ModelId, Request, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

const N: u64 = if cfg!(debug_assertions) { 20_000 } else { 300_000 };

/// Everything that ended, in that order.
#[derive(Default)]
struct Ends(Vec<(Request, End, Option<Time>, Time)>);

impl Observer for Ends {
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        self.0.push((*request, end, start, now));
    }
}

impl Ends {
    fn latencies(&self) -> impl Iterator<Item = Span> {
        self.0.iter().map(|(request, _, _, now)| *now - request.arrival)
    }

    fn sojourn_ns(&self) -> u128 {
        self.latencies().map(|l| u128::from(l.ns())).sum()
    }
}

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at_ms(at: u64) -> Time {
    Time::ZERO + ms(at)
}

fn arrival(at: Time, alone: Span) -> Arrival {
    Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: Span::MAX, alone }
}

fn regular(n: u64, gap: Span, alone: Span) -> Vec<Arrival> {
    (0..n).map(|i| arrival(Time::ZERO + gap * i, alone)).collect()
}

fn watch(world: &World, arrivals: Vec<Arrival>, policy: impl Policy) -> (Ends, Metrics) {
    let source = Box::new(VecSource::new(arrivals));
    simulate(world, vec![source], policy, (Ends::default(), Metrics::new(Window::default(), true)))
        .observer
}

/// Busy arrivals of three apps and two models with sizes, deadlines and execution times by chance.
fn by_chance(n: u64) -> Vec<Arrival> {
    let mut stream = Stream::named(1, "exact", 0);
    let mut at = Time::ZERO;
    let draw = |_| {
        at += Span::from_ns(stream.below(1_200_000));
        Arrival {
            at,
            app: AppId(stream.below(3) as u32),
            model: ModelId(stream.below(2) as u32),
            size: 1 + stream.below(3) as u32,
            slo: Span::from_ns(stream.below(6_000_000)),
            alone: Span::from_ns(1 + stream.below(1_000_000)),
        }
    };
    (0..n).map(draw).collect()
}

/// Two devices, two models, all delays, and a device that fails and is replaced.
fn eventful() -> World {
    let mut world = servers(2);
    world.core.models = vec![Default::default(); 2];
    world.core.delays = Delays {
        dispatch: Span::from_ns(1_001).into(),
        fetch_per_request: Span::from_ns(503),
        result: Span::from_ns(2_003).into(),
        reply: Span::from_ns(40_009).into(),
        seed: 0,
    };
    let affine = Latency::Affine { alpha: Span::from_us(300), beta: Span::from_us(500) };
    world.latency = vec![vec![Latency::Proportional { c1: 0.5 }, affine]];
    world.changes = vec![
        (at_ms(200), DeviceChange::Fail(DeviceId(1))),
        (at_ms(300), DeviceChange::Added(DeviceSpec::default())),
    ];
    world
}

fn greedy(drop_expired: bool) -> Fifo {
    Fifo::new(Config { max_batch: 4, drop_expired })
}

#[test]
fn dd1_below_saturation_answers_each_request_in_its_service_time() {
    let arrivals = regular(N, Span::from_ns(10_000_001), ms(10));
    let (ends, metrics) = watch(&servers(1), arrivals, fifo());
    assert_eq!(ends.0.len() as u64, N);
    assert!(ends.latencies().all(|l| l == ms(10)));
    assert_eq!(metrics.total().queueing.sum_ns(), 0);
    assert_eq!(metrics.devices()[0].busy, ms(10) * N);
    assert_eq!(metrics.end(), Time::ZERO + Span::from_ns(10_000_001) * (N - 1) + ms(10));
}

#[test]
fn dd1_at_saturation_never_idles_and_never_waits() {
    let (ends, metrics) = watch(&servers(1), regular(N, ms(10), ms(10)), fifo());
    assert!(ends.latencies().all(|l| l == ms(10)));
    assert_eq!(metrics.devices()[0].utilisation(), 1.0);
}

#[test]
fn dd1_above_saturation_falls_behind_by_the_same_time_with_each_request() {
    let (ends, metrics) = watch(&servers(1), regular(N, ms(7), ms(10)), fifo());
    assert!(ends.latencies().zip(0..).all(|(l, i)| l == ms(10) + ms(3) * i));
    let (mean, n) = (u128::from(ms(10).ns()), u128::from(N));
    let sum = mean * n + u128::from(ms(3).ns()) * (n * (n - 1) / 2);
    assert_eq!(metrics.total().latency.sum_ns(), sum);
    assert_eq!(metrics.total().queueing.sum_ns(), sum - mean * n);
}

#[test]
fn an_answer_at_the_deadline_is_in_time_and_a_nanosecond_later_is_late() {
    for (slo_ns, end) in [(10_000_000, End::InTime), (9_999_999, End::Late)] {
        let mut arrivals = regular(100, ms(20), ms(10));
        arrivals.iter_mut().for_each(|a| a.slo = Span::from_ns(slo_ns));
        let (_, metrics) = watch(&servers(1), arrivals, fifo());
        assert_eq!(metrics.total().ended(end), 100, "{slo_ns}");
    }
    // Who is served at its deadline is served; who would be served after it is not.
    let fifo = || Fifo::new(Config { max_batch: 1, drop_expired: true });
    for (slo_ns, end) in [(10_000_000, End::Late), (9_999_999, End::Dropped(Drop::Expired))] {
        let mut arrivals = regular(2, Span::ZERO, ms(10));
        arrivals[1].slo = Span::from_ns(slo_ns);
        let (ends, _) = watch(&servers(1), arrivals, fifo());
        assert_eq!(ends.0[1].1, end, "{slo_ns}");
    }
}

#[test]
fn ddc_takes_turns() {
    // Three devices, 10 ms of service, a gap of 3 ms: each c-th request waits 1 ms more.
    let (ends, metrics) = watch(&servers(3), regular(N, ms(3), ms(10)), fifo());
    assert!(ends.latencies().zip(0..).all(|(l, i)| l == ms(10) + ms(1) * (i / 3)));
    let shares: Vec<u64> = metrics.devices().iter().map(|d| d.batches).collect();
    assert!(shares.iter().all(|s| s.abs_diff(N / 3) <= 1), "{shares:?}");
}

#[test]
fn dd1_with_delays_pays_each_of_them_where_it_belongs() {
    let mut world = servers(1);
    let us = Span::from_us;
    world.core.delays = Delays {
        dispatch: us(10).into(),
        fetch_per_request: us(200),
        result: us(3_000).into(),
        reply: us(4).into(),
        seed: 0,
    };
    // Alone: there, fetched, computed, and back to the client.
    let (ends, metrics) = watch(&world, regular(N, ms(100), ms(10)), fifo());
    assert!(ends.latencies().all(|l| l == us(10 + 200 + 10_000 + 4)));
    assert_eq!(metrics.devices()[0].busy, us(10_200) * N, "fetching keeps a device busy");
    assert_eq!(metrics.total().queueing.sum_ns(), u128::from((us(10) * N).ns()));
    // In a row: the next leaves only when the policy has heard of the last.
    let (ends, _) = watch(&world, regular(N, us(13_000), ms(10)), fifo());
    let late = |i: u64| us(10 + 200 + 10_000 + 3_000 - 13_000) * i;
    assert!(ends.latencies().zip(0..).all(|(l, i)| l == us(10_214) + late(i)));
}

#[test]
fn bulk_service_by_hand() {
    // k ms + 2 ms for a batch of k, at most 3. A result comes before an arrival of its instant.
    //   0: r0 alone, until 3.           3: r1 r2, and r3 comes too late for it, until 7.
    //   7: r3 r4, again without r5, until 11.       11: r5 r6 r7 of four, until 16.
    //   16: r8, until 19.               30: r9, until 33.
    let affine = Latency::Affine { alpha: ms(1), beta: ms(2) };
    let at = [0, 1, 2, 3, 4, 7, 8, 9, 10, 30];
    let arrivals = at.map(|t| arrival(at_ms(t), Span::ZERO)).to_vec();
    let fifo = Fifo::new(Config { max_batch: 3, drop_expired: false });
    let (ends, metrics) = watch(&World::single(affine), arrivals, fifo);
    let latencies: Vec<u64> = ends.latencies().map(|l| l.ns() / 1_000_000).collect();
    assert_eq!(latencies, [3, 6, 5, 8, 7, 9, 8, 7, 9, 3]);
    assert_eq!(metrics.batch_sizes(), [0, 3, 2, 1]);
    assert_eq!(metrics.devices()[0].busy, ms(3 + 4 + 4 + 5 + 3 + 3));
    assert_eq!(metrics.in_system_ns(), 65 * 1_000_000);
    assert_eq!(metrics.end(), at_ms(33));
}

#[test]
fn dd_bulk_above_saturation_fills_every_batch() {
    // 4 + 2 ms for a full batch of 4 and one arrival a millisecond: r0; r1 and r2, who came before
    // 3 ms; then always four; and one that is left over at the end.
    let affine = Latency::Affine { alpha: ms(1), beta: ms(2) };
    let n = 4 * (N / 4);
    let (_, metrics) = watch(&World::single(affine), regular(n, ms(1), Span::ZERO), greedy(false));
    assert_eq!(metrics.batch_sizes(), [0, 2, 1, 0, n / 4 - 1]);
    assert_eq!(metrics.devices()[0].busy, ms(3 + 4 + 3) + ms(6) * (n / 4 - 1));
    assert_eq!(metrics.devices()[0].busy, metrics.end() - Time::ZERO, "it never idles");
}

#[test]
fn littles_law_is_exact_when_everybody_is_answered() {
    let (ends, metrics) = watch(&servers_of_two_models(), by_chance(N), greedy(false));
    let total = metrics.total();
    assert_eq!(total.latency.count(), N);
    assert_eq!(metrics.in_system_ns(), total.latency.sum_ns());
    assert_eq!(metrics.in_system_ns(), ends.sojourn_ns());
}

#[test]
fn littles_law_is_exact_with_drops_delays_and_a_failure() {
    let (ends, metrics) = watch(&eventful(), by_chance(N), greedy(true));
    let total = metrics.total();
    assert!(total.ended(End::Dropped(Drop::Expired)) > N / 100);
    assert!(total.ended(End::Dropped(Drop::Refused)) > 0, "the failure strikes a batch");
    assert_eq!(metrics.in_system_ns(), ends.sojourn_ns());
}

fn servers_of_two_models() -> World {
    let mut world = servers(2);
    world.core.models = vec![Default::default(); 2];
    world.latency = vec![vec![Latency::Proportional { c1: 0.5 }; 2]];
    world
}

#[test]
fn a_device_is_busy_for_the_sum_of_its_service_times() {
    let mut arrivals = by_chance(N);
    arrivals.iter_mut().for_each(|a| a.size = 1);
    let service: Span = arrivals.iter().map(|a| a.alone).sum();
    let (_, metrics) = watch(&servers_of_two_models(), arrivals, fifo());
    let busy: Span = metrics.devices().iter().map(|d| d.busy).sum();
    assert_eq!(busy, service);
    assert!(metrics.devices().iter().all(|d| d.up == metrics.end() - Time::ZERO));
    let total = metrics.total();
    let served = total.latency.sum_ns() - total.queueing.sum_ns();
    assert_eq!(served, u128::from(service.ns()), "a sojourn is a wait and a service");
}

fn balances(figures: &Figures) {
    assert_eq!(figures.offered, figures.ends.iter().sum::<u64>());
    let answered = figures.ended(End::InTime) + figures.ended(End::Late);
    assert_eq!(figures.latency.count(), answered);
    assert_eq!(figures.queueing.count(), answered);
    assert_eq!(figures.dropped() + answered + figures.ended(End::Pending), figures.offered);
}

#[test]
fn offered_is_the_sum_of_the_ends_whatever_happens() {
    let mut stopped = eventful();
    stopped.until = Some(at_ms(5_000));
    for world in [eventful(), stopped, servers_of_two_models()] {
        for policy in [
            Box::new(greedy(true)) as Box<dyn Policy>,
            Box::new(greedy(false)),
            Box::new(Loss::default()),
            Box::new(Impatient::default()),
        ] {
            let (ends, metrics) = watch(&world, by_chance(N), policy);
            let mut seen: Vec<u64> = ends.0.iter().map(|e| e.0.id.0).collect();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..seen.len() as u64), "each request ends once");
            metrics.models().iter().chain(&metrics.apps()).for_each(balances);
            let total = metrics.total();
            balances(&total);
            assert_eq!(total.offered, seen.len() as u64);
            assert_eq!(total.offered, metrics.apps().iter().map(|a| a.offered).sum::<u64>());
            assert_eq!(total.offered == N, world.until.is_none());
        }
    }
}

#[test]
fn until_leaves_the_rest_pending_counted_and_named() {
    // One arrival a millisecond, 10 ms of service: by 25 ms (that instant included) 26 came, two
    // were answered and r2 is in service.
    let mut world = servers(1);
    world.until = Some(at_ms(25));
    let source = Box::new(VecSource::new(regular(1_000, ms(1), ms(10))));
    let finished = simulate(&world, vec![source], fifo(), (Ends::default(), Metrics::default()));
    assert_eq!(finished.end, at_ms(25));
    let (ends, metrics) = finished.observer;
    let story: Vec<_> = ends.0.iter().map(|(r, end, start, _)| (r.id.0, *end, *start)).collect();
    let mut expected = vec![(0, End::InTime, Some(at_ms(0))), (1, End::InTime, Some(at_ms(10)))];
    expected.push((2, End::Pending, Some(at_ms(20))));
    expected.extend((3..26).map(|id| (id, End::Pending, None)));
    assert_eq!(story, expected);

    let total = metrics.total();
    assert_eq!((total.offered, total.ended(End::InTime), total.ended(End::Pending)), (26, 2, 24));
    assert_eq!(metrics.end(), at_ms(25));
    assert_eq!(metrics.in_system_ns(), ends.sojourn_ns(), "the pending have been there until now");
}

#[test]
fn a_stopped_run_is_the_beginning_of_the_whole_one() {
    let (whole, _) = watch(&eventful(), by_chance(N), greedy(true));
    let mut world = eventful();
    let until = at_ms(2_000);
    world.until = Some(until);
    let (part, _) = watch(&world, by_chance(N), greedy(true));
    let ended = part.0.iter().filter(|e| e.1 != End::Pending);
    assert!(ended.eq(whole.0.iter().filter(|e| e.3 <= until)));
}
