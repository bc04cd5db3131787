//! The bound against closed forms, and against all schedules of tiny worlds.

use super::*;
use crate::setup::{Workload, applications};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::World;
use orrery_sim::latency::{Grid, Latency, Noise};
use orrery_sim::request::{AppId, ModelId, VecSource};
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::exec_time::ExecLaw;
use std::rc::Rc;

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn request(at_ms: u64, slo_ms: u64, alone_ms: u64) -> Arrival {
    let (app, model) = (AppId(0), ModelId(0));
    Arrival {
        at: Time::ZERO + ms(at_ms),
        app,
        model,
        size: 1,
        slo: ms(slo_ms),
        alone: ms(alone_ms),
    }
}

fn setup(world: World, requests: Vec<Arrival>) -> Setup {
    let sources = move |_| Ok(vec![Box::new(VecSource::new(requests.clone())) as Box<dyn Source>]);
    let apps = applications(vec![(1.0, ExecLaw::Constant(ms(10)))], ms(10));
    let workload = Workload::Sources(Rc::new(sources));
    let single = Setup::single(Latency::Proportional { c1: 0.1 }, apps, ms(10), workload);
    Setup { world, ..single }
}

fn in_time(world: World, requests: Vec<Arrival>) -> u64 {
    Bound::of(&setup(world, requests), 1).expect("a world with a bound").in_time
}

/// The most requests in time of all schedules: every order of every batch on every device. Nothing here is the
/// bound's.
fn all_schedules(world: &World, requests: &[Arrival], done: u32, free: &mut [Time]) -> u32 {
    let mut most = done.count_ones();
    for batch in (1..1u32 << requests.len()).filter(|b| b & done == 0) {
        let members = || (0..requests.len()).filter(|i| batch >> i & 1 == 1).map(|i| &requests[i]);
        let model = members().map(|r| r.model).next().unwrap();
        if members().any(|r| r.model != model) {
            continue;
        }
        let units = members().map(|r| r.size).sum();
        let longest = members().map(|r| r.alone).max().unwrap();
        let arrived = members().map(|r| r.at).max().unwrap();
        for device in 0..free.len() {
            let before = free[device];
            let kind = world.core.devices[device].kind as usize;
            let end =
                before.max(arrived) + world.latency[kind][model.index()].batch(units, longest);
            if members().all(|r| end <= r.at + r.slo) {
                free[device] = end;
                most = most.max(all_schedules(world, requests, done | batch, free));
                free[device] = before;
            }
        }
    }
    most
}

fn law(stream: &mut Stream) -> Latency {
    let mut span = |from: u64, to: u64| Span::from_us(from + stream.below(to - from));
    let (a, b, c, d) = (span(100, 6_000), span(0, 9_000), span(1, 1_500), span(1, 9_000));
    let c1 = c.ns() as f64 / 1e6;
    match stream.below(6) {
        0 => Latency::Affine { alpha: a, beta: b },
        1 => Latency::Eq3 { c0: b, c1 },
        2 => Latency::Proportional { c1 },
        3 => Latency::Poly { c0: b, c1, c2_per_s: 20.0 },
        // Rows need not grow.
        4 => Latency::Table(vec![(1, a), (2, a + c), (3, d), (6, a + b)]),
        _ => Latency::Grid(Grid {
            lengths: vec![ms(3), ms(8)],
            rows: vec![(1, vec![a, a + b]), (2, vec![d, a + c]), (4, vec![a + b, d + b])],
        }),
    }
}

/// A world of one or two devices, of one or two kinds, and its requests; alike in every third.
fn tiny(stream: &mut Stream) -> (World, Vec<Arrival>) {
    let kinds = 1 + stream.below(2) as u32;
    let models = 1 + stream.below(2) as u32;
    let alike = stream.below(3) == 0;
    let mut laws = || (0..models).map(|_| law(stream)).collect();
    let mut world = World { latency: (0..kinds).map(|_| laws()).collect(), ..World::default() };
    world.core.models = vec![Default::default(); models as usize];
    let devices = if kinds == 2 { 2 } else { 1 + stream.below(2) as u32 };
    let device = |i: u32| DeviceSpec { kind: i.min(kinds - 1), ..DeviceSpec::default() };
    world.core.devices = (0..devices).map(device).collect();
    let (mut at, slo) = (Time::ZERO, Span::from_us(2_000 + stream.below(30_000)));
    let n = 2 + stream.below(if devices == 1 { 5 } else { 4 });
    let one = |_| {
        at += Span::from_us(stream.below(3) * stream.below(8_000));
        let model = ModelId(stream.below(u64::from(models)) as u32);
        let own = Span::from_us(2_000 + stream.below(30_000));
        let size = if stream.below(4) == 0 { 1 + stream.below(3) as u32 } else { 1 };
        let alone = Span::from_us(1_000 + stream.below(11_000));
        let a = Arrival { at, app: AppId(0), model, size, slo: own, alone };
        if alike { Arrival { model: ModelId(0), size: 1, slo, alone: ms(5), ..a } } else { a }
    };
    let requests = (0..n).map(one).collect();
    (world, requests)
}

#[test]
fn no_schedule_of_ten_thousand_tiny_worlds_is_above_the_bound() {
    let mut stream = Stream::named(1, "bound", 0);
    let (mut exact, mut sum) = (0, [0, 0, 0]);
    for number in 0..10_000 {
        let (world, requests) = tiny(&mut stream);
        let mut free = vec![Time::ZERO; world.core.devices.len()];
        let best = u64::from(all_schedules(&world, &requests, 0, &mut free));
        let bound = in_time(world.clone(), requests.clone());
        assert!(best <= bound, "world {number}: {best} > {bound}: {world:?} {requests:?}");
        exact += u32::from(best == bound);
        [best, bound, requests.len() as u64].iter().zip(&mut sum).for_each(|(n, sum)| *sum += n);
    }
    println!("exact in {exact} of 10,000; best, bound, requests: {sum:?}");
    assert!(exact > 6_000 && sum[1] < sum[2], "{exact} {sum:?}");
}

#[test]
fn more_devices_and_longer_slos_never_lower_it() {
    let mut stream = Stream::named(2, "bound", 0);
    for _ in 0..500 {
        let (mut world, mut requests) = tiny(&mut stream);
        let bound = in_time(world.clone(), requests.clone());
        let device = world.core.devices[0].clone();
        requests.iter_mut().for_each(|r| r.slo = r.slo.scale(1.3));
        let longer = in_time(world.clone(), requests.clone());
        world.core.devices.push(device);
        let more = in_time(world, requests);
        assert!(bound <= longer && longer <= more, "{bound} {longer} {more}");
    }
}

#[test]
fn closed_forms() {
    let single = || World::single(Latency::Proportional { c1: 0.1 });
    assert_eq!(in_time(single(), vec![request(0, 10, 10)]), 1, "it just fits");
    assert_eq!(in_time(single(), vec![request(0, 9, 10)]), 0);
    // One each 5 ms takes 10 ms and has no time to wait for another: every second.
    let stream: Vec<Arrival> = (0..1000).map(|i| request(5 * i, 10, 10)).collect();
    assert_eq!(in_time(single(), stream.clone()), 500);
    let mut two = single();
    two.core.devices = vec![DeviceSpec::default(); 2];
    assert_eq!(in_time(two, stream), 1000);
    // Of 100 at once, batches of 11 take 20 ms: two of these within 40 ms, or one of 31.
    assert_eq!(in_time(single(), vec![request(0, 40, 10); 100]), 31);
    // Without a deadline all end.
    let endless = Arrival { slo: Span::MAX, ..request(0, 1, 10) };
    assert_eq!(in_time(single(), vec![endless; 5]), 5);
}

#[test]
fn slower_devices_count_as_parts_of_the_fastest_and_noise_by_its_least_factor() {
    let law = |ms: u64| vec![Latency::Affine { alpha: Span::from_ms(ms), beta: Span::ZERO }];
    let stream = || (0..4000).map(|i| request(5 * (i / 4), 200, 1)).collect::<Vec<_>>();
    let mut world = World::single(law(2)[0].clone());
    world.latency.push(law(4));
    world.core.devices.push(DeviceSpec { kind: 1, ..DeviceSpec::default() });
    // 5,195 ms at 1 / 2 and 1 / 4 a millisecond.
    let bound = in_time(world.clone(), stream());
    assert!(bound.abs_diff(5_195 * 3 / 4) <= 1, "{bound}");
    world.noise = Noise::Uniform { spread: 0.5, seed: 1 };
    assert!(
        in_time(world, stream()) == 4000,
        "a first request of little noise may lead every batch"
    );
}

#[test]
fn worlds_whose_requests_or_devices_depend_on_the_scheduler_have_no_bound() {
    struct Closed;
    impl Source for Closed {
        fn peek(&mut self) -> Option<Time> {
            None
        }
        fn pop(&mut self) -> Option<Arrival> {
            None
        }
        fn is_closed_loop(&self) -> bool {
            true
        }
    }
    let mut closed = setup(World::single(Latency::Proportional { c1: 0.1 }), Vec::new());
    assert_eq!(Bound::of(&closed, 1).unwrap().finish_rate(), 1.0, "of nothing");
    let sources = |_| Ok(vec![Box::new(Closed) as Box<dyn Source>]);
    closed.workload = Workload::Sources(Rc::new(sources));
    let error = Bound::of(&closed, 1).unwrap_err().to_string();
    assert!(error.contains("closed loop"), "{error}");
}

#[test]
fn requests_before_the_window_do_not_count_and_those_after_the_end_do_not_arrive() {
    let arrivals = ArrivalLaw::Constant { rate_per_s: 100.0 };
    let workload = Workload::Open { arrivals, requests: 100, until: Time::NEVER };
    let apps = applications(vec![(1.0, ExecLaw::Constant(ms(10)))], ms(10));
    let mut setup = Setup::single(Latency::Proportional { c1: 0.1 }, apps, ms(10), workload);
    assert_eq!(Bound::of(&setup, 1).unwrap(), Bound { offered: 100, in_time: 100 });
    setup.window.from = Time::ZERO + ms(491);
    assert_eq!(Bound::of(&setup, 1).unwrap(), Bound { offered: 50, in_time: 50 });
    setup.world.until = Some(Time::ZERO + ms(699));
    assert_eq!(Bound::of(&setup, 1).unwrap(), Bound { offered: 20, in_time: 20 });
}
