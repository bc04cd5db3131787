//! Runs on pools against scenario files, and what a run says of itself.

use super::*;
use crate::Scenario;
use orrery_sim::observer::Observer;
use orrery_sim::request::{End, Request};

const COUNTS: [u32; 4] = [2, 0, 9, 0];

/// The latencies of all queries, and how many were within their QoS.
#[derive(Default)]
struct Whole {
    latencies: Vec<Span>,
    met: usize,
}

impl Observer for Whole {
    fn ended(&mut self, now: Time, request: &Request, end: End, _: Option<Time>) {
        self.latencies.push(now - request.arrival);
        self.met += usize::from(end == End::InTime);
    }
}

impl Whole {
    /// Whether 99 % of the queries were within their QoS, and the latency that 99 % do not exceed.
    fn p99(mut self) -> (bool, Span) {
        let needed = (self.latencies.len() * 99).div_ceil(100);
        (self.met >= needed, *self.latencies.select_nth_unstable(needed - 1).1)
    }
}

fn with_run<T>(policy: &str, rate_per_s: f64, then: impl FnOnce(&PoolRun<'_>) -> T) -> T {
    then(&PoolRun {
        model: &PoolModel::kairos("rm2").unwrap(),
        counts: &COUNTS,
        policy: &PolicySpec::parse(policy).unwrap(),
        arrivals: &ArrivalLaw::Poisson { rate_per_s },
        sizes: &SizeLaw::Kairos,
        queries: 4_000,
        warm_up: 0,
        percentile: 0.99,
        seed: 5,
    })
}

fn whole(run: &PoolRun<'_>) -> Whole {
    run.setup().unwrap().run_with(run.policy, run.seed, Whole::default()).unwrap().observer.1
}

/// The same pool, as a file says it.
#[test]
fn a_pool_is_the_scenario_of_the_same_pool() {
    let text = "policies = [\"fifo\"]\n[[zoo]]\nname = \"kairos\"\nmodels = [\"rm2\"]\n\
                [[device]]\nkind = \"g4dn.xlarge\"\ncount = 2\nprice_usd_per_hour = 0.526\n\
                [[device]]\nkind = \"r5n.large\"\ncount = 9\nprice_usd_per_hour = 0.149\n\
                [arrivals]\npoisson = { rate_per_s = 60 }\nrequests = 4000\n";
    let setup = Scenario::from_text("t.toml", text).unwrap().setup(5).unwrap();
    for policy in ["kairos", "kairos[preset=paper]", "ribbon", "drs", "clkwrk"] {
        let total = setup.run(&PolicySpec::parse(policy).unwrap(), 5).unwrap().total();
        let ours = with_run(policy, 60.0, whole);
        assert_eq!((ours.latencies.len(), ours.met as u64), (4_000, total.ends[0]), "{policy}");
    }
}

#[test]
fn a_probe_says_what_the_whole_run_shows() {
    for policy in ["kairos", "ribbon"] {
        let mut verdicts = Vec::new();
        for rate in [10.0, 30.0, 50.0, 70.0, 200.0] {
            let whole = with_run(policy, rate, whole);
            let probe = with_run(policy, rate, |run| probe(run, rate, 0.02).unwrap());
            let (holds, tail) = whole.p99();
            assert_eq!(holds, probe.good, "{policy} at {rate}");
            let qos = PoolModel::kairos("rm2").unwrap().qos;
            assert_eq!(holds, tail <= qos, "the percentile says the same");
            verdicts.push(holds);
        }
        assert!(verdicts[0] && !verdicts[4], "{policy}: {verdicts:?}");
    }
}

#[test]
fn wrong_counts_are_errors() {
    let model = PoolModel::kairos("ncf").unwrap();
    let policy = PolicySpec::parse("ribbon").unwrap();
    for counts in [vec![1, 2], vec![0; 4]] {
        let run = PoolRun {
            model: &model,
            counts: &counts,
            policy: &policy,
            arrivals: &ArrivalLaw::Poisson { rate_per_s: 1.0 },
            sizes: &SizeLaw::Kairos,
            queries: 10,
            warm_up: 0,
            percentile: 0.99,
            seed: 1,
        };
        assert!(run.setup().err().unwrap().to_string().contains("4 counts"));
    }
    assert!(PoolModel::kairos("bert").is_none());
}

/// A pool of base instances alone under any policy of the kind is first come, first served.
#[test]
fn the_allowable_throughput_of_a_base_pool_is_the_same_for_those_that_only_queue() {
    let model = PoolModel::kairos("rm2").unwrap();
    let search = Search { from_per_s: 25.0, precision: 0.02, seeds: vec![1, 2] };
    let of = |policy: &str| {
        let run = PoolRun {
            model: &model,
            counts: &[4, 0, 0, 0],
            policy: &PolicySpec::parse(policy).unwrap(),
            arrivals: &ArrivalLaw::Poisson { rate_per_s: 1.0 },
            sizes: &SizeLaw::Kairos,
            queries: 3_000,
            warm_up: 0,
            percentile: 0.99,
            seed: 0,
        };
        allowable(&run, &search).unwrap()
    };
    let (ribbon, drs) = (of("ribbon"), of("drs"));
    assert_eq!(ribbon, drs);
    assert!(ribbon.rate_per_s > 5.0 && ribbon.interval_per_s.is_some());
    let allowed = ribbon.by_seed_per_s[0];
    let holds = |rate_per_s: f64| {
        let run = PoolRun {
            model: &model,
            counts: &[4, 0, 0, 0],
            policy: &PolicySpec::parse("ribbon").unwrap(),
            arrivals: &ArrivalLaw::Poisson { rate_per_s },
            sizes: &SizeLaw::Kairos,
            queries: 3_000,
            warm_up: 0,
            percentile: 0.99,
            seed: 1,
        };
        probe(&run, rate_per_s, 0.02).unwrap().good
    };
    assert!(holds(allowed) && !holds(allowed * 1.03));
}

/// A pool of n base instances that each serve one query at a time carries at most n over the mean service time,
/// however long the QoS.
#[test]
fn the_allowable_throughput_never_exceeds_the_capacity() {
    use orrery_sim::latency::Latency;
    for (qos_ms, n) in [(50, 2u32), (2_000, 1), (60_000, 3)] {
        let law = Latency::Affine { alpha: Span::from_ms(0), beta: Span::from_ms(10) };
        let model = PoolModel {
            truth: vec![law.clone()],
            believed: vec![law],
            base: 0,
            largest: 1_000,
            qos: Span::from_ms(qos_ms),
        };
        for policy in ["ribbon", "kairos"] {
            let run = PoolRun {
                model: &model,
                counts: &[n],
                policy: &PolicySpec::parse(policy).unwrap(),
                arrivals: &ArrivalLaw::Poisson { rate_per_s: 1.0 },
                sizes: &SizeLaw::Kairos,
                queries: 4_000,
                warm_up: 0,
                percentile: 0.99,
                seed: 0,
            };
            let search = Search { from_per_s: 30.0, precision: 0.02, seeds: vec![1] };
            let found = allowable(&run, &search).unwrap().rate_per_s;
            let capacity = f64::from(n) * 100.0;
            assert!(found <= capacity * 1.02, "{policy}, {qos_ms} ms: {found} of {capacity}");
            assert!(found > 0.7 * capacity, "{policy}, {qos_ms} ms: {found} of {capacity}");
        }
    }
}
