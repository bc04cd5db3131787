//! Salus (Yu's dissertation, chapter 2; Yu and Chowdhury, MLSys 2020): jobs share one GPU, an iteration at
//! a time.
//!
//! Persistent memory grows from one end of the GPU's memory, **lanes** from the other. A lane holds what
//! its jobs need while an iteration runs, and runs one iteration at a time; lanes run side by side. Since
//! a lane is empty between iterations, switching jobs there costs nothing.
//!
//! ```text
//! on a new job:               it waits, behind the others; place what fits
//! place(job):                 # Algorithm 2.1 with `lanes=printed`
//!     if sum P + job.P + sum L + job.E <= C:         open a lane of size job.E
//!     among lanes with L >= job.E, if P has room:    take the smallest
//!     for lanes by size, smallest first, with room:  grow it to max(L, job.E)
//!     otherwise wait                                 # and hold back nobody behind
//! at the end of a lane's iteration:  the next iteration is the job's that `order` names
//! at a job's end:             its lane shrinks to the largest job left; place what fits
//! ```
//!
//! `order`: FIFO, SRTF, FAIR and PACK of §2.4 and round robin of Fig. 2.9. Ties go to the lowest number.
//!
//! # Differences from the paper
//! - Algorithm 2.1 as printed does not ask for room for P when it takes an existing lane, and sets `L :=
//!   E` where it grows one, which may shrink it below what is in it. Either breaks the safety condition;
//!   `lanes=printed` asks, and takes the larger.
//! - FAIR, "equalise total service per lane", is two orders here: `las`, which the released code has, and
//!   `rr`, equal shares from now on.
//! - SRTF is told a job's total time, as in the paper; a job's first iterations are not longer, and
//!   switching, moving and admission cost nothing.
//!
//! # Differences from the released code
//! - `lanes=released` is its lane manager for `pack` and, as there, no manager for the others: one lane
//!   over the whole GPU. Its factors 1.05 and 1.1 are in the manager's lanes only.
//! - FIFO there is plain TensorFlow, a process after the other; here it is a lane for one job at a time.
//! - SRTF's ties go to the later job looked at there. Its remaining time mixes units; ours does not.
//! - Within a lane, `pack` there runs whatever comes first; here the jobs of a lane take turns.
//! - There is no limit of 100 jobs alive and no polling every 0.1 s.

use super::interface::{Action, Configured, Event, JobPolicy, Known, about, preset};
use super::lanes::{Lane, Rule, Table, Waiting};
use crate::jobs::job::JobId;
use crate::jobs::record::{LaneId, On};
use crate::policy::parameters::{About, Parameter, Preset, Settings, word, words};
use crate::time::Time;

words! {
    /// Whose iteration is next in a lane.
    pub enum Order {
        Fifo = "fifo": "one job on the GPU at a time, in the order of arrival",
        Srtf = "srtf": "the least remaining time first; total times are known",
        Las = "las": "the least used time first, never reset: the released FAIR",
        Rr = "rr": "the fewest iterations since a job joined: equal shares",
        Pack = "pack": "as many jobs as are safe; the jobs of a lane take turns",
    }
}

words! {
    /// How a job finds its lane.
    pub enum Lanes {
        Released = "released": "the lane manager for `pack`, one lane for the others",
        Printed = "printed": "Algorithm 2.1, without its two holes, for every order",
    }
}

/// Salus's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Whose iteration is next.
    pub order: Order,
    /// How a job finds its lane.
    pub lanes: Lanes,
}

impl Default for Config {
    fn default() -> Config {
        Config { order: Order::Pack, lanes: Lanes::Released }
    }
}

impl Settings for Config {
    const ABOUT: About = about(
        "salus",
        "jobs share one GPU, iteration by iteration, with memory in lanes",
        "Salus (Yu and Chowdhury, MLSys 2020), as Yu's dissertation, chapter 2 has it",
    );
    const PRESETS: &'static [Preset<Config>] =
        &[preset(Config::default, "the released code's lanes, packed")];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word("order", |c: &mut Self| &mut c.order, "whose iteration is next in a lane")
            .from("§2.4; released code: the schedulers `fair`, `preempt`, `rr`, `pack`"),
        word("lanes", |c: &mut Self| &mut c.lanes, "how a job finds its lane")
            .from("Algorithm 2.1; released code: the lane manager"),
    ];
}

impl Configured for Config {
    fn build(&self) -> Box<dyn JobPolicy> {
        Box::new(Salus::new(*self))
    }

    fn has_lanes(&self) -> bool {
        true
    }
}

/// The policy. See the module's text.
#[derive(Debug)]
pub struct Salus {
    config: Config,
    table: Table,
    waiting: Waiting,
    /// Jobs that came since the last decision.
    new: Vec<JobId>,
    /// Whether a job left since then.
    freed: bool,
    /// Lanes in which nobody may run.
    idle: Vec<LaneId>,
    /// By job.
    lane_of: Vec<LaneId>,
}

impl Salus {
    /// Salus before its start.
    pub fn new(config: Config) -> Salus {
        let rule = match (config.lanes, config.order) {
            (_, Order::Fifo) => Rule::Single,
            (Lanes::Printed, _) => Rule::Algorithm21,
            (Lanes::Released, Order::Pack) => Rule::Manager,
            (Lanes::Released, _) => Rule::Single,
        };
        Salus {
            config,
            table: Table::new(rule),
            waiting: Waiting::default(),
            new: Vec::new(),
            freed: false,
            idle: Vec::new(),
            lane_of: Vec::new(),
        }
    }

    /// Admits a job, if there is room.
    fn place(&mut self, job: JobId, known: &Known<'_>, out: &mut Vec<Action>) -> bool {
        let (now, memory) = (known.now, known.cluster.memory);
        if self.config.order == Order::Fifo && !self.table.lanes.is_empty() {
            return false;
        }
        let (what, key) = ((job, known.job(job)), self.key(job, known));
        let Some(id) = self.table.place(now, what, key, memory) else { return false };
        let place = job.0 as usize;
        self.lane_of.resize(self.lane_of.len().max(place + 1), id);
        self.lane_of[place] = id;
        let lane = self.table.lane(id);
        out.push(Action::Lane(id, lane.size));
        out.push(Action::Place(job, id));
        let overtakes = |running: JobId| match self.config.order {
            Order::Srtf => known.left(job) < known.left(running),
            _ => true,
        };
        match lane.running {
            Some(running) if overtakes(running) => out.push(Action::Interrupt(running)),
            Some(_) => (),
            None => self.idle.push(id),
        }
        true
    }

    /// What the order goes by, the least first; it changes only when the job runs.
    fn key(&self, job: JobId, known: &Known<'_>) -> u64 {
        match self.config.order {
            Order::Fifo | Order::Srtf => known.left(job).ns(),
            Order::Las => known.used(job).ns(),
            Order::Rr | Order::Pack => 0,
        }
    }

    /// Who runs next in a lane, and for how many iterations nobody else would be next.
    fn next(&self, lane: &Lane, known: &Known<'_>) -> (JobId, u64) {
        let mut by_key = lane.queue.iter().copied();
        let first = by_key.next().expect("a lane has a job");
        let (job, steps) = match self.config.order {
            Order::Fifo | Order::Srtf => (first.1, u64::MAX),
            Order::Las => {
                let steps = by_key.next().map(|second| overtaken(first, second, known));
                (first.1, steps.unwrap_or(u64::MAX))
            }
            Order::Rr | Order::Pack => {
                let steps = if by_key.next().is_none() { u64::MAX } else { 1 };
                (lane.turn().expect("a lane has a job"), steps)
            }
        };
        let all = known.left(job).ns().div_ceil(known.job(job).iteration.ns());
        (job, steps.min(all))
    }
}

/// After how many of its iterations the job with the least used time comes behind another.
fn overtaken(least: (u64, JobId), other: (u64, JobId), known: &Known<'_>) -> u64 {
    let (behind, iteration) = (other.0 - least.0, known.job(least.1).iteration.ns());
    let steps = behind.div_ceil(iteration);
    let still_first = steps * iteration == behind && least.1 < other.1;
    (steps + u64::from(still_first)).max(1)
}

impl JobPolicy for Salus {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event, known: &Known<'_>) {
        match event {
            Event::Submit(job) => self.new.push(job),
            Event::Step(job) | Event::Done(job) => {
                let (id, key) = (self.lane_of[job.0 as usize], self.key(job, known));
                let lane = self.table.lane(id);
                lane.running = None;
                // An iteration that ends as a job joins was before the join.
                if lane.joined < now {
                    lane.had_turn(job);
                }
                lane.set_key(job, key);
                self.idle.push(id);
                if event == Event::Done(job) {
                    self.table.leave(id, job);
                    self.freed = true;
                }
            }
        }
    }

    fn decide(&mut self, _: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        let mut new = std::mem::take(&mut self.new);
        if std::mem::take(&mut self.freed) {
            self.resize(out);
            new.drain(..).for_each(|job| self.waiting.push(job, known.job(job)));
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.offer(|job| self.place(job, known, out));
            self.waiting = waiting;
        }
        // Nothing is free since the last time: only what is new can find room.
        for job in new.drain(..) {
            if !self.place(job, known, out) {
                self.waiting.push(job, known.job(job));
            }
        }
        self.new = new;
        let mut idle = std::mem::take(&mut self.idle);
        idle.sort_unstable();
        idle.dedup();
        for id in idle.drain(..) {
            let Some(place) = self.table.lanes.iter().position(|l| l.id == id) else { continue };
            if self.table.lanes[place].running.is_none() {
                let (job, steps) = self.next(&self.table.lanes[place], known);
                self.table.lanes[place].running = Some(job);
                out.push(Action::Run(job, steps, On::Lane));
            }
        }
        self.idle = idle;
    }
}

impl Salus {
    /// Says the sizes of the lanes that jobs left.
    fn resize(&self, out: &mut Vec<Action>) {
        for id in &self.idle {
            let size = self.table.lanes.iter().find(|l| l.id == *id).map_or(0, |l| l.size);
            out.push(Action::Lane(*id, size));
        }
    }
}
