//! The trace events, in the order in which they are known: a batch when it ends.
//!
//! | process | track | events |
//! |---|---|---|
//! | 1 `devices` | one for each device and lane | batches; refused and cancelled ones as instants |
//! | 1 `devices` | one for each device's loads | loads; models that leave its memory as instants |
//! | 2 `queues` | a counter for each model; `drops` | waiting requests; drops as instants |
//! | 3 `requests` | one for each selected request | arrival to end, with flows to its batches |

mod requests;

use super::follow::{InFlight, Open, outcome_word};
use super::json::{Json, escaped};
use super::selection::{Failure, Selection};
use orrery_sim::log::{BatchRecord, Closed, LoadRecord, LogError, Names, Record};
use orrery_sim::request::{ActionId, DeviceId, ModelId, Request, RequestId};
use orrery_sim::time::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;

/// Bytes that are gathered before they are written.
const BLOCK: usize = 1 << 16;

/// Writes a log's records as Chrome trace JSON. The bytes depend on the log and the selection only.
///
/// # Errors
/// When a record cannot be read, a selected request is not there, or `out` cannot be written.
pub fn write(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    let mut trace = Trace::new(names, selection, out);
    for record in records {
        let record = record?;
        if !trace.record(record)? {
            break;
        }
    }
    trace.finish()
}

/// A request that has not ended.
struct Live {
    request: Request,
    /// It waits unless a batch with it runs or it has ended.
    waiting: bool,
    ended: bool,
    /// Batches in flight with it.
    held: u32,
}

/// A request that is shown with its way to its batches.
struct Selected {
    track: u64,
    request: Request,
    /// It has ended and is written; a batch with it may still run.
    written: bool,
}

/// A model's counter.
#[derive(Default)]
struct Counter {
    label: String,
    waiting: u64,
    /// What was written last.
    shown: Option<u64>,
    changed: bool,
}

struct Trace<'a, W> {
    names: &'a Names,
    selection: &'a Selection,
    out: W,
    json: Json,
    now: Time,
    in_flight: InFlight,
    /// Loads that have not closed, and when they began.
    loads: BTreeMap<ActionId, (LoadRecord, Option<Time>)>,
    /// By id; ids are dense, so what has ended at the front is forgotten.
    live: VecDeque<Option<Live>>,
    first_live: u64,
    counters: BTreeMap<ModelId, Counter>,
    changed: Vec<ModelId>,
    tracks: BTreeSet<(DeviceId, u8)>,
    load_tracks: BTreeSet<DeviceId>,
    /// The selected requests that are alive.
    selected: BTreeMap<RequestId, Selected>,
    /// Asked for, and not come yet.
    missing: BTreeSet<RequestId>,
    came: u64,
    flows: u64,
}

impl<'a, W: Write> Trace<'a, W> {
    fn new(names: &'a Names, selection: &'a Selection, out: W) -> Trace<'a, W> {
        let mut json = Json::default();
        json.raw("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"policy\":\"");
        json.raw(&escaped(&names.policy)).raw("\"},\"traceEvents\":[\n");
        // The first event has no comma before it; every other brings its own.
        json.raw(
            "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"devices\"}}",
        );
        let mut trace = Trace {
            names,
            selection,
            out,
            json,
            now: Time::ZERO,
            in_flight: InFlight::default(),
            loads: BTreeMap::new(),
            live: VecDeque::new(),
            first_live: 0,
            counters: BTreeMap::new(),
            changed: Vec::new(),
            tracks: BTreeSet::new(),
            load_tracks: BTreeSet::new(),
            selected: BTreeMap::new(),
            missing: selection.requests.clone(),
            came: 0,
            flows: 0,
        };
        trace.metadata(2, None, "process_name", "queues");
        trace.metadata(2, Some(1), "thread_name", "drops");
        if !selection.requests.is_empty() {
            trace.metadata(3, None, "process_name", "requests");
        }
        trace
    }

    /// Follows one record; false when nothing more can be shown.
    fn record(&mut self, record: Record) -> Result<bool, Failure> {
        let time = record.time();
        if time > self.now {
            self.flush_counters(time);
            self.now = time;
            if time > self.selection.to
                && self.selected.is_empty()
                && self.missing.is_empty()
                && !self.in_flight.began_by(self.selection.to)
            {
                return Ok(false);
            }
        }
        match record {
            Record::Arrive { request, .. } => self.arrive(request),
            Record::Issue { time, batch } => {
                batch.requests.iter().for_each(|&id| self.hold(id));
                self.in_flight.issue(time, batch);
            }
            Record::Load { load, .. } => _ = self.loads.insert(load.action, (load, None)),
            Record::Unload { time, device, model } => self.unload(time, device, model),
            Record::Begin { time, action } => match self.loads.get_mut(&action) {
                Some(load) => load.1 = Some(time),
                None => self.begin(time, action),
            },
            Record::Close { time, action, outcome } => {
                if let Some((load, began)) = self.loads.remove(&action) {
                    self.load(time, load, began, Some(outcome));
                } else if let Some(open) = self.in_flight.close(action) {
                    self.close(time, &open, Some(outcome));
                }
            }
            Record::End { time, request, end } => self.end(time, request, end),
            Record::Device { .. } | Record::Why { .. } | Record::Finish { .. } => {}
        }
        self.write_block(BLOCK)?;
        Ok(true)
    }

    fn finish(mut self) -> Result<(), Failure> {
        if let Some(&request) = self.missing.first() {
            let requests = self.first_live + self.live.len() as u64;
            return Err(Failure::Unknown { request, requests });
        }
        self.flush_counters(Time::NEVER);
        let left: Vec<Open> = self.in_flight.drain().collect();
        for open in left.iter().filter(|o| o.began.is_some()) {
            self.batch(open, self.now, None);
        }
        for (load, began) in std::mem::take(&mut self.loads).into_values() {
            self.load(self.now, load, began, None);
        }
        for (_, selected) in std::mem::take(&mut self.selected) {
            self.request(&selected, self.now, "pending");
        }
        self.json.raw("\n]}\n");
        self.write_block(0)?;
        Ok(self.out.flush()?)
    }

    fn write_block(&mut self, at_least: usize) -> Result<(), Failure> {
        if self.json.0.len() > at_least {
            self.out.write_all(&self.json.0)?;
            self.json.0.clear();
        }
        Ok(())
    }

    fn is_shown(&self, time: Time) -> bool {
        time >= self.selection.from && time <= self.selection.to
    }

    // Batches.

    fn begin(&mut self, time: Time, action: ActionId) {
        let Some(open) = self.in_flight.begin(time, action) else { return };
        let ids = open.batch.requests.clone();
        ids.into_iter().for_each(|id| self.set_waiting(id, false));
    }

    fn close(&mut self, time: Time, open: &Open, outcome: Option<Closed>) {
        match open.began {
            Some(_) => self.batch(open, time, outcome),
            None if self.is_shown(time) => self.refusal(open, time, outcome),
            None => {}
        }
        let done = matches!(outcome, Some(Closed::Done(_)));
        for &id in &open.batch.requests {
            if !done {
                self.set_waiting(id, true);
            }
            if let Some(live) = self.live_mut(id) {
                live.held = live.held.saturating_sub(1);
                if live.ended && live.held == 0 {
                    self.forget(id);
                }
            }
        }
    }

    fn batch(&mut self, open: &Open, end: Time, outcome: Option<Closed>) {
        let Some(start) = open.began else { return };
        if start > self.selection.to || end < self.selection.from {
            return;
        }
        let b = &open.batch;
        self.track(b);
        self.event_head("X", 1, track(b), start);
        self.json.raw(",\"dur\":").span(end.since(start));
        self.batch_name(b);
        self.batch_args(open, outcome);
        for id in &b.requests {
            if let Some(Selected { track, request, .. }) = self.selected.get(id) {
                self.flow(*track, request.arrival, b, start);
            }
        }
    }

    fn refusal(&mut self, open: &Open, time: Time, outcome: Option<Closed>) {
        self.track(&open.batch);
        self.event_head("i", 1, track(&open.batch), time);
        self.json.raw(",\"s\":\"t\"");
        self.batch_name(&open.batch);
        self.batch_args(open, outcome);
    }

    fn batch_name(&mut self, b: &BatchRecord) {
        self.json.raw(",\"name\":\"");
        match self.counters.get(&b.model) {
            Some(counter) => self.json.raw(&counter.label),
            None => self.json.raw(&escaped(&label(self.names, b.model))),
        };
        self.json.raw(" x").number(b.requests.len() as u64).raw("\"");
    }

    fn batch_args(&mut self, open: &Open, outcome: Option<Closed>) {
        let b = &open.batch;
        let json = self.json.raw(",\"args\":{\"action\":").number(b.action.0);
        json.raw(",\"requests\":[");
        for (i, id) in b.requests.iter().enumerate() {
            json.raw(if i > 0 { "," } else { "" }).number(id.0);
        }
        json.raw("],\"units\":").number(b.units.into()).raw(",\"issued_us\":").at(open.issued);
        json.raw(",\"outcome\":\"").raw(outcome_word(outcome)).raw("\"}}");
    }

    // Loads.

    fn load(&mut self, end: Time, load: LoadRecord, began: Option<Time>, outcome: Option<Closed>) {
        let start = began.unwrap_or(end);
        if start > self.selection.to || end < self.selection.from {
            return;
        }
        self.load_track(load.device);
        match began {
            Some(start) => {
                self.event_head("X", 1, load_track(load.device), start);
                self.json.raw(",\"dur\":").span(end.since(start));
            }
            None => {
                self.event_head("i", 1, load_track(load.device), end);
                self.json.raw(",\"s\":\"t\"");
            }
        }
        let name = escaped(&label(self.names, load.model));
        let json = self.json.raw(",\"name\":\"load ").raw(&name).raw("\",\"args\":{\"action\":");
        json.number(load.action.0).raw(",\"outcome\":\"").raw(outcome_word(outcome)).raw("\"}}");
    }

    fn unload(&mut self, time: Time, device: DeviceId, model: ModelId) {
        if !self.is_shown(time) {
            return;
        }
        self.load_track(device);
        self.event_head("i", 1, load_track(device), time);
        let name = escaped(&label(self.names, model));
        self.json.raw(",\"s\":\"t\",\"name\":\"unload ").raw(&name).raw("\"}");
    }

    // Tracks.

    /// Names the track of a device's loads when it is first used.
    fn load_track(&mut self, device: DeviceId) {
        if self.load_tracks.insert(device) {
            self.metadata(1, Some(load_track(device)), "thread_name", &format!("{device} loads"));
        }
    }

    /// Names the track of a batch when it is first used.
    fn track(&mut self, b: &BatchRecord) {
        if self.tracks.insert((b.device, b.lane)) {
            let device = match self.names.device(b.device) {
                Some(name) => format!("{} {name}", b.device),
                None => b.device.to_string(),
            };
            let name = if b.lane == 0 { device } else { format!("{device} lane {}", b.lane) };
            self.metadata(1, Some(track(b)), "thread_name", &name);
        }
    }

    fn metadata(&mut self, process: u64, track: Option<u64>, what: &str, name: &str) {
        let json = self.json.raw(",\n{\"ph\":\"M\",\"pid\":").number(process);
        if let Some(track) = track {
            json.raw(",\"tid\":").number(track);
        }
        json.raw(",\"name\":\"").raw(what).raw("\",\"args\":{\"name\":\"");
        json.raw(&escaped(name)).raw("\"}}");
    }

    fn event_head(&mut self, kind: &str, process: u64, track: u64, time: Time) {
        let json = self.json.raw(",\n{\"ph\":\"").raw(kind).raw("\",\"pid\":").number(process);
        json.raw(",\"tid\":").number(track).raw(",\"ts\":").at(time);
    }
}

/// The number of a batch's track: 256 lanes a device.
fn track(b: &BatchRecord) -> u64 {
    u64::from(b.device.0) * 256 + u64::from(b.lane) + 1
}

/// The number of the track of a device's loads: after those of its lanes, which are fewer than 256.
fn load_track(device: DeviceId) -> u64 {
    u64::from(device.0) * 256 + 256
}

fn label(names: &Names, model: ModelId) -> String {
    names.model(model).map_or_else(|| model.to_string(), str::to_string)
}
