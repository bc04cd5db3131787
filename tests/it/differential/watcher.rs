//! An observer that writes down everything that it is told, and at times has seen enough.

use super::cases::Case;
use orrery_sim::cluster::Change;
use orrery_sim::observer::{Batch, Load, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::request::{DeviceId, End, ModelId, Request, RequestId};
use orrery_sim::time::Time;

/// The observer. Its lines have every argument of every call.
pub struct Watcher {
    pub lines: Vec<String>,
    stop_after: Option<usize>,
    reasons: bool,
}

impl Watcher {
    /// As the case wants it.
    pub fn of(case: &Case) -> Watcher {
        Watcher { lines: Vec::new(), stop_after: case.stop_after, reasons: case.reasons }
    }
}

impl Observer for Watcher {
    fn arrived(&mut self, now: Time, request: &Request) {
        self.lines.push(format!("{now} arrived {request:?}"));
    }
    fn issued(&mut self, now: Time, batch: &Batch<'_>) {
        self.lines.push(format!("{now} issued {batch:?}"));
    }
    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        self.lines.push(format!("{now} began {batch:?}"));
    }
    fn closed(&mut self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
        self.lines.push(format!("{now} closed {batch:?} {start:?} {outcome:?}"));
    }
    fn load_issued(&mut self, now: Time, load: &Load) {
        self.lines.push(format!("{now} issued {load:?}"));
    }
    fn load_began(&mut self, now: Time, load: &Load) {
        self.lines.push(format!("{now} began {load:?}"));
    }
    fn load_closed(&mut self, now: Time, load: &Load, start: Option<Time>, outcome: Outcome) {
        self.lines.push(format!("{now} closed {load:?} {start:?} {outcome:?}"));
    }
    fn unloaded(&mut self, now: Time, device: DeviceId, model: ModelId) {
        self.lines.push(format!("{now} {model} leaves {device}"));
    }
    fn cold(&mut self, now: Time, request: &Request) {
        self.lines.push(format!("{now} cold {request:?}"));
    }
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        self.lines.push(format!("{now} ended {request:?} {end:?} {start:?}"));
    }
    fn device(&mut self, now: Time, device: DeviceId, change: Change) {
        self.lines.push(format!("{now} {device} {change:?}"));
    }
    fn provisioned(&mut self, now: Time, kind: u32, count: u32) {
        self.lines.push(format!("{now} provisioned {count} of {kind}"));
    }
    fn wants_reasons(&self) -> bool {
        self.reasons
    }
    fn why(&mut self, now: Time, request: RequestId, text: &str) {
        self.lines.push(format!("{now} why {request} {text}"));
    }
    fn stop(&self) -> bool {
        self.stop_after.is_some_and(|lines| self.lines.len() >= lines)
    }
    fn finished(&mut self, now: Time) {
        self.lines.push(format!("{now} finished"));
    }
}
