//! What a policy answers: batches, loads, timers, ends, and its reasons.

use super::event::TimerKey;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use crate::time::{Span, Time};
use std::ops::Range;

/// A batch to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exec {
    /// On which device.
    pub device: DeviceId,
    /// On which of its lanes (0 unless the device has several).
    pub lane: u8,
    /// Which model.
    pub model: ModelId,
    /// The size that the device computes, padding included (Clipper pads); 0 means the sum of the
    /// requests' sizes.
    pub billed: u32,
    /// It must not start before.
    pub earliest: Time,
    /// It must not start after.
    pub latest: Time,
}

impl Exec {
    /// A batch without a window: it starts as soon as the device is free.
    pub fn now(device: DeviceId, model: ModelId) -> Exec {
        Exec { device, lane: 0, model, billed: 0, earliest: Time::ZERO, latest: Time::NEVER }
    }
}

/// What a policy expects of an action when it issues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// When it will begin.
    pub start: Time,
    /// How long it will take.
    pub duration: Span,
}

/// What a policy wants done; made through the methods of [`Actions`], which describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    /// The requests are [`Actions::requests`] of the range.
    Exec {
        exec: Exec,
        requests: Range<usize>,
    },
    Load {
        device: DeviceId,
        model: ModelId,
        earliest: Time,
        latest: Time,
    },
    Unload {
        device: DeviceId,
        model: ModelId,
    },
    Cancel(ActionId),
    Preempt(ActionId),
    End(RequestId, Drop),
    SetTimer(TimerKey, Time),
    ClearTimer(TimerKey),
    Provision {
        kind: u32,
        count: u32,
    },
    Release(DeviceId),
}

/// The answer to an event, filled in by the policy and carried out in order.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
    requests: Vec<RequestId>,
    next: u64,
    asked_why: bool,
    reasons: Vec<(RequestId, String)>,
    asked_expected: bool,
    expected: Vec<(ActionId, Expected)>,
}

impl Actions {
    /// What the policy asked for, in order. For whoever carries it out.
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// Whether the policy asked for nothing, and its reasons and expectations are not asked for.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.asked_why && !self.asked_expected
    }

    /// The requests of a batch in [`Actions::list`].
    pub fn requests(&self, range: Range<usize>) -> &[RequestId] {
        &self.requests[range]
    }

    /// Asks the policy for its reasons from now on, or stops asking. For whoever carries it out.
    pub fn ask_why(&mut self, asked: bool) {
        self.asked_why = asked;
    }

    /// Whether reasons are asked for; a policy need not look, but may spare itself the loop over
    /// requests whose reasons nobody reads.
    pub fn asked_why(&self) -> bool {
        self.asked_why
    }

    /// Whether expectations are asked for.
    pub fn asked_expected(&self) -> bool {
        self.asked_expected
    }

    /// The reasons so far, taken out. For whoever carries it out.
    pub fn take_reasons(&mut self) -> Vec<(RequestId, String)> {
        std::mem::take(&mut self.reasons)
    }

    /// Says why a request is treated as it is by this answer, in plain words with numbers. `text` is
    /// called only when reasons are asked for; it must change nothing.
    #[inline]
    pub fn why(&mut self, request: RequestId, text: impl FnOnce() -> String) {
        if self.asked_why {
            self.reasons.push((request, text()));
        }
    }

    /// The same reason for several requests: a batch, say.
    #[inline]
    pub fn why_all(&mut self, requests: &[RequestId], text: impl FnOnce() -> String) {
        if self.asked_why {
            let text = text();
            self.reasons.extend(requests.iter().map(|&id| (id, text.clone())));
        }
    }

    /// Asks the policy for what it expects of its actions from now on. For whoever carries it out.
    pub fn ask_expected(&mut self, asked: bool) {
        self.asked_expected = asked;
    }

    /// What was expected so far, taken out. For whoever carries it out.
    pub fn take_expected(&mut self) -> Vec<(ActionId, Expected)> {
        std::mem::take(&mut self.expected)
    }

    /// Says what is expected of an action of this answer. For observers; it changes nothing.
    #[inline]
    pub fn expect(&mut self, action: ActionId, start: Time, duration: Span) {
        if self.asked_expected {
            self.expected.push((action, Expected { start, duration }));
        }
    }

    /// Forgets what was carried out; ids go on counting.
    pub fn clear(&mut self) {
        self.list.clear();
        self.requests.clear();
    }

    fn issue(&mut self, action: Action) -> ActionId {
        self.list.push(action);
        self.next += 1;
        ActionId(self.next - 1)
    }

    /// Executes these requests as one batch.
    pub fn exec(&mut self, exec: Exec, requests: &[RequestId]) -> ActionId {
        let first = self.requests.len();
        self.requests.extend_from_slice(requests);
        self.issue(Action::Exec { exec, requests: first..self.requests.len() })
    }

    /// Copies a model's weights to a device.
    pub fn load(
        &mut self,
        device: DeviceId,
        model: ModelId,
        earliest: Time,
        latest: Time,
    ) -> ActionId {
        self.issue(Action::Load { device, model, earliest, latest })
    }

    /// Frees a model's pages on a device; takes no time.
    pub fn unload(&mut self, device: DeviceId, model: ModelId) {
        self.list.push(Action::Unload { device, model });
    }

    /// Takes an action back if it has not begun; otherwise nothing happens.
    pub fn cancel(&mut self, action: ActionId) {
        self.list.push(Action::Cancel(action));
    }

    /// Stops an action that is running; if it has ended, its result stands.
    pub fn preempt(&mut self, action: ActionId) {
        self.list.push(Action::Preempt(action));
    }

    /// Ends a request without a model's answer. Legal while its batch is in flight, which runs on.
    pub fn end(&mut self, request: RequestId, why: Drop) {
        self.list.push(Action::End(request, why));
    }

    /// Sets or moves a timer. An instant that is past goes off now, after what is already due;
    /// [`Time::NEVER`] clears it.
    pub fn set_timer(&mut self, key: TimerKey, at: Time) {
        self.list.push(Action::SetTimer(key, at));
    }

    /// Clears a timer if it is set.
    pub fn clear_timer(&mut self, key: TimerKey) {
        self.list.push(Action::ClearTimer(key));
    }

    /// Asks for more devices of a kind.
    pub fn provision(&mut self, kind: u32, count: u32) {
        self.list.push(Action::Provision { kind, count });
    }

    /// Gives a device back once it is idle.
    pub fn release(&mut self, device: DeviceId) {
        self.list.push(Action::Release(device));
    }
}
