//! Batches that close: with which outcome they may, and what becomes of their requests.

use super::{Answers, Auditor, Fault, Open};
use crate::cluster::Change;
use crate::log::Closed;
use crate::policy::Refusal;
use crate::request::{ActionId, DeviceId, RequestId};
use crate::time::{Span, Time};

impl Auditor {
    pub(super) fn close(&mut self, action: ActionId, outcome: Closed) {
        let Some(open) = self.open.remove(action.0) else {
            return self.fault(Fault::ClosesWithoutIssue { action, outcome });
        };
        let lane = (open.batch.device, open.batch.lane);
        if self.lanes.get(&lane) == Some(&action) {
            self.lanes.remove(&lane);
        }
        if open.began.is_some() {
            self.ran(open.batch.device, open.batch.model, action);
            let device_time = match outcome {
                Closed::Done(device_time) => device_time,
                _ => Span::ZERO,
            };
            let served = self.served.get_mut(&open.batch.device);
            if let Some((got, true)) = served.and_then(|s| s.ends(self.now, action, device_time)) {
                self.fault(Fault::ClosesBeforeItsShare { action, device_time, got });
            }
        }
        self.check_outcome(&open, outcome);
        let done = matches!(outcome, Closed::Done(_));
        self.report.batches_done += u64::from(done);
        let mut left = 0;
        for request in &open.batch.requests {
            left += usize::from(self.give_back(action, *request, done));
        }
        if done && left > 0 {
            self.answers.insert(action.0, Answers { left, at: None });
        }
    }

    fn check_outcome(&mut self, open: &Open, outcome: Closed) {
        let (action, device, latest) = (open.batch.action, open.batch.device, open.batch.latest);
        if outcome == Closed::Rejected(Refusal::NotLoaded)
            && self.lacks(device, open.batch.model) == Some(false)
        {
            self.fault(Fault::RefusedWithItsModel { action, device, model: open.batch.model });
        }
        self.check_close(action, device, (open.began, latest), outcome);
    }

    /// What holds of whatever closes.
    pub(super) fn check_close(
        &mut self,
        action: ActionId,
        device: DeviceId,
        (began, latest): (Option<Time>, Time),
        outcome: Closed,
    ) {
        let state = self.devices.get(&device).map(|d| d.0);
        match (outcome, began) {
            (Closed::Done(_) | Closed::Preempted, None) => {
                self.fault(Fault::ClosesWithoutBegin { action, outcome });
            }
            (Closed::Done(device_time), Some(began)) => {
                let ran = self.now.since(began);
                let fault = Fault::ComputedLongerThanItRan { action, device_time, ran };
                self.check(device_time <= ran, fault);
                self.check(state != Some(Change::Down), Fault::DoneOnDownDevice { action, device });
            }
            (Closed::Rejected(_) | Closed::Cancelled, Some(began)) => {
                self.fault(Fault::ClosesAfterBegin { action, outcome, began });
            }
            (Closed::Rejected(Refusal::Late), None) => {
                self.check(self.now > latest, Fault::RefusedInsideWindow { action, latest });
            }
            (Closed::Rejected(Refusal::DeviceDown), None) => {
                let fault = Fault::RefusedByDeviceThatIsUp { action, device };
                self.check(state != Some(Change::Up), fault);
            }
            (Closed::Preempted, Some(_)) => {
                // What runs on a device that fails is lost, whatever it can do.
                let can = self.terms.device(device.index()).is_none_or(|terms| terms.can_preempt);
                let fault = Fault::PreemptedWhereItCannot { action, device };
                self.check(can || state == Some(Change::Down), fault);
            }
            (Closed::Rejected(_) | Closed::Cancelled, None) => {}
        }
    }

    /// Takes a request out of a batch that has closed; whether it has not ended.
    fn give_back(&mut self, action: ActionId, request: RequestId, done: bool) -> bool {
        let Some(live) = self.live.get_mut(request.0) else { return false };
        if live.batch != Some(action) {
            return false;
        }
        live.batch = None;
        if live.ended {
            self.live.remove(request.0);
            return false;
        }
        if done && let Some((before, _)) = live.done.replace((action, self.now)) {
            // It ran twice, which was found when it was issued.
            self.leave(before);
        }
        true
    }
}
