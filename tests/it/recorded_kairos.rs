//! Against recordings: what the first-come-first-served distributor of Kairos's authors did with 600
//! queries of two models on two pools of two kinds. Every query must be on the authors' instance and
//! start when theirs did.
//!
//! The authors' program replayed the mean of the samples of each size and kind, in tenths of a
//! microsecond; ours does, from the samples that ship with the program.

use flate2::read::GzDecoder;
use orrery_run::PolicySpec;
use orrery_scenario::kairos;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::CoreSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::{Latency, SampleTable};
use orrery_sim::log::{Closed, MemoryLog, Record};
use orrery_sim::profile::{KindsProfile, ModelProfile};
use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A line of a recording.
struct Query {
    arrival: Time,
    size: u32,
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
            size: f[3].parse().expect("a size"),
            instance: f[4].parse().expect("an instance"),
            kind: f[5].to_string(),
            start: Time::from_ns(ns(f[6])),
            service: Span::from_ns(ns(f[7])),
        }
    };
    text.lines().skip(1).map(query).collect()
}

/// What became of a query: its instance, when it began, and how long it took.
type Served = (usize, Time, Span);

/// What becomes of each query under `ribbon`, which is first come, first served.
fn ours(queries: &[Query], model: &str, pool: &[(usize, u32)]) -> Vec<Served> {
    let device = |kind: usize| DeviceSpec { kind: kind as u32, ..DeviceSpec::default() };
    let devices = pool.iter().flat_map(|&(kind, n)| (0..n).map(move |_| device(kind)));
    let measured = kairos::measured(model).expect("a model");
    let tenth_us = |mean: Span| Span::from_ns((mean.ns() + 50) / 100 * 100);
    let law = |table: &Arc<SampleTable>| {
        let row = |&size: &u32| (size, tenth_us(table.mean(size)));
        Latency::Table(table.sizes().iter().map(row).collect())
    };
    let laws: Vec<Latency> = measured.samples.iter().map(law).collect();
    let world = World {
        core: CoreSpec {
            devices: devices.collect(),
            models: vec![Default::default()],
            ..CoreSpec::default()
        },
        latency: laws.iter().map(|law| vec![law.clone()]).collect(),
        ..World::default()
    };
    let told = KindsProfile { laws, base: 0, largest: 1_000 };
    let profile = ModelProfile::of_kinds(told, measured.qos);
    let policy = PolicySpec::parse("ribbon").expect("a policy").build(&[profile], 1);
    let arrival = |q: &Query| Arrival {
        at: q.arrival,
        app: AppId(0),
        model: ModelId(0),
        size: q.size,
        slo: Span::MAX,
        alone: Span::from_us(1),
    };
    let source = Box::new(VecSource::new(queries.iter().map(arrival).collect()));
    let log = simulate(&world, vec![source], policy, MemoryLog::default()).observer;
    let (mut open, mut served) = (BTreeMap::new(), BTreeMap::new());
    for record in log.records {
        match record {
            Record::Issue { time, batch } => {
                assert_eq!(batch.requests.len(), 1, "one query at a time");
                open.insert(batch.action, (batch.requests[0], batch.device.index(), time));
            }
            Record::Close { time, action, outcome: Closed::Done(_) } => {
                let (query, instance, start) = open[&action];
                served.insert(query, (instance, start, time - start));
            }
            _ => {}
        }
    }
    served.into_values().collect()
}

/// `pool` is by kind, in the order of [`kairos::instance_types`]: which, and how many.
fn every_query_matches(name: &str, model: &str, pool: &[(usize, u32)]) {
    let queries = recording(name);
    assert_eq!(queries.len(), 600);
    let types = kairos::instance_types();
    let ours = ours(&queries, model, pool);
    assert_eq!(ours.len(), queries.len(), "all are served");
    let kinds: Vec<usize> = pool.iter().flat_map(|&(k, n)| vec![k; n as usize]).collect();
    let (mut waited, mut apart) = (0, Span::ZERO);
    for (i, (q, &(instance, start, service))) in queries.iter().zip(&ours).enumerate() {
        assert_eq!(types[kinds[q.instance]].name, q.kind, "query {i}");
        assert_eq!((instance, service), (q.instance, q.service), "query {i}");
        apart = apart.max(start.since(q.start).max(q.start.since(start)));
        waited += usize::from(start > q.arrival);
    }
    println!("{name}: 600 of 600 as recorded, {waited} waited, starts at most {apart} apart");
    assert!(waited > 0, "none waited: there is nothing to see");
    // Starts are recorded in whole microseconds, rounded.
    assert!(apart <= Span::from_ns(500), "{apart}");
}

#[test]
fn first_come_first_served_on_rm2_is_the_authors_query_by_query() {
    every_query_matches("fcfs_rm2_2-0-9-0_exp_50qps", "rm2", &[(0, 2), (2, 9)]);
}

#[test]
fn first_come_first_served_on_dien_is_the_authors_query_by_query() {
    every_query_matches("fcfs_dien_3-0-6-0_exp_250qps", "dien", &[(0, 3), (2, 6)]);
}
