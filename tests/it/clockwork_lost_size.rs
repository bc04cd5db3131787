//! A batch size whose estimate exceeds the SLO is never measured again (Clockwork, as published and as
//! released). What the sizes above the smallest must still do, and what `probe_s` changes.

use orrery_run::PolicySpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, End, ModelId, VecSource};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::ArrivalLaw;

const SLO: Span = Span::from_ms(25);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// Poisson arrivals for so long, each of which takes `alone`.
fn arrivals(rate_per_s: f64, seconds: u64, alone: Span) -> Vec<Arrival> {
    let mut process = ArrivalLaw::Poisson { rate_per_s }.start(1, 0).expect("a rate");
    let until = Time::ZERO + Span::from_secs(seconds);
    let times = std::iter::from_fn(|| process.next().filter(|at| *at < until));
    let (app, model) = (AppId(0), ModelId(0));
    times.map(|at| Arrival { at, app, model, size: 1, slo: SLO, alone }).collect()
}

/// The sizes of batches issued after an instant, and of the requests that came after it, the share
/// that was in time.
fn run(
    policy: &str,
    law: Latency,
    profile: ModelProfile,
    arrivals: Vec<Arrival>,
    after: Time,
) -> (Vec<usize>, f64) {
    let policy = PolicySpec::parse(policy).expect("a policy").build(&[profile], 1);
    let came: Vec<Time> = arrivals.iter().map(|a| a.at).collect();
    let source = Box::new(VecSource::new(arrivals));
    let log = simulate(&World::single(law), vec![source], policy, MemoryLog::default()).observer;
    let (mut sizes, mut in_time, mut counted) = (Vec::new(), 0, 0);
    for record in log.records {
        match record {
            Record::Issue { time, batch } if time > after => sizes.push(batch.requests.len()),
            Record::End { request, end, .. } if came[request.index()] > after => {
                counted += 1;
                in_time += u32::from(end == End::InTime);
            }
            _ => {}
        }
    }
    (sizes, f64::from(in_time) / f64::from(counted))
}

/// Sizes of 1, 2, 4, 8 take 2, 3, 5, 9 ms, but 20 ms are believed of a batch of one.
#[test]
fn when_batches_of_one_are_out_of_reach_pairs_still_run() {
    let table = |one| Latency::Table(vec![(1, ms(one)), (2, ms(3)), (4, ms(5)), (8, ms(9))]);
    let draw = || (0, ms(2));
    let profile = ModelProfile::measure(&table(20), SLO, &[1, 2, 4, 8], 1, draw, 1);
    let arrivals = arrivals(500.0, 20, ms(2));
    let (sizes, in_time) = run("clockwork", table(2), profile, arrivals, Time::ZERO);
    assert!(in_time >= 0.99, "{in_time}");
    let of = |k| sizes.iter().filter(|&&size| size == k).count();
    assert_eq!(of(1), 0, "a batch of one is believed to be late");
    assert!(of(2) > 4_900 && of(2) * 100 >= sizes.len() * 99, "{} of {}", of(2), sizes.len());
}

/// 3 ms alone, half as much for each further request, 30 % load; the 6,000th request takes 21 ms.
/// After that a batch of one is believed to take 21 ms, of 20 that it may take.
fn after_one_long_request(policy: &str) -> (Vec<usize>, f64) {
    let law = Latency::Proportional { c1: 0.5 };
    let profile = ModelProfile::measure(&law, SLO, &[1, 2, 4, 8, 16], 1, || (0, ms(3)), 1);
    let mut arrivals = arrivals(100.0, 120, ms(3));
    arrivals[6_000].alone = ms(21);
    let after = arrivals[6_000].at + Span::from_secs(1);
    run(policy, law, profile, arrivals, after)
}

#[test]
fn one_long_request_loses_its_size_for_ever_and_no_other() {
    let (sizes, in_time) = after_one_long_request("clockwork");
    assert!((0.8..0.95).contains(&in_time), "{in_time}");
    assert!(!sizes.contains(&1), "size 1 is lost for good");
    assert!(sizes.contains(&2));
}

#[test]
fn with_a_probe_a_lost_size_comes_back() {
    let (sizes, in_time) = after_one_long_request("clockwork[probe_s=2]");
    assert!(in_time > 0.97, "{in_time}");
    assert!(sizes.contains(&1));
}
