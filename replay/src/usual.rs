//! The host as a profile has it: each batch keeps its executor busy for a launch and a result besides, and stalls come
//! as their law says.

use orrery_sim::core::{Begin, BeginWork};
use orrery_sim::driver::{Machine, Next, Took};
use orrery_sim::stalls::{Calendar, CoreOf, Stalls};
use orrery_sim::time::{Span, Time};
use std::sync::{Mutex, PoisonError};

/// See the module's text. A policy is told what a batch took on the device, as a real device tells it: without launch
/// and result.
#[derive(Debug)]
pub struct Usual {
    overhead: Span,
    /// Drawn as far as it is asked for.
    stalls: Mutex<Calendar>,
}

impl Usual {
    /// A batch costs so much besides.
    pub fn new(overhead: Span, stalls: Stalls) -> Usual {
        Usual { overhead, stalls: Mutex::new(Calendar::new(stalls)) }
    }

    fn advance(&self, core: CoreOf, now: Time, work: Span) -> Time {
        self.stalls.lock().unwrap_or_else(PoisonError::into_inner).advance(core, now, work)
    }
}

impl Machine for Usual {
    fn handles(&self, next: Next) -> Option<Time> {
        Some(self.advance(CoreOf::CONTROLLER, next.due, Span::ZERO))
    }

    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took> {
        let besides = match begin.work {
            BeginWork::Batch { .. } => self.overhead,
            BeginWork::Load { .. } => Span::ZERO,
        };
        let core = CoreOf::executor(begin.device.0, begin.executor);
        let end = self.advance(core, now, begin.fetch + besides + busy);
        Some(Took { end, device: busy, learned: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::cluster::Sharing;
    use orrery_sim::request::{ActionId, DeviceId, ModelId, RequestId};

    #[test]
    fn a_batch_keeps_its_executor_for_longer_than_it_takes_on_the_device() {
        let us = Span::from_us;
        let (model, longest) = (ModelId(0), us(5));
        let batch =
            BeginWork::Batch { model, units: 1, longest, total: longest, first: RequestId(0) };
        let load = BeginWork::Load { model, time: us(100) };
        let takes = |work| {
            let (action, device, fetch) = (ActionId(0), DeviceId(0), us(3));
            let begin =
                Begin { action, device, kind: 0, sharing: Sharing::None, executor: 0, fetch, work };
            let host = Usual::new(us(40), Stalls::default());
            let took = host.takes(Time::ZERO + us(7), &begin, us(100)).expect("it ends");
            (took.end.since(Time::ZERO), took.device)
        };
        assert_eq!(takes(batch), (us(150), us(100)));
        assert_eq!(takes(load), (us(110), us(100)));
    }
}
