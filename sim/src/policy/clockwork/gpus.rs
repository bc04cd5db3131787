//! What Clockwork knows of its devices: outstanding work, and who asks for more when.
//!
//! A device asks for work when less than `ahead` of it is outstanding. When that will be changes only
//! with what is outstanding, so the devices stand in two orders and an event touches those alone that
//! it concerns. It knows neither models nor requests.

use super::config::Config;
use super::sorted::Sorted;
use super::strategies::Tried;
use crate::request::{ActionId, DeviceId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

pub(super) struct Outstanding {
    pub action: ActionId,
    pub model: usize,
    pub size: usize,
    pub estimate: Span,
}

/// One executor: when it will have done what was sent (worker_tracker.h).
#[derive(Default)]
pub(super) struct Tracker {
    /// When the oldest outstanding action began, as far as the controller knows.
    begin: Time,
    outstanding: VecDeque<Outstanding>,
    /// The sum of their estimates.
    work: Span,
}

/// A device's place in the two orders.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Nowhere,
    /// Asks for work; the end of what it has, as expected when that was sent.
    Ready(Time),
    /// The same, but its last search found nothing and nothing has come for it since.
    Sated(Time),
    /// Will ask then.
    Later(Time),
}

#[derive(Default)]
pub(super) struct Gpu {
    pub up: bool,
    pub exec: Tracker,
    pub tried: Tried,
    /// Its last search found nothing, and no strategy was made for it since.
    sated: bool,
    /// Whether [`Gpus::sated`] names it.
    listed: bool,
    place: Place,
}

/// All devices, by id.
#[derive(Default)]
pub(super) struct Gpus {
    pub list: Vec<Gpu>,
    /// Those that ask and are not sated.
    ready: Sorted,
    later: Sorted,
    /// All that are sated, and some that are no more.
    sated: Vec<usize>,
}

impl Tracker {
    /// The action is sent.
    pub fn send(&mut self, now: Time, sent: Outstanding) {
        if self.outstanding.is_empty() {
            self.begin = now;
        }
        self.work += sent.estimate;
        self.outstanding.push_back(sent);
    }

    /// How many actions are outstanding.
    pub fn count(&self) -> usize {
        self.outstanding.len()
    }

    /// Whether the action is outstanding.
    pub fn has(&self, action: ActionId) -> bool {
        self.outstanding.iter().any(|o| o.action == action)
    }

    /// The action has ended and the next one begins at `free`.
    pub fn ended(&mut self, action: ActionId, free: Time) -> Outstanding {
        let at = self.outstanding.iter().position(|o| o.action == action);
        let at = at.expect("an action of ours");
        let done = self.outstanding.remove(at).expect("just found");
        self.work = self.work.minus(done.estimate);
        self.begin = free;
        done
    }

    /// When the executor will have done what was sent.
    pub fn available(&self, now: Time, config: &Config) -> Time {
        let soonest = now + config.lead;
        let Some(oldest) = self.outstanding.front() else { return soonest };
        let overdue = self.begin + oldest.estimate + config.lag < now;
        let available = if overdue {
            (now + self.work).minus(oldest.estimate + config.lag)
        } else {
            self.begin + self.work
        };
        available.max(soonest)
    }

    /// From when on less than `ahead` is outstanding, if nothing is sent and nothing ends.
    pub fn asks_at(&self, config: &Config) -> Time {
        if config.lead >= config.ahead {
            return Time::NEVER;
        }
        let Some(oldest) = self.outstanding.front() else { return Time::ZERO };
        let end = self.begin + self.work;
        if end < Time::ZERO + config.ahead {
            return Time::ZERO;
        }
        let asks = end.minus(config.ahead) + Span::from_ns(1);
        // Once the oldest action is overdue, the expected end moves on with the clock.
        let overdue = self.begin + oldest.estimate + config.lag;
        if asks <= overdue { asks } else { Time::NEVER }
    }

    /// When it will end as expected now, whatever the clock says; zero when it is idle.
    fn expected_end(&self) -> Time {
        if self.outstanding.is_empty() { Time::ZERO } else { self.begin + self.work }
    }
}

impl Gpu {
    /// Its place when its time to ask has come.
    fn asks(&self) -> Place {
        let end = self.exec.expected_end();
        if self.sated { Place::Sated(end) } else { Place::Ready(end) }
    }
}

impl Gpus {
    /// A device is there and takes work.
    pub fn came(&mut self, now: Time, id: DeviceId, config: &Config) {
        if self.list.len() <= id.index() {
            self.list.resize_with(id.index() + 1, Gpu::default);
        }
        self.list[id.index()].up = true;
        self.place(now, id.index(), config);
    }

    /// A device takes no more work.
    pub fn left(&mut self, now: Time, id: DeviceId, config: &Config) {
        self.list[id.index()].up = false;
        self.place(now, id.index(), config);
    }

    /// Puts a device where it belongs after what is outstanding has changed.
    pub fn place(&mut self, now: Time, gpu: usize, config: &Config) {
        let g = &mut self.list[gpu];
        let asks = if g.up { g.exec.asks_at(config) } else { Time::NEVER };
        let place = match asks {
            Time::NEVER => Place::Nowhere,
            asks if asks <= now => g.asks(),
            asks => Place::Later(asks),
        };
        match std::mem::replace(&mut g.place, place) {
            Place::Nowhere | Place::Sated(_) => {}
            Place::Ready(end) => self.ready.remove((end, gpu)),
            Place::Later(at) => self.later.remove((at, gpu)),
        }
        match place {
            Place::Nowhere | Place::Sated(_) => {}
            Place::Ready(end) => self.ready.insert((end, gpu)),
            Place::Later(at) => self.later.insert((at, gpu)),
        }
    }

    /// The devices whose time has come ask for work.
    pub fn advance(&mut self, now: Time) {
        while let Some((at, gpu)) = self.later.first()
            && at <= now
        {
            self.later.pop_first();
            let g = &mut self.list[gpu];
            g.place = g.asks();
            if let Place::Ready(end) = g.place {
                self.ready.insert((end, gpu));
            }
        }
    }

    /// When the next device will ask for work.
    pub fn next_asks(&self) -> Time {
        self.later.first().map_or(Time::NEVER, |l| l.0)
    }

    /// The device that gets work first: an idle one, else the one whose work is expected to end
    /// first; of equal ones the lowest id. One that found nothing waits until strategies are made.
    pub fn hungry(&self) -> Option<usize> {
        self.ready.first().map(|r| r.1)
    }

    /// A device that asks for work found none.
    pub fn sate(&mut self, gpu: usize) {
        let g = &mut self.list[gpu];
        if let Place::Ready(end) = g.place {
            self.ready.remove((end, gpu));
            g.place = Place::Sated(end);
        }
        g.sated = true;
        if !std::mem::replace(&mut g.listed, true) {
            self.sated.push(gpu);
        }
    }

    /// Strategies were made for a device.
    pub fn stir(&mut self, gpu: usize) {
        let g = &mut self.list[gpu];
        g.sated = false;
        if let Place::Sated(end) = g.place {
            g.place = Place::Ready(end);
            self.ready.insert((end, gpu));
        }
    }

    /// Strategies were made for all devices that take work.
    pub fn stir_up(&mut self) {
        let mut at = 0;
        while let Some(&gpu) = self.sated.get(at) {
            if self.list[gpu].up {
                self.sated.swap_remove(at);
                self.list[gpu].listed = false;
                self.stir(gpu);
            } else {
                at += 1;
            }
        }
    }

    /// Strategies were made for all devices.
    pub fn stir_all(&mut self) {
        while let Some(gpu) = self.sated.pop() {
            self.list[gpu].listed = false;
            self.stir(gpu);
        }
    }
}
