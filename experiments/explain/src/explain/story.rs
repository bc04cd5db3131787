//! The story of one request, from the records of its log.

use super::failure::Failure;
use super::target::{Phase, Target};
use super::words::{self, ms, requests};
use orrery_sim::cluster::Change;
use orrery_sim::log::{BatchRecord, Closed, LoadRecord, LogError, Names, Record};
use orrery_sim::request::{ActionId, DeviceId, Drop, End, ModelId, Request, RequestId};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Batches without the request that are told one by one.
const PASSED_SHOWN: u64 = 20;

pub fn tell(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    id: RequestId,
) -> Result<String, Failure> {
    let mut story = Story::new(names, id);
    for record in records {
        let record = record?;
        story.now = story.now.max(record.time());
        story.spend();
        story.record(record);
        if story.is_over() {
            break;
        }
    }
    story.text().ok_or(Failure::Unknown { requests: story.arrived })
}

struct Open {
    batch: BatchRecord,
    issued: Time,
    began: Option<Time>,
}

struct Story<'a> {
    names: &'a Names,
    id: RequestId,
    now: Time,
    /// Up to here its time is accounted for.
    accounted: Time,
    arrived: u64,
    any_reason: bool,
    /// Model, and whether it waits.
    live: BTreeMap<RequestId, (ModelId, bool)>,
    open: BTreeMap<ActionId, Open>,
    /// Loads that have not closed, and when they began.
    loads: BTreeMap<ActionId, (LoadRecord, Option<Time>)>,
    devices: BTreeMap<DeviceId, Change>,
    target: Option<Target>,
}

impl<'a> Story<'a> {
    fn new(names: &'a Names, id: RequestId) -> Story<'a> {
        Story {
            names,
            id,
            now: Time::ZERO,
            accounted: Time::ZERO,
            arrived: 0,
            any_reason: false,
            live: BTreeMap::new(),
            open: BTreeMap::new(),
            loads: BTreeMap::new(),
            devices: BTreeMap::new(),
            target: None,
        }
    }

    fn is_over(&self) -> bool {
        self.target.as_ref().is_some_and(|t| t.end.is_some() && t.batch.is_none())
    }

    fn record(&mut self, record: Record) {
        match record {
            Record::Arrive { request, .. } => self.arrive(request),
            Record::Issue { time, batch } => self.issue(time, batch),
            Record::Load { time, load } => self.load(time, load),
            Record::Unload { device, model, .. } => self.unload(device, model),
            Record::Begin { time, action } => match self.loads.get_mut(&action) {
                Some(load) => load.1 = Some(time),
                None => self.begin(time, action),
            },
            Record::Close { time, action, outcome } => match self.loads.remove(&action) {
                Some((load, began)) => self.loaded(time, load, began, outcome),
                None => self.close(time, action, outcome),
            },
            Record::End { time, request, end } => self.end(time, request, end),
            Record::Device { device, change, .. } => {
                self.devices.insert(device, change);
            }
            Record::Why { request, text, .. } => {
                self.any_reason = true;
                if request == self.id {
                    self.step(format!("the policy: {text}"));
                }
            }
            Record::Finish { .. } => {}
        }
    }

    fn step(&mut self, text: String) {
        if let Some(target) = &mut self.target {
            target.steps.push((self.now, text));
        }
    }

    fn arrive(&mut self, request: Request) {
        self.arrived = self.arrived.max(request.id.0.saturating_add(1));
        if request.id == self.id && self.target.is_none() {
            self.accounted = request.arrival;
            let steps = vec![(request.arrival, self.arrival(&request))];
            self.target = Some(Target { request, steps, ..Target::default() });
        }
        self.live.insert(request.id, (request.model, true));
    }

    /// The first step: who, until when, who waits, what the devices do.
    fn arrival(&self, r: &Request) -> String {
        let names = self.names;
        let model = words::model(names, r.model);
        let app = names.app(r.app).map_or_else(|| r.app.to_string(), str::to_string);
        let slo = match r.deadline {
            Time::NEVER => "without an SLO".to_string(),
            d => format!("with an SLO of {}: until {}", ms(d.since(r.arrival)), words::at(d)),
        };
        let waiting = self.live.values().filter(|&&(m, w)| m == r.model && w).count() as u64;
        let mut text = format!(
            "arrives at {} of the run for {model}, from {app}, {slo}; {} for {model} before it",
            words::at(r.arrival),
            match waiting {
                0 => "nobody waits".to_string(),
                1 => "1 request waits".to_string(),
                n => format!("{n} requests wait"),
            },
        );
        for (&device, &change) in &self.devices {
            let _ = write!(text, "; {}", self.device(device, change));
        }
        text
    }

    fn device(&self, device: DeviceId, change: Change) -> String {
        let running = self.open.values().filter(|o| o.batch.device == device);
        let parts: Vec<String> = running
            .map(|o| {
                let model = words::model(self.names, o.batch.model);
                let since = match o.began {
                    Some(began) => format!("runs for {}", ms(self.now.since(began))),
                    None => "waits there".to_string(),
                };
                let size = o.batch.requests.len();
                format!("{} ({model} x{size}) {since}", o.batch.action)
            })
            .collect();
        match change {
            Change::Down => format!("{device} is down"),
            _ if parts.is_empty() => format!("{device} is idle"),
            _ => format!("on {device} {}", parts.join(", ")),
        }
    }

    fn issue(&mut self, time: Time, batch: BatchRecord) {
        let has_it = batch.requests.contains(&self.id);
        let (action, model) = (batch.action, words::model(self.names, batch.model));
        let what = format!("{model} x{} ({})", batch.requests.len(), requests(&batch.requests));
        let place = words::device(self.names, &batch);
        let mut told = None;
        if let Some(target) = self.target.as_mut().filter(|t| t.end.is_none()) {
            if has_it {
                target.batch = Some(action);
                let mut text = format!("{action} is sent to {place} with it: {what}");
                if batch.latest != Time::NEVER {
                    let latest = ms(batch.latest.since(time));
                    let _ = write!(text, "; it must begin within {latest}");
                }
                told = Some(text);
            } else if target.batch.is_none() && batch.model == target.request.model {
                target.passed += 1;
                let text = format!("{action} is sent to {place} without it: {what}");
                told = (target.passed <= PASSED_SHOWN).then_some(text);
            }
        }
        self.open.insert(action, Open { batch, issued: time, began: None });
        told.into_iter().for_each(|text| self.step(text));
    }

    /// Whether the request waits for a model, in no batch.
    fn waits_for(&self, model: ModelId) -> bool {
        self.target.as_ref().is_some_and(|t| {
            t.end.is_none() && t.batch.is_none() && !t.done && t.request.model == model
        })
    }

    fn place(&self, device: DeviceId) -> String {
        match self.names.device(device) {
            Some(name) => format!("{device} ({name})"),
            None => device.to_string(),
        }
    }

    fn load(&mut self, time: Time, load: LoadRecord) {
        if self.waits_for(load.model) {
            let (model, place) = (words::model(self.names, load.model), self.place(load.device));
            let mut text = format!("{} is sent to {place}: it loads {model}", load.action);
            if load.latest != Time::NEVER {
                let _ = write!(text, "; it must begin within {}", ms(load.latest.since(time)));
            }
            self.step(text);
        }
        self.loads.insert(load.action, (load, None));
    }

    fn loaded(&mut self, time: Time, load: LoadRecord, began: Option<Time>, outcome: Closed) {
        if !self.waits_for(load.model) {
            return;
        }
        let (model, place) = (words::model(self.names, load.model), self.place(load.device));
        let text = match (outcome, began) {
            (Closed::Done(_), Some(began)) => {
                format!("{model} is on {place}, after a load of {}", ms(time.since(began)))
            }
            (Closed::Rejected(why), _) => {
                format!("{place} refuses {}: {}", load.action, words::refusal_reason(why))
            }
            _ => format!("the load of {model} on {place} is not finished"),
        };
        self.step(text);
    }

    fn unload(&mut self, device: DeviceId, model: ModelId) {
        if self.waits_for(model) {
            let (model, place) = (words::model(self.names, model), self.place(device));
            self.step(format!("{model} leaves {place}, to make room"));
        }
    }

    fn set_waiting(&mut self, action: ActionId, waiting: bool) {
        for id in self.open.get(&action).into_iter().flat_map(|o| &o.batch.requests) {
            self.live.entry(*id).and_modify(|l| l.1 = waiting);
        }
    }

    fn is_in(&self, action: ActionId) -> bool {
        self.target.as_ref().is_some_and(|t| t.batch == Some(action))
    }

    fn begin(&mut self, time: Time, action: ActionId) {
        self.set_waiting(action, false);
        let Some(open) = self.open.get_mut(&action) else { return };
        open.began = Some(time);
        let waited = time.since(open.issued);
        let place = words::device(self.names, &open.batch);
        if self.is_in(action) {
            let after = if waited == Span::ZERO {
                "at once".to_string()
            } else {
                format!("{} after it was sent", ms(waited))
            };
            self.step(format!("{action} begins on {place}, {after}"));
        }
    }

    fn close(&mut self, time: Time, action: ActionId, outcome: Closed) {
        if !matches!(outcome, Closed::Done(_)) {
            self.set_waiting(action, true);
        }
        let Some(open) = self.open.remove(&action) else { return };
        if !self.is_in(action) {
            return;
        }
        let ran = time.since(open.began.unwrap_or(time));
        let place = words::device(self.names, &open.batch);
        let text = match outcome {
            Closed::Done(_) => format!("{action} ends on {place} after {}", ms(ran)),
            Closed::Rejected(why) => {
                format!("{place} refuses {action}: {}", words::refusal_reason(why))
            }
            Closed::Preempted => {
                format!("{action} is stopped after {}; what it had done is lost", ms(ran))
            }
            Closed::Cancelled => format!("{action} is taken back before it began"),
        };
        self.step(text);
        let Some(target) = &mut self.target else { return };
        target.batch = None;
        target.done |= matches!(outcome, Closed::Done(_));
        if outcome == Closed::Preempted && target.end.is_none() {
            target.lose(ran);
        }
    }

    fn end(&mut self, time: Time, id: RequestId, end: End) {
        self.live.remove(&id);
        let Some(target) = self.target.as_mut().filter(|t| t.end.is_none() && id == self.id) else {
            return;
        };
        target.end = Some((time, end));
        let deadline = target.request.deadline;
        let (late, spare) = (time.since(deadline), deadline.since(time));
        let text = match end {
            End::InTime if deadline == Time::NEVER => "it is answered".to_string(),
            End::InTime => format!("it is answered in time, with {} to spare", ms(spare)),
            End::Late => format!("it is answered {} late", ms(late)),
            End::Dropped(Drop::DefaultReply) => words::drop_reason(Drop::DefaultReply).to_string(),
            End::Dropped(why) => {
                let when = if late > Span::ZERO {
                    format!("{} after its deadline", ms(late))
                } else {
                    format!("{} before its deadline", ms(spare))
                };
                format!("it is dropped, {when}: {}", words::drop_reason(why))
            }
            End::Pending => "the run ends before the request does".to_string(),
        };
        self.step(text);
        // Nothing follows the end of a run.
        if let (Some(target), End::Pending) = (&mut self.target, end) {
            target.batch = None;
        }
    }

    /// Accounts for the time since the last record.
    fn spend(&mut self) {
        let span = self.now.since(self.accounted);
        self.accounted = self.accounted.max(self.now);
        let phase = self.phase();
        if let Some(target) = self.target.as_mut().filter(|t| t.end.is_none()) {
            target.add(phase, span);
        }
    }

    fn phase(&self) -> Phase {
        let Some(target) = &self.target else { return Phase::Busy };
        if let Some(open) = target.batch.and_then(|a| self.open.get(&a)) {
            return if open.began.is_some() { Phase::Running } else { Phase::Sent };
        }
        if target.done {
            return Phase::Answer;
        }
        let mut up = self.devices.iter().filter(|(_, change)| **change == Change::Up).peekable();
        if up.peek().is_none() {
            return Phase::NoDevice;
        }
        let has_work = |device: DeviceId| self.open.values().any(|o| o.batch.device == device);
        if up.all(|(&device, _)| has_work(device)) { Phase::Busy } else { Phase::HeldBack }
    }

    fn text(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        let r = &target.request;
        let mut out = r.id.to_string();
        if !self.names.policy.is_empty() {
            let _ = write!(out, " under {}", self.names.policy);
        }
        out.push('\n');
        for (time, text) in &target.steps {
            let _ = writeln!(out, "{:>14}  {text}", ms(time.since(r.arrival)));
        }
        if target.passed > PASSED_SHOWN {
            let more = target.passed - PASSED_SHOWN;
            let model = words::model(self.names, r.model);
            let _ = writeln!(out, "(and {more} more of {model} without it)");
        }
        if !self.any_reason {
            out.push_str("(run with --why to see the policy's reasons)\n");
        }
        let _ = writeln!(out, "verdict: {}", target.verdict());
        Some(out)
    }
}
