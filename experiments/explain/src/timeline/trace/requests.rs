//! The requests of a trace: how many wait, which were dropped, and the tracks of selected ones.

use super::super::json::escaped;
use super::super::selection::Selection;
use super::{Counter, Live, Selected, Trace, label, track};
use orrery_sim::log::BatchRecord;
use orrery_sim::request::{End, ModelId, Request, RequestId};
use orrery_sim::time::Time;
use std::io::Write;

impl<W: Write> Trace<'_, W> {
    pub(super) fn live_mut(&mut self, id: RequestId) -> Option<&mut Live> {
        let at = id.0.checked_sub(self.first_live)?;
        self.live.get_mut(usize::try_from(at).ok()?)?.as_mut()
    }

    pub(super) fn arrive(&mut self, request: Request) {
        if self.live.is_empty() {
            self.first_live = request.id.0;
        }
        // Only a damaged log has an id out of order.
        if request.id.0 != self.first_live + self.live.len() as u64 {
            return;
        }
        self.live.push_back(Some(Live { request, waiting: true, ended: false, held: 0 }));
        self.wait(request.model, true);
        if self.missing.remove(&request.id) && request.arrival <= self.selection.to {
            self.came += 1;
            let selected = Selected { track: self.came, request, written: false };
            self.selected.insert(request.id, selected);
        }
    }

    pub(super) fn hold(&mut self, id: RequestId) {
        if let Some(live) = self.live_mut(id) {
            live.held += 1;
        }
    }

    /// Sets whether a request waits.
    pub(super) fn set_waiting(&mut self, id: RequestId, waiting: bool) {
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
    pub(super) fn flush_counters(&mut self, next: Time) {
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

    pub(super) fn forget(&mut self, id: RequestId) {
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

    pub(super) fn end(&mut self, time: Time, id: RequestId, end: End) {
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
    pub(super) fn request(&mut self, selected: &Selected, end: Time, how: &str) {
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
    pub(super) fn flow(&mut self, request: u64, arrival: Time, b: &BatchRecord, start: Time) {
        self.flows += 1;
        let id = self.flows;
        self.event_head("s", 3, request, arrival);
        self.json.raw(",\"cat\":\"request\",\"name\":\"to batch\",\"id\":").number(id).raw("}");
        self.event_head("f", 1, track(b), start);
        self.json.raw(",\"cat\":\"request\",\"name\":\"to batch\",\"bp\":\"e\",\"id\":");
        self.json.number(id).raw("}");
    }
}
