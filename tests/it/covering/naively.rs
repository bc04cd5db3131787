//! The run a second time, by the naive engine: record by record the same.

use super::judge::{Fault, fault};
use super::run::Ran;
use crate::naive;
use orrery_sim::log::{MemoryLog, Record};

/// How the naive engine's run differs.
pub fn differs(ran: &Ran) -> Option<Fault> {
    let world = &ran.setup.world;
    let ends = ran.records.last().map_or(0.0, |record| record.time().as_secs_f64());
    // It draws no stalls beyond that.
    if !world.stalls.is_none() && ends > naive::stalls::DRAWN_S {
        return None;
    }
    let policies = ran.scenario.policies().expect("they have run");
    let seed = ran.scenario.seed;
    let sources = ran.setup.sources(seed).expect("they have run");
    let mut policy = ran.setup.policy(&policies[0], seed);
    let mut log = MemoryLog::default();
    naive::run(world, sources, &mut policy, &mut log);
    let records = log.records;
    let at = records.iter().zip(&ran.records).take_while(|(a, b)| a == b).count();
    if at == records.len().max(ran.records.len()) {
        return None;
    }
    let text = |r: Option<&Record>| r.map_or("nothing".to_string(), Record::to_string);
    let (naive, engine) = (text(records.get(at)), text(ran.records.get(at)));
    let found = format!("record {at}: the engine {engine}, the naive one {naive}");
    Some(fault("the naive engine agrees", found))
}
