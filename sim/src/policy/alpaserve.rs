//! AlpaServe (Li et al., OSDI 2023), runtime scheduling (§4.3 as we remember it: the paper was not at
//! hand, and the facts are those of the authors' repository alpa-projects/mms).
//!
//! Models stand on groups of devices before the run, and more than one group may hold a model. A
//! central controller sends each request to the least busy of these groups. A group serves its
//! requests in the order in which they come, one at a time, without batching. A request that cannot
//! end in time is refused when it comes, so that it costs the others nothing. A pipeline
//! (inter-operator parallelism) takes the next request when its first stage is free.
//!
//! ```text
//! on request r:
//!     group <- of the groups that hold r's model, the one with the fewest requests in flight
//!     if no group holds it: fail r
//!     enters <- when the group has r and its first stage is free
//!     ends   <- enters + latency of r on the group
//!     if ends + margin > r's deadline: refuse r
//!     send r to the group, whose first stage is free at enters + longest stage
//! on result: the group has one request in flight less
//! ```
//!
//! A group is a device here: one GPU, several that run each operator together (a faster device), or a
//! pipeline (a device with `stages`). Of equally busy groups the first is taken. The defaults are those
//! of the authors' experiment on 16 V100s, which `orrery reproduce alpaserve-v100` compares with.
//!
//! # Differences from the paper
//! - Placements come with the scenario (`holds` of a device); the search for them is left out.
//! - The stages of a pipeline are equal but for `longest_stage`, which limits how often a request enters.
//! - The group decides about a request when it has it. Here the controller does, on arrival and with
//!   what it expects to be true then, so that a refused request is never in flight.
//! - When a group is free is what expected latencies add up to, whatever is measured later. With
//!   latencies that vary, a request that was let in may be late.
//! - Stages are kept apart by the policy, which lets a request in when the one before has passed the longest
//!   stage. The device only guarantees that no more than `stages` are inside at a time.
//! - Requests of a group that fails are dropped.

use super::free_devices::did_not_run;
use super::parameters::{About, Assumption, Build, Lanes, Parameter, Preset, Settings, ms, number};
use super::pool::{Estimates, Learn};
use super::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, Request};
use crate::time::{Span, Time};
use std::collections::BTreeSet;

/// AlpaServe's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Added to a request's expected end before it is compared with the deadline.
    pub margin: Span,
    /// From a request's arrival until its group has it.
    pub controller: Span,
    /// The longest stage of a pipeline, in mean stages.
    pub longest_stage: f64,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "alpaserve",
        what: "AlpaServe's runtime; the group with the fewest requests in flight, refusal on arrival",
        paper: "AlpaServe (Li et al., OSDI 2023), runtime scheduling",
    };
    const LANES_USED: Lanes = Lanes::Stages;
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "the system that the authors measured on 16 V100s",
        make: || Config {
            margin: Span::from_ms(4),
            controller: Span::from_us(2_500),
            longest_stage: 1.0,
        },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        ms(
            "margin_ms",
            |c: &mut Self| &mut c.margin,
            "added to the expected end of a request, which is refused if this is after its deadline",
        )
        .from("the authors' experiment on 16 V100s"),
        ms(
            "controller_ms",
            |c: &mut Self| &mut c.controller,
            "expected time from a request's arrival until its group has it",
        )
        .from("the authors' experiment on 16 V100s"),
        number(
            "longest_stage",
            1.0..=64.0,
            |c: &mut Self| Some(&mut c.longest_stage),
            "longest stage of a pipeline over the mean of its stages: a request may enter after the longest",
        )
        .quiet(),
    ];
}

/// A group.
#[derive(Clone, Debug)]
struct Group {
    kind: usize,
    stages: u8,
    /// Requests that were sent to it and have not been reported.
    in_flight: u32,
    /// When its first stage is free, as expected.
    free_at: Time,
    /// Where the next request goes: the requests inside a pipeline are on lanes of their own.
    lane: u8,
}

/// The policy. See the module's text.
pub struct AlpaServe {
    config: Config,
    estimates: Estimates,
    /// By number of the device.
    groups: Vec<Group>,
    /// The groups that are up: requests in flight, and number.
    by_load: BTreeSet<(u32, usize)>,
}

impl AlpaServe {
    /// AlpaServe by the profiles' latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> AlpaServe {
        let estimates = Estimates::new(profiles, Learn::Offline, |mean| mean);
        AlpaServe { config, estimates, groups: Vec::new(), by_load: BTreeSet::new() }
    }

    fn arrive(&mut self, now: Time, r: &Request, known: &Known<'_>, out: &mut Actions) {
        let Some(group) = self.least_busy(r.model, known) else {
            out.why(r.id, || "no group holds its model".to_string());
            return out.end(r.id, Drop::Shed);
        };
        let g = &self.groups[group];
        let latency = self.estimates.of(r.model.index(), g.kind, r.size);
        let enters = g.free_at.max(now + self.config.controller);
        let ends = enters + latency;
        if ends + self.config.margin > r.deadline {
            let (in_flight, margin) = (g.in_flight, self.config.margin);
            out.why(r.id, || {
                format!(
                    "refused: the least busy group that holds its model, device {group} with \
                     {in_flight} in flight, would end it at {ends}, and {margin} more is after \
                     its deadline"
                )
            });
            return out.end(r.id, Drop::Infeasible);
        }
        out.why(r.id, || {
            let in_flight = g.in_flight;
            format!(
                "device {group} holds its model and has the fewest in flight, {in_flight}; it is \
                 expected to begin at {enters} and to end at {ends}"
            )
        });
        self.send(group, enters, latency, r, out);
    }

    /// Of the groups that hold a model, the one with the fewest requests in flight; the first of
    /// equals.
    fn least_busy(&self, model: ModelId, known: &Known<'_>) -> Option<usize> {
        let mut groups = self.by_load.iter().map(|&(_, group)| group);
        groups.find(|&group| known.holds(DeviceId(group as u32), model))
    }

    /// A group has this many requests more or less in flight.
    fn load(&mut self, group: usize, change: i32) {
        let g = &mut self.groups[group];
        let before = g.in_flight;
        g.in_flight = before.checked_add_signed(change).expect("what ends was sent");
        if self.by_load.remove(&(before, group)) {
            self.by_load.insert((g.in_flight, group));
        }
    }

    fn send(&mut self, group: usize, enters: Time, takes: Span, r: &Request, out: &mut Actions) {
        let g = &mut self.groups[group];
        let exec = Exec::now(DeviceId(group as u32), r.model);
        // Only a pipeline has to be told when its first stage is free: another device is free when
        // the request before has ended.
        let exec = match g.stages {
            1 => exec,
            _ => Exec { lane: g.lane, earliest: enters, ..exec },
        };
        out.exec(exec, &[r.id]);
        g.lane = (g.lane + 1) % g.stages;
        let mean_stage = Span::from_ns(takes.ns().div_ceil(u64::from(g.stages)));
        g.free_at = enters + mean_stage.scale(self.config.longest_stage).min(takes);
        self.load(group, 1);
    }

    fn came(&mut self, device: DeviceId, known: &Known<'_>) {
        let views = known.devices();
        let new = views.iter().skip(self.groups.len()).map(|d| Group {
            kind: d.kind as usize,
            stages: d.stages.min(d.lanes),
            in_flight: 0,
            free_at: Time::ZERO,
            lane: 0,
        });
        self.groups.extend(new);
        self.by_load.insert((self.groups[device.index()].in_flight, device.index()));
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(AlpaServe::new(self, profiles))
    }
}

impl Policy for AlpaServe {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => known.devices().iter().for_each(|d| self.came(d.id, known)),
            Event::Arrive(r) => self.arrive(now, r, known, out),
            Event::Result { device, outcome, requests, .. } => {
                self.load(device.index(), -1);
                if !matches!(outcome, Outcome::Done { .. }) {
                    out.why_all(requests, || did_not_run(outcome));
                    requests.iter().for_each(|&id| out.end(id, Drop::Refused));
                }
            }
            Event::Device(device, Change::Up) => self.came(device, known),
            Event::Device(device, _) => {
                let group = device.index();
                self.by_load.remove(&(self.groups[group].in_flight, group));
            }
            Event::Timer(_) | Event::Profiled { .. } => {}
        }
    }
}
