//! The trace events, in the order in which they are known: a batch when it ends.
//!
//! | process | track | events |
//! |---|---|---|
//! | 1 `devices` | one for each device and lane | batches; refused and cancelled ones as instants |
//! | 2 `queues` | a counter for each model; `drops` | waiting requests; drops as instants |
//! | 3 `requests` | one for each selected request | arrival to end, with flows to its batches |

use super::follow::{InFlight, Open, outcome_word};
use super::json::{Json, escaped};
use super::{Failure, Selection};
use orrery_sim::log::{BatchRecord, Closed, LogError, Names, Record};
use orrery_sim::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use orrery_sim::time::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;

/// Bytes that are gathered before they are written.
const BLOCK: usize = 1 << 16;

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
    /// By id; ids are dense, so what has ended at the front is forgotten.
    live: VecDeque<Option<Live>>,
    first_live: u64,
    counters: BTreeMap<ModelId, Counter>,
    changed: Vec<ModelId>,
    tracks: BTreeSet<(DeviceId, u8)>,
    /// The selected requests that are alive.
    selected: BTreeMap<RequestId, Selected>,
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
            live: VecDeque::new(),
            first_live: 0,
            counters: BTreeMap::new(),
            changed: Vec::new(),
            tracks: BTreeSet::new(),
            selected: BTreeMap::new(),
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
            Record::Begin { time, action } => self.begin(time, action),
            Record::Close { time, action, outcome } => {
                if let Some(open) = self.in_flight.close(action) {
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
        self.flush_counters(Time::NEVER);
        let left: Vec<Open> = self.in_flight.drain().collect();
        for open in left.iter().filter(|o| o.began.is_some()) {
            self.batch(open, self.now, None);
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

    // The requests, and how many wait.

    fn live_mut(&mut self, id: RequestId) -> Option<&mut Live> {
        let at = id.0.checked_sub(self.first_live)?;
        self.live.get_mut(usize::try_from(at).ok()?)?.as_mut()
    }

    fn arrive(&mut self, request: Request) {
        if self.live.is_empty() {
            self.first_live = request.id.0;
        }
        // Only a damaged log has an id out of order.
        if request.id.0 != self.first_live + self.live.len() as u64 {
            return;
        }
        self.live.push_back(Some(Live { request, waiting: true, ended: false, held: 0 }));
        self.wait(request.model, true);
        if self.selection.requests.contains(&request.id) && request.arrival <= self.selection.to {
            self.came += 1;
            let selected = Selected { track: self.came, request, written: false };
            self.selected.insert(request.id, selected);
        }
    }

    fn hold(&mut self, id: RequestId) {
        if let Some(live) = self.live_mut(id) {
            live.held += 1;
        }
    }

    /// Sets whether a request waits.
    fn set_waiting(&mut self, id: RequestId, waiting: bool) {
        let Some(live) = self.live_mut(id).filter(|l| !l.ended && l.waiting != waiting) else {
            return;
        };
        live.waiting = waiting;
        let model = live.request.model;
        self.wait(model, waiting);
    }

    fn wait(&mut self, model: ModelId, more: bool) {
        let names = self.names;
        let counter = self.counters.entry(model).or_insert_with(|| Counter {
            label: escaped(&label(names, model)),
            ..Counter::default()
        });
        counter.waiting =
            if more { counter.waiting + 1 } else { counter.waiting.saturating_sub(1) };
        if !counter.changed {
            counter.changed = true;
            self.changed.push(model);
        }
    }

    /// Writes what changed at `now`, which is over: `next` comes. A window begins with what waited
    /// when it began.
    fn flush_counters(&mut self, next: Time) {
        let Selection { from, to, .. } = *self.selection;
        if next <= from || self.now > to {
            return;
        }
        let at = self.now.max(from);
        for model in std::mem::take(&mut self.changed) {
            let Some(counter) = self.counters.get_mut(&model) else { continue };
            counter.changed = false;
            if counter.shown == Some(counter.waiting) {
                continue;
            }
            counter.shown = Some(counter.waiting);
            self.json.raw(",\n{\"ph\":\"C\",\"pid\":2,\"name\":\"waiting ").raw(&counter.label);
            self.json.raw("\",\"ts\":").at(at).raw(",\"args\":{\"requests\":");
            self.json.number(counter.waiting).raw("}}");
        }
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

    fn forget(&mut self, id: RequestId) {
        self.selected.remove(&id);
        if let Some(at) = id.0.checked_sub(self.first_live)
            && let Some(live) = self.live.get_mut(at as usize)
        {
            *live = None;
        }
        while let Some(None) = self.live.front() {
            self.live.pop_front();
            self.first_live += 1;
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

    // Requests.

    fn end(&mut self, time: Time, id: RequestId, end: End) {
        self.set_waiting(id, false);
        let Some(live) = self.live_mut(id).filter(|l| !l.ended) else { return };
        live.ended = true;
        let (request, held) = (live.request, live.held);
        if matches!(end, End::Dropped(_)) && self.is_shown(time) {
            self.drop_instant(time, &request, end);
        }
        if let Some(selected) = self.selected.remove(&id) {
            self.request(&selected, time, end.word());
            self.selected.insert(id, Selected { written: true, ..selected });
        }
        if held == 0 {
            self.forget(id);
        }
    }

    fn drop_instant(&mut self, time: Time, request: &Request, end: End) {
        self.event_head("i", 2, 1, time);
        let model = escaped(&label(self.names, request.model));
        let json = self.json.raw(",\"s\":\"t\",\"name\":\"").raw(end.word()).raw(" ").raw(&model);
        json.raw("\",\"args\":{\"request\":").number(request.id.0).raw(",\"reason\":\"");
        json.raw(end.word()).raw("\",\"waited_us\":").span(time.since(request.arrival)).raw("}}");
    }

    /// A selected request, from its arrival to its end.
    fn request(&mut self, selected: &Selected, end: Time, how: &str) {
        let Selected { track, request, written } = *selected;
        if written || end < self.selection.from {
            return;
        }
        let model = escaped(&label(self.names, request.model));
        let name = format!("r{} {model}", request.id.0);
        self.metadata(3, Some(track), "thread_name", &format!("r{}", request.id.0));
        self.event_head("X", 3, track, request.arrival);
        let json = self.json.raw(",\"dur\":").span(end.since(request.arrival));
        json.raw(",\"name\":\"").raw(&name).raw("\",\"args\":{\"request\":").number(request.id.0);
        if request.deadline != Time::NEVER {
            json.raw(",\"deadline_us\":").at(request.deadline);
        }
        json.raw(",\"end\":\"").raw(how).raw("\"}}");
    }

    /// An arrow from a request's arrival to the beginning of a batch.
    fn flow(&mut self, request: u64, arrival: Time, b: &BatchRecord, start: Time) {
        self.flows += 1;
        let id = self.flows;
        self.event_head("s", 3, request, arrival);
        self.json.raw(",\"cat\":\"request\",\"name\":\"to batch\",\"id\":").number(id).raw("}");
        self.event_head("f", 1, track(b), start);
        self.json.raw(",\"cat\":\"request\",\"name\":\"to batch\",\"bp\":\"e\",\"id\":");
        self.json.number(id).raw("}");
    }

    // Tracks.

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

fn label(names: &Names, model: ModelId) -> String {
    names.model(model).map_or_else(|| model.to_string(), str::to_string)
}
