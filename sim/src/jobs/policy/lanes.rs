//! Lanes of a GPU's memory, and which lane a job finds. It does not choose who runs in a lane.
//!
//! The rules are those of [`super::salus::Lanes`]; what a lane's size stands for is theirs too.

use crate::jobs::job::{Bytes, Job, JobId};
use crate::jobs::record::LaneId;
use crate::ordered::{ById, SortedMap};
use crate::time::Time;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;

/// A job in a lane.
#[derive(Clone, Copy, Debug)]
struct Member {
    persistent: Bytes,
    ephemeral: Bytes,
    /// What the released lane manager keeps for an iteration of it.
    peak: Bytes,
    /// Its place in [`Lane::queue`].
    key: u64,
}

/// A lane with its jobs.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// Its number.
    pub id: LaneId,
    /// Its size.
    pub size: Bytes,
    members: ById<Member>,
    /// What its jobs keep, as the released lane manager counts it.
    own: Bytes,
    ephemerals: Sizes,
    peaks: Sizes,
    /// Its jobs by the key that its user gives them, then by number.
    pub queue: BTreeSet<(u64, JobId)>,
    /// Who runs.
    pub running: Option<JobId>,
    /// When a job last joined.
    pub joined: Time,
    /// Whose turn was the last since a job joined.
    pub turns: Turns,
}

/// Turns in the order of the jobs' numbers, from the first one on since a job joined.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// In this round, all up to this job have had theirs,
    last: Option<JobId>,
    /// and this one, which was running when the job joined.
    early: Option<JobId>,
}

impl Lane {
    fn new(id: LaneId, size: Bytes) -> Lane {
        Lane { id, size, ..Lane::default() }
    }

    /// A job gets another key.
    pub fn set_key(&mut self, job: JobId, key: u64) {
        if let Some(member) = self.members.get_mut(job.0.into())
            && member.key != key
        {
            self.queue.remove(&(member.key, job));
            self.queue.insert((key, job));
            member.key = key;
        }
    }

    /// Whose turn it is, where all jobs have the same key.
    pub fn turn(&self) -> Option<JobId> {
        let Turns { last, early } = self.turns;
        let from = last.map_or(Bound::Unbounded, |last| Bound::Excluded((0, last)));
        let mut rest = self.queue.range((from, Bound::Unbounded));
        let next = rest.find(|(_, job)| Some(*job) != early).or(self.queue.first());
        next.map(|(_, job)| *job)
    }

    /// A job has had its turn.
    pub fn had_turn(&mut self, job: JobId) {
        let Turns { last, early } = self.turns;
        if self.turn() == Some(job) {
            let is_new_round = last.is_some_and(|last| job <= last);
            self.turns = Turns { last: Some(job), early: early.filter(|_| !is_new_round) };
        } else {
            self.turns.early = Some(job);
        }
    }

    fn join(&mut self, now: Time, id: JobId, member: Member) {
        self.members.insert(id.0.into(), member);
        self.own += padded(member.persistent);
        self.ephemerals.insert(member.ephemeral);
        self.peaks.insert(member.peak);
        self.queue.insert((member.key, id));
        (self.joined, self.turns) = (now, Turns::default());
    }

    /// A job leaves; its persistent memory.
    fn leave(&mut self, job: JobId) -> Bytes {
        let member = self.members.remove(job.0.into()).expect("a job of the lane");
        self.own -= padded(member.persistent);
        self.ephemerals.remove(member.ephemeral);
        self.peaks.remove(member.peak);
        self.queue.remove(&(member.key, job));
        member.persistent
    }
}

/// Sizes, each with how often it is there.
#[derive(Clone, Debug, Default)]
struct Sizes(SortedMap<Bytes, usize>);

impl Sizes {
    fn insert(&mut self, size: Bytes) {
        *self.0.get_or_default(size) += 1;
    }

    fn remove(&mut self, size: Bytes) {
        let count = self.0.get_mut(&size).expect("a size that is there");
        *count -= 1;
        if *count == 0 {
            self.0.remove(&size);
        }
    }

    fn largest(&self) -> Option<Bytes> {
        self.0.last().map(|(size, _)| *size)
    }
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

/// What a job needs beyond what it keeps.
fn peak(job: &Job, memory: Bytes) -> Bytes {
    need(job.persistent, job.ephemeral, memory).saturating_sub(padded(job.persistent))
}

impl Table {
    /// No lanes yet.
    pub fn new(rule: Rule) -> Table {
        Table { rule, lanes: Vec::new(), opened: 0, persistent: 0, sizes: 0 }
    }

    /// The lane for a job, opened or grown for it, where the job has this key; `None` if it has to wait.
    pub fn place(
        &mut self,
        now: Time,
        (id, job): (JobId, &Job),
        key: u64,
        memory: Bytes,
    ) -> Option<LaneId> {
        let lane = match self.rule {
            Rule::Algorithm21 => self.algorithm_2_1(job, memory),
            Rule::Manager => self.manager(job, memory),
            Rule::Single => self.single(job, memory),
        }?;
        let &Job { persistent, ephemeral, .. } = job;
        lane.join(now, id, Member { persistent, ephemeral, peak: peak(job, memory), key });
        let id = lane.id;
        self.persistent += persistent;
        Some(id)
    }

    fn open(&mut self, size: Bytes) -> &mut Lane {
        let id = LaneId(self.opened);
        self.opened += 1;
        self.sizes += size;
        self.lanes.push(Lane::new(id, size));
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
        let has_room = |l: &&mut Lane| {
            let peak = l.peaks.largest().unwrap_or(0).max(peak(job, memory));
            l.own + padded(job.persistent) + peak <= l.size
        };
        let free = |l: &&mut Lane| (l.size - l.own, l.id);
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
        self.persistent -= lane.leave(job);
        let largest = lane.ephemerals.largest();
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
    queues: SortedMap<Wants, VecDeque<(u64, JobId)>>,
    /// The first of each queue, by its place in the order of arrival.
    heads: SortedMap<u64, Wants>,
}

impl Waiting {
    /// A job waits, behind all others.
    pub fn push(&mut self, id: JobId, job: &Job) {
        let wants = (job.persistent, job.ephemeral);
        let queue = self.queues.get_or_default(wants);
        if queue.is_empty() {
            self.heads.insert(self.arrived, wants);
        }
        queue.push_back((self.arrived, id));
        self.arrived += 1;
    }

    /// Offers the jobs in the order of arrival; those that are taken wait no longer. One that is not
    /// taken holds back nobody, but those that want the same are not offered.
    pub fn offer(&mut self, mut take: impl FnMut(JobId) -> bool) {
        let mut next = self.heads.first().copied();
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
            next = self.heads.range(at + 1..).first().copied();
        }
    }
}
