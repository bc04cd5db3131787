//! Symphony's autoscaling advice (§3.5), followed: a policy around any other.
//!
//! It schedules nothing itself. It watches what the inner policy does, and every so often asks for
//! devices or gives some back.
//!
//! ```text
//! every `every`:
//!     r <- bad requests / ended requests        since the last look
//!     f <- idle device time / device time       since the last look
//!     N <- devices that are up
//!     if r > threshold:   provision N r / (1 - r), less those on their way
//!     else:               release  N (f - spare)
//! ```
//!
//! # Differences from the paper
//! - The paper gives advice to a cluster's autoscaler and leaves following it to that. What is left
//!   open there is a parameter here: the interval, the threshold, the bounds, and `spare`, the idle
//!   share that is kept because load comes in bursts.
//! - Released are the devices of the highest numbers (§3.2: the ones that stay idle when the smallest
//!   free number is taken first). The inner policy is told at once; the device itself goes when it has
//!   answered for all that was sent to it, so that no request is lost, however long messages take.
//! - A pipeline, which has several batches inside, is idle to the share of its stages that are.
//! - Nothing is released while devices are on their way, nor in the first look after they came.
//! - It looks away after an interval in which nothing happened and nothing was to do, so that a run
//!   ends when its work does.

#[cfg(test)]
mod tests;

use super::{Action, Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::ordered::{SortedMap, SortedSet};
use crate::request::{DeviceId, RequestId};
use crate::time::{Span, Time};

/// The timer of the next look: the largest key, so that it comes after the inner policy's.
const LOOK: TimerKey = TimerKey((1 << 56) - 1);

/// How the advice is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The kind of device that is asked for.
    pub kind: u32,
    /// Between two looks.
    pub every: Span,
    /// Devices are asked for above this share of bad requests.
    pub threshold: f64,
    /// The idle share that is kept.
    pub spare: f64,
    /// Never fewer devices than this.
    pub least: u32,
    /// Never more.
    pub most: u32,
}

/// The advice of §3.5 for `devices`, with the share of bad requests and of idle device time: how many
/// to add (positive) or to give back (negative).
pub fn advice(devices: u32, bad_rate: f64, idle: f64, threshold: f64, spare: f64) -> i64 {
    let n = f64::from(devices);
    // Everything bad says nothing about how much more is needed: twice as many, at most.
    let exact = advised(n, bad_rate, idle, threshold).min(n);
    let kept = if bad_rate > threshold { exact } else { (exact + n * spare).min(0.0) };
    kept.ceil() as i64
}

/// The same as the paper has it: neither rounded nor bounded, and without anything to spare.
pub fn advised(devices: f64, bad_rate: f64, idle: f64, threshold: f64) -> f64 {
    if bad_rate > threshold {
        devices * (bad_rate / (1.0 - bad_rate))
    } else {
        0.0 - devices * idle
    }
}

/// The policy around another. See the module's text.
pub struct Autoscale<P> {
    inner: P,
    config: Config,
    up: SortedSet<DeviceId>,
    /// What was sent to each device and has not come back; none for a device that has nothing.
    sent: SortedMap<DeviceId, u32>,
    /// The inner policy was told that they go. They are released when they have nothing left.
    leaving: SortedSet<DeviceId>,
    /// By number of the device: how many batches it runs at a time, at full speed.
    lanes: Vec<u8>,
    /// Asked for and not there yet.
    coming: u32,
    came: bool,
    /// The next look is set.
    looks: bool,
    /// Something happened since the last look.
    eventful: bool,
    bad: u64,
    ended: u64,
    busy: Span,
    device_time: Span,
    /// Up to when `device_time` is counted.
    counted: Time,
}

impl<P: Policy> Autoscale<P> {
    /// Around a policy.
    pub fn new(config: Config, inner: P) -> Autoscale<P> {
        Autoscale {
            inner,
            config,
            up: SortedSet::default(),
            sent: SortedMap::default(),
            leaving: SortedSet::default(),
            lanes: Vec::new(),
            coming: 0,
            came: false,
            looks: false,
            eventful: false,
            bad: 0,
            ended: 0,
            busy: Span::ZERO,
            device_time: Span::ZERO,
            counted: Time::ZERO,
        }
    }

    /// Counts the devices' time until now.
    fn count(&mut self, now: Time) {
        self.device_time += now.since(self.counted) * self.up.len() as u64;
        self.counted = now;
    }

    /// Devices are there that were not.
    fn look_at_lanes(&mut self, known: &Known<'_>) {
        self.lanes = known.devices().iter().map(|d| d.sharing.devices(d.lanes)).collect();
    }

    /// A batch has come to its end. A load, which has no requests, runs beside batches.
    fn answered(
        &mut self,
        id: DeviceId,
        outcome: Outcome,
        requests: &[RequestId],
        known: &Known<'_>,
    ) {
        let Outcome::Done { end, device, .. } = outcome else { return };
        if requests.is_empty() {
            return;
        }
        self.busy += Span::from_ns(device.ns() / u64::from(self.lanes[id.index()]));
        for request in requests.iter().filter_map(|&id| known.request(id)) {
            self.ended += 1;
            self.bad += u64::from(end > request.deadline);
        }
    }

    /// Passes an event on, and counts what the inner policy does.
    fn tell(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        let before = out.list().len();
        self.inner.on(now, event, known, out);
        for action in &out.list()[before..] {
            match *action {
                Action::End(..) => {
                    self.ended += 1;
                    self.bad += 1;
                }
                Action::Exec { exec: Exec { device, .. }, .. } | Action::Load { device, .. } => {
                    assert!(
                        !self.leaving.contains(&device),
                        "{}: sends work to {device}, which goes",
                        self.inner.name()
                    );
                    *self.sent.get_or_default(device) += 1;
                }
                _ => {}
            }
        }
    }

    /// Everything that was sent to the device is answered for.
    fn release_if_done(&mut self, device: DeviceId, out: &mut Actions) {
        if self.leaving.contains(&device) && !self.sent.contains_key(&device) {
            self.leaving.remove(&device);
            out.release(device);
        }
    }

    /// An action of the device has come back.
    fn came_back(&mut self, device: DeviceId) {
        if let Some(n) = self.sent.get_mut(&device) {
            *n -= 1;
            if *n == 0 {
                self.sent.remove(&device);
            }
        }
    }

    /// Follows the advice.
    fn look(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        self.count(now);
        let Config { threshold, spare, kind, least, most, .. } = self.config;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let bad_rate = share(self.bad as f64, self.ended as f64);
        let time = self.device_time.ns() as f64;
        let idle = 1.0 - share(self.busy.ns() as f64, time).min(1.0);
        let devices = self.up.len() as u32;
        let advice = advice(devices, bad_rate, idle, threshold, spare);
        if advice > 0 {
            let room = most.saturating_sub(devices + self.coming);
            let more = (advice as u32).saturating_sub(self.coming).min(room);
            if more > 0 {
                out.provision(kind, more);
                self.coming += more;
                self.eventful = true;
            }
        } else if self.coming == 0 && !self.came {
            let fewer = (advice.unsigned_abs() as u32).min(devices.saturating_sub(least));
            for _ in 0..fewer {
                let Some(device) = self.up.pop_last() else { break };
                self.eventful = true;
                self.leaving.insert(device);
                self.tell(now, Event::Device(device, Change::Draining), known, out);
                self.release_if_done(device, out);
            }
        }
        (self.bad, self.ended, self.came) = (0, 0, false);
        (self.busy, self.device_time) = (Span::ZERO, Span::ZERO);
        self.looks = std::mem::take(&mut self.eventful);
        if self.looks {
            out.set_timer(LOOK, now + self.config.every);
        }
    }

    /// Something happened: there will be a look at it.
    fn wake(&mut self, now: Time, out: &mut Actions) {
        self.eventful = true;
        if !self.looks {
            self.looks = true;
            self.counted = now;
            out.set_timer(LOOK, now + self.config.every);
        }
    }
}

impl<P: Policy> Policy for Autoscale<P> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn sees_truth(&self) -> bool {
        self.inner.sees_truth()
    }

    fn wants_profiles(&self) -> bool {
        self.inner.wants_profiles()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Timer(LOOK) => return self.look(now, known, out),
            Event::Start => {
                self.up = known.devices().iter().map(|d| d.id).collect();
                self.look_at_lanes(known);
                self.wake(now, out);
            }
            Event::Arrive(_) => self.wake(now, out),
            Event::Device(device, Change::Up) => {
                self.count(now);
                self.look_at_lanes(known);
                self.up.insert(device);
                self.coming = self.coming.saturating_sub(1);
                self.came = true;
                self.wake(now, out);
            }
            Event::Device(device, _) => {
                self.count(now);
                self.up.remove(&device);
            }
            Event::Result { device, outcome, requests, .. } => {
                self.answered(device, outcome, requests, known);
                self.came_back(device);
                self.wake(now, out);
                self.tell(now, event, known, out);
                return self.release_if_done(device, out);
            }
            _ => {}
        }
        self.tell(now, event, known, out);
    }
}
