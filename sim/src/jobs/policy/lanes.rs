//! Lanes of a GPU's memory, and which lane a job finds. It does not choose who runs in a lane.
//!
//! The rules are those of [`super::salus::Lanes`]; what a lane's size stands for is theirs too.

use crate::jobs::job::{Bytes, Job, JobId};
use crate::jobs::record::LaneId;
use crate::time::Time;
use std::collections::{BTreeMap, VecDeque};

/// A job in a lane.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Which.
    pub job: JobId,
    persistent: Bytes,
    ephemeral: Bytes,
    /// Its iterations since a job last joined the lane.
    pub got: u64,
}

/// A lane with its jobs.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Its number.
    pub id: LaneId,
    /// Its size.
    pub size: Bytes,
    /// Its jobs, in the order in which they joined.
    pub members: Vec<Member>,
    /// Who runs.
    pub running: Option<JobId>,
    /// When a job last joined.
    pub joined: Time,
}

/// How a job finds its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Algorithm 2.1 without its two holes.
    Algorithm21,
    /// The released lane manager.
    Manager,
    /// One lane over the whole GPU.
    Single,
}

/// All lanes of the GPU.
#[derive(Debug)]
pub struct Table {
    rule: Rule,
    /// In the order in which they were opened.
    pub lanes: Vec<Lane>,
    opened: u32,
    /// Of all jobs that are admitted.
    persistent: Bytes,
    /// Of all lanes.
    sizes: Bytes,
}

/// Released lane manager: persistent memory is counted with a tenth more,
fn padded(persistent: Bytes) -> Bytes {
    (persistent * 11).div_ceil(10)
}

/// and a job's need with a twentieth more, though never beyond the GPU.
fn need(persistent: Bytes, ephemeral: Bytes, memory: Bytes) -> Bytes {
    ((padded(persistent) + ephemeral) * 21).div_ceil(20).min(memory)
}

impl Table {
    /// No lanes yet.
    pub fn new(rule: Rule) -> Table {
        Table { rule, lanes: Vec::new(), opened: 0, persistent: 0, sizes: 0 }
    }

    /// The lane for a job, opened or grown for it; `None` if it has to wait.
    pub fn place(&mut self, now: Time, id: JobId, job: &Job, memory: Bytes) -> Option<LaneId> {
        let lane = match self.rule {
            Rule::Algorithm21 => self.algorithm_2_1(job, memory),
            Rule::Manager => self.manager(job, memory),
            Rule::Single => self.single(job, memory),
        }?;
        let (persistent, ephemeral) = (job.persistent, job.ephemeral);
        lane.members.push(Member { job: id, persistent, ephemeral, got: 0 });
        lane.members.iter_mut().for_each(|m| m.got = 0);
        lane.joined = now;
        let id = lane.id;
        self.persistent += persistent;
        Some(id)
    }

    fn open(&mut self, size: Bytes) -> &mut Lane {
        let id = LaneId(self.opened);
        self.opened += 1;
        self.sizes += size;
        self.lanes.push(Lane { id, size, members: Vec::new(), running: None, joined: Time::ZERO });
        self.lanes.last_mut().expect("it was pushed")
    }

    /// ```text
    /// if sum P + job.P + sum L + job.E <= C: open a lane of size job.E
    /// among lanes with L >= job.E, if job.P has room: the smallest
    /// for lanes by size, smallest first: if it has room, grow it to max(L, job.E)
    /// ```
    fn algorithm_2_1(&mut self, job: &Job, memory: Bytes) -> Option<&mut Lane> {
        let with_job = self.persistent + job.persistent + self.sizes;
        if with_job + job.ephemeral <= memory {
            return Some(self.open(job.ephemeral));
        }
        let fits = |l: &&Lane| l.size >= job.ephemeral && with_job <= memory;
        let by_size = |l: &&Lane| (l.size, l.id);
        let best = self.lanes.iter().filter(fits).min_by_key(by_size);
        let grown = |l: &&Lane| with_job - l.size + l.size.max(job.ephemeral) <= memory;
        let id = best.or_else(|| self.lanes.iter().filter(grown).min_by_key(by_size))?.id;
        let lane = self.lanes.iter_mut().find(|l| l.id == id)?;
        let size = lane.size.max(job.ephemeral);
        self.sizes += size - lane.size;
        lane.size = size;
        Some(lane)
    }

    /// A lane owns the persistent memory of its jobs, and has the size that its first job needed. The
    /// one with least free memory is looked at first.
    fn manager(&mut self, job: &Job, memory: Bytes) -> Option<&mut Lane> {
        let wants = need(job.persistent, job.ephemeral, memory);
        if self.sizes + wants <= memory {
            return Some(self.open(wants));
        }
        let own = |l: &Lane| l.members.iter().map(|m| padded(m.persistent)).sum::<Bytes>();
        let extra = |p: Bytes, e: Bytes| need(p, e, memory).saturating_sub(padded(p));
        let has_room = |l: &&mut Lane| {
            let peaks = l.members.iter().map(|m| extra(m.persistent, m.ephemeral));
            let peak = peaks.max().unwrap_or(0).max(extra(job.persistent, job.ephemeral));
            own(l) + padded(job.persistent) + peak <= l.size
        };
        let free = |l: &&mut Lane| (l.size - own(l), l.id);
        self.lanes.iter_mut().filter(has_room).min_by_key(free)
    }

    fn single(&mut self, job: &Job, memory: Bytes) -> Option<&mut Lane> {
        let Some(lane) = self.lanes.first() else {
            return (job.persistent + job.ephemeral <= memory).then(|| self.open(job.ephemeral));
        };
        let size = lane.size.max(job.ephemeral);
        if self.persistent + job.persistent + size > memory {
            return None;
        }
        self.sizes = size;
        let lane = &mut self.lanes[0];
        lane.size = size;
        Some(lane)
    }

    /// The lane of that number.
    pub fn lane(&mut self, id: LaneId) -> &mut Lane {
        self.lanes.iter_mut().find(|l| l.id == id).expect("a lane that is open")
    }

    /// A job leaves its lane; the lane shrinks to the largest job left, unless its size is for good.
    pub fn leave(&mut self, id: LaneId, job: JobId) {
        let rule = self.rule;
        let place = self.lanes.iter().position(|l| l.id == id).expect("a lane that is open");
        let lane = &mut self.lanes[place];
        let at = lane.members.iter().position(|m| m.job == job).expect("a job of the lane");
        self.persistent -= lane.members.remove(at).persistent;
        let largest = lane.members.iter().map(|m| m.ephemeral).max();
        let size = match (rule, largest) {
            (_, None) => 0,
            (Rule::Manager, _) => lane.size,
            (_, Some(largest)) => largest,
        };
        self.sizes -= lane.size - size;
        lane.size = size;
        if lane.members.is_empty() {
            self.lanes.remove(place);
        }
    }
}

/// What a job wants of memory, persistent and ephemeral: one that wants the same finds no room either.
type Wants = (Bytes, Bytes);

/// Jobs without a lane, by what they want; within that in the order of arrival.
#[derive(Debug, Default)]
pub struct Waiting {
    arrived: u64,
    queues: BTreeMap<Wants, VecDeque<(u64, JobId)>>,
    /// The first of each queue, by its place in the order of arrival.
    heads: BTreeMap<u64, Wants>,
}

impl Waiting {
    /// A job waits, behind all others.
    pub fn push(&mut self, id: JobId, job: &Job) {
        let wants = (job.persistent, job.ephemeral);
        let queue = self.queues.entry(wants).or_default();
        if queue.is_empty() {
            self.heads.insert(self.arrived, wants);
        }
        queue.push_back((self.arrived, id));
        self.arrived += 1;
    }

    /// Offers the jobs in the order of arrival; those that are taken wait no longer. One that is not
    /// taken holds back nobody, but those that want the same are not offered.
    pub fn offer(&mut self, mut take: impl FnMut(JobId) -> bool) {
        let mut next = self.heads.iter().next().map(|(at, wants)| (*at, *wants));
        while let Some((at, wants)) = next {
            let queue = self.queues.get_mut(&wants).expect("a head has a queue");
            let (_, job) = *queue.front().expect("a queue has a head");
            if take(job) {
                queue.pop_front();
                self.heads.remove(&at);
                match queue.front() {
                    Some((at, _)) => drop(self.heads.insert(*at, wants)),
                    None => drop(self.queues.remove(&wants)),
                }
            }
            next = self.heads.range(at + 1..).next().map(|(at, wants)| (*at, *wants));
        }
    }
}
