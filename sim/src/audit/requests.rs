//! Requests: what holds when they arrive, and when they end.

use super::{Auditor, Fault, Live};
use crate::log::AppTerms;
use crate::request::{ActionId, Drop, End, Request, RequestId};

impl Auditor {
    /// Whether a request that is not alive has been: ids count arrivals.
    pub(super) fn has_arrived(&self, request: RequestId) -> bool {
        request.0 < self.next_request && !self.skipped.iter().any(|s| s.contains(&request.0))
    }

    pub(super) fn arrive(&mut self, request: Request) {
        let (id, expected) = (request.id, RequestId(self.next_request));
        if id < expected {
            return self.fault(Fault::ArrivesTwice { request: id });
        }
        if id > expected {
            self.skipped.push(expected.0..id.0);
            self.fault(Fault::ArrivalSkipped { request: id, expected });
        }
        let arrival = request.arrival;
        // A controller that is back from a stall handles at once all that came meanwhile.
        let in_a_stall = self.terms.stalls && self.before.is_none_or(|before| before < arrival);
        let may_be_late = self.on_a_wall_clock || in_a_stall;
        let is_told_in_time = arrival == self.now || may_be_late && arrival < self.now;
        self.check(is_told_in_time, Fault::ArrivalAtAnotherTime { request: id, arrival });
        let deadline = request.deadline;
        let fault = Fault::DeadlineBeforeArrival { request: id, deadline, arrival };
        self.check(deadline >= arrival, fault);
        self.check_names_and_terms(&request);
        self.report.requests += 1;
        self.next_request = id.0.saturating_add(1);
        self.live.insert(id.0, Live { request, batch: None, done: None, ended: false });
    }

    /// Whether a request is one that the names and terms of the log admit.
    fn check_names_and_terms(&mut self, r: &Request) {
        let Request { id: request, app, model, .. } = *r;
        let known = |list: usize, index: usize| list == 0 || index < list;
        let is_app =
            known(self.named_apps, app.index()) && known(self.terms.apps.len(), app.index());
        self.check(is_app, Fault::UnknownApp { request, app });
        self.check(known(self.named_models, model.index()), Fault::UnknownModel { request, model });
        let Some(&AppTerms { model: wants, slo }) = self.terms.apps.get(app.index()) else {
            return;
        };
        self.check(model == wants, Fault::AppOfAnotherModel { request, app, model, wants });
        if let Some(slo) = slo {
            let fault = Fault::DeadlineMoved { request, deadline: r.deadline, slo };
            self.check(r.deadline == r.arrival + slo, fault);
        }
    }

    pub(super) fn end(&mut self, request: RequestId, end: End) {
        let (now, arrived) = (self.now, self.has_arrived(request));
        let Some(live) = self.live.get_mut(request.0).filter(|l| !l.ended) else {
            return self.fault(if arrived {
                Fault::EndsTwice { request }
            } else {
                Fault::EndsWithoutArriving { request }
            });
        };
        live.ended = true;
        let (whole, deadline, done) = (live.request, live.request.deadline, live.done);
        if live.batch.is_none() {
            self.live.remove(request.0);
        }
        self.report.ends[end.index()] += 1;
        self.pay(&whole, end);
        if let Some((action, _)) = done {
            self.end_of_batch(action, request, end);
        }
        match end {
            End::InTime => {
                self.check(now <= deadline, Fault::LateCountedAsGood { request, deadline });
            }
            End::Late => {
                self.check(now > deadline, Fault::GoodCountedAsLate { request, deadline });
            }
            End::Dropped(Drop::Expired) => {
                let fault = Fault::ExpiredBeforeDeadline { request, deadline };
                return self.check(now >= deadline, fault);
            }
            End::Dropped(_) => return,
            End::Pending => return self.pending = Some((request, now)),
        }
        self.check(done.is_some(), Fault::AnsweredBeforeItsBatch { request, end });
    }

    /// A request of a batch that closed as done ends now: with the others of it, if it is answered.
    fn end_of_batch(&mut self, action: ActionId, request: RequestId, end: End) {
        let now = self.now;
        let Some(answers) = self.answers.get_mut(action.0) else { return };
        let answered = matches!(end, End::InTime | End::Late);
        let others = if answered { *answers.at.get_or_insert(now) } else { now };
        self.leave(action);
        self.check(others == now, Fault::AnsweredApart { request, action, others });
    }

    /// One request less of a batch that closed as done has to end.
    pub(super) fn leave(&mut self, action: ActionId) {
        let Some(answers) = self.answers.get_mut(action.0) else { return };
        answers.left -= 1;
        if answers.left == 0 {
            self.answers.remove(action.0);
        }
    }
}
