//! Where the threads of a replay run: pinned to cores and at real-time priority, where the system
//! allows it (Clockwork, §5.2).

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// Where threads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Pin each thread to a core of its own: the controller to the first, workers to the next.
    pub pin: bool,
    /// Run at real-time priority.
    pub real_time: bool,
}

/// Settles the calling thread; `number` is its place, the controller's being 0. Returns what the
/// system did not grant.
pub fn settle(placement: Placement, number: u32) -> Vec<String> {
    let mut notes = Vec::new();
    // Less slack makes sleeping more precise; a system that refuses is only a little later.
    let _ = nix::sys::prctl::set_timerslack(1);
    if placement.pin {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut set = CpuSet::new();
        let pinned = set
            .set(number as usize % cores)
            .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
        if let Err(e) = pinned {
            notes.push(format!("threads could not be pinned: {e}"));
        }
    }
    if placement.real_time {
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let granted = ThreadPriorityValue::try_from(10u8).ok().is_some_and(|p| {
            let priority = ThreadPriority::Crossplatform(p);
            set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok()
        });
        if !granted {
            let remedy = "it takes CAP_SYS_NICE or an rtprio limit";
            notes.push(format!("real-time priority was not granted; {remedy}"));
        }
    }
    notes
}
