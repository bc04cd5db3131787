//! Against recordings: what the first-come-first-served distributor of Kairos's authors did with 600
//! queries of two models on two pools of two kinds. Every query must be on the authors' instance and
//! start when theirs did.
//!
//! A query's service time is the recorded one, whatever instance ours takes: it is one of the released
//! samples of its size and kind, which is checked as well.

use flate2::read::GzDecoder;
use orrery_scenario::{PolicySpec, kairos};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::CoreSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::profile::{KindsProfile, ModelProfile};
use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// A line of a recording.
struct Query {
    arrival: Time,
    bin: u32,
    instance: usize,
    kind: String,
    start: Time,
    service: Span,
}

/// A number of ms with up to four decimals, exactly.
fn ns(field: &str) -> u64 {
    (field.parse::<f64>().expect("ms") * 1e6).round() as u64
}

fn recording(name: &str) -> Vec<Query> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/kairos");
    let file = std::fs::File::open(folder.join(format!("{name}.csv.gz"))).expect("the file");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let query = |line: &str| {
        let f: Vec<&str> = line.split(',').collect();
        Query {
            arrival: Time::from_ns(ns(f[1])),
            bin: f[3].parse().expect("a size"),
            instance: f[4].parse().expect("an instance"),
            kind: f[5].to_string(),
            start: Time::from_ns(ns(f[6])),
            service: Span::from_ns(ns(f[7])),
        }
    };
    text.lines().skip(1).map(query).collect()
}

/// Each query's instance and start under `ribbon`, which is first come, first served.
fn ours(queries: &[Query], pool: &[(usize, u32)]) -> Vec<(usize, Time)> {
    let device = |kind: usize| DeviceSpec { kind: kind as u32, ..DeviceSpec::default() };
    let devices = pool.iter().flat_map(|&(kind, n)| (0..n).map(move |_| device(kind)));
    let law = Latency::Proportional { c1: 0.0 };
    let kinds = kairos::TYPES;
    let world = World {
        core: CoreSpec {
            devices: devices.collect(),
            models: vec![Default::default()],
            ..CoreSpec::default()
        },
        latency: vec![vec![law.clone()]; kinds],
        ..World::default()
    };
    let told = KindsProfile { laws: vec![law; kinds], base: 0, largest: 1_000 };
    let profile = ModelProfile::of_kinds(told, Span::from_ms(350));
    let policy = PolicySpec::parse("ribbon").expect("a policy").build(&[profile], 1);
    let arrival = |q: &Query| Arrival {
        at: q.arrival,
        app: AppId(0),
        model: ModelId(0),
        size: q.bin,
        slo: Span::MAX,
        alone: q.service,
    };
    let source = Box::new(VecSource::new(queries.iter().map(arrival).collect()));
    let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
    let mut served = BTreeMap::new();
    for record in log.records {
        if let Record::Issue { time, batch } = record {
            assert_eq!(batch.requests.len(), 1, "one query at a time");
            served.insert(batch.requests[0].index(), (batch.device.index(), time));
        }
    }
    served.into_values().collect()
}

/// By kind in the order of [`kairos::instance_types`]: how many there are.
fn every_query_matches(name: &str, model: &str, pool: &[(usize, u32)]) {
    let queries = recording(name);
    assert_eq!(queries.len(), 600);
    let types = kairos::instance_types();
    let ours = ours(&queries, pool);
    assert_eq!(ours.len(), queries.len(), "all are served");
    let kinds: Vec<usize> = pool.iter().flat_map(|&(k, n)| vec![k; n as usize]).collect();
    let mut apart = Span::ZERO;
    for (i, (q, &(instance, start))) in queries.iter().zip(&ours).enumerate() {
        assert_eq!(types[kinds[q.instance]].name, q.kind, "query {i}");
        assert_eq!(instance, q.instance, "query {i}");
        apart = apart.max(start.since(q.start).max(q.start.since(start)));
        let table = kairos::samples(&format!("{model}@{}", q.kind)).expect("samples");
        let near = |s: &Span| s.minus(q.service).max(q.service.minus(*s)) <= Span::from_us(1);
        assert!(table.samples(q.bin).iter().any(near), "query {i}: {} is no sample", q.service);
    }
    println!("{name}: 600 of 600 queries on the authors' instance, starts at most {apart} apart");
    // Instants are recorded in whole us, service times in tenths of one.
    assert!(apart <= Span::from_us(1), "{apart}");
}

#[test]
fn first_come_first_served_on_rm2_is_the_authors_query_by_query() {
    every_query_matches("fcfs_rm2_2-0-9-0_exp_50qps", "rm2", &[(0, 2), (2, 9)]);
}

#[test]
fn first_come_first_served_on_dien_is_the_authors_query_by_query() {
    every_query_matches("fcfs_dien_3-0-6-0_exp_250qps", "dien", &[(0, 3), (2, 6)]);
}
