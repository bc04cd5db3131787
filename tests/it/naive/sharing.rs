//! The naive engine's devices on which k batches run at 1/k of the speed.
//!
//! At each change the work that each batch has left is counted again, in 2^-32 ns, what it got rounded down. An end
//! that stays where it is keeps its place.

use super::work::Stage;
use super::{Due, Naive};
use orrery_sim::request::{ActionId, DeviceId};
use orrery_sim::time::{Span, Time};

impl Naive<'_, '_> {
    pub fn begins_to_share(&mut self, action: ActionId, work: Span) {
        let device = self.jobs[action.index()].device;
        self.count_shares(device);
        let job = &mut self.jobs[action.index()];
        (job.left, job.ends) = (Some(u128::from(work.ns()) << 32), Time::NEVER);
        // Its own end first: others that end at once with it were due before.
        let sharers = self.sharers(device);
        self.move_end(action, sharers.len());
        sharers.iter().for_each(|other| self.move_end(*other, sharers.len()));
    }

    pub fn stops_to_share(&mut self, action: ActionId) {
        let device = self.jobs[action.index()].device;
        if self.jobs[action.index()].left.is_none() {
            return;
        }
        self.count_shares(device);
        self.jobs[action.index()].left = None;
        let sharers = self.sharers(device);
        sharers.iter().for_each(|other| self.move_end(*other, sharers.len()));
    }

    fn sharers(&self, device: DeviceId) -> Vec<ActionId> {
        let all = self.jobs.iter().zip(0..);
        let shares = all
            .filter(|(j, _)| j.device == device && j.stage == Stage::Running && j.left.is_some());
        shares.map(|(_, id)| ActionId(id)).collect()
    }

    fn count_shares(&mut self, device: DeviceId) {
        let sharers = self.sharers(device);
        let shared = &mut self.facts.devices[device.index()].shared_until;
        let passed = (self.now - *shared).ns();
        *shared = self.now;
        for action in &sharers {
            let got = (u128::from(passed) << 32) / sharers.len() as u128;
            let left = &mut self.jobs[action.index()].left;
            *left = left.map(|left| left.saturating_sub(got));
        }
    }

    fn move_end(&mut self, action: ActionId, sharers: usize) {
        let left = self.jobs[action.index()].left.expect("it shares its device");
        let ns = (left * sharers as u128).div_ceil(1 << 32);
        let at = self.now + Span::from_ns(u64::try_from(ns).unwrap_or(u64::MAX));
        if at != self.jobs[action.index()].ends {
            self.unschedule(|due| matches!(due, Due::Ended(a) if *a == action));
            self.jobs[action.index()].ends = at;
            self.schedule(at, Due::Ended(action));
        }
    }
}
